//! Facts about the contact solvers, checked on random problems against independent dense algebra.

mod convergence;
mod determinism;
mod direct;
mod friction;
mod joints;
mod lanes;
mod proximal;
mod reference;
mod splitting;
mod study;

use super::*;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Quat, Twist, Vec3, tangents};
use crate::model::settings::Solver;

/// A small generator of repeatable numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// Between a and b.
    pub fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0))
    }

    pub fn unit(&mut self) -> Vec3 {
        loop {
            let v = self.vector();
            if v.length() > 0.1 {
                return v.normalize();
            }
        }
    }
}

/// What a random problem is made of.
#[derive(Clone, Copy)]
pub struct Recipe {
    pub bodies: usize,
    pub particles: usize,
    pub blocks: usize,
    /// Contact points per block.
    pub points: usize,
    /// Friction coefficient; none: no friction rows.
    pub friction: Option<f64>,
    /// Γ relative to N_ii.
    pub softness: f64,
}

/// A problem, its velocities, and impulses of zero.
pub struct Case {
    pub problem: ContactProblem,
    pub velocities: Velocities,
    pub impulses: Vec<f64>,
    pub scratch: Scratch,
}

impl Case {
    pub fn new(problem: ContactProblem, velocities: Velocities) -> Case {
        assert_eq!(problem.validate(), Ok(()));
        let mut scratch = Scratch::default();
        prepare(&problem, &mut scratch);
        let impulses = vec![0.0; problem.rows.len()];
        Case { problem, velocities, impulses, scratch }
    }

    pub fn iterate(&mut self, solver: Solver, part: Part) {
        let Case { problem, velocities, impulses, scratch } = self;
        solver.iterate()(problem, part, velocities, impulses, scratch);
    }

    pub fn residual(&self) -> f64 {
        residual(&self.problem, &self.velocities, &self.impulses, &self.scratch)
    }

    /// Iterates until the residual is small; returns how many it took.
    pub fn converge(&mut self, solver: Solver, tolerance: f64, most: usize) -> usize {
        for i in 0..most {
            if self.residual() <= tolerance {
                return i;
            }
            self.iterate(solver, Part::Both);
        }
        most
    }

    pub fn solve(&mut self, settings: &SolveSettings) -> SolveReport {
        let Case { problem, velocities, impulses, scratch } = self;
        solve(problem, settings, velocities, impulses, scratch)
    }

    /// Every bit of the result, as one number per velocity component.
    pub fn velocity_bits(&self) -> Vec<u64> {
        let v = &self.velocities;
        let vectors = v.bodies.iter().flat_map(|t| [t.linear, t.angular]);
        vectors
            .chain(v.particles.iter().copied())
            .flat_map(|v| v.to_array())
            .map(f64::to_bits)
            .collect()
    }
}

/// Rows of one contact point; `arms` are r_a and r_b.
pub fn contact_rows(
    rows: &mut Vec<Row>,
    normal: Vec3,
    arms: [Vec3; 2],
    bias: f64,
    friction: Option<f64>,
) {
    let row = |direction: Vec3, bias, bound| Row {
        direction,
        arm_a: arms[0].cross(direction),
        arm_b: arms[1].cross(direction),
        bias,
        compliance: 0.0,
        bound,
    };
    let at = rows.len() as u32;
    rows.push(row(normal, bias, Bound::Interval { lower: 0.0, upper: f64::INFINITY }));
    if let Some(coefficient) = friction {
        let (t1, t2) = tangents(normal);
        let bound = Bound::Friction { normal: at, coefficient };
        rows.push(row(t1, 0.0, bound));
        rows.push(row(t2, 0.0, bound));
    }
}

/// A body of given mass with a slanted inertia tensor.
pub fn body(random: &mut Random, mass: f64) -> BodyMass {
    let q = Quat::from_xyzw(
        random.between(-1.0, 1.0),
        random.between(-1.0, 1.0),
        random.between(-1.0, 1.0),
        1.0,
    )
    .normalize();
    let r = Mat3::from_quat(q);
    let d = Vec3::new(random.between(3.0, 9.0), random.between(3.0, 9.0), random.between(3.0, 9.0));
    BodyMass {
        inv_mass: Vec3::splat(1.0 / mass),
        inv_inertia: r * Mat3::from_diagonal(d / mass) * r.transpose(),
    }
}

fn side(random: &mut Random, recipe: &Recipe, taken: Option<ContactSide>) -> ContactSide {
    let kind = random.below(if recipe.particles >= 8 { 5 } else { 3 });
    match kind {
        0 if taken.is_some() => ContactSide::World,
        0..=2 => loop {
            let side = ContactSide::Body(random.below(recipe.bodies) as u32);
            if Some(side) != taken {
                return side;
            }
        },
        _ => {
            // vertex, edge or triangle, in the half that the other side does not use
            let half = recipe.particles / 2;
            let base = if taken.is_some() { half } else { 0 };
            let start = random.below(half - 3);
            let used = 1 + random.below(3);
            let mut index = [(base + start) as u32; 4];
            let mut weight = [0.0; 4];
            for k in 0..used {
                index[k] = (base + start + k) as u32;
                weight[k] = random.between(0.2, 1.0);
            }
            let sum: f64 = weight.iter().sum();
            ContactSide::Particles { index, weight: weight.map(|w| w / sum) }
        }
    }
}

/// A random problem; body 0 is fixed and moves as prescribed.
pub fn random_case(seed: u64, recipe: Recipe) -> Case {
    let random = &mut Random(seed);
    let mut problem = ContactProblem::default();
    for i in 0..recipe.bodies {
        let mass = random.between(0.5, 2.0);
        let mass = body(random, mass);
        problem.bodies.push(if i == 0 { BodyMass::default() } else { mass });
    }
    problem.particles = (0..recipe.particles).map(|_| random.between(0.5, 5.0)).collect();
    for key in 0..recipe.blocks as u64 {
        let a = side(random, &recipe, None);
        let b = side(random, &recipe, Some(a));
        let row_start = problem.rows.len() as u32;
        let normal = random.unit();
        for _ in 0..recipe.points {
            let arms = [random.vector() * 0.5, random.vector() * 0.5];
            let bias = random.between(-0.2, 0.2);
            contact_rows(&mut problem.rows, normal, arms, bias, recipe.friction);
        }
        let row_count = problem.rows.len() as u32 - row_start;
        // keys in no order
        let key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        problem.blocks.push(Block { a, b, row_start, row_count, key });
    }
    for row in &mut problem.rows {
        row.compliance = recipe.softness;
    }
    let velocities = Velocities {
        bodies: (0..recipe.bodies)
            .map(|_| Twist { linear: random.vector(), angular: random.vector() })
            .collect(),
        particles: (0..recipe.particles).map(|_| random.vector()).collect(),
    };
    Case::new(problem, velocities)
}
