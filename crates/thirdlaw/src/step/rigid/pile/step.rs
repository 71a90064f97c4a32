//! A pile through the substeps of a step.

use super::blocks::Blocks;
use super::bodies::{Lines, SharedLines};
use super::bounce::Rebound;
use super::bundle::{Bundle, Points, WORLD};
use super::convergence::{self, Convergence, Outcome};
use super::joints::Joints;
use super::order::{Entry, Order};
use super::plan::{self, Planned};
use super::sweep::Spring;
use super::work::Work;
use crate::model::Model;
use crate::parallel::pool;
use crate::parallel::pool::prelude::*;
use crate::parallel::share::Shared;
use crate::state::body::BodyState;
use crate::state::contact::Contact;
use crate::state::joint::JointState;
use crate::step::island::{Island, Linked, Touch};
use crate::step::rigid::restitution::Springs;
use crate::step::rigid::stopwatch::Stopwatch;
use crate::step::rigid::substep::{Setting, SolveTotals};
use std::ops::Range;
use std::sync::atomic::AtomicU32;

/// Contacts that a thread goes through at least.
const TOGETHER: usize = 1024;

/// Memory for a pile.
#[derive(Debug, Default)]
pub struct Pile {
    /// Slots of the bodies of its islands, and their places among those of all islands.
    bodies: Vec<u32>,
    body_at: Vec<u32>,
    /// Their contacts.
    pub contacts: Vec<Touch>,
    blocks: Blocks,
    lines: Lines,
    order: Order,
    bundles: Vec<Bundle>,
    points: Vec<Points>,
    /// Slots of what they touch that is not dynamic, ascending.
    others: Vec<u32>,
    /// Joints between them.
    pub joints: Joints,
    /// Whether several threads may go through it together.
    pub helped: bool,
    /// Whether contacts of its islands bounce, and how, by bundles.
    pub bounces: bool,
    rebounds: Vec<Rebound>,
    /// Where its islands converge.
    pub convergence: Option<Convergence>,
    /// How the last pass over each bundle went, where they are.
    judged: Vec<Outcome>,
    /// The stages of a step, where they are not.
    plan: Vec<Planned>,
    /// What the last step took.
    pub totals: SolveTotals,
}

/// Advances the islands of a pile by a step, once they are gathered.
///
/// # Safety
/// Nobody else reads or changes the bodies and contacts of these islands meanwhile.
pub unsafe fn solve(
    setting: Setting,
    pile: &mut Pile,
    (bodies, all, all_joints): (&Shared<BodyState>, &Shared<Contact>, &Shared<JointState>),
    watch: &mut Stopwatch,
) {
    let Pile { lines, order, bundles, points, contacts, body_at, convergence, judged, .. } = pile;
    let Lines {
        velocity,
        moved,
        free,
        inv_mass,
        places,
        movers,
        turners,
        led,
        turned,
        struck,
        gained,
    } = lines;
    judged.resize(if convergence.is_some() { bundles.len() } else { 0 }, Outcome::default());
    let work = Work {
        setting,
        spring: spring(setting),
        springs: Springs::new(&setting.2.contact, setting.3 / f64::from(setting.2.substeps)),
        order,
        bundles: Shared::new(bundles),
        points: Shared::new(points),
        judged: Shared::new(judged),
        lines: SharedLines {
            velocity: Shared::new(velocity),
            moved: Shared::new(moved),
            free: Shared::new(free),
            movers: Shared::new(movers),
            turners: Shared::new(turners),
            led: Shared::new(led),
            turned: Shared::new(turned),
            struck: Shared::new(struck),
            gained: Shared::new(gained),
        },
        inv_mass,
        places,
        contacts,
        all_contacts: all,
        body_at,
        all_bodies: bodies,
        joints: pile.joints.share(all_joints),
        rebounds: Shared::new(&mut pile.rebounds),
        struck_in: AtomicU32::new(0),
        met: AtomicU32::new(0),
    };
    // SAFETY: the caller's
    let (iterations, residual) = match convergence {
        Some(convergence) => unsafe { convergence::solve(&work, convergence, watch) },
        None => unsafe { plan::solve(&work, pile.helped, &pile.blocks, &mut pile.plan, watch) },
    };
    let unconverged = pile.convergence.as_ref().map_or(0, Convergence::unconverged);
    pile.totals = SolveTotals { iterations, residual, unconverged, ..SolveTotals::default() };
}

/// What all springs have in common, in the units of a sweep.
fn spring((_, _, settings, dt): Setting) -> Spring {
    let h = dt / f64::from(settings.substeps);
    let contact = &settings.contact;
    Spring {
        inv_h: (1.0 / h) as f32,
        slop: contact.slop as f32,
        speed: contact.push_speed as f32,
        sag: contact.sag as f32,
    }
}

impl Pile {
    /// An empty one for islands that bounce.
    pub fn bouncing() -> Pile {
        Pile { bounces: true, ..Pile::default() }
    }

    /// An empty one for islands that converge.
    pub fn patient() -> Pile {
        Pile { convergence: Some(Convergence::default()), ..Pile::default() }
    }

    /// An empty one for islands that converge and bounce.
    pub fn patient_bouncing() -> Pile {
        Pile { bounces: true, ..Pile::patient() }
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.body_at.clear();
        self.contacts.clear();
        self.blocks.clear();
        self.joints.clear();
        if let Some(convergence) = &mut self.convergence {
            convergence.clear();
        }
    }

    /// Takes in an island, and notes the lines of its bodies.
    pub fn add(
        &mut self,
        setting: Setting,
        island: &Island,
        (slots, contacts, links): (&[u32], &[Touch], &[Linked]),
        line_of: &mut [u32],
    ) {
        let (first, start) = (self.bodies.len(), island.body_start as u32);
        let position = |i: usize| setting.1.bodies[slots[i] as usize].position;
        match self.blocks.add(first, contacts.len(), slots.len(), position) {
            Some(order) => {
                self.bodies.extend(order.iter().map(|&i| slots[i as usize]));
                self.body_at.extend(order.iter().map(|&i| start + i));
            }
            None => {
                self.bodies.extend_from_slice(slots);
                self.body_at.extend(start..start + slots.len() as u32);
            }
        }
        for (&slot, line) in self.bodies[first..].iter().zip(first as u32 + 1..) {
            line_of[slot as usize] = line;
        }
        self.contacts.extend_from_slice(contacts);
        for (i, link) in links.iter().enumerate() {
            if let Linked::Joint(slot) = link {
                self.joints.add(*slot, island.link_start + i);
            }
        }
    }

    /// Brings bodies and contacts together.
    pub fn gather(&mut self, setting: Setting, line_of: &[u32]) {
        self.others.clear();
        for touch in &self.contacts {
            for (slot, moves) in [touch.a, touch.b].into_iter().zip(touch.moves) {
                if !moves && self.others.last() != Some(&slot) {
                    self.others.push(slot);
                }
            }
        }
        self.others.extend(self.joints.others(setting.0));
        self.others.sort_unstable();
        self.others.dedup();
        let Pile { bodies, others, blocks, order, contacts, lines, joints, bounces, .. } = self;
        let jointed = !joints.slots.is_empty();
        pool::join(
            || lines.gather(setting, (bodies, others), (jointed, *bounces)),
            || {
                sort(order, blocks, contacts, (bodies.len(), others, line_of));
                if jointed {
                    sort_joints(setting.0, joints, blocks, (bodies.len(), others, line_of));
                }
            },
        );
        // what they hold is of no matter: packing fills them anew
        self.bundles.resize(self.order.bundles, Bundle::default());
        self.points.resize(self.order.points, Points::default());
        self.rebounds.resize(if self.bounces { self.order.bundles } else { 0 }, Rebound::default());
    }
}

/// Finds the order of joints between so many bodies in blocks, of these lines, and others behind them.
fn sort_joints(
    model: &Model,
    joints: &mut Joints,
    blocks: &mut Blocks,
    (bodies, others, line_of): (usize, &[u32], &[u32]),
) {
    let count = blocks.len();
    let line = |slot: u32, moves: bool| match moves {
        true => line_of[slot as usize],
        false => others.binary_search(&slot).map_or(WORLD, |i| (bodies + 1 + i) as u32),
    };
    joints.enter(model, (count, blocks.of_lines(bodies)), line);
    joints.build(bodies + 1, count, |block| {
        let Range { start, end } = blocks.range(block, bodies);
        start + 1..end + 1
    });
}

/// Finds the order of contacts between so many bodies in blocks, of these lines, and others behind them.
fn sort(
    order: &mut Order,
    blocks: &mut Blocks,
    contacts: &[Touch],
    (bodies, others, line_of): (usize, &[u32], &[u32]),
) {
    let count = blocks.len();
    let block_of = blocks.of_lines(bodies);
    order.entries.clear();
    order.entries.par_extend(contacts.par_iter().with_min_len(TOGETHER).map(|touch| {
        let (slots, moves) = ([touch.a, touch.b], touch.moves);
        let line = |side: usize| match moves[side] {
            true => line_of[slots[side] as usize],
            false => {
                let other = others.binary_search(&slots[side]);
                other.map_or(WORLD, |i| (bodies + 1 + i) as u32)
            }
        };
        let body = [line(0), line(1)];
        let [a, b] = [0, 1].map(|side| moves[side].then(|| block_of[body[side] as usize]));
        let between = a.zip(b).is_some_and(|(a, b)| a != b);
        let part = if between { None } else { a.or(b) };
        Entry { body, moves, count: touch.count, part: part.unwrap_or(count as u32) }
    }));
    // lines begin with the world's
    let lines = |block: usize| {
        let Range { start, end } = blocks.range(block, bodies);
        start + 1..end + 1
    };
    order.build(bodies + 1, count, lines);
}
