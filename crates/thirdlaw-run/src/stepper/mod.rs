//! Steps a scene frame by frame, measures it and watches its expectations.
//!
//! Nothing here touches a file, a clock or a signal, so that it works wherever the engine does. Times
//! are measured by a [`Clock`] that the caller hands in; without one they are 0.

pub(crate) mod crossing;
mod error;
mod measure;
mod saved;
mod simulators;
mod stages;
mod timed;

pub use error::{RestoreError, SimulationCause, SimulationError};
pub use saved::SavedFrame;
pub use simulators::{CoupledStep, CouplingTimes};
pub use stages::{StageTimes, stage_name};

use crossing::CouplingRow;
use simulators::Simulators;
use thirdlaw::couple::CoupleError;
use thirdlaw::{BodyId, SnapshotError, StepReport, World};
use thirdlaw_scene::{CouplingFrame, ExpectTracker, FrameStats, Scene, SceneErrors, Verdict};

/// Counts nanoseconds up from any moment, the same on all threads.
pub type Clock = fn() -> u64;

/// A scene on its way, frame by frame.
///
/// ```
/// let scene = thirdlaw_scene::find_builtin("box-on-floor").unwrap();
/// let scene = thirdlaw_scene::load(scene.name, scene.text, None, &[]).unwrap();
/// let mut stepper = thirdlaw_run::Stepper::new(scene)?;
/// let stats = stepper.step()?;
/// assert_eq!((stats.frame, stats.hash), (1, stepper.hash()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stepper {
    scene: Scene,
    simulators: Simulators,
    tracker: ExpectTracker,
    clock: Option<Clock>,
    frame: u32,
    report: FrameReport,
    rows: Vec<CouplingRow>,
    /// Of the present frame, once somebody has asked.
    measured: Option<FrameStats>,
    /// State of coupled simulators in the present frame, once it was asked for.
    coupled: Option<Vec<u8>>,
}

/// How the steps of a frame went.
#[derive(Clone, Debug, Default)]
pub struct FrameReport {
    /// Work summed over the steps, the worst errors, and the end of the last step.
    pub steps: StepReport,
    /// Stepping alone, ms; 0 without a clock.
    pub step_ms: f64,
    /// Of that, by stage; empty without a clock.
    pub stages: StageTimes,
    /// What crossed between simulators in each step; empty where one world holds everything.
    pub coupled: Vec<CoupledStep>,
}

impl Stepper {
    /// A scene at its start, frame 0.
    pub fn new(scene: Scene) -> Result<Stepper, SceneErrors> {
        Stepper::build(scene, None)
    }

    /// The same with a clock, so that frames and stages are timed.
    pub fn with_clock(scene: Scene, clock: Clock) -> Result<Stepper, SceneErrors> {
        Stepper::build(scene, Some(clock))
    }

    fn build(scene: Scene, clock: Option<Clock>) -> Result<Stepper, SceneErrors> {
        let simulators = Simulators::new(&scene, clock)?;
        let tracker = ExpectTracker::new(&scene);
        let (report, rows) = (FrameReport::default(), Vec::new());
        let (frame, measured, coupled) = (0, None, None);
        Ok(Stepper { scene, simulators, tracker, clock, frame, report, rows, measured, coupled })
    }

    /// The scene, its world in the present state.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The world in its present state. Where several simulators share the scene, it shows where they
    /// have everything.
    pub fn world(&self) -> &World {
        &self.scene.world
    }

    /// The body of this name; copies are `name.0`, `name.1`, …
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.scene.bodies.iter().find(|body| body.name == name).map(|body| body.id)
    }

    /// Number of the present frame; 0 is the initial state.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// Whether several simulators share the scene.
    pub fn is_coupled(&self) -> bool {
        self.simulators.is_coupled()
    }

    /// Advances by a frame and measures it.
    pub fn step(&mut self) -> Result<FrameStats, SimulationError> {
        if self.frame == 0 {
            // expectations see every frame, the initial state too
            self.stats()?;
        }
        self.advance()?;
        self.stats()
    }

    /// Advances by a frame without measuring it. Expectations see only frames whose
    /// [`stats`](Stepper::stats) are asked for. After an error the state is of no use.
    pub fn advance(&mut self) -> Result<&FrameReport, SimulationError> {
        let begun = read(self.clock);
        let mut report = FrameReport { stages: StageTimes::new(self.clock), ..Default::default() };
        for _ in 0..self.scene.steps_per_frame {
            let step = self
                .simulators
                .step(&mut self.scene, &mut report.stages, &mut report.coupled)
                .map_err(|cause| SimulationError::new(&self.scene, self.frame + 1, cause))?;
            measure::add_report(&mut report.steps, &step);
        }
        report.step_ms = milliseconds(read(self.clock).saturating_sub(begun));
        self.simulators.show(&mut self.scene);
        self.frame += 1;
        self.report = report;
        (self.measured, self.coupled) = (None, None);
        self.rows = match &self.scene.partition {
            Some(partition) => CouplingRow::of_frame(self.frame, &self.report.coupled, partition),
            None => Vec::new(),
        };
        Ok(&self.report)
    }

    /// How the steps of the present frame went.
    pub fn report(&self) -> &FrameReport {
        &self.report
    }

    /// The rows of `coupling.csv` for the present frame.
    pub(crate) fn coupling_rows(&self) -> &[CouplingRow] {
        &self.rows
    }

    /// The measurements of the present frame, made when first asked for; expectations see them then.
    pub fn stats(&mut self) -> Result<FrameStats, SimulationError> {
        if let Some(stats) = &self.measured {
            return Ok(*stats);
        }
        let hash = self.hash()?;
        let stats = measure::measure_frame(self.frame, &self.scene.world, &self.report, hash);
        if let Some(partition) = &self.scene.partition {
            self.tracker.keep_books(crossing::of_frame(&self.rows, self.frame, partition));
        }
        self.tracker.observe(stats.time, &stats, &self.scene.world, &self.scene.bodies);
        self.measured = Some(stats);
        Ok(stats)
    }

    /// What became of the expectations of the scene so far.
    pub fn verdicts(&self) -> Vec<Verdict> {
        self.tracker.verdicts()
    }

    /// A number that changes with any bit of the state.
    pub fn hash(&mut self) -> Result<u64, SimulationError> {
        let world = self.scene.world.hash();
        Ok(saved::state_hash(world, self.coupled_bytes()?))
    }

    /// The present state, to go back to.
    pub fn save(&mut self) -> Result<SavedFrame, SimulationError> {
        let coupled = self.coupled_bytes()?.to_vec();
        Ok(SavedFrame { snapshot: self.scene.world.save(), coupled })
    }

    /// Goes to a state that was saved as number `frame`; expectations are as they were. Its report is
    /// not known.
    pub fn restore(&mut self, frame: u32, saved: &SavedFrame) -> Result<(), RestoreError> {
        self.scene.world.restore(&saved.snapshot).map_err(RestoreError::World)?;
        self.simulators.load(&saved.coupled).map_err(RestoreError::Coupling)?;
        self.at(frame);
        Ok(())
    }

    /// Shows a frame that was made and measured before to the expectations. The world is in its state
    /// then; coupled simulators are not, since only those of the last frame matter.
    pub(crate) fn replay(
        &mut self,
        stats: &FrameStats,
        saved: &SavedFrame,
        books: Vec<CouplingFrame>,
    ) -> Result<(), SnapshotError> {
        self.scene.world.restore(&saved.snapshot)?;
        self.at(stats.frame);
        self.tracker.keep_books(books);
        self.tracker.observe(stats.time, stats, &self.scene.world, &self.scene.bodies);
        self.measured = Some(*stats);
        Ok(())
    }

    /// Brings coupled simulators to the state of the frame that was replayed last.
    pub(crate) fn load_coupled(&mut self, saved: &SavedFrame) -> Result<(), CoupleError> {
        self.simulators.load(&saved.coupled)
    }

    fn at(&mut self, frame: u32) {
        self.frame = frame;
        self.report = FrameReport::default();
        self.rows.clear();
        (self.measured, self.coupled) = (None, None);
    }

    /// Energy that the springs of ties between simulators hold, J.
    pub fn stored_energy(&self) -> f64 {
        self.simulators.stored()
    }

    /// How long coupled steps took so far; 0 without a clock.
    pub fn coupling_times(&self) -> CouplingTimes {
        self.simulators.times()
    }

    fn coupled_bytes(&mut self) -> Result<&[u8], SimulationError> {
        let bytes = match self.coupled.take() {
            Some(bytes) => bytes,
            None => self
                .simulators
                .bytes()
                .map_err(|cause| SimulationError::new(&self.scene, self.frame, cause))?,
        };
        Ok(self.coupled.insert(bytes))
    }
}

/// What the clock says; 0 without one.
fn read(clock: Option<Clock>) -> u64 {
    clock.map_or(0, |clock| clock())
}

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 * 1e-6
}
