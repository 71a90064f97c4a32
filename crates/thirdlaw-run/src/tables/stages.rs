//! `stages.csv`: how long each stage of a step takes.

use super::table;
use crate::error::RunError;
use crate::stepper::{StageTimes, stage_name};
use std::path::Path;

/// The columns of `stages.csv`: a row for each stage of each frame, in ms.
pub const COLUMNS: [&str; 3] = ["frame", "stage", "ms"];

/// The rows of a frame.
pub fn rows(frame: u32, times: &StageTimes) -> impl Iterator<Item = [String; 3]> + '_ {
    let row = move |(stage, ms)| [frame.to_string(), stage_name(stage).into(), format!("{ms:.4}")];
    times.ms().map(row)
}

/// The times of each stage over `frames` frames, ms, as far as the table has them; stages in the
/// order in which they come there.
pub fn read(path: &Path, frames: usize) -> Result<Vec<(String, Vec<f64>)>, RunError> {
    let mut stages: Vec<(String, Vec<f64>)> = Vec::new();
    if !path.exists() {
        return Ok(stages);
    }
    table::scan(path, |frame, _, row| {
        let Some(frame) = frame else { return row.iter().eq(COLUMNS) };
        let (Some(stage), Some(Ok(ms))) = (row.get(1), row.get(2).map(str::parse)) else {
            return false;
        };
        let at = stages.iter().position(|(name, _)| name == stage).unwrap_or_else(|| {
            stages.push((stage.into(), vec![0.0; frames]));
            stages.len() - 1
        });
        if let Some(slot) = stages[at].1.get_mut(frame as usize) {
            *slot = ms;
        }
        true
    })?;
    Ok(stages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_back_by_stage_and_frame() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stages.csv");
        assert!(read(&path, 3).unwrap().is_empty());
        std::fs::write(&path, "frame,stage,ms\n1,solve,2.5\n1,cloth,1\n2,solve,3\n9,solve,1\n2,so")
            .unwrap();
        let wanted =
            vec![("solve".into(), vec![0.0, 2.5, 3.0]), ("cloth".into(), vec![0.0, 1.0, 0.0])];
        assert_eq!(read(&path, 3).unwrap(), wanted);
    }
}
