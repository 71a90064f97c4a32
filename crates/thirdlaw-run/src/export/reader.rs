//! Goes through the frames of a stage, as often as a format asks, and tells how far it is.

use super::stage::{Frame, Stage};
use crate::error::RunError;
use crate::progress::{Progress, Watcher};
use std::ops::ControlFlow;
use std::time::Instant;

/// Hands out frames in order.
pub struct Reader<'a> {
    stage: &'a Stage<'a>,
    watch: &'a mut Watcher<'a>,
    total: u32,
    done: u32,
    ended: ControlFlow<()>,
}

impl<'a> Reader<'a> {
    /// For a format that goes through the frames `passes` times.
    pub fn new(stage: &'a Stage<'a>, passes: usize, watch: &'a mut Watcher<'a>) -> Self {
        let total = stage.frames.len().saturating_mul(passes).min(u32::MAX as usize) as u32;
        let ended = watch(&Progress { done: 0, total, time: 0.0, ms: 0.0, warnings: &[] });
        Reader { stage, watch, total, done: 0, ended }
    }

    /// Shows every frame, with its number, to `visit`.
    pub fn each(
        &mut self,
        mut visit: impl FnMut(u32, &Frame) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        for &number in &self.stage.frames {
            if self.ended.is_break() {
                return Err(RunError::Interrupted);
            }
            let clock = Instant::now();
            let frame = self.stage.frame(number)?;
            visit(number, &frame)?;
            self.done = self.done.saturating_add(1);
            let (done, total, time) = (self.done, self.total, frame.time);
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            self.ended = (self.watch)(&Progress { done, total, time, ms, warnings: &[] });
        }
        Ok(())
    }
}
