//! `[emitters.NAME]`: streams of particles.

use super::Builder;
use super::body::groups;
use super::material::color;
use crate::SceneEmitter;
use crate::error::Place;
use crate::names::nearest;
use crate::node::{Entry, Table};
use thirdlaw::math::{Pose, Quat, Vec3};
use thirdlaw::{BodyId, Emitter, EmitterError, Source};

impl Builder<'_> {
    /// Adds the emitter of a table.
    pub fn add_emitter(&mut self, entry: &Entry, table: &Table, object: usize) {
        let Some(source) = self.source(table) else { return };
        let Some(pose) = self.emitter_pose(table) else { return };
        let Ok(body) = self.carrier(table) else { return };
        let plain = Emitter::point(0.0, 1.0);
        let number = |key: &str, other: f64| table.number(key).unwrap_or(other);
        let mut emitter = Emitter {
            source,
            pose,
            body,
            rate: number("rate", 0.0),
            speed: number("speed", plain.speed),
            speed_spread: number("speed_spread", 0.0),
            spread: number("spread", 0.0).to_radians(),
            life: number("life", plain.life),
            life_spread: number("life_spread", 0.0),
            from: number("from", plain.from),
            until: number("until", plain.until),
            seed: number("seed", 0.0) as u64,
            mass: number("mass", plain.mass),
            radius: number("radius", plain.radius),
            drag: number("drag", 0.0),
            drag_quadratic: number("drag_quadratic", 0.0),
            wind: table.vector("wind"),
            gravity_scale: number("gravity_scale", 1.0),
            groups: groups(table),
            capacity: table.count("capacity"),
            ..plain
        };
        let material = self.material(table.get("material"));
        if table.get("material").is_some() {
            emitter.material = material.surface;
        }
        let color = table.get("color").and_then(color).or(material.color);
        let radius = emitter.radius;
        match self.world.add_emitter(emitter) {
            Ok(id) => {
                let name = entry.key.clone();
                self.emitters.push(SceneEmitter { name, id, color, radius, object });
            }
            Err(error) => {
                let place = place_of(entry, table, &error);
                self.error(&place, format!("emitter `{}`: {error}", entry.key));
            }
        }
    }

    fn source(&mut self, table: &Table) -> Option<Source> {
        let Some(source) = table.table("source") else { return Some(Source::Point) };
        if let Some(disc) = source.table("disc") {
            return Some(Source::Disc { radius: disc.number("radius").unwrap_or(0.0) });
        }
        match source.get("surface") {
            Some(shape) => self.shape(shape).map(Source::Surface),
            None => Some(Source::Point),
        }
    }

    fn emitter_pose(&mut self, table: &Table) -> Option<Pose> {
        let mut rotation =
            table.get("rotation").map(|node| self.rotation(node)).unwrap_or_default();
        if let Some(direction) = table.vector("direction") {
            let Some(direction) = direction.try_normalize() else {
                let place = table.get("direction")?.place.clone();
                self.error(&place, "a direction cannot be zero; up is [0, 1, 0]");
                return None;
            };
            rotation = Quat::from_rotation_arc(Vec3::Y, direction);
        }
        Some(Pose::from_parts(table.vector("position").unwrap_or_default(), rotation))
    }

    /// The body that carries the source; an error after one was reported.
    fn carrier(&mut self, table: &Table) -> Result<Option<BodyId>, ()> {
        let Some(node) = table.get("body") else { return Ok(None) };
        let name = node.text().unwrap_or_default();
        if let Some(body) = self.bodies.iter().find(|b| b.name == name) {
            return Ok(Some(body.id));
        }
        let names = self.bodies.iter().map(|b| b.name.as_str()).take(10_000);
        let hint = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "names stand under [bodies], [generate] and [urdf]".into(),
        };
        self.error_hint(&node.place.clone(), format!("there is no body `{name}`"), &hint);
        Err(())
    }
}

/// Where the user wrote what the engine refuses.
fn place_of(entry: &Entry, table: &Table, error: &EmitterError) -> Place {
    let field = match error {
        EmitterError::Value { field, .. } => *field,
        EmitterError::NoSuchBody(_) | EmitterError::Stale(_) => "body",
    };
    let keys: &[&str] = match field {
        "pose.translation" => &["position"],
        "pose.rotation" => &["rotation", "direction"],
        "capacity" => &["capacity", "life", "rate"],
        field if field.starts_with("material") => &["material"],
        field if field.starts_with("source") => &["source"],
        field => &[field],
    };
    let find = |key: &&str| table.entries.iter().find(|e| e.key == **key);
    keys.iter().find_map(find).map_or(&entry.key_place, |e| &e.node.place).clone()
}
