//! The one pool of threads that everything is computed in.

use crate::failure::Failure;

/// Does `work` inside a pool of `threads`. Entering a pool costs more than a small step, so the
/// whole run goes inside, not each step.
pub fn install<R: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<R, Failure> + Send,
) -> Result<R, Failure> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("thirdlaw-{i}"))
        .build()
        .map_err(|error| Failure::Input(format!("cannot start {threads} threads: {error}")))?;
    pool.install(work)
}
