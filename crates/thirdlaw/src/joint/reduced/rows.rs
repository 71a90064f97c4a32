//! What acts on coordinates: springs, drives, motors and dry friction. Each is a law
//!
//!   f = k (q* − q) + d (q̇* − q̇) + effort,    |f| ≤ limit,
//!
//! along one coordinate of the joint, which for a ball is a component of the rotation vector. Motors and
//! friction are dampers without limit to d.

use super::Tree;
use super::forest::Limb;
use super::place::Place;
use crate::joint::geometry::{Placed, Turning};
use crate::joint::island::Local;
use crate::math::{Quat, Vec3};
use crate::model::Model;
use crate::model::joint::model::JointModel;

/// Compliance of what holds a velocity, relative to the response: what it gives way of the velocity that
/// it holds back in a part of a substep.
const SLIGHT: f64 = 1e-9;

/// One law on one coordinate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    slot: u32,
    link: u32,
    axis: u8,
    act: Act,
    stiffness: f64,
    /// Infinite where a velocity is held.
    damping: f64,
    effort: f64,
    pub limit: f64,
    /// J M⁻¹Jᵀ with both sides free: at least what the tree responds with.
    pub response: f64,
    pub status: Status,
    /// The coordinate, and how it depends on the freedoms of the limb, where it is looked at.
    pub at: f64,
    pub along: [f64; 6],
    /// What it adds to the pivots of its limb, kg or kg·m².
    pub extra: f64,
    /// Its force in both stages of the implicit integrator, N or N·m.
    pub stages: [f64; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Spring,
    Drive,
    Friction,
}

/// What a law with a limit is taken to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Free,
    Lower,
    Upper,
}

impl Row {
    /// Adds the laws on the coordinates of a limb's joint.
    pub fn add(rows: &mut Vec<Row>, joint: &JointModel, slot: u32, limb: &Limb) {
        for (i, axis) in joint.joint.axes.iter().enumerate().filter(|(i, _)| !joint.locked[*i]) {
            let mut row = Row {
                slot,
                link: limb.link,
                axis: i as u8,
                act: Act::Spring,
                stiffness: 0.0,
                damping: 0.0,
                effort: 0.0,
                limit: f64::INFINITY,
                response: 0.0,
                status: Status::Free,
                at: 0.0,
                along: [0.0; 6],
                extra: 0.0,
                stages: [0.0; 2],
            };
            if let Some(spring) = axis.spring {
                rows.push(Row { stiffness: spring.stiffness, damping: spring.damping, ..row });
            }
            if axis.friction > 0.0 {
                (row.act, row.damping, row.limit) = (Act::Friction, f64::INFINITY, axis.friction);
                rows.push(row);
            }
            if let Some(drive) = &axis.drive {
                (row.act, row.limit, row.effort) = (Act::Drive, drive.limit, drive.effort);
                (row.stiffness, row.damping) = (drive.stiffness, drive.damping);
                rows.push(row);
            }
        }
    }

    /// The coordinate it acts on.
    pub fn axis(&self) -> usize {
        self.axis as usize
    }

    /// Whether it holds a velocity.
    pub fn holds(&self) -> bool {
        self.damping == f64::INFINITY
    }

    /// 1/s: how fast things change that it acts on.
    pub fn quickness(&self) -> f64 {
        (self.stiffness * self.response).sqrt().max(self.damping * self.response)
    }

    /// k and d in a part of h seconds.
    pub fn gains(&self, h: f64) -> [f64; 2] {
        let slight = SLIGHT * h * self.response;
        let damping = if !self.holds() {
            self.damping
        } else if slight > 0.0 {
            1.0 / slight
        } else {
            0.0
        };
        [self.stiffness, damping]
    }

    /// Position and velocity wanted at a time.
    pub fn target(&self, model: &Model, locals: &[Local], time: f64) -> (f64, f64) {
        let axis = self.axis as usize;
        let settings = &model.joints[self.slot as usize].joint.axes[axis];
        match self.act {
            Act::Friction => (0.0, 0.0),
            Act::Spring => (settings.spring.map_or(0.0, |spring| spring.rest), 0.0),
            Act::Drive => locals[self.link as usize].state.targets[axis].unwrap_or_else(|| {
                settings.drive.as_ref().map_or((0.0, 0.0), |drive| drive.target.at(time))
            }),
        }
    }

    /// Takes the coordinate where the limb is.
    pub fn look(&mut self, limb: &Limb, place: &Place, model: &Model) {
        let axis = self.axis as usize;
        self.along = [0.0; 6];
        let slides = limb.slides.iter().filter(|&&free| free).count();
        if axis < 3 {
            self.along[limb.slides[..axis].iter().filter(|&&free| free).count()] = 1.0;
            self.at = place.slide[axis];
            return;
        }
        match limb.turning {
            Turning::Three => {
                let still = Vec3::ZERO;
                let (q_a, q_b) = (Quat::IDENTITY, place.turn);
                let placed = Placed { r_a: still, r_b: still, gap: still, q_a, q_b };
                let joint = &model.joints[self.slot as usize];
                let g = joint.gradient(&placed, 0.0, axis).arm_b;
                self.along[slides..slides + 3].copy_from_slice(&g.to_array());
                self.at = crate::math::rotation_vector(place.turn)[axis - 3];
            }
            Turning::Two(i, ..) => {
                let k = usize::from(axis != 3 + i);
                self.along[slides + k] = 1.0;
                self.at = place.angles[k];
            }
            _ => {
                self.along[slides] = 1.0;
                self.at = place.angles[0];
            }
        }
    }

    /// Its rate at these rates of the limb's freedoms.
    pub fn rate(&self, rates: &[f64]) -> f64 {
        self.along.iter().zip(rates).map(|(g, u)| g * u).sum()
    }

    /// Its law at a rate, without the limit.
    pub fn law(&self, [stiffness, damping]: [f64; 2], target: (f64, f64), rate: f64) -> f64 {
        stiffness * (target.0 - self.at) + damping * (target.1 - rate) + self.effort
    }

    /// Guesses what it does at the beginning of a part, for what holds a velocity by whether it could
    /// be reached.
    pub fn guess(&mut self, h: f64, target: (f64, f64), rate: f64) {
        let off = target.1 - rate;
        let out = self.holds() && off.abs() > h * self.limit * self.response;
        self.status = match (out, off > 0.0) {
            (false, _) => Status::Free,
            (true, true) => Status::Upper,
            (true, false) => Status::Lower,
        };
    }

    /// Changes what contradicts itself, by the law at the end of a part; `settled`: only limits are still
    /// taken on. Says whether it changed.
    pub fn change(&mut self, law: f64, settled: bool) -> bool {
        let mean = 0.5 * (self.stages[0] + self.stages[1]);
        let small = 1e-12 * self.limit;
        let before = self.status;
        self.status = match before {
            Status::Free if mean > self.limit + small => Status::Upper,
            Status::Free if mean < -self.limit - small => Status::Lower,
            Status::Upper if law < self.limit - small && !settled => Status::Free,
            Status::Lower if law > small - self.limit && !settled => Status::Free,
            status => status,
        };
        self.status != before
    }

    /// Its force where it is at its limit.
    pub fn bound(&self) -> Option<f64> {
        match self.status {
            Status::Free => None,
            Status::Upper => Some(self.limit),
            Status::Lower => Some(-self.limit),
        }
    }
}

impl Row {
    /// Adds a force along it to those on its limb's freedoms.
    pub fn push(&self, force: f64, efforts: &mut [f64]) {
        for (effort, g) in efforts.iter_mut().zip(&self.along) {
            *effort += force * g;
        }
    }
}

impl Tree {
    /// Calls `f` with every law, its limb, and the coordinates and rates of that.
    pub(super) fn each_row(&mut self, mut f: impl FnMut(&mut Row, &Limb, &Place, &[f64])) {
        self.each_pushed(|row, limb, place, rates, _| f(row, limb, place, rates));
    }

    /// The same with the forces on the limb's freedoms.
    pub(super) fn each_pushed(
        &mut self,
        mut f: impl FnMut(&mut Row, &Limb, &Place, &[f64], &mut [f64]),
    ) {
        if self.rows.is_empty() {
            return;
        }
        for (limb, place) in self.limbs.iter().zip(&self.places) {
            let range = limb.first as usize..(limb.first + limb.count) as usize;
            let rows = limb.first_row as usize..(limb.first_row + limb.row_count) as usize;
            for row in &mut self.rows[rows] {
                f(row, limb, place, &self.rates[range.clone()], &mut self.efforts[range.clone()]);
            }
        }
    }

    /// Calls `f` with every law and what was found for its limb.
    pub(super) fn each_found(&mut self, mut f: impl FnMut(&mut Row, &[f64])) {
        for limb in &self.limbs {
            let range = limb.first as usize..(limb.first + limb.count) as usize;
            let rows = limb.first_row as usize..(limb.first_row + limb.row_count) as usize;
            for row in &mut self.rows[rows] {
                f(row, &self.found[range.clone()]);
            }
        }
    }
}
