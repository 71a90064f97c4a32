//! Loops over rows in parallel whose results do not depend on the number of threads: rows are halved
//! down to chunks of fixed size, and sums are added up along the same tree.

use super::pool;
use std::cell::Cell;
use std::ops::Range;
#[cfg(feature = "parallel")]
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Most rows of a chunk.
const CHUNK: usize = 768;
/// Most rows of a chunk where a row is only a few operations, so that starting a thread is not worth
/// less.
const LIGHT_CHUNK: usize = 1536;
/// How often a thread looks for work before it lets other programs have the processor.
#[cfg(feature = "parallel")]
const SPINS: u32 = 1000;

/// Something that can be cut between two rows.
pub trait Rows: Send + Sized {
    /// The part before the row `count` from the front, and the rest.
    fn cut(self, count: usize) -> (Self, Self);
}

impl Rows for () {
    fn cut(self, _: usize) -> ((), ()) {
        ((), ())
    }
}

impl<A: Send> Rows for &mut [A] {
    fn cut(self, count: usize) -> (Self, Self) {
        self.split_at_mut(count)
    }
}

impl<A: Rows, B: Rows> Rows for (A, B) {
    fn cut(self, count: usize) -> (Self, Self) {
        let ((a, c), (b, d)) = (self.0.cut(count), self.1.cut(count));
        ((a, b), (c, d))
    }
}

impl<A: Rows, B: Rows, C: Rows> Rows for (A, B, C) {
    fn cut(self, count: usize) -> (Self, Self) {
        let ((a, x), (b, y)) = (self.0.cut(count), self.1.cut(count));
        let (c, z) = self.2.cut(count);
        ((a, b, c), (x, y, z))
    }
}

/// Items of which every row has a number of its own: row i has those from `starts[i]` to
/// `starts[i + 1]`.
pub struct Ragged<'a, A> {
    /// All items of these rows.
    pub items: &'a mut [A],
    /// One more than rows.
    pub starts: &'a [u32],
}

impl<A: Send> Rows for Ragged<'_, A> {
    fn cut(self, count: usize) -> (Self, Self) {
        let middle = (self.starts[count] - self.starts[0]) as usize;
        let (left, right) = self.items.split_at_mut(middle);
        (
            Ragged { items: left, starts: &self.starts[..=count] },
            Ragged { items: right, starts: &self.starts[count..] },
        )
    }
}

/// Calls `work` with every chunk of rows and what belongs to it, and adds up what it returns.
pub fn sum<R: Rows>(
    rows: Range<usize>,
    parts: R,
    work: &(impl Fn(Range<usize>, R) -> f64 + Sync),
) -> f64 {
    fold(CHUNK, rows, parts, work, &|a, b| a + b)
}

/// [`sum`] where a row is only a few operations.
pub fn sum_light<R: Rows>(
    rows: usize,
    parts: R,
    work: &(impl Fn(Range<usize>, R) -> f64 + Sync),
) -> f64 {
    fold(LIGHT_CHUNK, 0..rows, parts, work, &|a, b| a + b)
}

/// Calls `work` with every chunk of rows and what belongs to it, and takes the largest of what it
/// returns.
pub fn largest<R: Rows>(
    rows: usize,
    parts: R,
    work: &(impl Fn(Range<usize>, R) -> f64 + Sync),
) -> f64 {
    fold(CHUNK, 0..rows, parts, work, &f64::max)
}

/// Calls `work` with every chunk of rows and what belongs to it.
pub fn each<R: Rows>(rows: usize, parts: R, work: &(impl Fn(Range<usize>, R) + Sync)) {
    sum(0..rows, parts, &|rows, parts| {
        work(rows, parts);
        0.0
    });
}

/// [`each`] where a row is only a few operations.
pub fn each_light<R: Rows>(rows: usize, parts: R, work: &(impl Fn(Range<usize>, R) + Sync)) {
    sum_light(rows, parts, &|rows, parts| {
        work(rows, parts);
        0.0
    });
}

/// Runs `work` on a thread of the pool, where a parallel loop costs little: from outside, every loop
/// would have to wake the pool and wait for it.
pub fn inside<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    pool::scope(|_| work())
}

/// Calls `work` with every chunk of rows and what belongs to it, and joins what it returns.
fn fold<R: Rows>(
    chunk: usize,
    rows: Range<usize>,
    parts: R,
    work: &(impl Fn(Range<usize>, R) -> f64 + Sync),
    join: &(impl Fn(f64, f64) -> f64 + Sync),
) -> f64 {
    if rows.len() <= chunk {
        return work(rows, parts);
    }
    let count = rows.len() / 2;
    let middle = rows.start + count;
    let (left, right) = parts.cut(count);
    let (a, b) = pool::join(
        || fold(chunk, rows.start..middle, left, work, join),
        || {
            let _busy = Busy::new();
            fold(chunk, middle..rows.end, right, work, join)
        },
    );
    join(a, b)
}

thread_local! {
    /// How many pieces of work others wait for this thread is in the middle of.
    static BUSY: Cell<u32> = const { Cell::new(0) };
}

/// Marks the thread as one that others wait for.
struct Busy;

impl Busy {
    fn new() -> Busy {
        BUSY.set(BUSY.get() + 1);
        Busy
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        BUSY.set(BUSY.get() - 1);
    }
}

/// Sets a flag at the end, come what may.
#[cfg(feature = "parallel")]
struct End<'a>(&'a AtomicBool);

#[cfg(feature = "parallel")]
impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs `work`, which has many short parallel loops, with up to `helpers` threads of the pool awake
/// throughout: waking one costs more than such a loop.
///
/// A thread that waits for a loop may be given anything that is pending, so the wait here must never
/// begin on a thread which others wait for in turn.
#[cfg(feature = "parallel")]
pub fn awake<R>(helpers: usize, work: impl FnOnce() -> R) -> R {
    if helpers == 0 || rayon::current_thread_index().is_none() {
        return work();
    }
    let (done, places) = (AtomicBool::new(false), AtomicUsize::new(helpers));
    rayon::in_place_scope(|scope| {
        let (done, places) = (&done, &places);
        let _busy = Busy::new();
        let _end = End(done);
        scope.spawn_broadcast(move |_, _| {
            let take = |n: usize| n.checked_sub(1);
            let place = places.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
            if BUSY.get() > 0 || place.is_err() {
                return;
            }
            let mut idle = 0_u32;
            while !done.load(Ordering::Acquire) {
                if rayon::yield_now() == Some(rayon::Yield::Executed) {
                    idle = 0;
                    continue;
                }
                idle += 1;
                if idle < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
            }
        });
        work()
    })
}

/// The same where there are no other threads.
#[cfg(not(feature = "parallel"))]
pub fn awake<R>(_: usize, work: impl FnOnce() -> R) -> R {
    work()
}
