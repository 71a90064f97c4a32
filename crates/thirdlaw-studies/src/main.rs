//! Measurements behind the figures of the book and of the decisions, one name each:
//! `cargo run --release -p thirdlaw-studies -- NAME [WORDS…]`. Without a name they are listed.

mod chain;
mod clock;
mod cloth_collide;
mod cloth_solve;
mod column;
mod defaults;
mod drape;
mod enforcement;
mod fuzz;
mod growth;
mod instructions;
mod measures;
mod particles;
mod rain;
mod ray_casts;
mod reduced;
mod rocking;
mod solver_speed;
mod ties;
mod trampoline;

use std::process::{ExitCode, Termination};

/// A study: its name, what it measures, and how it is run.
type Study = (&'static str, &'static str, fn() -> ExitCode);

const STUDIES: [Study; 19] = [
    ("chain", "time and stretch of chains of more and more links", || chain::main().report()),
    ("cloth-collide", "finding contacts of cloth", || cloth_collide::main().report()),
    ("cloth-solve", "iterations and times of cloth's linear system", || {
        cloth_solve::main().report()
    }),
    ("column", "a column of cubes on a slope, beside Rapier", || column::main().report()),
    ("defaults", "how stacks stand for other solver settings", || defaults::main().report()),
    ("drape", "a cloth that falls over a sphere, frame by frame", || drape::main().report()),
    ("enforcement", "every way to hold a joint, on one pendulum", || enforcement::main().report()),
    ("fuzz", "damaged scenes, none of which may panic", || fuzz::main().report()),
    ("growth", "time and memory by number of boxes", || growth::main().report()),
    ("instructions", "problems of fixed size for callgrind", || instructions::main().report()),
    ("measures", "what measuring costs beside stepping", || measures::main().report()),
    ("particles", "a million particles", || particles::main().report()),
    ("rain", "a rain of cubes, for profilers", || rain::main().report()),
    ("ray-casts", "rays a second, beside Rapier", || ray_casts::main().report()),
    ("reduced", "joints by impulses and in coordinates", || reduced::main().report()),
    ("rocking", "columns that rock, beside Rapier", || rocking::main().report()),
    ("solver-speed", "time of each contact solver per row", || solver_speed::main().report()),
    ("ties", "tied simulators against one world", || ties::main().report()),
    ("trampoline", "ten balls on cloth, in one world and in two", || trampoline::main().report()),
];

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
