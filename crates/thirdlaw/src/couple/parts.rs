//! A step of tied simulators, in one piece or, where their forces are not found or change much in it, in halves,
//! quarters and so on. Only the simulators of the component are stepped in parts; they can go back.
//!
//! A force that is steady over h seconds stands for one that changes by ΔF until the next step, and a torque for one
//! that changes by ΔT. Velocities at the end come out right to third order; on the way there what is held at an arm r
//! strays by h²/12 times the change of its acceleration in every step, at a speed of
//!
//!   δ = h/12 (|ΔF|/m + |r| |I⁻¹ΔT|).
//!
//! Where that is more than a few thousandths of the speeds at hand the step is made again in halves, unless halves
//! are no better: what strikes something changes its force at once, whatever the step.

use super::component::{Component, Step};
use super::error::{CoupleError, SimulatorProblem};
use super::links::LinkKind;
use super::links::tie::TieLink;
use super::links::tie::constraint::Anchor;
use super::member::Member;
use super::method::Method;
use crate::math::Mat3;
use crate::simulator::SimulatorFailure;

/// Most halvings of a step.
pub(super) const HALVINGS: u32 = 6;
/// Most of them for forces that change.
const FINEST: u32 = 3;
/// Speed at which things may stray, as a share of the speeds at hand.
const STRAYING: f64 = 3e-3;
/// Least speed to which that is compared, m/s: what starts from rest is not slow.
const LEAST: f64 = 0.1;
/// Share of that below which steps of twice the length will do.
const EASY: f64 = 0.1;
/// A half that strays by more than this share of what the whole did is no better.
const BETTER: f64 = 0.6;

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
        let start = match self.halvings.saturating_sub(1).max(self.finer) {
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
        let mut halvings = self.halvings.saturating_sub(1);
        let mut level = halvings.max(self.finer);
        let (mut tick, mut whole_strays, mut most, mut finest) = (0, f64::INFINITY, 0.0, FINEST);
        step.report.parts = 0;
        while tick < ticks {
            let length = ticks >> level;
            step.dt = whole * f64::from(length) / f64::from(ticks);
            let ties = self.ties.clone();
            let made = self.advance_once(step);
            let last = level == HALVINGS;
            let settled = step.unsettled().is_none();
            let strays = match made.is_ok() && settled {
                true => self.straying(step),
                false => Ok(0.0),
            };
            let strays = match strays {
                Ok(strays) => strays,
                Err(error) => return self.put_back(step, start, error),
            };
            if strays > STRAYING && strays > BETTER * whole_strays {
                finest = level;
            }
            let refused = match &made {
                Ok(()) if settled && strays > STRAYING && level < finest => Some(None),
                Ok(()) if settled => None,
                Ok(()) => Some(None),
                Err(error) if error.is_of_a_step() => Some(Some(error.clone())),
                Err(error) => return self.put_back(step, start, error.clone()),
            };
            let Some(failure) = refused else {
                self.book(step)?;
                self.ties.iter_mut().for_each(|t| t.before = Some((t.wrenches(), step.dt)));
                most = f64::max(most, strays);
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
            if settled && made.is_ok() {
                (self.finer, whole_strays) = (level, strays);
            } else {
                halvings = level;
            }
        }
        if most < EASY * STRAYING {
            self.finer = self.finer.saturating_sub(1);
        }
        self.halvings = halvings;
        Ok(())
    }

    /// How fast what hard ties hold strays for their forces being steady, as a share of the speeds at hand. What
    /// cannot say how it answers does not count.
    fn straying(&self, step: &Step<'_>) -> Result<f64, CoupleError> {
        let mut most: f64 = 0.0;
        if !(self.touches.is_empty() && self.watches.is_empty()) {
            return Ok(most);
        }
        for link in self.ties.iter().filter(|link| !link.tie.is_spring()) {
            let Some((before, length)) = link.before else { continue };
            for (side, now) in link.wrenches().into_iter().enumerate() {
                let Anchor { simulator, handle, .. } = link.tie.anchors[side];
                let response = step.members[simulator].look("response", |s| s.response(handle))?;
                let Some(response) = response else { continue };
                let change = (now - before[side]).scaled(2.0 * step.dt / (step.dt + length));
                let arm = link.tie.anchors[side].frame.translation.length();
                let turned = match response.inertia == Mat3::ZERO {
                    true => 0.0,
                    false => (response.inertia.inverse() * change.torque).length(),
                };
                let gain = change.force.length() / response.mass + arm * turned;
                most = most.max(step.dt / 12.0 * gain);
            }
        }
        Ok(most / self.reference(step.dt).max(LEAST))
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
