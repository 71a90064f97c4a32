//! Prints what measuring costs beside stepping, for built-in scenes: milliseconds a frame, median of frames.
//! Exits with 1 where a scene takes longer to measure than to step.
//!
//! `cargo run --release -p thirdlaw-studies -- measures [FRAMES [SCENE…]]`

use std::process::ExitCode;
use std::time::Instant;
use thirdlaw::measure;

/// What is not worth judging: clocks, and threads that wake up, s.
const NOTHING: f64 = 1e-4;

pub fn main() -> ExitCode {
    let mut words = crate::words();
    let frames: u32 = words.next().map_or(60, |n| n.parse().expect("a number of frames"));
    let asked: Vec<String> = words.collect();
    let mut slow = 0;
    for scene in thirdlaw_scene::builtin() {
        if !asked.is_empty() && !asked.iter().any(|name| name == scene.name) {
            continue;
        }
        let Ok(scene) = thirdlaw_scene::load(scene.name, scene.text, None, &[]) else { continue };
        let dt = scene.dt();
        let mut world = scene.world;
        let mut times = [Vec::new(), Vec::new()];
        let mut deepest = 0.0_f64;
        let begun = Instant::now();
        for _ in 0..frames.min(scene.frames) {
            let start = Instant::now();
            if world.step(dt).is_err() || begun.elapsed().as_secs() > 20 {
                break;
            }
            let stepped = Instant::now();
            deepest = deepest.max(measure::penetration(&world));
            times[0].push((stepped - start).as_secs_f64());
            times[1].push(stepped.elapsed().as_secs_f64());
        }
        if times[0].is_empty() {
            continue;
        }
        let [step, look] = times.map(|mut list| {
            let (_, middle, _) = {
                let half = list.len() / 2;
                list.select_nth_unstable_by(half, f64::total_cmp)
            };
            *middle
        });
        let over = look > step + NOTHING;
        slow += u32::from(over);
        println!(
            "{:32} step {:9.4} ms, overlap {:9.4} ms, {:7.2} of it; {:.3} mm{}",
            scene.name,
            1e3 * step,
            1e3 * look,
            look / step,
            1e3 * deepest,
            if over { "  SLOW" } else { "" }
        );
    }
    println!("{slow} scenes take longer to measure than to step");
    ExitCode::from(u8::from(slow > 0))
}
