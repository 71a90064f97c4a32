//! `[points.NAME]`: free point masses.

use super::Builder;
use super::copies::grid;
use super::material::color;
use crate::ScenePoint;
use crate::node::{Entry, Table};
use thirdlaw::math::Vec3;
use thirdlaw::{BodyError, Point, PointError};

/// Radius of the ball that stands for a point in pictures, m.
const RADIUS: f64 = 0.05;

impl Builder<'_> {
    /// Adds the point of a table, or all its copies.
    pub fn add_points(&mut self, entry: &Entry, table: &Table, object: usize) {
        let mut point = Point::new(table.number("mass").unwrap_or(1.0), Vec3::ZERO);
        point.velocity = table.vector("velocity").unwrap_or_default();
        point.gravity_scale = table.number("gravity_scale").unwrap_or(1.0);
        let position = table.vector("position").unwrap_or_default();
        let Some(copies) = table.get("copies") else {
            point.position = position;
            self.add_point(entry, table, object, entry.key.clone(), point);
            return;
        };
        let Some(rows) = copies.table().and_then(|t| t.table("grid")) else { return };
        if self.too_many(rows, &copies.place) {
            return;
        }
        for (i, copy) in grid(rows).into_iter().enumerate() {
            point.position = position + copy.offset;
            if !self.add_point(entry, table, object, format!("{}.{i}", entry.key), point) {
                return;
            }
        }
    }

    fn add_point(
        &mut self,
        entry: &Entry,
        table: &Table,
        object: usize,
        name: String,
        point: Point,
    ) -> bool {
        match self.world.add_point(point) {
            Ok(id) => {
                let color = table.get("color").and_then(color);
                let radius = table.number("radius").unwrap_or(RADIUS);
                self.points.push(ScenePoint { name, id, color, radius, object });
                true
            }
            Err(error) => {
                let key = match &error {
                    PointError::Value(BodyError { field, .. }) => *field,
                    PointError::Stale(_) => "position",
                };
                let found = table.entries.iter().find(|e| e.key == key);
                let place = found.map_or(&entry.key_place, |e| &e.node.place).clone();
                self.error(&place, format!("point `{name}`: {error}"));
                false
            }
        }
    }
}
