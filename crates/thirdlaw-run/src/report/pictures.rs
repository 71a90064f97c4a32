//! The pictures of a report: a poster and a strip of frames, small and quickly drawn.

use super::gallery::{Drawn, Gallery};
use super::html::base64;
use crate::error::RunError;
use crate::pictures::drawing::Drawing;
use crate::pictures::view::{View, busiest_frame};
use crate::recording::Recording;
use std::io::{Error, ErrorKind};
use thirdlaw_render::{RenderOptions, render, write_png};

const POSTER_SIZE: (usize, usize) = (800, 450);
const STRIP_SIZE: (usize, usize) = (400, 225);
/// Pictures in the strip.
const STRIP_LENGTH: u32 = 6;
/// Frames among which the poster is chosen.
const CANDIDATES: u32 = 40;
/// Of a pixel; the light of the sky is smoothed between pixels, so few do.
const SAMPLES: usize = 4;

impl Gallery {
    /// Draws them; `motion` is how much goes on in each frame.
    pub fn draw(recording: &mut Recording, motion: &[f64]) -> Result<Gallery, RunError> {
        let last = recording.last_frame;
        let view = View::of(recording, 16.0 / 9.0)?;
        let drawing = Drawing::new(&recording.scene, &view.camera(0.0));
        let poster = busiest_frame(recording, &spread(last, CANDIDATES))?;
        let mut draw = |frame: u32, size: (usize, usize)| -> Result<Drawn, RunError> {
            let refuse = |what: String| {
                RunError::file("draw", &recording.folder)(Error::new(ErrorKind::InvalidData, what))
            };
            let snapshot = recording.frame(frame)?;
            let world = &mut recording.scene.world;
            world.restore(&snapshot).map_err(|error| refuse(format!("frame {frame}: {error}")))?;
            let time = world.time();
            let options =
                RenderOptions { width: size.0, height: size.1, samples: SAMPLES, threads: 0 };
            let image = drawing.picture(world, view.camera(time), |p| render(p, &options));
            let png = write_png(&image).map_err(|error| refuse(error.to_string()))?;
            Ok(Drawn { frame, time, size, png: base64(&png) })
        };
        let frames = by_motion(motion, last, STRIP_LENGTH);
        let strip =
            frames.into_iter().map(|frame| draw(frame, STRIP_SIZE)).collect::<Result<_, _>>()?;
        Ok(Gallery { poster: draw(poster, POSTER_SIZE)?, strip })
    }
}

/// At most `count` frames from 0 to `last`, evenly.
fn spread(last: u32, count: u32) -> Vec<u32> {
    let steps = (count - 1).min(last).max(1);
    let mut frames: Vec<u32> =
        (0..=steps).map(|k| (u64::from(k) * u64::from(last) / u64::from(steps)) as u32).collect();
    frames.dedup();
    frames
}

/// At most `count` frames from 0 to `last`, half by time and half by motion: nearer to each other
/// where more goes on.
fn by_motion(motion: &[f64], last: u32, count: u32) -> Vec<u32> {
    let frames = (last as usize + 1).min(motion.len());
    let total: f64 = motion[..frames].iter().sum();
    if !(total.is_finite() && total > 0.0) || frames <= count as usize {
        return spread(last, count);
    }
    let mut chosen = vec![0];
    let mut passed = 0.0;
    for (k, part) in motion[..frames].iter().enumerate() {
        passed += 0.5 * part / total + 0.5 / frames as f64;
        if passed >= chosen.len() as f64 / f64::from(count - 1) - 1e-9 && k > 0 {
            chosen.push(k as u32);
        }
    }
    chosen.truncate(count as usize - 1);
    chosen.push(last);
    chosen.dedup();
    chosen
}

#[cfg(test)]
mod tests {
    #[test]
    fn more_frames_are_shown_where_more_moves() {
        let mut motion = vec![0.0; 101];
        motion[80..].fill(1.0);
        let frames = super::by_motion(&motion, 100, 6);
        assert_eq!((frames.len(), frames[0], frames[5]), (6, 0, 100));
        assert!(frames.iter().filter(|&&frame| frame >= 80).count() >= 3, "{frames:?}");
        assert!(frames.is_sorted_by(|a, b| a < b), "{frames:?}");
        assert_eq!(super::by_motion(&[0.0; 101], 100, 6), super::spread(100, 6));
        assert_eq!(super::by_motion(&[1.0; 3], 2, 6), [0, 1, 2]);
    }

    #[test]
    fn frames_are_spread_from_the_first_to_the_last() {
        assert_eq!(super::spread(0, 6), [0]);
        assert_eq!(super::spread(2, 6), [0, 1, 2]);
        assert_eq!(super::spread(100, 6), [0, 20, 40, 60, 80, 100]);
    }
}
