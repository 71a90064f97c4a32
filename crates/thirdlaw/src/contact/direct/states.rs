//! What the rows are taken to do, and which of them the result contradicts.

use super::Newton;
use crate::contact::problem::Bound;
use crate::contact::sweep::project_disc;
use crate::model::settings::FrictionModel;

/// What a row is taken to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing on it can move.
    Immovable,
    /// w = 0.
    Free,
    /// z = l.
    Lower,
    /// z = u.
    Upper,
    /// On the edge of its friction disc or interval.
    Slide,
}

/// Which contradicted states change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// All, and rows on which nothing can move are found.
    First,
    None,
    All,
    Last,
}

/// The natural map of two friction rows: y = z − w/λ, its length and the radius of the disc.
pub struct Disc {
    pub normal: usize,
    pub coefficient: f64,
    pub radius: f64,
    pub y: [f64; 2],
    pub length: f64,
}

impl Newton<'_> {
    pub(super) fn disc(&self, i: usize) -> Disc {
        let Bound::Friction { normal, coefficient } = self.problem.rows[i].bound else {
            unreachable!("only called for friction rows")
        };
        let m = &*self.memory;
        let radius = coefficient * m.impulses[normal as usize].max(0.0);
        let k = 1.0 / self.effective[i].largest;
        let y = [0, 1].map(|k2| m.impulses[i + k2] - k * m.defect[i + k2]);
        let length = (y[0] * y[0] + y[1] * y[1]).sqrt();
        Disc { normal: normal as usize, coefficient, radius, y, length }
    }

    /// Compares every state with what the current impulses and velocities ask for, up to `noise` m/s,
    /// and changes those that `which` says. Returns how many are contradicted.
    pub(super) fn update_states(&mut self, noise: f64, which: Which) -> usize {
        let mut wrong = 0;
        let mut last = None;
        let mut i = 0;
        while i < self.problem.rows.len() {
            let friction = matches!(self.problem.rows[i].bound, Bound::Friction { .. });
            let width = if friction { 2 } else { 1 };
            let now = [self.memory.state[i], self.memory.state[i + width - 1]];
            let wanted = if which == Which::First || now[0] != State::Immovable {
                if friction {
                    self.wanted_friction(i, now, noise)
                } else {
                    self.wanted(i, now[0], noise)
                }
            } else {
                now
            };
            if wanted != now {
                wrong += 1;
                last = Some((i, width, wanted));
                if matches!(which, Which::All | Which::First) {
                    self.memory.state[i..i + width].copy_from_slice(&wanted[..width]);
                }
            }
            i += width;
        }
        if let (Which::Last, Some((i, width, wanted))) = (which, last) {
            self.memory.state[i..i + width].copy_from_slice(&wanted[..width]);
        }
        wrong
    }

    fn wanted(&self, i: usize, now: State, noise: f64) -> [State; 2] {
        let e = &self.effective[i];
        let Bound::Interval { lower, upper } = self.problem.rows[i].bound else { return [now; 2] };
        if e.inverse == 0.0 {
            return [State::Immovable; 2];
        }
        let y = self.memory.impulses[i] - e.inverse * self.memory.defect[i];
        let slack = noise * e.inverse;
        let keep = match now {
            State::Free => y >= lower - slack && y <= upper + slack,
            State::Lower => y <= lower + slack,
            State::Upper => y >= upper - slack,
            _ => false,
        };
        let state = if keep {
            now
        } else if y <= lower {
            State::Lower
        } else if y >= upper {
            State::Upper
        } else {
            State::Free
        };
        [state; 2]
    }

    fn wanted_friction(&self, i: usize, now: [State; 2], noise: f64) -> [State; 2] {
        let e = &self.effective[i];
        if e.largest == 0.0 {
            return [State::Immovable; 2];
        }
        let disc = self.disc(i);
        let slack = noise / e.largest;
        let judge = |now: State, length: f64| match now {
            State::Free if disc.radius > 0.0 && length <= disc.radius + slack => State::Free,
            State::Slide if length >= disc.radius - slack => State::Slide,
            _ if disc.radius > 0.0 && length <= disc.radius => State::Free,
            _ => State::Slide,
        };
        match self.problem.friction {
            FrictionModel::Cone => [judge(now[0], disc.length); 2],
            FrictionModel::Pyramid => [0, 1].map(|k| judge(now[k], disc.y[k].abs())),
        }
    }

    /// The natural-map residual in the current states' own terms, m/s.
    pub fn worst(&self) -> f64 {
        let m = &*self.memory;
        let mut worst = 0.0_f64;
        let mut i = 0;
        while i < self.problem.rows.len() {
            let e = &self.effective[i];
            match self.problem.rows[i].bound {
                Bound::Interval { lower, upper } => {
                    if e.inverse > 0.0 {
                        let y = m.impulses[i] - e.inverse * m.defect[i];
                        let gap = m.impulses[i] - y.max(lower).min(upper);
                        worst = worst.max(gap.abs() * e.response);
                    }
                    i += 1;
                }
                Bound::Friction { .. } => {
                    if e.largest > 0.0 {
                        let target = self.friction_target(&self.disc(i));
                        for (k, target) in target.into_iter().enumerate() {
                            worst = worst.max((m.impulses[i + k] - target).abs() * e.largest);
                        }
                    }
                    i += 2;
                }
            }
        }
        worst
    }

    fn friction_target(&self, disc: &Disc) -> [f64; 2] {
        match self.problem.friction {
            FrictionModel::Cone => project_disc(disc.y, disc.radius),
            FrictionModel::Pyramid => disc.y.map(|y| y.max(-disc.radius).min(disc.radius)),
        }
    }
}
