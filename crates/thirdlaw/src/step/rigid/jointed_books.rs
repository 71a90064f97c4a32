//! The books of an island with joints that nothing holds: its momentum and angular momentum.
//!
//! Impulses of joints act on both sides at one point, so a substep keeps both as long as bodies go where their
//! velocities take them. They do not where positions are brought onto the constraint afterwards
//! (`joint::fall_back`), where inertia is added to what swings too fast (`joint::stiffness`), and where turning
//! is not carried on exactly. What is missing of the momenta that the island began with and was given is made
//! up for by a rigid motion of the whole, as for trees in coordinates (`joint::reduced`): it changes neither
//! the velocities at joints nor those at contacts of the island's own bodies.

use super::substep::{IslandScratch, Setting};
use crate::contact::ContactSide;
use crate::joint::system::{Link, Source};
use crate::math::{Mat3, Twist, Vec3};

/// What is due to a floating island. Angular momenta are about the place of its first body.
#[derive(Debug, Default)]
pub(crate) struct Books {
    origin: Vec3,
    due: Twist,
    /// What it had before forces acted.
    had: Twist,
    open: bool,
}

/// Momenta, and what resists a motion of the whole.
struct Whole {
    momenta: Twist,
    mass: f64,
    /// From the origin of the books, m.
    center: Vec3,
    /// About the centre.
    inertia: Mat3,
}

impl IslandScratch {
    /// Whether neither joints nor contacts hold the island to anything that is not its own.
    pub(super) fn floats(&self, count: usize) -> bool {
        let own = |side: &ContactSide| match side {
            ContactSide::Body(i) => (*i as usize) < count,
            _ => false,
        };
        let nodes = &self.joints.system.nodes;
        let joint = |link: &Link| matches!(link.source, Source::Joint(_));
        self.joints.system.links.iter().all(joint)
            && self.joints.system.ends.iter().all(|&end| nodes[end as usize].movable)
            && self.problem.blocks.iter().all(|block| own(&block.a) && own(&block.b))
            && nodes[..count]
                .iter()
                .all(|node| node.locked_linear == [false; 3] && node.locked_angular == [false; 3])
    }

    /// Opens the books at the beginning of a substep.
    pub(super) fn open_books(&mut self, setting: Setting, count: usize) {
        self.books.origin = self.joints.poses.first().map_or(Vec3::ZERO, |pose| pose.0);
        self.books.due = self.weigh_whole(setting, count).momenta;
        self.books.had = self.books.due;
        self.books.open = true;
    }

    /// Books what forces have given since the momenta were last looked at.
    pub(super) fn book_forces(&mut self, setting: Setting, count: usize) {
        if self.books.open {
            let has = self.weigh_whole(setting, count).momenta;
            let Books { due, had, .. } = &mut self.books;
            due.linear += has.linear - had.linear;
            due.angular += has.angular - had.angular;
        }
    }

    /// Momenta before forces act.
    pub(super) fn look_at_momenta(&mut self, setting: Setting, count: usize) {
        if self.books.open {
            self.books.had = self.weigh_whole(setting, count).momenta;
        }
    }

    /// Gives the whole the momenta that are due.
    pub(super) fn close_books(&mut self, setting: Setting, count: usize) {
        self.books.open = false;
        let whole = self.weigh_whole(setting, count);
        let missing = self.books.due.linear - whole.momenta.linear;
        let turn = self.books.due.angular - whole.momenta.angular - whole.center.cross(missing);
        let (velocity, omega) = (missing / whole.mass, whole.inertia.inverse() * turn);
        if !(velocity.is_finite() && omega.is_finite()) {
            return;
        }
        let first_point = self.bodies.len();
        let center = self.books.origin + whole.center;
        for (i, v) in self.velocities.bodies[..count].iter_mut().enumerate() {
            v.linear += velocity + omega.cross(self.bodies[i].position - center);
            v.angular += omega;
        }
        for (v, pose) in self.velocities.particles.iter_mut().zip(&self.joints.poses[first_point..])
        {
            *v += velocity + omega.cross(pose.0 - center);
        }
    }

    fn weigh_whole(&self, (model, ..): Setting, count: usize) -> Whole {
        let (mut momenta, mut mass, mut center) = (Twist::default(), 0.0, Vec3::ZERO);
        // about the origin first
        let mut inertia = Mat3::ZERO;
        let first_point = self.bodies.len();
        let bodies = self.velocities.bodies[..count].iter().enumerate().map(|(i, v)| {
            let local = &self.bodies[i];
            let body = &model.bodies[local.slot as usize];
            let r = Mat3::from_quat(local.rotation);
            let own = r * body.inertia * r.transpose();
            (body.mass, local.position, v.linear, own * v.angular, own)
        });
        let points = self.velocities.particles.iter().enumerate().map(|(i, v)| {
            let node = first_point + i;
            let mass = 1.0 / self.problem.particles[i];
            (mass, self.joints.poses[node].0, *v, Vec3::ZERO, Mat3::ZERO)
        });
        for (m, x, v, spin, own) in bodies.chain(points) {
            let arm = x - self.books.origin;
            momenta.linear += m * v;
            momenta.angular += m * arm.cross(v) + spin;
            mass += m;
            center += m * arm;
            inertia += own + m * around(arm);
        }
        center /= mass;
        Whole { momenta, mass, center, inertia: inertia - mass * around(center) }
    }
}

/// r² 1 − r rᵀ.
fn around(r: Vec3) -> Mat3 {
    let outer = Mat3::from_cols(r * r.x, r * r.y, r * r.z);
    Mat3::from_diagonal(Vec3::splat(r.length_squared())) - outer
}
