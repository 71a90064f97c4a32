//! What moves a scene: its world, or the simulators that share it.

use super::stages::StageTimes;
use super::timed::Timed;
use super::{Clock, SimulationCause, measure, read};
use thirdlaw::StepReport;
use thirdlaw::couple::{CoupleError, CouplingReport, LedgerEntry};
use thirdlaw::simulator::Simulator;
use thirdlaw_fmu::Fmu;
use thirdlaw_rapier::RapierWorld;
use thirdlaw_scene::coupled::SceneSimulator;
use thirdlaw_scene::{Coupled, Scene, SceneErrors, SimulatorKind};

/// The simulators of a scene; none where its world is all.
pub struct Simulators {
    coupled: Option<Coupled>,
    clock: Option<Clock>,
    /// In coupled steps, all in all, ns.
    spent: u64,
}

/// What crossed between simulators in one step.
#[derive(Clone, Debug)]
pub struct CoupledStep {
    /// At the end of the step, s.
    pub time: f64,
    /// How it went.
    pub report: CouplingReport,
    /// What crossed each coupling of the scene.
    pub crossed: Vec<LedgerEntry>,
}

/// How long coupled steps took, s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CouplingTimes {
    /// Coupled steps, all in all.
    pub total: f64,
    /// Inside the steps of each simulator.
    pub simulators: Vec<f64>,
}

impl Simulators {
    /// Makes what the scene asks for.
    pub fn new(scene: &Scene, clock: Option<Clock>) -> Result<Simulators, SceneErrors> {
        let coupled = scene.couple(&mut |simulator| make(scene, simulator, clock))?;
        Ok(Simulators { coupled, clock, spent: 0 })
    }

    /// Whether several simulators share the scene.
    pub fn is_coupled(&self) -> bool {
        self.coupled.is_some()
    }

    /// Advances by a step; adds what crossed to `crossed` where it is a coupled one.
    pub fn step(
        &mut self,
        scene: &mut Scene,
        stages: &mut StageTimes,
        crossed: &mut Vec<CoupledStep>,
    ) -> Result<StepReport, SimulationCause> {
        let dt = scene.dt();
        let Some(coupled) = &mut self.coupled else {
            return scene.world.step_observed(dt, stages).map_err(SimulationCause::World);
        };
        let begun = read(self.clock);
        let report = coupled.step(dt);
        self.spent += read(self.clock).saturating_sub(begun);
        let report = report.map_err(SimulationCause::Coupling)?;
        let time = coupled.coupling.time();
        crossed.push(CoupledStep { time, report, crossed: coupled.crossed() });
        let mut sum = StepReport::default();
        for i in 0..coupled.coupling.simulator_count() {
            if let Some(timed) = coupled.coupling.get_mut::<Timed>(i) {
                measure::join_report(&mut sum, &std::mem::take(&mut timed.report));
                stages.add(&timed.take_stages());
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
    pub fn bytes(&mut self) -> Result<Vec<u8>, SimulationCause> {
        match &mut self.coupled {
            Some(coupled) => coupled.coupling.to_bytes().map_err(SimulationCause::Coupling),
            None => Ok(Vec::new()),
        }
    }

    /// Goes back to a state.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), CoupleError> {
        match &mut self.coupled {
            Some(coupled) => coupled.coupling.load(bytes),
            None => Ok(()),
        }
    }

    /// How long steps took so far.
    pub fn times(&self) -> CouplingTimes {
        let Some(coupled) = &self.coupled else { return CouplingTimes::default() };
        let count = coupled.coupling.simulator_count();
        let seconds = |nanoseconds: u64| nanoseconds as f64 * 1e-9;
        let spent = |i: usize| coupled.coupling.get::<Timed>(i).map_or(0.0, |t| seconds(t.spent));
        CouplingTimes { total: seconds(self.spent), simulators: (0..count).map(spent).collect() }
    }
}

impl CouplingTimes {
    /// What was spent since `before`.
    pub(crate) fn since(&self, before: &CouplingTimes) -> CouplingTimes {
        let spent = |(i, now): (usize, &f64)| now - before.simulators.get(i).unwrap_or(&0.0);
        let simulators = self.simulators.iter().enumerate().map(spent).collect();
        CouplingTimes { total: self.total - before.total, simulators }
    }

    /// Coupled time over the time inside the simulators' own steps [baraff1997 §5].
    pub fn overhead(&self) -> f64 {
        self.total / self.simulators.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }
}

fn make(
    scene: &Scene,
    simulator: &SceneSimulator,
    clock: Option<Clock>,
) -> Result<Box<dyn Simulator>, String> {
    let made: Box<dyn Simulator> = match simulator.kind {
        SimulatorKind::Thirdlaw => Box::new(simulator.world.clone()),
        SimulatorKind::Fmu => Box::new(Fmu::of_scene(simulator)?),
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
    Ok(Box::new(Timed::new(made, clock)))
}
