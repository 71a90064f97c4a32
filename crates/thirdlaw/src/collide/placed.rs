//! Bodies as collision detection sees them in a step: what every pair asks for, close together in memory
//! and worked out once a body.

use super::box_mesh::BoxOnMesh;
use super::boxes::BoxPair;
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::model::body::model::BodyModel;
use crate::shape::{Aabb, Convex, Geometry};
use crate::state::body::BodyState;

/// One body. What kept contacts ask for comes first.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Placed {
    /// Centre of mass, m.
    pub position: Vec3,
    /// Orientation, twice.
    pub rotation: Quat,
    pub axes: Mat3,
    /// Velocity of the centre of mass, m/s.
    pub velocity: Vec3,
    /// Distance at which contacts are looked for at rest, m, and what turning, or turning round, adds in a step.
    pub rest: f64,
    turning: f64,
    /// Way that gravity adds in a step, m, where that is more than the body looks ahead at rest: what is a
    /// millimetre thick falls through itself from rest.
    pub fall: Vec3,
    /// Distance from the centre of mass to the farthest point, m: what moving adds at most.
    pub reach: f64,
    /// Half its thickness where it is thinnest, m; that of ground is without end.
    pub thickness: f64,
    /// Half extents of a box; negative for all else.
    half: Vec3,
    /// Where the origin of its shape is, m.
    pub origin: Vec3,
    /// Centre of mass in the frame of the shape, m.
    pub center: Vec3,
    /// Whether it moves by forces and has restitution.
    bounces: bool,
}

impl Placed {
    /// What is in a slot without a body.
    pub const ABSENT: Placed = Placed {
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        axes: Mat3::IDENTITY,
        velocity: Vec3::ZERO,
        rest: 0.0,
        turning: 0.0,
        fall: Vec3::ZERO,
        reach: 0.0,
        thickness: 0.0,
        half: Vec3::NEG_ONE,
        origin: Vec3::ZERO,
        center: Vec3::ZERO,
        bounces: false,
    };

    /// The part that kept contacts ask for.
    pub fn hot(&self) -> *const [u8; std::mem::offset_of!(Placed, half)] {
        std::ptr::from_ref(self).cast()
    }

    /// A body in a step of `dt` seconds.
    pub fn new(body: &BodyModel, now: &BodyState, dt: f64) -> Placed {
        let solid = !body.shape.is_mesh() && !body.shape.is_half_space();
        let mut placed = Placed {
            rest: rest_margin(body),
            reach: body.reach,
            thickness: if solid { body.shape.inner_radius() } else { f64::INFINITY },
            half: match body.shape.geometry() {
                Geometry::Convex(Convex::Cuboid { half_extents }) => *half_extents,
                _ => Vec3::NEG_ONE,
            },
            center: body.center,
            bounces: body.is_dynamic() && body.bounces(),
            ..Placed::ABSENT
        };
        placed.move_to(now, dt);
        placed
    }

    /// The same body in another step.
    pub fn move_to(&mut self, now: &BodyState, dt: f64) {
        self.position = now.position;
        self.rotation = now.rotation;
        self.axes = Mat3::from_quat(now.rotation);
        self.origin = now.position - self.axes * self.center;
        self.velocity = now.velocity.linear;
        // the way of its fastest point by turning; half-spaces have none
        let speed = now.velocity.angular.length();
        self.turning = if speed > 0.0 { speed * self.reach * dt } else { 0.0 };
        // what bounces may turn round within a step, and go against what it went along with
        if self.bounces {
            self.turning += self.velocity.length() * dt;
        }
    }

    /// Notes what gravity, m/s², does in a step of `dt` seconds.
    pub fn let_fall(&mut self, (body, now): (&BodyModel, &BodyState), gravity: Vec3, dt: f64) {
        let falls = body.is_dynamic() && !now.asleep;
        let fall = dt * dt * body.gravity_scale * gravity;
        let far = fall.length_squared() > self.rest * self.rest;
        self.fall = if falls && far { fall } else { Vec3::ZERO };
    }

    /// Whether it is a box.
    pub fn is_box(&self) -> bool {
        self.half.x >= 0.0
    }

    /// The pose of its shape.
    pub fn pose(&self) -> Pose {
        Pose::from_parts(self.origin, self.rotation)
    }

    /// Whether the body has not moved since and rests.
    pub fn rests_at(&self, now: &BodyState) -> bool {
        self.position == now.position
            && self.rotation == now.rotation
            && now.velocity == Default::default()
            && self.velocity == Vec3::ZERO
            && self.turning == 0.0
    }

    /// The most that a point of the body has gone to where it is now, m.
    pub fn way_to(&self, now: &BodyState) -> f64 {
        let turn = (self.rotation.conjugate() * now.rotation).xyz();
        let turned = if turn == Vec3::ZERO { 0.0 } else { 2.0 * turn.length() * self.reach };
        self.position.distance(now.position) + turned
    }

    /// How far ahead of its motion in a step of `dt` seconds it looks for contacts, m. A contact's normal
    /// is worth knowing only near the body, so no farther than it is long; sweeping covers the rest.
    pub fn travel(&self, dt: f64) -> f64 {
        (self.velocity.length() * dt + self.turning + self.fall.length()).min(self.reach)
    }

    /// Whether it goes farther in a step of `dt` seconds than it looks ahead.
    pub fn outruns_its_look(&self, dt: f64) -> bool {
        self.velocity.length() * dt + self.turning + self.fall.length() > self.reach
    }

    /// A box around all that it sweeps in a step of `dt` seconds.
    pub fn swept(&self, dt: f64) -> Aabb {
        let end = self.position + dt * self.velocity + self.fall;
        let around = Vec3::splat(self.reach + self.rest);
        Aabb::new(self.position.min(end) - around, self.position.max(end) + around)
    }

    /// The box around its shape along the world's axes.
    pub fn bounds(&self, body: &BodyModel) -> Aabb {
        if !self.is_box() {
            return body.shape.aabb(&self.pose());
        }
        let Mat3 { x_axis, y_axis, z_axis } = self.axes;
        let extent =
            x_axis.abs() * self.half.x + y_axis.abs() * self.half.y + z_axis.abs() * self.half.z;
        Aabb::new(self.origin - extent, self.origin + extent)
    }
}

/// Reach beyond which a body looks no farther, m: half-spaces have no end.
const FARTHEST: f64 = 1e3;

/// Distance at which contacts are looked for even between bodies at rest, m: far enough that a
/// contact is known before it is needed, small against the body.
fn rest_margin(body: &BodyModel) -> f64 {
    0.01 * body.reach.min(FARTHEST)
}

/// Distance at which contacts of a pair are looked for, m. It follows from the relative motion, so
/// that an observer who moves along sees the same contacts.
pub fn pair_margin(a: &Placed, b: &Placed, dt: f64) -> f64 {
    a.rest.min(b.rest) + pair_travel(a, b, dt).min(a.reach.min(b.reach))
}

/// The most that points of a pair approach each other in a step of `dt` seconds, m.
fn pair_travel(a: &Placed, b: &Placed, dt: f64) -> f64 {
    a.velocity.distance(b.velocity) * dt + a.turning + b.turning + a.fall.distance(b.fall)
}

/// Whether a pair may meet in a step of `dt` seconds farther away than contacts are looked for.
pub fn outruns_margin(a: &Placed, b: &Placed, dt: f64) -> bool {
    pair_travel(a, b, dt) > a.reach.min(b.reach)
}

/// Whether no points of a pair approach each other at more than `speed` m/s.
pub fn is_slower(a: &Placed, b: &Placed, dt: f64, speed: f64) -> bool {
    let left = speed * dt - a.turning - b.turning;
    left > 0.0 && a.velocity.distance_squared(b.velocity) * dt * dt < left * left
}

/// Two bodies that are boxes, in the axes of the first.
pub(super) fn box_pair(a: &Placed, b: &Placed) -> Option<BoxPair> {
    if !a.is_box() || !b.is_box() {
        return None;
    }
    let to_a = a.axes.transpose();
    let between = to_a * (b.origin - a.origin);
    Some(BoxPair { half: [a.half, b.half], turn: to_a * b.axes, between })
}

/// A body that is a box on one that is a mesh.
pub(super) fn box_on_mesh(cuboid: &Placed, mesh: &Placed, margin: f64) -> BoxOnMesh {
    let to_mesh = mesh.axes.transpose();
    let between = to_mesh * (mesh.origin - cuboid.origin);
    BoxOnMesh::with_axes(cuboid.half, &(to_mesh * cuboid.axes), between, margin)
}
