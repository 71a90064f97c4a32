//! Meetings on the way, against following the way in small steps.

use super::{Random, crumpled, grid};
use crate::collide::deformable::*;
use crate::math::Vec3;
use crate::math::closest::{point_triangle, segment_segment};
use crate::state::cloth::HitKind;

/// Two triangles, or a triangle and a point of a far triangle: six particles.
const TRIANGLES: [[u32; 3]; 2] = [[0, 1, 2], [3, 4, 5]];
const EDGES: [[u32; 2]; 6] = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]];

fn find(x0: &[Vec3], x1: &[Vec3]) -> Vec<Hit> {
    let mut out = Vec::new();
    Tree::new(x0, &TRIANGLES, &EDGES).crossings(x0, x1, &mut out);
    out
}

/// The least distance of a pair over the way, in small steps.
fn least(x0: &[Vec3], x1: &[Vec3], particles: [u32; 4], edges: bool) -> f64 {
    const STEPS: usize = 400;
    let mut least = f64::INFINITY;
    for k in 0..=STEPS {
        let at = |i: u32| x0[i as usize].lerp(x1[i as usize], k as f64 / STEPS as f64);
        let x = particles.map(at);
        let d = if edges {
            let [s, t] = segment_segment([x[0], x[1]], [x[2], x[3]]);
            x[0].lerp(x[1], s).distance(x[2].lerp(x[3], t))
        } else {
            let w = point_triangle(x[0], [x[1], x[2], x[3]]);
            x[0].distance(x[1] * w[0] + x[2] * w[1] + x[3] * w[2])
        };
        least = least.min(d);
    }
    least
}

#[test]
fn triangles_that_get_into_each_other_meet_on_the_way_and_others_do_not() {
    let mut random = Random(21);
    let (mut through, mut clear) = (0, 0);
    for _ in 0..3000 {
        let x0: Vec<Vec3> = (0..6).map(|_| random.vector()).collect();
        let x1: Vec<Vec3> = (0..6).map(|k| x0[k] + random.vector()).collect();
        let mut tree = Tree::new(&x0, &TRIANGLES, &EDGES);
        if tree.intersections(&x0) > 0 {
            continue;
        }
        let hits = find(&x0, &x1);
        // along the way they never are through each other without a meeting before
        let mut count = 0;
        for k in 1..=20 {
            let t = f64::from(k) / 20.0;
            let x: Vec<Vec3> = x0.iter().zip(&x1).map(|(a, b)| a.lerp(*b, t)).collect();
            if tree.intersections(&x) > 0 {
                count += 1;
                assert!(hits.iter().any(|h| h.time <= t), "through at {t}: {x0:?} {x1:?}");
            }
        }
        through += usize::from(count > 0);
        clear += usize::from(hits.is_empty());
        for hit in &hits {
            let steps = least(&x0, &x1, hit.particles, hit.kind == HitKind::EdgeEdge);
            assert!(steps < 0.02, "not near: {steps} {hit:?}");
        }
    }
    assert!(through > 300 && clear > 300, "{through} {clear}");
}

#[test]
fn a_meeting_is_where_the_features_touch_seen_from_where_they_came() {
    let mut random = Random(22);
    let mut count = 0;
    for _ in 0..3000 {
        let x0: Vec<Vec3> = (0..6).map(|_| random.vector()).collect();
        let x1: Vec<Vec3> = (0..6).map(|k| x0[k] + random.vector()).collect();
        for hit in find(&x0, &x1) {
            count += 1;
            let x: Vec<Vec3> = x0.iter().zip(&x1).map(|(a, b)| a.lerp(*b, hit.time)).collect();
            assert!(hit.combine(&x).length() < 1e-5, "{}", hit.combine(&x).length());
            assert!(hit.weights.iter().sum::<f64>().abs() < 1e-12);
            assert!((hit.normal.length() - 1.0).abs() < 1e-12);
            assert!(hit.normal.dot(hit.combine(&x0)) >= 0.0);
            assert!((hit.normal.dot(hit.combine(&x1)) - hit.distance).abs() < 1e-12);
        }
    }
    assert!(count > 1000);
}

#[test]
fn a_point_shot_through_a_triangle_meets_it_at_the_right_time() {
    let far = Vec3::splat(50.0);
    let x0 = [Vec3::new(-1.0, 0.0, -1.0), Vec3::new(1.0, 0.0, -1.0), Vec3::Z];
    let point = Vec3::new(0.1, 30.0, 0.0);
    let x0: Vec<Vec3> = x0.into_iter().chain([point, point + far, point + far + Vec3::X]).collect();
    let mut x1 = x0.clone();
    x1[3].y = -70.0;
    let hits = find(&x0, &x1);
    let hit = hits.iter().find(|h| h.kind == HitKind::VertexTriangle).expect("a meeting");
    assert!((hit.time - 0.3).abs() < 1e-6 && (hit.normal - Vec3::Y).length() < 1e-12);
    assert!((hit.distance + 70.0).abs() < 1e-9);
    // in the plane of the triangle, from beside: the volume they span is 0 at all times
    let mut x0 = x0;
    x0[3] = Vec3::new(3.0, 0.0, 0.0);
    x1[3] = Vec3::new(-3.0, 0.0, 0.0);
    let hits = find(&x0, &x1);
    assert!(hits.iter().any(|h| h.kind == HitKind::VertexTriangle && h.normal.x > 0.1), "{hits:?}");
}

#[test]
fn cloth_without_meetings_does_not_get_into_itself() {
    let sheet = grid(12, 1.0);
    let (_, crumple) = crumpled(12, 5);
    let mut tree = Tree::new(&sheet.rest, &sheet.triangles, &sheet.edges);
    let mut out = Vec::new();
    let (mut through, mut clear) = (0, 0);
    for k in 1..40 {
        let amount = f64::from(k) / 40.0;
        let x1: Vec<Vec3> =
            sheet.rest.iter().zip(&crumple).map(|(a, b)| a.lerp(*b, amount)).collect();
        tree.crossings(&sheet.rest, &x1, &mut out);
        let count = tree.intersections(&x1);
        assert!(count == 0 || !out.is_empty(), "{count} at {amount}");
        through += usize::from(count > 0);
        clear += usize::from(out.is_empty());
    }
    assert!(through > 3 && clear > 3, "{through} {clear}");
    tree.crossings(&sheet.rest, &sheet.rest, &mut out);
    assert!(out.is_empty());
}

#[test]
fn pairs_known_from_a_search_lead_to_the_same_meetings_as_a_new_one() {
    let (sheet, x0) = crumpled(12, 5);
    let (_, other) = crumpled(12, 6);
    let radius = vec![1e-3; x0.len()];
    let (mut known, mut met) = (0, 0);
    for k in 1..=20 {
        // a common fall, and a part of the way to another crumple
        let part = 0.005 * f64::from(k * k);
        let way = |i: usize| part * (other[i] - x0[i]);
        let x1: Vec<Vec3> =
            (0..x0.len()).map(|i| x0[i] + way(i) - Vec3::Y * f64::from(k)).collect();
        let ahead: Vec<Vec3> = (0..x0.len()).map(|i| x0[i] + 0.9 * way(i)).collect();
        let mut tree = Tree::new(&sheet.rest, &sheet.triangles, &sheet.edges);
        let (mut near, mut from_known, mut anew) = (Vec::new(), Vec::new(), Vec::new());
        tree.proximity((&x0, &ahead), &radius, 0.02, &mut near);
        tree.crossings(&x0, &x1, &mut from_known);
        known += usize::from(tree.known.fresh);
        Tree::new(&sheet.rest, &sheet.triangles, &sheet.edges).crossings(&x0, &x1, &mut anew);
        assert_eq!(from_known, anew, "part {part}");
        met += usize::from(!anew.is_empty());
        // from another place nothing is known
        tree.crossings(&x1, &x0, &mut from_known);
        assert!(!tree.known.fresh);
    }
    assert!(known > 5 && met > 5, "{known} {met}");
}

#[test]
fn two_sheets_that_fall_through_each_other_meet_everywhere_whatever_the_threads() {
    let one = grid(8, 1.0);
    let n = one.rest.len() as u32;
    let mut both = one.clone();
    both.rest.extend(&one.rest);
    both.triangles.extend(one.triangles.iter().map(|t| t.map(|i| i + n)));
    both.edges.extend(one.edges.iter().map(|e| e.map(|i| i + n)));
    let (mut x0, mut x1) = (both.rest.clone(), both.rest.clone());
    for k in n as usize..2 * n as usize {
        x0[k] += Vec3::new(0.031, 0.1, 0.017);
        x1[k] += Vec3::new(0.031, -0.3, 0.017);
    }
    let mut runs = Vec::new();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let mut tree = Tree::new(&both.rest, &both.triangles, &both.edges);
        let mut out = Vec::new();
        pool.install(|| tree.crossings(&x0, &x1, &mut out));
        runs.push(out);
    }
    assert_eq!(runs[0], runs[1]);
    let vertices = runs[0].iter().filter(|h| h.kind == HitKind::VertexTriangle).count();
    assert_eq!(vertices, 2 * 49);
    for hit in &runs[0] {
        let up = if hit.particles[0] >= n { 1.0 } else { -1.0 };
        assert!((hit.normal - Vec3::Y * up).length() < 1e-9 && (hit.distance + 0.3).abs() < 1e-9);
        assert!((hit.time - 0.25).abs() < 1e-5);
    }
}

/// Pairs of places in thousandths that an exact check found: they meet at the very end of the way, in a corner.
#[test]
fn what_meets_at_the_very_end_is_found() {
    let places = |numbers: [i32; 12]| -> Vec<Vec3> {
        let place = |p: &[i32]| Vec3::new(p[0].into(), p[1].into(), p[2].into()) / 1024.0;
        numbers.chunks(3).map(place).collect()
    };
    let mut out = Vec::new();
    for (x0, x1) in [
        ([-2, 1, -1, 2, -2, -2, -1, 1, 2, 0, 2, -2], [-2, 0, -1, -2, 0, -1, 1, -2, 2, 2, 2, -2]),
        ([2, 2, 0, 0, 1, -1, 2, 0, 2, -2, 2, 1], [2, 0, -2, -1, -2, 1, 2, 0, -2, 0, -1, -1]),
    ] {
        let (mut x0, mut x1) = (places(x0), places(x1));
        // the point needs a triangle of its own
        for far in [Vec3::new(9.0, 9.0, 0.0), Vec3::new(9.0, 0.0, 9.0)] {
            x0.push(x0[0] + far);
            x1.push(x1[0] + far);
        }
        Tree::new(&x0, &[[1, 2, 3], [0, 4, 5]], &[]).crossings(&x0, &x1, &mut out);
        assert!(out.iter().any(|hit| hit.particles[0] == 0), "{x0:?} to {x1:?}");
    }
    let x0 = places([4, 2, -3, 1, -8, 6, 8, -7, 7, -5, 0, 3]);
    let x1 = places([-2, 10, -6, -5, 0, 3, 8, -7, 7, -5, 0, 3]);
    Tree::new(&x0, &[], &[[0, 1], [2, 3]]).crossings(&x0, &x1, &mut out);
    assert_eq!(out.len(), 1);
}
