//! The islands of a pile through the substeps of a step.

use super::bodies::{self, Lines, SharedLines};
use super::bundle::{Bundle, Points, WORLD};
use super::order::{Entry, NONE, Order};
use super::pack;
use super::patience::{Outcome, Patience, Solve};
use super::share::{Shared, prefetch};
use super::sweep::{self, Bodies, Part, Pass, Spring};
use super::team::{self, Leader};
use crate::collide::contacts::Contact;
use crate::rigid::island::Island;
use crate::scheme::rebound::Spring as Rebound;
use crate::scheme::substep::{Setting, SolveTotals};
use crate::scheme::watch::Watch;
use crate::state::BodyState;
use std::sync::atomic::{AtomicU32, Ordering};

/// Contacts from which several threads are worth calling.
const TEAM: usize = 500;

/// Memory for a pile.
#[derive(Debug, Default)]
pub struct Pile {
    /// Slots of the bodies of its islands, and their places among those of all islands.
    bodies: Vec<u32>,
    body_at: Vec<u32>,
    /// Their contacts.
    pub contacts: Vec<u32>,
    lines: Lines,
    order: Order,
    bundles: Vec<Bundle>,
    points: Vec<Points>,
    /// Slots of what they touch that is not dynamic, ascending.
    others: Vec<u32>,
    /// Where its islands are patient.
    pub patience: Option<Patience>,
    /// How the last pass over each bundle went, where they are.
    judged: Vec<Outcome>,
    /// What the last step took.
    pub totals: SolveTotals,
}

/// Stages of a step, made chunk by chunk by all threads.
const PACK: u32 = 0;
const BEGIN: u32 = 1;
const ADVANCE: u32 = 2;
const UNPACK: u32 = 3;
const FINISH: u32 = 4;
const LEAD: u32 = 5;
const SWEEP: u32 = 6;

/// Advances the islands of a pile by a step.
///
/// # Safety
/// Nobody else reads or changes the bodies and contacts of these islands meanwhile.
pub unsafe fn solve(
    setting: Setting,
    pile: &mut Pile,
    line_of: &[u32],
    bodies: &Shared<BodyState>,
    all: &Shared<Contact>,
    watch: &mut Watch,
) {
    let settings = setting.2;
    // SAFETY: the caller's
    pile.gather(setting, line_of, |i| unsafe { &all.range(i as usize..i as usize + 1)[0] });
    let spring = spring(setting);
    let met = AtomicU32::new(0);
    let Pile { lines, order, bundles, points, contacts, body_at, patience, judged, totals, .. } =
        pile;
    let order = &*order;
    let Lines { velocity, moved, free, inv_mass, places, movers, turners, led } = lines;
    let (inv_mass, places) = (&*inv_mass, &*places);
    let lines = SharedLines {
        velocity: Shared::new(velocity),
        moved: Shared::new(moved),
        free: Shared::new(free),
        movers: Shared::new(movers),
        turners: Shared::new(turners),
        led: Shared::new(led),
    };
    judged.resize(if patience.is_some() { bundles.len() } else { 0 }, Outcome::default());
    let (bundles, points, judged) =
        (Shared::new(bundles), Shared::new(points), Shared::new(judged));

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
                    let group = &order.groups[i];
                    let start = group.start as usize - chunk.points.start;
                    let points = &mut points[start..start + usize::from(group.count)];
                    // they lie far apart: ask for the next ones early
                    for &next in order.groups.get(i + 1).iter().flat_map(|next| &next.lanes) {
                        if next == NONE {
                            continue;
                        }
                        let next = all.start().add(contacts[next as usize] as usize);
                        if kind == PACK {
                            prefetch(next);
                        } else {
                            prefetch(&raw const (*next).impulses);
                        }
                    }
                    let contact = |i: u32| {
                        let at = contacts[i as usize] as usize;
                        &mut all.range(at..at + 1)[0]
                    };
                    if kind == PACK {
                        pack::pack(bundle, points, group, &order.entries, places, contact);
                        continue;
                    }
                    let lanes = group.lanes.iter().enumerate();
                    for (lane, &i) in lanes.filter(|(_, i)| **i != NONE) {
                        let entry = &order.entries[i as usize];
                        let place = entry.body.map(|b| &places[b as usize]);
                        let points = &points[..usize::from(entry.count)];
                        pack::unpack(bundle, points, lane, place, &mut contact(i).impulses);
                    }
                }
            },
            SWEEP => unsafe {
                let chunk = &order.chunks[order.colors[color as usize].start as usize + at];
                let bodies = Bodies { velocity: &lines.velocity, moved: &lines.moved, inv_mass };
                let pass = sweep::PASSES[pass as usize];
                let patient = judged.len() > 0 && pass != Pass::Warm;
                let part = Part {
                    bundles: bundles.range(chunk.bundles.clone()),
                    points: points.range(chunk.points.clone()),
                    base: chunk.points.start,
                    outcomes: patient.then(|| judged.range(chunk.bundles.clone())),
                };
                let found = sweep::sweep(pass, part, &bodies, &spring);
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
    let mut solve = |leader: &mut Leader, kind: Solve, substep: u32, asked: u32| {
        let pass = |round: u32| match kind {
            Solve::Push if round == 1 => Pass::Place,
            Solve::Push => Pass::Push,
            Solve::Relax if round == asked && substep + 1 == settings.substeps => Pass::Last,
            Solve::Relax => Pass::Relax,
        };
        let Some(patience) = &mut *patience else {
            (1..=asked).for_each(|round| sweep(leader, pass(round)));
            return;
        };
        // SAFETY: nobody sweeps meanwhile
        let judged = || unsafe { judged.range(0..judged.len()) };
        patience.begin(order, judged());
        for round in 1.. {
            sweep(leader, pass(round));
            if !patience.judge(order, judged(), kind, substep, round) {
                break;
            }
        }
    };
    team::run(judged.len() == 0 && contacts.len() >= TEAM, &work, |leader| {
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
            solve(leader, Solve::Push, substep, settings.contact.iterations);
            watch.solved();
            leader.stage(ADVANCE, body_chunks);
            watch.integrated();
            solve(leader, Solve::Relax, substep, settings.contact.relax_iterations);
        }
        leader.stage(UNPACK, order.chunks.len());
        watch.solved();
        leader.stage(FINISH, body_chunks);
        watch.integrated();
    });
    let (iterations, residual) = match patience {
        Some(patience) => patience.totals(),
        None => (
            settings.substeps * (settings.contact.iterations + settings.contact.relax_iterations),
            f64::from(f32::from_bits(met.into_inner())),
        ),
    };
    *totals = SolveTotals { iterations, residual, ..SolveTotals::default() };
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
    /// An empty one for patient islands.
    pub fn patient() -> Pile {
        Pile { patience: Some(Patience::default()), ..Pile::default() }
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        for list in [&mut self.bodies, &mut self.body_at, &mut self.contacts] {
            list.clear();
        }
        if let Some(patience) = &mut self.patience {
            patience.clear();
        }
    }

    /// Takes in an island, and notes the lines of its bodies.
    pub fn add(&mut self, island: &Island, slots: &[u32], contacts: &[u32], line_of: &mut [u32]) {
        for (&slot, line) in slots.iter().zip(self.bodies.len() as u32 + 1..) {
            line_of[slot as usize] = line;
        }
        self.bodies.extend_from_slice(slots);
        self.body_at.extend(island.body_start as u32..(island.body_start + slots.len()) as u32);
        self.contacts.extend_from_slice(contacts);
    }

    /// Brings bodies and contacts together.
    fn gather<'a>(
        &mut self,
        setting: Setting,
        line_of: &[u32],
        contact: impl Fn(u32) -> &'a Contact,
    ) {
        let model = setting.0;
        self.others.clear();
        for &index in &self.contacts {
            let key = contact(index).key;
            for slot in [key.a, key.b] {
                if !model.bodies[slot as usize].is_dynamic() && self.others.last() != Some(&slot) {
                    self.others.push(slot);
                }
            }
        }
        self.others.sort_unstable();
        self.others.dedup();
        self.lines.gather(setting, &self.bodies, &self.others);

        self.order.entries.clear();
        for &index in &self.contacts {
            let contact = contact(index);
            let slots = [contact.key.a, contact.key.b];
            let moves = slots.map(|slot| model.bodies[slot as usize].is_dynamic());
            let line = |side: usize| match moves[side] {
                true => line_of[slots[side] as usize],
                false => {
                    let other = self.others.binary_search(&slots[side]);
                    other.map_or(WORLD, |i| (self.bodies.len() + 1 + i) as u32)
                }
            };
            self.order.entries.push(Entry {
                body: [line(0), line(1)],
                moves,
                count: contact.count as u8,
                color: 0,
            });
        }
        let records = self.order.build(self.lines.velocity.len());
        // what they hold is of no matter: packing fills them anew
        self.bundles.resize(self.order.groups.len(), Bundle::default());
        self.points.resize(records, Points::default());
    }
}
