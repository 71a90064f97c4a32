//! The contact problem of the next step, taken out for whoever studies solvers.

use super::World;
use crate::contact::{Bound, ContactProblem, Velocities};
use crate::ids::BodyId;
use crate::report::StepError;
use crate::step::rigid::next_problem::next_problem;

/// The contact problem of the next step; see [`World::contact_problem`].
#[derive(Clone, Debug, Default)]
pub struct StepProblem {
    /// All contacts of bodies that are awake, in the order of their bodies: a block for every pair.
    pub problem: ContactProblem,
    /// v⁰, the velocities after external forces and without contacts.
    pub velocities: Velocities,
    /// Impulses of the step before, for as long a substep as this one, N·s: a warm start. Zeros: a cold
    /// one.
    pub impulses: Vec<f64>,
    /// Which body has which number in the problem: dynamic ones, then the others that they touch.
    pub bodies: Vec<BodyId>,
}

impl World {
    /// The contact problem that the next step of `dt` seconds begins with: its first substep's, with
    /// overlaps pushed apart softly. The world is left as it is.
    ///
    /// A step solves islands on their own; here they stand side by side in one problem. What solvers do
    /// to a contact is the same, save for those that take a number from the whole problem
    /// (`jacobi-line-search` and `jacobi-scaled`). Joints, cloth, points and bodies prescribed by other
    /// simulators are not in it.
    ///
    /// With `settings.substeps = 1` and [`StepProblem::without_push`] it is the problem of
    /// [tonge2012, Eq. 6] and Eq. 40–41 there, with gaps that contacts may close.
    pub fn contact_problem(&self, dt: f64) -> Result<StepProblem, StepError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(StepError::TimeStep(dt));
        }
        let mut state = self.state.clone();
        let (problem, velocities, impulses, slots) =
            next_problem(&self.model, &mut state, &self.settings, dt)?;
        let bodies = slots.into_iter().map(|slot| self.model.id(slot as usize)).collect();
        Ok(StepProblem { problem, velocities, impulses, bodies })
    }
}

impl StepProblem {
    /// The same problem with rigid contacts that leave overlaps as they are: Γ = 0, and b is what gaps
    /// leave to close.
    pub fn without_push(&self) -> ContactProblem {
        let mut problem = self.problem.clone();
        for row in &mut problem.rows {
            if matches!(row.bound, Bound::Interval { .. }) {
                row.compliance = 0.0;
                row.bias = row.bias.max(0.0);
            }
        }
        problem
    }
}
