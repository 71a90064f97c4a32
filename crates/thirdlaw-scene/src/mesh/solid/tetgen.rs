//! TetGen: `.node` holds vertices, `.ele` the corners of tetrahedra, both as text. Numbers of vertices begin with
//! 0 or 1, as their first line says; what follows `#` is a remark.

use super::super::{Refusal, at_line};
use super::words::Words;
use std::collections::BTreeMap;
use thirdlaw::math::Vec3;

/// The vertices of a `.node` file by their numbers.
pub fn read_nodes(bytes: &[u8]) -> Result<BTreeMap<u64, Vec3>, Refusal> {
    let text = without_remarks(bytes);
    let mut words = Words::new(&text);
    let count: u64 = words.number("the number of vertices")?;
    let dimensions: u32 = words.number("the number of dimensions")?;
    if dimensions != 3 {
        return Err(at_line(words.line, format!("has {dimensions} dimensions instead of 3")));
    }
    let attributes: u64 = words.number("the number of attributes")?;
    let marks: u64 = words.number("whether there are marks")?;
    let mut vertices = BTreeMap::new();
    for _ in 0..count {
        let name: u64 = words.number("the number of a vertex")?;
        let place = words.place("a coordinate")?;
        for _ in 0..attributes.saturating_add(marks) {
            let _: f64 = words.number("an attribute of a vertex")?;
        }
        if vertices.insert(name, place).is_some() {
            return Err(at_line(words.line, format!("vertex {name} stands here again")));
        }
    }
    Ok(vertices)
}

/// The corners in an `.ele` file.
pub fn read_cells(bytes: &[u8]) -> Result<Vec<[u64; 4]>, Refusal> {
    let text = without_remarks(bytes);
    let mut words = Words::new(&text);
    let count: u64 = words.number("the number of tetrahedra")?;
    let nodes: u64 = words.number("the number of corners of each")?;
    if nodes != 4 && nodes != 10 {
        let problem = format!("tetrahedra have 4 corners, or 10 nodes, not {nodes}");
        return Err(at_line(words.line, problem));
    }
    let attributes: u64 = words.number("the number of attributes")?;
    let mut cells = Vec::new();
    for _ in 0..count {
        let _: u64 = words.number("the number of a tetrahedron")?;
        let mut corners = [0; 4];
        for corner in &mut corners {
            *corner = words.number("a corner")?;
        }
        for _ in 4..nodes.saturating_add(attributes) {
            let _: f64 = words.number("what follows the corners of a tetrahedron")?;
        }
        cells.push(corners);
    }
    Ok(cells)
}

/// With blanks instead of remarks, so that lines stay where they are.
fn without_remarks(bytes: &[u8]) -> Vec<u8> {
    let mut remark = false;
    let blank = |&byte: &u8| {
        remark = byte != b'\n' && (remark || byte == b'#');
        if remark { b' ' } else { byte }
    };
    bytes.iter().map(blank).collect()
}
