//! Light at one sample of a pixel.
//!
//! A camera ray finds a surface; one ray towards a point of the sun's disc gives
//! the soft shadow, one cosine-weighted ray gives the light of the sky, its
//! occlusion, and, where it meets another surface, that surface's colour in the
//! sun: radiance = albedo · (sun · max(n·l, 0) · visible + incoming). Radiances
//! are divided by π throughout, so that white in the full sun reflects `sun`.

use glamx::Vec3;

use crate::bvh::Ray;
use crate::sampler::{Dimension, Sample};
use crate::sky::{Floor, Sky, cosine_direction};
use crate::stage::{Scratch, Stage, Surface};

/// Everything light can meet.
pub(crate) struct Scene {
    pub stage: Stage,
    pub sky: Sky,
    pub floor: Option<Floor>,
    /// Angle of a pixel (radians).
    pub pixel_angle: f32,
}

/// What one sample of a pixel sees.
pub(crate) struct Light {
    /// Radiance without the light of the sky.
    pub direct: Vec3,
    /// The surface that was met, its albedo dimmed by haze.
    pub surface: Option<Surface>,
    /// Light of the sky on that surface, if traced: times albedo, it adds to `direct`.
    pub incoming: Option<Vec3>,
}

/// A surface, and how far it is hidden by haze.
struct Seen {
    surface: Surface,
    haze: f32,
}

impl Scene {
    /// What arrives at the eye from `direction`. The sky's light, which is noisy,
    /// is kept apart from the rest, and traced only `with_skylight`.
    pub fn look(
        &self,
        direction: Vec3,
        sample: &Sample,
        with_skylight: bool,
        scratch: &mut Scratch,
    ) -> Light {
        let background = self.sky.radiance(direction);
        let empty = Light { direct: background, surface: None, incoming: None };
        let Some(seen) = self.first_surface(Vec3::ZERO, direction, self.pixel_angle, scratch)
        else {
            return empty;
        };
        if seen.haze > 0.995 {
            return empty;
        }
        let surface = seen.surface;
        let clear = 1.0 - seen.haze;
        let shadow_ray = self.sky.towards_sun(sample.get(Dimension::Sun));
        let sunlight = self.sunlight(&surface, shadow_ray, scratch);
        let mut direct = surface.albedo * sunlight.diffuse;
        direct += self.highlights(&surface, direction, sunlight.visible);
        let incoming = with_skylight.then(|| self.skylight(&surface, sample, scratch));
        Light {
            direct: direct * clear + background * seen.haze,
            surface: Some(Surface { albedo: surface.albedo * clear, ..surface }),
            incoming,
        }
    }

    fn first_surface(
        &self,
        origin: Vec3,
        direction: Vec3,
        pixel_angle: f32,
        scratch: &mut Scratch,
    ) -> Option<Seen> {
        let ray = Ray::new(origin, direction);
        let ground = self.floor.as_ref().and_then(|f| Some((f, f.hit(origin, direction)?)));
        let limit = ground.map_or(f32::INFINITY, |g| g.1);
        if let Some(hit) = self.stage.closest(&ray, limit, scratch) {
            let surface = self.stage.surface(&ray, &hit);
            return Some(Seen { surface, haze: 0.0 });
        }
        let (floor, distance) = ground?;
        let position = origin + direction * distance;
        let up = if direction.y < 0.0 { Vec3::Y } else { Vec3::NEG_Y };
        let footprint = pixel_angle * distance / direction.y.abs().max(0.02);
        let surface = Surface {
            position,
            outside: position + up * (1e-5 * position.abs().max_element()),
            face: up,
            normal: up,
            albedo: floor.albedo(position, footprint),
            translucency: 0.0,
            gloss: 0.0,
        };
        let haze = floor.haze(position.length());
        Some(Seen { surface, haze })
    }

    fn sunlight(&self, surface: &Surface, towards: Vec3, scratch: &mut Scratch) -> Sunlight {
        let mut lit = surface.normal.dot(towards);
        let mut outside = surface.outside;
        if lit <= 0.0 {
            if surface.translucency == 0.0 {
                return Sunlight::default();
            }
            // Through the sheet: the shadow ray leaves from its other side.
            lit *= -surface.translucency;
            outside = 2.0 * surface.position - outside;
        }
        if self.stage.occluded(&Ray::new(outside, towards), scratch) {
            return Sunlight::default();
        }
        if let Some(floor) = &self.floor
            && floor.hit(outside, towards).is_some()
        {
            return Sunlight::default();
        }
        Sunlight {
            diffuse: self.sky.sun * lit,
            visible: if surface.normal.dot(towards) > 0.0 { 1.0 } else { 0.0 },
        }
    }

    /// Light from the sky or from what stands before it.
    fn skylight(&self, surface: &Surface, sample: &Sample, scratch: &mut Scratch) -> Vec3 {
        let mut direction = cosine_direction(surface.normal, sample.get(Dimension::Sky));
        let below = direction.dot(surface.face);
        if below < 0.0 {
            direction -= surface.face * (2.0 * below);
        }
        let Some(seen) = self.first_surface(surface.outside, direction, 0.05, scratch) else {
            return self.sky.radiance(direction);
        };
        let other = &seen.surface;
        let towards = self.sky.towards_sun(sample.get(Dimension::Bounce));
        let sun = self.sunlight(other, towards, scratch).diffuse;
        // Further bounces are a constant part of the sky, less where it is hidden.
        let ambient = self.sky.mean * (0.30 + 0.25 * other.normal.y);
        other.albedo * (sun + ambient)
    }

    /// Reflection of sun and sky in a smooth coat of refractive index 1.5.
    fn highlights(&self, surface: &Surface, view: Vec3, visible: f32) -> Vec3 {
        let strength = self.sky.specular * surface.gloss;
        if strength == 0.0 {
            return Vec3::ZERO;
        }
        let normal = surface.normal;
        let facing = (-view.dot(normal)).clamp(0.0, 1.0);
        let mirrored = view + normal * (2.0 * facing);
        let fresnel = |cosine: f32| {
            let x = 1.0 - cosine.clamp(0.0, 1.0);
            0.04 + 0.3 * x * x * x * x * x
        };
        // Shaded places see less sky; half stands for what occlusion would leave.
        let sheen = fresnel(facing) * (0.45 + 0.4 * visible);
        let mut light = self.sky.radiance(mirrored) * sheen;
        let lit = normal.dot(self.sky.sun_direction);
        if visible > 0.0 && lit > 0.0 {
            // Microfacets of roughness α = 0.12 [walter2007].
            const ALPHA2: f32 = 0.12 * 0.12;
            let half = (self.sky.sun_direction - view).normalize_or(normal);
            let x = half.dot(normal).clamp(0.0, 1.0);
            let bell = x * x * (ALPHA2 - 1.0) + 1.0;
            let spread = ALPHA2 / (bell * bell);
            let shadowing = 4.0 * lit.max(facing).max(0.2);
            light += self.sky.sun * (spread * fresnel(half.dot(-view)) * lit / shadowing * visible);
        }
        light * strength
    }
}

/// What the sun gives to a point.
#[derive(Clone, Copy, Debug, Default)]
struct Sunlight {
    diffuse: Vec3,
    visible: f32,
}
