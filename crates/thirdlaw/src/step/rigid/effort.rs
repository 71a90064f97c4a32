//! How hard to try with an island: iterations where they decide whether it stands, the direct path
//! where iteration would not get there.

use crate::contact::{DirectUse, SolveSettings, Staggering};
use crate::model::Model;
use crate::model::settings::{ContactSettings, Precision};
use crate::state::State;
use rayon::prelude::*;

/// Rows times iterations that a slow island may always take.
const WORK: usize = 4_000;
/// Most iterations out of that budget.
const SLOW_ITERATIONS: usize = 50;
/// Speed below which an island may be about to stand, m/s.
const SLOW: f64 = 0.08;
/// Error that patience with a large island is not wasted on, m/s: far below what makes a stack creep visibly.
const ENOUGH: f64 = 1e-6;
/// How long an island must have been quiet to be at rest, s: its impulses have long converged, and
/// carried on from step to step they stay so with few iterations.
const SETTLED: f64 = 0.25;
/// Rows up to which an island is small: a few blocks in a precarious place, worth patience. Few iterations
/// more would not get through a larger one.
const SMALL: usize = 100;
/// Iterations after a bounce.
pub const BOUNCE_ITERATIONS: u32 = 8;
/// Mass ratio within an island above which iteration is not trusted to get there.
const LOPSIDED: f64 = 20.0;

/// Bodies that a thread goes through at least.
const TOGETHER: usize = 512;

/// How hard to try with an island.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// What iteration leaves over may decide whether it stands or falls.
    slow: bool,
    /// It has been quiet for long.
    pub settled: bool,
    /// It holds bodies of extreme mass ratio.
    lopsided: bool,
    /// Largest speed of a body over its size, 1/s.
    pub haste: f64,
    /// Least and largest mass, kg.
    pub masses: [f64; 2],
}

/// Single precision only where it is asked for by name: `Auto` is the pile's own affair.
fn precision(contact: &ContactSettings) -> Precision {
    match contact.precision {
        Precision::Single => Precision::Single,
        Precision::Auto | Precision::Double => Precision::Double,
    }
}

/// What is least and largest among bodies.
struct Extremes {
    /// Least and largest mass, kg.
    masses: [f64; 2],
    /// Largest speed of a point, m/s, and over the size of its body, 1/s.
    fastest: f64,
    haste: f64,
    /// Whether all have been quiet for long.
    settled: bool,
}

impl Extremes {
    fn none() -> Extremes {
        Extremes { masses: [f64::INFINITY, 0.0], fastest: 0.0, haste: 0.0, settled: true }
    }

    fn of(model: &Model, state: &State, slots: &[u32]) -> Extremes {
        slots.iter().fold(Extremes::none(), |all, &slot| {
            let (body, now) = (&model.bodies[slot as usize], &state.bodies[slot as usize]);
            let speed = now.velocity.linear.length() + body.reach * now.velocity.angular.length();
            all.join(Extremes {
                masses: [body.mass; 2],
                fastest: speed,
                haste: speed / body.reach,
                settled: now.quiet > SETTLED,
            })
        })
    }

    fn join(self, other: Extremes) -> Extremes {
        Extremes {
            masses: [self.masses[0].min(other.masses[0]), self.masses[1].max(other.masses[1])],
            fastest: self.fastest.max(other.fastest),
            haste: self.haste.max(other.haste),
            settled: self.settled && other.settled,
        }
    }
}

impl Effort {
    /// Judges an island by its masses and speeds.
    pub fn of(model: &Model, state: &State, slots: &[u32]) -> Effort {
        // the order in which these are joined does not matter
        let chunks = slots.par_chunks(TOGETHER).map(|slots| Extremes::of(model, state, slots));
        let Extremes { masses, fastest, haste, settled } = if slots.len() <= TOGETHER {
            Extremes::of(model, state, slots)
        } else {
            chunks.reduce(Extremes::none, Extremes::join)
        };
        let lopsided = masses[1] > LOPSIDED * masses[0];
        Effort { slow: fastest < SLOW, settled, lopsided, haste, masses }
    }

    /// Whether the iterations asked for are all that the island gets, with so many rows.
    pub fn is_plain(&self, contact: &ContactSettings, rows: usize) -> bool {
        let least = contact.iterations.min(contact.relax_iterations) as usize;
        let patient = contact.patience && self.is_patient(rows) && WORK / rows.max(1) > least;
        !patient && !self.is_direct(contact, rows)
    }

    /// Whether the direct path follows where iteration does not get there.
    pub fn is_direct(&self, contact: &ContactSettings, rows: usize) -> bool {
        self.lopsided && rows <= contact.direct_rows as usize
    }

    fn is_patient(&self, rows: usize) -> bool {
        self.lopsided || (self.slow && rows <= SMALL && !self.settled)
    }

    /// How to solve the island with at least `iterations`, in every substep: impulses that stopped a body
    /// in one substep are where the next one begins, and what few iterations do not take back of them
    /// sets it moving the other way. A column that got many iterations in the first substep only would
    /// swing about its axis without end.
    pub fn settings(
        &self,
        contact: &ContactSettings,
        iterations: u32,
        rows: usize,
    ) -> SolveSettings {
        let affordable = (WORK / rows.max(1)).min(SLOW_ITERATIONS) as u32;
        // where the direct path follows, iterating long first only costs
        let direct = self.is_direct(contact, rows);
        let patient = contact.patience && self.is_patient(rows) && !direct;
        let iterations = if patient { iterations.max(affordable) } else { iterations };
        SolveSettings {
            solver: contact.solver,
            iterations,
            tolerance: match patient && rows > SMALL {
                true => contact.tolerance.max(ENOUGH),
                false => contact.tolerance,
            },
            friction: if contact.staggered {
                Staggering::Converged { rounds: 20, inner: iterations.max(20) }
            } else {
                Staggering::Alternating
            },
            direct: match direct {
                true => DirectUse::Auto { rows_max: contact.direct_rows },
                false => DirectUse::Never,
            },
            precision: precision(contact),
        }
    }
}
