//! `thirdlaw render`: pictures of a run, a poster, a movie and a contact sheet.

use crate::args::RenderArgs;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::out::named_or_latest;
use crate::print::{self, duration, plural};
use crate::progress::ProgressLine;
use crate::threads;
use std::path::{Path, PathBuf};
use std::time::Instant;
use thirdlaw_run::Recording;
use thirdlaw_run::pictures::{DrawnPictures, POSTER, PictureOptions, SHEET, Studio};
use thirdlaw_run::record::core_count;

/// From here on drawing takes so long that it is said before.
const MANY_PICTURES: usize = 60;

/// Draws a run.
pub fn render(args: &RenderArgs) -> Result<(), Failure> {
    let folder = named_or_latest(args.folder.as_deref())?;
    let recording = Recording::open(&folder)?;
    let out = args.out.clone().unwrap_or(folder);
    let interrupt = Interrupt::listen()?;
    let threads = args.threads.unwrap_or_else(core_count);
    threads::install(threads, || draw(args, recording, out, &interrupt))
}

fn draw(
    args: &RenderArgs,
    recording: Recording,
    out: PathBuf,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let options = picture_options(args, recording.last_frame)?;
    let mut studio = Studio::open(recording, &out, options)?;
    let poster = format!("{POSTER} (frame {})", studio.poster());
    if args.poster_only {
        studio.draw_poster(args.colors.map(|n| n as usize))?;
        return tell("", &out, &[poster]);
    }
    let (count, (width, height)) = (studio.frames().len(), args.size);
    if count > MANY_PICTURES && !args.quiet {
        print::remark(&format!(
            "{} of {width}×{height} are to be drawn, which may take minutes; `--poster-only` \
             draws one, `--size 480x270 --samples 4` is ten times as fast",
            plural(count, "picture")
        ));
    }
    let started = Instant::now();
    let drawn = draw_missing(&mut studio, args, &out, interrupt)?;
    let mut results = vec!["pictures/".to_owned(), poster];
    studio.write_poster(&drawn)?;
    if let Some(movie) = studio.write_movie(&drawn)? {
        movie.remark.iter().for_each(|remark| print::remark(remark));
        results.push(movie.file.into());
    }
    if let Some(columns) = args.sheet {
        studio.write_sheet(&drawn, columns as usize)?;
        results.push(SHEET.into());
    }
    let kept = match count - drawn.made {
        0 => String::new(),
        kept => format!(", {kept} were there already"),
    };
    let text = format!(
        "{}: {} of {width}×{height} made in {}{kept}\n",
        studio.recording().record.scene.name,
        plural(drawn.made, "picture"),
        duration(started.elapsed().as_secs_f64())
    );
    tell(&text, &out, &results)
}

fn picture_options(args: &RenderArgs, last: u32) -> Result<PictureOptions, Failure> {
    let frames = args.frames.as_ref().map(|range| range.frames(last)).transpose()?;
    if let Some(frame) = args.poster_frame.filter(|&frame| frame > last) {
        return Err(Failure::Input(format!(
            "--poster-frame {frame}: the last frame of the run is {last}"
        )));
    }
    Ok(PictureOptions {
        size: args.size,
        samples: args.samples as usize,
        frames,
        poster: args.poster_frame,
        force: args.force,
    })
}

/// Draws the pictures that are not there yet, with a word before and a bar meanwhile.
fn draw_missing(
    studio: &mut Studio,
    args: &RenderArgs,
    out: &Path,
    interrupt: &Interrupt,
) -> Result<DrawnPictures, Failure> {
    let head = format!(
        "{}: {} of frames 0 to {}, into {}",
        studio.recording().record.scene.name,
        plural(studio.frames().len(), "picture"),
        studio.recording().last_frame,
        out.display()
    );
    let mut head = Some(head);
    let mut line = ProgressLine::new(args.quiet);
    let result = studio.draw_missing(&mut |progress| {
        head.take().iter().for_each(|head| print::remark(head));
        line.show(progress, interrupt)
    });
    line.clear();
    result.map_err(Failure::from).inspect_err(|failure| {
        if let Failure::Interrupted = failure {
            print::remark("interrupted; the same command goes on with what is missing");
        }
    })
}

fn tell(text: &str, out: &Path, results: &[String]) -> Result<(), Failure> {
    print::result(&format!("{text}results in {}: {}\n", out.display(), results.join(", ")))
}
