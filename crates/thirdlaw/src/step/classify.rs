//! The one place that decides how an island is solved.
//!
//! [`classify`] chooses a path before the solve from an island's [`Facts`]; [`classify_joints`] chooses how
//! contacts and joints of one island are solved together; [`effort`] says how many iterations an island
//! gets; [`escalate`] says when the direct solver follows on what iterations left. All are pure: the same
//! facts and settings give the same answer, and every threshold stands here with its reason.
//!
//! [`Facts`]: crate::step::classify::Facts

use crate::contact::{DirectUse, SolveSettings, Staggering};
use crate::model::Model;
use crate::model::joint::description::JointSolve;
use crate::model::settings::{ContactSettings, FrictionModel, Paths, Precision, Settings, Solver};
use crate::report::SolvePath;
use crate::state::State;
use crate::step::island::Island;
use rayon::prelude::*;

/// Rows times iterations that a slow island may always take.
const WORK: usize = 4_000;
/// Most iterations out of that budget.
const SLOW_ITERATIONS: usize = 50;
/// Speed below which an island may be about to stand, m/s.
const SLOW: f64 = 0.08;
/// Error that iterations of a large island are not wasted on, m/s: far below what makes a stack creep visibly.
const ENOUGH: f64 = 1e-6;
/// How long an island must have been quiet to be at rest, s: its impulses have long converged, and
/// carried on from step to step they stay so with few iterations.
const SETTLED: f64 = 0.25;
/// Rows up to which an island is small: a few blocks in a precarious place, worth converging. Few iterations
/// more would not get through a larger one.
const SMALL: usize = 100;
/// Mass ratio within an island above which iteration is not trusted to get there.
const LOPSIDED: f64 = 20.0;
/// Residual that is worth the cost of the direct solver, m/s.
const DIRECT_ABOVE: f64 = 1e-4;
/// Iterations after a bounce: it changes normal impulses at once, and friction must follow.
pub const BOUNCE_ITERATIONS: u32 = 8;

/// Contacts from which an island goes to the pile at any speed: few bodies that fly about are looked at
/// too closely for arms of the beginning of the step.
const MANY_CONTACTS: usize = 40;
/// Way of a body in a step, over its size, up to which the arms are of no matter.
const DRIFT: f64 = 0.01;
/// Angle that a body turns by in a step, times how slender it is, from which inertia and arms of the beginning
/// of the step will not do: what an impulse does to a rod that has turned by an angle φ is off by φ times the
/// ratio of its moments, and from about 1 on its sign may be wrong, which makes energy.
const TURNED: f64 = 0.5;
/// Masses that single precision has room for, kg.
const SINGLE_MASSES: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// Rows of contacts at most that are solved through the joints.
const THROUGH_ROWS: usize = 240;
/// Rows times nodes at most: N is dense.
const THROUGH_WORK: usize = 20_000;

/// Bodies that a thread goes through at least.
const TOGETHER: usize = 512;

/// What is known of an island before it is solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Contacts between pairs of convex pieces.
    pub contacts: usize,
    /// Rows of their points: a normal and two tangents each.
    pub rows: usize,
    /// Joints and constraints.
    pub links: usize,
    /// Point masses.
    pub points: usize,
    /// Whether a contact may bounce.
    pub bounces: bool,
    /// Whether a kinematic body that moves touches it.
    pub carried: bool,
    /// Whether it is one body with neither forces of its own nor locked axes.
    pub plain_body: bool,
    /// Least and largest mass, kg.
    pub masses: [f64; 2],
    /// Largest speed of a point of a body, m/s.
    pub speed: f64,
    /// The same over the size of its body, 1/s.
    pub relative_speed: f64,
    /// Largest angular speed, times the ratio of the body's moments of inertia, 1/s.
    pub swing: f64,
    /// Whether all bodies have been slow for long.
    pub settled: bool,
}

impl Facts {
    /// Of an island and its dynamic bodies.
    pub fn of(model: &Model, state: &State, island: &Island, slots: &[u32]) -> Facts {
        let plain = |slot: u32| {
            let body = &model.bodies[slot as usize];
            body.forces.is_empty() && body.locks == Default::default()
        };
        Facts {
            contacts: island.contact_count,
            rows: 3 * island.contact_points,
            links: island.link_count,
            points: island.point_count,
            bounces: island.bounces,
            carried: island.carried,
            plain_body: slots.len() == 1 && plain(slots[0]),
            // how bodies move decides nothing where nothing touches
            ..if island.contact_count == 0 {
                Facts::none()
            } else {
                Facts::of_bodies(model, state, slots)
            }
        }
    }

    /// What bodies alone say.
    pub fn of_bodies(model: &Model, state: &State, slots: &[u32]) -> Facts {
        // the order in which these are joined does not matter
        if slots.len() <= TOGETHER {
            return Facts::fold(model, state, slots);
        }
        let chunks = slots.par_chunks(TOGETHER).map(|slots| Facts::fold(model, state, slots));
        chunks.reduce(Facts::none, Facts::join)
    }

    fn none() -> Facts {
        Facts {
            contacts: 0,
            rows: 0,
            links: 0,
            points: 0,
            bounces: false,
            carried: false,
            plain_body: false,
            masses: [f64::INFINITY, 0.0],
            speed: 0.0,
            relative_speed: 0.0,
            swing: 0.0,
            settled: true,
        }
    }

    fn fold(model: &Model, state: &State, slots: &[u32]) -> Facts {
        slots.iter().fold(Facts::none(), |all, &slot| {
            let (body, now) = (&model.bodies[slot as usize], &state.bodies[slot as usize]);
            let speed = now.velocity.linear.length() + body.reach * now.velocity.angular.length();
            all.join(Facts {
                masses: [body.mass; 2],
                speed,
                relative_speed: speed / body.reach,
                swing: now.velocity.angular.length() * body.slenderness,
                settled: now.quiet > SETTLED,
                ..Facts::none()
            })
        })
    }

    fn join(self, other: Facts) -> Facts {
        Facts {
            masses: [self.masses[0].min(other.masses[0]), self.masses[1].max(other.masses[1])],
            speed: self.speed.max(other.speed),
            relative_speed: self.relative_speed.max(other.relative_speed),
            swing: self.swing.max(other.swing),
            settled: self.settled && other.settled,
            ..self
        }
    }

    /// Whether it holds bodies of extreme mass ratio.
    pub fn is_lopsided(&self) -> bool {
        self.masses[1] > LOPSIDED * self.masses[0]
    }

    /// Whether the direct solver may follow, with so many rows.
    fn may_be_direct(&self, contact: &ContactSettings, rows: usize) -> bool {
        self.is_lopsided() && rows <= contact.direct_rows as usize
    }

    /// Whether what iteration leaves over may decide if it stands or falls.
    fn deserves_convergence(&self, contact: &ContactSettings, rows: usize) -> bool {
        let precarious = self.speed < SLOW && rows <= SMALL && !self.settled;
        contact.converge && (self.is_lopsided() || precarious)
    }

    /// Whether more iterations than asked for would be given, within the budget.
    fn iterates_longer(&self, contact: &ContactSettings) -> bool {
        let least = contact.iterations.min(contact.relax_iterations) as usize;
        self.deserves_convergence(contact, self.rows) && WORK / self.rows.max(1) > least
    }
}

/// The path of an island through a step of `dt` seconds. [`SolvePath::General`] stands for all islands that
/// are solved one by one: what became of them is known afterwards.
pub fn classify(facts: &Facts, settings: &Settings, dt: f64) -> SolvePath {
    let contact = &settings.contact;
    if facts.links > 0 || facts.points > 0 || contact.paths == Paths::General {
        return SolvePath::General;
    }
    if facts.contacts == 0 {
        return if facts.plain_body { SolvePath::Free } else { SolvePath::General };
    }
    let fast_kernels = contact.solver == Solver::ColoredPgs
        && contact.friction == FrictionModel::Cone
        && !contact.staggered;
    // what is at rest has nothing to bounce off
    let bounces = facts.bounces && (facts.carried || !facts.settled);
    if !fast_kernels || bounces || facts.may_be_direct(contact, facts.rows) {
        return SolvePath::General;
    }
    let fits_single = contact.precision != Precision::Double
        && facts.masses.iter().all(|mass| SINGLE_MASSES.contains(mass));
    let few = facts.contacts < MANY_CONTACTS;
    let turns = facts.swing * dt > TURNED;
    if facts.iterates_longer(contact) {
        if fits_single && !turns { SolvePath::ConvergedPile } else { SolvePath::General }
    } else if fits_single && !turns && (!few || facts.relative_speed * dt < DRIFT) {
        SolvePath::Pile
    } else if few || turns {
        SolvePath::Batched
    } else {
        SolvePath::General
    }
}

/// How to solve an island of so many rows with at least `iterations`, in every substep: impulses that
/// stopped a body in one substep are where the next one begins, and what few iterations do not take back of
/// them sets it moving the other way. A column that got many iterations in the first substep only would
/// swing about its axis without end.
pub fn effort(
    facts: &Facts,
    contact: &ContactSettings,
    iterations: u32,
    rows: usize,
) -> SolveSettings {
    let affordable = (WORK / rows.max(1)).min(SLOW_ITERATIONS) as u32;
    let direct = escalate(facts, contact, rows);
    // where the direct path follows, iterating long first only costs
    let patient = facts.deserves_convergence(contact, rows) && direct == DirectUse::Never;
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
        friction_last: false,
        direct,
        precision: match contact.precision {
            // `Auto` is the pile's own affair
            Precision::Auto | Precision::Double => Precision::Double,
            Precision::Single => Precision::Single,
        },
    }
}

/// When the direct solver follows on the iterations: what the residual must pass for it to be worth its
/// cost, for islands that iteration is not trusted with.
pub fn escalate(facts: &Facts, contact: &ContactSettings, rows: usize) -> DirectUse {
    match facts.may_be_direct(contact, rows) {
        true => DirectUse::Auto { rows_max: contact.direct_rows, above: DIRECT_ABOVE },
        false => DirectUse::Never,
    }
}

/// What decides how contacts and joints of one island are solved together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointFacts {
    /// Rows of contacts.
    pub contact_rows: usize,
    /// Bodies and point masses.
    pub nodes: usize,
    /// Whether every joint holds two sides, as rows of a contact problem can say.
    pub pairwise: bool,
    /// Whether joints only hold, limit and rub, and none says itself how it is to be held.
    pub plain: bool,
    /// Whether masses differ more than iteration is trusted with.
    pub lopsided: bool,
}

/// How contacts and joints of one island are solved together in substeps by impulses.
pub fn classify_joints(facts: &JointFacts, solve: JointSolve) -> SolvePath {
    let JointFacts { contact_rows, nodes, pairwise, plain, lopsided } = *facts;
    let soft = pairwise && plain;
    match solve {
        JointSolve::Rows if pairwise => SolvePath::JointRows,
        _ if contact_rows == 0 => SolvePath::Joints,
        JointSolve::Soft if soft => SolvePath::SoftJoints,
        JointSolve::Interleaved => SolvePath::JointsInterleaved,
        _ if contact_rows <= THROUGH_ROWS && contact_rows * nodes <= THROUGH_WORK => {
            SolvePath::ThroughJoints
        }
        // turns of contacts and joints would not end well in the time there is either
        JointSolve::Exact if soft && !lopsided => SolvePath::SoftJoints,
        _ => SolvePath::JointsInTurn,
    }
}

#[cfg(test)]
mod tests;
