//! Ties in turns: one side steps under given forces, the other one consistently with it, and tells the
//! new forces [baraff1997 §3, Eq. 3].

use super::constraint::TieKind;
use crate::couple::accelerate::Acceleration;
use crate::couple::component::{Component, Step};
use crate::couple::coupling::input;
use crate::couple::error::CoupleError;
use crate::couple::method::Method;

/// A lagged exchange that shrinks its error by less than this is iterated instead.
const SLOW: f64 = 0.95;

impl Component {
    /// Iterates, and then steps one side again, consistently with the other [baraff1997 §2.5].
    pub fn iterate_and_repair(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        self.iterate(step)?;
        let lambda = self.lambda();
        self.step_in_turn(step, &lambda)?;
        Ok(())
    }

    /// One side under given forces, the other consistent with it; where that is measured to diverge,
    /// iterated instead.
    pub fn take_turns(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        let (tie, growth) = self.slowest();
        step.report.contraction = Some(growth);
        let settings = step.settings;
        let plain =
            settings.method == Method::Interleaved || settings.acceleration == Acceleration::None;
        if plain && growth > SLOW {
            if settings.switch {
                step.report.switched = true;
                return self.iterate(step);
            }
            if growth >= 1.0 {
                return Err(self.diverged(step, tie, (growth, self.reference(step.dt))));
            }
        }
        self.exchange_forces(step)
    }

    /// In place until both sides agree, or once.
    fn exchange_forces(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        let settings = step.settings;
        let mut lambda = self.lambda();
        let once = settings.method == Method::Interleaved || settings.spread;
        let size = |r: &[f64]| r.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        self.accelerator.reset();
        let mut last: Option<f64> = None;
        for _ in 0..settings.evaluations {
            let image = self.step_in_turn(step, &lambda)?;
            step.report.evaluations += 1;
            let r: Vec<f64> = image.iter().zip(&lambda).map(|(h, x)| h - x).collect();
            let error = size(&r);
            if once {
                self.set_lambda(&image);
                return Ok(());
            }
            if let (Some(last), Acceleration::None) = (last, settings.acceleration) {
                step.report.contraction = Some(error / last);
            }
            step.report.residual = error;
            if error <= settings.tolerance * size(&image).max(1e-9) {
                self.set_lambda(&lambda);
                return Ok(());
            }
            if !error.is_finite() {
                break;
            }
            last = Some(error);
            self.accelerator.next(settings.acceleration, &mut lambda, &image);
        }
        if settings.switch {
            step.report.switched = true;
            return self.iterate(step);
        }
        let (tie, growth) = self.slowest();
        Err(self.diverged(step, tie, (growth, step.report.residual)))
    }

    /// Steps the forced sides under λ and then the constrained ones along; returns the multipliers
    /// that these needed.
    fn step_in_turn(
        &mut self,
        step: &mut Step<'_>,
        lambda: &[f64],
    ) -> Result<Vec<f64>, CoupleError> {
        let mut lambda = lambda.to_vec();
        // a repair keeps what was iterated
        if step.settings.method != Method::Repaired {
            self.lag_springs(step.dt, &mut lambda);
        }
        self.set_applied(&lambda);
        let roles: Vec<Option<usize>> = match &self.measured {
            Some(m) => m.roles.iter().map(|r| r.map(|(side, _)| side)).collect(),
            None => vec![None; self.ties.len()],
        };
        let mut image = lambda.clone();
        for member in self.turn_order(&roles)? {
            let leaders = self.now();
            self.step_constrained(step, member, (&lambda, &leaders), &mut image)?;
            self.read_ties(step, member)?;
        }
        step.report.residual = 0.0;
        Ok(image)
    }

    /// Springs in a lagged exchange pull as they will in the middle of the step if nothing changes: a
    /// steady pull of its beginning lags by half a step, and pumps energy into what swings.
    pub fn lag_springs(&self, dt: f64, lambda: &mut [f64]) {
        let rows = self.rows();
        for (link, first) in self.ties.iter().zip(rows) {
            if let TieKind::Spring { stiffness, damping, .. } = link.tie.kind {
                let n = link.tie.rows();
                let (mut gap, mut rate) = ([0.0; 6], [0.0; 6]);
                link.tie.gap(&link.starts, &mut gap[..n]);
                link.tie.rate(&link.starts, &link.starts, &mut rate[..n]);
                for k in 0..n {
                    let middle = gap[k] + 0.5 * dt * rate[k];
                    lambda[first + k] = -stiffness * middle - damping * rate[k];
                }
            }
        }
    }

    /// Simulators such that whoever follows comes after whom it follows.
    fn turn_order(&self, roles: &[Option<usize>]) -> Result<Vec<usize>, CoupleError> {
        let follows = |member: usize, done: &[usize]| {
            self.ties.iter().zip(roles).any(|(link, role)| {
                role.is_some_and(|side| {
                    link.tie.anchors[side].simulator == member
                        && !done.contains(&link.tie.anchors[1 - side].simulator)
                })
            })
        };
        let mut left = self.simulators.clone();
        let mut order = Vec::new();
        while !left.is_empty() {
            let Some(next) = left.iter().position(|&m| !follows(m, &order)) else {
                let problem = "simulators follow each other in a ring; choose `iterated`";
                return Err(input("roles", problem));
            };
            order.push(left.remove(next));
        }
        Ok(order)
    }

    /// The tie whose lagged exchange shrinks its error least, and by how much.
    fn slowest(&self) -> (usize, f64) {
        let roles = self.measured.iter().flat_map(|m| m.roles.iter().enumerate());
        let ratios = roles.filter_map(|(i, role)| role.map(|(_, ratio)| (i, ratio)));
        ratios.fold((0, 0.0), |worst, next| if next.1 > worst.1 { next } else { worst })
    }
}
