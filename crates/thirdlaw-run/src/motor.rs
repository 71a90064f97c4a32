//! What steps a scene: its world, or the simulators that share it.

use crate::failure::Failure;
use crate::stages::StageClock;
use crate::stats;
use crate::timed::Timed;
use std::hash::Hasher;
use std::time::{Duration, Instant};
use thirdlaw::couple::{CoupleError, CouplingReport, LedgerEntry, Simulator};
use thirdlaw::state::BitHasher;
use thirdlaw::{StepError, StepReport};
use thirdlaw_rapier::RapierWorld;
use thirdlaw_scene::coupled::SceneSimulator;
use thirdlaw_scene::{Coupled, Scene, SimulatorKind};

/// What steps a scene.
pub struct Motor {
    coupled: Option<Coupled>,
    /// Of coupled steps, all in all.
    spent: Duration,
}

/// What the books say of one coupled step.
#[derive(Clone, Debug)]
pub struct StepBooks {
    /// At the end of the step, s.
    pub time: f64,
    /// How it went.
    pub report: CouplingReport,
    /// What crossed each coupling of the scene.
    pub crossed: Vec<LedgerEntry>,
}

/// Why a step failed.
#[derive(Debug)]
pub enum Broken {
    /// The world's.
    World(StepError),
    /// One of the simulators', or what couples them.
    Coupling(CoupleError),
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Broken::World(error) => error.fmt(f),
            Broken::Coupling(error) => error.fmt(f),
        }
    }
}

/// How long coupled steps took, s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Coupled steps, all in all.
    pub total: f64,
    /// Inside the steps of each simulator.
    pub simulators: Vec<f64>,
}

impl Motor {
    /// Makes what the scene asks for.
    pub fn new(scene: &Scene) -> Result<Motor, Failure> {
        let coupled = scene
            .couple(&mut |simulator| make(scene, simulator))
            .map_err(|errors| Failure::Input(errors.to_string().trim_end().into()))?;
        Ok(Motor { coupled, spent: Duration::ZERO })
    }

    /// Whether several simulators share the scene.
    pub fn is_coupled(&self) -> bool {
        self.coupled.is_some()
    }

    /// Advances by a step; adds its books to `books` where it is a coupled one.
    pub fn step(
        &mut self,
        scene: &mut Scene,
        clock: &mut StageClock,
        books: &mut Vec<StepBooks>,
    ) -> Result<StepReport, Broken> {
        let dt = scene.dt();
        let Some(coupled) = &mut self.coupled else {
            return scene.world.step_observed(dt, clock).map_err(Broken::World);
        };
        let begun = Instant::now();
        let report = coupled.step(dt);
        self.spent += begun.elapsed();
        let report = report.map_err(Broken::Coupling)?;
        let crossed = coupled.crossed();
        books.push(StepBooks { time: coupled.coupling.time(), report, crossed });
        let mut sum = StepReport::default();
        for i in 0..coupled.coupling.simulator_count() {
            if let Some(timed) = coupled.coupling.get_mut::<Timed>(i) {
                stats::join_report(&mut sum, &std::mem::take(&mut timed.report));
                clock.add(&std::mem::take(&mut timed.stages));
            }
        }
        Ok(sum)
    }

    /// Shows in the scene's world where the simulators have everything.
    pub fn show(&self, scene: &mut Scene) {
        if let Some(coupled) = &self.coupled {
            coupled.show(&mut scene.world);
        }
    }

    /// Energy that the springs of ties hold, J.
    pub fn stored(&self) -> f64 {
        self.coupled.as_ref().map_or(0.0, |coupled| coupled.coupling.stored())
    }

    /// The state of the simulators and of what couples them; empty where the scene's world is all.
    pub fn bytes(&mut self) -> Result<Vec<u8>, Failure> {
        match &mut self.coupled {
            Some(coupled) => {
                coupled.coupling.to_bytes().map_err(|error| Failure::Simulation(error.to_string()))
            }
            None => Ok(Vec::new()),
        }
    }

    /// Goes back to a state; says why where it cannot.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        match &mut self.coupled {
            Some(coupled) => coupled.coupling.load(bytes).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    /// How long steps took so far.
    pub fn times(&self) -> Times {
        let Some(coupled) = &self.coupled else { return Times::default() };
        let count = coupled.coupling.simulator_count();
        let spent =
            |i: usize| coupled.coupling.get::<Timed>(i).map_or(0.0, |t| t.spent.as_secs_f64());
        Times { total: self.spent.as_secs_f64(), simulators: (0..count).map(spent).collect() }
    }
}

impl Times {
    /// Coupled time over the time inside the simulators' own steps [baraff1997 §5].
    pub fn overhead(&self) -> f64 {
        self.total / self.simulators.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }
}

/// A number that changes with any bit of the world's state, whose hash is given, and of the
/// simulators' that share it.
pub fn state_hash(world: u64, coupled: &[u8]) -> u64 {
    if coupled.is_empty() {
        return world;
    }
    let mut hasher = BitHasher::default();
    hasher.write(&world.to_le_bytes());
    hasher.write(coupled);
    hasher.finish()
}

fn make(scene: &Scene, simulator: &SceneSimulator) -> Result<Box<dyn Simulator>, String> {
    let made: Box<dyn Simulator> = match simulator.kind {
        SimulatorKind::Thirdlaw => Box::new(simulator.world.clone()),
        SimulatorKind::Rapier => {
            let made = RapierWorld::from_world(&simulator.world).map_err(|error| {
                let found = scene.bodies.iter().find(|b| Some(b.id) == error.body);
                match found {
                    Some(body) => {
                        format!("{} of `{}` cannot be built in Rapier", error.what, body.name)
                    }
                    None => error.to_string(),
                }
            })?;
            Box::new(made)
        }
    };
    Ok(Box::new(Timed::new(made)))
}
