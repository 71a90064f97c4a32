//! Bending: the angle between two triangles at their common edge, and quadratic forms of it.
//!
//! sin θ = (n₁ × n₂)·e and cos θ = n₁·n₂ (baraff1998). The energy of a [`Bend`] is ½ Σ q_ij (θ_i −
//! rest_i)(θ_j − rest_j); of its Hessian the part ∇θ q ∇θᵀ is kept, which is never negative. Two bends
//! may share a hinge, whose angle is then measured once.

use super::{Energy, NONE, RowSum, Step, shifted};
use crate::linalg::block::{Block, Lane, Scalar, lane};
use crate::math::Vec3;
use crate::parallel::loops::{each, sum};
use std::hash::Hasher;

/// Hinges, and the forms of their angles.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Bends {
    /// Hinges.
    pub(crate) hinges: Vec<Hinge>,
    /// Forms of up to three of them.
    pub(crate) list: Vec<Bend>,
}

/// Two triangles and the edge between them.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Hinge {
    /// The edge's two vertices, then the vertex opposite in the first and in the second triangle.
    pub nodes: [u32; 4],
    /// Angle at rest, rad.
    pub rest: f64,
}

/// A quadratic form of up to three hinge angles: ½ Σ q_ij (θ_i − rest_i)(θ_j − rest_j).
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Bend {
    /// Every vertex that its hinges touch, each once; the corners of the triangle first.
    pub nodes: [u32; 6],
    /// Its hinges; missing ones are [`NONE`].
    pub hinges: [u32; 3],
    /// Where in `nodes` each hinge's four nodes are.
    places: [[u8; 4]; 3],
    /// Which of each hinge's four nodes a node is, or `NOT_HERE`.
    corners: [[u8; 3]; 6],
    /// q_00, q_11, q_22, q_01, q_02, q_12, J.
    pub q: [f64; 6],
    /// k_d/k, s.
    pub damping: f64,
}

/// Marks hinges that a node has no part in.
const NOT_HERE: u8 = u8::MAX;

/// Angle of a hinge and its gradient with respect to the four nodes, 1/m.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fold {
    /// rad, 0 when flat.
    pub angle: f64,
    /// ∂θ/∂x of each node.
    pub gradient: [Vec3; 4],
}

/// What bends contribute at one state.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Per hinge.
    folds: Vec<Fold>,
    /// Per bend: ∂E/∂θ of its hinges, N·m.
    moments: Vec<[f64; 3]>,
    /// Per hinge: its angle at the beginning of the step, and at a place that is tried.
    angles: Vec<f64>,
    tried: Vec<f64>,
    /// Length of the step, s.
    h: f64,
}

impl Energy for Bends {
    const NAME: &'static str = "bend";
    type Nodes = [u32; 6];
    type Parts = Parts;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn nodes(&self, element: usize) -> [u32; 6] {
        self.list[element].nodes
    }

    fn append(&mut self, other: &Bends, first: u32) {
        let hinges = self.hinges.len() as u32;
        let moved = |n: u32| shifted(n, first);
        self.hinges.extend(other.hinges.iter().map(|h| Hinge { nodes: h.nodes.map(moved), ..*h }));
        self.list.extend(other.list.iter().map(|b| Bend {
            nodes: b.nodes.map(moved),
            hinges: b.hinges.map(|h| shifted(h, hinges)),
            ..*b
        }));
    }

    fn fingerprint(&self, hasher: &mut dyn Hasher) {
        for hinge in &self.hinges {
            hinge.nodes.iter().for_each(|&n| hasher.write_u32(n));
            hasher.write_u64(hinge.rest.to_bits());
        }
        for bend in &self.list {
            bend.hinges.iter().for_each(|&h| hasher.write_u32(h));
            bend.q.iter().chain([&bend.damping]).for_each(|x| hasher.write_u64(x.to_bits()));
        }
    }

    fn energy(&self, element: usize, x: &[Vec3]) -> f64 {
        let bend = &self.list[element];
        let d = bend.hinges.map(|h| match self.hinges.get(h as usize) {
            Some(hinge) => deviation(hinge, hinge_angle(hinge.nodes.map(|i| x[i as usize]))),
            None => 0.0,
        });
        form(bend, d)
    }

    fn begin(&self, x0: &[Vec3], h: f64, parts: &mut Parts) {
        parts.angles.clear();
        self.evaluate(&Step { x0, x1: x0, h }, parts);
        parts.angles.extend(parts.folds.iter().map(|f| f.angle));
    }

    fn evaluate(&self, step: &Step, parts: &mut Parts) {
        parts.h = step.h;
        parts.folds.resize(self.hinges.len(), Fold::default());
        each(self.hinges.len(), &mut parts.folds[..], &|rows, out: &mut [Fold]| {
            for (out, hinge) in out.iter_mut().zip(&self.hinges[rows]) {
                *out = fold(hinge.nodes.map(|i| step.x1[i as usize]));
            }
        });
        parts.moments.resize(self.list.len(), [0.0; 3]);
        let (folds, angles) = (&parts.folds, &parts.angles);
        each(self.list.len(), &mut parts.moments[..], &|rows, out: &mut [[f64; 3]]| {
            for (out, bend) in out.iter_mut().zip(&self.list[rows]) {
                *out = self.moments(bend, folds, (bend.damping / step.h, angles));
            }
        });
    }

    /// Of K = Σ_pq q_pq ∇θ_p ∇θ_qᵀ the row of a node: Σ_q c_q ∇θ_qᵀ with c_q = Σ_p q_pq ∇θ_p.
    #[inline(always)]
    fn add_row<T: Scalar>(
        &self,
        parts: &Parts,
        element: usize,
        corner: usize,
        row: &mut RowSum<'_, T>,
    ) {
        let bend = &self.list[element];
        let scale = parts.h * parts.h + parts.h * bend.damping;
        let corners = bend.corners[corner];
        let mut own = [Vec3::ZERO; 3];
        for p in (0..3).filter(|&p| corners[p] != NOT_HERE) {
            let g = parts.folds[bend.hinges[p] as usize].gradient[corners[p] as usize];
            *row.force -= parts.moments[element][p] * g;
            own[p] = scale * g;
        }
        let [q00, q11, q22, q01, q02, q12] = bend.q;
        let coupled = [
            q00 * own[0] + q01 * own[1] + q02 * own[2],
            q01 * own[0] + q11 * own[1] + q12 * own[2],
            q02 * own[0] + q12 * own[1] + q22 * own[2],
        ];
        for q in (0..3).filter(|&q| bend.hinges[q] != NONE) {
            let c: Lane<T> = lane(coupled[q]);
            let fold = &parts.folds[bend.hinges[q] as usize];
            for (g, &place) in fold.gradient.iter().zip(&bend.places[q]) {
                add_outer(row.block(place as usize), &c, *g);
            }
        }
    }

    fn energy_since(&self, step: &Step, parts: &mut Parts) -> f64 {
        parts.tried.resize(self.hinges.len(), 0.0);
        let angles = &parts.angles;
        each(self.hinges.len(), &mut parts.tried[..], &|rows, out: &mut [f64]| {
            for (h, angle) in rows.zip(out) {
                let nodes = self.hinges[h].nodes.map(|i| i as usize);
                // most hinges of cloth that stays need not be measured again
                let same = nodes.iter().all(|&i| step.x1[i] == step.x0[i]);
                *angle = if same { angles[h] } else { hinge_angle(nodes.map(|i| step.x1[i])) };
            }
        });
        let (before, now) = (&parts.angles, &parts.tried);
        sum(0..self.list.len(), (), &|rows, ()| {
            let energy = |b: &Bend| self.form_since(b, now, (b.damping / step.h, before));
            self.list[rows].iter().map(energy).sum()
        })
    }
}

impl Bends {
    /// Moments ∂E/∂θ of the three hinges of a bend, N·m; damping adds `lag` times the change from
    /// the angles at the beginning, where there are any.
    fn moments(&self, bend: &Bend, folds: &[Fold], (lag, before): (f64, &[f64])) -> [f64; 3] {
        let d = bend.hinges.map(|h| {
            if h == NONE {
                return 0.0;
            }
            let angle = folds[h as usize].angle;
            let change = before.get(h as usize).map_or(0.0, |before| short(angle - before));
            deviation(&self.hinges[h as usize], angle) + lag * change
        });
        let q = &bend.q;
        [
            q[0] * d[0] + q[3] * d[1] + q[4] * d[2],
            q[3] * d[0] + q[1] * d[1] + q[5] * d[2],
            q[4] * d[0] + q[5] * d[1] + q[2] * d[2],
        ]
    }

    /// Energy of a bend with its hinges at the angles `now`, and what damping takes since they were
    /// at `before`, J.
    fn form_since(&self, bend: &Bend, now: &[f64], (lag, before): (f64, &[f64])) -> f64 {
        let of = |value: &dyn Fn(usize) -> f64| {
            bend.hinges.map(|h| if h == NONE { 0.0 } else { value(h as usize) })
        };
        let own = of(&|h| deviation(&self.hinges[h], now[h]));
        let change = of(&|h| short(now[h] - before[h]));
        form(bend, own) + lag * form(bend, change)
    }

    /// Adds the form `q` of these hinges, which lie around a triangle with these corners.
    pub(crate) fn push(&mut self, corners: [u32; 3], hinges: [u32; 3], q: [f64; 6], damping: f64) {
        let mut nodes = [corners[0], corners[1], corners[2], NONE, NONE, NONE];
        let mut places = [[0; 4]; 3];
        let mut corners = [[NOT_HERE; 3]; 6];
        let mut count = 3;
        for (p, &hinge) in hinges.iter().enumerate().filter(|(_, h)| **h != NONE) {
            for (k, &node) in self.hinges[hinge as usize].nodes.iter().enumerate() {
                let found = nodes[..count].iter().position(|n| *n == node).unwrap_or_else(|| {
                    nodes[count] = node;
                    count += 1;
                    count - 1
                });
                places[p][k] = found as u8;
                let corner = &mut corners[found][p];
                *corner = (*corner).min(k as u8);
            }
        }
        self.list.push(Bend { nodes, hinges, places, corners, q, damping });
    }
}

/// θ of edge (0, 1) with opposite vertices 2 and 3, rad.
pub fn hinge_angle([x0, x1, x2, x3]: [Vec3; 4]) -> f64 {
    let e = x1 - x0;
    let (n1, n2) = (e.cross(x2 - x0), (x3 - x0).cross(e));
    // both scaled by |n1||n2||e|, which atan2 does not see
    libm::atan2(n1.cross(n2).dot(e), n1.dot(n2) * e.length())
}

/// Angle and gradient; a triangle without area has no normal, and its hinge no gradient.
pub fn fold([x0, x1, x2, x3]: [Vec3; 4]) -> Fold {
    let e = x1 - x0;
    let (r2, r3) = (x2 - x0, x3 - x0);
    let (n1, n2) = (e.cross(r2), r3.cross(e));
    let (a1, a2, l2) = (n1.length_squared(), n2.length_squared(), e.length_squared());
    let least = 1e-24 * l2 * l2;
    if !(a1 > least && a2 > least && l2 > 0.0) {
        return Fold::default();
    }
    let l = l2.sqrt();
    let angle = libm::atan2(n1.cross(n2).dot(e), n1.dot(n2) * l);
    let g2 = n1 * (-l / a1);
    let g3 = n2 * (-l / a2);
    let (t2, t3) = (r2.dot(e) / l2, r3.dot(e) / l2);
    let g0 = -((1.0 - t2) * g2 + (1.0 - t3) * g3);
    let g1 = -(t2 * g2 + t3 * g3);
    Fold { angle, gradient: [g0, g1, g2, g3] }
}

/// Deviation from rest, taken the short way round.
fn deviation(hinge: &Hinge, angle: f64) -> f64 {
    short(angle - hinge.rest)
}

/// An angle, taken the short way round.
fn short(d: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    if d > PI {
        d - TAU
    } else if d < -PI {
        d + TAU
    } else {
        d
    }
}

/// ½ Σ q_ij d_i d_j.
fn form(bend: &Bend, d: [f64; 3]) -> f64 {
    let q = &bend.q;
    0.5 * (q[0] * d[0] * d[0] + q[1] * d[1] * d[1] + q[2] * d[2] * d[2])
        + q[3] * d[0] * d[1]
        + q[4] * d[0] * d[2]
        + q[5] * d[1] * d[2]
}

/// block += a bᵀ.
#[inline(always)]
fn add_outer<T: Scalar>(block: &mut Block<T>, a: &Lane<T>, b: Vec3) {
    for (column, b) in block.iter_mut().zip([b.x, b.y, b.z]) {
        let b = T::of(b);
        for k in 0..4 {
            column[k] += a[k] * b;
        }
    }
}
