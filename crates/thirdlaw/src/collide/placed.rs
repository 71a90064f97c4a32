//! Bodies as the narrow phase sees them in a step: what every pair asks for, close together in memory
//! and worked out once a body.

use super::boxes::BoxPair;
use super::broad::{farthest_look, rest_margin, turning};
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::model::{BodyModel, Model};
use crate::shape::{Convex, Geometry};
use crate::state::{BodyState, State};
use rayon::prelude::*;

/// Bodies that a thread places at least.
const TOGETHER: usize = 512;

/// One body.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Centre of mass, m.
    pub position: Vec3,
    /// Orientation, twice.
    pub rotation: Quat,
    pub axes: Mat3,
    /// Where the origin of its shape is, m.
    pub origin: Vec3,
    /// Velocity of the centre of mass, m/s.
    velocity: Vec3,
    /// Distances of the margin, m: at rest, by turning, and the most of what moving adds.
    pub rest: f64,
    turning: f64,
    farthest: f64,
    /// Distance from the centre of mass to the farthest point, m.
    pub reach: f64,
    /// Half its thickness where it is thinnest, m; that of ground is without end.
    pub thickness: f64,
    /// Half extents of a box; negative for all else.
    half: Vec3,
}

/// Fills `out` with the bodies of a step of `dt` seconds.
pub fn place_all(model: &Model, state: &State, dt: f64, out: &mut Vec<Placed>) {
    out.clear();
    let bodies = model.bodies.par_iter().zip(&state.bodies).with_min_len(TOGETHER);
    out.par_extend(bodies.map(|(body, now)| Placed::new(body, now, dt)));
}

impl Placed {
    fn new(body: &BodyModel, now: &BodyState, dt: f64) -> Placed {
        let axes = Mat3::from_quat(now.rotation);
        let solid = !body.shape.is_mesh() && !body.shape.is_half_space();
        Placed {
            position: now.position,
            rotation: now.rotation,
            axes,
            origin: now.position - axes * body.center,
            velocity: now.velocity.linear,
            rest: rest_margin(body),
            turning: turning(body, now, dt),
            farthest: farthest_look(body),
            reach: body.reach,
            thickness: if solid { body.shape.inner_radius() } else { f64::INFINITY },
            half: match body.shape.geometry() {
                Geometry::Convex(Convex::Cuboid { half_extents }) => *half_extents,
                _ => Vec3::NEG_ONE,
            },
        }
    }

    /// The pose of its shape.
    pub fn pose(&self) -> Pose {
        Pose::from_parts(self.origin, self.rotation)
    }
}

/// Distance at which contacts of a pair are looked for, m. It follows from the relative motion, so
/// that an observer who moves along sees the same contacts.
pub fn pair_margin(a: &Placed, b: &Placed, dt: f64) -> f64 {
    let travel = a.velocity.distance(b.velocity) * dt + a.turning + b.turning;
    a.rest.min(b.rest) + travel.min(a.farthest.min(b.farthest))
}

/// Two bodies that are boxes, in the axes of the first.
pub(super) fn box_pair(a: &Placed, b: &Placed) -> Option<BoxPair> {
    if a.half.x < 0.0 || b.half.x < 0.0 {
        return None;
    }
    let to_a = a.axes.transpose();
    let between = to_a * (b.origin - a.origin);
    Some(BoxPair { half: [a.half, b.half], turn: to_a * b.axes, between })
}
