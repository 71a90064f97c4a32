//! From traced pixels to the image.
//!
//! The light of the sky varies slowly but takes many samples; albedo, sun and
//! silhouettes vary at once and take few. So the first is kept apart, averaged
//! over the neighbours that lie on the same surface, and multiplied by the
//! pixel's own albedo at the end: noise goes, edges and textures stay.

use glamx::Vec3;
use rayon::prelude::*;

use crate::image::Image;
use crate::shade::Light;
use crate::tone;

/// Neighbours up to this many pixels away are averaged.
const RADIUS: usize = 3;
/// Brightest radiance one sample may bring, so that a highlight on an edge does
/// not turn into stairs.
const BRIGHTEST: f32 = 6.0;

/// Means over the samples of a pixel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pixel {
    direct: Vec3,
    /// Zero where the sky is seen.
    albedo: Vec3,
    /// Over the samples that traced the sky's light.
    incoming: Vec3,
    incoming_count: f32,
    /// Over the samples that met a surface.
    normal: Vec3,
    position: Vec3,
    surface_count: f32,
}

impl Pixel {
    pub fn add(&mut self, light: &Light) {
        self.direct += light.direct.min(Vec3::splat(BRIGHTEST));
        if let Some(surface) = &light.surface {
            self.albedo += surface.albedo;
            self.normal += surface.normal;
            self.position += surface.position;
            self.surface_count += 1.0;
        }
        if let Some(incoming) = light.incoming {
            self.incoming += incoming.min(Vec3::splat(BRIGHTEST));
            self.incoming_count += 1.0;
        }
    }

    pub fn finish(&mut self, samples: usize) {
        self.direct /= samples as f32;
        self.albedo /= samples as f32;
        self.normal /= self.surface_count.max(1.0);
        self.position /= self.surface_count.max(1.0);
        self.incoming /= self.incoming_count.max(1.0);
    }
}

/// The traced pixels of a picture.
pub(crate) struct Film {
    width: usize,
    height: usize,
    pixel_angle: f32,
    /// Row by row.
    pub pixels: Vec<Pixel>,
}

impl Film {
    pub fn new(width: usize, height: usize, pixel_angle: f32) -> Self {
        Self { width, height, pixel_angle, pixels: vec![Pixel::default(); width * height] }
    }

    /// The image. `ambient` stands in where no neighbour knows the sky's light.
    pub fn develop(&self, exposure: f32, ambient: Vec3) -> Image {
        let mut rgba8 = vec![255; 4 * self.width * self.height];
        rgba8.par_chunks_mut(4 * self.width).enumerate().for_each(|(y, row)| {
            for (x, rgba) in row.chunks_exact_mut(4).enumerate() {
                let pixel = &self.pixels[y * self.width + x];
                let mut radiance = pixel.direct;
                if pixel.surface_count > 0.0 {
                    radiance += pixel.albedo * self.incoming(x, y, ambient);
                }
                let display = tone::tone_map(radiance * exposure);
                rgba[..3].copy_from_slice(&display.to_array().map(tone::linear_to_byte));
            }
        });
        Image { width: self.width, height: self.height, rgba8 }
    }

    /// Light of the sky on a pixel, averaged over the neighbours on its surface:
    /// those whose normal is alike and that lie near its plane.
    fn incoming(&self, x: usize, y: usize, ambient: Vec3) -> Vec3 {
        let here = &self.pixels[y * self.width + x];
        let mut sum = here.incoming * here.incoming_count;
        let mut weights = here.incoming_count;
        // Distances from the plane count in pixels, those aside in filter radii.
        let pixel_size = self.pixel_angle * here.position.length();
        let plane_scale = 1.0 / (pixel_size * pixel_size * 1.5).max(f32::MIN_POSITIVE);
        for ny in y.saturating_sub(RADIUS)..(y + RADIUS + 1).min(self.height) {
            for nx in x.saturating_sub(RADIUS)..(x + RADIUS + 1).min(self.width) {
                let other = &self.pixels[ny * self.width + nx];
                if other.incoming_count == 0.0 || (nx == x && ny == y) {
                    continue;
                }
                let turn = (other.normal - here.normal).length_squared() * 30.0;
                let off_plane = here.normal.dot(other.position - here.position);
                let alike = 1.0 - turn - off_plane * off_plane * plane_scale;
                if alike > 0.0 {
                    let weight = alike * other.incoming_count;
                    sum += other.incoming * weight;
                    weights += weight;
                }
            }
        }
        if weights > 0.0 { sum / weights } else { 0.5 * ambient }
    }
}
