//! glTF 2.0, as JSON with its bytes inside or beside it, and as GLB: the triangles of all nodes of
//! the default scene, each where its node puts it. Vertices at the same place become one, since glTF
//! splits them wherever a normal or a texture has a seam. Texture coordinates are counted from below,
//! as in OBJ. Compressed meshes are refused.

use super::uri::{self, Target};
use super::{MeshData, MeshPlace, Refusal, Weld, at, at_byte};
use serde_json::Value;
use std::path::Path;
use thirdlaw::math::{Mat3, Quat, Vec3};

/// More triangles than this come from no sensible file: nodes may name the same mesh again and again.
const TRIANGLES_MAX: usize = 4_000_000;
/// Extensions without which nothing of a mesh can be read.
const COMPRESSIONS: [&str; 3] =
    ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Reads a file; `folder` is where its buffers are looked for.
pub fn read(bytes: &[u8], folder: Option<&Path>) -> Result<MeshData, Refusal> {
    let (json, chunk) = match bytes.starts_with(b"glTF") {
        true => chunks(bytes)?,
        false => (bytes, None),
    };
    let root: Value = serde_json::from_slice(json)
        .map_err(|error| (MeshPlace::Line(error.line()), format!("this is not JSON: {error}")))?;
    for name in items(&root, "extensionsRequired").iter().filter_map(Value::as_str) {
        if COMPRESSIONS.contains(&name) {
            return Err(at(
                "/extensionsRequired",
                format!("`{name}` cannot be read; save it uncompressed"),
            ));
        }
    }
    let buffers = read_buffers(&root, chunk, folder)?;
    let file = File { root: &root, buffers: &buffers };
    let mut out = Collected { has_uv: true, ..Collected::default() };
    let placed = file.scene()?;
    file.check_size(&placed)?;
    for (mesh, place) in placed {
        file.mesh(mesh, place, &mut out)?;
    }
    let Collected { weld, triangles, uv, has_uv } = out;
    let corner_uv = (has_uv && !triangles.is_empty()).then_some(uv);
    Ok(MeshData { vertices: weld.vertices, triangles, corner_uv })
}

/// JSON and bytes of a GLB.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), Refusal> {
    let word = |at: usize| -> Option<usize> {
        let word = bytes.get(at..at.checked_add(4)?)?;
        Some(word.iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte)))
    };
    let chunk = |start: usize, kind: &[u8; 4]| -> Option<&[u8]> {
        let length = word(start)?;
        let body = start.checked_add(8)?;
        (bytes.get(start + 4..body)? == kind).then_some(())?;
        bytes.get(body..body.checked_add(length)?)
    };
    if word(4) != Some(2) {
        return Err(at_byte(4, "only version 2 of glTF can be read"));
    }
    let json = chunk(12, b"JSON").ok_or_else(|| at_byte(12, "there is no whole chunk of JSON"))?;
    let next = 20 + json.len();
    match next >= bytes.len() {
        true => Ok((json, None)),
        false => {
            let binary = chunk(next, b"BIN\0");
            let binary = binary.ok_or_else(|| at_byte(next, "the chunk of bytes is cut short"))?;
            Ok((json, Some(binary)))
        }
    }
}

fn read_buffers(
    root: &Value,
    chunk: Option<&[u8]>,
    folder: Option<&Path>,
) -> Result<Vec<Vec<u8>>, Refusal> {
    let mut buffers = Vec::new();
    for (i, buffer) in items(root, "buffers").iter().enumerate() {
        let fail = |problem: String| at(format!("/buffers/{i}"), problem);
        let bytes = match (buffer.get("uri").and_then(Value::as_str), chunk, i) {
            (Some(address), ..) => match uri::resolve(address).map_err(fail)? {
                Target::Bytes(bytes) => bytes,
                Target::File(name) => uri::read_file(folder, &name).map_err(fail)?,
            },
            (None, Some(chunk), 0) => chunk.to_vec(),
            _ => return Err(fail("has no bytes".into())),
        };
        let length = count(buffer, "byteLength").unwrap_or(0);
        if bytes.len() < length {
            let there = bytes.len();
            return Err(fail(format!("is to have {length} bytes, but {there} are there")));
        }
        buffers.push(bytes);
    }
    Ok(buffers)
}

fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn count(value: &Value, key: &str) -> Option<usize> {
    value.get(key)?.as_u64()?.try_into().ok()
}

/// What was found so far.
#[derive(Default)]
struct Collected {
    weld: Weld,
    triangles: Vec<[u32; 3]>,
    uv: Vec<[[f64; 2]; 3]>,
    has_uv: bool,
}

/// A turn, stretch and shift.
#[derive(Clone, Copy)]
struct Place {
    axes: Mat3,
    origin: Vec3,
}

struct File<'a> {
    root: &'a Value,
    buffers: &'a [Vec<u8>],
}

impl File<'_> {
    /// The meshes of the default scene and where they are.
    fn scene(&self) -> Result<Vec<(usize, Place)>, Refusal> {
        let mut placed = Vec::new();
        let identity = Place { axes: Mat3::IDENTITY, origin: Vec3::ZERO };
        let scenes = items(self.root, "scenes");
        let Some(scene) = scenes.get(count(self.root, "scene").unwrap_or(0)) else {
            // a file without scenes is a library of meshes
            let meshes = items(self.root, "meshes").len();
            return Ok((0..meshes).map(|mesh| (mesh, identity)).collect());
        };
        let mut seen = vec![false; items(self.root, "nodes").len()];
        let mut open: Vec<(usize, Place)> = Vec::new();
        self.push_nodes(scene, "nodes", identity, &mut open)?;
        // from the last to the first, so that they come out in order
        open.reverse();
        while let Some((index, parent)) = open.pop() {
            let fail = |problem: &str| at(format!("/nodes/{index}"), problem);
            let Some(seen) = seen.get_mut(index) else { return Err(fail("does not exist")) };
            if std::mem::replace(seen, true) {
                return Err(fail("has two parents, or is its own"));
            }
            let node = &items(self.root, "nodes")[index];
            let place = parent.then(node).ok_or_else(|| fail("its transform makes no sense"))?;
            if let Some(mesh) = count(node, "mesh") {
                placed.push((mesh, place));
            }
            self.push_nodes(node, "children", place, &mut open)?;
        }
        Ok(placed)
    }

    /// Refuses a file whose meshes make too many triangles together, before any is made.
    fn check_size(&self, placed: &[(usize, Place)]) -> Result<(), Refusal> {
        let accessors = items(self.root, "accessors");
        let length = |primitive: &Value| {
            let corners = count(primitive, "indices")
                .or_else(|| primitive.get("attributes").and_then(|a| count(a, "POSITION")));
            let corners = corners.and_then(|i| accessors.get(i)).and_then(|a| count(a, "count"));
            match (corners, count(primitive, "mode").unwrap_or(4)) {
                (Some(corners), 4) => corners / 3,
                (Some(corners), 5 | 6) => corners,
                _ => 0,
            }
        };
        let sizes: Vec<usize> = items(self.root, "meshes")
            .iter()
            .map(|m| items(m, "primitives").iter().map(length).fold(0, usize::saturating_add))
            .collect();
        let mut total: usize = 0;
        for (mesh, _) in placed {
            total = total.saturating_add(sizes.get(*mesh).copied().unwrap_or(0));
            if total > TRIANGLES_MAX {
                let problem =
                    format!("makes more than {TRIANGLES_MAX} triangles with those before");
                return Err(at(format!("/meshes/{mesh}"), problem));
            }
        }
        Ok(())
    }

    fn push_nodes(
        &self,
        from: &Value,
        key: &str,
        place: Place,
        open: &mut Vec<(usize, Place)>,
    ) -> Result<(), Refusal> {
        for index in items(from, key) {
            let index = index.as_u64().and_then(|i| usize::try_from(i).ok());
            let index = index.ok_or_else(|| at(format!("/{key}"), "does not name nodes"))?;
            open.push((index, place));
        }
        Ok(())
    }

    fn mesh(&self, index: usize, place: Place, out: &mut Collected) -> Result<(), Refusal> {
        let name = format!("/meshes/{index}");
        let Some(mesh) = items(self.root, "meshes").get(index) else {
            return Err(at(name, "does not exist"));
        };
        for (k, primitive) in items(mesh, "primitives").iter().enumerate() {
            let name = format!("{name}/primitives/{k}");
            self.primitive(primitive, &name, place, out)?;
        }
        Ok(())
    }

    fn primitive(
        &self,
        primitive: &Value,
        name: &str,
        place: Place,
        out: &mut Collected,
    ) -> Result<(), Refusal> {
        let mode = count(primitive, "mode").unwrap_or(4);
        if !(4..=6).contains(&mode) {
            return Ok(()); // points and lines bound nothing
        }
        let fail = |problem: String| at(name, problem);
        let attribute = |key: &str| primitive.get("attributes").and_then(|a| count(a, key));
        let Some(positions) = attribute("POSITION") else {
            return Err(fail("has no positions".into()));
        };
        let positions = self.accessor(positions, 3)?;
        let uv = attribute("TEXCOORD_0").map(|uv| self.accessor(uv, 2)).transpose()?;
        let indices = count(primitive, "indices").map(|i| self.accessor(i, 1)).transpose()?;
        let length = indices.as_ref().map_or(positions.count, |list| list.count);
        let triangles = if mode == 4 { length / 3 } else { length.saturating_sub(2) };
        out.has_uv &= uv.is_some();
        // what a mirror turns inside out is turned back
        let mirrored = place.axes.determinant() < 0.0;
        for t in 0..triangles {
            let corners = match mode {
                4 => [3 * t, 3 * t + 1, 3 * t + 2],
                5 => [t, t + 1 + t % 2, t + 2 - t % 2],
                _ => [0, t + 1, t + 2],
            };
            let corners = if mirrored { [corners[0], corners[2], corners[1]] } else { corners };
            let mut triangle = [0; 3];
            let mut coordinates = [[0.0; 2]; 3];
            for (k, corner) in corners.into_iter().enumerate() {
                let vertex = indices.as_ref().map_or(corner, |list| list.read(corner)[0] as usize);
                if vertex >= positions.count {
                    let there = positions.count;
                    return Err(fail(format!("triangle {t} names vertex {vertex} of {there}")));
                }
                let [x, y, z] = positions.read(vertex);
                let v = place.axes * Vec3::new(x, y, z) + place.origin;
                if !v.is_finite() {
                    return Err(fail(format!("vertex {vertex} is not finite")));
                }
                triangle[k] = out.weld.vertex(v);
                if let Some(uv) = &uv {
                    let [u, v, _] = if vertex < uv.count { uv.read(vertex) } else { [f64::NAN; 3] };
                    if !(u.is_finite() && v.is_finite()) {
                        return Err(fail(format!("vertex {vertex} has no texture coordinate")));
                    }
                    coordinates[k] = [u, 1.0 - v];
                }
            }
            out.triangles.push(triangle);
            out.uv.push(coordinates);
        }
        Ok(())
    }

    /// An accessor with at least `width` numbers an item.
    fn accessor(&self, index: usize, width: usize) -> Result<Accessor<'_>, Refusal> {
        let fail = |problem: &str| at(format!("/accessors/{index}"), problem);
        let Some(accessor) = items(self.root, "accessors").get(index) else {
            return Err(fail("does not exist"));
        };
        if accessor.get("sparse").is_some() {
            return Err(fail("is sparse, which cannot be read"));
        }
        let components = match accessor.get("type").and_then(Value::as_str) {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            Some("VEC3") => 3,
            Some("VEC4") => 4,
            _ => 0,
        };
        if components < width {
            return Err(fail(&format!("has fewer than {width} numbers an item")));
        }
        let component = Component::from_number(count(accessor, "componentType"))
            .ok_or_else(|| fail("has numbers of no known kind"))?;
        let views = items(self.root, "bufferViews");
        let view = count(accessor, "bufferView").and_then(|view| views.get(view));
        let view = view.ok_or_else(|| fail("has no view of a buffer"))?;
        let buffer = count(view, "buffer").and_then(|buffer| self.buffers.get(buffer));
        let buffer = buffer.ok_or_else(|| fail("its view has no buffer"))?;
        let number = |value: &Value, key: &str| count(value, key).unwrap_or(0);
        let items = number(accessor, "count");
        let size = component.size() * components;
        let stride = count(view, "byteStride").unwrap_or(size).max(1);
        let within = || -> Option<&[u8]> {
            let start = number(view, "byteOffset");
            let bytes = buffer.get(start..start.checked_add(number(view, "byteLength"))?)?;
            let bytes = bytes.get(number(accessor, "byteOffset")..)?;
            let last = items
                .checked_sub(1)
                .map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(size));
            (last? <= bytes.len()).then_some(bytes)
        };
        let bytes = within().ok_or_else(|| fail("reaches beyond its buffer"))?;
        let normalized = accessor.get("normalized").and_then(Value::as_bool) == Some(true);
        Ok(Accessor { bytes, stride, count: items, component, normalized, width })
    }
}

impl Place {
    /// The place of a node whose parent is here; `None` if a number of it is none.
    fn then(self, node: &Value) -> Option<Place> {
        let numbers = |key: &str| -> Option<Vec<f64>> {
            node.get(key)?.as_array()?.iter().map(Value::as_f64).collect()
        };
        let local = match node.get("matrix") {
            Some(_) => {
                let m: [f64; 16] = numbers("matrix")?.try_into().ok()?;
                let column = |k: usize| Vec3::new(m[4 * k], m[4 * k + 1], m[4 * k + 2]);
                Place { axes: Mat3::from_cols(column(0), column(1), column(2)), origin: column(3) }
            }
            None => {
                let vector = |key: &str, plain: Vec3| match node.get(key) {
                    Some(_) => <[f64; 3]>::try_from(numbers(key)?).ok().map(Vec3::from),
                    None => Some(plain),
                };
                let turn = match node.get("rotation") {
                    Some(_) => Quat::from_array(numbers("rotation")?.try_into().ok()?),
                    None => Quat::IDENTITY,
                };
                let length = turn.length();
                if !(length > 1e-6 && length.is_finite()) {
                    return None;
                }
                let scale = Mat3::from_diagonal(vector("scale", Vec3::ONE)?);
                let axes = Mat3::from_quat(turn.normalize()) * scale;
                Place { axes, origin: vector("translation", Vec3::ZERO)? }
            }
        };
        let place =
            Place { axes: self.axes * local.axes, origin: self.axes * local.origin + self.origin };
        (place.axes.is_finite() && place.origin.is_finite()).then_some(place)
    }
}

#[derive(Clone, Copy)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn from_number(number: Option<usize>) -> Option<Component> {
        Some(match number? {
            5120 => Component::I8,
            5121 => Component::U8,
            5122 => Component::I16,
            5123 => Component::U16,
            5125 => Component::U32,
            5126 => Component::F32,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Component::I8 | Component::U8 => 1,
            Component::I16 | Component::U16 => 2,
            Component::U32 | Component::F32 => 4,
        }
    }
}

/// Numbers in a buffer; all `count` items are within it.
struct Accessor<'a> {
    bytes: &'a [u8],
    stride: usize,
    count: usize,
    component: Component,
    normalized: bool,
    width: usize,
}

impl Accessor<'_> {
    /// The first numbers of an item; missing ones are 0.
    fn read(&self, item: usize) -> [f64; 3] {
        let size = self.component.size();
        let mut out = [0.0; 3];
        for (k, out) in out.iter_mut().enumerate().take(self.width) {
            let start = item * self.stride + k * size;
            let word = self.bytes[start..start + size]
                .iter()
                .rev()
                .fold(0u32, |sum, &byte| sum << 8 | u32::from(byte));
            let (value, most) = match self.component {
                Component::I8 => (f64::from(word as i8), 127.0),
                Component::U8 => (f64::from(word), 255.0),
                Component::I16 => (f64::from(word as i16), 32767.0),
                Component::U16 => (f64::from(word), 65535.0),
                Component::U32 => (f64::from(word), 1.0),
                Component::F32 => (f64::from(f32::from_bits(word)), 1.0),
            };
            *out = if self.normalized { (value / most).max(-1.0) } else { value };
        }
        out
    }
}

#[cfg(test)]
#[path = "gltf_tests.rs"]
mod tests;
