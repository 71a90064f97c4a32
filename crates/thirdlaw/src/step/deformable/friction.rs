//! Friction of particles on solids, and how solids share what holds a particle between them.
//!
//! A sliding particle is pushed back by μ times the pressure of the round before. Pressures and
//! friction of a particle between two solids depend on each other, and so they must not grow with
//! themselves: each solid counts only what it pushes itself, and a drag is never stiffer than that of a
//! creeping particle. With both left out a particle between hip and thigh was pressed a thousandfold
//! harder in every round, whatever the length of the step.

use super::solids::Solid;
use super::touch::{Moved, Span, Touch, Verdict};
use crate::math::Vec3;
use crate::state::cloth::Grip;

impl Touch {
    /// Slides without friction through this step.
    pub fn smooth(&mut self) {
        (self.grip, self.mu) = (Grip::Slides, 0.0);
    }

    /// A particle that slid no faster than it may creep meets a drag from the first round on: its
    /// direction says little. A faster one meets the force it met before, which is right as it is where
    /// little has changed. One that has just come slides as it comes.
    pub fn glide(&mut self, solid: &Solid, velocity: Vec3, span: &Span) {
        if self.active && self.grip == Grip::Slides {
            let speed = self.slip(solid, velocity).length();
            if speed < span.creep_speed {
                self.speed = speed.max(1e-12);
            }
        } else if span.turns && self.active && self.pressure == 0.0 {
            self.grip = self.arrives(solid, velocity, span);
        }
    }

    /// How a particle comes to a surface: one that moves along it slides. (Held, it would stop all the cloth for a
    /// round, and pressures and friction everywhere would be those of the stop.)
    pub(super) fn arrives(&self, solid: &Solid, velocity: Vec3, span: &Span) -> Grip {
        let fast = span.turns && self.slip(solid, velocity).length() > span.creep_speed;
        if fast || self.mu == 0.0 { Grip::Slides } else { Grip::Sticks }
    }

    /// Velocity along the surface, relative to it.
    fn slip(&self, solid: &Solid, velocity: Vec3) -> Vec3 {
        let relative = velocity - solid.velocity_at(self.point);
        relative - self.normal * self.normal.dot(relative)
    }

    /// Coulomb's law on what the round led to.
    pub(super) fn judge_friction(
        &mut self,
        solid: &Solid,
        moved: &Moved,
        before: f64,
        delta: &[Vec3; 2],
        span: &Span,
    ) -> Verdict {
        let n = self.normal;
        let limit = self.mu * self.pressure;
        let carried = delta[0] + delta[1].cross(self.point - solid.after.center);
        let relative = moved.velocity - solid.velocity_at(self.point) - carried;
        let slip = relative - n * n.dot(relative);
        let speed = slip.length();
        let (changed, error) = match self.grip {
            Grip::Sticks => {
                let along = moved.impulse - n * n.dot(moved.impulse);
                let strength = along.length();
                if strength <= limit {
                    self.friction = along;
                    (false, 0.0)
                } else {
                    self.change(if self.switches == 0 { Grip::Slides } else { Grip::Creeps });
                    self.friction = along * (limit / strength);
                    (true, strength - limit)
                }
            }
            Grip::Slides if slip.dot(self.friction) > 0.0 && self.speed == 0.0 => {
                // friction has turned the motion round: it holds instead
                self.change(if self.switches == 0 { Grip::Sticks } else { Grip::Creeps });
                (true, limit)
            }
            Grip::Slides => {
                // below the speed of creeping drags end, and friction with them
                let least = if self.speed > 0.0 { span.creep_speed } else { 1e-12 };
                let friction = -slip * (limit / speed.max(least));
                let known = self.speed.max(least);
                let other_speed = self.speed > 0.0 && (speed - self.speed).abs() > 0.2 * known;
                let changed = (limit - self.mu * before).abs() > 0.1 * limit
                    || (friction - self.friction).length() > 0.2 * limit
                    || other_speed;
                let error = if self.speed > 0.0 {
                    (friction.length() - self.mu * before * speed / known).abs()
                } else {
                    (friction - self.friction).length()
                };
                self.friction = friction;
                self.speed = speed.max(1e-12);
                (changed, error)
            }
            Grip::Creeps => {
                let slow = speed <= span.creep_speed;
                let applied = self.mu * before * (speed / span.creep_speed);
                self.friction = -slip * (limit / speed.max(span.creep_speed));
                let error = (self.friction.length() - applied).abs();
                let slides = !slow && self.switches < 2;
                if slides {
                    self.change(Grip::Slides);
                    self.speed = speed;
                }
                (slides, error)
            }
        };
        Verdict { changed, error, ..Verdict::default() }
    }

    fn change(&mut self, grip: Grip) {
        self.grip = grip;
        self.speed = 0.0;
        self.switches += 1;
    }

    /// Drag in place of friction, N·s/m: what a creeping particle gets, and a sliding one whose
    /// speed is known. The force of a sliding particle depends on the pressure of the round before,
    /// and would swing up where pressure depends on it; a drag cannot.
    pub(super) fn drag(&self, span: &Span) -> Option<f64> {
        let speed = match self.grip {
            Grip::Creeps => span.creep_speed,
            // no slower than it creeps: a drag without bound presses what is between two solids
            // against the other one, and that friction against this, harder in every round
            Grip::Slides if self.speed > 0.0 => self.speed.max(span.creep_speed),
            _ => return None,
        };
        Some(self.mu * self.pressure / speed)
    }
}

/// What each plane does of the impulse that holds a particle between several solids.
pub struct Shares {
    impulse: Vec3,
    /// λ n of each plane that is not the only one; all are zero where there is one.
    parts: [Vec3; SHARING],
    sum: Vec3,
}

/// Sweeps in which shares are found.
const SHARING_SWEEPS: u32 = 32;
/// Most planes that share an impulse; a particle in more is held in all directions by some of them.
const SHARING: usize = 4;

impl Shares {
    /// The impulse without what the other planes push.
    pub fn of(&self, k: usize) -> Vec3 {
        self.impulse - self.sum + self.parts.get(k).copied().unwrap_or(Vec3::ZERO)
    }
}

/// Shares the impulse of a particle among the planes that hold it: Σ λ n nearest to it with λ ≥ 0.
/// Counted whole for each, what one solid pushes would be friction on the other, whose push again
/// would be friction on the first.
pub fn shares(touches: &[Touch], impulse: Vec3) -> Shares {
    let mut out = Shares { impulse, parts: [Vec3::ZERO; SHARING], sum: Vec3::ZERO };
    if touches.iter().filter(|t| t.active).count() < 2 {
        return out;
    }
    for _ in 0..SHARING_SWEEPS {
        for (part, touch) in out.parts.iter_mut().zip(touches).filter(|(_, t)| t.active) {
            let n = touch.normal;
            let others = out.sum - *part;
            *part = n * n.dot(impulse - others).max(0.0);
            out.sum = others + *part;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(normal: Vec3) -> Touch {
        Touch { active: true, normal, ..Touch::default() }
    }

    #[test]
    fn two_planes_share_what_holds_a_particle_in_their_corner() {
        let normals = [Vec3::new(0.6, 0.8, 0.0), Vec3::new(-0.8, 0.6, 0.0)];
        for (a, b) in [(3.0, 0.5), (1.0, 1.0), (0.01, 7.0)] {
            let shares = shares(&normals.map(plane), normals[0] * a + normals[1] * b);
            for (k, want) in [a, b].into_iter().enumerate() {
                assert!((normals[k].dot(shares.of(k)) - want).abs() < 1e-12);
            }
        }
        // blunt: both push, and together no more than is there
        let normals = [Vec3::Y, Vec3::new(0.6, 0.8, 0.0)];
        let shares = shares(&normals.map(plane), normals[0] * 2.0 + normals[1]);
        assert!((shares.of(0).y - 2.0).abs() < 1e-3, "{}", shares.of(0));
        assert!((normals[1].dot(shares.of(1)) - 1.0).abs() < 1e-3, "{}", shares.of(1));
    }

    #[test]
    fn of_two_solids_that_squeeze_a_particle_one_pushes() {
        let shares = shares(&[Vec3::Y, -Vec3::Y].map(plane), Vec3::new(0.1, 2.0, 0.0));
        assert_eq!(shares.of(0).y, 2.0);
        assert!(shares.of(1).y >= 0.0, "it pulls: {}", shares.of(1));
        // along the surface friction stays with both
        assert_eq!([shares.of(0).x, shares.of(1).x], [0.1; 2]);
    }
}
