//! Surfaces from files: OBJ, STL, PLY, glTF and GLB.
//!
//! The readers are ours, because what they read may be anything: a count in a file is believed only
//! as far as there are bytes for it, no number that is not finite gets through, and every refusal
//! names the file and the element. They read triangles, positions and texture coordinates; normals,
//! colours and materials are no matter of physics.

mod gltf;
mod obj;
mod ply;
mod polygon;
pub mod solid;
mod stl;
mod uri;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use thirdlaw::math::Vec3;

/// A surface of triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshData {
    /// m. No two corners at the same place are split for the sake of a texture.
    pub vertices: Vec<Vec3>,
    /// Corners, counted from 0, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates of the corners of each triangle, where the file has them for all.
    pub corner_uv: Option<Vec<[[f64; 2]; 3]>>,
}

/// How a file is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshOptions {
    /// Which axis of the file points up.
    pub up: UpAxis,
    /// Factors on the vertices along the axes of the scene, after turning.
    pub scale: Vec3,
}

impl Default for MeshOptions {
    fn default() -> MeshOptions {
        MeshOptions { up: UpAxis::Y, scale: Vec3::ONE }
    }
}

/// An axis that points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpAxis {
    /// A quarter turn about z brings it up.
    X,
    /// As in scenes.
    #[default]
    Y,
    /// As in most programs for construction; a quarter turn about x brings it up.
    Z,
}

impl UpAxis {
    /// From `x`, `y` or `z`.
    pub fn from_name(name: &str) -> Option<UpAxis> {
        match name {
            "x" => Some(UpAxis::X),
            "y" => Some(UpAxis::Y),
            "z" => Some(UpAxis::Z),
            _ => None,
        }
    }

    fn turn(self, v: Vec3) -> Vec3 {
        match self {
            UpAxis::X => Vec3::new(-v.y, v.x, v.z),
            UpAxis::Y => v,
            UpAxis::Z => Vec3::new(v.x, v.z, -v.y),
        }
    }
}

/// Why a file cannot be used. Its `Display` names the file and the element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshFileError {
    /// The file.
    pub path: PathBuf,
    /// Where in it.
    pub place: MeshPlace,
    /// What is wrong.
    pub problem: String,
}

/// A place in a mesh file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeshPlace {
    /// The file as a whole.
    File,
    /// A line of text, from 1.
    Line(usize),
    /// A byte, from 0.
    Byte(usize),
    /// A thing with a name: `triangle 12`, `accessor 3`, `/nodes/2`.
    Element(String),
}

impl std::fmt::Display for MeshFileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        match &self.place {
            MeshPlace::File => write!(f, "{path}: {}", self.problem),
            MeshPlace::Line(line) => write!(f, "{path}:{line}: {}", self.problem),
            MeshPlace::Byte(byte) => write!(f, "{path}, byte {byte}: {}", self.problem),
            MeshPlace::Element(element) => write!(f, "{path}, {element}: {}", self.problem),
        }
    }
}

impl std::error::Error for MeshFileError {}

/// What readers return on the way: a place and a problem.
type Refusal = (MeshPlace, String);

fn at_line(line: usize, problem: impl Into<String>) -> Refusal {
    (MeshPlace::Line(line), problem.into())
}

fn at_byte(byte: usize, problem: impl Into<String>) -> Refusal {
    (MeshPlace::Byte(byte), problem.into())
}

fn at(element: impl Into<String>, problem: impl Into<String>) -> Refusal {
    (MeshPlace::Element(element.into()), problem.into())
}

/// Reads a mesh from the bytes of the file at `path`, whose ending tells its format. Only a `.gltf`
/// with buffers in files of their own makes it read these, from the same folder.
///
/// Polygons are cut into fans of triangles, from a corner from which all of them face the same way;
/// a polygon without such a corner is refused.
pub fn load_mesh(
    path: &Path,
    bytes: &[u8],
    options: &MeshOptions,
) -> Result<MeshData, MeshFileError> {
    let refuse =
        |(place, problem): Refusal| MeshFileError { path: path.to_owned(), place, problem };
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    let mut mesh = match ending.as_str() {
        "obj" => obj::read(bytes),
        "stl" => stl::read(bytes),
        "ply" => ply::read(bytes),
        "gltf" | "glb" => gltf::read(bytes, path.parent()),
        _ => Err((MeshPlace::File, "meshes end in .obj, .stl, .ply, .gltf or .glb".into())),
    }
    .map_err(refuse)?;
    if mesh.triangles.is_empty() {
        return Err(refuse((MeshPlace::File, "there are no triangles in it".into())));
    }
    for (i, v) in mesh.vertices.iter_mut().enumerate() {
        *v = options.up.turn(*v) * options.scale;
        if !v.is_finite() {
            return Err(refuse(at(format!("vertex {i}"), "is not finite once scaled")));
        }
    }
    Ok(mesh)
}

impl MeshData {
    /// Texture coordinates of the vertices, where no vertex has two: a texture without seams.
    pub fn vertex_uv(&self) -> Option<Vec<[f64; 2]>> {
        let corners = self.corner_uv.as_ref()?;
        let mut uv: Vec<Option<[f64; 2]>> = vec![None; self.vertices.len()];
        for (triangle, coordinates) in self.triangles.iter().zip(corners) {
            for (&vertex, &own) in triangle.iter().zip(coordinates) {
                if *uv.get_mut(vertex as usize)?.get_or_insert(own) != own {
                    return None;
                }
            }
        }
        Some(uv.into_iter().map(Option::unwrap_or_default).collect())
    }
}

/// Gives equal positions one number, for formats that write a vertex more than once.
#[derive(Default)]
struct Weld {
    vertices: Vec<Vec3>,
    known: HashMap<[u64; 3], u32>,
}

impl Weld {
    fn vertex(&mut self, v: Vec3) -> u32 {
        // adding zero makes −0 and 0 the same
        let key = (v + Vec3::ZERO).to_array().map(f64::to_bits);
        *self.known.entry(key).or_insert_with(|| {
            self.vertices.push(v);
            self.vertices.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "v 0 0 0\nv 2 0 0\nv 2 3 0\nv 0 3 0\nf 1 2 3 4\n";

    fn load(name: &str, bytes: &[u8], options: &MeshOptions) -> Result<MeshData, MeshFileError> {
        load_mesh(Path::new(name), bytes, options)
    }

    #[test]
    fn up_is_up_and_scaled_in_the_axes_of_the_scene() {
        for (up, text) in [("x", "v 3 0 0"), ("y", "v 0 3 0"), ("z", "v 0 0 3")] {
            let text = format!("{text}\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
            let up = UpAxis::from_name(up).unwrap();
            let scale = Vec3::new(1.0, 2.0, 1.0);
            let mesh = load("a.obj", text.as_bytes(), &MeshOptions { up, scale }).unwrap();
            assert_eq!(mesh.vertices[0], Vec3::new(0.0, 6.0, 0.0), "{up:?}");
        }
    }

    #[test]
    fn turning_keeps_the_outside_outside() {
        for up in [UpAxis::X, UpAxis::Y, UpAxis::Z] {
            let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|v| up.turn(v));
            assert_eq!(x.cross(y), z, "{up:?}");
        }
    }

    #[test]
    fn errors_name_the_file() {
        let plain = MeshOptions::default();
        let told = |name: &str, bytes: &[u8]| load(name, bytes, &plain).unwrap_err().to_string();
        assert_eq!(told("d/a.obj", b"v 0 0\n"), "d/a.obj:1: a vertex needs three numbers, not 2");
        assert!(told("a.fbx", b"").starts_with("a.fbx: meshes end in .obj"));
        assert!(told("a.STL", b"solid a facet\nendsolid a\n").contains("there are no triangles"));
        let huge = MeshOptions { scale: Vec3::splat(1e308), ..plain };
        let error = load("a.obj", SQUARE.as_bytes(), &huge).unwrap_err();
        assert_eq!(error.to_string(), "a.obj, vertex 1: is not finite once scaled");
    }

    #[test]
    fn a_texture_with_a_seam_has_no_coordinates_per_vertex() {
        let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";
        let whole = format!("{text}f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n");
        let mesh = load("a.obj", whole.as_bytes(), &MeshOptions::default()).unwrap();
        assert_eq!(mesh.vertex_uv().unwrap(), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        let seam = format!("{text}f 1/1 2/2 3/3\nf 1/1 3/2 4/4\n");
        let mesh = load("a.obj", seam.as_bytes(), &MeshOptions::default()).unwrap();
        assert_eq!(mesh.vertices.len(), 4, "not split at the seam");
        assert!(mesh.vertex_uv().is_none());
        assert_eq!(mesh.corner_uv.unwrap()[1][1], [1.0, 0.0]);
    }
}
