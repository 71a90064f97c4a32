//! Every law holds for a plain scene, and fails when what the scene did is falsified a little.

use super::super::sketch::{Body, Shape, Sketch, Soft, SoftMesh};
use super::super::trace::{self, Trace};
use super::{Case, Verdict, find};
use thirdlaw::math::{Quat, Vec3};
use thirdlaw::measure::Overlap;

/// Three boxes that fall on a floor, side by side, and come to rest.
fn boxes() -> Sketch {
    let mut sketch = Sketch::new();
    sketch.frames = 60;
    sketch.wall("floor", Vec3::ZERO, Vec3::Y, [0.5, 0.0]);
    for i in 0..3 {
        let shape = Shape::Box(Vec3::new(0.5, 0.4, 0.3));
        let at = Vec3::new(f64::from(i), 0.3, 0.0);
        sketch.add(Body::new(&format!("b{i}"), shape, 60.0).at(at, Quat::IDENTITY));
    }
    sketch
}

/// Two boxes that collide in free flight.
fn flight() -> Sketch {
    let mut sketch = Sketch { gravity: Vec3::ZERO, ..boxes() };
    sketch.bodies.truncate(3);
    sketch.bodies.remove(0);
    sketch.promises.clear();
    sketch.bodies[0].velocity = Vec3::new(1.0, 0.1, 0.2);
    sketch.bodies[0].spin = Vec3::new(0.0, 1.0, 0.3);
    sketch
}

fn again(sketch: &Sketch, frames: u32) -> Result<Trace, String> {
    trace::run(sketch, frames, false)
}

/// Judges a scene, after `falsify` had a hand in what it did.
fn judged(law: &str, sketch: &Sketch, falsify: impl Fn(&mut Trace)) -> Verdict {
    let mut trace = trace::run(sketch, sketch.frames, true).unwrap();
    falsify(&mut trace);
    (find(law).unwrap().judge)(&Case::new(sketch, &trace, &again))
}

/// Judges a scene whose other runs are falsified where `when` says so.
fn compared(law: &str, when: fn(&Sketch) -> bool) -> Verdict {
    let sketch = boxes();
    let trace = trace::run(&sketch, sketch.frames, true).unwrap();
    let run = move |other: &Sketch, frames: u32| {
        let mut trace = again(other, frames)?;
        if when(other) {
            // as if a body had drifted away by a fifth of its size
            for frame in &mut trace.frames {
                frame.bodies[1].center.x += 0.2 * 0.35 * other.scale * frame.time.min(0.1) / 0.1;
            }
        }
        Ok(trace)
    };
    (find(law).unwrap().judge)(&Case::new(&sketch, &trace, &run))
}

fn fails(verdict: Verdict) {
    assert!(matches!(verdict, Verdict::Failed(_)), "{verdict:?}");
}

#[test]
fn laws_hold_for_plain_scenes() {
    for law in super::LAWS {
        for (name, sketch) in [("boxes", boxes()), ("flight", flight())] {
            let verdict = judged(law.name, &sketch, |_| {});
            let fine = matches!(verdict, Verdict::Held | Verdict::Silent);
            assert!(fine, "{} {name}: {verdict:?}", law.name);
        }
    }
}

#[test]
fn what_is_not_finite_is_found() {
    fails(judged("finite", &boxes(), |t| t.frames[7].bodies[1].center.y = f64::NAN));
    fails(judged("finite", &boxes(), |t| t.broke = Some("it broke".into())));
}

#[test]
fn what_falls_through_the_floor_is_lost() {
    fails(judged("lost", &boxes(), |t| t.frames[30].bodies[2].center.y = -0.3));
}

#[test]
fn a_slow_frame_is_found() {
    fails(judged("time", &boxes(), |t| t.frames[20].seconds = 1.0));
}

#[test]
fn energy_out_of_nothing_is_found() {
    // a hundredth of what they had when they fell
    fails(judged("energy", &boxes(), |t| {
        let start = t.frames[0].energy.gravity;
        t.frames[40].energy.gravity = start + 0.01 * 180.0 * 9.81 * 0.1;
    }));
    fails(judged("energy", &flight(), |t| t.frames[40].energy.kinetic *= 1.01 / 0.5));
}

#[test]
fn lost_momentum_is_found() {
    fails(judged("momentum", &flight(), |t| t.frames[40].momentum.0.y += 1e-6));
    fails(judged("momentum", &flight(), |t| t.frames[40].momentum.1.y += 2.0));
    assert_eq!(judged("momentum", &boxes(), |_| {}), Verdict::Silent);
}

#[test]
fn deep_rest_is_found() {
    let deep = Overlap { bodies: (0, 1), depth: 0.03 };
    fails(judged("overlap", &boxes(), |t| t.frames.last_mut().unwrap().overlaps = vec![deep]));
}

#[test]
fn a_measure_that_lies_is_found() {
    let false_one = Overlap { bodies: (0, 1), depth: 1.0 };
    fails(judged("measures", &boxes(), |t| {
        t.frames.last_mut().unwrap().overlaps = vec![false_one]
    }));
}

#[test]
fn a_path_that_goes_astray_is_found() {
    let general = |s: &Sketch| s.solver.iter().any(|(key, _)| key == "paths");
    fails(compared("paths", general));
}

#[test]
fn a_step_that_goes_astray_when_halved_is_found() {
    fails(compared("half-step", |s| s.fps == 240.0));
}

#[test]
fn a_broken_symmetry_is_found() {
    fails(compared("shift", |s| s.bodies[0].position != Vec3::ZERO));
    fails(compared("turn", |s| s.gravity.x != 0.0));
    fails(compared("mirror", |s| s.bodies[2].position.x < -0.5));
    fails(compared("scale", |s| s.scale != 1.0));
}

/// A soft cube at rest on the floor.
fn soft() -> Sketch {
    let mut sketch = Sketch { frames: 40, ..Sketch::new() };
    sketch.wall("floor", Vec3::ZERO, Vec3::Y, [0.5, 0.0]);
    sketch.softs.push(Soft {
        name: "soft".into(),
        mesh: SoftMesh::Box { size: Vec3::splat(0.2), cells: [2, 2, 2] },
        young: 1e6,
        poisson: 0.3,
        density: 1000.0,
        damping: 0.05,
        law: "neo-hookean",
        incompressible: false,
        friction: 0.5,
        position: Vec3::new(0.0, 0.1, 0.0),
        rotation: Quat::IDENTITY,
        velocity: Vec3::ZERO,
        pins: Vec::new(),
    });
    sketch
}

#[test]
fn what_is_inside_out_at_rest_is_found() {
    assert_eq!(judged("inverted", &soft(), |_| {}), Verdict::Held);
    fails(judged("inverted", &soft(), |t| {
        t.frames.last_mut().unwrap().least_volume = Some(-0.1);
    }));
    assert_eq!(judged("inverted", &boxes(), |_| {}), Verdict::Silent);
}

#[test]
fn a_soft_body_that_falls_through_the_floor_is_lost() {
    assert_eq!(judged("lost", &soft(), |_| {}), Verdict::Held);
    fails(judged("lost", &soft(), |t| {
        t.frames[20].vertices.iter_mut().for_each(|x| x.y -= 0.3);
    }));
}
