//! A step of simulators that touch: wrenches are exchanged until both sides agree.

use super::mirror::{Mirror, Touching};
use crate::couple::accelerate::Accelerator;
use crate::couple::account::Settled;
use crate::couple::component::{Component, Step, Unsettled};
use crate::couple::error::CoupleError;
use crate::couple::links::LinkKind;
use crate::couple::method::Method;
use crate::simulator::Wrench;

/// A lagged exchange that shrinks its error by less than this is iterated instead.
const SLOW: f64 = 0.95;
/// Steps between two trials of a lagged exchange.
const TRIAL_PAUSE: u32 = 20;
/// How much of the largest error is remembered a step later. An exchange that diverges outgrows it at
/// every step, one that is only noisy (a jet of particles) now and then.
const FADING: f64 = 0.95;
/// Share of the change of speed by which both sides of a contact may differ where something is tied: what is
/// left is given to the owner at once, and pulls at its ties.
const TIED: f64 = 1e-4;

impl Component {
    /// A step of everything, contacts exchanged until both sides agree.
    pub fn exchange_contacts(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        self.exchange_wrenches(step)?;
        self.kick_sheets(step)
    }

    fn exchange_wrenches(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        for i in 0..self.touches.len() {
            self.touches[i].prepare(step.members, step.dt)?;
        }
        let lagged = step.settings.method == Method::Interleaved;
        let tied = !self.ties.is_empty();
        let most = match step.settings {
            s if s.spread => 1,
            // what is tied cannot be moved at will: its owner steps again and again
            s if tied => s.exchanges.max(s.evaluations),
            s => s.exchanges,
        };
        let mut accelerator = Accelerator::default();
        for exchange in 0..most {
            self.solve(step, Some(LinkKind::Touch))?;
            step.report.exchanges = exchange + 1;
            if lagged && self.touches.iter().any(|c| !c.switched) {
                self.try_lagged(step)?;
                if self.touches.iter().all(|c| !c.switched) {
                    step.report.mismatch =
                        self.touches.iter().map(|c| c.mismatch().0).fold(0.0, f64::max);
                    return Ok(());
                }
            }
            step.report.switched = lagged;
            let mut x = self.gathered(|m| m.steady + m.kick);
            let image = self.gathered(|m| m.reaction.impulse);
            if x == image {
                return Ok(());
            }
            if tied && exchange + 1 < most {
                let (off, change) = self.mismatch();
                if off > TIED * change {
                    accelerator.next(step.settings.acceleration, &mut x, &image);
                    self.scatter(&x);
                    continue;
                }
            }
            if self.settle_owners(step)? {
                step.report.mismatch =
                    self.touches.iter().map(|c| c.mismatch().0).fold(0.0, f64::max);
                return Ok(());
            }
            for contact in &mut self.touches {
                contact.mirrors.iter_mut().for_each(|m| m.answer(step.dt));
            }
            self.step_owners(step)?;
            step.report.evaluations += 1;
            let (off, change) = self.mismatch();
            step.report.mismatch = off;
            let wanted = step.settings.contact_tolerance * change;
            let settled = off <= wanted;
            step.loose_contact = self.loosest(step, wanted).filter(|_| !settled);
            if settled || exchange + 1 == most {
                return Ok(());
            }
            accelerator.next(step.settings.acceleration, &mut x, &image);
            self.scatter(&x);
        }
        Ok(())
    }

    /// Largest difference between both sides of any contact, and largest change of speed, m/s.
    fn mismatch(&self) -> (f64, f64) {
        let pairs = self.touches.iter().map(Touching::mismatch);
        pairs.fold((0.0, 0.0), |s: (f64, f64), p| (s.0.max(p.0), s.1.max(p.1)))
    }

    /// The contact whose sides agree least.
    fn loosest(&self, step: &Step<'_>, wanted: f64) -> Option<Unsettled> {
        if step.settings.spread {
            return None;
        }
        let off = |contact: &Touching| contact.mismatch().0;
        let worst = self.touches.iter().max_by(|a, b| off(a).total_cmp(&off(b)))?;
        let (kind, between) = (LinkKind::Touch, [worst.owner, worst.follower]);
        let (number, residual) = (worst.number, off(worst));
        Some(Unsettled { kind, number, between, residual, wanted })
    }

    /// Gives owners what the followers found beyond what was counted, where all of them can take it
    /// now; false if they have to step again.
    fn settle_owners(&mut self, step: &mut Step<'_>) -> Result<bool, CoupleError> {
        let mirrors = self.touches.iter().flat_map(|c| &c.mirrors);
        if mirrors.filter(|m| m.changed()).any(|m| !m.shiftable) {
            return Ok(false);
        }
        for contact in &mut self.touches {
            let owner = &mut step.members[contact.owner];
            for mirror in contact.mirrors.iter_mut().filter(|m| m.changed()) {
                let change = mirror.reaction.impulse - (mirror.steady + mirror.kick);
                let way = mirror.reaction.end.position - mirror.end.position;
                let turn = mirror.turn();
                let handle = mirror.handle;
                let before = mirror.end;
                owner.settle(Settled { handle, impulse: change, way, turn, before })?;
                (mirror.steady, mirror.kick) = (mirror.reaction.impulse, Wrench::ZERO);
                mirror.end = owner.read(handle)?;
            }
        }
        Ok(true)
    }

    /// Steps the owners again under new wrenches; followers stay.
    fn step_owners(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        let lambda = self.lambda();
        for member in self.owners_first() {
            if self.touches.iter().any(|c| c.owner == member) {
                self.step_alone(step, member, &lambda)?;
            }
        }
        Ok(())
    }

    /// All impulses, one after the other.
    fn gathered(&self, of: impl Fn(&Mirror) -> Wrench) -> Vec<f64> {
        let mirrors = self.touches.iter().flat_map(|c| &c.mirrors);
        mirrors.filter(|m| m.dynamic).flat_map(|m| of(m).to_array()).collect()
    }

    fn scatter(&mut self, x: &[f64]) {
        let mirrors = self.touches.iter_mut().flat_map(|c| &mut c.mirrors);
        for (mirror, x) in mirrors.filter(|m| m.dynamic).zip(x.chunks(6)) {
            mirror.steady = Wrench::from_slice(x) - mirror.kick;
        }
    }

    /// Now and then, and whenever its error has grown, a lagged exchange is made twice in place, to see
    /// by how much its error shrinks; contacts where it does not are iterated from now on.
    fn try_lagged(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        let first = self.gathered(|m| m.reaction.impulse);
        let counted = self.gathered(|m| m.steady + m.kick);
        let size = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
        };
        let zero = vec![0.0; first.len()];
        let surprise = size(&first, &counted);
        let mut due = false;
        for contact in &mut self.touches {
            contact.pause = contact.pause.saturating_sub(1);
            // an error that outgrows all of the last steps is not left alone until the pause is over
            due |= contact.pause == 0 || surprise > contact.surprise;
            contact.surprise = surprise.max(FADING * contact.surprise);
        }
        if surprise <= 0.2 * size(&first, &zero) || !due {
            return Ok(());
        }
        let kept: Vec<Touching> = self.touches.clone();
        for contact in &mut self.touches {
            contact.pause = TRIAL_PAUSE;
            contact.mirrors.iter_mut().for_each(|m| m.steady = m.reaction.impulse);
        }
        self.solve(step, Some(LinkKind::Touch))?;
        let ratio = size(&self.gathered(|m| m.reaction.impulse), &first) / surprise;
        step.report.contraction = Some(ratio);
        let diverges = ratio > SLOW;
        for (contact, kept) in self.touches.iter_mut().zip(kept) {
            contact.mirrors = kept.mirrors;
            contact.switched |= diverges && step.settings.switch;
        }
        if diverges && !step.settings.switch {
            let Touching { owner, follower, .. } = self.touches[0];
            let between = (step.name(owner), step.name(follower));
            let method = step.settings.method;
            return Err(CoupleError::Diverged { between, growth: ratio, residual: 0.0, method });
        }
        self.solve(step, Some(LinkKind::Touch))
    }
}
