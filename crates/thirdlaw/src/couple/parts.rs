//! A step of tied simulators, in one piece or, where their forces are not found, in halves, quarters and so
//! on. Only the simulators of the component are stepped in parts; they can go back.

use super::component::{Component, Step};
use super::error::{CoupleError, SimulatorProblem};
use super::links::LinkKind;
use super::links::tie::TieLink;
use super::member::Member;
use super::method::Method;
use crate::simulator::SimulatorFailure;

/// Most halvings of a step.
pub(super) const HALVINGS: u32 = 6;

impl Component {
    /// Whether its steps may be made in parts.
    fn divides(&self, step: &Step<'_>) -> bool {
        let iterates = matches!(step.settings.method, Method::Iterated | Method::Repaired);
        // whoever keeps what does not converge wants the step as it is
        let exact = !(step.settings.spread || step.settings.keep_unconverged);
        iterates && exact && self.kinds().any(|kind| kind == LinkKind::Tie)
    }

    /// Advances its simulators by a step.
    pub fn advance(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        self.books.clear();
        if self.is_lagged(step.members) {
            self.advance_lagged(step)?;
            return self.book(step);
        }
        if !self.divides(step) {
            self.advance_once(step)?;
            self.book(step)?;
            return Ok(());
        }
        let whole = step.dt;
        let start = match self.halvings {
            0 => None,
            _ => Some(self.checkpoint(step)?),
        };
        let result = self.advance_in_parts(step, start);
        step.dt = whole;
        result
    }

    fn advance_in_parts(
        &mut self,
        step: &mut Step<'_>,
        mut start: Option<Checkpoint>,
    ) -> Result<(), CoupleError> {
        let (whole, ticks) = (step.dt, 1_u32 << HALVINGS);
        // a little less divided than the last step
        let mut level = self.halvings.saturating_sub(1);
        let mut tick = 0;
        step.report.parts = 0;
        while tick < ticks {
            let length = ticks >> level;
            step.dt = whole * f64::from(length) / f64::from(ticks);
            let ties = self.ties.clone();
            let made = self.advance_once(step);
            let last = level == HALVINGS;
            let refused = match &made {
                Ok(()) if step.unsettled().is_none() => None,
                Ok(()) => Some(None),
                Err(error) if error.is_of_a_step() => Some(Some(error.clone())),
                Err(error) => return self.put_back(step, start, error.clone()),
            };
            let Some(failure) = refused else {
                self.book(step)?;
                step.report.parts += 1;
                tick += length;
                if tick < ticks {
                    self.go_on_from_here(step)?;
                }
                continue;
            };
            if last {
                let unsettled = step.unsettled().map(|u| u.error(step, HALVINGS));
                let Some(error) = failure.or(unsettled) else { return Ok(()) };
                return self.put_back(step, start, error);
            }
            self.ties = ties;
            self.restore(step)?;
            if start.is_none() {
                start = Some(self.checkpoint(step)?);
            }
            level += 1;
        }
        self.halvings = level;
        Ok(())
    }

    fn restore(&self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        self.simulators.iter().try_for_each(|&member| step.members[member].restore())
    }

    /// What is reached is where further trials go back to.
    fn go_on_from_here(&self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        self.simulators.iter().try_for_each(|&member| step.members[member].save_part())
    }

    fn checkpoint(&self, step: &mut Step<'_>) -> Result<Checkpoint, CoupleError> {
        let bytes = |&member: &usize| step.members[member].look("to_bytes", |s| s.to_bytes());
        let states = self.simulators.iter().map(bytes).collect::<Result<_, _>>()?;
        Ok(Checkpoint { states, ties: self.ties.clone() })
    }

    /// Back to the beginning of the whole step, for an error.
    fn put_back(
        &mut self,
        step: &mut Step<'_>,
        start: Option<Checkpoint>,
        error: CoupleError,
    ) -> Result<(), CoupleError> {
        let Some(start) = start else { return Err(error) };
        for (&member, state) in self.simulators.iter().zip(&start.states) {
            step.members[member].load(state)?;
        }
        self.ties = start.ties;
        Err(error)
    }
}

/// Simulators and ties at the beginning of a step that is made in parts.
struct Checkpoint {
    states: Vec<Vec<u8>>,
    ties: Vec<TieLink>,
}

impl Member {
    /// Goes to a state that was taken as bytes, and remembers it.
    fn load(&mut self, state: &[u8]) -> Result<(), CoupleError> {
        let took = self.ask("load", |s| s.load(state))?;
        took.map_err(|SimulatorFailure(message)| {
            self.error(SimulatorProblem::Failed { during: "load", message })
        })?;
        self.save_part()
    }
}
