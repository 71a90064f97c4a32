//! Contact points that follow their bodies from substep to substep, for whoever iterates a fixed number of
//! times over a problem of nothing but contact points: no rows are read after the beginning.

use super::lanes::{Anchor, Pose};
use super::problem::{ContactProblem, Velocities};
use super::scratch::{Scratch, prepare};
use super::sweep::Part;
use crate::math::worse;

/// Takes over a new problem, with three rows to each of `anchors`; `impulses` are those to start with.
pub fn begin(
    problem: &ContactProblem,
    anchors: &[Anchor],
    impulses: &[f64],
    scratch: &mut Scratch,
) {
    prepare(problem, scratch);
    scratch.update_lanes(problem);
    let lanes = &mut scratch.lanes.value;
    lanes.load(problem, impulses);
    lanes.fix(anchors);
}

/// Begins a substep of `h` seconds: bodies are at `poses`, and where some have `turned` the inertia in the problem is new.
/// The velocities get what the impulses of the substep before do.
pub fn advance(
    (problem, turned): (&ContactProblem, bool),
    poses: &[Pose],
    h: f64,
    velocities: &mut Velocities,
    scratch: &mut Scratch,
) {
    let lanes = &mut scratch.lanes.value;
    if turned {
        lanes.weigh(problem);
    }
    lanes.follow(poses, h, &mut velocities.bodies);
}

/// Iterates so many times. Returns the largest natural-map residual that the last iteration met, m/s.
pub fn iterate(iterations: u32, velocities: &mut Velocities, scratch: &mut Scratch) -> f64 {
    let lanes = &mut scratch.lanes.value;
    (0..iterations).fold(0.0, |_, _| lanes.iterate(Part::Both, &mut velocities.bodies))
}

/// Iterates so many times with overlaps no longer pushed apart, in a substep of `h` seconds. Returns what [`iterate`]
/// does. Contacts that are `rigid` then do not give way, and normals go first, so that friction is judged by loads
/// without the push; others keep a share of it.
pub fn relax(
    (h, rigid): (f64, bool),
    iterations: u32,
    velocities: &mut Velocities,
    scratch: &mut Scratch,
) -> f64 {
    let lanes = &mut scratch.lanes.value;
    lanes.relax(h, rigid);
    if !rigid {
        return iterate(iterations, velocities, scratch);
    }
    let mut pass = |part| lanes.iterate(part, &mut velocities.bodies);
    (0..iterations).fold(0.0, |_, _| worse(pass(Part::Normal), pass(Part::Friction)))
}

/// Hands the impulses back.
pub fn end(impulses: &mut [f64], scratch: &Scratch) {
    scratch.lanes.value.store(impulses);
}
