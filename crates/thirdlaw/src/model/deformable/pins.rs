//! Vertices that are held: what a user says about them, and what a step reads.

use super::bonds::{self, Around, Bond, BoundVertex, Held};
use super::{Deformable, DeformableError};
use crate::ids::BodyId;
use crate::math::{Mat3, Vec3};
use crate::model::body::{Keyframe, Keyframes};
use std::sync::Arc;

/// Vertices that are held.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Pin {
    /// Which vertices.
    pub vertices: Vec<u32>,
    /// What holds them.
    pub hold: Hold,
}

/// What holds pinned vertices.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Hold {
    /// The place where they start.
    Place,
    /// A moving frame: vertices keep their place in the frame of the first key.
    Path(Vec<Keyframe>),
    /// A body: vertices keep their place on it, and pull at it.
    Body(BodyId),
    /// A bond to a body, or to a place of what deforms, hard or soft.
    Bond(Bond),
    /// Only the directions given: one or two unit vectors along which they cannot move
    /// (a curtain ring slides along its rail).
    Directions(Vec<Vec3>),
}

/// A vertex that is held.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PinnedVertex {
    /// Which, of its object.
    pub vertex: u32,
    /// By what.
    pub hold: PinHold,
}

/// What holds a vertex.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum PinHold {
    /// A place in the world.
    Place(Vec3),
    /// A place in a frame that follows keyframes.
    Path {
        /// The path.
        motion: Arc<Keyframes>,
        /// Place in that frame.
        local: Vec3,
    },
    /// A place on a body.
    Body {
        /// Which; once it is removed, the vertex is free.
        body: BodyId,
        /// Place in the body's own frame, from its centre of mass.
        local: Vec3,
    },
    /// The projector onto the free directions.
    Directions(Mat3),
}

/// One entry per held vertex, those that springs bind apart; where pins name a vertex twice, the last one
/// counts.
pub(super) fn pins(
    deformable: &Deformable,
    around: &Around<'_>,
) -> Result<(Vec<PinnedVertex>, Vec<BoundVertex>), DeformableError> {
    let value = |problem: String| DeformableError::Value { field: "pins", problem };
    let mut found = std::collections::BTreeMap::new();
    for pin in &deformable.pins {
        let motion = match &pin.hold {
            Hold::Path(keys) => Some(Arc::new(path(keys)?)),
            _ => None,
        };
        for &vertex in &pin.vertices {
            let Some(&at) = deformable.positions.get(vertex as usize) else {
                let count = deformable.positions.len();
                return Err(value(format!("vertex {vertex} is not one of the {count} vertices")));
            };
            found.insert(vertex, held((vertex, at), &pin.hold, motion.as_ref(), around)?);
        }
    }
    let (mut pins, mut bound) = (Vec::new(), Vec::new());
    for held in found.into_values() {
        match held {
            Held::Pin(pin) => pins.push(pin),
            Held::Bond(bond) => bound.push(bond),
        }
    }
    Ok((pins, bound))
}

/// What becomes of a vertex that is at a place and is held.
pub fn hold(
    (vertex, at): (u32, Vec3),
    hold: &Hold,
    around: &Around<'_>,
) -> Result<Held, DeformableError> {
    let motion = match hold {
        Hold::Path(keys) => Some(Arc::new(path(keys)?)),
        _ => None,
    };
    held((vertex, at), hold, motion.as_ref(), around)
}

/// The same where the path has been made, which vertices share.
fn held(
    (vertex, at): (u32, Vec3),
    hold: &Hold,
    motion: Option<&Arc<Keyframes>>,
    around: &Around<'_>,
) -> Result<Held, DeformableError> {
    let hold = match (hold, motion) {
        (Hold::Path(_), Some(motion)) => {
            let first = motion.keys[0];
            let local = first.rotation.conjugate() * (at - first.position);
            PinHold::Path { motion: motion.clone(), local }
        }
        (Hold::Body(body), _) => {
            return bonds::bind((vertex, at), &Bond::body(*body), around);
        }
        (Hold::Bond(bond), _) => return bonds::bind((vertex, at), bond, around),
        (Hold::Directions(axes), _) => PinHold::Directions(free_directions(axes)?),
        _ => PinHold::Place(at),
    };
    Ok(Held::Pin(PinnedVertex { vertex, hold }))
}

fn path(keys: &[Keyframe]) -> Result<Keyframes, DeformableError> {
    let value = |problem: String| DeformableError::Value { field: "pins.path", problem };
    if keys.is_empty() {
        return Err(value("needs at least one key".into()));
    }
    for (i, key) in keys.iter().enumerate() {
        let unit = (key.rotation.length() - 1.0).abs() < 1e-3;
        if !(key.time.is_finite() && key.position.is_finite() && unit) {
            return Err(value(format!("key {i} must be finite, with a unit quaternion")));
        }
        if i > 0 && key.time <= keys[i - 1].time {
            return Err(value(format!("the times must increase, but key {i} does not")));
        }
    }
    let keys = keys.iter().map(|k| k.normalized()).collect();
    Ok(Keyframes { keys, ..Keyframes::default() })
}

/// S for one to three held directions.
fn free_directions(axes: &[Vec3]) -> Result<Mat3, DeformableError> {
    let mut free = Mat3::IDENTITY;
    for axis in axes {
        let left = free * *axis;
        let Some(unit) = left.try_normalize().filter(|_| left.length() > 1e-6 * axis.length())
        else {
            return Err(DeformableError::Value {
                field: "pins.directions",
                problem: format!("must be finite and independent; {axis} is not"),
            });
        };
        free -= crate::math::outer(unit, unit);
    }
    Ok(free)
}
