//! What can be read off a cloth or a soft body.

use thirdlaw::collide::deformable::{Tree, signed_distance};
use thirdlaw::energy::Energy;
use thirdlaw::math::Vec3;
use thirdlaw::{ClothId, World};

/// Behind the triangles of an open mesh solid reaches this far, m.
const OPEN_REACH: f64 = 0.05;

/// A quantity of a cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClothReading {
    /// Mean place of its vertices along an axis, m.
    Mean(usize),
    /// Smallest coordinate of any vertex along an axis, m.
    Least(usize),
    /// Largest coordinate of any vertex along an axis, m.
    Most(usize),
    /// Largest |l/l₀ − 1| over its warp and weft edges, or all edges of a soft body.
    Strain,
    /// Fastest vertex, m/s.
    Speed,
    /// Root mean square of the speeds of its vertices, m/s.
    MeanSpeed,
    /// Depth of the vertex that is deepest inside a solid it may touch, m; 0 if none is inside.
    Depth,
    /// Depth of the deepest place of a triangle inside a solid it may touch, m; 0 if none is inside.
    Cut,
    /// Pairs of an edge and a triangle that cross, both of its surface or one of it and one of another
    /// cloth or soft body.
    Crossings,
    /// Volume inside its surface over that at rest; only of soft bodies.
    Volume,
    /// Smallest volume of a tetrahedron over that at rest; only of soft bodies.
    LeastVolume,
    /// A quantity of one vertex.
    Vertex(u32, VertexReading),
}

/// A quantity of a vertex of a cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexReading {
    /// Place along an axis, m.
    Position(usize),
    /// Velocity along an axis, m/s.
    Velocity(usize),
    /// m/s.
    Speed,
}

/// Cloth quantities by name.
pub const CLOTH_READINGS: [(&str, ClothReading); 17] = [
    ("x", ClothReading::Mean(0)),
    ("y", ClothReading::Mean(1)),
    ("z", ClothReading::Mean(2)),
    ("lowest", ClothReading::Least(1)),
    ("highest", ClothReading::Most(1)),
    ("x_min", ClothReading::Least(0)),
    ("x_max", ClothReading::Most(0)),
    ("z_min", ClothReading::Least(2)),
    ("z_max", ClothReading::Most(2)),
    ("strain", ClothReading::Strain),
    ("speed", ClothReading::Speed),
    ("mean_speed", ClothReading::MeanSpeed),
    ("depth", ClothReading::Depth),
    ("cut", ClothReading::Cut),
    ("crossings", ClothReading::Crossings),
    ("volume", ClothReading::Volume),
    ("least_volume", ClothReading::LeastVolume),
];

/// Vertex quantities by name.
pub const VERTEX_READINGS: [(&str, VertexReading); 7] = [
    ("x", VertexReading::Position(0)),
    ("y", VertexReading::Position(1)),
    ("z", VertexReading::Position(2)),
    ("vx", VertexReading::Velocity(0)),
    ("vy", VertexReading::Velocity(1)),
    ("vz", VertexReading::Velocity(2)),
    ("speed", VertexReading::Speed),
];

impl ClothReading {
    /// Reads it off a world; NaN for a cloth that is gone.
    pub fn read(self, world: &World, id: ClothId) -> f64 {
        let (Ok(x), Ok(v)) = (world.vertices(id), world.vertex_velocities(id)) else {
            return f64::NAN;
        };
        let count = x.len().max(1) as f64;
        match self {
            ClothReading::Mean(k) => x.iter().map(|p| p[k]).sum::<f64>() / count,
            ClothReading::Least(k) => x.iter().map(|p| p[k]).fold(f64::INFINITY, f64::min),
            ClothReading::Most(k) => x.iter().map(|p| p[k]).fold(f64::NEG_INFINITY, f64::max),
            ClothReading::Strain => strain(world, id, x),
            ClothReading::Speed => v.iter().map(|v| v.length()).fold(0.0, f64::max),
            ClothReading::MeanSpeed => {
                (v.iter().map(|v| v.length_squared()).sum::<f64>() / count).sqrt()
            }
            ClothReading::Depth => depth(world, id, x, false),
            ClothReading::Cut => depth(world, id, x, true),
            ClothReading::Crossings => crossings(world, id, x),
            ClothReading::Volume => volumes(world, id, x).0,
            ClothReading::LeastVolume => volumes(world, id, x).1,
            ClothReading::Vertex(i, part) => {
                let (Some(x), Some(v)) = (x.get(i as usize), v.get(i as usize)) else {
                    return f64::NAN;
                };
                match part {
                    VertexReading::Position(k) => x[k],
                    VertexReading::Velocity(k) => v[k],
                    VertexReading::Speed => v.length(),
                }
            }
        }
    }
}

fn strain(world: &World, id: ClothId, x: &[Vec3]) -> f64 {
    let Ok(cloth) = world.deformable(id) else { return f64::NAN };
    let stretch = |&([a, b], rest): &([u32; 2], f64)| {
        (x[a as usize].distance(x[b as usize]) / rest - 1.0).abs()
    };
    cloth.elements.threads.iter().map(stretch).fold(0.0, f64::max)
}

/// Volume of all tetrahedra and of the smallest, over those at rest; NaN where there are none.
fn volumes(world: &World, id: ClothId, x: &[Vec3]) -> (f64, f64) {
    let Ok(body) = world.deformable(id) else { return (f64::NAN, f64::NAN) };
    let tetrahedra = &body.elements.energies.tetrahedra;
    let (mut rest, mut now, mut least) = (0.0, 0.0, f64::NAN);
    for element in 0..tetrahedra.len() {
        let (own, grown) =
            (tetrahedra.rest_volume(element), tetrahedra.deformation(element, x).determinant());
        rest += own;
        now += own * grown;
        least = if grown < least || least.is_nan() { grown } else { least };
    }
    (now / rest, least)
}

fn crossings(world: &World, id: ClothId, own: &[Vec3]) -> f64 {
    let Ok(cloth) = world.deformable(id) else { return f64::NAN };
    let (lo, hi) = own.iter().fold((own[0], own[0]), |(lo, hi), p| (lo.min(*p), hi.max(*p)));
    let mut x = own.to_vec();
    let mut triangles: Vec<[u32; 3]> = cloth.triangles().collect();
    let count = triangles.len();
    let mut edges = Vec::new();
    for other in world.deformables().filter(|other| *other != id) {
        let (Ok(body), Ok(places)) = (world.deformable(other), world.vertices(other)) else {
            return f64::NAN;
        };
        let near = |part: &[u32]| {
            let corners = || part.iter().map(|&i| places[i as usize]);
            corners().reduce(Vec3::min).is_some_and(|least| least.cmple(hi).all())
                && corners().reduce(Vec3::max).is_some_and(|most| lo.cmple(most).all())
        };
        let first = x.len() as u32;
        triangles.extend(body.triangles().filter(|t| near(t)).map(|t| t.map(|i| i + first)));
        let its = body.elements.edges.iter().filter(|e| near(&e[..]));
        edges.extend(its.map(|e| e.map(|i| i + first)));
        x.extend_from_slice(places);
    }
    let through_all = Tree::new(&x, &triangles, &cloth.elements.edges).intersections(&x);
    let through_own = Tree::new(&x, &triangles[..count], &edges).intersections(&x);
    (through_all + through_own) as f64
}

/// Places along the side of a triangle at which depth is measured.
const PLACES: usize = 6;

/// Found anew from the poses, never read from the solver.
fn depth(world: &World, id: ClothId, x: &[Vec3], triangles: bool) -> f64 {
    let Ok(cloth) = world.deformable(id) else { return f64::NAN };
    let mut deepest: f64 = 0.0;
    for body in world.bodies() {
        let (Ok(model), Ok(pose)) = (world.body(body), world.pose(body)) else { continue };
        if !model.groups.touch(cloth.groups) {
            continue;
        }
        let bounds = (!model.shape.is_half_space()).then(|| model.shape.aabb(&pose));
        let mut look = |p: Vec3| {
            if bounds.is_some_and(|b| !(p.cmpge(b.mins).all() && p.cmple(b.maxs).all())) {
                return;
            }
            let local = pose.inverse() * p;
            if let Some(surface) = signed_distance(&model.shape, local, OPEN_REACH) {
                deepest = deepest.max(-surface.distance);
            }
        };
        x.iter().for_each(|&p| look(p));
        // between vertices a body may be deeper: places spread over each triangle
        for corners in cloth.triangles().filter(|_| triangles) {
            let [a, b, c] = corners.map(|i| x[i as usize]);
            let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
            if bounds.is_some_and(|b| lo.cmple(b.maxs).all() && b.mins.cmple(hi).all()) {
                for i in 0..=PLACES {
                    for j in 0..=PLACES - i {
                        let (s, t) = (i as f64 / PLACES as f64, j as f64 / PLACES as f64);
                        look(a + (b - a) * s + (c - a) * t);
                    }
                }
            }
        }
    }
    deepest
}
