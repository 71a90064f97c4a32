//! Incompressible soft bodies in a cloth step \[ISF07\].
//!
//! Volumes around vertices (`energy/one_ring.rs`) are kept in three ways:
//!
//!   pressures    p of the step before push with Bᵀp inside the solve, and grow by what volumes still miss:
//!                  p += h⁻²(B W Bᵀ)⁻¹ c + (λ + 2μ) c/¼V⁰,   c = ¼(V⁰ − V(x₁)),
//!                after which the step is solved again, in a few rounds
//!   positions    what is left of c is taken out of u by the projection        contact/incompressible.rs
//!   velocities   what is kept of u loses its divergence
//!
//! (The paper has no pressures: its elastic forces are explicit. With an implicit solve the projections alone
//! would undo in every step what the solve has done, and bodies that touch would not feel it. The increment is
//! that of \[Cahouet, Chabard 1988\], exact where mass rules and where stiffness does.) Contacts, pins and bodies hold
//! particles in the projections as they do in the solve.

use super::constraints::Constraints;
use super::linear::Linear;
use super::solids::Solids;
use super::solution::Solution;
use super::system::Trial;
use crate::contact::incompressible::{Carried, Flow, Mobility, Projection, VolumeReport};
use crate::linalg::block::{lane, vector};
use crate::linalg::filter::NONE;
use crate::math::Vec3;
use crate::model::deformable::model::Sheet;
use crate::state::State;

/// Most rounds of pressure, and the largest relative error of a volume at which none follows.
const ROUNDS: u32 = 4;
const ENOUGH: f64 = 1e-3;

/// Memory of the stage; nothing depends on what it holds.
#[derive(Debug, Default)]
pub struct Volumes {
    projection: Projection,
    mobility: Mobility,
    /// By ring, Pa.
    pressures: Vec<f64>,
    /// What they push with in the system, N.
    applied: Vec<Vec3>,
    flow: [Vec<Vec3>; 2],
    /// By what the velocities that are kept differ from those that positions move by.
    pub kick: Vec<Vec3>,
    pub kick_bodies: Vec<[Vec3; 2]>,
    rounds: u32,
    /// Whether the pressures of the next step are found.
    settled: bool,
}

impl Volumes {
    /// Lets the pressures of the last step push.
    pub fn begin(&mut self, trial: &Trial, linear: &mut Linear) {
        let rings = &trial.sheet().rings;
        self.kick.clear();
        self.kick_bodies.clear();
        self.applied.clear();
        (self.rounds, self.settled) = (0, false);
        if rings.is_empty() {
            return;
        }
        let known = &trial.state.pressures;
        self.pressures.clear();
        let of = |center: &u32| known.get(*center as usize).copied().unwrap_or(0.0);
        self.pressures.extend(rings.centers.iter().map(of));
        rings.evaluate(&trial.state.particles.x, &mut self.projection.gradients);
        self.applied.resize(trial.state.particles.x.len(), Vec3::ZERO);
        self.apply(trial, linear);
    }

    /// Puts what the pressures push with into the system, in place of what they did before.
    fn apply(&mut self, trial: &Trial, linear: &mut Linear) {
        let [forces, _] = &mut self.flow;
        forces.clear();
        forces.resize(self.applied.len(), Vec3::ZERO);
        trial.sheet().rings.add_forces(&self.projection.gradients, &self.pressures, forces);
        let h = trial.span.h;
        for (i, (new, old)) in forces.iter().zip(&mut self.applied).enumerate() {
            let change = h * (*new - *old);
            linear.given[i] += change;
            linear.base[i] += change;
            *old = *new;
        }
    }

    /// Corrects the pressures where the solution leads; false if volumes are near enough, or rounds are over.
    pub fn press(
        &mut self,
        trial: &Trial,
        linear: &mut Linear,
        (constraints, solids): (&Constraints, &Solids),
        solution: &Solution,
    ) -> bool {
        let (rings, h) = (&trial.sheet().rings, trial.span.h);
        let gradients = &mut self.projection.gradients;
        rings.evaluate(&solution.x1, gradients);
        let error = rings.error(gradients);
        let last = self.rounds >= ROUNDS || error <= ENOUGH;
        if error.is_nan() || (last && self.settled) {
            return false;
        }
        // what is left at the end is for the pressures of the next step: at rest they come to carry all
        self.settled = last;
        self.rounds += 1;
        self.hold(trial, constraints, solids);
        let gradients = &self.projection.gradients;
        let missing = |(now, rest): (&f64, &f64)| 0.25 * (rest - now);
        let missing: Vec<f64> = gradients.volumes.iter().zip(&rings.rest).map(missing).collect();
        let gains = missing.iter().map(|c| c / h);
        let _ = self.projection.impulses_for(rings, &self.mobility, gains);
        for (i, pressure) in self.pressures.iter_mut().enumerate() {
            let elastic = rings.modulus[i] * missing[i] / (0.25 * rings.rest[i]);
            *pressure += self.projection.impulses[i] / h + elastic;
        }
        if last {
            return false;
        }
        self.apply(trial, linear);
        true
    }

    /// Takes what is left out of positions and velocities.
    pub fn project(
        &mut self,
        trial: &Trial,
        (constraints, solids): (&Constraints, &Solids),
        solution: &mut Solution,
    ) -> VolumeReport {
        let (rings, h) = (&trial.sheet().rings, trial.span.h);
        self.hold(trial, constraints, solids);
        let Volumes { projection, mobility, flow: [u, v], kick, kick_bodies, .. } = self;
        u.clear();
        u.extend(solution.u.iter().map(vector));
        v.clear();
        v.extend(u.iter().zip(&constraints.alter).map(|(u, alter)| *u - *alter / h));
        kick_bodies.clone_from(&solution.u_bodies);
        let x0 = &trial.state.particles.x;
        let mut flow = Flow { particles: u, bodies: &mut solution.u_bodies };
        let mut report = projection.displace(rings, mobility, (x0, h), &mut flow);
        for (to, from) in solution.u.iter_mut().zip(&*u) {
            *to = lane(*from);
        }
        solution.place(trial);
        let mut flow = Flow { particles: v, bodies: kick_bodies };
        let other = projection.remove_divergence(rings, mobility, &solution.x1, &mut flow);
        report.iterations += other.iterations;
        kick.clear();
        let moved = u.iter().zip(&constraints.alter).map(|(u, alter)| *u - *alter / h);
        kick.extend(v.iter().zip(moved).map(|(v, moved)| *v - moved));
        for (kick, moved) in kick_bodies.iter_mut().zip(&solution.u_bodies) {
            *kick = [kick[0] - moved[0], kick[1] - moved[1]];
        }
        report
    }

    /// What holds particles.
    fn hold(&mut self, trial: &Trial, constraints: &Constraints, solids: &Solids) {
        let masses = &trial.sheet().elements.mass;
        self.mobility.begin(masses.iter().copied());
        let filter = &constraints.filter;
        for hold in &filter.holds {
            let i = hold.particle as usize;
            self.mobility.particles[i] = hold.free * (1.0 / masses[i]);
        }
        let carried = filter.holds.iter().filter(|hold| hold.body != NONE).map(|hold| Carried {
            particle: hold.particle,
            body: hold.body,
            held: hold.held(),
            arm: hold.arm,
            mass: masses[hold.particle as usize],
        });
        let unknowns: Vec<_> = solids.unknowns.iter().map(|unknown| unknown.mass).collect();
        self.mobility.carry(&unknowns, carried);
    }

    /// Pressures for the next step.
    pub fn keep(&self, sheet: &Sheet, state: &mut State) {
        state.pressures.clear();
        if sheet.rings.is_empty() {
            return;
        }
        state.pressures.resize(state.particles.x.len(), 0.0);
        for (center, pressure) in sheet.rings.centers.iter().zip(&self.pressures) {
            state.pressures[*center as usize] = *pressure;
        }
    }
}
