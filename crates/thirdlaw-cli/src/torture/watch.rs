//! Watches a frame from outside: the engine reads no clock, and a frame that never ends must not hang the
//! command. A worker is a process of its own; when a frame takes longer than [`LIMIT`], its watcher says
//! what ate the time and ends the process.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use thirdlaw::{Observer, Stage};

/// Longest time that a frame may take before the run is given up, s. Whether a frame took too long for what
/// it holds is another question, with a smaller answer.
pub const LIMIT: f64 = 20.0;

static BEGUN: AtomicU64 = AtomicU64::new(0);
static FRAME: AtomicU32 = AtomicU32::new(0);
static STAGE: AtomicU32 = AtomicU32::new(0);

/// All stages, in the order of their numbers here.
const STAGES: [(Stage, &str); 11] = [
    (Stage::BroadPhase, "broad phase"),
    (Stage::NarrowPhase, "narrow phase"),
    (Stage::Islands, "islands"),
    (Stage::Solve, "solve"),
    (Stage::Integrate, "integrate"),
    (Stage::Finish, "finish (continuous detection)"),
    (Stage::ClothForces, "cloth forces"),
    (Stage::ClothSolve, "cloth solve"),
    (Stage::ClothCloth, "cloth against cloth"),
    (Stage::ClothSolids, "cloth against solids"),
    (Stage::Particles, "particles"),
];

/// Tells the watcher where a step is.
#[derive(Debug, Default)]
pub struct Where;

impl Observer for Where {
    fn begin(&mut self, stage: Stage) {
        let number = STAGES.iter().position(|(s, _)| *s == stage).unwrap_or(0);
        STAGE.store(number as u32, Ordering::Relaxed);
    }

    fn end(&mut self, _: Stage) {}
}

/// Milliseconds since the first call, plus one.
fn now() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_millis() as u64 + 1
}

/// A frame begins.
pub fn begin(frame: u32) {
    FRAME.store(frame, Ordering::Relaxed);
    BEGUN.store(now(), Ordering::Relaxed);
}

/// No frame is being made.
pub fn end() {
    BEGUN.store(0, Ordering::Relaxed);
}

/// Calls `give_up` with what ate the time, from a thread of its own, when a frame takes too long.
pub fn start(give_up: impl Fn(String) + Send + 'static) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let begun = BEGUN.load(Ordering::Relaxed);
            if begun > 0 && now().saturating_sub(begun) as f64 > 1e3 * LIMIT {
                let stage = STAGES[STAGE.load(Ordering::Relaxed) as usize].1;
                let frame = FRAME.load(Ordering::Relaxed);
                give_up(format!("frame {frame} takes longer than {LIMIT} s, in the {stage}"));
            }
        }
    });
}

/// Time that this thread has computed, s: unlike the time of day it does not depend on who else computes.
/// Where the system does not say, the time of day.
pub fn thread_time() -> f64 {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let first = said.as_deref().and_then(|text| text.split_whitespace().next());
    match first.and_then(|text| text.parse::<f64>().ok()) {
        Some(nanoseconds) => 1e-9 * nanoseconds,
        None => 1e-3 * now() as f64,
    }
}
