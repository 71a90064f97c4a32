//! The folder `pictures/`: one PNG a frame, kept from one rendering to the next.
//!
//! `options.json` says of what run and how the pictures were made. Those that another run or other
//! options have left are removed before the first new one is made, so that a picture that is there
//! is always the one that would be made.

use crate::error::RunError;
use crate::files;
use crate::folder;
use crate::picture_files::{self, FOLDER, OPTIONS};
use serde::Serialize;
use std::fs::{self, File};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use thirdlaw_render::{Image, read_png, write_indexed_png, write_png};

/// All that pictures depend on, beside the number of the frame.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Options {
    /// Of the command.
    pub version: &'static str,
    /// When the run was begun.
    pub started: String,
    /// Hash of the scene's text and overrides.
    pub scene: String,
    /// Pixels in a row and rows.
    pub size: [usize; 2],
    /// Per pixel.
    pub samples: usize,
    /// The camera, in words.
    pub view: String,
}

/// The folder, and the picture that is being written to it.
pub struct Pictures {
    folder: PathBuf,
    at_work: Option<JoinHandle<Result<(), RunError>>>,
    /// Keeps other processes from writing to the folder.
    _lock: File,
}

impl Pictures {
    /// Opens the folder under `out` for pictures made with `options`; with `force` none is kept.
    pub fn open(out: &Path, options: &Options, force: bool) -> Result<Pictures, RunError> {
        let folder = out.join(FOLDER);
        let pictures = Pictures { _lock: folder::lock(&folder)?, folder, at_work: None };
        let path = pictures.folder.join(OPTIONS);
        let mut wanted = serde_json::to_vec_pretty(options)
            .map_err(|error| RunError::file("write", &path)(error.into()))?;
        wanted.push(b'\n');
        if force || files::read_if_present(&path)?.as_ref() != Some(&wanted) {
            picture_files::clear(&pictures.folder)?;
            files::write_whole(&path, &wanted)?;
        }
        Ok(pictures)
    }

    /// Where the picture of a frame is.
    pub fn path(&self, frame: u32) -> PathBuf {
        picture_files::path(&self.folder, frame)
    }

    /// Whether the picture is there.
    pub fn has(&self, frame: u32) -> bool {
        self.path(frame).exists()
    }

    /// Begins to compress and write a picture, while the next one is rendered.
    pub fn write(&mut self, frame: u32, image: Image) -> Result<(), RunError> {
        self.finish()?;
        let path = self.path(frame);
        self.at_work = Some(std::thread::spawn(move || write_image(&path, &image)));
        Ok(())
    }

    /// Waits until the last picture is on the disk.
    pub fn finish(&mut self) -> Result<(), RunError> {
        let Some(writing) = self.at_work.take() else {
            return Ok(());
        };
        let lost = || RunError::file("write", &self.folder)(ErrorKind::Other.into());
        writing.join().unwrap_or_else(|_| Err(lost()))
    }

    /// Reads a picture back.
    pub fn read(&self, frame: u32) -> Result<Image, RunError> {
        let path = self.path(frame);
        let bytes = fs::read(&path).map_err(RunError::file("read", &path))?;
        read_png(&bytes).map_err(|why| {
            let reason = Error::new(ErrorKind::InvalidData, why);
            RunError::Picture { path, reason }
        })
    }

    /// The bytes of a picture's file.
    pub fn bytes(&self, frame: u32) -> Result<Vec<u8>, RunError> {
        let path = self.path(frame);
        fs::read(&path).map_err(RunError::file("read", &path))
    }
}

/// Writes an image as a PNG, whole or not at all.
pub fn write_image(path: &Path, image: &Image) -> Result<(), RunError> {
    write_poster(path, image, None)
}

/// The same with few colours, where a number of them is given.
pub fn write_poster(path: &Path, image: &Image, colors: Option<usize>) -> Result<(), RunError> {
    let bytes = match colors {
        Some(colors) => write_indexed_png(image, colors),
        None => write_png(image),
    };
    let bytes = bytes.map_err(|why| RunError::file("write", path)(Error::other(why)))?;
    files::write_whole(path, &bytes)
}
