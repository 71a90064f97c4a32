//! A coupling: simulators, what ties them, and a step of them all.

use super::accelerate::Accelerator;
use super::detect::Watched;
use super::error::CoupleError;
use super::ledger::{CouplingReport, LedgerEntry, LedgerTotals};
use super::measured::Measured;
use super::member::Member;
use super::mirror::Touching;
use super::settings::CouplingSettings;
use super::simulator::{Motion, Simulator};
use super::tie::{Tie, TieKind};
use super::ties::Held;
use crate::math::Vec3;

/// A handle that is moved as a handle of another simulator moves, and pushes nothing back by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lead {
    /// Simulator and handle that lead.
    pub leader: (usize, usize),
    /// Simulator and handle that are led.
    pub follower: (usize, usize),
    /// Where the leader was at the beginning of the step.
    pub start: Motion,
}

/// Two or more simulators with what ties them together.
///
/// `step` advances all; on an error each is put back to where it was before.
pub struct Coupling {
    pub(super) settings: CouplingSettings,
    pub(super) members: Vec<Member>,
    pub(super) ties: Vec<Tie>,
    /// Motions of both anchors of each tie at the beginning of the step, and now.
    pub(super) starts: Vec<[Motion; 2]>,
    pub(super) now: Vec<[Motion; 2]>,
    /// How far both handles of each tie turn until the mean time of a push, as rotation vectors.
    pub(super) turns: Vec<[Vec3; 2]>,
    /// Multipliers of all ties, one after the other, N and N·m.
    pub(super) lambda: Vec<f64>,
    /// Those that pushed in this step; a lagged exchange already holds the next ones in `lambda`.
    pub(super) applied: Vec<f64>,
    /// What the constrained side of each tie needed instead, where it differs.
    pub(super) held: Vec<Option<Held>>,
    pub(super) leads: Vec<Lead>,
    pub(super) contacts: Vec<Touching>,
    pub(super) watched: Vec<Watched>,
    pub(super) measured: Option<Measured>,
    pub(super) accelerator: Accelerator,
    pub(super) ledger: Vec<LedgerEntry>,
    pub(super) totals: LedgerTotals,
    pub(super) time: f64,
}

impl std::fmt::Debug for Coupling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.members.iter().map(|m| &*m.name).collect();
        f.debug_struct("Coupling").field("simulators", &names).field("ties", &self.ties).finish()
    }
}

fn input(field: &'static str, problem: impl Into<String>) -> CoupleError {
    CoupleError::Input { field, problem: problem.into() }
}

impl Coupling {
    /// A coupling of nothing yet.
    pub fn new(settings: CouplingSettings) -> Result<Coupling, CoupleError> {
        settings.check()?;
        Ok(Coupling {
            settings,
            members: Vec::new(),
            ties: Vec::new(),
            starts: Vec::new(),
            now: Vec::new(),
            turns: Vec::new(),
            lambda: Vec::new(),
            applied: Vec::new(),
            held: Vec::new(),
            leads: Vec::new(),
            contacts: Vec::new(),
            watched: Vec::new(),
            measured: None,
            accelerator: Accelerator::default(),
            ledger: Vec::new(),
            totals: LedgerTotals::default(),
            time: 0.0,
        })
    }

    /// Takes in a simulator under a name and returns its number.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        simulator: impl Simulator,
    ) -> Result<usize, CoupleError> {
        self.add_boxed(name, Box::new(simulator))
    }

    /// [`Coupling::add`] for a simulator of any kind.
    pub fn add_boxed(
        &mut self,
        name: impl Into<String>,
        simulator: Box<dyn Simulator>,
    ) -> Result<usize, CoupleError> {
        self.members.push(Member::new(name.into(), simulator)?);
        Ok(self.members.len() - 1)
    }

    /// Lets a simulator make this many steps of its own in each step of the coupling.
    pub fn subcycle(&mut self, simulator: usize, steps: u32) -> Result<(), CoupleError> {
        if steps == 0 {
            return Err(input("steps", "a simulator makes at least one step of its own"));
        }
        self.member(simulator)?.substeps = steps;
        self.measured = None;
        Ok(())
    }

    fn member(&mut self, simulator: usize) -> Result<&mut Member, CoupleError> {
        let count = self.members.len();
        self.members.get_mut(simulator).ok_or_else(|| {
            input("simulator", format!("{simulator} is not one of the {count} simulators"))
        })
    }

    fn check_handle(&mut self, simulator: usize, handle: usize) -> Result<(), CoupleError> {
        let member = self.member(simulator)?;
        let count = member.handle_count();
        if handle >= count {
            let name = &member.name;
            let problem = format!("{handle} is not one of the {count} handles of `{name}`");
            return Err(input("handle", problem));
        }
        member.watch(handle);
        Ok(())
    }

    /// Ties two handles together and returns the tie's number.
    pub fn tie(&mut self, tie: Tie) -> Result<usize, CoupleError> {
        let [a, b] = &tie.anchors;
        if a.simulator == b.simulator {
            return Err(input("anchors", "both lie in the same simulator"));
        }
        for anchor in &tie.anchors {
            self.check_handle(anchor.simulator, anchor.handle)?;
            if crate::model::error::check_pose(&anchor.frame).is_err() {
                return Err(input("frame", "must be finite and its rotation of unit length"));
            }
        }
        if let TieKind::Spring { stiffness, damping, rest } = tie.kind {
            let sound = |x: f64| x.is_finite() && x >= 0.0;
            if !(sound(stiffness) && sound(damping) && sound(rest) && stiffness + damping > 0.0) {
                let problem = "stiffness, damping and rest length must be finite and not negative, \
                               and one of the first two positive";
                return Err(input("kind", problem));
            }
        }
        self.ties.push(tie);
        self.lambda.resize(self.lambda.len() + tie.rows(), 0.0);
        self.measured = None;
        Ok(self.ties.len() - 1)
    }

    /// Lets a handle move as one of another simulator does. It pushes nothing back: for simulators
    /// that hold a part of their neighbour themselves.
    pub fn lead(
        &mut self,
        leader: (usize, usize),
        follower: (usize, usize),
    ) -> Result<(), CoupleError> {
        self.check_handle(leader.0, leader.1)?;
        self.check_handle(follower.0, follower.1)?;
        if leader.0 == follower.0 {
            return Err(input("follower", "lies in the leader's simulator"));
        }
        let start = self.members[leader.0].read(leader.1)?;
        let member = &mut self.members[follower.0];
        let now = member.read(follower.1)?;
        member.save()?;
        let can = member.ask("prescribe", |s| s.prescribe(follower.1, &now))?;
        member.restore()?;
        if !can {
            let problem = format!("`{}` cannot be told how its handles move", member.name);
            return Err(input("follower", problem));
        }
        self.leads.push(Lead { leader, follower, start });
        Ok(())
    }

    /// The settings.
    pub fn settings(&self) -> &CouplingSettings {
        &self.settings
    }

    /// Changes the settings; on an error the old ones stand.
    pub fn set_settings(&mut self, settings: CouplingSettings) -> Result<(), CoupleError> {
        settings.check()?;
        self.settings = settings;
        Ok(())
    }

    /// How many simulators there are.
    pub fn simulator_count(&self) -> usize {
        self.members.len()
    }

    /// The name of a simulator.
    pub fn name(&self, simulator: usize) -> Option<&str> {
        self.members.get(simulator).map(|m| &*m.name)
    }

    /// A simulator.
    pub fn simulator(&self, simulator: usize) -> Option<&dyn Simulator> {
        Some(&*self.members.get(simulator)?.simulator)
    }

    /// A simulator, as what it is or wraps.
    pub fn get<S: Simulator>(&self, simulator: usize) -> Option<&S> {
        let mut found = self.simulator(simulator)?;
        while !(found as &dyn std::any::Any).is::<S>() {
            found = found.inner()?;
        }
        (found as &dyn std::any::Any).downcast_ref()
    }

    /// A simulator, as what it is or wraps, to be changed between steps.
    pub fn get_mut<S: Simulator>(&mut self, simulator: usize) -> Option<&mut S> {
        let mut found: &mut dyn Simulator = &mut *self.members.get_mut(simulator)?.simulator;
        while !(found as &dyn std::any::Any).is::<S>() {
            found = found.inner_mut()?;
        }
        (found as &mut dyn std::any::Any).downcast_mut()
    }

    /// Force and torque of a tie on its first anchor in the last step, N and N·m.
    pub fn tie_force(&self, tie: usize) -> Option<&[f64]> {
        let first: usize = self.ties.get(..tie)?.iter().map(Tie::rows).sum();
        self.lambda.get(first..first + self.ties.get(tie)?.rows())
    }

    /// Energy that the springs of ties hold now, J.
    pub fn stored(&self) -> f64 {
        let of = |tie: &Tie| {
            let [a, b] = &tie.anchors;
            let a = self.members[a.simulator].read(a.handle).ok()?;
            let b = self.members[b.simulator].read(b.handle).ok()?;
            Some(tie.stored(&[a, b]))
        };
        self.ties.iter().filter_map(of).sum()
    }

    /// What each link carried in the last step: ties in their order, then contacts,
    /// then watched pairs.
    pub fn ledger(&self) -> &[LedgerEntry] {
        &self.ledger
    }

    /// Sums over all steps.
    pub fn totals(&self) -> &LedgerTotals {
        &self.totals
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Advances all simulators by `dt` seconds.
    pub fn step(&mut self, dt: f64) -> Result<CouplingReport, CoupleError> {
        if !(dt.is_finite() && dt > 0.0) {
            let problem = format!("must be a positive finite number of seconds, not {dt:?}");
            return Err(input("dt", problem));
        }
        let lambda = self.lambda.clone();
        for i in 0..self.members.len() {
            self.members[i].save()?;
        }
        match self.advance(dt) {
            Ok(report) => {
                self.totals.add(&self.ledger, &report);
                self.time += dt;
                Ok(report)
            }
            Err(error) => {
                // whoever does not obey even now is named by `error` already, or will be next time
                for member in &mut self.members {
                    let _ = member.restore();
                }
                self.lambda = lambda;
                Err(error)
            }
        }
    }

    fn advance(&mut self, dt: f64) -> Result<CouplingReport, CoupleError> {
        self.begin(dt)?;
        let linked: Vec<bool> = (0..self.members.len()).map(|i| self.is_linked(i)).collect();
        for (member, _) in self.members.iter_mut().zip(&linked).filter(|(_, linked)| !**linked) {
            member.advance(dt)?;
        }
        let mut report = CouplingReport { converged: true, ..CouplingReport::default() };
        if !self.contacts.is_empty() {
            self.exchange_contacts(dt, &mut report)?;
        } else if !self.watched.is_empty() {
            self.keep_apart(dt, &mut report)?;
        } else if !self.leads.is_empty() {
            self.exchange_motions(dt, &mut report)?;
        } else if !self.ties.is_empty() {
            self.hold_ties(dt, &mut report)?;
        }
        self.write_ledger(dt)?;
        Ok(report)
    }

    /// Whether anything ties this simulator to another.
    fn is_linked(&self, i: usize) -> bool {
        self.ties.iter().any(|t| t.anchors.iter().any(|a| a.simulator == i))
            || self.leads.iter().any(|l| l.leader.0 == i || l.follower.0 == i)
            || self.contacts.iter().any(|c| c.follower == i || c.owner == i)
            || self.watched.iter().any(|w| w.sides.contains(&i))
    }

    /// Reads where everything begins.
    fn begin(&mut self, dt: f64) -> Result<(), CoupleError> {
        // spin changes as it did in the last step
        let last = std::mem::take(&mut self.starts);
        for i in 0..self.ties.len() {
            let [a, b] = self.ties[i].anchors;
            let a = self.members[a.simulator].read(a.handle)?;
            let b = self.members[b.simulator].read(b.handle)?;
            self.starts.push([a, b]);
        }
        self.turns.clear();
        for (i, starts) in self.starts.iter().enumerate() {
            // a push that moves by the share c of h Δv acts, in the mean, after the share 1 − c
            let reach = self.measured.as_ref().map_or(0.5, |m| m.reach[i]);
            let turn = |side: usize| {
                let spin = starts[side].velocity.angular;
                let gain = last.get(i).map_or(Vec3::ZERO, |l| spin - l[side].velocity.angular);
                (1.0 - reach) * dt * (spin + 0.5 * (1.0 - reach) * gain)
            };
            self.turns.push([turn(0), turn(1)]);
        }
        self.now.clone_from(&self.starts);
        self.held.clear();
        self.held.resize(self.ties.len(), None);
        for i in 0..self.leads.len() {
            let (simulator, handle) = self.leads[i].leader;
            self.leads[i].start = self.members[simulator].read(handle)?;
        }
        for contact in &mut self.contacts {
            contact.begin(&mut self.members)?;
        }
        Ok(())
    }

    fn write_ledger(&mut self, dt: f64) -> Result<(), CoupleError> {
        self.ledger.clear();
        let mut first = 0;
        for (i, tie) in self.ties.iter().enumerate() {
            let rows = tie.rows();
            let (starts, now) = (&self.starts[i], &self.now[i]);
            let lambda = &self.applied[first..first + rows];
            let mut wrenches = tie.wrenches(lambda, starts, &self.turns[i]);
            if let Some(held) = &self.held[i] {
                // the sides felt different forces: the constrained one its own
                wrenches[held.side] = held.wrench;
            }
            let between = tie.anchors.map(|a| a.simulator);
            let mut entry = LedgerEntry { between, ..LedgerEntry::default() };
            for side in 0..2 {
                let impulse = wrenches[side].scaled(dt);
                entry.book(side, impulse, &starts[side], &now[side], dt);
            }
            entry.stored = tie.stored(now) - tie.stored(starts);
            self.ledger.push(entry);
            first += rows;
        }
        for contact in &self.contacts {
            self.ledger.push(contact.entry(dt));
        }
        for watched in &self.watched {
            self.ledger.push(watched.entry(dt));
        }
        Ok(())
    }
}
