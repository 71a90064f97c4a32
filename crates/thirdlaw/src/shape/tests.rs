use super::*;
use crate::math::{Mat3, Pose, Vec3};

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b} within {tolerance}");
}

fn cube_mesh() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    Shape::cuboid(Vec3::new(0.5, 1.0, 1.5)).unwrap().surface(8)
}

#[test]
fn bad_sizes_are_refused() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 1e-300] {
        assert!(Shape::sphere(bad).is_err());
        assert!(Shape::cuboid(Vec3::new(1.0, bad, 1.0)).is_err());
        assert!(Shape::capsule(1.0, bad).is_err());
        assert!(Shape::cylinder(bad, 1.0).is_err());
        assert!(Shape::cone(bad, 1.0).is_err());
    }
    assert_eq!(Shape::half_space(Vec3::ZERO).unwrap_err(), ShapeError::Normal);
    assert!(Shape::half_space(Vec3::new(0.0, f64::NAN, 1.0)).is_err());
    assert!(Shape::half_space(Vec3::new(0.0, 1e-200, 0.0)).is_ok());
}

#[test]
fn bad_hulls_and_meshes_are_refused() {
    let square = [Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::X + Vec3::Z, Vec3::X * 0.5];
    assert_eq!(Shape::convex_hull(&square).unwrap_err(), ShapeError::FlatHull { points: 5 });
    assert!(Shape::convex_hull(&[]).is_err());
    assert!(Shape::convex_hull(&[Vec3::ZERO; 9]).is_err());
    assert!(Shape::convex_hull(&[Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::X * 3.0]).is_err());
    let nan = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.0, f64::NAN, 0.0)];
    assert_eq!(Shape::convex_hull(&nan).unwrap_err(), ShapeError::Vertex { index: 3 });
    assert_eq!(Shape::mesh(&nan, &[[0, 1, 2]]).unwrap_err(), ShapeError::Vertex { index: 3 });
    assert_eq!(Shape::mesh(&[], &[]).unwrap_err(), ShapeError::EmptyMesh);
    assert_eq!(
        Shape::mesh(&square, &[[0, 1, 2], [0, 1, 7]]).unwrap_err(),
        ShapeError::Index { triangle: 1, index: 7, vertices: 5 }
    );
    assert_eq!(Shape::mesh(&square, &[[0, 1, 4], [2, 2, 3]]).unwrap_err(), ShapeError::EmptyMesh);
    assert!(Shape::height_field(2, 2, &[0.0; 3], Vec3::ONE).is_err());
    assert!(Shape::height_field(usize::MAX, 2, &[0.0; 3], Vec3::ONE).is_err());
    assert!(Shape::compound(&[]).is_err());
    let plane = Shape::half_space(Vec3::Y).unwrap();
    assert_eq!(
        Shape::compound(&[(Pose::IDENTITY, plane)]).unwrap_err(),
        ShapeError::Part { index: 0 }
    );
}

#[test]
fn a_mesh_drops_what_has_no_area_and_turns_right_side_out() {
    let (mut vertices, mut triangles) = cube_mesh();
    triangles.iter_mut().for_each(|t| t.swap(0, 1));
    vertices.push(Vec3::splat(100.0));
    triangles.push([3, 3, 4]);
    let shape = Shape::mesh(&vertices, &triangles).unwrap();
    let Geometry::Mesh(mesh) = shape.geometry() else { panic!() };
    assert_eq!((mesh.vertices.len(), mesh.triangles.len(), mesh.closed), (8, 12, true));
    let mass = shape.mass_properties().unwrap();
    let exact = Shape::cuboid(Vec3::new(0.5, 1.0, 1.5)).unwrap();
    let exact = exact.mass_properties().unwrap();
    close(mass.volume, exact.volume, 1e-12);
    assert!((mass.inertia - exact.inertia).to_cols_array().iter().all(|x| x.abs() < 1e-12));
    // a vertex list with one copy of each corner per triangle is the same solid
    let soup: Vec<Vec3> = triangles.iter().flatten().map(|&i| vertices[i as usize]).collect();
    let listed: Vec<[u32; 3]> =
        (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    assert!(Shape::mesh(&soup, &listed).unwrap().mass_properties().is_some());
    // with a hole it has no inside
    assert!(Shape::mesh(&vertices, &triangles[..11]).unwrap().mass_properties().is_none());
}

#[test]
fn mass_of_round_solids_is_that_of_their_fine_surface() {
    let shapes = [
        Shape::sphere(0.7).unwrap(),
        Shape::capsule(0.8, 0.3).unwrap(),
        Shape::cylinder(0.8, 0.3).unwrap(),
        Shape::cone(0.8, 0.3).unwrap(),
        Shape::cuboid(Vec3::new(0.1, 0.2, 0.3)).unwrap(),
    ];
    for shape in shapes {
        let exact = shape.mass_properties().unwrap();
        let (vertices, triangles) = shape.surface(400);
        let mesh = Shape::mesh(&vertices, &triangles).unwrap();
        let fine = mesh.mass_properties().expect("closed");
        close(fine.volume / exact.volume, 1.0, 1e-3);
        assert!((fine.center_of_mass - exact.center_of_mass).length() < 1e-3);
        let error = (fine.inertia - exact.inertia).to_cols_array();
        let size = exact.inertia.x_axis.x;
        assert!(error.iter().all(|x| x.abs() < 2e-3 * size), "{shape:?} {fine:?} {exact:?}");
        close(mesh.outer_radius(), shape.outer_radius(), 1e-3);
        let (mut nearest, center) = (f64::INFINITY, exact.center_of_mass);
        for t in &triangles {
            let [a, b, c] = t.map(|i| vertices[i as usize]);
            let Some(n) = (b - a).cross(c - a).try_normalize() else { continue };
            assert!(n.dot(a - center) > 0.0, "faces outwards");
            nearest = nearest.min(n.dot(a - center));
        }
        close(nearest, shape.inner_radius(), 1e-3);
    }
}

#[test]
fn hull_of_a_box_has_six_faces_and_twelve_edges() {
    let h = Vec3::new(0.5, 1.0, 1.5);
    let mut points = box_corners(h).to_vec();
    points.push(Vec3::ZERO);
    let shape = Shape::convex_hull(&points).unwrap();
    let Geometry::Convex(Convex::Hull(hull)) = shape.geometry() else { panic!() };
    assert_eq!((hull.vertices.len(), hull.faces.len(), hull.edges.len()), (8, 6, 12));
    close(shape.mass_properties().unwrap().volume, 6.0, 1e-12);
    close(shape.inner_radius(), 0.5, 1e-12);
    for edge in &hull.edges {
        assert_ne!(edge.faces[0], edge.faces[1]);
    }
}

#[test]
fn a_compound_of_two_half_boxes_weighs_as_the_box() {
    let half = Shape::cuboid(Vec3::new(0.5, 0.5, 0.5)).unwrap();
    let turned = Pose::from_parts(
        Vec3::X * 0.5,
        crate::math::rotation_from_vector(Vec3::X * std::f64::consts::FRAC_PI_2),
    );
    let pair =
        Shape::compound(&[(Pose::translation(-0.5, 0.0, 0.0), half.clone()), (turned, half)])
            .unwrap();
    let nested = Shape::compound(&[(Pose::IDENTITY, pair.clone())]).unwrap();
    let whole = MassProperties::cuboid(Vec3::new(1.0, 0.5, 0.5));
    for shape in [pair, nested] {
        let mass = shape.mass_properties().unwrap();
        close(mass.volume, whole.volume, 1e-12);
        let difference: Mat3 = mass.inertia - whole.inertia;
        assert!(difference.to_cols_array().iter().all(|x| x.abs() < 1e-12));
        assert_eq!(shape.piece_count(), 2);
        close(shape.outer_radius(), 1.5_f64.sqrt(), 1e-12);
    }
}

#[test]
fn an_l_shaped_mesh_decomposes_into_solids_of_about_its_volume() {
    let bar = |x: f64, y: f64, h: Vec3| (Pose::translation(x, y, 0.0), Shape::cuboid(h).unwrap());
    let (a, b) =
        (bar(0.5, 0.0, Vec3::new(1.0, 0.25, 0.25)), bar(-0.25, 0.75, Vec3::new(0.25, 0.5, 0.25)));
    let (vertices, triangles) = Shape::compound(&[a, b]).unwrap().surface(4);
    let cut = Shape::decompose(&vertices, &triangles, &Decomposition::default()).unwrap();
    assert!(cut.piece_count() >= 2);
    let volume = cut.mass_properties().unwrap().volume;
    assert!((0.6..0.9).contains(&volume), "{volume}");
}

#[test]
fn a_height_field_faces_up_and_is_centred() {
    let shape = Shape::height_field(3, 4, &[0.5; 12], Vec3::new(6.0, 2.0, 4.0)).unwrap();
    let Geometry::Mesh(mesh) = shape.geometry() else { panic!() };
    assert_eq!(mesh.triangles.len(), 12);
    assert!(mesh.normals.iter().all(|n| (*n - Vec3::Y).length() < 1e-12));
    let aabb = shape.aabb(&Pose::IDENTITY);
    assert_eq!((aabb.mins, aabb.maxs), (Vec3::new(-3.0, 1.0, -2.0), Vec3::new(3.0, 1.0, 2.0)));
}

#[test]
fn fingerprints_tell_shapes_apart() {
    let print = |shape: &Shape| {
        let mut hasher = std::hash::DefaultHasher::new();
        shape.fingerprint(&mut hasher);
        hasher.finish()
    };
    let a = Shape::sphere(1.0).unwrap();
    assert_eq!(print(&a), print(&Shape::sphere(1.0).unwrap()));
    assert_ne!(print(&a), print(&Shape::sphere(1.0 + f64::EPSILON).unwrap()));
    assert_ne!(print(&Shape::cylinder(1.0, 1.0).unwrap()), print(&Shape::cone(1.0, 1.0).unwrap()));
}
