//! The grid against trying every box; touches against looking at very many moments.

use super::advance::{Flight, skin, touch_triangle};
use super::grid::{Bounds, Grid};
use super::solid::Solid;
use crate::collide::deformable::signed_distance;
use crate::math::closest::point_triangle;
use crate::math::random::unit;
use crate::math::{Twist, Vec3, rotation_from_vector};
use crate::model::body::Body;
use crate::model::body::Groups;
use crate::model::body::model::BodyModel;
use crate::shape::Shape;
use crate::state::body::BodyState;

/// Numbers from −1 to 1.
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> f64 {
        self.0 += 1;
        2.0 * unit(11, self.0, 0) - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }
}

#[test]
fn the_grid_finds_what_trying_every_box_finds() {
    let mut draw = Draw(0);
    let mut grid = Grid::default();
    for count in [0, 1, 7, 200] {
        let mut boxes: Vec<Bounds> = (0..count)
            .map(|_| Bounds::around(5.0 * draw.vector(), 5.0 * draw.vector(), 0.0))
            .map(|b| Bounds { lo: b.lo, hi: b.lo + 0.1 * (b.hi - b.lo) })
            .collect();
        if count > 2 {
            boxes[0] =
                Bounds { lo: Vec3::splat(f64::NEG_INFINITY), hi: Vec3::splat(f64::INFINITY) };
            boxes[1] = Bounds { lo: Vec3::splat(-40.0), hi: Vec3::new(40.0, -3.0, 40.0) };
            boxes[2] = Bounds { lo: Vec3::ONE, hi: -Vec3::ONE };
        }
        grid.build(&boxes);
        for _ in 0..500 {
            let a = 7.0 * draw.vector();
            let path = Bounds::around(a, a + draw.vector() * draw.number().abs(), 0.0);
            let mut found = Vec::new();
            grid.near(&boxes, &path, |index| found.push(index));
            found.sort_unstable();
            found.dedup();
            let all = (0..boxes.len()).filter(|&i| boxes[i].lo.cmple(boxes[i].hi).all());
            let wanted: Vec<u32> =
                all.filter(|&i| boxes[i].meets(&path)).map(|i| i as u32).collect();
            assert_eq!(found, wanted);
        }
    }
}

/// First of many moments at which `gap` is below the skin, or none.
fn first_sample(flight: &Flight, gap: impl Fn(f64) -> f64) -> Option<f64> {
    const SAMPLES: u32 = 4_000;
    let length = flight.until - flight.from;
    let time = |k: u32| flight.from + length * f64::from(k) / f64::from(SAMPLES);
    (0..=SAMPLES).map(time).find(|&t| gap(t) <= flight.skin)
}

#[test]
fn moving_triangles_are_met_when_the_distance_says_so() {
    let mut draw = Draw(1000);
    let (mut met, mut passed) = (0, 0);
    for k in 0..300 {
        let radius = [0.0, 0.02, 0.1][k % 3];
        let corners = [0; 3].map(|_| draw.vector());
        let common = 2.0 * draw.vector();
        let velocities = [0; 3].map(|_| common + draw.vector());
        // toward about where the middle of the triangle will be
        let hit = 0.6 + 0.3 * draw.number();
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0 + 0.7 * draw.vector();
        let drift = (velocities[0] + velocities[1] + velocities[2]) / 3.0;
        let x = 1.5 * draw.vector();
        let u = (middle + drift * hit - x) / (hit - 0.1);
        let flight = Flight { x, u, from: 0.1, until: 1.0, radius, skin: skin(radius) };
        let gap = |time: f64| {
            let at: [Vec3; 3] = std::array::from_fn(|i| corners[i] + velocities[i] * time);
            let w = point_triangle(flight.at(time), at);
            let nearest = at[0] * w[0] + at[1] * w[1] + at[2] * w[2];
            (flight.at(time) - nearest).length() - radius
        };
        if gap(flight.from) < 1e-3 {
            continue;
        }
        let found = touch_triangle(&flight, corners, velocities);
        match found {
            Some((touch, _)) => {
                assert!((gap(touch.time) - touch.gap).abs() < 1e-9 && touch.gap <= flight.skin);
                assert!(touch.gap > 0.0);
                // nothing nearer before
                let before = Flight { until: touch.time - 1e-3, ..flight };
                assert_eq!(first_sample(&before, gap), None);
                met += 1;
            }
            None => {
                // looked at moments, a thin triangle is mostly missed; through it would change sides
                assert_eq!(first_sample(&flight, gap), None);
                passed += 1;
            }
        }
    }
    assert!(met > 50 && passed > 50, "{met} {passed}");
}

#[test]
fn turning_bodies_are_met_when_the_distance_says_so() {
    let (vertices, triangles) = Shape::sphere(0.5).unwrap().surface(8);
    let shapes = [
        Shape::cuboid(Vec3::new(0.5, 0.3, 0.05)).unwrap(),
        Shape::capsule(0.3, 0.1).unwrap(),
        Shape::cone(0.4, 0.3).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
    ];
    let mut draw = Draw(5000);
    let (mut met, mut passed) = (0, 0);
    for k in 0..240 {
        let shape = &shapes[k % shapes.len()];
        let model = BodyModel::build(&Body::kinematic(shape.clone()), 0).unwrap();
        let body = |position: Vec3, turn: Vec3| BodyState {
            position,
            rotation: rotation_from_vector(turn),
            velocity: Twist::default(),
            ..BodyState::default()
        };
        let first = 2.0 * draw.vector();
        let (start, turn) = (0.5 * draw.vector(), 1.2 * draw.vector());
        let a = body(start, first);
        let mut b = body(start + draw.vector(), Vec3::ZERO);
        b.rotation = rotation_from_vector(turn) * a.rotation;
        let dt = 0.1;
        let solid = Solid::new(&model, &a, &b, dt);
        let x = 2.0 * draw.vector();
        let u = (0.5 * (a.position + b.position) + 0.6 * draw.vector() - x) / (0.5 * dt);
        let radius = 0.03;
        let flight = Flight { x, u, from: 0.0, until: dt, radius, skin: skin(radius) };
        let gap = |time: f64| {
            let local = solid.local(flight.at(time), time) + model.center;
            signed_distance(shape, local, 100.0).map_or(100.0, |s| s.distance) - radius
        };
        if gap(0.0) < 1e-3 {
            continue;
        }
        match solid.touch(&model, &flight, Groups::default()).map(|(touch, _)| touch) {
            Some(touch) => {
                assert!(gap(touch.time).abs() <= 1.01 * flight.skin, "{}", gap(touch.time));
                let before = Flight { until: touch.time - 1e-4, ..flight };
                assert_eq!(first_sample(&before, gap), None);
                met += 1;
            }
            None => {
                assert_eq!(first_sample(&flight, gap), None);
                passed += 1;
            }
        }
    }
    assert!(met > 40 && passed > 40, "{met} {passed}");
}
