//! The classical Runge–Kutta method on coordinates and rates, four evaluations: of fourth order, and so
//! little damped (1 − (hω)⁶/144 a part) that energy keeps ten digits and more where parts resolve the
//! motion. It takes springs and drives that the parts resolve, too.

use super::Tree;
use super::advance::Around;
use super::spatial::{add, scaled};
use crate::math::Twist;

impl Tree {
    /// Advances by a part of `h` seconds; `evaluated`: u̇ at its beginning is known already.
    pub(super) fn explicit_part(
        &mut self,
        around: &Around,
        (time, h): (f64, f64),
        evaluated: bool,
    ) {
        self.begin_part();
        self.stages.step.fill(0.0);
        self.stages.moved.fill(0.0);
        self.stages.gained.fill(0.0);
        for (at, weight, next) in
            [(0.0, 1.0, 0.5), (0.5, 2.0, 0.5), (0.5, 2.0, 1.0), (1.0, 1.0, 0.0)]
        {
            let weight = h * weight / 6.0;
            if evaluated && at == 0.0 {
                self.book_forces(weight);
            } else {
                self.evaluate(around, time + at * h, weight);
            }
            let stages = &mut self.stages;
            // rates of the increments, where they are
            stages.first_move.copy_from_slice(&self.rates);
            for limb in &self.limbs {
                let range = limb.first as usize..(limb.first + limb.count) as usize;
                limb.step_rates(&stages.step[range.clone()], &mut stages.first_move[range]);
            }
            for k in 0..self.found.len() {
                stages.moved[k] += weight * stages.first_move[k];
                stages.gained[k] += weight * self.found[k];
                stages.step[k] = next * h * stages.first_move[k];
                self.rates[k] = self.start_rates[k] + next * h * self.found[k];
            }
            if next > 0.0 {
                self.advance_places();
            }
        }
        self.stages.step.copy_from_slice(&self.stages.moved);
        self.advance_places();
        for k in 0..self.rates.len() {
            self.rates[k] = self.start_rates[k] + self.stages.gained[k];
        }
    }

    /// u̇ at the coordinates and rates looked at; what acts from outside is booked with a weight in s.
    pub(super) fn evaluate(&mut self, around: &Around, time: f64, weight: f64) {
        self.put(around.poses);
        self.weigh(around, weight);
        self.efforts.fill(0.0);
        self.each_pushed(|row, limb, place, rates, efforts| {
            row.extra = 0.0;
            row.look(limb, place, around.model);
            let target = row.target(around.model, around.locals, time);
            let gains = if row.holds() { [0.0; 2] } else { row.gains(1.0) };
            let force = row.law(gains, target, row.rate(rates)).clamp(-row.limit, row.limit);
            row.push(force, efforts);
        });
        self.solve(true);
    }

    /// Forces from outside, and those that keep a body turning as it is free to.
    pub(super) fn weigh(&mut self, around: &Around, weight: f64) {
        let origin = self.books.origin;
        for (i, limb) in self.limbs.iter().enumerate() {
            let motion = &self.motions[i];
            let pose = (motion.x, motion.rotation);
            let force = (around.load)(limb.node, pose, &motion.v);
            let spin = motion.v.angular.cross(motion.inertia * motion.v.angular);
            self.articulated[i].bias =
                Twist { linear: -force.linear, angular: spin - force.angular };
            let moment = force.angular + (motion.x - origin).cross(force.linear);
            self.books.forces[i] = Twist { linear: force.linear, angular: moment };
        }
        self.book_forces(weight);
    }

    /// Books the forces of the last evaluation with a weight in s.
    fn book_forces(&mut self, weight: f64) {
        for (part, force) in self.books.part.iter_mut().zip(&self.books.forces) {
            *part = add(*part, scaled(force, weight));
        }
    }

    pub(super) fn begin_part(&mut self) {
        self.start.copy_from_slice(&self.places);
        self.start_rates.copy_from_slice(&self.rates);
        self.books.part.fill(Twist::default());
    }

    /// Coordinates the increments `stages.step` away from the start.
    pub(super) fn advance_places(&mut self) {
        for (i, limb) in self.limbs.iter().enumerate() {
            let range = limb.first as usize..(limb.first + limb.count) as usize;
            self.places[i] = limb.advanced(&self.start[i], &self.stages.step[range]);
        }
    }
}
