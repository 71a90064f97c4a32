//! The user's own say in who touches whom, and how.
//!
//! ```
//! use std::sync::Arc;
//! use thirdlaw::prelude::*;
//!
//! /// A platform that carries what stands on it, and lets through what comes from below.
//! #[derive(Debug)]
//! struct OneWay(BodyId);
//!
//! impl ContactHook for OneWay {
//!     fn keeps(&self, contact: &mut HookedContact) -> bool {
//!         let Some(upwards) = contact.normal_from(self.0) else { return true };
//!         let rises = contact.other(self.0).velocity.linear.y;
//!         upwards.y > 0.7 && contact.separation > -0.05 && rises < 0.1
//!     }
//! }
//!
//! let mut world = World::new(Settings::default())?;
//! let platform = Body::fixed(Shape::cuboid(Vec3::new(1.0, 0.1, 1.0))?).at(0.0, 2.0, 0.0);
//! let platform = world.add_body(platform)?;
//! world.set_contact_hook(Some(Arc::new(OneWay(platform))));
//! let ball = Body::dynamic(Shape::sphere(0.2)?).moving(8.0 * Vec3::Y);
//! let ball = world.add_body(ball)?;
//! for _ in 0..180 {
//!     let _report = world.step(1.0 / 60.0)?;
//! }
//! // through it on the way up, and carried on the way down
//! assert!((world.center(ball)?.y - 2.3).abs() < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::ids::BodyId;
use crate::math::{Pose, Twist, Vec3};

/// Decides which bodies touch, and changes how.
///
/// It is asked in every step, in the order of the bodies' slots, about bodies that are awake. Whoever
/// implements it owes the engine its promise of the same bits: the answer must follow from the arguments and
/// from what the hook is made of, never from a clock, a counter or the platform's sine. Contacts of cloth,
/// soft bodies and particles do not ask it.
#[doc(alias = "PhysicsHooks")]
pub trait ContactHook: std::fmt::Debug + Send + Sync {
    /// Whether two bodies that come near each other may touch.
    #[doc(alias = "filter_contact_pair")]
    fn may_touch(&self, _bodies: &[HookedBody; 2]) -> bool {
        true
    }

    /// Whether a contact stays; it may be changed. Two bodies have several where one of them has several
    /// parts or triangles.
    #[doc(alias = "modify_solver_contacts")]
    fn keeps(&self, _contact: &mut HookedContact) -> bool {
        true
    }

    /// Under what name it is written with a world and attached again.
    fn name(&self) -> String {
        std::any::type_name::<Self>().into()
    }

    /// A number that differs between hooks with different content, for snapshots.
    fn fingerprint(&self) -> u64 {
        0
    }
}

/// A body as a hook sees it, at the beginning of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HookedBody {
    /// Which.
    pub id: BodyId,
    /// Where its own origin is.
    pub pose: Pose,
    /// Centre of mass, m.
    pub center: Vec3,
    /// Of its centre of mass, and angular.
    pub velocity: Twist,
}

/// A contact as a hook sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HookedContact {
    /// The body in the lower slot, and the other one.
    pub bodies: [HookedBody; 2],
    /// Which part of a compound or triangle of a mesh, of both.
    pub pieces: [u32; 2],
    /// Unit normal from the first to the second.
    pub normal: Vec3,
    /// Middle of its points, m.
    pub point: Vec3,
    /// Least gap of its points, m; negative: overlap.
    pub separation: f64,
    /// Speed at which the bodies come towards each other there, m/s.
    pub approach: f64,
    /// Coulomb's μ, as both materials have it; set it to change it.
    pub friction: f64,
    /// Newton's e, as both materials have it; set it to change it, between 0 and 1.
    pub restitution: f64,
    /// How fast the surface of the second body runs over its body, less that of the first, in axes of the
    /// world, as both materials have it, m/s; set it to change it. The part along the contact counts. A
    /// body that has fallen asleep is not asked about: nothing but a material's own velocity keeps it awake.
    pub surface_velocity: Vec3,
}

impl HookedContact {
    /// The normal away from one of the two bodies.
    pub fn normal_from(&self, id: BodyId) -> Option<Vec3> {
        match self.bodies.map(|body| body.id == id) {
            [true, _] => Some(self.normal),
            [_, true] => Some(-self.normal),
            _ => None,
        }
    }

    /// Lets the surface of one of the two bodies run with this velocity, axes of the world, m/s, while that of
    /// the other stands still on its body. Nothing happens if `id` is neither.
    pub fn run_surface(&mut self, id: BodyId, velocity: Vec3) {
        match self.bodies.map(|body| body.id == id) {
            [true, _] => self.surface_velocity = -velocity,
            [_, true] => self.surface_velocity = velocity,
            _ => {}
        }
    }

    /// The other body than `id`.
    pub fn other(&self, id: BodyId) -> &HookedBody {
        &self.bodies[usize::from(self.bodies[0].id == id)]
    }
}
