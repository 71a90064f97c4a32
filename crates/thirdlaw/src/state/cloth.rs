//! What cloth carries from step to step besides positions and velocities.

use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// What cloth carries from step to step besides positions and velocities.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClothState {
    /// The cloth step is the world's step divided by two to this power.
    pub level: u32,
    /// Steps accepted since the last change of level.
    pub successes: u32,
    /// Steps to wait before trying a larger one.
    pub wait: u32,
    /// Energy that steps made out of nothing and others have not taken out again, J.
    pub owed: f64,
    /// Touching particles, in order.
    pub touches: Vec<LastTouch>,
    /// Pushing pairs of cloth and cloth, and of cloth and features of solids, in order.
    pub pairs: Vec<LastPair>,
    /// Force and torque on bodies in the last step, by slot.
    pub pushes: Vec<(u32, [Vec3; 2])>,
    /// Force on each pinned particle at the end of the last step, N.
    pub pins: Vec<(u32, Vec3)>,
}

/// What is carried from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastTouch {
    /// Which particle.
    pub particle: u32,
    /// Slot of the body.
    pub body: u32,
    /// How it moved along the surface.
    pub grip: Grip,
    /// Out of the body.
    pub normal: Vec3,
    /// Force along the normal, N.
    pub pressure: f64,
    /// Force of friction, N.
    pub friction: Vec3,
}

/// How a touching particle moves along the surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Grip {
    /// Not at all: held in every direction.
    #[default]
    Sticks,
    /// Pushed back by μ times the normal force.
    Slides,
    /// At the limit between the two: dragged back in proportion to its speed.
    Creeps,
}

/// What is carried from step to step of a pair that pushes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastPair {
    /// Which features meet.
    pub kind: HitKind,
    /// Names the pair, together with the kind and the body.
    pub feature: [u32; 3],
    /// Slot of the solid, `NO_BODY` between cloth and cloth.
    pub body: u32,
    /// Force along the normal, N.
    pub pressure: f64,
    /// Speed along the surface, m/s.
    pub slip: f64,
}

impl LastPair {
    pub(crate) fn key(&self) -> (HitKind, [u32; 3], u32) {
        (self.kind, self.feature, self.body)
    }
}

/// Which features meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum HitKind {
    /// A particle and the surface of a solid.
    VertexSolid,
    /// A corner or round part of a solid and the inside of a triangle.
    TriangleSolid,
    /// An edge or round part of a solid and the inside of an edge.
    EdgeSolid,
    /// A particle and a triangle of cloth.
    VertexTriangle,
    /// Two edges of cloth.
    EdgeEdge,
}
