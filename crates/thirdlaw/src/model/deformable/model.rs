//! The constant part of deformable objects in a world.

use super::elements::Elements;
pub use super::pins::{Frames, PinHold, PinnedVertex};
use super::{Deformable, DeformableError, pins};
use crate::energy::assemble::Layout;
use crate::model::body::Groups;
use crate::model::cloth::Fabric;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// The constant part of one object.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct DeformableModel {
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
    /// Whether it collides with itself and other objects.
    pub self_collision: bool,
    /// Factor on gravity.
    pub gravity_scale: f64,
    /// Vertices that are held, in order, each once.
    pub pins: Vec<PinnedVertex>,
    /// What it is made of, if it is a cloth.
    fabric: Option<Fabric>,
}

/// All deformable objects of a world, strung together as a step wants them.
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
    /// Whether any object collides with itself or others.
    pub self_collision: bool,
    /// Which of the objects, in their order, do not.
    pub shy: Vec<bool>,
    /// Held particles, in order.
    pub pins: Vec<(u32, PinHold)>,
    /// Mean length of an edge at rest, m.
    pub edge_length: f64,
}

impl DeformableModel {
    /// Checks a description and derives the constant part of an object from it.
    pub fn build(
        deformable: &Deformable,
        bodies: &Frames<'_>,
        generation: u32,
    ) -> Result<DeformableModel, DeformableError> {
        Ok(DeformableModel {
            alive: true,
            generation,
            first: 0,
            elements: Arc::new(Elements::build(deformable)?),
            groups: deformable.groups,
            self_collision: deformable.self_collision,
            gravity_scale: deformable.gravity_scale,
            pins: pins::pins(deformable, bodies)?,
            fabric: deformable.weave.as_ref().map(|weave| weave.fabric),
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

    /// Whether it was added as a cloth.
    pub fn is_cloth(&self) -> bool {
        self.fabric.is_some()
    }

    /// What a cloth is made of; of other objects, the default.
    pub fn fabric(&self) -> &Fabric {
        const DEFAULT: Fabric = Fabric::cotton();
        self.fabric.as_ref().unwrap_or(&DEFAULT)
    }

    /// Corners of the triangles of its surface, by vertex.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + '_ {
        self.elements.triangles.iter().copied()
    }

    /// Feeds everything that defines the object to `hasher`.
    pub fn fingerprint(&self, hasher: &mut crate::math::hash::BitHasher) {
        self.alive.hash(hasher);
        self.generation.hash(hasher);
        if !self.alive {
            return;
        }
        self.elements.energies.fingerprint(hasher);
        for x in self.elements.mass.iter().chain([&self.gravity_scale]) {
            hasher.write_u64(x.to_bits());
        }
        self.elements.triangles.hash(hasher);
        let plain = (&self.elements.surfaces, self.groups, self.self_collision);
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

impl Sheet {
    /// Strings the living objects together and gives each its first particle.
    pub fn build(objects: &mut [DeformableModel]) -> Sheet {
        let mut sheet = Sheet::default();
        for object in objects.iter_mut().filter(|o| o.alive) {
            object.first = sheet.elements.mass.len() as u32;
            sheet.elements.append(&object.elements);
            sheet.groups.extend(std::iter::repeat_n(object.groups, object.count()));
            sheet.gravity_scale.extend(std::iter::repeat_n(object.gravity_scale, object.count()));
            let first = object.first;
            sheet.pins.extend(object.pins.iter().map(|p| (p.vertex + first, p.hold.clone())));
            sheet.self_collision |= object.self_collision && !object.elements.triangles.is_empty();
            sheet.shy.push(!object.self_collision);
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

    /// Whether nothing deforms.
    pub fn is_empty(&self) -> bool {
        self.elements.mass.is_empty()
    }
}
