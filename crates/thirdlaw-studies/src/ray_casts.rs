//! Rays a second of Thirdlaw and Rapier, in one run: 5,160 boxes, a cloth of 51 × 51 vertices (as a
//! mesh for Rapier, which has no cloth), a mesh of 100,000 triangles. Best of five rounds each, one thread.
//! Exits with 1 if Rapier is faster or both see another number of hits.

use rapier3d::prelude::{
    BroadPhaseBvh, ColliderBuilder, ColliderSet, NarrowPhase, PhysicsPipeline, QueryFilter,
    RigidBodyBuilder, RigidBodySet,
};
use std::time::Instant;
use thirdlaw::prelude::*;

const RAYS: usize = 20_000;
const ROUNDS: usize = 5;

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64
}

/// What is hit: boxes by their middles, and triangles.
struct Case {
    name: &'static str,
    boxes: Vec<Vec3>,
    mesh: Option<(Vec<Vec3>, Vec<[u32; 3]>)>,
    cloth: bool,
    low: Vec3,
    high: Vec3,
}

fn hills(columns: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for row in 0..columns {
        for column in 0..columns {
            let (x, z) = (0.1 * column as f64, 0.1 * row as f64);
            vertices.push(Vec3::new(x, (0.7 * x).sin() + (0.5 * z).cos(), z));
            if row + 1 < columns && column + 1 < columns {
                let a = (row * columns + column) as u32;
                let (b, c, d) = (a + 1, a + columns as u32, a + columns as u32 + 1);
                triangles.extend([[a, c, b], [b, c, d]]);
            }
        }
    }
    (vertices, triangles)
}

fn cases() -> Vec<Case> {
    let mut boxes = Vec::new();
    for i in 0..5160 {
        let (layer, place) = (i / 645, i % 645);
        boxes.push(Vec3::new(
            1.2 * (place % 26) as f64,
            1.3 * layer as f64,
            1.2 * (place / 26) as f64,
        ));
    }
    let mesh = hills(225);
    assert!(mesh.1.len() > 100_000);
    let (low, high) = (Vec3::new(-2.0, -2.0, -2.0), Vec3::new(33.0, 12.0, 33.0));
    let field = |name, mesh, cloth, size: f64| Case {
        name,
        boxes: Vec::new(),
        mesh: Some(mesh),
        cloth,
        low: Vec3::new(0.0, -3.0, 0.0),
        high: Vec3::new(size, 3.0, size),
    };
    vec![
        Case { name: "5,160 boxes", boxes, mesh: None, cloth: false, low, high },
        field("cloth 51x51", hills(51), true, 5.0),
        field("100,352 triangles", mesh, false, 22.4),
    ]
}

type Failure = Box<dyn std::error::Error>;

fn ours(case: &Case) -> Result<World, Failure> {
    let mut world = World::new(Settings::default())?;
    let cube = Shape::cuboid(Vec3::splat(0.5))?;
    for at in &case.boxes {
        world.add_body(Body::fixed(cube.clone()).at(at.x, at.y, at.z))?;
    }
    if let Some((vertices, triangles)) = &case.mesh {
        if case.cloth {
            let sheet = Deformable::new(vertices.clone()).masses(vec![1e-3; vertices.len()]);
            world.add_deformable(sheet.surface(triangles.clone(), SurfaceMaterial::default()))?;
        } else {
            world.add_body(Body::fixed(Shape::mesh(vertices, triangles)?))?;
        }
    }
    Ok(world)
}

struct Theirs {
    bodies: RigidBodySet,
    colliders: ColliderSet,
    broad: BroadPhaseBvh,
    narrow: NarrowPhase,
}

fn theirs(case: &Case) -> Result<Theirs, Failure> {
    let (mut bodies, mut colliders) = (RigidBodySet::new(), ColliderSet::new());
    let place = |v: &Vec3| rapier3d::prelude::Vector::new(v.x as f32, v.y as f32, v.z as f32);
    for at in &case.boxes {
        let body = bodies.insert(RigidBodyBuilder::fixed().translation(place(at)));
        colliders.insert_with_parent(ColliderBuilder::cuboid(0.5, 0.5, 0.5), body, &mut bodies);
    }
    if let Some((vertices, triangles)) = &case.mesh {
        let vertices = vertices.iter().map(place).collect();
        colliders.insert(ColliderBuilder::trimesh(vertices, triangles.clone())?);
    }
    let (mut broad, mut narrow) = (BroadPhaseBvh::new(), NarrowPhase::new());
    PhysicsPipeline::new().step(
        Default::default(),
        &Default::default(),
        &mut Default::default(),
        &mut broad,
        &mut narrow,
        &mut bodies,
        &mut colliders,
        &mut Default::default(),
        &mut Default::default(),
        &mut Default::default(),
        &mut Default::default(),
        &(),
        &(),
    );
    Ok(Theirs { bodies, colliders, broad, narrow })
}

pub fn main() -> Result<(), Failure> {
    let mut slower = 0;
    println!(
        "{:<20} {:>12} {:>12} {:>7} {:>8} {:>8}",
        "rays/s", "thirdlaw", "rapier", "ratio", "hits", "theirs"
    );
    for case in cases() {
        let mut seed = 7;
        let mut at = |high: bool| {
            let size = case.high - case.low;
            let y = if high { 1.0 } else { random(&mut seed) };
            case.low + size * Vec3::new(random(&mut seed), y, random(&mut seed))
        };
        let lines: Vec<(Vec3, Vec3)> = (0..RAYS).map(|i| (at(i % 2 == 0), at(false))).collect();
        let (world, other) = (ours(&case)?, theirs(&case)?);
        let rays: Result<Vec<Ray>, _> = lines.iter().map(|(a, b)| Ray::new(*a, *b - *a)).collect();
        let rays = rays?;
        let place = |v: Vec3| rapier3d::prelude::Vector::new(v.x as f32, v.y as f32, v.z as f32);
        let their_rays: Vec<_> = rays
            .iter()
            .map(|ray| rapier3d::prelude::Ray::new(place(ray.origin()), place(ray.direction())))
            .collect();
        let pipeline = other.broad.as_query_pipeline(
            other.narrow.query_dispatcher(),
            &other.bodies,
            &other.colliders,
            QueryFilter::default(),
        );
        let (mut best, mut hits) = ([f64::INFINITY; 2], [0; 2]);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let filter = Filter::new();
            hits[0] = rays.iter().filter(|ray| world.cast_ray(ray, &filter).is_some()).count();
            best[0] = best[0].min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            let cast = |ray| pipeline.cast_ray_and_get_normal(ray, f32::MAX, true).is_some();
            hits[1] = their_rays.iter().filter(|ray| cast(ray)).count();
            best[1] = best[1].min(start.elapsed().as_secs_f64());
        }
        let [our, their] = best.map(|seconds| RAYS as f64 / seconds);
        println!(
            "{:<20} {our:>12.0} {their:>12.0} {:>7.2} {:>8} {:>8}",
            case.name,
            our / their,
            hits[0],
            hits[1]
        );
        let alike = hits[0].abs_diff(hits[1]) * 500 <= RAYS;
        slower += u32::from(our < their || !alike);
    }
    if slower > 0 {
        println!("{slower} case(s) slower than Rapier, or seen otherwise");
        std::process::exit(1);
    }
    Ok(())
}
