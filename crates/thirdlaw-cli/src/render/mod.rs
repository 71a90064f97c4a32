//! `thirdlaw render`: pictures of a run, a poster, a movie and a contact sheet.
//!
//! Pictures come first, each from the cached state of its frame alone; movie and sheet are made
//! from the pictures on the disk. So an interrupted rendering goes on where it was when the same
//! command is given again.

mod cloth;
pub mod colors;
pub mod drawing;
mod movie;
mod pictures;
pub mod view;
mod wires;

use crate::args::RenderArgs;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print::{duration, plural};
use crate::progress::Progress;
use crate::record::{self, core_count};
use crate::recording::{self, Recording};
use crate::{files, print, threads};
use drawing::Drawing;
use movie::Reel;
use pictures::{Options, Pictures};
use std::path::{Path, PathBuf};
use std::time::Instant;
use thirdlaw_render::{Image, RenderOptions, contact_sheet, render as trace};
use view::View;

const POSTER: &str = "poster.png";
const SHEET: &str = "sheet.png";

/// Pictures per simulated second, at most, unless frames are asked for: smooth to the eye, and half
/// the work of the usual 60.
const USUAL_FPS: f64 = 30.0;
/// Width of a contact sheet, about (pixels).
const SHEET_WIDTH: usize = 1920;

/// From here on drawing takes so long that it is said before.
const MANY_PICTURES: usize = 60;

/// Draws a run.
pub fn render(args: &RenderArgs) -> Result<(), Failure> {
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => recording::latest()?,
    };
    let recording = Recording::open(&folder)?;
    let out = args.out.clone().unwrap_or(folder);
    let interrupt = Interrupt::listen()?;
    let threads = args.threads.unwrap_or_else(core_count);
    threads::install(threads, || Studio::open(recording, args, out)?.work(&interrupt))
}

/// A run being drawn.
struct Studio<'a> {
    recording: Recording,
    args: &'a RenderArgs,
    out: PathBuf,
    options: RenderOptions,
    drawing: Drawing,
    view: View,
    /// To be drawn, in order.
    frames: Vec<u32>,
    poster: u32,
}

impl<'a> Studio<'a> {
    fn open(recording: Recording, args: &'a RenderArgs, out: PathBuf) -> Result<Self, Failure> {
        let last = recording.last_frame;
        let frames = match &args.frames {
            Some(range) => range.frames(last)?,
            None => {
                let step = (recording.record.fps / USUAL_FPS).round().max(1.0) as usize;
                (0..=last).step_by(step).collect()
            }
        };
        let (width, height) = args.size;
        let view = View::of(&recording, width as f64 / height as f64)?;
        let poster = match args.poster_frame {
            Some(frame) if frame > last => {
                return Err(Failure::Input(format!(
                    "--poster-frame {frame}: the last frame of the run is {last}"
                )));
            }
            Some(frame) => frame,
            None => view::busiest_frame(&recording, &frames)?,
        };
        let options = RenderOptions { width, height, samples: args.samples as usize, threads: 0 };
        let drawing = Drawing::new(&recording.scene, &view.camera(0.0));
        Ok(Studio { recording, args, out, options, drawing, view, frames, poster })
    }

    fn work(mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.out).map_err(Failure::file("create", &self.out))?;
        if self.args.poster_only {
            let image = self.draw(self.poster)?;
            let colors = self.args.colors.map(|n| n as usize);
            pictures::write_poster(&self.out.join(POSTER), &image, colors)?;
            return self.tell("", &[format!("{POSTER} (frame {})", self.poster)]);
        }
        if self.frames.len() > MANY_PICTURES && !self.args.quiet {
            let (width, height) = self.args.size;
            print::remark(&format!(
                "{} of {width}×{height} are to be drawn, which may take minutes; `--poster-only` \
                 draws one, `--size 480x270 --samples 4` is ten times as fast",
                plural(self.frames.len(), "picture")
            ));
        }
        let started = Instant::now();
        let mut pictures = Pictures::open(&self.out, &self.picture_options(), self.args.force)?;
        let made = self.draw_missing(&mut pictures, interrupt)?;
        let mut results = vec!["pictures/".to_owned()];
        results.push(self.write_poster(&pictures)?);
        if self.frames.len() > 1 {
            results.push(self.write_movie(&pictures)?);
        }
        if let Some(columns) = self.args.sheet {
            self.write_sheet(&pictures, columns as usize)?;
            results.push(SHEET.into());
        }
        let seconds = started.elapsed().as_secs_f64();
        let kept = match self.frames.len() - made {
            0 => String::new(),
            kept => format!(", {kept} were there already"),
        };
        let (width, height) = self.args.size;
        let text = format!(
            "{}: {} of {width}×{height} made in {}{kept}\n",
            self.recording.record.scene.name,
            plural(made, "picture"),
            duration(seconds)
        );
        self.tell(&text, &results)
    }

    fn tell(&self, text: &str, results: &[String]) -> Result<(), Failure> {
        print::result(&format!("{text}results in {}: {}\n", self.out.display(), results.join(", ")))
    }

    /// Draws the pictures that are not there yet; returns how many.
    fn draw_missing(
        &mut self,
        pictures: &mut Pictures,
        interrupt: &Interrupt,
    ) -> Result<usize, Failure> {
        let missing: Vec<u32> =
            self.frames.iter().copied().filter(|&frame| !pictures.has(frame)).collect();
        let total = self.frames.len() as u32;
        let there = total - missing.len() as u32;
        print::remark(&format!(
            "{}: {} of frames 0 to {}, into {}",
            self.recording.record.scene.name,
            plural(self.frames.len(), "picture"),
            self.recording.last_frame,
            self.out.display()
        ));
        let mut progress = Progress::new(total, there, self.args.quiet);
        let result = self.draw_all(&missing, there, pictures, (interrupt, &mut progress));
        progress.clear();
        let result = result.and(pictures.finish());
        if let Err(Failure::Interrupted) = result {
            print::remark("interrupted; the same command goes on with what is missing");
        }
        result.map(|()| missing.len())
    }

    fn draw_all(
        &mut self,
        missing: &[u32],
        there: u32,
        pictures: &mut Pictures,
        (interrupt, progress): (&Interrupt, &mut Progress),
    ) -> Result<(), Failure> {
        for (done, &frame) in (there + 1..).zip(missing) {
            if interrupt.is_asked() {
                return Err(Failure::Interrupted);
            }
            let clock = Instant::now();
            let image = self.draw(frame)?;
            pictures.write(frame, image)?;
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            progress.frame(done, self.recording.scene.world.time(), ms);
        }
        Ok(())
    }

    /// The picture of a frame.
    fn draw(&mut self, frame: u32) -> Result<Image, Failure> {
        let snapshot = self.recording.frame(frame)?;
        let world = &mut self.recording.scene.world;
        world
            .restore(&snapshot)
            .map_err(|error| Failure::Input(format!("frame {frame} cannot be used: {error}")))?;
        let camera = self.view.camera(world.time());
        Ok(self.drawing.picture(world, camera, |picture| trace(picture, &self.options)))
    }

    fn write_poster(&mut self, pictures: &Pictures) -> Result<String, Failure> {
        let path = self.out.join(POSTER);
        if pictures.has(self.poster) {
            files::write_whole(&path, &pictures.bytes(self.poster)?)?;
        } else {
            pictures::write_image(&path, &self.draw(self.poster)?)?;
        }
        Ok(format!("{POSTER} (frame {})", self.poster))
    }

    fn write_movie(&self, pictures: &Pictures) -> Result<String, Failure> {
        // the run's own speed, whichever of its frames are shown
        let step = f64::from(self.frames[1] - self.frames[0]);
        let fps = self.recording.record.fps / step;
        let reel = Reel { pictures, frames: &self.frames, fps, size: self.args.size };
        movie::write(&reel, &self.out).map(str::to_owned)
    }

    /// A square of pictures, evenly spread from the first to the last.
    fn write_sheet(&self, pictures: &Pictures, columns: usize) -> Result<(), Failure> {
        let count = (columns * columns).min(self.frames.len());
        let (width, height) = self.args.size;
        let cell = (SHEET_WIDTH / columns).clamp(1, width);
        let cell_height = (cell * height).div_ceil(width).max(1);
        let mut images = Vec::with_capacity(count);
        for i in 0..count {
            let at = i * (self.frames.len() - 1) / (count - 1).max(1);
            images.push(pictures.read(self.frames[at])?.downscaled(cell, cell_height));
        }
        pictures::write_image(&self.out.join(SHEET), &contact_sheet(&images, columns))
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

/// Removes what a rendering has left in a run's folder, before another run takes its place.
pub fn remove_results(folder: &Path) -> Result<(), Failure> {
    files::remove(&folder.join(POSTER))?;
    files::remove(&folder.join(SHEET))?;
    movie::files_in(folder).iter().try_for_each(|path| files::remove(path))?;
    pictures::remove(folder)
}
