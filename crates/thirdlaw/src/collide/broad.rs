//! The broad phase: pairs of bodies whose bounds come within reach of each other in the coming step.
//!
//! A tree over loose boxes finds candidates (`loose.rs`); a candidate counts only if the tight boxes, a
//! function of the state alone, overlap. Ground made of many pieces has a box that holds nearly everything,
//! and counts only where the loose box of the other body meets the box of a piece: elsewhere there is
//! nothing to be found. Candidates that were found not to touch are left alone until they may (`pairs.rs`).
//! All this is memory that may be dropped at any time without changing a contact.

use super::fat_boxes::{Change, LooseBox, LooseBoxes};
use super::narrow;
use super::pairs::{Loose, NOWHERE, Ordered, Pair, SLACK, merge};
use super::placed::{Placed, pair_margin};
use crate::math::{Quat, Vec3};
use crate::model::Model;
use crate::model::body::model::BodyModel;
use crate::model::body::{BodyKind, Groups, Material};
use crate::parallel::pool::prelude::*;
use crate::shape::{Aabb, Convex, Geometry};
use crate::state::State;
use crate::state::body::BodyState;
use parry3d_f64::bounding_volume::BoundingVolume;

/// Memory of the broad phase.
#[derive(Clone, Default)]
pub struct BroadPhase {
    loose: LooseBoxes,
    /// How bodies lie in this step, slot by slot.
    pub(super) placed: Vec<Placed>,
    bounds: Vec<Bounds>,
    /// What every pair asks for, close together.
    traits: Vec<Traits>,
    /// What every contact found anew asks for: models of bodies lie far apart.
    pub(super) surfaces: Vec<Material>,
    /// Slots of bodies without bounds (half-spaces).
    unbounded: Vec<u32>,
    /// Pairs to be examined, ordered; the lower slot first.
    pub(super) pairs: Vec<Pair>,
    /// Those of each run of loose pairs, at its place, and how many they are.
    runs: Vec<Pair>,
    chosen: Vec<usize>,
    /// Pairs with half-spaces.
    above: Vec<Pair>,
    /// Whether pairs may be farther apart than contacts are looked for, and bodies that go far in this step.
    pub(super) looks_ahead: bool,
    far_going: Vec<(u32, Aabb)>,
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BroadPhase").field("pairs", &self.pairs.len()).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// What the body can reach in this step, and at what distance contacts are looked for beyond, m.
    reached: Aabb,
    rest: f64,
    /// The same as a ball about its centre of mass.
    center: Vec3,
    radius: f64,
    /// How far its fastest point has gone, m.
    way: f64,
}

#[derive(Clone, Copy, Debug)]
struct Traits {
    /// How far it has gone and looks ahead, m.
    spent: f64,
    groups: Groups,
    solver_groups: Groups,
    /// Whether this body can start a pair: it moves in this step.
    active: bool,
    dynamic: bool,
}

/// Bodies that a thread places at least.
const TOGETHER: usize = 256;
/// Loose pairs that a thread goes through together.
const RUN: usize = 1024;

impl BroadPhase {
    /// Finds all pairs for a step of `dt` seconds under `gravity`, m/s².
    pub fn update(&mut self, model: &Model, state: &State, (dt, gravity): (f64, Vec3)) {
        self.looks_ahead = false;
        self.remember();
        self.place(model, state, (dt, gravity));
        self.loose.update(model, &self.placed);
        self.choose();
        self.add_half_spaces(model, dt);
    }

    /// Adds pairs whose swept bounds meet in a step of `dt` seconds, of bodies that go farther than they look
    /// ahead. Sweeping finds out whether they meet (`ahead.rs`).
    pub fn look_ahead(&mut self, dt: f64) {
        self.looks_ahead = true;
        let mut far = std::mem::take(&mut self.far_going);
        far.clear();
        for (i, (body, traits)) in self.placed.iter().zip(&self.traits).enumerate() {
            if traits.active && self.loose.boxes[i].in_tree && body.outruns_its_look(dt) {
                far.push((i as u32, body.swept(dt)));
            }
        }
        self.above.clear();
        let mut new = std::mem::take(&mut self.above);
        let mut add = |a: u32, b: u32| {
            if a != b && self.traits[a as usize].may_touch(&self.traits[b as usize]) {
                new.push(Pair { a: a.min(b), b: a.max(b), ..Pair::NONE });
            }
        };
        for (i, swept) in &far {
            self.overlapping(swept).for_each(|other| add(*i, other));
        }
        // two that go far need not be near each other now
        far.sort_unstable_by(|x, y| x.1.mins.x.total_cmp(&y.1.mins.x).then(x.0.cmp(&y.0)));
        for (k, (i, swept)) in far.iter().enumerate() {
            let later = far[k + 1..].iter().take_while(|(_, other)| other.mins.x <= swept.maxs.x);
            later.filter(|(_, other)| overlap(swept, other)).for_each(|(j, _)| add(*i, *j));
        }
        new.sort_unstable_by_key(Ordered::order);
        new.dedup_by_key(|pair| pair.order());
        new.retain(|pair| self.pairs.binary_search_by_key(&pair.order(), Ordered::order).is_err());
        merge(&mut self.pairs, &new);
        (self.above, self.far_going) = (new, far);
    }

    /// Slots of the pairs to be examined, in order; the lower one first.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        self.pairs.iter().map(Ordered::order)
    }

    /// Where the centre of mass of a body was when pairs were last found, and how it lay.
    pub fn start(&self, slot: usize) -> (Vec3, Quat) {
        let placed = &self.placed[slot];
        (placed.position, placed.rotation)
    }

    /// How far away contacts of two bodies were looked for in a step of `dt` seconds, m.
    pub fn looked(&self, one: usize, other: usize, dt: f64) -> f64 {
        pair_margin(&self.placed[one], &self.placed[other], dt)
    }

    /// Takes pairs of an ordered list out of those to be examined.
    pub fn leave_out(&mut self, list: &[(u32, u32)]) {
        self.pairs.retain(|pair| list.binary_search(&pair.order()).is_err());
    }

    /// Notes what the narrow phase has found of pairs.
    fn remember(&mut self) {
        let news = |pair: &&Pair| pair.at != NOWHERE && !(pair.touched && pair.touches);
        for pair in self.pairs.iter().filter(news) {
            let place = &mut self.loose.pairs[pair.at as usize].far;
            if pair.touches {
                *place = Loose::TOUCHING;
            } else if pair.apart > 0.0 {
                let (a, b) = (&self.bounds[pair.a as usize], &self.bounds[pair.b as usize]);
                *place = pair.apart - (1.0 + SLACK) * a.rest.min(b.rest) + a.way + b.way;
            } else {
                *place = Loose::UNKNOWN;
            }
        }
        self.pairs.clear();
    }

    /// Places all bodies, and gives those another loose box that have left theirs.
    fn place(&mut self, model: &Model, state: &State, (dt, gravity): (f64, Vec3)) {
        let count = model.bodies.len();
        self.loose.resize(count);
        self.placed.resize(count, Placed::ABSENT);
        self.bounds.resize(count, Bounds::ABSENT);
        self.traits.resize(count, Traits::ABSENT);
        self.surfaces.resize(count, Material::default());
        let bodies = model.bodies.par_iter().zip(&state.bodies);
        let loose = self.loose.boxes.par_iter_mut().zip(&mut self.loose.changes);
        let known = self.traits.par_iter_mut().zip(&mut self.surfaces);
        let memory = self.placed.par_iter_mut().zip(&mut self.bounds).zip(known);
        bodies.zip(loose).zip(memory).with_min_len(TOGETHER).for_each(
            |(((body, now), (loose, change)), ((placed, bounds), (traits, surface)))| {
                traits.set(body, now);
                *surface = body.material;
                *change = place((body, now, dt), gravity, (placed, bounds), (traits, loose));
            },
        );
        self.unbounded.clear();
        let slots = 0..count as u32;
        let is_endless = |i: &u32| self.bounds[*i as usize].radius == f64::INFINITY;
        if self.loose.changes.contains(&Change::Gone) {
            self.unbounded.extend(slots.filter(is_endless));
        }
    }

    /// Takes those of the loose pairs that may touch.
    fn choose(&mut self) {
        let BroadPhase { bounds, traits, loose, pairs, runs, chosen, .. } = self;
        let loose = &mut loose.pairs;
        if runs.len() < loose.len() {
            runs.resize(loose.len(), Pair::NONE);
        }
        chosen.clear();
        chosen.resize(loose.len().div_ceil(RUN), 0);
        let places = loose.par_chunks_mut(RUN).zip(runs.par_chunks_mut(RUN)).zip(&mut *chosen);
        places.enumerate().for_each(|(run, ((loose, pairs), count))| {
            for (i, pair) in loose.iter_mut().enumerate() {
                let Loose { a, b, far } = *pair;
                let (one, other) = (&traits[a as usize], &traits[b as usize]);
                let spent = one.spent + other.spent;
                if spent < far || !one.may_touch(other) {
                    continue;
                }
                let touched = far == Loose::TOUCHING;
                if !touched {
                    let (one, other) = (&bounds[a as usize], &bounds[b as usize]);
                    let (beyond, rest) = (one.beyond(other), one.rest.min(other.rest));
                    if beyond > 0.01 * SLACK * rest {
                        pair.far = spent + beyond - SLACK * rest;
                        continue;
                    }
                }
                pairs[*count] = Pair { a, b, at: (run * RUN + i) as u32, touched, ..Pair::NONE };
                *count += 1;
            }
        });
        pairs.clear();
        for (run, &count) in runs.chunks(RUN).zip(&*chosen) {
            pairs.extend_from_slice(&run[..count]);
        }
    }

    /// Adds pairs with half-spaces.
    fn add_half_spaces(&mut self, model: &Model, dt: f64) {
        let BroadPhase { placed, loose, traits, unbounded, pairs, above, .. } = self;
        for &plane in unbounded.iter() {
            let shape = &model.bodies[plane as usize].shape;
            let Geometry::Convex(Convex::HalfSpace { normal }) = shape.geometry() else { continue };
            let ground = &placed[plane as usize];
            let n = ground.rotation * *normal;
            above.clear();
            for (i, (body, loose)) in placed.iter().zip(&loose.boxes).enumerate() {
                if !loose.in_tree || !traits[i].may_touch(&traits[plane as usize]) {
                    continue;
                }
                let gap = n.dot(body.position - ground.origin) - body.reach;
                // rounding is left some room
                if gap <= pair_margin(body, ground, dt) + SLACK * body.rest {
                    let i = i as u32;
                    let (a, b) = (i.min(plane), i.max(plane));
                    above.push(Pair { a, b, ..Pair::NONE });
                }
            }
            merge(pairs, above);
        }
    }

    /// Slots whose tight boxes overlap `bounds`, in no particular order, each at most once.
    pub fn overlapping<'a>(&'a self, bounds: &'a Aabb) -> impl Iterator<Item = u32> + 'a {
        let near = self.loose.overlapping(bounds);
        near.filter(|&i| overlap(&self.bounds[i as usize].tight(), bounds))
            .chain(self.unbounded.iter().copied())
    }
}

/// Places a body; says what becomes of its loose box.
fn place(
    (body, now, dt): (&BodyModel, &BodyState, f64),
    gravity: Vec3,
    (placed, bounds): (&mut Placed, &mut Bounds),
    (traits, loose): (&mut Traits, &mut LooseBox),
) -> Change {
    if !body.alive || body.reach == f64::INFINITY {
        *placed = Placed::new(body, now, dt);
        bounds.radius = if body.alive { f64::INFINITY } else { 0.0 };
        return Change::Gone;
    }
    let known = loose.is_of(body.generation);
    if known && !traits.active && placed.rests_at(now) {
        traits.spent = bounds.way;
        return Change::None;
    }
    if known {
        bounds.way += placed.way_to(now);
        placed.move_to(now, dt);
    } else {
        *placed = Placed::new(body, now, dt);
        loose.name(
            body.generation,
            body.kind == BodyKind::Fixed && narrow::tree(&body.shape).is_some(),
        );
    }
    placed.let_fall((body, now), gravity, dt);
    let travel = placed.travel(dt);
    traits.spent = bounds.way + travel;
    bounds.reached = placed.bounds(body).loosened(travel);
    bounds.center = placed.position;
    bounds.radius = placed.reach + travel;
    bounds.rest = placed.rest;
    // a pair looks as far as the one that looks less far: half for each, and a little for rounding
    let tight = bounds.reached.loosened(0.501 * bounds.rest);
    let way = now.velocity.linear * dt;
    if known && loose.holds(&tight, (way, placed.reach)) {
        return Change::None;
    }
    loose.surround(&tight, (way, placed.reach));
    Change::Another
}

impl Traits {
    const ABSENT: Traits = Traits {
        spent: 0.0,
        groups: Groups { member: 0, collides: 0 },
        solver_groups: Groups { member: 0, collides: 0 },
        active: false,
        dynamic: false,
    };

    fn set(&mut self, body: &BodyModel, now: &BodyState) {
        self.dynamic = body.is_dynamic();
        self.groups = body.groups;
        self.solver_groups = body.solver_groups;
        self.active = body.alive
            && match body.kind {
                BodyKind::Dynamic => !now.asleep,
                BodyKind::Kinematic => moves(body, now),
                BodyKind::Fixed => false,
            };
    }

    fn may_touch(&self, other: &Traits) -> bool {
        (self.active || other.active)
            && (self.dynamic || other.dynamic)
            && self.groups.touch(other.groups)
            && self.solver_groups.touch(other.solver_groups)
    }
}

impl Bounds {
    const ABSENT: Bounds = Bounds {
        reached: Aabb { mins: Vec3::ZERO, maxs: Vec3::ZERO },
        rest: 0.0,
        center: Vec3::ZERO,
        radius: 0.0,
        way: 0.0,
    };

    /// A box around all that it may touch, whatever that is.
    fn tight(&self) -> Aabb {
        self.reached.loosened(self.rest)
    }

    /// By how much boxes or balls are farther apart than contacts are looked for, m; a pair looks as far
    /// as the one that looks less far.
    fn beyond(&self, other: &Bounds) -> f64 {
        let (a, b) = (&self.reached, &other.reached);
        let rest = self.rest.min(other.rest);
        let boxes = (b.mins - a.maxs).max(a.mins - b.maxs).max_element();
        let reach = self.radius + other.radius + rest;
        let squared = self.center.distance_squared(other.center);
        let balls = if squared > reach * reach { squared.sqrt() - reach } else { 0.0 };
        (boxes - rest).max(balls)
    }
}

fn overlap(a: &Aabb, b: &Aabb) -> bool {
    a.mins.cmple(b.maxs).all() && b.mins.cmple(a.maxs).all()
}

/// Whether a kinematic body moves.
pub fn moves(body: &BodyModel, state: &BodyState) -> bool {
    !body.motion.keys.is_empty() || state.velocity != Default::default()
}
