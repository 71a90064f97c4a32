//! λ of all ties by conjugate gradients over steps that are taken back [baraff1997 §2.3].

use super::conjugate::{self, Stop};
use crate::couple::component::{Component, Step};
use crate::couple::error::CoupleError;
use crate::linalg::lu::Lu;
use crate::simulator::Motion;

impl Component {
    fn residual(&self, dt: f64, lambda: &[f64], kappa: &[f64], out: &mut [f64]) {
        let mut first = 0;
        for (link, kappa) in self.ties.iter().zip(kappa) {
            let rows = first..first + link.tie.rows();
            let motions = (&link.starts, &link.now);
            let (lambda, out) = (&lambda[rows.clone()], &mut out[rows.clone()]);
            link.tie.residual(motions, lambda, (dt, *kappa), out);
            first = rows.end;
        }
    }

    /// Speeds at hand, to which tolerances are relative, m/s.
    pub fn reference(&self, dt: f64) -> f64 {
        let mut reference: f64 = 1e-3;
        let mut gap = [0.0; 6];
        for link in &self.ties {
            for motions in [&link.starts, &link.now] {
                for (anchor, motion) in link.tie.anchors.iter().zip(motions) {
                    let speed = motion.velocity.linear.length();
                    reference = reference.max(speed).max(anchor.velocity(motion).length());
                }
            }
            if !link.tie.is_spring() {
                link.tie.gap(&link.starts, &mut gap[..link.tie.rows()]);
                reference = gap.iter().fold(reference, |m, g| m.max(g.abs() / dt));
            }
        }
        reference
    }

    /// Steps the simulators under the λ that leaves no gap.
    pub fn iterate(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        let mut lambda = self.lambda();
        let dt = step.dt;
        let reference = self.reference(dt);
        let settings = step.settings;
        let evaluations = if settings.spread { 2 } else { settings.evaluations };
        let stop = Stop { tolerance: settings.tolerance * reference, evaluations };
        let kappa = match &self.measured {
            Some(measured) => measured.kappa.clone(),
            None => vec![0.0; self.ties.len()],
        };
        let sum = self.measured.as_mut().and_then(|m| m.sum.take());
        let aided = sum.is_none() && settings.precondition && self.all_follow();
        let mut problem = Problem {
            component: self,
            step,
            kappa,
            sum,
            aided,
            leaders: Vec::new(),
            base: Vec::new(),
        };
        let outcome = conjugate::solve(&mut problem, stop, &mut lambda);
        let sum = problem.sum.take();
        if let Some(measured) = &mut self.measured {
            measured.sum = sum;
        }
        // constrained steps were tried, not made
        self.ties.iter_mut().for_each(|link| link.constrained = None);
        self.set_applied(&lambda);
        self.set_lambda(&lambda);
        let outcome = outcome?;
        step.report.evaluations += outcome.evaluations;
        step.report.trials += outcome.aids;
        step.report.residual = outcome.residual;
        // a few units in the last place of single precision
        let places = self.ties.iter().flat_map(|link| &link.starts);
        let places = places.map(|motion| motion.position.abs().max_element());
        let coarse = 4e-6 * places.fold(0.0, f64::max) / dt;
        let precise = (settings.tolerance.max(1e-5) * reference).max(coarse);
        step.report.converged &= outcome.residual <= precise;
        // with a fresh response two or three evaluations are enough
        if let Some(measured) = &mut self.measured {
            measured.stale |= !settings.spread && outcome.evaluations > 6;
        }
        let least = 2.0 * outcome.start.max(precise);
        let worse = outcome.residual.is_nan() || outcome.residual > least;
        if worse && !settings.spread {
            let growth = outcome.residual / outcome.start;
            return Err(self.diverged(step, 0, (growth, outcome.residual)));
        }
        Ok(())
    }
}

/// The residual of all ties under given forces, and what makes it smaller.
struct Problem<'a, 'b> {
    component: &'a mut Component,
    step: &'a mut Step<'b>,
    kappa: Vec<f64>,
    /// A + B, factored, where it was measured.
    sum: Option<Lu>,
    /// Whether constrained steps of the followers give A⁻¹ instead.
    aided: bool,
    /// Where the leaders were after the first trial, and what following them took.
    leaders: Vec<[Motion; 2]>,
    base: Vec<f64>,
}

impl conjugate::Problem for Problem<'_, '_> {
    fn evaluate(&mut self, lambda: &[f64], r: &mut [f64]) -> Result<(), CoupleError> {
        self.component.try_forces(self.step, lambda)?;
        self.component.residual(self.step.dt, lambda, &self.kappa, r);
        Ok(())
    }

    fn precondition(&mut self, lambda: &[f64], z: &mut [f64]) -> Result<u32, CoupleError> {
        if let Some(sum) = &self.sum {
            sum.solve(z);
        }
        if !self.aided {
            return Ok(0);
        }
        let mut steps = 1;
        if self.base.is_empty() {
            self.leaders = self.component.now();
            let none = vec![0.0; z.len()];
            self.base = self.component.needed(self.step, lambda, &self.leaders, &none)?;
            steps += 1;
        }
        let image = self.component.needed(self.step, lambda, &self.leaders, z)?;
        z.iter_mut().zip(image.iter().zip(&self.base)).for_each(|(z, (a, b))| *z = a - b);
        Ok(steps)
    }
}
