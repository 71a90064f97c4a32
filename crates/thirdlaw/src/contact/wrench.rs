//! The two halves of every solver of the Jacobi family: all blocks take their steps against the same
//! velocities, then every node takes what its blocks did to it.
//!
//! A block leaves one [`Push`]: the sum of its impulses. A node adds up the pushes on it in the order
//! of the blocks' keys, so that the result does not depend on the order of the blocks, to the last
//! bit, nor on the number of threads. Both sides of a block read the same push: what b gains in
//! momentum a loses.
//!
//! This is also the average of [tonge2012, Eq. 38]: sub-body α of n has velocity v + n M⁻¹ p_α after
//! its block, and the mean of these is v + M⁻¹ Σ p_α.

use super::problem::{Block, ContactProblem, ContactSide, Velocities};
use super::row::{Counts, Pair};
use super::sweep::{BlockRows, Effective, Part, sweep};
use crate::math::{Vec3, worse};
use crate::parallel::pool;
use crate::parallel::pool::prelude::*;

/// Problems with fewer rows are not worth waking threads for.
pub(super) const PARALLEL_ROWS: usize = 4096;
/// Blocks a thread takes at a time.
pub(super) const LEAF_BLOCKS: usize = 128;
/// Nodes a thread takes at a time.
const LEAF_NODES: usize = 512;

/// What the rows of one block did in one iteration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Push {
    /// Σ direction·Δz, N·s.
    pub push: Vec3,
    /// Σ arm_a·Δz, N·m·s.
    pub turn_a: Vec3,
    /// Σ arm_b·Δz, N·m·s.
    pub turn_b: Vec3,
}

/// The blocks on each node, in the order of their keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjacency {
    /// Blocks by key.
    pub order: Vec<u32>,
    body_starts: Vec<u32>,
    particle_starts: Vec<u32>,
    touches: Vec<Touch>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    block: u32,
    /// Whether the node is on side b.
    on_b: bool,
    /// Share of the push: ±1 for a body, ± its weight for a particle.
    share: f64,
}

/// What all blocks of a pass have in common.
pub(super) struct Pass<'a> {
    pub problem: &'a ContactProblem,
    pub part: Part,
    pub velocities: &'a Velocities,
    pub effective: &'a [Effective],
    /// Masses inside the blocks, where they follow their own impulses.
    pub split: Option<&'a Counts>,
    /// ω.
    pub relax: f64,
}

impl Pass<'_> {
    /// Steps all blocks: impulses change, velocities do not. Returns the worst residual met.
    pub fn run(&self, impulses: &mut [f64], pushes: &mut [Push]) -> f64 {
        let parallel = self.problem.rows.len() >= PARALLEL_ROWS && pool::current_num_threads() > 1;
        let leaf = if parallel { LEAF_BLOCKS } else { usize::MAX };
        self.run_range(0, impulses, pushes, leaf)
    }

    fn run_range(
        &self,
        first: usize,
        impulses: &mut [f64],
        pushes: &mut [Push],
        leaf: usize,
    ) -> f64 {
        if pushes.len() > leaf {
            // the rows of blocks follow each other: cutting both lists at a block keeps them apart
            let half = pushes.len() / 2;
            let blocks = &self.problem.blocks;
            let cut = (blocks[first + half].row_start - blocks[first].row_start) as usize;
            let (za, zb) = impulses.split_at_mut(cut);
            let (pa, pb) = pushes.split_at_mut(half);
            let (ra, rb) = pool::join(
                || self.run_range(first, za, pa, leaf),
                || self.run_range(first + half, zb, pb, leaf),
            );
            return worse(ra, rb);
        }
        let mut residual = 0.0;
        let mut at = 0;
        for (i, push) in pushes.iter_mut().enumerate() {
            let block = &self.problem.blocks[first + i];
            let count = block.row_count as usize;
            let z = &mut impulses[at..at + count];
            at += count;
            residual = worse(residual, self.run_block(first + i, z, push));
        }
        residual
    }

    fn run_block(&self, i: usize, impulses: &mut [f64], push: &mut Push) -> f64 {
        let block = &self.problem.blocks[i];
        let rows =
            BlockRows { relax: self.relax, ..BlockRows::of(self.problem, i, self.effective) };
        let mut pair;
        let residual = if let Some(split) = self.split {
            pair = Pair::gather_split(self.problem, block, self.velocities, split);
            sweep::<true, true>(&rows, self.part, impulses, &mut pair)
        } else {
            pair = Pair::gather(self.problem, block, self.velocities);
            sweep::<false, true>(&rows, self.part, impulses, &mut pair)
        };
        *push = Push { push: pair.push, turn_a: pair.turn_a, turn_b: pair.turn_b };
        residual
    }
}

/// v += scale·M⁻¹ Σ pushes, each node on its own; with `share` also divided by the node's count.
pub(super) fn apply_pushes(
    problem: &ContactProblem,
    adjacency: &Adjacency,
    pushes: &[Push],
    scale: f64,
    share: Option<&Counts>,
    velocities: &mut Velocities,
) {
    let body = |i: usize, v: &mut crate::math::Twist| {
        let (push, turn) = adjacency.on_body(i, pushes);
        let k = share.map_or(scale, |n| scale / n.bodies[i].max(1.0));
        let mass = &problem.bodies[i];
        v.linear += mass.inv_mass * push * k;
        v.angular += mass.inv_inertia * turn * k;
    };
    let particle = |i: usize, v: &mut Vec3| {
        let k = share.map_or(scale, |n| scale / n.particles[i].max(1.0));
        *v += adjacency.on_particle(i, pushes) * (problem.particles[i] * k);
    };
    let Velocities { bodies, particles } = velocities;
    if problem.rows.len() >= PARALLEL_ROWS && pool::current_num_threads() > 1 {
        bodies.par_iter_mut().with_min_len(LEAF_NODES).enumerate().for_each(|(i, v)| body(i, v));
        particles
            .par_iter_mut()
            .with_min_len(LEAF_NODES)
            .enumerate()
            .for_each(|(i, v)| particle(i, v));
    } else {
        bodies.iter_mut().enumerate().for_each(|(i, v)| body(i, v));
        particles.iter_mut().enumerate().for_each(|(i, v)| particle(i, v));
    }
}

impl Adjacency {
    /// Collects the blocks on each node.
    pub fn build(&mut self, problem: &ContactProblem) {
        let blocks = &problem.blocks;
        self.order.clear();
        self.order.extend(0..blocks.len() as u32);
        self.order.sort_unstable_by_key(|&i| (blocks[i as usize].key, i));
        let bodies = problem.bodies.len();
        self.body_starts.clear();
        self.body_starts.resize(bodies + 1, 0);
        self.particle_starts.clear();
        self.particle_starts.resize(problem.particles.len() + 1, 0);
        for block in blocks {
            for_nodes(block, |node, _, _| match node {
                Node::Body(i) => self.body_starts[i] += 1,
                Node::Particle(i) => self.particle_starts[i] += 1,
            });
        }
        // counts become ends; filling from the last block down turns ends into starts
        let mut end = 0;
        for start in self.body_starts.iter_mut().chain(&mut self.particle_starts) {
            end += *start;
            *start = end;
        }
        self.touches.clear();
        self.touches.resize(end as usize, Touch::default());
        for &b in self.order.iter().rev() {
            for_nodes(&blocks[b as usize], |node, on_b, share| {
                let start = match node {
                    Node::Body(i) => &mut self.body_starts[i],
                    Node::Particle(i) => &mut self.particle_starts[i],
                };
                *start -= 1;
                self.touches[*start as usize] = Touch { block: b, on_b, share };
            });
        }
    }

    /// Sum of linear and angular impulses on a body.
    #[inline]
    pub fn on_body(&self, i: usize, pushes: &[Push]) -> (Vec3, Vec3) {
        let (mut push, mut turn) = (Vec3::ZERO, Vec3::ZERO);
        for touch in self.touches(&self.body_starts, i) {
            let p = &pushes[touch.block as usize];
            push += p.push * touch.share;
            turn += if touch.on_b { p.turn_b } else { -p.turn_a };
        }
        (push, turn)
    }

    /// Sum of impulses on a particle.
    #[inline]
    pub fn on_particle(&self, i: usize, pushes: &[Push]) -> Vec3 {
        let mut push = Vec3::ZERO;
        for touch in self.touches(&self.particle_starts, i) {
            push += pushes[touch.block as usize].push * touch.share;
        }
        push
    }

    #[inline]
    fn touches(&self, starts: &[u32], i: usize) -> &[Touch] {
        &self.touches[starts[i] as usize..starts[i + 1] as usize]
    }
}

enum Node {
    Body(usize),
    Particle(usize),
}

/// Calls `f(node, on side b, share of the push)` for each node of a block.
fn for_nodes(block: &Block, mut f: impl FnMut(Node, bool, f64)) {
    for (side, on_b) in [(block.a, false), (block.b, true)] {
        let sign = if on_b { 1.0 } else { -1.0 };
        match side {
            ContactSide::World => {}
            ContactSide::Body(i) => f(Node::Body(i as usize), on_b, sign),
            ContactSide::Particles { index, weight } => {
                for (i, weight) in index.into_iter().zip(weight) {
                    if weight != 0.0 {
                        f(Node::Particle(i as usize), on_b, sign * weight);
                    }
                }
            }
        }
    }
}
