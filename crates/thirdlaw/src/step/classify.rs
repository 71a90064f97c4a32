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
use crate::model::body::model::speed_scale;
use crate::model::joint::description::{Enforcement, JointSolve};
use crate::model::joint::model::Node;
use crate::model::settings::{ContactSettings, FrictionModel, Paths, Precision, Settings, Solver};
use crate::parallel::pool::prelude::*;
use crate::report::SolvePath;
use crate::state::State;
use crate::step::island::{Island, Linked};
use crate::step::rigid::substep::Members;

/// Rows times iterations that a slow island may always take.
const WORK: usize = 4_000;
/// Most iterations out of that budget.
const SLOW_ITERATIONS: usize = 50;
/// Speed below which an island may be about to stand, m/s. Speeds here and below are those of bodies half a
/// metre across; for others they go with the root of the size.
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
/// Mass ratio above which a light body's contacts must not give way under the heavy one.
const CRUSHING: f64 = 300.0;
/// Residual that is worth the cost of the direct solver, m/s.
const DIRECT_ABOVE: f64 = 1e-4;
/// The same of a chain: what is left over sets a tower swaying whose sway nothing takes out.
const CHAIN_ABOVE: f64 = 1e-7;
/// The same over the speed of what still moves.
const CHAIN_SHARE: f64 = 1e-5;
/// Residual above which an island that was to converge is said not to have, m/s.
pub const FALLEN_SHORT: f64 = 2e-4;
/// Bodies to each that the ground bears from which a structure is long. One that spans, as an arch does, thrusts on
/// itself, and falls by what sweeps leave over.
const LONG: usize = 6;
/// The same from which a column is solved at once: up to here sweeps carry its weight down for
/// less, and it does not sway long on contacts that give way.
const HIGH: usize = 16;
/// Square of a column's bodies over the iterations after which it sways by less than is seen.
const COLUMN_SQUARE: usize = 5;
/// Speed below which a chain may be standing, m/s.
const STANDING: f64 = 1.0;
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
/// Joints from which an island is held by iteration: fewer, with few contacts, are solved exactly.
const MANY_LINKS: usize = 8;
/// Iterations at least of both solves where joints hold bodies in a heap: a blow goes through several limbs.
pub const JOINTED_ITERATIONS: [u32; 2] = [3, 2];
/// Angle that a body may turn by in a step where joints hold it: their rows follow, its contacts do not.
const FARTHEST: f64 = 2.0;
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
    /// Those with something that does not move by forces.
    pub grounded: usize,
    /// Rows of their points: a normal and two tangents each.
    pub rows: usize,
    /// Dynamic bodies.
    pub bodies: usize,
    /// Joints and constraints.
    pub links: usize,
    /// Point masses.
    pub points: usize,
    /// Whether a contact may bounce.
    pub bounces: bool,
    /// Whether two of its bodies lie deep in each other.
    pub deep: bool,
    /// Whether a kinematic body that moves touches it.
    pub carried: bool,
    /// Whether a material asks for more than friction and restitution.
    pub special: bool,
    /// Whether it is one body with neither forces of its own nor locked axes.
    pub plain_body: bool,
    /// Least and largest mass, kg.
    pub masses: [f64; 2],
    /// Largest speed of a point of a body, m/s, as if the body were half a metre across.
    pub speed: f64,
    /// Speeds of its smallest body over those of one half a metre across, in like motions.
    pub speed_scale: f64,
    /// The same over the size of its body, 1/s.
    pub relative_speed: f64,
    /// Largest angular speed, times the ratio of the body's moments of inertia, 1/s.
    pub swing: f64,
    /// Whether all bodies have been slow for long.
    pub settled: bool,
    /// What is known of its joints.
    pub joints: LinkFacts,
}

/// What is known of the joints and constraints of an island before it is solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkFacts {
    /// Whether all can be rows that few iterations hold.
    pub rows: bool,
    /// Whether one holds a body to what does not move freely.
    pub anchored: bool,
    /// Largest ratio of the masses of two bodies that a joint holds together.
    pub ratio: f64,
    /// Largest angular speed of a body, rad/s.
    pub spin: f64,
}

impl LinkFacts {
    const NONE: LinkFacts = LinkFacts { rows: true, anchored: false, ratio: 1.0, spin: 0.0 };

    /// Of an island.
    fn of(model: &Model, state: &State, island: &Island, members: &Members) -> LinkFacts {
        let mass = |node: Node| match node {
            Node::Body(slot) if model.bodies[slot as usize].is_dynamic() => {
                Some(model.bodies[slot as usize].mass)
            }
            _ => None,
        };
        let mut facts = LinkFacts { anchored: island.anchored, ..LinkFacts::NONE };
        for link in members.links {
            let Linked::Joint(slot) = link else { return LinkFacts { rows: false, ..facts } };
            let joint = &model.joints[*slot as usize];
            facts.rows &= joint.fits_rows();
            if let (Some(a), Some(b)) = (mass(joint.a), mass(joint.b)) {
                facts.ratio = facts.ratio.max(a / b).max(b / a);
            }
        }
        for &slot in members.bodies {
            facts.rows &= model.bodies[slot as usize].locks == Default::default();
            facts.spin = facts.spin.max(state.bodies[slot as usize].velocity.angular.length());
        }
        facts
    }
}

impl Facts {
    /// Of an island.
    pub fn of(model: &Model, state: &State, island: &Island, members: &Members) -> Facts {
        let slots = members.bodies;
        let plain = |slot: u32| {
            let body = &model.bodies[slot as usize];
            body.forces.is_empty() && body.locks == Default::default()
        };
        Facts {
            contacts: island.contact_count,
            grounded: island.grounded,
            rows: 3 * island.contact_points,
            bodies: slots.len(),
            links: island.link_count,
            points: island.point_count,
            bounces: island.bounces,
            deep: island.deep,
            carried: island.carried,
            special: island.special,
            plain_body: slots.len() == 1 && plain(slots[0]),
            joints: match members.links.is_empty() || island.contact_count == 0 {
                true => LinkFacts::NONE,
                false => LinkFacts::of(model, state, island, members),
            },
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
            grounded: 0,
            rows: 0,
            bodies: 0,
            links: 0,
            points: 0,
            bounces: false,
            deep: false,
            carried: false,
            special: false,
            plain_body: false,
            masses: [f64::INFINITY, 0.0],
            speed: 0.0,
            speed_scale: f64::INFINITY,
            relative_speed: 0.0,
            swing: 0.0,
            settled: true,
            joints: LinkFacts::NONE,
        }
    }

    fn fold(model: &Model, state: &State, slots: &[u32]) -> Facts {
        slots.iter().fold(Facts::none(), |all, &slot| {
            let (body, now) = (&model.bodies[slot as usize], &state.bodies[slot as usize]);
            let speed = now.velocity.linear.length() + body.reach * now.velocity.angular.length();
            let scale = speed_scale(body.reach);
            all.join(Facts {
                masses: [body.mass; 2],
                speed: speed / scale,
                speed_scale: scale,
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
            speed_scale: self.speed_scale.min(other.speed_scale),
            relative_speed: self.relative_speed.max(other.relative_speed),
            swing: self.swing.max(other.swing),
            settled: self.settled && other.settled,
            ..self
        }
    }

    /// Whether a contact may bounce in this step: what is at rest has nothing to bounce off.
    pub fn may_bounce(&self) -> bool {
        self.bounces && (self.carried || !self.settled)
    }

    /// Error of contact velocities that is as small for its smallest body as `error` for one half a metre
    /// across, m/s.
    pub fn scaled(&self, error: f64) -> f64 {
        if self.speed_scale.is_finite() { error * self.speed_scale } else { error }
    }

    /// Whether a body turns so far in a step of `dt` seconds that what was found at its start does not hold to its
    /// end. The second solve then keeps a share of the push: points other than those found meet, and it is what
    /// keeps thin bodies from turning through what they hit.
    pub fn turns_far(&self, dt: f64) -> bool {
        self.swing * dt > TURNED
    }

    /// Whether it holds bodies of extreme mass ratio.
    pub fn is_lopsided(&self) -> bool {
        self.masses[1] > LOPSIDED * self.masses[0]
    }

    /// Whether the direct solver may follow, with so many rows.
    fn may_be_direct(&self, contact: &ContactSettings, rows: usize) -> bool {
        self.is_lopsided() && rows <= contact.direct_rows as usize
    }

    /// Whether it is a long chain of support, as towers and arches are: many bodies to each that the ground
    /// bears, so that sweeps need the square of that to carry a load down, and each on few others, so that
    /// a factor of its matrix fills little. In a heap, each body rests on several.
    pub fn is_chain(&self, contact: &ContactSettings) -> bool {
        let long = if self.spans() { LONG } else { HIGH };
        contact.converge && self.is_slender() && self.bodies >= long * self.grounded
    }

    /// Whether it is a column that sweeps can carry down, if there are enough of them: too high for the few that
    /// heaps get, not so high that solving it at once is cheaper.
    fn is_column(&self, contact: &ContactSettings) -> bool {
        let high = (LONG * self.grounded..HIGH * self.grounded).contains(&self.bodies);
        contact.converge && self.is_slender() && !self.spans() && high
    }

    /// Whether each body rests on few others, in a structure that may be standing.
    fn is_slender(&self) -> bool {
        4 * self.contacts <= 5 * self.bodies && self.rows > SMALL && self.speed < STANDING
    }

    /// Whether there is more than one way down.
    fn spans(&self) -> bool {
        self.contacts > self.bodies
    }

    /// Whether what iteration leaves over may decide if it stands or falls.
    fn deserves_convergence(&self, contact: &ContactSettings, rows: usize) -> bool {
        let precarious = self.speed < SLOW && rows <= SMALL && !self.settled;
        contact.converge && (self.is_lopsided() || precarious) || self.is_column(contact)
    }

    /// Most iterations of an island that is to converge, so that its bodies learn of each other and a slow one costs
    /// no more than it may.
    fn affordable(&self, contact: &ContactSettings, rows: usize) -> u32 {
        if self.is_column(contact) {
            // what sweeps leave over sets a column swaying; they carry a load down by the root of their number
            return (self.bodies * self.bodies / COLUMN_SQUARE) as u32;
        }
        (WORK / rows.max(1)).min(SLOW_ITERATIONS) as u32
    }

    /// Whether its joints are held well enough by the few iterations of a pile.
    fn holds_as_rows(&self, settings: &Settings, dt: f64) -> bool {
        let (contact, joints) = (&settings.contact, &settings.joints);
        let asked = joints.enforcement == Enforcement::Reduced
            && matches!(joints.solve, JointSolve::Exact | JointSolve::Soft)
            && contact.paths != Paths::General;
        let kernel = contact.solver == Solver::ColoredPgs
            && contact.friction == FrictionModel::Cone
            && !contact.staggered
            && contact.precision != Precision::Double
            && self.masses.iter().all(|mass| SINGLE_MASSES.contains(mass));
        // with nothing to touch, factors and coordinates are as cheap and exact
        let there = self.points == 0 && self.contacts > 0;
        let many = self.links >= MANY_LINKS || (self.links > 0 && self.rows > THROUGH_ROWS);
        let LinkFacts { rows, anchored, ratio, spin } = self.joints;
        asked
            && kernel
            && there
            && many
            && rows
            && !anchored
            && !self.may_bounce()
            && !self.special
            && ratio <= LOPSIDED
            && spin * dt < FARTHEST
    }

    /// Whether more iterations than asked for would be given, within the budget.
    fn iterates_longer(&self, contact: &ContactSettings) -> bool {
        let least = contact.iterations.min(contact.relax_iterations);
        self.deserves_convergence(contact, self.rows) && self.affordable(contact, self.rows) > least
    }
}

/// The path of an island through a step of `dt` seconds. [`SolvePath::General`] stands for all islands that
/// are solved one by one: what became of them is known afterwards.
pub fn classify(facts: &Facts, settings: &Settings, dt: f64) -> SolvePath {
    let contact = &settings.contact;
    if facts.holds_as_rows(settings, dt) {
        return SolvePath::JointedPile;
    }
    if facts.links > 0 || facts.points > 0 || contact.paths == Paths::General {
        return SolvePath::General;
    }
    if facts.contacts == 0 {
        return if facts.plain_body { SolvePath::Free } else { SolvePath::General };
    }
    let fast_kernels = contact.solver == Solver::ColoredPgs
        && contact.friction == FrictionModel::Cone
        && !contact.staggered;
    if !fast_kernels
        || facts.deep
        || facts.special
        || escalate(facts, contact, facts.rows) != DirectUse::Never
    {
        return SolvePath::General;
    }
    let fits_single = contact.precision != Precision::Double
        && facts.masses.iter().all(|mass| SINGLE_MASSES.contains(mass));
    let few = facts.contacts < MANY_CONTACTS;
    let turns = facts.turns_far(dt);
    let bounces = facts.may_bounce();
    // few that bounce are reflected together; in a column a blow has one way to go
    if bounces && (few && !facts.is_column(contact) || turns || !fits_single) {
        return SolvePath::General;
    }
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
    let direct = escalate(facts, contact, rows);
    // where the direct path follows, iterating long first only costs
    let patient = facts.deserves_convergence(contact, rows) && direct == DirectUse::Never;
    let iterations =
        if patient { iterations.max(facts.affordable(contact, rows)) } else { iterations };
    // that of the settings holds as given where they do not scale
    let tolerance = match contact.reference_size > 0.0 {
        true => facts.scaled(contact.tolerance),
        false => contact.tolerance,
    };
    SolveSettings {
        solver: contact.solver,
        iterations,
        tolerance: match direct {
            DirectUse::Chain { above } => tolerance.max(0.1 * above),
            _ if patient && rows > SMALL => tolerance.max(facts.scaled(ENOUGH)),
            _ => tolerance,
        },
        friction: if contact.staggered {
            Staggering::Converged { rounds: 20, inner: iterations.max(20) }
        } else {
            Staggering::Alternating
        },
        direct,
        precision: match contact.precision {
            // `Auto` is the pile's own affair
            Precision::Auto | Precision::Double => Precision::Double,
            Precision::Single => Precision::Single,
        },
    }
}

/// Whether a residual, m/s, is more than an island that is to converge may be left with.
pub fn falls_short(facts: &Facts, contact: &ContactSettings, residual: f64) -> bool {
    let wanted = facts.deserves_convergence(contact, facts.rows)
        || escalate(facts, contact, facts.rows) != DirectUse::Never;
    wanted && residual > facts.scaled(FALLEN_SHORT)
}

/// When the direct solver follows on the iterations: what the residual must pass for it to be worth its
/// cost, for islands that iteration is not trusted with.
pub fn escalate(facts: &Facts, contact: &ContactSettings, rows: usize) -> DirectUse {
    if facts.may_be_direct(contact, rows) {
        return DirectUse::Auto {
            rows_max: contact.direct_rows,
            above: facts.scaled(DIRECT_ABOVE),
        };
    }
    match facts.is_chain(contact) {
        true => {
            DirectUse::Chain { above: facts.scaled(CHAIN_ABOVE.max(CHAIN_SHARE * facts.speed)) }
        }
        false => DirectUse::Never,
    }
}

/// Most that contacts of an island give way under a resting load, m. A chain whose contacts give way
/// stands on springs: a tower of eighty blocks buckles on them, an arch snaps through.
pub fn sag(facts: &Facts, contact: &ContactSettings) -> f64 {
    if facts.is_chain(contact) { 0.0 } else { contact.sag }
}

/// Whether contacts of an island do not give way at all. The spring of a contact is as soft as its lighter body
/// asks for; a load of many times that body presses it by so much that a hundredth more or less of
/// it throws the body.
pub fn is_rigid(facts: &Facts, contact: &ContactSettings) -> bool {
    let crushing = facts.masses[1] > CRUSHING * facts.masses[0];
    crushing && escalate(facts, contact, facts.rows) != DirectUse::Never
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
