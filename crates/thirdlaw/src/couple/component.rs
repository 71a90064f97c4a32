//! Simulators that links connect, directly or over others. A component is advanced alone: nothing else
//! in the coupling changes a bit of it.

use super::accelerate::Accelerator;
use super::error::CoupleError;
use super::ledger::{CouplingReport, LedgerEntry};
use super::links::LinkKind;
use super::links::lead::Lead;
use super::links::tie::TieLink;
use super::links::tie::response::Measured;
use super::links::touch::mirror::Touching;
use super::links::watch::Watched;
use super::member::Member;
use super::method::CouplingSettings;

/// Connected simulators, and the links between them in the order in which they were added.
#[derive(Default)]
pub(crate) struct Component {
    /// Numbers of the simulators, ascending.
    pub simulators: Vec<usize>,
    pub ties: Vec<TieLink>,
    pub touches: Vec<Touching>,
    pub watches: Vec<Watched>,
    pub leads: Vec<Lead>,
    /// How both sides of the ties answer, where that was tried.
    pub measured: Option<Measured>,
    pub accelerator: Accelerator,
}

/// What a step of a component works with.
pub(crate) struct Step<'a> {
    /// All simulators of the coupling.
    pub members: &'a mut [Member],
    pub settings: &'a CouplingSettings,
    pub dt: f64,
    pub report: CouplingReport,
}

impl Component {
    /// The kinds of its links.
    pub fn kinds(&self) -> impl DoubleEndedIterator<Item = LinkKind> + use<> {
        let counts = [
            (LinkKind::Tie, self.ties.len()),
            (LinkKind::Touch, self.touches.len()),
            (LinkKind::Watch, self.watches.len()),
            (LinkKind::Lead, self.leads.len()),
        ];
        counts.into_iter().filter(|(_, count)| *count > 0).map(|(kind, _)| kind)
    }

    /// Whether one of these simulators belongs to it.
    pub fn holds(&self, simulators: [usize; 2]) -> bool {
        simulators.iter().any(|simulator| self.simulators.contains(simulator))
    }

    /// Takes over the simulators and links of another.
    pub fn absorb(&mut self, other: Component) {
        self.simulators.extend(other.simulators);
        self.simulators.sort_unstable();
        self.simulators.dedup();
        // responses of some of the ties say nothing of the others
        let both = !self.ties.is_empty() && !other.ties.is_empty();
        self.measured = self.measured.take().or(other.measured).filter(|_| !both);
        self.ties.extend(other.ties);
        self.ties.sort_by_key(|tie| tie.number);
        self.touches.extend(other.touches);
        self.touches.sort_by_key(|touch| touch.number);
        self.watches.extend(other.watches);
        self.watches.sort_by_key(|watch| watch.number);
        self.leads.extend(other.leads);
        self.leads.sort_by_key(|lead| lead.number);
    }

    /// Advances its simulators by a step.
    pub fn advance(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        self.begin_ties(step)?;
        self.begin_touches(step)?;
        self.begin_leads(step)?;
        // contacts are the outer loop: each of their exchanges holds the ties
        let outermost = self.kinds().next_back();
        match outermost {
            Some(LinkKind::Tie) => self.hold_ties(step),
            Some(LinkKind::Touch) => self.exchange_contacts(step),
            Some(LinkKind::Watch) => self.keep_apart(step),
            Some(LinkKind::Lead) => self.exchange_motions(step),
            None => Ok(()),
        }
    }

    /// What its links carried in the last step, each with its kind and number. Leads push nothing.
    pub fn entries(&self, dt: f64) -> Vec<(LinkKind, usize, LedgerEntry)> {
        let ties = self.ties.iter().map(|t| (LinkKind::Tie, t.number, t.entry(dt)));
        let touches = self.touches.iter().map(|t| (LinkKind::Touch, t.number, t.entry(dt)));
        let watches = self.watches.iter().map(|w| (LinkKind::Watch, w.number, w.entry(dt)));
        ties.chain(touches).chain(watches).collect()
    }

    /// One trial under these forces of the ties, the inner part of an exchange of contacts.
    pub fn try_all(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        if !self.ties.is_empty() {
            return self.hold_ties(step);
        }
        step.report.evaluations += 1;
        self.try_forces(step, &[])
    }

    /// Takes back the last trial and steps every simulator under these forces.
    pub fn try_forces(&mut self, step: &mut Step<'_>, lambda: &[f64]) -> Result<(), CoupleError> {
        for member in self.owners_first() {
            self.step_alone(step, member, lambda)?;
        }
        Ok(())
    }

    /// Steps a simulator from its saved state under what ties and contacts ask of it.
    pub fn step_alone(
        &mut self,
        step: &mut Step<'_>,
        member: usize,
        lambda: &[f64],
    ) -> Result<(), CoupleError> {
        step.members[member].restore()?;
        self.push_ties(step, member, lambda, |_, _| true);
        self.push_watched(step, member);
        self.push_touching(step, member);
        step.members[member].advance(step.dt)?;
        self.read_ties(step, member)?;
        self.read_touching(step, member)
    }
}

impl Step<'_> {
    pub fn name(&self, simulator: usize) -> String {
        self.members[simulator].name.clone()
    }
}
