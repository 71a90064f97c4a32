//! What a user says about a rigid body when adding it to a world.
//!
//! A [`Body`] is a plain description with defaults; `World::add_body` checks every number of it and
//! refuses what is impossible, naming the field.

pub mod mass;
pub mod model;
pub mod part;
pub mod rotation;

use crate::math::{Mat3, Pose, Quat, Vec3, rotation_from_vector, rotation_vector};
use crate::shape::Shape;
use part::BodyPart;
use serde::{Deserialize, Serialize};

/// A rigid body to be added to a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[doc(alias = "RigidBodyBuilder")]
#[doc(alias = "ColliderBuilder")]
#[must_use = "a body does nothing until it is added to a world"]
pub struct Body {
    /// Whether forces, keyframes or nothing moves it.
    pub kind: BodyKind,
    /// Its surface for collisions.
    pub shape: Shape,
    /// Where the body's own origin is placed, m.
    pub pose: Pose,
    /// Velocity of the centre of mass, m/s.
    pub linear_velocity: Vec3,
    /// Angular velocity in world axes, rad/s.
    pub angular_velocity: Vec3,
    /// How heavy it is; only read for dynamic bodies.
    pub mass: Mass,
    /// Friction and restitution.
    pub material: Material,
    /// Which bodies it may touch.
    pub groups: Groups,
    /// Which of those it pushes. Two that touch and do not push each other go through each other, and
    /// tell of it ([`crate::World::silent_contacts`]); deformable objects and particles do not ask.
    pub solver_groups: Groups,
    /// Who gives way: where two dynamic bodies touch, the one of lower dominance feels the contact, and the
    /// other one goes its way as if it were not there. Joints, cloth and particles do not ask.
    #[doc(alias = "dominance_group")]
    pub dominance: i8,
    /// Further shapes, with what each of them has of its own.
    pub parts: Vec<BodyPart>,
    /// Decay of the linear velocity, 1/s.
    pub linear_damping: f64,
    /// Decay of the angular velocity, 1/s.
    pub angular_damping: f64,
    /// Factor on the world's gravity.
    pub gravity_scale: f64,
    /// World axes along and about which it cannot move.
    pub locks: AxisLocks,
    /// Constant and timed forces.
    pub forces: Vec<Force>,
    /// Path of a kinematic body.
    pub motion: Keyframes,
    /// Whether it may fall asleep where the world lets bodies sleep.
    pub can_sleep: bool,
    /// Whether it only tells what overlaps it, and touches nothing.
    pub sensor: bool,
    /// Whether it takes part. One that does not stays where it is, touches nothing and is hit by nothing.
    pub enabled: bool,
}

/// What moves a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BodyKind {
    /// Forces and contacts.
    Dynamic,
    /// Its keyframes, or its given velocity; nothing pushes it.
    Kinematic,
    /// Nothing.
    Fixed,
}

/// How the mass of a dynamic body is given.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Mass {
    /// kg/m³, from which mass, centre and inertia of the shape follow.
    Density(f64),
    /// kg, spread over the shape evenly.
    Total(f64),
    /// Everything by hand.
    Explicit {
        /// kg.
        mass: f64,
        /// In the body's own frame, m.
        center: Vec3,
        /// About the centre of mass in the body's own axes, kg·m².
        inertia: Mat3,
    },
}

/// How surfaces rub and bounce.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Coulomb's μ ≥ 0.
    pub friction: f64,
    /// Newton's e, 0 to 1.
    pub restitution: f64,
    /// Coulomb's coefficient while surfaces stick, at least μ; `None`: μ. Combined as friction is.
    pub static_friction: Option<f64>,
    /// Lever of rolling friction, m: a contact pressed by N resists rolling by a torque of up to this times N.
    /// Of two bodies the larger counts.
    pub rolling_friction: f64,
    /// Lever of torsional friction, m: the same about the normal, beside what friction at its points does.
    /// Of two bodies the larger counts.
    pub torsional_friction: f64,
    /// Velocity of the surface against its body, in the body's own axes, m/s, as of a conveyor belt. The part
    /// along a contact counts.
    pub surface_velocity: Vec3,
    /// Approach speed below which nothing bounces off it, m/s; `None`: that of the settings. Of two bodies the
    /// larger counts.
    pub restitution_threshold: Option<f64>,
    /// How the friction of two touching bodies is combined.
    pub friction_combine: Combine,
    /// How the restitution of two touching bodies is combined.
    pub restitution_combine: Combine,
}

impl Default for Material {
    fn default() -> Self {
        Material {
            friction: 0.5,
            restitution: 0.0,
            static_friction: None,
            rolling_friction: 0.0,
            torsional_friction: 0.0,
            surface_velocity: Vec3::ZERO,
            restitution_threshold: None,
            friction_combine: Combine::GeometricMean,
            restitution_combine: Combine::Maximum,
        }
    }
}

impl Material {
    /// μ of it and another.
    pub(crate) fn combined_friction(&self, other: &Material) -> f64 {
        self.friction_combine.apply(self.friction, other.friction_combine, other.friction)
    }

    /// e of it and another.
    pub(crate) fn combined_restitution(&self, other: &Material) -> f64 {
        let rule = other.restitution_combine;
        self.restitution_combine.apply(self.restitution, rule, other.restitution)
    }

    /// Whether μ and e are all that it asks of a contact.
    pub(crate) fn is_plain(&self) -> bool {
        self.static_friction.is_none()
            && self.rolling_friction == 0.0
            && self.torsional_friction == 0.0
            && self.surface_velocity == Vec3::ZERO
    }
}

/// How two numbers of two materials become one. Where the two bodies differ in their rule, the one
/// later in this list is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Combine {
    /// √(x·y).
    GeometricMean,
    /// (x + y)/2.
    Average,
    /// x·y.
    Multiply,
    /// The smaller.
    Minimum,
    /// The larger.
    Maximum,
}

impl Combine {
    /// The combined value of `x` under rule `self` and `y` under rule `other`.
    pub fn apply(self, x: f64, other: Combine, y: f64) -> f64 {
        match self.max(other) {
            Combine::GeometricMean => (x * y).sqrt(),
            Combine::Average => 0.5 * (x + y),
            Combine::Multiply => x * y,
            Combine::Minimum => x.min(y),
            Combine::Maximum => x.max(y),
        }
    }
}

/// Two bodies may touch if each is a member of a group the other collides with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Groups {
    /// Groups it belongs to, one bit each.
    pub member: u32,
    /// Groups it collides with, one bit each.
    pub collides: u32,
}

impl Default for Groups {
    fn default() -> Self {
        Groups { member: 1, collides: u32::MAX }
    }
}

impl Groups {
    /// Whether two bodies of these groups may touch.
    pub fn touch(self, other: Groups) -> bool {
        self.member & other.collides != 0 && other.member & self.collides != 0
    }
}

/// World axes along (translation) and about (rotation) which a body cannot move: x, y, z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisLocks {
    /// Locked translation axes.
    pub translation: [bool; 3],
    /// Locked rotation axes.
    pub rotation: [bool; 3],
}

/// A force and torque that acts on a body over a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Force {
    /// N.
    pub force: Vec3,
    /// N·m.
    pub torque: Vec3,
    /// Where the force acts, in the body's own frame; the centre of mass if absent.
    pub point: Option<Vec3>,
    /// Force and torque turn with the body instead of keeping their world direction.
    pub local: bool,
    /// First moment it acts, s.
    pub from: f64,
    /// Moment it ends, s; may be infinite.
    pub until: f64,
}

impl Default for Force {
    fn default() -> Self {
        Force {
            force: Vec3::ZERO,
            torque: Vec3::ZERO,
            point: None,
            local: false,
            from: 0.0,
            until: f64::INFINITY,
        }
    }
}

/// The path of a kinematic body: poses at increasing times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Keyframes {
    /// In increasing order of time; empty: the body keeps the velocity it was given.
    pub keys: Vec<Keyframe>,
    /// Start again after the last key.
    pub repeat: bool,
    /// Ease in and out of every key instead of moving straight from one to the next.
    pub smooth: bool,
}

/// One pose of a path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Keyframe {
    /// s.
    pub time: f64,
    /// Origin of the body, m.
    pub position: Vec3,
    /// Orientation.
    pub rotation: Quat,
}

impl Keyframe {
    /// The key with its rotation as an exact unit quaternion.
    pub(crate) fn normalized(&self) -> Keyframe {
        Keyframe { rotation: self.rotation.normalize(), ..*self }
    }
}

impl Keyframes {
    /// Pose of the body's origin at `time`; `None` without keys.
    pub fn pose_at(&self, time: f64) -> Option<Pose> {
        let (first, last) = (self.keys.first()?, self.keys.last()?);
        let span = last.time - first.time;
        let time = if self.repeat && span > 0.0 && time > last.time {
            first.time + libm::fmod(time - first.time, span)
        } else {
            time.clamp(first.time, last.time)
        };
        let next = self.keys.partition_point(|k| k.time <= time).clamp(1, self.keys.len());
        let a = &self.keys[next - 1];
        let Some(b) = self.keys.get(next) else {
            return Some(Pose::from_parts(a.position, a.rotation));
        };
        if a.position == b.position && a.rotation == b.rotation {
            return Some(Pose::from_parts(a.position, a.rotation));
        }
        let mut s = (time - a.time) / (b.time - a.time);
        if self.smooth {
            s = s * s * (3.0 - 2.0 * s);
        }
        // the shorter of the two ways round
        let b_rotation = if a.rotation.dot(b.rotation) < 0.0 { -b.rotation } else { b.rotation };
        let turn = rotation_vector(b_rotation * a.rotation.conjugate());
        Some(Pose::from_parts(
            a.position + s * (b.position - a.position),
            (rotation_from_vector(s * turn) * a.rotation).normalize(),
        ))
    }
}

impl Body {
    /// A body moved by forces, of water's density.
    pub fn dynamic(shape: Shape) -> Body {
        Body::new(BodyKind::Dynamic, shape)
    }

    /// A body moved by its keyframes or its given velocity.
    pub fn kinematic(shape: Shape) -> Body {
        Body::new(BodyKind::Kinematic, shape)
    }

    /// A body that never moves.
    pub fn fixed(shape: Shape) -> Body {
        Body::new(BodyKind::Fixed, shape)
    }

    fn new(kind: BodyKind, shape: Shape) -> Body {
        Body {
            kind,
            shape,
            pose: Pose::IDENTITY,
            linear_velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            mass: Mass::Density(1000.0),
            material: Material::default(),
            groups: Groups::default(),
            solver_groups: Groups::default(),
            dominance: 0,
            parts: Vec::new(),
            linear_damping: 0.0,
            angular_damping: 0.0,
            gravity_scale: 1.0,
            locks: AxisLocks::default(),
            forces: Vec::new(),
            motion: Keyframes::default(),
            can_sleep: true,
            sensor: false,
            enabled: true,
        }
    }

    /// Places the body's origin, m.
    pub fn at(mut self, x: f64, y: f64, z: f64) -> Body {
        self.pose.translation = Vec3::new(x, y, z);
        self
    }

    /// Turns the body by |θ| radians about θ.
    pub fn rotated(mut self, theta: Vec3) -> Body {
        self.pose.rotation = rotation_from_vector(theta);
        self
    }

    /// Gives the centre of mass a velocity, m/s.
    pub fn moving(mut self, velocity: Vec3) -> Body {
        self.linear_velocity = velocity;
        self
    }

    /// Gives an angular velocity in world axes, rad/s.
    pub fn spinning(mut self, angular_velocity: Vec3) -> Body {
        self.angular_velocity = angular_velocity;
        self
    }

    /// Sets the density, kg/m³.
    pub fn density(mut self, density: f64) -> Body {
        self.mass = Mass::Density(density);
        self
    }

    /// Sets the mass, kg.
    pub fn mass(mut self, mass: f64) -> Body {
        self.mass = Mass::Total(mass);
        self
    }

    /// Sets Coulomb's μ.
    pub fn friction(mut self, friction: f64) -> Body {
        self.material.friction = friction;
        self
    }

    /// Sets Newton's e.
    pub fn restitution(mut self, restitution: f64) -> Body {
        self.material.restitution = restitution;
        self
    }

    /// Sets the path of a kinematic body.
    pub fn keyframes(mut self, motion: Keyframes) -> Body {
        self.motion = motion;
        self
    }

    /// Sets which bodies it may touch.
    #[doc(alias = "collision_groups")]
    pub fn groups(mut self, groups: Groups) -> Body {
        self.groups = groups;
        self
    }

    /// Sets which of the bodies that it may touch it pushes.
    pub fn solver_groups(mut self, groups: Groups) -> Body {
        self.solver_groups = groups;
        self
    }

    /// Adds a further shape with a material, groups and user data of its own.
    #[doc(alias = "insert_with_parent")]
    pub fn part(mut self, part: BodyPart) -> Body {
        self.parts.push(part);
        self
    }

    /// Sets friction, restitution and all else that its surface does.
    pub fn material(mut self, material: Material) -> Body {
        self.material = material;
        self
    }

    /// Lets its surface run over it, axes of the body, m/s, as a conveyor belt does.
    pub fn surface_velocity(mut self, velocity: Vec3) -> Body {
        self.material.surface_velocity = velocity;
        self
    }

    /// Puts a force on it, constant or for a span of time.
    pub fn force(mut self, force: Force) -> Body {
        self.forces.push(force);
        self
    }

    /// Keeps it awake where the world lets bodies sleep.
    pub fn sleepless(mut self) -> Body {
        self.can_sleep = false;
        self
    }

    /// Sets who gives way: of two dynamic bodies that touch the one of lower dominance.
    #[doc(alias = "dominance_group")]
    pub fn dominance(mut self, dominance: i8) -> Body {
        self.dominance = dominance;
        self
    }

    /// Makes it a sensor, which only tells what overlaps it.
    pub fn sensor(mut self) -> Body {
        self.sensor = true;
        self
    }

    /// Sets the decay of linear and angular velocity, 1/s.
    pub fn damping(mut self, linear: f64, angular: f64) -> Body {
        (self.linear_damping, self.angular_damping) = (linear, angular);
        self
    }

    /// Sets the world axes along and about which it cannot move.
    #[doc(alias = "locked_axes")]
    pub fn locked(mut self, locks: AxisLocks) -> Body {
        self.locks = locks;
        self
    }

    /// Sets the factor on the world's gravity.
    pub fn gravity_scale(mut self, factor: f64) -> Body {
        self.gravity_scale = factor;
        self
    }
}
