//! Bodies and contacts, fast: most islands without joints and bounces, many at a time.
//!
//! The substeps are those of [`super::substep`], and so are the equations: forces; impulses with
//! overlaps pushed apart; positions; impulses again without the push. What makes them fast:
//!
//!   - eight contacts go side by side in single precision                  sweep.rs, vector.rs
//!   - what lies within a block of neighbours stays at hand for a substep  blocks.rs, order.rs, plan.rs
//!   - friction acts once per contact, not at each of its points           sweep.rs
//!   - arms, normals and inertia are those of the beginning of the step, and gaps follow the bodies
//!     to first order, so that a contact is packed once a step             pack.rs
//!   - with constant arms the impulses of one substep do to the bodies in the next what they did
//!     before, so that starting from them is a sum per body                bodies.rs
//!   - separate piles go through all substeps one after the other, each from a core's cache
//!   - threads stay together through all stages of a large one            team.rs
//!
//! What that costs: gaps are off by the square of what bodies turn in a step, which detection makes good in
//! the next; impulses have seven digits; arms that stay those of the beginning of the step cost angular
//! momentum where bodies slide past each other. Velocities and positions are added up in double precision,
//! so that momentum keeps its digits. Islands in which a body may bounce, which joints hold, or of few
//! bodies that fly about, take other ways (`Way`). Those that deserve patience
//! (`effort.rs`) share piles of their own, in which each iterates until it has converged (patience.rs).
//!
//! Islands in the same pile do not see each other: their contacts share no body, colours follow from
//! an island's own contacts, and lanes do not mix. The bits depend neither on which islands share a
//! pile, nor on the number of threads, nor on the width of the machine's registers.

mod blocks;
mod bodies;
mod bundle;
mod order;
mod pack;
mod patience;
mod plan;
mod sides;
mod step;
mod sweep;
mod unpack;
mod work;

use super::effort::Effort;
use super::free;
use super::substep::{Setting, SolveTotals};
use super::watch::{Spent, Watch};
use crate::model::Model;
use crate::model::settings::{FrictionModel, Precision, Solver};
use crate::parallel::share::Shared;
use crate::state::body::BodyState;
use crate::state::contact::Contact;
use crate::step::island::{Island, Islands};
use rayon::prelude::*;
use step::Pile;

/// Contacts from which an island goes to the pile at any speed: few bodies that fly about are looked at
/// too closely for arms of the beginning of the step.
const CONTACTS: usize = 40;
/// Way of a body in a step, over its size, up to which the arms are of no matter.
const DRIFT: f64 = 0.01;
/// Islands that a thread judges at least.
const TOGETHER: usize = 64;
/// Masses that single precision has room for, kg.
const MASSES: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// Contacts from which a plain pile takes in no other island: so many stay in a core's cache for a step.
const PLENTY: usize = 1_000;
/// Contacts from which a pile of patient islands is full: enough to fill the lanes of every colour, few enough
/// to share out among threads.
const FULL: usize = 64;

/// How an island is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By itself, as `substep.rs` says.
    Alone,
    /// A body that nothing touches, as `free.rs` says.
    Free,
    /// With others like it, as `abreast.rs` says.
    Abreast,
    /// In the pile.
    Plain,
    /// In a pile of patient ones.
    Patient,
}

impl Way {
    /// Whether impulses come back with the island: piles hand their contacts theirs themselves.
    pub fn hands_back(self) -> bool {
        matches!(self, Way::Alone | Way::Abreast)
    }
}

/// All piles of a step.
#[derive(Debug, Default)]
pub struct Piles {
    /// How each island is solved, and how hard to try.
    ways: Vec<(Way, Effort)>,
    plain: Shelf,
    patient: Shelf,
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
    /// Says how each island is solved, and takes in those that go into piles.
    pub fn collect(&mut self, setting: Setting, islands: &Islands) {
        let contact = &setting.2.contact;
        let usual = contact.solver == Solver::ColoredPgs
            && contact.friction == FrictionModel::Cone
            && !contact.staggered;
        self.ways.clear();
        (self.plain.used, self.patient.used) = (0, 0);
        self.line_of.resize(setting.0.bodies.len(), 0);
        let all = islands.islands.par_iter().with_min_len(TOGETHER).map(|island| {
            let usual = usual && island.link_count == 0 && island.point_count == 0;
            let slots = islands.bodies_of(island);
            if usual && island.contact_count > 0 {
                way(setting, island, slots)
            } else if is_free(setting.0, island, slots) {
                (Way::Free, Effort::default())
            } else {
                (Way::Alone, Effort::default())
            }
        });
        self.ways.par_extend(all);
        for (i, island) in islands.islands.iter().enumerate() {
            let (way, effort) = self.ways[i];
            let (slots, contacts) = (islands.bodies_of(island), islands.contacts_of(island));
            match way {
                Way::Alone | Way::Free | Way::Abreast => {}
                Way::Plain => {
                    let pile = self.plain.filling(PLENTY, Pile::default);
                    pile.add(setting, island, slots, contacts, &mut self.line_of);
                }
                Way::Patient => {
                    let pile = self.patient.filling(FULL, Pile::patient);
                    pile.add(setting, island, slots, contacts, &mut self.line_of);
                    if let Some(patience) = &mut pile.patience {
                        patience.add(contact, &effort, 3 * island.contact_points, contacts.len());
                    }
                }
            }
        }
    }

    /// How an island is solved.
    pub fn way(&self, island: usize) -> Way {
        self.ways[island].0
    }

    /// Whether no island is in any.
    pub fn is_empty(&self) -> bool {
        self.plain.used + self.patient.used == 0
    }

    /// Advances all islands in piles by a step; `bodies` are those of all islands, `contacts` those of
    /// the world, which the state lends for as long.
    pub fn solve(
        &mut self,
        setting: Setting,
        bodies: &mut [BodyState],
        contacts: &mut [Contact],
        watch: &mut Watch,
    ) {
        let (bodies, contacts) = (Shared::new(bodies), Shared::new(contacts));
        let line_of = &self.line_of[..];
        let (plain, patient) = (self.plain.in_use_mut(), self.patient.in_use_mut());
        let all: usize = plain.iter().map(|pile| pile.contacts.len()).sum();
        for pile in &mut *plain {
            // where there is one for everyone, they go through their substeps one after the other
            pile.helped = 2 * pile.contacts.len() * rayon::current_num_threads() > all;
        }
        let clock = *watch;
        let advance = |pile: &mut Pile| {
            let mut own = clock.beside();
            pile.gather(setting, line_of);
            // SAFETY: each island is in one pile
            unsafe { step::solve(setting, pile, &bodies, &contacts, &mut own) };
            pile.totals.spent = own.spent;
        };
        // threads that are done with patient ones help with large ones, which can use any number
        rayon::join(
            || plain.par_iter_mut().for_each(advance),
            || patient.par_iter_mut().for_each(advance),
        );
        let mut beside = Spent::default();
        self.totals().for_each(|totals| beside.add(&totals.spent));
        watch.divided(&beside);
    }

    /// What it took.
    pub fn totals(&self) -> impl Iterator<Item = SolveTotals> {
        self.patient.in_use().iter().chain(self.plain.in_use()).map(|pile| pile.totals)
    }
}

/// Whether an island is one body that only gravity and the like move.
fn is_free(model: &Model, island: &Island, slots: &[u32]) -> bool {
    let held = island.contact_count + island.link_count + island.point_count > 0;
    !held && slots.len() == 1 && free::is_free(&model.bodies[slots[0] as usize])
}

/// How to solve an island, and how hard to try.
fn way((model, state, settings, dt): Setting, island: &Island, slots: &[u32]) -> (Way, Effort) {
    let (contact, rows) = (&settings.contact, 3 * island.contact_points);
    let effort = Effort::of(model, state, slots);
    // what is at rest has nothing to bounce off
    if island.bounces && (island.carried || !effort.settled) {
        return (Way::Alone, effort);
    }
    let fits = contact.precision != Precision::Double
        && effort.masses.iter().all(|mass| MASSES.contains(mass));
    let few = island.contact_count < CONTACTS;
    let way = if effort.is_direct(contact, rows) {
        Way::Alone
    } else if !effort.is_plain(contact, rows) {
        if fits { Way::Patient } else { Way::Alone }
    } else if fits && (!few || effort.haste * dt < DRIFT) {
        Way::Plain
    } else if few {
        Way::Abreast
    } else {
        Way::Alone
    };
    (way, effort)
}
