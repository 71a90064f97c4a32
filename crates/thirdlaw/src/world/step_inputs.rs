//! What others ask of a world for one step, and the model as that step sees it.
//!
//! A step only reads its model. A prescribed body has another mass while the step lasts, and a constraint
//! for one step is among the others: both are written into a copy that is kept beside the model. Nobody
//! else sees the copy, so that a step that fails, or panics, leaves the model as it was. A world that
//! nobody asks for anything has no copy.

use super::prescribed::PrescribedBody;
use crate::math::Vec3;
use crate::model::joint::model::Node;
use crate::model::{ConstraintModel, Model};
use crate::simulator::StepConstraint;
use crate::state::State;

/// What others ask of a world for the next step.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepInputs {
    /// Bodies whose motion is prescribed, with their response.
    pub prescribed: Vec<PrescribedBody>,
    /// Constraints, with the slots of what they act on.
    pub constraints: Vec<(StepConstraint, Vec<Node>)>,
    /// Forces on cloth vertices, N.
    pub vertex_pushes: Vec<(u32, Vec3)>,
}

impl StepInputs {
    pub fn clear(&mut self) {
        self.prescribed.clear();
        self.constraints.clear();
        self.vertex_pushes.clear();
    }

    /// Whether the step sees another model than the user's.
    pub fn change_model(&self) -> bool {
        !self.constraints.is_empty() || self.prescribed.iter().any(|p| p.response.is_some())
    }

    /// Puts prescribed bodies in place where they have no response, and pushes vertices.
    pub fn act(&mut self, model: &Model, state: &mut State, dt: f64) {
        for (particle, force) in self.vertex_pushes.drain(..) {
            let mass = model.sheet.elements.mass[particle as usize];
            state.particles.v[particle as usize] += dt / mass * force;
        }
        for prescribed in &mut self.prescribed {
            prescribed.place(state, dt);
        }
    }
}

/// A copy of a model with the inputs of a step laid over it.
#[derive(Debug, Default)]
pub(crate) struct StepModel {
    copy: Model,
    /// Which edit of the model was copied.
    revision: Option<u64>,
    /// Slots of bodies that are not as in the model.
    overwritten: Vec<u32>,
}

impl Clone for StepModel {
    /// A copy of a copy is made when it is needed.
    fn clone(&self) -> StepModel {
        StepModel::default()
    }
}

impl StepModel {
    /// The model with these bodies and constraints in it.
    pub fn lay_over(
        &mut self,
        model: &Model,
        prescribed: &[PrescribedBody],
        constraints: Vec<ConstraintModel>,
    ) -> &Model {
        if self.revision == Some(model.revision) {
            // what the last step, however it ended, has left
            for slot in self.overwritten.drain(..) {
                self.copy.bodies[slot as usize].clone_from(&model.bodies[slot as usize]);
            }
            self.copy.constraints.truncate(model.constraints.len());
        } else {
            self.copy.clone_from(model);
            self.overwritten.clear();
            self.revision = Some(model.revision);
        }
        for prescribed in prescribed.iter().filter(|p| p.response.is_some()) {
            prescribed.lay_over(&mut self.copy.bodies[prescribed.slot as usize]);
            self.overwritten.push(prescribed.slot);
        }
        self.copy.constraints.extend(constraints);
        &self.copy
    }
}
