//! Each kind of coupling between worlds, by each method.

use super::{Case, Subject, hold};
use crate::couple::sheet;
use crate::{cuboid, earth, floor, sphere, world};
use thirdlaw::couple::{Anchor, Coupling, CouplingSettings, Method, Tie};
use thirdlaw::{Body, Emitter, Joint, Side, Thing, Vec3, World};

fn by(method: Method) -> Coupling {
    Coupling::new(CouplingSettings { method, ..CouplingSettings::default() }).unwrap()
}

/// Two boxes tied corner to corner, one of them hung from the sky.
fn points(method: Method) -> Subject {
    let mut coupling = by(method);
    let mut a = earth();
    let hung = Body::dynamic(cuboid(0.1, 0.1, 0.1)).spinning(Vec3::new(0.5, 1.0, 0.2));
    let hung = a.add_body(hung.mass(2.0)).unwrap();
    a.add_joint(Joint::ball(Side::World, hung).at(-0.1, 0.1, 0.0)).unwrap();
    let mut b = earth();
    b.add_body(Body::dynamic(cuboid(0.1, 0.1, 0.1)).at(0.2, 0.2, 0.2).mass(1.0)).unwrap();
    coupling.add("a", a).unwrap();
    coupling.add("b", b).unwrap();
    let corner = Vec3::splat(0.1);
    let tie = Tie::point(Anchor::new(0, 0).at(corner), Anchor::new(1, 0).at(-corner));
    coupling.tie(tie).unwrap();
    coupling.into()
}

/// Frames and springs between three worlds.
fn frames() -> Subject {
    let mut coupling = by(Method::Iterated);
    for (i, (mass, g)) in [(1.0, 9.81), (3.0, 2.0), (0.5, 9.81)].into_iter().enumerate() {
        let mut world = world(g);
        let body = Body::dynamic(cuboid(0.1, 0.2, 0.1)).mass(mass).at(0.4 * i as f64, 0.0, 0.0);
        world.add_body(body.spinning(Vec3::Z)).unwrap();
        coupling.add(format!("world {i}"), world).unwrap();
    }
    let side = Vec3::new(0.2, 0.0, 0.0);
    let weld = Tie::frame(Anchor::new(0, 0).at(side), Anchor::new(1, 0).at(-side));
    coupling.tie(weld).unwrap();
    coupling.tie(Tie::spring(Anchor::new(1, 0), Anchor::new(2, 0), 300.0)).unwrap();
    coupling.into()
}

/// Vertices of a cloth tied to a body of another world.
fn vertices() -> Subject {
    let mut coupling = by(Method::Iterated);
    let cloth = sheet(7);
    let id = cloth.cloths().next().unwrap();
    let handle = cloth.vertex_handle(id, 24).unwrap();
    let mut bodies = earth();
    bodies.add_body(Body::dynamic(sphere(0.1)).mass(0.05)).unwrap();
    coupling.add("cloth", cloth).unwrap();
    coupling.add("bodies", bodies).unwrap();
    coupling.tie(Tie::point(Anchor::new(0, handle), Anchor::new(1, 0))).unwrap();
    coupling.into()
}

/// A ball and a cube of one world on the cloth, or the boxes, of another.
fn touching(method: Method, lower: fn() -> World) -> Subject {
    let mut coupling = by(method);
    let mut upper = earth();
    upper.add_body(Body::dynamic(sphere(0.15)).mass(0.3).at(0.05, 0.35, 0.02)).unwrap();
    upper.add_body(Body::dynamic(cuboid(0.1, 0.1, 0.1)).mass(0.3).at(-0.2, 0.5, 0.0)).unwrap();
    coupling.add("lower", lower()).unwrap();
    coupling.add("upper", upper).unwrap();
    coupling.touch(0, 1).unwrap();
    coupling.into()
}

fn boxes() -> World {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    world.add_body(Body::dynamic(cuboid(0.4, 0.1, 0.3)).mass(1.0).at(0.0, 0.1, 0.0)).unwrap();
    world
}

/// Surfaces watched from outside.
fn watched() -> Subject {
    let mut coupling = by(Method::Iterated);
    let mut upper = earth();
    upper.add_body(Body::dynamic(cuboid(0.1, 0.1, 0.1)).mass(0.5).at(0.0, 0.4, 0.0)).unwrap();
    coupling.add("lower", boxes()).unwrap();
    coupling.add("upper", upper).unwrap();
    coupling.watch(0, 1).unwrap();
    coupling.into()
}

/// A body that moves as one of another world does, and pushes what lies in its way.
fn led() -> Subject {
    let mut coupling = by(Method::Iterated);
    let mut leader = earth();
    let pendulum = leader.add_body(Body::dynamic(sphere(0.1)).at(1.0, 1.0, 0.0)).unwrap();
    leader.add_joint(Joint::ball(Side::World, pendulum).at(0.0, 1.0, 0.0)).unwrap();
    let mut follower = earth();
    follower.add_body(Body::dynamic(sphere(0.1)).at(1.0, 1.0, 0.0)).unwrap();
    follower.add_body(floor().at(0.0, -0.3, 0.0)).unwrap();
    follower.add_body(Body::dynamic(cuboid(0.1, 0.1, 0.1)).at(0.0, -0.2, 0.0).mass(0.5)).unwrap();
    coupling.add("leader", leader).unwrap();
    coupling.add("follower", follower).unwrap();
    coupling.lead((0, 0), (1, 0)).unwrap();
    coupling.into()
}

/// A jet in one world, crates and a cloth in the other.
fn jet() -> Subject {
    let mut whole = earth();
    whole.add_body(floor()).unwrap();
    for i in 0..3 {
        let body = Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(0.5, 0.2 + 0.4 * f64::from(i), 0.0);
        whole.add_body(body.mass(3.0)).unwrap();
    }
    let mesh = thirdlaw::ClothMesh::grid(7, 7, [0.8, 0.8]).unwrap();
    let place = thirdlaw::Pose::from_translation(Vec3::new(-0.5, 0.3, 0.0));
    whole.add_cloth(thirdlaw::Cloth::new(mesh).pin([0, 6, 42, 48]).pose(place)).unwrap();
    let jet = Emitter::disc(0.1, 3000.0, 7.0).toward(Vec3::new(1.0, -0.3, 0.0)).spread(0.3);
    whole.add_emitter(jet.mass(0.004).life(1.0).at(-0.8, 0.6, 0.0).seed(5)).unwrap();
    let stream = |thing: Thing| matches!(thing, Thing::Emitter(_));
    let mut coupling = by(Method::Iterated);
    coupling.add("jet", whole.part(stream)).unwrap();
    coupling.add("rest", whole.part(|thing| !stream(thing))).unwrap();
    coupling.touch(0, 1).unwrap();
    coupling.into()
}

const CASES: &[Case] = &[
    Case { name: "couple/tie-iterated", frames: 60, build: || points(Method::Iterated) },
    Case { name: "couple/tie-interleaved", frames: 60, build: || points(Method::Interleaved) },
    Case { name: "couple/tie-fixed-point", frames: 60, build: || points(Method::FixedPoint) },
    Case { name: "couple/tie-repaired", frames: 60, build: || points(Method::Repaired) },
    Case { name: "couple/tie-frames-and-springs", frames: 60, build: frames },
    Case { name: "couple/tie-vertex", frames: 30, build: vertices },
    Case {
        name: "couple/touch-cloth",
        frames: 40,
        build: || touching(Method::Iterated, || sheet(9)),
    },
    Case { name: "couple/touch-boxes", frames: 60, build: || touching(Method::Iterated, boxes) },
    Case {
        name: "couple/touch-interleaved",
        frames: 40,
        build: || touching(Method::Interleaved, boxes),
    },
    Case { name: "couple/watch", frames: 60, build: watched },
    Case { name: "couple/lead", frames: 60, build: led },
    Case { name: "couple/touch-jet", frames: 40, build: jet },
];

#[test]
fn coupled_worlds_move_as_recorded() {
    hold(CASES);
}
