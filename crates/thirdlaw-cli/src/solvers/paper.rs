//! `thirdlaw solvers --table`: Table 1 of the paper, frame times of its five scenes.

use super::simulate::{Motion, simulate};
use super::{Contestant, prepare, refuse, write_json};
use crate::args::SolversArgs;
use crate::failure::Failure;
use crate::print::{number, remark};
use crate::{print, threads};
use serde::Serialize;
use std::fmt::Write;
use thirdlaw::{Precision, Solver};
use thirdlaw_run::SceneSource;
use thirdlaw_run::clock::now;
use thirdlaw_run::record::{Machine, VERSION, core_count};
use thirdlaw_run::tables::FrameTable;

/// The scenes, and what the paper has for them on a GTX 580, ms: Gauss–Seidel and block mass splitting.
const PAPER: [(&str, f64, f64); 5] = [
    ("tonge2012/boxes", 17.7, 15.7),
    ("tonge2012/chain", 12.4, 5.2),
    ("tonge2012/chess", 24.9, 25.5),
    ("tonge2012/card-house", 4.8, 3.5),
    ("tonge2012/fracture", 7.8, 7.0),
];

/// Frames of a scene at most, unless asked for otherwise: enough for piles to lie, and for a table to be
/// done in minutes.
const FRAMES: u32 = 240;

#[derive(Serialize)]
struct Row {
    scene: String,
    bodies: usize,
    solver: String,
    iterations: u32,
    mean_ms: f64,
    frame_ms: f64,
    solve_ms: f64,
    fps: f64,
    rest_median: f64,
    rest_mean: f64,
    overlap: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    paper_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<String>,
}

#[derive(Serialize)]
struct Report<'a> {
    version: &'static str,
    date: String,
    machine: Machine,
    substeps: u32,
    rows: &'a [Row],
}

/// Measures and prints the table, row by row as they are done.
pub fn table(args: &SolversArgs) -> Result<(), Failure> {
    let threads = args.threads.unwrap_or_else(core_count);
    let of = |solver, precision, iterations| Contestant { solver, precision, iterations };
    let all = [
        of(Solver::Pgs, Precision::Double, args.budget.0),
        of(Solver::ColoredPgs, Precision::Single, args.budget.0),
        of(Solver::BlockMassSplitting, Precision::Double, args.budget.1),
        Contestant::DEFAULT,
    ];
    let mut scenes = Vec::new();
    let typed = args.scene.as_deref();
    for typed in typed.map_or(PAPER.map(|paper| paper.0).to_vec(), |typed| vec![typed]) {
        let source = SceneSource::find(typed)?;
        let scene = source.load(&args.overrides)?;
        refuse(&source.name, &scene)?;
        scenes.push((source.name, scene));
    }
    let folder = if typed.is_some() { scenes[0].0.as_str() } else { "tonge2012" };
    let out = prepare(args, folder)?;
    let mut rows = Vec::new();
    print::result(&header())?;
    for (name, scene) in &scenes {
        let paper = PAPER.iter().find(|paper| paper.0 == name);
        let frames = args.frames.unwrap_or(scene.frames.min(FRAMES));
        let bodies = scene.world.model().bodies.iter().filter(|b| b.is_dynamic()).count();
        for who in all {
            remark(&format!("{name}: {frames} frames with {}", who.name()));
            let motion = threads::install(threads, || simulate(scene, who, frames, args.substeps))?;
            let paper_ms = paper.and_then(|&(_, pgs, splitting)| match who.solver {
                Solver::Pgs => Some(pgs),
                Solver::BlockMassSplitting => Some(splitting),
                _ => None,
            });
            let row = row(name, bodies, motion, paper_ms);
            print::result(&line(&row))?;
            rows.push(row);
        }
    }
    let columns =
        ["scene", "bodies", "solver", "iterations", "mean_ms", "frame_ms", "solve_ms", "paper_ms"];
    let mut table = FrameTable::create(&out.join("table.csv"), &columns)?;
    table.append(rows.iter().map(|r| {
        let mut row = vec![r.scene.clone(), r.bodies.to_string(), r.solver.clone()];
        row.push(r.iterations.to_string());
        row.extend([r.mean_ms, r.frame_ms, r.solve_ms].map(|ms| format!("{ms:.4}")));
        row.push(r.paper_ms.map_or_else(String::new, |ms| ms.to_string()));
        row
    }))?;
    table.sync()?;
    print::result(&format!("results in {}: table.csv\n", out.display()))?;
    let machine = Machine::here(threads);
    let (version, date, substeps) = (VERSION, now(), args.substeps);
    write_json(args.json.as_deref(), &Report { version, date, machine, substeps, rows: &rows })
}

fn row(scene: &str, bodies: usize, motion: Motion, paper_ms: Option<f64>) -> Row {
    Row {
        scene: scene.into(),
        bodies,
        iterations: motion.iterations,
        mean_ms: motion.mean_ms,
        frame_ms: motion.frame_ms,
        solve_ms: motion.solve_ms,
        fps: 1e3 / motion.mean_ms,
        rest_median: motion.rest_median,
        rest_mean: motion.rest_mean,
        overlap: motion.overlap,
        paper_ms,
        broken: motion.broken,
        solver: motion.name,
    }
}

fn header() -> String {
    format!(
        "{:<21} {:>6} {:<22} {:>5} {:>10} {:>8} {:>12} {:>9} {:>9}  {:>11} {:>10} {:>10}\n",
        "scene",
        "bodies",
        "solver",
        "iter.",
        "ms, mean",
        "FPS",
        "at rest ms",
        "solve ms",
        "paper ms",
        "J/kg median",
        "mean",
        "overlap mm"
    )
}

fn line(r: &Row) -> String {
    let iterations = if r.iterations > 0 { r.iterations.to_string() } else { "–".into() };
    let mut line = format!(
        "{:<21} {:>6} {:<22} {iterations:>5} {:>10} {:>8} {:>12} {:>9} {:>9}  {:>11} {:>10} {:>10}\n",
        r.scene,
        r.bodies,
        r.solver,
        number(r.mean_ms),
        number(r.fps.round()),
        number(r.frame_ms),
        number(r.solve_ms),
        r.paper_ms.map_or_else(|| "–".into(), number),
        number(r.rest_median),
        number(r.rest_mean),
        number(r.overlap * 1e3)
    );
    if let Some(why) = &r.broken {
        let _ = writeln!(line, "  ended early: {why}");
    }
    line
}
