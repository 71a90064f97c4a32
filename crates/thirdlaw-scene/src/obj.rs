//! The part of the Wavefront OBJ format that holds surfaces: `v` and `f`.

use thirdlaw::math::Vec3;

/// Triangles between vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// m.
    pub vertices: Vec<Vec3>,
    /// Corners, counted from 0.
    pub triangles: Vec<[u32; 3]>,
}

/// Reads a file's text; polygons are cut into fans of triangles. An error names its line.
pub fn read(text: &str) -> Result<Surface, (usize, String)> {
    let mut surface = Surface::default();
    for (i, line) in text.lines().enumerate() {
        let fail = |problem: String| (i + 1, problem);
        let mut words = line.split('#').next().unwrap_or("").split_whitespace();
        match words.next() {
            Some("v") => surface.vertices.push(vertex(words).map_err(fail)?),
            Some("f") => {
                let count = surface.vertices.len();
                let corners: Result<Vec<u32>, String> = words.map(|w| corner(w, count)).collect();
                let corners = corners.map_err(fail)?;
                if corners.len() < 3 {
                    return Err(fail(format!("a face needs three corners, not {}", corners.len())));
                }
                for k in 1..corners.len() - 1 {
                    surface.triangles.push([corners[0], corners[k], corners[k + 1]]);
                }
            }
            // texture, normals, groups, materials: not a matter of collisions
            _ => {}
        }
    }
    if surface.triangles.is_empty() {
        return Err((text.lines().count().max(1), "the file has no faces (lines `f …`)".into()));
    }
    Ok(surface)
}

fn vertex<'a>(words: impl Iterator<Item = &'a str>) -> Result<Vec3, String> {
    let mut numbers = Vec::new();
    for word in words.take(3) {
        let number: f64 = word.parse().map_err(|_| format!("`{word}` is not a number"))?;
        if !number.is_finite() {
            return Err(format!("`{word}` is not finite"));
        }
        numbers.push(number);
    }
    match *numbers {
        [x, y, z] => Ok(Vec3::new(x, y, z)),
        _ => Err(format!("a vertex needs three numbers, not {}", numbers.len())),
    }
}

/// `7`, `7/1/3` or, counted back from the last vertex, `-1`.
fn corner(word: &str, count: usize) -> Result<u32, String> {
    let number = word.split('/').next().unwrap_or("");
    let index: i64 = number.parse().map_err(|_| format!("`{word}` is not a corner"))?;
    let from_start = if index < 0 { index + count as i64 } else { index - 1 };
    if (0..count as i64).contains(&from_start) {
        u32::try_from(from_start).map_err(|_| "too many vertices".into())
    } else {
        Err(format!("corner {index} names no vertex; there are {count} above this line"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_become_triangles() {
        let text = "# a square\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 4//1\nf -4 -3 -2\n";
        let surface = read(text).unwrap();
        assert_eq!(surface.vertices.len(), 4);
        assert_eq!(surface.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
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
            (
                "f 9223372036854775807\n",
                1,
                "corner 9223372036854775807 names no vertex; there are 0 above this line",
            ),
        ] {
            assert_eq!(read(text), Err((line, problem.to_string())));
        }
    }
}
