//! Ten balls on a cloth that weighs as much as each of them: all in one world, the balls in a second
//! world, and the balls in Rapier. Prints balls lost, depth, strain and time a frame.
//!
//! `cargo run --release -p thirdlaw-studies -- trampoline [one|two|rapier] [method]`

use std::time::Instant;
use thirdlaw::couple::{Coupling, CouplingSettings, Method};
use thirdlaw::simulator::Simulator;
use thirdlaw::{
    Body, BodyId, Cloth, ClothId, ClothMesh, Fabric, Settings, Shape, Vec3, World, measure,
};
use thirdlaw_rapier::RapierWorld;

const RADIUS: f64 = 0.12;
const FRAMES: u32 = 180;
const DT: f64 = 1.0 / 60.0;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

fn cloth(world: &mut World) -> Fallible<ClothId> {
    let fabric = Fabric { density: 0.2, ..Fabric::canvas() };
    let corners = [0, 50, 50 * 51, 51 * 51 - 1];
    let cloth = Cloth::new(ClothMesh::grid(51, 51, [2.0, 2.0])?).fabric(fabric);
    Ok(world.add_cloth(cloth.self_collision(false).pin(corners))?)
}

fn balls(world: &mut World) -> Fallible<Vec<BodyId>> {
    let mut ids = Vec::new();
    for i in 0..10 {
        let x = (f64::from(i % 5) - 2.0) * 0.28;
        let z = (2.0 * f64::from(i / 5) - 1.0) * 0.14;
        let ball = Body::dynamic(Shape::sphere(RADIUS)?).mass(0.8);
        ids.push(world.add_body(ball.at(x, 0.4 + 0.15 * f64::from(i), z))?);
    }
    Ok(ids)
}

/// How deep a ball reaches through the nearest triangle, m, and whether it lies below the sheet.
fn depth(world: &World, id: ClothId, center: Vec3) -> (f64, bool) {
    let Ok(x) = world.vertices(id) else { return (0.0, false) };
    let Ok(cloth) = world.cloth(id) else { return (0.0, false) };
    let mut nearest = (f64::INFINITY, Vec3::ZERO);
    for [a, b, c] in cloth.triangles() {
        let p = closest(center, [x[a as usize], x[b as usize], x[c as usize]]);
        let d = p.distance(center);
        if d < nearest.0 {
            nearest = (d, p);
        }
    }
    (RADIUS - nearest.0, center.y < nearest.1.y - 0.5 * RADIUS)
}

/// The point of a triangle nearest to `p` [Ericson 2005, §5.1.5].
fn closest(p: Vec3, [a, b, c]: [Vec3; 3]) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = 1.0 / (va + vb + vc);
    a + ab * (vb * sum) + ac * (vc * sum)
}

#[derive(Default)]
struct Figures {
    deepest: f64,
    strain: f64,
    lost: usize,
    times: Vec<f64>,
    exchanges: u32,
    unconverged: u32,
    switched: u32,
}

impl Figures {
    fn look(&mut self, world: &World, id: ClothId, centers: &[Vec3]) {
        self.strain = self.strain.max(measure::strain(world));
        self.lost = 0;
        for center in centers {
            let (deep, below) = depth(world, id, *center);
            if below || center.y < -2.0 {
                self.lost += 1;
            } else {
                self.deepest = self.deepest.max(deep);
            }
        }
    }

    fn print(mut self, name: &str) {
        self.times.sort_by(f64::total_cmp);
        let mean: f64 = self.times.iter().sum::<f64>() / self.times.len() as f64;
        println!(
            "{name}: {} balls lost, {:.2} mm deep, strain {:.2} %, {:.1} ms a frame (median {:.1}, \
             worst {:.1}); {} exchanges, {} frames unconverged, {} switched",
            self.lost,
            1e3 * self.deepest,
            100.0 * self.strain,
            1e3 * mean,
            1e3 * self.times[self.times.len() / 2],
            1e3 * self.times[self.times.len() - 1],
            self.exchanges,
            self.unconverged,
            self.switched,
        );
    }
}

fn one() -> Fallible<()> {
    let mut world = World::new(Settings::default())?;
    let id = cloth(&mut world)?;
    let balls = balls(&mut world)?;
    let mut figures = Figures::default();
    for _ in 0..FRAMES {
        let start = Instant::now();
        world.step(DT)?;
        figures.times.push(start.elapsed().as_secs_f64());
        let centers: Vec<Vec3> = balls.iter().filter_map(|b| world.center(*b).ok()).collect();
        figures.look(&world, id, &centers);
    }
    figures.print("one world");
    Ok(())
}

fn coupled<S: Simulator>(name: &str, rigid: S, method: Method) -> Fallible<()> {
    let mut world = World::new(Settings::default())?;
    let id = cloth(&mut world)?;
    let count = rigid.handle_count();
    let mut coupling = Coupling::new(CouplingSettings { method, ..Default::default() })?;
    coupling.add("cloth", world)?;
    coupling.add("balls", rigid)?;
    coupling.touch(0, 1)?;
    let mut figures = Figures::default();
    let mut worst: f64 = 0.0;
    for frame in 0..FRAMES {
        let start = Instant::now();
        let report = coupling.step(DT)?;
        figures.times.push(start.elapsed().as_secs_f64());
        figures.exchanges += report.exchanges;
        figures.unconverged += u32::from(!report.converged);
        figures.switched += u32::from(report.switched);
        worst = worst.max(coupling.ledger()[0].crossing_imbalance());
        let (Some(world), Some(rigid)) = (coupling.get::<World>(0), coupling.get::<S>(1)) else {
            break;
        };
        let centers: Vec<Vec3> = (0..count).map(|i| rigid.read(i).position).collect();
        figures.look(world, id, &centers);
        if std::env::var_os("TRACE").is_some() {
            println!("{frame} {report:?} deep {:.3}", 1e3 * figures.deepest);
        }
    }
    figures.print(name);
    println!("  largest imbalance {worst:.1e} N·s; {:?}", coupling.totals());
    Ok(())
}

pub fn main() -> Fallible<()> {
    let which = crate::words().next();
    let method = match crate::words().nth(1).as_deref() {
        Some("interleaved") => Method::Interleaved,
        _ => Method::Iterated,
    };
    let wanted = |name: &str| which.as_deref().is_none_or(|w| w == name);
    if wanted("one") {
        one()?;
    }
    let mut rigid = World::new(Settings::default())?;
    balls(&mut rigid)?;
    if wanted("rapier") {
        coupled("balls in Rapier", RapierWorld::from_world(&rigid)?, method)?;
    }
    if wanted("two") {
        coupled("two worlds", rigid, method)?;
    }
    Ok(())
}
