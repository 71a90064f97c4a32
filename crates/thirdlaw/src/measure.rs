//! Numbers that judge a world: used by tests, reports and benchmarks alike.
//!
//! Overlap is found by fresh geometric queries of the collision library on the current poses, never
//! read from the solver or from the engine's own manifolds.

use crate::energy::Energy;
use crate::joint::geometry::side_pose;
use crate::math::{Mat3, Pose, Quat, Twist, Vec3};
use crate::model::body::model::BodyModel;
use crate::model::emitter::Emitter;
use crate::model::point::PointModel;
use crate::state::point::PointState;
use crate::state::stream::Stream;
use crate::world::World;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use parry3d_f64::query;
use parry3d_f64::shape::{Shape, SharedShape};
use rayon::prelude::*;

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
/// which is the volume that incompressible schemes keep [irving2007].
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

/// Deepest overlap of any two bodies that may collide, m.
pub fn penetration(world: &World) -> f64 {
    overlaps(world).into_iter().map(|o| o.depth).fold(0.0, f64::max)
}

/// Overlap of two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Slots of the two bodies.
    pub bodies: (u32, u32),
    /// Deepest overlap, m.
    pub depth: f64,
}

/// All overlapping pairs, ordered by slots.
pub fn overlaps(world: &World) -> Vec<Overlap> {
    let pairs = near_pairs(world);
    let depth = |&(a, b): &(u32, u32)| {
        let shape = |i: u32| world.model().bodies[i as usize].shape.parry();
        let pose = |i: u32| world.slot_pose(i as usize);
        let depth = match (plane(world, a), plane(world, b)) {
            (Some(plane), None) => depth_below(plane, &**shape(b), &pose(b)),
            (None, Some(plane)) => depth_below(plane, &**shape(a), &pose(a)),
            _ => {
                let found = query::contact(&pose(a), &**shape(a), &pose(b), &**shape(b), 0.0);
                found.ok().flatten().map_or(0.0, |c| -c.dist)
            }
        };
        (depth > 0.0).then_some(Overlap { bodies: (a, b), depth })
    };
    pairs.par_iter().filter_map(depth).collect()
}

/// A point on the surface of a half-space and its normal, in the world.
fn plane(world: &World, slot: u32) -> Option<(Vec3, Vec3)> {
    let shape = world.model().bodies[slot as usize].shape.parry().as_halfspace()?;
    let pose = world.slot_pose(slot as usize);
    Some((pose.translation, pose.rotation * shape.normal))
}

/// How deep a shape reaches below a plane, m: the bounds of each of its parts in a frame that has
/// the plane's normal as an axis. (The library's contact of compounds with half-spaces reports
/// depths of metres for bodies above the plane.)
fn depth_below((point, normal): (Vec3, Vec3), shape: &dyn Shape, pose: &Pose) -> f64 {
    let upright = Quat::from_rotation_arc(normal, Vec3::Y);
    let placed = Pose::from_parts(upright * (pose.translation - point), upright * pose.rotation);
    match shape.as_compound() {
        Some(compound) => {
            let depth =
                |(local, part): &(Pose, SharedShape)| -part.compute_aabb(&(placed * *local)).mins.y;
            compound.shapes().iter().map(depth).fold(f64::NEG_INFINITY, f64::max)
        }
        None => -shape.compute_aabb(&placed).mins.y,
    }
}

/// Pairs that an unbroken joint keeps from touching, ordered.
fn joined_pairs(world: &World) -> Vec<(u32, u32)> {
    let joints = world.model().joints.iter().zip(&world.state().joints);
    let joined = joints.filter_map(|(joint, now)| joint.apart(now.broken));
    let mut pairs: Vec<_> = joined.collect();
    pairs.sort_unstable();
    pairs
}

/// Pairs of which one is dynamic, whose groups touch and whose bounds overlap.
fn near_pairs(world: &World) -> Vec<(u32, u32)> {
    let bodies = &world.model().bodies;
    let mut boxes = Vec::new();
    let (mut slots, mut unbounded) = (Vec::new(), Vec::new());
    for (i, body) in bodies.iter().enumerate().filter(|(_, b)| b.alive) {
        if body.reach.is_finite() {
            boxes.push(body.shape.aabb(&world.slot_pose(i)));
            slots.push(i as u32);
        } else {
            unbounded.push(i as u32);
        }
    }
    let mut pairs = Vec::new();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    tree.traverse_bvtt_single_tree::<false>(&mut BvhWorkspace::default(), &mut |a, b| {
        let (a, b) = (slots[a as usize], slots[b as usize]);
        pairs.push((a.min(b), a.max(b)));
    });
    for &plane in &unbounded {
        pairs.extend(slots.iter().map(|&i| (i.min(plane), i.max(plane))));
    }
    let joined = joined_pairs(world);
    pairs.retain(|pair| {
        let (a, b) = (&bodies[pair.0 as usize], &bodies[pair.1 as usize]);
        let touch = (a.is_dynamic() || b.is_dynamic()) && a.groups.touch(b.groups);
        touch && joined.binary_search(pair).is_err()
    });
    pairs.sort_unstable();
    pairs
}
