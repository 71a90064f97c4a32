//! Conjugate gradients in numbers of their own.
//!
//! What the start leaves of the right side is formed in `f64`; the iteration looks only for the change
//! that takes it away, to a few digits. `f32` has those, and moves half as many bytes in half as many
//! operations. What is really left is formed in `f64` again: stiff contacts cost digits, and where too
//! few remained, another pass begins there. Positions, velocities, contacts and what constraints push
//! stay `f64`.

use super::block::{Block, Lane, Scalar};
use super::bodies::BodyPrecondition;
use super::filter::Filter;
use super::hierarchy::Level;
use super::multilevel::{Levelled, Multilevel};
use super::parallel::{each_light, inside};
use super::pcg::{Outcome, Scratch, Stop, System};
use super::precondition::Age;
use super::product::Matrix;
use super::stencil::Stencils;
use crate::contact::BodyMass;
use crate::math::Vec3;

/// Most passes.
const PASSES: u32 = 5;

/// A system in `f64`.
pub struct Problem<'a> {
    /// Blocks of particles.
    pub matrix: Matrix<'a, f64>,
    /// How the matrix differs from that of the last solution.
    pub age: Age,
    /// Particles whose diagonal blocks are not those that a new matrix was given with.
    pub marked: &'a [u32],
    /// Levels of the preconditioner; none for block Jacobi.
    pub levels: &'a [Level],
    /// Terms outside of the pattern.
    pub stencils: &'a mut Stencils,
    /// Held particles.
    pub filter: &'a Filter,
    /// Rigid bodies that are unknowns.
    pub bodies: &'a [BodyMass],
    /// Their preconditioner, up to date.
    pub answers: &'a BodyPrecondition,
}

/// Matrix, preconditioner and memory of the iteration.
#[derive(Clone, Debug, Default)]
pub struct Kernel<T> {
    blocks: Vec<Block<T>>,
    own: Vec<Block<T>>,
    /// Particles marked at the last solution.
    marked: Vec<u32>,
    numbers: Multilevel<T>,
    scratch: Scratch<T>,
    change: Vec<Lane<T>>,
    change_bodies: Vec<[Vec3; 2]>,
}

impl<T: Scalar> Kernel<T> {
    /// Solves for `u` and `u_bodies`, as [`System::solve`] does.
    pub fn solve(
        &mut self,
        problem: &mut Problem,
        b: (&[Lane<f64>], &[[Vec3; 2]]),
        stop: &Stop,
        (u, u_bodies): (&mut [Lane<f64>], &mut [[Vec3; 2]]),
        wide: &mut Scratch<f64>,
    ) -> Outcome {
        let Problem { matrix, age, marked, levels, filter, bodies, answers, .. } = *problem;
        let stencils = &mut *problem.stencils;
        inside(|| {
            self.take(&matrix, age, marked);
            let narrow = Matrix { pattern: matrix.pattern, blocks: &self.blocks, own: &self.own };
            let pair = (narrow.pattern, narrow.blocks);
            self.numbers.jacobi.mark(marked.iter().copied());
            self.numbers.update(levels, pair, stencils, filter, age);
            let mut outcome = Outcome::default();
            for pass in 0..PASSES {
                if pass > 0 {
                    // bodies carry their particles along only once
                    filter.release(u_bodies, u);
                }
                System { matrix, stencils, filter, bodies, answers }.rest(b, (u, u_bodies), wide);
                self.scratch.take_rest(wide);
                self.change.clear();
                self.change.resize(u.len(), [T::default(); 4]);
                self.change_bodies.clear();
                self.change_bodies.resize(bodies.len(), [Vec3::ZERO; 2]);
                let mut goal = *stop;
                if pass > 0 {
                    // what rounding has left; the last digit is not worth another pass
                    goal.tolerance *= 2.0;
                    goal.reference = outcome.reference;
                    goal.iterations -= outcome.iterations;
                }
                let found = System { matrix: narrow, stencils, filter, bodies, answers }.reduce(
                    &mut Levelled { levels, numbers: &mut self.numbers },
                    &goal,
                    (&mut self.change, &mut self.change_bodies),
                    &mut self.scratch,
                );
                if pass == 0 {
                    outcome = found;
                } else {
                    outcome.iterations += found.iterations;
                    outcome.end = found.end;
                    outcome.indefinite |= found.indefinite;
                }
                if found.iterations == 0 {
                    outcome.settled = true;
                    break;
                }
                self.add(u, u_bodies);
            }
            outcome
        })
    }

    /// Adds the change that was found.
    fn add(&self, u: &mut [Lane<f64>], u_bodies: &mut [[Vec3; 2]]) {
        for (u, change) in u.iter_mut().zip(&self.change) {
            for (u, change) in u.iter_mut().zip(change) {
                *u += change.wide();
            }
        }
        for (u, change) in u_bodies.iter_mut().zip(&self.change_bodies) {
            for (u, change) in u.iter_mut().zip(change) {
                *u += *change;
            }
        }
    }

    /// Takes over the matrix; of a known one only what is or was marked.
    fn take(&mut self, matrix: &Matrix<f64>, age: Age, marked: &[u32]) {
        let narrow = |block: &Block<f64>| block.map(|column| column.map(T::of));
        let all = age != Age::Known || self.blocks.len() != matrix.blocks.len();
        if all {
            self.blocks.resize(matrix.blocks.len(), Block::default());
            each_light(
                matrix.blocks.len(),
                &mut self.blocks[..],
                &|range, out: &mut [Block<T>]| {
                    for (out, block) in out.iter_mut().zip(&matrix.blocks[range]) {
                        *out = narrow(block);
                    }
                },
            );
            self.own.clear();
            self.own.extend(matrix.own.iter().map(narrow));
            self.marked.clear();
        }
        for &i in self.marked.iter().chain(marked) {
            let (i, place) = (i as usize, matrix.pattern.diagonal[i as usize] as usize);
            self.blocks[place] = narrow(&matrix.blocks[place]);
            self.own[i] = narrow(&matrix.own[i]);
        }
        self.marked.clear();
        self.marked.extend_from_slice(marked);
    }
}
