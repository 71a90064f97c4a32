//! Shapes of a robot's links.

use super::mesh::read_mesh;
use crate::mesh::{MeshOptions, UpAxis};
use crate::node::Table;
use crate::urdf::Form;
use std::path::{Path, PathBuf};
use thirdlaw::Shape;
use thirdlaw::math::{Pose, Vec3};
use thirdlaw::shape::Decomposition;

/// Where a robot's meshes are looked for, and what is made of them.
pub struct MeshFiles {
    /// Folder of the URDF file.
    pub folder: Option<PathBuf>,
    /// Folders of packages, by name.
    packages: Vec<(String, PathBuf)>,
    decompose: bool,
    /// What became of the meshes.
    pub notes: Vec<String>,
}

impl MeshFiles {
    /// As a robot's table says; `base` is the folder of the scene.
    pub fn new(base: Option<&Path>, table: &Table) -> MeshFiles {
        let folder = |text: &str| base.map_or_else(|| PathBuf::from(text), |base| base.join(text));
        let packages = table.named("packages").iter();
        let packages = packages.filter_map(|e| Some((e.key.clone(), folder(e.node.text()?))));
        MeshFiles {
            folder: base.map(Path::to_path_buf),
            packages: packages.collect(),
            decompose: table.text("meshes") == Some("decompose"),
            notes: Vec::new(),
        }
    }

    /// A shape, and how it is turned: round ones lie along z there and along y here.
    pub fn shape(&mut self, form: &Form) -> Result<(Pose, Shape), String> {
        let z_to_y = crate::generate::turn(Vec3::X, std::f64::consts::FRAC_PI_2);
        let upright = Pose::from_parts(Vec3::ZERO, z_to_y);
        let (turn, shape) = match form {
            Form::Box(size) => (Pose::IDENTITY, Shape::cuboid(0.5 * *size)),
            Form::Cylinder(radius, length) => (upright, Shape::cylinder(0.5 * length, *radius)),
            Form::Capsule(radius, length) => (upright, Shape::capsule(0.5 * length, *radius)),
            Form::Sphere(radius) => (Pose::IDENTITY, Shape::sphere(*radius)),
            Form::Mesh(file, scale) => (Pose::IDENTITY, Ok(self.mesh(file, *scale)?)),
        };
        Ok((turn, shape.map_err(|e| e.to_string())?))
    }

    fn mesh(&mut self, file: &str, scale: Vec3) -> Result<Shape, String> {
        let path = self.path(file)?;
        // links keep the axes of their file
        let options = MeshOptions { up: UpAxis::Y, scale };
        let surface = read_mesh(&path, &options)?;
        if self.decompose {
            let cut = Decomposition::default();
            return Shape::decompose(&surface.vertices, &surface.triangles, &cut)
                .map_err(|e| e.to_string());
        }
        let note = format!("mesh {file} touches as its convex hull");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
        Shape::convex_hull(&surface.vertices).map_err(|e| e.to_string())
    }

    /// The file that a URDF names: by itself, or in a package.
    fn path(&self, file: &str) -> Result<PathBuf, String> {
        if let Some(rest) = file.strip_prefix("package://") {
            let (package, inside) = rest.split_once('/').unwrap_or((rest, ""));
            if let Some((_, folder)) = self.packages.iter().find(|p| p.0 == package) {
                return Ok(folder.join(inside));
            }
            // packages keep their robots in a folder of their own
            let folders = self.folder.iter().flat_map(|f| f.ancestors().take(3));
            let found = folders.flat_map(|f| [f.join(inside), f.join(rest)]).find(|p| p.is_file());
            return found.ok_or_else(|| {
                format!("{file} is not found: name its folder under `packages` ({package} = \"…\")")
            });
        }
        let plain = file.strip_prefix("file://").unwrap_or(file);
        match &self.folder {
            Some(folder) => Ok(folder.join(plain)),
            None => Err(format!("this scene has no folder in which to look for {file}")),
        }
    }
}
