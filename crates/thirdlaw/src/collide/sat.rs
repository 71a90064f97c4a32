//! Separating axes of polyhedra: the direction in which they overlap least.
//!
//! Face normals are preferred to products of edges by a small bias, so that the choice does not
//! change from step to step while a box lies flat; with a clear gap the bias is gone and the widest
//! gap wins.

use super::direction::{Axis, bias};
use super::piece::{Guard, Piece, Poly};
use crate::math::Vec3;
use crate::shape::MeshEdge;

/// The best axis of two boxes from a to b. `axes` and half extents of each.
pub(super) fn boxes(
    (axes_a, half_a): ([Vec3; 3], Vec3),
    (axes_b, half_b): ([Vec3; 3], Vec3),
    offset: Vec3,
    scale: f64,
) -> Axis {
    let cosine = axes_a.map(|a| axes_b.map(|b| a.dot(b)));
    let absolute = cosine.map(|row| row.map(f64::abs));
    let along_a = axes_a.map(|a| a.dot(offset));
    let along_b = axes_b.map(|b| b.dot(offset));
    let mut best = Axis { normal: Vec3::Y, separation: f64::NEG_INFINITY, edges: None };
    for i in 0..3 {
        let reach = half_a[i] + half_b.dot(Vec3::from_array(absolute[i]));
        best.prefer_by(axes_a[i], along_a[i], along_a[i].abs() - reach, scale);
    }
    for j in 0..3 {
        let column = Vec3::new(absolute[0][j], absolute[1][j], absolute[2][j]);
        let reach = half_b[j] + half_a.dot(column);
        best.prefer_by(axes_b[j], along_b[j], along_b[j].abs() - reach, scale);
    }
    let threshold = best.separation + bias(best.separation, scale);
    let mut edge: Option<(usize, usize, f64, f64)> = None;
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            // |aᵢ × bⱼ|² = 1 − (aᵢ·bⱼ)²; nearly parallel edges say nothing new
            let squared = 1.0 - cosine[i][j] * cosine[i][j];
            if squared < 1e-8 {
                continue;
            }
            let reach = half_a[i1] * absolute[i2][j]
                + half_a[i2] * absolute[i1][j]
                + half_b[j1] * absolute[i][j2]
                + half_b[j2] * absolute[i][j1];
            // offset·(aᵢ × bⱼ), with bⱼ in the axes of a
            let along = along_a[i2] * cosine[i1][j] - along_a[i1] * cosine[i2][j];
            let separation = (along.abs() - reach) / squared.sqrt();
            if separation > edge.map_or(threshold, |e| e.2 + 1e-9 * scale) {
                edge = Some((i, j, separation, along));
            }
        }
    }
    if let Some((i, j, separation, along)) = edge {
        let normal = axes_a[i].cross(axes_b[j]).normalize_or_zero();
        best.normal = if along < 0.0 { -normal } else { normal };
        best.separation = separation;
        // the edges that touch: those farthest along the normal
        let corner = |axes: [Vec3; 3], half: Vec3, skip: usize, toward: Vec3| {
            (0..3).filter(|&k| k != skip).fold(Vec3::ZERO, |s, k| {
                s + axes[k] * if axes[k].dot(toward) > 0.0 { half[k] } else { -half[k] }
            })
        };
        let on_a = corner(axes_a, half_a, i, best.normal);
        let on_b = corner(axes_b, half_b, j, -best.normal) + offset;
        let (along_a, along_b) = (axes_a[i] * half_a[i], axes_b[j] * half_b[j]);
        best.edges = Some([[on_a - along_a, on_a + along_a], [on_b - along_b, on_b + along_b]]);
    }
    best
}

impl Axis {
    fn prefer_by(&mut self, axis: Vec3, along: f64, separation: f64, scale: f64) {
        self.try_face(if along < 0.0 { -axis } else { axis }, separation, scale);
    }

    /// Takes a face normal if it is clearly better than what there is.
    fn try_face(&mut self, n: Vec3, separation: f64, scale: f64) {
        if self.gives_way(separation, scale) {
            (self.normal, self.separation) = (n, separation);
        }
    }

    /// Whether a face normal with this separation is clearly better than what there is.
    fn gives_way(&self, separation: f64, scale: f64) -> bool {
        let first = !self.separation.is_finite();
        first || separation > self.separation + 0.5 * bias(self.separation, scale)
    }
}

/// The best axis of two polyhedra from a to b, among those that the surroundings of a triangle
/// leave it. None if neither has a face nor crossing edges, or if a face is surely farther away than
/// `margin`.
pub(super) fn polyhedra(
    (a, pa): (&Piece, &Poly),
    (b, pb): (&Piece, &Poly),
    scale: f64,
    margin: f64,
) -> Option<Axis> {
    let mut best = Axis { normal: Vec3::ZERO, separation: f64::NEG_INFINITY, edges: None };
    let (guard_a, guard_b) = (a.guard.as_ref(), b.guard.as_ref());
    for n in own_normals(pa, guard_a) {
        let separation = -pb.reach(-n) - pa.reach(n);
        if best.gives_way(separation, scale) && admitted(guard_b, -n) {
            (best.normal, best.separation) = (n, separation);
            if separation > margin {
                return None;
            }
        }
    }
    for n in own_normals(pb, guard_b) {
        let separation = -pa.reach(-n) - pb.reach(n);
        if best.gives_way(separation, scale) && admitted(guard_a, -n) {
            (best.normal, best.separation) = (-n, separation);
            if separation > margin {
                return None;
            }
        }
    }
    if best.separation == f64::NEG_INFINITY {
        // two triangles that rule each other out: the first one's face decides
        let n = pa.normals.first().copied()?;
        best.try_face(n, -pb.support(-n).1 - pa.support(n).1, scale);
    }
    if best.separation > margin {
        return None;
    }
    let threshold = best.separation + bias(best.separation, scale);
    let edge = match (guard_a, pb.cuboid) {
        (Some(guard), Some(cuboid)) => {
            triangle_and_box_edges(guard, (b.center, cuboid.0, cuboid.1), threshold)
        }
        _ => edge_pairs(a, pa, b, pb, threshold),
    };
    if let Some(edge) = edge {
        best = edge;
    }
    (best.separation > f64::NEG_INFINITY).then_some(best)
}

fn own_normals<'a>(poly: &'a Poly, guard: Option<&Guard>) -> impl Iterator<Item = Vec3> + use<'a> {
    let beyond = guard.map_or([None; 4], |g| g.normals());
    let own = if guard.is_some() { &[] } else { poly.normals };
    beyond.into_iter().flatten().chain(own.iter().copied())
}

fn admitted(guard: Option<&Guard>, n: Vec3) -> bool {
    guard.is_none_or(|g| g.admits(n))
}

/// The best pair of edges whose gap is more than `threshold`.
fn edge_pairs(a: &Piece, pa: &Poly, b: &Piece, pb: &Poly, threshold: f64) -> Option<Axis> {
    let solid =
        !pa.faces.is_empty() && !pb.faces.is_empty() && a.guard.is_none() && b.guard.is_none();
    let mut best: Option<Axis> = None;
    for (ka, ea) in pa.edges.iter().enumerate() {
        if hidden(a, ka) {
            continue;
        }
        let sa = ea.vertices.map(|i| pa.vertices[i as usize]);
        let along_a = sa[1] - sa[0];
        for (kb, eb) in pb.edges.iter().enumerate() {
            if hidden(b, kb) || (solid && !arcs_cross(pa, ka, pb, kb)) {
                continue;
            }
            let sb = eb.vertices.map(|i| pb.vertices[i as usize]);
            let along_b = sb[1] - sb[0];
            let cross = along_a.cross(along_b);
            let limit = 1e-4 * along_a.length() * along_b.length();
            let length = cross.length();
            if length <= limit {
                continue;
            }
            let n = cross / length;
            let beats = best.map_or(threshold, |axis| axis.separation * (1.0 - 1e-12) + 1e-15);
            if solid {
                let n = if n.dot(sa[0] - a.center) < 0.0 { -n } else { n };
                let separation = n.dot(sb[0] - sa[0]);
                if separation > beats {
                    best = Some(Axis { normal: n, separation, edges: Some([sa, sb]) });
                }
                continue;
            }
            let (low_a, high_a) = pa.range(n);
            let (low_b, high_b) = pb.range(n);
            for (n, separation) in [(n, low_b - high_a), (-n, low_a - high_b)] {
                let reached =
                    best.map_or(threshold, |axis| axis.separation * (1.0 - 1e-12) + 1e-15);
                if separation > beats.max(reached)
                    && admitted(a.guard.as_ref(), n)
                    && admitted(b.guard.as_ref(), -n)
                {
                    best =
                        Some(Axis { normal: n, separation, edges: touching(pa, pb, n, [sa, sb]) });
                }
            }
        }
    }
    best
}

/// The same for a triangle and a box, whose twelve edges have three directions.
fn triangle_and_box_edges(
    guard: &Guard,
    (center, axes, half): (Vec3, [Vec3; 3], Vec3),
    threshold: f64,
) -> Option<Axis> {
    let mut best: Option<Axis> = None;
    for k in (0..3).filter(|&k| guard.edges[k] != MeshEdge::Hidden) {
        let [from, to, third] = [k, (k + 1) % 3, (k + 2) % 3].map(|i| guard.corners[i]);
        let along = to - from;
        let size = along.length();
        for j in 0..3 {
            let cross = along.cross(axes[j]);
            let length = cross.length();
            if length <= 1e-4 * size {
                continue;
            }
            let n = cross / length;
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            let reach = half[j1] * axes[j1].dot(n).abs() + half[j2] * axes[j2].dot(n).abs();
            let (middle, edge, other) = (n.dot(center), n.dot(from), n.dot(third));
            let (low, high) = (edge.min(other), edge.max(other));
            let ways = [
                (n, middle - reach - high, other - edge),
                (-n, low - middle - reach, edge - other),
            ];
            for (n, separation, above) in ways {
                let beats = best.map_or(threshold, |axis| axis.separation * (1.0 - 1e-12) + 1e-15);
                if separation <= beats || !guard.admits(n) {
                    continue;
                }
                // the edges that touch, if that of the triangle is the farthest along the normal
                let edges = (above <= 1e-9 * size).then(|| {
                    let toward =
                        |k: usize| axes[k] * if axes[k].dot(n) > 0.0 { -half[k] } else { half[k] };
                    let corner = center + toward(j1) + toward(j2);
                    [[from, to], [corner - axes[j] * half[j], corner + axes[j] * half[j]]]
                });
                best = Some(Axis { normal: n, separation, edges });
            }
        }
    }
    best
}

fn hidden(piece: &Piece, edge: usize) -> bool {
    piece.guard.is_some_and(|g| g.edges[edge] == MeshEdge::Hidden)
}

/// The pair of edges, if both lie on their supporting planes.
fn touching(pa: &Poly, pb: &Poly, n: Vec3, pair: [[Vec3; 2]; 2]) -> Option<[[Vec3; 2]; 2]> {
    let tolerance =
        1e-9 * (pair[0][1] - pair[0][0]).length().max((pair[1][1] - pair[1][0]).length());
    let on_a = pa.support(n).1 - n.dot(pair[0][0]) <= tolerance;
    let on_b = pb.support(-n).1 + n.dot(pair[1][0]) <= tolerance;
    (on_a && on_b).then_some(pair)
}

/// Whether two edges make a face of the Minkowski difference: their arcs on the Gauss sphere, one
/// of them mirrored, cross.
fn arcs_cross(pa: &Poly, ka: usize, pb: &Poly, kb: usize) -> bool {
    let (ea, eb) = (pa.edges[ka], pb.edges[kb]);
    let [a, b] = ea.faces.map(|f| pa.normals[f as usize]);
    let [c, d] = eb.faces.map(|f| -pb.normals[f as usize]);
    let ba = b.cross(a);
    let dc = d.cross(c);
    let cba = c.dot(ba);
    let dba = d.dot(ba);
    let adc = a.dot(dc);
    let bdc = b.dot(dc);
    cba * dba < 0.0 && adc * bdc < 0.0 && cba * bdc > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::piece::{Kind, PieceBuffer};
    use crate::collide::tests::Dice;
    use crate::math::{Pose, rotation_from_vector};
    use crate::shape::Convex;

    /// A box has three directions of edges: trying these finds what trying all twelve edges finds, and
    /// the edges it names are those that touch.
    #[test]
    fn three_directions_of_edges_do_for_twelve_edges() {
        let mut dice = Dice(5);
        let mut found = 0;
        for round in 0..5_000 {
            let half_extents = Vec3::splat(0.05) + dice.vector(0.4).abs();
            let convex = Convex::Cuboid { half_extents };
            let rotation = rotation_from_vector(dice.vector(3.0));
            let corners = [dice.vector(0.8), dice.vector(0.8), dice.vector(0.8)];
            let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize();
            let edges = [MeshEdge::Boundary, MeshEdge::Boundary, MeshEdge::Hidden];
            let guard = Guard { corners, normal, edges };
            let (mut one, mut other) = (PieceBuffer::default(), PieceBuffer::default());
            let a = Piece::triangle(guard, &mut one);
            let b =
                Piece::place(&convex, &Pose::from_parts(Vec3::ZERO, rotation), &mut other).unwrap();
            let (Kind::Poly(pa), Kind::Poly(pb)) = (&a.kind, &b.kind) else { panic!("polyhedra") };
            let (axes, half) = pb.cuboid.unwrap();
            let threshold = dice.roll() - 0.8;
            let expected = edge_pairs(&a, pa, &b, pb, threshold);
            let short = triangle_and_box_edges(&guard, (b.center, axes, half), threshold);
            assert_eq!(expected.is_some(), short.is_some(), "round {round}");
            let (Some(expected), Some(short)) = (expected, short) else { continue };
            assert!((expected.separation - short.separation).abs() < 1e-9, "round {round}");
            assert!(expected.normal.distance(short.normal) < 1e-9, "round {round}");
            let Some([on_a, on_b]) = short.edges else { continue };
            found += 1;
            let n = short.normal;
            for point in on_a {
                assert!((pa.support(n).1 - n.dot(point)).abs() < 1e-8, "round {round}");
            }
            for point in on_b {
                assert!((-pb.support(-n).1 - n.dot(point)).abs() < 1e-8, "round {round}");
            }
        }
        assert!(found > 300, "{found}");
    }
}
