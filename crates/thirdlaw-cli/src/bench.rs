//! `thirdlaw bench`: how fast scenes are simulated, and how well while at it.
//!
//! A frame's time is that of its steps alone. What a scene costs once it has settled is the median
//! over its last third; rest energy is measured over the same frames: the mean over them of each
//! body's kinetic energy per mass, of which the median and the mean over the bodies are given (the
//! mean is ruled by the few bodies that still fall, the median shows what a pile at rest does). Jitter
//! is the median over the same frames of the median over the bodies: what the body in the middle does
//! in the frame in the middle, whatever jolt came by in others.
//! Overlap is found by fresh geometric queries on the final poses, whichever engine they come from.

mod against;
mod gaps;

use crate::args::{BenchArgs, Peer};
use crate::cloth_table::{self, ClothFigures, ClothTally};
use crate::coupling_table::{self, CouplingFigures};
use crate::failure::Failure;
use crate::{print, threads};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::Write;
use thirdlaw::{PathCounts, Settings, Stage, World, measure};
use thirdlaw_run::clock::now;
use thirdlaw_run::record::{Machine, VERSION, core_count};
use thirdlaw_run::stats::median;
use thirdlaw_run::stepper::{StageTimes, stage_name};
use thirdlaw_run::{SceneSource, Stepper, clock, files, stats};
use thirdlaw_scene::Scene;

/// The figures of one scene with one number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    scene: String,
    engine: &'static str,
    overrides: Vec<(String, String)>,
    threads: usize,
    frames: u32,
    repeat: u32,
    /// Median over the last third of the frames; of the repetitions the median, smallest, largest.
    ms_per_frame: f64,
    ms_per_frame_min: f64,
    ms_per_frame_max: f64,
    /// All frames together.
    total_ms: f64,
    /// Mean over the last third of the frames.
    #[serde(serialize_with = "by_name")]
    stage_ms: BTreeMap<Stage, f64>,
    /// J/kg.
    rest_energy_median: f64,
    rest_energy_mean: f64,
    rest_jitter: f64,
    /// After the last frame, m; p99 over the pairs of bodies that overlap.
    overlap_p99: f64,
    overlap_max: f64,
    contacts: u32,
    /// Of joints; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    gaps: Option<gaps::GapFigures>,
    /// Islands that took each path in a step of the last third of the frames, in the mean; empty for other engines.
    paths: BTreeMap<&'static str, f64>,
    /// Over all frames; absent without cloth.
    #[serde(skip_serializing_if = "Option::is_none")]
    cloth: Option<ClothFigures>,
    /// Absent where one world holds everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    coupling: Option<CouplingFigures>,
    /// Of the final state; absent for other engines.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

#[derive(Serialize)]
struct Report<'a> {
    version: &'static str,
    date: String,
    machine: Machine,
    figures: &'a [Figures],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ratios: Vec<against::Ratios>,
}

/// Measures scenes and prints a table, row by row as they are done.
pub fn bench(args: &BenchArgs) -> Result<(), Failure> {
    let thread_counts =
        if args.threads.is_empty() { vec![core_count()] } else { args.threads.clone() };
    // a mistyped last scene should be known before the first is measured
    let mut scenes = Vec::new();
    for typed in &args.scenes {
        let source = SceneSource::find(typed)?;
        let scene = source.load(&args.overrides)?;
        let frames = args.frames.unwrap_or(scene.frames);
        if frames == 0 {
            return Err(Failure::Input(format!("{typed} has no frames to measure; use --frames")));
        }
        scenes.push((source.name, scene, frames));
    }
    let mut all = Vec::new();
    let names = scenes.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0).max(5);
    print::result(&header(names))?;
    for (name, scene, frames) in &scenes {
        for &threads in &thread_counts {
            for figures in measure_scene(name, scene, *frames, threads, args)? {
                print::result(&row(&figures, names))?;
                all.push(figures);
            }
        }
        warn_of_difference(name, &all);
    }
    let ratios = against::ratios(&all);
    print::result(&against::table(&ratios, names))?;
    let joined = all.iter().filter_map(|f| Some((f.scene.as_str(), f.engine, f.gaps?)));
    print::result(&gaps::table(joined, names))?;
    print::result(&stage_table(&all, names))?;
    print::result(&path_table(&all, names))?;
    let cloth = all.iter().filter_map(|f| Some((f.scene.as_str(), f.threads, f.cloth.as_ref()?)));
    print::result(&cloth_table::text(cloth, names))?;
    let coupled =
        all.iter().filter_map(|f| Some((f.scene.as_str(), f.threads, f.coupling.as_ref()?)));
    print::result(&coupling_table::text(coupled, names))?;
    match &args.json {
        Some(path) => {
            let machine = Machine::here(thread_counts.iter().copied().max().unwrap_or(1));
            let report = Report { version: VERSION, date: now(), machine, figures: &all, ratios };
            let mut text = serde_json::to_string_pretty(&report)
                .map_err(|error| Failure::file("write", path)(error.into()))?;
            text.push('\n');
            Ok(files::write_whole(path, text.as_bytes())?)
        }
        None => Ok(()),
    }
}

/// The figures of a scene; with `--against` those of the other engine too, run in turn with ours.
fn measure_scene(
    name: &str,
    scene: &Scene,
    frames: u32,
    threads: usize,
    args: &BenchArgs,
) -> Result<Vec<Figures>, Failure> {
    let passes = threads::install(threads, || {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..args.repeat {
            ours.push(simulate(name, scene, frames, args.against.is_none())?);
            if let Some(peer) = args.against {
                theirs.push(against::simulate(peer, name, scene, frames)?);
            }
        }
        Ok([("thirdlaw", ours), (args.against.map_or("", Peer::name), theirs)])
    })?;
    let passes = passes.into_iter().filter(|(_, passes)| !passes.is_empty());
    Ok(passes
        .map(|(engine, passes)| {
            let settled: Vec<f64> = passes.iter().map(|pass| pass.settled_ms).collect();
            let stages = passes[0].stage_ms.keys().map(|stage| {
                let times = passes.iter().filter_map(|pass| pass.stage_ms.get(stage).copied());
                (*stage, median(times.collect()))
            });
            let pass = &passes[0];
            Figures {
                scene: name.into(),
                engine,
                overrides: args.overrides.clone(),
                threads,
                frames,
                repeat: args.repeat,
                ms_per_frame: median(settled.clone()),
                ms_per_frame_min: settled.iter().copied().fold(f64::INFINITY, f64::min),
                ms_per_frame_max: settled.iter().copied().fold(0.0, f64::max),
                total_ms: median(passes.iter().map(|pass| pass.total_ms).collect()),
                stage_ms: stages.collect(),
                rest_energy_median: median(pass.rest_energy.clone()),
                // a sum of nothing is −0
                rest_energy_mean: (0.0 + pass.rest_energy.iter().sum::<f64>())
                    / pass.rest_energy.len().max(1) as f64,
                rest_jitter: pass.rest_jitter,
                overlap_p99: pass.overlap_p99,
                overlap_max: pass.overlap_max,
                contacts: pass.contacts,
                gaps: pass.gaps,
                paths: pass.paths.clone(),
                cloth: pass.cloth.clone(),
                coupling: pass.coupling.clone(),
                hash: pass.hash.map(stats::hash_text),
            }
        })
        .collect())
}

/// One simulation of a scene from its beginning.
struct Pass {
    settled_ms: f64,
    total_ms: f64,
    stage_ms: BTreeMap<Stage, f64>,
    rest_energy: Vec<f64>,
    rest_jitter: f64,
    overlap_p99: f64,
    overlap_max: f64,
    contacts: u32,
    gaps: Option<gaps::GapFigures>,
    paths: BTreeMap<&'static str, f64>,
    cloth: Option<ClothFigures>,
    coupling: Option<CouplingFigures>,
    hash: Option<u64>,
}

/// The scene, as it is or without sleep.
fn start(scene: &Scene, may_sleep: bool) -> Result<Scene, Failure> {
    let mut scene = scene.clone();
    let settings = *scene.world.settings();
    let settings = Settings { sleeping: settings.sleeping && may_sleep, ..settings };
    scene.world.set_settings(settings).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(scene)
}

fn simulate(name: &str, scene: &Scene, frames: u32, may_sleep: bool) -> Result<Pass, Failure> {
    let mut stepper = Stepper::with_clock(start(scene, may_sleep)?, clock::monotonic)?;
    let mut steps = Vec::new();
    let settled_from = frames - frames.div_ceil(3);
    let mut frame_ms = Vec::with_capacity(frames as usize);
    let mut stages = StageTimes::default();
    let mut rest_energy: Vec<f64> = Vec::new();
    let mut jitter = Vec::new();
    let mut contacts = 0;
    let mut paths = PathCounts::default();
    let mut tally = ClothTally::default();
    let mut gaps = gaps::Gaps::default();
    for frame in 0..frames {
        if frame == settled_from {
            tally.add_stages(stages.ms());
            stages = StageTimes::default();
        }
        let report = stepper.advance().map_err(|error| {
            Failure::Simulation(format!("{name}, frame {frame}: {}", error.cause))
        })?;
        contacts = report.steps.contacts;
        tally.add_frame(&report.steps);
        stages.add(&report.stages);
        frame_ms.push(report.step_ms);
        steps.extend_from_slice(&report.coupled);
        if frame >= settled_from {
            paths.add(&report.steps.paths);
            let energies = measure::specific_kinetic(stepper.world());
            jitter.push(median(energies.clone()));
            add_rest_energy(&mut rest_energy, energies, frames - settled_from);
        }
        gaps.add(stepper.world());
    }
    tally.add_stages(stages.ms());
    let total_ms = frame_ms.iter().sum();
    let settled = f64::from(frames - settled_from);
    let stage_ms = stages.ms().map(|(stage, ms)| (stage, ms / settled));
    let (overlap_p99, overlap_max) = overlap(stepper.world());
    let steps_made = settled * f64::from(scene.steps_per_frame);
    let taken = paths.iter().filter(|(_, islands)| *islands > 0);
    let paths = taken.map(|(path, islands)| (path.name(), f64::from(islands) / steps_made));
    Ok(Pass {
        settled_ms: median(frame_ms[settled_from as usize..].to_vec()),
        total_ms,
        stage_ms: stage_ms.collect(),
        rest_energy,
        rest_jitter: median(jitter),
        overlap_p99,
        overlap_max,
        contacts,
        gaps: gaps.figures(),
        paths: paths.collect(),
        cloth: tally.figures(stepper.world(), frames, total_ms),
        hash: Some(stepper.hash()?),
        coupling: stepper.is_coupled().then(|| CouplingFigures::new(&stepper, &steps)),
    })
}

/// Adds this frame's share to the mean over `frames` of every body's kinetic energy per mass.
fn add_rest_energy(sums: &mut Vec<f64>, energies: Vec<f64>, frames: u32) {
    sums.resize(energies.len(), 0.0);
    sums.iter_mut().zip(energies).for_each(|(sum, e)| *sum += e / f64::from(frames));
}

/// 99th percentile over overlapping pairs and the largest overlap, m.
fn overlap(world: &World) -> (f64, f64) {
    let mut depths: Vec<f64> = measure::overlaps(world).iter().map(|o| o.depth).collect();
    depths.sort_by(f64::total_cmp);
    let at = |i: usize| depths.get(i).copied().unwrap_or(0.0);
    (at(depths.len() * 99 / 100), depths.last().copied().unwrap_or(0.0))
}

fn by_name<S: Serializer>(stages: &BTreeMap<Stage, f64>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(stages.iter().map(|(stage, ms)| (stage_name(*stage), ms)))
}

/// The same scene must end in the same bits with any number of threads.
fn warn_of_difference(name: &str, all: &[Figures]) {
    let mut of_scene = all.iter().filter(|f| f.scene == name && f.hash.is_some());
    if let Some(first) = of_scene.next()
        && of_scene.any(|f| f.hash != first.hash)
    {
        print::remark(&format!("warning: {name} ended differently with other thread counts"));
    }
}

fn header(names: usize) -> String {
    format!(
        "{:<names$}  engine       threads  frames   ms/frame  (min–max)              total s  contacts  \
         rest J/kg median  mean       jitter     overlap mm p99  max\n",
        "scene"
    )
}

fn row(f: &Figures, names: usize) -> String {
    let spread =
        format!("({}–{})", print::number(f.ms_per_frame_min), print::number(f.ms_per_frame_max));
    format!(
        "{:<names$}  {:<11}  {:>7}  {:>6}  {:>9}  {:<19}  {:>9}  {:>8}  {:>16}  {:<9}  {:<9}  {:>14}  {}\n",
        f.scene,
        f.engine,
        f.threads,
        f.frames,
        print::number(f.ms_per_frame),
        spread,
        print::number(f.total_ms / 1e3),
        f.contacts,
        print::number(f.rest_energy_median),
        print::number(f.rest_energy_mean),
        print::number(f.rest_jitter),
        print::number(f.overlap_p99 * 1e3),
        print::number(f.overlap_max * 1e3)
    )
}

/// Which paths islands took: where a scene spends its time is decided there.
fn path_table(all: &[Figures], names: usize) -> String {
    let mut text = String::from("\nislands a step by path, last third of the frames\n");
    // the same for any number of threads
    for f in all.iter().filter(|f| !f.paths.is_empty() && f.threads == all[0].threads) {
        let taken = f.paths.iter().map(|(path, n)| format!("{path} {}", print::number(*n)));
        let _ = writeln!(text, "{:<names$}  {}", f.scene, taken.collect::<Vec<_>>().join(", "));
    }
    text
}

fn stage_table(all: &[Figures], names: usize) -> String {
    let stages: std::collections::BTreeSet<Stage> =
        all.iter().flat_map(|f| f.stage_ms.keys().copied()).collect();
    let mut text = String::from("\nms/frame by stage, last third of the frames\n");
    let _ = write!(text, "{:<names$}  threads", "scene");
    for stage in &stages {
        let _ = write!(text, "  {:>12}", stage_name(*stage));
    }
    for f in all.iter().filter(|f| !f.stage_ms.is_empty()) {
        let _ = write!(text, "\n{:<names$}  {:>7}", f.scene, f.threads);
        for stage in &stages {
            let ms = f.stage_ms.get(stage).map_or_else(String::new, |ms| print::number(*ms));
            let _ = write!(text, "  {ms:>12}");
        }
    }
    text + "\n"
}
