//! The pictures in sequence: an MP4 by `ffmpeg` where it is installed, else an animated PNG.

use super::folder::Pictures;
use crate::error::RunError;
use crate::files;
use crate::picture_files::{APNG, MP4};
use std::fs::File;
use std::io::{BufWriter, Error, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use thirdlaw_render::ApngWriter;

/// What a movie is made of.
pub struct Reel<'a> {
    /// Where the pictures are.
    pub pictures: &'a Pictures,
    /// Their frames, in order.
    pub frames: &'a [u32],
    /// Pictures per second.
    pub fps: f64,
    /// Pixels in a row and rows.
    pub size: (usize, usize),
}

/// A movie that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movie {
    /// Name of its file.
    pub file: &'static str,
    /// Why it is no MP4, where it is none; for people.
    pub remark: Option<String>,
}

/// Writes the movie into `out`.
pub fn write(reel: &Reel<'_>, out: &Path) -> Result<Movie, RunError> {
    let (mp4, apng) = (out.join(MP4), out.join(APNG));
    let remark = match encoder(reel, &files::temporary_name(&mp4)) {
        Ok(encoder) => match write_mp4(reel, encoder, &mp4)? {
            None => {
                files::remove(&apng)?;
                return Ok(Movie { file: MP4, remark: None });
            }
            Some(why) => format!(
                "ffmpeg could not make {MP4}, so the movie becomes {APNG}, an animated PNG: {why}"
            ),
        },
        Err(_) => format!(
            "there is no ffmpeg on the path, so the movie becomes {APNG}, an animated PNG that \
             browsers play; with ffmpeg installed it becomes {MP4}"
        ),
    };
    write_apng(reel, &apng)?;
    files::remove(&mp4)?;
    Ok(Movie { file: APNG, remark: Some(remark) })
}

fn encoder(reel: &Reel<'_>, path: &Path) -> std::io::Result<Child> {
    let (width, height) = reel.size;
    Command::new("ffmpeg")
        .args(["-hide_banner", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"])
        .args(["-s", &format!("{width}x{height}"), "-r", &format!("{}", reel.fps), "-i", "-"])
        // players want even sizes, colours at half resolution, and the index in front
        .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709"])
        .args(["-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-colorspace", "bt709"])
        .args(["-color_primaries", "bt709", "-color_trc", "bt709"])
        .args(["-movflags", "+faststart", "-f", "mp4"])
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
}

/// Feeds the pictures to ffmpeg; returns its complaint where it fails.
fn write_mp4(reel: &Reel<'_>, mut encoder: Child, path: &Path) -> Result<Option<String>, RunError> {
    let temporary = files::temporary_name(path);
    let fed = encoder.stdin.take().map_or(Ok(()), |pipe| feed(reel, pipe));
    let mut complaint = String::new();
    if let Some(mut errors) = encoder.stderr.take() {
        let _ = errors.read_to_string(&mut complaint);
    }
    let ended = encoder.wait().map_err(RunError::file("run", Path::new("ffmpeg")));
    if fed.is_ok() && ended.as_ref().is_ok_and(|status| status.success()) {
        std::fs::rename(&temporary, path).map_err(RunError::file("write", path))?;
        return Ok(None);
    }
    files::remove(&temporary)?;
    fed?;
    let status = ended?;
    let complaint = complaint.trim();
    Ok(Some(if complaint.is_empty() { status.to_string() } else { complaint.into() }))
}

fn feed(reel: &Reel<'_>, mut pipe: impl Write) -> Result<(), RunError> {
    for &frame in reel.frames {
        // an encoder that hangs up says why on its own
        if pipe.write_all(&reel.pictures.read(frame)?.rgb()).is_err() {
            break;
        }
    }
    Ok(())
}

fn write_apng(reel: &Reel<'_>, path: &Path) -> Result<(), RunError> {
    let temporary = files::temporary_name(path);
    let result = apng_into(reel, &temporary, path)
        .and_then(|()| std::fs::rename(&temporary, path).map_err(RunError::file("write", path)));
    if result.is_err() {
        let _ = files::remove(&temporary);
    }
    result
}

fn apng_into(reel: &Reel<'_>, temporary: &Path, path: &Path) -> Result<(), RunError> {
    let refuse = |why| RunError::file("write", path)(Error::other(why));
    let file = File::create(temporary).map_err(RunError::file("write", path))?;
    let (width, height) = reel.size;
    let fps = reel.fps.round().clamp(1.0, 1000.0) as u16;
    let sink = BufWriter::new(file);
    let mut writer =
        ApngWriter::new(sink, width, height, reel.frames.len(), fps).map_err(refuse)?;
    for &frame in reel.frames {
        writer.push(&reel.pictures.read(frame)?).map_err(refuse)?;
    }
    writer.finish().map_err(refuse)
}
