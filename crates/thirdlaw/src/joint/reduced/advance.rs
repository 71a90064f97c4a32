//! A substep of a forest: coordinates are read off, advanced in parts, and become poses and velocities.
//!
//! Parts are short enough for the fastest swing and spin. Where parts resolve all springs and drives the
//! explicit integrator takes them; else, and where something holds a velocity, the implicit one does.
//! A substep in which a coordinate comes to a limit, or which would need too many parts, is refused, and
//! nothing has happened.

use super::Tree;
use super::forest::Limb;
use crate::joint::island::{JointIsland, Local};
use crate::joint::system::NONE;
use crate::math::{Quat, Twist, Vec3};
use crate::model::Model;

/// What acts on a body from outside: its node, pose, velocity; force and torque.
pub(crate) type Load<'a> = dyn Fn(u32, (Vec3, Quat), &Twist) -> Twist + 'a;

/// What a forest stands in.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub model: &'a Model,
    /// One per link.
    pub locals: &'a [Local],
    /// One per node; read where it does not move.
    pub poses: &'a [(Vec3, Quat)],
    pub load: &'a Load<'a>,
}

/// Errors of joints that are rounding and what Newton iterations leave, m and rad, and what they may grow
/// to far from the origin.
const CLOSED: f64 = 1e-8;
const ROUNDING: f64 = 1e-14;
/// h ω of a part of the explicit integrator, for spins, swings and springs, and most parts of either.
const SPIN: f64 = 0.1;
const SWING: f64 = 0.7;
const SPRING: f64 = 0.7;
const PARTS: f64 = 64.0;
const SPRING_PARTS: f64 = 16.0;
/// The same of the implicit one, which follows swings explicitly and gains (h ω)⁴/8 a part on them.
const IMPLICIT_SWING: f64 = 0.02;
const IMPLICIT_SWING_MOST: f64 = 0.05;
const IMPLICIT_PARTS: (f64, f64) = (4.0, 64.0);
const IMPLICIT_FINE: f64 = 16.0;
/// How far beyond a limit is still at it, m and rad.
const AT_LIMIT: f64 = 1e-9;

impl Tree {
    /// Reads coordinates and rates off the bodies. False: joints are open.
    pub fn read(&mut self, model: &Model, island: &JointIsland, v: &[Twist]) -> bool {
        let mut far = 0.0_f64;
        for i in 0..self.limbs.len() {
            let limb = &self.limbs[i];
            let pose = island.poses[limb.node as usize];
            far = far.max(pose.0.length());
            if limb.link == NONE {
                let [x, y, z] = pose.0.to_array();
                self.places[i] = limb.place(&[x, y, z, 0.0, 0.0, 0.0], pose.1);
                continue;
            }
            let Some(slot) = limb.slot else { return false };
            let joint = &model.joints[slot as usize];
            let [a, b] = island.sides(limb.link as usize);
            let placed = joint.placed(island.poses[a], island.poses[b]);
            let state = &island.locals[limb.link as usize].state;
            let mut place = state.place;
            let q = joint.coordinates(&placed, &state.coordinates, &mut place);
            let (error, turn_error) = joint.errors(&placed, state);
            // a NaN is open
            let closed = error <= CLOSED + ROUNDING * far && turn_error <= CLOSED;
            if !closed {
                return false;
            }
            self.places[i] = limb.place(&q, placed.q_a.conjugate() * placed.q_b);
            let rows = limb.first_row as usize..(limb.first_row + limb.row_count) as usize;
            for row in &mut self.rows[rows] {
                let g = joint.gradient(&placed, 0.0, row.axis());
                let nodes = &island.system.nodes;
                row.response = nodes[a].inverse.response(g.direction, g.arm_a)
                    + nodes[b].inverse.response(g.direction, g.arm_b);
                row.extra = 0.0;
            }
        }
        self.read_rates(&island.poses, v);
        self.current = true;
        true
    }

    /// The rates that have the momenta of these velocities.
    fn read_rates(&mut self, fixed: &[(Vec3, Quat)], v: &[Twist]) {
        self.rates.fill(0.0);
        self.put(fixed);
        self.efforts.fill(0.0);
        for (i, limb) in self.limbs.iter().enumerate() {
            let (v, motion) = (&v[limb.node as usize], &self.motions[i]);
            self.articulated[i].bias =
                Twist { linear: -limb.mass * v.linear, angular: -(motion.inertia * v.angular) };
        }
        self.solve(false);
        self.rates.copy_from_slice(&self.found);
        // with far arms the solve has lost digits of it
        self.keep_momentum(fixed, v);
    }

    /// Advances by `h` seconds. False: the substep is refused; coordinates are to be read off again.
    pub fn advance(&mut self, around: &Around, time: f64, h: f64) -> bool {
        self.current = false;
        self.place_books();
        let implicit = self.is_stiff(h);
        if implicit {
            self.foresee(around, time, h / IMPLICIT_PARTS.0);
        } else {
            self.evaluate(around, time, 0.0);
        }
        self.open_books();
        let Some(parts) = self.parts(h, implicit) else { return false };
        let part = h / f64::from(parts);
        for i in 0..parts {
            let time = time + f64::from(i) * part;
            if !implicit {
                self.explicit_part(around, (time, part), i == 0);
            } else if !self.implicit_part(around, time, part) {
                return false;
            }
            self.close_part(around.poses);
        }
        self.put(around.poses);
        let finite = |v: Vec3| v.abs().max_element() < 1e50;
        self.current =
            self.motions.iter().all(|motion| {
                finite(motion.x) && finite(motion.v.linear) && finite(motion.v.angular)
            }) && self.limbs.iter().enumerate().all(|(i, limb)| self.is_inside(around, i, limb));
        self.current
    }

    /// Whether parts of a substep would not resolve what acts on coordinates.
    fn is_stiff(&self, h: f64) -> bool {
        self.rows.iter().any(|row| row.holds() || h * row.quickness() > SPRING * SPRING_PARTS)
    }

    /// Into how many parts a substep is to be divided, after an evaluation. None: too many.
    fn parts(&mut self, h: f64, implicit: bool) -> Option<u32> {
        let (swing, spin) = self.fastest();
        let (swing, spin) = (h * swing, h * spin);
        if swing.is_nan() || spin.is_nan() {
            return None;
        }
        let (parts, most) = if implicit {
            let fastest = swing.max(spin);
            let (least, most) = IMPLICIT_PARTS;
            // as fine as that only while it is cheap
            let fine = (fastest / IMPLICIT_SWING).clamp(least, IMPLICIT_FINE);
            (fine.max(fastest / IMPLICIT_SWING_MOST), most)
        } else {
            let quickest = self.rows.iter().map(|row| h * row.quickness() / SPRING);
            (quickest.fold((swing / SWING).max(spin / SPIN).max(1.0), f64::max), PARTS)
        };
        (parts <= most).then_some(parts.ceil() as u32)
    }

    /// Whether a limb's coordinates are within their limits.
    fn is_inside(&self, around: &Around, i: usize, limb: &Limb) -> bool {
        let Some(slot) = limb.slot else { return true };
        let joint = &around.model.joints[slot as usize];
        if joint.joint.axes.iter().all(|axis| axis.limits.is_none()) {
            return true;
        }
        let q = limb.coordinates(&self.places[i]);
        joint.joint.axes.iter().zip(q).zip(joint.locked).all(|((axis, q), locked)| {
            let inside = |l: crate::model::joint::axis::Limits| {
                (l.lower - AT_LIMIT..=l.upper + AT_LIMIT).contains(&q)
            };
            locked || axis.limits.is_none_or(inside)
        })
    }

    /// Poses, velocities, coordinates and reactions after a substep of `h` seconds.
    pub fn write(&mut self, island: &mut JointIsland, v: &mut [Twist], h: f64) {
        self.react(&mut island.locals, h);
        for (i, limb) in self.limbs.iter().enumerate() {
            let motion = &self.motions[i];
            island.poses[limb.node as usize] = (motion.x, motion.rotation);
            v[limb.node as usize] = motion.v;
            if limb.link != NONE {
                let state = &mut island.locals[limb.link as usize].state;
                state.coordinates = limb.coordinates(&self.places[i]);
            }
        }
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.limbs.len()
    }

    /// Node, centre and orientation of the i-th body.
    pub fn pose(&self, i: usize) -> (usize, Vec3, Quat) {
        (self.limbs[i].node as usize, self.motions[i].x, self.motions[i].rotation)
    }
}
