//! `thirdlaw-fmu SCENE.toml OUT.fmu [--one-way]`: a scene as an FMU (FMI 3.0, co-simulation).
//!
//! The library for it, which `cargo build --release -p thirdlaw-fmu-binary` makes, is looked up beside this
//! program. `--one-way`: it does not offer to take steps back.

use std::path::Path;
use std::process::ExitCode;
use thirdlaw_fmu::{FmuExport, scene};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let one_way = words.iter().any(|word| word == "--one-way");
    let files: Vec<&String> = words.iter().filter(|word| *word != "--one-way").collect();
    let [input, out] = files[..] else {
        eprintln!("thirdlaw-fmu SCENE.toml OUT.fmu [--one-way]");
        return ExitCode::from(2);
    };
    match export(input, out, !one_way) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn export(input: &str, out: &str, restores: bool) -> Result<String, String> {
    let path = Path::new(input);
    let text = std::fs::read_to_string(path).map_err(|error| format!("{input}: {error}"))?;
    let read = thirdlaw_scene::load(input, &text, path.parent(), &[]);
    let read = read.map_err(|errors| errors.to_string())?;
    let library = FmuExport::library_beside_program()
        .ok_or("its library is missing: cargo build --release -p thirdlaw-fmu-binary")?;
    scene::write_scene(&read, restores, &library, Path::new(out))?;
    let bodies = scene::named_bodies(&read);
    let names: Vec<&str> = bodies.iter().map(|body| &*body.name).collect();
    Ok(format!("{out}: {} bodies to push and read: {}", names.len(), names.join(", ")))
}
