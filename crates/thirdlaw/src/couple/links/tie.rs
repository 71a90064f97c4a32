//! Ties: points, frames and springs between handles of two simulators.
//!
//! All ties of a component are held together: their multipliers λ are sought such that every gap
//! vanishes at the end of the step, by Newton's iteration (many ties: by conjugate gradients) over steps
//! that are taken back (`iterate`), or with one side under forces and the other one following it
//! (`turns`).
//!
//! A handle that is light against its lever turns far under a small force across its arm, and not at all
//! under a large one along it. So λ is sought in axes that turn with the arm of the lighter side: there
//! neither λ nor its Jacobian changes much from step to step.

pub(crate) mod conjugate;
pub(crate) mod constrained;
pub(crate) mod constraint;
mod iterate;
mod newton;
pub(crate) mod response;
mod turns;

use crate::couple::component::{Component, Step};
use crate::couple::coupling::{Coupling, input};
use crate::couple::error::CoupleError;
use crate::couple::lagged::Lag;
use crate::couple::ledger::LedgerEntry;
use crate::couple::links::LinkKind;
use crate::couple::member::Member;
use crate::couple::method::Method;
use crate::math::{Mat3, Quat, Vec3, rotation_from_vector, rotation_vector};
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
    /// Side whose arm the axes of λ turn with, and these axes.
    pub light: Option<usize>,
    pub axes: Quat,
    /// Whether `starts` are those of a step.
    pub begun: bool,
    /// How a spring did between simulators that cannot go back.
    pub lag: Lag,
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
            light: None,
            axes: Quat::IDENTITY,
            begun: false,
            lag: Lag::default(),
        }
    }

    /// Takes numbers of the rows into the axes of λ, or (`back`) out of them.
    pub fn turn_rows(&self, back: bool, rows: &mut [f64]) {
        if self.light.is_none() {
            return;
        }
        let turn = if back { self.axes } else { self.axes.conjugate() };
        for part in rows.chunks_exact_mut(3) {
            part.copy_from_slice(&(turn * Vec3::from_slice(part)).to_array());
        }
    }

    /// Sets how far handles turn until the mean time of a push, given what their spins gain in the step.
    fn aim(&mut self, (dt, reach): (f64, f64), gain: [Vec3; 2]) {
        // a push that moves by the share c of h Δv acts, in the mean, after the share 1 − c
        let late = 1.0 - reach;
        for (side, gain) in gain.into_iter().enumerate() {
            let spin = self.starts[side].velocity.angular;
            self.turns[side] = late * dt * (spin + 0.5 * late * gain);
        }
        self.axes = self.light.map_or(Quat::IDENTITY, |side| {
            (rotation_from_vector(self.turns[side]) * self.starts[side].rotation).normalize()
        });
    }

    /// How far a side has turned, at most, from where it would turn by its spin alone, or from another
    /// trial, rad.
    fn turned(&self, dt: f64, kept: Option<&[Motion; 2]>) -> f64 {
        let of = |side: usize| {
            let start = &self.starts[side];
            let free = || rotation_from_vector(dt * start.velocity.angular) * start.rotation;
            let from = kept.map_or_else(free, |kept| kept[side].rotation);
            rotation_vector(self.now[side].rotation * from.conjugate()).length()
        };
        of(0).max(of(1))
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
        self.check_mixture((LinkKind::Tie, tie.is_spring()), sides)?;
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
    /// the side that follows, measured in the last step that measured. Of a spring between simulators that cannot
    /// go back: by how much an error grows in a step, from the steps as they came.
    pub fn contraction(&self, tie: usize) -> Option<f64> {
        let of = |component: &Component| {
            let at = component.ties.iter().position(|link| link.number == tie)?;
            let link = &component.ties[at];
            if component.is_lagged(&self.members) {
                return link.lag.contraction(&link.tie.kind, self.dt?);
            }
            component.measured.as_ref()?.roles.get(at)?.map(|(_, ratio)| ratio)
        };
        self.components.iter().find_map(of)
    }
}

/// Which side turns more easily under a force at its anchor, if any does.
fn lighter(
    tie: &Tie,
    starts: &[Motion; 2],
    members: &[Member],
) -> Result<Option<usize>, CoupleError> {
    let mut ease = [0.0; 2];
    for side in 0..2 {
        let anchor = &tie.anchors[side];
        let arm = anchor.turned_arm(&starts[side], Vec3::ZERO).length_squared();
        if arm == 0.0 || tie.rows() < 3 {
            continue;
        }
        let said = members[anchor.simulator].look("response", |s| s.response(anchor.handle))?;
        let inertia = said.map_or(Mat3::IDENTITY, |r| r.inertia);
        let moment = inertia.x_axis.x.min(inertia.y_axis.y).min(inertia.z_axis.z);
        ease[side] = if moment > 0.0 { arm / moment } else { 0.0 };
    }
    let side = usize::from(ease[1] > ease[0]);
    Ok((ease[side] > 0.0).then_some(side))
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

    /// The same in the axes in which they are sought.
    fn sought(&self) -> Vec<f64> {
        let mut all = self.lambda();
        self.turn_all(false, &mut all);
        all
    }

    /// Takes numbers of all rows into the axes of λ, or (`back`) out of them.
    fn turn_all(&self, back: bool, numbers: &mut [f64]) {
        let mut left = numbers;
        for link in &self.ties {
            let (own, rest) = left.split_at_mut(link.tie.rows());
            link.turn_rows(back, own);
            left = rest;
        }
    }

    pub fn set_lambda(&mut self, lambda: &[f64]) {
        let mut left = lambda;
        for link in &mut self.ties {
            let (own, rest) = left.split_at(link.tie.rows());
            link.lambda[..own.len()].copy_from_slice(own);
            left = rest;
        }
    }

    pub fn set_applied(&mut self, lambda: &[f64]) {
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

    /// Whether a tie holds this handle.
    pub fn holds_handle(&self, member: usize, handle: usize) -> bool {
        let held =
            |anchor: &constraint::Anchor| (anchor.simulator, anchor.handle) == (member, handle);
        self.ties.iter().any(|link| link.tie.anchors.iter().any(held))
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
            let reach = self.measured.as_ref().map_or(0.5, |m| m.reach[i]);
            // spin changes as it did in the last step
            let gain = |side: usize| {
                let spin = link.starts[side].velocity.angular;
                last.map_or(Vec3::ZERO, |l| spin - l[side].velocity.angular)
            };
            let gain = [gain(0), gain(1)];
            let mut lambda = link.lambda;
            let rows = link.tie.rows();
            link.turn_rows(false, &mut lambda[..rows]);
            link.light = lighter(&link.tie, &link.starts, step.members)?;
            link.aim((step.dt, reach), gain);
            // λ turns with the arm
            link.turn_rows(true, &mut lambda[..rows]);
            link.lambda = lambda;
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
        let method = step.settings.method;
        CoupleError::Diverged { between: (name(0), name(1)), growth, residual, method }
    }
}
