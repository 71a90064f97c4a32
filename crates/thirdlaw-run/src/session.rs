//! One sitting of a run: steps frames and keeps everything about each, until the run is complete,
//! somebody interrupts it, or the simulation breaks down.

use crate::failure::Failure;
use crate::folder::RunFolder;
use crate::frames::FrameWriter;
use crate::ledger::{self, Row};
use crate::motor::{Broken, Motor, StepBooks};
use crate::progress::{Progress, Watcher};
use crate::record::{ExpectationRecord, Outcome, RunRecord, Totals, now};
use crate::stages::{self, StageClock};
use crate::table::Table;
use crate::{joints, points, poses, stats, text};
use std::ops::ControlFlow;
use std::time::Instant;
use thirdlaw::{StepError, StepReport};
use thirdlaw_scene::{ExpectTracker, FrameStats, Scene};

/// A run at work.
pub struct Session {
    /// What is simulated, in its present state.
    pub scene: Scene,
    /// Where results go.
    pub folder: RunFolder,
    /// What `run.json` says, or will say.
    pub record: RunRecord,
    /// Measurements of all frames that are done, from frame 0.
    pub frames: Vec<FrameStats>,
    motor: Motor,
    tracker: ExpectTracker,
    tables: Tables,
    cache: Option<FrameWriter>,
    started: Instant,
}

/// The tables of a run.
pub struct Tables {
    /// `stats.csv`.
    pub stats: Table,
    /// `poses.csv`, where it was asked for.
    pub poses: Option<Table>,
    /// `joints.csv`, where it was asked for.
    pub joints: Option<Table>,
    /// `points.csv`, where it was asked for.
    pub points: Option<Table>,
    /// `coupling.csv`, where several simulators share the scene.
    pub coupling: Option<Table>,
    /// `stages.csv`.
    pub stages: Table,
}

/// Why a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All frames are done.
    Complete,
    /// Somebody asked for it.
    Interrupted,
    /// The simulation broke down; says where and when.
    Broken(String),
}

/// What is known when a session begins: frames done before and what they did to the expectations.
pub struct Past {
    /// In the state of the last of them.
    pub motor: Motor,
    /// Measurements of the frames that exist.
    pub frames: Vec<FrameStats>,
    /// Has seen them.
    pub tracker: ExpectTracker,
    /// Open behind them.
    pub tables: Tables,
}

impl Session {
    /// Begins a run in an empty folder with frame 0, the initial state.
    pub fn begin(
        scene: Scene,
        motor: Motor,
        folder: RunFolder,
        record: RunRecord,
    ) -> Result<Session, Failure> {
        record.write(folder.path())?;
        let stats = Table::create(&folder.stats(), &stats::COLUMNS)?;
        let poses = match record.poses {
            true => Some(Table::create(&folder.poses(), &poses::COLUMNS)?),
            false => None,
        };
        let joints = match record.joints {
            true => Some(Table::create(&folder.joints(), &joints::COLUMNS)?),
            false => None,
        };
        let points = match record.points {
            true => Some(Table::create(&folder.points(), &points::COLUMNS)?),
            false => None,
        };
        let coupling = match motor.is_coupled() {
            true => Some(Table::create(&folder.coupling(), &ledger::COLUMNS)?),
            false => None,
        };
        if record.cache {
            folder.frames().create()?;
        }
        let stages = Table::create(&folder.stages(), &stages::COLUMNS)?;
        let tables = Tables { stats, poses, joints, points, coupling, stages };
        let tracker = ExpectTracker::new(&scene);
        let past = Past { motor, frames: Vec::new(), tracker, tables };
        let mut session = Session::resume(scene, folder, record, past);
        session.keep(StepReport::default(), 0.0, &StageClock::default())?;
        Ok(session)
    }

    /// Goes on with a run whose scene is in the state of the last of the past frames.
    pub fn resume(scene: Scene, folder: RunFolder, record: RunRecord, past: Past) -> Session {
        let cache = record.cache.then(|| FrameWriter::new(folder.frames()));
        let Past { motor, frames, tracker, tables } = past;
        let started = Instant::now();
        Session { scene, folder, record, frames, motor, tracker, tables, cache, started }
    }

    /// Number of the last frame that is done.
    pub fn last_frame(&self) -> u32 {
        (self.frames.len() as u32).saturating_sub(1)
    }

    /// Simulates frame after frame, until all are done or `watch` says `Break`.
    pub fn simulate(&mut self, watch: &mut Watcher<'_>) -> Result<End, Failure> {
        let mut ended = self.tell(watch, 0.0, &[]);
        while self.last_frame() < self.record.frames {
            if ended.is_break() {
                return Ok(End::Interrupted);
            }
            let clock = Instant::now();
            let mut stages = StageClock::default();
            let mut books = Vec::new();
            let report = match self.step_frame(&mut stages, &mut books) {
                Ok(report) => report,
                Err(error) => return Ok(End::Broken(self.describe(&error))),
            };
            let step_ms = clock.elapsed().as_secs_f64() * 1e3;
            self.motor.show(&mut self.scene);
            let warnings = self.keep_books(&books)?;
            self.keep(report, step_ms, &stages)?;
            ended = self.tell(watch, step_ms, &warnings);
        }
        Ok(End::Complete)
    }

    fn tell(&self, watch: &mut Watcher<'_>, ms: f64, warnings: &[String]) -> ControlFlow<()> {
        let (done, total) = (self.last_frame(), self.record.frames);
        watch(&Progress { done, total, time: self.scene.world.time(), ms, warnings })
    }

    fn step_frame(
        &mut self,
        clock: &mut StageClock,
        books: &mut Vec<StepBooks>,
    ) -> Result<StepReport, Broken> {
        let mut sum = StepReport::default();
        for _ in 0..self.scene.steps_per_frame {
            stats::add_report(&mut sum, &self.motor.step(&mut self.scene, clock, books)?);
        }
        Ok(sum)
    }

    /// Writes what crossed couplings in the frame just made; returns what is to be said of it.
    fn keep_books(&mut self, books: &[StepBooks]) -> Result<Vec<String>, Failure> {
        let frame = self.frames.len() as u32;
        let (Some(partition), Some(table), Some(record)) =
            (&self.scene.partition, &mut self.tables.coupling, &mut self.record.coupling)
        else {
            return Ok(Vec::new());
        };
        let rows: Vec<Row> =
            books.iter().flat_map(|step| Row::of_step(frame, step, partition)).collect();
        table.append(rows.iter().map(Row::fields))?;
        self.tracker.keep_books(ledger::frame(&rows, frame, partition));
        Ok(rows.iter().flat_map(|row| record.take(row, partition)).collect())
    }

    /// Measures the frame just made and writes all that belongs to it, the cache file last.
    fn keep(
        &mut self,
        report: StepReport,
        step_ms: f64,
        clock: &StageClock,
    ) -> Result<(), Failure> {
        // rows run ahead of their cache file by one frame at most
        self.cache.as_mut().map_or(Ok(()), FrameWriter::finish)?;
        let frame = self.frames.len() as u32;
        let world = &self.scene.world;
        let coupled = self.motor.bytes()?;
        let stats = stats::measure_frame(frame, world, &report, step_ms, &coupled);
        self.tracker.observe(stats.time, &stats, world, &self.scene.bodies);
        self.tables.stats.append([stats::to_row(&stats)])?;
        self.tables.stages.append(clock.rows(frame))?;
        if let Some(poses) = &mut self.tables.poses {
            poses.append(poses::rows(frame, world, &self.scene.bodies))?;
        }
        if let Some(joints) = &mut self.tables.joints {
            joints.append(joints::rows(frame, world, &self.scene.joints))?;
        }
        if let Some(points) = &mut self.tables.points {
            points.append(points::rows(frame, world, &self.scene.cloths))?;
        }
        if let Some(cache) = &mut self.cache {
            cache.write(frame, &world.save(), &coupled)?;
        }
        self.frames.push(stats);
        Ok(())
    }

    fn describe(&self, error: &Broken) -> String {
        let error = match error {
            Broken::World(error) => error,
            Broken::Coupling(error) => {
                return format!("the simulation failed in frame {}: {error}", self.frames.len());
            }
        };
        let (name, step, time) = match error {
            StepError::TimeStep(_) => return error.to_string(),
            StepError::NotFinite { body, step, time } => {
                let found = self.scene.bodies.iter().find(|b| b.id == *body);
                let name = found.map_or_else(|| body.to_string(), |b| format!("body {}", b.name));
                (name, step, time)
            }
            StepError::ClothNotFinite { cloth, vertex, step, time } => {
                let found = self.scene.cloths.iter().find(|c| c.id == *cloth);
                let name = found.map_or_else(|| cloth.to_string(), |c| format!("cloth {}", c.name));
                (format!("vertex {vertex} of {name}"), step, time)
            }
            StepError::ParticleNotFinite { emitter, particle, step, time } => {
                let found = self.scene.emitters.iter().find(|e| e.id == *emitter);
                let name = found.map_or_else(|| emitter.to_string(), |e| e.name.clone());
                (format!("particle {particle} of {name}"), step, time)
            }
            StepError::PointNotFinite { point, step, time } => {
                let found = self.scene.points.iter().find(|p| p.id == *point);
                let name = found.map_or_else(|| point.to_string(), |p| format!("point {}", p.name));
                (name, step, time)
            }
        };
        format!(
            "the simulation failed in frame {}: the state of {name} became infinite or NaN in step \
             {step}, at t = {} s",
            self.frames.len(),
            text::number(*time)
        )
    }

    /// Writes down how the session ended.
    pub fn close(&mut self, end: &End) -> Result<(), Failure> {
        self.cache.as_mut().map_or(Ok(()), FrameWriter::finish)?;
        self.tables.stats.sync()?;
        self.tables.poses.as_ref().map_or(Ok(()), Table::sync)?;
        self.tables.joints.as_ref().map_or(Ok(()), Table::sync)?;
        self.tables.points.as_ref().map_or(Ok(()), Table::sync)?;
        self.tables.coupling.as_ref().map_or(Ok(()), Table::sync)?;
        let record = &mut self.record;
        if let Some(coupling) = &mut record.coupling {
            coupling.add_times(&self.motor.times());
        }
        record.expectations = match end {
            End::Complete => judge(&self.tracker, record.frames_changed),
            _ => Vec::new(),
        };
        record.outcome = match end {
            End::Interrupted => Outcome::Interrupted,
            End::Broken(_) => Outcome::SimulationFailed,
            End::Complete if record.expectations.iter().all(|e| e.passed) => Outcome::Done,
            End::Complete => Outcome::ExpectationFailed,
        };
        if let End::Broken(what) = end {
            record.failure = Some(what.clone());
        }
        if record.outcome.is_final() {
            record.finished = Some(now());
            record.final_hash = self.frames.last().map(|f| stats::hash_text(f.hash));
        }
        let step_ms: Vec<f64> = self.frames.iter().skip(1).map(|f| f.step_ms).collect();
        record.totals = Totals {
            wall_s: record.totals.wall_s + self.started.elapsed().as_secs_f64(),
            step_s: step_ms.iter().sum::<f64>() / 1e3,
            ms_per_frame_median: median(step_ms),
        };
        self.record.write(self.folder.path())
    }
}

/// The verdicts. An expectation that was never looked at counts against the scene, unless the user
/// has made the run shorter than the scene says.
fn judge(tracker: &ExpectTracker, shortened: bool) -> Vec<ExpectationRecord> {
    let record = |verdict: thirdlaw_scene::Verdict| ExpectationRecord {
        passed: if verdict.value.is_none() { shortened } else { verdict.passed },
        key: verdict.key,
        wanted: verdict.wanted,
        value: verdict.value,
    };
    tracker.verdicts().into_iter().map(record).collect()
}

/// The middle of the values, 0 if there are none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}
