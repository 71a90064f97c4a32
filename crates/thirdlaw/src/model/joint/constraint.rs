//! A user's own constraint C(x, v) = 0 between bodies and points, with its derivatives.
//!
//! Implement [`Constraint`] and hand it to `World::add_constraint`: it is held by the same exact
//! solve as joints are, without touching the engine. With h the length of a substep, impulses Jᵀλ
//! along J = h ∂C/∂x + ∂C/∂v bring C(x + h v, v) to zero, iterated like Newton (bridson-notes).
//! In debug builds `World::add_constraint` compares the derivatives with finite differences.

use crate::ids::{BodyId, PointId};
use crate::math::{Quat, Twist, Vec3, rotation_from_vector};

/// What a constraint acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// A rigid body.
    Body(BodyId),
    /// A free point mass.
    Point(PointId),
}

/// Where a member is and how it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemberState {
    /// Centre of mass, m.
    pub position: Vec3,
    /// Orientation of a body's own axes.
    pub rotation: Quat,
    /// Velocity of the centre of mass, and angular velocity in world axes.
    pub velocity: Twist,
}

/// A constraint C(x, v) = 0 of at most [`ROWS_MAX`] rows on at most [`MEMBERS_MAX`] members.
///
/// A derivative has six columns a member: with respect to its position (∂x) or velocity, then to a
/// turn δθ of it in world axes or its angular velocity; row after row, `6·members` numbers each.
/// What a point has no rotation for is ignored.
pub trait Constraint: std::fmt::Debug + Send + Sync {
    /// What it acts on; the order is that of `states` and of the columns of derivatives.
    fn members(&self) -> &[Member];

    /// Number of rows.
    fn rows(&self) -> usize;

    /// C, one number a row.
    fn evaluate(&self, states: &[MemberState], out: &mut [f64]);

    /// ∂C/∂x. `out` comes filled with zeros.
    fn position_derivative(&self, states: &[MemberState], out: &mut [f64]);

    /// ∂C/∂v; zero (the default) for a constraint on positions alone. `out` comes filled with
    /// zeros.
    fn velocity_derivative(&self, _states: &[MemberState], _out: &mut [f64]) {}

    /// C at a moment, s, for a constraint that changes with time; others leave this alone.
    fn evaluate_at(&self, _time: f64, states: &[MemberState], out: &mut [f64]) {
        self.evaluate(states, out);
    }

    /// ∂C/∂x at a moment, s, likewise. `out` comes filled with zeros.
    fn position_derivative_at(&self, _time: f64, states: &[MemberState], out: &mut [f64]) {
        self.position_derivative(states, out);
    }

    /// ∂C/∂t at a moment, s. `out` comes filled with zeros.
    fn time_derivative(&self, _time: f64, _states: &[MemberState], _out: &mut [f64]) {}

    /// Told what impulses its rows have just carried, several times in a step: the sum is that of the
    /// step.
    fn carried(&self, _impulses: &[f64]) {}

    /// Under what name it is written with a world and attached again; worlds with several of a type give
    /// each a name of its own.
    fn name(&self) -> String {
        std::any::type_name::<Self>().into()
    }

    /// A number that differs between constraints with different content, for snapshots.
    fn fingerprint(&self) -> u64 {
        0
    }
}

/// Most rows of a constraint.
pub const ROWS_MAX: usize = 6;
/// Most members of a constraint.
pub const MEMBERS_MAX: usize = 8;

/// The largest difference between a constraint's derivatives and finite differences, relative to
/// the larger of 1 and the largest derivative.
pub fn derivative_error(constraint: &dyn Constraint, states: &[MemberState]) -> f64 {
    let (rows, width) = (constraint.rows(), 6 * states.len());
    let mut given = [vec![0.0; rows * width], vec![0.0; rows * width]];
    constraint.position_derivative(states, &mut given[0]);
    constraint.velocity_derivative(states, &mut given[1]);
    let scale = given.iter().flatten().fold(1.0, |m: f64, x| m.max(x.abs()));
    let mut worst = 0.0_f64;
    let step = 1e-5;
    let (mut high, mut low) = (vec![0.0; rows], vec![0.0; rows]);
    for (kind, given) in given.iter().enumerate() {
        for column in 0..width {
            let moved = |s: f64| {
                let mut states = states.to_vec();
                perturb(&mut states[column / 6], kind == 1, column % 6, s * step);
                states
            };
            constraint.evaluate(&moved(1.0), &mut high);
            constraint.evaluate(&moved(-1.0), &mut low);
            for row in 0..rows {
                let difference = (high[row] - low[row]) / (2.0 * step);
                let error = (difference - given[row * width + column]).abs() / scale;
                worst = if error > worst || error.is_nan() { error } else { worst };
            }
        }
    }
    worst
}

fn perturb(state: &mut MemberState, velocity: bool, column: usize, by: f64) {
    let mut v = Vec3::ZERO;
    v[column % 3] = by;
    match (velocity, column < 3) {
        (false, true) => state.position += v,
        (false, false) => state.rotation = rotation_from_vector(v) * state.rotation,
        (true, true) => state.velocity.linear += v,
        (true, false) => state.velocity.angular += v,
    }
}
