//! How far long work has come, told to the caller.

use std::ops::ControlFlow;

/// How far a run, an export or a rendering has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Frames that are done.
    pub done: u32,
    /// Frames there will be.
    pub total: u32,
    /// Simulated time of the frame done last, s.
    pub time: f64,
    /// What that frame took, ms; 0 where none has been made yet.
    pub ms: f64,
    /// What the user should know of that frame.
    pub warnings: &'a [String],
}

/// Told before the first frame and after every one; whoever answers `Break` ends the work there, with
/// all that is done kept.
pub type Watcher<'a> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + 'a;

/// For work that nobody watches and nobody ends.
pub fn unwatched(_: &Progress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
