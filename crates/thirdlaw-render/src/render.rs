//! The picture, pixel by pixel.

use glamx::{DVec3, Vec3};
use rayon::prelude::*;

use crate::image::Image;
use crate::picture::Picture;
use crate::sampler::{Dimension, Sample, Sampler};
use crate::shade::Scene;
use crate::sky::{Floor, Sky};
use crate::stage::{Scratch, Stage};
use crate::tone;

/// Size and quality of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Samples per pixel; powers of four (4, 16, 64) are spread best.
    pub samples: usize,
    /// Threads; 0 takes those of the current rayon pool.
    pub threads: usize,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { width: 960, height: 540, samples: 16, threads: 0 }
    }
}

/// Side of the square that one task renders (pixels).
const TILE: usize = 16;

/// Renders the picture. The same picture and options give the same bytes for
/// any number of threads; an image of zero size is empty.
pub fn render(picture: &Picture<'_>, options: &RenderOptions) -> Image {
    if options.threads > 0 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads);
        if let Ok(pool) = pool.build() {
            return pool.install(|| render_here(picture, options));
        }
    }
    render_here(picture, options)
}

fn render_here(picture: &Picture<'_>, options: &RenderOptions) -> Image {
    let (width, height) = (options.width, options.height);
    let mut image = Image::filled(width, height, [0, 0, 0, 255]);
    if width == 0 || height == 0 {
        return image;
    }
    let lens = Lens::new(picture, options);
    let scene = stage_scene(picture, &lens);
    let sampler = Sampler::new(options.samples);
    let columns = width.div_ceil(TILE);
    let tiles: Vec<Vec<[u8; 3]>> = (0..columns * height.div_ceil(TILE))
        .into_par_iter()
        .map(|tile| {
            let (xs, ys) = tile_pixels(tile, columns, options);
            let pixels = ys.flat_map(|y| xs.clone().map(move |x| (x, y)));
            let (mut samples, mut scratch) = (Vec::new(), Scratch::new());
            pixels
                .map(|(x, y)| {
                    sampler.fill(x, y, &mut samples);
                    pixel(&scene, &lens, (x, y), &samples, &mut scratch)
                })
                .collect()
        })
        .collect();
    for (tile, pixels) in tiles.iter().enumerate() {
        let (xs, ys) = tile_pixels(tile, columns, options);
        let places = ys.flat_map(|y| xs.clone().map(move |x| (x, y)));
        for ((x, y), rgb) in places.zip(pixels) {
            let at = 4 * (y * width + x);
            image.rgba8[at..at + 3].copy_from_slice(rgb);
        }
    }
    image
}

fn stage_scene(picture: &Picture<'_>, lens: &Lens) -> Scene {
    let stage = Stage::new(picture, lens.eye);
    let sky = Sky::new(&picture.light);
    let focus = (DVec3::from(picture.camera.target) - lens.eye).length() as f32;
    let size = (stage.bounds.max - stage.bounds.min).length();
    let reach = [focus, size].into_iter().filter(|x| x.is_finite()).fold(1e-3, f32::max);
    let floor = picture.ground.and_then(|ground| Floor::new(&ground, lens.eye, 8.0 * reach));
    Scene { stage, sky, floor, pixel_angle: lens.pixel_angle }
}

fn tile_pixels(
    tile: usize,
    columns: usize,
    options: &RenderOptions,
) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let (left, top) = (tile % columns * TILE, tile / columns * TILE);
    (left..(left + TILE).min(options.width), top..(top + TILE).min(options.height))
}

fn pixel(
    scene: &Scene,
    lens: &Lens,
    (x, y): (usize, usize),
    samples: &[Sample],
    scratch: &mut Scratch,
) -> [u8; 3] {
    let mut sum = Vec3::ZERO;
    for sample in samples {
        let [u, v] = sample.get(Dimension::Pixel).map(tent);
        let direction = lens.direction(x as f32 + 0.5 + u, y as f32 + 0.5 + v);
        // Tone mapping each sample, not their mean, keeps bright edges smooth.
        sum += tone::tone_map(scene.radiance(direction, sample, scratch) * scene.sky.exposure);
    }
    (sum / samples.len() as f32).to_array().map(tone::linear_to_byte)
}

/// Offset from the pixel's middle, for a tent filter a little wider than the pixel.
fn tent(u: f32) -> f32 {
    const RADIUS: f32 = 0.85;
    let x = 2.0 * u - 1.0;
    let fold = 1.0 - (1.0 - x.abs()).max(0.0).sqrt();
    RADIUS * fold.copysign(x)
}

/// The camera as a map from pixels to directions.
struct Lens {
    eye: DVec3,
    corner: Vec3,
    right: Vec3,
    down: Vec3,
    pixel_angle: f32,
}

impl Lens {
    fn new(picture: &Picture<'_>, options: &RenderOptions) -> Self {
        let camera = &picture.camera;
        let (right, up, forward) = camera.axes();
        let step = 2.0 * camera.tan_half_fov() / options.height as f64;
        let corner = forward - right * (0.5 * step * options.width as f64)
            + up * (0.5 * step * options.height as f64);
        let eye = DVec3::from(camera.eye);
        Self {
            eye: if eye.is_finite() { eye } else { DVec3::ZERO },
            corner: corner.as_vec3(),
            right: (right * step).as_vec3(),
            down: (-up * step).as_vec3(),
            pixel_angle: step as f32,
        }
    }

    #[inline]
    fn direction(&self, x: f32, y: f32) -> Vec3 {
        (self.corner + self.right * x + self.down * y).normalize()
    }
}
