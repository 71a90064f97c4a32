//! A whole world as bytes: model, state, settings, user data, and what was asked for the next step.
//!
//! Restored into an empty process it has the same hash and goes on with the same bits. What is code (the
//! user's own constraints, force fields, laws of solids, hooks of contacts, shapes) cannot be written; its name is, and it is attached
//! again by name. What a world only remembers for speed, what it was asked ([`World::cast_ray`]) and who
//! listens ([`World::listen`]) are not written.
//!
//! ```
//! use thirdlaw::prelude::*;
//! let mut world = World::new(Settings::default())?;
//! let ball = world.add_body(Body::dynamic(Shape::sphere(0.5)?).at(0.0, 3.0, 0.0))?;
//! let _report = world.step(1.0 / 60.0)?;
//! let bytes = world.to_bytes();
//! let mut again = World::from_bytes(&bytes, &Attachments::default())?;
//! assert_eq!((again.hash(), again.pose(ball)?), (world.hash(), world.pose(ball)?));
//! # let _ = (again.step(1.0 / 60.0)?, world.step(1.0 / 60.0)?);
//! # assert_eq!(again.hash(), world.hash());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::World;
use super::step_inputs::DropPush;
use crate::energy::Energies;
use crate::energy::solid::{EnergyDensity, SolidLaw};
use crate::ids::AnyId;
use crate::math::Vec3;
use crate::model::body::model::BodyModel;
use crate::model::contact_hook::ContactHook;
use crate::model::deformable::model::{DeformableModel, Sheet};
use crate::model::emitter::Emitter;
use crate::model::emitter::field::ForceField;
use crate::model::emitter::model::EmitterModel;
use crate::model::joint::constraint::Constraint;
use crate::model::joint::model::{JointModel, Node};
use crate::model::point::PointModel;
use crate::model::settings::Settings;
use crate::model::{ConstraintModel, Model};
use crate::shape::{ConvexSurface, Shape};
use crate::state::State;
use crate::state::snapshot::checksum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"3rdworld";
/// Rises whenever anything that is written comes, goes or changes.
const VERSION: u32 = 4;
const HEADER: usize = 8 + 4 + 8 + 8;

/// The user's own code, by the names under which it was written.
#[derive(Clone, Debug, Default)]
pub struct Attachments {
    constraints: BTreeMap<String, Arc<dyn Constraint>>,
    fields: BTreeMap<String, Arc<dyn ForceField>>,
    laws: BTreeMap<String, Arc<dyn EnergyDensity>>,
    hooks: BTreeMap<String, Arc<dyn ContactHook>>,
    shapes: BTreeMap<String, Arc<dyn ConvexSurface>>,
}

impl Attachments {
    /// With a constraint under its own name.
    pub fn constraint(mut self, constraint: Arc<dyn Constraint>) -> Self {
        self.constraints.insert(constraint.name(), constraint);
        self
    }

    /// With a force field under its own name.
    pub fn field(mut self, field: Arc<dyn ForceField>) -> Self {
        self.fields.insert(field.name(), field);
        self
    }

    /// With a hook of contacts under its own name.
    pub fn hook(mut self, hook: Arc<dyn ContactHook>) -> Self {
        self.hooks.insert(hook.name(), hook);
        self
    }

    /// With a shape of the user's own under its own name.
    pub fn shape(mut self, shape: Arc<dyn ConvexSurface>) -> Self {
        self.shapes.insert(shape.name(), shape);
        self
    }

    /// With a law of solids under its own name.
    pub fn law(mut self, law: Arc<dyn EnergyDensity>) -> Self {
        self.laws.insert(law.name(), law);
        self
    }

    pub(super) fn constraint_of(&self, name: &str) -> Result<Arc<dyn Constraint>, LoadError> {
        self.constraints.get(name).cloned().ok_or_else(|| missing("constraint", name))
    }

    pub(super) fn field_of(&self, name: &str) -> Result<Arc<dyn ForceField>, LoadError> {
        self.fields.get(name).cloned().ok_or_else(|| missing("force field", name))
    }

    pub(super) fn hook_of(&self, name: &str) -> Result<Arc<dyn ContactHook>, LoadError> {
        self.hooks.get(name).cloned().ok_or_else(|| missing("contact hook", name))
    }

    /// A shape was read as a name.
    pub(super) fn attach_shape(&self, shape: &mut Shape) -> Result<(), LoadError> {
        shape.attach(&self.shapes).map_err(|name| missing("shape", &name))
    }

    /// Laws were read as names.
    pub(super) fn attach_laws(&self, energies: &mut Energies) -> Result<(), LoadError> {
        for material in &mut energies.tetrahedra.materials {
            if let SolidLaw::Custom(law) = &mut material.law {
                let name = law.name();
                *law = self.laws.get(&name).cloned().ok_or_else(|| missing("law", &name))?;
            }
        }
        Ok(())
    }
}

/// Bytes that are no world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// They are not a world, or are cut short or damaged.
    Damaged(&'static str),
    /// Written by another version of the format.
    Version {
        /// Version found.
        found: u32,
        /// Version understood.
        expected: u32,
    },
    /// Whole, but not laid out as this version writes worlds.
    Layout,
    /// Code that the world needs was not attached.
    Missing {
        /// "constraint", "force field", "law", "contact hook" or "shape".
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// What was attached by name differs from what was there when the world was written.
    OtherCode,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Damaged(what) => write!(f, "the world is damaged: {what}"),
            LoadError::Version { found, expected } => {
                write!(f, "the world has format {found}, this version reads format {expected}")
            }
            LoadError::Layout => write!(f, "the world is whole, but another version wrote it"),
            LoadError::Missing { what, name } => {
                write!(f, "the world needs the {what} `{name}`; attach it")
            }
            LoadError::OtherCode => {
                write!(
                    f,
                    "an attached constraint, field, law, hook or shape is not the one that was written"
                )
            }
        }
    }
}

impl std::error::Error for LoadError {}

/// What is written. Shapes that bodies share stay shared.
#[derive(Serialize, Deserialize)]
struct Written {
    settings: Settings,
    shapes: Vec<Shape>,
    bodies: Vec<(BodyModel, u32)>,
    free: [Vec<u32>; 6],
    points: Vec<PointModel>,
    joints: Vec<JointModel>,
    constraints: Vec<(u32, Option<String>, Vec<Node>)>,
    cloths: Vec<DeformableModel>,
    emitters: Vec<(bool, u32, Emitter)>,
    field: Option<String>,
    contact_hook: Option<String>,
    revision: u64,
    fingerprint: u64,
    state: State,
    user_data: Vec<(AnyId, u128)>,
    vertex_pushes: Vec<(u32, Vec3)>,
    drop_pushes: Vec<DropPush>,
}

impl World {
    /// Everything, for a file or another process: versioned and with a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = postcard::to_stdvec(&self.written()).unwrap_or_default();
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&checksum(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    /// Reads what [`World::to_bytes`] wrote; the user's own code is attached by name.
    pub fn from_bytes(bytes: &[u8], code: &Attachments) -> Result<World, LoadError> {
        let short = LoadError::Damaged("it is cut short");
        let (header, body) = bytes.split_at_checked(HEADER).ok_or(short.clone())?;
        let number = |at: usize, count: usize| -> u64 {
            header[at..at + count].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
        };
        if &header[..8] != MAGIC {
            return Err(LoadError::Damaged("it does not begin like a world"));
        }
        let found = number(8, 4) as u32;
        if found != VERSION {
            return Err(LoadError::Version { found, expected: VERSION });
        }
        if number(12, 8) != body.len() as u64 {
            return Err(short);
        }
        if number(20, 8) != checksum(body) {
            return Err(LoadError::Damaged("its checksum is wrong"));
        }
        match postcard::take_from_bytes::<Written>(body) {
            Ok((written, [])) => written.world(code),
            _ => Err(LoadError::Layout),
        }
    }

    fn written(&self) -> Written {
        let model: &Model = &self.model;
        let mut shapes: Vec<Shape> = Vec::new();
        let mut known: BTreeMap<usize, u32> = BTreeMap::new();
        let mut bodies = Vec::with_capacity(model.bodies.len());
        for body in &model.bodies {
            // the address only finds what is shared; numbers follow the order of bodies
            let place = *known.entry(body.shape.address()).or_insert_with(|| {
                shapes.push(body.shape.clone());
                shapes.len() as u32 - 1
            });
            bodies.push((body.clone(), place));
        }
        let constraints = model.constraints.iter();
        Written {
            settings: self.settings,
            shapes,
            bodies,
            free: [
                model.free.clone(),
                model.points_free.clone(),
                model.joints_free.clone(),
                model.constraints_free.clone(),
                model.free_cloths.clone(),
                model.emitters_free.clone(),
            ],
            points: model.points.clone(),
            joints: model.joints.clone(),
            constraints: constraints
                .map(|c| (c.generation, c.constraint.as_ref().map(|c| c.name()), c.nodes.clone()))
                .collect(),
            cloths: model.cloths.clone(),
            emitters: model
                .emitters
                .iter()
                .map(|e| (e.alive, e.generation, e.emitter.clone()))
                .collect(),
            field: model.field.as_ref().map(|field| field.name()),
            contact_hook: model.contact_hook.as_ref().map(|hook| hook.name()),
            revision: model.revision,
            fingerprint: model.fingerprint(),
            state: State::clone(&self.state),
            user_data: self.user_data.iter().map(|(&id, &data)| (id, data)).collect(),
            vertex_pushes: self.ports.inputs.vertex_pushes.clone(),
            drop_pushes: self.ports.inputs.drop_pushes.clone(),
        }
    }
}

fn missing(what: &'static str, name: &str) -> LoadError {
    LoadError::Missing { what, name: name.into() }
}

impl Written {
    fn world(self, code: &Attachments) -> Result<World, LoadError> {
        let mut world = World::new(self.settings).map_err(|_| LoadError::Layout)?;
        let mut model = Model { revision: self.revision, ..Model::default() };
        let mut shapes = self.shapes;
        for shape in &mut shapes {
            code.attach_shape(shape)?;
        }
        for (mut body, shape) in self.bodies {
            body.shape = shapes.get(shape as usize).ok_or(LoadError::Layout)?.clone();
            for part in &mut body.parts {
                for shape in [&mut part.shape, &mut part.part.shape] {
                    code.attach_shape(shape)?;
                }
            }
            model.bodies.push(body);
        }
        let free = self.free;
        [
            model.free,
            model.points_free,
            model.joints_free,
            model.constraints_free,
            model.free_cloths,
            model.emitters_free,
        ] = free;
        (model.points, model.joints) = (self.points, self.joints);
        for (generation, name, nodes) in self.constraints {
            let constraint = name.map(|name| code.constraint_of(&name)).transpose()?;
            model.constraints.push(ConstraintModel { generation, constraint, nodes });
        }
        for mut cloth in self.cloths {
            attach_laws(&mut cloth, code)?;
            model.cloths.push(cloth);
        }
        for (alive, generation, emitter) in self.emitters {
            let built = EmitterModel::build(emitter, generation).map_err(|_| LoadError::Layout)?;
            model.emitters.push(EmitterModel { alive, ..built });
        }
        if let Some(name) = self.field {
            model.field = Some(code.field_of(&name)?);
        }
        if let Some(name) = self.contact_hook {
            model.contact_hook = Some(code.hook_of(&name)?);
        }
        model.sheet = Arc::new(Sheet::build(&mut model.cloths));
        if model.fingerprint() != self.fingerprint {
            return Err(LoadError::OtherCode);
        }
        if !self.state.fits(&model) {
            return Err(LoadError::Damaged("it names bodies or contacts that cannot be"));
        }
        (*world.model, *world.state) = (model, self.state);
        world.user_data = self.user_data.into_iter().collect();
        world.ports.inputs.vertex_pushes = self.vertex_pushes;
        world.ports.inputs.drop_pushes = self.drop_pushes;
        Ok(world)
    }
}

/// Laws were read as names.
fn attach_laws(object: &mut DeformableModel, code: &Attachments) -> Result<(), LoadError> {
    let own = |law: &SolidLaw| matches!(law, SolidLaw::Custom(_));
    if !object.elements.energies.tetrahedra.materials.iter().any(|m| own(&m.law)) {
        return Ok(());
    }
    code.attach_laws(&mut Arc::make_mut(&mut object.elements).energies)
}
