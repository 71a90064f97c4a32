//! What can be wrong with a joint.

use crate::ids::{JointId, StaleId};

/// A joint, or a change to one, that was refused; nothing was changed.
#[derive(Clone, Debug, PartialEq)]
pub struct JointError {
    /// Which joint, once it has an id.
    pub joint: Option<JointId>,
    /// Which field of [`super::description::Joint`].
    pub field: &'static str,
    /// What is wrong with it and what would be right.
    pub problem: String,
}

impl JointError {
    pub(crate) fn new(field: &'static str, problem: impl Into<String>) -> JointError {
        JointError { joint: None, field, problem: problem.into() }
    }

    pub(crate) fn of(mut self, id: JointId) -> JointError {
        self.joint = Some(id);
        self
    }
}

impl From<StaleId> for JointError {
    fn from(error: StaleId) -> JointError {
        JointError::new("id", error.to_string())
    }
}

impl std::fmt::Display for JointError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(id) = self.joint {
            write!(f, "{id}: ")?;
        }
        write!(f, "{}: {}", self.field, self.problem)
    }
}

impl std::error::Error for JointError {}
