//! The zip file that an FMU is, and the folder into which it is unpacked while it is used.

use crate::error::FmuError;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Most that an FMU may unpack to, bytes.
const LARGEST: u64 = 4 << 30;

/// A folder that goes with whoever holds it.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // nobody is left to hear of it
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// The folder of a platform under `binaries` [FMI 3.0, §2.5.1.4.1].
pub fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    format!("{}-{system}", std::env::consts::ARCH)
}

/// Unpacks an FMU into a new folder of its own.
pub fn unpack(path: &Path) -> Result<Folder, FmuError> {
    let file = std::fs::File::open(path).map_err(FmuError::file(path))?;
    let refuse = |error: zip::result::ZipError| FmuError::unusable(path, error.to_string());
    let mut archive = zip::ZipArchive::new(file).map_err(refuse)?;
    let mut size: u64 = 0;
    for i in 0..archive.len() {
        let entry = archive.by_index_raw(i).map_err(refuse)?;
        size = size.saturating_add(entry.size());
        // a path out of the folder
        if entry.enclosed_name().is_none() {
            return Err(FmuError::unusable(path, format!("its entry {i} leads out of it")));
        }
    }
    if size > LARGEST {
        return Err(FmuError::unusable(path, format!("it unpacks to {size} bytes")));
    }
    let folder = new_folder()?;
    archive.extract(&folder.path).map_err(refuse)?;
    Ok(folder)
}

fn new_folder() -> Result<Folder, FmuError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("thirdlaw-fmu-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(Folder { path }),
            // one that a process of the same number left
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(FmuError::File { path, source }),
        }
    }
}
