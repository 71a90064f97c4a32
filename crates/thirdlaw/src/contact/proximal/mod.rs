//! Contacts of a long structure solved at once: Newton's method in the velocities, with the impulses as
//! multipliers.
//!
//! Sweeps carry what one contact needs to the next one only; a tower of n blocks wants some n² of them. The
//! method of multipliers (a proximal step on z; Rockafellar 1976) makes each problem smooth instead:
//!
//!   minimize  ½|v − v⁰|²_M + Σ φᵢ(Jᵢv),   φᵢ′ = −zᵢ,   z = proj_K((r ẑ − (J v + b))/(r + Γ))
//!
//! with ẑ the impulses before, r = ε·Nᵢᵢ, and K an interval or the disc of radius μẑ_n. It is convex with a
//! continuous gradient, so that Newton's method with a line search ends for certain. Its matrix
//! M + JᵀDJ has a block for each body and each pair that touches, and is factored within its envelope, bodies
//! in the order of Cuthill and McKee. ẑ ← z then shrinks what is left by about ε over the least eigenvalue of N,
//! relative to Nᵢᵢ; ε falls from 10⁻² on, and rises again where that goes wrong. The radii of the discs follow
//! ẑ, so friction is Coulomb's and not the associated law that lifts what slides.
//!
//! Velocities are kept over L, M⁻¹ = LLᵀ: what is locked drops out, and mass ratios do no harm. At the
//! end v = v⁰ + M⁻¹Jᵀz exactly, so that momentum keeps its digits. What is left over is measured, and nothing is
//! taken over that is no better than before.

mod order;
mod system;

use super::problem::{ContactProblem, ContactSide, Velocities};
use super::scratch::Scratch;
use super::solver::{residual, warm_start};
use crate::linalg::envelope::Envelope;
pub(super) use order::Order;

/// Steps of the multipliers at most, and steps of Newton's method for each.
const ROUNDS: usize = 40;
const NEWTON: usize = 30;
/// ε at first, where it falls to by tens, and its least, where that is slow.
const SOFTEST: f64 = 1e-2;
const USUAL: f64 = 1e-5;
const STIFFEST: f64 = 1e-9;
/// Growth of what is left at which ε was too small, and rounds without progress that are waited for.
const GROWTH: f64 = 2.0;
const PATIENCE: usize = 12;
/// Multiplications of a factorization, per body, above which this is not the way to go.
const WORK: usize = 60_000;

/// Working memory.
#[derive(Debug, Default)]
pub struct ProximalScratch {
    pub(super) matrix: Envelope,
    /// Rows of J over L, for sides a and b.
    pub(super) rows: Vec<[[f64; 6]; 2]>,
    /// L of each body: inverse roots of the masses, then 11, 21, 22, 31, 32, 33.
    pub(super) roots: Vec<[f64; 9]>,
    /// w at the beginning without Γz, m/s.
    pub(super) start: Vec<f64>,
    /// The change of velocity since the beginning, over L, and the one that Newton's method asks for.
    pub(super) change: Vec<f64>,
    pub(super) direction: Vec<f64>,
    /// J v + b of each row now, and what the direction adds to it.
    pub(super) speed: Vec<f64>,
    pub(super) gain: Vec<f64>,
    /// ẑ, z at the beginning, z now, and r + Γ.
    pub(super) center: Vec<f64>,
    pub(super) entry: Vec<f64>,
    pub(super) impulses: Vec<f64>,
    /// The best so far.
    best: Vec<f64>,
    pub(super) stiffness: Vec<f64>,
    velocities: Velocities,
}

/// A problem on its way to the solution.
struct Proximal<'a> {
    problem: &'a ContactProblem,
    effective: &'a [super::sweep::Effective],
    order: &'a Order,
    memory: &'a mut ProximalScratch,
}

/// Solves a prepared problem from where velocities and impulses are, down to `tolerance` m/s. False, with both
/// untouched, if it brings them no nearer.
pub fn solve(
    problem: &ContactProblem,
    tolerance: f64,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) -> bool {
    let particles = |side: &ContactSide| matches!(side, ContactSide::Particles { .. });
    if problem.blocks.iter().any(|block| particles(&block.a) || particles(&block.b)) {
        return false;
    }
    scratch.update_whole(problem);
    let before = residual(problem, velocities, impulses, scratch);
    scratch.order.get(|order| order.find(problem));
    let mut memory = std::mem::take(&mut scratch.proximal);
    let mut found = false;
    let order = &scratch.order.value;
    memory.matrix.reset(order.envelope());
    if memory.matrix.work() <= WORK * order.len() {
        let effective = &scratch.whole.value[..];
        Proximal { problem, effective, order, memory: &mut memory }
            .run(tolerance, velocities, impulses);
        memory.velocities.clone_from(velocities);
        memory.change.clear();
        memory.change.extend(memory.impulses.iter().zip(&memory.entry).map(|(z, z0)| z - z0));
        warm_start(problem, &mut memory.velocities, &memory.change);
        let after = residual(problem, &memory.velocities, &memory.impulses, scratch);
        if after < before {
            velocities.clone_from(&memory.velocities);
            impulses.copy_from_slice(&memory.impulses);
            found = true;
        }
    }
    scratch.proximal = memory;
    found
}

impl Proximal<'_> {
    fn run(&mut self, tolerance: f64, velocities: &Velocities, impulses: &[f64]) {
        self.enter(velocities, impulses);
        let (mut softness, mut least) = (SOFTEST, STIFFEST);
        let (mut best, mut before, mut stalled) = (f64::INFINITY, f64::INFINITY, 0);
        self.memory.best.clone_from(&self.memory.impulses);
        for _ in 0..ROUNDS {
            self.soften(softness);
            let found = self.minimize(0.01 * tolerance);
            let left = if found { self.accept() } else { f64::INFINITY };
            if left < best {
                stalled = if left < 0.9 * best { 0 } else { stalled + 1 };
                best = left;
                self.memory.best.clone_from(&self.memory.impulses);
            } else {
                stalled += 1;
            }
            if best <= tolerance || stalled > PATIENCE {
                break;
            }
            if left > GROWTH * best {
                // too stiff: no rows found that act, or loads that jump from point to point and discs with
                // them
                self.memory.impulses.clone_from(&self.memory.best);
                self.accept();
                least = (10.0 * softness).min(1.0);
                softness = least;
                before = best;
                continue;
            }
            if left > 0.2 * before || softness > USUAL {
                softness = (0.1 * softness).max(least);
            }
            before = left;
        }
        self.memory.impulses.clone_from(&self.memory.best);
    }

    /// Newton's method for one proximal problem; false if it did not get there.
    fn minimize(&mut self, noise: f64) -> bool {
        for _ in 0..NEWTON {
            self.respond();
            match self.descend(noise) {
                Some(true) => {}
                found => return found.is_some(),
            }
        }
        false
    }
}
