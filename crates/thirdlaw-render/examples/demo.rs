//! Renders a pile, a house of cards and balls on a sheet, and says how long each took.
//!
//! `cargo run --release -p thirdlaw-render --example demo -- FOLDER [SAMPLES] [NAME]`

use std::path::Path;
use std::time::Instant;

use thirdlaw_render::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "out/render-demo".into());
    let samples = arguments.next().map_or(Ok(16), |s| s.parse())?;
    let only = arguments.next();
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let options = RenderOptions { samples, ..RenderOptions::default() };
    let mut small = Vec::new();
    let mut draw = |name: &str, picture: &Picture| -> Result<(), Box<dyn std::error::Error>> {
        if only.as_deref().is_some_and(|only| only != name) {
            return Ok(());
        }
        let start = Instant::now();
        let image = render(picture, &options);
        println!("{name}: {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
        std::fs::write(folder.join(format!("{name}.png")), write_png(&image)?)?;
        small.push(image.downscaled(480, 270));
        Ok(())
    };
    pile(&mut draw)?;
    cards(&mut draw)?;
    sheet(&mut draw)?;
    arch(&mut draw)?;
    let overview = contact_sheet(&small, 2);
    std::fs::write(folder.join("overview.png"), write_png(&overview)?)?;
    Ok(())
}

type Draw<'a> = dyn FnMut(&str, &Picture) -> Result<(), Box<dyn std::error::Error>> + 'a;
type Outcome = Result<(), Box<dyn std::error::Error>>;

/// 5,160 boxes heaped on a terrain of 8,192 triangles.
fn pile(draw: &mut Draw) -> Outcome {
    let height = |x: f64, z: f64| {
        0.9 * (0.35 * x).sin() * (0.3 * z).cos() + 0.25 * (0.9 * x + 0.4).cos() * (1.1 * z).sin()
    };
    let meshes =
        [grid_mesh(64, 26.0, |x, z| height(x, z) as f32, false), box_mesh([0.2, 0.14, 0.16])];
    let mut instances = vec![instance(0, [0.0; 3], [0.0, 0.0, 0.0, 1.0], [0.62, 0.60, 0.54])];
    let mut random = Random(7);
    let mut layer = 0;
    while instances.len() < 5161 {
        let radius = 5.6 - 0.42 * f64::from(layer);
        for i in -14..=14 {
            for k in -14..=14 {
                let (x, z) = (0.44 * f64::from(i), 0.44 * f64::from(k));
                let (x, z) = (x + 0.1 * random.signed(), z + 0.1 * random.signed());
                if x * x + z * z > radius * radius * (0.8 + 0.2 * random.unit()) {
                    continue;
                }
                if instances.len() >= 5161 {
                    break;
                }
                let tilt = [0.25, 1.0, 0.25].map(|s| s * random.signed());
                let y = height(x, z) + 0.2 + 0.33 * f64::from(layer) + 0.06 * random.signed();
                let color = palette(random.next() as usize % 12);
                instances.push(instance(1, [x, y, z], [tilt[0], tilt[1], tilt[2], 1.0], color));
            }
        }
        layer = (layer + 1) % 13;
    }
    let mut picture = Picture { meshes: &meshes, instances: &instances, ..Picture::default() };
    let focus = Bounds { min: [-6.0, -0.5, -6.0], max: [6.0, 5.0, 6.0] };
    picture.camera = Camera::framing(&focus, 16.0 / 9.0);
    draw("pile", &picture)
}

/// A house of cards, four storeys high.
fn cards(draw: &mut Draw) -> Outcome {
    let meshes = [box_mesh([0.032, 0.0006, 0.044])];
    let mut instances = Vec::new();
    let lean = 0.36f64; // angle from the vertical, radians
    let (half, rise) = (0.032 * lean.sin(), 0.032 * lean.cos());
    for storey in 0..4 {
        let y = f64::from(storey) * (2.0 * rise + 0.0028) + rise + 0.0006;
        let count = 4 - storey;
        for tent in 0..count {
            let x = (f64::from(tent) - 0.5 * f64::from(count - 1)) * 4.0 * half;
            for side in [-1.0, 1.0] {
                let angle = -side * (std::f64::consts::FRAC_PI_2 - lean);
                let (sin, cos) = (0.5 * angle).sin_cos();
                let color = palette((storey * 3 + tent * 2) as usize + usize::from(side > 0.0));
                let at = [x + side * (half + 0.0006), y, 0.0];
                instances.push(instance(0, at, [0.0, 0.0, sin, cos], color));
            }
            if tent + 1 < count {
                let at = [x + 2.0 * half, y + rise + 0.001, 0.0];
                instances.push(instance(0, at, [0.0, 0.0, 0.0, 1.0], [0.93, 0.91, 0.86]));
            }
        }
    }
    let mut picture = Picture {
        meshes: &meshes,
        instances: &instances,
        ground: Some(Ground {
            checker: Some(Checker { size: 0.05, contrast: 0.15 }),
            ..Ground::default()
        }),
        ..Picture::default()
    };
    picture.camera = Camera::framing_from(&picture.bounds(), 16.0 / 9.0, [0.35, 0.3, 0.9]);
    draw("cards", &picture)
}

/// Balls on a wavy cloth, with a spray of particles.
fn sheet(draw: &mut Draw) -> Outcome {
    let wave = |x: f64, z: f64| {
        let sag = -0.55 * (1.0 - (x * x + z * z) / 4.5).max(0.0);
        let ripple = 0.05 * (3.1 * x + 1.2 * z).sin() + 0.035 * (4.3 * z - 1.7 * x).cos();
        let corner = 0.05 * (x * x * z * z);
        1.25 + sag + ripple + corner
    };
    let meshes = [grid_mesh(60, 3.2, |x, z| wave(x, z) as f32, true)];
    let instances = [instance(0, [0.0; 3], [0.0, 0.0, 0.0, 1.0], palette(7))];
    let mut random = Random(3);
    let mut balls = Vec::new();
    for k in 0..14 {
        let (x, z) = (0.85 * random.signed(), 0.85 * random.signed());
        let radius = 0.09 + 0.09 * random.unit();
        let center = [x, wave(x, z) + radius + 0.02, z];
        balls.push(Ball { center, radius, color: palette(k) });
    }
    for _ in 0..700 {
        let angle = std::f64::consts::TAU * random.unit();
        let (speed, time) = (0.7 + 0.5 * random.unit(), 0.2 + 0.9 * random.unit());
        let (sin, cos) = angle.sin_cos();
        let rise = 1.5 + 2.3 * time - 2.6 * time * time;
        let spread = speed * time * 0.55;
        balls.push(Ball {
            center: [spread * cos, rise + 0.12 * random.signed(), spread * sin],
            radius: 0.013,
            color: palette(1),
        });
    }
    let mut picture = Picture {
        meshes: &meshes,
        instances: &instances,
        balls: &balls,
        ground: Some(Ground {
            checker: Some(Checker { size: 0.5, ..Checker::default() }),
            ..Ground::default()
        }),
        ..Picture::default()
    };
    picture.camera = Camera::framing(&picture.bounds(), 16.0 / 9.0);
    draw("sheet", &picture)
}

/// A ring of smooth coarse spheres around a tower of boxes, a thousand kilometres out.
fn arch(draw: &mut Draw) -> Outcome {
    let meshes = [sphere_mesh(12, 0.42), box_mesh([0.5, 0.25, 0.25])];
    let far = 1e6;
    let mut instances = Vec::new();
    for k in 0..12 {
        let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / 12.0).sin_cos();
        let at = [far + 2.4 * cos, 0.42, 2.4 * sin];
        instances.push(instance(0, at, [0.0, 0.0, 0.0, 1.0], palette(k as usize)));
    }
    for storey in 0..7 {
        for side in [-1.0, 1.0] {
            let along = storey % 2 == 0;
            let y = 0.25 + 0.5 * f64::from(storey);
            let offset = 0.26 * side;
            let (x, z) = if along { (0.0, offset) } else { (offset, 0.0) };
            let half = std::f64::consts::FRAC_1_SQRT_2;
            let turn = if along { [0.0, 0.0, 0.0, 1.0] } else { [0.0, half, 0.0, half] };
            let color = palette(storey as usize * 5 + 2);
            instances.push(instance(1, [far + x, y, z], turn, color));
        }
    }
    let mut picture = Picture {
        meshes: &meshes,
        instances: &instances,
        ground: Some(Ground::default()),
        ..Picture::default()
    };
    picture.camera = Camera::framing(&picture.bounds(), 16.0 / 9.0);
    draw("ring", &picture)
}

fn instance(mesh: usize, translation: [f64; 3], rotation: [f64; 4], color: [f32; 3]) -> Instance {
    Instance { mesh, translation, rotation, color }
}

fn box_mesh([x, y, z]: [f32; 3]) -> SurfaceMesh {
    let sign = |bit: u32, half: f32| if bit == 1 { half } else { -half };
    let vertices =
        (0..8u32).map(|k| [sign(k & 1, x), sign(k >> 1 & 1, y), sign(k >> 2, z)]).collect();
    let quads =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    SurfaceMesh { vertices, triangles, ..SurfaceMesh::default() }
}

fn grid_mesh(
    cells: u32,
    side: f64,
    height: impl Fn(f64, f64) -> f32,
    two_sided: bool,
) -> SurfaceMesh {
    let mut mesh = SurfaceMesh { smooth: true, two_sided, ..SurfaceMesh::default() };
    for k in 0..=cells {
        for i in 0..=cells {
            let [x, z] = [i, k].map(|n| side * (f64::from(n) / f64::from(cells) - 0.5));
            mesh.vertices.push([x as f32, height(x, z), z as f32]);
            if i < cells && k < cells {
                let a = k * (cells + 1) + i;
                let b = a + cells + 1;
                mesh.triangles.extend([[a, b, a + 1], [a + 1, b, b + 1]]);
            }
        }
    }
    mesh
}

fn sphere_mesh(rings: u32, radius: f32) -> SurfaceMesh {
    let mut mesh = SurfaceMesh { smooth: true, ..SurfaceMesh::default() };
    let sides = 2 * rings;
    for ring in 0..=rings {
        let (sin, cos) = (std::f32::consts::PI * ring as f32 / rings as f32).sin_cos();
        for side in 0..sides {
            let (s, c) = (std::f32::consts::TAU * side as f32 / sides as f32).sin_cos();
            mesh.vertices.push([sin * c, cos, sin * s].map(|x| radius * x));
            if ring < rings {
                let next = (side + 1) % sides;
                let [a, b] = [ring * sides + side, ring * sides + next];
                let [c, d] = [a + sides, b + sides];
                mesh.triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
    }
    mesh
}

/// A small generator of repeatable numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
}
