//! From a cloth's mesh and fabric to a deformable object: membranes, bends, threads.

use super::topology::{self, Edge, edge_corners};
use super::{Bending, Cloth, ClothError, ClothMesh, Fabric, curvature};
use crate::energy::NONE;
use crate::energy::bend::{Bends, Hinge, hinge_angle};
use crate::energy::membrane::{Material, Membrane, Membranes};
use crate::math::Vec3;
use crate::model::deformable::{Deformable, SurfaceMaterial, Weave};

impl Cloth {
    /// Checks the cloth and derives the elements of its energies.
    pub fn deformable(self) -> Result<Deformable, ClothError> {
        let value = |field, problem: String| ClothError::Value { field, problem };
        let fabric = &self.fabric;
        fabric.check().map_err(|(field, problem)| value(field, problem))?;
        let Parts { membranes, bends, rest, triangles, edges, threads } =
            Parts::new(&self.mesh, fabric)?;
        let surface = SurfaceMaterial {
            friction: fabric.friction,
            thickness: fabric.thickness,
            drag: fabric.drag,
            lift: fabric.lift,
        };
        let mut out = Deformable::new(rest)
            .elements(membranes)
            .elements(bends)
            .surface(triangles, surface)
            .velocity(self.velocity);
        out.positions = self.mesh.positions;
        out.pins = self.pins;
        out.groups = self.groups;
        out.self_collision = self.self_collision;
        out.gravity_scale = self.gravity_scale;
        out.weave = Some(Weave { fabric: self.fabric, threads, edges });
        Ok(out)
    }
}

/// What a cloth consists of.
#[derive(Default)]
struct Parts {
    membranes: Membranes,
    bends: Bends,
    /// Where each vertex lies when the cloth is laid out, m.
    rest: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    threads: Vec<([u32; 2], f64)>,
}

impl Parts {
    /// Checks a mesh and takes it apart.
    fn new(mesh: &ClothMesh, fabric: &Fabric) -> Result<Parts, ClothError> {
        let mut triangles = checked_triangles(mesh)?;
        let before = triangles.clone();
        let edges = topology::edges(&mut triangles)?;
        let mut out = Parts::default();
        let mut rest = Vec::with_capacity(triangles.len());
        let mut held = vec![false; mesh.positions.len()];
        for (t, nodes) in triangles.iter().enumerate() {
            // turned triangles keep each corner's own coordinates
            let mut uv = mesh.rest[t];
            if *nodes != before[t] {
                uv.swap(1, 2);
            }
            let membrane = Membrane::new(nodes, &uv).ok_or(ClothError::NoArea { triangle: t })?;
            out.membranes.list.push(membrane);
            rest.push(uv);
            nodes.iter().for_each(|&node| held[node as usize] = true);
        }
        if let Some(vertex) = held.iter().position(|held| !held) {
            return Err(ClothError::Loose { vertex });
        }
        out.membranes.materials.push(Material {
            density: fabric.density,
            stretch: fabric.stretch,
            rest_scale: fabric.rest_scale,
            shear: fabric.shear,
            damping: [fabric.damping[0], fabric.damping[1]],
        });
        out.rest = laid_out(mesh, &triangles, &rest);
        out.triangles = triangles;
        out.edges = edges.iter().map(|e| e.vertices).collect();
        out.add_threads(&edges, &rest);
        out.add_hinges(&edges, mesh);
        match fabric.bending {
            Bending::Curvature => out.add_curvatures(&edges, &rest, fabric),
            Bending::Hinge => out.add_hinge_bends(&edges, &rest, fabric),
        }
        Ok(out)
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
            let opposite = |t: u32, k: u8| self.triangles[t as usize][k as usize];
            let [a, b] = edge.vertices;
            let nodes = [a, b, opposite(t, k), opposite(s, l)];
            let rest = match &mesh.rest_shape {
                Some(shape) => hinge_angle(nodes.map(|i| shape[i as usize])),
                None => 0.0,
            };
            self.bends.hinges.push(Hinge { nodes, rest });
        }
    }

    /// The energy of a triangle is ½ A (B_u κ_uu² + B_v κ_vv² + 2 √(B_u B_v) κ_uv²) with its
    /// curvature κ from the angles at its edges (curvature.rs), which in angles is ½ θᵀQθ. At a
    /// border nothing turns the normal: the free angle is the one of least energy.
    fn add_curvatures(&mut self, edges: &[Edge], rest: &[[[f64; 2]; 3]], fabric: &Fabric) {
        let Parts { membranes, bends, .. } = self;
        let mut hinge_of = vec![[NONE; 3]; membranes.list.len()];
        let mut beyond = vec![[None; 3]; membranes.list.len()];
        let mut hinge = 0;
        for edge in edges {
            let [Some((t, k)), Some((s, l))] = edge.sides else { continue };
            hinge_of[t as usize][k as usize] = hinge;
            hinge_of[s as usize][l as usize] = hinge;
            beyond[t as usize][k as usize] = Some(across(&rest[s as usize], l as usize));
            beyond[s as usize][l as usize] = Some(across(&rest[t as usize], k as usize));
            hinge += 1;
        }
        for (t, membrane) in membranes.iter().enumerate() {
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
                bends.push(membrane.nodes, hinges, q, fabric.damping[2]);
            }
        }
    }

    /// Each hinge alone: ½ k θ² with k = 2B l²/(A₁ + A₂), which is right on average over all
    /// directions of a mesh of equal sides.
    fn add_hinge_bends(&mut self, edges: &[Edge], rest: &[[[f64; 2]; 3]], fabric: &Fabric) {
        let Parts { membranes, bends, .. } = self;
        let mut hinge = 0;
        for edge in edges {
            let [Some((t, k)), Some((s, _))] = edge.sides else { continue };
            let [du, dv] = edge_vector(&rest[t as usize], k as usize);
            let l2 = du * du + dv * dv;
            // stiffness across the edge
            let b = (fabric.bend[0] * dv * dv + fabric.bend[1] * du * du) / l2;
            let areas = membranes.list[t as usize].area + membranes.list[s as usize].area;
            let q = [2.0 * b * l2 / areas, 0.0, 0.0, 0.0, 0.0, 0.0];
            let nodes = bends.hinges[hinge as usize].nodes;
            let corners = [nodes[0], nodes[1], nodes[2]];
            if q[0] > 0.0 {
                bends.push(corners, [hinge, NONE, NONE], q, fabric.damping[2]);
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
