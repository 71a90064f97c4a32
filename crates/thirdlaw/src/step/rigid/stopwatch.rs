//! Tells integrating from solving within the substeps, for an observer who lends a clock.
//!
//! Islands go through their substeps on many threads at once, so that their stages cannot begin and end
//! for an observer. What is measured is the share of their time that went into forces and positions.

/// Counts up in any unit, the same on all threads.
pub type Clock = fn() -> u64;

/// Time by what it was spent on, in units of the clock; zeros without one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// On forces and positions.
    pub integrate: f64,
    /// On everything else of the substeps.
    pub solve: f64,
}

impl Spent {
    /// Adds what another part of the work took.
    pub fn add(&mut self, other: &Spent) {
        self.integrate += other.integrate;
        self.solve += other.solve;
    }

    /// Part of it that went into integrating, from 0 to 1.
    pub fn share(&self) -> f64 {
        let sum = self.integrate + self.solve;
        if sum > 0.0 { self.integrate / sum } else { 0.0 }
    }
}

/// A clock and when it was last read.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    clock: Option<Clock>,
    last: u64,
    /// What was told so far.
    pub spent: Spent,
}

impl Stopwatch {
    /// Starts; without a clock it tells nothing.
    pub fn start(clock: Option<Clock>) -> Stopwatch {
        Stopwatch { clock, last: clock.map_or(0, |now| now()), spent: Spent::default() }
    }

    /// Time since it was last read.
    pub fn lap(&mut self) -> f64 {
        let Some(clock) = self.clock else { return 0.0 };
        let now = clock();
        let lap = now.saturating_sub(self.last);
        self.last = now;
        lap as f64
    }

    /// Another one by the same clock, for what goes on beside.
    pub fn beside(&self) -> Stopwatch {
        Stopwatch::start(self.clock)
    }

    /// What went on since it was last read was spent like that.
    pub fn divided(&mut self, like: &Spent) {
        let (lap, share) = (self.lap(), like.share());
        self.spent.add(&Spent { integrate: lap * share, solve: lap * (1.0 - share) });
    }

    /// What went on since it was last read was integrating.
    pub fn integrated(&mut self) {
        self.spent.integrate += self.lap();
    }

    /// What went on since it was last read was solving.
    pub fn solved(&mut self) {
        self.spent.solve += self.lap();
    }
}
