//! Robots as URDF files describe them: links, their inertias and shapes, and the tree of joints.
//!
//! Read with a plain XML parser that knows places, so that every error names its line and column;
//! elements that mean nothing here are listed instead of being passed over in silence.

mod read;
mod tree;

pub use read::read;

use thirdlaw::math::{Mat3, Pose, Vec3};

/// A robot.
#[derive(Clone, Debug, Default)]
pub struct Robot {
    /// In the order of the file.
    pub links: Vec<Link>,
    /// In the order of the file.
    pub joints: Vec<RobotJoint>,
    /// All links, each after the one it hangs on.
    pub order: Vec<usize>,
    /// The joint that each link hangs on; none for the root.
    pub parents: Vec<Option<usize>>,
    /// What of the file is not used.
    pub notes: Vec<String>,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Its mass, unless it is only a frame.
    pub inertial: Option<Inertial>,
    /// What it touches with.
    pub collisions: Vec<Part>,
    /// What it looks like.
    pub visuals: Vec<Part>,
    /// Red, green, blue, 0 to 1.
    pub color: Option<[f32; 3]>,
}

/// Mass of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertial {
    /// Centre of mass and axes of `inertia` in the link's frame.
    pub pose: Pose,
    /// kg.
    pub mass: f64,
    /// About the centre of mass, kg·m².
    pub inertia: Mat3,
}

/// A shape on a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// In the link's frame.
    pub pose: Pose,
    /// What it is.
    pub form: Form,
    /// Line and column, for what cannot be made of it.
    pub place: (u32, u32),
}

/// A shape. Cylinders and capsules lie along z.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Side lengths, m.
    Box(Vec3),
    /// Radius and length, m.
    Cylinder(f64, f64),
    /// Radius and length of the straight part, m.
    Capsule(f64, f64),
    /// Radius, m.
    Sphere(f64),
    /// File, and factors on its vertices.
    Mesh(String, Vec3),
}

/// A joint between two links.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotJoint {
    /// Its name.
    pub name: String,
    /// What it lets the child do.
    pub motion: Motion,
    /// Index of the link it hangs on.
    pub parent: usize,
    /// Index of the link that hangs on it.
    pub child: usize,
    /// Frame of the child in the frame of the parent when the joint is at zero.
    pub origin: Pose,
    /// In the child's frame, of unit length.
    pub axis: Vec3,
    /// Lower and upper, m or rad.
    pub limits: Option<(f64, f64)>,
    /// Largest force (N) or torque (N·m) of its motor.
    pub effort: Option<f64>,
    /// N·s/m or N·m·s/rad.
    pub damping: f64,
    /// N or N·m.
    pub friction: f64,
    /// It follows another joint: its index, factor and offset.
    pub mimic: Option<(usize, f64, f64)>,
    /// Line and column.
    pub place: (u32, u32),
}

/// What a joint lets its child do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Nothing.
    Fixed,
    /// Turn about the axis.
    Turn,
    /// Slide along the axis.
    Slide,
    /// Slide in the plane normal to the axis and turn about it.
    Plane,
    /// Everything.
    Free,
}

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line and column, from 1.
    pub place: (u32, u32),
    /// What is wrong.
    pub message: String,
}
