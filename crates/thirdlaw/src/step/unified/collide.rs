//! Step II: collisions [shinar2008 §4, after GBF03].
//!
//! They act on the velocities of time n, so that what rests does not bounce: at rest vⁿ = 0. A pair collides if
//! it would overlap at xⁿ + Δt (ṽⁿ + v½ − vⁿ), and comes nearer at ṽⁿ. Pairs are processed one at a time in
//! Gauss–Seidel fashion, each with all its points together, and predictions follow at once; what passes
//! through a row of bodies (a cradle) therefore goes from one to the next. An impulse changes both velocities
//! alike, which is the print's third step. All pairs that would overlap are noted: only these are
//! processed for contact, so that what newly meets may bounce before.
//!
//! Newton's law for a pair, after Moreau: u⁺ ≥ −e u⁻ at points that come nearer, with complementary impulses,
//! cannot make energy. Inelastic ones may go on until they touch, u⁺ ≥ −gap/Δt.

use super::contact::{self, Effort};
use super::nodes::Nodes;
use super::pairs::Touch;
use super::span::Span;
use std::ops::Range;

/// Most rounds over all pairs; the last ones let nothing bounce.
const ROUNDS: u32 = 40;
const ELASTIC_ROUNDS: u32 = 30;
/// How each pair is solved.
const PAIR: Effort = Effort { rounds: 30, tolerance: 1e-10 };
/// Approach that is left, m/s.
const LEFT: f64 = 1e-9;

/// Collides; `touches` are in order of keys. Notes the pairs of bodies that would overlap, in order.
/// Returns the rounds made.
pub fn collide(
    touches: &mut [Touch],
    nodes: &mut Nodes,
    span: &Span,
    bounce_speed: f64,
    processed: &mut Vec<(u32, u32)>,
) -> u32 {
    processed.clear();
    for round in 0..ROUNDS {
        let elastic = round < ELASTIC_ROUNDS;
        let mut any = false;
        let mut start = 0;
        while start < touches.len() {
            let pair = pair_from(touches, start);
            start = pair.end;
            any |=
                collide_pair(&mut touches[pair], nodes, span, (bounce_speed, elastic), processed);
        }
        if !any {
            return round + 1;
        }
    }
    ROUNDS
}

/// The points of the pair that begins here: all of two bodies, else one.
fn pair_from(touches: &[Touch], start: usize) -> Range<usize> {
    let bodies = touches[start].bodies();
    let more = touches[start + 1..].iter();
    let more = more.take_while(|next| bodies.is_some() && next.bodies() == bodies).count();
    start..start + 1 + more
}

/// Whether it collided.
fn collide_pair(
    pair: &mut [Touch],
    nodes: &mut Nodes,
    span: &Span,
    (bounce_speed, elastic): (f64, bool),
    processed: &mut Vec<(u32, u32)>,
) -> bool {
    let (dt, mass) = (span.dt, &nodes.mass);
    let overlaps =
        |touch: &Touch, half: &[_]| touch.gap + dt * touch.normal.dot(touch.velocity(half)) < 0.0;
    if !pair.iter().any(|touch| overlaps(touch, &nodes.half)) {
        return false;
    }
    if let Some(bodies) = pair[0].bodies()
        && let Err(place) = processed.binary_search(&bodies)
    {
        processed.insert(place, bodies);
    }
    let mut approaches = false;
    for touch in pair.iter_mut() {
        let (u, may) = (touch.normal.dot(touch.velocity(&nodes.v)), -touch.gap.max(0.0) / dt);
        touch.impulse = Default::default();
        approaches |= u < may - LEFT && overlaps(touch, &nodes.half);
        let bounces = elastic && touch.restitution > 0.0 && -u > bounce_speed;
        touch.aim = if bounces { -touch.restitution * u } else { may };
    }
    if approaches {
        contact::relax(pair, &mut nodes.v, mass, PAIR);
        pair.iter().for_each(|touch| touch.push(&mut nodes.half, mass, touch.impulse));
    }
    approaches
}
