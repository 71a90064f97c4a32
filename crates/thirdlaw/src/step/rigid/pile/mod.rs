//! Bodies, contacts and plain joints, fast: most islands, many at a time.
//!
//! The substeps are those of [`super::substep`], and so are the equations: forces; impulses with
//! overlaps pushed apart; positions; impulses again without the push. What makes them fast:
//!
//!   - eight contacts go side by side in single precision                  sweep/, simd/f32x8/
//!   - what lies within a block of neighbours stays at hand for a substep  blocks.rs, order.rs, plan.rs
//!   - friction acts once per contact where it sticks, else at each point  slip.rs
//!   - arms, normals and inertia are those of the beginning of the step, and gaps follow the bodies
//!     to first order, so that a contact is packed once a step             pack/
//!   - with constant arms the impulses of one substep do to the bodies in the next what they did
//!     before, so that starting from them is a sum per body                bodies.rs
//!   - impacts go contact by contact, eight at a time, before a substep's contacts are solved  bounce.rs
//!   - separate piles go through all substeps one after the other, each from a core's cache
//!   - threads stay together through all stages of a large one            parallel/team.rs
//!
//! What that costs: gaps are off by the square of what bodies turn in a step, which detection makes good in
//! the next; impulses have seven digits; arms that stay those of the beginning of the step cost angular
//! momentum where bodies slide past each other. Velocities and positions are added up in double precision,
//! so that momentum keeps its digits. Islands of few bodies that fly about take other paths. Those that bounce
//! share piles of their own, and so do those that deserve convergence
//! (`step/classify.rs`), in which each iterates until it has converged (convergence.rs).
//! Those with joints share others: joints go before contacts in every pass, and L = Δ L₀ turns with the bodies
//! (joints/).
//!
//! Islands in the same pile do not see each other: their contacts share no body, colours follow from
//! an island's own contacts, and lanes do not mix. The bits depend neither on which islands share a
//! pile, nor on the number of threads, nor on the width of the machine's registers.

mod blocks;
mod bodies;
mod bounce;
mod bundle;
mod convergence;
mod joints;
mod order;
mod pack;
mod plan;
mod sides;
mod slip;
mod step;
mod sweep;
mod unpack;
mod work;

use super::Plan;
use super::stopwatch::{Spent, Stopwatch};
use super::substep::{Members, Setting, SolveTotals};
use crate::parallel::pool;
use crate::parallel::pool::prelude::*;
use crate::parallel::share::Shared;
use crate::report::SolvePath;
use crate::state::body::BodyState;
use crate::state::contact::Contact;
use crate::state::joint::JointState;
use crate::step::island::Islands;
use step::Pile;

/// Contacts from which a plain pile takes in no other island: so many stay in a core's cache for a step.
const PLENTY: usize = 1_000;
/// Contacts from which a pile of islands that converge is full: enough to fill the lanes of every colour, few enough
/// to share out among threads.
const FULL: usize = 64;

/// All piles of a step.
#[derive(Debug, Default)]
pub struct Piles {
    plain: Shelf,
    bouncing: Shelf,
    patient: Shelf,
    patient_bouncing: Shelf,
    jointed: Shelf,
    /// Line of each body in the pile that it is in.
    line_of: Vec<u32>,
}

/// Piles, and how many of them are in use.
#[derive(Debug, Default)]
struct Shelf {
    piles: Vec<Pile>,
    used: usize,
}

impl Shelf {
    fn in_use(&self) -> &[Pile] {
        &self.piles[..self.used]
    }

    fn in_use_mut(&mut self) -> &mut [Pile] {
        &mut self.piles[..self.used]
    }

    /// The one for the next island: the last, as long as it has less than `full` contacts.
    fn filling(&mut self, full: usize, new: fn() -> Pile) -> &mut Pile {
        if self.in_use().last().is_none_or(|pile| pile.contacts.len() >= full) {
            if self.used == self.piles.len() {
                self.piles.push(new());
            }
            self.piles[self.used].clear();
            self.used += 1;
        }
        &mut self.piles[self.used - 1]
    }
}

impl Piles {
    /// Takes in the islands that go into piles.
    pub fn collect(&mut self, setting: Setting, islands: &Islands, plans: &[Plan]) {
        let contact = &setting.2.contact;
        self.shelves().for_each(|shelf| shelf.used = 0);
        self.line_of.resize(setting.0.bodies.len(), 0);
        for (island, plan) in islands.islands.iter().zip(plans) {
            let Members { bodies: slots, contacts, links, .. } = islands.members(island);
            match plan.path {
                SolvePath::Pile => {
                    let pile = match plan.facts.may_bounce() {
                        true => self.bouncing.filling(PLENTY, Pile::bouncing),
                        false => self.plain.filling(PLENTY, Pile::default),
                    };
                    pile.add(setting, island, (slots, contacts, links), &mut self.line_of);
                }
                SolvePath::JointedPile => {
                    let pile = self.jointed.filling(PLENTY, Pile::default);
                    pile.add(setting, island, (slots, contacts, links), &mut self.line_of);
                }
                SolvePath::ConvergedPile => {
                    let pile = match plan.facts.may_bounce() {
                        true => self.patient_bouncing.filling(FULL, Pile::patient_bouncing),
                        false => self.patient.filling(FULL, Pile::patient),
                    };
                    pile.add(setting, island, (slots, contacts, links), &mut self.line_of);
                    if let Some(convergence) = &mut pile.convergence {
                        convergence.add(contact, &plan.facts, contacts.len());
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether no island is in any.
    pub fn is_empty(&self) -> bool {
        let shelves = [&self.plain, &self.bouncing, &self.jointed];
        shelves.into_iter().chain(self.patients()).all(|shelf| shelf.used == 0)
    }

    fn shelves(&mut self) -> impl Iterator<Item = &mut Shelf> {
        let of_plain = [&mut self.plain, &mut self.bouncing, &mut self.jointed];
        of_plain.into_iter().chain([&mut self.patient, &mut self.patient_bouncing])
    }

    fn patients(&self) -> [&Shelf; 2] {
        [&self.patient, &self.patient_bouncing]
    }

    /// Advances all islands in piles by a step; `bodies` and `joints` are those of all islands, `contacts`
    /// those of the world, which the state lends for as long.
    pub fn solve(
        &mut self,
        setting: Setting,
        bodies: &mut [BodyState],
        contacts: &mut [Contact],
        joints: &mut [JointState],
        watch: &mut Stopwatch,
    ) {
        let (bodies, contacts) = (Shared::new(bodies), Shared::new(contacts));
        let joints = Shared::new(joints);
        let line_of = &self.line_of[..];
        let (plain, patient) = (self.plain.in_use_mut(), self.patient.in_use_mut());
        let patient_bouncing = self.patient_bouncing.in_use_mut();
        let (jointed, bouncing) = (self.jointed.in_use_mut(), self.bouncing.in_use_mut());
        let large = || plain.iter().chain(&*bouncing).chain(&*jointed);
        let all: usize = large().map(|pile| pile.contacts.len()).sum();
        for pile in plain.iter_mut().chain(&mut *bouncing).chain(&mut *jointed) {
            // where there is one for everyone, they go through their substeps one after the other
            pile.helped = 2 * pile.contacts.len() * pool::current_num_threads() > all;
        }
        let clock = *watch;
        let advance = |pile: &mut Pile| {
            let mut own = clock.beside();
            pile.gather(setting, line_of);
            // SAFETY: each island is in one pile
            unsafe { step::solve(setting, pile, (&bodies, &contacts, &joints), &mut own) };
            pile.totals.spent = own.spent;
        };
        // threads that are done with those that converge help with large ones, which can use any number
        pool::join(
            || plain.par_iter_mut().chain(bouncing).chain(jointed).for_each(advance),
            || patient.par_iter_mut().chain(patient_bouncing).for_each(advance),
        );
        let mut beside = Spent::default();
        self.totals().for_each(|totals| beside.add(&totals.spent));
        watch.divided(&beside);
    }

    /// What it took.
    pub fn totals(&self) -> impl Iterator<Item = SolveTotals> {
        let piles = self.patients().into_iter().flat_map(Shelf::in_use).chain(self.plain.in_use());
        piles.chain(self.bouncing.in_use()).chain(self.jointed.in_use()).map(|pile| pile.totals)
    }
}
