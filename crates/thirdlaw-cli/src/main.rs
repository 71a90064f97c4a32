//! The command `thirdlaw`: arguments, text for people, exit codes and signals. What it does with a
//! scene is in the library `thirdlaw_run`.
//!
//! Every command is a function that returns a [`failure::Failure`]; only `main` turns it into a
//! message and an exit code.

mod args;
mod bench;
mod cloth_table;
mod compare;
mod coupling_table;
mod export;
mod failure;
mod interrupt;
mod list;
mod out;
mod print;
mod progress;
mod render;
mod report;
mod resume;
mod run;
mod solvers;
mod summary;
mod threads;
mod torture;

use args::{Command, CommandLine};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let line = CommandLine::parse();
    let result = match &line.command {
        None => run::run_default(),
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Resume(args)) => resume::resume(args),
        Some(Command::Check(args)) => list::check(args),
        Some(Command::Scenes(args)) => list::scenes(args),
        Some(Command::Schema(args)) => list::schema(args),
        Some(Command::Render(args)) => render::render(args),
        Some(Command::Report(args)) => report::report(args),
        Some(Command::Export(args)) => export::export(args),
        Some(Command::Bench(args)) => bench::bench(args),
        Some(Command::Compare(args)) => compare::compare(args),
        Some(Command::Solvers(args)) => solvers::solvers(args),
        Some(Command::Torture(args)) => torture::torture(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_reported() {
                print::remark(&format!("error: {failure}"));
            }
            ExitCode::from(failure.exit_code())
        }
    }
}
