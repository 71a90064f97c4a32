//! Many bodies and contacts, fast: all islands of more than a few bodies that need no more than a few
//! iterations, in one go.
//!
//! The substeps are those of [`super::substep`], and so are the equations: forces; impulses with
//! overlaps pushed apart; positions; impulses again without the push. What makes them fast:
//!
//!   - contacts of a colour go eight side by side in single precision      sweep.rs, vector.rs
//!   - friction acts once per contact, not at each of its points           sweep.rs
//!   - arms, normals and inertia are those of the beginning of the step, and gaps follow the bodies
//!     to first order, so that a contact is packed once a step             pack.rs
//!   - with constant arms the impulses of one substep do to the bodies in the next what they did
//!     before, so that starting from them is a sum per body                bodies.rs
//!   - threads stay together through all stages                           team.rs
//!
//! What that costs: gaps and torques are off by the square of what bodies turn in a step, which
//! detection makes good in the next; impulses have seven digits. Velocities and positions are added up in
//! double precision, so that momentum keeps its digits. Islands that deserve patience (`effort.rs`),
//! in which a body may bounce, or which joints hold, take the general way.
//!
//! Islands in the same pile do not see each other: their contacts share no body, colours follow from
//! an island's own contacts, and lanes do not mix. The bits depend neither on which islands share a
//! pile, nor on the number of threads, nor on the width of the machine's registers.

mod bodies;
mod bundle;
mod order;
mod pack;
mod share;
mod sweep;
mod team;
mod vector;

use super::effort::Effort;
use super::rebound::Spring as Rebound;
use super::substep::{Setting, SolveTotals};
use super::watch::Watch;
use crate::collide::contacts::Contact;
use crate::contact::{FrictionModel, Solver};
use crate::rigid::island::Islands;
use crate::settings::Precision;
use crate::state::BodyState;
use bodies::{Lines, SharedLines};
use bundle::{Bundle, Points, WORLD};
use order::{Entry, NONE, Order};
use share::Shared;
pub(crate) use share::prefetch;
use std::sync::atomic::{AtomicU32, Ordering};
use sweep::{Bodies, Pass, Spring};
use team::Leader;

/// Contacts from which an island may go to the pile: fewer bodies are looked at more closely, and
/// deserve double precision.
const CONTACTS: usize = 40;
/// The same for islands at rest, where nothing is decided any more.
const CONTACTS_AT_REST: usize = 12;
/// Contacts from which several threads are worth calling.
const TEAM: usize = 500;
/// Masses that single precision has room for, kg.
const MASSES: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// Memory for piles.
#[derive(Debug, Default)]
pub struct Pile {
    /// Which islands are in it.
    pub has: Vec<bool>,
    /// Slots of their bodies, and their places among the bodies of all islands.
    bodies: Vec<u32>,
    body_at: Vec<u32>,
    /// Their contacts.
    contacts: Vec<u32>,
    lines: Lines,
    order: Order,
    bundles: Vec<Bundle>,
    points: Vec<Points>,
    /// Line of each slot, where the pile has it.
    line_of: Vec<u32>,
    others: Vec<u32>,
}

impl Pile {
    /// Takes in all islands that need nothing but these iterations.
    pub fn collect(&mut self, setting: Setting, islands: &Islands) {
        let contact = &setting.2.contact;
        let usual = contact.solver == Solver::ColoredPgs
            && contact.friction == FrictionModel::Cone
            && !contact.staggered
            && contact.precision != Precision::Double;
        self.has.clear();
        for list in [&mut self.bodies, &mut self.body_at, &mut self.contacts] {
            list.clear();
        }
        for island in &islands.islands {
            let bodies = island.body_start..island.body_start + island.body_count;
            let contacts = island.contact_start..island.contact_start + island.contact_count;
            let has = usual
                && island.contact_count >= CONTACTS_AT_REST
                && island.link_count == 0
                && island.point_count == 0
                && suits(
                    setting,
                    &islands.bodies[bodies.clone()],
                    &islands.contacts[contacts.clone()],
                );
            self.has.push(has);
            if has {
                self.bodies.extend_from_slice(&islands.bodies[bodies.clone()]);
                self.body_at.extend(bodies.map(|i| i as u32));
                self.contacts.extend_from_slice(&islands.contacts[contacts]);
            }
        }
    }

    /// Whether no island is in it.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }
}

fn suits((model, state, settings, _): Setting, bodies: &[u32], contacts: &[u32]) -> bool {
    let mut rows = 0;
    for &i in contacts {
        let contact = &state.contacts[i as usize];
        if contact.restitution > 0.0 {
            return false;
        }
        rows += 3 * contact.count as usize;
    }
    let effort = Effort::of(model, state, bodies);
    (contacts.len() >= CONTACTS || effort.settled)
        && bodies.iter().all(|&slot| MASSES.contains(&model.bodies[slot as usize].mass))
        && effort.is_plain(&settings.contact, rows)
}

/// Stages of a step, made chunk by chunk by all threads.
const PACK: u32 = 0;
const BEGIN: u32 = 1;
const ADVANCE: u32 = 2;
const UNPACK: u32 = 3;
const FINISH: u32 = 4;
const LEAD: u32 = 5;
const SWEEP: u32 = 6;

/// Advances the islands of a pile by a step; `bodies` are those of all islands, `contacts` those of the
/// world, which the state lends for as long.
pub fn solve(
    setting: Setting,
    pile: &mut Pile,
    bodies: &mut [BodyState],
    contacts: &mut [Contact],
    watch: &mut Watch,
) -> SolveTotals {
    let settings = setting.2;
    let (iterations, relax) = (settings.contact.iterations, settings.contact.relax_iterations);
    pile.gather(setting, contacts);
    let spring = spring(setting);
    let met = AtomicU32::new(0);
    let (bodies, all) = (Shared::new(bodies), Shared::new(contacts));
    let Pile { lines, order, bundles, points, contacts, body_at, .. } = pile;
    let order = &*order;
    let Lines { velocity, moved, free, inv_mass, places, movers, led } = lines;
    let (inv_mass, places) = (&*inv_mass, &*places);
    let lines = SharedLines {
        velocity: Shared::new(velocity),
        moved: Shared::new(moved),
        free: Shared::new(free),
        movers: Shared::new(movers),
        led: Shared::new(led),
    };
    let (bundles, points) = (Shared::new(bundles), Shared::new(points));

    let work = |stage: u32, at: usize| {
        let (kind, pass, color, substep) =
            (stage & 0xF, stage >> 4 & 0xF, stage >> 8 & 0xFF, stage >> 16);
        // SAFETY of all below: each chunk is made once in a stage, chunks hold different bundles,
        // points, contacts and bodies, and those of a colour have no movable body in common
        match kind {
            PACK | UNPACK => unsafe {
                let chunk = &order.chunks[at];
                let bundles = bundles.range(chunk.bundles.clone());
                let points = points.range(chunk.points.clone());
                for (bundle, i) in bundles.iter_mut().zip(chunk.bundles.clone()) {
                    let start = bundle.start as usize - chunk.points.start;
                    let points = &mut points[start..start + usize::from(bundle.count)];
                    // they lie far apart: ask for the next ones early
                    for &next in order.lanes.get(i + 1).into_iter().flatten() {
                        if next != NONE {
                            prefetch(all.start().add(contacts[next as usize] as usize));
                        }
                    }
                    let contact = |i: u32| {
                        let at = contacts[i as usize] as usize;
                        &mut all.range(at..at + 1)[0]
                    };
                    let lanes = &order.lanes[i];
                    if kind == PACK {
                        pack::pack(bundle, points, lanes, &order.entries, places, contact);
                        continue;
                    }
                    for (lane, &i) in lanes.iter().enumerate().filter(|(_, i)| **i != NONE) {
                        let place = order.entries[i as usize].body.map(|b| &places[b as usize]);
                        pack::unpack(bundle, points, lane, place, contact(i));
                    }
                }
            },
            SWEEP => unsafe {
                let chunk = &order.chunks[order.colors[color as usize].start as usize + at];
                let bodies = Bodies { velocity: &lines.velocity, moved: &lines.moved, inv_mass };
                let pass = sweep::PASSES[pass as usize];
                let found = sweep::sweep(
                    pass,
                    bundles.range(chunk.bundles.clone()),
                    points.range(chunk.points.clone()),
                    chunk.points.start,
                    &bodies,
                    &spring,
                );
                if pass == Pass::Last {
                    met.fetch_max(found.to_bits(), Ordering::Relaxed);
                }
            },
            LEAD => unsafe { lines.lead(setting, substep) },
            BEGIN => unsafe { lines.chunk(at) }.begin(setting, substep),
            ADVANCE => unsafe { lines.chunk(at) }.advance(setting),
            _ => unsafe {
                let chunk = lines.chunk(at);
                for (i, &at) in
                    body_at[at * bodies::CHUNK..][..chunk.movers.len()].iter().enumerate()
                {
                    chunk.finish(setting, i, &mut bodies.range(at as usize..at as usize + 1)[0]);
                }
            },
        }
    };
    let sweep = |leader: &mut Leader, pass: Pass| {
        for (color, chunks) in order.colors.iter().enumerate() {
            leader.stage(SWEEP | (pass as u32) << 4 | (color as u32) << 8, chunks.len());
        }
    };
    team::run(contacts.len() >= TEAM, &work, |leader| {
        let body_chunks = lines.chunks();
        leader.stage(PACK, order.chunks.len());
        for substep in 0..settings.substeps {
            watch.solved();
            leader.stage(LEAD | substep << 16, 1);
            leader.stage(BEGIN | substep << 16, body_chunks);
            watch.integrated();
            if substep == 0 {
                sweep(leader, Pass::Warm);
            }
            sweep(leader, Pass::Place);
            (1..iterations).for_each(|_| sweep(leader, Pass::Push));
            watch.solved();
            leader.stage(ADVANCE, body_chunks);
            watch.integrated();
            for round in 1..=relax {
                let last = round == relax && substep + 1 == settings.substeps;
                sweep(leader, if last { Pass::Last } else { Pass::Relax });
            }
        }
        leader.stage(UNPACK, order.chunks.len());
        watch.solved();
        leader.stage(FINISH, body_chunks);
        watch.integrated();
    });
    SolveTotals {
        iterations: settings.substeps * (iterations + relax),
        residual: f64::from(f32::from_bits(met.into_inner())),
        ..SolveTotals::default()
    }
}

/// The spring of the settings, in the units of a sweep.
fn spring((_, _, settings, dt): Setting) -> Spring {
    let h = dt / f64::from(settings.substeps);
    let contact = &settings.contact;
    let Rebound { rate, softness } = Rebound::new(contact, h);
    Spring {
        inv_h: (1.0 / h) as f32,
        rate: rate as f32,
        softness: softness as f32,
        slop: contact.slop as f32,
        speed: contact.push_speed as f32,
        sag: contact.sag as f32,
    }
}

impl Pile {
    /// Brings bodies and contacts together.
    fn gather(&mut self, setting: Setting, contacts: &[Contact]) {
        let model = setting.0;
        self.others.clear();
        self.line_of.resize(model.bodies.len(), WORLD);
        for (i, &slot) in self.bodies.iter().enumerate() {
            self.line_of[slot as usize] = i as u32 + 1;
        }
        for &index in &self.contacts {
            let key = contacts[index as usize].key;
            for slot in [key.a, key.b] {
                if !model.bodies[slot as usize].is_dynamic() && self.others.last() != Some(&slot) {
                    self.others.push(slot);
                }
            }
        }
        self.others.sort_unstable();
        self.others.dedup();
        for (i, &slot) in self.others.iter().enumerate() {
            self.line_of[slot as usize] = (self.bodies.len() + 1 + i) as u32;
        }
        self.lines.gather(setting, &self.bodies, &self.others);

        self.order.entries.clear();
        for &index in &self.contacts {
            let contact = &contacts[index as usize];
            let slots = [contact.key.a as usize, contact.key.b as usize];
            self.order.entries.push(Entry {
                body: slots.map(|slot| self.line_of[slot]),
                moves: slots.map(|slot| model.bodies[slot].is_dynamic()),
                count: contact.count as u8,
                color: 0,
            });
        }
        let records = self.order.build(self.lines.velocity.len(), &mut self.bundles);
        self.points.clear();
        self.points.resize(records, Points::default());
    }
}
