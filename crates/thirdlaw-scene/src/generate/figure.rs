//! A figure of capsules, 1.75 m tall, that stands, twists, walks or dances by keyframes.
//!
//! In its rest pose it stands on y = 0 with its arms spread along x, facing z. A frame carries every
//! part from there to where it is: turned about its joint, then carried on by the part it hangs on.

use super::{Piece, turn};
use std::f64::consts::TAU;
use thirdlaw::math::{Pose, Quat, Vec3};
use thirdlaw::shape::ShapeError;
use thirdlaw::{Keyframe, Keyframes, Shape};

/// What the figure does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gait {
    /// Nothing, arms spread.
    Stand,
    /// Lowers its arms and turns its chest to and fro.
    Twist,
    /// Lowers its arms and walks along z.
    Walk,
    /// Turns about itself and bends.
    Dance,
}

/// Numbers of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// What it does.
    pub motion: Gait,
    /// For how long, s; it holds its last pose.
    pub duration: f64,
    /// When it begins to move, s.
    pub begin: f64,
    /// How many times as fast as usual.
    pub speed: f64,
}

impl Default for Figure {
    fn default() -> Self {
        Figure { motion: Gait::Stand, duration: 10.0, begin: 0.5, speed: 1.0 }
    }
}

/// Keys per second.
const RATE: f64 = 60.0;

/// Angles of a moment, rad, and the place of the hips, m.
#[derive(Clone, Copy, Debug, Default)]
struct Posture {
    shift: Vec3,
    /// Of the whole figure about y.
    yaw: f64,
    /// Of the chest against the hips: about y, forwards about x, sideways about z.
    twist: f64,
    bend: f64,
    lean: f64,
    /// Arms lowered from spread.
    lower: f64,
    /// Arms forwards, left and right.
    swing: [f64; 2],
    /// Elbows.
    elbow: f64,
    /// Thighs forwards and knees bent, left and right.
    thigh: [f64; 2],
    knee: [f64; 2],
}

/// A part: name, frame, ends and radius in the rest pose.
type Part = (&'static str, usize, [Vec3; 2], f64);

const HIPS: usize = 0;
const BELLY: usize = 1;
const CHEST: usize = 2;

const fn at(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Frames 3 to 6: arm and forearm, left and right; 7 to 10: thigh and shin.
const PARTS: [Part; 17] = [
    ("hips", HIPS, [at(-0.06, 0.97, 0.0), at(0.06, 0.97, 0.0)], 0.12),
    ("belly", BELLY, [at(0.0, 1.04, 0.0), at(0.0, 1.16, 0.0)], 0.12),
    ("chest", CHEST, [at(0.0, 1.20, 0.0), at(0.0, 1.28, 0.0)], 0.14),
    ("shoulders", CHEST, [at(-0.13, 1.40, 0.0), at(0.13, 1.40, 0.0)], 0.065),
    ("neck", CHEST, [at(0.0, 1.42, 0.0), at(0.0, 1.56, 0.0)], 0.05),
    ("head", CHEST, [at(0.0, 1.63, 0.0), at(0.0, 1.67, 0.0)], 0.095),
    ("left_arm", 3, [at(0.18, 1.40, 0.0), at(0.46, 1.40, 0.0)], 0.05),
    ("left_forearm", 4, [at(0.46, 1.40, 0.0), at(0.76, 1.40, 0.0)], 0.042),
    ("right_arm", 5, [at(-0.18, 1.40, 0.0), at(-0.46, 1.40, 0.0)], 0.05),
    ("right_forearm", 6, [at(-0.46, 1.40, 0.0), at(-0.76, 1.40, 0.0)], 0.042),
    ("left_thigh", 7, [at(0.1, 0.92, 0.0), at(0.1, 0.50, 0.0)], 0.075),
    ("left_shin", 8, [at(0.1, 0.50, 0.0), at(0.1, 0.06, 0.0)], 0.055),
    ("left_foot", 8, [at(0.1, 0.04, 0.0), at(0.1, 0.04, 0.14)], 0.04),
    ("right_thigh", 9, [at(-0.1, 0.92, 0.0), at(-0.1, 0.50, 0.0)], 0.075),
    ("right_shin", 10, [at(-0.1, 0.50, 0.0), at(-0.1, 0.06, 0.0)], 0.055),
    ("right_foot", 10, [at(-0.1, 0.04, 0.0), at(-0.1, 0.04, 0.14)], 0.04),
    ("jaw", CHEST, [at(0.0, 1.60, 0.03), at(0.0, 1.60, 0.05)], 0.05),
];

impl Figure {
    /// The parts, each with its path.
    pub fn pieces(&self) -> Result<Vec<Piece>, ShapeError> {
        let still = self.motion == Gait::Stand;
        let count = if still { 0 } else { (self.duration.clamp(0.0, 600.0) * RATE).ceil() as u32 };
        let frames: Vec<(f64, [Pose; 11])> = (0..=count)
            .map(|i| {
                let time = f64::from(i) / RATE;
                (time, self.posture(time).frames())
            })
            .collect();
        let mut pieces = Vec::new();
        for (name, frame, [a, b], radius) in PARTS {
            let along = b - a;
            let upright = Quat::from_rotation_arc(Vec3::Y, along.normalize_or(Vec3::Y));
            let rest = Pose::from_parts(0.5 * (a + b), upright);
            let shape = Shape::capsule(0.5 * along.length(), radius)?;
            let key = |(time, frames): &(f64, [Pose; 11])| {
                let pose = frames[frame] * rest;
                Keyframe { time: *time, position: pose.translation, rotation: pose.rotation }
            };
            let first = frames[0].1[frame] * rest;
            let mut piece = Piece::new(shape, first.translation, first.rotation);
            piece.name = Some(name);
            piece.motion =
                Keyframes { keys: frames.iter().map(key).collect(), ..Keyframes::default() };
            pieces.push(piece);
        }
        Ok(pieces)
    }

    fn posture(&self, time: f64) -> Posture {
        let t = self.speed * (time - self.begin).max(0.0);
        let mut p = Posture::default();
        let wave = |period: f64, from: f64| {
            ease((t - from) / period) * libm::sin(TAU * (t - from).max(0.0) / period)
        };
        match self.motion {
            Gait::Stand => {}
            Gait::Twist => {
                p.lower = 0.85 * ease(t / 1.0);
                p.elbow = 0.35 * ease(t / 1.0);
                p.twist = 0.75 * wave(2.0, 0.8);
                p.lean = 0.12 * wave(4.0, 0.8);
            }
            Gait::Walk => {
                p.lower = 1.05 * ease(t / 0.8);
                p.elbow = 0.35 * ease(t / 0.8);
                // a cycle of two steps takes a second
                let going = ease((t - 0.4) / 1.0);
                let phase = TAU * (t - 0.4).max(0.0) / 1.1;
                for (k, sign) in [(0, 1.0), (1, -1.0)] {
                    let stride = sign * libm::sin(phase);
                    p.thigh[k] = going * (0.48 * stride + 0.08);
                    // bent while the leg comes forwards
                    let lift = (sign * libm::cos(phase)).max(0.0);
                    p.knee[k] = going * (0.12 + 0.85 * lift * lift);
                    p.swing[k] = -0.45 * going * stride;
                }
                p.twist = 0.12 * going * libm::sin(phase);
                p.shift = Vec3::new(0.0, 0.0, 1.35 * eased_way(t - 0.4, 1.0));
                p.shift.y = -p.ground();
            }
            Gait::Dance => {
                p.lower = 0.35 * ease(t / 0.8);
                p.yaw = 1.5 * TAU * ease((t - 0.3) / 3.0) - 0.75 * TAU * ease((t - 3.3) / 2.0);
                p.bend = 0.45 * ease((t - 1.0) / 1.2) * (1.0 - ease((t - 2.6) / 1.2));
                p.lean = 0.3 * wave(1.8, 2.0);
                p.elbow = 0.4 * ease(t / 1.0);
            }
        }
        p
    }
}

impl Posture {
    fn frames(&self) -> [Pose; 11] {
        let about =
            |joint: Vec3, rotation: Quat| Pose::from_parts(joint - rotation * joint, rotation);
        let hips = Pose::from_parts(self.shift, turn(Vec3::Y, self.yaw));
        let half = turn(Vec3::Y, 0.5 * self.twist)
            * turn(Vec3::Z, 0.5 * self.lean)
            * turn(Vec3::X, 0.5 * self.bend);
        let belly = hips * about(at(0.0, 1.04, 0.0), half);
        let chest = belly * about(at(0.0, 1.18, 0.0), half);
        let mut frames = [hips, belly, chest, hips, hips, hips, hips, hips, hips, hips, hips];
        for (k, side) in [(0, 1.0), (1, -1.0)] {
            let lowered = turn(Vec3::X, -self.swing[k]) * turn(Vec3::Z, -side * self.lower);
            let arm = chest * about(at(side * 0.18, 1.40, 0.0), lowered);
            let elbow = turn(Vec3::Y, -side * self.elbow);
            frames[3 + 2 * k] = arm;
            frames[4 + 2 * k] = arm * about(at(side * 0.46, 1.40, 0.0), elbow);
            let thigh = hips * about(at(side * 0.1, 0.92, 0.0), turn(Vec3::X, -self.thigh[k]));
            let knee = turn(Vec3::X, self.knee[k]);
            frames[7 + 2 * k] = thigh;
            frames[8 + 2 * k] = thigh * about(at(side * 0.1, 0.50, 0.0), knee);
        }
        frames
    }
}

impl Posture {
    /// Height of the lower foot, rounded off where one takes over from the other, m.
    fn ground(&self) -> f64 {
        const SHARPNESS: f64 = 80.0;
        let frames = self.frames();
        let feet = PARTS.iter().filter(|part| part.0.ends_with("foot"));
        let ends = feet.flat_map(|(_, frame, ends, radius)| {
            ends.map(|end| (frames[*frame] * end).y - self.shift.y - radius)
        });
        let (sum, count) = ends.fold((0.0, 0.0), |(sum, count), height| {
            (sum + libm::exp(-SHARPNESS * height), count + 1.0)
        });
        -libm::log(sum / count) / SHARPNESS
    }
}

/// From 0 to 1 with a gentle start and end.
fn ease(s: f64) -> f64 {
    let s = s.clamp(0.0, 1.0);
    s * s * s * (10.0 - s * (15.0 - 6.0 * s))
}

/// Way after a time at a speed that eases from 0 to 1 within `rise`.
fn eased_way(t: f64, rise: f64) -> f64 {
    let s = (t / rise).clamp(0.0, 1.0);
    // ∫ 10s³ − 15s⁴ + 6s⁵
    let start = s * s * s * s * (2.5 - s * (3.0 - s));
    rise * start + (t - rise).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends of a part at a key.
    fn ends(pieces: &[Piece], name: &str, key: usize) -> [Vec3; 2] {
        let piece = pieces.iter().find(|p| p.name == Some(name)).unwrap();
        let (_, _, [a, b], _) = PARTS.iter().find(|p| p.0 == name).unwrap();
        let k = piece.motion.keys[key];
        let half = 0.5 * (*b - *a).length();
        [-half, half].map(|y| k.position + k.rotation * Vec3::new(0.0, y, 0.0))
    }

    #[test]
    fn limbs_stay_joined() {
        for motion in [Gait::Twist, Gait::Walk, Gait::Dance] {
            let pieces = Figure { motion, duration: 5.0, begin: 0.2, speed: 1.0 }.pieces().unwrap();
            for key in [0, 40, 133, 299] {
                for (upper, lower) in [("left_arm", "left_forearm"), ("right_thigh", "right_shin")]
                {
                    let (a, b) = (ends(&pieces, upper, key), ends(&pieces, lower, key));
                    assert!(a[1].distance(b[0]) < 1e-9, "{motion:?} {upper} at key {key}");
                }
            }
        }
    }

    #[test]
    fn it_starts_in_its_rest_pose_and_moves_without_jerks() {
        for motion in [Gait::Twist, Gait::Walk, Gait::Dance] {
            let pieces = Figure { motion, duration: 6.0, begin: 0.3, speed: 1.0 }.pieces().unwrap();
            assert!(ends(&pieces, "left_forearm", 0)[1].distance(at(0.76, 1.4, 0.0)) < 1e-9);
            for piece in &pieces {
                let velocity: Vec<Vec3> = piece
                    .motion
                    .keys
                    .windows(2)
                    .map(|k| (k[1].position - k[0].position) * RATE)
                    .collect();
                for pair in velocity.windows(2) {
                    let jump = (pair[1] - pair[0]).length() * RATE;
                    assert!(jump < 40.0, "{motion:?} {:?}: {jump} m/s²", piece.name);
                }
            }
        }
    }

    #[test]
    fn walking_feet_stay_near_the_ground() {
        let pieces =
            Figure { motion: Gait::Walk, duration: 5.0, begin: 0.2, speed: 1.0 }.pieces().unwrap();
        for key in 0..300 {
            let lowest = ["left_foot", "right_foot"]
                .map(|foot| ends(&pieces, foot, key).map(|p| p.y - 0.04))
                .into_iter()
                .flatten()
                .fold(1.0, f64::min);
            assert!((-0.03..0.03).contains(&lowest), "{lowest} at key {key}");
        }
    }
}
