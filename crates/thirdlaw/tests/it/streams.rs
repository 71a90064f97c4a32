//! Streams as data: the same bits, snapshots, refusals, fields of one's own.

use crate::{cuboid, earth, floor, hashes, run, with_threads, world};
use std::sync::Arc;
use thirdlaw::{
    Body, Cloth, ClothMesh, Emitter, EmitterError, ForceField, Pose, Shape, Snapshot, StepError,
    Vec3, World,
};

const FRAME: f64 = 1.0 / 60.0;

/// A world with everything that particles meet.
fn busy() -> World {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    for i in 0..12 {
        let body = Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(0.5, 0.2 + 0.4 * f64::from(i % 3), 0.0);
        world.add_body(body.mass(3.0)).unwrap();
    }
    let mesh = ClothMesh::grid(8, 8, [1.0, 1.0]).unwrap();
    world
        .add_cloth(Cloth::new(mesh).pose(Pose::from_translation(Vec3::new(-1.5, 1.0, 0.0))))
        .unwrap();
    let spray = Emitter::disc(0.1, 9000.0, 8.0).toward(Vec3::new(1.0, 0.2, 0.0)).spread(0.2);
    let spray = Emitter { life_spread: 0.5, speed_spread: 0.1, drag: 0.1, ..spray.life(0.6) };
    world.add_emitter(spray.clone().at(-0.8, 0.4, 0.0).seed(1)).unwrap();
    world.add_emitter(spray.toward(-Vec3::Y).at(-1.2, 2.0, 0.2).seed(2)).unwrap();
    world
}

#[test]
fn streams_have_the_same_bits_for_any_number_of_threads() {
    let with = |threads: usize| with_threads(threads, || hashes(&mut busy(), 40));
    let reference = with(1);
    for threads in [2, 7] {
        assert!(with(threads) == reference, "{threads} threads differ");
    }
}

/// Debug and release builds must agree with this number; it changes only when the physics does.
#[test]
fn a_jet_on_crates_ends_in_the_recorded_bits() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    for i in 0..6 {
        let body = Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(0.5, 0.2 + 0.4 * f64::from(i), 0.0);
        world.add_body(body.mass(3.0)).unwrap();
    }
    let spray = Emitter::disc(0.1, 5000.0, 9.0).toward(Vec3::new(1.0, 0.3, 0.0)).spread(0.2);
    let spray = Emitter { life_spread: 0.5, drag: 0.1, drag_quadratic: 0.02, ..spray.life(0.6) };
    world.add_emitter(spray.at(-0.8, 0.4, 0.0).seed(1)).unwrap();
    let last = *hashes(&mut world, 60).last().unwrap();
    assert_eq!(format!("{last:016x}"), include_str!("streams.hash").trim());
}

#[test]
fn streams_go_on_from_a_snapshot_to_the_same_bits() {
    let reference = hashes(&mut busy(), 40);
    for at in [0, 1, 23] {
        let mut first = busy();
        hashes(&mut first, at);
        let bytes = first.save().to_bytes();
        let mut second = busy();
        second.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
        second.drop_scratch();
        assert_eq!(hashes(&mut second, 40 - at), reference[at..]);
    }
}

#[test]
fn a_snapshot_of_other_streams_is_refused() {
    let first = busy();
    let mut second = busy();
    second.add_emitter(Emitter::point(1.0, 1.0)).unwrap();
    assert!(second.restore(&first.save()).is_err());
    let mut cut = first.save();
    cut.state.streams.list[0].particles.v.push(Vec3::ZERO);
    assert!(busy().restore(&cut).is_err());
}

#[test]
fn bad_emitters_are_refused_by_name() {
    let mut world = earth();
    let good = || Emitter::point(10.0, 1.0);
    let mut refuse = |field: &str, emitter: Emitter| match world.add_emitter(emitter) {
        Err(EmitterError::Value { field: found, .. }) => assert_eq!(found, field),
        other => panic!("{field}: {other:?}"),
    };
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        refuse("rate", Emitter { rate: bad, ..good() });
        refuse("speed", Emitter { speed: bad, ..good() });
        refuse("spread", Emitter { spread: bad, ..good() });
        refuse("mass", Emitter { mass: bad, ..good() });
        refuse("radius", Emitter { radius: bad, ..good() });
        refuse("drag", Emitter { drag: bad, ..good() });
        refuse("material.restitution", good().material(0.0, bad));
        refuse("source.radius", Emitter::disc(bad, 1.0, 1.0));
    }
    refuse("life", good().life(0.0));
    refuse("life", good().life(f64::NAN));
    refuse("capacity", good().life(f64::INFINITY));
    refuse("capacity", Emitter { capacity: Some(0), ..good() });
    refuse("until", good().during(1.0, 0.0));
    refuse("wind", Emitter { wind: Some(Vec3::NAN), ..good() });
    refuse("pose.translation", good().at(f64::NAN, 0.0, 0.0));
    refuse("source", Emitter::surface(Shape::half_space(Vec3::Y).unwrap(), 1.0, 1.0));
    let id = world.add_emitter(good()).unwrap();
    assert!(world.set_particle(id, 0, Vec3::ZERO, Vec3::ZERO).is_err());
    world.remove_emitter(id).unwrap();
    assert!(world.stream(id).is_err() && world.remove_emitter(id).is_err());
    let again = world.add_emitter(good()).unwrap();
    assert!(again.index == id.index && again.generation != id.generation);
    run(&mut world, 0.5, FRAME);
}

#[derive(Debug)]
struct Whirl(f64);

impl ForceField for Whirl {
    fn acceleration(&self, _: u32, x: Vec3, _: Vec3, _: f64) -> Vec3 {
        Vec3::new(-x.x, 0.0, -x.z) * self.0
    }
}

/// Under −ω² x a particle swings with ω; a field that is not finite is named, and stays so.
#[test]
fn a_force_field_of_ones_own_moves_particles() {
    let mut world = world(0.0);
    let swing = Emitter::point(1000.0, 0.0).at(1.0, 0.0, 0.0).during(0.0, 0.0015).life(100.0);
    let id = world.add_emitter(swing).unwrap();
    world.set_force_field(Some(Arc::new(Whirl(std::f64::consts::TAU.powi(2)))));
    run(&mut world, 1.001, 0.001);
    let x = world.stream(id).unwrap().particles.x[0];
    assert!((x - Vec3::X).length() < 2e-3, "{x}");
    world.set_force_field(Some(Arc::new(Whirl(f64::NAN))));
    for _ in 0..2 {
        let error = world.step(FRAME).unwrap_err();
        assert!(
            matches!(error, StepError::ParticleNotFinite { emitter, particle: 0, .. } if emitter == id),
            "{error}"
        );
    }
    world.remove_emitter(id).unwrap();
    world.step(FRAME).unwrap();
}
