//! Facts about cloth near solids and near itself.

mod crossings;
mod distance;
mod features;
mod particles;
mod proximity;

use crate::math::{Pose, Quat, Vec3};
use crate::shape::Shape;

/// A small generator of numbers that do not look alike (SplitMix64).
pub(super) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From −1 to 1.
    pub fn number(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }

    pub fn rotation(&mut self) -> Quat {
        crate::math::rotation_from_vector(self.vector() * 4.0)
    }

    pub fn pose(&mut self) -> Pose {
        Pose::from_parts(self.vector() * 3.0, self.rotation())
    }
}

/// One of each.
pub(super) fn shapes() -> Vec<(&'static str, Shape)> {
    let mut random = Random(1);
    let points: Vec<Vec3> = (0..30).map(|_| random.vector() * 0.7).collect();
    let hull = Shape::convex_hull(&points).expect("a hull");
    let (vertices, triangles) = star();
    let cube = Shape::cuboid(Vec3::splat(0.3)).expect("a cube");
    let ball = Shape::sphere(0.4).expect("a ball");
    let at = |x: f64| Pose::from_parts(Vec3::new(x, 0.1, 0.0), Quat::from_rotation_z(0.3));
    vec![
        ("sphere", Shape::sphere(0.6).expect("a ball")),
        ("cuboid", Shape::cuboid(Vec3::new(0.3, 0.5, 0.7)).expect("a box")),
        ("capsule", Shape::capsule(0.5, 0.3).expect("a capsule")),
        ("cylinder", Shape::cylinder(0.5, 0.4).expect("a cylinder")),
        ("cone", Shape::cone(0.5, 0.4).expect("a cone")),
        ("half space", Shape::half_space(Vec3::new(1.0, 2.0, 3.0)).expect("a half-space")),
        ("hull", hull),
        ("compound", Shape::compound(&[(at(-0.3), cube), (at(0.4), ball)]).expect("two parts")),
        ("mesh", Shape::mesh(&vertices, &triangles).expect("a star")),
    ]
}

/// A closed surface with hills and valleys: a sphere of triangles, every other corner pushed in.
pub(super) fn star() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut vertices, triangles) = Shape::sphere(0.8).expect("a ball").surface(12);
    for (k, v) in vertices.iter_mut().enumerate() {
        *v *= [1.0, 0.55, 0.8][k % 3];
    }
    (vertices, triangles)
}

/// A sheet of cloth.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub rest: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    pub edges: Vec<[u32; 2]>,
}

/// A square of n × n particles in the plane y = 0.
pub(super) fn grid(n: usize, size: f64) -> Sheet {
    let at = |i: usize, j: usize| (i * n + j) as u32;
    let step = size / (n - 1) as f64;
    let mut sheet = Sheet { rest: Vec::new(), triangles: Vec::new(), edges: Vec::new() };
    for i in 0..n {
        for j in 0..n {
            sheet.rest.push(Vec3::new(i as f64 * step, 0.0, j as f64 * step));
            if j + 1 < n {
                sheet.edges.push([at(i, j), at(i, j + 1)]);
            }
            if i + 1 < n {
                sheet.edges.push([at(i, j), at(i + 1, j)]);
            }
            if i + 1 < n && j + 1 < n {
                sheet.triangles.push([at(i, j), at(i, j + 1), at(i + 1, j)]);
                sheet.triangles.push([at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)]);
                sheet.edges.push([at(i + 1, j), at(i, j + 1)]);
            }
        }
    }
    sheet
}

/// A sheet and positions in which it is thrown together.
pub(super) fn crumpled(n: usize, seed: u64) -> (Sheet, Vec<Vec3>) {
    let mut random = Random(seed);
    let sheet = grid(n, 1.0);
    let x = sheet
        .rest
        .iter()
        .map(|&p| {
            let wave = Vec3::new(
                0.3 * libm::sin(7.0 * p.z + 3.0 * p.x),
                0.2 * libm::sin(9.0 * p.x) * libm::cos(5.0 * p.z),
                0.3 * libm::cos(8.0 * p.x),
            );
            p * 0.4 + wave + random.vector() * 0.03
        })
        .collect();
    (sheet, x)
}
