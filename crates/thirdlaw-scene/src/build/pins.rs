//! Pins of cloths and soft bodies: which vertices, and what holds them.

use super::Builder;
use crate::names::nearest;
use crate::node::{Node, Table, Value};
use std::collections::BTreeMap;
use thirdlaw::math::{Pose, Vec3};
use thirdlaw::{Bond, Hold, Keyframe, Keyframes, Pin};

/// What pins name vertices of.
pub struct PinMesh<'a> {
    /// m.
    pub positions: &'a [Vec3],
    /// Of the surface.
    pub triangles: &'a [[u32; 3]],
    /// Vertices by the name of their group.
    pub groups: &'a [(&'static str, Vec<u32>)],
}

/// What holds an object goes with its copy.
pub fn carry(pins: &mut [Pin], shift: Pose) {
    for pin in pins {
        match &mut pin.hold {
            Hold::Path(keys) => {
                for key in keys {
                    let moved = shift * Pose::from_parts(key.position, key.rotation);
                    (key.position, key.rotation) = (moved.translation, moved.rotation);
                }
            }
            Hold::Directions(axes) => axes.iter_mut().for_each(|a| *a = shift.rotation * *a),
            Hold::Place | Hold::Body(_) | Hold::Bond(_) => {}
        }
    }
}

/// Whether an object is bound to another cloth or soft body, which must be there before it.
pub fn is_bound(table: &Table) -> bool {
    let binds = |pin: &Table| pin.get("inside").or(pin.get("surface")).is_some();
    table.get("pins").is_some_and(|pins| {
        pins.table().is_some_and(binds) || pins.items().iter().filter_map(Node::table).any(binds)
    })
}

impl Builder<'_> {
    /// The pins of an object whose mesh is placed at `pose`.
    pub fn pins(&mut self, table: &Table, mesh: &PinMesh<'_>, pose: Pose) -> Vec<Pin> {
        let Some(node) = table.get("pins") else { return Vec::new() };
        match &node.value {
            Value::Text(name) => {
                let vertices = self.vertex_group(node, name, mesh);
                vertices.map(|vertices| Pin { vertices, hold: Hold::Place }).into_iter().collect()
            }
            Value::Table(pin) => self.pin(pin, mesh, pose).into_iter().collect(),
            _ => {
                let pins = node.items().iter().filter_map(Node::table);
                pins.filter_map(|pin| self.pin(pin, mesh, pose)).collect()
            }
        }
    }

    fn pin(&mut self, table: &Table, mesh: &PinMesh<'_>, pose: Pose) -> Option<Pin> {
        let positions = mesh.positions;
        let vertices: Vec<u32> = if let Some(node) = table.get("group") {
            self.vertex_group(node, node.text()?, mesh)?
        } else if let Some(node) = table.get("vertices") {
            node.numbers().iter().map(|&i| i as u32).collect()
        } else if let Some(points) = table.get("nearest") {
            let points = points.items().iter().filter_map(Node::vector);
            points.filter_map(|point| nearest_vertex(positions, point)).collect()
        } else {
            let node = table.get("box")?;
            let (low, high) = (node.table()?.vector("min")?, node.table()?.vector("max")?);
            let inside = |p: &Vec3| p.cmpge(low).all() && p.cmple(high).all();
            let found: Vec<u32> =
                (0..).zip(positions).filter(|(_, p)| inside(p)).map(|(i, _)| i).collect();
            if found.is_empty() {
                self.error(&node.place, "no vertex of the mesh is in this box");
                return None;
            }
            found
        };
        let hold = if let Some(path) = table.table("keyframes") {
            let keys = self.keys(path, pose);
            let smooth = path.flag("smooth").unwrap_or(false);
            Hold::Path(if smooth { eased(keys) } else { keys })
        } else if let Some(bond) = self.bond(table)? {
            match table.number("stiffness") {
                Some(k) => Hold::Bond(bond.soft(k, table.number("damping").unwrap_or(0.0))),
                None => Hold::Bond(bond),
            }
        } else if let Some(node) = table.get("directions") {
            Hold::Directions(node.items().iter().filter_map(Node::vector).collect())
        } else {
            Hold::Place
        };
        Some(Pin { vertices, hold })
    }

    /// What a pin binds to, if it binds; none where that is not there.
    fn bond(&mut self, table: &Table) -> Option<Option<Bond>> {
        if let Some(node) = table.get("body") {
            let name = node.text()?;
            if let Some(body) = self.bodies.iter().find(|b| b.name == name) {
                return Some(Some(Bond::body(body.id)));
            }
            let names = self.bodies.iter().map(|b| b.name.as_str()).take(10_000);
            let hint = match nearest(name, names) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "the names of bodies stand under [bodies] and [generate]".into(),
            };
            self.error_hint(&node.place, format!("there is no body \"{name}\""), &hint);
            return None;
        }
        let named = ["inside", "surface"].map(|key| table.get(key));
        let ([Some(node), _] | [_, Some(node)]) = named else { return Some(None) };
        let name = node.text()?;
        let Some(object) = self.cloths.iter().find(|c| c.name == name) else {
            let names = self.cloths.iter().map(|c| c.name.as_str()).take(10_000);
            let hint = match nearest(name, names) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => {
                    "it stands under [cloths] or [soft_bodies], before what is bound to it".into()
                }
            };
            let message = format!("there is no cloth or soft body \"{name}\"");
            self.error_hint(&node.place, message, &hint);
            return None;
        };
        let inside = named[0].is_some();
        Some(Some(if inside { Bond::inside(object.id) } else { Bond::surface(object.id) }))
    }

    fn vertex_group(&mut self, node: &Node, name: &str, mesh: &PinMesh<'_>) -> Option<Vec<u32>> {
        match name {
            "all" => return Some((0..mesh.positions.len() as u32).collect()),
            "border" => return Some(border(mesh.triangles)),
            _ => {}
        }
        if let Some((_, vertices)) = mesh.groups.iter().find(|(group, _)| *group == name) {
            return Some(vertices.clone());
        }
        let names = || ["all", "border"].into_iter().chain(mesh.groups.iter().map(|g| g.0));
        let hint = match nearest(name, names()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("this mesh has {}", names().collect::<Vec<_>>().join(", ")),
        };
        self.error_hint(&node.place, format!("this mesh has no vertices \"{name}\""), &hint);
        None
    }
}

/// The same path with short straight pieces that ease in and out of every key.
fn eased(keys: Vec<Keyframe>) -> Vec<Keyframe> {
    const PIECES: u32 = 32;
    let path = Keyframes { keys, repeat: false, smooth: true };
    let Some(&last) = path.keys.last() else { return path.keys };
    let mut fine = Vec::new();
    for pair in path.keys.windows(2) {
        let span = pair[1].time - pair[0].time;
        for i in 0..PIECES {
            let time = pair[0].time + span * f64::from(i) / f64::from(PIECES);
            let pose = path.pose_at(time).unwrap_or(Pose::IDENTITY);
            fine.push(Keyframe { time, position: pose.translation, rotation: pose.rotation });
        }
    }
    fine.push(last);
    fine
}

/// The first of those that are nearest.
fn nearest_vertex(positions: &[Vec3], point: Vec3) -> Option<u32> {
    let distance = |p: &Vec3| p.distance_squared(point);
    (0..).zip(positions).min_by(|a, b| distance(a.1).total_cmp(&distance(b.1))).map(|(i, _)| i)
}

/// Vertices of edges that only one triangle has, in order.
fn border(triangles: &[[u32; 3]]) -> Vec<u32> {
    let mut edges: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    for &[a, b, c] in triangles {
        for [i, j] in [[a, b], [b, c], [c, a]] {
            *edges.entry([i.min(j), i.max(j)]).or_default() += 1;
        }
    }
    let mut found: Vec<u32> =
        edges.iter().filter(|(_, count)| **count == 1).flat_map(|(edge, _)| *edge).collect();
    found.sort_unstable();
    found.dedup();
    found
}
