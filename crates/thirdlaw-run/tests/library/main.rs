//! The library as a program uses it: steppers, runs that are ended and gone on with, what becomes of
//! them.

mod run;
mod stepper;

use std::path::Path;
use thirdlaw_run::SceneSource;
use thirdlaw_scene::Scene;

/// A built-in scene with some of its values changed.
fn scene(name: &str, overrides: &[(&str, &str)]) -> (SceneSource, Scene) {
    let source = SceneSource::find(name).unwrap();
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let scene = source.load(&overrides).unwrap();
    (source, scene)
}

/// Names of the files and folders in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
