//! `[soft_bodies.NAME]`: one description, one soft body or many copies.

use super::Builder;
use super::body::groups;
use super::bones::Skeleton;
use super::material::color;
use super::pins::PinMesh;
use crate::SceneCloth;
use crate::generate::lathe::lathe;
use crate::mesh::MeshData;
use crate::node::{Entry, Node, Table};
use std::sync::Arc;
use thirdlaw::math::{Pose, Vec3};
use thirdlaw::{Deformable, DeformableError, Skin, SolidLaw, SolidMaterial, SolidMesh};

/// More soft bodies than this are a slip of the keyboard.
const SOFT_BODIES_MAX: usize = 10_000;
/// Tetrahedra across a round body whose spacing is not given.
const ACROSS: f64 = 8.0;

impl Builder<'_> {
    /// Adds the soft body of a table, or all its copies.
    pub fn add_soft_bodies(&mut self, entry: &Entry, table: &Table, object: usize) {
        let Some(node) = table.get("mesh") else { return };
        let Some((mesh, skin)) = self.solid_mesh(node) else { return };
        let skin = skin.map(Arc::new);
        let made = match material(table) {
            (true, material) => mesh.springs(&material),
            (false, material) => mesh.deformable(material),
        };
        let mut body = match made {
            Ok(body) => body,
            Err(e) => return self.error(&node.place, format!("`{}`: {e}", entry.key)),
        };
        let rotation = table.get("rotation").map(|node| self.rotation(node)).unwrap_or_default();
        let pose = Pose::from_parts(table.vector("position").unwrap_or_default(), rotation);
        let positions = &mesh.positions[..];
        let groups_of = sides(positions);
        let pin_mesh = PinMesh { positions, triangles: &body.triangles, groups: &groups_of };
        let pins = self.pins(table, &pin_mesh, pose);
        body.pins = pins;
        body.velocity = table.vector("velocity").unwrap_or_default();
        body.groups = groups(table);
        body.self_collision = table.flag("self_collision").unwrap_or(true);
        body.gravity_scale = table.number("gravity_scale").unwrap_or(1.0);
        body.incompressible = table.flag("incompressible").unwrap_or(false);
        body.surface.friction = table.number("friction").unwrap_or(body.surface.friction);
        body.surface.thickness = table.number("thickness").unwrap_or(body.surface.thickness);
        let Some(copies) = table.get("copies") else {
            let name = entry.key.clone();
            self.add_with_bones((entry, table, object), name, (body, skin), (positions, pose));
            return;
        };
        for (i, copy) in self.copies(copies).into_iter().enumerate() {
            let mut next = body.clone();
            next.velocity = copy.velocity.unwrap_or(body.velocity);
            let placed =
                Pose::from_parts(pose.translation + copy.offset, copy.rotation * pose.rotation);
            super::pins::carry(&mut next.pins, placed * pose.inverse());
            let name = format!("{}.{i}", entry.key);
            let made = (next, skin.clone());
            if !self.add_with_bones((entry, table, object), name, made, (positions, placed)) {
                return; // the others would fail alike
            }
        }
    }

    /// A soft body that is placed at `pose`, and its skeleton.
    fn add_with_bones(
        &mut self,
        (entry, table, object): (&Entry, &Table, usize),
        name: String,
        (mut body, skin): (Deformable, Option<Arc<Skin>>),
        (rest, pose): (&[Vec3], Pose),
    ) -> bool {
        if let Some(bones) = table.table("bones") {
            let mut skeleton = Skeleton::new(bones, &name, (rest, pose));
            if !self.add_bones((entry, bones, object), &mut skeleton, &mut body) {
                return false;
            }
        }
        self.add_soft_body(entry, table, object, name, (body.pose(pose), skin))
    }

    fn add_soft_body(
        &mut self,
        entry: &Entry,
        table: &Table,
        object: usize,
        name: String,
        (body, skin): (Deformable, Option<Arc<Skin>>),
    ) -> bool {
        if self.cloths.len() >= SOFT_BODIES_MAX {
            let message = format!("a scene holds at most {SOFT_BODIES_MAX} soft bodies");
            self.error(&entry.key_place, message);
            return false;
        }
        match self.world.add_deformable(body) {
            Ok(id) => {
                let color = table.get("color").and_then(color);
                self.cloths.push(SceneCloth { name, id, color, object, soft: true, skin });
                true
            }
            Err(e) => {
                let key = match &e {
                    DeformableError::Value { field, .. } => {
                        field.strip_prefix("surface.").unwrap_or(field)
                    }
                    DeformableError::NoSuchBody(_) => "pins",
                    _ => "mesh",
                };
                let place = table.get(key).map_or(&entry.key_place, |node| &node.place).clone();
                self.error(&place, format!("soft body `{name}`: {e}"));
                false
            }
        }
    }
}

impl Builder<'_> {
    /// The tetrahedra that a `mesh` table asks for, and the surface that they carry where it gives one.
    fn solid_mesh(&mut self, node: &Node) -> Option<(SolidMesh, Option<Skin>)> {
        let entry = node.table()?.entries.first()?;
        let made = match entry.key.as_str() {
            "tetrahedra" => return Some((self.tetrahedra(&entry.node)?, None)),
            "surface" => {
                let MeshData { vertices, triangles, .. } = self.surface(&entry.node)?;
                filled(vertices, triangles, entry.node.table()?.number("spacing"))
            }
            "lathe" => {
                let (vertices, triangles) = lathed(entry.node.table()?);
                filled(vertices, triangles, entry.node.table()?.number("spacing"))
            }
            _ => formula(node)?.map(|mesh| (mesh, None)),
        };
        made.map_err(|e| self.error(&node.place, e.to_string())).ok()
    }
}

/// A closed surface, filled.
fn filled(
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    spacing: Option<f64>,
) -> Result<(SolidMesh, Option<Skin>), DeformableError> {
    let low = vertices.iter().fold(Vec3::INFINITY, |low, v| low.min(*v));
    let high = vertices.iter().fold(Vec3::NEG_INFINITY, |high, v| high.max(*v));
    let spacing = spacing.unwrap_or((high - low).min_element() / ACROSS);
    let mesh = SolidMesh::filled(&vertices, &triangles, spacing)?;
    let skin = Skin::new(&mesh, &vertices, &triangles)?;
    Ok((mesh, Some(skin)))
}

/// The surface of a body of revolution.
fn lathed(table: &Table) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let place = |node: &Node| <[f64; 2]>::try_from(node.numbers()).ok();
    let profile: Vec<[f64; 2]> = table.items("profile").iter().filter_map(place).collect();
    let flat = table.get("flat").and_then(place).unwrap_or([1.0; 2]);
    lathe(&profile, flat, table.count("around").unwrap_or(24))
}

/// The tetrahedra of a shape that a `mesh` table gives by numbers.
fn formula(node: &Node) -> Option<Result<SolidMesh, DeformableError>> {
    let entry = node.table()?.entries.first()?;
    let table = entry.node.table()?;
    let length = |key: &str| table.number(key).unwrap_or(1.0);
    let spacing = |width: f64| table.number("spacing").unwrap_or(width / ACROSS);
    // boxes and blobs have none
    let round = matches!(entry.key.as_str(), "ball" | "cylinder" | "torus" | "tube");
    let radius = if round { length("radius") } else { 0.0 };
    Some(match entry.key.as_str() {
        "box" => {
            let cells = table.get("cells").map(Node::numbers).unwrap_or_default();
            let cells = <[f64; 3]>::try_from(cells).ok()?.map(|n| n as u32);
            SolidMesh::block(table.vector("size")?, cells)
        }
        "ball" => SolidMesh::ball(radius, spacing(2.0 * radius)),
        "cylinder" => {
            let height = length("height");
            SolidMesh::cylinder(radius, height, spacing(height.min(2.0 * radius)))
        }
        "torus" => SolidMesh::torus(radius, length("tube"), spacing(4.0 * length("tube"))),
        "tube" => {
            let (inner, height) = (length("inner"), length("height"));
            SolidMesh::tube(radius, inner, height, spacing(4.0 * (radius - inner).abs()))
        }
        "blob" => {
            let balls = table.get("balls").map(Node::items).unwrap_or_default();
            let ball = |node: &Node| {
                let [x, y, z, r] = <[f64; 4]>::try_from(node.numbers()).ok()?;
                Some((Vec3::new(x, y, z), r))
            };
            let balls: Vec<(Vec3, f64)> = balls.iter().filter_map(ball).collect();
            let widest = balls.iter().fold(0.0_f64, |r, ball| r.max(ball.1));
            SolidMesh::blob(&balls, length("blend"), spacing(2.0 * widest))
        }
        _ => return None,
    })
}

/// A preset by name, or a table of overrides; whether springs hold it instead of a law.
fn material(table: &Table) -> (bool, SolidMaterial) {
    let preset =
        |name: Option<&str>| SolidMaterial::preset(name.unwrap_or("rubber")).unwrap_or_default();
    let Some(node) = table.get("material") else { return (false, preset(None)) };
    let Some(table) = node.table() else { return (false, preset(node.text())) };
    let mut material = preset(table.text("preset"));
    let put = |target: &mut f64, key: &str| *target = table.number(key).unwrap_or(*target);
    put(&mut material.young, "young");
    put(&mut material.poisson, "poisson");
    put(&mut material.density, "density");
    put(&mut material.damping, "damping");
    material.law = match table.text("law") {
        Some("corotated") => SolidLaw::Corotated,
        Some("st-venant-kirchhoff") => SolidLaw::StVenantKirchhoff,
        Some("linear") => SolidLaw::Linear,
        _ => SolidLaw::NeoHookean,
    };
    (table.text("law") == Some("springs"), material)
}

/// The vertices that lie farthest along each axis.
fn sides(positions: &[Vec3]) -> Vec<(&'static str, Vec<u32>)> {
    let low = positions.iter().fold(Vec3::splat(f64::INFINITY), |a, p| a.min(*p));
    let high = positions.iter().fold(Vec3::splat(f64::NEG_INFINITY), |a, p| a.max(*p));
    let near = 1e-9 * (high - low).max_element();
    let at = |axis: usize, end: Vec3| -> Vec<u32> {
        let there = |p: &Vec3| (p[axis] - end[axis]).abs() <= near;
        (0..).zip(positions).filter(|(_, p)| there(p)).map(|(i, _)| i).collect()
    };
    vec![
        ("left", at(0, low)),
        ("right", at(0, high)),
        ("bottom", at(1, low)),
        ("top", at(1, high)),
        ("back", at(2, low)),
        ("front", at(2, high)),
    ]
}
