//! The constant part of cloth in a world.

use super::elements::Elements;
use super::{Cloth, ClothError, Fabric, Hold};
use crate::body::{Groups, Keyframes};
use crate::energy::assemble::Layout;
use crate::ids::BodyId;
use crate::math::{Mat3, Quat, Vec3};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// The constant part of one cloth.
#[derive(Clone, Debug)]
pub struct ClothModel {
    /// Whether the slot is in use.
    pub alive: bool,
    /// How often the slot had been used before.
    pub generation: u32,
    /// First of its particles in the world's array.
    pub first: u32,
    /// Its elements, numbered from 0.
    pub elements: Arc<Elements>,
    /// Which bodies it may touch.
    pub groups: Groups,
    /// Whether it collides with itself and other cloths.
    pub self_collision: bool,
    /// Factor on gravity.
    pub gravity_scale: f64,
    /// Vertices that are held, in order, each once.
    pub pins: Vec<PinnedVertex>,
}

/// A vertex that is held.
#[derive(Clone, Debug, PartialEq)]
pub struct PinnedVertex {
    /// Which, of its cloth.
    pub vertex: u32,
    /// By what.
    pub hold: PinHold,
}

/// What holds a vertex.
#[derive(Clone, Debug, PartialEq)]
pub enum PinHold {
    /// A place in the world.
    Place(Vec3),
    /// A place in a frame that follows keyframes.
    Path {
        /// The path.
        motion: Arc<Keyframes>,
        /// Place in that frame.
        local: Vec3,
    },
    /// A place on a body.
    Body {
        /// Which; once it is removed, the vertex is free.
        body: BodyId,
        /// Place in the body's own frame, from its centre of mass.
        local: Vec3,
    },
    /// The projector onto the free directions.
    Directions(Mat3),
}

/// All cloths of a world, strung together as a step wants them.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Elements with indices into the world's particles.
    pub elements: Elements,
    /// Rows of the system, laid out when a step first asks for them.
    layout: OnceLock<Layout>,
    /// Which bodies each particle may touch.
    pub groups: Vec<Groups>,
    /// Factor on gravity of each particle.
    pub gravity_scale: Vec<f64>,
    /// Whether any cloth collides with cloth.
    pub self_collision: bool,
    /// Which of the cloths, in their order, do not collide with cloth.
    pub shy: Vec<bool>,
    /// Held particles, in order.
    pub pins: Vec<(u32, PinHold)>,
    /// Mean length of an edge at rest, m.
    pub edge_length: f64,
}

/// Centre of mass and orientation of the bodies that pins may name.
pub type Frames<'a> = dyn Fn(BodyId) -> Option<(Vec3, Quat)> + 'a;

impl ClothModel {
    /// Checks a description and derives the constant part of a cloth from it.
    pub fn build(
        cloth: &Cloth,
        bodies: &Frames<'_>,
        generation: u32,
    ) -> Result<ClothModel, ClothError> {
        let value = |field, problem: String| ClothError::Value { field, problem };
        cloth.fabric.check().map_err(|(field, problem)| value(field, problem))?;
        if !(cloth.velocity.is_finite() && cloth.velocity.length() < 1e6) {
            return Err(value("velocity", format!("must be finite, not {}", cloth.velocity)));
        }
        if !cloth.gravity_scale.is_finite() {
            let problem = format!("must be finite, not {}", cloth.gravity_scale);
            return Err(value("gravity_scale", problem));
        }
        let elements = Elements::build(&cloth.mesh, &cloth.fabric)?;
        Ok(ClothModel {
            alive: true,
            generation,
            first: 0,
            elements: Arc::new(elements),
            groups: cloth.groups,
            self_collision: cloth.self_collision,
            gravity_scale: cloth.gravity_scale,
            pins: pins(cloth, bodies)?,
        })
    }

    /// Number of its vertices.
    pub fn count(&self) -> usize {
        self.elements.mass.len()
    }

    /// Its vertices in the world's array of particles.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.count()
    }

    /// What it is made of.
    pub fn fabric(&self) -> &Fabric {
        &self.elements.fabrics[0]
    }

    /// Corners of its triangles, by vertex.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + '_ {
        self.elements.triangles.iter().copied()
    }

    /// Feeds everything that defines the cloth to `hasher`.
    pub fn fingerprint(&self, hasher: &mut crate::state::BitHasher) {
        self.alive.hash(hasher);
        self.generation.hash(hasher);
        if !self.alive {
            return;
        }
        self.elements.energies.fingerprint(hasher);
        for x in self.elements.mass.iter().chain([&self.gravity_scale]) {
            hasher.write_u64(x.to_bits());
        }
        let plain = (self.fabric(), self.groups, self.self_collision);
        if let Ok(bytes) = postcard::to_stdvec(&plain) {
            hasher.write(&bytes);
        }
        for pin in &self.pins {
            pin.vertex.hash(hasher);
            let bytes = match &pin.hold {
                PinHold::Place(at) => postcard::to_stdvec(&(0_u8, at)),
                PinHold::Path { motion, local } => postcard::to_stdvec(&(1_u8, &**motion, local)),
                PinHold::Body { body, local } => postcard::to_stdvec(&(2_u8, body, local)),
                PinHold::Directions(free) => postcard::to_stdvec(&(3_u8, free)),
            };
            if let Ok(bytes) = bytes {
                hasher.write(&bytes);
            }
        }
    }
}

/// One entry per held vertex; where pins name a vertex twice, the last one counts.
fn pins(cloth: &Cloth, bodies: &Frames<'_>) -> Result<Vec<PinnedVertex>, ClothError> {
    let value = |problem: String| ClothError::Value { field: "pins", problem };
    let mut found = std::collections::BTreeMap::new();
    for pin in &cloth.pins {
        let motion = match &pin.hold {
            Hold::Path(keys) => Some(Arc::new(path(keys)?)),
            _ => None,
        };
        for &vertex in &pin.vertices {
            let Some(&at) = cloth.mesh.positions.get(vertex as usize) else {
                let count = cloth.mesh.positions.len();
                return Err(value(format!("vertex {vertex} is not one of the {count} vertices")));
            };
            let hold = match (&pin.hold, &motion) {
                (Hold::Path(_), Some(motion)) => {
                    let first = motion.keys[0];
                    let local = first.rotation.conjugate() * (at - first.position);
                    PinHold::Path { motion: motion.clone(), local }
                }
                (Hold::Body(body), _) => {
                    let (center, rotation) = bodies(*body).ok_or(ClothError::NoSuchBody(*body))?;
                    PinHold::Body { body: *body, local: rotation.conjugate() * (at - center) }
                }
                (Hold::Directions(axes), _) => PinHold::Directions(free_directions(axes)?),
                _ => PinHold::Place(at),
            };
            found.insert(vertex, hold);
        }
    }
    Ok(found.into_iter().map(|(vertex, hold)| PinnedVertex { vertex, hold }).collect())
}

fn path(keys: &[crate::body::Keyframe]) -> Result<Keyframes, ClothError> {
    let value = |problem: String| ClothError::Value { field: "pins.path", problem };
    if keys.is_empty() {
        return Err(value("needs at least one key".into()));
    }
    for (i, key) in keys.iter().enumerate() {
        let unit = (key.rotation.length() - 1.0).abs() < 1e-3;
        if !(key.time.is_finite() && key.position.is_finite() && unit) {
            return Err(value(format!("key {i} must be finite, with a unit quaternion")));
        }
        if i > 0 && key.time <= keys[i - 1].time {
            return Err(value(format!("the times must increase, but key {i} does not")));
        }
    }
    let keys = keys.iter().map(|k| k.normalized()).collect();
    Ok(Keyframes { keys, ..Keyframes::default() })
}

/// S for one to three held directions.
fn free_directions(axes: &[Vec3]) -> Result<Mat3, ClothError> {
    let mut free = Mat3::IDENTITY;
    for axis in axes {
        let left = free * *axis;
        let Some(unit) = left.try_normalize().filter(|_| left.length() > 1e-6 * axis.length())
        else {
            return Err(ClothError::Value {
                field: "pins.directions",
                problem: format!("must be finite and independent; {axis} is not"),
            });
        };
        free -= crate::math::outer(unit, unit);
    }
    Ok(free)
}

impl Sheet {
    /// Strings the living cloths together and gives each its first particle.
    pub fn build(cloths: &mut [ClothModel]) -> Sheet {
        let mut sheet = Sheet::default();
        for cloth in cloths.iter_mut().filter(|c| c.alive) {
            cloth.first = sheet.elements.mass.len() as u32;
            sheet.elements.append(&cloth.elements);
            sheet.groups.extend(std::iter::repeat_n(cloth.groups, cloth.count()));
            sheet.gravity_scale.extend(std::iter::repeat_n(cloth.gravity_scale, cloth.count()));
            let first = cloth.first;
            sheet.pins.extend(cloth.pins.iter().map(|p| (p.vertex + first, p.hold.clone())));
            sheet.self_collision |= cloth.self_collision;
            sheet.shy.push(!cloth.self_collision);
        }
        let threads = &sheet.elements.threads;
        let total: f64 = threads.iter().map(|t| t.1).sum();
        sheet.edge_length = total / threads.len().max(1) as f64;
        sheet
    }

    /// Rows of the system.
    pub fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| Layout::new(&self.elements.energies, self.elements.mass.len()))
    }

    /// Stiffness of the stiffest element over a step of `h` seconds, relative to its mass.
    pub fn stiffness_ratio(&self, h: f64) -> f64 {
        self.elements.energies.stiffness_ratio(h, self.edge_length)
    }

    /// Whether there is no cloth.
    pub fn is_empty(&self) -> bool {
        self.elements.mass.is_empty()
    }
}
