//! `poses.csv`: where every body is and how it moves.
//!
//! Position and orientation are those of the body's own frame; `v` is the velocity of its centre of
//! mass (m/s), `w` its angular velocity in world axes (rad/s).

use crate::stats::exact;
use thirdlaw::World;
use thirdlaw_scene::SceneBody;

/// The columns of `poses.csv`.
pub const COLUMNS: [&str; 16] = [
    "frame", "time", "body", "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy",
    "wz",
];

/// The rows of one frame, a body each.
pub fn rows(frame: u32, world: &World, bodies: &[SceneBody]) -> impl Iterator<Item = Vec<String>> {
    bodies.iter().filter_map(move |body| {
        let (pose, velocity) = (world.pose(body.id).ok()?, world.velocity(body.id).ok()?);
        let (x, q) = (pose.translation, pose.rotation);
        let (v, w) = (velocity.linear, velocity.angular);
        let mut row = vec![frame.to_string(), exact(world.time()), body.name.clone()];
        row.extend([x.x, x.y, x.z, q.w, q.x, q.y, q.z].map(exact));
        row.extend([v.x, v.y, v.z, w.x, w.y, w.z].map(exact));
        Some(row)
    })
}
