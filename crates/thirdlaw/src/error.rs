//! Everything that can be wrong, with what to do about it.

use crate::ids::{BodyId, ClothId, EmitterId, PointId, StaleId};

/// A body description that cannot be simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyError {
    /// Which field of [`crate::Body`].
    pub field: &'static str,
    /// What is wrong with it and what would be right.
    pub problem: String,
}

impl std::fmt::Display for BodyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

impl std::error::Error for BodyError {}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsError {
    /// Which field of [`crate::Settings`].
    pub field: &'static str,
    /// What is wrong with it and what would be right.
    pub problem: String,
}

impl std::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

impl std::error::Error for SettingsError {}

/// A change to a body that was refused; the old value stands.
#[derive(Clone, Debug, PartialEq)]
pub enum EditError {
    /// The id names nothing.
    Stale(StaleId),
    /// The value cannot be used.
    Value(BodyError),
}

impl std::fmt::Display for EditError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EditError::Stale(error) => error.fmt(f),
            EditError::Value(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EditError {}

impl From<StaleId> for EditError {
    fn from(error: StaleId) -> Self {
        EditError::Stale(error)
    }
}

impl From<BodyError> for EditError {
    fn from(error: BodyError) -> Self {
        EditError::Value(error)
    }
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

/// A snapshot that does not fit this world; the world is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// The bytes are not a snapshot, or are cut short or damaged.
    Damaged(&'static str),
    /// Written by an incompatible version of the format.
    Version {
        /// Version found.
        found: u32,
        /// Version understood.
        expected: u32,
    },
    /// Whole, but not laid out as this version writes states: one that is not numbered otherwise,
    /// such as one in development.
    Layout,
    /// Taken from a world with other bodies or shapes.
    OtherModel,
}

impl std::fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SnapshotError::Damaged(what) => write!(f, "the snapshot is damaged: {what}"),
            SnapshotError::Version { found, expected } => {
                write!(f, "the snapshot has format {found}, this version reads format {expected}")
            }
            SnapshotError::Layout => {
                write!(f, "the snapshot is whole, but another version of thirdlaw wrote it")
            }
            SnapshotError::OtherModel => {
                write!(f, "the snapshot belongs to a world with other bodies")
            }
        }
    }
}

impl std::error::Error for SnapshotError {}
