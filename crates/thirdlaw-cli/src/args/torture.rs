//! What can be typed after `thirdlaw torture`.

use super::parse_threads;
use clap::Args;
use std::path::PathBuf;

/// `thirdlaw torture`.
#[derive(Clone, Debug, Args)]
pub struct TortureArgs {
    /// How many scenes
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub count: u64,
    /// Another seed, other scenes
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Scenes of one kind only, such as heap
    #[arg(long, value_name = "KIND")]
    pub only: Option<String>,
    /// Judge by this law only, such as energy; may be repeated
    #[arg(long = "law", value_name = "LAW")]
    pub laws: Vec<String>,
    /// Stop after this many minutes, whatever is left
    #[arg(long, value_name = "M")]
    pub minutes: Option<f64>,
    /// Number of the first scene: to judge a scene again, alone, with --count 1
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub first: u64,
    /// Folder for failing scenes [default: out/torture/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write out scenes that are known to fail
    #[arg(long)]
    pub shrink_known: bool,
    /// Write scenes out as they are, without making them smaller
    #[arg(long)]
    pub whole: bool,
    /// Scenes at a time; the table does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Work off scenes for another process of this command
    #[arg(long, hide = true)]
    pub worker: bool,
}
