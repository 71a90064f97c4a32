//! The linear system of a cloth step: its matrix and right side, what linearization leaves out of
//! them, and its solution.

use super::solids::Unknown;
use super::system::{Context, Work};
use crate::deformable::model::Sheet;
use crate::energy::air;
use crate::math::{Mat3, Vec3};
use crate::settings::{ClothSolver, Preconditioner, Settings};
use crate::solve::block::{Block, Scalar, block_of, lane, vector};
use crate::solve::multilevel::{Levelled, pays};
use crate::solve::parallel::inside;
use crate::solve::pcg::{self, Stop, System};
use crate::solve::product::Matrix;
use crate::state::State;

/// Speed, m/s, that counts as one where there is no gravity.
const SLOW: f64 = 0.01;
/// Residuals below this many times what weight adds in a step, in the norm of the diagonal, are not
/// taken as large ones: what is left of a sheet that hangs still is nothing to reduce.
const WEIGHTS: f64 = 3.0;

impl Work {
    /// A and the right side without constraints.
    pub(super) fn form(&mut self, context: &Context, state: &State, h: f64) {
        let sheet = &*context.model.sheet;
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
        self.base.clear();
        self.base.extend_from_slice(&self.forces);
        self.blow(context, state);
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
        self.turned.clear();
        self.turned.resize(n, Vec3::ZERO);
        self.add_own(sheet, h);
        self.renewed = true;
        self.x1.resize(n, Vec3::ZERO);
        self.u.resize(n, [0.0; 4]);
    }

    /// Mass and drag, into the diagonal.
    pub(super) fn add_own(&mut self, sheet: &Sheet, h: f64) {
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
    pub(super) fn overshoot(&mut self, sheet: &Sheet, state: &State, h: f64, first: bool) -> bool {
        let energies = &sheet.elements.energies;
        let (u, v) = (&self.u, &state.particles.v);
        let velocity = |i: u32| if first { v[i as usize] } else { vector(&u[i as usize]) };
        let worst = self.parts.overshoot(energies, &state.particles.x, velocity, h);
        sheet.layout().gather_overshoot(energies, &self.parts, &mut self.turned);
        worst > 2e-3
    }

    /// Drag and lift of the air, shared evenly by the corners of each triangle.
    fn blow(&mut self, context: &Context, state: &State) {
        let sheet = &*context.model.sheet;
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

    /// A u = b in the free directions.
    pub(super) fn solve(
        &mut self,
        context: &Context,
        state: &State,
        h: f64,
        first: bool,
        reference: f64,
        finer: f64,
    ) -> pcg::Outcome {
        let sheet = &*context.model.sheet;
        let settings = &context.settings.cloth;
        let pattern = &sheet.layout().pattern;
        self.masses.clear();
        self.masses.extend(self.solids.unknowns.iter().map(|u: &Unknown| u.mass));
        if first {
            self.u_bodies.clear();
            self.u_bodies.resize(self.solids.unknowns.len(), [Vec3::ZERO; 2]);
            self.guess(sheet, (&state.particles.x, &state.particles.v), h);
        } else {
            self.prescribe();
        }
        let Settings { gravity, .. } = context.settings;
        let weights = WEIGHTS * self.momenta(sheet, h * gravity.length());
        let (blocks, stencils, filter) = (&self.blocks[..], &mut self.stencils, &self.filter);
        if settings.solver == ClothSolver::Direct && self.masses.is_empty() {
            let mass = &sheet.elements.mass;
            let solved = crate::solve::dense::solve(
                pattern,
                blocks,
                stencils,
                filter,
                mass,
                &self.b,
                &mut self.u,
            );
            if solved {
                return pcg::Outcome::default();
            }
        }
        let levels = match settings.preconditioner {
            Preconditioner::BlockJacobi => &[][..],
            Preconditioner::Auto if !pays(pattern, blocks, &sheet.elements.mass) => &[][..],
            _ => &sheet.layout().levels[..],
        };
        let numbers = &mut self.numbers;
        let dragged = self.drags.iter().map(|d| d.particle);
        numbers.jacobi.mark(dragged);
        let known = !std::mem::take(&mut self.renewed);
        let masses = &self.masses[..];
        inside(|| numbers.update(levels, (pattern, blocks), masses, stencils, filter, known));
        let matrix = Matrix { pattern, blocks, own: &self.own };
        let mut narrow = None;
        if context.narrow && masses.is_empty() {
            let copy = &mut self.narrow;
            let dragged = self.drags.iter().map(|d| d.particle);
            inside(|| copy.take(&matrix, known, dragged));
            narrow = Some(&self.narrow);
        }
        let mut system = System { matrix, narrow, stencils, filter, bodies: &self.masses };
        let mut levelled = Levelled { levels, numbers: &mut self.numbers };
        let stop = Stop {
            iterations: settings.iterations,
            tolerance: settings.tolerance * finer,
            reference,
            least: weights,
            speed: 10.0 * settings.tolerance * (h * gravity.length()).max(SLOW),
        };
        self.from.particles.clone_from(&self.u);
        self.from.bodies.clone_from(&self.u_bodies);
        let mut outcome = system.solve(
            &mut levelled,
            (&self.b, &self.b_bodies),
            &stop,
            (&mut self.u, &mut self.u_bodies),
            &mut self.pcg,
        );
        outcome.start = outcome.start.max(outcome.reference);
        outcome
    }

    /// Gives held particles what is prescribed.
    pub(super) fn prescribe(&mut self) {
        for hold in &self.filter.holds {
            let u = &mut self.u[hold.particle as usize];
            *u = lane(hold.free * vector(u) + hold.prescribed);
        }
    }

    /// The start of the iteration: free flight, or the velocities at the beginning, whichever leaves
    /// less to do; cloth that falls needs the one, cloth that hangs or lies the other.
    fn guess(&mut self, sheet: &Sheet, (x, v): (&[Vec3], &[Vec3]), h: f64) {
        for (u, v) in self.u.iter_mut().zip(v) {
            *u = lane(*v);
        }
        self.prescribe();
        let still = self.left(sheet);
        // free flight, which `x1` still holds
        for (u, (x1, x0)) in self.u.iter_mut().zip(self.x1.iter().zip(x)) {
            *u = lane((*x1 - *x0) / h);
        }
        self.prescribe();
        let flight = self.left(sheet);
        if still >= flight || still.is_nan() {
            return;
        }
        for (u, v) in self.u.iter_mut().zip(v) {
            *u = lane(*v);
        }
        self.prescribe();
    }

    /// Size of the momenta of all particles at this speed, in the norm of the diagonal.
    fn momenta(&self, sheet: &Sheet, speed: f64) -> f64 {
        let mut sum = 0.0;
        for (place, mass) in sheet.layout().pattern.diagonal.iter().zip(&sheet.elements.mass) {
            let block = &self.blocks[*place as usize];
            let diagonal = (block[0][0] + block[1][1] + block[2][2]).wide();
            sum += mass * mass / diagonal;
        }
        speed * sum.sqrt()
    }

    /// Size of the residual, in the norm of the diagonal.
    fn left(&mut self, sheet: &Sheet) -> f64 {
        let (pattern, blocks) = (&sheet.layout().pattern, &self.blocks[..]);
        let (stencils, filter) = (&mut self.stencils, &self.filter);
        let matrix = Matrix { pattern, blocks, own: &self.own };
        let mut system = System { matrix, narrow: None, stencils, filter, bodies: &self.masses };
        let rest = system.impulses(&self.b, &self.u, &self.u_bodies, &mut self.pcg);
        let mut sum = 0.0;
        for (i, rest) in rest.iter().enumerate() {
            let block = &blocks[pattern.diagonal[i] as usize];
            let diagonal = (block[0][0] + block[1][1] + block[2][2]).wide();
            sum += vector(&filter.apply(i, rest)).length_squared() / diagonal;
        }
        sum.sqrt()
    }
}
