//! Step III: contact with friction, in the order of the contact graph [shinar2008 §5, after GBF03], and the same
//! for the velocities of step V.
//!
//! Each point: u_n ≥ −gap⁺/Δt with a complementary impulse, ‖j_t‖ ≤ μ j_n, and j_t against the sliding. The
//! points are gone through by Gauss–Seidel with accumulated impulses, from the ground up and back down, until
//! nothing changes. (GBF03 applies whole impulses pair by pair and ends with shock propagation, in which lower
//! bodies count as immovable; that does not keep momentum. Accumulated impulses converge to the law itself.)
//! What overlaps already is not pushed apart here; step IV does that.

use super::pairs::Touch;
use super::span::Span;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Twist, Vec3, tangents};

/// How long iteration goes on.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Most rounds, each forward and backward.
    pub rounds: u32,
    /// Change of a contact velocity in a round at which it ends, m/s.
    pub tolerance: f64,
}

/// Of all points together.
pub const CONTACT: Effort = Effort { rounds: 200, tolerance: 1e-8 };

/// What iteration came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Relaxed {
    /// Rounds made.
    pub rounds: u32,
    /// Change of a contact velocity in the last one, m/s.
    pub residual: f64,
}

/// Makes velocities obey contact and friction over the span. Impulses start from what the touches hold.
pub fn contact(
    touches: &mut [Touch],
    velocities: &mut [Twist],
    mass: &[BodyMass],
    span: &Span,
) -> Relaxed {
    for touch in touches.iter_mut() {
        touch.aim = -touch.gap.max(0.0) / span.dt;
        let start = touch.impulse;
        touch.push(velocities, mass, start);
    }
    relax(touches, velocities, mass, CONTACT)
}

/// Gauss–Seidel over points in the order given and back, sped up by nonlinear conjugate gradients
/// (Silcowitz-Hansen 2010: the step of a round is taken for a gradient), until their velocities keep.
pub fn relax(
    touches: &mut [Touch],
    velocities: &mut [Twist],
    mass: &[BodyMass],
    effort: Effort,
) -> Relaxed {
    let mut relaxed = Relaxed::default();
    let mut last = f64::INFINITY;
    touches.iter_mut().for_each(|touch| touch.memory = [touch.impulse, Vec3::ZERO]);
    while relaxed.rounds < effort.rounds {
        let mut most: f64 = 0.0;
        for touch in touches.iter_mut() {
            most = most.max(press(touch, velocities, mass));
        }
        for touch in touches.iter_mut().rev() {
            most = most.max(press(touch, velocities, mass));
        }
        relaxed.rounds += 1;
        relaxed.residual = most;
        if most <= effort.tolerance {
            break;
        }
        let size = touches.iter().map(Touch::gradient).sum::<f64>();
        let keep = if size < last { size / last } else { 0.0 };
        last = size;
        // the last round leaves what obeys the bounds
        if relaxed.rounds < effort.rounds {
            for touch in touches.iter_mut() {
                go_on(touch, velocities, mass, keep);
            }
        }
    }
    relaxed
}

/// Takes the way of the rounds before once more, as far as `keep` says.
fn go_on(touch: &mut Touch, velocities: &mut [Twist], mass: &[BodyMass], keep: f64) {
    let [before, direction] = touch.memory;
    let more = keep * direction;
    let stepped = touch.impulse - before;
    if more != Vec3::ZERO {
        touch.push(velocities, mass, more);
        touch.impulse += more;
    }
    touch.memory = [touch.impulse, more + stepped];
}

impl Touch {
    /// What the last round changed, in the norm of its response.
    fn gradient(&self) -> f64 {
        let step = self.impulse - self.memory[0];
        step.dot(self.response * step)
    }
}

/// One point; returns by how much its velocity changed, m/s.
fn press(touch: &mut Touch, velocities: &mut [Twist], mass: &[BodyMass]) -> f64 {
    let (n, k) = (touch.normal, &touch.response);
    let before = n.dot(touch.impulse);
    let kn = n.dot(*k * n);
    let u = n.dot(touch.velocity(velocities));
    let normal = (before - (u - touch.aim) / kn).max(0.0);
    let mut changed = (normal - before).abs() * kn;
    if normal != before {
        touch.push(velocities, mass, (normal - before) * n);
    }
    let old = touch.impulse - before * n;
    let mut tangent = Vec3::ZERO;
    if touch.friction > 0.0 && normal > 0.0 {
        tangent = brake(old, touch.velocity(velocities), n, k);
        let most = touch.friction * normal;
        let size = tangent.length();
        if size > most {
            tangent *= most / size;
        }
    }
    if tangent != old {
        touch.push(velocities, mass, tangent - old);
        changed = changed.max((*k * (tangent - old)).length());
    }
    touch.impulse = normal * n + tangent;
    changed
}

/// A step of the tangent impulse against the sliding. It is the same in all directions, by the direction that
/// gives way most: cut to its bound, its limit is against the sliding, which that of an exact stop is not.
fn brake(old: Vec3, u: Vec3, n: Vec3, k: &Mat3) -> Vec3 {
    let (s, t) = tangents(n);
    let (ks, kt) = (*k * s, *k * t);
    let (a, b, c) = (s.dot(ks), s.dot(kt), t.dot(kt));
    let most = 0.5 * (a + c) + (0.25 * (a - c).powi(2) + b * b).sqrt();
    old - (u - n.dot(u) * n) / most.max(f64::MIN_POSITIVE)
}
