//! `thirdlaw export`: a recorded run in the file formats of other programs.
//!
//! [`recorded`] describes a run as a [`stage::Stage`]; each format is a sibling that writes a stage
//! and knows nothing of runs.

mod gltf;
mod names;
mod obj;
mod output;
mod reader;
mod recorded;
mod stage;
mod usd;
mod vtk;

use crate::args::{ExportArgs, ExportFormat};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print::{self, duration, plural};
use crate::recording::{self, Recording};
use crate::{files, list};
use output::{NewFile, NewFolder};
use reader::Reader;
use stage::Stage;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Folder of exports in that of the run.
const FOLDER: &str = "export";

/// Exports a run.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => recording::latest()?,
    };
    let recording = Recording::open(&folder)?;
    let last = recording.last_frame;
    let frames = match &args.frames {
        Some(range) => range.frames(last)?,
        None => (0..=last).collect(),
    };
    let out = args.out.clone().unwrap_or_else(|| default_path(&folder, args.to));
    let stage = recorded::stage(&recording, frames)?;
    print::remark(&format!(
        "{}: {} of {}, into {}",
        recording.record.scene.name,
        plural(stage.frames.len(), "frame"),
        list::contents(&recording.scene),
        out.display()
    ));
    let started = Instant::now();
    let job = Job { stage: &stage, out: &out, force: args.force, quiet: args.quiet };
    job.write(args.to).inspect_err(|failure| {
        if let Failure::Interrupted = failure {
            print::remark("interrupted; nothing was written");
        }
    })?;
    print::result(&format!(
        "results in {}: {} in {}\n",
        out.display(),
        plural(stage.frames.len(), "frame"),
        duration(started.elapsed().as_secs_f64())
    ))
}

/// A stage to be written somewhere.
struct Job<'a> {
    stage: &'a Stage<'a>,
    out: &'a Path,
    force: bool,
    quiet: bool,
}

impl Job<'_> {
    fn write(&self, format: ExportFormat) -> Result<(), Failure> {
        match format {
            ExportFormat::Usd => {
                let mut file = NewFile::create(self.out, self.force)?;
                self.read(usd::passes(self.stage), |reader| {
                    usd::write(self.stage, reader, &mut file)
                })?;
                file.keep()
            }
            ExportFormat::Gltf => {
                let mut file = NewFile::create(self.out, self.force)?;
                let scratch = NewFile::create(&self.out.with_extension("bin"), true)?;
                self.read(gltf::passes(self.stage), |reader| {
                    gltf::write(self.stage, reader, &mut file, scratch)
                })?;
                file.keep()
            }
            ExportFormat::Vtk => self.fill(vtk::is_ours, vtk::write),
            ExportFormat::Obj => self.fill(obj::is_ours, obj::write),
        }
    }

    fn fill(
        &self,
        is_ours: fn(&str) -> bool,
        write: fn(&Stage<'_>, &mut Reader<'_>, &NewFolder) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let folder = NewFolder::create(self.out, self.force, is_ours)?;
        self.read(1, |reader| write(self.stage, reader, &folder))?;
        folder.keep()
    }

    fn read(
        &self,
        passes: usize,
        work: impl FnOnce(&mut Reader<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut reader = Reader::new(self.stage, passes, Interrupt::listen()?, self.quiet);
        let result = work(&mut reader);
        reader.finish();
        result
    }
}

fn default_path(run: &Path, format: ExportFormat) -> PathBuf {
    run.join(FOLDER).join(match format {
        ExportFormat::Usd => "scene.usda",
        ExportFormat::Gltf => "scene.glb",
        ExportFormat::Vtk => "vtk",
        ExportFormat::Obj => "obj",
    })
}

/// Removes what exports have left in a run's folder, before another run takes its place. What is
/// not ours stays, and with it the folder.
pub fn remove_results(run: &Path) -> Result<(), Failure> {
    for format in [ExportFormat::Usd, ExportFormat::Gltf] {
        files::remove(&default_path(run, format))?;
    }
    type IsOurs = fn(&str) -> bool;
    let folders: [(ExportFormat, IsOurs); 2] =
        [(ExportFormat::Vtk, vtk::is_ours), (ExportFormat::Obj, obj::is_ours)];
    for (format, is_ours) in folders {
        let path = default_path(run, format);
        if path.exists() && output::foreign_file(&path, is_ours)?.is_none() {
            std::fs::remove_dir_all(&path).map_err(Failure::file("remove", &path))?;
        }
    }
    let _ = std::fs::remove_dir(run.join(FOLDER));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cloth and particles for the checkers of other people: `scripts/check-exports` names a folder
    /// and reads what is written there.
    #[test]
    fn the_example_is_written_in_every_format() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = match std::env::var_os("THIRDLAW_EXPORT_EXAMPLE") {
            Some(folder) => PathBuf::from(folder),
            None => temporary.path().to_owned(),
        };
        let stage = stage::examples::stage();
        let write = |stage: &Stage<'_>, format, name: &str| {
            let out = folder.join(name);
            Job { stage, out: &out, force: true, quiet: true }.write(format).unwrap();
            assert!(out.exists());
        };
        write(&stage, ExportFormat::Usd, "example.usda");
        write(&stage, ExportFormat::Vtk, "vtk");
        write(&stage, ExportFormat::Obj, "obj");
        write(&stage, ExportFormat::Gltf, "example.glb");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 4, "no scratch file is left");
    }
}
