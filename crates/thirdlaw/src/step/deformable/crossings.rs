//! What would still pass through anything after the implicit solve is stopped, by impulses and by rigid
//! zones \[BFA02\].
//!
//! The solve gives u, on which every particle goes straight from x₀ to x₀ + h u. `contact/robust` changes u
//! so that nothing meets on these ways, and leaves alone what does not meet anything. Pinned particles go as
//! prescribed. Solids are not looked at here: what an impulse pushes into one is pushed out in the next step,
//! as whatever else comes into it is.

use super::solution::Solution;
use super::system::Trial;
use crate::collide::deformable::Detector;
use crate::contact::robust::{Bodies, Robust, RobustReport};
use crate::linalg::block::{lane, vector};
use crate::math::Vec3;

/// Memory of the stage; nothing depends on what it holds.
#[derive(Debug, Default)]
pub struct Stops {
    robust: Robust,
    v: Vec<Vec3>,
    inverse_mass: Vec<f64>,
    friction: Vec<f64>,
}

impl Stops {
    /// Changes the velocities found so that nothing passes on the ways to x₁.
    pub fn prevent_crossings(
        &mut self,
        trial: &Trial,
        detector: &mut Detector,
        solution: &mut Solution,
    ) -> RobustReport {
        let elements = &trial.sheet().elements;
        self.v.clear();
        self.v.extend(solution.u.iter().map(vector));
        self.inverse_mass.clear();
        self.inverse_mass.extend(elements.mass.iter().map(|m| 1.0 / m));
        for &(i, _) in &trial.sheet().pins {
            self.inverse_mass[i as usize] = 0.0;
        }
        self.friction.clear();
        let count = elements.mass.len() as u32;
        self.friction.extend((0..count).map(|i| elements.surface(i).friction));
        let (tree, radius) = detector.surfaces();
        let bodies = Bodies {
            x: &trial.state.particles.x,
            inverse_mass: &self.inverse_mass,
            radius,
            friction: &self.friction,
            stiffness: 0.0,
        };
        let report = self.robust.prevent_crossings(tree, &bodies, trial.span.h, &mut self.v);
        for (u, v) in solution.u.iter_mut().zip(&self.v) {
            *u = lane(*v);
        }
        solution.place(trial);
        report
    }
}
