//! What can be typed after `thirdlaw`.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Runs without arguments.
pub const DEFAULT_SCENE: &str = "tonge2012/card-house";

const AFTER_HELP: &str = "\
Without arguments the default scene is run into its folder under out/. Doing so again starts it \
anew, or goes on with it where it was interrupted; a folder that holds a run with options of its \
own is left alone.

Exit codes: 0 done, 1 an expectation of the scene failed, 2 bad input, 3 the simulation failed, \
4 a file could not be read or written, 130 interrupted (go on with `thirdlaw resume`).";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "thirdlaw",
    version,
    about = "Simulates scenes in which everything pushes back.",
    after_help = AFTER_HELP,
    max_term_width = 100
)]
pub struct CommandLine {
    /// Nothing: the default scene.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The first word.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene and write its folder of results
    Run(RunArgs),
    /// Go on with an interrupted run, to the same bits
    Resume(ResumeArgs),
    /// Validate scene files without running them
    Check(CheckArgs),
    /// List the built-in scenes
    Scenes(ScenesArgs),
    /// Print the JSON Schema of scene files, for editors
    Schema,
    /// Measure how fast and how well scenes are simulated
    Bench(BenchArgs),
}

/// `thirdlaw run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Path of a scene file, or the name of a built-in scene
    pub scene: String,
    /// Folder for the results [default: out/<scene>/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Stop after this many frames instead of where the scene ends
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub frames: Option<u32>,
    /// Stop after this much simulated time instead of where the scene ends
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    pub seconds: Option<f64>,
    /// Threads to compute with; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Change one value of the scene, such as solver.iterations=30; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub overrides: Vec<(String, String)>,
    /// Also write poses.csv: position, orientation and velocity of every body in every frame
    #[arg(long)]
    pub poses: bool,
    /// Plain lines instead of a progress bar
    #[arg(long, short)]
    pub quiet: bool,
    /// Replace the run that is in the folder already
    #[arg(long)]
    pub force: bool,
    /// Keep no frames: saves space, but the run can be neither resumed nor drawn
    #[arg(long)]
    pub no_cache: bool,
}

impl RunArgs {
    /// `thirdlaw run SCENE` with nothing else.
    pub fn plain(scene: &str) -> RunArgs {
        RunArgs {
            scene: scene.into(),
            out: None,
            frames: None,
            seconds: None,
            threads: None,
            overrides: Vec::new(),
            poses: false,
            quiet: false,
            force: false,
            no_cache: false,
        }
    }
}

/// `thirdlaw resume`.
#[derive(Clone, Debug, Args)]
pub struct ResumeArgs {
    /// Folder of the interrupted run
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Threads to compute with; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Plain lines instead of a progress bar
    #[arg(long, short)]
    pub quiet: bool,
}

/// `thirdlaw check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Paths of scene files, or names of built-in scenes
    #[arg(required = true, value_name = "SCENE")]
    pub scenes: Vec<String>,
}

/// `thirdlaw scenes`.
#[derive(Clone, Debug, Args)]
pub struct ScenesArgs {
    /// For programs: name and title of each scene as JSON
    #[arg(long)]
    pub json: bool,
}

/// `thirdlaw bench`.
#[derive(Clone, Debug, Args)]
pub struct BenchArgs {
    /// Paths of scene files, or names of built-in scenes
    #[arg(required = true, value_name = "SCENE")]
    pub scenes: Vec<String>,
    /// Numbers of threads to measure with, such as 1,2 [default: all cores]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = parse_threads)]
    pub threads: Vec<usize>,
    /// How often each measurement is made; times are the median of the repetitions
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Stop after this many frames instead of where the scene ends
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
    /// Change one value of the scenes; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub overrides: Vec<(String, String)>,
    /// Also write the figures to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// More than this is a slip of the finger; rayon would try to start them all.
const MOST_THREADS: usize = 1024;

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(n) if (1..=MOST_THREADS).contains(&n) => Ok(n),
        _ => Err(format!("must be a whole number from 1 to {MOST_THREADS}")),
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(s) if s.is_finite() && s >= 0.0 => Ok(s),
        _ => Err("must be a number of seconds that is not negative".into()),
    }
}

fn parse_override(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().into(), value.trim().into()))
        }
        _ => Err("must look like key=value, for example solver.iterations=30".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn overrides_are_split_at_the_first_equals_sign() {
        let run = ["thirdlaw", "run", "x", "--set", "a.b=1", "--set", "name=p=q"];
        let Some(Command::Run(run)) = CommandLine::try_parse_from(run).unwrap().command else {
            panic!("not a run");
        };
        assert_eq!(run.overrides, [("a.b".into(), "1".into()), ("name".into(), "p=q".into())]);
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for bad in [["--threads", "0"], ["--seconds", "-1"], ["--seconds", "nan"], ["--set", "x"]] {
            let line = ["thirdlaw", "run", "x"].into_iter().chain(bad);
            assert!(CommandLine::try_parse_from(line).is_err(), "{bad:?}");
        }
    }
}
