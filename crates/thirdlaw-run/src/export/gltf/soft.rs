//! Cloth and soft bodies as morph targets.

use super::super::reader::Reader;
use super::super::stage::{PointsSample, Sample};
use super::{Split, Writer, buffer};
use crate::error::RunError;
use serde_json::{Value, json};

impl Writer<'_> {
    /// The node of a deforming object, with its mesh and its animation. `first` is its shape in the
    /// first frame.
    pub fn soft_node(
        &mut self,
        i: usize,
        first: &PointsSample,
        reader: &mut Reader<'_>,
    ) -> Result<Value, RunError> {
        let object = &self.stage.objects[i];
        let mesh = object.form.mesh().map(|m| &self.stage.meshes[m]);
        let split = mesh.map(Split::new);
        let every: Vec<u32> = (0..first.points.len() as u32).collect();
        let vertices = split.as_ref().map_or(&every, |split| &split.vertices);
        let base: Vec<f32> = vertices
            .iter()
            .flat_map(|&v| first.points[v as usize].to_array().map(|x| x as f32))
            .collect();
        let position = self.buffer.accessor(&base, "VEC3", Some(buffer::VERTICES), true)?;
        let mut primitive = json!({ "attributes": { "POSITION": position } });
        if let Some(split) = &split {
            if !split.uv.is_empty() {
                let uv = split.uv.as_flattened();
                let uv = self.buffer.accessor(uv, "VEC2", Some(buffer::VERTICES), false)?;
                primitive["attributes"]["TEXCOORD_0"] = json!(uv);
            }
            let corners = split.triangles.as_flattened();
            primitive["indices"] = json!(self.buffer.indices(corners)?);
        }
        primitive["material"] =
            json!(self.material(object.color, mesh.is_some_and(|m| m.two_sided)));
        let targets = self.targets(i, first, vertices, reader)?;
        let mut mesh = json!({ "primitives": [primitive] });
        if !targets.is_empty() {
            let count = targets.len();
            mesh["primitives"][0]["targets"] =
                targets.into_iter().map(|target| json!({ "POSITION": target })).collect();
            mesh["weights"] = json!(vec![0.0; count]);
            self.switch(i, count)?;
        }
        self.meshes.push(mesh);
        Ok(json!({ "name": object.name, "mesh": self.meshes.len() - 1 }))
    }

    /// How far the vertices are, in each frame but the first, from where they were in the first;
    /// returns the accessors. None where nothing ever moves.
    fn targets(
        &mut self,
        i: usize,
        first: &PointsSample,
        vertices: &[u32],
        reader: &mut Reader<'_>,
    ) -> Result<Vec<usize>, RunError> {
        let count = self.stage.frames.len() - 1;
        let bytes = 12 * vertices.len() as u64;
        let mut view = None;
        let mut targets = Vec::with_capacity(count);
        let start = self.stage.first();
        let buffer = &mut self.buffer;
        reader.each(|number, frame| {
            let Sample::Points(sample) = &frame.samples[i] else { return Ok(()) };
            if number == start || vertices.is_empty() {
                return Ok(());
            }
            let shift = |&v: &u32| {
                (sample.points[v as usize] - first.points[v as usize]).to_array().map(|x| x as f32)
            };
            let shifts: Vec<f32> = vertices.iter().flat_map(shift).collect();
            let stride = Some(12);
            let view = *view.get_or_insert_with(|| {
                buffer.view(bytes * count as u64, Some(buffer::VERTICES), stride)
            });
            let offset = bytes * targets.len() as u64;
            targets.push(buffer.append(&shifts, "VEC3", (view, offset), true)?);
            Ok(())
        })?;
        Ok(targets)
    }

    /// Switches on the targets one after the other, a frame each.
    pub fn switch(&mut self, node: usize, targets: usize) -> Result<(), RunError> {
        let mut weights = vec![0.0f32; targets * (targets + 1)];
        for k in 0..targets {
            weights[(k + 1) * targets + k] = 1.0;
        }
        let output = self.buffer.accessor(&weights, "SCALAR", None, false)?;
        self.sampler(node, "weights", output);
        Ok(())
    }
}
