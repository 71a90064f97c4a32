//! The contact problem that the next step begins with, for whoever studies solvers.

use super::substep::{IslandScratch, Members, Setting};
use super::{Scratch, check_finite, detect};
use crate::contact::{ContactProblem, Velocities};
use crate::model::Model;
use crate::model::settings::Settings;
use crate::report::StepError;
use crate::state::State;
use crate::step::island::Islands;

/// A problem, velocities after external forces, impulses of the last step, and slots of bodies.
pub type Problem = (ContactProblem, Velocities, Vec<f64>, Vec<u32>);

/// The contacts of the next step as one problem for all bodies that are awake: that of its first
/// substep. The state is left with these contacts.
pub fn next_problem(
    model: &Model,
    state: &mut State,
    settings: &Settings,
    dt: f64,
) -> Result<Problem, StepError> {
    check_finite(model, state)?;
    let mut scratch = Scratch::default();
    detect(model, state, settings, dt, &mut scratch, &mut ());
    let Islands { mut bodies, mut contacts, .. } = scratch.islands;
    bodies.sort_unstable();
    contacts.sort_unstable_by_key(|touch| touch.index);
    let members = Members { bodies: &bodies, contacts: &contacts, links: &[], points: &[] };
    let mut island = IslandScratch::default();
    island.begin((model, state, settings, dt), members);
    let slots = island.bodies.iter().map(|body| body.slot).collect();
    Ok((island.problem, island.velocities, island.impulses, slots))
}

impl IslandScratch {
    /// Goes as far into the first substep as there is a problem to solve.
    fn begin(&mut self, setting: Setting, members: Members) {
        let (_, state, settings, dt) = setting;
        let (count, h) = (members.bodies.len(), dt / f64::from(settings.substeps));
        self.gather(setting, std::iter::once(members));
        self.apply_forces(setting, count, state.time, h);
        self.set_kinematic_velocities(setting, count, (0, settings.substeps));
        self.place_rows(state, &settings.contact, h);
    }
}
