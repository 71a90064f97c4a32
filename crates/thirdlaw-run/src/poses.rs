//! `poses.csv`: where every body is and how it moves.
//!
//! Position and orientation are those of the body's own frame; `v` is the velocity of its centre of
//! mass (m/s), `w` its angular velocity in world axes (rad/s).

use crate::failure::Failure;
use crate::stats::exact;
use crate::table;
use std::path::Path;
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

/// How many frames, from frame 0 on, have all their rows.
pub fn whole_frames(path: &Path, body_count: usize) -> Result<u32, Failure> {
    let mut next = 0;
    let mut count = 0;
    table::scan(path, |frame, _, _| {
        if frame == Some(next) && body_count > 0 {
            count += 1;
            if count == body_count {
                (next, count) = (next + 1, 0);
            }
        }
        frame.is_none_or(|frame| frame <= next)
    })?;
    Ok(if body_count == 0 { u32::MAX } else { next })
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_frames_with_all_bodies_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("poses.csv");
        for (rows, frames) in
            [("", 0), ("0,a\n0,b\n", 1), ("0,a\n0,b\n1,a\n", 1), ("0,a\n1,a\n", 0)]
        {
            std::fs::write(&path, format!("frame,body\n{rows}")).unwrap();
            assert_eq!(super::whole_frames(&path, 2).unwrap(), frames, "{rows:?}");
        }
    }
}
