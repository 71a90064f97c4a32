//! What a step reads of deformable objects: masses, elements of every energy, surface, as plain
//! arrays.
//!
//! The elements of all objects of a world are strung together, with indices into one array of
//! particles.

use super::{Deformable, DeformableError, SurfaceMaterial, Weave};
use crate::energy::{Energies, Energy};
use crate::math::Vec3;

/// Least distance from solids, in edge lengths: chords of this length stay off a sphere whose radius
/// is at least about a dozen edges.
const SKIN: f64 = 0.02;

/// Elements of one object, or of all objects of a world strung together.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Elements {
    /// kg, per particle.
    pub mass: Vec<f64>,
    /// Half the thickness, m, per particle.
    pub radius: Vec<f64>,
    /// Distance that particles keep from solids, m: half the thickness, or more where the mesh is so
    /// coarse that its triangles would cut into round solids between their corners.
    pub skin: Vec<f64>,
    /// Which object (position among the living), per particle.
    pub owner: Vec<u32>,
    /// What is deformed, by energy.
    pub energies: Energies,
    /// Triangles of the surface.
    pub triangles: Vec<[u32; 3]>,
    /// Every edge of the surface once.
    pub edges: Vec<[u32; 2]>,
    /// Edges with their rest length, m: what strain is measured on. Of cloth those along warp or weft.
    pub threads: Vec<([u32; 2], f64)>,
    /// Where each particle lies when nothing is deformed, m: what is near itself there need not be
    /// kept apart.
    pub rest: Vec<Vec3>,
    /// One per object.
    pub surfaces: Vec<SurfaceMaterial>,
}

/// Elements of an energy are read as if they were fields of this.
impl std::ops::Deref for Elements {
    type Target = Energies;

    fn deref(&self) -> &Energies {
        &self.energies
    }
}

impl Elements {
    /// Checks the description of an object and derives its elements.
    pub fn build(deformable: &Deformable) -> Result<Elements, DeformableError> {
        check(deformable)?;
        let Deformable { positions, triangles, surface, energies, rest, weave, .. } = deformable;
        let count = positions.len();
        let mut mass = deformable.masses.clone();
        mass.resize(count, 0.0);
        energies.add_masses(&mut mass);
        if let Some(vertex) = mass.iter().position(|m| !(*m > 0.0 && m.is_finite())) {
            return Err(DeformableError::NoMass { vertex });
        }
        let (edges, threads) = match weave {
            Some(Weave { edges, threads, .. }) => (edges.clone(), threads.clone()),
            None => (surface_edges(triangles), element_edges(energies)),
        };
        let total: f64 = threads.iter().map(|t| t.1).sum();
        let coarse = SKIN * total / threads.len().max(1) as f64;
        let radius = 0.5 * surface.thickness;
        Ok(Elements {
            mass,
            radius: vec![radius; count],
            skin: vec![radius.max(coarse); count],
            owner: vec![0; count],
            energies: energies.clone(),
            triangles: triangles.clone(),
            edges,
            threads,
            rest: rest.clone(),
            surfaces: vec![*surface],
        })
    }

    /// Strings another object's elements behind these.
    pub fn append(&mut self, other: &Elements) {
        let (particles, objects) = (self.mass.len() as u32, self.surfaces.len() as u32);
        let moved = |i: u32| i + particles;
        self.mass.extend_from_slice(&other.mass);
        self.radius.extend_from_slice(&other.radius);
        self.skin.extend_from_slice(&other.skin);
        self.owner.extend(other.owner.iter().map(|o| o + objects));
        self.energies.append(&other.energies, particles);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(moved)));
        self.rest.extend_from_slice(&other.rest);
        self.edges.extend(other.edges.iter().map(|e| e.map(moved)));
        self.threads.extend(other.threads.iter().map(|(e, l)| (e.map(moved), *l)));
        self.surfaces.extend_from_slice(&other.surfaces);
    }

    /// What the surface around a particle is like.
    pub fn surface(&self, particle: u32) -> &SurfaceMaterial {
        &self.surfaces[self.owner[particle as usize] as usize]
    }
}

/// Whether every number can be used and every index names something.
fn check(deformable: &Deformable) -> Result<(), DeformableError> {
    let Deformable { positions, masses, triangles, surface, rest, .. } = deformable;
    let value = |field, problem| Err(DeformableError::Value { field, problem });
    if positions.is_empty() {
        return Err(DeformableError::Empty);
    }
    if rest.len() != positions.len() {
        let problem = format!("must be one for each of the {} vertices", rest.len());
        return value("positions", problem);
    }
    let usable = |p: &Vec3| p.is_finite() && p.abs().max_element() < 1e9;
    if let Some(vertex) =
        positions.iter().zip(rest).position(|(p, rest)| !(usable(p) && usable(rest)))
    {
        return Err(DeformableError::NotFinite { vertex });
    }
    if !(masses.is_empty() || masses.len() == positions.len()) {
        let problem = format!("must be one for each of the {} vertices, or none", positions.len());
        return value("masses", problem);
    }
    if let Some(vertex) = masses.iter().position(|m| !(*m >= 0.0 && m.is_finite())) {
        return Err(DeformableError::NoMass { vertex });
    }
    for (triangle, &vertices) in triangles.iter().enumerate() {
        let [a, b, c] = vertices;
        let there = vertices.iter().all(|&v| (v as usize) < positions.len());
        if !there || a == b || b == c || c == a {
            return Err(DeformableError::Triangle { triangle, vertices });
        }
    }
    let bounds = [
        ("surface.friction", surface.friction, 0.0, 1e6),
        ("surface.thickness", surface.thickness, 1e-6, 1.0),
        ("surface.drag", surface.drag, 0.0, 1e6),
        ("surface.lift", surface.lift, 0.0, 1e6),
        ("gravity_scale", deformable.gravity_scale, f64::MIN, f64::MAX),
    ];
    for (field, number, low, high) in bounds {
        if !(low..=high).contains(&number) {
            let problem = format!("must be between {low:e} and {high:e}, not {number}");
            return value(field, problem);
        }
    }
    if !(deformable.velocity.is_finite() && deformable.velocity.length() < 1e6) {
        return value("velocity", format!("must be finite, not {}", deformable.velocity));
    }
    if deformable.incompressible && deformable.energies.tetrahedra.is_empty() {
        let problem = "is for what has tetrahedra of a law of solids".into();
        return value("incompressible", problem);
    }
    Ok(deformable.energies.check_nodes(positions.len())?)
}

/// Every edge of these triangles once, in order of vertices.
fn surface_edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Every edge of the elements once, in order of vertices, with its length at rest, m.
fn element_edges(energies: &Energies) -> Vec<([u32; 2], f64)> {
    let mut edges = energies.rest_edges();
    edges.iter_mut().for_each(|(nodes, _)| nodes.sort_unstable());
    edges.sort_by_key(|edge| edge.0);
    edges.dedup_by_key(|edge| edge.0);
    edges.iter().map(|(nodes, square)| (*nodes, square.sqrt())).collect()
}
