//! Times of finding contacts of cloth: `cargo run --release -p thirdlaw-studies -- cloth-collide [threads]`.
//!
//! A square cloth lies over a ball, its sides folded in under it as waves; every figure is the mean
//! over repeated calls on slightly different positions.

use std::time::Instant;
use thirdlaw::collide::deformable::{ParticleScratch, Particles, Solid, Tree, vertex_solid};
use thirdlaw::{Groups, Pose, Shape, Vec3};

struct Cloth {
    rest: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
}

fn grid(n: usize, size: f64) -> Cloth {
    let at = |i: usize, j: usize| (i * n + j) as u32;
    let step = size / (n - 1) as f64;
    let mut cloth = Cloth { rest: Vec::new(), triangles: Vec::new(), edges: Vec::new() };
    for i in 0..n {
        for j in 0..n {
            let place = |k: usize| k as f64 * step - 0.5 * size;
            cloth.rest.push(Vec3::new(place(i), 0.0, place(j)));
            if j + 1 < n {
                cloth.edges.push([at(i, j), at(i, j + 1)]);
            }
            if i + 1 < n {
                cloth.edges.push([at(i, j), at(i + 1, j)]);
            }
            if i + 1 < n && j + 1 < n {
                cloth.triangles.push([at(i, j), at(i, j + 1), at(i + 1, j)]);
                cloth.triangles.push([at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)]);
                cloth.edges.push([at(i + 1, j), at(i, j + 1)]);
            }
        }
    }
    cloth
}

/// Over a ball at the origin, the rest hanging in folds that touch each other at `gap`.
fn draped(cloth: &Cloth, ball: f64, gap: f64, phase: f64) -> Vec<Vec3> {
    let drape = |p: &Vec3| {
        let far = (p.x * p.x + p.z * p.z).sqrt();
        let angle = p.z.atan2(p.x);
        let quarter = ball * std::f64::consts::FRAC_PI_2;
        if far < quarter {
            let a = far / ball;
            return Vec3::new(a.sin() * angle.cos(), a.cos(), a.sin() * angle.sin())
                * (ball + 0.001);
        }
        let fold = ((12.0 * angle + phase).sin() * (far - quarter)).clamp(-0.3, 0.3);
        let r = ball + 0.001 + 0.2 * fold.abs();
        let turn = angle + 0.45 * fold / (ball + 10.0 * gap);
        Vec3::new(r * turn.cos(), quarter - far, r * turn.sin())
    };
    cloth.rest.iter().map(drape).collect()
}

fn time(repeat: usize, mut work: impl FnMut(usize)) -> f64 {
    work(0);
    let start = Instant::now();
    (0..repeat).for_each(&mut work);
    1e3 * start.elapsed().as_secs_f64() / repeat as f64
}

pub fn main() {
    let threads = crate::words().next().and_then(|a| a.parse().ok()).unwrap_or(2);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| [51, 256].into_iter().for_each(measure));
}

fn measure(n: usize) {
    let cloth = grid(n, 2.0);
    let gap = 0.1 * 2.0 / (n - 1) as f64;
    let repeat = 400_000 / (n * n);
    let frames: Vec<Vec<Vec3>> =
        (0..4).map(|k| draped(&cloth, 0.5, gap, 0.01 * k as f64)).collect();
    let radius = vec![gap; cloth.rest.len()];
    let reach = vec![0.01; cloth.rest.len()];
    println!("{n}² = {} particles, {} triangles", cloth.rest.len(), cloth.triangles.len());

    let ball = Shape::sphere(0.5).expect("a ball");
    let floor = Shape::half_space(Vec3::Y).expect("a floor");
    let block = Shape::cuboid(Vec3::splat(0.3)).expect("a box");
    let solid = |slot, shape, y| {
        let pose = Pose::from_translation(Vec3::Y * y);
        Solid { slot, shape, parts: &[], pose, groups: Groups::default(), margin: 0.0 }
    };
    let solids = [solid(0, &ball, 0.0), solid(1, &floor, -0.8), solid(2, &block, -0.2)];
    let (mut scratch, mut out) = (ParticleScratch::default(), Vec::new());
    let ms = time(repeat, |k| {
        let particles = Particles { x: &frames[k % 4], reach: &reach, groups: &[] };
        vertex_solid(&particles, &solids, &mut scratch, &mut out);
    });
    println!("  particles against three solids {ms:8.3} ms, {} hits", out.len());

    let mut tree = Tree::new(&cloth.rest, &cloth.triangles, &cloth.edges);
    let ms = time(repeat, |k| {
        let particles = Particles { x: &frames[k % 4], reach: &reach, groups: &[] };
        tree.near_solids(&particles, &solids, 0.001, &mut out);
    });
    println!("  insides against three solids   {ms:8.3} ms, {} hits", out.len());
    let flat = time(repeat, |_| tree.proximity((&cloth.rest, &cloth.rest), &radius, gap, &mut out));
    println!("  proximity, flat                {flat:8.3} ms, {} hits", out.len());
    let ms =
        time(repeat, |k| tree.proximity((&frames[k % 4], &frames[k % 4]), &radius, gap, &mut out));
    println!("  proximity, draped              {ms:8.3} ms, {} hits", out.len());
    let ms = time(repeat, |k| tree.crossings(&frames[k % 4], &frames[(k + 1) % 4], &mut out));
    println!("  crossings from frame to frame  {ms:8.3} ms, {} hits", out.len());
    let mut count = 0;
    let ms = time(repeat, |k| count = tree.intersections(&frames[k % 4]));
    println!("  intersections                  {ms:8.3} ms, {count} crossings");
}
