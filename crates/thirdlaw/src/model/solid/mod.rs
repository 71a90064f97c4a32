//! Soft bodies: meshes of tetrahedra, and how they become deformable objects.
//!
//! A [`SolidMesh`] is made by a formula (`block`, and any shape with a signed distance by `stuffing`), fills a
//! closed surface (`fill`) or is read from elsewhere; [`SolidMesh::deformable`] gives it a material and its surface.
//!
//! ```
//! use thirdlaw::{Settings, SolidMaterial, SolidMesh, Vec3, World};
//! let mut world = World::new(Settings::default())?;
//! let mesh = SolidMesh::block(Vec3::splat(0.2), [2, 2, 2])?;
//! let id = world.add_deformable(mesh.deformable(SolidMaterial::default())?)?;
//! world.step(0.01)?;
//! assert!(world.vertices(id)?[0].y < -0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block;
mod fill;
mod quality;
mod shapes;
pub mod stuffing;

pub use fill::Skin;
pub use quality::MeshQuality;

use super::deformable::{Deformable, DeformableError, SurfaceMaterial};
use crate::energy::altitude::AltitudeSprings;
use crate::energy::solid::SolidMaterial;
use crate::energy::spring::EdgeSprings;
use crate::energy::tetrahedron::Tetrahedra;
use crate::math::Vec3;

/// Tetrahedra.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolidMesh {
    /// Vertices, m.
    pub positions: Vec<Vec3>,
    /// Corners; seen from corner 0, the corners 1, 2 and 3 turn so that
    /// (x₁ − x₀)·((x₂ − x₀) × (x₃ − x₀)) > 0.
    pub tetrahedra: Vec<[u32; 4]>,
}

/// The faces of a tetrahedron, seen from outside.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 1], [0, 1, 3], [0, 3, 2]];

impl Deformable {
    /// A soft block of this size around the origin, m, of so many cells along each axis.
    ///
    /// ```
    /// use thirdlaw::prelude::*;
    /// let mut world = World::new(Settings::default())?;
    /// let jelly = SolidMaterial::preset("jelly").ok_or("no such material")?;
    /// let cube = Deformable::block(Vec3::splat(0.4), [4; 3], jelly)?.at(0.0, 1.0, 0.0);
    /// let cube = world.add_deformable(cube.friction(0.8).moving(Vec3::X))?;
    /// let _report = world.step(1.0 / 60.0)?;
    /// assert_eq!(world.vertices(cube)?.len(), 125);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn block(
        size: Vec3,
        cells: [u32; 3],
        material: SolidMaterial,
    ) -> Result<Deformable, DeformableError> {
        SolidMesh::block(size, cells)?.deformable(material)
    }
}

impl SolidMesh {
    /// A soft body at rest in this shape, with friction 0.5 on its surface.
    pub fn deformable(&self, material: SolidMaterial) -> Result<Deformable, DeformableError> {
        self.deformable_of(vec![material], &[])
    }

    /// The same of several materials: `which` names that of each tetrahedron; where it ends, the first.
    pub fn deformable_of(
        &self,
        materials: Vec<SolidMaterial>,
        which: &[u32],
    ) -> Result<Deformable, DeformableError> {
        let set = Tetrahedra::of_materials(&self.positions, &self.tetrahedra, materials, which)?;
        Ok(self.with_surface(Deformable::new(self.positions.clone()).elements(set)))
    }

    /// The same held by springs along edges and altitudes instead of a law of solids; of the material
    /// Young's modulus, density and damping count.
    pub fn springs(&self, material: &SolidMaterial) -> Result<Deformable, DeformableError> {
        // refuses what cannot be, and says what each vertex weighs
        let set = Tetrahedra::new(&self.positions, &self.tetrahedra, material.clone())?;
        let mut masses = vec![0.0; self.positions.len()];
        crate::energy::Energies::from(set).add_masses(&mut masses);
        let (x, tetrahedra) = (&self.positions, &self.tetrahedra);
        let SolidMaterial { young, damping, .. } = *material;
        let edges = EdgeSprings::of_tetrahedra(x, tetrahedra, young, damping)?;
        let heights = AltitudeSprings::of_tetrahedra(x, tetrahedra, young, damping)?;
        let body = Deformable::new(x.clone()).masses(masses).elements(edges).elements(heights);
        Ok(self.with_surface(body))
    }

    fn with_surface(&self, body: Deformable) -> Deformable {
        body.surface(self.surface(), SurfaceMaterial::default())
    }

    /// Faces that only one tetrahedron has, seen from outside, in order of vertices.
    pub fn surface(&self) -> Vec<[u32; 3]> {
        let mut faces: Vec<([u32; 3], [u32; 3])> = Vec::with_capacity(4 * self.tetrahedra.len());
        for t in &self.tetrahedra {
            for face in FACES.map(|f| f.map(|k| t[k])) {
                let mut key = face;
                key.sort_unstable();
                faces.push((key, face));
            }
        }
        faces.sort_unstable();
        let mut surface = Vec::new();
        for (i, (key, face)) in faces.iter().enumerate() {
            let before = i > 0 && faces[i - 1].0 == *key;
            let after = faces.get(i + 1).is_some_and(|next| next.0 == *key);
            if !before && !after {
                surface.push(*face);
            }
        }
        surface
    }

    /// Sum over all tetrahedra, m³.
    pub fn volume(&self) -> f64 {
        self.tetrahedra.iter().map(|t| volume(&self.positions, t)).sum()
    }
}

/// Signed volume of a tetrahedron, m³.
pub fn volume(x: &[Vec3], t: &[u32; 4]) -> f64 {
    let [a, b, c, d] = t.map(|i| x[i as usize]);
    (b - a).dot((c - a).cross(d - a)) / 6.0
}
