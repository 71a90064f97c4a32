//! Particles of one simulator against bodies and cloth of another.

use crate::{cuboid, earth, floor};
use thirdlaw::couple::{Coupling, CouplingSettings, Method};
use thirdlaw::{
    Body, BodyId, Cloth, ClothMesh, Emitter, Pose, Precision, Quat, Settings, Thing, Vec3, World,
    measure,
};

const FRAME: f64 = 1.0 / 60.0;

/// The streams of a world in one simulator, the rest in another.
fn parted(whole: &World, settings: CouplingSettings) -> Coupling {
    let stream = |thing: Thing| matches!(thing, Thing::Emitter(_));
    let mut coupling = Coupling::new(settings).unwrap();
    coupling.add("jet", whole.part(stream)).unwrap();
    coupling.add("rest", whole.part(|thing| !stream(thing))).unwrap();
    assert_eq!(coupling.touch(0, 1).unwrap(), (0, 1));
    coupling
}

/// A jet that shoves a column of crates over a floor.
fn crates() -> (World, Vec<BodyId>) {
    let mut world = earth();
    let mut settings = *world.settings();
    settings.contact.precision = Precision::Double;
    world.set_settings(settings).unwrap();
    world.add_body(floor()).unwrap();
    let column = (0..3).map(|i| {
        let body = Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(0.5, 0.2 + 0.4 * f64::from(i), 0.0);
        world.add_body(body.mass(3.0)).unwrap()
    });
    let column = column.collect();
    let jet = Emitter::disc(0.1, 3000.0, 9.0).toward(Vec3::X).mass(0.004).life(1.0);
    world.add_emitter(jet.at(-0.8, 0.6, 0.0).seed(5)).unwrap();
    (world, column)
}

/// What strikes a body acts on it over the next step, in one world as in two: they must move alike,
/// friction between crates included, as long as rounding has not grown: that of double precision.
#[test]
fn a_jet_from_outside_moves_crates_as_one_in_the_same_world() {
    // lagged exchange takes bodies for immovable: 0.2 kg that strike 3 kg in a step notice
    for (method, share) in [(Method::Iterated, 0.0), (Method::Interleaved, 0.15)] {
        let (mut whole, column) = crates();
        let settings = CouplingSettings { method, ..CouplingSettings::default() };
        let mut coupling = parted(&whole, settings);
        let mut moved: f64 = 0.0;
        for step in 0..24 {
            whole.step(FRAME).unwrap();
            let report = coupling.step(FRAME).unwrap();
            assert_eq!(report.evaluations, 1, "{method:?}, step {step}");
            let parts = coupling.get::<World>(1).unwrap();
            for id in &column {
                let (a, b) = (whole.center(*id).unwrap(), parts.center(*id).unwrap());
                moved = moved.max((a.x - 0.5).abs());
                let near = 1e-9 + share * moved.max(1e-3);
                assert!(a.distance(b) < near, "{method:?}, step {step}: {a} and {b}");
            }
            let entry = &coupling.ledger()[0];
            assert!(
                entry.crossing_imbalance() <= 1e-12,
                "{method:?}: {}",
                entry.crossing_imbalance()
            );
        }
        assert!(moved > 0.02, "the jet moved nothing: {moved}");
    }
}

/// A sheet that floats, and a burst of particles on their way to it.
fn curtain() -> World {
    let mut settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
    settings.cloth.air = false;
    // worlds a rounding apart stay so only where nothing is rounded to single precision
    settings.cloth.precision = Precision::Double;
    let mut world = World::new(settings).unwrap();
    let upright = Quat::from_axis_angle(Vec3::Z, 0.5 * std::f64::consts::PI);
    let pose = Pose::from_parts(Vec3::new(0.4, 0.0, 0.0), upright);
    let mesh = ClothMesh::grid(15, 15, [1.0, 1.0]).unwrap();
    world.add_cloth(Cloth::new(mesh).pose(pose)).unwrap();
    let burst = Emitter::disc(0.2, 4000.0, 6.0).toward(Vec3::X).mass(2e-4).life(9.0).radius(0.01);
    world.add_emitter(burst.spread(0.05).material(0.3, 0.4).during(0.0, 0.05).seed(7)).unwrap();
    world
}

#[test]
fn particles_bounce_off_the_cloth_of_another_simulator_and_momentum_is_kept() {
    let mut whole = curtain();
    let mut coupling = parted(&whole, CouplingSettings::default());
    let sheet = whole.cloths().next().unwrap();
    let momentum = |world: &World| measure::momentum(world).0;
    let of = |coupling: &Coupling, i: usize| momentum(coupling.get::<World>(i).unwrap());
    let mut crossed = Vec3::ZERO;
    for step in 0..24 {
        whole.step(FRAME).unwrap();
        // what the cloth does by itself in this step
        let mut alone = coupling.get::<World>(1).unwrap().clone();
        alone.step(FRAME).unwrap();
        let before = of(&coupling, 0);
        coupling.step(FRAME).unwrap();
        let entry = &coupling.ledger()[0];
        assert!(entry.crossing_imbalance() == 0.0 && entry.angular_imbalance() < 1e-15);
        let got = entry.impulse[0];
        let cloth = (of(&coupling, 1) - momentum(&alone) - got).length();
        assert!(cloth < 1e-12 * (1.0 + got.length()), "step {step}: {cloth:e}");
        // the burst is over after three steps and reaches the sheet after four
        if step > 3 {
            let lost = (of(&coupling, 0) - before - entry.impulse[1]).length();
            assert!(lost < 1e-12, "step {step}: {lost:e}");
        }
        crossed += got;
        let parts = coupling.get::<World>(1).unwrap();
        let pairs = whole.vertices(sheet).unwrap().iter().zip(parts.vertices(sheet).unwrap());
        let apart = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        // conjugate gradients may stop an iteration earlier for a rounding
        let near = if step < 8 { 1e-12 } else { 1e-5 };
        assert!(apart < near, "step {step}: {apart:e}");
    }
    // 200 particles of 0.2 g came at 6 m/s against a sheet that gives way
    assert!(crossed.x > 0.1 && crossed.x < 0.48, "{crossed}");
    let jet = coupling.get::<World>(0).unwrap();
    let stream = jet.stream(jet.emitters().next().unwrap()).unwrap();
    assert!(stream.particles.x.iter().all(|x| x.x < 2.0), "a particle passed");
}

#[test]
fn a_world_that_holds_more_than_particles_does_not_follow_cloth() {
    // bodies in it would pass through: the cloth follows them instead
    let (mut jet, _) = crates();
    jet.set_settings(Settings::default()).unwrap();
    let stream = |thing: Thing| matches!(thing, Thing::Emitter(_));
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    coupling.add("crates", jet).unwrap();
    coupling.add("cloth", curtain().part(|thing| !stream(thing))).unwrap();
    assert_eq!(coupling.touch(0, 1).unwrap(), (1, 0));
}
