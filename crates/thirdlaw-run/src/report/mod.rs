//! `report.html`: what a run did, on one page that needs no other file.
//!
//! Written from what is in the folder of a run, so that it can be made again at any time.

mod gallery;
pub(crate) mod html;
mod ledger_plots;
mod page;
#[cfg(feature = "pictures")]
mod pictures;
mod plots;

use crate::error::RunError;

use crate::record::RunRecord;
use crate::stepper::crossing::CouplingRow;
use crate::tables::coupling;
use crate::tables::stages;
use crate::{files, folder, stats};
use gallery::Gallery;
use std::path::{Path, PathBuf};
use thirdlaw_scene::{FrameStats, Scene};

/// Name of the page in the run's folder.
pub const FILE_NAME: &str = "report.html";

/// All that a page shows.
struct Report {
    record: RunRecord,
    folder: PathBuf,
    /// What the scene says of itself; may be empty.
    title: String,
    frames: Vec<FrameStats>,
    /// What crossed couplings, step by step.
    ledger: Vec<CouplingRow>,
    /// Times of each stage over the frames, ms.
    stages: Vec<(String, Vec<f64>)>,
    /// Absent where no frames were kept, or none can be drawn.
    gallery: Option<Gallery>,
}

/// Writes the report of the run in `folder`.
pub fn write(folder: &Path, record: RunRecord, scene: Scene) -> Result<(), RunError> {
    let frames = stats::read(folder)?;
    let title = scene.title.clone();
    let gallery = gallery(folder, &record, scene, &frames)?;
    let stages = stages::read(&folder.join(folder::STAGES), frames.len())?;
    let ledger = coupling::read(&folder.join(folder::COUPLING))?;
    let folder_path = folder.into();
    let report = Report { record, folder: folder_path, title, frames, ledger, stages, gallery };
    files::write_whole(&folder.join(FILE_NAME), page::page(&report).as_bytes())
}

/// Pictures of the run, where frames were kept and this library was built to draw them.
#[cfg(feature = "pictures")]
fn gallery(
    folder: &Path,
    record: &RunRecord,
    scene: Scene,
    frames: &[FrameStats],
) -> Result<Option<Gallery>, RunError> {
    if !record.cache || frames.is_empty() {
        return Ok(None);
    }
    let motion: Vec<f64> = frames.iter().map(|f| f.kinetic.max(0.0).sqrt()).collect();
    let mut recording = crate::recording::Recording::of(folder, record.clone(), scene)?;
    Gallery::draw(&mut recording, &motion).map(Some)
}

#[cfg(not(feature = "pictures"))]
fn gallery(
    _: &Path,
    _: &RunRecord,
    _: Scene,
    _: &[FrameStats],
) -> Result<Option<Gallery>, RunError> {
    Ok(None)
}
