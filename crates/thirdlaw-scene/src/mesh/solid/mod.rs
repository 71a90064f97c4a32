//! Tetrahedra from files: Gmsh (`.msh`), TetGen (`.node` and `.ele`) and VTK (`.vtk`).
//!
//! As with surfaces, a file may be anything: counts are believed only as far as there are bytes for them,
//! and every refusal names the file and the element. Other cells than tetrahedra (the triangles of a
//! boundary, points) are passed over; of tetrahedra with nodes on their edges the corners count. Vertices that
//! no tetrahedron has are dropped. Programs disagree on which way round a tetrahedron is written: where all of a
//! file turn the wrong way, all are turned; where only some do, the first of them is refused as inverted.

mod gmsh;
mod tetgen;
mod vtk;
mod words;

use super::{MeshFileError, MeshOptions, MeshPlace, Refusal, at};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thirdlaw::SolidMesh;
use thirdlaw::math::Vec3;

/// Endings of files that hold tetrahedra.
pub const SOLID_FILES: &str = ".msh, .vtk, .ele or .node";

/// What a reader found: vertices by the numbers that the file gives them, and corners by those numbers.
#[derive(Debug, Default)]
struct Raw {
    vertices: BTreeMap<u64, Vec3>,
    tetrahedra: Vec<[u64; 4]>,
}

/// A file and its bytes, where a format has more than one.
#[derive(Clone, Copy, Debug)]
pub struct SolidFile<'a> {
    /// Its ending tells the format.
    pub path: &'a Path,
    /// What it holds.
    pub bytes: &'a [u8],
}

/// The other file that a format needs beside the one that a scene names: corners without vertices say little.
pub fn companion(path: &Path) -> Option<PathBuf> {
    match ending(path).as_str() {
        "ele" => Some(path.with_extension("node")),
        "node" => Some(path.with_extension("ele")),
        _ => None,
    }
}

fn ending(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase()
}

/// Reads tetrahedra from a file, and from its companion where its format has one.
pub fn load_solid(
    file: SolidFile<'_>,
    beside: Option<SolidFile<'_>>,
    options: &MeshOptions,
) -> Result<SolidMesh, MeshFileError> {
    let refuse = |path: &Path, (place, problem): Refusal| MeshFileError {
        path: path.to_owned(),
        place,
        problem,
    };
    let own = |refusal: Refusal| refuse(file.path, refusal);
    let raw = match (ending(file.path).as_str(), beside) {
        ("msh", _) => gmsh::read(file.bytes).map_err(own)?,
        ("vtk", _) => vtk::read(file.bytes).map_err(own)?,
        (first @ ("ele" | "node"), Some(beside)) => {
            let (nodes, cells) = if first == "node" { (file, beside) } else { (beside, file) };
            let vertices = tetgen::read_nodes(nodes.bytes).map_err(|r| refuse(nodes.path, r))?;
            let tetrahedra = tetgen::read_cells(cells.bytes).map_err(|r| refuse(cells.path, r))?;
            Raw { vertices, tetrahedra }
        }
        _ => {
            let problem = format!("tetrahedra are read from files that end in {SOLID_FILES}");
            return Err(own((MeshPlace::File, problem)));
        }
    };
    raw.mesh(options).map_err(own)
}

impl Raw {
    /// Numbers vertices in the order of the file, drops those without a tetrahedron, turns the axes.
    fn mesh(self, options: &MeshOptions) -> Result<SolidMesh, Refusal> {
        if self.tetrahedra.is_empty() {
            return Err((MeshPlace::File, "there are no tetrahedra in it".into()));
        }
        let mut used: BTreeMap<u64, u32> = BTreeMap::new();
        for (i, corners) in self.tetrahedra.iter().enumerate() {
            for corner in corners {
                if !self.vertices.contains_key(corner) {
                    let problem = format!("names vertex {corner}, which is not there");
                    return Err(at(format!("tetrahedron {i}"), problem));
                }
                used.insert(*corner, 0);
            }
        }
        let mut mesh = SolidMesh::default();
        for (name, index) in &mut used {
            *index = mesh.positions.len() as u32;
            let place = options.up.turn(self.vertices[name]) * options.scale;
            if !place.is_finite() {
                return Err(at(format!("vertex {name}"), format!("is not finite: {place}")));
            }
            mesh.positions.push(place);
        }
        mesh.tetrahedra = self.tetrahedra.iter().map(|t| t.map(|corner| used[&corner])).collect();
        orient(&mut mesh)?;
        Ok(mesh)
    }
}

/// Makes all volumes positive where all are negative.
fn orient(mesh: &mut SolidMesh) -> Result<(), Refusal> {
    let volume = |t: &[u32; 4]| {
        let [a, b, c, d] = t.map(|i| mesh.positions[i as usize]);
        (b - a).dot((c - a).cross(d - a)) / 6.0
    };
    let volumes: Vec<f64> = mesh.tetrahedra.iter().map(volume).collect();
    let turned = volumes.iter().filter(|v| **v < 0.0).count();
    if turned == volumes.len() {
        mesh.tetrahedra.iter_mut().for_each(|t| t.swap(2, 3));
        return Ok(());
    }
    // the lesser part is called inverted
    let inverted = |v: f64| if 2 * turned > volumes.len() { v > 0.0 } else { v < 0.0 };
    match volumes.iter().position(|v| inverted(*v)) {
        Some(i) if turned > 0 => Err(at(
            format!("tetrahedron {i}"),
            format!(
                "is inverted: its corners turn the other way round than those of {} others",
                turned.max(volumes.len() - turned)
            ),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
