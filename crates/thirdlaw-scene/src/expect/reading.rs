//! What can be read off a frame: columns of the statistics, and quantities of bodies.

use super::cloth::ClothReading;
use super::columns::column;
use super::coupling::CouplingReading;
use super::emitter::EmitterReading;
use super::joint::JointQuantity;
use super::point::PointReading;
use thirdlaw::math::{Pose, rotation_vector};
use thirdlaw::{BodyId, World};

/// The statistics of one frame: the columns of `stats.csv`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameStats {
    /// Number of the frame; 0 is the initial state.
    pub frame: u32,
    /// s.
    pub time: f64,
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// Median over dynamic bodies of kinetic energy per mass, J/kg.
    pub jitter: f64,
    /// Potential energy, J.
    pub gravity: f64,
    /// Elastic energy, J.
    pub elastic: f64,
    /// Linear momentum, N·s.
    pub momentum: [f64; 3],
    /// Angular momentum about the world's origin, N·m·s.
    pub angular: [f64; 3],
    /// Contact points.
    pub contacts: u32,
    /// Deepest overlap, m.
    pub penetration: f64,
    /// Largest |l/l₀ − 1|.
    pub strain: f64,
    /// Largest relative change of volume.
    pub volume_error: f64,
    /// Largest anchor gap, m.
    pub joint_error: f64,
    /// Iterations of the contact solver.
    pub contact_iterations: u32,
    /// Remaining error of contact velocities, m/s.
    pub contact_residual: f64,
    /// Iterations of conjugate gradients.
    pub cg_iterations: u32,
    /// Substeps made.
    pub substeps: u32,
    /// Time of stepping, ms.
    pub step_ms: f64,
    /// Every bit of the state.
    pub hash: u64,
    /// Particles of all emitters.
    pub particles: u64,
    /// Paths that islands of bodies took, summed over the steps of the frame.
    pub paths: thirdlaw::PathCounts,
    /// Islands of bodies whose contacts were not solved to what standing asks for, summed over the steps.
    pub unconverged: u32,
    /// Cloth steps that were not solved to the tolerance.
    pub unfinished: u32,
}

/// What an expectation reads in a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A column of the statistics, one of [`super::expected_columns`].
    Column(&'static str),
    /// A quantity of one body or of several in a row; of several the one that passes worst.
    Bodies {
        /// Index into the scene's bodies.
        first: usize,
        /// How many.
        count: usize,
        /// What of them.
        quantity: BodyReading,
    },
    /// A quantity of one cloth or of several in a row; of several the one that passes worst.
    Cloths {
        /// Index into the scene's cloths.
        first: usize,
        /// How many.
        count: usize,
        /// What of them.
        quantity: ClothReading,
    },
    /// The same of joints.
    Joints {
        /// Index into the scene's joints.
        first: usize,
        /// How many.
        count: usize,
        /// What of them.
        quantity: JointQuantity,
    },
    /// The same of point masses.
    Points {
        /// Index into the scene's points.
        first: usize,
        /// How many.
        count: usize,
        /// What of them.
        quantity: PointReading,
    },
    /// A quantity of a stream of particles.
    Emitter {
        /// Index into the scene's emitters.
        index: usize,
        /// What of it.
        quantity: EmitterReading,
    },
    /// What the books of a coupling say.
    Coupling {
        /// Index into the scene's couplings.
        index: usize,
        /// What of it.
        quantity: CouplingReading,
    },
}

impl Reading {
    /// The value of a column; `None` for everything else.
    pub fn of_frame(&self, stats: &FrameStats) -> Option<f64> {
        let Reading::Column(name) = self else { return None };
        column(name)?.value(stats)
    }
}

/// A quantity of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyReading {
    /// Place of its origin along an axis, m.
    Position(usize),
    /// Velocity of its centre of mass along an axis, m/s.
    Velocity(usize),
    /// Angular velocity about a world axis, rad/s.
    AngularVelocity(usize),
    /// Angular velocity about an axis of its own, rad/s.
    LocalAngularVelocity(usize),
    /// Part w, x, y or z of its orientation.
    Quaternion(usize),
    /// Of its centre of mass, m/s.
    Speed,
    /// Size of its angular velocity, rad/s.
    Spin,
    /// Distance of its origin from the world's origin, m.
    Distance,
    /// Distance of its origin from where it started, m.
    Drift,
    /// Angle from its first orientation, degrees.
    Turn,
    /// 1 if it sleeps, else 0.
    Asleep,
    /// Mean force of particles on it in the last step along an axis, N.
    Struck(usize),
    /// Size of that force, N.
    StruckForce,
    /// Force with which other bodies touch it at the end of the last substep along an axis, N.
    Contact(usize),
    /// Size of that force, N.
    ContactForce,
}

/// Body quantities by name.
pub const BODY_READINGS: [(&str, BodyReading); 30] = [
    ("x", BodyReading::Position(0)),
    ("y", BodyReading::Position(1)),
    ("z", BodyReading::Position(2)),
    ("vx", BodyReading::Velocity(0)),
    ("vy", BodyReading::Velocity(1)),
    ("vz", BodyReading::Velocity(2)),
    ("wx", BodyReading::AngularVelocity(0)),
    ("wy", BodyReading::AngularVelocity(1)),
    ("wz", BodyReading::AngularVelocity(2)),
    ("local_wx", BodyReading::LocalAngularVelocity(0)),
    ("local_wy", BodyReading::LocalAngularVelocity(1)),
    ("local_wz", BodyReading::LocalAngularVelocity(2)),
    ("qw", BodyReading::Quaternion(0)),
    ("qx", BodyReading::Quaternion(1)),
    ("qy", BodyReading::Quaternion(2)),
    ("qz", BodyReading::Quaternion(3)),
    ("speed", BodyReading::Speed),
    ("spin", BodyReading::Spin),
    ("distance", BodyReading::Distance),
    ("drift", BodyReading::Drift),
    ("turn", BodyReading::Turn),
    ("asleep", BodyReading::Asleep),
    ("struck_x", BodyReading::Struck(0)),
    ("struck_y", BodyReading::Struck(1)),
    ("struck_z", BodyReading::Struck(2)),
    ("struck", BodyReading::StruckForce),
    ("contact_x", BodyReading::Contact(0)),
    ("contact_y", BodyReading::Contact(1)),
    ("contact_z", BodyReading::Contact(2)),
    ("contact", BodyReading::ContactForce),
];

impl BodyReading {
    /// Reads it off a world; NaN for a body that is gone.
    pub fn read(self, world: &World, id: BodyId, start: &Pose) -> f64 {
        let (Ok(pose), Ok(velocity)) = (world.pose(id), world.velocity(id)) else {
            return f64::NAN;
        };
        let q = pose.rotation;
        match self {
            BodyReading::Position(i) => pose.translation[i],
            BodyReading::Velocity(i) => velocity.linear[i],
            BodyReading::AngularVelocity(i) => velocity.angular[i],
            BodyReading::LocalAngularVelocity(i) => (q.conjugate() * velocity.angular)[i],
            BodyReading::Quaternion(i) => [q.w, q.x, q.y, q.z][i],
            BodyReading::Speed => velocity.linear.length(),
            BodyReading::Spin => velocity.angular.length(),
            BodyReading::Distance => pose.translation.length(),
            BodyReading::Drift => pose.translation.distance(start.translation),
            BodyReading::Turn => {
                rotation_vector(q * start.rotation.conjugate()).length().to_degrees()
            }
            BodyReading::Asleep => f64::from(u8::from(world.is_asleep(id).unwrap_or(false))),
            BodyReading::Struck(i) => world.struck(id).map_or(f64::NAN, |push| push.force[i]),
            BodyReading::Contact(i) => world.contact_force(id).map_or(f64::NAN, |force| force[i]),
            BodyReading::ContactForce => {
                world.contact_force(id).map_or(f64::NAN, |force| force.length())
            }
            BodyReading::StruckForce => {
                world.struck(id).map_or(f64::NAN, |push| push.force.length())
            }
        }
    }
}
