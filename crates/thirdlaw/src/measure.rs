//! Numbers that judge a world: used by tests, reports and benchmarks alike.
//!
//! Overlap is found by fresh geometric queries on the current poses (`measure/overlap.rs`), never read from
//! the solver or from the engine's own manifolds.

mod depth;
mod overlap;

pub use overlap::{Overlap, overlap_depth, overlaps, penetration};

use crate::energy::Energy;
use crate::joint::geometry::side_pose;
use crate::math::{Mat3, Quat, Twist, Vec3};
use crate::model::body::model::BodyModel;
use crate::model::emitter::Emitter;
use crate::model::point::PointModel;
use crate::state::point::PointState;
use crate::state::stream::Stream;
use crate::world::World;

/// Mechanical energy of all dynamic bodies, point masses, joints, cloths and particles, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MechanicalEnergy {
    /// ½ m v² + ½ ω·Iω.
    pub kinetic: f64,
    /// −m g·x, zero at the world's origin.
    pub gravity: f64,
    /// Stretch, shear and bend of cloth; strain of soft bodies; springs of joints, and joints that are held softly.
    pub elastic: f64,
}

/// Kinetic energy, energy in the gravity field, and what cloth and springs store. What the drives of
/// joints or a user's own constraints store is not known to it.
pub fn energy(world: &World) -> MechanicalEnergy {
    let gravity = world.settings().gravity;
    let mut sum = MechanicalEnergy::default();
    for (i, body) in world.model().bodies.iter().enumerate() {
        if body.is_dynamic() {
            let state = &world.state().bodies[i];
            sum.kinetic += body_kinetic(world, i);
            sum.gravity -= body.mass * body.gravity_scale * gravity.dot(state.position);
        }
    }
    for (point, state) in points(world) {
        sum.kinetic += 0.5 * point.mass * state.velocity.length_squared();
        sum.gravity -= point.mass * point.gravity_scale * gravity.dot(state.position);
    }
    let sheet = &*world.model().sheet;
    let particles = &world.state().particles;
    for (i, &mass) in sheet.elements.mass.iter().enumerate() {
        sum.kinetic += 0.5 * mass * particles.v[i].length_squared();
        sum.gravity -= mass * sheet.gravity_scale[i] * gravity.dot(particles.x[i]);
    }
    for (emitter, stream) in streams(world) {
        let (mass, scale) = (emitter.mass, emitter.gravity_scale);
        for (x, v) in stream.particles.x.iter().zip(&stream.particles.v) {
            sum.kinetic += 0.5 * mass * v.length_squared();
            sum.gravity -= mass * scale * gravity.dot(*x);
        }
    }
    sheet.elements.energies.each_energy(&particles.x, |_, energy| sum.elastic += energy);
    sum.elastic += joint_energy(world);
    sum
}

/// What the joints store, J.
fn joint_energy(world: &World) -> f64 {
    let (model, state) = (world.model(), world.state());
    let way = world.settings().joints.enforcement;
    let mut sum = 0.0;
    for (joint, now) in model.joints.iter().zip(&state.joints) {
        if !joint.alive || now.broken {
            continue;
        }
        let broken = |slot: u32| state.joints[slot as usize].broken;
        if joint.coupling().is_some_and(|(first, second, _)| broken(first) || broken(second)) {
            continue;
        }
        let (a, b) = (side_pose(state, joint.a), side_pose(state, joint.b));
        sum += joint.energy(&joint.placed(a, b), now, way);
    }
    sum
}

/// All emitters with their particles.
fn streams(world: &World) -> impl Iterator<Item = (&Emitter, &Stream)> {
    let emitters = world.model().emitters.iter().zip(&world.state().streams.list);
    emitters.filter(|(e, _)| e.alive).map(|(e, stream)| (&e.emitter, stream))
}

/// All point masses.
fn points(world: &World) -> impl Iterator<Item = (&PointModel, PointState)> {
    let points = world.model().points.iter().zip(world.state().points.iter());
    points.filter(|(point, _)| point.alive)
}

/// Largest |l/l₀ − 1| over the warp and weft edges of every cloth and all edges of soft bodies.
pub fn strain(world: &World) -> f64 {
    let x = &world.state().particles.x;
    let threads = world.model().sheet.elements.threads.iter();
    let strain = |&([a, b], rest): &([u32; 2], f64)| {
        ((x[b as usize] - x[a as usize]).length() / rest - 1.0).abs()
    };
    threads.map(strain).fold(0.0, f64::max)
}

/// Largest relative change of volume around any vertex of a soft body: of the tetrahedra that share it,
/// which is the volume that incompressible schemes keep \[irving2007\].
pub fn volume_error(world: &World) -> f64 {
    let tetrahedra = &world.model().sheet.elements.energies.tetrahedra;
    let x = &world.state().particles.x;
    let mut around = vec![(0.0, 0.0); x.len()];
    for element in 0..tetrahedra.len() {
        let rest = tetrahedra.rest_volume(element);
        let now = rest * tetrahedra.deformation(element, x).determinant();
        for node in tetrahedra.nodes(element) {
            let (before, after) = &mut around[node as usize];
            *before += rest;
            *after += now;
        }
    }
    let filled = around.iter().filter(|(before, _)| *before > 0.0);
    filled.map(|(before, after)| (after / before - 1.0).abs()).fold(0.0, f64::max)
}

fn body_kinetic(world: &World, slot: usize) -> f64 {
    let (body, state) = (&world.model().bodies[slot], &world.state().bodies[slot]);
    kinetic(body, state.rotation, &state.velocity)
}

/// Kinetic energy that a body has in this orientation with this velocity, J.
pub fn kinetic(body: &BodyModel, rotation: Quat, v: &Twist) -> f64 {
    let l = angular_momentum(body, rotation, v.angular);
    0.5 * body.mass * v.linear.length_squared() + 0.5 * v.angular.dot(l)
}

/// About the centre of mass.
fn angular_momentum(body: &BodyModel, rotation: Quat, omega: Vec3) -> Vec3 {
    let r = Mat3::from_quat(rotation);
    r * (body.inertia * (r.transpose() * omega))
}

/// Momentum (kg·m/s) and angular momentum about the world's origin (kg·m²/s): of bodies, points,
/// cloth and particles, with what particles have struck bodies with and the next step gives them.
pub fn momentum(world: &World) -> (Vec3, Vec3) {
    let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
    for (i, body) in world.model().bodies.iter().enumerate() {
        if body.is_dynamic() {
            let state = &world.state().bodies[i];
            let p = body.mass * state.velocity.linear;
            linear += p;
            let spin = angular_momentum(body, state.rotation, state.velocity.angular);
            angular += state.position.cross(p) + spin;
        }
    }
    for (point, state) in points(world) {
        let p = point.mass * state.velocity;
        linear += p;
        angular += state.position.cross(p);
    }
    let particles = &world.state().particles;
    for (i, &mass) in world.model().sheet.elements.mass.iter().enumerate() {
        let p = mass * particles.v[i];
        linear += p;
        angular += particles.x[i].cross(p);
    }
    for (emitter, stream) in streams(world) {
        for (x, v) in stream.particles.x.iter().zip(&stream.particles.v) {
            let p = emitter.mass * *v;
            linear += p;
            angular += x.cross(p);
        }
    }
    for struck in &world.state().streams.struck {
        let slot = struck.body as usize;
        if world.model().bodies[slot].is_dynamic() {
            let center = world.state().bodies[slot].position;
            linear += struck.impulse;
            angular += center.cross(struck.impulse) + struck.angular;
        }
    }
    (linear, angular)
}

/// Kinetic energy per mass of every dynamic body, J/kg, in slot order.
pub fn specific_kinetic(world: &World) -> Vec<f64> {
    let bodies = &world.model().bodies;
    let dynamic = (0..bodies.len()).filter(|&i| bodies[i].is_dynamic());
    dynamic.map(|i| body_kinetic(world, i) / bodies[i].mass).collect()
}

/// Median over dynamic bodies of the kinetic energy per mass, J/kg: what the eye sees of a pile that
/// should be at rest. (The mean says more about the few bodies still falling.)
pub fn jitter(world: &World) -> f64 {
    let mut energies = specific_kinetic(world);
    if energies.is_empty() {
        return 0.0;
    }
    let middle = energies.len() / 2;
    *energies.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Largest anchor gap of any joint that is not broken, m, from the current poses.
pub fn joint_error(world: &World) -> f64 {
    let (model, state) = (world.model(), world.state());
    let mut worst = 0.0_f64;
    for (joint, now) in model.joints.iter().zip(&state.joints) {
        if joint.alive && !now.broken && joint.coupling().is_none() {
            let (a, b) = (side_pose(state, joint.a), side_pose(state, joint.b));
            worst = worst.max(joint.errors(&joint.placed(a, b), now).0);
        }
    }
    worst
}
