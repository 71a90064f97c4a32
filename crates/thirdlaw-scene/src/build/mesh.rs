//! Triangle surfaces, written in the scene or read from OBJ files beside it.

use super::Builder;
use crate::node::{Node, Value};
use crate::obj::{self, Surface};
use std::path::Path;
use thirdlaw::math::Vec3;

impl Builder<'_> {
    /// The scaled surface of a `mesh` or `decompose` table.
    pub fn surface(&mut self, node: &Node) -> Option<Surface> {
        let table = node.table()?;
        let mut surface = match table.get("file") {
            Some(file) => self.file(file)?,
            None => Surface {
                vertices: table.items("vertices").iter().filter_map(Node::vector).collect(),
                triangles: table.items("triangles").iter().filter_map(triangle).collect(),
            },
        };
        if let Some(scale) = table.get("scale") {
            let factor = match scale.value {
                Value::List(_) => scale.vector()?,
                _ => Vec3::splat(scale.number()?),
            };
            surface.vertices.iter_mut().for_each(|v| *v *= factor);
        }
        Some(surface)
    }

    fn file(&mut self, node: &Node) -> Option<Surface> {
        let name = node.text()?;
        let Some(base) = self.base else {
            self.error(&node.place, "this scene has no folder in which to look for files");
            return None;
        };
        read_mesh(&base.join(name)).map_err(|e| self.error(&node.place, e)).ok()
    }
}

/// The surface in a file.
pub fn read_mesh(path: &Path) -> Result<Surface, String> {
    let text = read_text(path)?;
    obj::read(&text).map_err(|(line, problem)| format!("{}:{line}: {problem}", path.display()))
}

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String, String> {
    // a device or a pipe would be read for ever
    let text = match std::fs::metadata(path).map(|m| m.is_file()) {
        Ok(true) => std::fs::read_to_string(path).map_err(|e| e.to_string()),
        Ok(false) => Err("it is not a file".into()),
        Err(e) => Err(e.to_string()),
    };
    text.map_err(|e| format!("cannot read {}: {e}", path.display()))
}

fn triangle(node: &Node) -> Option<[u32; 3]> {
    match *node.numbers() {
        [a, b, c] => Some([a as u32, b as u32, c as u32]),
        _ => None,
    }
}
