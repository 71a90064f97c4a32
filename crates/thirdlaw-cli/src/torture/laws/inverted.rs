//! A soft body at rest has no tetrahedron that is flat or inside out: J > 0.
//!
//! At rest means that no vertex has moved by more than a thousandth of the body's size over the last five frames. While
//! it is struck, tetrahedra may be pressed flat.

use super::{Case, Verdict};

/// Frames over which vertices must be at rest.
const REST: usize = 5;
/// How far they may move in that time, as a share of the size.
const STILL: f64 = 1e-3;

/// Whether all tetrahedra are the right way round.
pub fn judge(case: &Case) -> Verdict {
    let frames = &case.trace.frames;
    let Some(last) = frames.last().filter(|_| frames.len() > REST) else {
        return Verdict::Silent;
    };
    let Some(least) = last.least_volume else { return Verdict::Silent };
    let before = &frames[frames.len() - 1 - REST];
    let moved = last.vertices.iter().zip(&before.vertices).map(|(a, b)| a.distance(*b));
    if moved.fold(0.0, f64::max) > STILL * case.trace.cloth_size {
        return Verdict::Silent;
    }
    match least > 0.0 {
        true => Verdict::Held,
        false => Verdict::Failed(format!("at rest a tetrahedron has J = {least:.3e}")),
    }
}
