//! Drives: proportional–derivative control of a coordinate, and motors.
//!
//! The force is F = kp (q* − q) + kd (q̇* − q̇) + effort, with q and q̇ taken inside the step, implicitly, so
//! that no gain is too stiff for any step (WGF08).

use serde::{Deserialize, Serialize};

/// A drive on one coordinate of a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drive {
    /// kp, N/m or N·m/rad.
    pub stiffness: f64,
    /// kd, N·s/m or N·m·s/rad; infinite: a motor that holds its velocity as long as its limit allows.
    pub damping: f64,
    /// Largest force (N) or torque (N·m); may be infinite.
    pub limit: f64,
    /// Force (N) or torque (N·m) added to that of the gains.
    pub effort: f64,
    /// Where it wants the coordinate to be.
    pub target: Target,
}

/// Where a drive wants its coordinate to be, and how fast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Target {
    /// At a place, moving at a velocity. Set anew by `World::set_drive_target` as often as the
    /// caller likes.
    Constant {
        /// m or rad.
        position: f64,
        /// m/s or rad/s.
        velocity: f64,
    },
    /// Straight from key to key.
    Keyframes {
        /// In increasing order of time.
        keys: Vec<DriveKey>,
        /// Start again after the last key.
        repeat: bool,
    },
    /// center + amplitude·sin(2π·frequency·t + phase).
    Sine {
        /// m or rad.
        center: f64,
        /// m or rad.
        amplitude: f64,
        /// Hz.
        frequency: f64,
        /// rad.
        phase: f64,
    },
}

/// One key of a keyframed target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveKey {
    /// s.
    pub time: f64,
    /// m or rad.
    pub position: f64,
}

impl Drive {
    /// A proportional–derivative drive towards zero, without a limit.
    pub fn pd(stiffness: f64, damping: f64) -> Drive {
        let target = Target::Constant { position: 0.0, velocity: 0.0 };
        Drive { stiffness, damping, limit: f64::INFINITY, effort: 0.0, target }
    }

    /// A motor: holds a velocity (m/s or rad/s) with at most `limit` (N or N·m).
    pub fn motor(velocity: f64, limit: f64) -> Drive {
        let target = Target::Constant { position: 0.0, velocity };
        Drive { stiffness: 0.0, damping: f64::INFINITY, limit, effort: 0.0, target }
    }

    /// A constant force (N) or torque (N·m) along the coordinate.
    pub fn effort(effort: f64) -> Drive {
        Drive { effort, ..Drive::pd(0.0, 0.0) }
    }

    /// With this target.
    pub fn toward(mut self, target: Target) -> Drive {
        self.target = target;
        self
    }

    /// With a constant target position, m or rad.
    pub fn at(self, position: f64) -> Drive {
        self.toward(Target::Constant { position, velocity: 0.0 })
    }

    /// With at most this force (N) or torque (N·m).
    pub fn limited(mut self, limit: f64) -> Drive {
        self.limit = limit;
        self
    }
}

impl Target {
    /// Position (m or rad) and velocity (m/s or rad/s) wanted at `time`.
    pub fn at(&self, time: f64) -> (f64, f64) {
        match self {
            Target::Constant { position, velocity } => (*position, *velocity),
            Target::Keyframes { keys, repeat } => keyed(keys, *repeat, time),
            Target::Sine { center, amplitude, frequency, phase } => {
                let omega = std::f64::consts::TAU * frequency;
                let angle = omega * time + phase;
                (center + amplitude * libm::sin(angle), amplitude * omega * libm::cos(angle))
            }
        }
    }

    /// Whether it changes by itself.
    pub(crate) fn moves(&self) -> bool {
        match self {
            Target::Constant { velocity, .. } => *velocity != 0.0,
            Target::Keyframes { keys, .. } => keys.len() > 1,
            Target::Sine { amplitude, frequency, .. } => *amplitude != 0.0 && *frequency != 0.0,
        }
    }
}

fn keyed(keys: &[DriveKey], repeat: bool, time: f64) -> (f64, f64) {
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return (0.0, 0.0) };
    let span = last.time - first.time;
    let time = if repeat && span > 0.0 && time > last.time {
        first.time + libm::fmod(time - first.time, span)
    } else {
        time
    };
    let next = keys.partition_point(|k| k.time <= time);
    if next == 0 {
        return (first.position, 0.0);
    }
    let Some(b) = keys.get(next) else { return (last.position, 0.0) };
    let a = &keys[next - 1];
    let slope = (b.position - a.position) / (b.time - a.time);
    (a.position + slope * (time - a.time), slope)
}
