//! One solver at work on one problem, an iteration at a time: for whoever compares solvers.
//!
//! ```
//! use thirdlaw::Solver;
//! use thirdlaw::contact::Study;
//! use thirdlaw::{Body, Settings, Shape, Vec3, World};
//!
//! let mut world = World::new(Settings::default())?;
//! world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
//! let cube = Shape::cuboid(Vec3::splat(0.5))?;
//! for i in 0..5 {
//!     world.add_body(Body::dynamic(cube.clone()).at(0.0, 0.5 + f64::from(i), 0.0))?;
//! }
//! let next = world.contact_problem(1.0 / 60.0)?;
//! let mut study = Study::cold(&next.problem, &next.velocities, Solver::Pgs);
//! let before = study.violation().closing;
//! for _ in 0..100 {
//!     study.iterate();
//! }
//! assert!(study.violation().closing < 1e-3 * before);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::problem::{ContactProblem, Velocities};
use super::scratch::{Scratch, prepare};
use super::solver::{Iterate, warm_start};
use super::solvers::colored_pgs;
use super::sweep::Part;
use super::violation::{Violation, violation};
use crate::model::settings::Solver;

/// A solver, the problem it works on, and how far it has come.
#[derive(Debug)]
pub struct Study<'a> {
    problem: &'a ContactProblem,
    solver: Solver,
    iterate: Iterate,
    velocities: Velocities,
    impulses: Vec<f64>,
    scratch: Scratch,
}

impl<'a> Study<'a> {
    /// Starts without impulses, from the velocities v⁰ after external forces.
    pub fn cold(problem: &'a ContactProblem, velocities: &Velocities, solver: Solver) -> Study<'a> {
        Study::warm(problem, velocities, &vec![0.0; problem.rows.len()], solver)
    }

    /// Starts from impulses of the step before; `velocities` are without them.
    pub fn warm(
        problem: &'a ContactProblem,
        velocities: &Velocities,
        impulses: &[f64],
        solver: Solver,
    ) -> Study<'a> {
        let mut scratch = Scratch::default();
        prepare(problem, &mut scratch);
        let (mut velocities, impulses) = (velocities.clone(), impulses.to_vec());
        warm_start(problem, &mut velocities, &impulses);
        let iterate = solver.iterate();
        Study { problem, solver, iterate, velocities, impulses, scratch }
    }

    /// The same in single precision; `None` where the solver has no such sibling.
    pub fn single(mut self) -> Option<Study<'a>> {
        self.iterate = self.solver.iterate_single()?;
        Some(self)
    }

    /// One iteration on normals and friction, as a step makes it. The first one also makes what the
    /// solver needs beforehand: effective masses, colours, who touches whom.
    pub fn iterate(&mut self) {
        let Study { problem, solver, iterate, velocities, impulses, scratch } = self;
        if *solver == Solver::ColoredPgs && !scratch.lanes.value.held {
            colored_pgs::hold(problem, impulses, scratch);
        }
        iterate(problem, Part::Both, velocities, impulses, scratch);
    }

    /// How far from the solution it is now.
    pub fn violation(&mut self) -> Violation {
        colored_pgs::settle(&mut self.impulses, &self.scratch);
        violation(self.problem, &self.velocities, &self.impulses, &mut self.scratch)
    }

    /// Velocities now.
    pub fn velocities(&self) -> &Velocities {
        &self.velocities
    }

    /// Impulses now, N·s, one per row.
    pub fn impulses(&mut self) -> &[f64] {
        colored_pgs::settle(&mut self.impulses, &self.scratch);
        &self.impulses
    }
}
