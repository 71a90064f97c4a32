//! PLY, as text and as bytes in either order: `vertex` with x, y, z and, where they are there,
//! texture coordinates; `face` with a list of vertices. Other elements and properties are skipped.

use super::polygon::fan;
use super::{MeshData, Refusal, at, at_byte, at_line};
use thirdlaw::math::Vec3;

/// Names that programs give to texture coordinates.
const UV: [[&str; 2]; 4] =
    [["s", "t"], ["u", "v"], ["texture_u", "texture_v"], ["texture_s", "texture_t"]];

/// Reads a file.
pub fn read(bytes: &[u8]) -> Result<MeshData, Refusal> {
    let (header, body) = Header::read(bytes)?;
    let mut values = Values { header: &header, bytes, at: body, line: header.lines + 1 };
    let mut mesh = MeshData::default();
    let mut uv: Option<Vec<[f64; 2]>> = None;
    for element in &header.elements {
        match element.name.as_str() {
            "vertex" => uv = read_vertices(element, &mut values, &mut mesh)?,
            "face" => read_faces(element, &mut values, &mut mesh)?,
            _ => {
                for i in 0..element.count {
                    values.row(element, i, |_, _| {})?;
                }
            }
        }
    }
    mesh.corner_uv = uv.map(|uv| {
        let corner = |t: &[u32; 3]| t.map(|v| uv.get(v as usize).copied().unwrap_or_default());
        mesh.triangles.iter().map(corner).collect()
    });
    Ok(mesh)
}

fn read_vertices(
    element: &Element,
    values: &mut Values<'_>,
    mesh: &mut MeshData,
) -> Result<Option<Vec<[f64; 2]>>, Refusal> {
    let find = |name: &str| element.properties.iter().position(|p| p.name == name);
    let (Some(x), Some(y), Some(z)) = (find("x"), find("y"), find("z")) else {
        return Err(at("vertex", "has no x, y and z"));
    };
    let uv_at = UV.iter().find_map(|[u, v]| Some((find(u)?, find(v)?)));
    let mut uv = uv_at.map(|_| Vec::new());
    let mut row = vec![0.0; element.properties.len()];
    for i in 0..element.count {
        values.row(element, i, |property, list| {
            row[property] = list.first().copied().unwrap_or(0.0);
        })?;
        let vertex = Vec3::new(row[x], row[y], row[z]);
        if !vertex.is_finite() {
            return Err(at(format!("vertex {i}"), format!("is not finite: {vertex}")));
        }
        mesh.vertices.push(vertex);
        if let (Some(list), Some((u, v))) = (&mut uv, uv_at) {
            if !(row[u].is_finite() && row[v].is_finite()) {
                return Err(at(format!("vertex {i}"), "its texture coordinate is not finite"));
            }
            list.push([row[u], row[v]]);
        }
    }
    Ok(uv)
}

fn read_faces(
    element: &Element,
    values: &mut Values<'_>,
    mesh: &mut MeshData,
) -> Result<(), Refusal> {
    let is_corners = |p: &Property| {
        p.list.is_some() && matches!(p.name.as_str(), "vertex_indices" | "vertex_index")
    };
    let Some(corners_at) = element.properties.iter().position(is_corners) else {
        return Err(at("face", "has no list `vertex_indices`"));
    };
    let mut corners: Vec<f64> = Vec::new();
    for i in 0..element.count {
        values.row(element, i, |property, list| {
            if property == corners_at {
                corners.clear();
                corners.extend_from_slice(list);
            }
        })?;
        let fail = |problem: String| at(format!("face {i}"), problem);
        if corners.len() < 3 {
            return Err(fail(format!("needs three corners, not {}", corners.len())));
        }
        let count = mesh.vertices.len();
        if let Some(bad) = corners.iter().find(|&&c| !(c >= 0.0 && c < count as f64)) {
            return Err(fail(format!("names vertex {bad}, but there are {count}")));
        }
        let points: Vec<Vec3> = corners.iter().map(|&c| mesh.vertices[c as usize]).collect();
        let Some(triangles) = fan(&points) else {
            return Err(fail(
                "is bent or dented so much that it cannot be cut into a fan of triangles".into(),
            ));
        };
        mesh.triangles.extend(triangles.into_iter().map(|t| t.map(|k| corners[k] as u32)));
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Text,
    Little,
    Big,
}

#[derive(Debug)]
struct Header {
    encoding: Encoding,
    elements: Vec<Element>,
    lines: usize,
}

#[derive(Debug)]
struct Element {
    name: String,
    count: u64,
    properties: Vec<Property>,
}

#[derive(Debug)]
struct Property {
    name: String,
    kind: Kind,
    /// Of the number of items, for a list.
    list: Option<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    fn from_name(name: &str) -> Option<Kind> {
        Some(match name {
            "char" | "int8" => Kind::I8,
            "uchar" | "uint8" => Kind::U8,
            "short" | "int16" => Kind::I16,
            "ushort" | "uint16" => Kind::U16,
            "int" | "int32" => Kind::I32,
            "uint" | "uint32" => Kind::U32,
            "float" | "float32" => Kind::F32,
            "double" | "float64" => Kind::F64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::F64 => 8,
        }
    }

    /// From bytes, the last of which counts most.
    fn value(self, word: u64) -> f64 {
        match self {
            Kind::I8 => f64::from(word as i8),
            Kind::U8 => f64::from(word as u8),
            Kind::I16 => f64::from(word as i16),
            Kind::U16 => f64::from(word as u16),
            Kind::I32 => f64::from(word as i32),
            Kind::U32 => f64::from(word as u32),
            Kind::F32 => f64::from(f32::from_bits(word as u32)),
            Kind::F64 => f64::from_bits(word),
        }
    }
}

impl Header {
    /// The header, and the byte behind it.
    fn read(bytes: &[u8]) -> Result<(Header, usize), Refusal> {
        let mut encoding = None;
        let mut elements: Vec<Element> = Vec::new();
        let mut start = 0;
        let mut lines = 0;
        loop {
            let Some(length) = bytes[start..].iter().position(|&b| b == b'\n') else {
                return Err(at_line(lines + 1, "the header does not end (`end_header`)"));
            };
            lines += 1;
            let line = String::from_utf8_lossy(&bytes[start..start + length]);
            start += length + 1;
            let words: Vec<&str> = line.split_whitespace().collect();
            let fail = |problem: &str| Err(at_line(lines, problem));
            if lines == 1 && words != ["ply"] {
                return fail("a PLY file begins with `ply`");
            }
            match words.as_slice() {
                ["format", name, _] => {
                    encoding = match *name {
                        "ascii" => Some(Encoding::Text),
                        "binary_little_endian" => Some(Encoding::Little),
                        "binary_big_endian" => Some(Encoding::Big),
                        _ => return fail("the format is not one of PLY"),
                    }
                }
                ["element", name, count] => {
                    let Ok(count) = count.parse() else {
                        return fail("the number of elements is not a number");
                    };
                    elements.push(Element { name: (*name).into(), count, properties: Vec::new() });
                }
                ["property", rest @ ..] => {
                    let property = match rest {
                        ["list", count, kind, name] => Kind::from_name(count)
                            .zip(Kind::from_name(kind))
                            .map(|(count, kind)| (Some(count), kind, name)),
                        [kind, name] => Kind::from_name(kind).map(|kind| (None, kind, name)),
                        _ => None,
                    };
                    let (Some((list, kind, name)), Some(element)) = (property, elements.last_mut())
                    else {
                        return fail("this property makes no sense");
                    };
                    element.properties.push(Property { name: (*name).into(), kind, list });
                }
                ["end_header"] => break,
                _ => {}
            }
        }
        let Some(encoding) = encoding else {
            return Err(at_line(lines, "the header names no format"));
        };
        if let Some(empty) = elements.iter().find(|e| e.properties.is_empty() && e.count > 0) {
            // such rows take no bytes, so that nothing would bound their number
            return Err(at(empty.name.clone(), "has no properties"));
        }
        Ok((Header { encoding, elements, lines }, start))
    }
}

/// The values behind the header, one after the other.
struct Values<'a> {
    header: &'a Header,
    bytes: &'a [u8],
    at: usize,
    /// Of `at`, for text.
    line: usize,
}

impl Values<'_> {
    /// Reads a row of an element and shows each property with its values: one, or a list.
    fn row(
        &mut self,
        element: &Element,
        index: u64,
        mut show: impl FnMut(usize, &[f64]),
    ) -> Result<(), Refusal> {
        let mut items = Vec::new();
        for (k, property) in element.properties.iter().enumerate() {
            items.clear();
            let count = match property.list {
                None => 1.0,
                Some(kind) => self.next(kind, element, index)?,
            };
            if count < 0.0 || count.fract() != 0.0 {
                let what = format!("{} {index}", element.name);
                return Err(at(what, format!("has a list of {count} items")));
            }
            // no more memory than there are bytes: each item is read before the next is wanted
            let mut left = count;
            while left >= 1.0 {
                items.push(self.next(property.kind, element, index)?);
                left -= 1.0;
            }
            show(k, &items);
        }
        Ok(())
    }

    fn next(&mut self, kind: Kind, element: &Element, index: u64) -> Result<f64, Refusal> {
        let ended = |at: usize| {
            let (name, count) = (&element.name, element.count);
            at_byte(at, format!("the file ends within {name} {index} of {count}"))
        };
        if self.header.encoding == Encoding::Text {
            return self
                .next_word()
                .ok_or_else(|| ended(self.bytes.len()))?
                .map_err(|word| at_line(self.line, format!("`{word}` is not a number")));
        }
        let end = self.at + kind.size();
        let raw = self.bytes.get(self.at..end).ok_or_else(|| ended(self.bytes.len()))?;
        self.at = end;
        let join = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
        Ok(kind.value(match self.header.encoding {
            Encoding::Big => raw.iter().fold(0, join),
            _ => raw.iter().rev().fold(0, join),
        }))
    }

    /// The next word as a number, or the word where it is none.
    fn next_word(&mut self) -> Option<Result<f64, String>> {
        while self.bytes.get(self.at)?.is_ascii_whitespace() {
            self.line += usize::from(self.bytes[self.at] == b'\n');
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let word = String::from_utf8_lossy(&rest[..length]);
        self.at += length;
        Some(word.parse().map_err(|_| word.chars().take(40).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::MeshPlace;
    use super::*;

    fn text() -> String {
        "ply\nformat ascii 1.0\ncomment a square\nelement vertex 4\nproperty float x\n\
         property float y\nproperty float z\nproperty uchar red\nproperty float s\nproperty float t\n\
         element edge 1\nproperty int vertex1\nproperty int vertex2\n\
         element face 1\nproperty uchar flags\nproperty list uchar int vertex_indices\nend_header\n\
         0 0 0 255 0 0\n1 0 0 255 1 0\n1 1 0 255 1 1\n0 1 0 255 0 1\n0 1\n7 4 0 1 2 3\n"
            .into()
    }

    fn binary(big: bool) -> Vec<u8> {
        let name = if big { "binary_big_endian" } else { "binary_little_endian" };
        let text = text().replace("ascii", name);
        let mut bytes = text.split_inclusive("end_header\n").next().unwrap().as_bytes().to_vec();
        let real = |bytes: &mut Vec<u8>, x: f32| {
            bytes.extend(if big { x.to_be_bytes() } else { x.to_le_bytes() });
        };
        let whole = |bytes: &mut Vec<u8>, x: i32| {
            bytes.extend(if big { x.to_be_bytes() } else { x.to_le_bytes() });
        };
        for [x, y] in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
            [x, y, 0.0].into_iter().for_each(|c| real(&mut bytes, c));
            bytes.push(255);
            [x, y].into_iter().for_each(|c| real(&mut bytes, c));
        }
        [0, 1].into_iter().for_each(|c| whole(&mut bytes, c));
        bytes.extend([7, 4]);
        [0, 1, 2, 3].into_iter().for_each(|c| whole(&mut bytes, c));
        bytes
    }

    #[test]
    fn text_and_bytes_of_either_order_give_the_same_mesh() {
        let mesh = read(text().as_bytes()).unwrap();
        assert_eq!(mesh.vertices[2], Vec3::new(1.0, 1.0, 0.0));
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(mesh.corner_uv.as_ref().unwrap()[1], [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        assert_eq!(read(&binary(false)).unwrap(), mesh);
        assert_eq!(read(&binary(true)).unwrap(), mesh);
    }

    #[test]
    fn errors_name_the_place() {
        let told = |from: &str, to: &str| read(text().replace(from, to).as_bytes()).unwrap_err();
        assert_eq!(told("ply\n", "plx\n").0, MeshPlace::Line(1));
        assert_eq!(told("1 1 0 255", "1 x 0 255"), at_line(20, "`x` is not a number"));
        assert_eq!(
            told("7 4 0 1 2 3", "7 4 0 1 2 9"),
            at("face 0", "names vertex 9, but there are 4")
        );
        assert_eq!(told("1 1 0 255", "1 nan 0 255").0, MeshPlace::Element("vertex 2".into()));
        assert!(told("vertex 4", "vertex 4000000000").1.contains("of 4000000000"));
        assert_eq!(told("7 4 0", "7 -4 0"), at("face 0", "has a list of -4 items"));
        let whole = binary(false);
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
    }
}
