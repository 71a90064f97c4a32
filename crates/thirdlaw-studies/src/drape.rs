//! A cloth falls over a sphere: what it takes and how well it holds, frame by frame.
//!
//! `cargo run --release -p thirdlaw-studies -- drape [vertices per side] [preset] [frames]`

use std::time::Instant;
use thirdlaw::{Body, Cloth, ClothMesh, Fabric, Pose, Quat, Settings, Shape, Vec3, World, measure};

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = crate::words().collect();
    let side = arguments.first().map_or(Ok(51), |s| s.parse::<usize>())?;
    let preset = arguments.get(1).map_or("cotton", |s| s.as_str());
    let frames = arguments.get(2).map_or(Ok(120), |s| s.parse::<usize>())?;
    let mut fabric = Fabric::preset(preset).ok_or("no such preset")?;
    fabric.density = 0.2;
    let mut settings = Settings::default();
    for argument in arguments.iter().skip(3) {
        match argument.split_once('=') {
            Some(("tolerance", x)) => settings.cloth.tolerance = x.parse()?,
            Some(("shear", x)) => fabric.shear = x.parse()?,
            Some(("bend", x)) => fabric.bend = [x.parse()?; 2],
            Some(("damping", x)) => fabric.damping = [x.parse()?; 3],
            Some(("stretch", x)) => fabric.stretch = [x.parse()?; 2],
            Some(("rounds", x)) => settings.cloth.rounds = x.parse()?,
            Some(("strain", x)) => settings.cloth.strain_step = x.parse()?,
            Some(("preconditioner", "jacobi")) => {
                settings.cloth.preconditioner = thirdlaw::Preconditioner::BlockJacobi;
            }
            Some(("preconditioner", "multilevel")) => {
                settings.cloth.preconditioner = thirdlaw::Preconditioner::Multilevel;
            }
            Some(("precision", "single")) => {
                settings.cloth.precision = thirdlaw::Precision::Single;
            }
            Some(("precision", "double")) => {
                settings.cloth.precision = thirdlaw::Precision::Double;
            }
            _ => return Err(format!("unknown option {argument}").into()),
        }
    }
    let mut world = World::new(settings)?;
    world.add_body(Body::fixed(Shape::sphere(0.5)?).friction(0.3))?;
    fabric.friction = 0.3;
    let mesh = ClothMesh::grid(side, side, [2.0, 2.0])?;
    let cloth = Cloth::new(mesh)
        .fabric(fabric)
        .pose(Pose::from_parts(Vec3::new(0.0, 0.65, 0.0), Quat::IDENTITY));
    let cloth = world.add_cloth(cloth)?;
    let (mut total, mut peak) = (0.0, 0.0_f64);
    let mut times = Vec::new();
    let (mut iterations, mut steps, mut rejected) = (0, 0, 0);
    for frame in 1..=frames {
        let start = Instant::now();
        let report = world.step(1.0 / 60.0)?;
        let ms = 1e3 * start.elapsed().as_secs_f64();
        total += ms;
        times.push(ms);
        let strain = measure::strain(&world);
        peak = peak.max(strain);
        iterations += report.cg_iterations;
        steps += report.cloth_steps;
        rejected += report.rejected;
        if frame % 10 == 0 || report.rejected > 0 {
            let x = world.vertices(cloth)?;
            let low = x.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
            let deep = x.iter().map(|p| 0.5 - p.length()).fold(0.0, f64::max);
            let energy = measure::energy(&world);
            println!(
                "{frame:4}  {ms:6.2} ms  strain {:6.3} %  deep {:6.3} mm  low {low:7.4}  \
                 kinetic {:8.5}  elastic {:8.5}  cg {:4}  steps {}  rejected {}",
                100.0 * strain,
                1e3 * deep,
                energy.kinetic,
                energy.elastic,
                report.cg_iterations,
                report.cloth_steps,
                report.rejected
            );
        }
    }
    times.sort_unstable_by(f64::total_cmp);
    println!(
        "{side}²: {:.2} ms a frame, median {:.2}, peak strain {:.3} %, {iterations} iterations, {steps} steps, \
         {rejected} rejected",
        total / frames as f64,
        times.get(times.len() / 2).copied().unwrap_or(0.0),
        100.0 * peak
    );
    Ok(())
}
