//! Triangle surfaces, written in the scene or read from OBJ files beside it.

use super::Builder;
use crate::node::{Node, Value};
use crate::obj::{self, Surface};
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
        let path = base.join(name);
        // a device or a pipe would be read for ever
        let regular = std::fs::metadata(&path).map(|m| m.is_file());
        let text = match regular {
            Ok(true) => std::fs::read_to_string(&path).map_err(|e| e.to_string()),
            Ok(false) => Err("it is not a file".into()),
            Err(e) => Err(e.to_string()),
        };
        match text {
            Ok(text) => match obj::read(&text) {
                Ok(surface) => return Some(surface),
                Err((line, problem)) => {
                    self.error(&node.place, format!("{}:{line}: {problem}", path.display()));
                }
            },
            Err(e) => self.error(&node.place, format!("cannot read {}: {e}", path.display())),
        }
        None
    }
}

fn triangle(node: &Node) -> Option<[u32; 3]> {
    match *node.numbers() {
        [a, b, c] => Some([a as u32, b as u32, c as u32]),
        _ => None,
    }
}
