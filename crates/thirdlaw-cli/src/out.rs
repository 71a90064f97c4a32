//! `out/`: where runs are unless somebody says otherwise.

use crate::failure::Failure;
use std::path::{Path, PathBuf};
use thirdlaw_run::recording;

/// Where the results of a scene go unless the user says otherwise.
pub fn default_folder(scene_name: &str) -> PathBuf {
    Path::new("out").join(scene_name)
}

/// The folder that was named, or that of the run under `out/` that was written to last.
pub fn named_or_latest(folder: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(folder) = folder {
        return Ok(folder.to_owned());
    }
    recording::latest(Path::new("out")).ok_or_else(|| {
        Failure::Input(
            "there is no run under out/\n\
             make one with `thirdlaw run SCENE` (`thirdlaw scenes` lists the built-in ones), or \
             name the folder of one"
                .into(),
        )
    })
}
