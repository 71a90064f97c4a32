//! The solution of a cloth step's linear system in the free directions.

use super::collective::Collective;
use super::constraints::Constraints;
use super::linear::Linear;
use super::solution::Solution;
use super::solved::FactorMemory;
use super::system::Trial;
use crate::linalg::block::{Scalar, lane, vector};
use crate::linalg::multilevel::{Levelled, Multilevel, pays};
use crate::linalg::narrow::Narrow;
use crate::linalg::pcg::{self, Stop, System};
use crate::linalg::product::Matrix;
use crate::math::Vec3;
use crate::model::deformable::model::Sheet;
use crate::model::settings::{ClothSolver, Preconditioner, Settings};
use crate::parallel::loops::inside;

/// Speed, m/s, that counts as one where there is no gravity.
pub(super) const SLOW: f64 = 0.01;
/// Residuals below this many times what weight adds in a step, in the norm of the diagonal, are not
/// taken as large ones: what is left of a sheet that hangs still is nothing to reduce.
const WEIGHTS: f64 = 3.0;

/// Memory of the linear solver.
#[derive(Debug, Default)]
pub struct Solver {
    pub(super) numbers: Multilevel<f64>,
    /// The matrix of search directions.
    pub(super) narrow: Narrow,
    pub(super) pcg: pcg::Scratch<f64>,
    pub(super) factor: FactorMemory,
    pub(super) collective: Collective,
    /// Systems solved and factors made since the beginning of the step of the world.
    pub counts: [u32; 2],
}

/// How a round is to be solved.
#[derive(Clone, Copy, Debug)]
pub struct Aim {
    /// Whether it is the first of the step.
    pub first: bool,
    /// Residual at the beginning of the step.
    pub reference: f64,
    /// Factor on the tolerance.
    pub finer: f64,
}

impl Solver {
    /// At the beginning of a step of the world, whose bits must not depend on earlier ones.
    pub fn begin(&mut self) {
        self.factor.begin();
        self.counts = [0; 2];
    }

    /// A u = b in the free directions.
    pub fn solve(
        &mut self,
        trial: &Trial,
        linear: &mut Linear,
        constraints: &mut Constraints,
        solution: &mut Solution,
        aim: &Aim,
    ) -> pcg::Outcome {
        let context = trial.context;
        let (sheet, h) = (trial.sheet(), trial.span.h);
        let settings = &context.settings.cloth;
        self.counts[0] += 1;
        let pattern = &sheet.layout().pattern;
        if aim.first {
            solution.u_bodies.clear();
            solution.u_bodies.resize(constraints.masses.len(), [Vec3::ZERO; 2]);
            self.guess(trial, linear, constraints, solution);
        } else {
            solution.prescribe(&constraints.filter);
        }
        let Settings { gravity, .. } = context.settings;
        let weights = WEIGHTS * linear.momenta(sheet, h * gravity.length());
        let (blocks, stencils, filter) =
            (&linear.blocks[..], &mut constraints.stencils, &constraints.filter);
        if settings.solver == ClothSolver::Direct && constraints.masses.is_empty() {
            let mass = &sheet.elements.mass;
            let solved = crate::linalg::dense::solve(
                pattern,
                blocks,
                stencils,
                filter,
                mass,
                &constraints.b,
                &mut solution.u,
            );
            if solved {
                return pcg::Outcome::default();
            }
        }
        let levels = match settings.preconditioner {
            Preconditioner::BlockJacobi => &[][..],
            Preconditioner::Auto | Preconditioner::Factored
                if !pays(pattern, blocks, &sheet.elements.mass) =>
            {
                &[][..]
            }
            _ => &sheet.layout().levels[..],
        };
        let numbers = &mut self.numbers;
        let dragged = constraints.drags.iter().map(|d| d.particle);
        numbers.jacobi.mark(dragged);
        let known = !std::mem::take(&mut linear.renewed);
        let masses = &constraints.masses[..];
        inside(|| numbers.update(levels, (pattern, blocks), masses, stencils, filter, known));
        let matrix = Matrix { pattern, blocks, own: &linear.own };
        let mut narrow = None;
        if context.narrow && masses.is_empty() {
            let copy = &mut self.narrow;
            let dragged = constraints.drags.iter().map(|d| d.particle);
            inside(|| copy.take(&matrix, known, dragged));
            narrow = Some(&self.narrow);
        }
        let mut system = System { matrix, narrow, stencils, filter, bodies: &constraints.masses };
        let mut levelled = Levelled { levels, numbers: &mut self.numbers };
        let stop = Stop {
            iterations: settings.iterations,
            tolerance: settings.tolerance * aim.finer,
            reference: aim.reference,
            least: weights,
            finish: None,
            speed: 10.0 * settings.tolerance * (h * gravity.length()).max(SLOW),
        };
        solution.from.particles.clone_from(&solution.u);
        solution.from.bodies.clone_from(&solution.u_bodies);
        let mut outcome = system.solve(
            &mut levelled,
            (&constraints.b, &constraints.b_bodies),
            &stop,
            (&mut solution.u, &mut solution.u_bodies),
            &mut self.pcg,
        );
        outcome.start = outcome.start.max(outcome.reference);
        outcome
    }

    /// The start of the iteration: free flight, or the velocities at the beginning, whichever leaves
    /// less to do; cloth that falls needs the one, cloth that hangs or lies the other.
    pub(super) fn guess(
        &mut self,
        trial: &Trial,
        linear: &Linear,
        constraints: &mut Constraints,
        solution: &mut Solution,
    ) {
        let (x, v) = (&trial.state.particles.x, &trial.state.particles.v);
        for (u, v) in solution.u.iter_mut().zip(v) {
            *u = lane(*v);
        }
        solution.prescribe(&constraints.filter);
        let still = self.left(trial.sheet(), linear, constraints, solution);
        // free flight, which `x1` still holds
        for (u, (x1, x0)) in solution.u.iter_mut().zip(solution.x1.iter().zip(x)) {
            *u = lane((*x1 - *x0) / trial.span.h);
        }
        solution.prescribe(&constraints.filter);
        let flight = self.left(trial.sheet(), linear, constraints, solution);
        if still >= flight || still.is_nan() {
            return;
        }
        for (u, v) in solution.u.iter_mut().zip(v) {
            *u = lane(*v);
        }
        solution.prescribe(&constraints.filter);
    }

    /// Size of the residual, in the norm of the diagonal.
    fn left(
        &mut self,
        sheet: &Sheet,
        linear: &Linear,
        constraints: &mut Constraints,
        solution: &Solution,
    ) -> f64 {
        let (pattern, blocks) = (&sheet.layout().pattern, &linear.blocks[..]);
        let (stencils, filter) = (&mut constraints.stencils, &constraints.filter);
        let matrix = Matrix { pattern, blocks, own: &linear.own };
        let mut system =
            System { matrix, narrow: None, stencils, filter, bodies: &constraints.masses };
        let rest = system.impulses(&constraints.b, &solution.u, &solution.u_bodies, &mut self.pcg);
        let mut sum = 0.0;
        for (i, rest) in rest.iter().enumerate() {
            let block = &blocks[pattern.diagonal[i] as usize];
            let diagonal = (block[0][0] + block[1][1] + block[2][2]).wide();
            sum += vector(&filter.apply(i, rest)).length_squared() / diagonal;
        }
        sum.sqrt()
    }
}
