//! Where a scene comes from: a file, or the built-in ones.

use crate::error::RunError;
use crate::record::RunRecord;
use std::path::{Path, PathBuf};
use thirdlaw_scene::Scene;

/// A scene's text and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneSource {
    /// Name of the built-in scene, or of the file without its ending.
    pub name: String,
    /// What messages call it: its path as given, or the name.
    pub label: String,
    /// Folder for meshes; `None` for built-in scenes.
    pub folder: Option<PathBuf>,
    /// TOML.
    pub text: String,
}

impl SceneSource {
    /// Finds a scene by its name. What ends in `.toml` is a path; otherwise a built-in name comes
    /// before a file of the same name.
    pub fn find(name: &str) -> Result<SceneSource, RunError> {
        let path = Path::new(name);
        let is_toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
        if !is_toml {
            if let Some(scene) = thirdlaw_scene::find_builtin(name) {
                return Ok(SceneSource {
                    name: scene.name.into(),
                    label: scene.name.into(),
                    folder: None,
                    text: scene.text.into(),
                });
            }
            if !path.is_file() {
                let nearest = thirdlaw_scene::nearest_builtin(name);
                return Err(RunError::NoScene { name: name.into(), nearest });
            }
        }
        let bytes = std::fs::read(path).map_err(RunError::file("read", path))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            RunError::NotText { name: name.into(), byte: at }
        })?;
        let absolute = std::path::absolute(path).map_err(RunError::file("read", path))?;
        Ok(SceneSource {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            label: name.into(),
            folder: absolute.parent().map(Path::to_owned),
            text,
        })
    }

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
