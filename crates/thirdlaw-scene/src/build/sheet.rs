//! Meshes of cloth, and the groups of vertices that pins name.

use super::Builder;
use crate::generate::garment::{ClothPattern, Pants, Shirt};
use crate::generate::sheet::sheet;
use crate::node::{Node, Table};
use thirdlaw::math::Vec3;
use thirdlaw::{ClothError, ClothMesh};

impl Builder<'_> {
    /// The mesh that a `mesh` table of a cloth asks for.
    pub fn sheet(&mut self, node: &Node) -> Option<ClothPattern> {
        let entry = node.table()?.entries.first()?;
        let table = entry.node.table()?;
        let count = |key: &str| table.count(key).unwrap_or(0) as usize;
        let length = |key: &str| table.number(key).unwrap_or(1.0);
        let made = match entry.key.as_str() {
            "grid" => grid(table),
            "sheet" => {
                let size = table.get("size").map(Node::numbers).unwrap_or_default();
                let size = <[f64; 2]>::try_from(size).unwrap_or([1.0, 1.0]);
                sheet(count("triangles"), size)
                    .map(|mesh| ClothPattern { mesh, groups: Vec::new() })
            }
            "disc" => ClothMesh::disc(count("rings"), length("radius"))
                .map(|mesh| ClothPattern { mesh, groups: Vec::new() }),
            "tube" => {
                let (around, along) = (count("around"), count("along"));
                // rows run from the bottom up
                ClothMesh::tube(around, along, length("radius"), length("height"))
                    .map(|mesh| rings(mesh, around, along, ["edge.bottom", "edge.top"]))
            }
            "skirt" => {
                let (around, along) = (count("around"), count("along"));
                let radii = [length("waist"), length("hem")];
                ClothMesh::skirt(around, along, radii, length("length"))
                    .map(|mesh| rings(mesh, around, along, ["edge.top", "edge.bottom"]))
            }
            "shirt" => shirt(table).sheet(),
            "pants" => pants(table).sheet(),
            "surface" => return self.cloth_surface(&entry.node),
            _ => return None,
        };
        match made {
            Ok(sheet) => Some(sheet),
            Err(e) => {
                self.error(&entry.node.place, e.to_string());
                None
            }
        }
    }

    fn cloth_surface(&mut self, node: &Node) -> Option<ClothPattern> {
        let surface = self.surface(node)?;
        let table = node.table()?;
        if let Some(size) = table.get("texture_size") {
            let Some(uv) = surface.corner_uv else {
                let message = "the file has no texture coordinates for all its corners";
                self.error(&size.place, message);
                return None;
            };
            let [u, v] = match *size.numbers() {
                [u, v] => [u, v],
                _ => [size.number().unwrap_or(1.0); 2],
            };
            let rest = uv.iter().map(|t| t.map(|[a, b]| [a * u, b * v])).collect();
            let (positions, triangles) = (surface.vertices, surface.triangles);
            let mesh = ClothMesh { positions, triangles, rest, rest_shape: None };
            return Some(ClothPattern { mesh, groups: Vec::new() });
        }
        let coordinates = table.get("coordinates");
        let made = match coordinates {
            Some(list) => {
                let pair = |n: &Node| <[f64; 2]>::try_from(n.numbers()).ok();
                let uv: Vec<[f64; 2]> = list.items().iter().filter_map(pair).collect();
                if uv.len() != surface.vertices.len() {
                    let (have, need) = (uv.len(), surface.vertices.len());
                    let message = format!("{need} vertices need as many coordinates, not {have}");
                    self.error(&list.place, message);
                    return None;
                }
                ClothMesh::with_coordinates(surface.vertices, surface.triangles, &uv)
            }
            None => ClothMesh::from_shape(
                surface.vertices,
                surface.triangles,
                table.vector("warp").unwrap_or(Vec3::Y),
                table.flag("keep_angles").unwrap_or(false),
            ),
        };
        match made {
            Ok(mesh) => Some(ClothPattern { mesh, groups: Vec::new() }),
            Err(e) => {
                self.error(&node.place, e.to_string());
                None
            }
        }
    }
}

fn grid(table: &Table) -> Result<ClothPattern, ClothError> {
    let (columns, rows) = (table.count("columns").unwrap_or(0), table.count("rows").unwrap_or(0));
    let size = table.get("size").map(Node::numbers).unwrap_or_default();
    let size = <[f64; 2]>::try_from(size).unwrap_or([1.0, 1.0]);
    let mesh = ClothMesh::grid(columns as usize, rows as usize, size)?;
    let (right, bottom) = (columns - 1, columns * (rows - 1));
    let groups = vec![
        ("corners", vec![0, right, bottom, bottom + right]),
        ("corner.top-left", vec![0]),
        ("corner.top-right", vec![right]),
        ("corner.bottom-left", vec![bottom]),
        ("corner.bottom-right", vec![bottom + right]),
        ("edge.top", (0..columns).collect()),
        ("edge.bottom", (bottom..bottom + columns).collect()),
        ("edge.left", (0..rows).map(|r| r * columns).collect()),
        ("edge.right", (0..rows).map(|r| r * columns + right).collect()),
    ];
    Ok(ClothPattern { mesh, groups })
}

/// The first and the last ring of a mesh that is closed around an axis.
fn rings(mesh: ClothMesh, around: usize, along: usize, names: [&'static str; 2]) -> ClothPattern {
    let (around, along) = (around as u32, along as u32);
    let first: Vec<u32> = (0..around).collect();
    let last = (around * (along - 1)..around * along).collect();
    ClothPattern { mesh, groups: vec![(names[0], first), (names[1], last)] }
}

fn shirt(table: &Table) -> Shirt {
    let mut shirt = Shirt::default();
    let put = |target: &mut f64, key: &str| *target = table.number(key).unwrap_or(*target);
    put(&mut shirt.spacing, "spacing");
    put(&mut shirt.ease, "ease");
    put(&mut shirt.length, "length");
    put(&mut shirt.sleeve, "sleeve");
    put(&mut shirt.flare, "flare");
    put(&mut shirt.puff, "puff");
    shirt
}

fn pants(table: &Table) -> Pants {
    let mut pants = Pants::default();
    let put = |target: &mut f64, key: &str| *target = table.number(key).unwrap_or(*target);
    put(&mut pants.spacing, "spacing");
    put(&mut pants.ease, "ease");
    put(&mut pants.inseam, "inseam");
    put(&mut pants.flare, "flare");
    pants
}
