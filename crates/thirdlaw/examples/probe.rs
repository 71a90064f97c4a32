use thirdlaw::*;
fn exact() -> Settings {
    let mut s = Settings::default();
    s.cloth.air = false;
    s.cloth.tolerance = 1e-10;
    s
}
fn flat(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> ClothMesh {
    let uv: Vec<[f64; 2]> = positions.iter().map(|p| [p.x, p.z]).collect();
    ClothMesh::with_coordinates(positions, triangles, &uv).unwrap()
}
fn cantilever(
    gamma: f64,
    cells: usize,
    rows: usize,
    skew: f64,
    jit: f64,
    bending: Bending,
    one: bool,
) -> f64 {
    let cell = 1.0 / (cells as f64 - 0.5);
    let length = cell * cells as f64;
    let density = 0.2;
    let b = density * 9.81 / gamma;
    let fabric = Fabric {
        density,
        stretch: [2e4, 2e4],
        shear: 1e4,
        bend: [b, b],
        bending,
        damping: [1e-3, 1e-3, 0.1],
        ..Fabric::cotton()
    };
    let mut mesh = ClothMesh::grid(cells + 1, rows + 1, [length, rows as f64 * cell]).unwrap();
    if one {
        let mut t = vec![];
        let w = cells as u32 + 1;
        for r in 0..rows as u32 {
            for c in 0..cells as u32 {
                let a = r * w + c;
                t.push([a, a + w, a + 1]);
                t.push([a + 1, a + w, a + w + 1]);
            }
        }
        mesh.triangles = t;
    }
    for (i, p) in mesh.positions.iter_mut().enumerate() {
        if (2..cells).contains(&(i % (cells + 1))) {
            p.x += skew * p.z;
            let r = (i / (cells + 1)) as f64;
            let q = (12.9898 * i as f64).sin() * 43758.5453;
            let q2 = (78.233 * i as f64).sin() * 43758.5453;
            if jit > 0.0 {
                p.x += jit * cell * (q - q.floor() - 0.5);
                if r > 0.0 && r < rows as f64 {
                    p.z += jit * cell * (q2 - q2.floor() - 0.5);
                }
            }
        }
    }
    let mesh = flat(mesh.positions, mesh.triangles);
    let held: Vec<u32> = mesh
        .positions
        .iter()
        .enumerate()
        .filter(|(_, p)| p.x < -0.5 * length + 1.01 * cell)
        .map(|x| x.0 as u32)
        .collect();
    let mut s = exact();
    s.cloth.tolerance = 1e-5;
    let mut world = World::new(s).unwrap();
    let id =
        world.add_cloth(Cloth::new(mesh).fabric(fabric).pin(held).self_collision(false)).unwrap();
    for _ in 0..600 {
        world.step(0.02).unwrap();
        if measure::energy(&world).kinetic < 1e-13 {
            break;
        }
    }
    let tips: Vec<Vec3> =
        world.vertices(id).unwrap().iter().skip(cells).step_by(cells + 1).copied().collect();
    let tip = tips.iter().sum::<Vec3>() / tips.len() as f64;
    if std::env::args().any(|a| a == "-v") {
        for r in 0..=rows {
            println!(
                "{:?}",
                world.vertices(id).unwrap()[r * (cells + 1)..(r + 1) * (cells + 1)]
                    .iter()
                    .map(|p| (p.y * 1e4).round())
                    .collect::<Vec<_>>()
            );
        }
    }
    -tip.y / (tip.x + 0.5 * length - 0.5 * cell)
}
fn main() {
    let mode = std::env::args().nth(1).unwrap();
    if mode == "beam" {
        for bending in [Bending::Curvature, Bending::Hinge] {
            for one in [false, true] {
                for rows in [3, 8] {
                    for cells in [12, 24] {
                        println!(
                            "{bending:?} one {one} rows {rows} cells {cells}: {:.4}",
                            cantilever(1.0, cells, rows, 0.0, 0.0, bending, one) / 0.124562
                        );
                    }
                }
            }
        }
    }
    if mode == "skew" {
        for (skew, jit) in [(0.3, 0.0), (0.6, 0.0), (-0.6, 0.0), (0.0, 0.3), (0.0, 0.6), (0.3, 0.4)]
        {
            for cells in [12, 24] {
                println!(
                    "skew {skew} jitter {jit} cells {cells}: {:.4}",
                    cantilever(1.0, cells, 4, skew, jit, Bending::Curvature, true) / 0.124562
                );
            }
        }
    }
    if mode == "spin" {
        let (omega, h) = (3.0, 0.005);
        let fabric = Fabric { damping: [0.0; 3], stretch: [1e5; 2], ..Fabric::cotton() };
        let mut s = exact();
        s.gravity = Vec3::ZERO;
        let mut world = World::new(s).unwrap();
        let mesh = ClothMesh::grid(7, 7, [1.0, 1.0]).unwrap();
        let start = mesh.positions.clone();
        let id = world.add_cloth(Cloth::new(mesh).fabric(fabric).self_collision(false)).unwrap();
        for (i, x) in start.iter().enumerate() {
            world.set_vertex(id, i as u32, *x, Vec3::new(0.0, omega, 0.0).cross(*x)).unwrap();
        }
        for _ in 0..10 {
            let r = world.step(h).unwrap();
            println!(
                "L {:.6} E {:?} cg {} strain {:.2e} steps {}",
                measure::momentum(&world).1.y,
                measure::energy(&world),
                r.cg_iterations,
                measure::strain(&world),
                r.cloth_steps
            );
        }
    }
}
