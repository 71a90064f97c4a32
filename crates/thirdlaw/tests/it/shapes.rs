//! Rounded shapes and shapes of the user's own: masses, contacts, rays, depths, saving.

use crate::{cuboid, earth, floor, run, sphere};
use std::f64::consts::PI;
use std::sync::Arc;
use thirdlaw::measure::overlap_depth;
use thirdlaw::prelude::*;
use thirdlaw::shape::MassProperties;

const H: f64 = 1.0 / 60.0;

/// A convex solid again, as code of the user's own.
#[derive(Debug)]
struct Again {
    shape: Shape,
    name: &'static str,
}

impl ConvexSurface for Again {
    fn support(&self, direction: Vec3) -> Vec3 {
        match self.shape.geometry() {
            thirdlaw::shape::Geometry::Convex(convex) => convex.support(direction),
            _ => Vec3::ZERO,
        }
    }

    fn mass_properties(&self) -> MassProperties {
        *self.shape.mass_properties().unwrap()
    }

    fn name(&self) -> String {
        self.name.into()
    }
}

fn again(shape: &Shape) -> Shape {
    Shape::own(Arc::new(Again { shape: shape.clone(), name: "again" })).unwrap()
}

fn octahedron() -> Shape {
    let ends = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z];
    Shape::convex_hull(&ends.map(|v| 0.3 * v)).unwrap()
}

fn rounded() -> Vec<Shape> {
    let sharp = [
        cuboid(0.2, 0.1, 0.3),
        Shape::cylinder(0.2, 0.15).unwrap(),
        Shape::cone(0.2, 0.15).unwrap(),
        octahedron(),
    ];
    sharp.iter().map(|shape| shape.rounded(0.05).unwrap()).collect()
}

fn close(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= share * a.abs().max(b.abs())
}

/// V, and ∫x² by Steiner's parts, of a rounded box; a cylinder with a tiny core is a capsule or a ball.
#[test]
fn rounded_shapes_have_the_mass_of_their_parts() {
    let (h, r) = (Vec3::new(0.2, 0.1, 0.3), 0.05);
    let mass = *cuboid(h.x, h.y, h.z).rounded(r).unwrap().mass_properties().unwrap();
    let sides = 8.0 * r * (h.x * h.y + h.y * h.z + h.z * h.x);
    let edges = 2.0 * PI * r * r * (h.x + h.y + h.z);
    let volume = 8.0 * h.x * h.y * h.z + sides + edges + 4.0 / 3.0 * PI * r * r * r;
    assert!(close(mass.volume, volume, 1e-9), "{} {volume}", mass.volume);
    // ∫x²: over x of x² times the area of the rounded rectangle there
    let area = |x: f64| {
        let s = (r * r - (x.abs() - h.x).max(0.0).powi(2)).max(0.0).sqrt();
        4.0 * h.y * h.z + 4.0 * s * (h.y + h.z) + PI * s * s
    };
    let count = 400_000;
    let step = 2.0 * (h.x + r) / f64::from(count);
    let square: f64 = (0..count)
        .map(|i| (f64::from(i) + 0.5) * step - h.x - r)
        .map(|x| x * x * area(x) * step)
        .sum();
    let trace = 0.5 * (mass.inertia.x_axis.x + mass.inertia.y_axis.y + mass.inertia.z_axis.z);
    assert!(close(trace - mass.inertia.x_axis.x, square, 1e-6), "{square}");

    let pairs = [
        (Shape::cylinder(0.3, 1e-9).unwrap().rounded(0.1), Shape::capsule(0.3, 0.1)),
        (cuboid(1e-9, 1e-9, 1e-9).rounded(0.1), Shape::sphere(0.1)),
        (octahedron().rounded(1e-9), Ok(octahedron())),
        (Shape::cone(0.2, 0.15).unwrap().rounded(1e-9), Shape::cone(0.2, 0.15)),
    ];
    for (a, b) in pairs {
        let [a, b] = [a, b].map(|shape| *shape.unwrap().mass_properties().unwrap());
        assert!(close(a.volume, b.volume, 1e-6), "{a:?} {b:?}");
        assert!((a.center_of_mass - b.center_of_mass).length() < 1e-7, "{a:?} {b:?}");
        let off = (a.inertia - b.inertia).to_cols_array();
        assert!(off.iter().all(|x| x.abs() < 1e-6 * b.inertia.x_axis.x), "{a:?} {b:?}");
    }
    // what is drawn encloses that volume
    for shape in rounded() {
        let (vertices, triangles) = shape.surface(256);
        let drawn: f64 = triangles
            .iter()
            .map(|t| t.map(|i| vertices[i as usize]))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
            .sum();
        assert!(close(drawn, shape.mass_properties().unwrap().volume, 3e-3), "{drawn} {shape:?}");
    }
}

/// A ball, told as a rounded speck and as code, rolls down a slope as a ball does: 5/7 g sin α.
#[test]
fn what_is_as_good_as_a_ball_rolls_like_one() {
    let slope = || {
        let tilt = Vec3::new(0.3f64.sin(), 0.3f64.cos(), 0.0);
        Body::fixed(Shape::half_space(tilt).unwrap())
    };
    let speck = cuboid(1e-7, 1e-7, 1e-7).rounded(0.1).unwrap();
    let thread = Shape::cylinder(1e-7, 1e-7).unwrap().rounded(0.1).unwrap();
    for shape in [sphere(0.1), speck, thread, again(&sphere(0.1))] {
        let mut world = earth();
        world.add_body(slope()).unwrap();
        let start = 0.1 * Vec3::new(0.3f64.sin(), 0.3f64.cos(), 0.0);
        let ball = Body::dynamic(shape.clone()).mass(1.0).at(start.x, start.y, 0.0);
        let ball = world.add_body(ball).unwrap();
        run(&mut world, 1.0, H);
        let speed = world.velocity(ball).unwrap().linear.length();
        let known = 5.0 / 7.0 * 9.81 * 0.3f64.sin();
        assert!(close(speed, known, 5e-3), "{speed} {known} {shape:?}");
    }
}

/// Dropped onto the floor and onto each other they come to rest as high as they reach, and stay.
#[test]
fn rounded_and_own_shapes_come_to_rest() {
    for shape in rounded() {
        for shape in [shape.clone(), again(&shape)] {
            let mut world = earth();
            world.add_body(floor()).unwrap();
            let low = -shape.aabb(&Pose::IDENTITY).mins.y;
            let body =
                world.add_body(Body::dynamic(shape.clone()).at(0.0, low + 0.002, 0.0)).unwrap();

            run(&mut world, 2.0, H);
            let y = world.center(body).unwrap().y;
            // what stands on a corner or an edge may fall over, and lies then

            assert!(y < low + 0.01 && y > 0.1, "{y} {low} {shape:?}");
            let speed = world.velocity(body).unwrap().linear.length();
            assert!(speed < 0.02, "{speed} {shape:?}");
        }
    }
}

/// Rounded dice in a heap and a stack: no deeper than a millimetre, by a measure that shares nothing with contacts.
#[test]
fn rounded_boxes_stack() {
    let die = cuboid(0.2, 0.2, 0.2).rounded(0.05).unwrap();
    for own in [false, true] {
        let shape = if own { again(&die) } else { die.clone() };
        let mut world = earth();
        world.add_body(floor()).unwrap();
        let mut ids = Vec::new();
        for i in 0..6 {
            let (x, y) = (0.01 * f64::from(i % 2), 0.25 + 0.5 * f64::from(i));
            ids.push(world.add_body(Body::dynamic(shape.clone()).at(x, y, 0.0)).unwrap());
        }
        run(&mut world, 3.0, H);
        for (i, &id) in ids.iter().enumerate() {
            let known = 0.25 + 0.5 * i as f64;
            let y = world.center(id).unwrap().y;
            assert!((y - known).abs() < 0.01, "{own} {i}: {y} {known}");
        }
        for pair in ids.windows(2) {
            let [p, q] = [pair[0], pair[1]].map(|id| world.pose(id).unwrap());
            let depth = overlap_depth((&shape, &p), (&shape, &q));
            assert!(depth < 2e-3, "{own} {depth}");
        }
    }
}

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

/// Where a ray meets a shape lies on its surface, and no place before it is inside.
#[test]
fn rays_meet_rounded_shapes_on_their_surface() {
    use thirdlaw::collide::deformable::signed_distance;
    let mut seed = 7;
    for shape in rounded() {
        for (shape, exact) in [(shape.clone(), 1e-9)] {
            let mut world = earth();
            let body = world.add_body(Body::fixed(shape.clone())).unwrap();
            let mut met = 0;
            for _ in 0..200 {
                let mut number = || random(&mut seed);
                let from = 4.0 * Vec3::new(number(), number(), number());
                let way = 0.4 * Vec3::new(number(), number(), number()) - from;
                if signed_distance(&shape, from, 100.0).unwrap().distance < 0.01 {
                    continue;
                }
                let ray = Ray::new(from, way).unwrap();
                let hit = world.cast_ray(&ray, &Filter::new());
                let Some(hit) = hit else {
                    let inside = (0..400)
                        .map(|k| from + way * (f64::from(k) / 200.0))
                        .any(|p| signed_distance(&shape, p, 100.0).unwrap().distance < -1e-6);
                    assert!(!inside, "{from} {way} {shape:?}");
                    continue;
                };
                met += 1;
                assert_eq!(hit.who, AnyId::Body(body));
                let on = signed_distance(&shape, hit.point, 100.0).unwrap();
                assert!(on.distance.abs() < exact, "{} {shape:?}", on.distance);
                assert!(hit.normal.dot(way) < 0.0);
            }
            assert!(met > 50, "{met}");
        }
    }
}

/// A cloth that falls onto one does not go into it.
#[test]
fn cloth_lies_on_rounded_and_own_shapes() {
    use thirdlaw::collide::deformable::signed_distance;
    let die = cuboid(0.2, 0.2, 0.2).rounded(0.1).unwrap();
    for shape in [die.clone(), again(&die)] {
        let mut world = earth();
        world.add_body(Body::fixed(shape.clone())).unwrap();
        let above = Pose::from_parts(Vec3::new(0.0, 0.35, 0.0), Default::default());
        let sheet = Cloth::new(ClothMesh::grid(21, 21, [1.0, 1.0]).unwrap()).pose(above);
        let cloth = world.add_cloth(sheet).unwrap();
        run(&mut world, 1.0, H);
        let deepest = world
            .vertices(cloth)
            .unwrap()
            .iter()
            .filter_map(|&p| signed_distance(&shape, p, 1.0))
            .fold(f64::INFINITY, |least, surface| least.min(surface.distance));
        assert!(deepest > -2e-3 && deepest < 0.02, "{deepest}");
        let middle = world.vertices(cloth).unwrap()[10 * 21 + 10].y;
        assert!((middle - 0.3).abs() < 0.02, "{middle}");
    }
}

/// A world is written with their names; what is missing is said by name, and what is attached goes on with
/// the same bits: alone, in compounds and in parts of bodies.
#[test]
fn own_shapes_are_saved_by_name() {
    let shape = again(&cuboid(0.2, 0.1, 0.3).rounded(0.05).unwrap());
    let side = Pose::from_parts(0.5 * Vec3::X, Default::default());
    let both = Shape::compound(&[(Pose::IDENTITY, shape.clone()), (side, sphere(0.1))]).unwrap();
    let mut world = earth();
    world.add_body(floor()).unwrap();
    world.add_body(Body::dynamic(shape.clone()).at(0.0, 1.0, 0.0)).unwrap();
    world.add_body(Body::dynamic(both).at(0.3, 2.0, 0.1)).unwrap();
    let parted = Body::dynamic(sphere(0.2)).part(BodyPart::new(shape).at(0.4, 0.0, 0.0));
    world.add_body(parted.at(0.1, 3.0, 0.0)).unwrap();
    run(&mut world, 0.5, H);
    let bytes = world.to_bytes();
    let missing = World::from_bytes(&bytes, &Attachments::default());
    let Err(LoadError::Missing { what: "shape", name }) = missing else { panic!("{missing:?}") };
    assert_eq!(name, "again");
    let code = |shape| Attachments::default().shape(Arc::new(Again { shape, name: "again" }));
    let other = World::from_bytes(&bytes, &code(sphere(0.1)));
    assert!(matches!(other, Err(LoadError::OtherCode)));
    let same = code(cuboid(0.2, 0.1, 0.3).rounded(0.05).unwrap());
    let mut back = World::from_bytes(&bytes, &same).unwrap();
    run(&mut back, 1.0, H);
    run(&mut world, 1.0, H);
    assert_eq!(back.hash(), world.hash());
}

/// What cannot be a convex solid is refused, whatever it says.
#[test]
fn shapes_that_cannot_be_are_refused() {
    #[derive(Debug)]
    struct Wrong(fn(Vec3) -> Vec3, f64, Vec3);
    impl ConvexSurface for Wrong {
        fn support(&self, direction: Vec3) -> Vec3 {
            (self.0)(direction)
        }
        fn mass_properties(&self) -> MassProperties {
            let ball = *sphere(1.0).mass_properties().unwrap();
            MassProperties { volume: self.1, center_of_mass: self.2, ..ball }
        }
    }
    let ball = |d: Vec3| d.normalize();
    assert!(Shape::own(Arc::new(Wrong(ball, 4.2, Vec3::ZERO))).is_ok());
    let wrongs = [
        Wrong(|_| Vec3::NAN, 4.2, Vec3::ZERO),
        Wrong(|d| -d.normalize(), 4.2, Vec3::ZERO),
        Wrong(|d| d.normalize() * (1.0 + 0.5 * d.normalize().x.abs()), 4.2, Vec3::ZERO),
        Wrong(|_| Vec3::X, 4.2, Vec3::ZERO),
        Wrong(|_| Vec3::ZERO, 4.2, Vec3::ZERO),
        Wrong(|d| 1e300 * d, 4.2, Vec3::ZERO),
        Wrong(ball, -1.0, Vec3::ZERO),
        Wrong(ball, f64::NAN, Vec3::ZERO),
        Wrong(ball, 4.2, 2.0 * Vec3::X),
        Wrong(ball, 4.2, Vec3::NAN),
    ];
    for (i, wrong) in wrongs.into_iter().enumerate() {
        assert!(Shape::own(Arc::new(wrong)).is_err(), "{i}");
    }
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        assert!(cuboid(1.0, 1.0, 1.0).rounded(radius).is_err());
    }
    for shape in [sphere(1.0), Shape::half_space(Vec3::Y).unwrap(), rounded()[0].clone()] {
        assert!(shape.rounded(0.1).is_err());
    }
}
