//! What a row does to the two sides of its block: J v, v + M⁻¹Jᵀ Δz and J M⁻¹ Jᵀ.
//!
//! All kinds of sides become one kind, a [`Port`], while the rows of a block are worked on: a rigid
//! body is itself; the fixed world has no inverse mass; particles with weights w, inverse masses m
//! and velocities v act through one point of velocity Σ w v and inverse mass Σ w² m, since an impulse
//! P on that point gives w m P to each of them. So the inner loops know no kinds, and a block loads
//! and stores its nodes once however many rows it has.
//!
//! A port may be made with the inverse masses multiplied by a factor per node: the sub-bodies of
//! [tonge2012, Eq. 18].

use super::problem::{Block, ContactProblem, ContactSide, Row, Velocities};
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Twist, Vec3};

/// One side of a block as its rows see it.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// Velocity of the body's centre, or of the weighted point, m/s.
    pub linear: Vec3,
    /// Angular velocity, rad/s; zero for particles.
    pub angular: Vec3,
    /// Inverse mass along each world axis, 1/kg.
    pub inv_mass: Vec3,
    /// Inverse inertia, 1/(kg·m²); zero for particles.
    pub inv_inertia: Mat3,
}

/// Both sides of a block, and what its rows have done to them since it was gathered.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// ContactSide a.
    pub a: Port,
    /// ContactSide b.
    pub b: Port,
    /// Σ direction·Δz, N·s: pushes b, and a the other way.
    pub push: Vec3,
    /// Σ arm_a·Δz, N·m·s: turns a the negative way.
    pub turn_a: Vec3,
    /// Σ arm_b·Δz, N·m·s: turns b.
    pub turn_b: Vec3,
}

/// A factor on the inverse mass of each node: into how many sub-bodies it is split.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// One per rigid body.
    pub bodies: Vec<f64>,
    /// One per particle.
    pub particles: Vec<f64>,
}

/// (J v) of one row, m/s.
#[inline(always)]
pub fn row_velocity(row: &Row, pair: &Pair) -> f64 {
    row.direction.dot(pair.b.linear - pair.a.linear) + row.arm_b.dot(pair.b.angular)
        - row.arm_a.dot(pair.a.angular)
}

/// v += M⁻¹ Jᵀ Δz of one row.
#[inline(always)]
pub fn row_apply(row: &Row, pair: &mut Pair, impulse: f64) {
    let push = row.direction * impulse;
    pair.a.linear -= pair.a.inv_mass * push;
    pair.b.linear += pair.b.inv_mass * push;
    pair.a.angular -= pair.a.inv_inertia * (row.arm_a * impulse);
    pair.b.angular += pair.b.inv_inertia * (row.arm_b * impulse);
}

/// J_i M⁻¹ J_kᵀ of two rows of one block, m/s per N·s.
#[inline]
pub fn row_response(i: &Row, k: &Row, pair: &Pair) -> f64 {
    i.direction.dot((pair.a.inv_mass + pair.b.inv_mass) * k.direction)
        + i.arm_a.dot(pair.a.inv_inertia * k.arm_a)
        + i.arm_b.dot(pair.b.inv_inertia * k.arm_b)
}

impl Port {
    /// The fixed world.
    pub const WORLD: Port = Port {
        linear: Vec3::ZERO,
        angular: Vec3::ZERO,
        inv_mass: Vec3::ZERO,
        inv_inertia: Mat3::ZERO,
    };

    /// A rigid body.
    #[inline(always)]
    pub fn of_body(mass: &BodyMass, twist: Twist) -> Port {
        Port {
            linear: twist.linear,
            angular: twist.angular,
            inv_mass: mass.inv_mass,
            inv_inertia: mass.inv_inertia,
        }
    }

    /// Up to four particles; `node` gives the velocity and inverse mass of one.
    #[inline]
    pub fn of_particles(
        index: [u32; 4],
        weight: [f64; 4],
        node: impl Fn(usize) -> (Vec3, f64),
    ) -> Port {
        let mut linear = Vec3::ZERO;
        let mut inv_mass = 0.0;
        for (index, weight) in index.into_iter().zip(weight) {
            if weight != 0.0 {
                let (velocity, m) = node(index as usize);
                linear += velocity * weight;
                inv_mass += weight * weight * m;
            }
        }
        Port { linear, inv_mass: Vec3::splat(inv_mass), ..Port::WORLD }
    }

    #[inline]
    fn gather(problem: &ContactProblem, side: &ContactSide, velocities: &Velocities) -> Port {
        match *side {
            ContactSide::World => Port::WORLD,
            ContactSide::Body(i) => {
                Port::of_body(&problem.bodies[i as usize], velocities.bodies[i as usize])
            }
            ContactSide::Particles { index, weight } => Port::of_particles(index, weight, |i| {
                (velocities.particles[i], problem.particles[i])
            }),
        }
    }

    fn gather_split(
        problem: &ContactProblem,
        side: &ContactSide,
        velocities: &Velocities,
        split: &Counts,
    ) -> Port {
        match *side {
            ContactSide::Body(i) => {
                let mut port = Port::gather(problem, side, velocities);
                let n = split.bodies[i as usize];
                port.inv_mass *= n;
                port.inv_inertia *= n;
                port
            }
            ContactSide::Particles { index, weight } => Port::of_particles(index, weight, |i| {
                (velocities.particles[i], split.particles[i] * problem.particles[i])
            }),
            ContactSide::World => Port::WORLD,
        }
    }
}

impl Pair {
    /// Two ports that nothing has acted on yet.
    #[inline(always)]
    pub fn new(a: Port, b: Port) -> Pair {
        Pair { a, b, push: Vec3::ZERO, turn_a: Vec3::ZERO, turn_b: Vec3::ZERO }
    }

    /// The sides of a block with their whole masses.
    #[inline]
    pub fn gather(problem: &ContactProblem, block: &Block, velocities: &Velocities) -> Pair {
        Pair::new(
            Port::gather(problem, &block.a, velocities),
            Port::gather(problem, &block.b, velocities),
        )
    }

    /// The sides of a block with their whole masses, at rest.
    pub fn gather_masses(problem: &ContactProblem, block: &Block) -> Pair {
        let [a, b] = [&block.a, &block.b].map(|side| match *side {
            ContactSide::World => Port::WORLD,
            ContactSide::Body(i) => Port::of_body(&problem.bodies[i as usize], Twist::default()),
            ContactSide::Particles { index, weight } => {
                Port::of_particles(index, weight, |i| (Vec3::ZERO, problem.particles[i]))
            }
        });
        Pair::new(a, b)
    }

    /// The sides of a block as one of the `split` parts of each node [tonge2012, Eq. 18].
    #[inline]
    pub fn gather_split(
        problem: &ContactProblem,
        block: &Block,
        velocities: &Velocities,
        split: &Counts,
    ) -> Pair {
        Pair::new(
            Port::gather_split(problem, &block.a, velocities, split),
            Port::gather_split(problem, &block.b, velocities, split),
        )
    }

    /// Stores the changed velocities of both sides; what cannot move keeps its bits.
    #[inline]
    pub fn scatter(&self, problem: &ContactProblem, block: &Block, velocities: &mut Velocities) {
        self.scatter_side(problem, &block.a, -1.0, velocities);
        self.scatter_side(problem, &block.b, 1.0, velocities);
    }

    #[inline]
    fn scatter_side(
        &self,
        problem: &ContactProblem,
        side: &ContactSide,
        sign: f64,
        velocities: &mut Velocities,
    ) {
        match *side {
            ContactSide::World => {}
            ContactSide::Body(i) => {
                if !problem.bodies[i as usize].is_fixed() {
                    let port = if sign < 0.0 { &self.a } else { &self.b };
                    velocities.bodies[i as usize] =
                        Twist { linear: port.linear, angular: port.angular };
                }
            }
            ContactSide::Particles { index, weight } => {
                for (index, weight) in index.into_iter().zip(weight) {
                    let m = problem.particles[index as usize];
                    if weight != 0.0 && m != 0.0 {
                        velocities.particles[index as usize] += self.push * (sign * weight * m);
                    }
                }
            }
        }
    }
}
