//! Contact, friction, joints and bonds together with what deforms: the velocities v and impulses z of
//!
//!   A v = b + Jᵀz,   w = J v + b_c + Γz,   0 ≤ w_n ⊥ z_n ≥ 0,   ‖z_t‖ ≤ μ z_n against the sliding,   w = 0 of joints.
//!
//! A is the implicit matrix of the substep (`elastic.rs`), so that a particle which a contact stops takes its
//! neighbours along as its elements would. (Impulses that change the velocity of the particle alone, by its own
//! mass, let the element between the two do work h²KM⁻¹z that nobody paid for.)
//!
//! The method of multipliers as in `contact/proximal`: each round minimizes
//!
//!   ½ vᵀAv − bᵀv + Σ φ(J v),   φ′ = −z,   z = proj_K((r ẑ − w)/(r + Γ)),   r = ε J diag(A)⁻¹Jᵀ
//!
//! by Newton's method with a line search; its matrix A + JᵀDJ is factored (`direct.rs`) or, where that is too much
//! work, solved by conjugate gradients (`blocks.rs` is the preconditioner). Then ẑ ← z. The radii of friction follow
//! ẑ_n, so that friction is Coulomb's.

use super::blocks::{Blocks, invert};
use super::course::{Course, PATIENCE, Progress, STALLS};
use super::direct::Direct;
use super::rows::{Law, Rows, Tie, dot};
use super::solve::System;
use crate::linalg::block::Lane;
use crate::math::Twist;
use crate::math::mass::BodyMass;

/// Rounds of multipliers, steps of Newton's method in each, and iterations of conjugate gradients in each of these.
const ROUNDS: u32 = 40;
const NEWTON: u32 = 30;
const ITERATIONS: u32 = 1000;
/// Residual of Newton's method relative to the right side, in the first rounds, whose multipliers are not known
/// better, and in those that may be the last.
const ROUGH: [f64; 2] = [1e-6, 1e-8];
const NEWTON_TOLERANCE: f64 = 1e-10;
/// Residual of its linear systems relative to their own.
const LINEAR_TOLERANCE: f64 = 1e-3;
/// Change of contact velocities in a round at which it ends, m/s.
pub const TOLERANCE: f64 = 1e-9;

/// What the solution came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Rounds of multipliers.
    pub rounds: u32,
    /// Iterations of conjugate gradients.
    pub iterations: u32,
    /// What the last round changed, m/s.
    pub residual: f64,
}

/// Memory of the solution.
#[derive(Debug, Default)]
pub struct Coupled {
    image: Vec<Twist>,
    gradient: Vec<Twist>,
    way: Vec<Twist>,
    way_image: Vec<Twist>,
    residual: Vec<Twist>,
    direction: Vec<Twist>,
    rows: Vec<RowMemory>,
    /// Derivatives of impulses by speeds: normal, then ss, st, tt.
    slopes: Vec<[f64; 4]>,
    blocks: Blocks,
    smoothed: Vec<Twist>,
    lanes: [Vec<Lane<f64>>; 2],
    direct: Direct,
    /// Whether the matrix is factored.
    factored: bool,
    /// The impulses that left least.
    best: Vec<f64>,
    best_velocities: Vec<Twist>,
    /// Whether impulses are those of a solution of nearly the same system.
    pub near: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct RowMemory {
    /// J diag(A)⁻¹Jᵀ.
    response: f64,
    r: f64,
    /// z now, and J d.
    z: f64,
    gain: f64,
}

impl Coupled {
    /// At the beginning of a step.
    pub fn forget(&mut self) {
        self.direct.forget();
    }

    /// Finds velocities and impulses, from those that are there, until contact velocities keep within
    /// `tolerance`, m/s.
    pub fn solve(
        &mut self,
        (system, mass): (&System, &[BodyMass]),
        b: &[Twist],
        v: &mut [Twist],
        rows: &mut Rows,
        tolerance: f64,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        self.begin((system, mass), v, rows);
        let early = !rows.ties.is_empty() && !self.factored;
        let rough: &[f64] = if early { &ROUGH } else { &[] };
        let mut effort = 0;
        let mut course = Course::new(self.factored, self.near);
        while outcome.rounds < ROUNDS {
            let accuracy = rough.get(effort).copied().unwrap_or(NEWTON_TOLERANCE);
            effort += 1;
            for memory in &mut self.rows {
                memory.r = course.soft * memory.response;
            }
            // friction goes by impulses, which are off by 1/ε of what velocities are
            let enough = 0.1 * course.soft * tolerance;
            outcome.rounds += 1;
            outcome.iterations += self.minimize((system, mass), b, v, rows, (accuracy, enough));
            outcome.residual = self.take_over(rows);
            if outcome.residual <= tolerance {
                if effort > rough.len() {
                    break;
                }
                effort = rough.len();
            }
            if outcome.residual < course.best {
                self.best.clear();
                self.best.extend(rows.list.iter().map(|row| row.impulse));
                self.best_velocities.clear();
                self.best_velocities.extend_from_slice(v);
            }
            if course.stalled > PATIENCE {
                break;
            }
            if course.go_on(outcome.residual) {
                rows.list.iter_mut().zip(&self.best).for_each(|(row, z)| row.impulse = *z);
            }
        }
        if self.factored && outcome.residual > course.best {
            outcome.residual = course.best;
            rows.list.iter_mut().zip(&self.best).for_each(|(row, z)| row.impulse = *z);
            v.copy_from_slice(&self.best_velocities);
        }
        self.near = true;
        outcome
    }

    fn begin(&mut self, (system, mass): (&System, &[BodyMass]), v: &[Twist], rows: &mut Rows) {
        self.factored = self.direct.begin(system, mass, rows);
        let Coupled { image, lanes, .. } = self;
        system.multiply(v, image, lanes);
        self.slopes.clear();
        self.slopes.resize(rows.ties.len(), [0.0; 4]);
        self.rows.clear();
        self.rows.resize(rows.list.len(), RowMemory::default());
        invert((system, mass), rows, &self.slopes, &mut self.blocks);
        for i in 0..rows.list.len() {
            let row = rows.list[i];
            let mut response = 0.0;
            for (node, g) in rows.parts_of(&row) {
                response += dot(g, &self.blocks.times(*node as usize, g));
            }
            self.rows[i].response = response.max(f64::MIN_POSITIVE);
            rows.list[i].speed = rows.rate(&row, v) + row.bias;
        }
        // one for both tangents
        for tie in rows.ties.iter().filter(|tie| matches!(tie.law, Law::Contact(_))) {
            let (s, t) = (tie.row as usize + 1, tie.row as usize + 2);
            let most = self.rows[s].response.max(self.rows[t].response);
            (self.rows[s].response, self.rows[t].response) = (most, most);
        }
    }

    /// Newton's method; returns iterations of conjugate gradients.
    fn minimize(
        &mut self,
        (system, mass): (&System, &[BodyMass]),
        b: &[Twist],
        v: &mut [Twist],
        rows: &mut Rows,
        (accuracy, enough): (f64, f64),
    ) -> u32 {
        let mut iterations = 0;
        let mut last = Progress { size: f64::INFINITY, stalls: 0 };
        self.press(rows, 0.0);
        for _ in 0..NEWTON {
            self.gradient.clear();
            self.gradient.extend(self.image.iter().zip(b).map(|(a, b)| add(a, b, -1.0)));
            for (row, memory) in rows.list.iter().zip(&self.rows) {
                rows.scatter(row, -memory.z, &mut self.gradient);
            }
            if self.factored {
                let Coupled { direct, slopes, gradient, way, .. } = self;
                let same = direct.solve(system, rows, slopes, gradient, way);
                let size = -gradient.iter().zip(&*way).map(|(g, d)| dot(g, d)).sum::<f64>();
                last.note(size, same);
                iterations += 1;
            } else {
                invert((system, mass), rows, &self.slopes, &mut self.blocks);
                if self.is_near(b, accuracy) {
                    break;
                }
                iterations += self.newton_step(system, rows);
            }
            let Coupled { way, way_image, lanes, .. } = self;
            system.multiply(way, way_image, lanes);
            let mut most: f64 = 0.0;
            for (row, memory) in rows.list.iter().zip(&mut self.rows) {
                memory.gain = rows.rate(row, way);
                most = most.max(memory.gain.abs());
            }
            let t = self.search(b, rows);
            for (v, d) in v.iter_mut().zip(&self.way) {
                *v = add(v, d, t);
            }
            self.image.iter_mut().zip(&self.way_image).for_each(|(x, d)| *x = add(x, d, t));
            for (row, memory) in rows.list.iter_mut().zip(&self.rows) {
                row.speed += t * memory.gain;
            }
            self.press(rows, 0.0);
            // a whole step to where the matrix is the same has met the minimum
            let met = t == 1.0 && (most <= enough || self.direct.is_of(&self.slopes));
            if self.factored && (met || most.is_nan() || last.stalls >= STALLS) {
                break;
            }
        }
        iterations
    }

    /// Whether the gradient is small enough.
    fn is_near(&mut self, b: &[Twist], accuracy: f64) -> bool {
        let size = norm(&self.blocks, &self.gradient, &mut self.smoothed);
        let whole = norm(&self.blocks, b, &mut self.smoothed);
        let whole = whole.max(norm(&self.blocks, &self.image, &mut self.smoothed));
        size.is_nan() || size <= accuracy * accuracy * whole
    }

    /// How far to go: where the derivative along the way vanishes, roughly.
    fn search(&mut self, b: &[Twist], rows: &Rows) -> f64 {
        let along: f64 = self
            .way
            .iter()
            .zip(self.image.iter().zip(b))
            .map(|(d, (a, b))| dot(d, a) - dot(d, b))
            .sum();
        let stiff: f64 = self.way.iter().zip(&self.way_image).map(|(d, a)| dot(d, a)).sum();
        let mut slope = |t: f64| {
            self.press(rows, t);
            let given: f64 = self.rows.iter().map(|memory| memory.z * memory.gain).sum();
            along + t * stiff - given
        };
        let first = slope(0.0);
        let enough = 0.3 * first.abs();
        let (mut low, mut high) = ((0.0, first), (1.0, slope(1.0)));
        for _ in 0..4 {
            if high.1 >= -enough {
                break;
            }
            low = high;
            high = (2.0 * low.0, slope(2.0 * low.0));
        }
        if high.1.abs() <= enough || high.1 < 0.0 {
            return high.0;
        }
        for _ in 0..30 {
            let part = (low.1 / (low.1 - high.1)).clamp(0.1, 0.9);
            let t = low.0 + part * (high.0 - low.0);
            let now = slope(t);
            if now.abs() <= enough {
                return t;
            }
            if now < 0.0 { low = (t, now) } else { high = (t, now) }
        }
        low.0
    }

    /// z of all rows a way of `t` on, and its derivatives.
    fn press(&mut self, rows: &Rows, t: f64) {
        for (tie, slopes) in rows.ties.iter().zip(&mut self.slopes) {
            press(tie, rows, &mut self.rows, slopes, t);
        }
    }

    /// ẑ ← z; by how much velocities may still change.
    fn take_over(&mut self, rows: &mut Rows) -> f64 {
        let mut most: f64 = 0.0;
        for tie in &rows.ties {
            for i in tie.rows() {
                let memory = &self.rows[i];
                most = most.max(memory.r * (memory.z - rows.list[i].impulse).abs());
            }
            if let Law::Contact(friction) = tie.law {
                let (n, s) = (tie.row as usize, tie.row as usize + 1);
                let tangent = self.rows[s].z.hypot(self.rows[s + 1].z);
                let (was, is) = (friction * rows.list[n].impulse, friction * self.rows[n].z);
                // what slides goes with its bound, what sticks must keep within it
                let slides = tangent >= was * (1.0 - 1e-12);
                let off = if slides { (is - was).abs() } else { (tangent - is).max(0.0) };
                most = most.max(0.1 * off * self.rows[s].response);
            }
        }
        for (row, memory) in rows.list.iter_mut().zip(&self.rows) {
            row.impulse = memory.z;
        }
        most
    }

    /// way ← −(A + JᵀDJ)⁻¹ gradient.
    fn newton_step(&mut self, system: &System, rows: &Rows) -> u32 {
        self.way.clear();
        self.way.resize(self.gradient.len(), Twist::default());
        self.residual.clear();
        self.residual.extend(self.gradient.iter().map(|g| add(&Twist::default(), g, -1.0)));
        self.direction.clear();
        self.direction.resize(self.gradient.len(), Twist::default());
        let mut first = 0.0;
        let mut last = 1.0;
        for iteration in 0..ITERATIONS {
            let size = norm(&self.blocks, &self.residual, &mut self.smoothed);
            if iteration == 0 {
                first = size;
            }
            if size.is_nan() || size <= LINEAR_TOLERANCE * LINEAR_TOLERANCE * first {
                return iteration;
            }
            let keep = if iteration == 0 { 0.0 } else { size / last };
            last = size;
            for (p, y) in self.direction.iter_mut().zip(&self.smoothed) {
                *p = add(y, p, keep);
            }
            let Coupled { direction, way_image, lanes, .. } = self;
            system.multiply(direction, way_image, lanes);
            self.multiply_ties(rows);
            let stiff: f64 =
                self.direction.iter().zip(&self.way_image).map(|(d, a)| dot(d, a)).sum();
            if stiff.is_nan() || stiff <= 0.0 {
                return iteration;
            }
            let step = size / stiff;
            self.way.iter_mut().zip(&self.direction).for_each(|(x, d)| *x = add(x, d, step));
            self.residual.iter_mut().zip(&self.way_image).for_each(|(r, a)| *r = add(r, a, -step));
        }
        ITERATIONS
    }

    /// way_image ← way_image + JᵀDJ direction.
    fn multiply_ties(&mut self, rows: &Rows) {
        for (tie, d) in rows.ties.iter().zip(&self.slopes) {
            if *d == [0.0; 4] {
                continue;
            }
            let mut rate = [0.0; 3];
            for (rate, i) in rate.iter_mut().zip(tie.rows()) {
                *rate = rows.rate(&rows.list[i], &self.direction);
            }
            let push =
                [d[0] * rate[0], d[1] * rate[1] + d[2] * rate[2], d[2] * rate[1] + d[3] * rate[2]];
            for (push, i) in push.iter().zip(tie.rows()) {
                rows.scatter(&rows.list[i], *push, &mut self.way_image);
            }
        }
    }
}

/// r · B r with the preconditioner B; leaves B r.
fn norm(blocks: &Blocks, r: &[Twist], smoothed: &mut Vec<Twist>) -> f64 {
    blocks.apply(r, smoothed);
    r.iter().zip(smoothed.iter()).map(|(r, y)| dot(r, y)).sum()
}

/// z of a tie where velocities are `t` of the way on.
fn press(tie: &Tie, rows: &Rows, memory: &mut [RowMemory], slopes: &mut [f64; 4], t: f64) {
    let want = |i: usize, memory: &[RowMemory]| {
        let (row, m) = (&rows.list[i], &memory[i]);
        let give = m.r + row.compliance;
        (((m.r * row.impulse) - (row.speed + t * m.gain)) / give, 1.0 / give)
    };
    let n = tie.row as usize;
    let (s, slope) = want(n, memory);
    let (low, high) = match tie.law {
        Law::Range(low, high) => (low, high),
        Law::Contact(_) => (0.0, f64::INFINITY),
    };
    memory[n].z = s.clamp(low, high);
    *slopes = [if s > low && s < high { slope } else { 0.0 }, 0.0, 0.0, 0.0];
    let Law::Contact(friction) = tie.law else { return };
    let ((x, slope), (y, _)) = (want(n + 1, memory), want(n + 2, memory));
    let (size, most) = ((x * x + y * y).sqrt(), friction * rows.list[n].impulse);
    if size <= most {
        (memory[n + 1].z, memory[n + 2].z) = (x, y);
        (slopes[1], slopes[3]) = (slope, slope);
    } else {
        let (c, s, part) = (x / size, y / size, most / size);
        (memory[n + 1].z, memory[n + 2].z) = (most * c, most * s);
        let slope = slope * part;
        (slopes[1], slopes[2], slopes[3]) = (slope * s * s, -slope * c * s, slope * c * c);
    }
}

fn add(a: &Twist, b: &Twist, scale: f64) -> Twist {
    Twist { linear: a.linear + scale * b.linear, angular: a.angular + scale * b.angular }
}
