//! Where other simulators reach into a world: what they ask for the next step, and what they may ask
//! back of the last.

use super::prescribed::{PrescribedBody, Role, motion};
use super::step_constraint::StepConstraints;
use crate::ids::BodyId;
use crate::joint::geometry::side_pose;
use crate::math::Vec3;
use crate::model::Model;
use crate::model::joint::model::Node;
use crate::simulator::{Motion, Reaction, Wrench};
use crate::state::State;
use crate::step::streams::Foreign;

/// What other simulators asked of a world, and what they may ask back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ports {
    /// Bodies that stand for bodies of other simulators.
    pub obstacles: Vec<BodyId>,
    /// What each of them got in the last step.
    pub reactions: Vec<Option<Reaction>>,
    /// Bodies whose motion through the next step is prescribed.
    pub prescribed: Vec<PrescribedBody>,
    /// Forces on cloth vertices in the next step, N.
    pub vertex_pushes: Vec<(u32, Vec3)>,
    /// Force that prescribed bodies took in the last step, by slot.
    pub constraint_forces: Vec<(u32, Wrench)>,
    /// Constraints for the next step.
    pub constraints: StepConstraints,
    /// Sheets of other simulators that particles bounce off.
    pub sheets: Foreign,
    /// Vertices of each of them.
    pub sheet_ranges: Vec<std::ops::Range<usize>>,
    /// What `save` remembers.
    pub saved: State,
}

impl Ports {
    /// Before a step: prescribed bodies are put in place and driven, vertices pushed.
    pub fn begin(&mut self, model: &mut Model, state: &mut State, dt: f64) {
        for (particle, force) in self.vertex_pushes.drain(..) {
            let mass = model.sheet.elements.mass[particle as usize];
            state.particles.v[particle as usize] += dt / mass * force;
        }
        self.constraint_forces.clear();
        self.reactions.iter_mut().for_each(|reaction| *reaction = None);
        for prescribed in &mut self.prescribed {
            let slot = prescribed.slot as usize;
            let struck = &state.streams.struck;
            if let Ok(at) = struck.binary_search_by_key(&prescribed.slot, |s| s.body) {
                prescribed.pending = struck[at].angular;
            }
            prescribed.begin(&mut model.bodies[slot], &mut state.bodies[slot], dt);
        }
        let pose = |node: Node| side_pose(state, node);
        self.constraints.begin(model, pose, (state.time, dt));
    }

    /// Between the rigid step and cloth.
    pub fn correct(&self, model: &Model, state: &mut State, dt: f64, substeps: u32) {
        for prescribed in &self.prescribed {
            let slot = prescribed.slot as usize;
            prescribed.correct(&model.bodies[slot], &mut state.bodies[slot], dt, substeps);
        }
    }

    /// After a step, successful or not.
    pub fn end(&mut self, model: &mut Model, state: &mut State, (dt, gravity): (f64, Vec3)) {
        self.constraints.end(model);
        for mut prescribed in self.prescribed.drain(..) {
            let slot = prescribed.slot as usize;
            let now = &mut state.bodies[slot];
            let body = &mut model.bodies[slot];
            let (got, _) = prescribed.end(body, now);
            match prescribed.role {
                Role::Obstacle(number) => {
                    let end = motion(now);
                    self.reactions[number] = Some(Reaction { impulse: got, end });
                    if prescribed.response.is_none() {
                        now.velocity = Default::default();
                    }
                }
                Role::Prescribed => {
                    let real = |m: &Motion| {
                        PrescribedBody::momentum(
                            body,
                            m.rotation,
                            m.velocity.linear,
                            m.velocity.angular,
                        )
                    };
                    let mut force =
                        (real(&motion(now)) - real(&prescribed.start) - got).scaled(1.0 / dt);
                    force.force -= body.mass * body.gravity_scale * gravity;
                    self.constraint_forces.push((prescribed.slot, force));
                }
            }
        }
    }

    /// Forgets what was asked for the next step.
    pub fn forget(&mut self) {
        self.prescribed.clear();
        self.vertex_pushes.clear();
        self.constraints.forget();
    }
}
