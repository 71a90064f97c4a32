//! From a checked tree to a world.

mod body;
mod cloth;
mod copies;
mod expectations;
mod generated;
mod material;
mod mesh;
mod pins;
mod settings;
mod shape;
mod sheet;

use crate::error::{Place, SceneError};
use crate::expect::Expectation;
use crate::node::{Entry, Node, Table};
use crate::{CameraKey, CameraSpec, SceneBody, SceneCloth};
use std::path::Path;
use thirdlaw::World;
use thirdlaw::math::{Quat, Vec3};

/// What a scene's tree becomes.
pub struct Built {
    pub title: String,
    pub world: World,
    pub bodies: Vec<SceneBody>,
    pub cloths: Vec<SceneCloth>,
    pub timing: settings::Timing,
    pub expect: Vec<Expectation>,
    pub camera: Option<CameraSpec>,
}

/// More bodies than this are a slip of the keyboard.
const BODIES_MAX: usize = 1_000_000;

/// Builds the world of a checked tree; `base` is where mesh files are looked up.
pub fn build(root: &Table, base: Option<&Path>) -> Result<Built, Vec<SceneError>> {
    let (settings, timing) = settings::read(root);
    let world = match World::new(settings) {
        Ok(world) => world,
        Err(e) => return Err(vec![settings::error(root, &e)]),
    };
    let mut builder =
        Builder { root, base, world, bodies: Vec::new(), cloths: Vec::new(), errors: Vec::new() };
    let (bodies, generators) = (root.named("bodies"), root.named("generate"));
    for (object, entry) in bodies.iter().chain(generators).enumerate() {
        builder.check_name(entry);
        if let Some(clash) =
            bodies.iter().take(object).find(|e| object >= bodies.len() && e.key == entry.key)
        {
            builder.error(
                &entry.key_place,
                format!("`{}` is the name of a body already (bodies.{})", entry.key, clash.key),
            );
        }
        let Some(table) = entry.node.table() else { continue };
        if object < bodies.len() {
            builder.add_bodies(entry, table, object);
        } else {
            builder.add_generated(entry, table, object);
        }
    }
    // after the bodies, since these may hold them
    let first = bodies.len() + generators.len();
    for (object, entry) in (first..).zip(root.named("cloths")) {
        builder.check_name(entry);
        let mut others = bodies.iter().chain(generators);
        if others.any(|e| e.key == entry.key) {
            let message = format!("`{}` is the name of a body already", entry.key);
            builder.error(&entry.key_place, message);
        }
        if let Some(table) = entry.node.table() {
            builder.add_cloths(entry, table, object);
        }
    }
    let expect = builder.expectations(&timing);
    let Builder { world, bodies, cloths, errors, .. } = builder;
    if !errors.is_empty() {
        return Err(errors);
    }
    let title = root.text("title").unwrap_or_default().to_string();
    Ok(Built { title, world, bodies, cloths, timing, expect, camera: camera(root) })
}

struct Builder<'a> {
    root: &'a Table,
    base: Option<&'a Path>,
    world: World,
    bodies: Vec<SceneBody>,
    cloths: Vec<SceneCloth>,
    errors: Vec<SceneError>,
}

impl Builder<'_> {
    fn error(&mut self, place: &Place, message: impl Into<String>) {
        self.errors.push(SceneError::new(place, message));
    }

    fn error_hint(&mut self, place: &Place, message: impl Into<String>, hint: &str) {
        self.errors.push(SceneError::new(place, message).hint(hint));
    }

    fn check_name(&mut self, entry: &Entry) {
        let fits = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        if entry.key.is_empty() || !entry.key.chars().all(fits) {
            let message = format!("`{}` cannot be the name of a body", entry.key);
            self.error_hint(&entry.key_place, message, "letters, digits, _ and -");
        }
    }

    /// Reads an orientation that the checker let through.
    fn rotation(&mut self, node: &Node) -> Quat {
        let Some(table) = node.table() else { return Quat::IDENTITY };
        if let Some(axis) = table.vector("axis") {
            let degrees = table.number("degrees").unwrap_or(0.0);
            match axis.try_normalize() {
                Some(axis) => return crate::generate::turn(axis, degrees.to_radians()),
                None => self.error(&node.place, "the axis of a rotation needs a direction"),
            }
        } else if let Some(angles) = table.vector("euler") {
            let about =
                |axis: Vec3, degrees: f64| crate::generate::turn(axis, degrees.to_radians());
            return about(Vec3::Z, angles.z) * about(Vec3::Y, angles.y) * about(Vec3::X, angles.x);
        } else if let Some([w, x, y, z]) =
            table.get("quaternion").map(Node::numbers).and_then(|q| <[f64; 4]>::try_from(q).ok())
        {
            let largest = w.abs().max(x.abs()).max(y.abs()).max(z.abs());
            if largest > 0.0 {
                return (Quat::from_xyzw(x, y, z, w) / largest).normalize();
            }
            self.error(&node.place, "a quaternion of zeros is no rotation");
        }
        Quat::IDENTITY
    }
}

fn camera(root: &Table) -> Option<CameraSpec> {
    let table = root.table("camera")?;
    let eye = table.vector("eye")?;
    let target = table.vector("target")?;
    let key = |node: &Node| {
        let key = node.table()?;
        Some(CameraKey {
            time: key.number("time")?,
            eye: key.vector("eye").unwrap_or(eye),
            target: key.vector("target").unwrap_or(target),
        })
    };
    let mut keys: Vec<CameraKey> = table.items("keyframes").iter().filter_map(key).collect();
    keys.sort_by(|a, b| a.time.total_cmp(&b.time));
    Some(CameraSpec { eye, target, fov: table.number("fov").unwrap_or(40.0), keys })
}
