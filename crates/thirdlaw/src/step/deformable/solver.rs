//! The solution of a cloth step's linear system in the free directions.

use super::constraints::Constraints;
use super::linear::Linear;
use super::solution::Solution;
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
const SLOW: f64 = 0.01;

/// Memory of the linear solver.
#[derive(Debug, Default)]
pub struct Solver {
    numbers: Multilevel<f64>,
    /// The matrix of search directions.
    narrow: Narrow,
    pcg: pcg::Scratch<f64>,
}

/// How a round is to be solved.
#[derive(Clone, Copy, Debug)]
pub struct Aim {
    /// Whether it is the first of the step.
    pub first: bool,
    /// Most iterations.
    pub iterations: u32,
    /// Error that may be left relative to the way of this round.
    pub forcing: f64,
}

impl Solver {
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
        let pattern = &sheet.layout().pattern;
        if aim.first {
            solution.u_bodies.clear();
            solution.u_bodies.resize(constraints.masses.len(), [Vec3::ZERO; 2]);
            self.guess(trial, linear, constraints, solution);
        } else {
            solution.prescribe(&constraints.filter);
        }
        let Settings { gravity, .. } = context.settings;
        let speed = (h * gravity.length()).max(SLOW);
        let error = settings.tolerance * solution.change(trial, speed);
        solution.from.particles.clone_from(&solution.u);
        solution.from.bodies.clone_from(&solution.u_bodies);
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
                let progress = solution.way(mass);
                return pcg::Outcome {
                    goal: error,
                    progress,
                    converged: true,
                    ..pcg::Outcome::default()
                };
            }
        }
        let levels = match settings.preconditioner {
            Preconditioner::BlockJacobi => &[][..],
            Preconditioner::Auto if !pays(pattern, blocks, &sheet.elements.mass) => &[][..],
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
            iterations: aim.iterations,
            error,
            relative: aim.forcing,
            smallest: linear.softest(sheet),
            speed: 10.0 * settings.tolerance * speed,
        };
        let outcome = system.solve(
            &mut levelled,
            (&constraints.b, &constraints.b_bodies),
            &stop,
            (&mut solution.u, &mut solution.u_bodies),
            &mut self.pcg,
        );
        solution.keep_momentum(trial, linear, constraints);
        outcome
    }

    /// The start of the iteration: free flight, or the velocities at the beginning, whichever leaves
    /// less to do; cloth that falls needs the one, cloth that hangs or lies the other.
    fn guess(
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
