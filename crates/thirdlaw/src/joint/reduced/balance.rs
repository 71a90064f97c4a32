//! The books of a substep: momenta before and after it, and what acted from outside.
//!
//! What floats has the momentum P and angular momentum L that it began with and was given. Integrators of
//! coordinates miss them by their own error; the whole tree is then given the rigid motion that makes
//! up for it, which changes no coordinate but those of its first body. What is left over on every limb
//! came through its joint: reactions are found from the leaves inward.

use super::Tree;
use super::spatial::add;
use crate::joint::island::Local;
use crate::joint::system::NONE;
use crate::math::{Mat3, Quat, Twist, Vec3};

/// Momenta and impulses; angular ones about the origin of the books.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    /// A place near the bodies, for the sake of digits, m.
    pub origin: Vec3,
    /// For every limb, of this part and of the whole substep.
    pub part: Vec<Twist>,
    /// Forces of the last evaluation.
    pub forces: Vec<Twist>,
    pushed: Vec<Twist>,
    /// Momenta at the beginning.
    before: Vec<Twist>,
    /// Anchors at the beginning, m.
    anchors: Vec<Vec3>,
    /// For components that float, at their first limb.
    wholes: Vec<Whole>,
    /// Through the joints, from the leaves inward.
    passed: Vec<Twist>,
    /// Of the search for the fastest swing.
    pub swings: Vec<Mat3>,
}

/// A component that floats.
#[derive(Clone, Copy, Debug)]
struct Whole {
    due: Twist,
    has: Twist,
    mass: f64,
    /// Σ m (x − origin), then the centre.
    center: Vec3,
    inertia: Mat3,
}

impl Whole {
    /// One that has nothing yet.
    fn due(due: Twist) -> Whole {
        let has = Twist::default();
        Whole { due, has, mass: 0.0, center: Vec3::ZERO, inertia: Mat3::ZERO }
    }
}

impl Tree {
    /// Chooses an origin and empties the books.
    pub(super) fn place_books(&mut self) {
        let books = &mut self.books;
        books.origin = self.motions.first().map_or(Vec3::ZERO, |motion| motion.x);
        for list in [
            &mut books.part,
            &mut books.forces,
            &mut books.pushed,
            &mut books.passed,
            &mut books.before,
        ] {
            list.clear();
            list.resize(self.limbs.len(), Twist::default());
        }
    }

    /// Opens the books at the motions as they are.
    pub(super) fn open_books(&mut self) {
        let count = self.limbs.len();
        let books = &mut self.books;
        books.anchors.clear();
        books.anchors.extend(self.motions.iter().map(|motion| motion.anchor));
        for i in 0..count {
            self.books.before[i] = self.momentum(i);
        }
        self.expect_momentum();
    }

    /// What floats is due the momenta `before`.
    fn expect_momentum(&mut self) {
        self.books.wholes.clear();
        if self.limbs.iter().any(|limb| limb.floating != NONE) {
            self.books.wholes.resize(self.limbs.len(), Whole::due(Twist::default()));
            for (limb, before) in self.limbs.iter().zip(&self.books.before) {
                if limb.floating != NONE {
                    let whole = &mut self.books.wholes[limb.floating as usize];
                    whole.due = add(whole.due, *before);
                }
            }
        }
    }

    /// Gives what floats the momentum that its bodies have at these poses and velocities of the nodes.
    pub(super) fn keep_momentum(&mut self, poses: &[(Vec3, Quat)], v: &[Twist]) {
        self.books.origin = self.motions.first().map_or(Vec3::ZERO, |motion| motion.x);
        self.books.before.clear();
        for limb in &self.limbs {
            let ((x, rotation), v) = (poses[limb.node as usize], &v[limb.node as usize]);
            let spin = rotation * (limb.inertia * (rotation.conjugate() * v.angular));
            let linear = limb.mass * v.linear;
            let angular = spin + (x - self.books.origin).cross(linear);
            self.books.before.push(Twist { linear, angular });
        }
        self.expect_momentum();
        self.balance(poses);
    }

    fn momentum(&self, i: usize) -> Twist {
        let motion = &self.motions[i];
        let linear = self.limbs[i].mass * motion.v.linear;
        let arm = motion.x - self.books.origin;
        Twist { linear, angular: motion.inertia * motion.v.angular + arm.cross(linear) }
    }

    /// Books what acted in a part, and gives what floats the momentum that is due.
    pub(super) fn close_part(&mut self, fixed: &[(Vec3, Quat)]) {
        let books = &mut self.books;
        for (sum, part) in books.pushed.iter_mut().zip(&books.part) {
            *sum = add(*sum, *part);
        }
        if books.wholes.is_empty() {
            return;
        }
        for (limb, part) in self.limbs.iter().zip(&books.part) {
            if limb.floating != NONE {
                let whole = &mut books.wholes[limb.floating as usize];
                whole.due = add(whole.due, *part);
            }
        }
        self.balance(fixed);
    }

    /// Gives what floats the momentum that is due.
    fn balance(&mut self, fixed: &[(Vec3, Quat)]) {
        if self.books.wholes.is_empty() {
            return;
        }
        self.put(fixed);
        for i in 0..self.limbs.len() {
            if self.limbs[i].floating != NONE {
                let has = self.momentum(i);
                let mass = self.limbs[i].mass;
                let arm = self.motions[i].x - self.books.origin;
                let whole = &mut self.books.wholes[self.limbs[i].floating as usize];
                whole.has = add(whole.has, has);
                whole.mass += mass;
                whole.center += mass * arm;
            }
        }
        for whole in &mut self.books.wholes {
            whole.center /= whole.mass;
        }
        for (limb, motion) in self.limbs.iter().zip(&self.motions) {
            if limb.floating != NONE {
                let whole = &mut self.books.wholes[limb.floating as usize];
                let r = motion.x - self.books.origin - whole.center;
                let outer = Mat3::from_cols(r * r.x, r * r.y, r * r.z);
                let square = Mat3::from_diagonal(Vec3::splat(r.length_squared()));
                whole.inertia += motion.inertia + limb.mass * (square - outer);
            }
        }
        for (i, limb) in self.limbs.iter().enumerate() {
            if limb.floating as usize != i {
                continue;
            }
            let whole = &mut self.books.wholes[i];
            let missing = whole.due.linear - whole.has.linear;
            let turn = whole.due.angular - whole.has.angular - whole.center.cross(missing);
            let (velocity, omega) = (missing / whole.mass, whole.inertia.inverse() * turn);
            let arm = self.motions[i].x - self.books.origin - whole.center;
            *whole = Whole::due(whole.due);
            if velocity.is_finite() && omega.is_finite() {
                // slides and turns of a body that floats are along world axes
                let linear = velocity + omega.cross(arm);
                let gained = linear.to_array().into_iter().chain(omega.to_array());
                let rates = &mut self.rates[limb.first as usize..];
                rates.iter_mut().zip(gained).for_each(|(rate, more)| *rate += more);
            }
        }
    }

    /// Reactions of all joints in a substep of `h` seconds, at the motions as they are.
    pub(super) fn react(&mut self, locals: &mut [Local], h: f64) {
        for i in 0..self.limbs.len() {
            let (now, then, given) = (self.momentum(i), self.books.before[i], self.books.pushed[i]);
            self.books.passed[i] = Twist {
                linear: now.linear - then.linear - given.linear,
                angular: now.angular - then.angular - given.angular,
            };
        }
        for (i, limb) in self.limbs.iter().enumerate().rev() {
            let passed = self.books.passed[i];
            if limb.parent != NONE {
                let parent = &mut self.books.passed[limb.parent as usize];
                *parent = add(*parent, passed);
            }
            if limb.link != NONE {
                let state = &mut locals[limb.link as usize].state;
                let anchor = 0.5 * (self.books.anchors[i] + self.motions[i].anchor);
                let arm = anchor - self.books.origin;
                state.force = limb.sign / h * passed.linear;
                state.torque = limb.sign / h * (passed.angular - arm.cross(passed.linear));
            }
        }
    }
}
