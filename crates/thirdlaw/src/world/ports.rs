//! Where other simulators reach into a world: what they ask for the next step, and what they may ask
//! back of the last.

use super::prescribed::{Role, motion};
use super::step_constraint::ActiveConstraint;
use super::step_inputs::{StepInputs, StepModel};
use crate::ids::BodyId;
use crate::joint::geometry::side_pose;
use crate::math::Vec3;
use crate::model::joint::constraint::{Constraint, ROWS_MAX};
use crate::model::{ConstraintModel, Model};
use crate::simulator::{Reaction, Wrench};
use crate::state::State;
use crate::step::streams::Foreign;
use std::sync::Arc;

/// What other simulators asked of a world, and what they may ask back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ports {
    /// Bodies that stand for bodies of other simulators.
    pub obstacles: Vec<BodyId>,
    /// What each of them got in the last step.
    pub reactions: Vec<Option<Reaction>>,
    /// What is asked for the next step.
    pub inputs: StepInputs,
    /// Force that prescribed bodies took in the last step, by slot.
    pub constraint_forces: Vec<(u32, Wrench)>,
    /// Constraints of the step at hand, and the multipliers of those of the last, λ of each.
    pub active: Vec<Arc<ActiveConstraint>>,
    pub multipliers: Vec<[f64; ROWS_MAX]>,
    /// Sheets of other simulators that particles bounce off.
    pub sheets: Foreign,
    /// Vertices of each of them.
    pub sheet_ranges: Vec<std::ops::Range<usize>>,
    /// What `save` remembers.
    pub saved: State,
}

impl Ports {
    /// Before a step: prescribed bodies are put in place and driven, vertices pushed. Returns the model
    /// that the step sees.
    pub fn begin<'a>(
        &mut self,
        model: &'a Model,
        step_model: &'a mut StepModel,
        state: &mut State,
        dt: f64,
    ) -> &'a Model {
        self.constraint_forces.clear();
        self.reactions.iter_mut().for_each(|reaction| *reaction = None);
        self.active.clear();
        self.multipliers.clear();
        self.inputs.act(model, state, dt);
        if !self.inputs.change_model() {
            return model;
        }
        let mut constraints = Vec::new();
        for (terms, nodes) in self.inputs.constraints.drain(..) {
            let starts = nodes.iter().map(|&node| side_pose(state, node)).collect();
            let active = Arc::new(ActiveConstraint::new(terms, starts, (state.time, dt)));
            self.active.push(active.clone());
            let constraint: Option<Arc<dyn Constraint>> = Some(active);
            constraints.push(ConstraintModel { generation: 0, constraint, nodes });
        }
        let seen = step_model.lay_over(model, &self.inputs.prescribed, constraints);
        for prescribed in &mut self.inputs.prescribed {
            let slot = prescribed.slot as usize;
            prescribed.drive(&seen.bodies[slot], &mut state.bodies[slot], dt);
        }
        seen
    }

    /// Between the rigid step and cloth; `seen` is the model that the step sees.
    pub fn correct(&self, seen: &Model, state: &mut State, dt: f64, substeps: u32) {
        for prescribed in &self.inputs.prescribed {
            let slot = prescribed.slot as usize;
            prescribed.correct(&seen.bodies[slot], &mut state.bodies[slot], dt, substeps);
        }
    }

    /// After a step, successful or not.
    pub fn end(
        &mut self,
        (model, seen): (&Model, &Model),
        state: &mut State,
        (dt, gravity): (f64, Vec3),
    ) {
        self.multipliers.extend(self.active.drain(..).map(|active| active.multipliers()));
        for prescribed in self.inputs.prescribed.drain(..) {
            let slot = prescribed.slot as usize;
            let (now, body) = (&mut state.bodies[slot], &model.bodies[slot]);
            let got = prescribed.got(&seen.bodies[slot], now);
            match prescribed.role {
                Role::Obstacle(number) => {
                    self.reactions[number] = Some(Reaction { impulse: got, end: motion(now) });
                    if prescribed.response.is_none() {
                        now.velocity = Default::default();
                    }
                }
                Role::Prescribed => {
                    let mut force = prescribed.force(body, now, got, dt);
                    force.force -= body.mass * body.gravity_scale * gravity;
                    self.constraint_forces.push((prescribed.slot, force));
                }
            }
        }
    }

    /// Forgets what was asked for the next step.
    pub fn forget(&mut self) {
        self.inputs.clear();
    }
}
