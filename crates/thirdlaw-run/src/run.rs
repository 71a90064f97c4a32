//! A run at work: steps frames and keeps everything about each, until the run is complete, somebody
//! ends it, or the simulation breaks down.

use crate::cache::FrameWriter;
use crate::clock;
use crate::error::RunError;
use crate::folder::RunFolder;
use crate::progress::{Progress, Watcher};
use crate::record::{ExpectationRecord, RunOptions, RunOutcome, RunRecord, RunTotals};
use crate::source::SceneSource;
use crate::stats;
use crate::stepper::{CouplingTimes, SimulationError, Stepper};
use crate::tables::Tables;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;
use thirdlaw_scene::{FrameStats, Scene, Verdict};

/// A run at work.
pub struct Run {
    stepper: Stepper,
    folder: RunFolder,
    record: RunRecord,
    frames: Vec<FrameStats>,
    tables: Tables,
    cache: Option<FrameWriter>,
    /// From here on time is not in the record yet.
    started: Instant,
    /// Times of couplings that are.
    recorded: CouplingTimes,
}

/// Why simulating ended.
enum End {
    Complete,
    Interrupted,
    Broken(SimulationError),
}

impl Run {
    /// Begins a run of a scene, loaded from `source`, in a folder that holds no other run.
    pub fn create(
        source: &SceneSource,
        scene: Scene,
        folder: &Path,
        options: &RunOptions,
    ) -> Result<Run, RunError> {
        let record = RunRecord::new(source, &scene, options)?;
        let stepper = Stepper::with_clock(scene, clock::monotonic)?;
        let folder = RunFolder::claim(folder)?;
        folder.clear(false)?;
        Run::begin(stepper, folder, record)
    }

    /// Begins a run in a cleared folder with frame 0, the initial state.
    pub fn begin(stepper: Stepper, folder: RunFolder, record: RunRecord) -> Result<Run, RunError> {
        record.write(folder.path())?;
        let tables = Tables::create(&folder, &record)?;
        if record.cache {
            folder.frames().create()?;
        }
        let mut run = Run::open(stepper, folder, record, Vec::new(), tables);
        run.keep()?;
        Ok(run)
    }

    /// A run whose stepper is in the state of the last of `frames`.
    pub(crate) fn open(
        stepper: Stepper,
        folder: RunFolder,
        record: RunRecord,
        frames: Vec<FrameStats>,
        tables: Tables,
    ) -> Run {
        let cache = record.cache.then(|| FrameWriter::new(folder.frames()));
        let (started, recorded) = (Instant::now(), CouplingTimes::default());
        Run { stepper, folder, record, frames, tables, cache, started, recorded }
    }

    /// What is simulated, in its present state.
    pub fn stepper(&self) -> &Stepper {
        &self.stepper
    }

    /// Where results go.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What `run.json` says, or will say.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Measurements of all frames that are done, from frame 0.
    pub fn stats(&self) -> &[FrameStats] {
        &self.frames
    }

    /// Number of the last frame that is done.
    pub fn last_frame(&self) -> u32 {
        (self.frames.len() as u32).saturating_sub(1)
    }

    /// Simulates frame after frame, until all are done, the simulation breaks down or `watch` says
    /// `Break`, and writes down how it ended. An interrupted run goes on when this is called again,
    /// or by [`resume`](crate::resume::resume).
    pub fn simulate(&mut self, watch: &mut Watcher<'_>) -> Result<RunOutcome, RunError> {
        let end = self.advance(watch)?;
        self.close(end)?;
        Ok(self.record.outcome)
    }

    fn advance(&mut self, watch: &mut Watcher<'_>) -> Result<End, RunError> {
        let mut ended = self.tell(watch, 0.0, &[]);
        while self.last_frame() < self.record.frames {
            if ended.is_break() {
                return Ok(End::Interrupted);
            }
            let step_ms = match self.stepper.advance() {
                Ok(report) => report.step_ms,
                Err(error) => return Ok(End::Broken(error)),
            };
            let warnings = self.keep()?;
            ended = self.tell(watch, step_ms, &warnings);
        }
        Ok(End::Complete)
    }

    fn tell(&self, watch: &mut Watcher<'_>, ms: f64, warnings: &[String]) -> ControlFlow<()> {
        let (done, total) = (self.last_frame(), self.record.frames);
        watch(&Progress { done, total, time: self.stepper.world().time(), ms, warnings })
    }

    /// Measures the frame just made and writes all that belongs to it, the cache file last. Returns a
    /// line for each limit of a coupling that was crossed for the first time, and one for the first frame
    /// in which cloth was not solved to the end.
    fn keep(&mut self) -> Result<Vec<String>, RunError> {
        // rows run ahead of their cache file by one frame at most
        self.cache.as_mut().map_or(Ok(()), FrameWriter::finish)?;
        let stats = self.stepper.stats()?;
        self.tables.append(&self.stepper, &stats)?;
        if let Some(cache) = &mut self.cache {
            cache.write(stats.frame, &self.stepper.save()?)?;
        }
        let mut warnings = Vec::new();
        if stats.unfinished > 0 && self.frames.iter().all(|f| f.unfinished == 0) {
            warnings.push(format!(
                "warning: from frame {} on cloth is not solved to its tolerance in every step \
                 (`unfinished` in stats.csv)",
                stats.frame
            ));
        }
        self.frames.push(stats);
        let scene = self.stepper.scene();
        let (Some(partition), Some(record)) = (&scene.partition, &mut self.record.coupling) else {
            return Ok(warnings);
        };
        let rows = self.stepper.coupling_rows();
        warnings.extend(rows.iter().flat_map(|row| record.take(row, partition)));
        Ok(warnings)
    }

    /// Writes down how it ended.
    fn close(&mut self, end: End) -> Result<(), RunError> {
        self.cache.as_mut().map_or(Ok(()), FrameWriter::finish)?;
        self.tables.sync()?;
        let record = &mut self.record;
        if let Some(coupling) = &mut record.coupling {
            let times = self.stepper.coupling_times();
            coupling.add_times(&times.since(&self.recorded));
            self.recorded = times;
        }
        record.expectations = match end {
            End::Complete => judge(self.stepper.verdicts(), record.frames_changed),
            _ => Vec::new(),
        };
        record.outcome = match end {
            End::Interrupted => RunOutcome::Interrupted,
            End::Broken(_) => RunOutcome::SimulationFailed,
            End::Complete if record.expectations.iter().all(|e| e.passed) => RunOutcome::Done,
            End::Complete => RunOutcome::ExpectationFailed,
        };
        if let End::Broken(error) = end {
            record.failure = Some(error.to_string());
        }
        if record.outcome.is_final() {
            record.finished = Some(clock::now());
            record.final_hash = self.frames.last().map(|f| stats::hash_text(f.hash));
        }
        let step_ms: Vec<f64> = self.frames.iter().skip(1).map(|f| f.step_ms).collect();
        record.totals = RunTotals {
            wall_s: record.totals.wall_s + self.started.elapsed().as_secs_f64(),
            step_s: step_ms.iter().sum::<f64>() / 1e3,
            ms_per_frame_median: stats::median(step_ms),
        };
        self.started = Instant::now();
        self.record.write(self.folder.path())
    }
}

/// The verdicts. An expectation that was never looked at counts against the scene, unless the user
/// has made the run shorter than the scene says.
fn judge(verdicts: Vec<Verdict>, shortened: bool) -> Vec<ExpectationRecord> {
    let record = |verdict: Verdict| ExpectationRecord {
        passed: if verdict.value.is_none() { shortened } else { verdict.passed },
        key: verdict.key,
        wanted: verdict.wanted,
        value: verdict.value,
    };
    verdicts.into_iter().map(record).collect()
}
