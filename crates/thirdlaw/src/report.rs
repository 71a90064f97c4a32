//! What a step tells: its report when it has ended, its stages while it runs.

use crate::ids::{BodyId, ClothId, EmitterId, PointId};

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Contact points found.
    pub contacts: u32,
    /// Islands solved (sleeping ones are not).
    pub islands: u32,
    /// Bodies asleep after the step.
    pub asleep: u32,
    /// Largest number of solver iterations of any island, summed over its substeps.
    pub contact_iterations: u32,
    /// Largest remaining error of a contact velocity, m/s.
    pub contact_residual: f64,
    /// Islands that took the direct path.
    pub direct: u32,
    /// Bodies stopped on their way by continuous detection.
    pub swept: u32,
    /// Substeps made.
    pub substeps: u32,
    /// Multiplications made to factor and solve the systems of joints.
    pub joint_work: u64,
    /// Substeps that islands took in the coordinates of their joints.
    pub reduced_substeps: u32,
    /// Iterations of conjugate gradients, all cloth steps and rounds together.
    pub cg_iterations: u32,
    /// Cloth steps made.
    pub cloth_steps: u32,
    /// Cloth steps made again with half the length, because they stretched the cloth too much, led it
    /// through itself or deep into a solid, or did not come out.
    pub rejected: u32,
    /// Shortest cloth step, s.
    pub smallest_step: f64,
    /// Longest cloth step, s.
    pub largest_step: f64,
    /// Particles of all emitters after the step.
    pub particles: u64,
    /// Particles born.
    pub emitted: u32,
    /// Particles whose life ended.
    pub expired: u32,
    /// Bounces of particles that pushed something.
    pub bounces: u32,
    /// Particles taken out because they were squeezed between two things.
    pub crushed: u32,
    /// Particles not born because their emitter was full.
    pub dropped: u32,
}

/// A part of a step, for whoever measures time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Finding pairs whose bounds overlap.
    BroadPhase,
    /// Finding contact points.
    NarrowPhase,
    /// Grouping bodies that touch.
    Islands,
    /// Solving contacts and joints, substep by substep.
    Solve,
    /// Forces and positions of bodies, a part of [`Stage::Solve`] that is told by [`Observer::divide`].
    /// Of islands with joints it is counted as solving.
    Integrate,
    /// Sweeping fast bodies, putting islands to sleep, checking the result.
    Finish,
    /// Forces and matrix of cloth.
    ClothForces,
    /// Conjugate gradients of cloth.
    ClothSolve,
    /// Finding where cloth touches cloth.
    ClothCloth,
    /// Finding where cloth touches solids.
    ClothSolids,
    /// Moving particles.
    Particles,
}

/// Told when stages begin and end; owns the clock that the engine has not. Large steps are made on a
/// thread of the pool, hence `Send`.
pub trait Observer: Send {
    /// `stage` begins.
    fn begin(&mut self, stage: Stage);
    /// `stage` has ended.
    fn end(&mut self, stage: Stage);
    /// A clock to read within stages whose parts alternate too fast, and on too many threads, to begin and
    /// end for an observer. It counts up in any unit, the same on all threads. Without one such parts
    /// are not told apart.
    fn clock(&self) -> Option<fn() -> u64> {
        None
    }
    /// Of the time for which the stage that ended last lasted, `share` (from 0 to 1) went into `part`. Not
    /// called without a clock.
    fn divide(&mut self, _part: Stage, _share: f64) {}
}

/// Watches nothing.
impl Observer for () {
    fn begin(&mut self, _: Stage) {}
    fn end(&mut self, _: Stage) {}
}

/// A step that could not be made.
#[derive(Clone, Debug, PartialEq)]
pub enum StepError {
    /// The step is not a positive finite number of seconds; nothing was changed.
    TimeStep(f64),
    /// A body's state became infinite or NaN in this step. The world refuses to go on from it;
    /// restore an earlier state, or remove the body.
    NotFinite {
        /// Which body.
        body: BodyId,
        /// Steps made before this one.
        step: u64,
        /// Simulated time at its start, s.
        time: f64,
    },
    /// The same of a point mass.
    PointNotFinite {
        /// Which point.
        point: PointId,
        /// Steps made before this one.
        step: u64,
        /// Simulated time at its start, s.
        time: f64,
    },
    /// A cloth's state became infinite or NaN in this step. The world refuses to go on from it;
    /// restore an earlier state, or remove the cloth.
    ClothNotFinite {
        /// Which cloth.
        cloth: ClothId,
        /// Which of its vertices.
        vertex: u32,
        /// Steps made before this one.
        step: u64,
        /// Simulated time at its start, s.
        time: f64,
    },
    /// A particle's state became infinite or NaN in this step. The world refuses to go on from it;
    /// restore an earlier state, or remove the emitter.
    ParticleNotFinite {
        /// Which emitter.
        emitter: EmitterId,
        /// Which of its particles, in the order of births.
        particle: u64,
        /// Steps made, this one included.
        step: u64,
        /// Simulated time at its end, s.
        time: f64,
    },
}

impl std::fmt::Display for StepError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StepError::TimeStep(dt) => {
                write!(f, "the time step must be a positive finite number of seconds, not {dt:?}")
            }
            StepError::NotFinite { body, step, time } => write!(
                f,
                "the state of {body} became infinite or NaN in step {step} (t = {time} s); \
                 restore an earlier state or remove the body"
            ),
            StepError::PointNotFinite { point, step, time } => write!(
                f,
                "the state of {point} became infinite or NaN in step {step} (t = {time} s); \
                 restore an earlier state or remove the point"
            ),
            StepError::ClothNotFinite { cloth, vertex, step, time } => write!(
                f,
                "vertex {vertex} of {cloth} became infinite or NaN in step {step} (t = {time} s); \
                 restore an earlier state or remove the cloth"
            ),
            StepError::ParticleNotFinite { emitter, particle, step, time } => write!(
                f,
                "particle {particle} of {emitter} became infinite or NaN in step {step} (t = {time} \
                 s); restore an earlier state, or remove the emitter or the force field"
            ),
        }
    }
}

impl std::error::Error for StepError {}
