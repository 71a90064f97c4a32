//! Copies of a body: in a grid, scattered, or listed.

use super::{BODIES_MAX, Builder};
use crate::error::Place;
use crate::generate::Random;
use crate::node::{Node, Table};
use thirdlaw::math::{Quat, Vec3};

/// One copy, relative to the body that is copied.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copy {
    /// In world axes, m.
    pub offset: Vec3,
    /// On top of the body's, in world axes.
    pub rotation: Quat,
    /// Instead of the body's, m/s.
    pub velocity: Option<Vec3>,
    /// Instead of the body's, rad/s.
    pub angular_velocity: Option<Vec3>,
}

impl Builder<'_> {
    /// All copies a table asks for.
    pub fn copies(&mut self, node: &Node) -> Vec<Copy> {
        let Some(table) = node.table() else { return Vec::new() };
        if let Some(grid_table) = table.table("grid") {
            if self.too_many(grid_table, &node.place) {
                return Vec::new();
            }
            return grid(grid_table);
        }
        if let Some(table) = table.table("scatter") {
            return scatter(table);
        }
        let mut copies = Vec::new();
        for copy in table.items("list").iter().filter_map(Node::table) {
            let rotation = copy.get("rotation").map(|node| self.rotation(node));
            copies.push(Copy {
                offset: copy.vector("position").unwrap_or_default(),
                rotation: rotation.unwrap_or_default(),
                velocity: copy.vector("velocity"),
                angular_velocity: copy.vector("angular_velocity"),
            });
        }
        copies
    }

    /// Refuses a grid larger than any scene.
    pub fn too_many(&mut self, grid: &Table, place: &Place) -> bool {
        let count = grid.vector("count").unwrap_or(Vec3::ONE);
        let too_many = count.x * count.y * count.z > BODIES_MAX as f64;
        if too_many {
            self.error(place, format!("a scene holds at most {BODIES_MAX} bodies"));
        }
        too_many
    }
}

/// Layer by layer (y), row by row (z), along x.
pub fn grid(table: &Table) -> Vec<Copy> {
    let count = table.vector("count").unwrap_or(Vec3::ONE);
    let spacing = table.vector("spacing").unwrap_or_default();
    let corner = match table.flag("center") {
        Some(true) => -0.5 * Vec3::new(count.x - 1.0, 0.0, count.z - 1.0) * spacing,
        _ => Vec3::ZERO,
    };
    let mut copies = Vec::new();
    for y in 0..count.y as u32 {
        for z in 0..count.z as u32 {
            for x in 0..count.x as u32 {
                let at = Vec3::new(f64::from(x), f64::from(y), f64::from(z));
                copies.push(Copy { offset: corner + at * spacing, ..Copy::default() });
            }
        }
    }
    copies
}

fn scatter(table: &Table) -> Vec<Copy> {
    let size = table.vector("size").unwrap_or_default();
    let mut random = Random::new(table.number("seed").unwrap_or(0.0) as u64);
    let turn = table.flag("turn").unwrap_or(false);
    let copy = |_| {
        let share = Vec3::new(random.unit(), random.unit(), random.unit());
        let rotation = if turn { random.orientation() } else { Quat::IDENTITY };
        Copy { offset: (share - 0.5) * size, rotation, ..Copy::default() }
    };
    (0..table.count("count").unwrap_or(0)).map(copy).collect()
}
