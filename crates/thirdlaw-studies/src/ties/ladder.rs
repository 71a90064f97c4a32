//! A ladder of mass ratios from 1e-4 to 1e4 for every kind of link: how many evaluations a step takes, and how far
//! things are in a second from where one world at the same rate has them (apart), or one at 1920 frames/s (error), as
//! a share of how far they go, or of 0.1 m if that is more.
//!
//! `cargo run --release -p thirdlaw-studies -- ladder [NAME]`; exits with 1 where a rung ends in an error, or is
//! farther off than 1 % from both, and farther from the finer one than the coarser one is.

use super::rungs;
use super::systems::System;
use super::{apart, coupled, whole};

const RATE: u32 = 60;
const TRUE_RATE: u32 = 1920;
/// m.
const LEAST: f64 = 0.1;
/// Mass of the second over that of the first.
const RATIOS: [f64; 9] = [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 1e2, 1e3, 1e4];
/// Share of the way that a rung may be off.
const OFF: f64 = 0.01;

/// A ladder: its name and its rungs.
type Ladder = (&'static str, fn(f64) -> System);

const LADDERS: [Ladder; 6] = [
    ("tie, rigid and rigid", rungs::two_bobs),
    ("tie, rigid and cloth", rungs::towed_cloth),
    ("touch, rigid and rigid", |ratio| rungs::stack("follow", ratio)),
    ("touch, rigid and rigid, struck", |ratio| rungs::struck("follow", ratio)),
    ("touch, cloth and rigid", rungs::struck_cloth),
    ("watch, rigid and rigid", |ratio| rungs::struck("watch", ratio)),
];

pub fn main() {
    let only = crate::words().next().unwrap_or_default();
    println!(
        "{:<32} {:>8} {:>7} {:>6} {:>11} {:>11} {:>11} {:>7}",
        "link", "ratio", "evals", "parts", "apart", "error", "one world", "errors"
    );
    let mut missed = 0;
    for (name, make) in LADDERS.iter().filter(|(name, _)| name.contains(&only)) {
        for ratio in RATIOS {
            let system = make(ratio);
            let (ran, one) = (coupled(&system, RATE), whole(&system, RATE));
            let truth = whole(&system, TRUE_RATE);
            let (same, own) = (apart(&ran.places, &one, LEAST), apart(&one, &truth, LEAST));
            let off = apart(&ran.places, &truth, LEAST);
            let near = same.min(off) <= OFF || off <= own;
            let bad = ran.errors > 0 || !near;
            missed += u32::from(bad);
            println!(
                "{:<32} {ratio:>8.0e} {:>7.1} {:>6} {:>9.3} % {:>9.3} % {:>9.3} % {:>7}{}",
                if ratio == RATIOS[0] { name } else { "" },
                ran.evaluations,
                ran.parts,
                100.0 * same,
                100.0 * off,
                100.0 * own,
                ran.errors,
                if bad { "  ✗" } else { "" }
            );
            if !ran.problem.is_empty() {
                println!("    {}", ran.problem);
            }
        }
    }
    println!("{missed} missed");
    std::process::exit(i32::from(missed > 0));
}
