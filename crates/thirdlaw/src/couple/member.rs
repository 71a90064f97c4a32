//! A simulator inside a coupling: every call is guarded, so that whatever it does wrong becomes an
//! error that names it.

use super::account::{Account, Given, Settled};
use super::error::{CoupleError, SimulatorProblem};
use super::links::tie::TIE_ROWS;
use super::links::touch::sheets::SheetMotion;
use crate::simulator::{
    ContactSurface, FreeHandle, Motion, ObstacleMotion, Reaction, Simulator, SimulatorFailure,
    StepConstraint, Wrench,
};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Handles beyond those in use that are compared after a restore.
const SPOT_CHECKS: usize = 16;
/// What a follower reports beyond this, m/s and m, is no motion but a solve that came apart.
const ABSURD: f64 = 1e7;

/// A guarded simulator.
pub(crate) struct Member {
    pub name: String,
    pub simulator: Box<dyn Simulator>,
    /// Whether it can go back.
    pub restores: bool,
    /// Its own steps in a step of the coupling.
    pub substeps: u32,
    handles: usize,
    /// Whether anything was asked of it since it was saved or put back that may have changed it.
    touched: bool,
    /// Handles in use, compared after a restore.
    pub(super) watched: Vec<usize>,
    pub(super) saved: Vec<Motion>,
    /// Forces of the coming step.
    pub pushes: Vec<(usize, Wrench)>,
    /// Impulses at its beginning.
    pub kicks: Vec<(usize, Wrench)>,
    /// Prescribed handles, with their end.
    pub prescribed: Vec<(usize, Motion)>,
    /// Constraints for the coming step, and the multipliers that they took.
    pub constraints: Vec<StepConstraint>,
    pub multipliers: Vec<[f64; TIE_ROWS]>,
    /// How obstacles move.
    pub obstacles: Vec<(usize, ObstacleMotion)>,
    /// How sheets move, and what struck them over all substeps.
    pub sheets: Vec<SheetMotion>,
    /// What obstacles got over all substeps.
    pub reactions: Vec<Reaction>,
    /// Mean forces that prescribed handles took, in the order of `prescribed`.
    pub constraint_forces: Vec<Wrench>,
    /// Impulses and ways after the step.
    pub settled: Vec<Settled>,
    /// Handles that nothing of its own pushes.
    pub(super) free: Vec<FreeHandle>,
    /// What watched handles were given in the last step, or part of one, that was kept.
    pub given: Vec<Given>,
    /// How it kept to that, over the parts of a step.
    pub account: Option<Account>,
    /// Steps that it was asked for in the coupling's step, retracted ones included.
    pub steps: u32,
}

impl Member {
    pub fn new(name: String, simulator: Box<dyn Simulator>) -> Result<Member, CoupleError> {
        let mut member = Member {
            name,
            simulator,
            restores: true,
            substeps: 1,
            handles: 0,
            touched: true,
            watched: Vec::new(),
            saved: Vec::new(),
            pushes: Vec::new(),
            kicks: Vec::new(),
            prescribed: Vec::new(),
            constraints: Vec::new(),
            multipliers: Vec::new(),
            obstacles: Vec::new(),
            sheets: Vec::new(),
            reactions: Vec::new(),
            constraint_forces: Vec::new(),
            settled: Vec::new(),
            free: Vec::new(),
            given: Vec::new(),
            account: None,
            steps: 0,
        };
        member.restores = member.look("can_restore", |s| s.can_restore())?;
        member.handles = member.look("handle_count", |s| s.handle_count())?;
        for handle in 0..member.handles.min(SPOT_CHECKS) {
            member.watch(handle);
        }
        Ok(member)
    }

    /// Compares this handle, too, after a restore.
    pub fn watch(&mut self, handle: usize) {
        if let Err(place) = self.watched.binary_search(&handle) {
            self.watched.insert(place, handle);
        }
    }

    pub fn error(&self, problem: SimulatorProblem) -> CoupleError {
        CoupleError::Simulator { name: self.name.clone(), problem }
    }

    /// Calls the simulator for something that may change it; a panic becomes an error.
    pub fn ask<R>(
        &mut self,
        during: &'static str,
        f: impl FnOnce(&mut dyn Simulator) -> R,
    ) -> Result<R, CoupleError> {
        self.touched = true;
        let simulator = &mut *self.simulator;
        let answer = catch_unwind(AssertUnwindSafe(|| f(simulator)));
        answer.map_err(|panic| self.panicked(during, &*panic))
    }

    /// Calls the simulator for something that leaves it as it is; a panic becomes an error.
    pub fn look<R>(
        &self,
        during: &'static str,
        f: impl FnOnce(&dyn Simulator) -> R,
    ) -> Result<R, CoupleError> {
        let simulator = &*self.simulator;
        let answer = catch_unwind(AssertUnwindSafe(|| f(simulator)));
        answer.map_err(|panic| self.panicked(during, &*panic))
    }

    fn panicked(&self, during: &'static str, panic: &(dyn Any + Send)) -> CoupleError {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let message = text.unwrap_or_else(|| "(without a message)".into());
        self.error(SimulatorProblem::Panicked { during, message })
    }

    fn obey(
        &mut self,
        during: &'static str,
        f: impl FnOnce(&mut dyn Simulator) -> Result<(), SimulatorFailure>,
    ) -> Result<(), CoupleError> {
        let answer = self.ask(during, f)?;
        answer.map_err(|SimulatorFailure(message)| {
            self.error(SimulatorProblem::Failed { during, message })
        })
    }

    /// Reads a handle and refuses what is not finite.
    pub fn read(&self, handle: usize) -> Result<Motion, CoupleError> {
        let motion = self.look("read", |s| s.read(handle))?;
        if motion.is_finite() {
            Ok(motion)
        } else {
            Err(self.error(SimulatorProblem::NotFinite { handle }))
        }
    }

    fn check_count(&mut self) -> Result<(), CoupleError> {
        let found = self.look("handle_count", |s| s.handle_count())?;
        let expected = self.handles;
        if found == expected {
            return Ok(());
        }
        Err(self.error(SimulatorProblem::HandleCount { expected, found }))
    }

    /// Takes the number of handles as it is now, after obstacles were added.
    pub fn recount(&mut self) -> Result<usize, CoupleError> {
        self.handles = self.look("handle_count", |s| s.handle_count())?;
        Ok(self.handles)
    }

    /// How many handles there are.
    pub fn handle_count(&self) -> usize {
        self.handles
    }

    /// Remembers the state and where the watched handles are.
    pub fn save(&mut self) -> Result<(), CoupleError> {
        self.check_count()?;
        if self.restores {
            self.ask("save", |s| s.save())?;
        }
        self.touched = false;
        let mut saved = std::mem::take(&mut self.saved);
        saved.clear();
        for i in 0..self.watched.len() {
            saved.push(self.read(self.watched[i])?);
        }
        self.saved = saved;
        self.steps = 0;
        self.account = None;
        self.forget();
        Ok(())
    }

    /// Remembers the state within a step of the coupling.
    pub fn save_part(&mut self) -> Result<(), CoupleError> {
        let (steps, account) = (self.steps, self.account);
        self.save()?;
        (self.steps, self.account) = (steps, account);
        Ok(())
    }

    /// Goes back to the saved state and makes sure of it. One that nobody has touched since is there:
    /// going back may cost as much as a step, and the first trial of a step need not.
    pub fn restore(&mut self) -> Result<(), CoupleError> {
        self.forget();
        if !self.touched {
            return Ok(());
        }
        if !self.restores {
            return Err(self.error(SimulatorProblem::CannotGoBack));
        }
        self.ask("restore", |s| s.restore())?;
        self.touched = false;
        self.check_count()?;
        for i in 0..self.saved.len() {
            let handle = self.watched[i];
            if self.read(handle)? != self.saved[i] {
                return Err(self.error(SimulatorProblem::NotRestored { handle }));
            }
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.pushes.clear();
        self.kicks.clear();
        self.prescribed.clear();
        self.constraints.clear();
        self.multipliers.clear();
        self.obstacles.clear();
        self.sheets.clear();
        self.reactions.clear();
        self.constraint_forces.clear();
        self.settled.clear();
    }

    /// Advances by `dt` seconds in its own steps, under what it was asked to bear.
    pub fn advance(&mut self, dt: f64) -> Result<(), CoupleError> {
        let h = dt / f64::from(self.substeps);
        self.reactions.clear();
        self.constraint_forces.clear();
        self.constraint_forces.resize(self.prescribed.len(), Wrench::ZERO);
        let starts = self.starts()?;
        let count = f64::from(self.substeps);
        for k in 0..self.substeps {
            let (from, to) = (f64::from(k) / count, f64::from(k + 1) / count);
            if k == 0 {
                for i in 0..self.kicks.len() {
                    self.kick(self.kicks[i])?;
                }
            }
            for i in 0..self.pushes.len() {
                let (handle, force) = self.pushes[i];
                self.ask("push", |s| s.push(handle, force))?;
            }
            for (i, start) in starts.iter().enumerate() {
                let (handle, end) = self.prescribed[i];
                let end = between(start, &end, dt, to);
                if !self.ask("prescribe", |s| s.prescribe(handle, &end))? {
                    return Err(
                        self.error(SimulatorProblem::BrokenPromise { promise: "prescribe" })
                    );
                }
            }
            for i in 0..self.obstacles.len() {
                let (obstacle, motion) = self.obstacles[i];
                let reached = self.reactions.get(i).map(|reaction| reaction.end);
                let part = part(&motion, reached, dt, (from, to));
                self.ask("move_obstacle", |s| s.move_obstacle(obstacle, &part))?;
            }
            self.send_constraints()?;
            self.send_sheets(dt, (from, to))?;
            self.steps += 1;
            self.obey("step", |s| s.step(h))?;
            self.gather()?;
            self.gather_sheets()?;
            self.read_multipliers()?;
        }
        self.check_count()?;
        self.check_speeds(dt)
    }

    fn kick(&mut self, (handle, impulse): (usize, Wrench)) -> Result<(), CoupleError> {
        match self.ask("kick", |s| s.kick(handle, impulse))? {
            true => Ok(()),
            false => Err(self.error(SimulatorProblem::BrokenPromise { promise: "kick" })),
        }
    }

    /// Refuses what went farther or faster than anything goes.
    fn check_speeds(&self, dt: f64) -> Result<(), CoupleError> {
        for i in 0..self.watched.len() {
            let handle = self.watched[i];
            let now = self.read(handle)?;
            let Some(saved) = self.saved.get(i) else { continue };
            let distance = (now.position - saved.position).length();
            let v = &now.velocity.linear;
            let (speed, before) = (v.length(), saved.velocity.linear.length());
            // whoever was as fast before may be
            if distance > ABSURD.max(10.0 * dt * before) || speed > ABSURD.max(10.0 * before) {
                return Err(self.error(SimulatorProblem::Thrown { handle, distance, speed }));
            }
        }
        Ok(())
    }

    fn starts(&mut self) -> Result<Vec<Motion>, CoupleError> {
        (0..self.prescribed.len()).map(|i| self.read(self.prescribed[i].0)).collect()
    }

    /// Adds up what obstacles got and what prescribed handles took in a substep.
    fn gather(&mut self) -> Result<(), CoupleError> {
        for i in 0..self.obstacles.len() {
            let obstacle = self.obstacles[i].0;
            let Some(reaction) = self.look("reaction", |s| s.reaction(obstacle))? else {
                return Err(
                    self.error(SimulatorProblem::BrokenPromise { promise: "follow obstacles" })
                );
            };
            if !(reaction.impulse.is_finite() && reaction.end.is_finite()) {
                return Err(self.error(SimulatorProblem::NotFinite { handle: obstacle }));
            }
            let v = &reaction.end.velocity;
            let fastest = v.linear.abs().max_element().max(v.angular.abs().max_element());
            if fastest.max(reaction.end.position.abs().max_element()) > ABSURD {
                let message =
                    format!("it threw an obstacle at {fastest:e} m/s: its solve came apart");
                return Err(self.error(SimulatorProblem::Failed { during: "step", message }));
            }
            match self.reactions.get_mut(i) {
                Some(sum) => {
                    sum.impulse += reaction.impulse;
                    sum.end = reaction.end;
                }
                None => self.reactions.push(reaction),
            }
        }
        for i in 0..self.prescribed.len() {
            let handle = self.prescribed[i].0;
            match self.look("constraint_force", |s| s.constraint_force(handle))? {
                Some(force) if force.is_finite() => {
                    self.constraint_forces[i] += force.scaled(1.0 / f64::from(self.substeps));
                }
                Some(_) => return Err(self.error(SimulatorProblem::NotFinite { handle })),
                None => {
                    return Err(self
                        .error(SimulatorProblem::BrokenPromise { promise: "report its forces" }));
                }
            }
        }
        Ok(())
    }

    /// Its surfaces, checked.
    pub fn surfaces(&mut self) -> Result<Vec<ContactSurface>, CoupleError> {
        let surfaces = self.look("surfaces", |s| s.surfaces())?;
        let found = surfaces.iter().map(|s| s.handle).max().map_or(0, |h| h + 1);
        let expected = self.handles;
        if found > expected {
            return Err(self.error(SimulatorProblem::HandleCount { expected, found }));
        }
        Ok(surfaces)
    }
}

/// Where something is at a share of a step: at an even acceleration, plus an even drift that makes
/// it end where it does.
pub(super) fn between(start: &Motion, end: &Motion, dt: f64, share: f64) -> Motion {
    if share == 0.0 {
        return *start;
    }
    if share == 1.0 {
        return *end;
    }
    let (v, w) = (&start.velocity, &end.velocity);
    let drift = end.position - start.position - 0.5 * dt * (v.linear + w.linear);
    let turn = crate::math::rotation_vector(end.rotation * start.rotation.conjugate());
    let way = dt * (v.linear + 0.5 * share * (w.linear - v.linear)) + drift;
    Motion {
        position: start.position + share * way,
        rotation: (crate::math::rotation_from_vector(share * turn) * start.rotation).normalize(),
        velocity: crate::math::Twist {
            linear: v.linear + share * (w.linear - v.linear),
            angular: v.angular + share * (w.angular - v.angular),
        },
    }
}

/// A part of the way of an obstacle, from where the follower's own pushes brought it so far.
fn part(
    motion: &ObstacleMotion,
    reached: Option<Motion>,
    dt: f64,
    (from, to): (f64, f64),
) -> ObstacleMotion {
    let mut start = between(&motion.start, &motion.end, dt, from);
    let mut end = between(&motion.start, &motion.end, dt, to);
    if let Some(reached) = reached {
        let off = reached.velocity.linear - start.velocity.linear;
        let spin = reached.velocity.angular - start.velocity.angular;
        let turned = reached.rotation * start.rotation.conjugate();
        end.position += reached.position - start.position + (to - from) * dt * off;
        end.velocity.linear += off;
        end.velocity.angular += spin;
        end.rotation = (turned * end.rotation).normalize();
        start = reached;
    }
    let counted = motion.counted.scaled(to - from);
    ObstacleMotion { start, end, counted, response: motion.response }
}
