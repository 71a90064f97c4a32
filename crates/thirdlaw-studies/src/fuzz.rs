//! Loads damaged scenes, as many as asked for, on all cores: none may panic or take long, and every
//! refusal must point into the text.
//!
//! `cargo run --release -p thirdlaw-studies -- fuzz 1000000 [SEED]`

#[path = "../../thirdlaw-scene/tests/it/damage.rs"]
mod damage;

use damage::{SMALL, damage, is_refused, seed_text};
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use thirdlaw_scene::builtin;
use thirdlaw_scene::generate::Random;

/// What takes longer counts as hanging.
const PATIENCE: Duration = Duration::from_secs(10);
/// Damages of one seed; a chunk is made anew from its number alone.
const CHUNK: u64 = 500;

pub fn main() -> ExitCode {
    let mut arguments = crate::words();
    let mut number = |plain| arguments.next().map_or(Some(plain), |text| text.parse().ok());
    let (Some(count), Some(seed)) = (number(100_000), number(1)) else {
        eprintln!("usage: fuzz [COUNT] [SEED]");
        return ExitCode::from(2);
    };
    let started = Instant::now();
    let tally = Tally::default();
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let chunk = next.fetch_add(1, Ordering::Relaxed);
                    if chunk * CHUNK >= count {
                        break;
                    }
                    work(seed, chunk, (count - chunk * CHUNK).min(CHUNK), &tally);
                }
            });
        }
    });
    let [done, refused, bad] =
        [&tally.done, &tally.refused, &tally.bad].map(|n| n.load(Ordering::Relaxed));
    println!(
        "{done} damaged scenes in {:.0} s: {refused} refused, {} accepted, {bad} bad; slowest {} ms",
        started.elapsed().as_secs_f64(),
        done - refused - bad,
        tally.slowest_ms.load(Ordering::Relaxed)
    );
    ExitCode::from(u8::from(bad > 0))
}

#[derive(Default)]
struct Tally {
    done: AtomicU64,
    refused: AtomicU64,
    bad: AtomicU64,
    slowest_ms: AtomicU64,
}

fn work(seed: u64, chunk: u64, count: u64, tally: &Tally) {
    let scenes = builtin();
    // every second chunk of the one that is built whole
    let (name, text) = match scenes.get((chunk / 2 % scenes.len() as u64) as usize) {
        Some(scene) if chunk.is_multiple_of(2) => (scene.name, seed_text(scene)),
        _ => ("small", SMALL.to_string()),
    };
    let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(chunk));
    for k in 0..count {
        let text = damage(&text, &mut random);
        let clock = Instant::now();
        let outcome = catch_unwind(|| is_refused(name, &text));
        let took = clock.elapsed();
        tally.done.fetch_add(1, Ordering::Relaxed);
        tally.slowest_ms.fetch_max(took.as_millis() as u64, Ordering::Relaxed);
        match outcome {
            Ok(refused) if took < PATIENCE => {
                tally.refused.fetch_add(u64::from(refused), Ordering::Relaxed);
            }
            _ => {
                tally.bad.fetch_add(1, Ordering::Relaxed);
                let seconds = took.as_secs_f64();
                eprintln!("seed {seed}, chunk {chunk}, {k}: {name}, {seconds:.1} s\n{text}\n-----");
            }
        }
    }
}
