//! Constraints that someone outside asks for in one step, by values and derivatives: for its length they
//! are constraints like a user's own, held by the same exact solve as joints.

use super::World;
use crate::math::{Quat, Vec3, rotation_vector};
use crate::model::joint::constraint::{Constraint, MEMBERS_MAX, Member, MemberState, ROWS_MAX};
use crate::model::joint::model::Node;
use crate::simulator::StepConstraint;
use std::sync::Mutex;

/// A constraint for one step.
#[derive(Debug)]
pub(crate) struct ActiveConstraint {
    terms: StepConstraint,
    /// Where the handles were when the step began, and when and how long it is, s.
    starts: Vec<(Vec3, Quat)>,
    time: f64,
    dt: f64,
    /// Impulses of the rows so far.
    carried: Mutex<[f64; ROWS_MAX]>,
}

impl ActiveConstraint {
    pub fn new(
        terms: StepConstraint,
        starts: Vec<(Vec3, Quat)>,
        (time, dt): (f64, f64),
    ) -> ActiveConstraint {
        ActiveConstraint { terms, starts, time, dt, carried: Mutex::default() }
    }

    /// λ, the mean over the step.
    pub fn multipliers(&self) -> [f64; ROWS_MAX] {
        let carried = self.carried.lock().map_or([0.0; ROWS_MAX], |carried| *carried);
        carried.map(|z| z / self.dt)
    }

    /// g and ġ at a time since the beginning: at an even acceleration, plus an even drift that makes it
    /// end where it does.
    fn drift(&self, row: usize, since: f64) -> (f64, f64) {
        let [first, last] = [&self.terms.drift_rates[0], &self.terms.drift_rates[1]];
        let (a, b) = (first[row], last[row]);
        let even = (self.terms.drift[row] - 0.5 * self.dt * (a + b)) / self.dt;
        let share = since / self.dt;
        (since * (a + 0.5 * share * (b - a) + even), a + share * (b - a) + even)
    }

    fn columns(&self) -> usize {
        6 * self.starts.len()
    }
}

impl Constraint for ActiveConstraint {
    fn members(&self) -> &[Member] {
        // it is never added by its members, but by the slots of what it acts on
        &[]
    }

    fn rows(&self) -> usize {
        self.terms.value.len()
    }

    fn evaluate(&self, states: &[MemberState], out: &mut [f64]) {
        self.evaluate_at(self.time, states, out);
    }

    fn position_derivative(&self, states: &[MemberState], out: &mut [f64]) {
        self.position_derivative_at(self.time, states, out);
    }

    fn evaluate_at(&self, time: f64, states: &[MemberState], out: &mut [f64]) {
        let since = time - self.time;
        for (row, out) in out.iter_mut().enumerate() {
            *out = self.terms.value[row] + self.drift(row, since).0;
            for (k, (state, start)) in states.iter().zip(&self.starts).enumerate() {
                let way = state.position - start.0;
                let turn = rotation_vector(state.rotation * start.1.conjugate());
                let moved = way.to_array().into_iter().chain(turn.to_array());
                for (column, moved) in moved.enumerate() {
                    let at = row * self.columns() + 6 * k + column;
                    let j = self.terms.jacobian[at] + 0.5 * since * self.terms.jacobian_rate[at];
                    *out += j * moved;
                }
            }
        }
    }

    fn position_derivative_at(&self, time: f64, _: &[MemberState], out: &mut [f64]) {
        let since = time - self.time;
        let parts = self.terms.jacobian.iter().zip(&self.terms.jacobian_rate);
        out.iter_mut().zip(parts).for_each(|(out, (j, rate))| *out = j + since * rate);
    }

    fn time_derivative(&self, time: f64, _: &[MemberState], out: &mut [f64]) {
        let since = time - self.time;
        out.iter_mut().enumerate().for_each(|(row, out)| *out = self.drift(row, since).1);
    }

    fn carried(&self, impulses: &[f64]) {
        if let Ok(mut carried) = self.carried.lock() {
            carried.iter_mut().zip(impulses).for_each(|(sum, z)| *sum += z);
        }
    }
}

impl World {
    /// Holds a constraint on bodies and point masses in the next step, if it makes sense.
    pub(super) fn take_constraint(&mut self, constraint: &StepConstraint) -> bool {
        let (rows, count) = (constraint.value.len(), constraint.handles.len());
        let numbers = 6 * rows * count;
        let StepConstraint {
            value,
            jacobian,
            jacobian_rate,
            drift_rates: [first, last],
            drift,
            ..
        } = constraint;
        let lists = [value, jacobian, jacobian_rate, first, last, drift];
        let sound = (1..=ROWS_MAX).contains(&rows)
            && (1..=MEMBERS_MAX).contains(&count)
            && (jacobian.len(), jacobian_rate.len()) == (numbers, numbers)
            && [first, last, drift].iter().all(|list| list.len() == rows)
            && lists.into_iter().flatten().all(|x| x.is_finite());
        if !sound {
            return false;
        }
        let mut nodes = Vec::new();
        for &handle in &constraint.handles {
            match self.node_of(handle) {
                Some(node) if !nodes.contains(&node) => nodes.push(node),
                _ => return false,
            }
        }
        for node in &nodes {
            if let Node::Body(slot) = *node {
                self.wake_slot(slot as usize);
            }
        }
        self.ports.inputs.constraints.push((constraint.clone(), nodes));
        true
    }

    /// Multipliers of a constraint that was held in the last step.
    pub(super) fn read_multipliers(&self, constraint: usize, out: &mut [f64]) -> bool {
        match self.ports.multipliers.get(constraint) {
            Some(lambda) => {
                out.iter_mut().zip(lambda).for_each(|(out, lambda)| *out = *lambda);
                true
            }
            None => false,
        }
    }
}
