//! The rigid bodies near cloth: where they are at the beginning and end of a cloth step, and which
//! of them the cloth's system carries as unknowns.
//!
//! The rigid step comes first, with the cloth's push of the last step. Between its beginning and end
//! a body is taken to accelerate evenly. What the cloth pushes otherwise than expected becomes a change δ of the
//! body's velocity, an unknown of the cloth's system with the body's own mass as its response: two
//! bodies as heavy as the cloth then need no iteration between the two.

use crate::linalg::filter::NONE;
use crate::math::mass::BodyMass;
use crate::math::{Pose, Quat, Twist, Vec3, rotation_from_vector};
use crate::model::Model;
use crate::model::body::mass::body_mass;
use crate::model::body::{BodyKind, Groups, Material};
use crate::model::deformable::model::PinHold;
use crate::shape::Shape;
use crate::state::BodyState;

/// A body that cloth may touch in this step of the world.
#[derive(Clone, Copy, Debug)]
pub struct Solid {
    /// Its slot.
    pub slot: u32,
    /// Which unknown of the cloth's system it is, or `NONE`.
    pub unknown: u32,
    start: Place,
    /// How far it turns in the step, as a rotation vector.
    turn: Vec3,
    path: Path,
    /// Velocities at the beginning and end of the rigid step, of a body that cloth was pushing.
    pushed: Option<[Twist; 2]>,
    /// Shift and turn of the cloth step beyond the path of the rigid step.
    pub extra: [Vec3; 2],
    /// Where it is at the beginning of the cloth step.
    pub before: Place,
    /// Where it would be at the end of the cloth step without a new change of its velocity.
    pub after: Place,
    /// Its velocity over the cloth step, without a new change.
    pub velocity: Twist,
}

/// The way of a centre of mass through the rigid step: at an even acceleration, plus an even drift
/// that makes it end where it did.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    start: [Vec3; 2],
    end: [Vec3; 2],
}

impl Path {
    fn at(&self, share: f64, dt: f64) -> Vec3 {
        let ([x, v], [y, w]) = (self.start, self.end);
        let drift = y - x - 0.5 * dt * (v + w);
        x + share * (dt * (v + 0.5 * share * (w - v)) + drift)
    }
}

/// Centre of mass and orientation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// Centre of mass, m.
    pub center: Vec3,
    /// Orientation.
    pub rotation: Quat,
}

impl Place {
    fn of(body: &BodyState) -> Place {
        Place { center: body.position, rotation: body.rotation }
    }

    /// Pose of the body's own origin.
    pub fn pose(&self, center_of_mass: Vec3) -> Pose {
        Pose::from_parts(self.center - self.rotation * center_of_mass, self.rotation)
    }

    /// Moved by `shift` and turned by the rotation vector `turn`.
    pub fn moved(&self, shift: Vec3, turn: Vec3) -> Place {
        let rotation = if turn == Vec3::ZERO {
            self.rotation
        } else {
            (rotation_from_vector(turn) * self.rotation).normalize()
        };
        Place { center: self.center + shift, rotation }
    }
}

/// A body whose velocity the cloth changes.
#[derive(Clone, Copy, Debug)]
pub struct Unknown {
    /// Its slot.
    pub slot: u32,
    /// Its response.
    pub mass: BodyMass,
    /// Change of its velocity so far in the world's step.
    pub change: [Vec3; 2],
    /// Where that has brought it, beyond the rigid step: shift and rotation vector.
    pub drift: [Vec3; 2],
    /// Impulse and angular impulse that it got from cloth in the world's step.
    pub impulse: [Vec3; 2],
    /// Force and torque of cloth that the rigid step already counted.
    pub expected: [Vec3; 2],
}

/// All bodies near cloth.
#[derive(Clone, Debug, Default)]
pub struct Solids {
    /// In order of slots.
    pub list: Vec<Solid>,
    /// Bodies that are unknowns.
    pub unknowns: Vec<Unknown>,
    /// Slots of bodies that hold pinned particles, in order.
    holders: Vec<u32>,
}

impl Solids {
    /// Takes in the bodies that may come near the box (`lo`, `hi`), and wherever they are those that
    /// hold particles or whose rigid step counted a push.
    pub fn gather(
        &mut self,
        model: &Model,
        (starts, ends): (&[BodyState], &[BodyState]),
        (lo, hi): (Vec3, Vec3),
        pushes: impl Fn(u32) -> [Vec3; 2],
    ) {
        self.list.clear();
        self.unknowns.clear();
        self.holders.clear();
        self.holders.extend(model.sheet.pins.iter().filter_map(|(_, pin)| match pin {
            PinHold::Body { body, .. } => model.slot(*body).ok().map(|slot| slot as u32),
            _ => None,
        }));
        let bonds = model.sheet.body_bonds.iter();
        self.holders.extend(bonds.filter_map(|bond| Some(model.slot(bond.body).ok()? as u32)));
        self.holders.sort_unstable();
        self.holders.dedup();
        for (slot, body) in model.bodies.iter().enumerate().filter(|(_, b)| b.alive) {
            let (start, end) = (&starts[slot], &ends[slot]);
            let bound = self.holders.binary_search(&(slot as u32)).is_ok()
                || pushes(slot as u32) != [Vec3::ZERO; 2];
            if !bound && !body.shape.is_half_space() {
                let pose = |b: &BodyState| Place::of(b).pose(body.center);
                let (a, b) = (body.shape.aabb(&pose(start)), body.shape.aabb(&pose(end)));
                let (min, max) = (a.mins.min(b.mins), a.maxs.max(b.maxs));
                if !(min.cmple(hi).all() && lo.cmple(max).all()) {
                    continue;
                }
            }
            let turn = if start.rotation == end.rotation {
                Vec3::ZERO
            } else {
                crate::math::rotation_vector(end.rotation * start.rotation.conjugate())
            };
            let mut unknown = NONE;
            if body.kind == BodyKind::Dynamic {
                unknown = self.unknowns.len() as u32;
                self.unknowns.push(Unknown {
                    slot: slot as u32,
                    mass: body_mass(body, end.rotation),
                    change: [Vec3::ZERO; 2],
                    drift: [Vec3::ZERO; 2],
                    impulse: [Vec3::ZERO; 2],
                    expected: pushes(slot as u32),
                });
            }
            self.list.push(Solid {
                slot: slot as u32,
                unknown,
                start: Place::of(start),
                turn,
                path: Path {
                    start: [start.position, start.velocity.linear],
                    end: [end.position, end.velocity.linear],
                },
                pushed: (unknown != NONE && pushes(slot as u32) != [Vec3::ZERO; 2])
                    .then_some([start.velocity, end.velocity]),
                extra: [Vec3::ZERO; 2],
                before: Place::default(),
                after: Place::default(),
                velocity: Twist::default(),
            });
        }
    }

    /// Places every body for a cloth step from `from` to `to` (shares of the world's step of `dt`
    /// seconds).
    pub fn place(&mut self, model: &Model, (time, dt): (f64, f64), (from, to): (f64, f64)) {
        let h = (to - from) * dt;
        for solid in &mut self.list {
            let body = &model.bodies[solid.slot as usize];
            let at = |share: f64| match body.motion.pose_at(time + share * dt) {
                Some(pose) => Place {
                    center: pose.translation + pose.rotation * body.center,
                    rotation: pose.rotation,
                },
                None => Place {
                    center: solid.path.at(share, dt),
                    ..solid.start.moved(Vec3::ZERO, share * solid.turn)
                },
            };
            let (before, after) = (at(from), at(to));
            let turn = if before.rotation == after.rotation {
                Vec3::ZERO
            } else {
                crate::math::rotation_vector(after.rotation * before.rotation.conjugate())
            };
            solid.velocity =
                Twist { linear: (after.center - before.center) / h, angular: turn / h };
            (solid.before, solid.after) = (before, after);
            if let Some([start, end]) = solid.pushed {
                // Positions must follow the velocity that contacts are solved for. The path of the
                // rigid step follows the mean, and half of what is solved for twice would come back
                // as speed.
                let linear = start.linear.lerp(end.linear, to);
                let angular = start.angular.lerp(end.angular, to);
                solid.extra =
                    [h * (linear - solid.velocity.linear), h * (angular - solid.velocity.angular)];
                solid.velocity = Twist { linear, angular };
                solid.after = after.moved(solid.extra[0], solid.extra[1]);
            }
            if solid.unknown != NONE {
                let Unknown { change, drift, .. } = &self.unknowns[solid.unknown as usize];
                solid.before = before.moved(drift[0], drift[1]);
                let after = solid.after;
                solid.after = after.moved(drift[0] + h * change[0], drift[1] + h * change[1]);
                solid.velocity.linear += change[0];
                solid.velocity.angular += change[1];
            }
        }
    }

    /// The solid of this slot.
    pub fn find(&self, slot: u32) -> Option<usize> {
        self.list.binary_search_by_key(&slot, |s| s.slot).ok()
    }
}

impl Solid {
    /// Whether cloth pushed it in the last step.
    pub fn is_pushed(&self) -> bool {
        self.pushed.is_some()
    }

    /// Velocity of the point `p` at the end of the step.
    pub fn velocity_at(&self, p: Vec3) -> Vec3 {
        self.velocity.linear + self.velocity.angular.cross(p - self.after.center)
    }

    /// Velocity of the point `p` of the beginning of the step.
    pub fn velocity_before(&self, p: Vec3) -> Vec3 {
        self.velocity.linear + self.velocity.angular.cross(p - self.before.center)
    }

    /// Where it is at the end of the step after a new change `delta` of its velocity.
    pub fn changed(&self, delta: &[Vec3; 2], h: f64) -> Place {
        self.after.moved(h * delta[0], h * delta[1])
    }
}

/// What contact needs of a body.
pub fn surface(model: &Model, slot: u32) -> (&Shape, Vec3, &Material, Groups) {
    let body = &model.bodies[slot as usize];
    (&body.shape, body.center, &body.material, body.groups)
}
