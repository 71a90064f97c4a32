//! How far a run has come: a bar on a terminal, otherwise a line now and then.

use crate::interrupt::Interrupt;
use crate::print;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use thirdlaw_run::progress::Progress;

/// Between two plain lines: at least this, whatever was achieved …
const LINE_GAP: Duration = Duration::from_secs(1);
/// … and at most about this, whatever was not.
const LINE_WAIT: Duration = Duration::from_secs(10);

/// Shows the user what the library tells of its progress.
pub struct ProgressLine {
    quiet: bool,
    shown: Option<Shown>,
}

impl ProgressLine {
    /// Plain lines instead of a bar where `quiet`.
    pub fn new(quiet: bool) -> ProgressLine {
        ProgressLine { quiet, shown: None }
    }

    /// Shows it, and asks for an end where the user has.
    pub fn show(&mut self, progress: &Progress<'_>, interrupt: &Interrupt) -> ControlFlow<()> {
        match &mut self.shown {
            Some(shown) => {
                progress.warnings.iter().for_each(|line| shown.say(line));
                shown.frame(progress.done, progress.time, progress.ms);
            }
            None => self.shown = Some(Shown::new(progress.total, progress.done, self.quiet)),
        }
        if interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Takes the bar away, so that other text can follow.
    pub fn clear(&self) {
        if let Some(Shown { bar: Some(bar), .. }) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

/// A bar or lines on their way.
struct Shown {
    bar: Option<ProgressBar>,
    frames: u32,
    done: u32,
    /// Frames done when it began.
    first: u32,
    started: Instant,
    line_at: Instant,
    line_tenth: u32,
}

impl Shown {
    /// For a run of `frames`, of which `done` exist already.
    fn new(frames: u32, done: u32, quiet: bool) -> Shown {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{wide_bar:.cyan/dim} {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(u64::from(frames)).with_style(style);
            bar.set_position(u64::from(done));
            bar
        });
        let now = Instant::now();
        let line_tenth = tenth(done, frames);
        Shown { bar, frames, done, first: done, started: now, line_at: now, line_tenth }
    }

    /// Frame `frame` is done at simulated time `time` (s); stepping it took `step_ms`.
    fn frame(&mut self, frame: u32, time: f64, step_ms: f64) {
        self.done = frame;
        if let Some(bar) = &self.bar {
            bar.set_message(self.text(time, step_ms));
            bar.set_position(u64::from(frame));
            return;
        }
        let waited = self.line_at.elapsed();
        let tenth = tenth(frame, self.frames);
        if waited >= LINE_WAIT || (tenth > self.line_tenth && waited >= LINE_GAP) {
            print::remark(&self.text(time, step_ms));
            self.line_at = Instant::now();
            self.line_tenth = tenth;
        }
    }

    /// Says something in between.
    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| print::remark(text)),
            None => print::remark(text),
        }
    }

    fn text(&self, time: f64, step_ms: f64) -> String {
        let made = self.done.saturating_sub(self.first).max(1);
        let left = f64::from(self.frames.saturating_sub(self.done));
        let seconds_left = left * self.started.elapsed().as_secs_f64() / f64::from(made);
        format!(
            "frame {}/{}  t = {time:.2} s  {step_ms:.1} ms/frame  {} left",
            self.done,
            self.frames,
            print::duration(seconds_left)
        )
    }
}

fn tenth(done: u32, frames: u32) -> u32 {
    (u64::from(done) * 10 / u64::from(frames.max(1))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_where_when_and_how_long() {
        let mut progress = Shown::new(200, 0, true);
        progress.frame(50, 0.8333, 12.34);
        let text = progress.text(0.8333, 12.34);
        assert!(text.starts_with("frame 50/200  t = 0.83 s  12.3 ms/frame  "), "{text}");
    }
}
