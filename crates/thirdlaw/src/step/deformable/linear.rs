//! The linear system of a cloth step without its constraints: matrix and right side, and what
//! linearization leaves out of them.

use super::solution::Solution;
use super::system::Trial;
use crate::energy::air;
use crate::energy::{Contributions, Step};
use crate::linalg::block::{Block, Scalar, block_of, vector};
use crate::linalg::product::Matrix;
use crate::math::{Mat3, Vec3};
use crate::model::deformable::model::Sheet;
use crate::parallel::loops::inside;

/// The system of all elements, masses and the air.
#[derive(Debug, Default)]
pub struct Linear {
    parts: Contributions,
    /// The matrix.
    pub blocks: Vec<Block<f64>>,
    /// Whether the matrix has changed since it was last preconditioned.
    pub renewed: bool,
    /// Mass and drag of each particle, which the blocks of its row sum to.
    pub own: Vec<Block<f64>>,
    /// Particles whose constraints drag at them, and their diagonal blocks and sums without.
    pub undragged: Vec<(u32, Block<f64>, Block<f64>)>,
    forces: Vec<Vec3>,
    /// Right side, N·s.
    pub base: Vec<Vec3>,
    /// Its part that does not come from elements.
    pub given: Vec<Vec3>,
    /// Forces that the linearization leaves out, N.
    pub turned: Vec<Vec3>,
    /// Where the elements were last linearized, m.
    pub places: Vec<Vec3>,
    /// Of the air, N·s/m.
    pub drag: Vec<f64>,
}

impl Linear {
    /// A and the right side without constraints.
    pub fn form(&mut self, trial: &Trial) {
        let Trial { context, state, span } = trial;
        let (sheet, h) = (trial.sheet(), span.h);
        let (x, v) = (&state.particles.x, &state.particles.v);
        let n = x.len();
        self.blocks.resize(sheet.layout().pattern.column.len(), Block::default());
        self.undragged.clear();
        self.forces.resize(n, Vec3::ZERO);
        let (parts, energies) = (&mut self.parts, &sheet.elements.energies);
        let (blocks, forces) = (&mut self.blocks[..], &mut self.forces[..]);
        inside(|| {
            parts.begin(energies, x, h);
            sheet.layout().assemble(energies, parts, blocks, forces);
        });
        self.places.clone_from(x);
        self.base.clear();
        self.base.extend_from_slice(&self.forces);
        self.blow(trial);
        self.given.clear();
        let gravity = context.settings.gravity;
        for (i, v) in v.iter().enumerate() {
            let mass = sheet.elements.mass[i];
            let weight = mass * sheet.gravity_scale[i] * gravity;
            let elastic = self.base[i];
            let air = self.forces[i] - elastic + self.drag[i] * context.settings.cloth.wind;
            self.given.push(mass * *v + h * (air + weight));
            self.base[i] = self.given[i] + h * elastic;
        }
        for &(particle, force) in context.pushed {
            self.given[particle as usize] += h * force;
            self.base[particle as usize] += h * force;
        }
        self.turned.clear();
        self.turned.resize(n, Vec3::ZERO);
        self.add_own(sheet, h);
        self.renewed = true;
    }

    /// The system linearized at `x1`, where u leads: b = M v₀ + h f(x₁) + (h²K + hD) u.
    pub fn relinearize(&mut self, trial: &Trial, solution: &mut Solution) {
        let (sheet, state, h) = (trial.sheet(), trial.state, trial.span.h);
        let n = solution.x1.len();
        self.undragged.clear();
        let (parts, energies) = (&mut self.parts, &sheet.elements.energies);
        let (blocks, forces) = (&mut self.blocks[..], &mut self.forces[..]);
        self.places.clone_from(&solution.x1);
        let (x0, x1) = (&state.particles.x[..], &solution.x1[..]);
        inside(|| {
            parts.evaluate(energies, &Step { x0, x1, h });
            sheet.layout().assemble(energies, parts, blocks, forces);
        });
        self.own.clear();
        self.own.resize(n, Block::default());
        let stiff = &mut solution.from.particles;
        stiff.resize(n, [0.0; 4]);
        let pattern = &sheet.layout().pattern;
        Matrix { pattern, blocks: &self.blocks, own: &self.own }.multiply(&solution.u, stiff);
        for (i, base) in self.base.iter_mut().enumerate() {
            *base = self.given[i] + h * self.forces[i] + vector(&stiff[i]);
        }
        self.turned.fill(Vec3::ZERO);
        self.add_own(sheet, h);
        self.renewed = true;
    }

    /// Mass and drag, into the diagonal.
    fn add_own(&mut self, sheet: &Sheet, h: f64) {
        self.own.clear();
        for (i, drag) in self.drag.iter().enumerate() {
            let place = sheet.layout().pattern.diagonal[i] as usize;
            let own = sheet.elements.mass[i] + h * drag;
            self.own.push(block_of(&Mat3::from_diagonal(Vec3::splat(own))));
            for (k, column) in self.blocks[place].iter_mut().enumerate() {
                column[k] += own;
            }
        }
    }

    /// Forces that the linearization leaves out, for the velocities of the last round (in the first
    /// those at the beginning); true if they changed by more than a little strain.
    pub fn overshoot(&mut self, trial: &Trial, solution: &Solution, first: bool) -> bool {
        let (sheet, state, h) = (trial.sheet(), trial.state, trial.span.h);
        let energies = &sheet.elements.energies;
        let (u, v) = (&solution.u, &state.particles.v);
        let velocity = |i: u32| if first { v[i as usize] } else { vector(&u[i as usize]) };
        let worst = self.parts.overshoot(energies, &state.particles.x, velocity, h);
        sheet.layout().gather_overshoot(energies, &self.parts, &mut self.turned);
        worst > 2e-3
    }

    /// Drag and lift of the air, shared evenly by the corners of each triangle.
    fn blow(&mut self, trial: &Trial) {
        let Trial { context, state, .. } = trial;
        let sheet = trial.sheet();
        self.drag.clear();
        self.drag.resize(state.particles.x.len(), 0.0);
        let wind = context.settings.cloth.wind;
        if !context.settings.cloth.air {
            return;
        }
        let elements = &sheet.elements;
        for triangle in &elements.triangles {
            let surface = elements.surface(triangle[0]);
            let x = triangle.map(|i| state.particles.x[i as usize]);
            let v = triangle.map(|i| state.particles.v[i as usize]);
            let relative = (v[0] + v[1] + v[2]) / 3.0 - wind;
            let drag = air::drag([surface.drag, surface.lift], x, relative);
            for i in *triangle {
                self.drag[i as usize] += drag.coefficient / 3.0;
                self.forces[i as usize] += drag.lift / 3.0;
            }
        }
    }

    /// Size of the momenta of all particles at this speed, in the norm of the diagonal.
    pub fn momenta(&self, sheet: &Sheet, speed: f64) -> f64 {
        let mut sum = 0.0;
        for (place, mass) in sheet.layout().pattern.diagonal.iter().zip(&sheet.elements.mass) {
            let block = &self.blocks[*place as usize];
            let diagonal = (block[0][0] + block[1][1] + block[2][2]).wide();
            sum += mass * mass / diagonal;
        }
        speed * sum.sqrt()
    }

    /// A number that no eigenvalue of D⁻¹A is smaller than, D being the diagonal blocks: A is M and
    /// something semi-definite.
    pub fn softest(&self, sheet: &Sheet) -> f64 {
        let mut least = 1.0_f64;
        for (place, mass) in sheet.layout().pattern.diagonal.iter().zip(&sheet.elements.mass) {
            let block = &self.blocks[*place as usize];
            let diagonal = (block[0][0] + block[1][1] + block[2][2]).wide();
            least = least.min(mass / diagonal);
        }
        least
    }

    /// Energy of the elements on the way to where the solution leads, and what damping takes, J.
    pub fn elastic(&mut self, trial: &Trial, x1: &[Vec3]) -> f64 {
        let step = Step { x0: &trial.state.particles.x, x1, h: trial.span.h };
        self.parts.energy_since(&trial.sheet().elements.energies, &step)
    }
}
