//! `joints.csv`: coordinates, rates and reactions of every joint.
//!
//! Coordinates are those of frame b against frame a, along and about the axes of frame a, in m and
//! rad; a rope, rod or spring has its length first, a curve the arc length. Force (N) and torque
//! (N·m, about the anchor) are those on the second side, in world axes; `error` is the gap of the
//! anchors (m), `turn_error` the turn out of what the joint allows (rad), `broken` 0 or 1.

use crate::stats::exact;
use thirdlaw::World;
use thirdlaw_scene::SceneJoint;

/// The columns of `joints.csv`.
pub const COLUMNS: [&str; 24] = [
    "frame",
    "time",
    "joint",
    "x",
    "y",
    "z",
    "turn_x",
    "turn_y",
    "turn_z",
    "x_rate",
    "y_rate",
    "z_rate",
    "turn_x_rate",
    "turn_y_rate",
    "turn_z_rate",
    "fx",
    "fy",
    "fz",
    "tx",
    "ty",
    "tz",
    "error",
    "turn_error",
    "broken",
];

/// The rows of one frame, a joint each.
pub fn rows(frame: u32, world: &World, joints: &[SceneJoint]) -> impl Iterator<Item = Vec<String>> {
    joints.iter().filter_map(move |joint| {
        let reading = world.joint_reading(joint.id).ok()?;
        let mut row = vec![frame.to_string(), exact(world.time()), joint.name.clone()];
        row.extend(reading.coordinates.map(exact));
        row.extend(reading.rates.map(exact));
        row.extend(reading.force.to_array().map(exact));
        row.extend(reading.torque.to_array().map(exact));
        row.extend([reading.error, reading.turn_error].map(exact));
        row.push(u8::from(reading.broken).to_string());
        Some(row)
    })
}
