//! Everything that can be wrong, with what to do about it.

use crate::ids::StaleId;
use crate::math::Vec3;

/// A body description that cannot be simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyError {
    /// Which field of [`super::body::Body`].
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
    /// Which field of [`super::settings::Settings`].
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

/// A change to a body or a particle that was refused; the old value stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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

pub(crate) fn check_number(
    field: &'static str,
    x: f64,
    range: std::ops::RangeInclusive<f64>,
) -> Result<(), BodyError> {
    if range.contains(&x) && x.is_finite() {
        return Ok(());
    }
    let (low, high) = (range.start(), range.end());
    let wanted = if high.is_finite() {
        format!("between {low} and {high}")
    } else if low.is_finite() {
        format!("finite and at least {low}")
    } else {
        "finite".into()
    };
    Err(error(field, format!("must be {wanted}, not {x}")))
}

pub(crate) fn error(field: &'static str, problem: impl Into<String>) -> BodyError {
    BodyError { field, problem: problem.into() }
}

/// Refuses a vector with infinite or NaN parts.
pub fn check_vector(field: &'static str, v: Vec3) -> Result<(), BodyError> {
    if v.is_finite() { Ok(()) } else { Err(error(field, format!("must be finite, not {v}"))) }
}

/// Refuses a pose that is not finite or whose rotation is not a unit quaternion.
pub fn check_pose(pose: &crate::math::Pose) -> Result<(), BodyError> {
    check_vector("pose.translation", pose.translation)?;
    let length = pose.rotation.length();
    if !(0.999..=1.001).contains(&length) {
        return Err(error(
            "pose.rotation",
            format!("must be a unit quaternion, but its length is {length}"),
        ));
    }
    Ok(())
}
