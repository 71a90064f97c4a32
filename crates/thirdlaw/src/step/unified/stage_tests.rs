//! Laws of single stages: what each keeps, by itself.

use super::central::{Central, Outer};
use super::contact::{self, Effort};
use super::nodes::Nodes;
use super::pairs::{BODIES, Side, Touch};
use super::positions::Resolution;
use super::span::Span;
use crate::math::{Mat3, Twist, Vec3};
use crate::model::Model;
use crate::model::body::{Body, BodyKind, Mass, model::BodyModel};
use crate::shape::Shape;

const SPAN: Span = Span { time: 0.0, dt: 0.01 };

/// Boxes of these masses in a row along x, none of which is at rest; a mass of 0 is fixed.
fn row(masses: &[f64]) -> (Model, Nodes) {
    let (mut model, mut nodes) = (Model::default(), Nodes::default());
    for (i, &mass) in masses.iter().enumerate() {
        let shape = Shape::cuboid(Vec3::new(0.5, 0.4, 0.3)).unwrap();
        let kind = if mass > 0.0 { BodyKind::Dynamic } else { BodyKind::Fixed };
        let body = Body { kind, mass: Mass::Total(mass.max(1.0)), ..Body::dynamic(shape) };
        model.bodies.push(BodyModel::build(&body, 0).unwrap());
        let f = i as f64;
        nodes.x.push(Vec3::new(0.98 * f, 0.03 * f, -0.02 * f * f));
        nodes.rotation.push(crate::math::rotation_from_vector(Vec3::new(0.0, 0.0, 0.02 * f)));
        let moves = if mass > 0.0 { 1.0 } else { 0.0 };
        let linear = moves * Vec3::new(1.0 - f, 0.3 * f, 0.1);
        nodes.v.push(Twist { linear, angular: moves * Vec3::new(0.1, -0.2 * f, 0.3) });
    }
    nodes.bodies = masses.len();
    nodes.half.clone_from(&nodes.v);
    nodes.weigh(&model);
    (model, nodes)
}

/// Neighbours in a row meet at two points each, and overlap by so much.
fn touches(nodes: &Nodes, depth: f64) -> Vec<Touch> {
    let mut list = Vec::new();
    for i in 0..nodes.bodies - 1 {
        for corner in 0..2 {
            let middle = nodes.x[i].midpoint(nodes.x[i + 1]);
            let at = middle + Vec3::new(0.0, 0.3 * f64::from(corner) - 0.1, 0.05);
            let mut touch = Touch {
                key: (BODIES, [i as u32, i as u32 + 1, 0, 0, corner as u32]),
                a: Side::body(i as u32, at - nodes.x[i]),
                b: Side::body(i as u32 + 1, at - nodes.x[i + 1]),
                normal: Vec3::new(1.0, 0.02, 0.01).normalize(),
                gap: -depth,
                friction: 0.4,
                restitution: 0.5,
                ..Touch::default()
            };
            assert!(touch.weigh(&nodes.mass));
            list.push(touch);
        }
    }
    list
}

/// Σ m v and Σ (x × m v + I ω).
fn sums(model: &Model, nodes: &Nodes, v: &[Twist]) -> [Vec3; 2] {
    let mut sum = [Vec3::ZERO; 2];
    for (i, body) in model.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic()) {
        let p = body.mass * v[i].linear;
        let r = Mat3::from_quat(nodes.rotation[i]);
        let spin = r * (body.inertia * (r.transpose() * v[i].angular));
        sum = [sum[0] + p, sum[1] + nodes.x[i].cross(p) + spin];
    }
    sum
}

fn near(a: [Vec3; 2], b: [Vec3; 2], scale: f64) {
    for (a, b) in a.iter().zip(b) {
        assert!(a.distance(b) <= 1e-9 * scale, "{a} {b}");
    }
}

#[test]
fn collisions_keep_momentum_and_both_velocities_get_the_same() {
    let (model, mut nodes) = row(&[2.0, 1.0, 3.0, 0.5]);
    let mut list = touches(&nodes, 0.0);
    let (before, start) = (sums(&model, &nodes, &nodes.v), nodes.v.clone());
    let mut processed = Vec::new();
    super::collide::collide(&mut list, &mut nodes, &SPAN, 0.01, &mut processed);
    near(sums(&model, &nodes, &nodes.v), before, 1.0);
    assert_eq!(processed, [(0, 1), (1, 2), (2, 3)]);
    assert!(nodes.v != start);
    for (v, half) in nodes.v.iter().zip(&nodes.half) {
        assert!(v.linear.distance(half.linear) < 1e-12 && v.angular.distance(half.angular) < 1e-12);
    }
    for touch in &list {
        assert!(touch.normal.dot(touch.velocity(&nodes.v)) > -1e-8);
    }
}

#[test]
fn contact_keeps_momentum_and_makes_no_energy() {
    let (model, mut nodes) = row(&[2.0, 1.0, 3.0, 0.5]);
    let mut list = touches(&nodes, 0.0);
    let kinetic = |nodes: &Nodes| -> f64 {
        let bodies = model.bodies.iter().enumerate();
        let of = |(i, b): (usize, &BodyModel)| {
            let Twist { linear, angular } = nodes.half[i];
            let r = Mat3::from_quat(nodes.rotation[i]);
            0.5 * b.mass * linear.length_squared()
                + 0.5 * angular.dot(r * (b.inertia * (r.transpose() * angular)))
        };
        bodies.map(of).sum()
    };
    let (before, energy) = (sums(&model, &nodes, &nodes.half), kinetic(&nodes));
    let mut half = nodes.half.clone();
    let relaxed = contact::contact(&mut list, &mut half, &nodes.mass, &SPAN);
    nodes.half = half;
    near(sums(&model, &nodes, &nodes.half), before, 1.0);
    assert!(relaxed.residual <= contact::CONTACT.tolerance);
    assert!(kinetic(&nodes) < energy);
    for touch in &list {
        let (n, j) = (touch.normal, touch.impulse);
        assert!(
            n.dot(j) >= 0.0 && (j - n.dot(j) * n).length() <= touch.friction * n.dot(j) + 1e-12
        );
    }
}

/// Σ m Δx and Σ (x × m Δx + I Δθ) vanish, and what overlapped is apart.
#[test]
fn pushing_apart_moves_no_centre() {
    for masses in [[1.0; 5], [1e3, 1.0, 1.0, 1.0, 1e3], [1.0, 1e3, 1.0, 1e3, 1.0]] {
        let (model, nodes) = row(&masses);
        let list = touches(&nodes, 0.01);
        let mut resolution = Resolution::default();
        assert!(resolution.resolve(&model, &nodes, &list, &[0; 5]));
        near(sums(&model, &nodes, &resolution.shift), [Vec3::ZERO; 2], masses[0].max(1.0));
        let deepest = list.iter().map(|t| -(t.gap + t.normal.dot(t.velocity(&resolution.shift))));
        let deepest = deepest.fold(0.0, f64::max);
        println!("{masses:?}: {} rounds, {deepest:.1e} m left of 1e-2", resolution.rounds);
        assert!(deepest < 2e-3, "{masses:?}: {deepest}");
    }
}

/// A row between walls that are heavy: central bodies take a blow two links at a time.
#[test]
fn central_bodies_beat_pairs() {
    for masses in [vec![1e3, 1.0, 1e3], vec![1e3, 1.0, 1.0, 1.0, 1e3]] {
        let (model, nodes) = row(&masses);
        let list = touches(&nodes, 0.01);
        let mut resolution = Resolution::default();
        resolution.resolve(&model, &nodes, &list, &vec![0; masses.len()]);
        let mut shift = vec![Twist::default(); masses.len()];
        let mut pairs = list.clone();
        pairs.iter_mut().for_each(|touch| (touch.friction, touch.aim) = (0.0, -touch.gap));
        let mut rounds = 0;
        let depth = |shift: &[Twist]| {
            list.iter().map(|t| -(t.gap + t.normal.dot(t.velocity(shift)))).fold(0.0, f64::max)
        };
        let aim = depth(&resolution.shift).max(1e-6);
        while depth(&shift) > aim && rounds < 10_000 {
            contact::relax(
                &mut pairs,
                &mut shift,
                &nodes.mass,
                Effort { rounds: 1, tolerance: 0.0 },
            );
            rounds += 1;
        }
        println!(
            "{masses:?}: central {} rounds, pairs {rounds}, to {aim:.1e} m",
            resolution.rounds
        );
        assert!(resolution.rounds < rounds, "{} {rounds}", resolution.rounds);
    }
}

/// What does not move is met exactly along its normal, and the rest is found in the null space.
#[test]
fn fixed_outer_bodies_split_off() {
    let inertia = Mat3::from_diagonal(Vec3::new(0.3, 0.2, 0.4));
    let central = Central { mass: 2.0, inertia: Some(inertia) };
    let wall = |arm: Vec3, normal: Vec3, depth: f64| Outer {
        arm,
        block: None,
        normal,
        wanted: depth * normal,
    };
    let light = Outer {
        arm: Vec3::new(0.0, 0.5, 0.1),
        block: Some(Mat3::from_diagonal(Vec3::splat(0.1))),
        normal: Vec3::Y,
        wanted: 0.02 * Vec3::Y,
    };
    let floor = wall(Vec3::new(0.1, -0.5, 0.0), -Vec3::Y, 0.01);
    let side = wall(Vec3::new(-0.5, 0.1, 0.0), -Vec3::X, 0.03);
    let [linear, angular] = central.solve(&[floor, light, side]);
    for outer in [floor, side] {
        let moved = outer.normal.dot(linear + angular.cross(outer.arm));
        assert!((moved + outer.normal.dot(outer.wanted)).abs() < 1e-12, "{moved}");
    }
    // without walls: momentum of the two together is zero
    let [linear, angular] = central.solve(&[light]);
    let given = light.block.unwrap() * (light.wanted + linear + angular.cross(light.arm));
    assert!((2.0 * linear + given).length() < 1e-14);
    assert!((inertia * angular + light.arm.cross(given)).length() < 1e-14);
}
