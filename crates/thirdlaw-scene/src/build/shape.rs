//! Shapes from their tables.

use super::Builder;
use crate::error::Place;
use crate::generate::chain::Link;
use crate::generate::chess::ChessPiece;
use crate::generate::terrain::Terrain;
use crate::generate::torus::torus;
use crate::node::{Node, Table};
use thirdlaw::Shape;
use thirdlaw::math::{Pose, Vec3};
use thirdlaw::shape::{Decomposition, ShapeError};

impl Builder<'_> {
    /// The shape of a checked table; `None` after an error was reported.
    pub fn shape(&mut self, node: &Node) -> Option<Shape> {
        let entry = node.table()?.entries.first()?;
        let table = entry.node.table()?;
        let place = &entry.node.place;
        let number = |key: &str| table.number(key).unwrap_or(0.0);
        let made = match entry.key.as_str() {
            "box" => Shape::cuboid(0.5 * table.vector("size").unwrap_or_default()),
            "sphere" => Shape::sphere(number("radius")),
            "capsule" => Shape::capsule(0.5 * number("length"), number("radius")),
            "cylinder" => Shape::cylinder(0.5 * number("height"), number("radius")),
            "cone" => Shape::cone(0.5 * number("height"), number("radius")),
            "half_space" => Shape::half_space(table.vector("normal").unwrap_or(Vec3::Y)),
            "hull" => {
                let points: Vec<Vec3> =
                    table.items("points").iter().filter_map(Node::vector).collect();
                Shape::convex_hull(&points)
            }
            "mesh" => {
                let surface = self.surface(&entry.node)?;
                Shape::mesh(&surface.vertices, &surface.triangles)
            }
            "decompose" => {
                let surface = self.surface(&entry.node)?;
                let mut cut = Decomposition::default();
                cut.concavity = table.number("concavity").unwrap_or(cut.concavity);
                cut.resolution = table.count("resolution").unwrap_or(cut.resolution);
                cut.parts_max = table.count("parts_max").unwrap_or(cut.parts_max);
                Shape::decompose(&surface.vertices, &surface.triangles, &cut)
            }
            "height_field" => return self.height_field(&entry.node),
            "compound" => return self.compound(&entry.node),
            "terrain" => terrain(table).shape(),
            "torus" => {
                let (radius, tube) = (number("radius"), number("tube"));
                if tube >= radius {
                    let message = format!("a tube of radius {tube} fills a ring of {radius}");
                    self.error(place, message);
                    return None;
                }
                torus(radius, tube, table.count("segments").unwrap_or(24))
            }
            "chain_link" => {
                let link = link(table);
                if let Some(problem) = link.problem() {
                    self.error(place, problem);
                    return None;
                }
                link.shape()
            }
            "chess_piece" => {
                let piece = table.text("piece").and_then(ChessPiece::from_name)?;
                piece.shape(table.number("king_height").unwrap_or(0.95))
            }
            _ => return None,
        };
        self.shape_or_error(made, place)
    }

    /// Reports an engine's refusal of a shape.
    pub fn shape_or_error<T>(&mut self, made: Result<T, ShapeError>, place: &Place) -> Option<T> {
        made.map_err(|e| self.error(place, e.to_string())).ok()
    }

    fn height_field(&mut self, node: &Node) -> Option<Shape> {
        let table = node.table()?;
        let rows = table.items("heights");
        let columns = rows.first().map_or(0, |r| r.items().len());
        let mut heights = Vec::new();
        for row in rows {
            let numbers = row.numbers();
            if numbers.len() != columns {
                let message =
                    format!("this row has {} heights, the first has {columns}", numbers.len());
                self.error(&row.place, message);
                return None;
            }
            heights.extend(numbers);
        }
        let size = table.get("size").map(Node::numbers).unwrap_or_default();
        let (x, z) = (size.first().copied()?, size.get(1).copied()?);
        let made = Shape::height_field(rows.len(), columns, &heights, Vec3::new(x, 1.0, z));
        self.shape_or_error(made, &node.place)
    }

    fn compound(&mut self, node: &Node) -> Option<Shape> {
        let items = node.table()?.items("parts");
        let mut parts = Vec::new();
        for item in items {
            let part = item.table()?;
            let shape = part.get("shape").and_then(|n| self.shape(n))?;
            let rotation = part.get("rotation").map(|n| self.rotation(n)).unwrap_or_default();
            let position = part.vector("position").unwrap_or_default();
            parts.push((Pose::from_parts(position, rotation), shape));
        }
        let made = Shape::compound(&parts);
        let place = match made {
            Err(ShapeError::Part { index } | ShapeError::PartPose { index }) => {
                items.get(index).map_or(&node.place, |item| &item.place)
            }
            _ => &node.place,
        };
        self.shape_or_error(made, place)
    }
}

fn terrain(table: &Table) -> Terrain {
    let plain = Terrain::default();
    Terrain {
        size: table.number("size").unwrap_or(plain.size),
        cells: table.count("cells").unwrap_or(plain.cells),
        height: table.number("height").unwrap_or(plain.height),
        bowl: table.number("bowl").unwrap_or(plain.bowl),
    }
}

/// The numbers of a link, in a shape or in a chain.
pub fn link(table: &Table) -> Link {
    let plain = Link::default();
    Link {
        length: table.number("length").unwrap_or(plain.length),
        width: table.number("width").unwrap_or(plain.width),
        wire: table.number("wire").unwrap_or(plain.wire),
        segments: table.count("segments").unwrap_or(plain.segments),
    }
}
