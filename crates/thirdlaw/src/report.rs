//! What a step tells: its report when it has ended, its stages while it runs.

use crate::ids::{BodyId, ClothId, EmitterId, JointId, PointId};

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
    /// Islands that were to converge, because they may be about to stand or fall, and did not.
    pub unconverged: u32,
    /// Bodies stopped on their way by continuous detection.
    pub swept: u32,
    /// Substeps made.
    pub substeps: u32,
    /// Multiplications made to factor and solve the systems of joints.
    pub joint_work: u64,
    /// Substeps that islands took in the coordinates of their joints.
    pub reduced_substeps: u32,
    /// Which path each island took.
    pub paths: PathCounts,
    /// Iterations of conjugate gradients, all cloth steps and rounds together.
    pub cg_iterations: u32,
    /// Cloth steps made.
    pub cloth_steps: u32,
    /// Cloth steps made again with half the length, because they stretched the cloth too much, led it
    /// through itself or deep into a solid, or did not come out.
    pub rejected: u32,
    /// Cloth steps that were taken although conjugate gradients reached their limit of iterations before the
    /// tolerance, or no shorter step was left to try.
    pub unfinished: u32,
    /// Those of them that went only a part of the way that was found, because all of it would have made energy out
    /// of nothing: what moved was slowed there.
    pub reined: u32,
    /// Linear systems solved for cloth.
    pub cloth_solves: u32,
    /// Sparse factors made for them.
    pub cloth_factors: u32,
    /// Pairs of surfaces that impulses stopped before they met.
    pub impacts: u32,
    /// Vertices that moved in rigid zones because impulses did not keep surfaces from meeting.
    pub in_zones: u32,
    /// Shortest cloth step, s.
    pub smallest_step: f64,
    /// Longest cloth step, s.
    pub largest_step: f64,
    /// What pushing overlaps apart did to the energy of weight and elements, J; unified scheme only.
    pub resolved_energy: f64,
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

impl StepReport {
    /// The report of two parts of a step of bodies: what there is at the end, and all that it took.
    pub(crate) fn followed_by(self, next: StepReport) -> StepReport {
        StepReport {
            contact_iterations: self.contact_iterations + next.contact_iterations,
            contact_residual: self.contact_residual.max(next.contact_residual),
            unconverged: self.unconverged.max(next.unconverged),
            swept: self.swept + next.swept,
            substeps: self.substeps + next.substeps,
            joint_work: self.joint_work + next.joint_work,
            reduced_substeps: self.reduced_substeps + next.reduced_substeps,
            ..next
        }
    }
}

/// How an island of rigid bodies went through a step. Each is counted by one of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SolvePath {
    /// One body that nothing touches and nothing holds.
    Free,
    /// A small island that moves fast, in double precision, several of them side by side.
    Batched,
    /// Contacts eight at a time, in single precision on velocities of double precision.
    Pile,
    /// The same, each island for as many iterations as it takes to converge.
    ConvergedPile,
    /// Joints and contacts eight at a time, in the same way.
    JointedPile,
    /// By itself, in double precision, by the contact solver of the settings.
    #[default]
    General,
    /// The same, and then by the direct solver.
    Direct,
    /// All substeps in the coordinates of its joints.
    Reduced,
    /// Joints alone, by sparse factors.
    Joints,
    /// Joints by sparse factors, contacts on the response that the joints leave them.
    ThroughJoints,
    /// Joints by sparse factors and contacts by iterations, in turn.
    JointsInTurn,
    /// Joints by sparse factors after every iteration on the contacts.
    JointsInterleaved,
    /// Joints as rows among those of the contacts.
    JointRows,
    /// The same, by few iterations in every substep, with small gaps.
    SoftJoints,
}

impl SolvePath {
    /// All of them, in their order.
    pub const ALL: [SolvePath; 14] = [
        SolvePath::Free,
        SolvePath::Batched,
        SolvePath::Pile,
        SolvePath::ConvergedPile,
        SolvePath::JointedPile,
        SolvePath::General,
        SolvePath::Direct,
        SolvePath::Reduced,
        SolvePath::Joints,
        SolvePath::ThroughJoints,
        SolvePath::JointsInTurn,
        SolvePath::JointsInterleaved,
        SolvePath::JointRows,
        SolvePath::SoftJoints,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            SolvePath::Free => "free",
            SolvePath::Batched => "batched",
            SolvePath::Pile => "pile",
            SolvePath::ConvergedPile => "converged_pile",
            SolvePath::JointedPile => "jointed_pile",
            SolvePath::General => "general",
            SolvePath::Direct => "direct",
            SolvePath::Reduced => "reduced",
            SolvePath::Joints => "joints",
            SolvePath::ThroughJoints => "through_joints",
            SolvePath::JointsInTurn => "joints_in_turn",
            SolvePath::JointsInterleaved => "joints_interleaved",
            SolvePath::JointRows => "joint_rows",
            SolvePath::SoftJoints => "soft_joints",
        }
    }
}

/// How many islands took each path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCounts([u32; SolvePath::ALL.len()]);

impl PathCounts {
    /// Islands that took a path.
    pub fn of(&self, path: SolvePath) -> u32 {
        self.0[path as usize]
    }

    /// All paths with their islands.
    pub fn iter(&self) -> impl Iterator<Item = (SolvePath, u32)> + '_ {
        SolvePath::ALL.into_iter().map(|path| (path, self.of(path)))
    }

    /// Adds the islands of another step.
    pub fn add(&mut self, other: &PathCounts) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
    }

    /// Counts `islands` more that took a path.
    pub fn count(&mut self, path: SolvePath, islands: u32) {
        self.0[path as usize] += islands;
    }
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
    /// The world has something that the scheme of its settings does not simulate; nothing was changed.
    Unsupported {
        /// The scheme.
        scheme: &'static str,
        /// What it does not know.
        what: &'static str,
    },
    /// A body's state became infinite or NaN in this step. The world refuses to go on from it;
    /// restore an earlier state, or remove the body.
    NotFinite {
        /// Which body.
        body: BodyId,
        /// A joint that holds it, one that acts by itself before others.
        joint: Option<JointId>,
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
    /// Cloth took more work in this step than any that comes out, or would make energy out of nothing even where it
    /// stops at once: something squeezes, pulls or tangles it so that no motion agrees with everything. Restore an earlier state, take shorter steps or give it more
    /// room; or go on from what was reached of the step.
    ClothUnsolved {
        /// Which cloth.
        cloth: ClothId,
        /// Which of its vertices is pressed hardest, or moves fastest where nothing presses.
        vertex: u32,
        /// The body that presses it.
        body: Option<BodyId>,
        /// Work spent, in iterations of conjugate gradients.
        iterations: u32,
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
            StepError::Unsupported { scheme, what } => write!(
                f,
                "the scheme \"{scheme}\" does not simulate {what} yet; take them out, or leave the \
                 world to the scheme \"impulses\""
            ),
            StepError::NotFinite { body, joint: None, step, time } => write!(
                f,
                "the state of {body} became infinite or NaN in step {step} (t = {time} s); \
                 restore an earlier state or remove the body"
            ),
            StepError::NotFinite { body, joint: Some(joint), step, time } => write!(
                f,
                "the state of {body}, held by {joint}, became infinite or NaN in step {step} \
                 (t = {time} s); give its drive a lower effort or gains, take more substeps, or \
                 restore an earlier state"
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
            StepError::ClothUnsolved { cloth, vertex, body, iterations, step, time } => {
                write!(
                    f,
                    "{cloth} did not come out of step {step} (t = {time} s) in {iterations} "
                )?;
                write!(f, "iterations: vertex {vertex} ")?;
                match body {
                    Some(body) => write!(f, "is pressed hardest, by {body}")?,
                    None => write!(f, "is the fastest")?,
                }
                write!(f, "; restore an earlier state, and take shorter steps or give it more room")
            }
            StepError::ParticleNotFinite { emitter, particle, step, time } => write!(
                f,
                "particle {particle} of {emitter} became infinite or NaN in step {step} (t = {time} \
                 s); restore an earlier state, or remove the emitter or the force field"
            ),
        }
    }
}

impl std::error::Error for StepError {}
