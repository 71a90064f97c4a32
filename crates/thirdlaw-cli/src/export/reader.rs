//! Goes through the frames of a stage, as often as a format asks, and tells how far it is.

use super::stage::{Frame, Stage};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use std::time::Instant;

/// Hands out frames in order.
pub struct Reader<'a> {
    stage: &'a Stage<'a>,
    interrupt: Interrupt,
    progress: Progress,
    done: u32,
}

impl<'a> Reader<'a> {
    /// For a format that goes through the frames `passes` times.
    pub fn new(stage: &'a Stage<'a>, passes: usize, interrupt: Interrupt, quiet: bool) -> Self {
        let total = stage.frames.len().saturating_mul(passes).min(u32::MAX as usize) as u32;
        Reader { stage, interrupt, progress: Progress::new(total, 0, quiet), done: 0 }
    }

    /// One that nobody watches.
    #[cfg(test)]
    pub fn quiet(stage: &'a Stage<'a>) -> Self {
        Reader::new(stage, 1, Interrupt::default(), true)
    }

    /// Shows every frame, with its number, to `visit`.
    pub fn each(
        &mut self,
        mut visit: impl FnMut(u32, &Frame) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for &number in &self.stage.frames {
            if self.interrupt.is_asked() {
                return Err(Failure::Interrupted);
            }
            let clock = Instant::now();
            let frame = self.stage.frame(number)?;
            visit(number, &frame)?;
            self.done = self.done.saturating_add(1);
            self.progress.frame(self.done, frame.time, clock.elapsed().as_secs_f64() * 1e3);
        }
        Ok(())
    }

    /// Takes the progress bar away.
    pub fn finish(self) {
        self.progress.clear();
    }
}
