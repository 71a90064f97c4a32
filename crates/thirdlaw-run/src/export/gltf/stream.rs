//! Particles as points with morph targets.
//!
//! glTF has a fixed number of vertices, but particles come and go. The mesh has as many points as
//! there are particles in the fullest frame; each particle keeps one of them for its life, and those
//! that stand for no particle wait at the place where the stream comes from. Targets are switched
//! without transition, so that no point is seen on its way back there.

use super::super::reader::Reader;
use super::super::stage::{PointsSample, Sample};
use super::{Writer, buffer};
use crate::error::RunError;
use serde_json::{Value, json};
use std::collections::HashMap;
use thirdlaw::Vec3;

/// glTF's number for a primitive of points.
const POINTS: u32 = 0;

/// Who has which point.
#[derive(Default)]
struct Places {
    of: HashMap<u64, usize>,
    free: Vec<usize>,
    count: usize,
}

impl Places {
    /// The point of every particle of the next frame.
    fn next(&mut self, sample: &PointsSample) -> Vec<usize> {
        let id = |k: usize| sample.ids.get(k).copied().unwrap_or(k as u64);
        let mut of = HashMap::with_capacity(sample.points.len());
        for k in 0..sample.points.len() {
            if let Some(place) = self.of.remove(&id(k)) {
                of.insert(id(k), place);
            }
        }
        // the lowest first, so that every pass finds the same
        self.free.extend(self.of.drain().map(|(_, place)| place));
        self.free.sort_unstable_by(|a, b| b.cmp(a));
        let mut places = Vec::with_capacity(sample.points.len());
        for k in 0..sample.points.len() {
            places.push(*of.entry(id(k)).or_insert_with(|| {
                self.free.pop().unwrap_or_else(|| {
                    self.count += 1;
                    self.count - 1
                })
            }));
        }
        self.of = of;
        places
    }
}

impl Writer<'_> {
    /// The node of a stream that comes from `home`, with its mesh and its animation.
    pub fn stream_node(
        &mut self,
        i: usize,
        home: Vec3,
        reader: &mut Reader<'_>,
    ) -> Result<Value, RunError> {
        let object = &self.stage.objects[i];
        let mut places = Places::default();
        reader.each(|_, frame| {
            if let Sample::Points(sample) = &frame.samples[i] {
                places.next(sample);
            }
            Ok(())
        })?;
        let count = places.count;
        let mut frames = Vec::with_capacity(self.stage.frames.len());
        let mut again = Places::default();
        let bytes = 12 * count as u64;
        let targets = self.stage.frames.len() as u64 - 1;
        let mut view = None;
        let buffer = &mut self.buffer;
        let mut base: Vec<f32> = Vec::new();
        reader.each(|_, frame| {
            let Sample::Points(sample) = &frame.samples[i] else { return Ok(()) };
            if count == 0 {
                return Ok(());
            }
            let mut now = home.to_array().map(|x| x as f32).repeat(count);
            for (point, place) in sample.points.iter().zip(again.next(sample)) {
                let point = point.to_array().map(|x| x as f32);
                now[3 * place..3 * place + 3].copy_from_slice(&point);
            }
            if frames.is_empty() {
                frames.push(buffer.accessor(&now, "VEC3", Some(buffer::VERTICES), true)?);
                base = now;
                return Ok(());
            }
            let shifts: Vec<f32> = now.iter().zip(&base).map(|(a, b)| a - b).collect();
            let view = *view.get_or_insert_with(|| {
                buffer.view(bytes * targets, Some(buffer::VERTICES), Some(12))
            });
            let offset = bytes * (frames.len() as u64 - 1);
            frames.push(buffer.append(&shifts, "VEC3", (view, offset), true)?);
            Ok(())
        })?;
        let Some((&position, shifts)) = frames.split_first() else {
            // glTF has no empty lists
            return Ok(json!({ "name": object.name }));
        };
        let mut primitive = json!({ "attributes": { "POSITION": position }, "mode": POINTS });
        primitive["material"] = json!(self.material(object.color, false));
        let mut mesh = json!({ "primitives": [primitive] });
        if !shifts.is_empty() {
            let list = shifts.iter().map(|target| json!({ "POSITION": target }));
            mesh["primitives"][0]["targets"] = list.collect();
            mesh["weights"] = json!(vec![0.0; shifts.len()]);
            self.switch(i, shifts.len())?;
            if let Some(sampler) = self.samplers.last_mut() {
                sampler["interpolation"] = json!("STEP");
            }
        }
        self.meshes.push(mesh);
        Ok(json!({ "name": object.name, "mesh": self.meshes.len() - 1 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particles_keep_their_point_and_leave_it_to_others() {
        let sample = |ids: &[u64]| PointsSample {
            points: vec![Vec3::ZERO; ids.len()],
            ids: ids.to_vec(),
            ..PointsSample::default()
        };
        let mut places = Places::default();
        assert!(places.next(&sample(&[])).is_empty());
        assert_eq!(places.next(&sample(&[3, 4, 5])), [0, 1, 2]);
        assert_eq!(places.next(&sample(&[5, 6, 4])), [2, 0, 1]);
        assert_eq!(places.next(&sample(&[6])), [0]);
        assert_eq!(places.next(&sample(&[7, 8, 9, 6])), [1, 2, 3, 0]);
        assert_eq!(places.count, 4);
    }
}
