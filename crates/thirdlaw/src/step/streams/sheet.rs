//! Cloth triangles over a step, the world's own and those of other simulators. Corners move evenly from
//! where they were to where they are.

use super::advance::{Flight, Touch, blend, touch_triangle};
use super::grid::Bounds;
use crate::math::Vec3;
use crate::model::Model;
use crate::model::body::Groups;
use crate::state::particles::Particles;

/// Sheets of triangles that belong to other simulators. Their vertices are numbered behind those of
/// the world's own cloth, their triangles likewise.
#[derive(Clone, Debug, Default)]
pub struct Foreign {
    /// Corners, counted from the first foreign vertex.
    pub triangles: Vec<[u32; 3]>,
    /// Friction of each triangle.
    pub friction: Vec<f64>,
    /// Which sheet each vertex belongs to.
    pub sheet: Vec<u32>,
    /// Mass (kg) and half the thickness (m) of each vertex.
    pub mass: Vec<f64>,
    pub radius: Vec<f64>,
    /// Positions (m) and velocities (m/s) at the beginning and the end of the step.
    pub starts: [Vec<Vec3>; 2],
    pub ends: [Vec<Vec3>; 2],
    /// What particles struck each vertex with in the last step, N·s.
    pub struck: Vec<Vec3>,
}

/// The group of what belongs to other simulators: it touches everything but its like.
pub const FOREIGN: Groups = Groups { member: 1 << 31, collides: !(1 << 31) };

/// All cloth triangles over a step.
#[derive(Clone, Debug, Default)]
pub struct Cloths {
    /// Positions of all vertices at the beginning, m.
    x0: Vec<Vec3>,
    /// Velocities of all vertices at the beginning and at the end, m/s.
    v0: Vec<Vec3>,
    v1: Vec<Vec3>,
    /// Velocities over the step, m/s.
    shift: Vec<Vec3>,
    /// Corners of all triangles, and friction.
    triangles: Vec<[u32; 3]>,
    friction: Vec<f64>,
    /// Mass (kg), half the thickness (m) and groups of all vertices.
    mass: Vec<f64>,
    radius: Vec<f64>,
    groups: Vec<Groups>,
    /// Which cloth each vertex belongs to; those of others have numbers from the far end.
    cloth: Vec<u32>,
    pub bounds: Vec<Bounds>,
}

impl Cloths {
    /// Keeps what cloth is like before the step.
    pub fn before(&mut self, particles: &Particles) {
        self.x0.clone_from(&particles.x);
        self.v0.clone_from(&particles.v);
    }

    /// Takes in where it went in `dt` seconds, and what belongs to others; boxes get `margin`.
    pub fn gather(
        &mut self,
        model: &Model,
        particles: &Particles,
        foreign: &Foreign,
        dt: f64,
        margin: f64,
    ) {
        self.take_in(model, particles, foreign);
        self.shift.clear();
        let ends = particles.x.iter().chain(&foreign.ends[0]);
        self.shift.extend(ends.zip(&self.x0).map(|(b, a)| (*b - *a) / dt));
        self.bounds.clear();
        for triangle in &self.triangles {
            let far = Vec3::splat(f64::INFINITY);
            let (mut lo, mut hi) = (far, -far);
            for i in triangle.map(|i| i as usize) {
                let a = self.x0[i];
                let b = match i.checked_sub(particles.x.len()) {
                    Some(other) => foreign.ends[0][other],
                    None => particles.x[i],
                };
                lo = lo.min(a).min(b);
                hi = hi.max(a).max(b);
            }
            let margin = Vec3::splat(margin + self.radius[triangle[0] as usize]);
            self.bounds.push(Bounds { lo: lo - margin, hi: hi + margin });
        }
    }

    /// Strings own and foreign sheets together.
    fn take_in(&mut self, model: &Model, particles: &Particles, foreign: &Foreign) {
        let (sheet, own) = (&model.sheet, particles.x.len());
        self.x0.truncate(own);
        self.v0.truncate(own);
        self.x0.extend_from_slice(&foreign.starts[0]);
        self.v0.extend_from_slice(&foreign.starts[1]);
        self.v1.clone_from(&particles.v);
        self.v1.extend_from_slice(&foreign.ends[1]);
        self.triangles.clone_from(&sheet.elements.triangles);
        let shifted = |triangle: &[u32; 3]| triangle.map(|i| i + own as u32);
        self.triangles.extend(foreign.triangles.iter().map(shifted));
        let elements = &sheet.elements;
        let of = |triangle: &[u32; 3]| elements.surface(triangle[0]).friction;
        self.friction.clear();
        self.friction.extend(elements.triangles.iter().map(of));
        self.friction.extend_from_slice(&foreign.friction);
        self.mass.clone_from(&sheet.elements.mass);
        self.mass.extend_from_slice(&foreign.mass);
        self.radius.clone_from(&sheet.elements.radius);
        self.radius.extend_from_slice(&foreign.radius);
        self.groups.clone_from(&sheet.groups);
        self.groups.resize(own + foreign.mass.len(), FOREIGN);
        self.cloth.clone_from(&sheet.elements.owner);
        self.cloth.extend(foreign.sheet.iter().map(|sheet| u32::MAX - sheet));
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.mass.len()
    }

    /// Corners of a triangle.
    pub fn nodes(&self, triangle: u32) -> [u32; 3] {
        self.triangles[triangle as usize]
    }

    /// Which particles a triangle touches.
    pub fn groups(&self, nodes: [u32; 3]) -> Groups {
        self.groups[nodes[0] as usize]
    }

    /// Mass of a vertex, kg.
    pub fn mass(&self, vertex: u32) -> f64 {
        self.mass[vertex as usize]
    }

    /// All vertices of the cloth that a triangle belongs to, each with its share of the mass.
    pub fn shares(&self, triangle: u32) -> impl Iterator<Item = (usize, f64)> + '_ {
        let cloth = self.cloth[self.nodes(triangle)[0] as usize];
        let of_it = move |i: &usize| self.cloth[*i] == cloth;
        let total: f64 = (0..self.mass.len()).filter(of_it).map(|i| self.mass[i]).sum();
        (0..self.mass.len()).filter(of_it).map(move |i| (i, self.mass[i] / total))
    }

    /// Friction of a triangle.
    pub fn friction(&self, triangle: u32) -> f64 {
        self.friction[triangle as usize]
    }

    /// The first touch of a flight, and the share of each corner in it.
    pub fn touch(&self, triangle: u32, flight: &Flight) -> Option<(Touch, [f64; 3])> {
        let nodes = self.nodes(triangle).map(|i| i as usize);
        // particles keep off the cloth's own thickness as well
        let radius = flight.radius + self.radius[nodes[0]];
        let flight = Flight { radius, ..*flight };
        touch_triangle(&flight, nodes.map(|i| self.x0[i]), nodes.map(|i| self.shift[i]))
    }

    /// Velocity by which a place on a triangle moves, m/s.
    pub fn path_velocity(&self, nodes: [u32; 3], weights: [f64; 3]) -> Vec3 {
        blend(nodes.map(|i| self.shift[i as usize]), weights)
    }

    /// Velocity at a place on a triangle that decides about a bounce, interpolated over the step.
    pub fn velocity(&self, nodes: [u32; 3], weights: [f64; 3], share: f64) -> Vec3 {
        let at = |i: u32| {
            let (a, b) = (self.v0[i as usize], self.v1[i as usize]);
            a + share * (b - a)
        };
        blend(nodes.map(at), weights)
    }

    /// A place on a triangle at `time` into the step, and which way the triangle faces.
    pub fn place(&self, nodes: [u32; 3], weights: [f64; 3], time: f64) -> (Vec3, Vec3) {
        let at = nodes.map(|i| self.x0[i as usize] + self.shift[i as usize] * time);
        let normal = (at[1] - at[0]).cross(at[2] - at[0]).normalize_or_zero();
        (blend(at, weights), normal)
    }
}
