//! Motions that keep the volume around every vertex of what is incompressible \[ISF07\].
//!
//! With B from `energy/one_ring.rs` and W the answer of everything to impulses, both projections solve
//!
//!   B W Bᵀ q = r
//!
//! by conjugate gradients and add W Bᵀq to the velocities:
//!
//!   `displace`            r = ¼(V⁰ − V(x + h u))/h, again where that led, until the volumes at the end of the
//!                         step are those at rest: for the velocities that move positions
//!   `remove_divergence`   r = −B v: for the velocities that are kept
//!
//! (The paper makes one round of the first, and takes a part of large errors; so does this.) Bᵀq has neither sum
//! nor torque, and W is symmetric: momentum and, about the places of B, angular momentum stay, and of
//! velocities that keep the volumes the second takes those nearest in the norm of W⁻¹, so that kinetic energy never
//! grows.
//!
//! W knows what holds particles: where S is the projector onto the directions that are free, a particle answers with
//! S/m, and the rest of its impulse goes to the body that it follows, if there is one ([`Mobility`]). What
//! touches thus stays where contact has put it.

use crate::energy::one_ring::{Gradients, OneRings};
use crate::linalg::bodies::{Mat6, inverse, times};
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Vec3, worse};

#[cfg(test)]
mod tests;

/// Relative residual at which a round of conjugate gradients ends.
const ROUGH: f64 = 1e-3;
const FINE: f64 = 1e-10;
/// Relative error of volumes that is left.
const LEFT: f64 = 1e-6;
/// Most rounds, and iterations in each.
const ROUNDS: u32 = 6;
const ITERATIONS: u32 = 400;
/// The most of a ring's volume that a step gives back of what was missing at its beginning.
const MOST: f64 = 0.1;
/// What is added to the diagonal, relative to it: rings between held particles ask for what nothing can give.
const GIVE: f64 = 1e-9;

/// How everything answers impulses.
#[derive(Clone, Debug, Default)]
pub struct Mobility {
    /// S/m of each particle, 1/kg.
    pub particles: Vec<Mat3>,
    carried: Vec<Carried>,
    bodies: Vec<Mat6>,
}

/// A particle that follows a body in the directions in which it is not free.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// Which particle.
    pub particle: u32,
    /// Which of the bodies.
    pub body: u32,
    /// I − S.
    pub held: Mat3,
    /// From the body's centre of mass to the particle, m.
    pub arm: Vec3,
    /// Of the particle, kg.
    pub mass: f64,
}

/// How a projection went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[must_use]
pub struct VolumeReport {
    /// Rounds of the linearized volumes.
    pub rounds: u32,
    /// Iterations of conjugate gradients in all rounds.
    pub iterations: u32,
    /// Largest relative error of the volume around a vertex that is left.
    pub error: f64,
}

/// Velocities of particles, and changes of those of bodies.
#[derive(Debug)]
pub struct Flow<'a> {
    /// m/s.
    pub particles: &'a mut [Vec3],
    /// m/s and rad/s.
    pub bodies: &'a mut [[Vec3; 2]],
}

/// Memory of the projections; nothing depends on what it holds.
#[derive(Clone, Debug, Default)]
pub struct Projection {
    /// B where it was last asked for.
    pub gradients: Gradients,
    /// q, Pa·s.
    pub impulses: Vec<f64>,
    x: Vec<Vec3>,
    right: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
    diagonal: Vec<f64>,
    pushed: Vec<Vec3>,
    pushed_bodies: Vec<[Vec3; 2]>,
}

impl Mobility {
    /// Particles that nothing holds.
    pub fn free(masses: impl Iterator<Item = f64>) -> Mobility {
        let mut mobility = Mobility::default();
        mobility.begin(masses);
        mobility
    }

    /// The same, in the memory that is there.
    pub fn begin(&mut self, masses: impl Iterator<Item = f64>) {
        self.particles.clear();
        self.particles.extend(masses.map(|m| Mat3::from_diagonal(Vec3::splat(1.0 / m))));
        self.carried.clear();
        self.bodies.clear();
    }

    /// Lets bodies of these masses carry particles, which must be held already.
    pub fn carry(&mut self, masses: &[BodyMass], carried: impl IntoIterator<Item = Carried>) {
        self.carried.extend(carried);
        let mut added = vec![[[0.0; 6]; 6]; masses.len()];
        for Carried { body, held, arm, mass, .. } in &self.carried {
            let axes = [Vec3::X, Vec3::Y, Vec3::Z];
            let columns: [Vec3; 6] = std::array::from_fn(|k| match k {
                0..3 => *held * axes[k],
                _ => *held * axes[k - 3].cross(*arm),
            });
            for (row, a) in added[*body as usize].iter_mut().zip(columns) {
                for (sum, b) in row.iter_mut().zip(columns) {
                    *sum += mass * a.dot(b);
                }
            }
        }
        self.bodies.extend(masses.iter().zip(&added).map(|(mass, k)| inverse(mass, k)));
    }

    /// Impulses on particles become velocities, and changes of the velocities of bodies.
    fn answer(&self, particles: &mut [Vec3], bodies: &mut Vec<[Vec3; 2]>) {
        bodies.clear();
        bodies.resize(self.bodies.len(), [Vec3::ZERO; 2]);
        for carried in &self.carried {
            let push = carried.held * particles[carried.particle as usize];
            let wrench = &mut bodies[carried.body as usize];
            wrench[0] += push;
            wrench[1] += carried.arm.cross(push);
        }
        for (wrench, inverse) in bodies.iter_mut().zip(&self.bodies) {
            *wrench = times(inverse, wrench);
        }
        for (impulse, mobility) in particles.iter_mut().zip(&self.particles) {
            *impulse = *mobility * *impulse;
        }
        for carried in &self.carried {
            let [v, w] = bodies[carried.body as usize];
            particles[carried.particle as usize] += carried.held * (v + w.cross(carried.arm));
        }
    }
}

impl Projection {
    /// Changes the velocities by which particles move from `x` in `h` seconds so that the volumes at the end are
    /// those at rest.
    pub fn displace(
        &mut self,
        rings: &OneRings,
        mobility: &Mobility,
        (x, h): (&[Vec3], f64),
        flow: &mut Flow<'_>,
    ) -> VolumeReport {
        let mut report = VolumeReport::default();
        // what the step itself does to volumes is taken out; of large errors that were there a part
        rings.evaluate(x, &mut self.gradients);
        let goal = |(now, rest): (&f64, &f64)| now + (rest - now).clamp(-MOST * rest, MOST * rest);
        let wanted: Vec<f64> = self.gradients.volumes.iter().zip(&rings.rest).map(goal).collect();
        loop {
            self.x.clear();
            self.x.extend(x.iter().zip(flow.particles.iter()).map(|(x, u)| *x + h * *u));
            rings.evaluate(&self.x, &mut self.gradients);
            let pairs = self.gradients.volumes.iter().zip(&wanted).zip(&rings.rest);
            let left = pairs.map(|((now, wanted), rest)| ((now - wanted) / rest).abs());
            let left = left.fold(0.0, worse);
            report.error = rings.error(&self.gradients);
            if left <= LEFT || left.is_nan() || report.rounds == ROUNDS {
                return report;
            }
            report.rounds += 1;
            self.right.clear();
            let pairs = self.gradients.volumes.iter().zip(&wanted);
            self.right.extend(pairs.map(|(now, wanted)| 0.25 * (wanted - now) / h));
            report.iterations += self.solve(rings, mobility, ROUGH);
            self.push(rings, mobility, flow);
        }
    }

    /// Takes out of the velocities at `x` whatever changes volumes.
    pub fn remove_divergence(
        &mut self,
        rings: &OneRings,
        mobility: &Mobility,
        x: &[Vec3],
        flow: &mut Flow<'_>,
    ) -> VolumeReport {
        rings.evaluate(x, &mut self.gradients);
        rings.gains(&self.gradients, flow.particles, &mut self.right);
        self.right.iter_mut().for_each(|r| *r = -*r);
        let iterations = self.solve(rings, mobility, FINE);
        self.push(rings, mobility, flow);
        VolumeReport { rounds: 1, iterations, error: rings.error(&self.gradients) }
    }

    /// The impulses that give the rings `gains` (m³/s), where B was last evaluated.
    pub fn impulses_for(
        &mut self,
        rings: &OneRings,
        mobility: &Mobility,
        gains: impl Iterator<Item = f64>,
    ) -> u32 {
        self.right.clear();
        self.right.extend(gains);
        self.solve(rings, mobility, ROUGH)
    }

    /// B W Bᵀ q = r.
    fn solve(&mut self, rings: &OneRings, mobility: &Mobility, tolerance: f64) -> u32 {
        let count = rings.len();
        self.diagonal.clear();
        for row in 0..count {
            let own = |(column, entry): (&u32, &Vec3)| {
                entry.dot(mobility.particles[*column as usize] * *entry)
            };
            self.diagonal.push(rings.row(&self.gradients, row).map(own).sum());
        }
        // carried particles answer as well
        let most = self.diagonal.iter().fold(0.0, |most: f64, d| most.max(*d));
        let least = if mobility.carried.is_empty() { 0.0 } else { 1e-3 * most };
        self.diagonal.iter_mut().for_each(|d| *d = d.max(least));
        self.impulses.clear();
        self.impulses.resize(count, 0.0);
        self.residual.clone_from(&self.right);
        self.direction.clear();
        self.direction.resize(count, 0.0);
        let (mut first, mut last) = (0.0, 0.0);
        for iteration in 0..ITERATIONS {
            let mut size = 0.0;
            for (r, d) in self.residual.iter().zip(&self.diagonal) {
                size += if *d > 0.0 { r * r / d } else { 0.0 };
            }
            if iteration == 0 {
                first = size;
            }
            if size.is_nan() || size <= tolerance * tolerance * first || size == 0.0 {
                return iteration;
            }
            let keep = if iteration == 0 { 0.0 } else { size / last };
            last = size;
            for ((p, r), d) in self.direction.iter_mut().zip(&self.residual).zip(&self.diagonal) {
                *p = keep * *p + if *d > 0.0 { r / d } else { 0.0 };
            }
            self.multiply(rings, mobility);
            let along: f64 = self.direction.iter().zip(&self.image).map(|(p, a)| p * a).sum();
            if along.is_nan() || along <= 0.0 {
                return iteration;
            }
            let step = size / along;
            for ((q, r), (p, a)) in self
                .impulses
                .iter_mut()
                .zip(&mut self.residual)
                .zip(self.direction.iter().zip(&self.image))
            {
                *q += step * p;
                *r -= step * a;
            }
        }
        ITERATIONS
    }

    /// image ← (B W Bᵀ + ε diag) direction.
    fn multiply(&mut self, rings: &OneRings, mobility: &Mobility) {
        let Projection { gradients, direction, image, pushed, pushed_bodies, .. } = self;
        pushed.clear();
        pushed.resize(mobility.particles.len(), Vec3::ZERO);
        rings.add_forces(gradients, direction, pushed);
        mobility.answer(pushed, pushed_bodies);
        rings.gains(gradients, pushed, image);
        for ((image, p), d) in image.iter_mut().zip(direction).zip(&self.diagonal) {
            *image += GIVE * d * *p;
        }
    }

    /// Adds W Bᵀq.
    fn push(&mut self, rings: &OneRings, mobility: &Mobility, flow: &mut Flow<'_>) {
        let Projection { gradients, impulses, pushed, pushed_bodies, .. } = self;
        pushed.clear();
        pushed.resize(mobility.particles.len(), Vec3::ZERO);
        rings.add_forces(gradients, impulses, pushed);
        mobility.answer(pushed, pushed_bodies);
        for (v, change) in flow.particles.iter_mut().zip(&*pushed) {
            *v += *change;
        }
        for (v, change) in flow.bodies.iter_mut().zip(&*pushed_bodies) {
            v[0] += change[0];
            v[1] += change[1];
        }
    }
}
