//! Counts, frame by frame, the pairs of an edge and a triangle of all deformable surfaces of a scene that
//! cross, by looking at every pair: `cargo run --release -p thirdlaw-studies -- crossings SCENE [FRAMES
//! [PATH=VALUE…]]`. Exits with 1 where any cross in any frame.
//!
//! Nothing is shared with the engine's detection. An edge pq crosses a triangle abc if p and q lie on
//! different sides of its plane and the volumes (p, q, a, b), (p, q, b, c), (p, q, c, a) have one sign. Where
//! rounding could turn a sign the pair counts as undecided.

use std::process::ExitCode;
use thirdlaw::{Vec3, World};

/// Rounding of the determinant below, relative to the sum of the absolute values of its terms.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Whether a pair crosses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Crossing {
    No,
    Yes,
    Undecided,
}

/// Six times the volume of (0, a, b, c), 0 where its sign is not sure.
fn volume(a: Vec3, b: Vec3, c: Vec3) -> f64 {
    let terms = [
        a.x * (b.y * c.z),
        -(a.x * (b.z * c.y)),
        a.y * (b.z * c.x),
        -(a.y * (b.x * c.z)),
        a.z * (b.x * c.y),
        -(a.z * (b.y * c.x)),
    ];
    let sum: f64 = terms.iter().sum();
    // differences of places are rounded, too
    let size: f64 = terms.iter().map(|t| t.abs()).sum();
    if sum.abs() > ROUNDING * size { sum } else { 0.0 }
}

fn crosses([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> Crossing {
    let (from, to) = (volume(a - p, b - p, c - p), volume(a - q, b - q, c - q));
    if from * to > 0.0 {
        return Crossing::No;
    }
    let around = [[a, b], [b, c], [c, a]].map(|[a, b]| volume(q - p, a - p, b - p));
    if around.iter().any(|v| *v > 0.0) && around.iter().any(|v| *v < 0.0) {
        return Crossing::No;
    }
    match from == 0.0 || to == 0.0 || around.contains(&0.0) {
        true => Crossing::Undecided,
        false => Crossing::Yes,
    }
}

/// All surfaces, with places in one array.
struct Surfaces {
    x: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
}

fn surfaces(world: &World) -> Surfaces {
    let mut all = Surfaces { x: Vec::new(), triangles: Vec::new(), edges: Vec::new() };
    for id in world.deformables() {
        let (Ok(body), Ok(x)) = (world.deformable(id), world.vertices(id)) else { continue };
        let first = all.x.len() as u32;
        all.x.extend_from_slice(x);
        for t in body.triangles() {
            let t = t.map(|i| i + first);
            all.triangles.push(t);
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                all.edges.push([a.min(b), a.max(b)]);
            }
        }
    }
    all.edges.sort_unstable();
    all.edges.dedup();
    all
}

/// Pairs that cross, and pairs that are undecided.
fn count(all: &Surfaces) -> (usize, usize) {
    use rayon::prelude::*;
    let place = |i: u32| all.x[i as usize];
    let boxes: Vec<(Vec3, Vec3)> = all
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(place);
            (a.min(b).min(c), a.max(b).max(c))
        })
        .collect();
    let of_edge = |e: &[u32; 2]| {
        let [p, q] = e.map(place);
        let (lo, hi) = (p.min(q), p.max(q));
        let mut found = (0, 0);
        for (t, (least, most)) in all.triangles.iter().zip(&boxes) {
            let near = lo.cmple(*most).all() && least.cmple(hi).all();
            if !near || t.contains(&e[0]) || t.contains(&e[1]) {
                continue;
            }
            match crosses([p, q], t.map(place)) {
                Crossing::No => {}
                Crossing::Yes => found.0 += 1,
                Crossing::Undecided => found.1 += 1,
            }
        }
        found
    };
    let each: Vec<(usize, usize)> = all.edges.par_iter().map(of_edge).collect();
    each.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

pub fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let words: Vec<String> = crate::words().collect();
    let name = words.first().ok_or("which scene?")?;
    let text = match thirdlaw_scene::find_builtin(name) {
        Some(scene) => scene.text.to_string(),
        None => std::fs::read_to_string(name)?,
    };
    let set: Vec<(String, String)> = words
        .iter()
        .skip(2)
        .filter_map(|word| word.split_once('='))
        .map(|(path, value)| (path.to_string(), value.to_string()))
        .collect();
    let scene = thirdlaw_scene::load(name, &text, None, &set).map_err(|e| e.to_string())?;
    let frames = words.get(1).map_or(Ok(scene.frames), |n| n.parse())?;
    let (dt, steps) = (scene.dt(), scene.steps_per_frame);
    let mut world = scene.world;
    let (mut worst, mut with, mut undecided) = (0, 0, 0);
    let (mut impacts, mut zones, mut steps_made, mut unfinished) = (0, 0, 0, 0);
    let began = std::time::Instant::now();
    for frame in 1..=frames {
        for _ in 0..steps {
            let report = world.step(dt)?;
            impacts += report.impacts;
            zones = zones.max(report.in_zones);
            steps_made += report.cloth_steps;
            unfinished += report.unfinished;
        }
        let (crossing, unsure) = count(&surfaces(&world));
        if crossing > 0 && with < 5 {
            println!("  {name}: {crossing} crossings in frame {frame}");
        }
        with += u32::from(crossing > 0);
        worst = worst.max(crossing);
        undecided = undecided.max(unsure);
    }
    let all = surfaces(&world);
    println!(
        "  {name}: {} triangles, {frames} frames of {steps_made} cloth steps ({unfinished} unfinished), \
         {impacts} impacts, at most {zones} vertices in zones; {with} frames with crossings, at most {worst} \
         ({undecided} undecided)",
        all.triangles.len()
    );
    eprintln!("  {:.1} s", began.elapsed().as_secs_f64());
    Ok(ExitCode::from(u8::from(with > 0)))
}
