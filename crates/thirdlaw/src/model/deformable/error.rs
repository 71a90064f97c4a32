//! Deformable objects that cannot be simulated.

use crate::energy::ElementError;
use crate::ids::{BodyId, StaleId};

/// A description of a deformable object that cannot be simulated.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DeformableError {
    /// There are no vertices.
    Empty,
    /// The position of a vertex is infinite, NaN or out of reach.
    NotFinite {
        /// Which vertex.
        vertex: usize,
    },
    /// Neither its elements nor the description give a vertex a mass, or it is not a mass.
    NoMass {
        /// Which vertex.
        vertex: usize,
    },
    /// A triangle of the surface names a vertex that is not there, or one twice.
    Triangle {
        /// Which triangle.
        triangle: usize,
        /// Its vertices.
        vertices: [u32; 3],
    },
    /// An element.
    Element(ElementError),
    /// A number of the description.
    Value {
        /// Which field.
        field: &'static str,
        /// What is wrong with it and what would be right.
        problem: String,
    },
    /// A pin names a body that is not in this world.
    NoSuchBody(BodyId),
    /// The id names nothing.
    Stale(StaleId),
}

impl std::fmt::Display for DeformableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DeformableError::Empty => write!(f, "there are no vertices"),
            DeformableError::NotFinite { vertex } => {
                write!(f, "the position of vertex {vertex} is infinite or NaN")
            }
            DeformableError::NoMass { vertex } => {
                write!(f, "vertex {vertex} has no mass; give it one, or an element with density")
            }
            DeformableError::Triangle { triangle, vertices: [a, b, c] } => write!(
                f,
                "triangle {triangle} names the vertices {a}, {b} and {c}, which must be three of \
                 those that are there"
            ),
            DeformableError::Element(error) => error.fmt(f),
            DeformableError::Value { field, problem } => write!(f, "{field}: {problem}"),
            DeformableError::NoSuchBody(body) => write!(f, "pins: {body} is not in this world"),
            DeformableError::Stale(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DeformableError {}

impl From<ElementError> for DeformableError {
    fn from(error: ElementError) -> Self {
        DeformableError::Element(error)
    }
}
