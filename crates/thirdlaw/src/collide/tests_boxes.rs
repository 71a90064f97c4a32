//! The short way of two boxes against the general one.

use super::boxes::{BoxPair, Boxes};
use super::boxes_clip::Facing;
use super::clip::WITNESS;
use super::narrow::{NarrowScratch, collide};
use super::tests::Dice;
use super::{Manifold, Point};
use crate::math::{Mat3, Pose, Quat, Vec3, rotation_from_vector};
use crate::shape::Shape;

fn general(half: [Vec3; 2], pose: &Pose, margin: f64) -> Manifold {
    let [a, b] = half.map(|half| Shape::cuboid(half).unwrap());
    let mut found = Manifold::default();
    let scratch = &mut NarrowScratch::default();
    collide(&a, &Pose::IDENTITY, &b, pose, margin, scratch, &mut |_, _, m| found = *m);
    found
}

/// Area of the contact seen along its normal: half the sum of cross products around its hull, here of
/// at most four points, which may come in any order.
fn area(n: Vec3, points: &[Vec3]) -> f64 {
    let twice = |a: Vec3, b: Vec3, c: Vec3| n.dot((b - a).cross(c - a)).abs();
    match *points {
        [a, b, c] => 0.5 * twice(a, b, c),
        [a, b, c, d] => {
            let ways = [[a, b, c, d], [a, c, b, d], [a, b, d, c]];
            let cross = ways.map(|[a, b, c, d]| 0.5 * n.dot((c - a).cross(d - b)).abs());
            cross[0].max(cross[1]).max(cross[2])
        }
        _ => 0.0,
    }
}

struct Compared {
    facing: usize,
    apart: usize,
    unsettled: usize,
}

fn compare(half: [Vec3; 2], pose: &Pose, margin: f64, seen: &mut Compared) {
    let turn = Mat3::from_quat(pose.rotation);
    let pair = BoxPair { half, turn, between: pose.translation };
    let expected = general(half, pose, margin);
    let scale = half[0].min(half[1]).min_element();
    let what = || format!("{half:?} {pose:?} {margin}: {expected:?}");
    let deepest =
        |points: &[Point]| points.iter().map(|p| p.separation).fold(f64::INFINITY, f64::min);
    let mut facing = Facing::default();
    match pair.touch(margin, &mut facing) {
        Boxes::Unsettled => seen.unsettled += 1,
        Boxes::Apart(gap) => {
            assert!(gap == 0.0 || gap > margin, "{}", what());
            // the general way may take a face that is a little worse than the best
            assert!(deepest(expected.points()) > margin - 2e-3 * scale, "{}", what());
            seen.apart += 1;
        }
        Boxes::Facing => {
            seen.facing += 1;
            let Facing { normal, points, count, .. } = facing;
            let found = &points[..count];
            assert_eq!(count, expected.count, "{facing:?} {}", what());
            assert!(normal.distance(expected.normal) < 1e-9, "{facing:?} {}", what());
            let least = found.iter().map(|p| p.separation).fold(f64::INFINITY, f64::min);
            assert!(
                (least - deepest(expected.points())).abs() < 1e-9 + 1e-5 * least.abs(),
                "{facing:?} {}",
                what()
            );
            // a face that is in line to a thousandth is cut along its own normal here, not the other's
            let aside = 1e-9 + 2e-3 * least.abs();
            let mut witnesses = false;
            let mut places = [Vec3::ZERO; 4];
            for (place, p) in places.iter_mut().zip(found) {
                *place = p.on_a;
                // both anchors are the ends of the gap, and lie on their boxes' surfaces
                let on_b = pose.translation + turn * p.on_b;
                assert!((normal.dot(on_b - p.on_a) - p.separation).abs() < 1e-9, "{}", what());
                assert!((on_b - p.on_a - normal * p.separation).length() < 1e-9, "{}", what());
                // two cuts of a corner's edges by one side have the same number, and of edges side by side
                // any two points are the closest
                witnesses |= p.feature == WITNESS;
                let is_same = |q: &&Point| {
                    let there = q.core_a.distance(p.on_a) < aside;
                    q.feature == p.feature && (there || p.feature == WITNESS)
                };
                let same = expected.points().iter().find(is_same);
                let same = same.unwrap_or_else(|| panic!("{facing:?} {}", what()));
                assert!(
                    (same.separation - p.separation).abs() < 1e-9 + 1e-5 * least.abs(),
                    "{facing:?} {}",
                    what()
                );
            }
            if witnesses {
                return;
            }
            let mut others = [Vec3::ZERO; 4];
            for (other, p) in others.iter_mut().zip(expected.points()) {
                *other = p.core_a;
            }
            let areas = [area(normal, &places[..count]), area(normal, &others[..count])];
            assert!((areas[0] - areas[1]).abs() < 2.0 * aside, "{areas:?} {}", what());
        }
    }
}

#[test]
fn two_boxes_meet_as_any_two_pieces() {
    let mut dice = Dice(11);
    let mut seen = Compared { facing: 0, apart: 0, unsettled: 0 };
    for round in 0..20_000 {
        let mut side = || {
            let edge = |x: f64| 0.1 + 0.4 * x;
            Vec3::new(edge(dice.roll()), edge(dice.roll()), edge(dice.roll()))
        };
        let half = if round % 2 == 0 { [Vec3::splat(0.25); 2] } else { [side(), side()] };
        // in line, a little tilted, or anyhow
        let tilt = [0.0, 1e-4, 0.01, 0.3, 3.0][round % 5];
        let lying = [Quat::IDENTITY, Quat::from_rotation_y(1.0), Quat::from_rotation_x(1.5)];
        let straight = rotation_from_vector(dice.vector(tilt));
        let rotation = (straight * lying[round % 3]).normalize();
        let direction = dice.vector(1.0);
        let axis = direction.abs().max_element();
        let way = if round % 7 == 0 { direction.normalize() } else { direction / axis };
        let reach = half[0].max_element() + half[1].max_element();
        let between = way * (reach * (0.4 + 0.8 * dice.roll()));
        compare(half, &Pose::from_parts(between, rotation), 0.02, &mut seen);
    }
    let Compared { facing, apart, unsettled } = seen;
    assert!(facing > 2_000 && apart > 3_000 && unsettled < facing, "{facing} {apart} {unsettled}");
    // stacked: most of what a pile is made of
    let mut seen = Compared { facing: 0, apart: 0, unsettled: 0 };
    for round in 0..5_000 {
        let half = [Vec3::splat(0.25), Vec3::new(0.25, 0.3, 0.2)];
        let tilt = [0.0, 1e-7, 1e-3, 0.02, 0.2][round % 5];
        let rotation = rotation_from_vector(dice.vector(tilt));
        let up = half[0].y + half[1].y + 0.02 * (dice.roll() - 0.5);
        let between = Vec3::new(0.3 * (dice.roll() - 0.5), up, 0.3 * (dice.roll() - 0.5));
        let turned = Quat::from_rotation_z([0.0, 1.57, 3.1][round % 3]);
        let pose = Pose::from_parts(turned * between, (turned * rotation).normalize());
        compare([half[0], half[1]], &pose, 0.02, &mut seen);
    }
    assert!(seen.facing > 8 * seen.unsettled, "{} of {}", seen.unsettled, seen.facing);
}
