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
use crate::parallel::pool;

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
    /// How often the last step was halved.
    pub halvings: u32,
    /// What its links carried in the step, each with its kind and number.
    pub books: Vec<(LinkKind, usize, LedgerEntry)>,
}

/// What a step of a component works with.
pub(crate) struct Step<'a> {
    /// All simulators of the coupling.
    pub members: &'a mut [Member],
    pub settings: &'a CouplingSettings,
    pub dt: f64,
    pub report: CouplingReport,
    /// What did not get there, of ties and of all else.
    pub loose_tie: Option<Unsettled>,
    pub loose_contact: Option<Unsettled>,
}

/// A link whose error stayed above what is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsettled {
    pub kind: LinkKind,
    pub number: usize,
    pub between: [usize; 2],
    /// m/s.
    pub residual: f64,
    pub wanted: f64,
}

impl Unsettled {
    /// What to tell the user.
    pub fn error(&self, step: &Step<'_>, halvings: u32) -> CoupleError {
        let [a, b] = self.between.map(|simulator| step.name(simulator));
        CoupleError::Unconverged {
            kind: self.kind,
            number: self.number,
            between: (a, b),
            residual: self.residual,
            wanted: self.wanted,
            halvings,
            method: step.settings.method,
        }
    }
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

    /// Whether it has nothing but springs and watched surfaces.
    pub fn is_soft(&self) -> bool {
        let hard = !(self.touches.is_empty() && self.leads.is_empty());
        !hard && self.ties.iter().all(|link| link.tie.is_spring())
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

    /// Advances its simulators by a step in one piece.
    pub fn advance_once(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        (step.loose_tie, step.loose_contact) = (None, None);
        self.begin_ties(step)?;
        self.begin_touches(step)?;
        self.begin_leads(step)?;
        self.begin_watches(step)?;
        self.solve(step, None)
    }

    /// Solves its links, those of each kind within every exchange of the next: ties innermost, then
    /// contacts, then leads. `within` is the kind in whose exchange it is done.
    pub fn solve(
        &mut self,
        step: &mut Step<'_>,
        within: Option<LinkKind>,
    ) -> Result<(), CoupleError> {
        let inner = |kind: &LinkKind| within.is_none_or(|within| *kind < within);
        match self.kinds().rfind(inner) {
            Some(LinkKind::Tie) => self.hold_ties(step),
            Some(LinkKind::Touch) => self.exchange_contacts(step),
            Some(LinkKind::Watch) => self.keep_apart(step),
            Some(LinkKind::Lead) => self.exchange_motions(step),
            None => {
                step.report.evaluations += 1;
                self.try_forces(step, &[])
            }
        }
    }

    /// Books what its links carried in a step, or a part of one. Leads push nothing.
    pub fn book(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        let dt = step.dt;
        for &member in &self.simulators {
            step.members[member].close_account(dt)?;
        }
        let ties = self.ties.iter().map(|t| (LinkKind::Tie, t.number, t.entry(dt)));
        let touches = self.touches.iter().map(|t| (LinkKind::Touch, t.number, t.entry(dt)));
        let watches = self.watches.iter().map(|w| (LinkKind::Watch, w.number, w.entry(dt)));
        let mut entries: Vec<_> = ties.chain(touches).chain(watches).collect();
        self.book_what_was_given(step.members, &mut entries);
        if self.books.is_empty() {
            self.books = entries;
            return Ok(());
        }
        for ((_, _, sum), (_, _, entry)) in self.books.iter_mut().zip(&entries) {
            sum.add(entry);
        }
        Ok(())
    }

    /// Puts what simulators were really given in the place of what links asked for, where a handle has one
    /// link only.
    fn book_what_was_given(
        &self,
        members: &[Member],
        entries: &mut [(LinkKind, usize, LedgerEntry)],
    ) {
        let mut sides: Vec<(usize, usize, usize, Vec<usize>)> = Vec::new();
        let mut place = |entry: usize, side: usize, simulator: usize, mut handles: Vec<usize>| {
            handles.sort_unstable();
            handles.dedup();
            sides.push((entry, side, simulator, handles));
        };
        for (i, link) in self.ties.iter().enumerate() {
            for (side, anchor) in link.tie.anchors.iter().enumerate() {
                place(i, side, anchor.simulator, vec![anchor.handle]);
            }
        }
        for (i, contact) in self.touches.iter().enumerate() {
            place(self.ties.len() + i, 0, contact.owner, contact.handles());
        }
        for (i, watched) in self.watches.iter().enumerate() {
            let at = self.ties.len() + self.touches.len() + i;
            for side in 0..2 {
                place(at, side, watched.sides[side], watched.handles(side));
            }
        }
        for (k, (entry, side, simulator, handles)) in sides.iter().enumerate() {
            let member = &members[*simulator];
            let shared = |handle: &usize| {
                let mut others = sides.iter().enumerate().filter(|(other, _)| *other != k);
                others.any(|(_, (_, _, s, hs))| s == simulator && hs.binary_search(handle).is_ok())
            };
            let moved = !(member.prescribed.is_empty() && member.constraints.is_empty());
            if moved || handles.iter().any(shared) {
                continue;
            }
            let given = || member.given.iter().filter(|g| handles.binary_search(&g.handle).is_ok());
            if given().count() == handles.len() {
                let entry = &mut entries[*entry].2;
                entry.impulse[*side] = given().map(|g| g.impulse.force).sum();
                entry.work[*side] = given().map(|g| g.work).sum();
            }
        }
    }

    /// Takes back the last trial and steps every simulator under these forces, those that wait for nobody at the
    /// same time.
    pub fn try_forces(&mut self, step: &mut Step<'_>, lambda: &[f64]) -> Result<(), CoupleError> {
        let order = self.owners_first();
        let mut left = &order[..];
        while !left.is_empty() {
            let (together, rest) = left.split_at(self.ready(left));
            for &member in together {
                self.prepare(step, member, lambda)?;
            }
            let mut ready: Vec<&mut Member> = Vec::with_capacity(together.len());
            for (i, member) in step.members.iter_mut().enumerate() {
                if together.contains(&i) {
                    ready.push(member);
                }
            }
            advance_together(&mut ready, step.dt)?;
            for &member in together {
                self.read_back(step, member)?;
            }
            left = rest;
        }
        Ok(())
    }

    /// How many simulators from the first on wait for none of each other.
    fn ready(&self, order: &[usize]) -> usize {
        let waits = |member: usize, before: &[usize]| {
            let follows = |owner: usize| before.contains(&owner);
            self.touches.iter().any(|touch| touch.follower == member && follows(touch.owner))
        };
        // whoever is led moves as the other has moved
        let led = !self.leads.is_empty();
        (1..order.len()).find(|&i| led || waits(order[i], &order[..i])).unwrap_or(order.len())
    }

    /// Steps a simulator from its saved state under what ties and contacts ask of it.
    pub fn step_alone(
        &mut self,
        step: &mut Step<'_>,
        member: usize,
        lambda: &[f64],
    ) -> Result<(), CoupleError> {
        self.prepare(step, member, lambda)?;
        step.members[member].advance(step.dt)?;
        self.read_back(step, member)
    }

    /// Takes a simulator back to its saved state and says what is asked of it.
    fn prepare(
        &mut self,
        step: &mut Step<'_>,
        member: usize,
        lambda: &[f64],
    ) -> Result<(), CoupleError> {
        step.members[member].restore()?;
        self.push_ties(step, member, lambda, |_, _| true);
        self.push_watched(step, member);
        self.push_touching(step, member);
        self.push_leads(step, member);
        Ok(())
    }

    /// Reads what a simulator's step did.
    fn read_back(&mut self, step: &mut Step<'_>, member: usize) -> Result<(), CoupleError> {
        self.read_ties(step, member)?;
        self.read_leads(step, member)?;
        self.read_touching(step, member)
    }
}

/// Handles from which stepping a simulator is worth a task of its own.
const LARGE: usize = 16;

/// Advances simulators, at the same time where there are threads; an error is that of the first.
fn advance_together(members: &mut [&mut Member], dt: f64) -> Result<(), CoupleError> {
    match members {
        [] => Ok(()),
        [one] => one.advance(dt),
        several => {
            let large = several.iter().filter(|member| member.handle_count() >= LARGE).count();
            let (a, b) = several.split_at_mut(several.len() / 2);
            let (first, second) = match large > 1 {
                true => pool::join(|| advance_together(a, dt), || advance_together(b, dt)),
                false => (advance_together(a, dt), advance_together(b, dt)),
            };
            first.and(second)
        }
    }
}

impl Step<'_> {
    /// What did not get there, if anything.
    pub fn unsettled(&self) -> Option<Unsettled> {
        self.loose_tie.or(self.loose_contact)
    }

    pub fn name(&self, simulator: usize) -> String {
        self.members[simulator].name.clone()
    }
}
