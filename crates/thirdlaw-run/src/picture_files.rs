//! What pictures are called in a run's folder, so that a new run can remove those of an old one, also
//! where this library was built without pictures.

use crate::error::RunError;
use crate::{files, folder};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of pictures, one a frame.
pub const FOLDER: &str = "pictures";
/// How its pictures were made.
pub const OPTIONS: &str = "options.json";
/// The frame that tells most.
pub const POSTER: &str = "poster.png";
/// The overview.
pub const SHEET: &str = "sheet.png";
/// The movie, by `ffmpeg`.
pub const MP4: &str = "movie.mp4";
/// The movie without it.
pub const APNG: &str = "movie.png";

/// Where the picture of a frame is in the folder of pictures.
#[cfg(feature = "pictures")]
pub fn path(folder: &Path, frame: u32) -> PathBuf {
    folder.join(format!("frame-{frame:06}.png"))
}

/// Removes what a rendering has left under `out`; what is not ours stays.
pub fn remove_results(out: &Path) -> Result<(), RunError> {
    for name in [POSTER, SHEET, MP4, APNG] {
        files::remove(&out.join(name))?;
    }
    let folder: PathBuf = out.join(FOLDER);
    if !folder.exists() {
        return Ok(());
    }
    let lock = folder::lock(&folder)?;
    clear(&folder)?;
    drop(lock);
    folder::remove_lock(&folder)?;
    let _ = fs::remove_dir(&folder);
    Ok(())
}

/// Removes the pictures in their folder.
pub fn clear(folder: &Path) -> Result<(), RunError> {
    // first of all: without it the pictures that are left count as nobody's
    files::remove(&folder.join(OPTIONS))?;
    for entry in fs::read_dir(folder).map_err(RunError::file("read", folder))? {
        let path = entry.map_err(RunError::file("read", folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.strip_suffix(files::TEMPORARY).unwrap_or(name);
        let digits = name.strip_prefix("frame-").and_then(|name| name.strip_suffix(".png"));
        if digits.is_some_and(|digits| digits.parse::<u32>().is_ok()) {
            files::remove(&path)?;
        }
    }
    Ok(())
}
