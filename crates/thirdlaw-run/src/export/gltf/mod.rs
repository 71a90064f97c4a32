//! glTF in its binary form: one `.glb` with animated nodes and morph targets.
//!
//! Bodies of equal shape share the bytes of their mesh; each mesh of glTF has one material, so equal
//! bodies of one colour share the mesh itself. A deforming object has the shape of the first frame
//! and a morph target for every other frame, of which one at a time is switched on: exact at frames
//! and linear between them, but large, so USD is the better choice for long runs of cloth.
//! Particles come and go, which glTF does not know: see `stream.rs`.

mod buffer;
mod soft;
mod stream;

use super::output::NewFile;
use super::reader::Reader;
use super::stage::{ExportMesh, Form, RigidSample, Sample, Stage, linear};
use crate::error::RunError;
use buffer::Buffer;
use serde_json::{Value, json};
use std::collections::HashMap;
use thirdlaw::Quat;

/// Samples of rigid bodies that are held in memory at once: about 128 MB.
const SAMPLES_HELD: usize = 1_000_000;

/// How often the frames are gone through.
pub fn passes(stage: &Stage<'_>) -> usize {
    let moving = stage.objects.iter().filter(|o| is_moving(&o.form)).count();
    let soft = stage.objects.iter().map(|o| match o.form {
        Form::Rigid { .. } => 0,
        Form::Deforming { .. } => 1,
        Form::Points { .. } => 2,
    });
    let soft: usize = soft.sum();
    moving.div_ceil(batch_length(stage)) + soft
}

/// Writes the stage.
pub fn write(
    stage: &Stage<'_>,
    reader: &mut Reader<'_>,
    file: &mut NewFile,
    scratch: NewFile,
) -> Result<(), RunError> {
    let mut writer = Writer::new(stage, scratch)?;
    let first = stage.frame(stage.first())?;
    let mut moving = Vec::new();
    for (i, object) in stage.objects.iter().enumerate() {
        let node = match (&object.form, &first.samples[i]) {
            (Form::Rigid { mesh, moves, .. }, Sample::Rigid(sample)) => {
                if *moves && stage.frames.len() > 1 {
                    moving.push(i);
                }
                writer.rigid_node(i, *mesh, sample)?
            }
            (Form::Points { home, .. }, _) => writer.stream_node(i, *home, reader)?,
            (_, Sample::Points(sample)) => writer.soft_node(i, sample, reader)?,
            _ => json!({ "name": object.name }),
        };
        writer.nodes.push(node);
    }
    for batch in moving.chunks(batch_length(stage)) {
        let mut held = vec![Vec::with_capacity(stage.frames.len()); batch.len()];
        reader.each(|_, frame| {
            for (list, &i) in held.iter_mut().zip(batch) {
                if let Sample::Rigid(sample) = &frame.samples[i] {
                    list.push(*sample);
                }
            }
            Ok(())
        })?;
        for (list, &i) in held.iter().zip(batch) {
            writer.animate(i, list)?;
        }
    }
    writer.finish(file)
}

fn batch_length(stage: &Stage<'_>) -> usize {
    (SAMPLES_HELD / stage.frames.len().max(1)).max(1)
}

fn is_moving(form: &Form) -> bool {
    matches!(form, Form::Rigid { moves: true, .. })
}

/// A file in the making.
struct Writer<'a> {
    stage: &'a Stage<'a>,
    buffer: Buffer,
    nodes: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    material_of: HashMap<([u32; 3], bool), usize>,
    /// The primitive of each mesh of the stage, without material.
    primitives: HashMap<usize, Value>,
    mesh_of: HashMap<(usize, usize), usize>,
    channels: Vec<Value>,
    samplers: Vec<Value>,
    /// Accessor of the times of all frames.
    times: usize,
}

impl<'a> Writer<'a> {
    fn new(stage: &'a Stage<'a>, scratch: NewFile) -> Result<Writer<'a>, RunError> {
        let mut buffer = Buffer::new(scratch);
        let start = stage.time(stage.first());
        let times: Vec<f32> =
            stage.frames.iter().map(|&frame| (stage.time(frame) - start) as f32).collect();
        let times = match times.len() {
            0 | 1 => 0,
            _ => buffer.accessor(&times, "SCALAR", None, true)?,
        };
        Ok(Writer {
            stage,
            buffer,
            nodes: Vec::new(),
            meshes: Vec::new(),
            materials: Vec::new(),
            material_of: HashMap::new(),
            primitives: HashMap::new(),
            mesh_of: HashMap::new(),
            channels: Vec::new(),
            samplers: Vec::new(),
            times,
        })
    }

    fn material(&mut self, color: [f32; 3], two_sided: bool) -> usize {
        let color = linear(color);
        let next = self.materials.len();
        let index = *self.material_of.entry((color.map(f32::to_bits), two_sided)).or_insert(next);
        if index == next {
            let [r, g, b] = color;
            self.materials.push(json!({
                "pbrMetallicRoughness": {
                    "baseColorFactor": [r, g, b, 1.0],
                    "metallicFactor": 0.0,
                    "roughnessFactor": 0.6,
                },
                "doubleSided": two_sided,
            }));
        }
        index
    }

    fn rigid_node(
        &mut self,
        i: usize,
        mesh: usize,
        sample: &RigidSample,
    ) -> Result<Value, RunError> {
        let object = &self.stage.objects[i];
        let shape = &self.stage.meshes[mesh];
        let material = self.material(object.color, shape.two_sided);
        if !self.primitives.contains_key(&mesh) {
            let primitive = self.primitive(shape)?;
            self.primitives.insert(mesh, primitive);
        }
        let index = match self.mesh_of.get(&(mesh, material)) {
            Some(index) => *index,
            None => {
                let mut primitive = self.primitives[&mesh].clone();
                primitive["material"] = json!(material);
                self.meshes.push(json!({ "primitives": [primitive] }));
                self.mesh_of.insert((mesh, material), self.meshes.len() - 1);
                self.meshes.len() - 1
            }
        };
        Ok(json!({
            "name": object.name,
            "mesh": index,
            "translation": sample.pose.translation.to_array().map(|x| x as f32),
            "rotation": turn(sample.pose.rotation),
        }))
    }

    /// The bytes of a mesh, its vertices split where corners differ in normal.
    fn primitive(&mut self, mesh: &ExportMesh) -> Result<Value, RunError> {
        let split = Split::new(mesh);
        let positions: Vec<f32> = split
            .vertices
            .iter()
            .flat_map(|&v| mesh.vertices[v as usize].to_array().map(|x| x as f32))
            .collect();
        let mut attributes = serde_json::Map::new();
        let position = self.buffer.accessor(&positions, "VEC3", Some(buffer::VERTICES), true)?;
        attributes.insert("POSITION".into(), json!(position));
        if !split.normals.is_empty() {
            let normals = self.buffer.accessor(
                split.normals.as_flattened(),
                "VEC3",
                Some(buffer::VERTICES),
                false,
            )?;
            attributes.insert("NORMAL".into(), json!(normals));
        }
        if !split.uv.is_empty() {
            let uv = split.uv.as_flattened();
            let uv = self.buffer.accessor(uv, "VEC2", Some(buffer::VERTICES), false)?;
            attributes.insert("TEXCOORD_0".into(), json!(uv));
        }
        let indices = self.buffer.indices(split.triangles.as_flattened())?;
        Ok(json!({ "attributes": attributes, "indices": indices }))
    }

    /// Adds the motion of a rigid body.
    fn animate(&mut self, node: usize, samples: &[RigidSample]) -> Result<(), RunError> {
        let translations: Vec<f32> =
            samples.iter().flat_map(|s| s.pose.translation.to_array().map(|x| x as f32)).collect();
        let mut last = samples.first().map_or(Quat::IDENTITY, |s| s.pose.rotation);
        let mut rotations = Vec::with_capacity(4 * samples.len());
        for sample in samples {
            // of the two quaternions of an orientation the one that turns the short way
            let q = sample.pose.rotation;
            last = if q.dot(last) < 0.0 { -q } else { q };
            rotations.extend(turn(last));
        }
        self.channel(node, "translation", &translations, "VEC3", 3)?;
        self.channel(node, "rotation", &rotations, "VEC4", 4)
    }

    /// Adds a channel unless its values never change.
    fn channel(
        &mut self,
        node: usize,
        path: &str,
        values: &[f32],
        kind: &str,
        width: usize,
    ) -> Result<(), RunError> {
        if values.chunks_exact(width).all(|value| value == &values[..width]) {
            return Ok(());
        }
        let output = self.buffer.accessor(values, kind, None, false)?;
        self.sampler(node, path, output);
        Ok(())
    }

    fn sampler(&mut self, node: usize, path: &str, output: usize) {
        self.channels.push(json!({
            "sampler": self.samplers.len(),
            "target": { "node": node, "path": path },
        }));
        self.samplers.push(json!({ "input": self.times, "output": output }));
    }

    fn finish(self, file: &mut NewFile) -> Result<(), RunError> {
        let nodes: Vec<usize> = (0..self.nodes.len()).collect();
        let mut root = json!({
            "asset": { "version": "2.0", "generator": format!("thirdlaw {}", crate::record::VERSION) },
            "scene": 0,
            "scenes": [{ "name": self.stage.title, "extras": { "fps": self.stage.fps } }],
        });
        // empty lists are not allowed
        let lists = [("nodes", self.nodes), ("meshes", self.meshes), ("materials", self.materials)];
        for (name, list) in lists {
            if !list.is_empty() {
                root[name] = Value::Array(list);
            }
        }
        if !nodes.is_empty() {
            root["scenes"][0]["nodes"] = json!(nodes);
        }
        if !self.channels.is_empty() {
            root["animations"] = json!([{
                "name": "run", "channels": self.channels, "samplers": self.samplers,
            }]);
        }
        self.buffer.finish(root, file)
    }
}

/// x, y, z, w, of unit length in the precision of the file.
fn turn(q: Quat) -> [f32; 4] {
    q.normalize().to_array().map(|x| x as f32)
}

/// A mesh with one normal and one texture coordinate a vertex.
struct Split {
    /// Of which vertex of the mesh each is a copy.
    vertices: Vec<u32>,
    normals: Vec<[f32; 3]>,
    uv: Vec<[f32; 2]>,
    triangles: Vec<[u32; 3]>,
}

impl Split {
    fn new(mesh: &ExportMesh) -> Split {
        let mut split = Split {
            vertices: Vec::new(),
            normals: Vec::new(),
            uv: Vec::new(),
            triangles: Vec::with_capacity(mesh.triangles.len()),
        };
        let mut known: HashMap<(u32, [u32; 3], [u32; 2]), u32> = HashMap::new();
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            split.triangles.push([0, 1, 2].map(|k| {
                let normal = mesh.normals.get(t).map(|n| n[k]);
                let uv = mesh.uv.get(t).map(|uv| uv[k]);
                let key = (
                    triangle[k],
                    normal.unwrap_or_default().map(f32::to_bits),
                    uv.unwrap_or_default().map(f32::to_bits),
                );
                *known.entry(key).or_insert_with(|| {
                    split.vertices.push(triangle[k]);
                    split.normals.extend(normal);
                    // glTF counts rows of a texture from the top
                    split.uv.extend(uv.map(|[u, v]| [u, 1.0 - v]));
                    split.vertices.len() as u32 - 1
                })
            }));
        }
        split
    }
}

#[cfg(test)]
mod tests {
    use super::super::stage::examples;
    use super::*;
    use crate::progress::unwatched;

    /// JSON and bytes of the example's file, with the particles left out or kept.
    fn exported(with_particles: bool) -> Result<(Value, Vec<u8>), RunError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.glb");
        let mut stage = examples::stage();
        if !with_particles {
            stage.objects.pop();
            let all = stage.source;
            stage.source = Box::new(move |number| {
                let mut frame = all(number)?;
                frame.samples.pop();
                Ok(frame)
            });
        }
        let mut file = NewFile::create(&path, false).unwrap();
        let scratch = NewFile::create(&folder.path().join("a.bin"), false).unwrap();
        write(&stage, &mut Reader::new(&stage, 1, &mut unwatched), &mut file, scratch)?;
        file.keep()?;
        let bytes = std::fs::read(path).unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((&bytes[..4], word(4), word(8)), (&b"glTF"[..], 2, bytes.len()));
        let length = word(12);
        let json = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
        assert_eq!(word(20 + length) + 28 + length, bytes.len());
        Ok((json, bytes[28 + length..].to_vec()))
    }

    #[test]
    fn equal_bodies_share_the_bytes_of_their_mesh() {
        let (json, _) = exported(false).unwrap();
        let position =
            |i: usize| json["meshes"][i]["primitives"][0]["attributes"]["POSITION"].clone();
        assert_eq!(json["nodes"].as_array().unwrap().len(), 4);
        assert_eq!(json["meshes"].as_array().unwrap().len(), 3, "two colours of cube, and cloth");
        assert_eq!(position(0), position(1));
        assert_eq!(json["nodes"][1]["mesh"], json["nodes"][2]["mesh"]);
    }

    #[test]
    fn only_what_moves_has_channels() {
        let (json, _) = exported(false).unwrap();
        let channels = json["animations"][0]["channels"].as_array().unwrap();
        let targets: Vec<(u64, &str)> = channels
            .iter()
            .map(|c| (c["target"]["node"].as_u64().unwrap(), c["target"]["path"].as_str().unwrap()))
            .collect();
        let wanted = [(3, "weights"), (0, "translation"), (0, "rotation"), (1, "translation")];
        assert_eq!(targets, wanted);
    }

    #[test]
    fn each_frame_of_cloth_is_a_target_of_its_own() {
        let (json, bytes) = exported(false).unwrap();
        let cloth = json["nodes"][3]["mesh"].as_u64().unwrap() as usize;
        let primitive = &json["meshes"][cloth]["primitives"][0];
        assert_eq!(primitive["targets"].as_array().unwrap().len(), 2);
        let read = |accessor: &Value| -> Vec<f32> {
            let accessor = &json["accessors"][accessor.as_u64().unwrap() as usize];
            let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
            let number = |value: &Value| value.as_u64().unwrap_or(0) as usize;
            let start = number(&view["byteOffset"]) + number(&accessor["byteOffset"]);
            let width = if accessor["type"] == "VEC3" { 3 } else { 1 };
            let count = width * number(&accessor["count"]);
            let words = bytes[start..start + 4 * count].chunks_exact(4);
            words.map(|w| f32::from_le_bytes(w.try_into().unwrap())).collect()
        };
        let last = read(&primitive["targets"][1]["POSITION"]);
        assert_eq!(last, [0.0, -4.0, 0.0].repeat(4));
        let weights = read(&json["animations"][0]["samplers"][0]["output"]);
        assert_eq!(weights, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn particles_have_a_point_each_and_wait_where_they_come_from() {
        let (json, _) = exported(true).unwrap();
        let spray = json["nodes"][4]["mesh"].as_u64().unwrap() as usize;
        let primitive = &json["meshes"][spray]["primitives"][0];
        assert_eq!(primitive["mode"], 0);
        let of = |accessor: &Value| &json["accessors"][accessor.as_u64().unwrap() as usize];
        let base = of(&primitive["attributes"]["POSITION"]);
        // five in the last frame; one at the origin and four at home, 1 m up, in the first
        assert_eq!((&base["count"], &base["max"]), (&json!(5), &json!([0.0, 1.0, 0.0])));
        assert_eq!(primitive["targets"].as_array().unwrap().len(), 2);
        let steps = json["animations"][0]["samplers"].as_array().unwrap();
        assert_eq!(steps.iter().filter(|s| s["interpolation"] == "STEP").count(), 1);
    }
}
