//! The one trait that outsiders implement [baraff1997 §2].
//!
//! Eight functions are asked of every simulator; what else it can do it may say by overriding those
//! that answer "cannot" by default. [`crate::World`] implements it, [`crate::couple`] uses it, and
//! neither of the two sees the other.

use crate::math::{Mat3, Quat, Twist, Vec3};
use crate::model::body::Material;
use crate::shape::Shape;
use serde::{Deserialize, Serialize};
use std::any::Any;

/// Where a handle is and how it moves. A handle that has no orientation keeps the identity and no
/// angular velocity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// The point at which forces act: for a body its centre of mass, m.
    pub position: Vec3,
    /// Orientation.
    pub rotation: Quat,
    /// Velocity of that point and angular velocity in world axes.
    pub velocity: Twist,
}

impl Motion {
    /// A point without orientation.
    pub fn point(position: Vec3, velocity: Vec3) -> Motion {
        let velocity = Twist { linear: velocity, angular: Vec3::ZERO };
        Motion { position, rotation: Quat::IDENTITY, velocity }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.position.is_finite()
            && self.rotation.is_finite()
            && self.velocity.linear.is_finite()
            && self.velocity.angular.is_finite()
    }
}

/// Force (N) and torque (N·m) at a handle in world axes; or an impulse (N·s) and angular impulse
/// (N·m·s).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// N, or N·s.
    pub force: Vec3,
    /// About the handle's position, N·m or N·m·s.
    pub torque: Vec3,
}

impl Wrench {
    /// No force at all.
    pub const ZERO: Wrench = Wrench { force: Vec3::ZERO, torque: Vec3::ZERO };

    /// This many times as strong.
    pub fn scaled(self, by: f64) -> Wrench {
        Wrench { force: by * self.force, torque: by * self.torque }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.force.is_finite() && self.torque.is_finite()
    }

    /// The numbers one after the other.
    pub fn to_array(self) -> [f64; 6] {
        let (f, t) = (self.force, self.torque);
        [f.x, f.y, f.z, t.x, t.y, t.z]
    }

    /// From numbers one after the other; missing ones are zero.
    pub fn from_slice(numbers: &[f64]) -> Wrench {
        let at = |i: usize| numbers.get(i).copied().unwrap_or(0.0);
        Wrench { force: Vec3::new(at(0), at(1), at(2)), torque: Vec3::new(at(3), at(4), at(5)) }
    }
}

impl std::ops::Add for Wrench {
    type Output = Wrench;
    fn add(self, other: Wrench) -> Wrench {
        Wrench { force: self.force + other.force, torque: self.torque + other.torque }
    }
}

impl std::ops::Sub for Wrench {
    type Output = Wrench;
    fn sub(self, other: Wrench) -> Wrench {
        Wrench { force: self.force - other.force, torque: self.torque - other.torque }
    }
}

impl std::ops::AddAssign for Wrench {
    fn add_assign(&mut self, other: Wrench) {
        *self = *self + other;
    }
}

/// How a handle answers a force over a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandleResponse {
    /// What it seems to weigh, kg.
    pub mass: f64,
    /// Inertia about its position in world axes, kg·m²; zero for a handle that does not turn.
    pub inertia: Mat3,
    /// How far a steady force moves it in a step, as a share of step × change of velocity: ½ for an
    /// exact integration, 1 for semi-implicit Euler, (1 + 1/n)/2 for n equal substeps of it.
    pub reach: f64,
}

/// A handle that nothing of its own simulator pushed in the last step but steady fields: no contact, no
/// joint, no damping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeHandle {
    /// Which.
    pub handle: usize,
    /// kg.
    pub mass: f64,
    /// Inertia about its position in world axes at the end of the step, kg·m²; zero for a handle that does
    /// not turn.
    pub inertia: Mat3,
    /// Force of those fields, gravity for one, N.
    pub field: Vec3,
    /// See [`HandleResponse::reach`].
    pub reach: f64,
}

/// A surface that belongs to a handle and moves with it.
#[derive(Clone, Debug)]
pub struct ContactSurface {
    /// The handle it moves with.
    pub handle: usize,
    /// In axes that turn with the handle.
    pub shape: Shape,
    /// Where the handle's position lies in the axes of the shape, m.
    pub center: Vec3,
    /// Friction and restitution.
    pub material: Material,
    /// Whether forces move it; others are followed and never pushed.
    pub dynamic: bool,
}

/// A surface of triangles whose corners are handles: a cloth.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactSheet {
    /// The handles of its vertices.
    pub handles: Vec<usize>,
    /// Corners of each triangle, counted among `handles`.
    pub triangles: Vec<[u32; 3]>,
    /// Mass of each vertex, kg.
    pub masses: Vec<f64>,
    /// m.
    pub thickness: f64,
    /// Coefficient of friction.
    pub friction: f64,
}

/// How an obstacle of another simulator moves in the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObstacleMotion {
    /// At the beginning of the step.
    pub start: Motion,
    /// At its end, if nothing changed from what the owner counted.
    pub end: Motion,
    /// Impulse from the follower that the owner already counted in `end`.
    pub counted: Wrench,
    /// How it answers; `None` for what nothing pushes.
    pub response: Option<HandleResponse>,
}

/// What an obstacle got in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaction {
    /// Impulse and angular impulse that the follower gave it.
    pub impulse: Wrench,
    /// Where the follower believes it ends.
    pub end: Motion,
}

/// A constraint on handles of one simulator in the next step, by its value and derivatives at the
/// step's beginning [baraff1997 §2.5]. With x the places and turns of the handles, and τ the time since
/// then,
///
///   C(x, τ) ≈ C₀ + (J + ½τJ̇) (x − x₀) + g(τ),
///
/// of which g is what others do to C: it is to vanish throughout the step, and so is its rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepConstraint {
    /// The handles, each once.
    pub handles: Vec<usize>,
    /// C₀, one number a row, m or rad.
    pub value: Vec<f64>,
    /// J: row after row six numbers a handle, by its way and by its turn in world axes.
    pub jacobian: Vec<f64>,
    /// J̇ by the motion of these handles, 1/s.
    pub jacobian_rate: Vec<f64>,
    /// ġ at the beginning and at the end of the step, a number a row each, m/s or rad/s.
    pub drift_rates: [Vec<f64>; 2],
    /// g at the end of the step, a number a row, m or rad.
    pub drift: Vec<f64>,
}

/// Why a simulator could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatorFailure(pub String);

impl std::fmt::Display for SimulatorFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for SimulatorFailure {
    fn from(error: E) -> SimulatorFailure {
        SimulatorFailure(error.to_string())
    }
}

/// A simulator that can be coupled with others without knowing them.
///
/// Handles are numbered from 0. What a caller asked for by [`Simulator::push`] and its kin holds for
/// the next step only, and is forgotten by a step and by [`Simulator::restore`].
pub trait Simulator: Any + Send {
    /// How many handles there are.
    fn handle_count(&self) -> usize;

    /// Where a handle is.
    fn read(&self, handle: usize) -> Motion;

    /// Adds a steady force and torque over the next step.
    fn push(&mut self, handle: usize, force: Wrench);

    /// Advances by `dt` seconds.
    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure>;

    /// Remembers the whole state, for [`Simulator::restore`].
    fn save(&mut self);

    /// Goes back to what was last saved, any number of times.
    fn restore(&mut self);

    /// The whole state as bytes, for resuming later.
    fn to_bytes(&self) -> Vec<u8>;

    /// Takes the state from bytes; on a failure nothing is changed.
    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure>;

    // ----- what only some can do -----

    /// The simulator that this one wraps, for whoever looks for it: one that measures time, say, and
    /// hands every call on.
    fn inner(&self) -> Option<&dyn Simulator> {
        None
    }

    /// The same, to be changed.
    fn inner_mut(&mut self) -> Option<&mut dyn Simulator> {
        None
    }

    /// Whether [`Simulator::restore`] goes back. One that cannot, hardware say, is coupled by lagged exchange
    /// only, and is asked for neither of the two.
    fn can_restore(&self) -> bool {
        true
    }

    /// Changes the velocity of a handle at once by an impulse. Returns whether it can.
    fn kick(&mut self, _handle: usize, _impulse: Wrench) -> bool {
        false
    }

    /// Moves a handle at once by a small way, m, and turn, a rotation vector. Returns whether it can.
    fn shift(&mut self, _handle: usize, _way: Vec3, _turn: Vec3) -> bool {
        false
    }

    /// How a handle answers a force over a step; `None`: it is measured by trying.
    fn response(&self, _handle: usize) -> Option<HandleResponse> {
        None
    }

    /// Adds the handles that were free in the last step, in ascending order: whoever keeps books compares how
    /// these moved with what they were given. Returns whether it can say that of any.
    fn free_handles(&self, _out: &mut Vec<FreeHandle>) -> bool {
        false
    }

    /// Makes a handle move in the next step from where it is to `end`. Returns whether it can.
    fn prescribe(&mut self, _handle: usize, _end: &Motion) -> bool {
        false
    }

    /// Force that moved a prescribed handle in the last step, beyond those that act
    /// on it anyway: the mean over the step.
    fn constraint_force(&self, _handle: usize) -> Option<Wrench> {
        None
    }

    /// Holds a constraint in the next step. Returns whether it can.
    fn constrain(&mut self, _constraint: &StepConstraint) -> bool {
        false
    }

    /// Writes the multipliers λ of a constraint that was held in the last step, the mean over it, N or
    /// N·m: its handles got Jᵀλ. Constraints are counted in the order in which they were asked for. Returns
    /// whether it can.
    fn multipliers(&self, _constraint: usize, _out: &mut [f64]) -> bool {
        false
    }

    /// Surfaces that others may touch; the same ones in every step.
    fn surfaces(&self) -> Vec<ContactSurface> {
        Vec::new()
    }

    /// Takes in an obstacle that belongs to another simulator and returns its number; `None`: it
    /// cannot.
    fn add_obstacle(&mut self, _surface: &ContactSurface) -> Option<usize> {
        None
    }

    /// Says how an obstacle moves in the next step.
    fn move_obstacle(&mut self, _obstacle: usize, _motion: &ObstacleMotion) {}

    /// What an obstacle got in the last step.
    fn reaction(&self, _obstacle: usize) -> Option<Reaction> {
        None
    }

    /// Impulse that waits for an obstacle: it acts in the next step however the obstacle moves then. What
    /// particles struck it with in the last step, say. Its owner steps under it from the beginning.
    fn pending_impulse(&self, _obstacle: usize) -> Wrench {
        Wrench::ZERO
    }

    /// Sheets that others may touch; the same ones in every step.
    fn sheets(&self) -> Vec<ContactSheet> {
        Vec::new()
    }

    /// Takes in a sheet that belongs to another simulator and returns its number; `None`: it cannot.
    fn add_sheet(&mut self, _sheet: &ContactSheet) -> Option<usize> {
        None
    }

    /// Says where the vertices of a sheet are at the beginning and at the end of the next step.
    fn move_sheet(&mut self, _sheet: usize, _starts: &[Motion], _ends: &[Motion]) {}

    /// Adds what each vertex of a sheet was pushed with in the last step to `impulses`, N·s. Returns
    /// whether it can.
    fn sheet_impulses(&self, _sheet: usize, _impulses: &mut [Vec3]) -> bool {
        false
    }
}
