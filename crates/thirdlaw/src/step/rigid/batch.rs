//! Islands that go through a step side by side: what every path reads and writes.
//!
//! The islands of a step lie one after the other, and so does what they write. A [`Batch`] is a run of them
//! that one thread goes through; each path takes those of its own out of it, all by one signature,
//! [`Advance`]. Piles gather theirs from all islands into records of their own (pile/) and are shared by
//! threads; they wait until the batches are done.

use super::stopwatch::{Clock, Stopwatch};
use super::substep::{Changed, IslandScratch, Members, PointImpulse, Setting, SolveTotals};
use super::{Plan, batched, free, general};
use crate::parallel::pool;
use crate::report::SolvePath;
use crate::state::body::BodyState;
use crate::state::contact::POINTS_MAX;
use crate::state::joint::JointState;
use crate::state::point::PointState;
use crate::step::classify::Facts;
use crate::step::island::{Island, Islands};
use std::ops::Range;
use std::sync::Mutex;

/// Takes the islands of one path in a batch through a step.
pub type Advance = fn(&mut Batch, &mut Memory, &mut Stopwatch);

/// The paths of islands outside piles, in the order in which a batch takes them.
const PATHS: [(SolvePath, Advance); 3] = [
    (SolvePath::General, general::solve),
    (SolvePath::Batched, batched::solve),
    (SolvePath::Free, free::solve),
];

/// Islands with less work than this together, in sixteenths of a contact alone, are not worth a task of
/// their own.
const TASK: usize = 16 * 64;

/// Consecutive islands, and what they write.
pub struct Batch<'a> {
    /// What all islands read.
    pub setting: Setting<'a>,
    islands: &'a Islands,
    plans: &'a [Plan],
    range: Range<usize>,
    out: Output<'a>,
}

/// What consecutive islands write, one after the other.
pub struct Output<'a> {
    /// Dynamic bodies.
    pub bodies: &'a mut [BodyState],
    /// Impulses of contacts.
    pub impulses: &'a mut [[PointImpulse; POINTS_MAX]],
    /// What each island took.
    pub totals: &'a mut [SolveTotals],
    /// Joints and constraints.
    pub joints: &'a mut [JointState],
    /// Point masses.
    pub points: &'a mut [PointState],
}

/// Memory of an island, taken from the pool when it is first asked for and given back at the end.
pub struct Memory<'a> {
    pool: &'a Mutex<Vec<IslandScratch>>,
    taken: Option<IslandScratch>,
}

impl<'a> Batch<'a> {
    /// All islands of a step.
    pub fn whole(
        setting: Setting<'a>,
        islands: &'a Islands,
        plans: &'a [Plan],
        out: Output<'a>,
    ) -> Batch<'a> {
        Batch { setting, islands, plans, range: 0..islands.islands.len(), out }
    }

    /// Takes all islands outside piles through a step, halving the run until the tasks are small.
    pub fn advance(mut self, pool: &Mutex<Vec<IslandScratch>>, clock: Option<Clock>) {
        if self.range.len() > 1 && self.work() > TASK {
            let (first, second) = self.split();
            pool::join(|| first.advance(pool, clock), || second.advance(pool, clock));
            return;
        }
        let mut memory = Memory { pool, taken: None };
        let mut watch = Stopwatch::start(clock);
        for (path, advance) in PATHS {
            if self.places(path).next().is_some() {
                advance(&mut self, &mut memory, &mut watch);
            }
        }
    }

    /// Places in this batch of the islands of a path.
    pub fn places(&self, path: SolvePath) -> impl Iterator<Item = usize> + Clone + use<'a> {
        self.places_where(path, |_| true)
    }

    /// Those among them of whose facts this holds.
    pub fn places_where<F: Fn(&Facts) -> bool + Clone>(
        &self,
        path: SolvePath,
        holds: F,
    ) -> impl Iterator<Item = usize> + Clone + use<'a, F> {
        let plans = self.plans[self.range.clone()].iter().enumerate();
        let found = plans.filter(move |(_, plan)| plan.path == path && holds(&plan.facts));
        found.map(|(place, _)| place)
    }

    /// The island at a place.
    pub fn island(&self, place: usize) -> &'a Island {
        &self.islands.islands[self.range.start + place]
    }

    /// What it consists of.
    pub fn members(&self, place: usize) -> Members<'a> {
        self.islands.members(self.island(place))
    }

    /// What it changes.
    pub fn changed(&mut self, place: usize) -> Changed<'_> {
        let (first, island) = (self.island(0), self.island(place));
        let Output { bodies, impulses, joints, points, .. } = &mut self.out;
        Changed {
            bodies: &mut bodies[island.body_start - first.body_start..][..island.body_count],
            impulses: &mut impulses[island.contact_start - first.contact_start..]
                [..island.contact_count],
            joints: &mut joints[island.link_start - first.link_start..][..island.link_count],
            points: &mut points[island.point_start - first.point_start..][..island.point_count],
        }
    }

    /// What it took.
    pub fn totals(&mut self, place: usize) -> &mut SolveTotals {
        &mut self.out.totals[place]
    }

    /// Work in it, in sixteenths of a contact alone. Islands in piles wait.
    fn work(&self) -> usize {
        let islands = &self.islands.islands[self.range.clone()];
        let plans = &self.plans[self.range.clone()];
        let work = islands.iter().zip(plans).map(|(island, plan)| match plan.path {
            SolvePath::Batched => 8 * island.contact_count,
            SolvePath::Free => 1,
            SolvePath::Pile | SolvePath::ConvergedPile | SolvePath::JointedPile => 0,
            _ => 16 * (island.contact_count + 2 * island.link_count) + 2 * island.body_count,
        });
        work.sum()
    }

    /// Both halves of it.
    fn split(self) -> (Batch<'a>, Batch<'a>) {
        let Batch { setting, islands, plans, range, out } = self;
        let middle = range.start + range.len() / 2;
        let (first, second) = out.split(&islands.islands[range.start..middle]);
        (
            Batch { setting, islands, plans, range: range.start..middle, out: first },
            Batch { setting, islands, plans, range: middle..range.end, out: second },
        )
    }
}

impl<'a> Output<'a> {
    /// What these first islands write, and the rest.
    fn split(self, islands: &[Island]) -> (Output<'a>, Output<'a>) {
        let count = |f: fn(&Island) -> usize| islands.iter().map(f).sum();
        let (bodies, bodies_rest) = self.bodies.split_at_mut(count(|i| i.body_count));
        let (impulses, impulses_rest) = self.impulses.split_at_mut(count(|i| i.contact_count));
        let (joints, joints_rest) = self.joints.split_at_mut(count(|i| i.link_count));
        let (points, points_rest) = self.points.split_at_mut(count(|i| i.point_count));
        let (totals, totals_rest) = self.totals.split_at_mut(islands.len());
        (
            Output { bodies, impulses, totals, joints, points },
            Output {
                bodies: bodies_rest,
                impulses: impulses_rest,
                totals: totals_rest,
                joints: joints_rest,
                points: points_rest,
            },
        )
    }
}

impl Memory<'_> {
    /// The memory itself.
    pub fn get(&mut self) -> &mut IslandScratch {
        self.taken.get_or_insert_with(|| {
            self.pool.lock().ok().and_then(|mut pool| pool.pop()).unwrap_or_default()
        })
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        if let (Some(taken), Ok(mut pool)) = (self.taken.take(), self.pool.lock()) {
            pool.push(taken);
        }
    }
}
