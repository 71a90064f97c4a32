//! The constant part of deformable objects in a world.

pub use super::bonds::{Around, BoundTo, BoundVertex, Held};
use super::elements::Elements;
pub use super::pins::{PinHold, PinnedVertex, hold};
use super::{Deformable, DeformableError, bonds, pins};
use crate::energy::Energy;
use crate::energy::assemble::Layout;
use crate::energy::binding::BoundParticles;
use crate::energy::one_ring::OneRings;
use crate::ids::{BodyId, DeformableId};
use crate::math::Vec3;
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
    /// Whether it keeps the volume around every vertex.
    pub incompressible: bool,
    /// Vertices that are held, in order, each once.
    pub pins: Vec<PinnedVertex>,
    /// Vertices that springs bind, in order, each once.
    pub bonds: Vec<BoundVertex>,
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
    /// Particles that springs bind to bodies, in order.
    pub body_bonds: Vec<BodyBond>,
    /// Bound particles and the objects (in their order) that they are bound to, in order.
    pub bound: Vec<(u32, u32)>,
    /// Mean length of an edge at rest, m.
    pub edge_length: f64,
    /// Of what is incompressible.
    pub rings: OneRings,
}

/// A particle that a spring binds to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyBond {
    /// Which particle.
    pub particle: u32,
    /// Which body; once it is removed, the particle is free.
    pub body: BodyId,
    /// Place in the body's own frame, from its centre of mass.
    pub local: Vec3,
    /// The spring.
    pub spring: super::BondSpring,
}

impl DeformableModel {
    /// Checks a description and derives the constant part of an object from it.
    pub fn build(
        deformable: &Deformable,
        around: &Around<'_>,
        generation: u32,
    ) -> Result<DeformableModel, DeformableError> {
        let (pins, bonds) = pins::pins(deformable, around)?;
        Ok(DeformableModel {
            alive: true,
            generation,
            first: 0,
            elements: Arc::new(Elements::build(deformable)?),
            groups: deformable.groups,
            self_collision: deformable.self_collision,
            gravity_scale: deformable.gravity_scale,
            incompressible: deformable.incompressible,
            pins,
            bonds,
            fabric: deformable.weave.as_ref().map(|weave| weave.fabric),
        })
    }

    /// Holds a vertex in another way than so far, or lets it go. Whether springs have changed by that.
    pub fn set_hold(&mut self, vertex: u32, held: Option<Held>) -> bool {
        let bonds = self.bonds.len();
        self.pins.retain(|pin| pin.vertex != vertex);
        self.bonds.retain(|bond| bond.vertex != vertex);
        let freed = self.bonds.len() != bonds;
        match held {
            Some(Held::Pin(pin)) => {
                let at = self.pins.partition_point(|pin| pin.vertex < vertex);
                self.pins.insert(at, pin);
                freed
            }
            Some(Held::Bond(bond)) => {
                let at = self.bonds.partition_point(|bond| bond.vertex < vertex);
                self.bonds.insert(at, bond);
                true
            }
            None => freed,
        }
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
        if self.incompressible {
            hasher.write_u8(1);
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
        if !self.bonds.is_empty() {
            let bytes = postcard::to_stdvec(&self.bonds);
            bytes.iter().for_each(|bytes| hasher.write(bytes));
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
            sheet.self_collision |= object.self_collision && !object.elements.triangles.is_empty();
            sheet.shy.push(!object.self_collision);
        }
        let threads = &sheet.elements.threads;
        let total: f64 = threads.iter().map(|t| t.1).sum();
        sheet.edge_length = total / threads.len().max(1) as f64;
        sheet.collect_pins(objects);
        sheet.bind(objects);
        let living: Vec<&DeformableModel> = objects.iter().filter(|o| o.alive).collect();
        if living.iter().any(|object| object.incompressible) {
            let Elements { owner, energies, .. } = &sheet.elements;
            let kept = |nodes: &[u32; 4]| living[owner[nodes[0] as usize] as usize].incompressible;
            sheet.rings = OneRings::new(&energies.tetrahedra, kept);
        }
        sheet
    }

    /// Takes the held vertices of the living objects, which have their first particles.
    pub fn collect_pins(&mut self, objects: &[DeformableModel]) {
        self.pins.clear();
        for object in objects.iter().filter(|o| o.alive) {
            let pins = object.pins.iter().map(|p| (p.vertex + object.first, p.hold.clone()));
            self.pins.extend(pins);
        }
    }

    /// Springs of vertices bound to others, and to bodies.
    fn bind(&mut self, objects: &[DeformableModel]) {
        let frequency = |object: &DeformableModel| {
            let elements = &object.elements;
            let threads = &elements.threads;
            let total: f64 = threads.iter().map(|t| t.1).sum();
            let edge = total / threads.len().max(1) as f64;
            let frequency = elements.energies.stiffness_ratio(1.0, edge);
            if frequency.is_finite() { frequency } else { 0.0 }
        };
        let find = |id: DeformableId| {
            let found = objects.get(id.index as usize);
            found.filter(|o| o.alive && o.generation == id.generation)
        };
        let mut list = Vec::new();
        for object in objects.iter().filter(|o| o.alive) {
            for bound in &object.bonds {
                let particle = object.first + bound.vertex;
                match (bound.to, bound.spring) {
                    (BoundTo::Body { body, local }, Some(spring)) => {
                        self.body_bonds.push(BodyBond { particle, body, local, spring });
                    }
                    (BoundTo::Vertices { object: to, .. }, _) => {
                        let Some(other) = find(to) else { continue };
                        // nothing elastic: as stiff as a second of free fall is slow
                        let stiff = frequency(object).max(frequency(other)).max(1e4);
                        let first = (object.first, other.first);
                        list.extend(bonds::spring(bound, first, &self.elements.mass, stiff));
                        let owner = self.elements.owner[other.first as usize];
                        self.bound.push((particle, owner));
                    }
                    _ => {}
                }
            }
        }
        // weights and stiffness were checked
        if let Ok(set) = BoundParticles::new(list) {
            self.elements.energies.bindings.append(&set, 0);
        }
    }

    /// Whether any of these particles is bound to the object of any other.
    pub fn binds(&self, particles: &[u32]) -> bool {
        !self.bound.is_empty()
            && particles.iter().any(|&a| {
                let to = |b: &u32| (a, self.elements.owner[*b as usize]);
                particles.iter().any(|b| self.bound.binary_search(&to(b)).is_ok())
            })
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
