//! Cloth near cloth, against looking at every pair.

use super::{Random, Sheet, crumpled, grid};
use crate::collide::deformable::*;
use crate::math::Vec3;
use crate::math::closest::{point_triangle, segment_segment};
use crate::state::cloth::HitKind;
use std::collections::{BTreeMap, BTreeSet};

/// Every place, without trees: by kind, first particle or edge, and the particles or edge it is near.
/// The number says whether all triangles around a place agree that it is the nearest (2), or some (1).
fn brute_force(sheet: &Sheet, x: &[Vec3], reach: f64) -> BTreeMap<(HitKind, u32, Vec<u32>), u32> {
    let mut found = BTreeMap::new();
    for v in 0..x.len() as u32 {
        for corners in sheet.triangles.iter().filter(|t| !t.contains(&v)) {
            let c = corners.map(|i| x[i as usize]);
            let w = point_triangle(x[v as usize], c);
            let q = c[0] * w[0] + c[1] * w[1] + c[2] * w[2];
            let on = place(corners, w);
            if x[v as usize].distance(q) < reach && (on.len() > 1 || v < on[0]) {
                *found.entry((HitKind::VertexTriangle, v, on)).or_insert(0) += 1;
            }
        }
    }
    // a particle and an edge or corner of its own triangles are no pair
    found.retain(|(_, v, on), _| {
        let own = |t: &[u32; 3]| t.contains(v) && on.iter().all(|i| t.contains(i));
        !sheet.triangles.iter().any(own)
    });
    for ((_, v, on), count) in found.iter_mut() {
        let around = |t: &&[u32; 3]| !t.contains(v) && on.iter().all(|i| t.contains(i));
        *count = if sheet.triangles.iter().filter(around).count() as u32 == *count { 2 } else { 1 };
    }
    for (e, &[a, b]) in sheet.edges.iter().enumerate() {
        for (f, &[c, d]) in sheet.edges.iter().enumerate().skip(e + 1) {
            let at = |i: u32| x[i as usize];
            let [s, t] = segment_segment([at(a), at(b)], [at(c), at(d)]);
            let distance = at(a).lerp(at(b), s).distance(at(c).lerp(at(d), t));
            let shared = a == c || a == d || b == c || b == d;
            if !shared && s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0 && distance < reach {
                found.insert((HitKind::EdgeEdge, e as u32, vec![f as u32]), 2);
            }
        }
    }
    found
}

/// The corners that a point with these weights hangs on.
fn place(corners: &[u32; 3], w: [f64; 3]) -> Vec<u32> {
    let mut on: Vec<u32> = (0..3).filter(|&k| w[k] > 0.0).map(|k| corners[k]).collect();
    on.sort_unstable();
    on
}

fn find(sheet: &Sheet, x: &[Vec3], radius: f64, margin: f64) -> Vec<Hit> {
    let mut tree = Tree::new(&sheet.rest, &sheet.triangles, &sheet.edges);
    let mut out = Vec::new();
    tree.proximity((x, x), &vec![radius; x.len()], margin, &mut out);
    out
}

#[test]
fn crumpled_cloth_finds_what_looking_at_every_pair_finds() {
    for seed in 0..4 {
        let (sheet, x) = crumpled(14, seed);
        // no radius and no distance at rest to speak of: nothing is left out for its rest shape
        let mut far = sheet.clone();
        far.rest.iter_mut().for_each(|p| *p *= 1e3);
        let (radius, margin) = (0.02, 0.03);
        let hits = find(&far, &x, radius, margin);
        let expected = brute_force(&sheet, &x, 2.0 * radius + margin);
        let mut found = BTreeSet::new();
        for hit in &hits {
            let [_, a, b, c] = hit.particles;
            let near = match hit.kind {
                HitKind::EdgeEdge => vec![hit.feature[1]],
                _ => place(&[a, b, c], [1, 2, 3].map(|k| -hit.weights[k])),
            };
            let key = (hit.kind, hit.feature[0], near);
            let own = |t: &[u32; 3]| t.contains(&key.1) && key.2.iter().all(|i| t.contains(i));
            let neighbours = hit.kind == HitKind::VertexTriangle && sheet.triangles.iter().any(own);
            assert!(neighbours || expected.contains_key(&key), "not near: {key:?}");
            assert!(found.insert(key), "twice: {hit:?}");
        }
        assert!(found.len() > 300, "{}", found.len());
        let missing = |(key, agree): (&_, &u32)| *agree == 2 && !found.contains(key);
        assert_eq!(expected.iter().filter(|&(k, a)| missing((k, a))).count(), 0);
    }
}

#[test]
fn weights_normal_and_distance_belong_together() {
    let (sheet, x) = crumpled(16, 9);
    for hit in find(&sheet, &x, 0.01, 0.03) {
        assert!(hit.weights.iter().sum::<f64>().abs() < 1e-12);
        assert!((hit.normal.length() - 1.0).abs() < 1e-12);
        let d = hit.combine(&x);
        assert!((hit.normal.dot(d) - hit.distance).abs() < 1e-12 && hit.distance >= 0.0);
        assert!(
            d.length() - hit.distance < 1e-12,
            "the normal is the direction between the points"
        );
    }
}

#[test]
fn cloth_at_rest_is_not_near_itself_however_thick_and_wherever_it_is() {
    let sheet = grid(12, 1.0);
    let mut random = Random(5);
    for radius in [0.001, 0.03, 0.2] {
        let pose = random.pose();
        let x: Vec<Vec3> = sheet.rest.iter().map(|&p| pose * p).collect();
        for margin in [0.0, 0.05, 0.3] {
            assert_eq!(find(&sheet, &x, radius, margin).len(), 0, "{radius} {margin}");
        }
    }
}

#[test]
fn two_sheets_on_each_other_touch_everywhere_although_their_rest_shapes_coincide() {
    let one = grid(6, 1.0);
    let n = one.rest.len() as u32;
    let mut both = one.clone();
    both.rest.extend(&one.rest);
    both.triangles.extend(one.triangles.iter().map(|t| t.map(|i| i + n)));
    both.edges.extend(one.edges.iter().map(|e| e.map(|i| i + n)));
    let mut x = both.rest.clone();
    let shift = Vec3::new(0.031, 0.005, 0.017);
    x[n as usize..].iter_mut().for_each(|p| *p += shift);
    let hits = find(&both, &x, 0.004, 0.0);
    let above = |k: HitKind| hits.iter().filter(|h| h.kind == k).count();
    // of the upper sheet the vertices over the lower one, and the other way round: 5 of 6 each way
    assert_eq!(above(HitKind::VertexTriangle), 50);
    assert!(above(HitKind::EdgeEdge) > 50);
    for hit in &hits {
        let up = if hit.particles[0] >= n { 1.0 } else { -1.0 };
        assert!(
            (hit.normal - Vec3::Y * up).length() < 1e-9 && (hit.distance - 0.005).abs() < 1e-12
        );
    }
}

#[test]
fn hits_do_not_depend_on_threads_nor_on_earlier_queries() {
    let (sheet, x) = crumpled(20, 2);
    let (_, other) = crumpled(20, 3);
    let radius = vec![0.01; x.len()];
    let mut runs = Vec::new();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let mut tree = Tree::new(&sheet.rest, &sheet.triangles, &sheet.edges);
        let mut out = Vec::new();
        pool.install(|| {
            if threads > 1 {
                tree.proximity((&other, &other), &radius, 0.02, &mut out);
            }
            tree.proximity((&x, &x), &radius, 0.02, &mut out);
        });
        runs.push((out, tree.intersections(&x)));
    }
    assert!(runs[0].0.len() > 100);
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

#[test]
fn turning_and_moving_the_world_turns_and_moves_the_hits() {
    let (sheet, x) = crumpled(14, 6);
    let pose = Random(11).pose();
    let moved: Vec<Vec3> = x.iter().map(|&p| pose * p).collect();
    let (a, b) = (find(&sheet, &x, 0.01, 0.02), find(&sheet, &moved, 0.01, 0.02));
    let mut there: BTreeMap<_, _> = b.iter().map(|h| (h.key(), h)).collect();
    for hit in &a {
        // at the limit of the reach rounding decides
        let Some(other) = there.remove(&hit.key()) else { continue };
        assert!((hit.distance - other.distance).abs() < 1e-9);
        assert!((pose.rotation * hit.normal - other.normal).length() < 1e-5);
    }
    assert!(there.len() <= a.len() / 50, "{} of {}", there.len(), a.len());
}

#[test]
fn the_number_of_crossings_is_that_of_looking_at_every_pair() {
    for seed in 0..4 {
        let (sheet, x) = crumpled(14, seed);
        let mut tree = Tree::new(&sheet.rest, &sheet.triangles, &sheet.edges);
        let count = tree.intersections(&x);
        assert!(count > 20);
        assert_eq!(count, intersections_brute_force(&x, &sheet.triangles, &sheet.edges));
        assert_eq!(tree.intersections(&sheet.rest), 0);
    }
}

#[test]
fn a_needle_through_a_triangle_is_one_crossing_until_it_is_pulled_out() {
    let base = vec![Vec3::new(-1.0, 0.0, -1.0), Vec3::new(1.0, 0.0, -1.0), Vec3::Z];
    let triangles = [[0, 1, 2], [3, 4, 5]];
    let edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]];
    for (tip, count) in [(-0.1, 2), (0.1, 0)] {
        let mut x = base.clone();
        x.extend([Vec3::Y * tip, Vec3::new(0.1, 1.0, 0.0), Vec3::new(-0.1, 1.0, 0.0)]);
        let mut tree = Tree::new(&x, &triangles, &edges);
        assert_eq!(tree.intersections(&x), count);
    }
}

#[test]
fn nothing_panics_on_numbers_and_indices_out_of_place() {
    let (mut sheet, mut x) = crumpled(8, 1);
    sheet.triangles.push([0, 1, 9999]);
    sheet.triangles.push([3, 3, 3]);
    sheet.edges.push([7, 7]);
    sheet.edges.push([9999, 2]);
    x[5] = Vec3::splat(f64::NAN);
    x[6] = Vec3::splat(f64::INFINITY);
    x[9] = x[10];
    sheet.rest[12].x = f64::NAN;
    let hits = find(&sheet, &x, 0.05, 0.1);
    assert!(hits.iter().all(|h| h.distance.is_finite() && h.normal.is_finite()));
    let mut tree = Tree::new(&sheet.rest, &sheet.triangles, &sheet.edges);
    tree.intersections(&x);
    tree.proximity((&x[..20], &x[..20]), &[0.1; 3], f64::NAN, &mut Vec::new());
    Tree::new(&[], &[], &[]).proximity((&[], &[]), &[], 0.0, &mut Vec::new());
}
