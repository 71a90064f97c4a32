//! Threads that go through the stages of a pile together.
//!
//! A substep is some twenty stages, most of them a few microseconds long: forking and joining for each of
//! them would cost as much as the work. Here helpers stay with the pile until it is done. The leader
//! announces a stage by tickets, each for a run of its chunks; everyone draws chunks from them, and the leader
//! goes on when all are done. Which thread takes which chunk never matters: the chunks of a stage do
//! not see each other. The leader can do everything alone, so no helper has to come, and one that comes
//! late loses nothing.

use super::pool;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Turns of waiting before the core is offered to others.
const PATIENCE: u32 = 400;

/// Most runs that a stage is divided into; more threads share them.
const RUNS: usize = 32;

/// Number of a stage behind all others.
const OVER: u64 = u64::MAX;

struct Board {
    /// A run of the chunks of a stage for each thread: what a thread had in its cache it finds there in
    /// the next stage. Those who are done draw from the runs of others.
    tickets: [Ticket; RUNS],
    threads: usize,
    /// Number of the stage at hand.
    number: AtomicU64,
    /// What the stage is; steady while any of its chunks is not done.
    stage: AtomicU32,
    done: AtomicU32,
    /// Whether a chunk panicked: the leader must not wait for what it has left undone.
    failed: AtomicBool,
}

/// The end of a run of chunks, and in the lower half the next one to be drawn: more are drawn than there
/// are, one by each thread that finds none left. On a line of its own, so that threads do not disturb each
/// other.
#[repr(align(64))]
struct Ticket(AtomicU64);

/// The one who announces stages.
pub struct Leader<'a> {
    board: &'a Board,
    work: &'a (dyn Fn(u32, usize) + Sync),
    number: u64,
}

/// Lets helpers go when the leader is done, by a panic too.
struct Over<'a>(&'a Board);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.number.store(OVER, Ordering::Release);
    }
}

/// Counts a chunk as done, by a panic too: then the stage is marked as failed.
struct Counted<'a>(&'a Board);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::Relaxed);
        }
        self.0.done.fetch_add(1, Ordering::Release);
    }
}

/// Runs `lead` with a leader whose stages are made by all threads of the pool, if `help` is wanted:
/// `work(stage, chunk)` for every chunk of every stage, stage after stage. A panic in any of them ends all.
pub fn run<R: Send>(
    help: bool,
    work: &(dyn Fn(u32, usize) + Sync),
    lead: impl FnOnce(&mut Leader) -> R + Send,
) -> R {
    let threads = if help { pool::current_num_threads() } else { 1 };
    let board = Board {
        tickets: std::array::from_fn(|_| Ticket(AtomicU64::new(0))),
        threads,
        number: AtomicU64::new(0),
        stage: AtomicU32::new(0),
        done: AtomicU32::new(0),
        failed: AtomicBool::new(false),
    };
    let mut leader = Leader { board: &board, work, number: 0 };
    if threads == 1 {
        return lead(&mut leader);
    }
    let all = || {
        let _over = Over(&board);
        lead(&mut leader)
    };
    pool::join(all, || call_helpers(&board, work, 1)).0
}

fn call_helpers(board: &Board, work: &(dyn Fn(u32, usize) + Sync), me: usize) {
    if me + 1 < board.threads {
        pool::join(|| help_with(board, work, me), || call_helpers(board, work, me + 1));
    } else {
        help_with(board, work, me);
    }
}

fn help_with(board: &Board, work: &(dyn Fn(u32, usize) + Sync), me: usize) {
    let mut seen = 0;
    loop {
        wait(|| board.number.load(Ordering::Acquire) != seen);
        seen = board.number.load(Ordering::Acquire);
        if seen == OVER {
            return;
        }
        draw(board, work, me);
    }
}

/// Makes chunks of the stage at hand until none is left, those of the own run first.
fn draw(board: &Board, work: &(dyn Fn(u32, usize) + Sync), me: usize) {
    let runs = board.threads.min(RUNS);
    let (before, from) = board.tickets[..runs].split_at(me % runs);
    for Ticket(ticket) in from.iter().chain(before) {
        loop {
            let ticket = ticket.fetch_add(1, Ordering::Acquire);
            let (end, chunk) = ((ticket >> 32) as u32, ticket as u32);
            if chunk >= end {
                break;
            }
            let _counted = Counted(board);
            work(board.stage.load(Ordering::Relaxed), chunk as usize);
        }
    }
}

fn wait(until: impl Fn() -> bool) {
    let mut turns = 0;
    while !until() {
        turns += 1;
        if turns < PATIENCE {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

impl Leader<'_> {
    /// Makes all chunks of a stage.
    pub fn stage(&mut self, stage: u32, chunks: usize) {
        let runs = self.board.threads.min(RUNS);
        if runs == 1 || chunks <= 1 {
            (0..chunks).for_each(|chunk| (self.work)(stage, chunk));
            return;
        }
        self.number += 1;
        self.board.stage.store(stage, Ordering::Relaxed);
        self.board.done.store(0, Ordering::Relaxed);
        for (run, Ticket(ticket)) in self.board.tickets[..runs].iter().enumerate() {
            let [start, end] = [run, run + 1].map(|i| (i * chunks / runs) as u64);
            ticket.store(end << 32 | start, Ordering::Release);
        }
        self.board.number.store(self.number, Ordering::Release);
        draw(self.board, self.work, 0);
        wait(|| self.board.done.load(Ordering::Acquire) as usize == chunks);
        // the thread in which it happened brings its own message
        assert!(!self.board.failed.load(Ordering::Relaxed), "a chunk of a stage panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whichever thread it happens in, and whatever the others do meanwhile.
    #[test]
    fn a_panic_in_a_chunk_ends_all_threads() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for bad in 0..12 {
                let work = |stage: u32, chunk: usize| {
                    std::thread::sleep(std::time::Duration::from_micros(50));
                    assert!((stage, chunk) != (3, bad), "planted");
                };
                let made = || {
                    run(true, &work, |leader| (0..10).for_each(|stage| leader.stage(stage, 12)));
                };
                let ended =
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.install(made)));
                assert!(ended.is_err());
            }
            // the pool goes on
            assert_eq!(pool.install(|| rayon::join(|| 1, || 2)), (1, 2));
        }
    }

    #[test]
    fn every_chunk_is_made_once_and_stages_follow_each_other() {
        for threads in [1, 2, 3, 7, RUNS + 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let counts: Vec<AtomicU32> = (0..50 * 40).map(|_| AtomicU32::new(0)).collect();
            let late = AtomicU32::new(0);
            let work = |stage: u32, chunk: usize| {
                // all chunks of the stage before are done
                let before = (stage as usize).checked_sub(1);
                let undone =
                    |s: usize| (0..s % 37).any(|c| counts[40 * s + c].load(Ordering::Relaxed) != 1);
                late.fetch_add(u32::from(before.is_some_and(undone)), Ordering::Relaxed);
                counts[40 * stage as usize + chunk].fetch_add(1, Ordering::Relaxed);
            };
            pool.install(|| {
                run(true, &work, |leader| (0..50).for_each(|s| leader.stage(s, s as usize % 37)))
            });
            assert_eq!(late.into_inner(), 0);
            let made: u32 = counts.iter().map(|c| c.load(Ordering::Relaxed)).sum();
            assert_eq!(made as usize, (0..50).map(|s| s % 37).sum::<usize>());
            assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) <= 1));
        }
    }
}
