//! What can be typed after `thirdlaw`.

mod solvers;
mod torture;

use crate::failure::Failure;
use clap::{Args, Parser, Subcommand, ValueEnum};
pub use solvers::{DEFAULT_PILE, SolversArgs};
use std::path::PathBuf;
pub use torture::TortureArgs;

/// Runs without arguments.
pub const DEFAULT_SCENE: &str = "trampoline";

const AFTER_HELP: &str = "\
Without arguments the default scene is run into its folder under out/. Doing so again starts it \
anew, or goes on with it where it was interrupted; a folder that holds a run with options of its \
own is left alone.

Exit codes: 0 done, 1 an expectation of the scene failed or a law was broken, 2 bad input, 3 the simulation failed, \
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
    Schema(SchemaArgs),
    /// Draw a run: pictures, a poster and a movie
    Render(RenderArgs),
    /// Write report.html of a run anew: pictures, plots, expectations
    Report(ReportArgs),
    /// Write a run in the format of other programs: USD, VTK, OBJ, glTF
    Export(ExportArgs),
    /// Measure how fast and how well scenes are simulated
    Bench(BenchArgs),
    /// Couple a scene in several ways, and in one world: differences, cost, ledger
    Compare(CompareArgs),
    /// Let every contact solver work on the same contacts: convergence, jitter, time
    Solvers(SolversArgs),
    /// Judge random ordinary scenes by laws: energy, momentum, symmetry, time, …
    Torture(TortureArgs),
}

/// `thirdlaw run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Path of a scene file, or the name of a built-in scene
    pub scene: String,
    /// Folder for the results [default: out/SCENE/]
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
    /// Also write joints.csv: coordinates, rates and reactions of every joint in every frame
    #[arg(long)]
    pub joints: bool,
    /// Also write contacts.csv: place, gap and force of every point in which bodies push each other
    #[arg(long)]
    pub contacts: bool,
    /// Also write points.csv: position of every vertex of every cloth in every frame
    #[arg(long)]
    pub points: bool,
    /// Plain lines instead of a progress bar
    #[arg(long, short)]
    pub quiet: bool,
    /// Replace the run that is in the folder already
    #[arg(long)]
    pub force: bool,
    /// Keep no frames: saves space, but the run can be neither resumed nor drawn
    #[arg(long)]
    pub no_cache: bool,
    /// Write no report.html, which takes a second or two
    #[arg(long)]
    pub no_report: bool,
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
            joints: false,
            contacts: false,
            points: false,
            quiet: false,
            force: false,
            no_cache: false,
            no_report: false,
        }
    }
}

/// `thirdlaw resume`.
#[derive(Clone, Debug, Args)]
pub struct ResumeArgs {
    /// Folder of the interrupted run [default: the latest under out/]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Threads to compute with; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Plain lines instead of a progress bar
    #[arg(long, short)]
    pub quiet: bool,
    /// Write no report.html, which takes a second or two
    #[arg(long)]
    pub no_report: bool,
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

/// `thirdlaw schema`.
#[derive(Clone, Copy, Debug, Args)]
pub struct SchemaArgs {
    /// The same as a page to read: the book's reference of scene files
    #[arg(long)]
    pub markdown: bool,
}

/// `thirdlaw render`.
#[derive(Clone, Debug, Args)]
pub struct RenderArgs {
    /// Folder of the run [default: the latest under out/]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Width and height of the pictures
    #[arg(long, value_name = "WxH", default_value = "960x540", value_parser = parse_size)]
    pub size: (usize, usize),
    /// Samples per pixel: 4 is quick, 64 is fine
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub samples: u32,
    /// Frames to draw, such as 90..180, ..60, or 0..300:10 for every tenth; `..` draws all
    /// [default: 30 a second from the whole run]
    #[arg(long, value_name = "A..B[:STEP]", value_parser = FrameRange::parse)]
    pub frames: Option<FrameRange>,
    /// Also make sheet.png, an overview with this many columns [default: 4]
    #[arg(
        long, value_name = "COLUMNS", num_args = 0..=1, require_equals = true,
        default_missing_value = "4", value_parser = clap::value_parser!(u32).range(1..=64)
    )]
    pub sheet: Option<u32>,
    /// Frame of poster.png [default: the one in which most happens]
    #[arg(long, value_name = "N")]
    pub poster_frame: Option<u32>,
    /// Make nothing but poster.png
    #[arg(long, conflicts_with = "sheet")]
    pub poster_only: bool,
    /// Give the poster at most this many colours, for a small file
    #[arg(
        long, value_name = "N", requires = "poster_only",
        value_parser = clap::value_parser!(u32).range(2..=256)
    )]
    pub colors: Option<u32>,
    /// Threads to compute with; the pictures do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Folder for the pictures [default: that of the run]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Make pictures anew that are there already
    #[arg(long)]
    pub force: bool,
    /// Plain lines instead of a progress bar
    #[arg(long, short)]
    pub quiet: bool,
}

/// `thirdlaw report`.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// Folder of the run [default: the latest under out/]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Threads to compute with; the report does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
}

/// `thirdlaw export`.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Folder of the run [default: the latest under out/]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// What to write
    #[arg(long, value_name = "FORMAT")]
    pub to: ExportFormat,
    /// File (usd, gltf) or folder (vtk, obj) to write [default: in DIR/export/]
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Frames to write, such as 90..180, ..60, or 0..300:10 for every tenth [default: all]
    #[arg(long, value_name = "A..B[:STEP]", value_parser = FrameRange::parse)]
    pub frames: Option<FrameRange>,
    /// Replace what is there already
    #[arg(long)]
    pub force: bool,
    /// Plain lines instead of a progress bar
    #[arg(long, short)]
    pub quiet: bool,
}

/// What other programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One .usda file with time samples, for Blender, Houdini, Maya, Omniverse
    Usd,
    /// A .vtu file a frame and a .pvd file for all, for ParaView
    Vtk,
    /// A .obj file a frame
    Obj,
    /// One .glb file with animations, for browsers and game engines
    Gltf,
}

/// Frames from a first to a last one, both included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRange {
    text: String,
    first: u32,
    /// `None`: the last of the run.
    last: Option<u32>,
    step: u32,
}

impl FrameRange {
    fn parse(text: &str) -> Result<FrameRange, String> {
        let wrong = || "must look like 90, 90..180, 90.., ..60 or 0..300:10".to_owned();
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let (range, step) = match text.split_once(':') {
            Some((range, step)) => (range, number(step)?),
            None => (text, 1),
        };
        let (first, last) = match range.split_once("..") {
            Some((first, last)) => (
                if first.trim().is_empty() { 0 } else { number(first)? },
                if last.trim().is_empty() { None } else { Some(number(last)?) },
            ),
            None => (number(range)?, Some(number(range)?)),
        };
        if step == 0 {
            return Err("the step must be at least 1".into());
        }
        if last.is_some_and(|last| last < first) {
            return Err("the last frame comes before the first".into());
        }
        Ok(FrameRange { text: text.into(), first, last, step })
    }

    /// The frames, of a run that ends with frame `end`; at least one.
    pub fn frames(&self, end: u32) -> Result<Vec<u32>, Failure> {
        if self.first > end {
            let text = &self.text;
            return Err(Failure::Input(format!(
                "--frames {text}: the last frame of the run is {end}"
            )));
        }
        let last = self.last.map_or(end, |last| last.min(end));
        Ok((self.first..=last).step_by(self.step as usize).collect())
    }
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
    /// Run the same bodies in another engine beside it, in turn; sleeping is off on both sides
    #[arg(long, value_name = "ENGINE", value_enum)]
    pub against: Option<Peer>,
    /// Also write the figures to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// `thirdlaw compare`.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// Path of a scene file, or the name of a built-in scene
    pub scene: String,
    /// Folder for compare.csv and compare.svg [default: out/SCENE/compare/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Stop after this many frames instead of where the scene ends
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
    /// Threads to compute with; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Change one value of the scene, such as settings.coupling.exchanges=1; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub overrides: Vec<(String, String)>,
}

/// Engines to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Peer {
    /// Rapier as published, at its defaults: f32, with its `parallel` feature
    Rapier,
    /// The same, but with contacts worked out anew in every step (its `contact_recycling` off)
    RapierAnew,
}

impl Peer {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Peer::Rapier => "rapier",
            Peer::RapierAnew => "rapier-anew",
        }
    }
}

/// More than this is a slip of the finger; rayon would try to start them all.
const MOST_THREADS: usize = 1024;

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(n) if (1..=MOST_THREADS).contains(&n) => Ok(n),
        _ => Err(format!("must be a whole number from 1 to {MOST_THREADS}")),
    }
}

/// Wider or higher pictures than this are a slip of the finger.
const MOST_PIXELS: usize = 16384;

fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.trim().parse().ok().filter(|n| (1..=MOST_PIXELS).contains(n));
    text.split_once(['x', '×'])
        .and_then(|(width, height)| Some((number(width)?, number(height)?)))
        .ok_or_else(|| format!("must look like 960x540, with numbers from 1 to {MOST_PIXELS}"))
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
    fn ranges_of_frames_include_both_ends() {
        let frames = |text: &str| FrameRange::parse(text).unwrap().frames(10).unwrap();
        assert_eq!(frames("2..4"), [2, 3, 4]);
        assert_eq!(frames("7"), [7]);
        assert_eq!(frames("8.."), [8, 9, 10]);
        assert_eq!(frames("..20:5"), [0, 5, 10]);
        assert_eq!(frames("..").len(), 11);
        assert!(FrameRange::parse("11..12").unwrap().frames(10).is_err());
        for bad in ["", "x", "1-2", "3..2", "1..2:0", "1...3", "-1..2"] {
            assert!(FrameRange::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_two_numbers() {
        assert_eq!(parse_size("640x360"), Ok((640, 360)));
        for bad in ["640", "0x4", "x", "640x360x2", "99999x1"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for bad in [["--threads", "0"], ["--seconds", "-1"], ["--seconds", "nan"], ["--set", "x"]] {
            let line = ["thirdlaw", "run", "x"].into_iter().chain(bad);
            assert!(CommandLine::try_parse_from(line).is_err(), "{bad:?}");
        }
    }
}
