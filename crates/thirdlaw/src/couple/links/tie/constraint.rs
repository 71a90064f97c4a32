//! Constraints and springs between handles of two simulators.
//!
//! C is the gap between the two anchors. A tie of two anchors a and b pushes a with Jᵀλ and b with
//! the opposite at the same place, so that what one gets the other loses. The force is steady over a
//! step, and λ is sought such that at the step's end
//!
//!   hard:    C₁/h + κ Ċ₁ = 0
//!   spring:  λ + k (C₀ + C₁)/2 + d (C₁ − C₀)/h = 0,  divided by h (k/2 + d/h)
//!
//! A condition on positions alone (κ = 0) leaves no gap and no drift, but where a steady force moves
//! a handle by the share c ≤ ½ of h Δv, errors of the velocity ring on with the factor (c − 1)/c and
//! do not die. κ = 1 − c ends them in one step; it is used only where c asks for it. (C̈ = 0 alone,
//! as [baraff1997 Eq. 1] has it, drifts.)

use crate::math::{Pose, Vec3, rotation_from_vector, rotation_vector};
use crate::simulator::{Motion, Wrench};

/// A place on a handle of a simulator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// Which simulator, as [`crate::couple::Coupling::add`] numbered it.
    pub simulator: usize,
    /// Which of its handles.
    pub handle: usize,
    /// The place in the handle's own axes.
    pub frame: Pose,
}

impl Anchor {
    /// The handle itself.
    pub fn new(simulator: usize, handle: usize) -> Anchor {
        Anchor { simulator, handle, frame: Pose::IDENTITY }
    }

    /// At a point in the handle's own axes, m.
    pub fn at(mut self, point: Vec3) -> Anchor {
        self.frame.translation = point;
        self
    }

    fn arm(&self, motion: &Motion) -> Vec3 {
        motion.rotation * self.frame.translation
    }

    /// The arm after the handle has turned by `turn`.
    pub(crate) fn turned_arm(&self, motion: &Motion, turn: Vec3) -> Vec3 {
        rotation_from_vector(turn) * self.arm(motion)
    }

    pub(crate) fn point(&self, motion: &Motion) -> Vec3 {
        motion.position + self.arm(motion)
    }

    pub(crate) fn velocity(&self, motion: &Motion) -> Vec3 {
        motion.velocity.linear + motion.velocity.angular.cross(self.arm(motion))
    }
}

/// What a tie holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TieKind {
    /// The two points coincide: three rows.
    Point,
    /// The two frames coincide: six rows.
    Frame,
    /// A spring between the two points [baraff1997 §1.2].
    Spring {
        /// N/m.
        stiffness: f64,
        /// N·s/m.
        damping: f64,
        /// Length at which it pulls nothing, m; zero makes it act along all three axes.
        rest: f64,
    },
}

/// Which side a tie moves by force and which by motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roles {
    /// By what is measured.
    #[default]
    Measured,
    /// The first anchor's simulator is given the other's motion.
    FirstFollows,
    /// The second anchor's simulator is given the other's motion.
    SecondFollows,
}

/// A tie between two anchors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tie {
    /// What it holds.
    pub kind: TieKind,
    /// The two anchors.
    pub anchors: [Anchor; 2],
    /// Who follows whom where one has to.
    pub roles: Roles,
}

impl Tie {
    /// Holds two points together.
    pub fn point(a: Anchor, b: Anchor) -> Tie {
        Tie { kind: TieKind::Point, anchors: [a, b], roles: Roles::Measured }
    }

    /// Holds two frames together.
    pub fn frame(a: Anchor, b: Anchor) -> Tie {
        Tie { kind: TieKind::Frame, anchors: [a, b], roles: Roles::Measured }
    }

    /// A spring of no length, N/m.
    pub fn spring(a: Anchor, b: Anchor, stiffness: f64) -> Tie {
        let kind = TieKind::Spring { stiffness, damping: 0.0, rest: 0.0 };
        Tie { kind, anchors: [a, b], roles: Roles::Measured }
    }

    /// Says who follows whom.
    pub fn roles(mut self, roles: Roles) -> Tie {
        self.roles = roles;
        self
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self.kind {
            TieKind::Frame => 6,
            TieKind::Spring { rest, .. } if rest > 0.0 => 1,
            _ => 3,
        }
    }

    /// Whether it gives way.
    pub fn is_spring(&self) -> bool {
        matches!(self.kind, TieKind::Spring { .. })
    }

    fn direction(&self, starts: &[Motion; 2]) -> Vec3 {
        let [a, b] = &self.anchors;
        (a.point(&starts[0]) - b.point(&starts[1])).try_normalize().unwrap_or(Vec3::Y)
    }

    /// C, m and rad.
    pub(crate) fn gap(&self, now: &[Motion; 2], out: &mut [f64]) {
        let [a, b] = &self.anchors;
        let d = a.point(&now[0]) - b.point(&now[1]);
        match self.kind {
            TieKind::Spring { rest, .. } if rest > 0.0 => out[0] = d.length() - rest,
            TieKind::Frame => {
                let turn = |i: usize| now[i].rotation * self.anchors[i].frame.rotation;
                let turned = rotation_vector(turn(0) * turn(1).conjugate());
                out.copy_from_slice(&[d.x, d.y, d.z, turned.x, turned.y, turned.z]);
            }
            _ => out.copy_from_slice(&d.to_array()),
        }
    }

    /// Ċ, m/s and rad/s.
    pub(crate) fn rate(&self, now: &[Motion; 2], starts: &[Motion; 2], out: &mut [f64]) {
        let [a, b] = &self.anchors;
        let v = a.velocity(&now[0]) - b.velocity(&now[1]);
        match self.kind {
            TieKind::Spring { rest, .. } if rest > 0.0 => out[0] = v.dot(self.direction(starts)),
            TieKind::Frame => {
                let w = now[0].velocity.angular - now[1].velocity.angular;
                out.copy_from_slice(&[v.x, v.y, v.z, w.x, w.y, w.z]);
            }
            _ => out.copy_from_slice(&v.to_array()),
        }
    }

    /// Jᵀλ on the two handles, with arms at the mean time of the push, until which they turn by
    /// `turns`: the point where both are pushed moves, and arms of the beginning of the step would
    /// make angular momentum of that.
    pub(crate) fn wrenches(
        &self,
        lambda: &[f64],
        starts: &[Motion; 2],
        turns: &[Vec3; 2],
    ) -> [Wrench; 2] {
        let mut pair = Wrench::from_slice(lambda);
        if let TieKind::Spring { rest, .. } = self.kind
            && rest > 0.0
        {
            pair = Wrench { force: lambda[0] * self.direction(starts), torque: Vec3::ZERO };
        }
        let on = |i: usize, sign: f64| {
            let arm = self.anchors[i].turned_arm(&starts[i], turns[i]);
            let (force, torque) = (sign * pair.force, sign * pair.torque);
            Wrench { force, torque: torque + arm.cross(force) }
        };
        [on(0, 1.0), on(1, -1.0)]
    }

    /// What must vanish at the end of a step of `h` seconds, m/s and rad/s.
    pub(crate) fn residual(
        &self,
        (starts, now): (&[Motion; 2], &[Motion; 2]),
        lambda: &[f64],
        (h, kappa): (f64, f64),
        out: &mut [f64],
    ) {
        let n = self.rows();
        let mut first = [0.0; 6];
        self.gap(now, out);
        match self.kind {
            TieKind::Spring { stiffness, damping, .. } => {
                self.gap(starts, &mut first[..n]);
                let (half, drag) = (0.5 * stiffness, damping / h);
                for i in 0..n {
                    let sum = (half - drag) * first[i] + lambda[i];
                    out[i] = (out[i] + sum / (half + drag)) / h;
                }
            }
            _ => {
                self.rate(now, starts, &mut first[..n]);
                for i in 0..n {
                    out[i] = out[i] / h + kappa * first[i];
                }
            }
        }
    }

    /// Energy that a spring holds, J.
    pub(crate) fn stored(&self, now: &[Motion; 2]) -> f64 {
        let TieKind::Spring { stiffness, .. } = self.kind else { return 0.0 };
        let mut gap = [0.0; 6];
        self.gap(now, &mut gap[..self.rows()]);
        0.5 * stiffness * gap.iter().map(|g| g * g).sum::<f64>()
    }
}
