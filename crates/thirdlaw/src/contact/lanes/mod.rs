//! Contact points side by side: the coloured sweep of the usual case.
//!
//! A row waits for the row before it, so a sweep over one block is bound by the latency of its sums,
//! not by their number. The blocks of a colour do not wait for each other: here [`LANES`] of them go
//! through the same operations at once, each in its lane, from records laid out in the order of the
//! sweep. Blocks qualify that lie between bodies or a body and the world and are nothing but contact
//! points: a normal row bounded by (0, ∞) and its two friction rows, under the cone. The sums are
//! those of [`super::sweep`] up to their order.
//!
//! No operation goes across lanes and none is fused, so the bits do not depend on the vector width of
//! the machine, nor on which blocks share a record.

mod follow;
mod pack;
mod sweep;

use crate::parallel::pool;
pub use follow::{Anchor, Pose, Softness};
use follow::{Foot, Footing};

use super::colors::Colors;
use super::problem::{Block, Bound, ContactProblem, ContactSide};
use super::wrench::{LEAF_BLOCKS, PARALLEL_ROWS};
use crate::math::Twist;
use crate::model::settings::FrictionModel;
use crate::simd::f64x4::{LANES, Vector, Wide, Wide3};

/// The world, or no block at all in this lane.
const NOBODY: u32 = u32::MAX;

/// What one contact point of each lane is, as of the last refresh. A lane without one has zeros.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    /// Normal and two tangents.
    direction: [Wide3; 3],
    arm_a: [Wide3; 3],
    arm_b: [Wide3; 3],
    /// N + Γ of the normal row and its inverse (0 where nothing can move).
    response: Wide,
    inverse: Wide,
    /// Inverse of the 2×2 response of the friction rows; NaN where it is nearly of rank one, 0 where
    /// nothing can move.
    friction_inverse: [Wide; 3],
    /// Larger eigenvalue of that response and its inverse.
    largest: Wide,
    largest_inverse: Wide,
    /// μ.
    coefficient: Wide,
}

/// What may change from solve to solve.
#[derive(Clone, Copy, Debug, Default)]
struct Input {
    bias: [Wide; 3],
    compliance: [Wide; 3],
}

type Impulse = [Wide; 3];

/// Inverse masses of one side.
#[derive(Clone, Copy, Debug, Default)]
struct Masses {
    inv_mass: Wide3,
    /// Columns.
    inv_inertia: [Wide3; 3],
}

/// Up to [`LANES`] blocks of one colour.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Bodies whose velocities to read.
    read: [[u32; LANES]; 2],
    /// Bodies whose velocities to write: `NOBODY` where the body cannot move.
    write: [[u32; LANES]; 2],
    /// First row and number of points of the block in each lane.
    row_start: [u32; LANES],
    count: [u32; LANES],
    /// Records.
    start: u32,
    end: u32,
    masses: [Masses; 2],
}

/// All qualifying blocks of a problem, by colour.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    groups: Vec<Group>,
    points: Vec<Point>,
    inputs: Vec<Input>,
    impulses: Vec<Impulse>,
    /// Where the groups of each colour start, and the end.
    starts: Vec<u32>,
    /// The other blocks, colour after colour; ascending within a colour.
    others: Vec<u32>,
    other_starts: Vec<u32>,
    sorted: Vec<(u32, u32)>,
    /// Where points are on their bodies, where they follow these.
    feet: Vec<Foot>,
    footing: Vec<Footing>,
    /// Whether a colour is large enough to be worked on by several threads.
    pub forks: bool,
    /// Whether inputs and impulses are held for a whole solve.
    pub held: bool,
}

/// Velocities of bodies, however they are shared.
pub(super) trait Nodes {
    fn read(&self, i: usize) -> Twist;
    fn write(&mut self, i: usize, twist: Twist);
}

/// One colour's groups, or some of them, with their impulses.
pub(super) struct Chunk<'a> {
    groups: &'a [Group],
    points: &'a [Point],
    inputs: &'a [Input],
    impulses: &'a mut [Impulse],
    /// Index of the first record.
    base: usize,
}

fn qualifies(problem: &ContactProblem, block: &Block) -> bool {
    let rows = &problem.rows[block.rows()];
    let solid = |side: &ContactSide| !matches!(side, ContactSide::Particles { .. });
    solid(&block.a)
        && solid(&block.b)
        && rows.len().is_multiple_of(3)
        && rows.chunks_exact(3).zip((block.row_start..).step_by(3)).all(|(rows, at)| {
            rows[0].bound == Bound::Interval { lower: 0.0, upper: f64::INFINITY }
                && matches!(rows[1].bound, Bound::Friction { normal, .. } if normal == at)
                && rows[1].bound == rows[2].bound
        })
}

impl Lanes {
    /// Finds out which blocks qualify and groups them: by number of points, so that few lanes idle.
    pub fn build(&mut self, problem: &ContactProblem, colors: &Colors) {
        self.groups.clear();
        self.others.clear();
        self.starts.clear();
        self.other_starts.clear();
        let mut records = 0;
        for color in 0..colors.count() {
            self.starts.push(self.groups.len() as u32);
            self.other_starts.push(self.others.len() as u32);
            let one_by_one = colors.overflow && color + 1 == colors.count();
            let usual = problem.friction == FrictionModel::Cone && !one_by_one;
            self.sorted.clear();
            for &i in colors.blocks(color) {
                let block = &problem.blocks[i as usize];
                if usual && qualifies(problem, block) {
                    self.sorted.push((block.row_count / 3, i));
                } else {
                    self.others.push(i);
                }
            }
            self.sorted.sort_unstable();
            for chunk in self.sorted.chunks(LANES) {
                let group = Group::new(problem, chunk, records);
                records = group.end;
                self.groups.push(group);
            }
        }
        self.starts.push(self.groups.len() as u32);
        self.other_starts.push(self.others.len() as u32);
        let longest = |starts: &[u32]| starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        self.forks = longest(&self.starts) as usize > LEAF_GROUPS
            || longest(&self.other_starts) as usize > LEAF_BLOCKS;
        self.points.clear();
        self.points.resize(records as usize, Point::default());
        self.inputs.clear();
        self.inputs.resize(records as usize, Input::default());
        self.impulses.clear();
        self.impulses.resize(records as usize, Impulse::default());
    }

    /// Takes over the numbers that follow from the places of things: directions, arms, masses.
    pub fn pack(&mut self, problem: &ContactProblem) {
        let leaf = leaf_groups(problem);
        pack::pack_groups(problem, &mut self.groups, &mut self.points, 0, leaf);
    }

    /// Takes over impulses, biases and compliances.
    pub fn load(&mut self, problem: &ContactProblem, impulses: &[f64]) {
        let leaf = leaf_groups(problem);
        let out = (&mut *self.inputs, &mut *self.impulses);
        load_groups(problem, impulses, &self.groups, out, 0, leaf);
    }

    /// Hands the impulses back.
    pub fn store(&self, impulses: &mut [f64]) {
        for group in &self.groups {
            let held = &self.impulses[group.start as usize..group.end as usize];
            for lane in 0..LANES {
                for (z, held) in impulses[group.rows(lane)].chunks_exact_mut(3).zip(held) {
                    z.copy_from_slice(&[held[0].0[lane], held[1].0[lane], held[2].0[lane]]);
                }
            }
        }
    }

    /// Whether some blocks do not qualify.
    pub fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    /// The groups of a colour and its other blocks.
    pub fn color(&mut self, i: usize) -> (Chunk<'_>, &[u32]) {
        let others = &self.others[self.other_starts[i] as usize..self.other_starts[i + 1] as usize];
        let groups = &self.groups[self.starts[i] as usize..self.starts[i + 1] as usize];
        let (base, end) = match (groups.first(), groups.last()) {
            (Some(first), Some(last)) => (first.start as usize, last.end as usize),
            _ => (0, 0),
        };
        let chunk = Chunk {
            groups,
            points: &self.points[base..end],
            inputs: &self.inputs[base..end],
            impulses: &mut self.impulses[base..end],
            base,
        };
        (chunk, others)
    }
}

/// Groups a thread takes at a time.
pub(super) const LEAF_GROUPS: usize = 64;

fn leaf_groups(problem: &ContactProblem) -> usize {
    let parallel = problem.rows.len() >= PARALLEL_ROWS && pool::current_num_threads() > 1;
    if parallel { LEAF_GROUPS } else { usize::MAX }
}

/// `out` starts at record `base`.
fn load_groups(
    problem: &ContactProblem,
    impulses: &[f64],
    groups: &[Group],
    out: (&mut [Input], &mut [Impulse]),
    base: usize,
    leaf: usize,
) {
    let (inputs, held) = out;
    if groups.len() > leaf {
        let (left, right) = groups.split_at(groups.len() / 2);
        let middle = right[0].start as usize;
        let (inputs_left, inputs_right) = inputs.split_at_mut(middle - base);
        let (held_left, held_right) = held.split_at_mut(middle - base);
        let (left_out, right_out) = ((inputs_left, held_left), (inputs_right, held_right));
        pool::join(
            || load_groups(problem, impulses, left, left_out, base, leaf),
            || load_groups(problem, impulses, right, right_out, middle, leaf),
        );
        return;
    }
    for group in groups {
        let range = group.start as usize - base..group.end as usize - base;
        let (inputs, held) = (&mut inputs[range.clone()], &mut held[range]);
        for lane in 0..LANES {
            let rows = group.rows(lane);
            let z = impulses[rows.clone()].chunks_exact(3);
            let rows = problem.rows[rows].chunks_exact(3);
            for (((rows, z), input), held) in rows.zip(z).zip(&mut *inputs).zip(&mut *held) {
                for k in 0..3 {
                    input.bias[k].0[lane] = rows[k].bias;
                    input.compliance[k].0[lane] = rows[k].compliance;
                    held[k].0[lane] = z[k];
                }
            }
        }
    }
}

impl Group {
    fn new(problem: &ContactProblem, blocks: &[(u32, u32)], start: u32) -> Group {
        let mut group = Group {
            read: [[NOBODY; LANES]; 2],
            write: [[NOBODY; LANES]; 2],
            row_start: [0; LANES],
            count: [0; LANES],
            start,
            end: start,
            masses: Default::default(),
        };
        for (lane, &(count, i)) in blocks.iter().enumerate() {
            let block = &problem.blocks[i as usize];
            group.row_start[lane] = block.row_start;
            group.count[lane] = count;
            group.end = group.end.max(start + count);
            for (k, side) in [block.a, block.b].into_iter().enumerate() {
                if let ContactSide::Body(body) = side {
                    group.read[k][lane] = body;
                    if !problem.bodies[body as usize].is_fixed() {
                        group.write[k][lane] = body;
                    }
                }
            }
        }
        group
    }

    #[inline]
    fn rows(&self, lane: usize) -> std::ops::Range<usize> {
        let start = self.row_start[lane] as usize;
        start..start + 3 * self.count[lane] as usize
    }
}

#[inline(always)]
fn dot<V: Vector>(record: &Wide3, v: &[V; 3]) -> V {
    V::load(&record.0[0]) * v[0] + V::load(&record.0[1]) * v[1] + V::load(&record.0[2]) * v[2]
}

#[inline(always)]
fn scaled<V: Vector>(record: &Wide3, k: V) -> [V; 3] {
    [V::load(&record.0[0]) * k, V::load(&record.0[1]) * k, V::load(&record.0[2]) * k]
}

impl Masses {
    #[inline(always)]
    fn spin<V: Vector>(&self, turn: &[V; 3]) -> [V; 3] {
        let [x, y, z] = &self.inv_inertia;
        let ([a, b, c], [d, e, f]) = (scaled(x, turn[0]), scaled(y, turn[1]));
        let [g, h, i] = scaled(z, turn[2]);
        [a + d + g, b + e + h, c + f + i]
    }
}
