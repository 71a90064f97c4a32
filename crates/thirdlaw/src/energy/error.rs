//! Elements that cannot be.

/// What is wrong with an element, or with what it is made of.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElementError {
    /// An element names a vertex that is not there.
    NoSuchVertex {
        /// Of which energy.
        energy: &'static str,
        /// Which element.
        element: usize,
        /// The vertex it names.
        vertex: u32,
    },
    /// The shape of an element at rest.
    Shape {
        /// Of which energy.
        energy: &'static str,
        /// Which element.
        element: usize,
        /// What is wrong with it and what would be right.
        problem: &'static str,
    },
    /// A number of the material.
    Material {
        /// Of which energy.
        energy: &'static str,
        /// Which number.
        field: &'static str,
        /// What is wrong with it and what would be right.
        problem: String,
    },
}

impl std::fmt::Display for ElementError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ElementError::NoSuchVertex { energy, element, vertex } => {
                write!(f, "{energy} {element} names vertex {vertex}, which is not there")
            }
            ElementError::Shape { energy, element, problem } => {
                write!(f, "{energy} {element} {problem}")
            }
            ElementError::Material { energy, field, problem } => {
                write!(f, "{field} of {energy} {problem}")
            }
        }
    }
}

impl std::error::Error for ElementError {}
