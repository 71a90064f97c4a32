//! Simulators that cannot go back, hardware or a game server: one step each, under forces of what is known
//! before it [baraff1997 §3]. Springs and watched surfaces only; nothing can be tried.
//!
//! A spring between them pulls as it would in the middle of the step if nothing changed. With g its gap, μ how
//! much a force changes the relative velocity of its anchors in a unit of time, and c the share of step × change
//! of velocity by which it moves them,
//!
//!   a = −μ (k (g + ½hġ) + d ġ),   g' = g + hġ + c h² a,   ġ' = ġ + h a,
//!
//! so an error is multiplied in a step by the spectral radius of
//!
//!   | 1 − c h²μk      h − c h²e |
//!   |   −hμk           1 − h e  |,   e = μ (½hk + d).
//!
//! That is the contraction. μ and c are measured, as secants over the steps as they come. Where it is more than
//! one, and where the force is seen to turn about and grow from step to step, the next step is refused.

use super::component::{Component, Step};
use super::error::CoupleError;
use super::links::tie::TieLink;
use super::links::tie::constraint::TieKind;
use super::member::Member;
use super::method::Method;
use crate::math::Vec3;

/// Share of what was seen that counts in the next step.
const KEPT: f64 = 0.9;
/// An error that grows by less is not told from one that stays: what is measured is not exact.
const GROWTH: f64 = 1.02;
/// Above this one step is enough in which the force turns about and grows as is expected.
const WILD: f64 = 1.5;
/// Changes of speed below this, m/s, may be rounding.
const QUIET: f64 = 1e-6;
/// Steps in which the force turns about and grows, with a contraction above one, and without.
const TURNS: [u32; 2] = [3, 8];

/// What the last steps showed of a spring.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lag {
    /// Force on the first anchor, and what it made of the relative motion of the two.
    last: Option<Seen>,
    /// Sums for μ h: of ΔF·Δv and ΔF².
    gain: [f64; 2],
    /// Sums for c: of Δx·hΔv and (hΔv)².
    reach: [f64; 2],
    /// Steps in a row in which the force turned about and grew, and by how much it did in the last.
    turns: u32,
    growth: f64,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    force: Vec3,
    /// Change of the relative velocity, m/s.
    gain: Vec3,
    /// Relative way beyond that of the velocity at the beginning, m.
    way: Vec3,
}

impl Lag {
    /// Takes in a step.
    fn see(&mut self, link: &TieLink, dt: f64) {
        let [a, b] = &link.tie.anchors;
        let lambda = &link.applied[..link.tie.rows()];
        let force = link.tie.wrenches(lambda, &link.starts, &link.turns)[0].force;
        let speed = |m: &[crate::simulator::Motion; 2]| a.velocity(&m[0]) - b.velocity(&m[1]);
        let place = |m: &[crate::simulator::Motion; 2]| a.point(&m[0]) - b.point(&m[1]);
        let (before, after) = (speed(&link.starts), speed(&link.now));
        let way = place(&link.now) - place(&link.starts) - dt * before;
        let seen = Seen { force, gain: after - before, way };
        if let Some(last) = self.last.replace(seen) {
            let (push, gain) = (seen.force - last.force, seen.gain - last.gain);
            let sum = |sums: &mut [f64; 2], x: f64, y: f64| {
                *sums = [KEPT * sums[0] + x, KEPT * sums[1] + y];
            };
            sum(&mut self.gain, push.dot(gain), push.length_squared());
            let moved = dt * gain;
            sum(&mut self.reach, (seen.way - last.way).dot(moved), moved.length_squared());
            let (size, old) = (seen.force.length(), last.force.length());
            let turned = seen.force.dot(last.force) < -0.5 * size * old;
            let felt = size * self.gain[0].max(0.0) / self.gain[1] > QUIET;
            let grows = turned && size > old && felt;
            self.turns = if grows { self.turns + 1 } else { 0 };
            self.growth = if grows { size / old } else { 0.0 };
        }
    }

    /// By how much an error of the exchange grows in a step; `None` before two steps are seen.
    pub fn contraction(&self, kind: &TieKind, dt: f64) -> Option<f64> {
        let TieKind::Spring { stiffness, damping, .. } = kind else { return None };
        let [mobility, reach] = [self.gain, self.reach].map(|[x, y]| x / y);
        if !(mobility.is_finite() && reach.is_finite()) {
            return None;
        }
        let (mu, c) = (mobility.max(0.0) / dt, reach.clamp(0.0, 1.0));
        let (w, drag) = (dt * dt * mu * stiffness, dt * mu * damping);
        let trace = 2.0 - (c + 0.5) * w - drag;
        let determinant = 1.0 + (0.5 - c) * w - drag;
        let square = 0.25 * trace * trace - determinant;
        Some(match square < 0.0 {
            true => determinant.sqrt(),
            false => 0.5 * trace.abs() + square.sqrt(),
        })
    }

    /// By how much it grows, where that is seen to go on.
    fn diverges(&self, kind: &TieKind, dt: f64) -> Option<f64> {
        let expected = self.contraction(kind, dt).unwrap_or(0.0);
        let [soon, late] = TURNS;
        // an impact in between looks like either, but not like both
        let wild = expected > WILD && self.turns > 0 && self.growth > 0.5 * expected;
        let sure = wild || (expected > GROWTH && self.turns >= soon) || self.turns >= late;
        sure.then(|| expected.max(self.growth))
    }
}

impl Component {
    /// Whether one of its simulators cannot go back.
    pub fn is_lagged(&self, members: &[Member]) -> bool {
        self.simulators.iter().any(|&member| !members[member].restores)
    }

    /// Advances its simulators by a step each.
    pub fn advance_lagged(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        let dt = step.dt;
        self.begin_ties(step)?;
        for link in &self.ties {
            let Some(growth) = link.lag.diverges(&link.tie.kind, dt) else { continue };
            let between = link.tie.anchors.map(|anchor| step.name(anchor.simulator)).into();
            let force = link.lag.last.map_or(0.0, |last| last.force.length());
            let residual = force * link.lag.gain[0] / link.lag.gain[1].max(f64::MIN_POSITIVE);
            let method = Method::Interleaved;
            return Err(CoupleError::Diverged { between, growth, residual, method });
        }
        self.begin_watches(step)?;
        let mut lambda = self.lambda();
        self.lag_springs(dt, &mut lambda);
        self.set_applied(&lambda);
        self.set_lambda(&lambda);
        self.watches.iter_mut().for_each(|watched| watched.solve_ahead());
        self.try_forces(step, &lambda)?;
        step.report.evaluations += 1;
        self.watches.iter_mut().try_for_each(|watched| watched.read_ends(step.members))?;
        let mut slowest = None;
        for link in &mut self.ties {
            let mut lag = std::mem::take(&mut link.lag);
            lag.see(link, dt);
            let contraction = lag.contraction(&link.tie.kind, dt);
            link.lag = lag;
            slowest = contraction.into_iter().chain(slowest).reduce(f64::max);
        }
        step.report.contraction = slowest;
        Ok(())
    }
}
