//! STL, as text and as bytes. Vertices at the same place become one, since STL has no others.

use super::{MeshData, Refusal, Weld, at, at_byte, at_line};
use thirdlaw::math::Vec3;

/// Title and count before the triangles of a binary file.
const HEADER: usize = 84;
/// Bytes of a triangle: a normal, three corners, an attribute.
const RECORD: usize = 50;

/// Reads a file. Some programs begin binary files with `solid` too, so that the length decides.
pub fn read(bytes: &[u8]) -> Result<MeshData, Refusal> {
    let count = bytes.get(80..HEADER).map(|word| little(word) as usize);
    let fits = count.is_some_and(|n| n.checked_mul(RECORD) == bytes.len().checked_sub(HEADER));
    let says_text = bytes.trim_ascii_start().starts_with(b"solid");
    let is_text = says_text && bytes.windows(5).any(|word| word.eq_ignore_ascii_case(b"facet"));
    if is_text && !fits { read_text(bytes) } else { read_binary(bytes) }
}

fn little(word: &[u8]) -> u32 {
    word.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

fn read_binary(bytes: &[u8]) -> Result<MeshData, Refusal> {
    let Some(word) = bytes.get(80..HEADER) else {
        return Err(at_byte(bytes.len(), "the file ends before its number of triangles"));
    };
    let count = little(word) as usize;
    let records = &bytes[HEADER..];
    if records.len() / RECORD < count {
        let there = records.len() / RECORD;
        return Err(at_byte(80, format!("{count} triangles are announced, but {there} are there")));
    }
    let mut weld = Weld::default();
    let mut triangles = Vec::with_capacity(count);
    for (i, record) in records.chunks_exact(RECORD).take(count).enumerate() {
        let mut corners = [0; 3];
        for (k, corner) in corners.iter_mut().enumerate() {
            let part = |j: usize| {
                let start = 12 + 12 * k + 4 * j;
                f64::from(f32::from_bits(little(&record[start..start + 4])))
            };
            let v = Vec3::new(part(0), part(1), part(2));
            if !v.is_finite() {
                let problem = format!("its corner {k} is not finite: {v}");
                return Err(at(format!("triangle {i}"), problem));
            }
            *corner = weld.vertex(v);
        }
        triangles.push(corners);
    }
    Ok(MeshData { vertices: weld.vertices, triangles, corner_uv: None })
}

fn read_text(bytes: &[u8]) -> Result<MeshData, Refusal> {
    let mut weld = Weld::default();
    let mut triangles = Vec::new();
    let mut corners: Vec<u32> = Vec::new();
    let mut in_facet = false;
    for (i, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let fail = |problem: String| at_line(i + 1, problem);
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_whitespace();
        match words.next().map(str::to_ascii_lowercase).as_deref() {
            Some("facet") => {
                in_facet = true;
                corners.clear();
            }
            Some("vertex") if in_facet => corners.push(weld.vertex(vertex(words).map_err(fail)?)),
            Some("endfacet") => {
                let Ok(triangle) = <[u32; 3]>::try_from(corners.as_slice()) else {
                    return Err(fail(format!("a facet has three vertices, not {}", corners.len())));
                };
                triangles.push(triangle);
                in_facet = false;
            }
            None | Some("solid" | "endsolid" | "outer" | "endloop") => {}
            Some(word) => {
                let word: String = word.chars().take(40).collect();
                return Err(fail(format!("`{word}` has no meaning here")));
            }
        }
    }
    if in_facet {
        let lines = bytes.split(|&byte| byte == b'\n').count();
        return Err(at_line(lines, "the file ends within a facet"));
    }
    Ok(MeshData { vertices: weld.vertices, triangles, corner_uv: None })
}

fn vertex<'a>(words: impl Iterator<Item = &'a str>) -> Result<Vec3, String> {
    let mut numbers = Vec::new();
    for word in words.take(3) {
        match word.parse::<f64>() {
            Ok(number) if number.is_finite() => numbers.push(number),
            Ok(_) => return Err(format!("`{word}` is not finite")),
            Err(_) => return Err(format!("`{word}` is not a number")),
        }
    }
    match *numbers {
        [x, y, z] => Ok(Vec3::new(x, y, z)),
        _ => Err(format!("a vertex needs three numbers, not {}", numbers.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::MeshPlace;
    use super::*;

    const TEXT: &str = "solid two\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   vertex 1 1 0\n  endloop\n endfacet\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 1 0\n   vertex -0 1 0\n  endloop\n endfacet\nendsolid two\n";

    /// The same two triangles.
    fn binary() -> Vec<u8> {
        let mut bytes = b"solid in name only".to_vec();
        bytes.resize(80, b' ');
        bytes.extend(2u32.to_le_bytes());
        for triangle in [[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]]
        {
            bytes.extend([0; 12]);
            for [x, y] in triangle {
                bytes.extend([x, y, 0.0f32].iter().flat_map(|c| c.to_le_bytes()));
            }
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn text_and_bytes_give_the_same_welded_mesh() {
        let mesh = read(TEXT.as_bytes()).unwrap();
        assert_eq!(mesh.vertices.len(), 4);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(read(&binary()).unwrap(), mesh);
    }

    #[test]
    fn errors_name_the_place() {
        let told = |text: &str| read(text.as_bytes()).unwrap_err();
        assert_eq!(told(&TEXT.replace("1 1 0", "1 x 0")).0, MeshPlace::Line(6));
        let short = told(&TEXT.replace("   vertex 1 0 0\n", ""));
        assert_eq!(short, at_line(7, "a facet has three vertices, not 2"));
        let mut cut = binary();
        cut.truncate(100);
        let wanted = at_byte(80, "2 triangles are announced, but 0 are there");
        assert_eq!(read(&cut), Err(wanted));
        let mut nan = binary();
        nan[HEADER + RECORD + 12..HEADER + RECORD + 16].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(read(&nan).unwrap_err().0, MeshPlace::Element("triangle 1".into()));
        let mut huge = binary();
        huge[80..84].fill(0xff);
        assert_eq!(read(&huge).unwrap_err().0, MeshPlace::Byte(80));
    }
}
