//! Materials by name, with overrides.

use super::Builder;
use crate::check::color_from_hex;
use crate::node::{Node, Table, Value};
use thirdlaw::{Combine, Material};

/// A material with what only scenes know of.
#[derive(Clone, Copy, Debug)]
pub struct SceneMaterial {
    pub surface: Material,
    pub density: Option<f64>,
    pub color: Option<[f32; 3]>,
}

/// Materials may stand on each other this deep.
const DEPTH: usize = 16;

impl Builder<'_> {
    /// A body's material: a name, a table of overrides, or nothing.
    pub fn material(&mut self, node: Option<&Node>) -> SceneMaterial {
        self.material_at(node, 0)
    }

    fn material_at(&mut self, node: Option<&Node>, depth: usize) -> SceneMaterial {
        let plain = SceneMaterial { surface: Material::default(), density: None, color: None };
        let Some(node) = node else { return plain };
        if depth == DEPTH {
            self.error(&node.place, "this material is based on itself, or on too many others");
            return plain;
        }
        match &node.value {
            Value::Text(name) => {
                let root = self.root;
                let named = root.named("materials").iter().find(|e| e.key == *name);
                self.material_at(named.map(|e| &e.node), depth + 1)
            }
            Value::Table(table) => {
                let mut material = self.material_at(table.get("base"), depth + 1);
                override_material(&mut material, table);
                material
            }
            _ => plain,
        }
    }
}

fn override_material(material: &mut SceneMaterial, table: &Table) {
    let surface = &mut material.surface;
    surface.friction = table.number("friction").unwrap_or(surface.friction);
    surface.restitution = table.number("restitution").unwrap_or(surface.restitution);
    surface.static_friction = table.number("static_friction").or(surface.static_friction);
    put(&mut surface.rolling_friction, table.number("rolling_friction"));
    put(&mut surface.torsional_friction, table.number("torsional_friction"));
    put(&mut surface.surface_velocity, table.vector("surface_velocity"));
    surface.restitution_threshold =
        table.number("restitution_threshold").or(surface.restitution_threshold);
    surface.friction_combine =
        table.text("friction_combine").map_or(surface.friction_combine, combine);
    surface.restitution_combine =
        table.text("restitution_combine").map_or(surface.restitution_combine, combine);
    material.density = table.number("density").or(material.density);
    material.color = table.get("color").and_then(color).or(material.color);
}

fn put<T>(to: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *to = value;
    }
}

fn combine(name: &str) -> Combine {
    match name {
        "average" => Combine::Average,
        "multiply" => Combine::Multiply,
        "minimum" => Combine::Minimum,
        "maximum" => Combine::Maximum,
        _ => Combine::GeometricMean,
    }
}

/// A color that the checker let through.
pub fn color(node: &Node) -> Option<[f32; 3]> {
    match &node.value {
        Value::Text(text) => color_from_hex(text),
        _ => node.vector().map(|v| [v.x as f32, v.y as f32, v.z as f32]),
    }
}
