//! Measurements behind the figures of the book and of the decisions, one name each:
//! `cargo run --release -p thirdlaw-studies -- NAME [WORDS…]`. Without a name they are listed.

mod chain;
mod clock;
mod cloth_collide;
mod cloth_iterations;
mod cloth_slides;
mod cloth_solve;
mod column;
mod continuous;
mod crossings;
mod defaults;
mod drape;
mod enforcement;
mod fuzz;
mod growth;
mod instructions;
mod measures;
mod particles;
mod partition;
mod rain;
mod ray_casts;
mod reduced;
mod rocking;
mod solid_growth;
mod solver_speed;
mod ties;
mod trampoline;

use std::process::{ExitCode, Termination};

/// A study: its name, what it measures, and how it is run.
type Study = (&'static str, &'static str, fn() -> ExitCode);

const STUDIES: [Study; 26] = [
    ("chain", "time and stretch of chains of more and more links", || run(chain::main)),
    ("cloth-collide", "finding contacts of cloth", || run(cloth_collide::main)),
    ("cloth-iterations", "solved steps of cloth: strips, drapes", || run(cloth_iterations::main)),
    ("cloth-slides", "strips that slide round solids", || run(cloth_slides::main)),
    ("cloth-solve", "iterations and times of cloth's linear system", || run(cloth_solve::main)),
    ("column", "a column of cubes on a slope, beside Rapier", || run(column::main)),
    ("continuous", "whether moving features meet, for exact checks", || run(continuous::main)),
    ("crossings", "surfaces that cross, by brute force, in a scene", || run(crossings::main)),
    ("defaults", "how stacks stand for other solver settings", || run(defaults::main)),
    ("drape", "a cloth that falls over a sphere, frame by frame", || run(drape::main)),
    ("enforcement", "every way to hold a joint, on one pendulum", || run(enforcement::main)),
    ("fuzz", "damaged scenes, none of which may panic", || run(fuzz::main)),
    ("growth", "time and memory by number of boxes", || run(growth::main)),
    ("instructions", "problems of fixed size for callgrind", || run(instructions::main)),
    ("ladder", "links over mass ratios of 1e-4 to 1e4", || run(ties::ladder::main)),
    ("measures", "what measuring costs beside stepping", || run(measures::main)),
    ("particles", "a million particles", || run(particles::main)),
    ("partition", "one world's contacts cut in two", || run(partition::main)),
    ("rain", "a rain of cubes, for profilers", || run(rain::main)),
    ("ray-casts", "rays a second, beside Rapier", || run(ray_casts::main)),
    ("reduced", "joints by impulses and in coordinates", || run(reduced::main)),
    ("rocking", "columns that rock, beside Rapier", || run(rocking::main)),
    ("solid-growth", "time, iterations and memory by tetrahedra", || run(solid_growth::main)),
    ("solver-speed", "time of each contact solver per row", || run(solver_speed::main)),
    ("ties", "tied simulators against one world", || run(ties::main)),
    ("trampoline", "ten balls on cloth, in one world and in two", || run(trampoline::main)),
];

/// The exit code of a study, whatever it gives back.
fn run<T: Termination>(study: fn() -> T) -> ExitCode {
    study().report()
}

/// The words after the study's name.
fn words() -> std::iter::Skip<std::env::Args> {
    std::env::args().skip(2)
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    if let Some((_, _, run)) = STUDIES.iter().find(|study| study.0 == name) {
        return run();
    }
    STUDIES.iter().for_each(|(name, what, _)| println!("{name:<16} {what}"));
    if name.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("there is no study {name}: choose one of these");
    ExitCode::from(2)
}
