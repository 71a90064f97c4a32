//! What can be typed after `thirdlaw solvers`.

use super::{parse_override, parse_threads};
use clap::Args;
use std::path::PathBuf;
use thirdlaw::Solver;

/// What solvers are compared on.
pub const DEFAULT_PILE: &str = "tonge2012/boxes";

/// `thirdlaw solvers`.
#[derive(Clone, Debug, Args)]
pub struct SolversArgs {
    /// Path of a scene file, or the name of a built-in scene [default: tonge2012/boxes]
    pub scene: Option<String>,
    /// Frame whose contacts the solvers converge on [default: at two thirds of the scene]
    #[arg(long, value_name = "K")]
    pub frame: Option<u32>,
    /// Iterations on these contacts
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub iterations: u32,
    /// Start from the impulses of the frame before instead of from none
    #[arg(long)]
    pub warm: bool,
    /// Frames to simulate with each solver, from the beginning; 0: none [default: all of the scene;
    /// with --table the first 240]
    #[arg(long, value_name = "M")]
    pub frames: Option<u32>,
    /// Iterations a frame of the Gauss–Seidel kind and of the others, when simulating
    #[arg(long, value_name = "A,B", default_value = "5,30", value_parser = parse_budget)]
    pub budget: (u32, u32),
    /// Parts that a step is divided into; the paper has one
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub substeps: u32,
    /// Solvers to look at, such as pgs,block-mass-splitting [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = parse_solver)]
    pub only: Vec<Solver>,
    /// Time frames of the scene, or of the five scenes of the paper, by Gauss–Seidel and by block mass
    /// splitting, instead
    #[arg(long, conflicts_with_all = ["frame", "iterations", "warm", "only"])]
    pub table: bool,
    /// Folder for tables and pictures [default: out/SCENE/solvers/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write the figures to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Threads to compute with [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Change one value of the scene; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub overrides: Vec<(String, String)>,
}

fn parse_solver(text: &str) -> Result<Solver, String> {
    Solver::from_name(text.trim()).ok_or_else(|| {
        let names: Vec<&str> = Solver::ALL.iter().map(|solver| solver.name()).collect();
        format!("must be one of {}", names.join(", "))
    })
}

fn parse_budget(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| text.trim().parse().ok().filter(|n| (1..=100_000).contains(n));
    text.split_once(',')
        .and_then(|(a, b)| Some((number(a)?, number(b)?)))
        .ok_or_else(|| "must look like 5,30".into())
}
