//! `thirdlaw run`, and `thirdlaw` alone.

use crate::args::{DEFAULT_SCENE, ResumeArgs, RunArgs};
use crate::failure::Failure;
use crate::folder::{RunFolder, default_folder};
use crate::interrupt::Interrupt;
use crate::ledger::CouplingRecord;
use crate::motor::Motor;
use crate::record::{self, Machine, Outcome, RunRecord, SceneRecord, Totals, core_count, now};
use crate::session::Session;
use crate::source::{self, SceneSource};
use crate::{list, print, report, resume, stats, summary, threads};
use std::path::Path;
use thirdlaw_scene::Scene;

/// More frames than this are a slip of the finger.
const MOST_FRAMES: f64 = 1e8;

/// Runs a scene into a folder.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let source = source::find(&args.scene)?;
    let scene = source.load(&args.overrides)?;
    let record = new_record(args, &source, &scene)?;
    let motor = Motor::new(&scene)?;
    let path = args.out.clone().unwrap_or_else(|| default_folder(&source.name));
    let folder = RunFolder::claim(&path)?;
    folder.clear(args.force)?;
    print::remark(&format!(
        "{}: {}, {} at {} frames/s, into {}",
        source.name,
        list::contents(&scene),
        print::plural(record.frames as usize, "frame"),
        print::number(scene.fps),
        path.display()
    ));
    list::print_notes(&scene);
    let interrupt = Interrupt::listen()?;
    threads::install(record.machine.threads, || {
        let options = WorkOptions { quiet: args.quiet, report: !args.no_report };
        work(Session::begin(scene, motor, folder, record)?, &interrupt, options)
    })
}

/// How a session is worked at.
#[derive(Clone, Copy, Debug)]
pub struct WorkOptions {
    /// Plain lines instead of a progress bar.
    pub quiet: bool,
    /// Whether `report.html` is written at the end.
    pub report: bool,
}

/// Simulates a session to its end and tells about it.
pub fn work(
    mut session: Session,
    interrupt: &Interrupt,
    options: WorkOptions,
) -> Result<(), Failure> {
    let folder = session.folder.path().display().to_string();
    let can_resume = session.record.cache;
    let end = session.simulate(interrupt, options.quiet).map_err(|failure| {
        failure.with_hint(|| match can_resume {
            true => format!("what was done is kept; go on with `thirdlaw resume {folder}`"),
            false => String::new(),
        })
    })?;
    session.close(&end)?;
    print::result(&summary::text(&session))?;
    // whoever interrupts a run wants it to end
    if options.report && session.record.outcome.is_final() {
        tell_report(&session);
    }
    summary::verdict(&session.record)
}

/// Writes the report. The run is done and safe by now, so that a report that cannot be made is told
/// but spoils nothing.
fn tell_report(session: &Session) {
    let folder = session.folder.path();
    match report::write(folder, session.record.clone(), session.scene.clone()) {
        Ok(()) => {
            let _ =
                print::result(&format!("report: {}\n", folder.join(report::FILE_NAME).display()));
        }
        Err(failure) => print::remark(&format!("the report could not be made: {failure}")),
    }
}

/// Runs the default scene, as somebody who tries the command for the first time does: the second
/// time it starts again, or goes on with what was interrupted; pictures made of it are not thrown away.
pub fn run_default() -> Result<(), Failure> {
    let path = default_folder(DEFAULT_SCENE);
    let mut args = RunArgs::plain(DEFAULT_SCENE);
    let result = match RunRecord::read(&path)? {
        Some(record) if !is_plain(&record) => run(&args),
        Some(record) if record.outcome.is_final() && has_pictures(&path) => {
            print::result(&format!(
                "{0} is finished and has pictures, which running it again would remove; \
                 `thirdlaw run {DEFAULT_SCENE} --force` does\n",
                path.display()
            ))?;
            summary::verdict(&record)
        }
        Some(record) if record.outcome.is_final() => {
            args.force = true;
            run(&args)
        }
        Some(_) => resume::resume(&ResumeArgs {
            folder: Some(path),
            threads: None,
            quiet: false,
            no_report: false,
        }),
        None => run(&args),
    };
    if matches!(result, Ok(()) | Err(Failure::Expectations(_))) {
        print::result(
            "\nNext: `thirdlaw render --poster-only` draws a picture of it, `thirdlaw scenes` lists what else can be run, \
             `thirdlaw run NAME` runs it, `thirdlaw --help` tells the rest.\n",
        )?;
    }
    result
}

fn has_pictures(folder: &Path) -> bool {
    ["pictures", "poster.png", "movie.png", "movie.mp4"].iter().any(|f| folder.join(f).exists())
}

/// Whether a run is one of the scene as it is, so that doing it again loses nothing.
fn is_plain(record: &RunRecord) -> bool {
    record.scene.overrides.is_empty()
        && !record.frames_changed
        && record.cache
        && !record.poses
        && !record.points
        && !record.joints
}

fn new_record(args: &RunArgs, source: &SceneSource, scene: &Scene) -> Result<RunRecord, Failure> {
    let frames = match (args.frames, args.seconds) {
        (Some(frames), _) => frames,
        (None, Some(seconds)) => {
            let frames = (seconds * scene.fps).round();
            if frames > MOST_FRAMES {
                let fps = scene.fps;
                return Err(Failure::Input(format!(
                    "--seconds {seconds} makes {frames} frames at {fps} frames/s, too many to keep"
                )));
            }
            frames as u32
        }
        (None, None) => scene.frames,
    };
    Ok(RunRecord {
        format: record::FORMAT,
        version: record::VERSION.into(),
        scene: SceneRecord {
            name: source.name.clone(),
            source: source.label.clone(),
            folder: source.folder.clone(),
            text: source.text.clone(),
            hash: stats::hash_text(scene.hash),
            overrides: args.overrides.clone(),
        },
        frames,
        frames_changed: frames != scene.frames,
        fps: scene.fps,
        steps_per_frame: scene.steps_per_frame,
        settings: settings_value(scene)?,
        model: stats::hash_text(scene.world.model().fingerprint()),
        cache: !args.no_cache,
        poses: args.poses,
        joints: args.joints,
        points: args.points,
        coupling: scene.partition.as_ref().map(CouplingRecord::new),
        machine: Machine::here(args.threads.unwrap_or_else(core_count)),
        started: now(),
        finished: None,
        resumed: Vec::new(),
        outcome: Outcome::Running,
        failure: None,
        expectations: Vec::new(),
        final_hash: None,
        totals: Totals::default(),
    })
}

/// The world's settings as they stand in the record.
pub fn settings_value(scene: &Scene) -> Result<serde_json::Value, Failure> {
    serde_json::to_value(scene.world.settings())
        .map_err(|error| Failure::Input(format!("the settings cannot be recorded: {error}")))
}
