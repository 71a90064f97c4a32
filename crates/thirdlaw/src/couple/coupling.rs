//! A coupling: simulators, what links them, and a step of them all.

use super::account::Account;
use super::component::{Component, Step};
use super::error::{CoupleError, SimulatorProblem};
use super::ledger::{CouplingReport, LedgerEntry, LedgerTotals};
use super::links::LinkKind;
use super::member::Member;
use super::method::{CouplingSettings, Method};
use crate::simulator::Simulator;

/// Two or more simulators with what links them.
///
/// Simulators that links connect, directly or over others, are advanced together; each such component
/// is advanced alone. `step` advances all; on an error each is put back to where it was before.
pub struct Coupling {
    pub(super) settings: CouplingSettings,
    pub(super) members: Vec<Member>,
    /// Links, by the simulators that they connect. Ordered by their first simulator.
    pub(super) components: Vec<Component>,
    pub(super) ledger: Vec<LedgerEntry>,
    pub(super) totals: LedgerTotals,
    pub(super) time: f64,
    /// Length of the last step, s.
    pub(super) dt: Option<f64>,
}

impl std::fmt::Debug for Coupling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.members.iter().map(|m| &*m.name).collect();
        let of = |c: &Component| (c.simulators.clone(), c.kinds().collect::<Vec<_>>());
        let components: Vec<_> = self.components.iter().map(of).collect();
        f.debug_struct("Coupling")
            .field("simulators", &names)
            .field("components", &components)
            .finish()
    }
}

pub(super) fn input(field: &'static str, problem: impl Into<String>) -> CoupleError {
    CoupleError::Input { field, problem: problem.into() }
}

impl Coupling {
    /// A coupling of nothing yet.
    pub fn new(settings: CouplingSettings) -> Result<Coupling, CoupleError> {
        settings.check()?;
        Ok(Coupling {
            settings,
            members: Vec::new(),
            components: Vec::new(),
            ledger: Vec::new(),
            totals: LedgerTotals::default(),
            time: 0.0,
            dt: None,
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
        let own = self.components.iter_mut().filter(|c| c.simulators.contains(&simulator));
        own.for_each(|component| component.measured = None);
        Ok(())
    }

    fn member(&mut self, simulator: usize) -> Result<&mut Member, CoupleError> {
        let count = self.members.len();
        self.members.get_mut(simulator).ok_or_else(|| {
            input("simulator", format!("{simulator} is not one of the {count} simulators"))
        })
    }

    pub(super) fn check_handle(
        &mut self,
        simulator: usize,
        handle: usize,
    ) -> Result<(), CoupleError> {
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

    /// Refuses a link where it would connect simulators by kinds of links that are not solved together; says of
    /// the link whether it is a spring or a watched pair, which simulators that cannot go back may have.
    pub(super) fn check_mixture(
        &self,
        (kind, soft): (LinkKind, bool),
        sides: [usize; 2],
    ) -> Result<(), CoupleError> {
        let (mut kinds, mut simulators, mut soft) = (vec![kind], sides.to_vec(), soft);
        for component in self.components.iter().filter(|c| c.holds(sides)) {
            kinds.extend(component.kinds());
            simulators.extend(&component.simulators);
            soft &= component.is_soft();
        }
        self.check_kinds((&kinds, soft), simulators, &self.settings)
    }

    fn check_kinds(
        &self,
        (kinds, soft): (&[LinkKind], bool),
        mut simulators: Vec<usize>,
        settings: &CouplingSettings,
    ) -> Result<(), CoupleError> {
        if let Some(one) = simulators.iter().map(|s| &self.members[*s]).find(|m| !m.restores) {
            // nothing of it can be tried: all is lagged
            let lagged = soft && settings.method == Method::Interleaved;
            return if lagged { Ok(()) } else { Err(one.error(SimulatorProblem::CannotGoBack)) };
        }
        for (i, a) in kinds.iter().enumerate() {
            let mut others = kinds[i + 1..].iter();
            if let Some(b) = others.find(|b| !a.solved_with(**b, settings.method)) {
                simulators.sort_unstable();
                simulators.dedup();
                let names = simulators.iter().map(|s| self.members[*s].name.clone()).collect();
                return Err(CoupleError::Mixture { kinds: [*a, *b], simulators: names });
            }
        }
        Ok(())
    }

    /// The component of both simulators, made of those of each.
    pub(super) fn connect(&mut self, sides: [usize; 2]) -> &mut Component {
        let mut whole = Component { simulators: sides.to_vec(), ..Component::default() };
        let (own, mut rest): (Vec<Component>, Vec<Component>) =
            std::mem::take(&mut self.components).into_iter().partition(|c| c.holds(sides));
        own.into_iter().for_each(|component| whole.absorb(component));
        whole.simulators.sort_unstable();
        let at = rest.partition_point(|c| c.simulators < whole.simulators);
        rest.insert(at, whole);
        self.components = rest;
        &mut self.components[at]
    }

    /// The settings.
    pub fn settings(&self) -> &CouplingSettings {
        &self.settings
    }

    /// Changes the settings; on an error the old ones stand.
    pub fn set_settings(&mut self, settings: CouplingSettings) -> Result<(), CoupleError> {
        settings.check()?;
        for component in &self.components {
            let kinds: Vec<LinkKind> = component.kinds().collect();
            let soft = component.is_soft();
            self.check_kinds((&kinds, soft), component.simulators.clone(), &settings)?;
        }
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

    /// How a simulator kept to what all its links gave it in the last step; `None` where it cannot be known.
    pub fn account(&self, simulator: usize) -> Option<Account> {
        self.members.get(simulator)?.account.filter(|account| account.judged > 0)
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

    /// Advances all simulators by `dt` seconds. On an error all are where they were before, but for those that
    /// cannot go back.
    pub fn step(&mut self, dt: f64) -> Result<CouplingReport, CoupleError> {
        if !(dt.is_finite() && dt > 0.0) {
            let problem = format!("must be a positive finite number of seconds, not {dt:?}");
            return Err(input("dt", problem));
        }
        let ties: Vec<_> = self.components.iter().map(|c| (c.ties.clone(), c.halvings)).collect();
        for i in 0..self.members.len() {
            self.members[i].save()?;
        }
        match self.advance(dt) {
            Ok(report) => {
                self.totals.add(&self.ledger, &report);
                self.time += dt;
                self.dt = Some(dt);
                Ok(report)
            }
            Err(error) => {
                // whoever does not obey even now is named by `error` already, or will be next time
                for member in &mut self.members {
                    let _ = member.restore();
                }
                for (component, (ties, halvings)) in self.components.iter_mut().zip(ties) {
                    (component.ties, component.halvings) = (ties, halvings);
                }
                Err(error)
            }
        }
    }

    fn advance(&mut self, dt: f64) -> Result<CouplingReport, CoupleError> {
        for (i, member) in self.members.iter_mut().enumerate() {
            if !self.components.iter().any(|c| c.simulators.contains(&i)) {
                member.advance(dt)?;
            }
        }
        let mut whole = CouplingReport { converged: true, ..CouplingReport::default() };
        for component in &mut self.components {
            let report = CouplingReport { converged: true, parts: 1, ..CouplingReport::default() };
            let (members, settings) = (&mut *self.members, &self.settings);
            let (loose_tie, loose_contact) = (None, None);
            let mut step = Step { members, settings, dt, report, loose_tie, loose_contact };
            component.advance(&mut step)?;
            if let Some(unsettled) = step.unsettled() {
                step.report.converged = false;
                // one iteration a step is what was asked for
                if !(settings.keep_unconverged || settings.spread) {
                    return Err(unsettled.error(&step, 0));
                }
            }
            whole.add(&step.report);
        }
        let mut entries: Vec<_> =
            self.components.iter().flat_map(|c| c.books.iter().copied()).collect();
        for (_, _, entry) in &mut entries {
            entry.accounts = entry.between.map(|simulator| self.account(simulator));
        }
        entries.sort_by_key(|(kind, number, _)| (*kind, *number));
        self.ledger.clear();
        self.ledger.extend(entries.into_iter().map(|(_, _, entry)| entry));
        Ok(whole)
    }
}
