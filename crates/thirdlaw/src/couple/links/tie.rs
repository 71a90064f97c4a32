//! Ties: points, frames and springs between handles of two simulators.
//!
//! All ties of a component are held together: their multipliers λ are sought such that every gap
//! vanishes at the end of the step, by conjugate gradients over steps that are taken back (`iterate`), or
//! with one side under forces and the other one following it (`turns`).

pub(crate) mod conjugate;
pub(crate) mod constrained;
pub(crate) mod constraint;
mod iterate;
pub(crate) mod response;
mod turns;

use crate::couple::component::{Component, Step};
use crate::couple::coupling::{Coupling, input};
use crate::couple::error::CoupleError;
use crate::couple::ledger::LedgerEntry;
use crate::couple::links::LinkKind;
use crate::couple::method::Method;
use crate::math::Vec3;
use crate::simulator::{Motion, Wrench};
use constraint::{Tie, TieKind};

/// Most rows of a tie.
pub(crate) const TIE_ROWS: usize = 6;

/// A tie at work.
#[derive(Clone, Debug)]
pub(crate) struct TieLink {
    /// Counted over all ties of the coupling.
    pub number: usize,
    pub tie: Tie,
    /// Multipliers, N and N·m.
    pub lambda: [f64; TIE_ROWS],
    /// Those that pushed in this step; a lagged exchange already holds the next ones in `lambda`.
    pub applied: [f64; TIE_ROWS],
    /// What the constrained side needed instead, where it differs.
    pub constrained: Option<ConstrainedSide>,
    /// Motions of both handles at the beginning of the step, and now.
    pub starts: [Motion; 2],
    pub now: [Motion; 2],
    /// How far both handles turn until the mean time of a push, as rotation vectors.
    pub turns: [Vec3; 2],
    /// Whether `starts` are those of a step.
    pub begun: bool,
}

/// What the constrained side of a tie felt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ConstrainedSide {
    pub side: usize,
    pub wrench: Wrench,
}

impl TieLink {
    fn new(number: usize, tie: Tie) -> TieLink {
        let nowhere = [Motion::point(Vec3::ZERO, Vec3::ZERO); 2];
        TieLink {
            number,
            tie,
            lambda: [0.0; TIE_ROWS],
            applied: [0.0; TIE_ROWS],
            constrained: None,
            starts: nowhere,
            now: nowhere,
            turns: [Vec3::ZERO; 2],
            begun: false,
        }
    }

    /// What crossed in the step.
    pub fn entry(&self, dt: f64) -> LedgerEntry {
        let lambda = &self.applied[..self.tie.rows()];
        let mut wrenches = self.tie.wrenches(lambda, &self.starts, &self.turns);
        if let Some(constrained) = &self.constrained {
            // the sides felt different forces: the constrained one its own
            wrenches[constrained.side] = constrained.wrench;
        }
        let between = self.tie.anchors.map(|a| a.simulator);
        let mut entry = LedgerEntry { between, ..LedgerEntry::default() };
        for (side, wrench) in wrenches.iter().enumerate() {
            entry.book(side, wrench.scaled(dt), &self.starts[side], &self.now[side], dt);
        }
        entry.stored = self.tie.stored(&self.now) - self.tie.stored(&self.starts);
        entry
    }
}

impl Coupling {
    /// Ties two handles together and returns the tie's number.
    pub fn tie(&mut self, tie: Tie) -> Result<usize, CoupleError> {
        let [a, b] = &tie.anchors;
        if a.simulator == b.simulator {
            return Err(input("anchors", "both lie in the same simulator"));
        }
        for anchor in &tie.anchors {
            self.check_handle(anchor.simulator, anchor.handle)?;
            if crate::model::error::check_pose(&anchor.frame).is_err() {
                return Err(input("frame", "must be finite and its rotation of unit length"));
            }
        }
        if let TieKind::Spring { stiffness, damping, rest } = tie.kind {
            let sound = |x: f64| x.is_finite() && x >= 0.0;
            if !(sound(stiffness) && sound(damping) && sound(rest) && stiffness + damping > 0.0) {
                let problem = "stiffness, damping and rest length must be finite and not negative, \
                               and one of the first two positive";
                return Err(input("kind", problem));
            }
        }
        let sides = [a.simulator, b.simulator];
        self.check_mixture(LinkKind::Tie, sides)?;
        self.check_tied_surfaces(sides, None, Some(&tie))?;
        let number = self.components.iter().map(|c| c.ties.len()).sum();
        let component = self.connect(sides);
        component.ties.push(TieLink::new(number, tie));
        component.measured = None;
        Ok(number)
    }

    /// All ties in their order.
    pub(crate) fn tie_links(&self) -> Vec<&TieLink> {
        let mut all: Vec<&TieLink> = self.components.iter().flat_map(|c| &c.ties).collect();
        all.sort_by_key(|link| link.number);
        all
    }

    /// Force and torque of a tie on its first anchor in the last step, N and N·m.
    pub fn tie_force(&self, tie: usize) -> Option<&[f64]> {
        let link = *self.tie_links().get(tie)?;
        Some(&link.lambda[..link.tie.rows()])
    }

    /// Energy that the springs of ties hold now, J.
    pub fn stored(&self) -> f64 {
        let of = |link: &TieLink| {
            let [a, b] = &link.tie.anchors;
            let a = self.members[a.simulator].read(a.handle).ok()?;
            let b = self.members[b.simulator].read(b.handle).ok()?;
            Some(link.tie.stored(&[a, b]))
        };
        self.tie_links().into_iter().filter_map(of).sum()
    }

    /// By how much a lagged exchange over a tie shrinks its error: the spectral radius of A⁻¹B with A
    /// the side that follows, measured in the last step that measured.
    pub fn contraction(&self, tie: usize) -> Option<f64> {
        let of = |component: &Component| {
            let at = component.ties.iter().position(|link| link.number == tie)?;
            component.measured.as_ref()?.roles.get(at)?.map(|(_, ratio)| ratio)
        };
        self.components.iter().find_map(of)
    }
}

impl Component {
    /// First row of each tie, and the number of all rows.
    pub fn rows(&self) -> Vec<usize> {
        let mut rows = vec![0];
        for link in &self.ties {
            rows.push(rows[rows.len() - 1] + link.tie.rows());
        }
        rows
    }

    /// Multipliers of all ties, one after the other.
    pub fn lambda(&self) -> Vec<f64> {
        self.ties.iter().flat_map(|link| &link.lambda[..link.tie.rows()]).copied().collect()
    }

    pub fn set_lambda(&mut self, lambda: &[f64]) {
        let mut left = lambda;
        for link in &mut self.ties {
            let (own, rest) = left.split_at(link.tie.rows());
            link.lambda[..own.len()].copy_from_slice(own);
            left = rest;
        }
    }

    fn set_applied(&mut self, lambda: &[f64]) {
        let mut left = lambda;
        for link in &mut self.ties {
            let (own, rest) = left.split_at(link.tie.rows());
            link.applied[..own.len()].copy_from_slice(own);
            left = rest;
        }
    }

    /// Where the handles of all ties are now.
    fn now(&self) -> Vec<[Motion; 2]> {
        self.ties.iter().map(|link| link.now).collect()
    }

    pub fn is_tied(&self, member: usize) -> bool {
        self.ties.iter().any(|link| link.tie.anchors.iter().any(|a| a.simulator == member))
    }

    /// Reads where ties begin.
    pub fn begin_ties(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        for (i, link) in self.ties.iter_mut().enumerate() {
            let [a, b] = link.tie.anchors;
            let a = step.members[a.simulator].read(a.handle)?;
            let b = step.members[b.simulator].read(b.handle)?;
            let last = link.begun.then_some(link.starts);
            link.starts = [a, b];
            // a push that moves by the share c of h Δv acts, in the mean, after the share 1 − c
            let reach = self.measured.as_ref().map_or(0.5, |m| m.reach[i]);
            let turn = |side: usize| {
                let spin = link.starts[side].velocity.angular;
                // spin changes as it did in the last step
                let gain = last.map_or(Vec3::ZERO, |l| spin - l[side].velocity.angular);
                (1.0 - reach) * step.dt * (spin + 0.5 * (1.0 - reach) * gain)
            };
            link.turns = [turn(0), turn(1)];
            link.now = link.starts;
            link.constrained = None;
            link.begun = true;
        }
        Ok(())
    }

    /// Gives a member the forces of its ties; `sides` says which.
    pub fn push_ties(
        &self,
        step: &mut Step<'_>,
        member: usize,
        lambda: &[f64],
        sides: impl Fn(usize, usize) -> bool,
    ) {
        let mut first = 0;
        for (i, link) in self.ties.iter().enumerate() {
            let rows = link.tie.rows();
            let lambda = &lambda[first..first + rows];
            let wrenches = link.tie.wrenches(lambda, &link.starts, &link.turns);
            for (side, wrench) in wrenches.into_iter().enumerate() {
                let anchor = &link.tie.anchors[side];
                if anchor.simulator == member && sides(i, side) && wrench != Wrench::ZERO {
                    step.members[member].pushes.push((anchor.handle, wrench));
                }
            }
            first += rows;
        }
    }

    pub fn read_ties(&mut self, step: &mut Step<'_>, member: usize) -> Result<(), CoupleError> {
        for link in &mut self.ties {
            for side in 0..2 {
                let anchor = link.tie.anchors[side];
                if anchor.simulator == member {
                    link.now[side] = step.members[member].read(anchor.handle)?;
                }
            }
        }
        Ok(())
    }

    /// Holds all ties over a step by the method of the settings.
    pub fn hold_ties(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        self.measure(step)?;
        match step.settings.method {
            Method::Iterated => self.iterate(step),
            Method::Repaired => self.iterate_and_repair(step),
            Method::Interleaved | Method::FixedPoint => self.take_turns(step),
        }
    }

    fn diverged(&self, step: &Step<'_>, tie: usize, (growth, residual): (f64, f64)) -> CoupleError {
        let name = |side: usize| {
            let anchor = self.ties.get(tie).map(|link| link.tie.anchors[side].simulator);
            anchor.map_or_else(|| "?".into(), |simulator| step.name(simulator))
        };
        CoupleError::Diverged { between: (name(0), name(1)), growth, residual }
    }
}
