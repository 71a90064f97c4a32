//! `thirdlaw export`: a recorded run in the file formats of other programs.

use crate::args::{self, ExportArgs};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::list;
use crate::out::named_or_latest;
use crate::print::{self, duration, plural};
use crate::progress::ProgressLine;
use std::time::Instant;
use thirdlaw_run::{Export, ExportFormat, Recording};

/// Exports a run.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let folder = named_or_latest(args.folder.as_deref())?;
    let recording = Recording::open(&folder)?;
    let frames = args.frames.as_ref().map(|range| range.frames(recording.last_frame));
    let format = format_of(args.to);
    let out = args.out.clone().unwrap_or_else(|| format.default_path(&folder));
    let export = Export::of(&recording, frames.transpose()?)?;
    print::remark(&format!(
        "{}: {} of {}, into {}",
        recording.record.scene.name,
        plural(export.frame_count(), "frame"),
        list::contents(&recording.scene),
        out.display()
    ));
    let started = Instant::now();
    let interrupt = Interrupt::listen()?;
    let mut line = ProgressLine::new(args.quiet);
    let result =
        export.write(format, &out, args.force, &mut |progress| line.show(progress, &interrupt));
    line.clear();
    result.map_err(Failure::from).inspect_err(|failure| {
        if let Failure::Interrupted = failure {
            print::remark("interrupted; nothing was written");
        }
    })?;
    print::result(&format!(
        "results in {}: {} in {}\n",
        out.display(),
        plural(export.frame_count(), "frame"),
        duration(started.elapsed().as_secs_f64())
    ))
}

fn format_of(typed: args::ExportFormat) -> ExportFormat {
    match typed {
        args::ExportFormat::Usd => ExportFormat::Usd,
        args::ExportFormat::Vtk => ExportFormat::Vtk,
        args::ExportFormat::Obj => ExportFormat::Obj,
        args::ExportFormat::Gltf => ExportFormat::Gltf,
    }
}
