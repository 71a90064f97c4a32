//! `run.json`: what was run, with what, on what, and how it ended. With the cache it is all that
//! `resume` needs.

use crate::clock::now;
pub use crate::coupling_record::{CouplingRecord, LinkRecord, SimulatorRecord, method_name};
use crate::error::RunError;
use crate::files;
use crate::source::SceneSource;
use crate::{stats, text};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use thirdlaw_scene::Scene;

/// Version of the layout of a run's folder.
pub const FORMAT: u32 = 1;

/// Version of this command.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Name of the file in the run's folder.
pub const FILE_NAME: &str = "run.json";

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Layout of the folder, [`FORMAT`].
    pub format: u32,
    /// Version of thirdlaw that began the run.
    pub version: String,
    /// What is simulated.
    pub scene: SceneRecord,
    /// Frames the run is to have, beside frame 0, the initial state.
    pub frames: u32,
    /// Whether that is not what the scene says.
    pub frames_changed: bool,
    /// Frames per second of simulated time.
    pub fps: f64,
    /// Steps of the engine in each frame.
    pub steps_per_frame: u32,
    /// Settings of the world, after overrides.
    pub settings: serde_json::Value,
    /// Fingerprint of the world's bodies, 16 hexadecimal digits.
    pub model: String,
    /// Whether `frames/` is written.
    pub cache: bool,
    /// Whether `poses.csv` is written.
    pub poses: bool,
    /// Whether `joints.csv` is written.
    #[serde(default)]
    pub joints: bool,
    /// Whether `contacts.csv` is written.
    #[serde(default)]
    pub contacts: bool,
    /// Whether `points.csv` is written.
    #[serde(default)]
    pub points: bool,
    /// What crossed between simulators, where several share the scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupling: Option<CouplingRecord>,
    /// What it was computed on (last).
    pub machine: Machine,
    /// When it began, UTC.
    pub started: String,
    /// When it ended, UTC; absent as long as it has not.
    pub finished: Option<String>,
    /// Frames from which the run was resumed.
    pub resumed: Vec<u32>,
    /// How it ended.
    pub outcome: RunOutcome,
    /// Body, place and time of a failed simulation.
    pub failure: Option<String>,
    /// One for each expectation of the scene, once the run has ended.
    pub expectations: Vec<ExpectationRecord>,
    /// Hash of the state after the last frame, 16 hexadecimal digits.
    pub final_hash: Option<String>,
    /// Sums over the run.
    pub totals: RunTotals,
}

/// The scene of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneRecord {
    /// Name of the built-in scene, or of the file without its ending.
    pub name: String,
    /// What messages call it: the path that was typed, or the name.
    pub source: String,
    /// Folder of the scene file, in which it looks for meshes; absent for built-in scenes.
    pub folder: Option<PathBuf>,
    /// The TOML text.
    pub text: String,
    /// Hash of text and overrides, 16 hexadecimal digits.
    pub hash: String,
    /// What `--set` changed, in order.
    pub overrides: Vec<(String, String)>,
}

/// Where a run was computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system and processor architecture.
    pub os: String,
    /// Cores that the process may use.
    pub cores: usize,
    /// Threads computed with.
    pub threads: usize,
}

impl Machine {
    /// This machine.
    pub fn here(threads: usize) -> Machine {
        Machine {
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cores: core_count(),
            threads,
        }
    }
}

/// Cores that this process may use.
pub fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOutcome {
    /// Not yet: it is at work, or was killed.
    Running,
    /// By Ctrl-C.
    Interrupted,
    /// Well.
    Done,
    /// To the end, but an expectation does not hold.
    ExpectationFailed,
    /// The simulation broke down.
    SimulationFailed,
}

impl RunOutcome {
    /// Whether there is nothing to resume.
    pub fn is_final(self) -> bool {
        !matches!(self, RunOutcome::Running | RunOutcome::Interrupted)
    }

    /// Whether every frame was made.
    pub fn is_complete(self) -> bool {
        matches!(self, RunOutcome::Done | RunOutcome::ExpectationFailed)
    }
}

/// Whether an expectation held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpectationRecord {
    /// What was read, such as `penetration` or `ball.y`.
    pub key: String,
    /// What it was to be.
    pub wanted: String,
    /// The worst value seen; absent where the run ended before it was to be looked at.
    pub value: Option<f64>,
    /// The verdict.
    pub passed: bool,
}

/// Sums over a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunTotals {
    /// Time from begin to end of each session, measuring and files included, s. The last stretch
    /// before a kill is not in it.
    pub wall_s: f64,
    /// Stepping alone, s.
    pub step_s: f64,
    /// Median over the frames of the stepping time, ms.
    pub ms_per_frame_median: f64,
}

/// What of a run is kept, and how long it is.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Frames of the run; `None`: as many as the scene says.
    pub frames: Option<u32>,
    /// Whether `frames/` is written; without it the run can be neither resumed nor drawn.
    pub cache: bool,
    /// Whether `poses.csv` is written.
    pub poses: bool,
    /// Whether `joints.csv` is written.
    pub joints: bool,
    /// Whether `contacts.csv` is written.
    pub contacts: bool,
    /// Whether `points.csv` is written.
    pub points: bool,
    /// Threads computed with, for the record.
    pub threads: usize,
}

impl Default for RunOptions {
    /// As long as the scene says, with a cache and without further tables, in the present pool of
    /// threads.
    fn default() -> RunOptions {
        let threads = rayon::current_num_threads();
        let (frames, cache) = (None, true);
        let (poses, joints, contacts, points) = (false, false, false, false);
        RunOptions { frames, cache, poses, joints, contacts, points, threads }
    }
}

impl RunRecord {
    /// Of a run of a scene that begins.
    pub fn new(
        source: &SceneSource,
        scene: &Scene,
        options: &RunOptions,
    ) -> Result<RunRecord, RunError> {
        let frames = options.frames.unwrap_or(scene.frames);
        Ok(RunRecord {
            format: FORMAT,
            version: VERSION.into(),
            scene: SceneRecord {
                name: source.name.clone(),
                source: source.label.clone(),
                folder: source.folder.clone(),
                text: source.text.clone(),
                hash: stats::hash_text(scene.hash),
                overrides: scene.overrides.clone(),
            },
            frames,
            frames_changed: frames != scene.frames,
            fps: scene.fps,
            steps_per_frame: scene.steps_per_frame,
            settings: settings_value(scene)?,
            model: stats::hash_text(scene.world.model().fingerprint()),
            cache: options.cache,
            poses: options.poses,
            joints: options.joints,
            contacts: options.contacts,
            points: options.points,
            coupling: scene.partition.as_ref().map(CouplingRecord::new),
            machine: Machine::here(options.threads),
            started: now(),
            finished: None,
            resumed: Vec::new(),
            outcome: RunOutcome::Running,
            failure: None,
            expectations: Vec::new(),
            final_hash: None,
            totals: RunTotals::default(),
        })
    }

    /// Reads the record of the run in `folder`; `None` if there is none.
    pub fn read(folder: &Path) -> Result<Option<RunRecord>, RunError> {
        let path = folder.join(FILE_NAME);
        let Some(bytes) = files::read_if_present(&path)? else {
            return Ok(None);
        };
        // the format first: a record of another layout need not have these fields
        let refuse = |why: String| RunError::NotARecord { path: path.clone(), why };
        let value: serde_json::Value = serde_json::from_slice(&bytes)
            .map_err(|error| refuse(format!("not the record of a run: {error}")))?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if format == u64::from(FORMAT) => {}
            Some(format) => {
                let version = value.get("version").and_then(|v| v.as_str()).unwrap_or("another");
                return Err(refuse(format!(
                    "written by thirdlaw {version} in format {format}; thirdlaw {VERSION} reads \
                     format {FORMAT}"
                )));
            }
            None => return Err(refuse("not the record of a run: it names no format".into())),
        }
        serde_json::from_value(value)
            .map(Some)
            .map_err(|error| refuse(format!("not the record of a run: {error}")))
    }

    /// Writes the record into `folder`.
    pub fn write(&self, folder: &Path) -> Result<(), RunError> {
        let path = folder.join(FILE_NAME);
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|error| RunError::file("write", &path)(error.into()))?;
        text.push('\n');
        files::write_whole(&path, text.as_bytes())
    }

    /// The command that begins this run again.
    pub fn command(&self, folder: &Path) -> String {
        let mut text = format!("thirdlaw run {} --out {}", self.scene.source, folder.display());
        for (key, value) in &self.scene.overrides {
            text += &format!(" --set '{key}={value}'");
        }
        if self.frames_changed {
            text += &format!(" --frames {}", self.frames);
        }
        text += if self.poses { " --poses" } else { "" };
        text += if self.points { " --points" } else { "" };
        text += if self.joints { " --joints" } else { "" };
        text += if self.contacts { " --contacts" } else { "" };
        text + " --force"
    }

    /// How the run ended, for people.
    pub fn outcome_text(&self) -> String {
        match self.outcome {
            RunOutcome::Running => "not finished".into(),
            RunOutcome::Interrupted => "interrupted".into(),
            RunOutcome::Done => "done".into(),
            RunOutcome::ExpectationFailed => {
                let failed = self.expectations.iter().filter(|e| !e.passed).count();
                format!("done, but {failed} of {} expectations failed", self.expectations.len())
            }
            RunOutcome::SimulationFailed => {
                format!("failed: {}", self.failure.as_deref().unwrap_or("of an unknown reason"))
            }
        }
    }
}

impl ExpectationRecord {
    /// The value, for people.
    pub fn value_text(&self) -> String {
        self.value.map_or_else(|| "not reached".into(), text::precise)
    }
}

/// The world's settings as they stand in the record.
pub(crate) fn settings_value(scene: &Scene) -> Result<serde_json::Value, RunError> {
    serde_json::to_value(scene.world.settings())
        .map_err(|error| RunError::file("write", Path::new(FILE_NAME))(error.into()))
}
