//! Cloth steps that are solved to an error of their velocities, by Newton's method in every round.
//!
//! Conjugate gradients that end on a residual end before soft motions of a whole cloth have begun, for stiff
//! stretch and contacts rule the residual: what slides, swings or slips as a whole is held back. Here
//! they end when a bound of √(eᵀAe) (linalg/error_bound.rs) is below the tolerance times √(ΔvᵀMΔv) of the
//! change of velocity in the step, or of what weight adds in it; A ≥ M, so no more is left in the
//! velocities. What a cloth does as a whole is corrected besides (collective.rs). Rounds linearize where the
//! last one ended, until one goes hardly farther than that error along the motion: what is lost there is
//! seen as damping, while wrinkles that change from round to round across it may be larger.
//!
//! The first iterations of a solve have the cheap preconditioners. Where more of them are needed than
//! with a factor (linalg/factored.rs), its making included, it takes over; it then serves all solves
//! of this step of the world until it tires. (Not longer: a step must not depend on memory.)

use super::constraints::Constraints;
use super::linear::Linear;
use super::solution::Solution;
use super::solver::{SLOW, Solver};
use super::system::{Attempt, ROUND_WORK, TORN, Trial, Work, rises};
use crate::linalg::dense;
use crate::linalg::error_bound::Watch;
use crate::linalg::factored::{BODIES_MAX, ByFactor, Factored, Whole};
use crate::linalg::multilevel::{Levelled, pays};
use crate::linalg::pcg::{self, Finish, Stop, System};
use crate::linalg::product::Matrix;
use crate::math::Vec3;
use crate::model::deformable::model::Sheet;
use crate::model::settings::{ClothSolver, Preconditioner};
use crate::parallel::loops::inside;
use crate::report::{Observer, Stage};

/// Part of its way to which a round of Newton's method is solved, where more than the tolerance is
/// left: the next one begins there anyway.
const FORCING: f64 = 0.1;
/// How many times the error that may be left a last round may have gone, in velocity: Newton's method leaves a
/// part of its way that falls with the way.
const LAST_WAY: f64 = 3.0;
/// How many times the usual rounds there may be while contacts change: slip spreads through what sticks by a
/// particle a round, and would spread for several steps.
const SPREADING: u32 = 4;
/// Rounds added while particles still come into solids, or Newton's method is on its way.
const EXTRA_ROUNDS: u32 = 8;
/// How many times the error that may be left a round counts as failed with.
const POOR: f64 = 10.0;
/// Most iterations of a round where too much work was done already.
const HURRIED: u32 = 100;
/// Iterations of the cheap preconditioners in a solve before a factor is thought of.
const CHEAP: u32 = 60;
/// Iterations that a solve with a factor takes.
const WITH_FACTOR: f64 = 8.0;
/// Iterations with a factor of an earlier round after which a new one is made.
const TIRED: u32 = 24;
/// What block Jacobi and levels cost beside the product with the matrix.
const LEVELS_COST: f64 = 3.0;

/// A factor within a step of the world.
#[derive(Debug, Default)]
pub struct FactorMemory {
    factored: Factored,
    /// Whether there is one, and whether it no longer serves.
    made: bool,
    tired: bool,
    /// Whether the matrix was found not to have one.
    refused: bool,
    /// Multiplications of cheap iterations beyond what a factor would have taken in each solve, and how
    /// many solves were so long that this is worth a thought.
    spent: f64,
    long: u32,
}

impl FactorMemory {
    /// At the beginning of a step of the world.
    pub fn begin(&mut self) {
        (self.made, self.tired, self.refused) = (false, false, false);
        (self.spent, self.long) = (0.0, 0);
    }

    /// Iterations of `each` multiplications in a solve after which a factor would have been cheaper.
    fn allowed(&self, sheet: &Sheet, each: f64) -> u32 {
        if self.long == 0 {
            return CHEAP;
        }
        let [making, applying] = sheet.layout().factor_plan(&sheet.elements.energies).work();
        let mut work = WITH_FACTOR * applying as f64;
        if !self.made {
            work += (making as f64 - self.spent).max(0.0);
        }
        (work / each) as u32
    }

    /// Books the iterations of a solve.
    fn book(&mut self, sheet: &Sheet, each: f64, iterations: u32) {
        self.long += u32::from(iterations >= CHEAP);
        if self.long > 0 {
            let work = sheet.layout().factor_plan(&sheet.elements.energies).work();
            let usual = WITH_FACTOR * work[1] as f64;
            self.spent += (f64::from(iterations) * each - usual).max(0.0);
        }
    }
}

impl Work {
    /// Solves until constraints, contacts and forces agree with what they lead to, or for so many rounds.
    pub fn solved_rounds(
        &mut self,
        trial: &Trial,
        end: f64,
        last: bool,
        fresh: bool,
        observer: &mut dyn Observer,
    ) -> Attempt {
        let settings = &trial.context.settings.cloth;
        let (extra, iterations) = match self.hurried {
            true => (0, HURRIED.min(settings.iterations)),
            false => (EXTRA_ROUNDS, settings.iterations),
        };
        let Work { solids, contacts, linear, constraints, solver, solution, .. } = self;
        let mut attempt = Attempt { unfinished: true, ..Attempt::default() };
        let usual = if self.hurried { 1 } else { SPREADING } * settings.rounds.max(1);
        for round in 0..usual + extra {
            // past the usual rounds only for particles that just came in, and for Newton's method
            if round >= usual && !contacts.entered && !attempt.unfinished {
                break;
            }
            attempt.work += ROUND_WORK;
            let first = fresh && round == 0;
            observer.begin(Stage::ClothForces);
            if first {
                linear.overshoot(trial, solution, true);
            } else {
                linear.relinearize(trial, solution);
            }
            observer.end(Stage::ClothForces);
            observer.begin(Stage::ClothSolve);
            constraints.set(trial, end, solids, contacts, linear);
            let most = Most { first, iterations };
            let outcome = solver.solve_to_error(trial, linear, constraints, solution, most);
            attempt.iterations += outcome.iterations;
            attempt.failed = outcome.error.is_nan()
                || outcome.error > POOR * outcome.goal.max(FORCING * outcome.progress);
            if attempt.failed {
                observer.end(Stage::ClothSolve);
                break;
            }
            if first {
                solution.place(trial);
            } else {
                attempt.stuck = !solution.search(trial, linear, constraints, outcome.progress);
            }
            observer.end(Stage::ClothSolve);
            if first && !last {
                let strain = trial.sheet().elements.largest_strain(&solution.x1);
                attempt.overstretched = rises(self.strain, strain, TORN * settings.strain_step);
                if attempt.overstretched {
                    break;
                }
            }
            observer.begin(Stage::ClothSolids);
            let changed = contacts.judge(trial, solids, linear, constraints, solution);
            observer.end(Stage::ClothSolids);
            let gone = solution.gone(trial, &constraints.masses);
            let far = LAST_WAY * outcome.goal;
            // what crosses the motion may be as large as what is left of its own size
            let across = far.max(settings.tolerance * gone.speed);
            let short = outcome.error.max(gone.along) > far;
            attempt.unfinished = !outcome.enough || short || gone.way > across;
            if attempt.stuck || (!changed && !attempt.unfinished) {
                attempt.stuck &= attempt.unfinished;
                break;
            }
            // with bodies among the unknowns a new start disturbs what lies still on the cloth
            if first && solids.unknowns.is_empty() {
                observer.begin(Stage::ClothForces);
                solution.makes_energy(trial, linear, constraints, outcome.goal);
                observer.end(Stage::ClothForces);
            }
        }
        attempt
    }
}

/// How far a round may go.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Whether it is the first of the step.
    first: bool,
    iterations: u32,
}

impl Solver {
    /// A u = b in the free directions, to an error of the velocities.
    fn solve_to_error(
        &mut self,
        trial: &Trial,
        linear: &mut Linear,
        constraints: &mut Constraints,
        solution: &mut Solution,
        most: Most,
    ) -> pcg::Outcome {
        let context = trial.context;
        let (sheet, h) = (trial.sheet(), trial.span.h);
        let settings = &context.settings.cloth;
        if most.first {
            solution.u_bodies.clear();
            solution.u_bodies.resize(constraints.masses.len(), [Vec3::ZERO; 2]);
            self.guess(trial, linear, constraints, solution);
        } else {
            solution.prescribe(&constraints.filter);
        }
        let speed = (h * context.settings.gravity.length()).max(SLOW);
        let error = settings.tolerance * solution.change(trial, speed);
        solution.from.particles.clone_from(&solution.u);
        solution.from.bodies.clone_from(&solution.u_bodies);
        if settings.solver == ClothSolver::Direct
            && constraints.masses.is_empty()
            && dense::solve(
                &sheet.layout().pattern,
                &linear.blocks,
                &constraints.stencils,
                &constraints.filter,
                &sheet.elements.mass,
                &constraints.b,
                &mut solution.u,
            )
        {
            let progress = solution.gone(trial, &[]).way;
            let (converged, enough) = (true, true);
            return pcg::Outcome { goal: error, progress, converged, enough, ..Default::default() };
        }
        let stop = Stop {
            iterations: most.iterations,
            tolerance: settings.tolerance,
            reference: 0.0,
            least: 0.0,
            finish: Some(Finish {
                error,
                relative: FORCING,
                watch: Watch::slow(linear.softest(sheet)),
            }),
            speed: 10.0 * settings.tolerance * speed,
        };
        let mut outcome = pcg::Outcome { goal: error, ..Default::default() };
        let known = !std::mem::take(&mut linear.renewed);
        self.counts[0] += 1;
        if settings.preconditioner != Preconditioner::Factored {
            let before = self.factor.long;
            outcome = self.cheaply(trial, (linear, known), constraints, solution, &stop);
            if !outcome.enough && before == 0 && self.factor.long == 1 {
                // the first long one: only now it is known what a factor would cost
                let mut rest = stop;
                rest.iterations -= outcome.iterations;
                let more = self.cheaply(trial, (linear, true), constraints, solution, &rest);
                outcome = outcome.followed_by(&more);
            }
        }
        let factor = match settings.preconditioner {
            Preconditioner::Auto => constraints.masses.len() <= BODIES_MAX,
            Preconditioner::Factored => true,
            _ => false,
        };
        let mut rest = stop;
        rest.iterations -= outcome.iterations;
        if factor && !self.factor.refused && !outcome.enough {
            let more = self.with_factor(trial, linear, constraints, solution, &rest);
            outcome = outcome.followed_by(&more);
            if self.factor.refused {
                let more = self.cheaply(trial, (linear, known), constraints, solution, &rest);
                outcome = outcome.followed_by(&more);
            }
        }
        self.correct(trial, linear, constraints, solution);
        solution.keep_momentum(trial, linear, constraints);
        outcome
    }

    /// With block Jacobi or levels, at most for as long as a factor would take.
    fn cheaply(
        &mut self,
        trial: &Trial,
        (linear, known): (&Linear, bool),
        constraints: &mut Constraints,
        solution: &mut Solution,
        stop: &Stop,
    ) -> pcg::Outcome {
        let sheet = trial.sheet();
        let settings = &trial.context.settings.cloth;
        let (pattern, blocks) = (&sheet.layout().pattern, &linear.blocks[..]);
        let (stencils, filter) = (&mut constraints.stencils, &constraints.filter);
        let auto = settings.preconditioner == Preconditioner::Auto;
        let levels = match settings.preconditioner {
            Preconditioner::BlockJacobi => &[][..],
            Preconditioner::Auto if !pays(pattern, blocks, &sheet.elements.mass) => &[][..],
            _ => &sheet.layout().levels[..],
        };
        let mut stop = *stop;
        let mut each = 9.0 * pattern.column.len() as f64;
        if !levels.is_empty() {
            each *= LEVELS_COST;
        }
        if auto && !self.factor.refused && constraints.masses.len() <= BODIES_MAX {
            stop.iterations = stop.iterations.min(self.factor.allowed(sheet, each));
        }
        let numbers = &mut self.numbers;
        let dragged = constraints.drags.iter().map(|d| d.particle);
        numbers.jacobi.mark(dragged.clone());
        let masses = &constraints.masses[..];
        inside(|| numbers.update(levels, (pattern, blocks), masses, stencils, filter, known));
        let matrix = Matrix { pattern, blocks, own: &linear.own };
        let mut narrow = None;
        if trial.context.narrow && masses.is_empty() {
            let copy = &mut self.narrow;
            inside(|| copy.take(&matrix, known, dragged));
            narrow = Some(&self.narrow);
        }
        let mut system = System { matrix, narrow, stencils, filter, bodies: masses };
        let mut levelled = Levelled { levels, numbers: &mut self.numbers };
        let b = (&constraints.b[..], &constraints.b_bodies[..]);
        let u = (&mut solution.u[..], &mut solution.u_bodies[..]);
        let outcome = system.solve(&mut levelled, b, &stop, u, &mut self.pcg);
        if auto {
            self.factor.book(sheet, each, outcome.iterations);
        }
        outcome
    }

    /// With a factor, of this matrix or of that of an earlier round.
    fn with_factor(
        &mut self,
        trial: &Trial,
        linear: &Linear,
        constraints: &mut Constraints,
        solution: &mut Solution,
        stop: &Stop,
    ) -> pcg::Outcome {
        let sheet = trial.sheet();
        let (pattern, blocks) = (&sheet.layout().pattern, &linear.blocks[..]);
        let plan = sheet.layout().factor_plan(&sheet.elements.energies);
        let mut outcome =
            pcg::Outcome { goal: stop.finish.map_or(0.0, |f| f.error), ..Default::default() };
        for _ in 0..2 {
            solution.prescribe(&constraints.filter);
            let (stencils, filter) = (&mut constraints.stencils, &constraints.filter);
            let masses = &constraints.masses[..];
            let new = !self.factor.made || self.factor.tired;
            let places = &linear.places[..];
            let whole = Whole { pattern, blocks, stencils, filter, masses, places };
            if new {
                self.factor.made = inside(|| self.factor.factored.factor(plan, &whole));
                self.counts[1] += 1;
                (self.factor.tired, self.factor.refused) = (false, !self.factor.made);
                if self.factor.refused {
                    break;
                }
            } else {
                self.factor.factored.follow(&whole);
            }
            let mut stop = *stop;
            stop.iterations -= outcome.iterations;
            if let Some(finish) = &mut stop.finish {
                finish.watch = if new && self.factor.factored.exact {
                    Watch { smallest: 0.5, window: 1, trust: 4.0 }
                } else {
                    Watch { smallest: 0.25 * finish.watch.smallest, window: 2, trust: 64.0 }
                };
            }
            if !new {
                stop.iterations = stop.iterations.min(TIRED);
            }
            let matrix = Matrix { pattern, blocks, own: &linear.own };
            let mut system = System { matrix, narrow: None, stencils, filter, bodies: masses };
            let mut planned = ByFactor { plan, numbers: &mut self.factor.factored };
            let b = (&constraints.b[..], &constraints.b_bodies[..]);
            let u = (&mut solution.u[..], &mut solution.u_bodies[..]);
            let more = system.solve(&mut planned, b, &stop, u, &mut self.pcg);
            self.factor.tired = 2 * more.iterations > TIRED;
            outcome = outcome.followed_by(&more);
            if more.enough || new {
                break;
            }
            self.factor.tired = true;
        }
        outcome
    }
}
