//! How the rounds of multipliers, and the steps of Newton's method within each, go on (`coupled.rs`).

/// ε of the first rounds; the last one stays.
const SOFT: [f64; 4] = [1e-2, 1e-2, 1e-3, 1e-4];
/// Where the matrix is factored, stiffness makes it no slower: ε at first, where it falls to by tens, and its least,
/// where that is slow; and growth of what is left at which it was too small (`contact/proximal`).
const SOFTEST: f64 = 1e-2;
const USUAL: f64 = 1e-5;
const STIFFEST: f64 = 1e-8;
const GROWTH: f64 = 2.0;
/// Rounds without progress that are waited for there.
pub const PATIENCE: usize = 12;
/// Steps of Newton's method with the same matrix that bring nothing, after which rounding is what is left.
pub const STALLS: u32 = 3;

/// How ε goes on from round to round.
#[derive(Debug)]
pub struct Course {
    factored: bool,
    /// ε.
    pub soft: f64,
    round: usize,
    least: f64,
    /// The least that a round left, m/s.
    pub best: f64,
    before: f64,
    /// Rounds without progress.
    pub stalled: usize,
}

impl Course {
    /// From the beginning, or from impulses `near` the solution.
    pub fn new(factored: bool, near: bool) -> Course {
        let soft = match (factored, near) {
            (false, _) => SOFT[0],
            (true, false) => SOFTEST,
            (true, true) => USUAL,
        };
        let far = f64::INFINITY;
        Course { factored, soft, round: 0, least: STIFFEST, best: far, before: far, stalled: 0 }
    }

    /// After a round that left so much; whether to begin again from the best impulses.
    pub fn go_on(&mut self, left: f64) -> bool {
        self.round += 1;
        if !self.factored {
            self.soft = SOFT[self.round.min(SOFT.len() - 1)];
            return false;
        }
        self.stalled = if left < 0.9 * self.best { 0 } else { self.stalled + 1 };
        if left > GROWTH * self.best {
            self.least = (10.0 * self.soft).min(SOFTEST);
            (self.soft, self.before) = (self.least, self.best);
            return true;
        }
        if left > 0.2 * self.before || self.soft > USUAL {
            self.soft = (0.1 * self.soft).max(self.least);
        }
        (self.before, self.best) = (left, self.best.min(left));
        false
    }
}

/// What a step of Newton's method would win, and how often it was no less than in the one before.
#[derive(Debug)]
pub struct Progress {
    /// Gradient · way.
    pub size: f64,
    /// How often.
    pub stalls: u32,
}

impl Progress {
    /// After a step with a matrix that was the `same` in the one before.
    pub fn note(&mut self, size: f64, same: bool) {
        self.stalls += u32::from(same && size > 0.25 * self.size);
        self.size = size;
    }
}
