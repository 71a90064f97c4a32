//! Worlds coupled with worlds: what is split in two is as what is one.

use crate::{cuboid, earth, floor, sphere, world};
use thirdlaw::couple::{Anchor, CoupleError, Coupling, CouplingSettings, SavedProblem, Tie};
use thirdlaw::simulator::{Simulator, Wrench};
use thirdlaw::{Body, BodyId, Cloth, ClothMesh, Pose, Quat, Vec3, World, measure};

const DT: f64 = 1.0 / 60.0;

fn coupling() -> Coupling {
    Coupling::new(CouplingSettings::default()).unwrap()
}

/// A floor, a box that falls on it, and a cloth that hangs from two corners over a ball.
fn busy() -> World {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    world.add_body(Body::dynamic(cuboid(0.1, 0.1, 0.1)).at(0.0, 0.3, 0.0)).unwrap();
    world.add_body(Body::dynamic(sphere(0.1)).at(1.0, 0.3, 0.1).mass(0.2)).unwrap();
    let place = Pose::from_parts(Vec3::new(1.0, 0.55, 0.0), Quat::IDENTITY);
    world.add_cloth(Cloth::new(ClothMesh::grid(7, 7, [0.5, 0.5]).unwrap()).pose(place)).unwrap();
    world
}

#[test]
fn with_nothing_coupled_worlds_keep_their_bits() {
    let mut alone = busy();
    let settings = CouplingSettings { evaluations: 9, exchanges: 4, ..Default::default() };
    let mut coupling = Coupling::new(settings).unwrap();
    coupling.add("one", busy()).unwrap();
    coupling.add("two", busy()).unwrap();
    for _ in 0..20 {
        alone.step(DT).unwrap();
        coupling.step(DT).unwrap();
    }
    for i in 0..2 {
        assert_eq!(coupling.get::<World>(i).unwrap().hash(), alone.hash());
    }
}

#[test]
fn a_world_restored_steps_to_the_same_bits() {
    let mut world = busy();
    for _ in 0..15 {
        world.step(DT).unwrap();
    }
    Simulator::save(&mut world);
    let bytes = Simulator::to_bytes(&world);
    let mut hashes = Vec::new();
    for round in 0..4 {
        match round {
            3 => world.load(&bytes).unwrap(),
            _ => Simulator::restore(&mut world),
        }
        Simulator::push(&mut world, 1, Wrench { force: Vec3::X, torque: Vec3::Z });
        Simulator::step(&mut world, DT).unwrap();
        Simulator::step(&mut world, DT).unwrap();
        hashes.push(world.hash());
        // what was asked for is forgotten by going back
        Simulator::push(&mut world, 2, Wrench { force: Vec3::X, torque: Vec3::Z });
    }
    assert!(hashes.iter().all(|h| *h == hashes[0]), "{hashes:?}");
}

/// One body alone in a world without gravity.
fn single(body: Body) -> (World, BodyId) {
    let mut world = world(0.0);
    let id = world.add_body(body).unwrap();
    (world, id)
}

#[test]
fn two_worlds_tied_at_their_centres_move_as_the_merged_mass() {
    let mut coupling = coupling();
    for (name, mass, g) in [("light", 1.0, 9.81), ("heavy", 30.0, 2.0)] {
        let mut world = world(g);
        world.add_body(Body::dynamic(sphere(0.1)).mass(mass).moving(Vec3::X)).unwrap();
        coupling.add(name, world).unwrap();
    }
    coupling.tie(Tie::frame(Anchor::new(0, 0), Anchor::new(1, 0))).unwrap();
    let mut merged = world((9.81 + 60.0) / 31.0);
    let id = merged.add_body(Body::dynamic(sphere(0.1)).mass(31.0).moving(Vec3::X)).unwrap();
    for _ in 0..300 {
        let report = coupling.step(DT).unwrap();
        assert!(report.converged && report.evaluations <= 3, "{report:?}");
        merged.step(DT).unwrap();
        for i in 0..2 {
            let x = coupling.get::<World>(i).unwrap().read(0).position;
            let off = (x - merged.center(id).unwrap()).length();
            assert!(off < 1e-8, "{off:e}");
        }
    }
}

/// P5b, and momentum of both together.
#[test]
fn two_worlds_pinned_together_do_not_drift() {
    let mut coupling = coupling();
    let half = 0.1;
    let a = Body::dynamic(cuboid(half, half, half)).spinning(Vec3::new(0.5, 1.0, 0.2));
    let (a, _) = single(a);
    let (b, _) = single(Body::dynamic(cuboid(half, half, half)).at(0.2, 0.2, 0.2));
    coupling.add("a", a).unwrap();
    coupling.add("b", b).unwrap();
    let corner = Vec3::splat(half);
    let tie = Tie::point(Anchor::new(0, 0).at(corner), Anchor::new(1, 0).at(-corner));
    coupling.tie(tie).unwrap();
    let total = |c: &Coupling| {
        let of = |i: usize| measure::momentum(c.get::<World>(i).unwrap());
        (of(0).0 + of(1).0, of(0).1 + of(1).1)
    };
    let (p, l) = total(&coupling);
    let mut worst: f64 = 0.0;
    for _ in 0..100_000 {
        let report = coupling.step(0.01).unwrap();
        assert!(report.converged, "{report:?}");
        let at = |i: usize, arm: Vec3| {
            let motion = coupling.get::<World>(i).unwrap().read(0);
            motion.position + motion.rotation * arm
        };
        worst = worst.max((at(0, corner) - at(1, -corner)).length());
    }
    assert!(worst < 1e-9, "{worst:e}");
    let (p1, l1) = total(&coupling);
    assert!((p1 - p).length() < 1e-9 * l.length(), "{}", p1 - p);
    println!("drift of angular momentum {:e}, gap {worst:e}", (l1 - l).length() / l.length());
    assert!((l1 - l).length() < 1e-3 * l.length(), "{l} {l1}");
}

#[test]
fn an_impact_between_worlds_conserves_momentum_at_every_mass_ratio() {
    // the impact falls into different parts of a step
    let places = [-0.5, -0.4999, -0.499, -0.497];
    let masses = [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0];
    for (x, mass) in places.into_iter().flat_map(|x| masses.map(|mass| (x, mass))) {
        let mut coupling = coupling();
        let (a, _) = single(Body::dynamic(cuboid(0.2, 0.2, 0.2)).mass(1.0));
        let ball = Body::dynamic(sphere(0.1)).mass(mass).at(x, 0.03, 0.02);
        let (b, _) = single(ball.moving(Vec3::X));
        coupling.add("box", a).unwrap();
        coupling.add("ball", b).unwrap();
        assert_eq!(coupling.touch(0, 1).unwrap(), (0, 1));
        let total = |c: &Coupling| {
            let world = |i: usize| c.get::<World>(i).unwrap();
            let (p, l) = measure::momentum(world(1));
            // the obstacle of the first world is kinematic and does not count
            let (q, k) = measure::momentum(world(0));
            (p + q, l + k)
        };
        let (p, l) = total(&coupling);
        for _ in 0..40 {
            let report = coupling.step(DT).unwrap();
            assert!(report.converged, "{mass}: {report:?}");
            assert!(coupling.ledger()[0].crossing_imbalance() < 1e-12 * mass);
        }
        let (p1, l1) = total(&coupling);
        assert!((p1 - p).length() < 1e-10 * mass, "{mass}: {} {}", p, p1);
        // the other side's turning force comes half a step early or late
        assert!((l1 - l).length() < 1e-3 * l.length(), "{x} {mass}: {l} {l1}");
        let v = [0, 1].map(|i| coupling.get::<World>(i).unwrap().read(0).velocity.linear.x);
        assert!(v[0] >= v[1] - 5e-2 && v[0] > 0.5 * mass / (1.0 + mass), "{mass}: {v:?}");
    }
}

/// P5: a ball in one world rests on a box in another, which lies on a floor.
#[test]
fn a_ball_rests_on_a_box_of_another_world_with_its_weight() {
    for mass in [0.05, 1.0, 50.0] {
        let mut lower = earth();
        lower.add_body(floor()).unwrap();
        lower.add_body(Body::dynamic(cuboid(0.3, 0.2, 0.3)).mass(1.0).at(0.0, 0.2, 0.0)).unwrap();
        let mut upper = earth();
        upper.add_body(Body::dynamic(sphere(0.1)).mass(mass).at(0.0, 0.52, 0.0)).unwrap();
        let mut coupling = coupling();
        coupling.add("lower", lower).unwrap();
        coupling.add("upper", upper).unwrap();
        coupling.touch(0, 1).unwrap();
        for _ in 0..480 {
            let report = coupling.step(DT).unwrap();
            assert!(report.converged, "{report:?}");
        }
        let force = coupling.ledger()[0].impulse[0].y / DT;
        // the solver's own tolerance shows where a heavy body lies on a light one
        let digits = if mass > 10.0 { 2e-5 } else { 1e-6 };
        assert!((force / (mass * 9.81) - 1.0).abs() < digits, "{mass}: {force}");
        let y = coupling.get::<World>(1).unwrap().read(0).position.y;
        assert!((y - 0.5).abs() < 3e-3, "{mass}: {y}");
    }
}

/// P5 with cloth: ball and cloth of equal mass, in two worlds.
#[test]
fn a_ball_rests_on_the_cloth_of_another_world_with_its_weight() {
    let cloth = super::sheet(13);
    let mass: f64 = cloth.model().sheet.elements.mass.iter().sum();
    let mut balls = earth();
    balls.add_body(Body::dynamic(sphere(0.2)).mass(mass).at(0.01, 0.22, 0.02)).unwrap();
    let mut coupling = coupling();
    coupling.add("cloth", cloth).unwrap();
    coupling.add("balls", balls).unwrap();
    assert_eq!(coupling.touch(0, 1).unwrap(), (0, 1));
    let (mut impulse, mut late) = (0.0, 0.0);
    let (steps, last) = (500, 60);
    for step in 0..steps {
        let report = coupling.step(DT).unwrap();
        assert!(report.converged && report.exchanges == 1, "{report:?}");
        let entry = coupling.ledger()[0];
        assert!(entry.crossing_imbalance() < 1e-12);
        impulse += entry.impulse[0].y;
        if step + last >= steps {
            late += entry.impulse[0].y / (f64::from(last) * DT);
        }
    }
    // momentum of the ball is what its weight and the cloth gave it, to the last digit
    let weight = mass * 9.81;
    let momentum = mass * coupling.get::<World>(1).unwrap().read(0).velocity.linear.y;
    let balance = impulse - weight * f64::from(steps) * DT - momentum;
    assert!(balance.abs() < 1e-10, "{balance:e}");
    assert!((late / weight - 1.0).abs() < 1e-5, "{late} for {weight}");
}

/// The same with the cloth solved to the last digits and the ball at rest: then nothing is left but
/// its weight. At the default tolerance some millionths stay, since the solve ends there.
#[test]
fn a_ball_at_rest_on_exactly_solved_cloth_weighs_what_it_weighs() {
    let mut cloth = super::damped_sheet(9, 0.2);
    let mut settings = *cloth.settings();
    (settings.cloth.tolerance, settings.cloth.iterations) = (1e-12, 5000);
    cloth.set_settings(settings).unwrap();
    let mass: f64 = cloth.model().sheet.elements.mass.iter().sum();
    let mut balls = earth();
    balls.add_body(Body::dynamic(sphere(0.2)).mass(mass).at(0.01, 0.22, 0.02)).unwrap();
    let mut coupling = coupling();
    coupling.add("cloth", cloth).unwrap();
    coupling.add("balls", balls).unwrap();
    coupling.touch(0, 1).unwrap();
    for _ in 0..900 {
        assert!(coupling.step(DT).unwrap().converged);
    }
    let force = coupling.ledger()[0].impulse[0].y / DT;
    assert!((force / (mass * 9.81) - 1.0).abs() < 1e-8, "{:e}", force / (mass * 9.81) - 1.0);
}

/// A cloth and a ball on it in two worlds, and two bodies tied together in two others.
fn four() -> Coupling {
    let mut coupling = coupling();
    coupling.add("cloth", super::sheet(9)).unwrap();
    let mut balls = earth();
    balls.add_body(Body::dynamic(sphere(0.2)).mass(0.2).at(0.01, 0.22, 0.02)).unwrap();
    coupling.add("balls", balls).unwrap();
    coupling.touch(0, 1).unwrap();
    let (hook, _) = single(Body::dynamic(sphere(0.05)).mass(0.3).at(0.0, 3.0, 0.0));
    let mut hung = earth();
    hung.add_body(Body::dynamic(sphere(0.05)).mass(0.1).at(0.2, 3.0, 0.0)).unwrap();
    let (hook, hung) = (coupling.add("hook", hook).unwrap(), coupling.add("hung", hung).unwrap());
    let side = Vec3::new(0.1, 0.0, 0.0);
    let tie = Tie::point(Anchor::new(hook, 0).at(side), Anchor::new(hung, 0).at(-side));
    coupling.tie(tie).unwrap();
    coupling
}

#[test]
fn four_worlds_resumed_from_bytes_go_on_to_the_same_bits() {
    let mut first = four();
    for _ in 0..20 {
        assert!(first.step(DT).unwrap().converged);
    }
    let bytes = first.to_bytes().unwrap();
    let mut second = four();
    second.load(&bytes).unwrap();
    let hashes = |c: &mut Coupling| {
        for _ in 0..10 {
            c.step(DT).unwrap();
        }
        [0, 1, 2, 3].map(|i| c.get::<World>(i).unwrap().hash())
    };
    assert_eq!(hashes(&mut first), hashes(&mut second));
    for damaged in [&bytes[..bytes.len() / 3], &[], b"nonsense"] {
        let before = second.get::<World>(1).unwrap().hash();
        assert!(second.load(damaged).is_err());
        assert_eq!(second.get::<World>(1).unwrap().hash(), before);
    }
    let other = coupling().load(&bytes).unwrap_err();
    assert_eq!(other, CoupleError::Saved(SavedProblem::OtherCoupling));
}

#[test]
fn no_damaged_byte_of_a_saved_coupling_is_taken_for_good() {
    let mut coupling = four();
    for _ in 0..5 {
        coupling.step(DT).unwrap();
    }
    let bytes = coupling.to_bytes().unwrap();
    coupling.step(DT).unwrap();
    let now = coupling.to_bytes().unwrap();
    let mut refused = |damaged: &[u8], what: &str| {
        let error = coupling.load(damaged).expect_err(what);
        assert!(matches!(error, CoupleError::Saved(_)), "{what}: {error}");
    };
    for i in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[i] ^= 1 << (i % 8);
        refused(&damaged, &format!("byte {i} of {}", bytes.len()));
    }
    for length in (0..bytes.len()).step_by(97) {
        refused(&bytes[..length], &format!("{length} bytes of {}", bytes.len()));
    }
    refused(&[bytes.as_slice(), &[0]].concat(), "a byte too many");
    assert_eq!(coupling.to_bytes().unwrap(), now, "what was refused has changed nothing");
    coupling.load(&bytes).unwrap();
    assert_eq!(coupling.to_bytes().unwrap(), bytes);
}
