//! Threads that go through the stages of one island together.
//!
//! A substep is some twenty stages, most of them a few microseconds long: forking and joining for each of
//! them would cost as much as the work. Here helpers stay with the island until it is done. The leader announces
//! a stage as a ticket that says how many chunks it has; everyone draws chunks from it, and the leader
//! goes on when all are done. Which thread takes which chunk never matters: the chunks of a stage do
//! not see each other. The leader can do everything alone, so no helper has to come, and one that comes
//! late loses nothing.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Turns of waiting before the core is offered to others.
const PATIENCE: u32 = 400;

/// The ticket: an ever new number, chunks, chunks drawn. More are drawn than there are, one by each
/// thread that finds none left.
const CHUNK_BITS: u32 = 20;
const CHUNK_MASK: u64 = (1 << CHUNK_BITS) - 1;
const OVER: u64 = u64::MAX << (2 * CHUNK_BITS);

struct Board {
    ticket: AtomicU64,
    /// What the stage is; steady while any of its chunks is not done.
    stage: AtomicU32,
    done: AtomicU32,
}

/// The one who announces stages.
pub struct Leader<'a> {
    board: &'a Board,
    work: &'a (dyn Fn(u32, usize) + Sync),
    alone: bool,
    number: u64,
}

/// Runs `lead` with a leader whose stages are made by all threads of the pool, if `help` is wanted:
/// `work(stage, chunk)` for every chunk of every stage, stage after stage.
pub fn run<R: Send>(
    help: bool,
    work: &(dyn Fn(u32, usize) + Sync),
    lead: impl FnOnce(&mut Leader) -> R + Send,
) -> R {
    let board =
        Board { ticket: AtomicU64::new(0), stage: AtomicU32::new(0), done: AtomicU32::new(0) };
    let threads = if help { rayon::current_num_threads() } else { 1 };
    let mut leader = Leader { board: &board, work, alone: threads == 1, number: 0 };
    if threads == 1 {
        return lead(&mut leader);
    }
    let all = || {
        let result = lead(&mut leader);
        board.ticket.store(OVER, Ordering::Release);
        result
    };
    rayon::join(all, || call_helpers(&board, work, threads - 1)).0
}

fn call_helpers(board: &Board, work: &(dyn Fn(u32, usize) + Sync), count: usize) {
    if count > 1 {
        rayon::join(|| help(board, work), || call_helpers(board, work, count - 1));
    } else {
        help(board, work);
    }
}

fn help(board: &Board, work: &(dyn Fn(u32, usize) + Sync)) {
    loop {
        let ticket = board.ticket.load(Ordering::Relaxed);
        if ticket >= OVER {
            return;
        }
        if !draw(board, work) {
            let same = |now: u64| now >> CHUNK_BITS == ticket >> CHUNK_BITS;
            wait(|| !same(board.ticket.load(Ordering::Relaxed)));
        }
    }
}

/// Makes chunks of the stage at hand until none is left; says whether there was any.
fn draw(board: &Board, work: &(dyn Fn(u32, usize) + Sync)) -> bool {
    let mut any = false;
    loop {
        let ticket = board.ticket.fetch_add(1, Ordering::Acquire);
        let (count, chunk) = (ticket >> CHUNK_BITS & CHUNK_MASK, ticket & CHUNK_MASK);
        if chunk >= count || ticket >= OVER {
            return any;
        }
        work(board.stage.load(Ordering::Relaxed), chunk as usize);
        board.done.fetch_add(1, Ordering::Release);
        any = true;
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
        if self.alone || chunks <= 1 {
            (0..chunks).for_each(|chunk| (self.work)(stage, chunk));
            return;
        }
        self.number = (self.number + 1) % (OVER >> (2 * CHUNK_BITS));
        self.board.stage.store(stage, Ordering::Relaxed);
        self.board.done.store(0, Ordering::Relaxed);
        let ticket = self.number << (2 * CHUNK_BITS) | (chunks as u64) << CHUNK_BITS;
        self.board.ticket.store(ticket, Ordering::Release);
        draw(self.board, self.work);
        wait(|| self.board.done.load(Ordering::Acquire) as usize == chunks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_is_made_once_and_stages_follow_each_other() {
        for threads in [1, 2, 3, 7] {
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
