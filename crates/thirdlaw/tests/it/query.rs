//! Questions to a world against brute force by other means: Parry's own casts over every body, the
//! textbook's triangle test over every triangle, and samples along the way.

use crate::{cuboid, earth, floor, sphere};
use parry3d_f64::query::{self, Ray as ParryRay};
use thirdlaw::prelude::*;

/// Numbers from 0 to 1.
pub struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(self.between(-size, size), self.between(-size, size), self.between(-size, size))
    }

    pub fn pose(&mut self, size: f64) -> Pose {
        let turn = Quat::from_scaled_axis(self.vector(3.0));
        Pose::from_parts(self.vector(size), turn)
    }
}

fn hull() -> Shape {
    let mut random = Random(5);
    let points: Vec<Vec3> = (0..20).map(|_| random.vector(0.7)).collect();
    Shape::convex_hull(&points).unwrap()
}

/// A hilly ground, and a closed ball of triangles.
fn hills() -> Shape {
    let mut random = Random(9);
    let heights: Vec<f64> = (0..30 * 30).map(|_| random.unit()).collect();
    Shape::height_field(30, 30, &heights, Vec3::new(12.0, 1.0, 12.0)).unwrap()
}

fn faceted() -> Shape {
    let (vertices, triangles) = sphere(0.6).surface(12);
    Shape::mesh(&vertices, &triangles).unwrap()
}

fn shapes() -> Vec<Shape> {
    let compound =
        [(Pose::from_translation(Vec3::X), cuboid(0.4, 0.3, 0.2)), (Pose::IDENTITY, sphere(0.4))];
    vec![
        sphere(0.5),
        cuboid(0.5, 0.3, 0.7),
        Shape::capsule(0.4, 0.3).unwrap(),
        Shape::cylinder(0.5, 0.4).unwrap(),
        Shape::cone(0.6, 0.5).unwrap(),
        hull(),
        Shape::compound(&compound).unwrap(),
        faceted(),
    ]
}

/// Bodies of every shape anywhere, a sheet and a soft ball.
fn scene(seed: u64) -> (World, ClothId, DeformableId) {
    let mut random = Random(seed);
    let mut world = earth();
    world.add_body(Body::fixed(hills()).at(0.0, -4.5, 0.0)).unwrap();
    for _ in 0..6 {
        for shape in shapes() {
            let pose = random.pose(4.0);
            world.add_body(Body { pose, ..Body::kinematic(shape) }).unwrap();
        }
    }
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y).unwrap()).at(0.0, -5.0, 0.0)).unwrap();
    let mesh = ClothMesh::grid(12, 12, [3.0, 3.0]).unwrap();
    let cloth = world.add_cloth(Cloth::new(mesh)).unwrap();
    let ball = SolidMesh::block(Vec3::splat(0.8), [3; 3]).unwrap();
    let soft =
        world.add_deformable(solid(ball).pose(Pose::from_translation(Vec3::new(1.0, 2.0, 0.0))));
    (world, cloth, soft.unwrap())
}

fn solid(mesh: SolidMesh) -> Deformable {
    mesh.deformable(SolidMaterial::preset("jelly").unwrap()).unwrap()
}

/// [möller1997], both sides.
fn triangle([a, b, c]: [Vec3; 3], o: Vec3, d: Vec3) -> Option<f64> {
    let (e, f) = (b - a, c - a);
    let p = d.cross(f);
    let det = e.dot(p);
    if det.abs() < 1e-14 {
        return None;
    }
    let s = (o - a) / det;
    let (u, q) = (s.dot(p), s.cross(e));
    let v = d.dot(q);
    let t = f.dot(q);
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t >= 0.0).then_some(t)
}

fn triangles_of(world: &World, id: DeformableId) -> Vec<[Vec3; 3]> {
    let x = world.vertices(id).unwrap();
    let object = world.deformable(id).unwrap();
    object.triangles().map(|t| t.map(|i| x[i as usize])).collect()
}

/// Distance to everything that the line from `o` along `d` meets.
fn by_force(world: &World, o: Vec3, d: Vec3) -> Vec<(AnyId, f64)> {
    let mut met = Vec::new();
    for id in world.bodies() {
        let (pose, body) = (world.pose(id).unwrap(), world.body(id).unwrap());
        let hit = match body.shape.geometry() {
            thirdlaw::shape::Geometry::Mesh(mesh) => {
                let at = |i: usize| mesh.corners(i).map(|v| pose * v);
                let hits = (0..mesh.triangles.len()).filter_map(|i| triangle(at(i), o, d));
                hits.min_by(f64::total_cmp)
            }
            _ => body.shape.parry().cast_ray(&pose, &ParryRay::new(o, d), 1e6, true),
        };
        met.extend(hit.map(|t| (AnyId::from(id), t)));
    }
    for id in world.deformables() {
        let hits = triangles_of(world, id).into_iter().filter_map(|t| triangle(t, o, d));
        met.extend(hits.min_by(f64::total_cmp).map(|t| (AnyId::from(id), t)));
    }
    met.sort_by(|a, b| a.1.total_cmp(&b.1));
    met
}

#[test]
fn rays_meet_what_brute_force_says() {
    let (mut hits, mut soft) = (0, 0);
    for seed in 0..6 {
        let (mut world, _, _) = scene(seed);
        let mut random = Random(seed + 100);
        for step in 0..3 {
            for _ in 0..400 {
                let (o, d) = (random.vector(6.0), random.vector(1.0).normalize());
                let ray = Ray::new(o, d * random.between(0.1, 9.0)).unwrap();
                // a closed mesh is solid for us, and only a surface for brute force
                let inside = |id: AnyId| {
                    let hit = world.cast_ray(&ray, &Filter::new().only(&move |other| other == id));
                    hit.is_some_and(|hit| hit.distance == 0.0)
                };
                let wanted: Vec<(AnyId, f64)> = by_force(&world, o, d);
                let wanted: Vec<(AnyId, f64)> = wanted
                    .into_iter()
                    .map(|(id, t)| (id, if inside(id) { 0.0 } else { t }))
                    .collect();
                let nearest = wanted.iter().map(|hit| hit.1).fold(f64::INFINITY, f64::min);
                let found = world.cast_ray(&ray, &Filter::new());
                assert_eq!(found.is_some(), !wanted.is_empty(), "{seed} {o} {d}");
                assert_eq!(world.is_hit(&ray, &Filter::new()), found.is_some());
                let all = world.cast_ray_all(&ray, &Filter::new());
                assert_eq!(all.len(), wanted.len(), "{o} {d}\n{all:?}\n{wanted:?}");
                let Some(found) = found else { continue };
                hits += 1;
                soft += u32::from(found.deformable().is_some());
                assert!((found.distance - nearest).abs() < 1e-5, "{found:?} {nearest}");
                assert!((found.normal.length() - 1.0).abs() < 1e-12);
                assert!(found.point.distance(o + found.distance * d) < 1e-9);
                for hit in &all {
                    let (_, t) = wanted.iter().find(|w| w.0 == hit.who).expect("the same bodies");
                    assert!((hit.distance - t).abs() < 1e-5, "{hit:?} {t}");
                }
                // cut short before it, or just behind
                let short = ray.up_to(found.distance * 0.999 - 1e-9);
                assert_eq!(world.cast_ray(&short, &Filter::new()), None);
                let behind = ray.up_to(found.distance + 1e-9);
                assert!(world.is_hit(&behind, &Filter::new()), "{seed} {o} {d} {found:?}");
            }
            // the tree follows edits and steps
            let ids: Vec<BodyId> = world.bodies().collect();
            match step {
                0 => {
                    world.remove_body(ids[7]).unwrap();
                    world.set_pose(ids[9], random.pose(4.0)).unwrap();
                    world.add_body(Body::fixed(cuboid(1.0, 1.0, 1.0)).at(0.0, 3.0, 0.0)).unwrap();
                }
                _ => assert!(world.step(1.0 / 60.0).is_ok()),
            }
        }
    }
    assert!(hits > 4000 && soft > 50, "{hits} {soft}");
}

/// Normals by differences of the depth below the surface, and the way out of hollow bodies.
#[test]
fn normals_point_out_of_the_surface() {
    let mut random = Random(3);
    for shape in shapes() {
        let mut world = earth();
        let pose = random.pose(1.0);
        world.add_body(Body { pose, ..Body::fixed(shape.clone()) }).unwrap();
        let center = pose * shape.mass_properties().unwrap().center_of_mass;
        for _ in 0..200 {
            let from = center + 5.0 * random.vector(1.0).normalize();
            let ray = Ray::between(from, center + random.vector(0.2)).unwrap().up_to(20.0);
            let Some(hit) = world.cast_ray(&ray, &Filter::new()) else { continue };
            assert!(hit.normal.dot(ray.direction()) <= 1e-9 && !hit.back);
            // a step along the normal leaves the body, one against it enters it
            let depth =
                |at: Vec3| world.closest_point(at, 9.0, &Filter::new()).unwrap().unwrap().distance;
            let (out, within) =
                (depth(hit.point + 1e-4 * hit.normal), depth(hit.point - 1e-4 * hit.normal));
            assert!(out > 0.0 && within < 2e-5, "{:?}: {out} {within}", shape.geometry());
            assert!((out - 1e-4).abs() < 2e-5, "{out}");
            let way_out = Ray::new(center, -ray.direction()).unwrap();
            if shape.is_convex() {
                let hollow = world.cast_ray(&way_out, &Filter::new().hollow()).unwrap();
                assert!(
                    hollow.back
                        && hollow.distance > 0.1
                        && hollow.normal.dot(way_out.direction()) > 0.0
                );
                assert_eq!(world.cast_ray(&way_out, &Filter::new()).unwrap().distance, 0.0);
            }
        }
    }
}

#[test]
fn filters_leave_out_what_they_say() {
    let mut world = earth();
    let group = |member| Groups { member, collides: member };
    let add = |world: &mut World, body: Body, x: f64, member: u32| {
        world.add_body(body.at(x, 0.0, 0.0).groups(group(member))).unwrap()
    };
    let a = add(&mut world, Body::dynamic(sphere(0.5)), 1.0, 1);
    let b = add(&mut world, Body::kinematic(sphere(0.5)), 3.0, 2);
    let c = add(&mut world, Body::fixed(sphere(0.5)).sensor(), 5.0, 2);
    let d = add(&mut world, Body::fixed(sphere(0.5)), 7.0, 4);
    let ray = Ray::new(Vec3::new(-1.0, 0.0, 0.0), Vec3::X).unwrap();
    let seen = |filter: Filter| -> Vec<BodyId> {
        world.cast_ray_all(&ray, &filter).iter().filter_map(RayHit::body).collect()
    };
    assert_eq!(seen(Filter::new()), [a, b, d]);
    assert_eq!(seen(Filter::new().with_sensors()), [a, b, c, d]);
    assert_eq!(seen(Filter::new().groups(group(2)).with_sensors()), [b, c]);
    assert_eq!(seen(Filter::new().without_dynamic()), [b, d]);
    assert_eq!(seen(Filter::new().without_kinematic().without_fixed()), [a]);
    assert_eq!(seen(Filter::new().except(a)), [b, d]);
    assert_eq!(seen(Filter::new().only(&|id| id == d.into())), [d]);
    // a filter that asks the world itself
    let near = |id: AnyId| id.body().is_some_and(|id| world.pose(id).unwrap().translation.x < 4.0);
    assert_eq!(seen(Filter::new().only(&near)), [a, b]);
}

#[test]
fn shapes_meet_overlap_and_are_near_what_brute_force_says() {
    for seed in 0..4 {
        let (world, _, _) = scene(seed);
        let mut random = Random(seed + 50);
        let parts = |world: &World, id: DeformableId| triangles_of(world, id);
        for shape in shapes().into_iter().filter(|shape| !shape.is_mesh()) {
            for _ in 0..12 {
                let (pose, motion) = (random.pose(5.0), random.vector(4.0));
                // who overlaps
                let mut wanted: Vec<AnyId> = Vec::new();
                for id in world.bodies() {
                    let other = &world.body(id).unwrap().shape;
                    let apart = query::distance(
                        &pose,
                        &**shape.parry(),
                        &world.pose(id).unwrap(),
                        &**other.parry(),
                    );
                    if apart.unwrap().distance <= 0.0 {
                        wanted.push(id.into());
                    }
                }
                for id in world.deformables() {
                    let meets = |t: &[Vec3; 3]| {
                        let t = parry3d_f64::shape::Triangle::new(t[0], t[1], t[2]);
                        query::distance(&pose, &**shape.parry(), &Pose::IDENTITY, &t)
                            .unwrap()
                            .distance
                            <= 0.0
                    };
                    if parts(&world, id).iter().any(meets) {
                        wanted.push(id.into());
                    }
                }
                let found = world.overlaps(&shape, pose, &Filter::new()).unwrap();
                let missed = wanted.iter().find(|id| !found.contains(id));
                assert_eq!(missed, None, "{found:?} {wanted:?}");
                // the first thing on the way: free until there, touching there
                let hit = world.cast_shape(&shape, pose, motion, &Filter::new()).unwrap();
                let at = |s: f64| {
                    Pose::from_parts(pose.translation + s * motion.normalize(), pose.rotation)
                };
                let until = hit.map_or(motion.length(), |hit| hit.distance);
                if !found.is_empty() {
                    assert_eq!(until, 0.0, "{found:?} {hit:?}");
                    continue;
                }
                for k in 0..40 {
                    let s = (until - 1e-5) * f64::from(k) / 39.0;
                    let now = world.overlaps(&shape, at(s), &Filter::new()).unwrap();
                    assert!(now.is_empty(), "{now:?} at {s} before {hit:?}");
                }
                if let Some(hit) = hit {
                    let now = world.overlaps(&shape, at(until + 1e-4), &Filter::new()).unwrap();
                    let grazing = hit.normal.dot(motion.normalize()) > -0.05;
                    assert!(grazing || now.contains(&hit.who), "{hit:?} {now:?}");
                    assert!(hit.normal.dot(motion) <= 0.0);
                }
            }
        }
        // the nearest point is on a surface, and no sample of any surface is nearer
        for _ in 0..60 {
            let p = random.vector(5.0);
            let hit = world.closest_point(p, 100.0, &Filter::new()).unwrap().unwrap();
            assert!((hit.point.distance(p) - hit.distance.abs()).abs() < 1e-6);
            for id in world.bodies() {
                let (pose, shape) = (world.pose(id).unwrap(), &world.body(id).unwrap().shape);
                let on = shape.parry().project_point(&pose, p, false);
                let apart = on.point.distance(p);
                assert!(on.is_inside || hit.distance <= apart + 1e-6, "{hit:?} {apart} {id}");
            }
        }
    }
}

#[test]
fn boxes_find_bounds_and_bad_questions_are_refused() {
    let (world, cloth, soft) = scene(1);
    let mut random = Random(8);
    for _ in 0..100 {
        let (p, q) = (random.vector(5.0), random.vector(5.0));
        let (low, high) = (p.min(q), p.max(q));
        let found = world.in_box(low, high, &Filter::new()).unwrap();
        for id in world.bodies() {
            let b = world.body(id).unwrap().shape.aabb(&world.pose(id).unwrap());
            let meets = b.mins.cmple(high).all() && b.maxs.cmpge(low).all();
            if !world.body(id).unwrap().shape.is_half_space() {
                assert_eq!(found.contains(&id.into()), meets, "{id}");
            }
        }
        for id in [cloth, soft] {
            let inside = |x: &Vec3| x.cmple(high).all() && x.cmpge(low).all();
            let any = world.vertices(id).unwrap().iter().any(inside);
            assert!(!any || found.contains(&id.into()));
        }
        assert!(found.is_sorted());
    }
    let nan = Vec3::splat(f64::NAN);
    assert!(Ray::new(nan, Vec3::X).is_err() && Ray::new(Vec3::ZERO, nan).is_err());
    assert!(Ray::new(Vec3::ZERO, Vec3::ZERO).is_err());
    assert!(world.in_box(Vec3::ONE, Vec3::ZERO, &Filter::new()).is_err());
    assert!(world.closest_point(nan, 1.0, &Filter::new()).is_err());
    assert!(world.closest_point(Vec3::ZERO, -1.0, &Filter::new()).is_err());
    assert!(world.cast_shape(&sphere(1.0), Pose::IDENTITY, nan, &Filter::new()).is_err());
    let plane = Shape::half_space(Vec3::Y).unwrap();
    assert!(world.overlaps(&plane, Pose::IDENTITY, &Filter::new()).is_err());
    let nothing = Ray::new(Vec3::ZERO, -Vec3::Y).unwrap().up_to(f64::NAN);
    assert_eq!(world.cast_ray(&nothing, &Filter::new()), None);
}

/// Questions from many threads while none of them changes anything, and the same bits afterwards.
#[test]
fn questions_change_nothing() {
    let run = |asking: bool| {
        let mut world = earth();
        world.add_body(floor()).unwrap();
        for i in 0..20 {
            world
                .add_body(Body::dynamic(cuboid(0.3, 0.3, 0.3)).at(
                    0.1 * f64::from(i % 3),
                    0.4 + 0.7 * f64::from(i),
                    0.0,
                ))
                .unwrap();
        }
        for _ in 0..60 {
            world.step(1.0 / 60.0).unwrap();
            if asking {
                std::thread::scope(|scope| {
                    for k in 0..2 {
                        let world = &world;
                        scope.spawn(move || {
                            let ray =
                                Ray::new(Vec3::new(f64::from(k), 20.0, 0.0), -Vec3::Y).unwrap();
                            assert!(world.cast_ray(&ray, &Filter::new()).is_some());
                        });
                    }
                });
            }
        }
        world.hash()
    };
    assert_eq!(run(true), run(false));
}
