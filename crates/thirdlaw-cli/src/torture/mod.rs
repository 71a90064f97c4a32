//! `thirdlaw torture`: random ordinary scenes, judged by laws and not by stored numbers.
//!
//! A seed and a number make a scene ([`kinds`], [`sketch`]), which is written and loaded as a user's file would
//! be, run ([`trace`]) and judged ([`laws`]). Scenes are worked off by processes of their own ([`worker`]).
//! What fails is made smaller ([`shrink`]) and written out. The table ([`report`]) is the same for any number
//! of threads.

mod draw;
mod judge;
mod kinds;
mod laws;
mod report;
mod shrink;
mod sketch;
mod trace;
mod watch;
mod worker;

use crate::args::TortureArgs;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print::{self, remark};
use report::{Broken, Judged};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use thirdlaw_run::record::core_count;
use worker::{Answer, Order, Worker};

/// Scenes of one kind and law that are made smaller.
const SHRUNK: usize = 2;

/// Judges random scenes.
pub fn torture(args: &TortureArgs) -> Result<(), Failure> {
    if args.worker {
        worker::work();
        return Ok(());
    }
    let only = match args.only.as_deref() {
        Some(name) => Some(kinds::find(name).ok_or_else(|| {
            let names: Vec<_> = kinds::KINDS.iter().map(|kind| kind.name).collect();
            Failure::Input(format!("--only {name}: must be one of {}", names.join(", ")))
        })?),
        None => None,
    };
    if let Some(name) = args.laws.iter().find(|name| laws::find(name).is_none()) {
        let names: Vec<_> = laws::LAWS.iter().map(|law| law.name).collect();
        return Err(Failure::Input(format!("--law {name}: must be one of {}", names.join(", "))));
    }
    let interrupt = Interrupt::listen()?;
    let all = judge_all(args, only, &interrupt)?;
    print::result(&report::table(&all))?;
    let broken = report::broken(&all);
    let told = tell(args, &broken, &interrupt)?;
    print::result(&told)?;
    if interrupt.is_asked() {
        return Err(Failure::Interrupted);
    }
    outcome(&all, &broken)
}

/// Whether the run is clean.
fn outcome(all: &[Judged], broken: &[Broken]) -> Result<(), Failure> {
    let mut laws: Vec<String> = Vec::new();
    for b in broken.iter().filter(|b| !b.is_known()) {
        laws.push(format!("{} {}: {}: {}", b.kind, b.scene, b.law, b.how));
    }
    let (refused, skipped) = report::share(all);
    let shares = [
        ("scenes refused", refused, report::TOO_MANY),
        ("laws skipped", skipped, report::TOO_MANY),
        ("couplings ended by an error", report::unsolved(all), report::MAY_END),
    ];
    for (what, share, most) in shares {
        if share >= most {
            laws.push(format!("{:.1} % of {what}", 100.0 * share));
        }
    }
    if laws.is_empty() { Ok(()) } else { Err(Failure::Laws(laws)) }
}

/// Judges all scenes, on as many workers as threads; in the order of their numbers.
fn judge_all(
    args: &TortureArgs,
    only: Option<kinds::Kind>,
    interrupt: &Interrupt,
) -> Result<Vec<Judged>, Failure> {
    let (next, results) = (AtomicU64::new(args.first), Mutex::new(Vec::new()));
    let (begun, failed) = (Instant::now(), Mutex::new(None));
    let patience = args.minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes));
    let work = || {
        let mut worker = Worker::default();
        while !interrupt.is_asked() && patience.is_none_or(|most| begun.elapsed() < most) {
            let scene = next.fetch_add(1, Ordering::Relaxed);
            if scene >= args.first + args.count {
                break;
            }
            let kind = only.unwrap_or_else(|| kinds::of(scene));
            let (seed, kind_name, laws) = (args.seed, kind.name.into(), args.laws.clone());
            let order = Order { seed, scene, kind: kind_name, laws, law: None };
            match worker.ask(&order) {
                Ok(answer) if !interrupt.is_asked() => {
                    let mut results = lock(&results);
                    results.push(Judged { scene, kind: kind.name, answer });
                    if results.len() % 100 == 0 {
                        let seconds = begun.elapsed().as_secs();
                        remark(&format!("{} of {} scenes, {seconds} s", results.len(), args.count));
                    }
                }
                Ok(_) => break,
                Err(error) => {
                    *lock(&failed) = Some(error);
                    break;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..args.threads.unwrap_or_else(core_count) {
            scope.spawn(work);
        }
    });
    if let Some(error) = lock(&failed).take() {
        return Err(Failure::file("start", Path::new("a worker"))(error));
    }
    let mut all = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    all.sort_by_key(|judged| judged.scene);
    Ok(all)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What is broken, a line for each kind and law, with the smallest scenes written out.
fn tell(args: &TortureArgs, broken: &[Broken], interrupt: &Interrupt) -> Result<String, Failure> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for b in broken {
        if !pairs.contains(&(b.kind, &b.law)) {
            pairs.push((b.kind, &b.law));
        }
    }
    pairs.sort_unstable();
    let mut out = String::new();
    let mut worker = Worker::default();
    for (kind, law) in pairs {
        let of_pair: Vec<_> = broken.iter().filter(|b| b.kind == kind && b.law == law).collect();
        let known = if of_pair[0].is_known() { ", known" } else { "" };
        out += &format!("\n{kind} breaks {law} in {} scenes{known}\n", of_pair.len());
        for b in of_pair.iter().take(SHRUNK) {
            out += &format!("  scene {}: {}\n", b.scene, b.how);
            if (known.is_empty() || args.shrink_known) && !interrupt.is_asked() {
                out += &format!("    {}\n", write(args, b, &mut worker)?.display());
            }
        }
    }
    Ok(out)
}

/// Writes a failing scene, as small as it could be made.
fn write(args: &TortureArgs, broken: &Broken, worker: &mut Worker) -> Result<PathBuf, Failure> {
    let Broken { scene, kind, law, how } = broken;
    let order = |law: Option<String>| Order {
        seed: args.seed,
        scene: *scene,
        kind: (*kind).into(),
        laws: Vec::new(),
        law,
    };
    let whole = || worker::sketch(&order(None)).map(|s| s.text()).unwrap_or_default();
    let (text, how) = match args.whole {
        true => (whole(), how.clone()),
        false => match worker.ask(&order(Some(law.clone()))) {
            Ok(Answer::Shrunk(text, how)) => (text, how),
            _ => (whole(), how.clone()),
        },
    };
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("out/torture"));
    std::fs::create_dir_all(&folder).map_err(Failure::file("create", &folder))?;
    let path = folder.join(format!("{kind}-{}-{scene}-{law}.toml", args.seed));
    let comment = format!("# breaks the law `{law}`: {}\n", how.replace('\n', " "));
    std::fs::write(&path, comment + &text).map_err(Failure::file("write", &path))?;
    Ok(path)
}
