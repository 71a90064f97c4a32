//! What ends a simulation before its time.

use crate::text;
use std::error::Error;
use std::fmt;
use thirdlaw::couple::CoupleError;
use thirdlaw::{SnapshotError, StepError};
use thirdlaw_scene::Scene;

/// A simulation that broke down: what, where and when.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationError {
    /// The frame that could not be made.
    pub frame: u32,
    /// What became infinite or NaN, by its name in the scene; absent where that is not the reason.
    pub culprit: Option<String>,
    /// The error of the engine.
    pub cause: SimulationCause,
}

/// Where a simulation broke down.
#[derive(Clone, Debug, PartialEq)]
pub enum SimulationCause {
    /// In the world.
    World(StepError),
    /// In one of the simulators that share the scene, or in what couples them.
    Coupling(CoupleError),
}

impl SimulationError {
    pub(super) fn new(scene: &Scene, frame: u32, cause: SimulationCause) -> SimulationError {
        let culprit = match &cause {
            SimulationCause::World(error) => culprit(scene, error),
            SimulationCause::Coupling(_) => None,
        };
        SimulationError { frame, culprit, cause }
    }
}

/// What became infinite or NaN, as the scene calls it.
fn culprit(scene: &Scene, error: &StepError) -> Option<String> {
    Some(match error {
        StepError::TimeStep(_) | StepError::Unsupported { .. } => return None,
        StepError::NotFinite { body, joint, .. } => {
            let found = scene.bodies.iter().find(|b| b.id == *body);
            let name = found.map_or_else(|| body.to_string(), |b| format!("body {}", b.name));
            let held = joint.and_then(|id| scene.joints.iter().find(|j| j.id == id));
            held.map_or_else(|| name.clone(), |j| format!("{name}, held by joint {},", j.name))
        }
        StepError::ClothNotFinite { cloth, vertex, .. } => {
            let found = scene.cloths.iter().find(|c| c.id == *cloth);
            let name = found.map_or_else(|| cloth.to_string(), |c| format!("cloth {}", c.name));
            format!("vertex {vertex} of {name}")
        }
        // what took the work is not what became infinite: the error says it all
        StepError::ClothUnsolved { .. } => return None,
        StepError::ParticleNotFinite { emitter, particle, .. } => {
            let found = scene.emitters.iter().find(|e| e.id == *emitter);
            let name = found.map_or_else(|| emitter.to_string(), |e| e.name.clone());
            format!("particle {particle} of {name}")
        }
        StepError::PointNotFinite { point, .. } => {
            let found = scene.points.iter().find(|p| p.id == *point);
            found.map_or_else(|| point.to_string(), |p| format!("point {}", p.name))
        }
    })
}

/// What may help.
fn remedy(error: &StepError) -> &'static str {
    match error {
        StepError::NotFinite { joint: Some(_), .. } => {
            "; lower the gains or the limit of its drive, or take more settings.substeps"
        }
        _ => "",
    }
}

/// Number of the step and time (s) at which a state became infinite or NaN.
fn moment(error: &StepError) -> Option<(u64, f64)> {
    match error {
        StepError::TimeStep(_)
        | StepError::Unsupported { .. }
        | StepError::ClothUnsolved { .. } => None,
        StepError::NotFinite { step, time, .. }
        | StepError::ClothNotFinite { step, time, .. }
        | StepError::ParticleNotFinite { step, time, .. }
        | StepError::PointNotFinite { step, time, .. } => Some((*step, *time)),
    }
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frame = self.frame;
        match &self.cause {
            SimulationCause::Coupling(error) => {
                write!(f, "the simulation failed in frame {frame}: {error}")
            }
            SimulationCause::World(error) => match (&self.culprit, moment(error)) {
                (Some(culprit), Some((step, time))) => write!(
                    f,
                    "the simulation failed in frame {frame}: the state of {culprit} became infinite \
                     or NaN in step {step}, at t = {} s{}",
                    text::number(time),
                    remedy(error)
                ),
                _ => error.fmt(f),
            },
        }
    }
}

impl fmt::Display for SimulationCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimulationCause::World(error) => error.fmt(f),
            SimulationCause::Coupling(error) => error.fmt(f),
        }
    }
}

impl Error for SimulationError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.cause {
            SimulationCause::World(error) => Some(error),
            SimulationCause::Coupling(error) => Some(error),
        }
    }
}

/// A saved frame that a scene cannot go back to.
#[derive(Clone, Debug, PartialEq)]
pub enum RestoreError {
    /// It is of another world.
    World(SnapshotError),
    /// It is of other simulators.
    Coupling(CoupleError),
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::World(error) => error.fmt(f),
            RestoreError::Coupling(error) => error.fmt(f),
        }
    }
}

impl Error for RestoreError {}
