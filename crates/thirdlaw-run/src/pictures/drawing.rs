//! The bodies, cloths, soft bodies, points, wires and particles of a scene as things to draw.
//!
//! Shapes become meshes once, shared by all bodies that have them; a single sphere stays exact. A
//! half-space that faces straight up is the floor, one that leans a wide slab.

use super::cloth::Sheet;
use super::wires::{Wire, wires};
use crate::colors;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use thirdlaw::shape::{Convex, Geometry};
use thirdlaw::{BodyId, EmitterId, PointId, Quat, Shape, Vec3, World};
use thirdlaw_render::{Ball, Camera, Checker, Ground, Instance, Light, Picture, SurfaceMesh};
use thirdlaw_scene::{Scene, SceneCloth, SceneEmitter};

/// Around a round shape.
const SEGMENTS: usize = 48;
/// Of boxes, as a part of half their shortest side.
const BEVEL: f64 = 0.03;
/// Of a floor that the scene does not paint.
const FLOOR: [f32; 3] = [0.68, 0.67, 0.65];
/// Least radius of a particle, as a part of the distance it is looked at from.
const POINT_SIZE: f64 = 5e-4;
/// A half-space whose normal deviates from up by less than this (rad²/2) is level.
const LEVEL: f64 = 1e-9;

/// What does not change from frame to frame.
pub struct Drawing {
    meshes: Vec<SurfaceMesh>,
    parts: Vec<Part>,
    cloths: Vec<Sheet>,
    wires: Vec<Wire>,
    points: Vec<(PointId, f64, [f32; 3])>,
    /// With the radius and colour of their particles.
    streams: Vec<(EmitterId, f64, [f32; 3])>,
    slab: usize,
    light: Light,
}

struct Part {
    body: BodyId,
    form: Form,
    color: [f32; 3],
    painted: bool,
}

#[derive(Clone, Copy)]
enum Form {
    Mesh(usize),
    Ball(f64),
    HalfSpace(Vec3),
}

impl Drawing {
    /// Prepares the bodies of a scene; `camera` is the one that the sun is placed for.
    pub fn new(scene: &Scene, camera: &Camera) -> Drawing {
        let mut meshes = Vec::new();
        let mut known: HashMap<u64, usize> = HashMap::new();
        let mut parts = Vec::new();
        for (body, color) in scene.bodies.iter().zip(colors::body_colors(scene)) {
            let Ok(model) = scene.world.body(body.id) else { continue };
            let form = match model.shape.geometry() {
                Geometry::Convex(Convex::Sphere { radius }) => Form::Ball(*radius),
                Geometry::Convex(Convex::HalfSpace { normal }) => Form::HalfSpace(*normal),
                _ => {
                    let mut hasher = DefaultHasher::new();
                    model.shape.fingerprint(&mut hasher);
                    Form::Mesh(*known.entry(hasher.finish()).or_insert_with(|| {
                        meshes.push(mesh_of(&model.shape));
                        meshes.len() - 1
                    }))
                }
            };
            parts.push(Part { body: body.id, form, color, painted: body.color.is_some() });
        }
        let slab = meshes.len();
        let colors = colors::cloth_colors(scene);
        let sheet = |(cloth, color): (&SceneCloth, [f32; 3])| {
            let model = scene.world.deformable(cloth.id).ok()?;
            let triangles = model.triangles().collect();
            Some(match cloth.soft {
                true => Sheet::solid(cloth.id, color, triangles, cloth.skin.clone()),
                false => Sheet::new(cloth.id, color, triangles, model.count()),
            })
        };
        let cloths = scene.cloths.iter().zip(colors).filter_map(sheet).collect();
        let wires = wires(scene, Vec3::from(camera.eye).distance(Vec3::from(camera.target)));
        let point = |p: &thirdlaw_scene::ScenePoint| {
            (p.id, p.radius, p.color.unwrap_or_else(|| colors::palette(p.object)))
        };
        let points = scene.points.iter().map(point).collect();
        let distance = Vec3::from(camera.eye).distance(Vec3::from(camera.target));
        let colors = colors::emitter_colors(scene);
        // a point has no size, but is to be seen
        let size = |e: &SceneEmitter| e.radius.max(POINT_SIZE * distance);
        let streams = scene.emitters.iter().zip(colors).map(|(e, c)| (e.id, size(e), c)).collect();
        Drawing { meshes, parts, cloths, wires, points, streams, slab, light: sunlight(camera) }
    }

    /// The world as it stands, seen by `camera`, handed to `use_it`.
    pub fn picture<R>(
        &self,
        world: &World,
        camera: Camera,
        use_it: impl FnOnce(&Picture<'_>) -> R,
    ) -> R {
        let (eye, target) = (Vec3::from(camera.eye), Vec3::from(camera.target));
        let distance = (target - eye).length();
        let mut instances = Vec::new();
        let mut balls = Vec::new();
        let mut ground: Option<Ground> = None;
        let mut meshes = std::borrow::Cow::Borrowed(&self.meshes);
        for part in &self.parts {
            let Ok(pose) = world.pose(part.body) else { continue };
            let (mut translation, mut rotation) = (pose.translation, pose.rotation);
            let mesh = match part.form {
                Form::Ball(radius) => {
                    let center = translation.to_array();
                    balls.push(Ball { center, radius, color: part.color });
                    continue;
                }
                Form::Mesh(mesh) => mesh,
                Form::HalfSpace(normal) => {
                    let normal = rotation * normal;
                    if normal.y > 1.0 - LEVEL {
                        let height = ground.map_or(translation.y, |g| g.height.max(translation.y));
                        ground = Some(floor(height, part, distance));
                        continue;
                    }
                    // under what the camera looks at, so that its rim is equally far all around
                    translation = target - normal * normal.dot(target - translation);
                    rotation = Quat::from_rotation_arc(Vec3::Y, normal);
                    if meshes.len() == self.slab {
                        meshes.to_mut().push(slab(distance));
                    }
                    self.slab
                }
            };
            let (translation, rotation) = (translation.to_array(), rotation.to_array());
            instances.push(Instance { mesh, translation, rotation, color: part.color });
        }
        for cloth in &self.cloths {
            let Ok(vertices) = world.vertices(cloth.id) else { continue };
            let Some(&origin) = vertices.first() else { continue };
            let mesh = meshes.len();
            meshes.to_mut().push(cloth.mesh(vertices));
            let (translation, rotation) = (origin.to_array(), Quat::IDENTITY.to_array());
            instances.push(Instance { mesh, translation, rotation, color: cloth.color });
        }
        for (id, radius, color) in &self.points {
            let Ok(point) = world.point(*id) else { continue };
            let center = point.position.to_array();
            balls.push(Ball { center, radius: *radius, color: *color });
        }
        for &(id, radius, color) in &self.streams {
            let Ok(stream) = world.stream(id) else { continue };
            balls.extend(stream.particles.x.iter().map(|x| Ball {
                center: x.to_array(),
                radius,
                color,
            }));
        }
        for wire in &self.wires {
            let Some((origin, mesh)) = wire.mesh(world) else { continue };
            let (translation, rotation) = (origin.to_array(), Quat::IDENTITY.to_array());
            let color = wire.color;
            instances.push(Instance { mesh: meshes.len(), translation, rotation, color });
            meshes.to_mut().push(mesh);
        }
        use_it(&Picture {
            meshes: &meshes,
            instances: &instances,
            balls: &balls,
            ground,
            camera,
            light: self.light,
        })
    }
}

/// The sun stands to the left behind the camera: what faces the camera is lit, what turns to the
/// right is in the shade, and shadows fall where they are seen.
fn sunlight(camera: &Camera) -> Light {
    let forward = Vec3::from(camera.target) - Vec3::from(camera.eye);
    let forward = Vec3::new(forward.x, 0.0, forward.z).try_normalize().unwrap_or(Vec3::NEG_Z);
    let right = forward.cross(Vec3::Y);
    let sun = 0.80 * Vec3::Y - 0.62 * right - 0.42 * forward;
    Light {
        sun_direction: sun.as_vec3().to_array(),
        sun: [2.30, 2.05, 1.70],
        zenith: [0.17, 0.37, 0.82],
        horizon: [0.80, 0.90, 1.02],
        exposure: 0.76,
        ..Light::default()
    }
}

/// Tiles are of a round size that fits the view.
fn floor(height: f64, part: &Part, distance: f64) -> Ground {
    let checker = Checker { size: round_size(0.09 * distance), contrast: 0.12 };
    let color = if part.painted { part.color } else { FLOOR };
    Ground { height, color, checker: Some(checker) }
}

/// 1, 2 or 5 times a power of ten, near `x`.
fn round_size(x: f64) -> f64 {
    if !(1e-6..1e9).contains(&x) {
        return 1.0;
    }
    let power = libm::pow(10.0, libm::floor(libm::log10(x)));
    let lead = x / power;
    let round = [(1.4, 1.0), (3.2, 2.0), (7.1, 5.0)].into_iter().find(|(limit, _)| lead < *limit);
    round.map_or(10.0, |(_, round)| round) * power
}

/// The upper side of a half-space, with its top through the origin.
fn slab(distance: f64) -> SurfaceMesh {
    let (half, depth) = (3.0 * distance as f32, 0.03 * distance as f32);
    let corner = |i: u32| {
        let sign = |bit: u32| if i >> bit & 1 == 1 { 1.0f32 } else { -1.0 };
        [half * sign(0), 0.5 * depth * (sign(1) - 1.0), half * sign(2)]
    };
    let cube = Shape::cuboid(Vec3::ONE).map(|cube| cube.surface(3).1).unwrap_or_default();
    SurfaceMesh {
        vertices: (0..8).map(corner).collect(),
        triangles: cube,
        smooth: false,
        two_sided: false,
    }
}

fn mesh_of(shape: &Shape) -> SurfaceMesh {
    let beveled = match shape.geometry() {
        Geometry::Convex(Convex::Cuboid { half_extents }) => beveled_box(*half_extents),
        _ => None,
    };
    let (vertices, triangles) = beveled.as_ref().unwrap_or(shape).surface(SEGMENTS);
    SurfaceMesh {
        vertices: vertices.into_iter().map(|v| v.as_vec3().to_array()).collect(),
        triangles,
        // the faces of a polyhedron are meant as they are, however flat they meet
        smooth: !matches!(
            shape.geometry(),
            Geometry::Convex(Convex::Hull(_) | Convex::Cuboid { .. })
        ),
        two_sided: false,
    }
}

/// A box whose edges are broken a little, as on anything made: they catch the light, and the seam
/// between two boxes can be seen.
fn beveled_box(half: Vec3) -> Option<Shape> {
    let bevel = BEVEL * half.min_element();
    let mut points = Vec::with_capacity(24);
    for corner in 0..8 {
        let sign = |bit: usize| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let signs = Vec3::new(sign(0), sign(1), sign(2));
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            points.push(signs * (half - bevel * (Vec3::ONE - axis)));
        }
    }
    Shape::convex_hull(&points).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shapes_share_a_mesh_and_floors_are_no_mesh() {
        let text = "version = 1\ntitle = \"t\"\n\
            [bodies.floor]\nkind = \"fixed\"\nshape = { half_space = {} }\nposition = [0, -1, 0]\n\
            [bodies.ramp]\nkind = \"fixed\"\nshape = { half_space = { normal = [1, 1, 0] } }\n\
            [bodies.a]\nshape = { box = { size = [1, 1, 1] } }\nposition = [0, 4, 0]\n\
            [bodies.b]\nshape = { box = { size = [1, 1, 1] } }\nposition = [0, 8, 0]\n\
            [bodies.ball]\nshape = { sphere = { radius = 1 } }\nposition = [0, 12, 0]\n";
        let scene = thirdlaw_scene::load("t", text, None, &[]).unwrap();
        let drawing = Drawing::new(&scene, &Camera::default());
        assert_eq!(drawing.meshes.len(), 1);
        drawing.picture(&scene.world, Camera::default(), |picture| {
            assert_eq!(picture.instances.len(), 3);
            assert_eq!(picture.meshes.len(), 2);
            assert_eq!(picture.balls.len(), 1);
            assert_eq!(picture.ground.unwrap().height, -1.0);
        });
    }

    #[test]
    fn tiles_have_round_sizes() {
        for (x, size) in [(1.2, 1.0), (2.9, 2.0), (0.06, 0.05), (80.0, 100.0), (f64::NAN, 1.0)] {
            assert!((round_size(x) / size - 1.0).abs() < 1e-12, "{x}");
        }
    }
}
