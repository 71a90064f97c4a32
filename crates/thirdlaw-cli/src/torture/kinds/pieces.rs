//! What kinds of scenes share: sizes, shapes, materials, frame rates, rooms.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Promise, Shape, Sketch};
use thirdlaw::math::{Quat, Vec3};

/// Size of a body, m: mostly what fits into a room, sometimes from 1 mm to 100 m.
pub fn size(draw: &mut Draw) -> f64 {
    match draw.whole(0, 9) {
        0 => draw.decades(1e-3, 0.03),
        1 => draw.decades(3.0, 100.0),
        _ => draw.decades(0.03, 3.0),
    }
}

/// Slenderness: mostly compact, sometimes up to 100.
pub fn slenderness(draw: &mut Draw) -> f64 {
    match draw.whole(0, 3) {
        0 => draw.decades(5.0, 100.0),
        1 => draw.decades(2.0, 5.0),
        _ => draw.decades(1.0, 2.0),
    }
}

/// Friction and restitution.
pub fn surface(draw: &mut Draw) -> [f64; 2] {
    let friction = if draw.chance(0.15) { 0.0 } else { draw.between(0.05, 1.2) };
    let restitution = if draw.chance(0.75) { 0.0 } else { draw.between(0.05, 1.0) };
    [friction, restitution]
}

/// kg/m³.
pub fn density(draw: &mut Draw) -> f64 {
    if draw.chance(0.7) { 1000.0 } else { draw.decades(20.0, 2e4) }
}

/// Frames per second and substeps of a new scene of bodies of this size, for about `seconds` of a fall by the
/// size of the scene.
pub fn timed(draw: &mut Draw, frames: usize) -> Sketch {
    let mut sketch = Sketch::new();
    sketch.fps = draw.pick(&[24.0, 30.0, 60.0, 60.0, 60.0, 60.0, 120.0, 240.0]);
    sketch.substeps = draw.pick(&[1, 2, 4, 8, 8, 8, 8, 8, 16]);
    sketch.frames = frames as u32;
    if draw.chance(0.05) {
        sketch.continuous = false;
    }
    sketch
}

/// A shape whose longest side is `size`.
pub fn shape(draw: &mut Draw, size: f64, slender: f64) -> Shape {
    let thin = rounded(size / slender, 3);
    let middle = if draw.chance(0.5) { thin } else { draw.between(thin, size) };
    match draw.whole(0, 12) {
        12 => prism(draw, size, thin),
        0..=3 => Shape::Box(Vec3::new(thin, size, middle)),
        4 if slender < 2.0 => Shape::Sphere(0.5 * size),
        4 | 5 => Shape::Capsule(0.5 * thin, (size - thin).max(0.01 * size)),
        6 | 7 if draw.chance(0.3) => Shape::Cylinder(0.5 * size, thin),
        6 | 7 => Shape::Cylinder(0.5 * thin, size),
        8 => Shape::Cone(0.5 * thin, size),
        9 | 10 => hull(draw, Vec3::new(thin, size, middle)),
        _ => compound(draw, size, thin),
    }
}

/// A convex body of 6 to 20 corners in a box.
fn hull(draw: &mut Draw, size: Vec3) -> Shape {
    let count = draw.whole(6, 20);
    let corner = |draw: &mut Draw| {
        let d = 0.5 * draw.direction() * size;
        Vec3::new(rounded(d.x, 4), rounded(d.y, 4), rounded(d.z, 4))
    };
    let mut points: Vec<Vec3> = (0..count).map(|_| corner(draw)).collect();
    // so that it is never flat
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        points.extend([0.5 * axis * size, -0.5 * axis * size]);
    }
    Shape::Hull(points)
}

/// A cross, a dumb-bell or an L.
fn compound(draw: &mut Draw, size: f64, thin: f64) -> Shape {
    let bar = |x: f64, y: f64| Shape::Box(Vec3::new(x, y, thin));
    let none = Quat::IDENTITY;
    match draw.whole(0, 2) {
        0 => Shape::Compound(vec![
            (bar(size, thin), Vec3::ZERO, none),
            (bar(thin, size), Vec3::ZERO, none),
        ]),
        1 => Shape::Compound(vec![
            (Shape::Sphere(0.3 * size), Vec3::new(0.0, 0.3 * size, 0.0), none),
            (Shape::Sphere(0.2 * size), Vec3::new(0.0, -0.3 * size, 0.0), none),
            (Shape::Capsule(0.1 * size, 0.6 * size), Vec3::ZERO, none),
        ]),
        _ => Shape::Compound(vec![
            (bar(thin, size), Vec3::new(0.5 * (thin - size), 0.0, 0.0), none),
            (bar(size, thin), Vec3::new(0.0, 0.5 * (thin - size), 0.0), none),
        ]),
    }
}

/// A dynamic body of this shape.
pub fn body(draw: &mut Draw, number: usize, shape: Shape) -> Body {
    let mass = rounded(density(draw) * shape.volume(), 4);
    Body::new(&format!("b{number}"), shape, mass).surface(surface(draw))
}

/// A closed room of six half-spaces, from `low` to `high`.
pub fn room(draw: &mut Draw, sketch: &mut Sketch, low: Vec3, high: Vec3) {
    let surface = surface(draw);
    for (name, point, normal) in [
        ("floor", low, Vec3::Y),
        ("west", low, Vec3::X),
        ("north", low, Vec3::Z),
        ("east", high, -Vec3::X),
        ("south", high, -Vec3::Z),
        ("ceiling", high, -Vec3::Y),
    ] {
        sketch.wall(name, point, normal, surface);
    }
}

/// The same of six boxes, or of one mesh with its triangles inwards.
pub fn solid_room(draw: &mut Draw, sketch: &mut Sketch, low: Vec3, high: Vec3) {
    let surface = surface(draw);
    let (middle, size) = (0.5 * (low + high), high - low);
    for (point, normal) in [(low, Vec3::X), (low, Vec3::Y), (low, Vec3::Z)] {
        sketch.promises.push(Promise::Before(point, normal));
    }
    for normal in [Vec3::X, Vec3::Y, Vec3::Z] {
        sketch.promises.push(Promise::Before(high, -normal));
    }
    if draw.chance(0.5) {
        let corner = |i: u32| {
            let pick = |bit: u32, a: f64, b: f64| if (i >> bit) & 1 == 0 { a } else { b };
            let (x, y, z) =
                (pick(0, low.x, high.x), pick(1, low.y, high.y), pick(2, low.z, high.z));
            Vec3::new(x, y, z)
        };
        let faces: [[u32; 4]; 6] =
            [[0, 4, 5, 1], [2, 3, 7, 6], [0, 1, 3, 2], [4, 6, 7, 5], [0, 2, 6, 4], [1, 5, 7, 3]];
        for (i, face) in faces.into_iter().enumerate() {
            let vertices: Vec<Vec3> = face.iter().map(|&c| corner(c)).collect();
            let inwards = (vertices[1] - vertices[0]).cross(vertices[2] - vertices[0]);
            let flip = inwards.dot(middle - vertices[0]) < 0.0;
            let triangles =
                if flip { vec![[0, 2, 1], [0, 3, 2]] } else { vec![[0, 1, 2], [0, 2, 3]] };
            let shape = Shape::Mesh(vertices, triangles);
            sketch.add(Body::new(&format!("wall{i}"), shape, 1.0).fixed().surface(surface));
        }
        return;
    }
    let thick = rounded(0.2 * size.max_element(), 2);
    for (i, (axis, side)) in
        [(0, -1.0), (0, 1.0), (1, -1.0), (1, 1.0), (2, -1.0), (2, 1.0)].into_iter().enumerate()
    {
        let mut wide = size + Vec3::splat(2.0 * thick);
        wide[axis] = thick;
        let mut at = middle;
        at[axis] += side * 0.5 * (size[axis] + thick);
        let wall = Body::new(&format!("wall{i}"), Shape::Box(wide), 1.0).fixed();
        sketch.add(wall.surface(surface).at(at, Quat::IDENTITY));
    }
}

/// A rolling ground of height cells, as wide as deep, that nothing passes.
pub fn hills(draw: &mut Draw, wide: f64, high: f64) -> Shape {
    let count = draw.whole(4, 12);
    let row = |draw: &mut Draw| (0..count).map(|_| draw.between(0.0, high)).collect();
    Shape::HeightField((0..count).map(|_| row(draw)).collect(), [wide, wide])
}

/// A prism over an L, as triangles or cut into convex parts.
fn prism(draw: &mut Draw, size: f64, thin: f64) -> Shape {
    let wide = (0.4 * size).min(thin.max(0.2 * size));
    let outline = [[0.0, 0.0], [size, 0.0], [size, wide], [wide, wide], [wide, size], [0.0, size]];
    let deep = thin.max(0.1 * size);
    let corner = |[x, y]: [f64; 2], z: f64| Vec3::new(x - 0.4 * size, y - 0.4 * size, z);
    let front = outline.iter().map(|p| corner(*p, 0.5 * deep));
    let vertices: Vec<Vec3> =
        front.chain(outline.iter().map(|p| corner(*p, -0.5 * deep))).collect();
    let mut triangles = Vec::new();
    for [a, b, c] in [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]] {
        triangles.extend([[a, b, c], [a + 6, c + 6, b + 6]]);
    }
    for i in 0..6_u32 {
        let j = (i + 1) % 6;
        triangles.extend([[i, i + 6, j], [j, i + 6, j + 6]]);
    }
    match draw.chance(0.5) {
        true => Shape::Mesh(vertices, triangles),
        false => Shape::Decompose(vertices, triangles),
    }
}
