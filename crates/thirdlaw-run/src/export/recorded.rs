//! A recorded run as a stage.
//!
//! Shapes become meshes once, shared by all bodies that have them. A half-space, which has no end,
//! becomes a square wide enough for everything that moves.

use super::normals::corner_normals;
use super::stage::{
    ContactSample, ExportMesh, FieldInfo, FieldPlace, Form, Frame, Object, PointsSample,
    RigidSample, Sample, Stage,
};
use crate::colors;
use crate::error::RunError;
use crate::recording::Recording;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use thirdlaw::energy::Energy;
use thirdlaw::energy::tetrahedron::Tetrahedra;
use thirdlaw::math::Mat3;
use thirdlaw::model::deformable::DeformableModel;
use thirdlaw::shape::{Convex, Geometry};
use thirdlaw::{BodyKind, EmitterId, Pose, Quat, Shape, Snapshot, Vec3};
use thirdlaw_scene::SceneCloth;

/// Around a round shape.
const SEGMENTS: usize = 32;
/// A square for a half-space is at least this wide, m.
const SQUARE_LEAST: f64 = 10.0;

/// Describes a recording for export of these frames.
pub fn stage(recording: &Recording, frames: Vec<u32>) -> Result<Stage<'_>, RunError> {
    let scene = &recording.scene;
    let width = square_width(recording, &frames)?;
    let mut meshes = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    let mut objects = Vec::new();
    let mut slots = Vec::new();
    for (body, color) in scene.bodies.iter().zip(colors::body_colors(scene)) {
        let Ok(model) = scene.world.body(body.id) else { continue };
        let mut hasher = DefaultHasher::new();
        model.shape.fingerprint(&mut hasher);
        let mesh = *known.entry(hasher.finish()).or_insert_with(|| {
            meshes.push(mesh_of(&model.shape, width));
            meshes.len() - 1
        });
        let moves = model.kind != BodyKind::Fixed;
        let form = Form::Rigid { mesh, center: model.center, moves };
        objects.push(Object { name: body.name.clone(), color, form });
        slots.push(body.id.index as usize);
    }
    for (cloth, color) in scene.cloths.iter().zip(colors::cloth_colors(scene)) {
        let Ok(model) = scene.world.deformable(cloth.id) else { continue };
        let Ok(vertices) = scene.world.vertices(cloth.id) else { continue };
        let (vertices, triangles) = surface(cloth, model, vertices);
        meshes.push(ExportMesh {
            vertices,
            triangles,
            tetrahedra: tetrahedra(&model.elements.energies.tetrahedra),
            two_sided: !cloth.soft,
            ..ExportMesh::default()
        });
        let field = |name: &str, place, width| FieldInfo { name: name.into(), place, width };
        let fields = vec![
            field("strain", FieldPlace::Triangle, 1),
            field("contact_force", FieldPlace::Vertex, 3),
            field("stress", FieldPlace::Tetrahedron, 1),
            field("volume_change", FieldPlace::Tetrahedron, 1),
        ];
        // those of tetrahedra only where there are any
        let fields = fields.into_iter().take(if cloth.soft { 4 } else { 2 }).collect();
        let form = Form::Deforming { mesh: meshes.len() - 1, fields };
        objects.push(Object { name: cloth.name.clone(), color, form });
    }
    for (emitter, color) in scene.emitters.iter().zip(colors::emitter_colors(scene)) {
        let Ok(model) = scene.world.emitter(emitter.id) else { continue };
        let (radius, home) = (emitter.radius, model.emitter.pose.translation);
        let age = FieldInfo { name: "age".into(), place: FieldPlace::Vertex, width: 1 };
        let form = Form::Points { radius, home, fields: vec![age] };
        objects.push(Object { name: emitter.name.clone(), color, form });
    }
    Ok(Stage {
        title: match scene.title.is_empty() {
            true => recording.record.scene.name.clone(),
            false => scene.title.clone(),
        },
        fps: recording.record.fps,
        frames,
        meshes,
        objects,
        source: Box::new(move |number| Ok(frame(recording, &recording.frame(number)?, &slots))),
    })
}

/// The objects as a snapshot has them; `slots` are those of the rigid bodies.
fn frame(recording: &Recording, snapshot: &Snapshot, slots: &[usize]) -> Frame {
    let state = &snapshot.state;
    let models = &recording.scene.world.model().bodies;
    let mut object_of = vec![u32::MAX; state.bodies.len()];
    for (object, &slot) in slots.iter().enumerate() {
        object_of[slot] = object as u32;
    }
    let mut forces = vec![Vec3::ZERO; state.bodies.len()];
    let mut contacts = Vec::new();
    // impulses are those of the last substep
    let per_second = if state.substep > 0.0 { 1.0 / state.substep } else { 0.0 };
    for contact in &state.contacts {
        let (a, b) = (contact.key.a as usize, contact.key.b as usize);
        let (Some(body), Some(other)) = (state.bodies.get(a), state.bodies.get(b)) else {
            continue;
        };
        let axes = [body, other].map(|body| Mat3::from_quat(body.rotation));
        let between = other.position - body.position;
        for (i, point) in contact.points().enumerate() {
            let impulse = point.normal_impulse * contact.normal + point.friction_impulse;
            let force = impulse * per_second;
            forces[b] += force;
            forces[a] -= force;
            let arm = contact.on_surface_of_a(i, [&axes[0], &axes[1]], between);
            contacts.push(ContactSample {
                point: body.position + arm,
                force,
                separation: point.separation,
                objects: [object_of[a], object_of[b]],
            });
        }
    }
    let sample = |&slot: &usize| {
        let (model, body) = (&models[slot], &state.bodies[slot]);
        let origin = body.position - body.rotation * model.center;
        Sample::Rigid(RigidSample {
            pose: Pose::from_parts(origin, body.rotation),
            velocity: body.velocity.linear,
            angular_velocity: body.velocity.angular,
            contact_force: forces[slot],
        })
    };
    let mut samples: Vec<Sample> = slots.iter().map(sample).collect();
    samples.extend(recording.scene.cloths.iter().filter_map(|c| cloth(recording, snapshot, c)));
    samples.extend(recording.scene.emitters.iter().filter_map(|e| stream(snapshot, e.id)));
    Frame { time: state.time, samples, contacts }
}

/// The vertices of a cloth or soft body with those of its skin behind them, and the triangles that are seen.
fn surface(
    cloth: &SceneCloth,
    model: &DeformableModel,
    vertices: &[Vec3],
) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let Some(skin) = &cloth.skin else {
        return (vertices.to_vec(), model.triangles().collect());
    };
    let first = vertices.len() as u32;
    let triangles = skin.triangles.iter().map(|t| t.map(|i| i + first));
    (with_skin(cloth, vertices), triangles.collect())
}

/// Places or velocities, with those of the skin behind them where there is one.
fn with_skin(cloth: &SceneCloth, vertices: &[Vec3]) -> Vec<Vec3> {
    let skin = cloth.skin.iter().flat_map(|skin| skin.follow(vertices));
    vertices.iter().copied().chain(skin).collect()
}

/// A cloth as a snapshot has it, with the strain of its triangles and what solids push it with.
fn cloth(recording: &Recording, snapshot: &Snapshot, cloth: &SceneCloth) -> Option<Sample> {
    let model = recording.scene.world.deformable(cloth.id).ok()?;
    let particles = &snapshot.state.particles;
    let (points, velocities) =
        (particles.x.get(model.range())?.to_vec(), particles.v.get(model.range())?.to_vec());
    let strain = if model.is_cloth() {
        let [b_u, b_v] = model.fabric().rest_scale;
        let strain = model.elements.membranes.iter().map(|membrane| {
            let (w_u, w_v) = thirdlaw::energy::membrane::directions(membrane, &points);
            (w_u.length() / b_u - 1.0).abs().max((w_v.length() / b_v - 1.0).abs())
        });
        strain.collect()
    } else {
        let (rest, triangles) = surface(cloth, model, &model.elements.rest);
        edge_strain(&triangles, &rest, &with_skin(cloth, &points))
    };
    let mut forces = vec![0.0; 3 * points.len()];
    for touch in &snapshot.state.cloth.touches {
        if !model.range().contains(&(touch.particle as usize)) {
            continue;
        }
        let i = touch.particle as usize - model.range().start;
        if let Some(force) = forces.get_mut(3 * i..3 * i + 3) {
            let sum = touch.normal * touch.pressure + touch.friction;
            force.iter_mut().zip(sum.to_array()).for_each(|(f, s)| *f += s);
        }
    }
    let mut fields = vec![strain, forces];
    if !model.is_cloth() {
        let solids = &model.elements.energies.tetrahedra;
        fields.push(
            (0..solids.len()).map(|e| von_mises(&solids.cauchy_stress(e, &points))).collect(),
        );
        let change = |e: usize| solids.deformation(e, &points).determinant() - 1.0;
        fields.push((0..solids.len()).map(change).collect());
    }
    // nothing touches a skin but what touches the tetrahedra under it
    let (points, velocities) = (with_skin(cloth, &points), with_skin(cloth, &velocities));
    fields[1].resize(3 * points.len(), 0.0);
    Some(Sample::Points(PointsSample { points, velocities, fields, ids: Vec::new() }))
}

/// Largest |l/l₀ − 1| of the edges of each triangle of a surface.
fn edge_strain(triangles: &[[u32; 3]], rest: &[Vec3], points: &[Vec3]) -> Vec<f64> {
    let strain = |i: u32, j: u32| {
        let length = |x: &[Vec3]| x[i as usize].distance(x[j as usize]);
        (length(points) / length(rest) - 1.0).abs()
    };
    let worst = |&[a, b, c]: &[u32; 3]| strain(a, b).max(strain(b, c)).max(strain(c, a));
    triangles.iter().map(worst).collect()
}

/// Corners of all tetrahedra.
fn tetrahedra(solids: &Tetrahedra) -> Vec<[u32; 4]> {
    (0..solids.len()).map(|element| solids.nodes(element)).collect()
}

/// Von Mises' stress √(3/2 s:s) of the deviator s, Pa; 0 where a flat element has no stress.
fn von_mises(stress: &Mat3) -> f64 {
    let [a, b, c] = [stress.x_axis, stress.y_axis, stress.z_axis];
    let normal = [(a.x - b.y), (b.y - c.z), (c.z - a.x)].map(|d| d * d).iter().sum::<f64>();
    let shear = a.y * a.y + b.z * b.z + c.x * c.x;
    let found = (0.5 * normal + 3.0 * shear).sqrt();
    if found.is_finite() { found } else { 0.0 }
}

/// A stream of particles as a snapshot has it, in the order of their births.
fn stream(snapshot: &Snapshot, id: EmitterId) -> Option<Sample> {
    let stream = snapshot.state.streams.list.get(id.index as usize)?;
    let mut order: Vec<usize> = (0..stream.len()).collect();
    order.sort_unstable_by_key(|&i| stream.particles.id[i]);
    Some(Sample::Points(PointsSample {
        points: order.iter().map(|&i| stream.particles.x[i]).collect(),
        velocities: order.iter().map(|&i| stream.particles.v[i]).collect(),
        fields: vec![order.iter().map(|&i| stream.age[i]).collect()],
        ids: order.iter().map(|&i| stream.particles.id[i]).collect(),
    }))
}

fn mesh_of(shape: &Shape, square: f64) -> ExportMesh {
    if let Geometry::Convex(Convex::HalfSpace { normal }) = shape.geometry() {
        let turn = Quat::from_rotation_arc(Vec3::Y, *normal);
        let corner = |x: f64, z: f64| turn * Vec3::new(x * square, 0.0, z * square);
        return ExportMesh {
            vertices: vec![
                corner(-0.5, -0.5),
                corner(-0.5, 0.5),
                corner(0.5, 0.5),
                corner(0.5, -0.5),
            ],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            ..ExportMesh::default()
        };
    }
    let (vertices, triangles) = shape.surface(SEGMENTS);
    let flat =
        matches!(shape.geometry(), Geometry::Convex(Convex::Hull(_) | Convex::Cuboid { .. }));
    let corners: Vec<[f32; 3]> = vertices.iter().map(|v| v.as_vec3().to_array()).collect();
    let normals = corner_normals(&corners, &triangles, flat);
    ExportMesh { vertices, triangles, normals, ..ExportMesh::default() }
}

/// Wide enough for every body that moves, where the run begins, halfway and where it ends.
fn square_width(recording: &Recording, frames: &[u32]) -> Result<f64, RunError> {
    let models = &recording.scene.world.model().bodies;
    if !models.iter().any(|model| model.alive && model.shape.is_half_space()) {
        return Ok(SQUARE_LEAST);
    }
    let mut reach: f64 = 0.0;
    for k in [0, frames.len() / 2, frames.len() - 1] {
        let snapshot = recording.frame(frames[k])?;
        for (model, body) in models.iter().zip(&snapshot.state.bodies) {
            if model.alive && !model.shape.is_half_space() && model.kind != BodyKind::Fixed {
                reach = reach.max(body.position.length() + model.reach);
            }
        }
    }
    Ok((3.0 * reach).clamp(SQUARE_LEAST, 1e6))
}
