//! Where deformable objects come near solids and each other, as flat records that any scheme can turn
//! into filters, springs or rows.
//!
//! A [`DeformableContact`] is geometry (a [`Hit`]: particles with weights against a body, or against
//! other particles, normal, distance) with what the two surfaces are made of: how far they keep apart
//! and how they rub. Which of them push is for the scheme to find out.

use super::features::PART_BITS;
use super::{Hit, NO_BODY, ParticleScratch, Particles, Solid, Tree, vertex_solid};
use crate::math::Vec3;
use crate::model::body::{Combine, Material};
use crate::model::deformable::model::Sheet;
use crate::shape::{Convex, Geometry, Shape};
use crate::state::cloth::HitKind;
use std::sync::Arc;

/// How far triangles may sag into a convex solid between particles that touch it, m.
const SAG: f64 = 1e-3;

/// A place where a deformable object is near a solid, itself or another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeformableContact {
    /// Who, where, and how far apart without thickness.
    pub hit: Hit,
    /// Distance that the two keep, m: the gap is the hit's distance less this.
    pub apart: f64,
    /// Coulomb's μ between the two.
    pub friction: f64,
}

/// A solid that is near.
#[derive(Clone, Copy, Debug)]
pub struct Obstacle<'a> {
    /// Its surface, placed.
    pub solid: Solid<'a>,
    /// What it is made of.
    pub material: &'a Material,
    /// Whether the deformable objects can move it.
    pub movable: bool,
}

/// What is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// All deformable objects.
    pub sheet: &'a Arc<Sheet>,
    /// Solids near them, in order of slots.
    pub obstacles: &'a [Obstacle<'a>],
    /// Whether the deformable surfaces count as smooth.
    pub smooth: bool,
}

/// Finds contacts; keeps its memory, and boxes around the triangles of a sheet, from call to call.
#[derive(Debug, Default)]
pub struct Detector {
    /// What the last call found.
    pub found: Vec<DeformableContact>,
    /// How deep vertices and triangles were found in solids since the last call of
    /// [`Detector::vertices`], m.
    pub depth: f64,
    /// Boxes of the triangles and edges of `sheet`.
    tree: Tree,
    sheet: Option<Arc<Sheet>>,
    reach: Vec<f64>,
    /// Half the thickness; negative where a particle does not collide with its like.
    radius: Vec<f64>,
    /// Where particles go on to, but for what all have in common.
    ahead: Vec<Vec3>,
    hits: Vec<Hit>,
    particles: ParticleScratch,
}

impl Detector {
    /// Vertices at `x`, on their way to `ahead`, that come near solids.
    pub fn vertices(&mut self, around: &Surroundings, x: &[Vec3], ahead: &[Vec3]) {
        let Surroundings { sheet, obstacles, .. } = *around;
        self.found.clear();
        self.depth = 0.0;
        if obstacles.is_empty() {
            return;
        }
        self.reach.clear();
        for (i, x1) in ahead.iter().enumerate() {
            let travel = (*x1 - x[i]).length();
            let reach = 2.0 * sheet.elements.skin[i] + travel.max(0.25 * sheet.edge_length);
            self.reach.push(reach);
        }
        for (particle, _) in &sheet.pins {
            self.reach[*particle as usize] = -1.0;
        }
        let solids: Vec<Solid> = obstacles.iter().map(|o| o.solid).collect();
        let particles = Particles { x, reach: &self.reach, groups: &sheet.groups };
        vertex_solid(&particles, &solids, &mut self.particles, &mut self.hits);
        // what is pinned does not touch, but the triangles around it do
        for (particle, _) in &sheet.pins {
            let i = *particle as usize;
            self.reach[i] = 2.0 * sheet.elements.skin[i] + 0.25 * sheet.edge_length;
        }
        for hit in &self.hits {
            self.depth = self.depth.max(-hit.distance);
            let i = hit.particles[0] as usize;
            let mut apart = sheet.elements.skin[i];
            let Some(obstacle) = obstacle(obstacles, hit.body) else { continue };
            if let Some(depth) = sagging(obstacle.solid.shape, sheet.edge_length)
                && !obstacle.movable
            {
                // what may sag stays outside
                apart = apart.max(sheet.elements.radius[i] + depth.min(SAG));
            }
            let friction = friction(around, hit);
            self.found.push(DeformableContact { hit: *hit, apart, friction });
        }
    }

    /// Corners, edges and round parts of solids near the insides of triangles at `x`, as far around
    /// vertices as [`Detector::vertices`] looked.
    pub fn features(&mut self, around: &Surroundings, x: &[Vec3]) {
        let Surroundings { sheet, obstacles, .. } = *around;
        self.found.clear();
        if !self.sheet.as_ref().is_some_and(|known| Arc::ptr_eq(known, sheet)) {
            let elements = &sheet.elements;
            self.tree = Tree::new(&elements.rest, &elements.triangles, &elements.edges);
            self.sheet = Some(sheet.clone());
        }
        // A body that moves would drop by as much as is left out when it comes from a triangle to a
        // particle, so nothing is.
        for (movable, sag) in [(false, SAG), (true, 0.0)] {
            let wanted =
                |o: &&Obstacle| o.movable == movable && sags(o.solid.shape, sheet.edge_length);
            let near: Vec<Solid> = obstacles.iter().filter(wanted).map(|o| o.solid).collect();
            if near.is_empty() {
                continue;
            }
            let particles = Particles { x, reach: &self.reach, groups: &sheet.groups };
            self.tree.near_solids(&particles, &near, sag, &mut self.hits);
            let deepest = self.hits.iter().fold(0.0, |d: f64, hit| d.max(-hit.distance));
            self.depth = self.depth.max(deepest);
            self.record(around);
        }
    }

    /// How deep triangles at `x` are in solids, m.
    pub fn depth_of_triangles(&mut self, around: &Surroundings, x: &[Vec3]) -> f64 {
        let Surroundings { sheet, obstacles, .. } = *around;
        let wanted = |o: &&Obstacle| sags(o.solid.shape, sheet.edge_length);
        let near: Vec<Solid> = obstacles.iter().filter(wanted).map(|o| o.solid).collect();
        if near.is_empty() {
            return 0.0;
        }
        for (reach, skin) in self.reach.iter_mut().zip(&sheet.elements.skin) {
            *reach = reach.min(*skin);
        }
        let particles = Particles { x, reach: &self.reach, groups: &sheet.groups };
        self.tree.near_solids(&particles, &near, SAG, &mut self.hits);
        self.hits.iter().fold(0.0, |d, hit| d.max(-hit.distance))
    }

    /// Surfaces at `x`, moving at `v` for `h` seconds, that come near each other.
    pub fn layers(&mut self, around: &Surroundings, x: &[Vec3], v: &[Vec3], h: f64) {
        let sheet = around.sheet;
        self.radius.clear();
        let owners = sheet.elements.owner.iter().zip(&sheet.elements.radius);
        let shy = |owner: u32| sheet.shy[owner as usize];
        self.radius.extend(owners.map(|(&owner, &r)| if shy(owner) { -1.0 } else { r }));
        let mean = v.iter().sum::<Vec3>() / v.len() as f64;
        let spread = v.iter().map(|v| (*v - mean).length_squared()).fold(0.0, f64::max).sqrt();
        let margin = (2.0 * h * spread).min(0.2 * sheet.edge_length);
        self.ahead.clear();
        self.ahead.extend(x.iter().zip(v).map(|(x, v)| *x + h * (*v - mean)));
        self.tree.proximity((x, &self.ahead), &self.radius, margin, &mut self.hits);
        self.hits.retain(|hit| !sheet.binds(hit.used()));
        self.found.clear();
        self.record(around);
    }

    /// Surfaces that would pass through each other on the way from `x0` to `x1`.
    pub fn crossings(&mut self, around: &Surroundings, x0: &[Vec3], x1: &[Vec3]) {
        self.tree.crossings(x0, x1, &mut self.hits);
        let radius = &self.radius;
        self.hits.retain(|hit| {
            hit.used().iter().all(|&i| radius[i as usize] >= 0.0) && !around.sheet.binds(hit.used())
        });
        self.found.clear();
        self.record(around);
    }

    /// The tree of all surfaces, and half the thickness at each particle as [`Detector::layers`] left it, m;
    /// negative where everything may pass.
    pub fn surfaces(&mut self) -> (&mut Tree, &[f64]) {
        (&mut self.tree, &self.radius)
    }

    /// Makes records of all hits.
    fn record(&mut self, around: &Surroundings) {
        for hit in &self.hits {
            let apart = apart(around.sheet, hit);
            let friction = friction(around, hit);
            self.found.push(DeformableContact { hit: *hit, apart, friction });
        }
    }
}

/// Distance that triangles and edges keep, m.
fn apart(sheet: &Sheet, hit: &Hit) -> f64 {
    let used = (0..usize::from(hit.count)).map(|k| (hit.particles[k] as usize, hit.weights[k]));
    if hit.body != NO_BODY {
        // as far as particles, or a body would climb when it comes from a triangle to a corner
        return used.map(|(i, _)| sheet.elements.skin[i]).fold(0.0, f64::max);
    }
    // thickness on both sides
    let (mut plus, mut minus) = (0.0_f64, 0.0_f64);
    for (i, w) in used {
        let side = if w > 0.0 { &mut plus } else { &mut minus };
        *side = side.max(sheet.elements.radius[i]);
    }
    plus + minus
}

/// μ between the two surfaces of a hit.
fn friction(around: &Surroundings, hit: &Hit) -> f64 {
    let surface = around.sheet.elements.surface(hit.particles[0]);
    let own = if around.smooth { 0.0 } else { surface.friction };
    match obstacle(around.obstacles, hit.body) {
        Some(Obstacle { material, solid, .. }) => {
            let [.., last] = hit.feature;
            let of_particle = hit.kind == HitKind::VertexSolid;
            let index = if of_particle { last } else { last >> PART_BITS };
            let material = solid.material_at(index, !of_particle).unwrap_or(material);
            material.friction_combine.apply(material.friction, Combine::GeometricMean, own)
        }
        None => own,
    }
}

fn obstacle<'a>(obstacles: &'a [Obstacle<'a>], slot: u32) -> Option<&'a Obstacle<'a>> {
    let found = obstacles.binary_search_by_key(&slot, |o| o.solid.slot).ok()?;
    obstacles.get(found)
}

/// How far surfaces with edges of this length sag into a round solid between particles that touch it,
/// m.
fn sagging(shape: &Shape, edge_length: f64) -> Option<f64> {
    let longest = 1.5 * edge_length;
    match shape.geometry() {
        Geometry::Convex(Convex::Sphere { radius } | Convex::Capsule { radius, .. }) => {
            Some(longest * longest / (8.0 * radius))
        }
        Geometry::Convex(Convex::Rounded(rounded)) => {
            Some(longest * longest / (8.0 * rounded.radius))
        }
        _ => None,
    }
}

/// Whether surfaces with edges of this length may sag too far into a solid: fine cloth on a large ball
/// hardly does.
fn sags(shape: &Shape, edge_length: f64) -> bool {
    match shape.geometry() {
        Geometry::Convex(Convex::HalfSpace { .. }) => false,
        _ => sagging(shape, edge_length).is_none_or(|depth| depth > SAG),
    }
}
