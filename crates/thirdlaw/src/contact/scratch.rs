//! What solvers keep between iterations: effective masses, colours, counts, who touches whom.
//!
//! Nothing here is state: all of it follows from the problem. What only some solvers need is made
//! when one of them first asks.

use super::colors::Colors;
use super::direct::DirectScratch;
use super::lanes::Lanes;
use super::problem::{Block, Bound, ContactProblem, ContactSide, Velocities};
use super::row::{Counts, Pair};
use super::sweep::{Effective, Part, measure};
use super::wrench::{Adjacency, Push};
use crate::model::settings::FrictionModel;
use std::sync::atomic::AtomicU64;

/// Working memory of the contact solvers; reused from solve to solve without allocating.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Natural-map residual met during the last iteration, m/s.
    pub(super) met: f64,
    /// Whole masses.
    pub(super) whole: Lazy<Vec<Effective>>,
    /// Masses split among all rows of the same part on the node.
    pub(super) row_split: Lazy<Vec<Effective>>,
    /// Masses split among the blocks with rows of the same part on the node.
    pub(super) part_split: Lazy<Vec<Effective>>,
    /// Masses split among all blocks on the node.
    pub(super) block_split: Lazy<Vec<Effective>>,
    /// Rows on each node: normals, friction.
    pub(super) row_counts: Lazy<[Counts; 2]>,
    /// Blocks on each node: with normals, with friction, all.
    pub(super) block_counts: Lazy<[Counts; 3]>,
    pub(super) adjacency: Lazy<Adjacency>,
    pub(super) colors: Lazy<Colors>,
    /// Which blocks go side by side; follows the colours.
    pub(super) lanes: Lazy<Lanes>,
    /// Whether the numbers in `lanes` are of this refresh.
    pub(super) packed: bool,
    /// Blocks in the order of `shuffled_pgs`, with what they are ordered by.
    pub(super) shuffled: Lazy<Vec<(u64, u64, u32)>>,
    /// ρ(D⁻¹N) of the normals and of the friction rows.
    pub(super) radius: Lazy<[f64; 2]>,
    pub(super) pushes: Vec<Push>,
    /// What acts on each node in single precision: push and turn.
    pub(super) sums: Vec<[glamx::Vec3; 2]>,
    pub(super) trial: Vec<f64>,
    pub(super) probe: Velocities,
    pub(super) cells: Vec<AtomicU64>,
    pub(super) direct: DirectScratch,
}

/// A value that may be out of date; its memory is kept.
#[derive(Debug, Default)]
pub(super) struct Lazy<T> {
    pub value: T,
    pub fresh: bool,
}

impl<T> Lazy<T> {
    /// Brings the value up to date if it is not.
    #[inline]
    pub fn get(&mut self, make: impl FnOnce(&mut T)) -> &T {
        if !self.fresh {
            make(&mut self.value);
            self.fresh = true;
        }
        &self.value
    }
}

/// To be called before solving a problem whose blocks, sides, bounds or seed are new.
pub fn prepare(problem: &ContactProblem, scratch: &mut Scratch) {
    scratch.row_counts.fresh = false;
    scratch.block_counts.fresh = false;
    scratch.adjacency.fresh = false;
    scratch.colors.fresh = false;
    scratch.lanes.fresh = false;
    scratch.shuffled.fresh = false;
    refresh(problem, scratch);
}

/// To be called instead of [`prepare`] when only numbers changed since: directions, arms, biases,
/// compliances, weights, masses. Which rows act on which nodes, the kinds of bounds and which masses
/// and weights are zero must be as before.
pub fn refresh(problem: &ContactProblem, scratch: &mut Scratch) {
    scratch.row_split.fresh = false;
    scratch.part_split.fresh = false;
    scratch.block_split.fresh = false;
    scratch.radius.fresh = false;
    // weights of particles live in the adjacency
    if !problem.particles.is_empty() {
        scratch.adjacency.fresh = false;
    }
    scratch.whole.fresh = false;
    scratch.packed = false;
}

impl Scratch {
    /// Effective masses of whole bodies, up to date.
    pub(super) fn update_whole(&mut self, problem: &ContactProblem) {
        self.whole.get(|out| {
            out.clear();
            out.resize(problem.rows.len(), Effective::default());
            for block in &problem.blocks {
                measure_whole(problem, block, &mut out[block.rows()]);
            }
        });
    }

    /// Colours and what goes side by side, up to date.
    pub(super) fn update_lanes(&mut self, problem: &ContactProblem) {
        self.colors.get(|colors| colors.build(problem));
        let colors = &self.colors.value;
        self.lanes.get(|lanes| lanes.build(problem, colors));
        if !self.packed {
            self.lanes.value.pack(problem);
            self.packed = true;
        }
        if self.lanes.value.has_others() {
            self.update_whole(problem);
        }
    }

    /// Counts of rows on each node, up to date [tonge2012, n_j of Eq. 15].
    ///
    /// The two friction rows of a cone are one step and count once.
    pub(super) fn update_row_counts(&mut self, problem: &ContactProblem) {
        self.row_counts.get(|[normal, friction]| {
            clear(problem, normal);
            clear(problem, friction);
            let pair = if problem.friction == FrictionModel::Cone { 0.5 } else { 1.0 };
            for block in &problem.blocks {
                let (n, f) = row_kinds(problem, block.rows());
                add(block, normal, n as f64);
                add(block, friction, f as f64 * pair);
            }
        });
    }

    /// Counts of blocks on each node, up to date [tonge2012, n_bβ].
    pub(super) fn update_block_counts(&mut self, problem: &ContactProblem) {
        self.block_counts.get(|[normal, friction, both]| {
            for counts in [&mut *normal, &mut *friction, &mut *both] {
                clear(problem, counts);
            }
            for block in &problem.blocks {
                let (n, f) = row_kinds(problem, block.rows());
                add(block, normal, f64::from(u8::from(n > 0)));
                add(block, friction, f64::from(u8::from(f > 0)));
                add(block, both, 1.0);
            }
        });
    }

    /// Effective masses of Eq. 15, up to date.
    pub(super) fn update_row_split(&mut self, problem: &ContactProblem) {
        self.update_row_counts(problem);
        let counts = &self.row_counts.value;
        let still = still(problem, &mut self.probe);
        self.row_split.get(|out| split_effective(problem, still, [&counts[0], &counts[1]], out));
    }

    /// Effective masses of Eq. 16 for a part alone or for both at once, up to date.
    pub(super) fn update_block_split(&mut self, problem: &ContactProblem, part: Part) {
        self.update_block_counts(problem);
        let counts = &self.block_counts.value;
        let still = still(problem, &mut self.probe);
        if matches!(part, Part::Both | Part::Loaded) {
            let both = [&counts[2], &counts[2]];
            self.block_split.get(|out| split_effective(problem, still, both, out));
        } else {
            let parts = [&counts[0], &counts[1]];
            self.part_split.get(|out| split_effective(problem, still, parts, out));
        }
    }

    /// Who touches whom, up to date.
    pub(super) fn update_adjacency(&mut self, problem: &ContactProblem) {
        self.adjacency.get(|adjacency| adjacency.build(problem));
        self.pushes.resize(problem.blocks.len(), Push::default());
    }
}

/// Effective masses of a block between whole bodies.
pub(super) fn measure_whole(problem: &ContactProblem, block: &Block, out: &mut [Effective]) {
    let pair = Pair::gather_masses(problem, block);
    measure(&problem.rows[block.rows()], &pair, out);
}

/// Velocities of a world at rest.
fn still<'a>(problem: &ContactProblem, probe: &'a mut Velocities) -> &'a Velocities {
    probe.bodies.clear();
    probe.particles.clear();
    probe.bodies.resize(problem.bodies.len(), Default::default());
    probe.particles.resize(problem.particles.len(), Default::default());
    probe
}

/// Numbers of interval and friction rows.
fn row_kinds(problem: &ContactProblem, range: std::ops::Range<usize>) -> (usize, usize) {
    let rows = &problem.rows[range];
    let friction = rows.iter().filter(|r| matches!(r.bound, Bound::Friction { .. })).count();
    (rows.len() - friction, friction)
}

fn clear(problem: &ContactProblem, counts: &mut Counts) {
    counts.bodies.clear();
    counts.bodies.resize(problem.bodies.len(), 0.0);
    counts.particles.clear();
    counts.particles.resize(problem.particles.len(), 0.0);
}

fn add(block: &Block, counts: &mut Counts, n: f64) {
    for side in [block.a, block.b] {
        match side {
            ContactSide::World => {}
            ContactSide::Body(i) => counts.bodies[i as usize] += n,
            ContactSide::Particles { index, weight } => {
                for (i, weight) in index.into_iter().zip(weight) {
                    if weight != 0.0 {
                        counts.particles[i as usize] += n;
                    }
                }
            }
        }
    }
}

/// Effective masses with the counts of normals for normals and those of friction for friction.
fn split_effective(
    problem: &ContactProblem,
    still: &Velocities,
    counts: [&Counts; 2],
    out: &mut Vec<Effective>,
) {
    out.clear();
    out.resize(problem.rows.len(), Effective::default());
    for block in &problem.blocks {
        let normal = Pair::gather_split(problem, block, still, counts[0]);
        let friction = Pair::gather_split(problem, block, still, counts[1]);
        let range = block.rows();
        let mut i = range.start;
        while i < range.end {
            let (pair, n) = match problem.rows[i].bound {
                Bound::Interval { .. } => (&normal, 1),
                Bound::Friction { .. } => (&friction, 2.min(range.end - i)),
            };
            measure(&problem.rows[i..i + n], pair, &mut out[i..i + n]);
            i += n;
        }
    }
}
