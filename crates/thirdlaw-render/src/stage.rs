//! All bodies of a picture, relative to the camera, ready for rays.
//!
//! Positions are taken relative to the eye in `f64` before they become `f32`, so
//! that a scene a thousand kilometres from the origin is as crisp as at home.
//! The hierarchy has two levels: one tree per mesh, shared by its instances, and
//! one over the bodies; a ray is turned into an instance's frame on the way.

use glamx::{DVec3, Mat3, Vec3};
use rayon::prelude::*;

use crate::bvh::{Aabb, Bvh, Ray, Stack};
use crate::mesh::{FAR, MeshHit, MeshTree};
use crate::picture::{Picture, unit_quaternion};
use crate::tone;

struct Placed {
    mesh: u32,
    translation: Vec3,
    /// From the mesh's frame to the world's.
    turn: Mat3,
    albedo: Vec3,
}

struct Round {
    center: Vec3,
    radius: f32,
    albedo: Vec3,
}

/// Bodies ready for rays.
pub(crate) struct Stage {
    meshes: Vec<MeshTree>,
    placed: Vec<Placed>,
    round: Vec<Round>,
    /// Over `placed`, then `round`; a leaf is a body.
    bvh: Bvh,
    /// Bounds of all bodies, relative to the eye; empty without bodies.
    pub bounds: Aabb,
}

/// Working memory of a ray, one per thread.
pub(crate) struct Scratch {
    bodies: Stack,
    mesh: Stack,
    /// The body that hid the sun from the last point: likely to hide it again.
    occluder: Option<u32>,
}

impl Scratch {
    pub fn new() -> Self {
        Self { bodies: Stack::new(), mesh: Stack::new(), occluder: None }
    }
}

/// Where a ray met a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub distance: f32,
    body: u32,
    on_mesh: MeshHit,
}

/// What shading needs to know about a point on a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    /// The point, relative to the eye.
    pub position: Vec3,
    /// Where rays leave: off the surface by more than rounding.
    pub outside: Vec3,
    /// Unit normal of the geometry, towards the viewer.
    pub face: Vec3,
    /// Unit normal for shading, towards the viewer.
    pub normal: Vec3,
    pub albedo: Vec3,
    /// Part of the sunlight on the far side that shines through.
    pub translucency: f32,
    /// 1 where the surface has highlights.
    pub gloss: f32,
}

impl Stage {
    pub fn new(picture: &Picture<'_>, eye: DVec3) -> Self {
        let meshes: Vec<MeshTree> = picture.meshes.par_iter().map(MeshTree::new).collect();
        let mut boxes = Vec::new();
        let mut placed = Vec::new();
        for instance in picture.instances {
            let translation = (DVec3::from(instance.translation) - eye).as_vec3();
            let Some(mesh) = meshes.get(instance.mesh) else {
                continue;
            };
            let turn = Mat3::from_quat(unit_quaternion(instance.rotation).as_quat());
            let Some(bounds) = turned_bounds(&mesh.bounds, &turn, translation) else {
                continue;
            };
            boxes.push(bounds);
            placed.push(Placed {
                mesh: instance.mesh as u32,
                translation,
                turn,
                albedo: tone::albedo(instance.color),
            });
        }
        let mut round = Vec::new();
        for ball in picture.balls {
            let center = (DVec3::from(ball.center) - eye).as_vec3();
            let radius = ball.radius as f32;
            if !(center.abs().max_element() < FAR && radius > 0.0 && radius < FAR) {
                continue;
            }
            boxes.push(Aabb { min: center - radius, max: center + radius });
            round.push(Round { center, radius, albedo: tone::albedo(ball.color) });
        }
        let mut bounds = Aabb::EMPTY;
        boxes.iter().for_each(|b| bounds.union(b));
        let mut bvh = Bvh::build(&boxes, 1);
        let order = std::mem::take(&mut bvh.order);
        bvh.map_leaves(|first, _| order[first as usize]);
        Self { meshes, placed, round, bvh, bounds }
    }

    /// The first body the ray meets before `limit`.
    pub fn closest(&self, ray: &Ray, limit: f32, scratch: &mut Scratch) -> Option<Hit> {
        let Scratch { bodies, mesh, .. } = scratch;
        let mut limit = limit;
        let mut hit = None;
        self.bvh.closest(ray, &mut limit, bodies, |body, _, limit| {
            if let Some(placed) = self.placed.get(body as usize) {
                let local = placed.localise(ray);
                let tree = &self.meshes[placed.mesh as usize];
                if let Some(on_mesh) = tree.closest(&local, limit, mesh) {
                    hit = Some((body, on_mesh));
                }
            } else if let Some(t) = self.ball(body).intersect(ray, *limit) {
                *limit = t;
                hit = Some((body, MeshHit::default()));
            }
        });
        hit.map(|(body, on_mesh)| Hit { distance: limit, body, on_mesh })
    }

    /// Whether the ray meets any body.
    pub fn occluded(&self, ray: &Ray, scratch: &mut Scratch) -> bool {
        let Scratch { bodies, mesh, occluder } = scratch;
        let mut hides = |body: u32| match self.placed.get(body as usize) {
            Some(placed) => {
                let local = placed.localise(ray);
                self.meshes[placed.mesh as usize].occludes(&local, f32::INFINITY, mesh)
            }
            None => self.ball(body).intersect(ray, f32::INFINITY).is_some(),
        };
        if let Some(body) = *occluder
            && hides(body)
        {
            return true;
        }
        *occluder = None;
        self.bvh.any(ray, f32::INFINITY, bodies, |body, _| {
            let hidden = hides(body);
            if hidden {
                *occluder = Some(body);
            }
            hidden
        })
    }

    pub fn surface(&self, ray: &Ray, hit: &Hit) -> Surface {
        let position = ray.origin + ray.direction * hit.distance;
        let reach = position.abs().max_element();
        let Some(placed) = self.placed.get(hit.body as usize) else {
            let ball = self.ball(hit.body);
            let out = (position - ball.center).normalize_or(-ray.direction);
            let normal = if out.dot(ray.direction) > 0.0 { -out } else { out };
            // Back onto the sphere: the hit's rounding would show as rings.
            let position = ball.center + out * ball.radius;
            return Surface {
                position,
                outside: position + normal * (1e-5 * reach + 1e-4 * ball.radius),
                face: normal,
                normal,
                albedo: ball.albedo,
                translucency: 0.0,
                gloss: 1.0,
            };
        };
        let mesh = &self.meshes[placed.mesh as usize];
        let point = mesh.point(&hit.on_mesh);
        let (mut face, mut normal) = (placed.turn * point.face, placed.turn * point.normal);
        let mut bulge = placed.turn * point.bulge;
        let mut albedo = placed.albedo;
        if face.dot(ray.direction) > 0.0 {
            (face, normal, bulge) = (-face, -normal, Vec3::ZERO);
            if mesh.two_sided {
                albedo *= 0.62;
            }
        }
        // An interpolated normal may lean away from the viewer at a silhouette.
        let lean = normal.dot(ray.direction);
        if lean > 0.0 {
            normal = (normal - ray.direction * (1.001 * lean)).normalize_or(face);
        }
        let size = mesh.bounds.max.max(-mesh.bounds.min).max_element();
        Surface {
            position,
            outside: position + bulge + face * (1e-5 * reach + 2e-6 * size),
            face,
            normal,
            albedo,
            translucency: if mesh.two_sided { 0.22 } else { 0.0 },
            gloss: if mesh.two_sided { 0.35 } else { 1.0 },
        }
    }

    fn ball(&self, body: u32) -> &Round {
        &self.round[body as usize - self.placed.len()]
    }
}

impl Placed {
    #[inline]
    fn localise(&self, ray: &Ray) -> Ray {
        let back = self.turn.transpose();
        Ray::new(back * (ray.origin - self.translation), back * ray.direction)
    }
}

impl Round {
    /// First intersection before `limit`. The perpendicular distance is taken
    /// from a vector rather than from b² − c, which cancels for far small balls.
    #[inline]
    fn intersect(&self, ray: &Ray, limit: f32) -> Option<f32> {
        let to_center = self.center - ray.origin;
        let along = to_center.dot(ray.direction);
        let aside = to_center - ray.direction * along;
        let inside = self.radius * self.radius - aside.length_squared();
        if inside < 0.0 {
            return None;
        }
        let half = inside.sqrt();
        let near = along - half;
        let t = if near > 0.0 { near } else { along + half };
        (t > 0.0 && t < limit).then_some(t)
    }
}

/// Bounds of a turned and moved box; `None` when it is empty or too far to draw.
fn turned_bounds(local: &Aabb, turn: &Mat3, translation: Vec3) -> Option<Aabb> {
    let middle = turn * (0.5 * (local.min + local.max)) + translation;
    let half = 0.5 * (local.max - local.min);
    let reach =
        turn.x_axis.abs() * half.x + turn.y_axis.abs() * half.y + turn.z_axis.abs() * half.z;
    // A little slack covers the rounding between the frames.
    let reach = reach * 1.000_01 + 1e-6 * middle.abs().max_element();
    (middle.abs().max_element() < FAR && reach.max_element() < FAR)
        .then_some(Aabb { min: middle - reach, max: middle + reach })
}
