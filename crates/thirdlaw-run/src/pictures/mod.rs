//! Pictures of a run, a poster, a movie and a contact sheet.
//!
//! Pictures come first, each from the cached state of its frame alone; movie and sheet are made
//! from the pictures on the disk. So an interrupted rendering goes on where it was when it is asked for
//! again.

mod cloth;
pub(crate) mod drawing;
mod folder;
mod movie;
pub(crate) mod view;
mod wires;

use crate::error::RunError;
use crate::files;
pub use crate::picture_files::{POSTER, SHEET};
use crate::progress::{Progress, Watcher};
use crate::record;
use crate::recording::Recording;
use drawing::Drawing;
use folder::{Options, Pictures};
pub use movie::Movie;
use movie::Reel;
use std::path::{Path, PathBuf};
use std::time::Instant;
use thirdlaw_render::{Image, RenderOptions, contact_sheet, render as trace};
use view::View;

/// Pictures per simulated second, at most, unless frames are asked for: smooth to the eye, and half
/// the work of the usual 60.
const USUAL_FPS: f64 = 30.0;
/// Width of a contact sheet, about (pixels).
const SHEET_WIDTH: usize = 1920;

/// How a run is drawn.
#[derive(Clone, Debug)]
pub struct PictureOptions {
    /// Pixels in a row and rows.
    pub size: (usize, usize),
    /// Samples per pixel: 4 is quick, 64 is fine.
    pub samples: usize,
    /// Frames to draw, in order; `None`: 30 a second from the whole run.
    pub frames: Option<Vec<u32>>,
    /// Frame of the poster; `None`: the one in which most happens.
    pub poster: Option<u32>,
    /// Whether pictures are made anew that are there already.
    pub force: bool,
}

/// A run being drawn.
pub struct Studio {
    recording: Recording,
    out: PathBuf,
    options: RenderOptions,
    force: bool,
    drawing: Drawing,
    view: View,
    /// To be drawn, in order.
    frames: Vec<u32>,
    poster: u32,
}

impl Studio {
    /// Prepares to draw a run into the folder `out`; writes nothing yet.
    pub fn open(
        recording: Recording,
        out: &Path,
        options: PictureOptions,
    ) -> Result<Studio, RunError> {
        let PictureOptions { size: (width, height), samples, frames, poster, force } = options;
        let last = recording.last_frame;
        let frames = frames.unwrap_or_else(|| {
            let step = (recording.record.fps / USUAL_FPS).round().max(1.0) as usize;
            (0..=last).step_by(step).collect()
        });
        let view = View::of(&recording, width as f64 / height as f64)?;
        let poster = match poster {
            Some(frame) => frame,
            None => view::busiest_frame(&recording, &frames)?,
        };
        let options = RenderOptions { width, height, samples, threads: 0 };
        let drawing = Drawing::new(&recording.scene, &view.camera(0.0));
        let out = out.to_owned();
        Ok(Studio { recording, out, options, force, drawing, view, frames, poster })
    }

    /// The run.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The frames that are drawn.
    pub fn frames(&self) -> &[u32] {
        &self.frames
    }

    /// The frame of the poster.
    pub fn poster(&self) -> u32 {
        self.poster
    }

    /// Draws the poster alone, with at most so many colours where a number is given.
    pub fn draw_poster(&mut self, colors: Option<usize>) -> Result<(), RunError> {
        self.make_folder()?;
        let image = self.draw(self.poster)?;
        folder::write_poster(&self.out.join(POSTER), &image, colors)
    }

    /// Draws the pictures that are not there yet; what is done is kept when `watch` ends it.
    pub fn draw_missing(&mut self, watch: &mut Watcher<'_>) -> Result<DrawnPictures, RunError> {
        self.make_folder()?;
        let mut pictures = Pictures::open(&self.out, &self.picture_options(), self.force)?;
        let missing: Vec<u32> =
            self.frames.iter().copied().filter(|&frame| !pictures.has(frame)).collect();
        let result = self.draw_all(&missing, &mut pictures, watch);
        result.and(pictures.finish())?;
        Ok(DrawnPictures { pictures, made: missing.len() })
    }

    fn make_folder(&self) -> Result<(), RunError> {
        std::fs::create_dir_all(&self.out).map_err(RunError::file("create", &self.out))
    }

    fn draw_all(
        &mut self,
        missing: &[u32],
        pictures: &mut Pictures,
        watch: &mut Watcher<'_>,
    ) -> Result<(), RunError> {
        let total = self.frames.len() as u32;
        let there = total - missing.len() as u32;
        let mut ended = watch(&Progress { done: there, total, time: 0.0, ms: 0.0, warnings: &[] });
        for (done, &frame) in (there + 1..).zip(missing) {
            if ended.is_break() {
                return Err(RunError::Interrupted);
            }
            let clock = Instant::now();
            let image = self.draw(frame)?;
            pictures.write(frame, image)?;
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            let time = self.recording.scene.world.time();
            ended = watch(&Progress { done, total, time, ms, warnings: &[] });
        }
        Ok(())
    }

    /// The picture of a frame.
    fn draw(&mut self, frame: u32) -> Result<Image, RunError> {
        let snapshot = self.recording.frame(frame)?;
        let world = &mut self.recording.scene.world;
        world.restore(&snapshot).map_err(|error| RunError::ForeignFrame {
            frame: format!("frame {frame}"),
            why: error.to_string(),
        })?;
        let camera = self.view.camera(world.time());
        Ok(self.drawing.picture(world, camera, |picture| trace(picture, &self.options)))
    }

    /// Writes the poster, from the pictures where it is among them.
    pub fn write_poster(&mut self, drawn: &DrawnPictures) -> Result<(), RunError> {
        let path = self.out.join(POSTER);
        match drawn.pictures.has(self.poster) {
            true => files::write_whole(&path, &drawn.pictures.bytes(self.poster)?),
            false => folder::write_image(&path, &self.draw(self.poster)?),
        }
    }

    /// Writes the pictures as a movie at the run's own speed; `None` where there is but one.
    pub fn write_movie(&self, drawn: &DrawnPictures) -> Result<Option<Movie>, RunError> {
        let [first, second, ..] = self.frames[..] else { return Ok(None) };
        let fps = self.recording.record.fps / f64::from(second - first);
        let size = (self.options.width, self.options.height);
        let reel = Reel { pictures: &drawn.pictures, frames: &self.frames, fps, size };
        movie::write(&reel, &self.out).map(Some)
    }

    /// Writes a square of pictures, evenly spread from the first to the last.
    pub fn write_sheet(&self, drawn: &DrawnPictures, columns: usize) -> Result<(), RunError> {
        let count = (columns * columns).min(self.frames.len());
        let (width, height) = (self.options.width, self.options.height);
        let cell = (SHEET_WIDTH / columns).clamp(1, width);
        let cell_height = (cell * height).div_ceil(width).max(1);
        let mut images = Vec::with_capacity(count);
        for i in 0..count {
            let at = i * (self.frames.len() - 1) / (count - 1).max(1);
            images.push(drawn.pictures.read(self.frames[at])?.downscaled(cell, cell_height));
        }
        folder::write_image(&self.out.join(SHEET), &contact_sheet(&images, columns))
    }

    fn picture_options(&self) -> Options {
        let record = &self.recording.record;
        Options {
            version: record::VERSION,
            started: record.started.clone(),
            scene: record.scene.hash.clone(),
            size: [self.options.width, self.options.height],
            samples: self.options.samples,
            view: format!("{:?}", self.view),
        }
    }
}

/// The pictures of a run, on the disk.
pub struct DrawnPictures {
    pictures: Pictures,
    /// How many were not there before.
    pub made: usize,
}
