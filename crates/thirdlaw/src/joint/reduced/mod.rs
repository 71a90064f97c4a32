//! Trees of joints in their own coordinates: the third approach of bridson-notes, generalized coordinates.
//!
//! Bodies that joints hold in a forest have no other freedom than the coordinates q of the joints; a body
//! that nothing holds floats with six of its own. With u = q̇ (the relative angular velocity where a joint
//! turns about a point) the equations of motion are
//!
//!   M(q) u̇ = τ − C(q, u),
//!
//! solved by the articulated-body algorithm (Featherstone 1983) in time linear in the bodies. Poses are
//! built from q, so that there is no error of joints that could drift.
//!
//! | file | what it holds |
//! |---|---|
//! | `forest` | which islands are forests, and the limbs of one, parents before children |
//! | `place` | coordinates of a limb: read off poses, advanced, turned into poses |
//! | `spatial` | six-dimensional inertias and small symmetric systems |
//! | `dynamics` | where limbs are, how they move, and u̇ |
//! | `rows` | springs, drives, motors, friction on coordinates |
//! | `explicit`, `implicit` | the two integrators, one part of a substep each |
//! | `balance` | momentum of what floats, reactions of joints |
//! | `advance` | a substep: how many parts, which integrator, whether the result may stand |
//!
//! Nothing here is kept between steps: coordinates and rates are read off poses and velocities. A kick
//! that bodies got from outside becomes rates by M(q) u = Sᵀp, which is what impulses of the joints would
//! make of it.

mod advance;
mod balance;
mod dynamics;
mod explicit;
mod forest;
mod implicit;
mod place;
mod rows;
mod spatial;

pub(crate) use advance::Around;

use crate::math::Twist;
use dynamics::{Articulated, Motion};
use forest::{Branches, Limb};
use place::Place;
use rows::Row;

/// The forest of one island with the memory to advance it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// Bodies, parents before children.
    limbs: Vec<Limb>,
    rows: Vec<Row>,
    /// Coordinates at the beginning of a part, and where they are being looked at.
    start: Vec<Place>,
    places: Vec<Place>,
    /// Rates, likewise.
    start_rates: Vec<f64>,
    rates: Vec<f64>,
    /// u̇, or what else was solved for.
    found: Vec<f64>,
    /// Generalized forces.
    efforts: Vec<f64>,
    motions: Vec<Motion>,
    articulated: Vec<Articulated>,
    /// For every freedom: S, and L⁻¹IᴬS.
    columns: Vec<Twist>,
    given: Vec<Twist>,
    /// For every freedom: 1/d and L⁻¹(τ − Sᵀp); for every limb the factor L.
    pivots: Vec<f64>,
    wanted: Vec<f64>,
    factors: Vec<f64>,
    /// Increments of coordinates and rates by stages.
    stages: Stages,
    /// Momenta and impulses.
    books: balance::Books,
    branches: Branches,
    /// Whether coordinates and rates are those of the bodies.
    pub current: bool,
    /// Multiplications made.
    pub work: u64,
}

/// What the stages of an integrator leave, for every freedom.
#[derive(Clone, Debug, Default)]
struct Stages {
    step: Vec<f64>,
    moved: Vec<f64>,
    gained: Vec<f64>,
    /// First stage of the implicit one.
    first_move: Vec<f64>,
    first_gain: Vec<f64>,
}
