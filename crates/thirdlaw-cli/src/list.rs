//! `thirdlaw check`, `thirdlaw scenes` and `thirdlaw schema`: scenes without running them.

use crate::args::{CheckArgs, ScenesArgs, SchemaArgs};
use crate::failure::Failure;
use crate::print;
use thirdlaw_run::{SceneSource, Stepper};
use thirdlaw_scene::{Scene, SceneCloth};

/// Validates scenes; all of them, so that one call shows all errors.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    let mut worst: Option<Failure> = None;
    for typed in &args.scenes {
        match build(typed) {
            Ok(stepper) => {
                let scene = stepper.scene();
                let seconds = f64::from(scene.frames) / scene.fps;
                print::result(&format!(
                    "{typed}: ok, {}, {} ({} s), {}\n",
                    contents(scene),
                    print::plural(scene.frames as usize, "frame"),
                    print::number(seconds),
                    print::plural(scene.expect.len(), "expectation")
                ))?;
                print_notes(scene);
            }
            Err(failure) => {
                // the last one is told by whoever gets it
                if let Some(before) = worst.replace(failure) {
                    print::remark(&format!("error: {before}"));
                }
            }
        }
    }
    worst.map_or(Ok(()), Err)
}

fn build(typed: &str) -> Result<Stepper, Failure> {
    Ok(Stepper::new(SceneSource::find(typed)?.load(&[])?)?)
}

/// Tells what of the scene's files is not simulated as it stands there.
pub fn print_notes(scene: &Scene) {
    for note in &scene.notes {
        print::remark(&format!("note: {note}"));
    }
}

/// `1 body`, `2 bodies, 1 cloth of 2601 vertices`.
pub fn contents(scene: &Scene) -> String {
    let bodies = scene.bodies.len();
    let mut parts = Vec::new();
    if bodies > 0 || (scene.cloths.is_empty() && scene.emitters.is_empty()) {
        parts.push(if bodies == 1 { "1 body".into() } else { format!("{bodies} bodies") });
    }
    for soft in [false, true] {
        let count = |cloth: &SceneCloth| scene.world.vertices(cloth.id).map_or(0, <[_]>::len);
        let all: Vec<usize> = scene.cloths.iter().filter(|c| c.soft == soft).map(count).collect();
        let what = match (soft, all.len()) {
            (_, 0) => continue,
            (false, n) => print::plural(n, "cloth"),
            (true, 1) => "1 soft body".into(),
            (true, n) => format!("{n} soft bodies"),
        };
        parts.push(format!("{what} of {} vertices", all.iter().sum::<usize>()));
    }
    if !scene.joints.is_empty() {
        parts.push(print::plural(scene.joints.len(), "joint"));
    }
    if !scene.emitters.is_empty() {
        parts.push(print::plural(scene.emitters.len(), "emitter"));
    }
    if let Some(partition) = &scene.partition {
        parts.push(format!("in {}", print::plural(partition.simulators.len(), "simulator")));
    }
    parts.join(", ")
}

/// Lists the built-in scenes.
pub fn scenes(args: &ScenesArgs) -> Result<(), Failure> {
    let scenes = thirdlaw_scene::builtin();
    if args.json {
        let list: Vec<_> = scenes
            .iter()
            .map(|scene| serde_json::json!({ "name": scene.name, "title": scene.title() }))
            .collect();
        let text = serde_json::to_string_pretty(&list)
            .map_err(|error| Failure::Input(error.to_string()))?;
        return print::result(&format!("{text}\n"));
    }
    let width = scenes.iter().map(|scene| scene.name.len()).max().unwrap_or(0);
    let lines = scenes.iter().map(|scene| format!("{:<width$}  {}\n", scene.name, scene.title()));
    print::result(&lines.collect::<String>())
}

/// Prints the schema.
pub fn schema(args: &SchemaArgs) -> Result<(), Failure> {
    if args.markdown {
        return print::result(&thirdlaw_scene::reference());
    }
    print::result(&format!("{}\n", thirdlaw_scene::schema().trim_end()))
}
