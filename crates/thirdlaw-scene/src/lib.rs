//! Scene files: text in TOML becomes a world, with errors that point at their place.
//!
//! A scene passes four stages, one module each: `node` reads text into a tree that knows its
//! places and applies overrides; `check` compares the tree with [`mod@format`], the description of all
//! keys, and evaluates expressions; `build` makes shapes and bodies; [`expect`] watches whether a
//! run keeps what the scene promises; [`coupled`] shares it among simulators. [`schema()`] prints the same description for editors.

mod build;
mod builtin;
mod check;
pub mod coupled;
pub mod error;
pub mod expect;
mod expression;
pub mod format;
pub mod generate;
pub mod mesh;
pub mod names;
mod node;
mod reference;
mod schema;
mod urdf;

pub use builtin::{Builtin, builtin, find_builtin, nearest_builtin};
pub use coupled::{Coupled, Partition, SimulatorKind};
pub use error::{SceneError, SceneErrors};
pub use expect::{CouplingFrame, ExpectTracker, Expectation, FrameStats, Verdict};
pub use reference::reference;
pub use schema::schema;

use std::path::Path;
use thirdlaw::math::{Pose, Vec3};
use thirdlaw::{BodyId, ClothId, EmitterId, JointId, PointId, Side, World};

/// A scene ready to run.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Name of a built-in scene, or stem of a file.
    pub name: String,
    /// What it shows, in a line.
    pub title: String,
    /// TOML as read.
    pub text: String,
    /// Overrides as given: path and value.
    pub overrides: Vec<(String, String)>,
    /// Of text and overrides.
    pub hash: u64,
    /// At its start.
    pub world: World,
    /// In the order they were added.
    pub bodies: Vec<SceneBody>,
    /// Cloths and soft bodies, in the order they were added.
    pub cloths: Vec<SceneCloth>,
    /// In the order they were added.
    pub points: Vec<ScenePoint>,
    /// In the order they were added.
    pub joints: Vec<SceneJoint>,
    /// In the order they were added.
    pub emitters: Vec<SceneEmitter>,
    /// What of the scene's files is not simulated as it stands there; for people.
    pub notes: Vec<String>,
    /// Frames per second.
    pub fps: f64,
    /// How many frames.
    pub frames: u32,
    /// Steps in each frame.
    pub steps_per_frame: u32,
    /// What must come true.
    pub expect: Vec<Expectation>,
    /// Where pictures are taken from.
    pub camera: Option<CameraSpec>,
    /// How the scene is shared among simulators; without it one world holds everything. Where it is
    /// given, `world` shows all of them and is not stepped itself.
    pub partition: Option<Partition>,
}

impl Scene {
    /// Length of a step, s.
    pub fn dt(&self) -> f64 {
        1.0 / (self.fps * f64::from(self.steps_per_frame))
    }
}

/// A body of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneBody {
    /// Its name; copies are `name.0`, `name.1`, …
    pub name: String,
    /// Its id in the world.
    pub id: BodyId,
    /// Red, green, blue, 0 to 1.
    pub color: Option<[f32; 3]>,
    /// Which table it came from: `[bodies]` first, then `[generate]`, `[cloths]`, `[soft_bodies]`, `[points]`, `[urdf]`,
    /// `[joints]` and `[emitters]`, in their order.
    pub object: usize,
}

/// A point mass of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenePoint {
    /// Its name; copies are `name.0`, `name.1`, …
    pub name: String,
    /// Its id in the world.
    pub id: PointId,
    /// Red, green, blue, 0 to 1.
    pub color: Option<[f32; 3]>,
    /// Of the ball that stands for it in pictures, m.
    pub radius: f64,
    /// Which table it came from, counted as for bodies.
    pub object: usize,
}

/// An emitter of particles of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneEmitter {
    /// Its name.
    pub name: String,
    /// Its id in the world.
    pub id: EmitterId,
    /// Red, green, blue, 0 to 1.
    pub color: Option<[f32; 3]>,
    /// Of its particles, m.
    pub radius: f64,
    /// Which table it came from, counted as for bodies.
    pub object: usize,
}

/// A joint of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneJoint {
    /// Its name; those of chains and copies are `name.0`, `name.1`, …
    pub name: String,
    /// Its id in the world.
    pub id: JointId,
    /// Red, green, blue, 0 to 1; of what is drawn of it.
    pub color: Option<[f32; 3]>,
    /// What it joins.
    pub sides: [Side; 2],
    /// Its frames, each in that of its side.
    pub frames: [Pose; 2],
    /// Which table it came from, counted as for bodies.
    pub object: usize,
}

/// A cloth or a soft body of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneCloth {
    /// Its name; copies are `name.0`, `name.1`, …
    pub name: String,
    /// Its id in the world.
    pub id: ClothId,
    /// Red, green, blue, 0 to 1.
    pub color: Option<[f32; 3]>,
    /// Which table it came from, counted on after those of the bodies.
    pub object: usize,
    /// Whether it is a soft body.
    pub soft: bool,
    /// The surface that it was filled from: what is seen of it.
    pub skin: Option<std::sync::Arc<thirdlaw::Skin>>,
}

/// Where pictures are taken from.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraSpec {
    /// Where it stands, m.
    pub eye: Vec3,
    /// What it looks at, m.
    pub target: Vec3,
    /// Vertical field of view, degrees.
    pub fov: f64,
    /// Its path in the order of time; empty: it stands still.
    pub keys: Vec<CameraKey>,
}

/// A moment of a camera's path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraKey {
    /// s.
    pub time: f64,
    /// Where it stands then, m.
    pub eye: Vec3,
    /// What it looks at then, m.
    pub target: Vec3,
}

impl CameraSpec {
    /// Eye and target at a time, moving straight from key to key.
    pub fn at(&self, time: f64) -> (Vec3, Vec3) {
        let next = self.keys.partition_point(|k| k.time <= time);
        let (before, after) =
            (next.checked_sub(1).and_then(|i| self.keys.get(i)), self.keys.get(next));
        match (before, after) {
            (Some(a), Some(b)) => {
                let s = (time - a.time) / (b.time - a.time);
                (a.eye + s * (b.eye - a.eye), a.target + s * (b.target - a.target))
            }
            (Some(key), None) | (None, Some(key)) => (key.eye, key.target),
            (None, None) => (self.eye, self.target),
        }
    }
}

/// Reads and builds a scene. `base` is the folder in which mesh files are looked up (`None` for
/// built-in scenes); overrides are dotted paths and values, checked like the file.
pub fn load(
    name: &str,
    text: &str,
    base: Option<&Path>,
    overrides: &[(String, String)],
) -> Result<Scene, SceneErrors> {
    let written: Vec<String> = overrides.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let refuse = |mut errors: Vec<SceneError>| {
        errors.sort_by_key(|e| (e.source, e.span.start));
        let (name, text) = (name.to_string(), text.to_string());
        SceneErrors { name, text, overrides: written.clone(), errors }
    };
    let root = checked(text, overrides, &written).map_err(refuse)?;
    let Some(table) = root.table() else { return Err(refuse(Vec::new())) };
    let built = build::build(table, base).map_err(refuse)?;
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    let stem = if base.is_some() { stem.rsplit(['/', '\\']).next().unwrap_or(stem) } else { stem };
    Ok(Scene {
        name: stem.to_string(),
        title: built.title,
        text: text.to_string(),
        overrides: overrides.to_vec(),
        hash: hash(text, &written),
        world: built.world,
        bodies: built.bodies,
        cloths: built.cloths,
        points: built.points,
        joints: built.joints,
        emitters: built.emitters,
        notes: built.notes,
        fps: built.timing.fps,
        frames: built.timing.frames,
        steps_per_frame: built.timing.steps_per_frame,
        expect: built.expect,
        camera: built.camera,
        partition: built.partition.map(|partition| Partition { source: name.into(), ..partition }),
    })
}

/// Text and overrides as a checked tree.
fn checked(
    text: &str,
    overrides: &[(String, String)],
    written: &[String],
) -> Result<node::Node, Vec<SceneError>> {
    let mut root = node::parse(text)?;
    let mut errors = Vec::new();
    for (i, (path, value)) in overrides.iter().enumerate() {
        if let Err(e) = node::apply_override(&mut root, i, path, value) {
            errors.extend(e);
        }
    }
    errors.extend(check::check_scene(&mut root, text, written));
    if errors.is_empty() { Ok(root) } else { Err(errors) }
}

/// FNV-1a over text and overrides, with a mark between them.
fn hash(text: &str, overrides: &[String]) -> u64 {
    let parts = std::iter::once(text).chain(overrides.iter().map(String::as_str));
    let bytes = parts.flat_map(|part| part.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
