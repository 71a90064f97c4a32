//! Constraints told by value and derivatives [baraff1997 §2.5], and what they are good for (§2.3).

use crate::{cuboid, earth};
use thirdlaw::couple::{Anchor, Coupling, CouplingReport, CouplingSettings, Method, Tie};
use thirdlaw::math::Pose;
use thirdlaw::simulator::{Motion, Simulator, StepConstraint};
use thirdlaw::{Body, BodyId, Joint, Side, Twist, Vec3, World};

const FRAME: f64 = 1.0 / 60.0;
/// Where the bob is held, from its centre.
const ARM: Vec3 = Vec3::new(-0.4, 0.1, 0.0);

fn bob() -> (World, BodyId) {
    let mut world = earth();
    let body = Body::dynamic(cuboid(0.1, 0.2, 0.05)).mass(2.0).at(0.4, -0.1, 0.0);
    let id = world.add_body(body).unwrap();
    (world, id)
}

/// x + R p = 0, as a user would write it down.
pub fn pinned(handle: usize, now: &Motion) -> StepConstraint {
    let arm = now.rotation * ARM;
    let turning = now.velocity.angular.cross(arm);
    let cross = |r: Vec3| [[0.0, r.z, -r.y], [-r.z, 0.0, r.x], [r.y, -r.x, 0.0]];
    let rows = |left: f64, right: [[f64; 3]; 3]| -> Vec<f64> {
        let row = |i: usize| {
            let mut row = [0.0; 6];
            row[i] = left;
            row[3..].copy_from_slice(&right[i]);
            row
        };
        (0..3).flat_map(row).collect()
    };
    StepConstraint {
        handles: vec![handle],
        value: (now.position + arm).to_array().to_vec(),
        jacobian: rows(1.0, cross(arm)),
        jacobian_rate: rows(0.0, cross(turning)),
        drift_rates: [vec![0.0; 3], vec![0.0; 3]],
        drift: vec![0.0; 3],
    }
}

#[test]
fn a_world_under_a_step_constraint_swings_as_one_with_the_joint() {
    let (mut jointed, id) = bob();
    let pose = Pose::from_translation(ARM);
    jointed
        .add_joint(Joint::ball(Side::World, Side::Body(id)).frames(Pose::IDENTITY, pose))
        .unwrap();
    let (mut held, id) = bob();
    let handle = held.body_handle(id).unwrap();
    let (mut apart, mut gap): (f64, f64) = (0.0, 0.0);
    let mut pull = Vec3::ZERO;
    for _ in 0..120 {
        let before = held.read(handle);
        assert!(held.constrain(&pinned(handle, &before)));
        Simulator::step(&mut held, FRAME).unwrap();
        jointed.step(FRAME).unwrap();
        let now = held.read(handle);
        gap = gap.max((now.position + now.rotation * ARM).length());
        apart = apart.max(now.position.distance(jointed.center(id).unwrap()));
        let mut lambda = [0.0; 3];
        assert!(held.multipliers(0, &mut lambda));
        // what it took is what the momentum has beyond gravity
        let gained = 2.0 * (now.velocity.linear - before.velocity.linear) / FRAME;
        let taken = gained - 2.0 * Vec3::new(0.0, -9.81, 0.0);
        let off = (Vec3::from_array(lambda) - taken).length();
        assert!(off < 1e-9 * (1.0 + taken.length()), "{lambda:?} and {taken}");
        pull += FRAME * Vec3::from_array(lambda);
    }
    // (ω h)³ of the arm is what value and derivatives leave out, in every step anew
    assert!(gap < 1e-4, "{gap:e}");
    assert!(apart < 2e-3, "{apart:e}");
    assert!(pull.y > 20.0, "{pull}");
    // asked for one step, held for one step
    let mut lambda = [0.0; 3];
    Simulator::step(&mut held, FRAME).unwrap();
    assert!(!held.multipliers(0, &mut lambda));
}

#[test]
fn what_makes_no_sense_is_not_held() {
    let (mut world, id) = bob();
    let handle = world.body_handle(id).unwrap();
    let good = pinned(handle, &world.read(handle));
    let bad = [
        StepConstraint { handles: vec![handle, handle], ..good.clone() },
        StepConstraint { handles: vec![handle + 1], ..good.clone() },
        StepConstraint { handles: Vec::new(), ..good.clone() },
        StepConstraint { value: vec![f64::NAN; 3], ..good.clone() },
        StepConstraint { value: vec![0.0; 2], ..good.clone() },
        StepConstraint { jacobian: Vec::new(), ..good.clone() },
        StepConstraint { drift: vec![0.0], ..good.clone() },
    ];
    for constraint in &bad {
        assert!(!world.constrain(constraint), "{constraint:?}");
    }
    // what was asked for and taken back is not held either
    Simulator::save(&mut world);
    assert!(world.constrain(&good));
    Simulator::restore(&mut world);
    Simulator::step(&mut world, FRAME).unwrap();
    assert!((world.velocity(id).unwrap().linear.y + 9.81 * FRAME).abs() < 1e-12);
}

/// A bob pinned off its centre to a heavy block that flies along.
pub fn towed(method: Method) -> (Coupling, [usize; 2]) {
    let mut heavy = earth();
    let block = Body::dynamic(cuboid(0.2, 0.2, 0.2)).mass(2000.0).moving(Vec3::new(1.0, 6.0, 0.0));
    let block = heavy.add_body(block).unwrap();
    let (mut light, bob) = bob();
    light
        .set_velocity(bob, Twist { linear: Vec3::new(1.0, 6.0, 0.0), angular: Vec3::ZERO })
        .unwrap();
    let settings = CouplingSettings { method, ..CouplingSettings::default() };
    let mut coupling = Coupling::new(settings).unwrap();
    let handles = [heavy.body_handle(block).unwrap(), light.body_handle(bob).unwrap()];
    coupling.add("heavy", heavy).unwrap();
    coupling.add("light", light).unwrap();
    let ends = [Anchor::new(0, handles[0]), Anchor::new(1, handles[1]).at(ARM)];
    coupling.tie(Tie::point(ends[0], ends[1])).unwrap();
    (coupling, handles)
}

/// Bodies that turn can follow a point only under a constraint.
#[test]
fn a_body_that_turns_follows_a_point_of_another_simulator() {
    let (mut exact, handles) = towed(Method::Iterated);
    for method in [Method::Interleaved, Method::Repaired] {
        let (mut coupling, _) = towed(method);
        let (mut gap, mut apart): (f64, f64) = (0.0, 0.0);
        exact = if method == Method::Repaired { towed(Method::Iterated).0 } else { exact };
        for _ in 0..60 {
            exact.step(FRAME).unwrap();
            let report = coupling.step(FRAME).unwrap();
            assert!(!report.switched);
            let read = |c: &Coupling, i: usize| c.simulator(i).unwrap().read(handles[i]);
            let (a, b) = (read(&coupling, 0), read(&coupling, 1));
            gap = gap.max(a.position.distance(b.position + b.rotation * ARM));
            apart = apart.max(b.position.distance(read(&exact, 1).position));
        }
        assert!(gap < 1e-4, "{method:?}: {gap:e}");
        assert!(apart < 2e-2, "{method:?}: {apart:e}");
    }
}

/// Ten frames of masses from 20 g to 400 kg, each tied to a body fifty times as heavy.
fn many(precondition: bool) -> Vec<CouplingReport> {
    let (mut light, mut heavy) = (earth(), earth());
    let mut pairs = Vec::new();
    for i in 0..10 {
        let mass = 0.02 * f64::from(3_u32.pow(i));
        let at = 2.0 * f64::from(i);
        let small = Body::dynamic(cuboid(0.1, 0.2, 0.3)).mass(mass).at(at, 0.0, 0.0);
        let large = Body::dynamic(cuboid(0.3, 0.3, 0.3)).mass(50.0 * mass).at(at, 0.5, 0.0);
        let spinning = large
            .moving(Vec3::new(0.3, 0.0, 0.1 * f64::from(i)))
            .spinning(Vec3::new(0.0, 0.4, 1.0));
        pairs.push((light.add_body(small).unwrap(), heavy.add_body(spinning).unwrap()));
    }
    let handles: Vec<[usize; 2]> = pairs
        .iter()
        .map(|(a, b)| [light.body_handle(*a).unwrap(), heavy.body_handle(*b).unwrap()])
        .collect();
    // what does not get there without is kept, to be counted
    let settings = CouplingSettings {
        precondition,
        evaluations: 2000,
        keep_unconverged: !precondition,
        ..CouplingSettings::default()
    };
    let mut coupling = Coupling::new(settings).unwrap();
    coupling.add("light", light).unwrap();
    coupling.add("heavy", heavy).unwrap();
    for [a, b] in handles {
        let up = Vec3::new(0.0, 0.25, 0.0);
        coupling.tie(Tie::frame(Anchor::new(0, a).at(up), Anchor::new(1, b).at(-up))).unwrap();
    }
    (0..5).map(|_| coupling.step(1.0 / 240.0).unwrap()).collect()
}

/// Sixty rows are too many to be measured one by one. Where the lighter side can be constrained, that
/// gives A⁻¹, and conjugate gradients on A⁻¹(A + B) ≈ 1 are done in a few steps.
#[test]
fn constraining_the_lighter_side_preconditions_many_ties() {
    let steps = |reports: &[CouplingReport]| -> u32 {
        // the first also measures
        reports[1..].iter().map(|r| r.evaluations + r.trials).sum()
    };
    let (aided, plain) = (many(true), many(false));
    assert!(aided.iter().all(|report| report.converged), "{aided:?}");
    let (aided, plain) = (steps(&aided), steps(&plain));
    println!("{aided} steps with, {plain} without, in four steps of the coupling");
    assert!(3 * aided < plain, "{aided} steps with, {plain} without");
}
