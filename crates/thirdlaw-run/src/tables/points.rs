//! `points.csv`: where the vertices of every cloth are, m.

use crate::stats::exact;
use thirdlaw::World;
use thirdlaw_scene::{Scene, SceneCloth};

/// The columns of `points.csv`.
pub const COLUMNS: [&str; 7] = ["frame", "time", "object", "index", "x", "y", "z"];

/// The rows of one frame, a vertex each.
pub fn rows(frame: u32, world: &World, cloths: &[SceneCloth]) -> impl Iterator<Item = [String; 7]> {
    let time = exact(world.time());
    cloths.iter().flat_map(move |cloth| {
        let time = time.clone();
        let vertices = world.vertices(cloth.id).unwrap_or_default();
        vertices.iter().enumerate().map(move |(i, p)| {
            let [x, y, z] = p.to_array().map(exact);
            [frame.to_string(), time.clone(), cloth.name.clone(), i.to_string(), x, y, z]
        })
    })
}

/// Rows of a frame.
pub fn count(scene: &Scene) -> usize {
    let vertices = |cloth: &SceneCloth| scene.world.vertices(cloth.id).map_or(0, <[_]>::len);
    scene.cloths.iter().map(vertices).sum()
}
