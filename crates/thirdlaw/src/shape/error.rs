//! Why a shape was refused.

use std::fmt;

/// What is wrong with the numbers a shape was to be made from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShapeError {
    /// A length is not a finite number greater than zero.
    Size {
        /// Which one.
        what: &'static str,
        /// What was given, m.
        value: f64,
    },
    /// A normal is zero or not finite.
    Normal,
    /// A vertex, point or height is not finite or too large.
    Vertex {
        /// Its index in the list given.
        index: usize,
    },
    /// A triangle names a vertex that is not in the list.
    Index {
        /// The triangle.
        triangle: usize,
        /// The vertex it names.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// The mesh has no triangle with an area.
    EmptyMesh,
    /// Fewer than four points, or all of them in one plane.
    FlatHull {
        /// Number of points given.
        points: usize,
    },
    /// The hull could not be built from the points.
    Hull,
    /// A height field needs at least two rows and two columns and a height for each crossing.
    HeightField {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        columns: usize,
        /// Heights given.
        heights: usize,
    },
    /// Only a box, a cylinder, a cone or a hull can be rounded.
    Rounded,
    /// A shape of the user's own that is none.
    Own {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A compound without parts.
    EmptyCompound,
    /// A part of a compound is not a bounded convex shape.
    Part {
        /// Its index.
        index: usize,
    },
    /// The pose of a part is not finite.
    PartPose {
        /// Its index.
        index: usize,
    },
}

impl std::error::Error for ShapeError {}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ShapeError::Size { what, value } => {
                write!(f, "{what} is {value:?}; it must be a length between 1e-12 and 1e12 m")
            }
            ShapeError::Normal => {
                write!(f, "the normal has no direction; give a finite vector other than zero")
            }
            ShapeError::Vertex { index } => {
                write!(
                    f,
                    "vertex {index} is not finite or beyond 1e12 m; check the source of the mesh"
                )
            }
            ShapeError::Index { triangle, index, vertices } => {
                write!(
                    f,
                    "triangle {triangle} names vertex {index}, but there are {vertices} (counted from 0)"
                )
            }
            ShapeError::EmptyMesh => {
                write!(f, "the mesh has no triangle with an area; give at least one")
            }
            ShapeError::FlatHull { points } => {
                write!(
                    f,
                    "{points} points span no volume; a convex hull needs four that are not in one plane"
                )
            }
            ShapeError::Hull => {
                write!(f, "no convex hull could be built from these points; remove near-duplicates")
            }
            ShapeError::HeightField { rows, columns, heights } => {
                write!(
                    f,
                    "a height field of {rows} rows and {columns} columns needs at least 2 of each and \
                     rows × columns heights, row by row; {heights} were given"
                )
            }
            ShapeError::Rounded => {
                write!(f, "only a box, a cylinder, a cone or a hull that is sharp can be rounded")
            }
            ShapeError::Own { problem } => {
                write!(f, "this shape of your own cannot be a convex solid: {problem}")
            }
            ShapeError::EmptyCompound => write!(f, "a compound needs at least one part"),
            ShapeError::Part { index } => {
                write!(
                    f,
                    "part {index} of the compound is not a bounded convex shape; decompose meshes first, and \
                     give half-spaces a body of their own"
                )
            }
            ShapeError::PartPose { index } => {
                write!(
                    f,
                    "the pose of part {index} is not finite or its rotation is not of unit length"
                )
            }
        }
    }
}
