//! What a step reads of cloth: masses, membranes, hinges, bends, edges, as plain arrays.
//!
//! The elements of all cloths of a world are strung together, with indices into one array of
//! particles.

use super::topology::{self, Edge, edge_corners};
use super::{Bending, ClothError, ClothMesh, Fabric, curvature};
use crate::energy::bend::hinge_angle;
use crate::math::Vec3;

/// Marks a missing hinge or node.
pub const NONE: u32 = u32::MAX;

/// Least distance from solids, in edge lengths: chords of this length stay off a sphere whose radius
/// is at least about a dozen edges.
const SKIN: f64 = 0.02;

/// A triangle that stretches and shears.
#[derive(Clone, Copy, Debug)]
pub struct Membrane {
    /// Its corners.
    pub nodes: [u32; 3],
    /// ∂w_u/∂x and ∂w_v/∂x of each corner, 1/m: w_u = Σ du·x.
    pub du: [f64; 3],
    /// See `du`.
    pub dv: [f64; 3],
    /// At rest, m².
    pub area: f64,
    /// Which fabric.
    pub fabric: u32,
}

/// Two triangles and the edge between them.
#[derive(Clone, Copy, Debug)]
pub struct Hinge {
    /// The edge's two vertices, then the vertex opposite in the first and in the second triangle.
    pub nodes: [u32; 4],
    /// Angle at rest, rad.
    pub rest: f64,
}

/// A quadratic form of up to three hinge angles: ½ Σ q_ij (θ_i − rest_i)(θ_j − rest_j).
#[derive(Clone, Copy, Debug)]
pub struct Bend {
    /// Every vertex that its hinges touch, each once; the corners of the triangle first.
    pub nodes: [u32; 6],
    /// Its hinges; missing ones are `NONE`.
    pub hinges: [u32; 3],
    /// Where in `nodes` each hinge's four nodes are.
    pub places: [[u8; 4]; 3],
    /// q_00, q_11, q_22, q_01, q_02, q_12, J.
    pub q: [f64; 6],
    /// Which fabric.
    pub fabric: u32,
}

/// Elements of one cloth, or of all cloths of a world strung together.
#[derive(Clone, Debug, Default)]
pub struct Elements {
    /// kg, per particle.
    pub mass: Vec<f64>,
    /// Half the thickness, m, per particle.
    pub radius: Vec<f64>,
    /// Distance that particles keep from solids, m: half the thickness, or more where the mesh is so
    /// coarse that its triangles would cut into round solids between their corners.
    pub skin: Vec<f64>,
    /// Which cloth (position among the living), per particle.
    pub owner: Vec<u32>,
    /// Triangles.
    pub membranes: Vec<Membrane>,
    /// Hinges.
    pub hinges: Vec<Hinge>,
    /// Bends.
    pub bends: Vec<Bend>,
    /// Every edge once.
    pub edges: Vec<[u32; 2]>,
    /// Edges along warp or weft with their rest length, m: what strain is measured on.
    pub threads: Vec<([u32; 2], f64)>,
    /// Where each particle lies when the cloth is laid out, m: what is near itself there need not
    /// be kept apart.
    pub rest: Vec<Vec3>,
    /// One per cloth.
    pub fabrics: Vec<Fabric>,
}

impl Elements {
    /// Checks a mesh and derives its elements.
    pub fn build(mesh: &ClothMesh, fabric: &Fabric) -> Result<Elements, ClothError> {
        let mut triangles = checked_triangles(mesh)?;
        let before = triangles.clone();
        let edges = topology::edges(&mut triangles)?;
        let mut out = Elements {
            mass: vec![0.0; mesh.positions.len()],
            radius: vec![0.5 * fabric.thickness; mesh.positions.len()],
            owner: vec![0; mesh.positions.len()],
            fabrics: vec![*fabric],
            ..Elements::default()
        };
        let mut rest = Vec::with_capacity(triangles.len());
        for (t, nodes) in triangles.iter().enumerate() {
            // turned triangles keep each corner's own coordinates
            let mut uv = mesh.rest[t];
            if *nodes != before[t] {
                uv.swap(1, 2);
            }
            let membrane = membrane(nodes, &uv).ok_or(ClothError::NoArea { triangle: t })?;
            for &node in nodes {
                out.mass[node as usize] += membrane.area * fabric.density / 3.0;
            }
            out.membranes.push(membrane);
            rest.push(uv);
        }
        if let Some(vertex) = out.mass.iter().position(|&m| m == 0.0) {
            return Err(ClothError::Loose { vertex });
        }
        out.rest = laid_out(mesh, &triangles, &rest);
        out.edges = edges.iter().map(|e| e.vertices).collect();
        out.add_threads(&edges, &rest);
        let total: f64 = out.threads.iter().map(|t| t.1).sum();
        let coarse = SKIN * total / out.threads.len().max(1) as f64;
        out.skin = out.radius.iter().map(|r| r.max(coarse)).collect();
        out.add_hinges(&edges, mesh);
        match fabric.bending {
            Bending::Curvature => out.add_curvatures(&edges, &rest, fabric),
            Bending::Hinge => out.add_hinge_bends(&edges, &rest, fabric),
        }
        Ok(out)
    }

    /// Strings another cloth's elements behind these.
    pub fn append(&mut self, other: &Elements) {
        let (particles, hinges) = (self.mass.len() as u32, self.hinges.len() as u32);
        let fabrics = self.fabrics.len() as u32;
        let moved = |i: u32| if i == NONE { NONE } else { i + particles };
        self.mass.extend_from_slice(&other.mass);
        self.radius.extend_from_slice(&other.radius);
        self.skin.extend_from_slice(&other.skin);
        self.owner.extend(other.owner.iter().map(|o| o + fabrics));
        self.membranes.extend(other.membranes.iter().map(|m| Membrane {
            nodes: m.nodes.map(moved),
            fabric: m.fabric + fabrics,
            ..*m
        }));
        self.hinges.extend(other.hinges.iter().map(|h| Hinge { nodes: h.nodes.map(moved), ..*h }));
        self.bends.extend(other.bends.iter().map(|b| Bend {
            nodes: b.nodes.map(moved),
            hinges: b.hinges.map(|h| if h == NONE { NONE } else { h + hinges }),
            fabric: b.fabric + fabrics,
            ..*b
        }));
        self.rest.extend_from_slice(&other.rest);
        self.edges.extend(other.edges.iter().map(|e| e.map(moved)));
        self.threads.extend(other.threads.iter().map(|(e, l)| (e.map(moved), *l)));
        self.fabrics.extend_from_slice(&other.fabrics);
    }

    /// Edges within 10° of warp or weft; where the mesh has none, all edges.
    fn add_threads(&mut self, edges: &[Edge], rest: &[[[f64; 2]; 3]]) {
        let sin_max = libm::sin(10.0_f64.to_radians());
        let mut all = Vec::with_capacity(edges.len());
        for edge in edges {
            let Some((t, k)) = edge.sides[0] else { continue };
            let d = edge_vector(&rest[t as usize], k as usize);
            let length = (d[0] * d[0] + d[1] * d[1]).sqrt();
            let along = d[0].abs().min(d[1].abs()) <= sin_max * length;
            all.push((edge.vertices, length, along));
        }
        let any = all.iter().any(|e| e.2);
        self.threads.extend(all.iter().filter(|e| e.2 || !any).map(|e| (e.0, e.1)));
    }

    fn add_hinges(&mut self, edges: &[Edge], mesh: &ClothMesh) {
        for edge in edges {
            let [Some((t, k)), Some((s, l))] = edge.sides else { continue };
            let opposite = |t: u32, k: u8| self.membranes[t as usize].nodes[k as usize];
            let [a, b] = edge.vertices;
            let nodes = [a, b, opposite(t, k), opposite(s, l)];
            let rest = match &mesh.rest_shape {
                Some(shape) => hinge_angle(nodes.map(|i| shape[i as usize])),
                None => 0.0,
            };
            self.hinges.push(Hinge { nodes, rest });
        }
    }

    /// The energy of a triangle is ½ A (B_u κ_uu² + B_v κ_vv² + 2 √(B_u B_v) κ_uv²) with its
    /// curvature κ from the angles at its edges (curvature.rs), which in angles is ½ θᵀQθ. At a
    /// border nothing turns the normal: the free angle is the one of least energy.
    fn add_curvatures(&mut self, edges: &[Edge], rest: &[[[f64; 2]; 3]], fabric: &Fabric) {
        let mut hinge_of = vec![[NONE; 3]; self.membranes.len()];
        let mut beyond = vec![[None; 3]; self.membranes.len()];
        let mut hinge = 0;
        for edge in edges {
            let [Some((t, k)), Some((s, l))] = edge.sides else { continue };
            hinge_of[t as usize][k as usize] = hinge;
            hinge_of[s as usize][l as usize] = hinge;
            beyond[t as usize][k as usize] = Some(across(&rest[s as usize], l as usize));
            beyond[s as usize][l as usize] = Some(across(&rest[t as usize], k as usize));
            hinge += 1;
        }
        for (t, membrane) in self.membranes.iter().enumerate() {
            let hinges = hinge_of[t];
            let shares = curvature::per_angle(&rest[t], &beyond[t]);
            let [bu, bv] = fabric.bend;
            let weights = [bu, bv, 2.0 * (bu * bv).sqrt()].map(|b| b * membrane.area);
            let mut q = [[0.0; 3]; 3];
            for i in 0..3 {
                for j in 0..3 {
                    q[i][j] = (0..3).map(|c| weights[c] * shares[i][c] * shares[j][c]).sum();
                }
            }
            for k in (0..3).filter(|&k| hinges[k] == NONE) {
                eliminate(&mut q, k);
            }
            let q = [q[0][0], q[1][1], q[2][2], q[0][1], q[0][2], q[1][2]];
            if hinges != [NONE; 3] && q != [0.0; 6] {
                let bend = bend(&self.hinges, membrane.nodes, hinges, q);
                self.bends.push(bend);
            }
        }
    }

    /// Each hinge alone: ½ k θ² with k = 2B l²/(A₁ + A₂), which is right on average over all
    /// directions of a mesh of equal sides.
    fn add_hinge_bends(&mut self, edges: &[Edge], rest: &[[[f64; 2]; 3]], fabric: &Fabric) {
        let mut hinge = 0;
        for edge in edges {
            let [Some((t, k)), Some((s, _))] = edge.sides else { continue };
            let [du, dv] = edge_vector(&rest[t as usize], k as usize);
            let l2 = du * du + dv * dv;
            // stiffness across the edge
            let b = (fabric.bend[0] * dv * dv + fabric.bend[1] * du * du) / l2;
            let areas = self.membranes[t as usize].area + self.membranes[s as usize].area;
            let q = [2.0 * b * l2 / areas, 0.0, 0.0, 0.0, 0.0, 0.0];
            let nodes = self.hinges[hinge as usize].nodes;
            let corners = [nodes[0], nodes[1], nodes[2]];
            if q[0] > 0.0 {
                let bend = bend(&self.hinges, corners, [hinge, NONE, NONE], q);
                self.bends.push(bend);
            }
            hinge += 1;
        }
    }
}

/// The rest coordinates as places in a plane, where they are one piece without folds; else the shape
/// that the mesh rests in or starts from.
fn laid_out(mesh: &ClothMesh, triangles: &[[u32; 3]], rest: &[[[f64; 2]; 3]]) -> Vec<Vec3> {
    let mut places = vec![None; mesh.positions.len()];
    let mut turns = [false; 2];
    for (triangle, uv) in triangles.iter().zip(rest) {
        let (d, e) = (edge_vector(uv, 2), edge_vector(uv, 1));
        turns[usize::from(d[0] * e[1] - d[1] * e[0] > 0.0)] = true;
        for (&vertex, uv) in triangle.iter().zip(uv) {
            let place = Vec3::new(uv[0], 0.0, uv[1]);
            match &mut places[vertex as usize] {
                Some(known) if *known == place => {}
                Some(_) => turns = [true; 2],
                none => *none = Some(place),
            }
        }
    }
    if turns == [true; 2] {
        return mesh.rest_shape.clone().unwrap_or_else(|| mesh.positions.clone());
    }
    places.into_iter().map(Option::unwrap_or_default).collect()
}

fn checked_triangles(mesh: &ClothMesh) -> Result<Vec<[u32; 3]>, ClothError> {
    if mesh.triangles.is_empty() {
        return Err(ClothError::Empty);
    }
    if mesh.rest.len() != mesh.triangles.len() {
        return Err(ClothError::Value {
            field: "mesh.rest",
            problem: format!(
                "must have one entry for each of the {} triangles, not {}",
                mesh.triangles.len(),
                mesh.rest.len()
            ),
        });
    }
    let usable = |p: &Vec3| p.is_finite() && p.abs().max_element() < 1e9;
    if let Some(index) = mesh.positions.iter().position(|p| !usable(p)) {
        return Err(ClothError::NotFinite { what: "position of vertex", index });
    }
    if let Some(shape) = &mesh.rest_shape {
        if shape.len() != mesh.positions.len() {
            return Err(ClothError::Value {
                field: "mesh.rest_shape",
                problem: format!(
                    "must have one place for each of the {} vertices, not {}",
                    mesh.positions.len(),
                    shape.len()
                ),
            });
        }
        if let Some(index) = shape.iter().position(|p| !usable(p)) {
            return Err(ClothError::NotFinite { what: "rest place of vertex", index });
        }
    }
    for (index, (triangle, rest)) in mesh.triangles.iter().zip(&mesh.rest).enumerate() {
        if let Some(&vertex) = triangle.iter().find(|&&v| v as usize >= mesh.positions.len()) {
            return Err(ClothError::NoSuchVertex { triangle: index, vertex });
        }
        let [a, b, c] = *triangle;
        if a == b || b == c || c == a {
            return Err(ClothError::NoArea { triangle: index });
        }
        if rest.iter().flatten().any(|x| !x.is_finite() || x.abs() > 1e9) {
            return Err(ClothError::NotFinite { what: "rest coordinates of triangle", index });
        }
    }
    Ok(mesh.triangles.clone())
}

/// (w_u w_v) = (Δx₁ Δx₂)(Δu₁ Δu₂; Δv₁ Δv₂)⁻¹ as weights of the corners (baraff1998).
fn membrane(nodes: &[u32; 3], uv: &[[f64; 2]; 3]) -> Option<Membrane> {
    let (u1, v1) = (uv[1][0] - uv[0][0], uv[1][1] - uv[0][1]);
    let (u2, v2) = (uv[2][0] - uv[0][0], uv[2][1] - uv[0][1]);
    let det = u1 * v2 - u2 * v1;
    let longest = [u1, v1, u2, v2, u2 - u1, v2 - v1].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    // slimmer than a millionth of its length: no area that arithmetic can trust
    if det.abs() <= 1e-6 * longest * longest || det.abs() < 1e-18 {
        return None;
    }
    let du = [(v1 - v2) / det, v2 / det, -v1 / det];
    let dv = [(u2 - u1) / det, -u2 / det, u1 / det];
    Some(Membrane { nodes: *nodes, du, dv, area: 0.5 * det.abs(), fabric: 0 })
}

/// The corner opposite edge `k` as (share along the edge in the triangle's own direction, height).
fn across(uv: &[[f64; 2]; 3], k: usize) -> [f64; 2] {
    let d = edge_vector(uv, k);
    let a = uv[(k + 1) % 3];
    let r = [uv[k][0] - a[0], uv[k][1] - a[1]];
    let l2 = d[0] * d[0] + d[1] * d[1];
    [(r[0] * d[0] + r[1] * d[1]) / l2, ((d[0] * r[1] - d[1] * r[0]).abs()) / l2.sqrt()]
}

fn edge_vector(uv: &[[f64; 2]; 3], k: usize) -> [f64; 2] {
    let [a, b] = edge_corners(&[0, 1, 2], k).map(|i| uv[i as usize]);
    [b[0] - a[0], b[1] - a[1]]
}

/// Minimizes ½θᵀQθ over θ_k: what is left for the others.
fn eliminate(q: &mut [[f64; 3]; 3], k: usize) {
    let (pivot, column) = (q[k][k], q[k]);
    for (i, row) in q.iter_mut().enumerate() {
        for (value, other) in row.iter_mut().zip(column) {
            *value -= if pivot > 0.0 { column[i] * other / pivot } else { 0.0 };
        }
        row[k] = 0.0;
        // round-off must not make a form negative
        row[i] = row[i].max(0.0);
    }
    q[k] = [0.0; 3];
}

fn bend(all: &[Hinge], corners: [u32; 3], hinges: [u32; 3], q: [f64; 6]) -> Bend {
    let mut nodes = [corners[0], corners[1], corners[2], NONE, NONE, NONE];
    let mut places = [[0; 4]; 3];
    let mut count = 3;
    for (hinge, places) in hinges.iter().zip(&mut places) {
        if *hinge == NONE {
            continue;
        }
        for (node, place) in all[*hinge as usize].nodes.iter().zip(places) {
            let found = nodes[..count].iter().position(|n| n == node).unwrap_or_else(|| {
                nodes[count] = *node;
                count += 1;
                count - 1
            });
            *place = found as u8;
        }
    }
    Bend { nodes, hinges, places, q, fabric: 0 }
}
