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
    /// Forces on vertices of deformable objects, N.
    pub vertex_pushes: Vec<(u32, Vec3)>,
    /// Forces on drops of streams.
    pub drop_pushes: Vec<DropPush>,
}

/// A force on a drop of a stream.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct DropPush {
    /// Slot of the emitter.
    pub emitter: u32,
    /// Where the drop was when it was pushed; it is elsewhere when the world was restored since.
    pub index: usize,
    /// Number in the order of births.
    pub number: u64,
    /// N.
    pub force: Vec3,
}

impl DropPush {
    /// Gives a drop that is still there the whole step's impulse.
    fn act(&self, model: &Model, state: &mut State, dt: f64) {
        let slot = self.emitter as usize;
        let particles = &mut state.streams.list[slot].particles;
        let same = particles.id.get(self.index) == Some(&self.number);
        let index = if same { Some(self.index) } else { particles.index_of(self.number) };
        if let Some(index) = index {
            particles.v[index] += dt / model.emitters[slot].emitter.mass * self.force;
        }
    }
}

impl StepInputs {
    pub fn clear(&mut self) {
        self.prescribed.clear();
        self.constraints.clear();
        self.forget_pushes();
    }

    /// Forgets forces on particles.
    pub fn forget_pushes(&mut self) {
        self.vertex_pushes.clear();
        self.drop_pushes.clear();
    }

    /// `count` vertices have come before the one that was `first`.
    pub fn vertices_came(&mut self, first: u32, count: u32) {
        for push in self.vertex_pushes.iter_mut().filter(|push| push.0 >= first) {
            push.0 += count;
        }
    }

    /// These vertices have gone.
    pub fn vertices_went(&mut self, gone: std::ops::Range<u32>) {
        self.vertex_pushes.retain(|push| !gone.contains(&push.0));
        for push in self.vertex_pushes.iter_mut().filter(|push| push.0 >= gone.end) {
            push.0 -= gone.end - gone.start;
        }
    }

    /// This emitter has gone with its drops.
    pub fn emitter_went(&mut self, slot: u32) {
        self.drop_pushes.retain(|push| push.emitter != slot);
    }

    /// Whether the step sees another model than the user's.
    pub fn change_model(&self) -> bool {
        !self.constraints.is_empty() || self.prescribed.iter().any(|p| p.response.is_some())
    }

    /// Puts prescribed bodies in place where they have no response, and pushes drops. Vertices are pushed
    /// by the cloth step itself.
    pub fn act(&mut self, model: &Model, state: &mut State, dt: f64) {
        for push in self.drop_pushes.drain(..) {
            push.act(model, state, dt);
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
