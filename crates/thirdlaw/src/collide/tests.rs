use super::*;
use crate::math::{Pose, Quat, Vec3, rotation_from_vector};
use crate::shape::Shape;
use crate::state::contact::POINTS_MAX;
use parry3d_f64::query;

type Found = Vec<(u32, u32, Manifold)>;

fn hit(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, margin: f64) -> Found {
    let mut found = Vec::new();
    let mut scratch = NarrowScratch::default();
    collide(a, pose_a, b, pose_b, margin, &mut scratch, &mut |i, j, m| found.push((i, j, *m)));
    for (_, _, m) in &found {
        check(m);
    }
    found
}

/// What every manifold must be.
fn check(m: &Manifold) {
    assert!((m.normal.length() - 1.0).abs() < 1e-9, "{m:?}");
    assert!(m.count >= 1 && m.count <= POINTS_MAX);
    for p in m.points() {
        assert!(p.core_a.is_finite() && p.core_b.is_finite() && p.separation.is_finite(), "{m:?}");
        let separation = m.normal.dot(p.core_b - p.core_a) - p.radius_a - p.radius_b;
        let digits = 1e-9 + 1e-15 * p.core_a.length();
        assert!((separation - p.separation).abs() < 10.0 * digits, "{separation} {m:?}");
        // both surfaces meet along the normal
        let slip = p.core_b - p.core_a;
        let slip = slip - m.normal * slip.dot(m.normal);
        assert!(
            slip.length() < 1e-5 + 100.0 * digits,
            "cores {slip} apart across the normal {m:?}"
        );
    }
}

fn deepest(found: &Found) -> f64 {
    found
        .iter()
        .flat_map(|(_, _, m)| m.points().iter().map(|p| p.separation))
        .fold(f64::INFINITY, f64::min)
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b} within {tolerance}");
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

fn turned(x: f64, y: f64, z: f64, turn: Vec3) -> Pose {
    Pose::from_parts(Vec3::new(x, y, z), rotation_from_vector(turn))
}

fn cube(h: f64) -> Shape {
    Shape::cuboid(Vec3::splat(h)).unwrap()
}

/// A flat floor of `n` × `n` squares, two triangles each, from −size to size at height 0.
fn floor(n: usize, size: f64) -> Shape {
    let heights = vec![0.0; (n + 1) * (n + 1)];
    Shape::height_field(n + 1, n + 1, &heights, Vec3::new(2.0 * size, 1.0, 2.0 * size)).unwrap()
}

/// A repeatable stream of numbers between 0 and 1.
pub(super) struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(self.roll() - 0.5, self.roll() - 0.5, self.roll() - 0.5) * (2.0 * size)
    }

    fn rotation(&mut self) -> Quat {
        rotation_from_vector(self.vector(3.0))
    }
}

pub(super) fn stone(dice: &mut Dice, size: f64) -> Shape {
    let points: Vec<Vec3> = (0..20).map(|_| dice.vector(1.0).normalize() * size).collect();
    Shape::convex_hull(&points).unwrap()
}

fn is_round(shape: &Shape) -> bool {
    shape.parry().as_cylinder().is_some() || shape.parry().as_cone().is_some()
}

fn zoo() -> Vec<Shape> {
    let mut dice = Dice(7);
    let wedge = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z * 0.7].map(|p| p - Vec3::splat(0.2));
    vec![
        Shape::sphere(0.4).unwrap(),
        cube(0.5),
        Shape::cuboid(Vec3::new(0.1, 0.6, 0.3)).unwrap(),
        Shape::capsule(0.5, 0.2).unwrap(),
        Shape::cylinder(0.4, 0.3).unwrap(),
        Shape::cone(0.4, 0.3).unwrap(),
        stone(&mut dice, 0.5),
        Shape::convex_hull(&wedge).unwrap(),
    ]
}

#[test]
fn box_on_box_has_its_four_corners() {
    let (ground, top) = (Shape::cuboid(Vec3::new(2.0, 0.5, 2.0)).unwrap(), cube(0.5));
    for gap in [-0.01, -1e-9, 0.0, 1e-9, 0.005] {
        let found = hit(&ground, &Pose::IDENTITY, &top, &at(0.3, 1.0 + gap, 0.1), 0.02);
        let m = &found[0].2;
        assert_eq!(m.count, 4);
        assert!((m.normal - Vec3::Y).length() < 1e-12);
        for p in m.points() {
            close(p.separation, gap, 1e-12);
            close((p.core_b.x - 0.3).abs(), 0.5, 1e-12);
            close((p.core_b.z - 0.1).abs(), 0.5, 1e-12);
        }
    }
    assert!(hit(&ground, &Pose::IDENTITY, &top, &at(0.0, 1.03, 0.0), 0.02).is_empty());
}

#[test]
fn turned_boxes_meet_in_the_corners_of_their_common_area() {
    let eighth = std::f64::consts::FRAC_PI_4;
    let found = hit(
        &cube(0.5),
        &Pose::IDENTITY,
        &cube(0.5),
        &turned(0.0, 0.99, 0.0, Vec3::Y * eighth),
        0.02,
    );
    let m = &found[0].2;
    assert_eq!(m.count, 4);
    m.points().iter().for_each(|p| close(p.separation, -0.01, 1e-12));
    // edge on edge: one point where they cross
    let up = Vec3::X * eighth;
    let across = rotation_from_vector(Vec3::Y * (2.0 * eighth)) * rotation_from_vector(up);
    let height = 2.0 * 0.5_f64.sqrt() - 0.01;
    let b = Pose::from_parts(Vec3::new(0.1, height, 0.2), across);
    let found = hit(&cube(0.5), &turned(0.0, 0.0, 0.0, up), &cube(0.5), &b, 0.02);
    let m = &found[0].2;
    assert!((m.normal - Vec3::Y).length() < 1e-12, "{m:?}");
    close(deepest(&found), -0.01, 1e-12);
    let p = m.points().iter().find(|p| p.separation < -0.009).unwrap();
    assert!((p.core_a - Vec3::new(0.1, 0.5_f64.sqrt(), 0.0)).length() < 0.21, "{m:?}");
}

#[test]
fn every_solid_rests_on_every_floor() {
    let floors = [
        (Shape::half_space(Vec3::Y).unwrap(), Pose::IDENTITY),
        (Shape::cuboid(Vec3::new(3.0, 1.0, 3.0)).unwrap(), at(0.0, -1.0, 0.0)),
        (floor(1, 3.0), Pose::IDENTITY),
        (floor(5, 3.0), Pose::IDENTITY),
    ];
    let quarter = std::f64::consts::FRAC_PI_2;
    let tetra: Vec<Vec3> = [[1, 0, 1], [-1, 0, 1], [0, 0, -1], [0, 1, 0]]
        .iter()
        .map(|p| Vec3::new(p[0] as f64, p[1] as f64, p[2] as f64))
        .collect();
    let solids: [(Shape, f64, Vec3, usize); 8] = [
        (Shape::sphere(0.4).unwrap(), 0.4, Vec3::ZERO, 1),
        (cube(0.5), 0.5, Vec3::ZERO, 4),
        (Shape::capsule(0.5, 0.2).unwrap(), 0.2, Vec3::Z * quarter, 2),
        (Shape::capsule(0.5, 0.2).unwrap(), 0.7, Vec3::ZERO, 1),
        (Shape::cylinder(0.4, 0.3).unwrap(), 0.4, Vec3::ZERO, 4),
        (Shape::cylinder(0.4, 0.3).unwrap(), 0.3, Vec3::X * quarter, 2),
        (Shape::cone(0.8, 0.6).unwrap(), 0.8, Vec3::ZERO, 4),
        (Shape::convex_hull(&tetra).unwrap(), 0.0, Vec3::ZERO, 3),
    ];
    for (ground, pose) in &floors {
        for (solid, height, turn, count) in &solids {
            for gap in [-0.01, 0.0, 0.01] {
                let placed = turned(0.37, height + gap, 0.23, *turn);
                let found = hit(ground, pose, solid, &placed, 0.02);
                let what = format!("{solid:?} on {ground:?} at {gap}: {found:?}");
                assert!(!found.is_empty(), "{what}");
                for (_, _, m) in &found {
                    assert!((m.normal - Vec3::Y).length() < 1e-7, "{what}");
                    m.points().iter().for_each(|p| close(p.separation, gap, 1e-7));
                }
                if ground.piece_count() == 1 {
                    assert_eq!(found[0].2.count, *count, "{what}");
                }
                // and the other way round
                let back = hit(solid, &placed, ground, pose, 0.02);
                assert_eq!(back.len(), found.len());
                close(deepest(&back), deepest(&found), 1e-9);
                assert!((back[0].2.normal + found[0].2.normal).length() < 1e-7);
            }
        }
        // a cone lying on its side touches along a line
        let cone = Shape::cone(0.8, 0.6).unwrap();
        let turn = rotation_from_vector(Vec3::X * (quarter + libm::atan2(0.6, 1.6)));
        let height = 0.8 * libm::sin(libm::atan2(0.6, 1.6));
        let pose_lying = Pose::from_parts(Vec3::new(0.0, height, 0.0), turn);
        let found = hit(ground, pose, &cone, &pose_lying, 0.02);
        close(deepest(&found), 0.0, 1e-7);
        if ground.piece_count() == 1 {
            assert_eq!(found[0].2.count, 2, "{found:?}");
        }
    }
}

#[test]
fn a_rolling_cylinder_and_a_rolling_coin_have_their_core_on_the_axis() {
    let plane = Shape::half_space(Vec3::Y).unwrap();
    let cylinder = Shape::cylinder(0.4, 0.3).unwrap();
    let lying = turned(0.0, 0.3, 0.0, Vec3::X * std::f64::consts::FRAC_PI_2);
    let m = hit(&plane, &Pose::IDENTITY, &cylinder, &lying, 0.01)[0].2;
    for p in m.points() {
        close(p.radius_b, 0.3, 1e-12);
        close(p.core_b.y, 0.3, 1e-12);
    }
}

#[test]
fn separations_agree_with_an_independent_query() {
    let zoo = zoo();
    let mut dice = Dice(1);
    let (mut apart, mut deep) = (0, 0);
    for round in 0..3000 {
        let (a, b) = (&zoo[round % zoo.len()], &zoo[(round / zoo.len()) % zoo.len()]);
        let pose_a = Pose::from_parts(dice.vector(0.5), dice.rotation());
        let pose_b = Pose::from_parts(dice.vector(0.5), dice.rotation());
        let expected =
            query::contact(&pose_a, a.parry().as_ref(), &pose_b, b.parry().as_ref(), 2.0);
        let Ok(Some(expected)) = expected else { continue };
        let found = hit(a, &pose_a, b, &pose_b, 2.0);
        assert!(!found.is_empty(), "round {round}: nothing at {}", expected.dist);
        let separation = deepest(&found);
        let what = format!("round {round}: {separation} for {}, {found:?}", expected.dist);
        let reach = |shape: &Shape, pose: &Pose, d: Vec3| {
            let map = shape.parry().as_support_map().unwrap();
            map.support_point(pose, d).dot(d)
        };
        let gap = |n: Vec3| -reach(b, &pose_b, -n) - reach(a, &pose_a, n);
        if expected.dist > 0.003 {
            apart += 1;
            // boxes take the best of their axes, which is never more than the distance
            let boxes = [a, b].iter().all(|s| s.parry().as_cuboid().is_some());
            assert!(separation <= expected.dist + 1e-6, "{what}");
            assert!(boxes || separation >= expected.dist - 2e-5, "{what}");
            // The points realise this distance, and the planes through the outermost points along
            // the normal keep it: it is the distance, to more digits than the library's answer.
            let bound = gap(found[0].2.normal);
            assert!((bound - separation).abs() < 1e-6, "{bound} {what}");
        } else if expected.dist < -0.003 {
            deep += 1;
            // no direction found by trial needs less to part them
            let mut best = (Vec3::Y, f64::NEG_INFINITY);
            for k in 0..600 {
                let nearby = best.0 + dice.vector(0.02);
                let n = if k < 300 { dice.vector(1.0) } else { nearby }.normalize();
                let separation = gap(n);
                if separation > best.1 {
                    best = (n, separation);
                }
            }
            let slack = 0.03 * best.1.abs() + 2e-3;
            assert!(gap(found[0].2.normal) > best.1 - slack, "tried {best:?}; {what}");
            assert!(separation < gap(found[0].2.normal) + slack, "{what}");
        }
    }
    assert!(apart > 500 && deep > 500, "{apart} {deep}");
}

#[test]
fn swapping_and_moving_both_changes_nothing() {
    let zoo = zoo();
    let mut dice = Dice(2);
    for round in 0..1500 {
        let (a, b) = (&zoo[round % zoo.len()], &zoo[(round / zoo.len()) % zoo.len()]);
        let pose_a = Pose::from_parts(dice.vector(0.4), dice.rotation());
        let pose_b = Pose::from_parts(dice.vector(0.4), dice.rotation());
        let found = hit(a, &pose_a, b, &pose_b, 0.1);
        let swapped = hit(b, &pose_b, a, &pose_a, 0.1);
        assert_eq!(found.len(), swapped.len());
        if found.is_empty() {
            continue;
        }
        let (d, e) = (deepest(&found), deepest(&swapped));
        assert!(
            (d - e).abs() < 1e-3 + 0.02 * d.abs(),
            "round {round}: {d} {e} {found:?} {swapped:?}"
        );
        // where a round solid overlaps, the depth is found by iteration, on rounded positions
        let round_solid = is_round(a) || is_round(b);
        let motion = Pose::from_parts(dice.vector(5.0), dice.rotation());
        let moved = hit(a, &(motion * pose_a), b, &(motion * pose_b), 0.1);
        assert_eq!(found.len(), moved.len());
        let turn = (motion.rotation * found[0].2.normal - moved[0].2.normal).length();
        assert!(
            turn < if round_solid { if d < 0.0 { 1e-2 } else { 1e-4 } } else { 1e-6 },
            "round {round}: turned by {turn}, {found:?} {moved:?}"
        );
        close(deepest(&moved), d, if round_solid && d < 0.0 { 1e-5 } else { 1e-8 });
        let far = Vec3::new(1e6, -2e6, 5e5);
        let shift = |pose: &Pose| Pose::from_parts(pose.translation + far, pose.rotation);
        let distant = hit(a, &shift(&pose_a), b, &shift(&pose_b), 0.1);
        close(deepest(&distant), d, if round_solid && d < 0.0 { 1e-5 } else { 1e-8 });
    }
}

#[test]
fn degenerate_placements_have_unit_normals() {
    let zoo = zoo();
    let mut dice = Dice(3);
    let line = at(0.0, 0.3, 0.0);
    for a in &zoo {
        for b in &zoo {
            for pose in [Pose::IDENTITY, line, Pose::from_parts(Vec3::ZERO, dice.rotation())] {
                let found = hit(a, &Pose::IDENTITY, b, &pose, 0.1);
                assert!(!found.is_empty(), "{a:?} {b:?}");
                assert!(deepest(&found) < 0.0, "{found:?}");
            }
        }
    }
    let needles = [
        Shape::cuboid(Vec3::new(1e-6, 10.0, 1e-6)).unwrap(),
        Shape::cuboid(Vec3::new(1e3, 1e-4, 1e3)).unwrap(),
        Shape::capsule(1e-9, 1e-3).unwrap(),
        Shape::cylinder(1e-6, 5.0).unwrap(),
        Shape::cone(50.0, 1e-5).unwrap(),
        Shape::sphere(1e-9).unwrap(),
        Shape::convex_hull(&[Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(0.3, 1e-4, 0.3)]).unwrap(),
        floor(3, 2.0),
    ];
    for a in &needles {
        for b in needles.iter().chain(&zoo) {
            for _ in 0..20 {
                let pose = Pose::from_parts(dice.vector(0.3), dice.rotation());
                hit(a, &Pose::from_parts(dice.vector(0.3), dice.rotation()), b, &pose, 0.2);
            }
        }
    }
}

#[test]
fn a_sphere_in_the_middle_of_a_box_leaves_by_the_nearest_side() {
    let slab = Shape::cuboid(Vec3::new(1.0, 0.5, 2.0)).unwrap();
    let ball = Shape::sphere(0.1).unwrap();
    let found = hit(&slab, &Pose::IDENTITY, &ball, &at(0.1, 0.2, 0.1), 0.0);
    assert!((found[0].2.normal - Vec3::Y).length() < 1e-12);
    close(deepest(&found), -0.4, 1e-12);
}

#[test]
fn a_floor_of_triangles_has_no_inner_edges() {
    let ground = floor(8, 4.0);
    let mut dice = Dice(4);
    for shape in zoo().iter().chain(&[Shape::cuboid(Vec3::new(0.5, 0.02, 0.5)).unwrap()]) {
        for _ in 0..200 {
            let tilt = 1e-3 + dice.roll();
            let turn = rotation_from_vector(Vec3::Y * (6.0 * dice.roll()))
                * rotation_from_vector(dice.vector(tilt));
            let low = -shape.aabb(&Pose::from_parts(Vec3::ZERO, turn)).mins.y;
            let sunk = 0.02 - 0.04 * dice.roll();
            let place = Vec3::new(3.0 * dice.roll() - 1.5, low + sunk, 3.0 * dice.roll() - 1.5);
            let found = hit(&ground, &Pose::IDENTITY, shape, &Pose::from_parts(place, turn), 0.05);
            assert!(!found.is_empty(), "{shape:?} at {sunk} found nothing");
            for (_, _, m) in &found {
                assert!((m.normal - Vec3::Y).length() < 1e-9, "{shape:?} {m:?}");
            }
            close(deepest(&found), sunk, 1e-6);
        }
    }
}

#[test]
fn a_mesh_box_is_touched_like_a_box() {
    let h = Vec3::new(1.0, 0.5, 1.5);
    let exact = Shape::cuboid(h).unwrap();
    let (vertices, triangles) = exact.surface(4);
    let mesh = Shape::mesh(&vertices, &triangles).unwrap();
    let mut dice = Dice(5);
    let mut touched = 0;
    for shape in zoo() {
        for _ in 0..300 {
            let pose = Pose::from_parts(dice.vector(1.9), dice.rotation());
            let (want, found) = (
                hit(&exact, &Pose::IDENTITY, &shape, &pose, 0.05),
                hit(&mesh, &Pose::IDENTITY, &shape, &pose, 0.05),
            );
            if want.is_empty() || deepest(&want) < -0.05 {
                continue;
            }
            touched += 1;
            assert!(!found.is_empty(), "{shape:?} {want:?}");
            let near = found.iter().any(|(_, _, m)| m.normal.dot(want[0].2.normal) > 0.9);
            assert!(near, "{shape:?} {want:?} {found:?}");
        }
    }
    assert!(touched > 50, "{touched}");
}

#[test]
fn what_is_wholly_behind_a_triangle_does_not_touch_it() {
    let found = hit(&floor(2, 3.0), &Pose::IDENTITY, &cube(0.5), &at(0.2, -0.51, 0.1), 0.1);
    assert!(found.is_empty());
    let found = hit(&floor(2, 3.0), &Pose::IDENTITY, &cube(0.5), &at(0.2, -0.2, 0.1), 0.1);
    assert!(found.iter().all(|f| (f.2.normal - Vec3::Y).length() < 1e-12));
    close(deepest(&found), -0.7, 1e-12);
}

#[test]
fn pieces_come_in_ascending_order_and_repeat_exactly() {
    let part = cube(0.3);
    let parts: Vec<(Pose, Shape)> =
        (0..6).map(|k| (at(0.7 * k as f64 - 1.8, 0.0, 0.0), part.clone())).collect();
    let comb = Shape::compound(&parts).unwrap();
    let ground = floor(6, 3.0);
    let pose = at(0.0, 0.29, 0.0);
    for (a, pa, b, pb) in
        [(&comb, &pose, &ground, &Pose::IDENTITY), (&ground, &Pose::IDENTITY, &comb, &pose)]
    {
        let found = hit(a, pa, b, pb, 0.02);
        let order: Vec<(u32, u32)> = found.iter().map(|f| (f.0, f.1)).collect();
        assert!(order.is_sorted() && order.len() > 6, "{order:?}");
        assert_eq!(format!("{found:?}"), format!("{:?}", hit(a, pa, b, pb, 0.02)));
    }
    let both = hit(&comb, &Pose::IDENTITY, &comb, &at(0.0, 0.59, 0.0), 0.02);
    assert!(both.len() >= 6);
    close(deepest(&both), -0.01, 1e-12);
}

#[test]
fn a_mesh_rests_on_a_mesh_and_on_a_half_space() {
    let (vertices, triangles) = cube(0.5).surface(4);
    let solid = Shape::mesh(&vertices, &triangles).unwrap();
    for ground in [floor(3, 3.0), Shape::half_space(Vec3::Y).unwrap()] {
        let found = hit(&ground, &Pose::IDENTITY, &solid, &at(0.1, 0.49, 0.2), 0.02);
        close(deepest(&found), -0.01, 1e-9);
        assert!(found.iter().all(|f| (f.2.normal - Vec3::Y).length() < 1e-9), "{found:?}");
    }
}

#[test]
fn a_fast_spinning_cube_is_stopped_by_a_thin_wall() {
    let wall = Shape::cuboid(Vec3::new(0.01, 5.0, 5.0)).unwrap();
    let (vertices, triangles) = wall.surface(4);
    let walls = [
        wall.clone(),
        Shape::mesh(&vertices, &triangles).unwrap(),
        Shape::half_space(-Vec3::X).unwrap(),
    ];
    let mut dice = Dice(6);
    for shape in zoo() {
        for wall in &walls {
            let start = Pose::from_parts(Vec3::new(-5.0, 0.3, 0.2), dice.rotation());
            let end = Pose::from_parts(Vec3::new(5.0, -0.2, 0.1), dice.rotation());
            let center_local = shape.mass_properties().unwrap().center_of_mass;
            let motion = Motion::between(start, end, center_local);
            let fixed = Motion::fixed(Pose::IDENTITY);
            let time = time_of_impact(&shape, &motion, wall, &fixed, 0.01).expect("meets the wall");
            let pose = motion.at(time);
            let gap = query::distance(
                &pose,
                shape.parry().as_ref(),
                &Pose::IDENTITY,
                wall.parry().as_ref(),
            );
            let gap = gap.unwrap().distance;
            assert!(gap > 0.0 && gap < 0.02, "{shape:?} {wall:?}: {gap} at {time}");
            let swapped = time_of_impact(wall, &fixed, &shape, &motion, 0.01).expect("meets");
            close(swapped, time, 1e-3);
            // before that there is none
            let before = motion.at(0.9 * time);
            let gap = query::distance(
                &before,
                shape.parry().as_ref(),
                &Pose::IDENTITY,
                wall.parry().as_ref(),
            );
            assert!(gap.unwrap().distance > 0.01);
            let aside = |p: &Pose| Pose::from_parts(p.translation - Vec3::X * 10.0, p.rotation);
            let away = Motion::between(aside(&start), aside(&start), center_local);
            assert!(time_of_impact(&shape, &away, wall, &fixed, 0.01).is_none());
        }
    }
}

#[test]
fn a_sweep_ends_where_the_motion_ends() {
    let spin = Vec3::new(0.3, 2.0, -0.5);
    let start = turned(1.0, 2.0, 3.0, Vec3::X);
    let turn = rotation_from_vector(spin) * rotation_from_vector(Vec3::X);
    let end = Pose::from_parts(Vec3::new(4.0, 4.0, 4.0), turn);
    let motion = Motion::between(start, end, Vec3::new(0.1, 0.2, 0.3));
    for (time, pose) in [(0.0, start), (1.0, end)] {
        let got = motion.at(time);
        assert!((got.translation - pose.translation).length() < 1e-12);
        assert!(got.rotation.dot(pose.rotation).abs() > 1.0 - 1e-12);
    }
    let inside = Motion::fixed(Pose::IDENTITY);
    assert!(time_of_impact(&cube(0.5), &inside, &cube(0.5), &inside, 0.01).is_none());
}
