//! Cloth triangles over a step. Corners move evenly from where they were to where they are.

use super::advance::{Flight, Touch, blend, touch_triangle};
use super::grid::Bounds;
use crate::math::Vec3;
use crate::model::Model;
use crate::state::Particles;

/// All cloth triangles over a step.
#[derive(Clone, Debug, Default)]
pub struct Cloths {
    /// Positions of all vertices at the beginning, m.
    pub x0: Vec<Vec3>,
    /// Velocities of all vertices at the beginning, m/s.
    pub v0: Vec<Vec3>,
    /// Velocities over the step, m/s.
    shift: Vec<Vec3>,
    pub bounds: Vec<Bounds>,
}

impl Cloths {
    /// Keeps what cloth is like before the step.
    pub fn before(&mut self, particles: &Particles) {
        self.x0.clone_from(&particles.x);
        self.v0.clone_from(&particles.v);
    }

    /// Takes in where it went in `dt` seconds; boxes get `margin`.
    pub fn gather(&mut self, model: &Model, particles: &Particles, dt: f64, margin: f64) {
        self.shift.clear();
        self.shift.extend(particles.x.iter().zip(&self.x0).map(|(b, a)| (*b - *a) / dt));
        self.bounds.clear();
        let radius = &model.sheet.elements.radius;
        for triangle in &model.sheet.triangles {
            let far = Vec3::splat(f64::INFINITY);
            let (mut lo, mut hi) = (far, -far);
            for &i in triangle {
                let (a, b) = (self.x0[i as usize], particles.x[i as usize]);
                lo = lo.min(a).min(b);
                hi = hi.max(a).max(b);
            }
            let margin = Vec3::splat(margin + radius[triangle[0] as usize]);
            self.bounds.push(Bounds { lo: lo - margin, hi: hi + margin });
        }
    }

    /// The first touch of a flight, and the share of each corner in it.
    pub fn touch(
        &self,
        model: &Model,
        triangle: usize,
        flight: &Flight,
    ) -> Option<(Touch, [f64; 3])> {
        let nodes = model.sheet.triangles[triangle].map(|i| i as usize);
        // particles keep off the cloth's own thickness as well
        let radius = flight.radius + model.sheet.elements.radius[nodes[0]];
        let flight = Flight { radius, ..*flight };
        touch_triangle(&flight, nodes.map(|i| self.x0[i]), nodes.map(|i| self.shift[i]))
    }

    /// Velocity by which a place on a triangle moves, m/s.
    pub fn path_velocity(&self, nodes: [u32; 3], weights: [f64; 3]) -> Vec3 {
        blend(nodes.map(|i| self.shift[i as usize]), weights)
    }

    /// Velocity at a place on a triangle that decides about a bounce, interpolated over the step.
    pub fn velocity(&self, v1: &[Vec3], nodes: [u32; 3], weights: [f64; 3], share: f64) -> Vec3 {
        let at = |i: u32| {
            let (a, b) = (self.v0[i as usize], v1[i as usize]);
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
