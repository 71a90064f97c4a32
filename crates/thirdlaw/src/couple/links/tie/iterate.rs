//! λ of all ties over steps that are taken back: by Newton's iteration where their response can be
//! measured whole, else by conjugate gradients [baraff1997 §2.3].

use super::{conjugate, newton};
use crate::couple::component::{Component, Step, Unsettled};
use crate::couple::error::CoupleError;
use crate::couple::links::LinkKind;
use crate::simulator::Motion;

/// Farthest that a handle may turn from one trial to the next, rad: one that has turned several whole
/// times leaves no gap either.
const TURN: f64 = 0.5;
/// How often arms follow how handles turn in the step.
const AIMS: u32 = 2;

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
            for (anchor, motion) in link.tie.anchors.iter().zip(&link.starts) {
                let speed = motion.velocity.linear.length();
                reference = reference.max(speed).max(anchor.velocity(motion).length());
            }
            if !link.tie.is_spring() {
                link.tie.gap(&link.starts, &mut gap[..link.tie.rows()]);
                reference = gap.iter().fold(reference, |m, g| m.max(g.abs() / dt));
            }
        }
        reference
    }

    /// One trial under λ in its own axes.
    pub fn try_sought(&mut self, step: &mut Step<'_>, sought: &[f64]) -> Result<(), CoupleError> {
        let mut lambda = sought.to_vec();
        self.turn_all(true, &mut lambda);
        self.try_forces(step, &lambda)
    }

    /// Steps the simulators under the λ that leaves no gap.
    pub fn iterate(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        let dt = step.dt;
        let reference = self.reference(dt);
        let settings = step.settings;
        let kappa = match &self.measured {
            Some(measured) => measured.kappa.clone(),
            None => vec![0.0; self.ties.len()],
        };
        let whole = self.measured.as_ref().is_some_and(|m| !m.jacobian.is_empty());
        let mut lambda = if whole { self.sought() } else { self.lambda() };
        let tolerance = settings.tolerance * reference;
        let enough = self.wanted(step, reference);
        let evaluations = if settings.spread { 2 } else { settings.evaluations };
        let aided = !whole && settings.precondition && self.all_follow();
        let mut problem = Problem {
            component: self,
            step,
            kappa,
            aided,
            leaders: Vec::new(),
            base: Vec::new(),
            kept: None,
            aims: 0,
            failure: None,
        };
        let residual = if whole {
            let stop = newton::Stop { tolerance, enough, evaluations };
            let outcome = newton::solve(&mut problem, stop, &mut lambda);
            let failure = problem.failure.take();
            self.turn_all(true, &mut lambda);
            let outcome = outcome?;
            step.report.evaluations += outcome.evaluations;
            if let (false, Some(failure)) = (outcome.answered, failure) {
                return Err(failure);
            }
            outcome.residual
        } else {
            let stop = conjugate::Stop { tolerance, evaluations };
            let outcome = conjugate::solve(&mut problem, stop, &mut lambda)?;
            step.report.evaluations += outcome.evaluations;
            step.report.trials += outcome.aids;
            if let Some(measured) = &mut self.measured {
                measured.stale |= !settings.spread && outcome.evaluations > 6;
            }
            outcome.residual
        };
        // constrained steps were tried, not made
        self.ties.iter_mut().for_each(|link| link.constrained = None);
        self.set_applied(&lambda);
        self.set_lambda(&lambda);
        step.report.residual = residual;
        self.judge_ties(step, residual, enough);
        Ok(())
    }

    /// Error that is accepted where nothing better comes out, m/s.
    fn wanted(&self, step: &Step<'_>, reference: f64) -> f64 {
        // a few units in the last place of single precision
        let places = self.ties.iter().flat_map(|link| &link.starts);
        let places = places.map(|motion| motion.position.abs().max_element());
        let coarse = 4e-6 * places.fold(0.0, f64::max) / step.dt;
        (step.settings.tolerance.max(1e-5) * reference).max(coarse)
    }

    /// Says which tie is not held, if one is not.
    fn judge_ties(&self, step: &mut Step<'_>, residual: f64, wanted: f64) {
        step.loose_tie = None;
        if residual <= wanted {
            return;
        }
        let gap = |link: &super::TieLink| {
            let mut gap = [0.0; 6];
            if link.tie.is_spring() {
                return 0.0;
            }
            link.tie.gap(&link.now, &mut gap[..link.tie.rows()]);
            gap.iter().fold(0.0, |m: f64, g| if g.is_nan() { m } else { m.max(g.abs()) })
        };
        let worst = self.ties.iter().max_by(|a, b| gap(a).total_cmp(&gap(b)));
        let Some(link) = worst else { return };
        let between = link.tie.anchors.map(|a| a.simulator);
        let (kind, number) = (LinkKind::Tie, link.number);
        step.loose_tie = Some(Unsettled { kind, number, between, residual, wanted });
    }
}

/// The residual of all ties under given forces, and what makes it smaller.
struct Problem<'a, 'b> {
    component: &'a mut Component,
    step: &'a mut Step<'b>,
    kappa: Vec<f64>,
    /// Whether constrained steps of the followers give A⁻¹ where it could not be measured.
    aided: bool,
    /// Where the leaders were after the first trial, and what following them took.
    leaders: Vec<[Motion; 2]>,
    base: Vec<f64>,
    /// Where handles were in the trial that further ones start from.
    kept: Option<Vec<[Motion; 2]>>,
    aims: u32,
    /// What a simulator said that could not step.
    failure: Option<CoupleError>,
}

impl newton::Problem for Problem<'_, '_> {
    fn evaluate(&mut self, sought: &[f64], r: &mut [f64]) -> Result<bool, CoupleError> {
        let mut lambda = sought.to_vec();
        self.component.turn_all(true, &mut lambda);
        match self.component.try_forces(self.step, &lambda) {
            Ok(()) => {}
            Err(error) if error.is_of_a_step() => {
                self.failure = Some(error);
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        self.component.residual(self.step.dt, &lambda, &self.kappa, r);
        self.component.turn_all(false, r);
        if self.kept.is_none() && sought.iter().all(|x| *x == 0.0) {
            return Ok(true);
        }
        let dt = self.step.dt;
        let far = |(i, link): (usize, &super::TieLink)| {
            link.turned(dt, self.kept.as_ref().map(|kept| &kept[i])) > TURN
        };
        Ok(!self.component.ties.iter().enumerate().any(far))
    }

    fn keep(&mut self) -> bool {
        self.kept = Some(self.component.now());
        if self.aims == AIMS {
            return false;
        }
        self.aims += 1;
        let dt = self.step.dt;
        let reach = self.component.measured.as_ref().map(|m| m.reach.clone());
        let mut changed = false;
        for (i, link) in self.component.ties.iter_mut().enumerate() {
            let gain =
                [0, 1].map(|k| link.now[k].velocity.angular - link.starts[k].velocity.angular);
            let before = link.turns;
            link.aim((dt, reach.as_ref().map_or(0.5, |reach| reach[i])), gain);
            changed |= before != link.turns;
        }
        changed
    }

    fn jacobian(&mut self) -> &mut Vec<f64> {
        &mut self.component.measured.get_or_insert_default().jacobian
    }

    fn measure(&mut self, sought: &[f64]) -> Result<(), CoupleError> {
        self.component.measure_at(self.step, sought)
    }
}

impl conjugate::Problem for Problem<'_, '_> {
    fn evaluate(&mut self, lambda: &[f64], r: &mut [f64]) -> Result<(), CoupleError> {
        self.component.try_forces(self.step, lambda)?;
        self.component.residual(self.step.dt, lambda, &self.kappa, r);
        Ok(())
    }

    fn precondition(&mut self, lambda: &[f64], z: &mut [f64]) -> Result<u32, CoupleError> {
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
