//! A character that walks: an upright capsule on a leg.
//!
//! The capsule is an ordinary dynamic body that cannot turn. It does not reach the ground: a leg as long as
//! the highest step carries it, a critically damped spring that only pushes, so that stairs and small things
//! pass beneath and a landing is cushioned. Muscles push it towards the speed that is wished for, with a limit. Leg and
//! muscles push whatever they stand on just as much, the other way: planks tip, boats drift back, cloth
//! sags. What the capsule itself runs into is pushed by contact, and pushes back.
//!
//! ```
//! use thirdlaw::prelude::*;
//! let mut world = World::new(Settings::default())?;
//! world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
//! let mut walker = Character::add(&mut world, CharacterSettings::default(), Vec3::ZERO)?;
//! for _ in 0..120 {
//!     walker.walk(&mut world, 2.0 * Vec3::X, false, 1.0 / 60.0)?;
//!     let _report = world.step(1.0 / 60.0)?;
//! }
//! let feet = walker.feet(&world)?;
//! assert!(feet.x > 3.8 && feet.y.abs() < 1e-3, "{feet}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::support::Support;
use crate::ids::{AnyId, BodyId, StaleId};
use crate::math::{Pose, Quat, Vec3};
use crate::model::body::{AxisLocks, Body, Combine, Groups, Material};
use crate::model::error::{BodyError, EditError, check_number, check_vector, error};
use crate::shape::Shape;
use crate::world::{Filter, QueryError, Ray, World};
use serde::{Deserialize, Serialize};

/// How a character is built, and what it can do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CharacterSettings {
    /// From the feet to the top of the head, m.
    pub height: f64,
    /// m.
    pub radius: f64,
    /// kg.
    pub mass: f64,
    /// The highest step it walks up, m.
    pub step: f64,
    /// The steepest slope it walks on, rad from level; it slides off what is steeper.
    pub steepest: f64,
    /// What its muscles give on the ground, m/s².
    pub acceleration: f64,
    /// What it can do in the air, m/s².
    pub air_acceleration: f64,
    /// Speed of a jump from where it stands, m/s.
    pub jump: f64,
    /// Whom it touches and stands on.
    pub groups: Groups,
}

impl Default for CharacterSettings {
    /// A grown-up.
    fn default() -> Self {
        CharacterSettings {
            height: 1.8,
            radius: 0.3,
            mass: 75.0,
            step: 0.35,
            steepest: 0.85,
            acceleration: 25.0,
            air_acceleration: 5.0,
            jump: 4.5,
            groups: Groups::default(),
        }
    }
}

impl CharacterSettings {
    fn check(&self) -> Result<(), BodyError> {
        let high = f64::INFINITY;
        check_number("radius", self.radius, 1e-6..=high)?;
        check_number("step", self.step, 0.0..=high)?;
        check_number("height", self.height, 0.0..=high)?;
        check_number("mass", self.mass, f64::MIN_POSITIVE..=high)?;
        check_number("steepest", self.steepest, 0.0..=std::f64::consts::FRAC_PI_2)?;
        check_number("acceleration", self.acceleration, 0.0..=high)?;
        check_number("air_acceleration", self.air_acceleration, 0.0..=high)?;
        check_number("jump", self.jump, 0.0..=high)?;
        if self.height <= self.step + 2.0 * self.radius {
            let least = self.step + 2.0 * self.radius;
            return Err(error(
                "height",
                format!("must be more than a step and two radii, {least}, not {}", self.height),
            ));
        }
        Ok(())
    }

    /// From the feet to the middle of the capsule, m.
    fn middle(&self) -> f64 {
        0.5 * (self.height + self.step)
    }

    /// How far a leg reaches beyond its length, ever more weakly, m.
    fn toes(&self) -> f64 {
        0.5 * self.step.max(self.radius)
    }

    /// From the middle of the capsule to the middles of its balls, m.
    fn half(&self) -> f64 {
        0.5 * (self.height - self.step) - self.radius
    }
}

/// Rate of the leg's critically damped spring, rad/s.
const LEG: f64 = 15.0;
/// Share of the radius with which the ground is felt.
const FOOT: f64 = 0.9;
/// Speed (m/s) below which what is too steep is stood on all the same: two slopes hold it.
const WEDGED: f64 = 0.05;
/// Least slope of a ground's normal that can carry anything.
const UPRIGHT: f64 = 0.05;

/// A character that walks. It is small and can be copied: a program that goes back to a saved world goes
/// back to the copy that it made beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[doc(alias = "KinematicCharacterController")]
pub struct Character {
    body: BodyId,
    settings: CharacterSettings,
    up: Vec3,
    /// It has jumped and not begun to fall yet.
    rising: bool,
}

/// What a character stands on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[doc(alias = "EffectiveCharacterMovement")]
pub struct Footing {
    /// A body or a deformable object within reach of its leg.
    pub who: AnyId,
    /// Where, m.
    pub point: Vec3,
    /// Unit normal of the ground.
    pub normal: Vec3,
    /// Velocity of the ground there, m/s.
    pub velocity: Vec3,
    /// From the feet down to it, m; negative while the leg is bent.
    pub gap: f64,
    /// Whether it is too steep to stand on.
    pub steep: bool,
    /// Force on it in the coming step, N.
    pub force: Vec3,
}

impl Character {
    /// Adds a character whose feet are at `feet` (m), upright against the world's gravity.
    pub fn add(
        world: &mut World,
        settings: CharacterSettings,
        feet: Vec3,
    ) -> Result<Character, BodyError> {
        settings.check()?;
        check_vector("feet", feet)?;
        let up = (-world.settings().gravity).try_normalize().unwrap_or(Vec3::Y);
        let capsule = Shape::capsule(settings.half(), settings.radius)
            .map_err(|e| error("height", e.to_string()))?;
        let mut body = Body::dynamic(capsule).mass(settings.mass).groups(settings.groups);
        let turn = Quat::from_rotation_arc(Vec3::Y, up);
        body.pose = Pose::from_parts(feet + settings.middle() * up, turn);
        body.locks = AxisLocks { rotation: [true; 3], ..AxisLocks::default() };
        body.material =
            Material { friction: 0.0, friction_combine: Combine::Minimum, ..Material::default() };
        body.can_sleep = false;
        let body = world.add_body(body)?;
        Ok(Character { body, settings, up, rising: false })
    }

    /// Its capsule.
    pub fn body(&self) -> BodyId {
        self.body
    }

    /// What it was given.
    pub fn settings(&self) -> &CharacterSettings {
        &self.settings
    }

    /// Where its feet are when its leg is straight, m.
    pub fn feet(&self, world: &World) -> Result<Vec3, StaleId> {
        Ok(world.center(self.body)? - self.settings.middle() * self.up)
    }

    /// Puts its feet somewhere else (m), at rest.
    pub fn place(&mut self, world: &mut World, feet: Vec3) -> Result<(), EditError> {
        check_vector("feet", feet)?;
        let mut pose = world.pose(self.body)?;
        pose.translation = feet + self.settings.middle() * self.up;
        world.set_pose(self.body, pose)?;
        self.rising = false;
        world.set_velocity(self.body, Default::default())
    }

    /// What is within reach of its leg now, without doing anything.
    pub fn footing(&self, world: &World) -> Result<Option<Footing>, EditError> {
        Ok(self.find(world)?.map(|found| found.1))
    }

    /// Ahead of every step of `dt` seconds: stand, walk with the velocity `wish` (m/s, beside the ground's
    /// own; what of it points up or down is left out), and jump if there is something to jump from.
    pub fn walk(
        &mut self,
        world: &mut World,
        wish: Vec3,
        jump: bool,
        dt: f64,
    ) -> Result<Option<Footing>, EditError> {
        check_vector("wish", wish)?;
        check_number("dt", dt, f64::MIN_POSITIVE..=f64::INFINITY)?;
        let wish = wish.reject_from_normalized(self.up);
        let center = world.center(self.body)?;
        let velocity = world.velocity(self.body)?.linear;
        let mass = self.settings.mass;
        let Some((support, mut footing)) = self.find(world)? else {
            self.rising &= velocity.dot(self.up) > 0.0;
            let force = mass * self.in_the_air(wish, velocity, dt);
            world.push(self.body, force, center)?;
            return Ok(None);
        };
        let apart = velocity - footing.velocity;
        self.rising &= apart.dot(self.up) > 0.0;
        let stands = !self.rising && footing.gap <= self.settings.toes();
        let mut force = Vec3::ZERO;
        let mut beside = Vec3::ZERO;
        if stands && jump && !footing.steep {
            self.rising = true;
            let faster = (self.settings.jump - apart.dot(self.up)).max(0.0);
            force = mass * (faster / dt + self.weight(world)?) * self.up;
        } else if !self.rising {
            force = mass * self.leg(world, &footing, apart, dt)?;
        }
        if stands && !footing.steep {
            let beneath = support.velocity_after(world, dt)?;
            let level = (velocity - beneath).reject_from_normalized(self.up);
            let pushed = (wish - level) / dt;
            force += mass * pushed.clamp_length_max(self.settings.acceleration);
        } else {
            // nobody climbs what is too steep
            let down = footing.normal.reject_from_normalized(self.up).normalize_or_zero();
            let against = if footing.steep { wish.dot(down).min(0.0) } else { 0.0 };
            beside = mass * self.in_the_air(wish - against * down, velocity, dt);
        }
        footing.force = -force;
        support.push(world, -force)?;
        world.push(self.body, force + beside, center)?;
        Ok(Some(footing))
    }

    /// Acceleration without anything to stand on.
    fn in_the_air(&self, wish: Vec3, velocity: Vec3, dt: f64) -> Vec3 {
        if wish == Vec3::ZERO {
            return Vec3::ZERO;
        }
        let level = velocity.reject_from_normalized(self.up);
        ((wish - level) / dt).clamp_length_max(self.settings.air_acceleration)
    }

    /// What its body falls with, against its own upright, m/s².
    fn weight(&self, world: &World) -> Result<f64, StaleId> {
        let scale = world.body(self.body)?.gravity_scale;
        Ok(-scale * world.settings().gravity.dot(self.up))
    }

    /// Acceleration by the leg: one step of backward Euler of the spring, so that no step is too long. Up
    /// on what can be stood on, along the normal of what is too steep; never down.
    fn leg(&self, world: &World, footing: &Footing, apart: Vec3, dt: f64) -> Result<Vec3, StaleId> {
        let weight = self.weight(world)?;
        let slope = footing.normal.dot(self.up);
        let (way, slope) = match footing.steep {
            // level ground means: the gap changes by what is walked up or down
            false => (self.up, 1.0 / slope),
            true => (footing.normal, slope),
        };
        let (gap, closing, weight) = match footing.steep {
            false => (footing.gap, apart.dot(footing.normal) * slope, weight),
            true => (footing.gap * slope, apart.dot(footing.normal), weight * slope),
        };
        let pull = LEG * LEG * (gap + dt * closing) + 2.0 * LEG * closing;
        let answer = -pull / (1.0 + 2.0 * LEG * dt + LEG * LEG * dt * dt);
        let reached = (1.0 - gap / self.settings.toes()).clamp(0.0, 1.0);
        Ok(reached * (weight + answer).max(0.0) * way)
    }

    /// The ground within reach: a ball as wide as the capsule is lowered from it, and a ray tells the slope of
    /// the face under the place where it stops, which at an edge is not the ball's.
    fn find(&self, world: &World) -> Result<Option<(Support, Footing)>, EditError> {
        let CharacterSettings { radius, step, .. } = self.settings;
        let ball = Shape::sphere(FOOT * radius).map_err(|e| error("radius", e.to_string()))?;
        let low = world.center(self.body)? - self.settings.half() * self.up;
        let filter = Filter::new().groups(self.settings.groups).except(self.body);
        let spare = (1.0 - FOOT) * radius;
        let reach = 2.0 * step + radius + spare;
        let hit = world.cast_shape(&ball, Pose::from_translation(low), -reach * self.up, &filter);
        let Some(hit) = hit.map_err(unusable)? else { return Ok(None) };
        let outwards = (hit.point - low).reject_from_normalized(self.up).normalize_or_zero();
        let above = hit.point + 0.02 * radius * outwards + 0.2 * radius * self.up;
        let ray = Ray::new(above, -self.up).map_err(unusable)?.up_to(0.4 * radius);
        let face = world.cast_ray(&ray, &filter.hollow()).filter(|face| face.who == hit.who);
        let mut normal = hit.normal;
        if let Some(face) = face {
            // a cloth has no outside
            let faced = if face.back { -face.normal } else { face.normal };
            if faced.dot(self.up) > normal.dot(self.up) {
                normal = faced;
            }
        }
        let slope = normal.dot(self.up);
        if slope < UPRIGHT {
            return Ok(None);
        }
        let support = Support::new(world, (hit.who, hit.piece), hit.point, radius)?;
        let velocity = world.velocity(self.body)?.linear - support.velocity;
        let steep = slope < libm::cos(self.settings.steepest) && velocity.length() > WEDGED;
        let footing = Footing {
            who: hit.who,
            point: hit.point,
            normal,
            velocity: support.velocity,
            gap: hit.distance - spare - step,
            steep,
            force: Vec3::ZERO,
        };
        Ok(Some((support, footing)))
    }
}

fn unusable(e: QueryError) -> BodyError {
    error(e.field, e.problem)
}
