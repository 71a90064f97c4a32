//! The tables of a run: CSV files with a row for each frame, body, joint, vertex, stage or coupling.

mod contacts;
pub(crate) mod coupling;
mod joints;
mod points;
mod poses;
pub(crate) mod stages;
pub(crate) mod table;

pub use table::FrameTable;

use crate::error::RunError;
use crate::folder::RunFolder;
use crate::record::RunRecord;
use crate::stats;
use crate::stepper::Stepper;
use crate::stepper::crossing::CouplingRow;
use std::path::Path;
use table::whole_frames;
use thirdlaw_scene::{FrameStats, Scene};

/// The tables of a run, open at their ends.
pub(crate) struct Tables {
    stats: FrameTable,
    stages: FrameTable,
    /// Where they were asked for.
    poses: Option<FrameTable>,
    joints: Option<FrameTable>,
    contacts: Option<FrameTable>,
    points: Option<FrameTable>,
    /// Where several simulators share the scene.
    coupling: Option<FrameTable>,
}

impl Tables {
    /// New tables, in place of any old ones.
    pub fn create(folder: &RunFolder, record: &RunRecord) -> Result<Tables, RunError> {
        Tables::open(folder, record, &mut FrameTable::create)
    }

    /// Opens tables again, with the rows of frames from `first_cut` on removed.
    pub fn reopen(
        folder: &RunFolder,
        record: &RunRecord,
        first_cut: u32,
    ) -> Result<Tables, RunError> {
        Tables::open(folder, record, &mut |path, columns| {
            // times are for people: where their table is gone it begins anew
            match *path == folder.stages() && !path.exists() {
                true => FrameTable::create(path, columns),
                false => FrameTable::reopen(path, first_cut),
            }
        })
    }

    fn open(
        folder: &RunFolder,
        record: &RunRecord,
        open: &mut Open<'_>,
    ) -> Result<Tables, RunError> {
        let stats = open(&folder.stats(), &stats::column_names())?;
        let mut open_if = |wanted: bool, path: &Path, columns: &[&str]| match wanted {
            true => open(path, columns).map(Some),
            false => Ok(None),
        };
        let poses = open_if(record.poses, &folder.poses(), &poses::COLUMNS)?;
        let joints = open_if(record.joints, &folder.joints(), &joints::COLUMNS)?;
        let contacts = open_if(record.contacts, &folder.contacts(), &contacts::COLUMNS)?;
        let points = open_if(record.points, &folder.points(), &points::COLUMNS)?;
        let is_coupled = record.coupling.is_some();
        let coupling = open_if(is_coupled, &folder.coupling(), &coupling::COLUMNS)?;
        let stages = open(&folder.stages(), &stages::COLUMNS)?;
        Ok(Tables { stats, stages, poses, joints, contacts, points, coupling })
    }

    /// Appends the rows of the present frame.
    pub fn append(&mut self, stepper: &Stepper, stats: &FrameStats) -> Result<(), RunError> {
        let (frame, scene) = (stats.frame, stepper.scene());
        if let Some(table) = &mut self.coupling {
            table.append(stepper.coupling_rows().iter().map(CouplingRow::fields))?;
        }
        if let Some(table) = &mut self.contacts {
            table.append(contacts::rows(frame, &scene.world, &scene.bodies))?;
        }
        self.stats.append([stats::to_row(stats)])?;
        self.stages.append(stages::rows(frame, &stepper.report().stages))?;
        if let Some(table) = &mut self.poses {
            table.append(poses::rows(frame, &scene.world, &scene.bodies))?;
        }
        if let Some(table) = &mut self.joints {
            table.append(joints::rows(frame, &scene.world, &scene.joints))?;
        }
        if let Some(table) = &mut self.points {
            table.append(points::rows(frame, &scene.world, &scene.cloths))?;
        }
        Ok(())
    }

    /// Makes sure that all that counts is on the disk.
    pub fn sync(&self) -> Result<(), RunError> {
        self.stats.sync()?;
        let others = [&self.poses, &self.joints, &self.contacts, &self.points, &self.coupling];
        others.into_iter().flatten().try_for_each(FrameTable::sync)
    }

    /// How many frames, from frame 0 on, have all their rows of bodies, joints, contacts and vertices.
    pub fn whole_frames(
        folder: &RunFolder,
        record: &RunRecord,
        scene: &Scene,
    ) -> Result<usize, RunError> {
        let mut whole = u32::MAX;
        if record.poses {
            whole = whole.min(whole_frames(&folder.poses(), scene.bodies.len())?);
        }
        if record.joints {
            whole = whole.min(whole_frames(&folder.joints(), scene.joints.len())?);
        }
        if record.contacts {
            whole = whole.min(contacts::whole_frames(&folder.contacts())?);
        }
        if record.points {
            whole = whole.min(whole_frames(&folder.points(), points::count(scene))?);
        }
        Ok(whole as usize)
    }
}

type Open<'a> = dyn FnMut(&Path, &[&str]) -> Result<FrameTable, RunError> + 'a;
