//! `stats.csv`: the measurements of a run, a row for each frame.

use crate::error::RunError;
use crate::folder::STATS;
use crate::tables::table;
use std::path::Path;
use thirdlaw_scene::FrameStats;
use thirdlaw_scene::expect::COLUMNS;

/// The names of the columns of `stats.csv`.
pub(crate) fn column_names() -> Vec<&'static str> {
    COLUMNS.iter().map(|column| column.name).collect()
}

/// The fields of a row.
pub(crate) fn to_row(stats: &FrameStats) -> Vec<String> {
    COLUMNS.iter().map(|column| column.text(stats, exact)).collect()
}

/// Reads a row back; `None` if it is not one.
pub(crate) fn from_row(row: &csv::StringRecord) -> Option<FrameStats> {
    if row.len() != COLUMNS.len() {
        return None;
    }
    let mut stats = FrameStats::default();
    for (column, text) in COLUMNS.iter().zip(row) {
        column.read(text, &mut stats)?;
    }
    Some(stats)
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
    use thirdlaw::SolvePath;

    #[test]
    fn a_row_reads_back_as_the_same_numbers() {
        let stats = FrameStats {
            frame: 12,
            time: 0.2,
            kinetic: 1.0 / 3.0,
            jitter: 2.5e-7,
            momentum: [1e-300, -0.0, 1e22],
            contacts: 9,
            unconverged: 3,
            unfinished: 4,
            step_ms: 1.25,
            hash: 0x00ab_cdef_0123_4567,
            ..FrameStats::default()
        };
        let mut stats = stats;
        SolvePath::ALL.into_iter().for_each(|path| stats.paths.count(path, path as u32 + 3));
        let row = to_row(&stats);
        assert_eq!(row.len(), COLUMNS.len());
        let place = |name: &str| COLUMNS.iter().position(|column| column.name == name).unwrap();
        for path in SolvePath::ALL {
            let name = format!("path_{}", path.name());
            assert_eq!(row[place(&name)], stats.paths.of(path).to_string());
        }
        assert_eq!(row[place("hash")], "00abcdef01234567");
        assert_eq!(from_row(&csv::StringRecord::from(row)), Some(stats));
    }

    #[test]
    fn a_cut_row_is_no_row() {
        let row = to_row(&FrameStats::default());
        assert_eq!(from_row(&csv::StringRecord::from(&row[..10])), None);
    }
}
