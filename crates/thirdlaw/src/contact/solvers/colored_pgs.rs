//! Projected Gauss–Seidel in the order of a colouring [tonge2012 §3.4.1]: the blocks of a colour share
//! no movable node and are worked on at once.
//!
//! The result is that of a serial sweep in the order of the colours, to the last bit, for any number
//! of threads. Threads share the velocities as cells of bits, read and written relaxed, which cost
//! plain moves: no two blocks of a colour have a cell that one of them writes, and the end of a colour
//! is a join. The colours are those of the problem's block order; adding a block may change them.

use crate::contact::lanes::{Chunk, LEAF_GROUPS, Lanes, Nodes};
use crate::contact::problem::{Block, ContactProblem, ContactSide, Velocities};
use crate::contact::row::{Pair, Port};
use crate::contact::scratch::Scratch;
use crate::contact::sweep::{BlockRows, Effective, Part, sweep};
use crate::contact::wrench::{LEAF_BLOCKS, PARALLEL_ROWS};
use crate::math::{Twist, Vec3, worse};
use crate::parallel::pool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// One iteration.
pub fn iterate(
    problem: &ContactProblem,
    part: Part,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) {
    let held = scratch.lanes.value.held;
    if !held {
        scratch.update_lanes(problem);
        scratch.lanes.value.load(problem, impulses);
    }
    // out of the scratch while blocks borrow the rest of it
    let mut lanes = std::mem::take(&mut scratch.lanes.value);
    let large = lanes.forks && problem.rows.len() >= PARALLEL_ROWS;
    scratch.met = if large && pool::current_num_threads() > 1 {
        iterate_parallel(problem, part, velocities, impulses, scratch, &mut lanes)
    } else {
        iterate_serial(problem, part, velocities, impulses, scratch, &mut lanes)
    };
    scratch.lanes.value = lanes;
    if !held {
        scratch.lanes.value.store(impulses);
    }
}

/// Takes impulses and biases over for the iterations of one solve, up to [`release`].
pub(crate) fn hold(problem: &ContactProblem, impulses: &[f64], scratch: &mut Scratch) {
    scratch.update_lanes(problem);
    scratch.lanes.value.load(problem, impulses);
    scratch.lanes.value.held = true;
}

/// Writes held impulses back, and goes on holding them.
pub(crate) fn settle(impulses: &mut [f64], scratch: &Scratch) {
    if scratch.lanes.value.held {
        scratch.lanes.value.store(impulses);
    }
}

/// Writes held impulses back.
pub(crate) fn release(impulses: &mut [f64], scratch: &mut Scratch) {
    settle(impulses, scratch);
    scratch.lanes.value.held = false;
}

fn iterate_serial(
    problem: &ContactProblem,
    part: Part,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &Scratch,
    lanes: &mut Lanes,
) -> f64 {
    let mut residual = 0.0;
    for color in 0..scratch.colors.value.count() {
        let (mut chunk, others) = lanes.color(color);
        residual = worse(residual, chunk.sweep(part, &mut Plain(&mut velocities.bodies)));
        for &i in others {
            let i = i as usize;
            let met = super::pgs::sweep_block(problem, part, i, velocities, impulses, scratch);
            residual = worse(residual, met);
        }
    }
    residual
}

fn iterate_parallel(
    problem: &ContactProblem,
    part: Part,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
    lanes: &mut Lanes,
) -> f64 {
    load(velocities, &mut scratch.cells);
    let effective = &scratch.whole.value;
    let shared = Shared { problem, part, effective, cells: &scratch.cells };
    let colors = &scratch.colors.value;
    let mut residual = 0.0;
    for color in 0..colors.count() {
        let (chunk, others) = lanes.color(color);
        residual = worse(residual, shared.run_lanes(chunk));
        let serial = colors.overflow && color + 1 == colors.count();
        let leaf = if serial { usize::MAX } else { LEAF_BLOCKS };
        residual = worse(residual, shared.run(others, 0, impulses, leaf));
    }
    store(&scratch.cells, velocities);
    residual
}

/// Velocities of bodies as they are.
pub(crate) struct Plain<'a>(pub &'a mut [Twist]);

impl Nodes for Plain<'_> {
    #[inline(always)]
    fn read(&self, i: usize) -> Twist {
        self.0[i]
    }

    #[inline(always)]
    fn write(&mut self, i: usize, twist: Twist) {
        self.0[i] = twist;
    }
}

impl Nodes for &Shared<'_> {
    #[inline(always)]
    fn read(&self, i: usize) -> Twist {
        Twist { linear: self.read_cells(6 * i), angular: self.read_cells(6 * i + 3) }
    }

    #[inline(always)]
    fn write(&mut self, i: usize, twist: Twist) {
        self.write_cells(6 * i, twist.linear);
        self.write_cells(6 * i + 3, twist.angular);
    }
}

/// What the threads of one iteration share.
struct Shared<'a> {
    problem: &'a ContactProblem,
    part: Part,
    effective: &'a [Effective],
    /// Six per body (linear, angular), then three per particle.
    cells: &'a [AtomicU64],
}

impl Shared<'_> {
    fn run_lanes(&self, mut chunk: Chunk) -> f64 {
        if chunk.len() <= LEAF_GROUPS {
            return chunk.sweep(self.part, &mut &*self);
        }
        let (left, right) = chunk.halves();
        let (a, b) = pool::join(|| self.run_lanes(left), || self.run_lanes(right));
        worse(a, b)
    }

    /// Works on `blocks`, which are ascending; `impulses` starts at row `base`.
    fn run(&self, blocks: &[u32], base: usize, impulses: &mut [f64], leaf: usize) -> f64 {
        if blocks.len() > leaf {
            let (left, right) = blocks.split_at(blocks.len() / 2);
            let cut = self.problem.blocks[right[0] as usize].row_start as usize;
            let (za, zb) = impulses.split_at_mut(cut - base);
            let (a, b) =
                pool::join(|| self.run(left, base, za, leaf), || self.run(right, cut, zb, leaf));
            return worse(a, b);
        }
        let mut residual = 0.0;
        for &i in blocks {
            let block = &self.problem.blocks[i as usize];
            let start = block.row_start as usize - base;
            let z = &mut impulses[start..start + block.row_count as usize];
            let mut pair = Pair::new(self.gather(&block.a), self.gather(&block.b));
            let rows = BlockRows::of(self.problem, i as usize, self.effective);
            residual = worse(residual, sweep::<true, false>(&rows, self.part, z, &mut pair));
            self.scatter(block, &pair);
        }
        residual
    }

    #[inline]
    fn gather(&self, side: &ContactSide) -> Port {
        match *side {
            ContactSide::World => Port::WORLD,
            ContactSide::Body(i) => {
                let at = 6 * i as usize;
                let twist = Twist { linear: self.read_cells(at), angular: self.read_cells(at + 3) };
                Port::of_body(&self.problem.bodies[i as usize], twist)
            }
            ContactSide::Particles { index, weight } => Port::of_particles(index, weight, |i| {
                (self.read_cells(self.particle_cell(i)), self.problem.particles[i])
            }),
        }
    }

    /// Stores the velocities of movable nodes only: the others may be shared within a colour.
    #[inline]
    fn scatter(&self, block: &Block, pair: &Pair) {
        for (side, port, sign) in [(&block.a, &pair.a, -1.0), (&block.b, &pair.b, 1.0)] {
            match *side {
                ContactSide::World => {}
                ContactSide::Body(i) => {
                    if !self.problem.bodies[i as usize].is_fixed() {
                        self.write_cells(6 * i as usize, port.linear);
                        self.write_cells(6 * i as usize + 3, port.angular);
                    }
                }
                ContactSide::Particles { index, weight } => {
                    for (i, weight) in index.into_iter().zip(weight) {
                        let m = self.problem.particles[i as usize];
                        if weight != 0.0 && m != 0.0 {
                            let at = self.particle_cell(i as usize);
                            self.write_cells(
                                at,
                                self.read_cells(at) + pair.push * (sign * weight * m),
                            );
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn particle_cell(&self, i: usize) -> usize {
        6 * self.problem.bodies.len() + 3 * i
    }

    #[inline(always)]
    fn read_cells(&self, at: usize) -> Vec3 {
        let cells = &self.cells[at..at + 3];
        Vec3::new(
            f64::from_bits(cells[0].load(Relaxed)),
            f64::from_bits(cells[1].load(Relaxed)),
            f64::from_bits(cells[2].load(Relaxed)),
        )
    }

    #[inline(always)]
    fn write_cells(&self, at: usize, v: Vec3) {
        let cells = &self.cells[at..at + 3];
        cells[0].store(v.x.to_bits(), Relaxed);
        cells[1].store(v.y.to_bits(), Relaxed);
        cells[2].store(v.z.to_bits(), Relaxed);
    }
}

fn load(velocities: &Velocities, cells: &mut Vec<AtomicU64>) {
    let vectors = velocities
        .bodies
        .iter()
        .flat_map(|v| [v.linear, v.angular])
        .chain(velocities.particles.iter().copied());
    cells.resize_with(
        6 * velocities.bodies.len() + 3 * velocities.particles.len(),
        AtomicU64::default,
    );
    for (cells, v) in cells.chunks_exact_mut(3).zip(vectors) {
        *cells[0].get_mut() = v.x.to_bits();
        *cells[1].get_mut() = v.y.to_bits();
        *cells[2].get_mut() = v.z.to_bits();
    }
}

fn store(cells: &[AtomicU64], velocities: &mut Velocities) {
    let vectors = velocities
        .bodies
        .iter_mut()
        .flat_map(|v| [&mut v.linear, &mut v.angular])
        .chain(velocities.particles.iter_mut());
    for (cells, v) in cells.chunks_exact(3).zip(vectors) {
        let [x, y, z] = [0, 1, 2].map(|k| f64::from_bits(cells[k].load(Relaxed)));
        *v = Vec3::new(x, y, z);
    }
}
