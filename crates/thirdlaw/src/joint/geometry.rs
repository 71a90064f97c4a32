//! Where a joint's frames are, and the coordinates of one against the other.
//!
//! Turns are measured by what is free. About one axis: the angle of the twist, counting whole turns.
//! About two, i and j: the angles of R = R_i(α) R_j(β), with k = i × j held by i_a · j_b = 0. About
//! three: the rotation vector. About none: twice the vector part of q_a⁻¹ q_b, which vanishes with
//! the turn [shinar2008 §5.1].

use crate::math::{Quat, Vec3, rotation_vector};
use crate::model::joint::curve::Curve;
use crate::model::joint::description::JointKind;
use crate::model::joint::model::{JointModel, Node};
use crate::state::State;
use crate::state::joint::JointState;

/// The frames of a joint in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// From a's centre of mass to its anchor, m.
    pub r_a: Vec3,
    /// From b's centre of mass to its anchor, m.
    pub r_b: Vec3,
    /// From a's anchor to b's, m.
    pub gap: Vec3,
    /// Frame a.
    pub q_a: Quat,
    /// Frame b.
    pub q_b: Quat,
}

/// Which turns of a joint are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turning {
    None,
    /// About this axis.
    One(usize),
    /// About i of a and j of b, with k = i × j held.
    Two(usize, usize, usize),
    Three,
}

impl JointModel {
    /// Which turns are free.
    pub(crate) fn turning(&self) -> Turning {
        match [self.locked[3], self.locked[4], self.locked[5]] {
            [true, true, true] => Turning::None,
            [false, true, true] => Turning::One(0),
            [true, false, true] => Turning::One(1),
            [true, true, false] => Turning::One(2),
            [false, false, true] => Turning::Two(0, 1, 2),
            [true, false, false] => Turning::Two(1, 2, 0),
            [false, true, false] => Turning::Two(2, 0, 1),
            [false, false, false] => Turning::Three,
        }
    }

    /// The frames with sides at these centres and orientations.
    pub(crate) fn placed(&self, a: (Vec3, Quat), b: (Vec3, Quat)) -> Placed {
        let (r_a, r_b) = (a.1 * self.anchor_a, b.1 * self.anchor_b);
        Placed {
            r_a,
            r_b,
            gap: (b.0 - a.0) + (r_b - r_a),
            q_a: a.1 * self.basis_a,
            q_b: b.1 * self.basis_b,
        }
    }

    /// The six coordinates; `before` are those of a moment ago, by which turns are counted, and
    /// `place` is the place on a curve, which is brought up to date.
    pub(crate) fn coordinates(
        &self,
        placed: &Placed,
        before: &[f64; 6],
        place: &mut f64,
    ) -> [f64; 6] {
        let mut q = [0.0; 6];
        match self.joint.kind {
            JointKind::Distance { .. } | JointKind::Spring { .. } => q[0] = placed.gap.length(),
            JointKind::Curve { .. } => {
                if let Some(curve) = &self.curve {
                    let local = placed.q_a.conjugate() * placed.gap;
                    *place = curve.nearest_from(local, *place);
                    q[0] = curve.length_at(*place);
                }
            }
            JointKind::Gear { .. } | JointKind::Rack { .. } => {}
            _ => {
                let local = placed.q_a.conjugate() * placed.gap;
                q[..3].copy_from_slice(&local.to_array());
                let turns = self.turns(placed, before);
                q[3..].copy_from_slice(&turns);
            }
        }
        q
    }

    /// Angles by which the turns of a new joint are counted: within half a turn, but in the middle of the
    /// limits where `q` is beyond them.
    pub(crate) fn first_turns(&self, q: &[f64; 6]) -> [f64; 6] {
        let mut near = [0.0; 6];
        for i in 3..6 {
            if let Some(limits) = self.joint.axes[i].limits
                && !self.locked[i]
                && !(limits.lower..=limits.upper).contains(&q[i])
            {
                let middle = 0.5 * (limits.lower + limits.upper);
                near[i] = if middle.is_finite() { middle } else { 0.0 };
            }
        }
        near
    }

    /// How far the sides are from where the joint holds them: m and rad.
    pub(crate) fn errors(&self, placed: &Placed, now: &JointState) -> (f64, f64) {
        match &self.joint.kind {
            JointKind::Distance { min, max } => {
                let length = placed.gap.length();
                ((min - length).max(length - max).max(0.0), 0.0)
            }
            JointKind::Curve { .. } => {
                let local = placed.q_a.conjugate() * placed.gap;
                let of = |curve: &Curve| {
                    curve.place(curve.nearest_from(local, now.place)).point.distance(local)
                };
                (self.curve.as_ref().map_or(0.0, of), 0.0)
            }
            _ => {
                let mut place = now.place;
                let q = self.coordinates(placed, &now.coordinates, &mut place);
                let held = |i: usize| if self.locked[i] { q[i] * q[i] } else { 0.0 };
                ((held(0) + held(1) + held(2)).sqrt(), (held(3) + held(4) + held(5)).sqrt())
            }
        }
    }

    fn turns(&self, placed: &Placed, before: &[f64; 6]) -> [f64; 3] {
        let q = placed.q_a.conjugate() * placed.q_b;
        match self.turning() {
            Turning::None => {
                let q = if q.w < 0.0 { -q } else { q };
                [2.0 * q.x, 2.0 * q.y, 2.0 * q.z]
            }
            Turning::One(k) => {
                let v = [q.x, q.y, q.z];
                let [i, j] = [(k + 1) % 3, (k + 2) % 3];
                let mut turns = [0.0; 3];
                let angle = 2.0 * libm::atan2(v[k], q.w);
                turns[k] = near(angle, before[3 + k]);
                // k of b leans out of k of a by these
                let lean = q * unit(k);
                turns[i] = -lean[j];
                turns[j] = lean[i];
                turns
            }
            Turning::Two(i, j, k) => {
                let (y, x) = (q * unit(j), q.conjugate() * unit(i));
                let mut turns = [0.0; 3];
                turns[i] = near(libm::atan2(y[k], y[j]), before[3 + i]);
                turns[j] = near(libm::atan2(x[k], x[i]), before[3 + j]);
                turns[k] = -y[i];
                turns
            }
            Turning::Three => rotation_vector(q).to_array(),
        }
    }
}

/// The angle that differs from `angle` by whole turns and is nearest to `before`.
fn near(angle: f64, before: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    angle + turn * libm::round((before - angle) / turn)
}

/// The i-th axis.
pub(crate) fn unit(i: usize) -> Vec3 {
    [Vec3::X, Vec3::Y, Vec3::Z][i]
}

/// Centre of mass and orientation of a side.
pub(crate) fn side_pose(state: &State, node: Node) -> (Vec3, Quat) {
    match node {
        Node::World => (Vec3::ZERO, Quat::IDENTITY),
        Node::Body(i) => {
            let body = &state.bodies[i as usize];
            (body.position, body.rotation)
        }
        Node::Point(i) => (state.points.particles.x[i as usize], Quat::IDENTITY),
    }
}
