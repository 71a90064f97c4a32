//! Facts about whole pictures.

use thirdlaw_render::*;

fn small(width: usize, height: usize, samples: usize) -> RenderOptions {
    RenderOptions { width, height, samples, threads: 0 }
}

/// A camera on the z axis that looks at the origin, without perspective surprises.
fn head_on(distance: f64) -> Camera {
    Camera {
        eye: [0.0, 0.0, distance],
        target: [0.0; 3],
        up: [0.0, 1.0, 0.0],
        vertical_fov_deg: 30.0,
    }
}

/// A white sky and nothing else, dim enough not to be compressed.
fn white_sky() -> Light {
    Light {
        sun: [0.0; 3],
        zenith: [1.0; 3],
        horizon: [1.0; 3],
        exposure: 0.5,
        specular: 0.0,
        ..Light::default()
    }
}

fn linear(byte: u8) -> f64 {
    let s = f64::from(byte) / 255.0;
    if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
}

/// Pixels of the background that bodies hide, in parts of the light they take away.
fn hidden_area(picture: &Picture, options: &RenderOptions) -> f64 {
    let image = render(picture, options);
    let empty = render(&Picture { balls: &[], instances: &[], ..*picture }, options);
    let pairs = image.rgba8.chunks_exact(4).zip(empty.rgba8.chunks_exact(4));
    pairs.map(|(a, b)| 1.0 - linear(a[1]) / linear(b[1])).sum()
}

fn ball(center: [f64; 3], radius: f64) -> Ball {
    Ball { center, radius, color: [0.8, 0.3, 0.2] }
}

fn instance(mesh: usize, translation: [f64; 3]) -> Instance {
    Instance { mesh, translation, rotation: [0.0, 0.0, 0.0, 1.0], color: [0.8, 0.3, 0.2] }
}

/// A sphere of radius 1 from a subdivided octahedron.
fn sphere(levels: u32) -> SurfaceMesh {
    let mut faces = Vec::new();
    for octant in 0..8 {
        let sign = |bit: i32| if octant >> bit & 1 == 1 { -1.0f32 } else { 1.0 };
        let corners = [[sign(0), 0.0, 0.0], [0.0, sign(1), 0.0], [0.0, 0.0, sign(2)]];
        let [a, b, c] = corners;
        let outward = sign(0) * sign(1) * sign(2) > 0.0;
        faces.push(if outward { [a, b, c] } else { [a, c, b] });
    }
    for _ in 0..levels {
        faces = faces
            .iter()
            .flat_map(|&[a, b, c]| {
                let middle = |p: [f32; 3], q: [f32; 3]| {
                    let sum: [f32; 3] = std::array::from_fn(|k| p[k] + q[k]);
                    let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
                    sum.map(|x| x / length)
                };
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    let triangles = (0..faces.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    SurfaceMesh {
        vertices: faces.into_iter().flatten().collect(),
        triangles,
        smooth: true,
        two_sided: false,
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let meshes = [sphere(2)];
    let instances: Vec<_> = (0..40)
        .map(|k| instance(0, [f64::from(k % 8) * 1.7, 1.0, f64::from(k / 8) * 2.1]))
        .collect();
    let balls = [ball([3.0, 3.0, 3.0], 0.7)];
    let mut picture = Picture {
        meshes: &meshes,
        instances: &instances,
        balls: &balls,
        ground: Some(Ground::default()),
        ..Picture::default()
    };
    picture.camera = Camera::framing(&picture.bounds(), 1.5);
    let one = render(&picture, &RenderOptions { threads: 1, ..small(90, 60, 8) });
    let three = render(&picture, &RenderOptions { threads: 3, ..small(90, 60, 8) });
    assert!(one == three);
}

#[test]
fn a_ball_covers_the_area_of_its_projection() {
    // Seen from distance d, a sphere of radius r fills a disc of radius
    // f·tan(asin(r/d)) on a picture plane at distance f.
    let (radius, distance) = (0.6f64, 4.0f64);
    let plane = 100.0 / 15f64.to_radians().tan();
    let expected = std::f64::consts::PI * (plane * (radius / distance).asin().tan()).powi(2);
    for far in [0.0, 1e7] {
        let balls = [Ball { color: [0.0; 3], ..ball([far, 0.0, 0.0], radius) }];
        let mut camera = head_on(distance);
        camera.eye[0] += far;
        camera.target[0] += far;
        let picture = Picture { balls: &balls, camera, light: white_sky(), ..Picture::default() };
        let area = hidden_area(&picture, &small(200, 200, 16));
        assert!((area / expected - 1.0).abs() < 0.01, "{area} for {expected}");
    }
}

#[test]
fn a_fine_mesh_and_an_exact_ball_look_alike() {
    let meshes = [sphere(5)];
    let instances = [instance(0, [0.0, 1.0, 0.0])];
    let balls = [ball([0.0, 1.0, 0.0], 1.0)];
    let camera = Camera { eye: [2.0, 2.5, 5.0], target: [0.0, 1.0, 0.0], ..head_on(1.0) };
    let picture = Picture { ground: Some(Ground::default()), camera, ..Picture::default() };
    let options = small(160, 120, 16);
    let exact = render(&Picture { balls: &balls, ..picture }, &options);
    let mesh = render(&Picture { meshes: &meshes, instances: &instances, ..picture }, &options);
    let differences = exact.rgba8.iter().zip(&mesh.rgba8).map(|(a, b)| a.abs_diff(*b));
    let (worst, sum) = differences.fold((0, 0.0), |(w, s), d| (d.max(w), s + f64::from(d)));
    let mean = sum / exact.rgba8.len() as f64;
    assert!(mean < 0.35 && worst < 60, "mean {mean}, worst {worst}");
}

#[test]
fn shadows_fall_opposite_to_the_sun() {
    let balls = [ball([0.0, 1.0, 0.0], 0.5)];
    let ground = Some(Ground { checker: None, ..Ground::default() });
    let camera = Camera {
        eye: [0.0, 12.0, 0.0],
        target: [0.0; 3],
        up: [0.0, 0.0, -1.0],
        vertical_fov_deg: 30.0,
    };
    for (sun, dark) in [([1.0, 1.0, 0.0], -1.0), ([-1.0, 1.0, 0.0], 1.0)] {
        let light = Light { sun_direction: sun, ..Light::default() };
        let picture = Picture { balls: &balls, ground, camera, light, ..Picture::default() };
        let image = render(&picture, &small(121, 121, 16));
        // The ball's centre at height 1 throws its shadow to x = ∓1.
        let pixel = |x: f64| {
            let column = 60.5 + x / 12.0 * 60.5 / 15f64.to_radians().tan();
            i32::from(image.pixel(column as usize, 60)[1])
        };
        assert!(pixel(dark) + 40 < pixel(-dark), "{} {}", pixel(dark), pixel(-dark));
    }
}

#[test]
fn a_scene_far_away_looks_as_at_home() {
    let meshes = [sphere(1)];
    let draw = |far: f64| {
        let instances = [instance(0, [far, 1.0, -far])];
        let balls = [ball([far + 1.5, 0.5, -far], 0.5)];
        let ground = Some(Ground::default());
        let mut picture = Picture {
            meshes: &meshes,
            instances: &instances,
            balls: &balls,
            ground,
            ..Picture::default()
        };
        let camera = head_on(0.0);
        picture.camera =
            Camera { eye: [far + 3.0, 3.0, -far + 6.0], target: [far, 0.5, -far], ..camera };
        render(&picture, &small(80, 60, 16))
    };
    let (home, away) = (draw(0.0), draw((1u32 << 22).into()));
    assert!(home == away);
}

#[test]
fn an_empty_picture_is_sky_and_a_size_of_zero_is_empty() {
    let image = render(&Picture::default(), &small(20, 10, 4));
    assert_eq!(image.rgba8.len(), 800);
    assert!(image.rgba8.chunks_exact(4).all(|p| p[2] > 90 && p[3] == 255));
    let none = render(&Picture::default(), &small(0, 10, 4));
    assert!(none.rgba8.is_empty());
    assert_eq!(render(&Picture::default(), &small(1, 1, 0)).rgba8.len(), 4);
}

#[test]
fn unusable_input_is_left_out() {
    let (nan, inf, huge) = (f32::NAN, f32::INFINITY, f32::MAX);
    let meshes = [
        SurfaceMesh {
            vertices: vec![
                [0.0; 3],
                [1.0, 0.0, 0.0],
                [2.0, 0.0, 0.0],
                [nan; 3],
                [inf; 3],
                [huge; 3],
            ],
            triangles: vec![[0, 0, 0], [0, 1, 2], [0, 1, 3], [1, 2, 4], [0, 1, 5], [0, 1, 99]],
            smooth: true,
            two_sided: true,
        },
        SurfaceMesh::default(),
        sphere(0),
    ];
    let mut instances = vec![instance(0, [0.0; 3]), instance(1, [0.0; 3]), instance(77, [0.0; 3])];
    for bad in [f64::NAN, f64::INFINITY, 1e300] {
        instances.push(instance(2, [bad, 0.0, 0.0]));
        instances.push(Instance { rotation: [bad; 4], color: [nan; 3], ..instance(2, [0.0; 3]) });
    }
    instances.push(Instance { rotation: [0.0; 4], ..instance(2, [0.0; 3]) });
    let mut balls = Vec::new();
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
        balls.push(ball([bad; 3], 1.0));
        balls.push(ball([0.0; 3], bad));
    }
    let wild = Light {
        sun_direction: [0.0; 3],
        sun: [nan; 3],
        sun_radius_deg: inf,
        zenith: [inf; 3],
        exposure: nan,
        ..Light::default()
    };
    for bad in [f64::NAN, f64::INFINITY, 1e300, 0.0] {
        let picture = Picture {
            meshes: &meshes,
            instances: &instances,
            balls: &balls,
            ground: Some(Ground {
                height: bad,
                color: [nan; 3],
                checker: Some(Checker { size: bad, contrast: nan }),
            }),
            camera: Camera { eye: [bad; 3], target: [0.0; 3], ..head_on(5.0) },
            light: wild,
        };
        let _ = Camera::framing(&picture.bounds(), bad);
        assert_eq!(render(&picture, &small(24, 16, 4)).rgba8.len(), 24 * 16 * 4);
    }
}
