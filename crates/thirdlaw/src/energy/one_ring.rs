//! Volumes around vertices: of the tetrahedra that share one, its one-ring \[ISF07\].
//!
//! The volume of a single tetrahedron of linear elements cannot be kept without locking the mesh; that of
//! every one-ring can. With V_i the volume around vertex i, row i of B is a quarter of its gradient,
//!
//!   B_i = ¼ ∂V_i/∂x,   Σ_i ¼ V_i = the volume of the mesh,
//!
//! so that pressures p at the vertices push with the forces Bᵀp (p in Pa). V_i does not change where
//! everything is shifted or turned: these forces have neither sum nor torque.

use super::Energy;
use super::tetrahedron::Tetrahedra;
use crate::linalg::rows::Rows;
use crate::math::Vec3;

/// The one-rings of a mesh.
#[derive(Clone, Debug, Default)]
pub struct OneRings {
    cells: Vec<Cell>,
    /// Particle in the middle of each, ascending.
    pub centers: Vec<u32>,
    /// Volume of each at rest, m³.
    pub rest: Vec<f64>,
    /// λ + 2μ of what each is made of, Pa.
    pub modulus: Vec<f64>,
    /// Particles of each, ascending: the columns of B.
    columns: Rows<u32>,
    /// How many particles there are at least.
    particles: usize,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    nodes: [u32; 4],
    rings: [u32; 4],
    /// Where in the rows of B the gradients go: ring by ring, then node by node.
    places: [[u32; 4]; 4],
}

/// B at one state.
#[derive(Clone, Debug, Default)]
pub struct Gradients {
    /// By row and column, m².
    entries: Vec<Vec3>,
    /// Volumes, m³.
    pub volumes: Vec<f64>,
}

impl OneRings {
    /// Those of the tetrahedra that are asked for.
    pub fn new(tetrahedra: &Tetrahedra, wanted: impl Fn(&[u32; 4]) -> bool) -> OneRings {
        let chosen = (0..tetrahedra.len()).filter(|&e| wanted(&tetrahedra.nodes(e)));
        let chosen: Vec<usize> = chosen.collect();
        let mut centers: Vec<u32> = chosen.iter().flat_map(|&e| tetrahedra.nodes(e)).collect();
        centers.sort_unstable();
        centers.dedup();
        let count = centers.len();
        let ring = |node: u32| centers.partition_point(|&c| c < node);
        let (mut rest, mut modulus) = (vec![0.0; count], vec![0.0; count]);
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); count];
        for &element in &chosen {
            let volume = tetrahedra.rest_volume(element);
            let [lambda, mu] = tetrahedra.material(element).lame();
            for node in tetrahedra.nodes(element) {
                let i = ring(node);
                rest[i] += volume;
                modulus[i] += volume * (lambda + 2.0 * mu);
                around[i].extend(tetrahedra.nodes(element));
            }
        }
        modulus.iter_mut().zip(&rest).for_each(|(m, v)| *m /= v);
        for nodes in &mut around {
            nodes.sort_unstable();
            nodes.dedup();
        }
        let columns = Rows::made(count, |row, out| out.extend_from_slice(&around[row]));
        let cells = chosen.iter().map(|&element| {
            let nodes = tetrahedra.nodes(element);
            let rings = nodes.map(|node| ring(node) as u32);
            let place = |ring: u32, node: u32| {
                let row = columns.row(ring as usize);
                columns.start[ring as usize] + row.partition_point(|&c| c < node) as u32
            };
            let places = rings.map(|ring| nodes.map(|node| place(ring, node)));
            Cell { nodes, rings, places }
        });
        let cells = cells.collect();
        let particles = centers.last().map_or(0, |last| *last as usize + 1);
        OneRings { cells, centers, rest, modulus, columns, particles }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.centers.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.centers.len()
    }

    /// How many particles they speak of.
    pub fn particles(&self) -> usize {
        self.particles
    }

    /// B and the volumes where the particles are at `x`.
    pub fn evaluate(&self, x: &[Vec3], out: &mut Gradients) {
        out.entries.clear();
        out.entries.resize(self.columns.entries.len(), Vec3::ZERO);
        out.volumes.clear();
        out.volumes.resize(self.len(), 0.0);
        for cell in &self.cells {
            let [o, a, b, c] = cell.nodes.map(|i| x[i as usize]);
            let (a, b, c) = (a - o, b - o, c - o);
            let [ga, gb, gc] = [b.cross(c) / 24.0, c.cross(a) / 24.0, a.cross(b) / 24.0];
            let gradients = [-(ga + gb + gc), ga, gb, gc];
            let volume = 4.0 * a.dot(ga);
            for (ring, places) in cell.rings.iter().zip(&cell.places) {
                out.volumes[*ring as usize] += volume;
                for (place, gradient) in places.iter().zip(&gradients) {
                    out.entries[*place as usize] += *gradient;
                }
            }
        }
    }

    /// B u: what the rings gain per second, a quarter of it, m³/s.
    pub fn gains(&self, gradients: &Gradients, u: &[Vec3], out: &mut Vec<f64>) {
        out.clear();
        for row in 0..self.len() {
            let along = |(column, entry): (&u32, &Vec3)| entry.dot(u[*column as usize]);
            out.push(self.row(gradients, row).map(along).sum());
        }
    }

    /// Adds Bᵀp: what these pressures push with, N.
    pub fn add_forces(&self, gradients: &Gradients, pressures: &[f64], out: &mut [Vec3]) {
        for (row, p) in pressures.iter().enumerate() {
            for (column, entry) in self.row(gradients, row) {
                out[*column as usize] += *p * *entry;
            }
        }
    }

    /// Columns and entries of a row of B.
    pub fn row<'a>(
        &'a self,
        gradients: &'a Gradients,
        row: usize,
    ) -> impl Iterator<Item = (&'a u32, &'a Vec3)> {
        let range = self.columns.start[row] as usize..self.columns.start[row + 1] as usize;
        self.columns.row(row).iter().zip(&gradients.entries[range])
    }

    /// The largest relative change of any of these volumes.
    pub fn error(&self, gradients: &Gradients) -> f64 {
        let pairs = gradients.volumes.iter().zip(&self.rest);
        pairs.map(|(now, rest)| (now / rest - 1.0).abs()).fold(0.0, crate::math::worse)
    }
}
