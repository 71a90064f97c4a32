//! The triangles of a cloth: where they start, and how they lie when nothing pulls at them.

use super::ClothError;
use crate::math::{Quat, Vec3};
use std::f64::consts::TAU;

/// A triangle mesh with rest coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClothMesh {
    /// Where the vertices start, m.
    pub positions: Vec<Vec3>,
    /// Corners, by index into `positions`.
    pub triangles: Vec<[u32; 3]>,
    /// Rest coordinates (u, v) of each triangle's corners, m: u runs along the warp. Corners of
    /// neighbours may have different ones, as along a seam between two panels.
    pub rest: Vec<[[f64; 2]; 3]>,
    /// Rest angle of the hinge between two triangles, from the shape below; none: flat.
    pub rest_shape: Option<Vec<Vec3>>,
}

impl ClothMesh {
    /// A mesh with one rest coordinate per vertex, m.
    pub fn with_coordinates(
        positions: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
        coordinates: &[[f64; 2]],
    ) -> Result<ClothMesh, ClothError> {
        let mut rest = Vec::with_capacity(triangles.len());
        for (index, triangle) in triangles.iter().enumerate() {
            let mut corners = [[0.0; 2]; 3];
            for (corner, &vertex) in corners.iter_mut().zip(triangle) {
                *corner = *coordinates
                    .get(vertex as usize)
                    .ok_or(ClothError::NoSuchVertex { triangle: index, vertex })?;
            }
            rest.push(corners);
        }
        Ok(ClothMesh { positions, triangles, rest, rest_shape: None })
    }

    /// A mesh whose rest lengths are those of `shape`: every triangle is laid flat by itself, with
    /// its warp along `warp` projected into it. With `keep_angles` the hinges rest at the shape's
    /// angles, else flat.
    pub fn from_shape(
        shape: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
        warp: Vec3,
        keep_angles: bool,
    ) -> Result<ClothMesh, ClothError> {
        let mut rest = Vec::with_capacity(triangles.len());
        for (index, triangle) in triangles.iter().enumerate() {
            let mut corner = [Vec3::ZERO; 3];
            for (p, &vertex) in corner.iter_mut().zip(triangle) {
                *p = *shape
                    .get(vertex as usize)
                    .ok_or(ClothError::NoSuchVertex { triangle: index, vertex })?;
            }
            let [a, b, c] = corner;
            let normal = (b - a).cross(c - a);
            let normal = normal.try_normalize().ok_or(ClothError::NoArea { triangle: index })?;
            let along = warp - warp.dot(normal) * normal;
            // a warp that stands on the triangle says nothing: take its first edge
            let along = if along.length() > 1e-3 * warp.length() { along } else { b - a };
            let u = along.try_normalize().ok_or(ClothError::NoArea { triangle: index })?;
            let v = normal.cross(u);
            rest.push(corner.map(|p| [u.dot(p - a), v.dot(p - a)]));
        }
        let rest_shape = keep_angles.then(|| shape.clone());
        Ok(ClothMesh { positions: shape, triangles, rest, rest_shape })
    }

    /// A sheet of `columns` × `rows` vertices in the xz plane, `size` (x, z) metres, centred on the
    /// origin; warp along x. All diagonals run the same way: bending by curvature is then accurate
    /// to second order, while alternating diagonals give way to zigzags and are a third too soft.
    pub fn grid(columns: usize, rows: usize, size: [f64; 2]) -> Result<ClothMesh, ClothError> {
        check_counts("columns", columns, 2)?;
        check_counts("rows", rows, 2)?;
        check_total(columns.saturating_mul(rows))?;
        check_length("size", size[0])?;
        check_length("size", size[1])?;
        let mut positions = Vec::with_capacity(columns * rows);
        let mut uv = Vec::with_capacity(columns * rows);
        for row in 0..rows {
            for column in 0..columns {
                let u = (column as f64 / (columns - 1) as f64 - 0.5) * size[0];
                let v = (row as f64 / (rows - 1) as f64 - 0.5) * size[1];
                positions.push(Vec3::new(u, 0.0, v));
                uv.push([u, v]);
            }
        }
        ClothMesh::with_coordinates(positions, quads(columns, rows, false), &uv)
    }

    /// A disc in the xz plane: `rings` rings of vertices around the centre, the outermost at
    /// `radius`.
    pub fn disc(rings: usize, radius: f64) -> Result<ClothMesh, ClothError> {
        check_counts("rings", rings, 1)?;
        check_total(rings.saturating_mul(rings).saturating_mul(3))?;
        check_length("radius", radius)?;
        let mut positions = vec![Vec3::ZERO];
        let mut triangles = Vec::new();
        let mut inner_start = 0;
        for ring in 1..=rings {
            let start = positions.len();
            let count = 6 * ring;
            let r = radius * ring as f64 / rings as f64;
            for i in 0..count {
                let angle = TAU * i as f64 / count as f64;
                positions.push(Vec3::new(r * libm::cos(angle), 0.0, r * libm::sin(angle)));
            }
            // six sectors, each one vertex longer outside than inside
            let inner_count = (6 * (ring - 1)).max(1);
            for sector in 0..6 {
                for step in 0..ring {
                    let outer = |i: usize| (start + (sector * ring + i) % count) as u32;
                    let inner = |i: usize| {
                        let place = if ring == 1 { 0 } else { sector * (ring - 1) + i };
                        (inner_start + place % inner_count) as u32
                    };
                    triangles.push([inner(step), outer(step + 1), outer(step)]);
                    if step + 1 < ring {
                        triangles.push([inner(step), inner(step + 1), outer(step + 1)]);
                    }
                }
            }
            inner_start = start;
        }
        let uv: Vec<[f64; 2]> = positions.iter().map(|p| [p.x, p.z]).collect();
        ClothMesh::with_coordinates(positions, triangles, &uv)
    }

    /// A tube about the y axis, from `−height/2` to `height/2`, of `around` × `along` vertices; warp
    /// along y. It lies at rest on a plane, cut open.
    pub fn tube(
        around: usize,
        along: usize,
        radius: f64,
        height: f64,
    ) -> Result<ClothMesh, ClothError> {
        check_counts("around", around, 3)?;
        check_counts("along", along, 2)?;
        check_total(around.saturating_mul(along))?;
        check_length("radius", radius)?;
        check_length("height", height)?;
        // at rest the polygon's sides, not the circle's arcs
        let side = 2.0 * radius * libm::sin(TAU / 2.0 / around as f64);
        ring_mesh(around, along, |row, column| {
            let y = (row / (along - 1) as f64 - 0.5) * height;
            let angle = TAU * column / around as f64;
            let place = Vec3::new(radius * libm::cos(angle), y, radius * libm::sin(angle));
            (place, [y, column * side])
        })
    }

    /// A skirt: part of a cone about the y axis from the `waist` radius at y = 0 down to the `hem`
    /// radius, `length` metres along its surface. It lies at rest as a flat ring sector, warp along
    /// its length.
    pub fn skirt(
        around: usize,
        along: usize,
        [waist, hem]: [f64; 2],
        length: f64,
    ) -> Result<ClothMesh, ClothError> {
        check_counts("around", around, 3)?;
        check_counts("along", along, 2)?;
        check_total(around.saturating_mul(along))?;
        check_length("waist", waist)?;
        check_length("hem", hem)?;
        check_length("length", length)?;
        let slope = (hem - waist) / length;
        if slope.abs() > 1.0 {
            return Err(ClothError::Size {
                what: "length",
                problem: format!("must be at least the difference of the radii, not {length}"),
            });
        }
        let drop = (1.0 - slope * slope).max(0.0).sqrt();
        let place = |row: f64, column: f64| {
            let s = row / (along - 1) as f64 * length;
            let r = waist + slope * s;
            let angle = TAU * column / around as f64;
            Vec3::new(r * libm::cos(angle), -drop * s, r * libm::sin(angle))
        };
        let shape = ring_mesh(around, along, |row, column| (place(row, column), [0.0; 2]))?;
        ClothMesh::from_shape(shape.positions, shape.triangles, Vec3::Y, false)
    }

    /// The same mesh turned and moved to another start; rest coordinates stay.
    pub fn placed(mut self, rotation: Quat, translation: Vec3) -> ClothMesh {
        for p in &mut self.positions {
            *p = rotation * *p + translation;
        }
        self
    }
}

/// Two triangles per cell of a grid, with parallel diagonals; `closed` joins the last column to the
/// first.
fn quads(columns: usize, rows: usize, closed: bool) -> Vec<[u32; 3]> {
    let cells = if closed { columns } else { columns - 1 };
    let mut triangles = Vec::with_capacity(2 * cells * (rows - 1));
    for row in 0..rows - 1 {
        for column in 0..cells {
            let next = (column + 1) % columns;
            let at = |r: usize, c: usize| (r * columns + c) as u32;
            let (a, b) = (at(row, column), at(row, next));
            let (c, d) = (at(row + 1, column), at(row + 1, next));
            triangles.push([a, c, b]);
            triangles.push([b, c, d]);
        }
    }
    triangles
}

/// A mesh closed around an axis; `place(row, column)` gives position and rest coordinates, with
/// `column` running one past the end on the seam.
fn ring_mesh(
    around: usize,
    along: usize,
    place: impl Fn(f64, f64) -> (Vec3, [f64; 2]),
) -> Result<ClothMesh, ClothError> {
    let mut positions = Vec::with_capacity(around * along);
    for row in 0..along {
        for column in 0..around {
            positions.push(place(row as f64, column as f64).0);
        }
    }
    let triangles = quads(around, along, true);
    let rest = triangles
        .iter()
        .map(|triangle| {
            let columns = triangle.map(|i| i as usize % around);
            // on the seam the first column stands for the one past the last
            let wraps = columns.contains(&0) && columns.contains(&(around - 1));
            triangle.map(|i| {
                let (row, column) = (i as usize / around, i as usize % around);
                let column = if wraps && column == 0 { around } else { column };
                place(row as f64, column as f64).1
            })
        })
        .collect();
    Ok(ClothMesh { positions, triangles, rest, rest_shape: None })
}

/// More vertices than this are taken for a mistake.
const VERTICES_MAX: usize = 4_000_000;

fn check_total(vertices: usize) -> Result<(), ClothError> {
    if vertices <= VERTICES_MAX {
        return Ok(());
    }
    Err(ClothError::Size {
        what: "mesh",
        problem: format!("has {vertices} vertices; at most {VERTICES_MAX} are taken"),
    })
}

fn check_counts(what: &'static str, count: usize, least: usize) -> Result<(), ClothError> {
    if count >= least {
        return Ok(());
    }
    Err(ClothError::Size { what, problem: format!("must be at least {least}, not {count}") })
}

fn check_length(what: &'static str, length: f64) -> Result<(), ClothError> {
    if (1e-6..=1e6).contains(&length) {
        return Ok(());
    }
    Err(ClothError::Size { what, problem: format!("must be between 1e-6 and 1e6 m, not {length}") })
}
