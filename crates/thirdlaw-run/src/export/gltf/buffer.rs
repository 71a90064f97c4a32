//! The bytes of a `.glb`: collected in a scratch file, since the JSON that describes them comes
//! first in the end.

use super::super::output::NewFile;
use crate::error::RunError;
use serde_json::{Value, json};
use std::io::Read;

/// A view's use: data of vertices.
pub const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;

/// Bytes with views and accessors into them.
pub struct Buffer {
    scratch: NewFile,
    length: u64,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    /// Collects into this file, which goes away.
    pub fn new(scratch: NewFile) -> Buffer {
        Buffer { scratch, length: 0, views: Vec::new(), accessors: Vec::new() }
    }

    /// Appends numbers with a view of their own; returns their accessor.
    pub fn accessor(
        &mut self,
        values: &[f32],
        kind: &str,
        target: Option<u32>,
        bounded: bool,
    ) -> Result<usize, RunError> {
        let view = self.view(4 * values.len() as u64, target, None);
        self.append(values, kind, (view, 0), bounded)
    }

    /// Appends the corners of triangles; returns their accessor.
    pub fn indices(&mut self, corners: &[u32]) -> Result<usize, RunError> {
        let view = self.view(4 * corners.len() as u64, Some(INDICES), None);
        self.write(corners.iter().flat_map(|x| x.to_le_bytes()).collect())?;
        self.accessors.push(json!({
            "bufferView": view, "componentType": UNSIGNED_INT, "count": corners.len(),
            "type": "SCALAR",
        }));
        Ok(self.accessors.len() - 1)
    }

    /// A view of the next `length` bytes, which must then be appended.
    pub fn view(&mut self, length: u64, target: Option<u32>, stride: Option<u32>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.length, "byteLength": length });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        if let Some(stride) = stride {
            view["byteStride"] = json!(stride);
        }
        self.views.push(view);
        self.views.len() - 1
    }

    /// Appends numbers to a view at an offset; returns their accessor.
    pub fn append(
        &mut self,
        values: &[f32],
        kind: &str,
        (view, offset): (usize, u64),
        bounded: bool,
    ) -> Result<usize, RunError> {
        let width = match kind {
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 1,
        };
        self.write(values.iter().flat_map(|x| x.to_le_bytes()).collect())?;
        let mut accessor = json!({
            "bufferView": view, "byteOffset": offset, "componentType": FLOAT,
            "count": values.len() / width, "type": kind,
        });
        if bounded {
            let mut low = vec![f32::INFINITY; width];
            let mut high = vec![f32::NEG_INFINITY; width];
            for value in values.chunks_exact(width) {
                for k in 0..width {
                    low[k] = low[k].min(value[k]);
                    high[k] = high[k].max(value[k]);
                }
            }
            accessor["min"] = json!(low);
            accessor["max"] = json!(high);
        }
        self.accessors.push(accessor);
        Ok(self.accessors.len() - 1)
    }

    fn write(&mut self, bytes: Vec<u8>) -> Result<(), RunError> {
        self.length += bytes.len() as u64;
        if self.length > u64::from(u32::MAX) / 2 {
            return Err(RunError::TooLarge);
        }
        self.scratch.write(bytes)
    }

    /// Writes the whole file: header, `root` with the description of the bytes, and the bytes.
    pub fn finish(self, mut root: Value, file: &mut NewFile) -> Result<(), RunError> {
        let length = self.length as u32;
        if length > 0 {
            root["buffers"] = json!([{ "byteLength": length }]);
            root["bufferViews"] = Value::Array(self.views);
            root["accessors"] = Value::Array(self.accessors);
        }
        let mut text = root.to_string().into_bytes();
        // chunks are multiples of four bytes
        text.resize(text.len().next_multiple_of(4), b' ');
        let chunk = if length > 0 { 8 + length } else { 0 };
        let total = 12 + 8 + text.len() as u64 + u64::from(chunk);
        let Ok(total) = u32::try_from(total) else {
            return Err(RunError::TooLarge);
        };
        file.write(b"glTF")?;
        file.write(2u32.to_le_bytes())?;
        file.write(total.to_le_bytes())?;
        file.write((text.len() as u32).to_le_bytes())?;
        file.write(b"JSON")?;
        file.write(text)?;
        if length > 0 {
            file.write(length.to_le_bytes())?;
            file.write(b"BIN\0")?;
        }
        self.scratch.into_scratch(|scratch| {
            let mut block = vec![0; 1 << 18];
            loop {
                let read = scratch
                    .read(&mut block)
                    .map_err(RunError::file("read", std::path::Path::new("the scratch file")))?;
                if read == 0 {
                    return Ok(());
                }
                file.write(&block[..read])?;
            }
        })
    }
}
