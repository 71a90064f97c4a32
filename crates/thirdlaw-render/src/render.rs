//! The picture, pixel by pixel.

use glamx::{DVec3, Vec3};
use rayon::prelude::*;

use crate::film::{Film, Pixel};
use crate::image::Image;
use crate::picture::Picture;
use crate::sampler::{Dimension, Sample, Sampler};
use crate::shade::Scene;
use crate::sky::{Floor, Sky};
use crate::stage::{Scratch, Stage};

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
    if width == 0 || height == 0 {
        return Image::filled(width, height, [0; 4]);
    }
    let lens = Lens::new(picture, options);
    let scene = stage_scene(picture, &lens);
    let sampler = Sampler::new(options.samples);
    let columns = width.div_ceil(TILE);
    let tiles: Vec<Vec<Pixel>> = (0..columns * height.div_ceil(TILE))
        .into_par_iter()
        .map(|tile| {
            let (mut samples, mut scratch) = (Vec::new(), Scratch::new());
            tile_pixels(tile, columns, options)
                .map(|(x, y)| {
                    sampler.fill(x, y, &mut samples);
                    pixel(&scene, &lens, (x, y), (&samples, sampler.sky_stride), &mut scratch)
                })
                .collect()
        })
        .collect();
    let mut film = Film::new(width, height, lens.pixel_angle);
    for (tile, pixels) in tiles.into_iter().enumerate() {
        for ((x, y), pixel) in tile_pixels(tile, columns, options).zip(pixels) {
            film.pixels[y * width + x] = pixel;
        }
    }
    film.develop(scene.sky.exposure, scene.sky.mean)
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

/// The pixels of a tile, row by row.
fn tile_pixels(
    tile: usize,
    columns: usize,
    options: &RenderOptions,
) -> impl Iterator<Item = (usize, usize)> {
    let (left, top) = (tile % columns * TILE, tile / columns * TILE);
    let right = (left + TILE).min(options.width);
    let bottom = (top + TILE).min(options.height);
    (top..bottom).flat_map(move |y| (left..right).map(move |x| (x, y)))
}

fn pixel(
    scene: &Scene,
    lens: &Lens,
    (x, y): (usize, usize),
    (samples, sky_stride): (&[Sample], usize),
    scratch: &mut Scratch,
) -> Pixel {
    let mut pixel = Pixel::default();
    for (index, sample) in samples.iter().enumerate() {
        let [u, v] = sample.get(Dimension::Pixel).map(tent);
        let direction = lens.direction(x as f32 + 0.5 + u, y as f32 + 0.5 + v);
        let with_skylight = index % sky_stride == 0;
        pixel.add(&scene.look(direction, sample, with_skylight, scratch));
    }
    pixel.finish(samples.len());
    pixel
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
