//! A recorded run in the file formats of other programs.
//!
//! `recorded` describes a run as a stage; each format is a sibling that writes a stage
//! and knows nothing of runs.

mod gltf;
mod names;
mod normals;
mod obj;
mod output;
mod reader;
mod recorded;
mod stage;
mod usd;
mod vtk;

use crate::error::RunError;
use crate::files;
use crate::progress::Watcher;
use crate::recording::Recording;
use output::{NewFile, NewFolder};
use reader::Reader;
use stage::Stage;
use std::path::{Path, PathBuf};

/// Folder of exports in that of the run.
const FOLDER: &str = "export";

/// What other programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// One `.usda` file with time samples, for Blender, Houdini, Maya, Omniverse.
    Usd,
    /// A folder with a `.vtu` file a frame and a `.pvd` file for all, for ParaView.
    Vtk,
    /// A folder with a `.obj` file a frame.
    Obj,
    /// One `.glb` file with animations, for browsers and game engines.
    Gltf,
}

impl ExportFormat {
    /// Where an export of the run in `folder` is written unless somebody says otherwise.
    pub fn default_path(self, folder: &Path) -> PathBuf {
        folder.join(FOLDER).join(match self {
            ExportFormat::Usd => "scene.usda",
            ExportFormat::Gltf => "scene.glb",
            ExportFormat::Vtk => "vtk",
            ExportFormat::Obj => "obj",
        })
    }
}

/// A run to be written in the formats of other programs.
pub struct Export<'a> {
    stage: Stage<'a>,
}

impl<'a> Export<'a> {
    /// These frames of a run, by their rising numbers; `None`: all.
    pub fn of(recording: &'a Recording, frames: Option<Vec<u32>>) -> Result<Export<'a>, RunError> {
        let frames = frames.unwrap_or_else(|| (0..=recording.last_frame).collect());
        Ok(Export { stage: recorded::stage(recording, frames)? })
    }

    /// How many frames are written.
    pub fn frame_count(&self) -> usize {
        self.stage.frames.len()
    }

    /// Writes the file or folder `out`, whole or not at all; what is there already is replaced only
    /// with `force`.
    pub fn write(
        &self,
        format: ExportFormat,
        out: &Path,
        force: bool,
        watch: &mut Watcher<'_>,
    ) -> Result<(), RunError> {
        let stage = &self.stage;
        match format {
            ExportFormat::Usd => {
                let mut file = NewFile::create(out, force)?;
                usd::write(stage, &mut Reader::new(stage, usd::passes(stage), watch), &mut file)?;
                file.keep()
            }
            ExportFormat::Gltf => {
                let mut file = NewFile::create(out, force)?;
                let scratch = NewFile::create(&out.with_extension("bin"), true)?;
                let mut reader = Reader::new(stage, gltf::passes(stage), watch);
                gltf::write(stage, &mut reader, &mut file, scratch)?;
                file.keep()
            }
            ExportFormat::Vtk => {
                let folder = NewFolder::create(out, force, vtk::is_ours)?;
                vtk::write(stage, &mut Reader::new(stage, 1, watch), &folder)?;
                folder.keep()
            }
            ExportFormat::Obj => {
                let folder = NewFolder::create(out, force, obj::is_ours)?;
                obj::write(stage, &mut Reader::new(stage, 1, watch), &folder)?;
                folder.keep()
            }
        }
    }
}

/// Removes what exports have left in a run's folder, before another run takes its place. What is
/// not ours stays, and with it the folder.
pub(crate) fn remove_results(run: &Path) -> Result<(), RunError> {
    for format in [ExportFormat::Usd, ExportFormat::Gltf] {
        files::remove(&format.default_path(run))?;
    }
    type IsOurs = fn(&str) -> bool;
    let folders: [(ExportFormat, IsOurs); 2] =
        [(ExportFormat::Vtk, vtk::is_ours), (ExportFormat::Obj, obj::is_ours)];
    for (format, is_ours) in folders {
        let path = format.default_path(run);
        if path.exists() && output::foreign_file(&path, is_ours)?.is_none() {
            std::fs::remove_dir_all(&path).map_err(RunError::file("remove", &path))?;
        }
    }
    let _ = std::fs::remove_dir(run.join(FOLDER));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::unwatched;

    /// Cloth and particles for the checkers of other people: `scripts/check-exports` names a folder
    /// and reads what is written there.
    #[test]
    fn the_example_is_written_in_every_format() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = match std::env::var_os("THIRDLAW_EXPORT_EXAMPLE") {
            Some(folder) => PathBuf::from(folder),
            None => temporary.path().to_owned(),
        };
        let export = Export { stage: stage::examples::stage() };
        let write = |format, name: &str| {
            let out = folder.join(name);
            export.write(format, &out, true, &mut unwatched).unwrap();
            assert!(out.exists());
        };
        write(ExportFormat::Usd, "example.usda");
        write(ExportFormat::Vtk, "vtk");
        write(ExportFormat::Obj, "obj");
        write(ExportFormat::Gltf, "example.glb");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 4, "no scratch file is left");
    }
}
