//! `thirdlaw run`, and `thirdlaw` alone.

use crate::args::{DEFAULT_SCENE, ResumeArgs, RunArgs};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::out::default_folder;
use crate::progress::ProgressLine;
use crate::{list, print, resume, summary, threads};
use std::path::Path;
use thirdlaw_run::record::core_count;
use thirdlaw_run::{Run, RunFolder, RunOptions, RunRecord, SceneSource, Stepper, clock, report};
use thirdlaw_scene::Scene;

/// More frames than this are a slip of the finger.
const MOST_FRAMES: f64 = 1e8;

/// Runs a scene into a folder.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let source = SceneSource::find(&args.scene)?;
    let scene = source.load(&args.overrides)?;
    let record = RunRecord::new(&source, &scene, &run_options(args, &scene)?)?;
    let stepper = Stepper::with_clock(scene, clock::monotonic)?;
    let path = args.out.clone().unwrap_or_else(|| default_folder(&source.name));
    let folder = RunFolder::claim(&path)?;
    folder.clear(args.force)?;
    print::remark(&format!(
        "{}: {}, {} at {} frames/s, into {}",
        source.name,
        list::contents(stepper.scene()),
        print::plural(record.frames as usize, "frame"),
        print::number(record.fps),
        path.display()
    ));
    list::print_notes(stepper.scene());
    let interrupt = Interrupt::listen()?;
    threads::install(record.machine.threads, || {
        let options = WorkOptions { quiet: args.quiet, report: !args.no_report };
        work(Run::begin(stepper, folder, record)?, &interrupt, options)
    })
}

fn run_options(args: &RunArgs, scene: &Scene) -> Result<RunOptions, Failure> {
    let frames = match args.seconds {
        Some(seconds) => {
            let frames = (seconds * scene.fps).round();
            if frames > MOST_FRAMES {
                let fps = scene.fps;
                return Err(Failure::Input(format!(
                    "--seconds {seconds} makes {frames} frames at {fps} frames/s, too many to keep"
                )));
            }
            Some(frames as u32)
        }
        None => args.frames,
    };
    Ok(RunOptions {
        frames,
        cache: !args.no_cache,
        poses: args.poses,
        joints: args.joints,
        contacts: args.contacts,
        points: args.points,
        threads: args.threads.unwrap_or_else(core_count),
    })
}

/// How a run is worked at.
#[derive(Clone, Copy, Debug)]
pub struct WorkOptions {
    /// Plain lines instead of a progress bar.
    pub quiet: bool,
    /// Whether `report.html` is written at the end.
    pub report: bool,
}

/// Simulates a run to its end and tells about it.
pub fn work(mut run: Run, interrupt: &Interrupt, options: WorkOptions) -> Result<(), Failure> {
    let mut line = ProgressLine::new(options.quiet);
    let outcome = run.simulate(&mut |progress| line.show(progress, interrupt));
    line.clear();
    let outcome = outcome.map_err(|error| {
        Failure::from(error).with_hint(|| match run.record().cache {
            true => {
                let folder = run.folder().display();
                format!("what was done is kept; go on with `thirdlaw resume {folder}`")
            }
            false => String::new(),
        })
    })?;
    print::result(&summary::text(&run))?;
    // whoever interrupts a run wants it to end
    if options.report && outcome.is_final() {
        tell_report(&run);
    }
    summary::verdict(run.record())
}

/// Writes the report. The run is done and safe by now, so that a report that cannot be made is told
/// but spoils nothing.
fn tell_report(run: &Run) {
    let folder = run.folder();
    match report::write(folder, run.record().clone(), run.stepper().scene().clone()) {
        Ok(()) => {
            let _ =
                print::result(&format!("report: {}\n", folder.join(report::FILE_NAME).display()));
        }
        Err(error) => {
            let failure = Failure::from(error);
            print::remark(&format!("the report could not be made: {failure}"));
        }
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
        && !record.contacts
}
