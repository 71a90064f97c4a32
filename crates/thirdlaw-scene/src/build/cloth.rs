//! `[cloths.NAME]`: one description, one cloth or many copies.

use super::Builder;
use super::body::groups;
use super::material::color;
use super::pins::{PinMesh, carry};
use crate::SceneCloth;
use crate::error::Place;
use crate::node::{Entry, Node, Table, Value};
use thirdlaw::math::Pose;
use thirdlaw::{Bending, Cloth, ClothError, Fabric};

/// More cloths than this are a slip of the keyboard.
const CLOTHS_MAX: usize = 10_000;

impl Builder<'_> {
    /// Adds the cloth of a table, or all its copies.
    pub fn add_cloths(&mut self, entry: &Entry, table: &Table, object: usize) {
        let Some(sheet) = table.get("mesh").and_then(|node| self.sheet(node)) else { return };
        let rotation = table.get("rotation").map(|node| self.rotation(node)).unwrap_or_default();
        let pose = Pose::from_parts(table.vector("position").unwrap_or_default(), rotation);
        let pin_mesh = PinMesh {
            positions: &sheet.mesh.positions,
            triangles: &sheet.mesh.triangles,
            groups: &sheet.groups,
        };
        let pins = self.pins(table, &pin_mesh, pose);
        let mut cloth = Cloth::new(sheet.mesh).fabric(fabric(table));
        cloth.velocity = table.vector("velocity").unwrap_or_default();
        cloth.groups = groups(table);
        cloth.self_collision = table.flag("self_collision").unwrap_or(true);
        cloth.gravity_scale = table.number("gravity_scale").unwrap_or(1.0);
        cloth.pins = pins;
        let Some(copies) = table.get("copies") else {
            self.add_cloth(entry, table, object, entry.key.clone(), cloth.pose(pose));
            return;
        };
        for (i, copy) in self.copies(copies).into_iter().enumerate() {
            let mut next = cloth.clone();
            next.velocity = copy.velocity.unwrap_or(cloth.velocity);
            let placed =
                Pose::from_parts(pose.translation + copy.offset, copy.rotation * pose.rotation);
            // what holds a cloth goes with its copy
            carry(&mut next.pins, placed * pose.inverse());
            let name = format!("{}.{i}", entry.key);
            if !self.add_cloth(entry, table, object, name, next.pose(placed)) {
                return; // the others would fail alike
            }
        }
    }

    /// Adds a cloth to the world; an engine's refusal becomes an error at the key it is about.
    fn add_cloth(
        &mut self,
        entry: &Entry,
        table: &Table,
        object: usize,
        name: String,
        cloth: Cloth,
    ) -> bool {
        if self.cloths.len() >= CLOTHS_MAX {
            self.error(&entry.key_place, format!("a scene holds at most {CLOTHS_MAX} cloths"));
            return false;
        }
        match self.world.add_cloth(cloth) {
            Ok(id) => {
                let color = table.get("color").and_then(color);
                self.cloths.push(SceneCloth { name, id, color, object, soft: false, skin: None });
                true
            }
            Err(e) => {
                let place = place_of(entry, table, &e);
                self.error(&place, format!("cloth `{name}`: {e}"));
                false
            }
        }
    }
}

/// A preset by name, or a table of overrides.
fn fabric(table: &Table) -> Fabric {
    let Some(node) = table.get("fabric") else { return Fabric::default() };
    let Some(table) = node.table() else { return preset(node.text()) };
    let mut fabric = preset(table.text("preset"));
    let put = |target: &mut f64, key: &str| *target = table.number(key).unwrap_or(*target);
    put(&mut fabric.density, "density");
    put(&mut fabric.shear, "shear");
    put(&mut fabric.friction, "friction");
    put(&mut fabric.thickness, "thickness");
    put(&mut fabric.drag, "drag");
    put(&mut fabric.lift, "lift");
    put_all(&mut fabric.stretch, table.get("stretch"));
    put_all(&mut fabric.rest_scale, table.get("rest_scale"));
    put_all(&mut fabric.bend, table.get("bend"));
    put_all(&mut fabric.damping, table.get("damping"));
    match table.text("bending") {
        Some("hinge") => fabric.bending = Bending::Hinge,
        Some(_) => fabric.bending = Bending::Curvature,
        None => {}
    }
    fabric
}

fn preset(name: Option<&str>) -> Fabric {
    name.and_then(Fabric::preset).unwrap_or_default()
}

/// One number for all, or one for each.
fn put_all<const N: usize>(target: &mut [f64; N], node: Option<&Node>) {
    let Some(node) = node else { return };
    match node.value {
        Value::List(_) => target.iter_mut().zip(node.numbers()).for_each(|(t, x)| *t = x),
        _ => node.number().into_iter().for_each(|x| target.fill(x)),
    }
}

/// Where the user wrote what the engine refuses.
fn place_of(entry: &Entry, table: &Table, e: &ClothError) -> Place {
    let at = |table: &Table, key: &str| {
        table.entries.iter().find(|e| e.key == key).map(|e| e.node.place.clone())
    };
    let found = match e {
        ClothError::Value { field, .. } => {
            let (key, rest) = field.split_once('.').unwrap_or((field, ""));
            table.table(key).and_then(|inner| at(inner, rest)).or_else(|| at(table, key))
        }
        ClothError::NoSuchBody(_) => at(table, "pins"),
        _ => None,
    };
    found.or_else(|| at(table, "mesh")).unwrap_or_else(|| entry.key_place.clone())
}
