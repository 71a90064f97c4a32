//! CSV files that grow by the frame and can be cut back to the last whole one.
//!
//! The first column of every table is the frame. Rows go out with one `write` a frame, before the
//! frame's cache file; whatever a kill left beyond the last whole frame is cut off by
//! [`FrameTable::reopen`].

use crate::error::RunError;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A CSV file open at its end.
pub struct FrameTable {
    path: PathBuf,
    file: File,
}

impl FrameTable {
    /// A new table, in place of any old one.
    pub fn create(path: &Path, columns: &[&str]) -> Result<FrameTable, RunError> {
        let file = File::create(path).map_err(RunError::file("write", path))?;
        let mut table = FrameTable { path: path.into(), file };
        table.append([columns])?;
        Ok(table)
    }

    /// Appends rows, all at once.
    pub fn append<R>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<(), RunError>
    where
        R: IntoIterator,
        R::Item: AsRef<[u8]>,
    {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in rows {
            writer.write_record(row).map_err(|e| self.failure(e.into()))?;
        }
        let bytes = writer.into_inner().map_err(|e| self.failure(e.into_error()))?;
        self.file.write_all(&bytes).map_err(|e| self.failure(e))
    }

    /// Makes sure that all rows are on the disk.
    pub fn sync(&self) -> Result<(), RunError> {
        self.file.sync_data().map_err(|e| self.failure(e))
    }

    /// Opens the table again at its end, with the rows of frames from `first_cut` on removed.
    pub(crate) fn reopen(path: &Path, first_cut: u32) -> Result<FrameTable, RunError> {
        let failure = RunError::file("read", path);
        let mut end = 0;
        scan(path, |frame, record_end, _| {
            if frame.is_none_or(|frame| frame < first_cut) {
                end = record_end;
            }
            frame.is_none_or(|frame| frame < first_cut)
        })?;
        let open = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().write(true).open(path)?;
            file.set_len(end)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        Ok(FrameTable { path: path.into(), file: open().map_err(failure)? })
    }

    fn failure(&self, reason: std::io::Error) -> RunError {
        RunError::file("write", &self.path)(reason)
    }
}

/// Goes through the whole rows of a table, the header included (with no frame): `visit` gets the
/// row's frame, the byte after the row, and the row, and says whether to go on. Stops by itself
/// where a row is cut short or is none.
pub fn scan(
    path: &Path,
    mut visit: impl FnMut(Option<u32>, u64, &csv::StringRecord) -> bool,
) -> Result<(), RunError> {
    let mut file = File::open(path).map_err(RunError::file("read", path))?;
    let whole = whole_lines(&mut file).map_err(RunError::file("read", path))?;
    file.seek(SeekFrom::Start(0)).map_err(RunError::file("read", path))?;
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).from_reader(BufReader::new(file.take(whole)));
    let mut record = csv::StringRecord::new();
    let mut is_header = true;
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(error) => match error.into_kind() {
                csv::ErrorKind::Io(reason) => return Err(RunError::file("read", path)(reason)),
                // rows of another length or without sense: what follows them is no better
                _ => return Ok(()),
            },
        }
        let frame = record.get(0).and_then(|text| text.parse().ok());
        if frame.is_none() != is_header || !visit(frame, reader.position().byte(), &record) {
            return Ok(());
        }
        is_header = false;
    }
}

/// How many frames, from frame 0 on, have all their `row_count` rows; none where there is no table.
pub fn whole_frames(path: &Path, row_count: usize) -> Result<u32, RunError> {
    if !path.exists() {
        return Ok(0);
    }
    let mut next = 0;
    let mut count = 0;
    scan(path, |frame, _, _| {
        if frame == Some(next) && row_count > 0 {
            count += 1;
            if count == row_count {
                (next, count) = (next + 1, 0);
            }
        }
        frame.is_none_or(|frame| frame <= next)
    })?;
    Ok(if row_count == 0 { u32::MAX } else { next })
}

/// Length of the file up to and with its last line break.
fn whole_lines(file: &mut File) -> std::io::Result<u64> {
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = [0; 4096];
    while end > 0 {
        let length = end.min(block.len() as u64) as usize;
        file.seek(SeekFrom::Start(end - length as u64))?;
        file.read_exact(&mut block[..length])?;
        if let Some(at) = block[..length].iter().rposition(|&byte| byte == b'\n') {
            return Ok(end - length as u64 + at as u64 + 1);
        }
        end -= length as u64;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn rows_beyond_the_last_frame_are_cut_and_writing_goes_on_there() {
        for rest in ["", "2,c\n", "2,c\n3,d\n4", "2", "2,"] {
            let (_folder, path) = table(&format!("frame,name\n0,a\n1,\"b,\"\"x\"\n{rest}"));
            let mut table = FrameTable::reopen(&path, 2).unwrap();
            table.append([["2", "new"]]).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text, "frame,name\n0,a\n1,\"b,\"\"x\"\n2,new\n", "after {rest:?}");
        }
    }

    #[test]
    fn a_torn_row_is_not_seen_even_if_it_parses() {
        let (_folder, path) = table("frame,hash\n0,0123456789abcdef\n1,0123456789");
        let mut frames = Vec::new();
        scan(&path, |frame, _, _| {
            frames.push(frame);
            true
        })
        .unwrap();
        assert_eq!(frames, [None, Some(0)]);
    }

    #[test]
    fn an_empty_file_has_no_rows() {
        let (_folder, path) = table("");
        scan(&path, |_, _, _| panic!("no row")).unwrap();
    }

    #[test]
    fn only_frames_with_all_bodies_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("poses.csv");
        for (rows, frames) in
            [("", 0), ("0,a\n0,b\n", 1), ("0,a\n0,b\n1,a\n", 1), ("0,a\n1,a\n", 0)]
        {
            std::fs::write(&path, format!("frame,body\n{rows}")).unwrap();
            assert_eq!(whole_frames(&path, 2).unwrap(), frames, "{rows:?}");
        }
    }
}
