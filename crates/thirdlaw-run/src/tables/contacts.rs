//! `contacts.csv`: every point in which bodies push each other, with its force.
//!
//! Points are those that carry something at the end of a frame's last substep. `left` counts the rows of the
//! frame that are still to come, down to 0. The normal points from a to b; force is that on b (N), friction
//! included, on a it is the opposite; `separation` is the gap at the beginning of the last step (m).

use super::table::scan;
use crate::error::RunError;
use crate::stats::exact;
use std::collections::BTreeMap;
use std::path::Path;
use thirdlaw::{BodyContact, BodyId, TouchPoint, World};
use thirdlaw_scene::SceneBody;

/// The columns of `contacts.csv`.
pub const COLUMNS: [&str; 16] = [
    "frame",
    "time",
    "left",
    "a",
    "b",
    "x",
    "y",
    "z",
    "nx",
    "ny",
    "nz",
    "separation",
    "normal_force",
    "fx",
    "fy",
    "fz",
];

/// The rows of one frame, a loaded point each.
pub fn rows(frame: u32, world: &World, bodies: &[SceneBody]) -> impl Iterator<Item = Vec<String>> {
    let names: BTreeMap<BodyId, &str> = bodies.iter().map(|b| (b.id, b.name.as_str())).collect();
    let name = |id: BodyId| names.get(&id).map_or_else(|| id.to_string(), |&name| name.into());
    let loaded = |contact: BodyContact| {
        let points: Vec<TouchPoint> = contact.points().to_vec();
        points.into_iter().filter(|p| p.normal_force > 0.0).map(move |p| (contact, p))
    };
    let points: Vec<(BodyContact, TouchPoint)> = world.contacts().flat_map(loaded).collect();
    let count = points.len();
    let row = |(i, (contact, point)): (usize, &(BodyContact, TouchPoint))| {
        let left = (count - 1 - i).to_string();
        let force = point.normal_force * contact.normal + point.friction_force;
        let (x, n) = (point.position, contact.normal);
        let mut row = vec![frame.to_string(), exact(world.time()), left];
        row.extend([name(contact.a), name(contact.b)]);
        row.extend([x.x, x.y, x.z, n.x, n.y, n.z].map(exact));
        row.extend([point.separation, point.normal_force, force.x, force.y, force.z].map(exact));
        row
    };
    points.iter().enumerate().map(row).collect::<Vec<_>>().into_iter()
}

/// The first frame that does not have all its rows, if there is one; frames without contacts have none. Rows go
/// out before those of `stats.csv`, which tells how many frames there are.
pub fn whole_frames(path: &Path) -> Result<u32, RunError> {
    if !path.exists() {
        return Ok(0);
    }
    let mut last = None;
    scan(path, |frame, _, row| {
        let left = row.get(2).and_then(|text| text.parse::<usize>().ok());
        last = frame.zip(left);
        true
    })?;
    Ok(match last {
        Some((frame, left)) if left > 0 => frame,
        _ => u32::MAX,
    })
}
