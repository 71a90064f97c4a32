//! Edges and hinges of a triangle mesh.

use super::ClothError;

/// An edge with the triangles at it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Its vertices, in the direction in which the first triangle runs through it.
    pub vertices: [u32; 2],
    /// The triangles at it and which of their edges it is (edge k lies opposite corner k); the
    /// second is missing at a border.
    pub sides: [Option<(u32, u8)>; 2],
}

/// The corners of edge `k` of a triangle, in its own direction.
pub fn edge_corners(triangle: &[u32; 3], k: usize) -> [u32; 2] {
    [triangle[(k + 1) % 3], triangle[(k + 2) % 3]]
}

/// All edges in order of their vertices, after turning triangles so that neighbours run through
/// their common edge in opposite directions wherever the surface has two sides.
pub fn edges(triangles: &mut [[u32; 3]]) -> Result<Vec<Edge>, ClothError> {
    orient(triangles)?;
    let found = half_edges(triangles);
    let mut edges: Vec<Edge> = Vec::with_capacity(found.len() / 2 + 1);
    for group in found.chunk_by(|a, b| a.0 == b.0) {
        let (triangle, k) = (group[0].1, group[0].2);
        let second = group.get(1).map(|&(_, t, k)| (t, k));
        edges.push(Edge {
            vertices: edge_corners(&triangles[triangle as usize], k as usize),
            sides: [Some((triangle, k)), second],
        });
    }
    Ok(edges)
}

type HalfEdge = ([u32; 2], u32, u8);

/// (vertices ascending, triangle, edge of it), sorted.
fn half_edges(triangles: &[[u32; 3]]) -> Vec<HalfEdge> {
    let mut found = Vec::with_capacity(3 * triangles.len());
    for (t, triangle) in triangles.iter().enumerate() {
        for k in 0..3 {
            let [a, b] = edge_corners(triangle, k);
            found.push(([a.min(b), a.max(b)], t as u32, k as u8));
        }
    }
    found.sort_unstable();
    found
}

/// Turns triangles to agree with the first of their piece.
fn orient(triangles: &mut [[u32; 3]]) -> Result<(), ClothError> {
    let found = half_edges(triangles);
    let mut neighbours = vec![[u32::MAX; 3]; triangles.len()];
    for group in found.chunk_by(|a, b| a.0 == b.0) {
        match group {
            [_] => {}
            [(_, t, k), (_, s, l)] => {
                neighbours[*t as usize][*k as usize] = *s;
                neighbours[*s as usize][*l as usize] = *t;
            }
            _ => {
                return Err(ClothError::NotASurface { edge: group[0].0, triangles: group.len() });
            }
        }
    }
    let mut seen = vec![false; triangles.len()];
    let mut turned = vec![false; triangles.len()];
    let mut queue = Vec::new();
    for start in 0..triangles.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        queue.push(start);
        while let Some(t) = queue.pop() {
            for next in neighbours[t] {
                let s = next as usize;
                if next == u32::MAX || seen[s] {
                    continue;
                }
                seen[s] = true;
                turned[s] = same_direction(&triangles[t], &triangles[s]) != turned[t];
                queue.push(s);
            }
        }
    }
    for (triangle, turned) in triangles.iter_mut().zip(turned) {
        if turned {
            triangle.swap(1, 2);
        }
    }
    Ok(())
}

/// Whether both run through a common edge in the same direction.
fn same_direction(a: &[u32; 3], b: &[u32; 3]) -> bool {
    (0..3).any(|k| (0..3).any(|l| edge_corners(a, k) == edge_corners(b, l)))
}
