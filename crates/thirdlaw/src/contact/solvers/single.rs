//! Gauss–Seidel and block mass splitting in single precision: siblings of `pgs` and
//! `block_mass_splitting` for the question of [tonge2012 §7], what rounding does to jitter.
//!
//! Rows, masses, velocities and impulses are rounded to `f32`, and all sums and products are made in it.
//! Velocities and impulses come and go as `f64` that hold such numbers. It is here to be compared with,
//! not to be fast: each block is rounded when its turn comes. The kernel that is fast in `f32` is
//! `step/rigid/pile`, which keeps velocities in `f64`.

use crate::contact::problem::{Block, Bound, ContactProblem, ContactSide, Row, Velocities};
use crate::contact::row::{self, Counts};
use crate::contact::scratch::Scratch;
use crate::contact::sweep::{BlockRows, Effective, Part};
use crate::math;
use crate::model::settings::FrictionModel;
use glamx::{Mat3, Vec3};

/// One iteration of projected Gauss–Seidel.
pub fn iterate_pgs(
    problem: &ContactProblem,
    part: Part,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) {
    scratch.update_whole(problem);
    round(velocities, impulses);
    let mut residual = 0.0_f32;
    for (i, block) in problem.blocks.iter().enumerate() {
        let gathered = row::Pair::gather(problem, block, velocities);
        let mut pair = Pair::of(&gathered);
        let rows = BlockRows::of(problem, i, &scratch.whole.value);
        residual = residual.max(sweep(&rows, part, &mut impulses[block.rows()], &mut pair));
        pair.scatter(problem, block, gathered, velocities);
    }
    round(velocities, &mut []);
    scratch.met = f64::from(residual);
}

/// One iteration of block mass splitting.
pub fn iterate_block_mass_splitting(
    problem: &ContactProblem,
    part: Part,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) {
    scratch.update_adjacency(problem);
    scratch.update_block_split(problem, part);
    let (effective, counts): (&[Effective], &Counts) = match part {
        Part::Normal => (&scratch.part_split.value, &scratch.block_counts.value[0]),
        Part::Friction => (&scratch.part_split.value, &scratch.block_counts.value[1]),
        Part::Both | Part::Loaded => (&scratch.block_split.value, &scratch.block_counts.value[2]),
    };
    round(velocities, impulses);
    let mut residual = 0.0_f32;
    let sums = &mut scratch.sums;
    sums.clear();
    sums.resize(problem.bodies.len() + problem.particles.len(), [Vec3::ZERO; 2]);
    for &i in &scratch.adjacency.value.order {
        let block = &problem.blocks[i as usize];
        let gathered = row::Pair::gather_split(problem, block, velocities, counts);
        let mut pair = Pair::of(&gathered);
        let rows = BlockRows::of(problem, i as usize, effective);
        residual = residual.max(sweep(&rows, part, &mut impulses[block.rows()], &mut pair));
        for (side, turn, sign) in [(block.a, -pair.turn_a, -1.0), (block.b, pair.turn_b, 1.0)] {
            match side {
                ContactSide::World => {}
                ContactSide::Body(i) => {
                    sums[i as usize][0] += pair.push * sign;
                    sums[i as usize][1] += turn;
                }
                ContactSide::Particles { index, weight } => {
                    for (i, weight) in index.into_iter().zip(weight) {
                        let at = problem.bodies.len() + i as usize;
                        sums[at][0] += pair.push * (sign * weight as f32);
                    }
                }
            }
        }
    }
    for ((v, mass), [push, turn]) in velocities.bodies.iter_mut().zip(&problem.bodies).zip(&*sums) {
        let inertia = mass.inv_inertia.as_mat3();
        v.linear = (v.linear.as_vec3() + mass.inv_mass.as_vec3() * *push).as_dvec3();
        v.angular = (v.angular.as_vec3() + inertia * *turn).as_dvec3();
    }
    let particles = velocities.particles.iter_mut().zip(&problem.particles);
    for ((v, &mass), [push, _]) in particles.zip(&sums[problem.bodies.len()..]) {
        *v = (v.as_vec3() + *push * mass as f32).as_dvec3();
    }
    scratch.met = f64::from(residual);
}

fn round(velocities: &mut Velocities, impulses: &mut [f64]) {
    let round = |v: &mut math::Vec3| *v = v.as_vec3().as_dvec3();
    for v in &mut velocities.bodies {
        round(&mut v.linear);
        round(&mut v.angular);
    }
    velocities.particles.iter_mut().for_each(round);
    impulses.iter_mut().for_each(|z| *z = f64::from(*z as f32));
}

/// See [`row::Port`].
struct Port {
    linear: Vec3,
    angular: Vec3,
    inv_mass: Vec3,
    inv_inertia: Mat3,
}

/// See [`row::Pair`].
struct Pair {
    a: Port,
    b: Port,
    push: Vec3,
    turn_a: Vec3,
    turn_b: Vec3,
}

impl Pair {
    fn of(pair: &row::Pair) -> Pair {
        let port = |port: &row::Port| Port {
            linear: port.linear.as_vec3(),
            angular: port.angular.as_vec3(),
            inv_mass: port.inv_mass.as_vec3(),
            inv_inertia: port.inv_inertia.as_mat3(),
        };
        let zero = Vec3::ZERO;
        Pair { a: port(&pair.a), b: port(&pair.b), push: zero, turn_a: zero, turn_b: zero }
    }

    fn scatter(
        &self,
        problem: &ContactProblem,
        block: &Block,
        mut gathered: row::Pair,
        velocities: &mut Velocities,
    ) {
        for (to, from) in [(&mut gathered.a, &self.a), (&mut gathered.b, &self.b)] {
            (to.linear, to.angular) = (from.linear.as_dvec3(), from.angular.as_dvec3());
        }
        gathered.push = self.push.as_dvec3();
        gathered.scatter(problem, block, velocities);
    }

    /// w = J v + b + Γ z.
    fn defect(&self, row: &Row, z: f32) -> f32 {
        row.direction.as_vec3().dot(self.b.linear - self.a.linear)
            + row.arm_b.as_vec3().dot(self.b.angular)
            - row.arm_a.as_vec3().dot(self.a.angular)
            + row.bias as f32
            + row.compliance as f32 * z
    }

    fn act(&mut self, row: &Row, dz: f32) {
        let push = row.direction.as_vec3() * dz;
        let (turn_a, turn_b) = (row.arm_a.as_vec3() * dz, row.arm_b.as_vec3() * dz);
        self.a.linear -= self.a.inv_mass * push;
        self.b.linear += self.b.inv_mass * push;
        self.a.angular -= self.a.inv_inertia * turn_a;
        self.b.angular += self.b.inv_inertia * turn_b;
        self.push += push;
        self.turn_a += turn_a;
        self.turn_b += turn_b;
    }
}

/// The pass of [`crate::contact::sweep`], friction before normals. Returns the largest residual met, m/s.
fn sweep(block: &BlockRows, part: Part, impulses: &mut [f64], pair: &mut Pair) -> f32 {
    let mut residual = 0.0_f32;
    if part != Part::Normal {
        let mut i = 0;
        while i + 1 < block.rows.len() {
            if let Bound::Friction { normal, coefficient } = block.rows[i].bound {
                let load = impulses[normal as usize - block.start].max(0.0) as f32;
                let moved = friction(block, i, coefficient as f32 * load, impulses, pair);
                residual = residual.max(moved * block.effective[i].largest as f32);
                i += 1;
            }
            i += 1;
        }
    }
    if part != Part::Friction {
        for ((row, e), z) in block.rows.iter().zip(block.effective).zip(impulses) {
            let Bound::Interval { lower, upper } = row.bound else { continue };
            if e.inverse == 0.0 {
                continue;
            }
            let old = *z as f32;
            let step = e.inverse as f32 * pair.defect(row, old);
            let new = (old - step).max(lower as f32).min(upper as f32);
            *z = f64::from(new);
            pair.act(row, new - old);
            residual = residual.max((new - old).abs() * e.response as f32);
        }
    }
    residual
}

/// The step of two friction rows within their bounds, as `sweep` describes it; how far it went.
fn friction(
    block: &BlockRows,
    i: usize,
    radius: f32,
    impulses: &mut [f64],
    pair: &mut Pair,
) -> f32 {
    let (rows, e) = (&block.rows[i..i + 2], &block.effective[i..i + 2]);
    let z = [impulses[i] as f32, impulses[i + 1] as f32];
    let mut z1 = z;
    if block.model == FrictionModel::Pyramid {
        for k in 0..2 {
            let step = e[k].inverse as f32 * pair.defect(&rows[k], z[k]);
            z1[k] = (z[k] - step).max(-radius).min(radius);
            pair.act(&rows[k], z1[k] - z[k]);
        }
    } else {
        let w = [pair.defect(&rows[0], z[0]), pair.defect(&rows[1], z[1])];
        z1 = disc_step(e, z, w, radius);
        pair.act(&rows[0], z1[0] - z[0]);
        pair.act(&rows[1], z1[1] - z[1]);
    }
    (impulses[i], impulses[i + 1]) = (f64::from(z1[0]), f64::from(z1[1]));
    (z1[0] - z[0]).abs().max((z1[1] - z[1]).abs())
}

fn disc_step(e: &[Effective], z: [f32; 2], w: [f32; 2], radius: f32) -> [f32; 2] {
    let (a, b, c) = (e[0].response as f32, e[0].cross as f32, e[1].response as f32);
    let determinant = a * c - b * b;
    // of a determinant near zero only rounding is left
    if determinant > 1e-5 * a * c {
        let k = 1.0 / determinant;
        let z1 = [z[0] - k * (c * w[0] - b * w[1]), z[1] - k * (a * w[1] - b * w[0])];
        if z1[0] * z1[0] + z1[1] * z1[1] <= radius * radius {
            return z1;
        }
    }
    let k = if e[0].largest > 0.0 { 1.0 / e[0].largest as f32 } else { 0.0 };
    let z1 = [z[0] - k * w[0], z[1] - k * w[1]];
    let length = (z1[0] * z1[0] + z1[1] * z1[1]).sqrt();
    if length <= radius {
        return z1;
    }
    [z1[0] * (radius / length), z1[1] * (radius / length)]
}
