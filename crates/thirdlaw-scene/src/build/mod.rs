//! From a checked tree to a world.

mod body;
mod bones;
mod cloth;
mod copies;
mod emitter;
mod expectations;
mod generated;
mod joint;
mod joint_expectations;
mod joint_kind;
mod material;
mod mesh;
mod partition;
mod pins;
mod point;
mod robot;
mod robot_joint;
mod robot_shape;
mod settings;
mod shape;
mod sheet;
mod sides;
mod soft_body;

use crate::coupled::Partition;
use crate::error::{Place, SceneError};
use crate::expect::Expectation;
use crate::node::{Entry, Node, Table};
use crate::{CameraKey, CameraSpec, SceneBody, SceneCloth, SceneEmitter, SceneJoint, ScenePoint};
use std::collections::HashMap;
use std::path::Path;
use thirdlaw::World;
use thirdlaw::math::{Quat, Vec3};

/// What a scene's tree becomes.
pub struct Built {
    pub title: String,
    pub world: World,
    pub bodies: Vec<SceneBody>,
    pub cloths: Vec<SceneCloth>,
    pub points: Vec<ScenePoint>,
    pub joints: Vec<SceneJoint>,
    pub emitters: Vec<SceneEmitter>,
    pub notes: Vec<String>,
    pub timing: settings::Timing,
    pub expect: Vec<Expectation>,
    pub camera: Option<CameraSpec>,
    pub partition: Option<Partition>,
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
    let mut builder = Builder {
        root,
        base,
        world,
        bodies: Vec::new(),
        cloths: Vec::new(),
        points: Vec::new(),
        joints: Vec::new(),
        emitters: Vec::new(),
        notes: Vec::new(),
        errors: Vec::new(),
    };
    builder.check_names();
    let (bodies, generators) = (root.named("bodies"), root.named("generate"));
    for (object, entry) in bodies.iter().chain(generators).enumerate() {
        let Some(table) = entry.node.table() else { continue };
        if object < bodies.len() {
            builder.add_bodies(entry, table, object);
        } else {
            builder.add_generated(entry, table, object);
        }
    }
    // after the bodies, since these may hold them; what is bound to others of its kind comes last
    let first = bodies.len() + generators.len();
    let mut object = first;
    for bound in [false, true] {
        object = first;
        for section in ["cloths", "soft_bodies", "points", "urdf"] {
            let has_pins = ["cloths", "soft_bodies"].contains(&section);
            for entry in root.named(section) {
                object += 1;
                let Some(table) = entry.node.table() else { continue };
                if (has_pins && pins::is_bound(table)) != bound {
                    continue;
                }
                match section {
                    "cloths" => builder.add_cloths(entry, table, object - 1),
                    "soft_bodies" => builder.add_soft_bodies(entry, table, object - 1),
                    "points" => builder.add_points(entry, table, object - 1),
                    _ => builder.add_robot(entry, table, object - 1),
                }
            }
        }
    }
    builder.add_joints(object);
    object += root.named("joints").len();
    for (i, entry) in root.named("emitters").iter().enumerate() {
        if let Some(table) = entry.node.table() {
            builder.add_emitter(entry, table, object + i);
        }
    }
    let expect = builder.expectations(&timing);
    let partition = builder.partition();
    let Builder { world, bodies, cloths, points, joints, emitters, notes, errors, .. } = builder;
    if !errors.is_empty() {
        return Err(errors);
    }
    let title = root.text("title").unwrap_or_default().to_string();
    let camera = camera(root);
    Ok(Built {
        title,
        world,
        bodies,
        cloths,
        points,
        joints,
        emitters,
        notes,
        timing,
        expect,
        camera,
        partition,
    })
}

struct Builder<'a> {
    root: &'a Table,
    base: Option<&'a Path>,
    world: World,
    bodies: Vec<SceneBody>,
    cloths: Vec<SceneCloth>,
    points: Vec<ScenePoint>,
    joints: Vec<SceneJoint>,
    emitters: Vec<SceneEmitter>,
    notes: Vec<String>,
    errors: Vec<SceneError>,
}

/// Tables whose names share one space, since joints and readings name things by them.
const SECTIONS: [&str; 8] =
    ["bodies", "generate", "cloths", "soft_bodies", "points", "urdf", "joints", "emitters"];

impl Builder<'_> {
    fn error(&mut self, place: &Place, message: impl Into<String>) {
        self.errors.push(SceneError::new(place, message));
    }

    fn error_hint(&mut self, place: &Place, message: impl Into<String>, hint: &str) {
        self.errors.push(SceneError::new(place, message).hint(hint));
    }

    fn check_names(&mut self) {
        let mut known: HashMap<&str, &str> = HashMap::new();
        let root = self.root;
        for section in SECTIONS {
            for entry in root.named(section) {
                self.check_name(entry, section);
                if let Some(first) = known.insert(&entry.key, section) {
                    let name = &entry.key;
                    let message = format!("`{name}` is a name already ({first}.{name})");
                    self.error(&entry.key_place, message);
                }
            }
        }
    }

    pub(super) fn check_name(&mut self, entry: &Entry, section: &str) {
        let fits = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let is_fit = !entry.key.is_empty() && entry.key.chars().all(fits);
        let reserved = !matches!(section, "joints" | "simulators" | "couplings");
        if is_fit && !(entry.key == "world" && reserved) {
            return;
        }
        let what = match section {
            "cloths" => "a cloth",
            "soft_bodies" => "a soft body",
            "points" => "a point",
            "urdf" => "a robot",
            "joints" => "a joint",
            "emitters" => "an emitter",
            "simulators" => "a simulator",
            "couplings" => "a coupling",
            _ => "a body",
        };
        let message = format!("`{}` cannot be the name of {what}", entry.key);
        let hint = match is_fit {
            true => "joints hold on to the world by this name",
            false => "letters, digits, _ and -",
        };
        self.error_hint(&entry.key_place, message, hint);
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
