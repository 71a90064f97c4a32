//! Wavefront OBJ: the lines `v`, `vt` and `f`.

use super::polygon::fan;
use super::{MeshData, Refusal, at_line};
use thirdlaw::math::Vec3;

/// Reads a file.
pub fn read(bytes: &[u8]) -> Result<MeshData, Refusal> {
    let mut mesh = MeshData::default();
    let mut uv: Vec<[f64; 2]> = Vec::new();
    // of every triangle so far; given up at the first that has none
    let mut corner_uv = Some(Vec::new());
    for (i, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let fail = |problem: String| at_line(i + 1, problem);
        let line = String::from_utf8_lossy(line);
        let mut words = line.split('#').next().unwrap_or("").split_whitespace();
        match words.next() {
            Some("v") => {
                let [x, y, z] = numbers("a vertex", words).map_err(fail)?;
                mesh.vertices.push(Vec3::new(x, y, z));
            }
            Some("vt") => uv.push(texture(words).map_err(fail)?),
            Some("f") => {
                let counts = (mesh.vertices.len(), uv.len());
                let corners: Result<Vec<_>, String> = words.map(|w| corner(w, counts)).collect();
                let corners = corners.map_err(fail)?;
                add_face(&mut mesh, &mut corner_uv, &uv, &corners).map_err(fail)?;
            }
            // normals, groups, materials, curves
            _ => {}
        }
    }
    mesh.corner_uv = corner_uv.filter(|list| !list.is_empty());
    if mesh.triangles.is_empty() {
        let lines = bytes.split(|&byte| byte == b'\n').count();
        return Err(at_line(lines, "the file has no faces (lines `f …`)"));
    }
    Ok(mesh)
}

/// A vertex and, where it has one, a texture coordinate.
type Corner = (u32, Option<usize>);

fn add_face(
    mesh: &mut MeshData,
    corner_uv: &mut Option<Vec<[[f64; 2]; 3]>>,
    uv: &[[f64; 2]],
    corners: &[Corner],
) -> Result<(), String> {
    if corners.len() < 3 {
        return Err(format!("a face needs three corners, not {}", corners.len()));
    }
    let points: Vec<Vec3> = corners.iter().map(|c| mesh.vertices[c.0 as usize]).collect();
    let triangles = fan(&points).ok_or(
        "this face is bent or dented so much that it cannot be cut into a fan of triangles",
    )?;
    for triangle in triangles {
        mesh.triangles.push(triangle.map(|k| corners[k].0));
        let own = triangle.map(|k| corners[k].1.map(|at| uv[at]));
        match (own, &mut *corner_uv) {
            ([Some(a), Some(b), Some(c)], Some(list)) => list.push([a, b, c]),
            _ => *corner_uv = None,
        }
    }
    Ok(())
}

/// The first three numbers of a line; more are a weight or a colour.
fn numbers<'a>(what: &str, words: impl Iterator<Item = &'a str>) -> Result<[f64; 3], String> {
    let numbers: Vec<f64> = words.take(3).map(number).collect::<Result<_, _>>()?;
    let count = numbers.len();
    numbers.try_into().map_err(|_| format!("{what} needs three numbers, not {count}"))
}

/// One or two numbers; a second that is missing is 0.
fn texture<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<[f64; 2], String> {
    let u = words.next().ok_or("a texture coordinate needs a number")?;
    Ok([number(u)?, words.next().map_or(Ok(0.0), number)?])
}

fn number(word: &str) -> Result<f64, String> {
    let number: f64 = word.parse().map_err(|_| format!("`{word}` is not a number"))?;
    if number.is_finite() { Ok(number) } else { Err(format!("`{word}` is not finite")) }
}

/// `7`, `7/1`, `7//3`, `7/1/3` or, counted back from the last one, `-1`.
fn corner(word: &str, (vertices, uv): (usize, usize)) -> Result<Corner, String> {
    let mut parts = word.split('/');
    let vertex = parts.next().unwrap_or("");
    let vertex = index(vertex, word, vertices, "vertex")?;
    let uv = match parts.next() {
        None | Some("") => None,
        Some(text) => Some(index(text, word, uv, "texture coordinate")?),
    };
    Ok((u32::try_from(vertex).map_err(|_| "too many vertices")?, uv))
}

fn index(text: &str, word: &str, count: usize, what: &str) -> Result<usize, String> {
    let index: i64 = text.parse().map_err(|_| format!("`{word}` is not a corner"))?;
    let from_start = if index < 0 { index + count as i64 } else { index - 1 };
    match usize::try_from(from_start) {
        Ok(at) if at < count => Ok(at),
        _ => Err(format!("corner {index} names no {what}; there are {count} above this line")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::MeshPlace;
    use super::*;

    #[test]
    fn faces_become_triangles() {
        let text = "# a square\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 4//1\nf -4 -3 -2\n";
        let mesh = read(text.as_bytes()).unwrap();
        assert_eq!(mesh.vertices.len(), 4);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
        assert_eq!(mesh.corner_uv, None);
    }

    #[test]
    fn texture_coordinates_follow_their_corners() {
        let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0\nvt 1 0 0\nvt 1 1\nvt 0 1\nf 1/1/1 2/2 3/-2 4/4\n";
        let uv = read(text.as_bytes()).unwrap().corner_uv.unwrap();
        let wanted = [[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]];
        assert_eq!(uv, wanted);
        let partly = format!("{text}f 1 2 3\n");
        assert_eq!(read(partly.as_bytes()).unwrap().corner_uv, None);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, problem) in [
            ("v 0 0\n", 1, "a vertex needs three numbers, not 2"),
            ("v 0 0 0\nv 0 x 0\n", 2, "`x` is not a number"),
            ("v 0 0 0\nf 1 2 3\n", 2, "corner 2 names no vertex; there are 1 above this line"),
            ("v 0 0 0\nf 1 1\n", 2, "a face needs three corners, not 2"),
            ("v 0 0 inf\n", 1, "`inf` is not finite"),
            ("", 1, "the file has no faces (lines `f …`)"),
            ("v 0 0 0\nf 0 1 1\n", 2, "corner 0 names no vertex; there are 1 above this line"),
            ("vt nan 0\n", 1, "`nan` is not finite"),
            (
                "v 0 0 0\nf 1/1 1 1\n",
                2,
                "corner 1 names no texture coordinate; there are 0 above this line",
            ),
            (
                "f 9223372036854775807\n",
                1,
                "corner 9223372036854775807 names no vertex; there are 0 above this line",
            ),
        ] {
            let wanted = (MeshPlace::Line(line), problem.to_string());
            assert_eq!(read(text.as_bytes()), Err(wanted), "{text}");
        }
    }
}
