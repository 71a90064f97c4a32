//! A scene in a program of one's own: stepped and read, run into a folder, exported.
//!
//! `cargo run -p thirdlaw-run --example run_scene [SCENE] [FOLDER]`

use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;
use thirdlaw_run::{
    Export, ExportFormat, Recording, Run, RunOptions, SceneSource, Stepper, unwatched,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let source = SceneSource::find(&args.next().unwrap_or_else(|| "box-on-floor".into()))?;
    let folder = args.next().map_or_else(|| PathBuf::from("out/run-scene"), PathBuf::from);
    let scene = source.load(&[])?;

    // stepped by hand: nothing is written, nothing is timed
    let mut stepper = Stepper::new(scene.clone())?;
    let body = scene.bodies.last().ok_or("the scene has no body")?;
    for _ in 0..scene.frames.min(60) {
        let stats = stepper.step()?;
        if stats.frame % 10 == 0 {
            let height = stepper.world().pose(body.id)?.translation.y;
            println!(
                "{:.2} s: {} at y = {height:.3} m, {:.3} J",
                stats.time, body.name, stats.kinetic
            );
        }
    }
    for verdict in stepper.verdicts().iter().filter(|verdict| verdict.value.is_some()) {
        println!("{} {}: {}", verdict.key, verdict.wanted, verdict.passed);
    }

    // the same into a folder, with a cache; ended after 30 frames, then gone on with
    let mut run = Run::create(&source, scene, &folder, &RunOptions::default())?;
    let outcome = run.simulate(&mut |progress| match progress.done {
        30.. => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })?;
    println!("after {} frames: {outcome:?}", run.last_frame());
    let outcome = run.simulate(&mut unwatched)?;
    println!("after {} frames: {outcome:?}", run.last_frame());

    // from the cache to other programs
    let recording = Recording::open(&folder)?;
    let file = ExportFormat::Gltf.default_path(&folder);
    Export::of(&recording, None)?.write(ExportFormat::Gltf, &file, true, &mut unwatched)?;
    println!("{}", file.display());
    Ok(())
}
