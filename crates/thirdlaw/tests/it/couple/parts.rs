//! Worlds made of parts of another, and bodies that are led through them.

use crate::{cuboid, earth, floor, sphere};
use thirdlaw::couple::{Anchor, Coupling, CouplingSettings, Method, Tie};
use thirdlaw::simulator::{
    ContactSurface, HandleResponse, Motion, ObstacleMotion, Simulator, SimulatorFailure, Wrench,
};
use thirdlaw::{
    Body, Cloth, ClothMesh, Emitter, Mat3, Point, Pose, Quat, Thing, Twist, Vec3, World,
};

const DT: f64 = 1.0 / 60.0;

fn whole() -> (World, Vec<Thing>) {
    let mut world = earth();
    let mut things = vec![Thing::Body(world.add_body(floor()).unwrap())];
    for i in 0..3 {
        let ball = Body::dynamic(sphere(0.1)).at(f64::from(i), 0.3, 0.0);
        things.push(Thing::Body(world.add_body(ball).unwrap()));
    }
    let mesh = ClothMesh::grid(4, 4, [1.0, 1.0]).unwrap();
    for height in [1.0, 2.0] {
        let pose = Pose::from_parts(Vec3::new(0.0, height, 3.0), Quat::IDENTITY);
        let cloth = Cloth::new(mesh.clone()).pose(pose).pin([0, 3]);
        things.push(Thing::Cloth(world.add_cloth(cloth).unwrap()));
    }
    let point = Point::new(1.0, Vec3::new(5.0, 5.0, 5.0));
    things.push(Thing::Point(world.add_point(point).unwrap()));
    things.push(Thing::Emitter(world.add_emitter(Emitter::point(500.0, 3.0)).unwrap()));
    (world, things)
}

#[test]
fn parts_stepped_alone_and_shown_are_the_whole() {
    let (mut world, things) = whole();
    // the balls do not reach the floor in the time
    let first = |thing: Thing| things.iter().position(|t| *t == thing).unwrap() % 2 == 1;
    let mut parts = [world.part(first), world.part(|thing| !first(thing))];
    let mut shown = world.clone();
    assert_eq!(parts[0].bodies().count(), 2);
    assert_eq!(parts[0].cloths().count() + parts[1].cloths().count(), 2);
    for _ in 0..10 {
        world.step(DT).unwrap();
        parts.iter_mut().for_each(|part| {
            part.step(DT).unwrap();
        });
    }
    parts.iter().for_each(|part| shown.show(part));
    assert_eq!(shown.time(), world.time());
    for thing in things {
        match thing {
            Thing::Body(id) => assert_eq!(shown.center(id), world.center(id)),
            Thing::Cloth(id) => {
                let far = shown.vertices(id).unwrap().iter().zip(world.vertices(id).unwrap());
                assert!(far.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) < 1e-3);
            }
            Thing::Point(id) => assert_eq!(shown.point(id).unwrap(), world.point(id).unwrap()),
            Thing::Emitter(id) => {
                assert_eq!(shown.stream(id).unwrap().born, world.stream(id).unwrap().born);
            }
            Thing::Joint(_) => unreachable!("there is none"),
        }
    }
}

/// An obstacle that nothing touches ends where its owner has it, however it got there.
#[test]
fn a_led_body_that_nothing_touches_ends_where_its_owner_has_it() {
    let mut world = earth();
    let shape = cuboid(0.1, 0.2, 0.3);
    let surface = ContactSurface {
        handle: 0,
        shape,
        center: Vec3::ZERO,
        material: Default::default(),
        dynamic: true,
    };
    let obstacle = world.add_obstacle(&surface).unwrap();
    let start = Motion {
        position: Vec3::new(1.0, 2.0, 3.0),
        rotation: Quat::IDENTITY,
        velocity: Twist { linear: Vec3::X, angular: Vec3::new(3.0, -2.0, 5.0) },
    };
    // it was stopped at once, and turned by something else
    let end = Motion {
        position: start.position + Vec3::new(0.001, 0.0, 0.0),
        rotation: thirdlaw::math::rotation_from_vector(Vec3::new(0.01, 0.02, -0.03)),
        velocity: Twist { linear: Vec3::ZERO, angular: Vec3::ZERO },
    };
    let inertia = Mat3::from_diagonal(Vec3::new(0.13, 0.1, 0.05));
    let response = Some(HandleResponse { mass: 2.0, inertia, reach: 0.5625 });
    world.move_obstacle(obstacle, &ObstacleMotion { start, end, counted: Wrench::ZERO, response });
    Simulator::step(&mut world, DT).unwrap();
    let reaction = world.reaction(obstacle).unwrap();
    assert!((reaction.end.position - end.position).length() < 1e-14);
    assert!(
        reaction.end.rotation.dot(end.rotation).abs() > 1.0 - 1e-14,
        "{:?}",
        reaction.end.rotation
    );
    assert!(reaction.impulse.force.length() < 1e-13 && reaction.impulse.torque.length() < 1e-13);
    assert!(reaction.end.velocity.angular.length() < 1e-13);
}

/// Hands every call on.
struct Wrapped(World);

impl Simulator for Wrapped {
    fn handle_count(&self) -> usize {
        self.0.handle_count()
    }
    fn read(&self, handle: usize) -> Motion {
        self.0.read(handle)
    }
    fn push(&mut self, handle: usize, force: Wrench) {
        Simulator::push(&mut self.0, handle, force);
    }
    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        Simulator::step(&mut self.0, dt)
    }
    fn save(&mut self) {
        Simulator::save(&mut self.0);
    }
    fn restore(&mut self) {
        Simulator::restore(&mut self.0);
    }
    fn to_bytes(&self) -> Vec<u8> {
        Simulator::to_bytes(&self.0)
    }
    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure> {
        self.0.load(bytes)
    }
    fn inner(&self) -> Option<&dyn Simulator> {
        Some(&self.0)
    }
}

fn tied() -> Coupling {
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    for (name, x) in [("left", 0.0), ("right", 0.2)] {
        let mut world = earth();
        let spin = Vec3::new(1.0, 2.0, 3.0);
        world
            .add_body(Body::dynamic(cuboid(0.1, 0.1, 0.2)).at(x, 0.0, 0.0).spinning(spin))
            .unwrap();
        coupling.add(name, Wrapped(world)).unwrap();
    }
    let at = |i: usize, x: f64| Anchor::new(i, 0).at(Vec3::new(x, 0.0, 0.0));
    coupling.tie(Tie::point(at(0, 0.1), at(1, -0.1))).unwrap();
    coupling
}

#[test]
fn a_wrapped_world_is_found_and_saving_changes_no_bit() {
    let (mut plain, mut saved) = (tied(), tied());
    for _ in 0..30 {
        plain.step(DT).unwrap();
        saved.step(DT).unwrap();
        saved.to_bytes().unwrap();
    }
    let mut resumed = tied();
    resumed.load(&saved.to_bytes().unwrap()).unwrap();
    for coupling in [&mut plain, &mut saved, &mut resumed] {
        coupling.step(DT).unwrap();
    }
    let hash = |c: &Coupling| [0, 1].map(|i| c.get::<World>(i).unwrap().hash());
    assert_eq!(hash(&plain), hash(&saved), "saving");
    assert_eq!(hash(&plain), hash(&resumed), "resuming, with what was measured");
    assert!(plain.get::<Wrapped>(0).is_some() && plain.get::<World>(2).is_none());
}

#[test]
fn a_repaired_spring_pulls_as_the_iterated_one() {
    let run = |method| {
        let mut coupling =
            Coupling::new(CouplingSettings { method, ..Default::default() }).unwrap();
        for x in [0.0, 1.0] {
            let mut world = earth();
            world.add_body(Body::dynamic(sphere(0.1)).mass(1.0).at(x, 0.0, 0.0)).unwrap();
            coupling.add(format!("{x}"), world).unwrap();
        }
        let (a, b) = (Anchor::new(0, 0), Anchor::new(1, 0));
        coupling.tie(Tie::spring(a, b, 400.0)).unwrap();
        for _ in 0..60 {
            coupling.step(DT).unwrap();
        }
        coupling.get::<World>(0).unwrap().read(0).position.x
    };
    assert!((run(Method::Repaired) - run(Method::Iterated)).abs() < 1e-9);
}
