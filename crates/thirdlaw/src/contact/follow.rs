//! Contact points that follow their bodies from substep to substep, for whoever iterates a fixed number of
//! times over a problem of nothing but contact points: no rows are read after the beginning.

use super::lanes::{Anchor, Pose};
use super::problem::{ContactProblem, Velocities};
use super::scratch::{Scratch, prepare};

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
    (0..iterations).fold(0.0, |_, _| lanes.iterate(&mut velocities.bodies))
}

/// From here on overlaps are not pushed apart in this substep of `h` seconds.
pub fn relax(h: f64, scratch: &mut Scratch) {
    scratch.lanes.value.relax(h);
}

/// Hands the impulses back.
pub fn end(impulses: &mut [f64], scratch: &Scratch) {
    scratch.lanes.value.store(impulses);
}
