//! From what was typed to a scene: a path or the name of a built-in scene.

use crate::error::RunError;
use crate::record::RunRecord;
use std::path::{Path, PathBuf};
use thirdlaw_scene::Scene;

/// A scene's text and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneSource {
    /// Name of the built-in scene, or of the file without its ending.
    pub name: String,
    /// What messages call it: the path that was typed, or the name.
    pub label: String,
    /// Folder for meshes; `None` for built-in scenes.
    pub folder: Option<PathBuf>,
    /// TOML.
    pub text: String,
}

/// Finds the scene called `typed`. What ends in `.toml` is a path; otherwise a built-in name comes
/// before a file of the same name.
pub fn find(typed: &str) -> Result<SceneSource, RunError> {
    let path = Path::new(typed);
    let is_toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    if !is_toml {
        if let Some(scene) = thirdlaw_scene::find_builtin(typed) {
            return Ok(SceneSource {
                name: scene.name.into(),
                label: scene.name.into(),
                folder: None,
                text: scene.text.into(),
            });
        }
        if !path.is_file() {
            let nearest = thirdlaw_scene::nearest_builtin(typed);
            return Err(RunError::NoScene { name: typed.into(), nearest });
        }
    }
    let bytes = std::fs::read(path).map_err(RunError::file("read", path))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        RunError::NotText { name: typed.into(), byte: at }
    })?;
    let absolute = std::path::absolute(path).map_err(RunError::file("read", path))?;
    Ok(SceneSource {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        label: typed.into(),
        folder: absolute.parent().map(Path::to_owned),
        text,
    })
}

impl SceneSource {
    /// The scene of a run, as it was then.
    pub fn of_record(record: &RunRecord) -> SceneSource {
        SceneSource {
            name: record.scene.name.clone(),
            label: record.scene.source.clone(),
            folder: record.scene.folder.clone(),
            text: record.scene.text.clone(),
        }
    }

    /// The scene, or everything that is wrong with it.
    pub fn load(&self, overrides: &[(String, String)]) -> Result<Scene, RunError> {
        Ok(thirdlaw_scene::load(&self.label, &self.text, self.folder.as_deref(), overrides)?)
    }
}
