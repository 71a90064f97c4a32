//! Triangle surfaces and tetrahedra, written in the scene or read from files beside it.

use super::Builder;
use crate::mesh::solid::{SolidFile, companion, load_solid};
use crate::mesh::{MeshData, MeshOptions, UpAxis, load_mesh};
use crate::node::{Node, Table, Value};
use std::path::{Path, PathBuf};
use thirdlaw::SolidMesh;
use thirdlaw::math::Vec3;

impl Builder<'_> {
    /// The surface of a table with `file` or `vertices` and `triangles`, turned and scaled.
    pub fn surface(&mut self, node: &Node) -> Option<MeshData> {
        let table = node.table()?;
        let options = mesh_options(table)?;
        let scale = options.scale;
        if let Some(file) = table.get("file") {
            return self.mesh_file(file, &options);
        }
        let vertices = table.items("vertices").iter().filter_map(Node::vector);
        Some(MeshData {
            vertices: vertices.map(|v| v * scale).collect(),
            triangles: table.items("triangles").iter().filter_map(triangle).collect(),
            corner_uv: None,
        })
    }

    /// The mesh in the file that a text names, looked for beside the scene.
    pub fn mesh_file(&mut self, node: &Node, options: &MeshOptions) -> Option<MeshData> {
        let path = self.file_beside(node)?;
        read_mesh(&path, options).map_err(|e| self.error(&node.place, e)).ok()
    }

    /// The tetrahedra in the file of a table with `file`, turned and scaled.
    pub fn tetrahedra(&mut self, node: &Node) -> Option<SolidMesh> {
        let table = node.table()?;
        let options = mesh_options(table)?;
        let file = table.get("file")?;
        let path = self.file_beside(file)?;
        read_solid(&path, &options).map_err(|e| self.error(&file.place, e)).ok()
    }

    /// Where the file that a text names should be.
    pub(super) fn file_beside(&mut self, node: &Node) -> Option<PathBuf> {
        let name = node.text()?;
        if self.base.is_none() {
            self.error(&node.place, "this scene has no folder in which to look for files");
        }
        Some(self.base?.join(name))
    }
}

/// How a file is meant that a table names.
fn mesh_options(table: &Table) -> Option<MeshOptions> {
    let scale = match table.get("scale") {
        None => Vec3::ONE,
        Some(Node { value: Value::List(_), .. }) => table.vector("scale")?,
        Some(number) => Vec3::splat(number.number()?),
    };
    let up = table.text("up").and_then(UpAxis::from_name).unwrap_or_default();
    Some(MeshOptions { up, scale })
}

/// The tetrahedra in a file, and in its companion where its format has one.
fn read_solid(path: &Path, options: &MeshOptions) -> Result<SolidMesh, String> {
    let bytes = read_file(path)?;
    let beside = match companion(path) {
        Some(path) => Some((read_file(&path)?, path)),
        None => None,
    };
    let beside = beside.as_ref().map(|(bytes, path)| SolidFile { path, bytes });
    load_solid(SolidFile { path, bytes: &bytes }, beside, options).map_err(|e| e.to_string())
}

/// The mesh in a file.
pub fn read_mesh(path: &Path, options: &MeshOptions) -> Result<MeshData, String> {
    let bytes = read_file(path)?;
    load_mesh(path, &bytes, options).map_err(|e| e.to_string())
}

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String, String> {
    String::from_utf8(read_file(path)?).map_err(|e| {
        format!("{}: byte {} is not UTF-8", path.display(), e.utf8_error().valid_up_to())
    })
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    // a device or a pipe would be read for ever
    let bytes = match std::fs::metadata(path).map(|m| m.is_file()) {
        Ok(true) => std::fs::read(path).map_err(|e| e.to_string()),
        Ok(false) => Err("it is not a file".into()),
        Err(e) => Err(e.to_string()),
    };
    bytes.map_err(|e| format!("cannot read {}: {e}", path.display()))
}

fn triangle(node: &Node) -> Option<[u32; 3]> {
    match *node.numbers() {
        [a, b, c] => Some([a as u32, b as u32, c as u32]),
        _ => None,
    }
}
