//! Lists every file under `scenes/`, so that none can be forgotten.

use std::path::{Path, PathBuf};

fn main() {
    let folder =
        PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("scenes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut found = Vec::new();
    collect(&folder, "", &mut found);
    found.sort();
    let mut list = String::from("static SCENES: &[Builtin] = &[\n");
    for (name, path) in found {
        println!("cargo::rerun-if-changed={path}");
        list += &format!("    Builtin {{ name: {name:?}, text: include_str!({path:?}) }},\n");
    }
    list += "];\n";
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("set by cargo")).join("scenes.rs");
    std::fs::write(out, list).expect("the list of scenes can be written");
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) {
    let entries = std::fs::read_dir(folder).expect("the folder of scenes can be read");
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), found);
        } else if let Some(stem) = name.strip_suffix(".toml") {
            found.push((format!("{prefix}{stem}"), path.display().to_string()));
        }
    }
}
