//! Cloth in a world: pushed back, refused, repeated.

use thirdlaw::collide::deformable::intersections_brute_force;
use thirdlaw::{
    Body, Cloth, ClothError, ClothId, ClothMesh, Fabric, Hold, Pose, Quat, Settings, Shape,
    Snapshot, Vec3, World, measure,
};

const FRAME: f64 = 1.0 / 60.0;

/// A small cloth over a sphere.
fn drape(side: usize) -> (World, ClothId) {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(Body::fixed(Shape::sphere(0.3).unwrap()).friction(0.3)).unwrap();
    let mesh = ClothMesh::grid(side, side, [1.0, 1.0]).unwrap();
    let place = Pose::from_parts(Vec3::new(0.0, 0.35, 0.0), Quat::IDENTITY);
    let id = world.add_cloth(Cloth::new(mesh).pose(place)).unwrap();
    (world, id)
}

/// The same with a box falling on both.
fn small() -> (World, ClothId) {
    let (mut world, id) = drape(17);
    let cube = Shape::cuboid(Vec3::splat(0.06)).unwrap();
    world.add_body(Body::dynamic(cube).at(0.05, 0.5, 0.02).mass(0.3)).unwrap();
    (world, id)
}

#[test]
fn bits_do_not_depend_on_threads_or_scratch() {
    let run = |threads: usize, drop: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut world, _) = small();
            for _ in 0..16 {
                world.step(FRAME).unwrap();
                if drop {
                    world.drop_scratch();
                }
            }
            world.hash()
        })
    };
    let one = run(1, false);
    for threads in [2, 3, 7] {
        assert_eq!(run(threads, false), one, "{threads} threads");
    }
    assert_eq!(run(2, true), one, "scratch dropped");
}

#[test]
fn a_restored_cloth_goes_on_as_the_first_time() {
    let (mut world, _) = small();
    for _ in 0..12 {
        world.step(FRAME).unwrap();
    }
    let saved = world.save().to_bytes();
    let go = |world: &mut World| {
        for _ in 0..5 {
            world.step(FRAME).unwrap();
        }
        world.hash()
    };
    let first = go(&mut world);
    world.restore(&Snapshot::from_bytes(&saved).unwrap()).unwrap();
    assert_eq!(go(&mut world), first, "in place");
    let (mut fresh, _) = small();
    fresh.restore(&Snapshot::from_bytes(&saved).unwrap()).unwrap();
    assert_eq!(go(&mut fresh), first, "in a fresh world");
}

/// Found by looking at every edge and every triangle, not by the engine's tree.
#[test]
fn a_draped_cloth_never_crosses_itself_nor_sinks_in() {
    let (mut world, id) = drape(31);
    let triangles: Vec<[u32; 3]> = world.cloth(id).unwrap().triangles().collect();
    let edges = world.cloth(id).unwrap().elements.edges.clone();
    let mut deepest: f64 = 0.0;
    for frame in 0..75 {
        world.step(FRAME).unwrap();
        let x = world.vertices(id).unwrap();
        assert_eq!(intersections_brute_force(x, &triangles, &edges), 0, "frame {frame}");
        deepest = x.iter().map(|p| 0.3 - p.length()).fold(deepest, f64::max);
    }
    assert!(deepest < 1e-3, "{deepest} m inside");
    let low = world.vertices(id).unwrap().iter().map(|p| p.y).fold(f64::MAX, f64::min);
    assert!(low < 0.0, "it hangs down to {low} only");
}

#[test]
fn momentum_is_conserved_when_a_ball_hits_a_free_cloth() {
    let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
    let mut world = World::new(settings).unwrap();
    let mut quiet = *world.settings();
    quiet.cloth.air = false;
    quiet.cloth.tolerance = 1e-6;
    world.set_settings(quiet).unwrap();
    let ball = Body::dynamic(Shape::sphere(0.1).unwrap()).at(0.03, 0.2, 0.01).mass(0.2);
    let ball = world.add_body(ball.moving(Vec3::new(0.1, -2.0, 0.0))).unwrap();
    let mesh = ClothMesh::grid(15, 15, [0.8, 0.8]).unwrap();
    world.add_cloth(Cloth::new(mesh).self_collision(false)).unwrap();
    let (before, _) = measure::momentum(&world);
    let energy = measure::energy(&world).kinetic;
    for _ in 0..14 {
        world.step(FRAME).unwrap();
        let now = measure::energy(&world);
        assert!(now.kinetic + now.elastic < (1.0 + 1e-6) * energy, "energy grew");
    }
    // as well as the iteration is told to solve
    let (after, _) = measure::momentum(&world);
    assert!((after - before).length() < 1e-5 * before.length(), "{before} became {after}");
    let slowed = world.velocity(ball).unwrap().linear.y;
    assert!(slowed > -1.8, "the ball was not slowed: {slowed}");
}

#[test]
fn a_ball_rests_on_a_cloth_that_carries_its_weight() {
    let mut world = World::new(Settings::default()).unwrap();
    let ball = Body::dynamic(Shape::sphere(0.12).unwrap()).at(0.0, 0.2, 0.0).mass(0.8);
    let ball = world.add_body(ball).unwrap();
    let mesh = ClothMesh::grid(18, 18, [1.0, 1.0]).unwrap();
    let rim = |p: &Vec3| p.x.abs().max(p.z.abs()) > 0.499;
    let held = mesh.positions.iter().enumerate().filter(|(_, p)| rim(p)).map(|(i, _)| i as u32);
    let held: Vec<u32> = held.collect();
    let id = world.add_cloth(Cloth::new(mesh).fabric(Fabric::canvas()).pin(held)).unwrap();
    let mut pull = Vec3::ZERO;
    for frame in 0..150 {
        world.step(FRAME).unwrap();
        if frame >= 90 {
            pull += world.pin_forces(id).unwrap().iter().map(|p| p.1).sum::<Vec3>() / 60.0;
            let v = world.velocity(ball).unwrap().linear;
            assert!(v.length() < 0.1, "the ball moves at {v}");
        }
    }
    let place = world.center(ball).unwrap();
    assert!(place.y > 0.05 && place.y < 0.12, "the ball is at {place}");
    let weight = 9.81 * (0.8 + Fabric::canvas().density);
    println!("pins {pull}, weight {weight}");
    assert!((pull.y / weight - 1.0).abs() < 0.02, "pins hold {pull}, weight {weight}");
}

/// A vertex held by a body a long way off stays where it is on that body, and pulls at it.
#[test]
fn a_body_far_from_the_cloth_still_holds_its_pins() {
    let mut world = World::new(Settings::default()).unwrap();
    let ball = Body::kinematic(Shape::sphere(0.1).unwrap()).at(0.0, 40.0, 0.0);
    let holder = world.add_body(ball.moving(Vec3::new(0.5, 0.0, 0.0))).unwrap();
    let mesh = ClothMesh::grid(5, 5, [0.4, 0.4]).unwrap();
    let start = mesh.positions[0];
    let id = world.add_cloth(Cloth::new(mesh).hold([0, 4], Hold::Body(holder))).unwrap();
    for _ in 0..30 {
        world.step(FRAME).unwrap();
    }
    let held = world.vertices(id).unwrap()[0];
    assert!((held - start - Vec3::X * 0.25).length() < 1e-9, "{held} from {start}");
}

#[test]
fn bad_meshes_are_refused_by_name() {
    let add = |change: &dyn Fn(&mut ClothMesh)| {
        let mut mesh = ClothMesh::grid(4, 4, [1.0, 1.0]).unwrap();
        change(&mut mesh);
        let mut world = World::new(Settings::default()).unwrap();
        let added = world.add_cloth(Cloth::new(mesh));
        assert!(world.step(FRAME).is_ok());
        added.map(|_| ())
    };
    assert_eq!(add(&|_| {}), Ok(()));
    let uv = |mesh: &mut ClothMesh, t: usize| mesh.rest[t] = [[0.5, 0.5]; 3];
    assert_eq!(add(&|m| uv(m, 3)), Err(ClothError::NoArea { triangle: 3 }));
    assert_eq!(add(&|m| m.triangles[2] = [1, 1, 2]), Err(ClothError::NoArea { triangle: 2 }));
    assert_eq!(add(&|m| m.positions.push(Vec3::ONE)), Err(ClothError::Loose { vertex: 16 }));
    let missing = Err(ClothError::NoSuchVertex { triangle: 0, vertex: 99 });
    assert_eq!(add(&|m| m.triangles[0][1] = 99), missing);
    let third = |m: &mut ClothMesh| {
        m.positions.push(Vec3::Y);
        let [a, b, _] = m.triangles[0];
        m.triangles.push([a, b, 16]);
        m.rest.push([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
        m.triangles.push([a, b, 15]);
        m.rest.push([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
    };
    assert!(matches!(add(&third), Err(ClothError::NotASurface { .. })));
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(matches!(add(&|m| m.positions[5].y = bad), Err(ClothError::NotFinite { .. })));
        assert!(matches!(add(&|m| m.rest[5][1][0] = bad), Err(ClothError::NotFinite { .. })));
    }
    assert_eq!(
        add(&|m| m.triangles.clear())
            .map_err(|e| matches!(e, ClothError::Empty | ClothError::Value { .. })),
        Err(true)
    );
}

#[test]
fn bad_fabrics_pins_and_ids_are_refused() {
    let mesh = || ClothMesh::grid(4, 4, [1.0, 1.0]).unwrap();
    let mut world = World::new(Settings::default()).unwrap();
    for fabric in [
        Fabric { density: 0.0, ..Fabric::cotton() },
        Fabric { stretch: [f64::NAN, 1.0], ..Fabric::cotton() },
        Fabric { bend: [-1.0, 0.0], ..Fabric::cotton() },
        Fabric { thickness: f64::INFINITY, ..Fabric::cotton() },
        Fabric { friction: -0.1, ..Fabric::cotton() },
    ] {
        assert!(matches!(
            world.add_cloth(Cloth::new(mesh()).fabric(fabric)),
            Err(ClothError::Value { .. })
        ));
    }
    assert!(world.add_cloth(Cloth::new(mesh()).pin([16])).is_err());
    let directions = Hold::Directions(vec![Vec3::X, 2.0 * Vec3::X]);
    assert!(world.add_cloth(Cloth::new(mesh()).hold([0], directions)).is_err());
    let body = world.add_body(Body::dynamic(Shape::sphere(0.1).unwrap())).unwrap();
    world.remove_body(body).unwrap();
    assert_eq!(
        world.add_cloth(Cloth::new(mesh()).hold([0], Hold::Body(body))),
        Err(ClothError::NoSuchBody(body))
    );
    let id = world.add_cloth(Cloth::new(mesh())).unwrap();
    assert!(world.set_vertex(id, 3, Vec3::splat(f64::NAN), Vec3::ZERO).is_err());
    assert!(world.set_vertex(id, 99, Vec3::ZERO, Vec3::ZERO).is_err());
    world.remove_cloth(id).unwrap();
    assert!(world.remove_cloth(id).is_err());
    assert!(world.vertices(id).is_err());
    for _ in 0..30 {
        world.step(FRAME).unwrap();
    }
}

/// A cloth folded flat on itself, layers in the same place: it stays finite and calm.
#[test]
fn a_cloth_that_starts_folded_stays_calm() {
    let mesh = ClothMesh::grid(11, 11, [1.0, 1.0]).unwrap();
    let uv: Vec<[f64; 2]> = mesh.positions.iter().map(|p| [p.x, p.z]).collect();
    let fold = |p: &Vec3| Vec3::new(p.x.abs(), 0.02, p.z);
    let positions = mesh.positions.iter().map(fold).collect();
    let mesh = ClothMesh::with_coordinates(positions, mesh.triangles, &uv).unwrap();
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y).unwrap())).unwrap();
    let id = world.add_cloth(Cloth::new(mesh)).unwrap();
    for _ in 0..60 {
        world.step(FRAME).unwrap();
        let fastest = world.vertex_velocities(id).unwrap().iter().map(|v| v.length());
        assert!(fastest.fold(0.0, f64::max) < 5.0, "flies apart");
    }
    assert!(measure::strain(&world) < 0.05);
}

#[test]
fn long_steps_stay_finite_and_gain_nothing() {
    for dt in [0.25, 1.0, 10.0] {
        let (mut world, _) = drape(15);
        let energy = |world: &World| {
            let e = measure::energy(world);
            e.kinetic + e.gravity + e.elastic
        };
        let before = energy(&world);
        for _ in 0..5 {
            world.step(dt).unwrap();
        }
        assert!(energy(&world).is_finite());
        let gained = energy(&world) - before;
        assert!(gained < 0.01, "gained {gained} J at {dt} s");
    }
}
