//! Deformable objects that are not cloth: vertices, masses and elements of any energy.

use crate::{earth, floor, hashes, with_threads};
use thirdlaw::energy::ElementError;
use thirdlaw::energy::solid::{SolidLaw, SolidMaterial};
use thirdlaw::energy::tetrahedron::Tetrahedra;
use thirdlaw::{
    Cloth, ClothMesh, Deformable, DeformableError, Pose, Quat, Settings, StaleId, SurfaceMaterial,
    Vec3, World,
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
    assert_eq!(world.cloth(second).err(), Some(StaleId::of(second)));
    let above = world.vertices(third).unwrap().to_vec();
    world.step(0.01).unwrap();
    world.remove_deformable(second).unwrap();
    assert_eq!(world.vertices(second), Err(StaleId::of(second)));
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

/// Vertices of a block of cells of this size (m) that hangs down from the origin, and six tetrahedra
/// in each cell.
fn block(cells: [u32; 3], size: f64) -> (Vec<Vec3>, Vec<[u32; 4]>) {
    let [nx, ny, nz] = cells;
    let steps = [1, nx + 1, (nx + 1) * (ny + 1)];
    let mut x = Vec::new();
    let mut tetrahedra = Vec::new();
    for i in 0..steps[2] * (nz + 1) {
        let at = [i % steps[1], i / steps[1] % (ny + 1), i / steps[2]];
        let [a, b, c] = at.map(|k| f64::from(k) * size);
        x.push(Vec3::new(a, b - f64::from(ny) * size, c));
        if at[0] < nx && at[1] < ny && at[2] < nz {
            // along the edges from one corner to the opposite one, in every order
            for (a, b, c) in [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)] {
                let (p, q) = (i + steps[a], i + steps[a] + steps[b]);
                let r = q + steps[c];
                tetrahedra.push(if (b + 3 - a) % 3 == 1 { [i, p, q, r] } else { [i, q, p, r] });
            }
        }
    }
    (x, tetrahedra)
}

const HOOKEAN: SolidMaterial = SolidMaterial {
    law: SolidLaw::Linear,
    young: 1e7,
    poisson: 0.0,
    density: 1000.0,
    damping: 0.0,
};

/// A column that hangs from its top by its own weight is longer by ρgL²/2E.
#[test]
fn a_hanging_column_stretches_by_its_own_weight() {
    let settings = || {
        let mut settings = Settings::default();
        settings.cloth.tolerance = 1e-9;
        settings
    };
    for settings in [Settings::default(), settings()] {
        let mut world = World::new(settings).unwrap();
        let (rest, tetrahedra) = block([2, 10, 2], 0.1);
        let set = Tetrahedra::new(&rest, &tetrahedra, HOOKEAN).unwrap();
        let top: Vec<u32> =
            (0..rest.len() as u32).filter(|&i| rest[i as usize].y > -1e-9).collect();
        let column = Deformable::new(rest.clone()).elements(set).pin(top);
        let id = world.add_deformable(column).unwrap();
        for _ in 0..120 {
            world.step(1.0 / 60.0).unwrap();
        }
        let x = world.vertices(id).unwrap();
        // Cells are cut along one diagonal, which carries the weight of a cell to its corners
        // unevenly: single vertices are a few percent off, their means are not. At depth y below the
        // top they have sunk by ρg(Ly − y²/2)/E.
        for level in 0..=10 {
            let y = 0.1 * f64::from(level);
            let there = rest.iter().zip(x).filter(|(rest, _)| (rest.y + y).abs() < 1e-9);
            let sunk: Vec<f64> = there.map(|(rest, x)| rest.y - x.y).collect();
            let mean = sunk.iter().sum::<f64>() / 9.0;
            let expected = 1000.0 * 9.81 / 1e7 * (y - 0.5 * y * y);
            assert_eq!(sunk.len(), 9);
            assert!((mean - expected).abs() <= 0.01 * expected, "{mean} at {y}, not {expected}");
        }
        // the pins carry its weight: 0.2 m × 0.2 m × 1 m
        let carried: Vec3 = world.pin_forces(id).unwrap().iter().map(|p| p.1).sum();
        assert!((carried.y / (40.0 * 9.81) - 1.0).abs() < 1e-3, "{carried}");
        // weight times how far each part has sunk, half of it: ρ²g²AL³/6E
        let stored = thirdlaw::measure::energy(&world).elastic;
        let expected = 0.04 * (1000.0 * 9.81_f64).powi(2) / 6e7;
        assert!((stored / expected - 1.0).abs() < 0.02, "{stored} {expected}");
    }
}

/// Two materials in one block, stepped beside cloth and restored, for any number of threads.
#[test]
fn blocks_have_the_same_bits_for_any_number_of_threads() {
    let build = || {
        let mut world = earth();
        world.add_body(floor()).unwrap();
        let (rest, tetrahedra) = block([9, 9, 9], 0.05);
        let (soft, hard) = tetrahedra.split_at(tetrahedra.len() / 2);
        let of = |part: &[[u32; 4]], young: f64| {
            let material = SolidMaterial { young, poisson: 0.3, damping: 1e-3, ..HOOKEAN };
            Tetrahedra::new(&rest, part, material).unwrap()
        };
        let (soft, hard) = (of(soft, 2e4), of(hard, 2e5));
        let block = Deformable::new(rest.clone()).elements(soft).elements(hard);
        let id = world.add_deformable(block.pose(at(0.47))).unwrap();
        let mesh = ClothMesh::grid(6, 6, [0.4, 0.4]).unwrap();
        world.add_cloth(Cloth::new(mesh).pose(at(0.6))).unwrap();
        (world, id)
    };
    let ((mut one, id), (mut four, _)) = (build(), build());
    let expected = with_threads(1, || hashes(&mut one, 20));
    assert_eq!(with_threads(4, || hashes(&mut four, 20)), expected);
    // it has landed, and lies on the floor
    let lowest = one.vertices(id).unwrap().iter().map(|x| x.y).fold(f64::MAX, f64::min);
    assert!(lowest > -1e-3 && lowest < 5e-3, "{lowest}");
}

#[test]
fn tetrahedra_that_cannot_be_are_refused_by_name() {
    let rest = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::X + Vec3::Y, Vec3::splat(f64::NAN)];
    let refused = |tetrahedron: [u32; 4]| {
        let all = [[0, 1, 2, 3], tetrahedron];
        Tetrahedra::new(&rest, &all, HOOKEAN).expect_err("must be refused")
    };
    let missing = refused([0, 1, 2, 9]);
    assert!(matches!(missing, ElementError::NoSuchVertex { element: 1, vertex: 9, .. }));
    for (flat, word) in [
        ([0, 1, 2, 4], "volume"),
        ([0, 1, 1, 3], "volume"),
        ([0, 2, 1, 3], "inverted"),
        ([0, 1, 2, 5], "NaN"),
    ] {
        let error = refused(flat);
        assert!(matches!(error, ElementError::Shape { element: 1, .. }), "{error}");
        assert!(error.to_string().contains(word) && error.to_string().contains(" 1 "), "{error}");
    }
    let material = |change: &dyn Fn(&mut SolidMaterial)| {
        let mut material = HOOKEAN;
        change(&mut material);
        match Tetrahedra::new(&rest, &[[0, 1, 2, 3]], material) {
            Err(ElementError::Material { field, .. }) => field,
            other => panic!("{other:?}"),
        }
    };
    for bad in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        assert_eq!(material(&|m| m.young = bad), "young");
    }
    for bad in [-1.0, 0.5, 0.7, f64::NAN] {
        assert_eq!(material(&|m| m.poisson = bad), "poisson");
    }
    assert_eq!(material(&|m| m.density = -1.0), "density");
    assert_eq!(material(&|m| m.damping = f64::NAN), "damping");
    // elements of another object's vertices
    let set = Tetrahedra::new(&rest[..4], &[[0, 1, 2, 3]], HOOKEAN).unwrap();
    let fewer = Deformable::new(rest[..3].to_vec()).elements(set);
    let refused = earth().add_deformable(fewer).unwrap_err();
    let expected = ElementError::NoSuchVertex { energy: "tetrahedron", element: 0, vertex: 3 };
    assert_eq!(refused, DeformableError::Element(expected));
}
