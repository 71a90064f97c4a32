//! What a picture is made of: plain data, borrowed by [`crate::render`].

use glamx::{DQuat, DVec3, Vec3};

use crate::camera::{Bounds, Camera};
use crate::normals::{CREASE, corner_normals, face_normal};

/// A triangle mesh in its own frame.
#[derive(Clone, Debug, Default)]
pub struct SurfaceMesh {
    /// Corner positions (m).
    pub vertices: Vec<[f32; 3]>,
    /// Indices into `vertices`. Triangles that name no vertex, or whose corners
    /// are not finite, are left out.
    pub triangles: Vec<[u32; 3]>,
    /// Shade with angle-weighted vertex normals; edges sharper than 35° stay crisp,
    /// except on a thin sheet.
    pub smooth: bool,
    /// A thin sheet such as cloth: its back is a little darker than its front,
    /// and some sunlight shines through. A closed body leaves this `false`.
    pub two_sided: bool,
}

impl SurfaceMesh {
    /// Unit normals of the corners of each triangle, as they are shaded: edges sharper than 35°
    /// stay crisp. Zero where a triangle has no area or names no vertex.
    pub fn corner_normals(&self) -> Vec<[[f32; 3]; 3]> {
        let vertex = |i: u32| self.vertices.get(i as usize).map_or(Vec3::ZERO, |v| Vec3::from(*v));
        let corners: Vec<[Vec3; 3]> = self.triangles.iter().map(|t| t.map(vertex)).collect();
        let normals = match self.smooth {
            // a sheet folds, but has no edges
            true => corner_normals(&corners, if self.two_sided { -1.0 } else { CREASE }),
            false => corners.iter().map(|t| [face_normal(t); 3]).collect(),
        };
        normals.into_iter().map(|t| t.map(|n| n.to_array())).collect()
    }
}

/// One body that has the shape of a mesh.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// Index into [`Picture::meshes`].
    pub mesh: usize,
    /// Position of the mesh's origin (m).
    pub translation: [f64; 3],
    /// Unit quaternion `[x, y, z, w]`; normalised before use.
    pub rotation: [f64; 4],
    /// sRGB, 0..1.
    pub color: [f32; 3],
}

/// An exact sphere: a particle or a ball.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    /// Centre (m).
    pub center: [f64; 3],
    /// Radius (m).
    pub radius: f64,
    /// sRGB, 0..1.
    pub color: [f32; 3],
}

/// An infinite floor that fades into the sky at the horizon.
#[derive(Clone, Copy, Debug)]
pub struct Ground {
    /// Height of the floor (m).
    pub height: f64,
    /// sRGB, 0..1.
    pub color: [f32; 3],
    /// Tiles, or a plain floor.
    pub checker: Option<Checker>,
}

impl Default for Ground {
    fn default() -> Self {
        Self { height: 0.0, color: [0.80, 0.79, 0.77], checker: Some(Checker::default()) }
    }
}

/// The tiles of a [`Ground`].
#[derive(Clone, Copy, Debug)]
pub struct Checker {
    /// Side of a tile (m).
    pub size: f64,
    /// How much darker every other tile is, 0..1.
    pub contrast: f32,
}

impl Default for Checker {
    fn default() -> Self {
        Self { size: 1.0, contrast: 0.12 }
    }
}

/// Sun, sky and exposure. Radiances are linear; a white surface facing the sun
/// under an open sky reflects `sun + sky`.
#[derive(Clone, Copy, Debug)]
pub struct Light {
    /// Direction from the scene towards the sun; any length.
    pub sun_direction: [f32; 3],
    /// Radiance that a white surface facing the sun gets from it.
    pub sun: [f32; 3],
    /// Half the angle the sun covers (degrees): larger gives softer shadows.
    pub sun_radius_deg: f32,
    /// Radiance of the sky overhead.
    pub zenith: [f32; 3],
    /// Radiance of the sky at the horizon.
    pub horizon: [f32; 3],
    /// Factor on all radiances before tone mapping.
    pub exposure: f32,
    /// Strength of the highlights: 0 matte, 1 plastic.
    pub specular: f32,
}

impl Default for Light {
    fn default() -> Self {
        Self {
            sun_direction: [-0.62, 0.80, 0.30],
            sun: [2.15, 1.95, 1.65],
            sun_radius_deg: 2.0,
            zenith: [0.34, 0.52, 0.86],
            horizon: [0.88, 0.96, 1.06],
            exposure: 0.72,
            specular: 1.0,
        }
    }
}

/// Everything that [`crate::render`] looks at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Picture<'a> {
    /// Shapes, shared by instances.
    pub meshes: &'a [SurfaceMesh],
    /// Bodies, cloths and terrain.
    pub instances: &'a [Instance],
    /// Balls and particles.
    pub balls: &'a [Ball],
    /// The floor, if any.
    pub ground: Option<Ground>,
    /// Where the picture is taken from.
    pub camera: Camera,
    /// Sun and sky.
    pub light: Light,
}

impl Picture<'_> {
    /// Bounds of all instances and balls (m), for [`Camera::framing`]; the ground
    /// does not count. An empty picture gives the unit cube on the floor.
    pub fn bounds(&self) -> Bounds {
        let mut bounds = Bounds::EMPTY;
        for instance in self.instances {
            let Some(mesh) = self.meshes.get(instance.mesh) else {
                continue;
            };
            let turn = unit_quaternion(instance.rotation);
            let origin = DVec3::from(instance.translation);
            for vertex in &mesh.vertices {
                let p = origin + turn * Vec3::from(*vertex).as_dvec3();
                if p.is_finite() {
                    bounds.include(p.to_array());
                }
            }
        }
        for ball in self.balls {
            let center = DVec3::from(ball.center);
            if center.is_finite() && ball.radius.is_finite() {
                let r = DVec3::splat(ball.radius.abs());
                bounds.include((center - r).to_array());
                bounds.include((center + r).to_array());
            }
        }
        if bounds.is_empty() {
            bounds.include([-0.5, 0.0, -0.5]);
            bounds.include([0.5, 1.0, 0.5]);
        }
        bounds
    }
}

/// The rotation as a unit quaternion; no turn where the input is unusable.
pub(crate) fn unit_quaternion(xyzw: [f64; 4]) -> DQuat {
    let q = DQuat::from_array(xyzw);
    let length = q.length();
    if length.is_finite() && length > 1e-12 { q * (1.0 / length) } else { DQuat::IDENTITY }
}
