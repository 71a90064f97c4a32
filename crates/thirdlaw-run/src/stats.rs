//! `stats.csv`: the measurements of a run, a row for each frame.

use crate::error::RunError;
use crate::folder::STATS;
use crate::tables::table;
use std::path::Path;
use thirdlaw::{PathCounts, SolvePath};
use thirdlaw_scene::FrameStats;

/// The columns of `stats.csv`. Energies in J, momentum in N·s, angular momentum about the world's
/// origin in N·m·s, jitter in J/kg, lengths in m, residual in m/s.
pub(crate) const COLUMNS: [&str; 38] = [
    "frame",
    "time",
    "kinetic",
    "jitter",
    "gravity",
    "elastic",
    "px",
    "py",
    "pz",
    "lx",
    "ly",
    "lz",
    "contacts",
    "penetration",
    "strain",
    "volume_error",
    "joint_error",
    "contact_iterations",
    "contact_residual",
    "cg_iterations",
    "substeps",
    "step_ms",
    "hash",
    "particles",
    "path_free",
    "path_batched",
    "path_pile",
    "path_converged_pile",
    "path_general",
    "path_direct",
    "path_reduced",
    "path_joints",
    "path_through_joints",
    "path_joints_in_turn",
    "path_joints_interleaved",
    "path_joint_rows",
    "path_soft_joints",
    "unfinished",
];

/// The first of the columns that count islands by their paths.
const FIRST_PATH: usize = 24;

/// The fields of a row.
pub(crate) fn to_row(stats: &FrameStats) -> Vec<String> {
    let [px, py, pz] = stats.momentum;
    let [lx, ly, lz] = stats.angular;
    let mut row = vec![stats.frame.to_string()];
    row.extend([stats.time, stats.kinetic, stats.jitter, stats.gravity, stats.elastic].map(exact));
    row.extend([px, py, pz, lx, ly, lz].map(exact));
    row.push(stats.contacts.to_string());
    row.extend([stats.penetration, stats.strain, stats.volume_error, stats.joint_error].map(exact));
    row.push(stats.contact_iterations.to_string());
    row.push(exact(stats.contact_residual));
    row.push(stats.cg_iterations.to_string());
    row.push(stats.substeps.to_string());
    row.push(format!("{:.3}", stats.step_ms));
    row.push(hash_text(stats.hash));
    row.push(stats.particles.to_string());
    row.extend(stats.paths.iter().map(|(_, islands)| islands.to_string()));
    row.push(stats.unfinished.to_string());
    row
}

/// Reads a row back; `None` if it is not one.
pub(crate) fn from_row(row: &csv::StringRecord) -> Option<FrameStats> {
    if row.len() != COLUMNS.len() {
        return None;
    }
    let real = |column: usize| row[column].parse::<f64>().ok();
    let count = |column: usize| row[column].parse().ok();
    let mut paths = PathCounts::default();
    for (column, path) in (FIRST_PATH..).zip(SolvePath::ALL) {
        paths.count(path, count(column)?);
    }
    Some(FrameStats {
        paths,
        frame: count(0)?,
        time: real(1)?,
        kinetic: real(2)?,
        jitter: real(3)?,
        gravity: real(4)?,
        elastic: real(5)?,
        momentum: [real(6)?, real(7)?, real(8)?],
        angular: [real(9)?, real(10)?, real(11)?],
        contacts: count(12)?,
        penetration: real(13)?,
        strain: real(14)?,
        volume_error: real(15)?,
        joint_error: real(16)?,
        contact_iterations: count(17)?,
        contact_residual: real(18)?,
        cg_iterations: count(19)?,
        substeps: count(20)?,
        step_ms: real(21)?,
        hash: u64::from_str_radix(&row[22], 16).ok()?,
        particles: row[23].parse().ok()?,
        unfinished: count(37)?,
    })
}

/// The measurements of the run in `folder`, from frame 0; none where it has no `stats.csv`.
pub fn read(folder: &Path) -> Result<Vec<FrameStats>, RunError> {
    let path = folder.join(STATS);
    let mut frames = Vec::new();
    if path.exists() {
        table::scan(&path, |frame, _, row| {
            let read = from_row(row);
            frames.extend(read);
            frame.is_none() || frames.last().is_some_and(|last| Some(last.frame) == frame)
        })?;
    }
    Ok(frames)
}

/// A hash as it is written everywhere: 16 hexadecimal digits.
pub fn hash_text(hash: u64) -> String {
    format!("{hash:016x}")
}

/// The shortest text that reads back as the same number, with an exponent where zeros would pile up.
pub fn exact(x: f64) -> String {
    if x == 0.0 || (1e-4..1e15).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

/// The middle of the values, 0 if there are none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_as_the_same_numbers() {
        let stats = FrameStats {
            frame: 12,
            time: 0.2,
            kinetic: 1.0 / 3.0,
            jitter: 2.5e-7,
            momentum: [1e-300, -0.0, 1e22],
            contacts: 9,
            unfinished: 4,
            step_ms: 1.25,
            hash: 0x00ab_cdef_0123_4567,
            ..FrameStats::default()
        };
        let mut stats = stats;
        SolvePath::ALL.into_iter().for_each(|path| stats.paths.count(path, path as u32 + 3));
        let row = to_row(&stats);
        assert_eq!(row.len(), COLUMNS.len());
        let names = SolvePath::ALL.map(|path| format!("path_{}", path.name()));
        assert_eq!(COLUMNS[FIRST_PATH..][..names.len()], names);
        assert_eq!(row[22], "00abcdef01234567");
        assert_eq!(from_row(&csv::StringRecord::from(row)), Some(stats));
    }

    #[test]
    fn a_cut_row_is_no_row() {
        let row = to_row(&FrameStats::default());
        assert_eq!(from_row(&csv::StringRecord::from(&row[..10])), None);
    }
}
