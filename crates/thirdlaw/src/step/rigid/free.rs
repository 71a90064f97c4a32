//! A body that nothing touches and nothing holds, through the substeps of a step.
//!
//! Bodies in the air are islands of their own, and there may be thousands of them. The sums are those of
//! [`super::substep`] in the same order, without an island around them: the bits are the same.

use super::batch::{Batch, Memory};
use super::stopwatch::Stopwatch;
use super::substep::Setting;
use crate::math::Vec3;
use crate::model::body::model::BodyModel;
use crate::model::body::{mass, rotation};
use crate::report::SolvePath;
use crate::state::body::BodyState;

/// Advances the bodies of a batch that are free by a step.
pub fn solve(batch: &mut Batch, _: &mut Memory, watch: &mut Stopwatch) {
    let setting = batch.setting;
    watch.lap();
    for place in batch.places(SolvePath::Free) {
        for (&slot, body) in batch.members(place).bodies.iter().zip(batch.changed(place).bodies) {
            fly(setting, &setting.0.bodies[slot as usize], body);
        }
    }
    batch.totals(0).spent.integrate += watch.lap();
}

/// Advances a body by a step.
fn fly((_, _, settings, dt): Setting, body: &BodyModel, now: &mut BodyState) {
    let h = dt / f64::from(settings.substeps);
    let mut inverse = mass::body_mass(body, now.rotation);
    let fall = h * (body.gravity_scale * settings.gravity);
    let push = h * (inverse.inv_mass * now.push.force);
    let turns = !body.isotropic && now.push.torque != Vec3::ZERO;
    let slow = [body.linear_damping, body.angular_damping].map(|c| 1.0 + h * c);
    let v = &mut now.velocity;
    for substep in 0..settings.substeps {
        if turns && substep > 0 {
            inverse = mass::body_mass(body, now.rotation);
        }
        v.linear += fall;
        v.linear += push;
        v.angular += h * (inverse.inv_inertia * now.push.torque);
        // dividing by one changes nothing and takes long
        if slow != [1.0; 2] {
            v.linear /= slow[0];
            v.angular /= slow[1];
        }
        now.position += h * v.linear;
        let turned = rotation::advance(body, now.rotation, v.angular, h);
        v.angular = rotation::carry(body, (now.rotation, turned), v.angular);
        now.rotation = turned;
    }
}
