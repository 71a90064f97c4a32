//! Deformable objects that are not cloth: vertices, masses and elements of any energy.

use crate::{earth, floor, hashes, with_threads};
use thirdlaw::{
    Cloth, ClothMesh, Deformable, DeformableError, Pose, Quat, Settings, StaleDeformable,
    SurfaceMaterial, Vec3, World,
};

/// A heavy triangle with a surface and no elements.
fn loose() -> Deformable {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Z];
    Deformable::new(corners)
        .masses(vec![1.0, 2.0, 3.0])
        .surface(vec![[0, 2, 1]], SurfaceMaterial::default())
}

fn at(height: f64) -> Pose {
    Pose::from_parts(Vec3::new(0.0, height, 0.0), Quat::IDENTITY)
}

#[test]
fn vertices_without_elements_fall_freely_and_land() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let id = world.add_deformable(loose().pose(at(1.0)).pin([0])).unwrap();
    let dt = 1e-3;
    for _ in 0..300 {
        world.step(dt).unwrap();
    }
    let [held, first, second] = world.vertices(id).unwrap() else { panic!("three vertices") };
    assert_eq!(*held, Vec3::Y);
    let fallen = 1.0 - 9.81 * 0.5 * 0.3 * (0.3 + dt);
    assert!((first.y - fallen).abs() < 1e-9 && (second.y - fallen).abs() < 1e-9, "{first}");
    // what holds a vertex carries its weight
    let [(0, force)] = world.pin_forces(id).unwrap()[..] else { panic!("one pin") };
    assert!((force.y - 9.81).abs() < 1e-6, "{force}");
    for _ in 0..500 {
        world.step(dt).unwrap();
    }
    let landed = world.vertices(id).unwrap()[1].y;
    assert!(landed > 0.0 && landed < 2e-3, "{landed}");
}

#[test]
fn ids_name_deformables_and_cloths_alike() {
    let mut world = earth();
    let cloth = || Cloth::new(ClothMesh::grid(4, 4, [1.0, 1.0]).unwrap());
    let first = world.add_cloth(cloth().pose(at(3.0))).unwrap();
    let second = world.add_deformable(loose()).unwrap();
    let third = world.add_cloth(cloth().pose(at(5.0))).unwrap();
    assert_eq!(world.deformables().collect::<Vec<_>>(), [first, second, third]);
    assert_eq!(world.cloths().collect::<Vec<_>>(), [first, third]);
    assert_eq!(world.deformable(second).unwrap().count(), 3);
    assert_eq!(world.cloth(second).err(), Some(StaleDeformable(second)));
    let above = world.vertices(third).unwrap().to_vec();
    world.step(0.01).unwrap();
    world.remove_deformable(second).unwrap();
    assert_eq!(world.vertices(second), Err(StaleDeformable(second)));
    assert!(world.vertices(third).unwrap()[0].y < above[0].y);
    let again = world.add_deformable(loose().velocity(Vec3::X)).unwrap();
    assert!(again.index == second.index && again != second);
    assert_eq!(world.vertex_velocities(again).unwrap(), [Vec3::X; 3]);
    world.step(0.01).unwrap();
}

#[test]
fn a_saved_deformable_goes_on_to_the_same_bits() {
    let build = || {
        let mut world = earth();
        world.add_body(floor()).unwrap();
        world.add_deformable(loose().pose(at(0.05)).pin([2])).unwrap();
        world
    };
    let mut world = build();
    hashes(&mut world, 10);
    let saved = world.save();
    let expected = hashes(&mut world, 10);
    let mut other = build();
    other.restore(&saved).unwrap();
    other.drop_scratch();
    assert_eq!(with_threads(4, || hashes(&mut other, 10)), expected);
    // another object is another model
    let mut changed = World::new(Settings::default()).unwrap();
    changed.add_body(floor()).unwrap();
    changed.add_deformable(loose().masses(vec![1.0; 3]).pose(at(0.05)).pin([2])).unwrap();
    assert!(changed.restore(&saved).is_err());
}

#[test]
fn what_cannot_be_simulated_is_refused_by_name() {
    let mut world = earth();
    let mut refused = |d: Deformable| world.add_deformable(d).expect_err("must be refused");
    assert_eq!(refused(Deformable::new(Vec::new())), DeformableError::Empty);
    assert_eq!(refused(loose().masses(Vec::new())), DeformableError::NoMass { vertex: 0 });
    let masses = |last: f64| loose().masses(vec![1.0, 1.0, last]);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(masses(bad)), DeformableError::NoMass { vertex: 2 });
    }
    assert!(matches!(refused(loose().masses(vec![1.0])), DeformableError::Value { .. }));
    let surface = |triangle| loose().surface(vec![[0, 1, 2], triangle], SurfaceMaterial::default());
    for triangle in [[0, 1, 3], [0, 1, 1]] {
        let expected = DeformableError::Triangle { triangle: 1, vertices: triangle };
        assert_eq!(refused(surface(triangle)), expected);
    }
    let mut nan = loose();
    nan.positions[1].x = f64::NAN;
    assert_eq!(refused(nan), DeformableError::NotFinite { vertex: 1 });
    let mut short = loose();
    short.positions.pop();
    assert!(matches!(refused(short), DeformableError::Value { field: "positions", .. }));
    let thin = SurfaceMaterial { thickness: 0.0, ..SurfaceMaterial::default() };
    let thin = loose().surface(Vec::new(), thin);
    assert!(matches!(refused(thin), DeformableError::Value { field: "surface.thickness", .. }));
    let fast = loose().velocity(Vec3::splat(f64::NAN));
    assert!(matches!(refused(fast), DeformableError::Value { field: "velocity", .. }));
    assert!(matches!(refused(loose().pin([7])), DeformableError::Value { field: "pins", .. }));
    let mut scaled = loose();
    scaled.gravity_scale = f64::NAN;
    assert!(matches!(refused(scaled), DeformableError::Value { field: "gravity_scale", .. }));
    assert_eq!(world.deformables().count(), 0);
}
