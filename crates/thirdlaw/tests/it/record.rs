//! Recordings: bytes in, the same bits out; what is code is named.

use crate::{cuboid, earth, floor, sphere, with_threads};
use std::sync::Arc;
use thirdlaw::prelude::*;
use thirdlaw::shape::MassProperties;
use thirdlaw::{EmitterId, Hold, ParticleId, ParticleOwner, PointId, ReplayError};

const FRAME: f64 = 1.0 / 60.0;

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        let mut one = || size * (2.0 * self.unit() - 1.0);
        Vec3::new(one(), one(), one())
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let place = (self.unit() * all.len() as f64) as usize;
        all.get(place).copied()
    }
}

#[derive(Debug)]
struct Slippery(f64);

impl ContactHook for Slippery {
    fn keeps(&self, contact: &mut HookedContact) -> bool {
        contact.friction *= self.0;
        contact.surface_velocity.x += 0.1;
        true
    }

    fn name(&self) -> String {
        "slippery".into()
    }
}

#[derive(Debug)]
struct Wind;

impl ForceField for Wind {
    fn acceleration(&self, _: u32, position: Vec3, velocity: Vec3, _: f64) -> Vec3 {
        Vec3::X * position.y - 0.1 * velocity
    }

    fn name(&self) -> String {
        "wind".into()
    }
}

#[derive(Debug)]
struct Lens;

impl ConvexSurface for Lens {
    fn support(&self, direction: Vec3) -> Vec3 {
        let half = Vec3::new(0.3, 0.15, 0.3);
        let scaled = half * direction;
        half * scaled / scaled.length()
    }

    fn mass_properties(&self) -> MassProperties {
        let half = Vec3::new(0.3, 0.15, 0.3);
        let volume = 4.0 / 3.0 * std::f64::consts::PI * half.element_product();
        let s = 0.2 * volume * half * half;
        let inertia = Mat3::from_diagonal(Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y));
        MassProperties { volume, center_of_mass: Vec3::ZERO, inertia }
    }

    fn name(&self) -> String {
        "lens".into()
    }
}

fn code() -> Attachments {
    Attachments::default().hook(Arc::new(Slippery(0.5))).field(Arc::new(Wind)).shape(Arc::new(Lens))
}

/// What a run of calls has to do with.
#[derive(Default)]
struct Known {
    bodies: Vec<BodyId>,
    joints: Vec<JointId>,
    cloths: Vec<DeformableId>,
    points: Vec<PointId>,
    emitters: Vec<EmitterId>,
    snapshots: Vec<Snapshot>,
    shapes: Vec<Shape>,
}

/// One of many calls; some are refused.
fn call(world: &mut World, known: &mut Known, random: &mut Random) {
    let stale = BodyId { index: 77, generation: 3 };
    let id = random.pick(&known.bodies).unwrap_or(stale);
    let other = random.pick(&known.bodies).unwrap_or(stale);
    let joint = random.pick(&known.joints);
    let cloth = random.pick(&known.cloths);
    let point = random.pick(&known.points);
    let (x, v) = (random.unit(), random.vector(2.0));
    let x = if random.unit() < 0.05 { f64::NAN } else { x };
    let at = v + 3.0 * Vec3::Y;
    let pose = Pose::from_parts(at, Quat::from_rotation_y(v.x));
    let shapes = known.shapes.len() as f64;
    let shape = known.shapes[(random.unit() * shapes) as usize].clone();
    match (random.unit() * 46.0) as u32 {
        0 | 1 if known.bodies.len() < 12 => {
            let body = Body::dynamic(shape).at(at.x, at.y, at.z).restitution(0.3);
            known.bodies.extend(world.add_body(body));
        }
        2 => {
            let part = BodyPart::new(shape).at(0.3, 0.0, 0.0).friction(x);
            let body = Body::dynamic(known.shapes[0].clone()).part(part).at(at.x, at.y, at.z);
            known.bodies.extend(world.add_body(body));
        }
        3 => drop(world.remove_body(id)),
        4 => drop(world.set_pose(id, pose)),
        5 => drop(world.set_velocity(id, Twist { linear: v, angular: x * v })),
        6 => drop(world.push(id, 30.0 * v, at)),
        7 => drop(world.twist(id, v)),
        8 => drop(world.apply_impulse(id, v, at)),
        9 => drop(world.set_friction(id, x)),
        10 => drop(world.set_restitution(id, x)),
        11 => drop(world.set_body_shape(id, shape)),
        12 => drop(world.edit_body(id, |body| body.material.surface_velocity = 0.3 * v)),
        13 => drop(world.set_damping(id, x, x)),
        14 => drop(world.set_gravity_scale(id, x)),
        15 => drop(world.set_can_sleep(id, x < 0.5)),
        16 => drop(world.set_enabled(id, x < 0.7)),
        17 => {
            drop(world.set_kind(id, if x < 0.5 { BodyKind::Dynamic } else { BodyKind::Kinematic }))
        }
        18 => drop(world.move_kinematic_to(id, pose, 0.1)),
        19 => drop(world.sleep(id)),
        20 => drop(world.wake(id)),
        21 => drop(world.add_part(id, BodyPart::new(shape).at(0.0, 0.3, 0.0))),
        22 => {
            let parts: Vec<PartId> = world.parts(id).map(Iterator::collect).unwrap_or_default();
            if let Some(part) = parts.last() {
                drop(world.edit_part(*part, |part| part.material.friction = x));
                drop(world.remove_part(*part));
            }
        }
        23 if known.joints.len() < 4 => {
            let joint = Joint::ball(id, other).at(at.x, at.y, at.z);
            known.joints.extend(world.add_joint(Joint { assemble: true, ..joint }));
        }
        24 if known.joints.len() < 6 => {
            let at = world.center(id).unwrap_or_default();
            let joint = Joint::hinge(Side::World, id).at(at.x, at.y, at.z).axis(Vec3::Z);
            known.joints.extend(world.add_joint(joint));
        }
        25 => drop(joint.map(|joint| world.remove_joint(joint))),
        26 => {
            drop(joint.map(|joint| world.edit_joint(joint, |joint| joint.break_force = 500.0 * x)))
        }
        27 => drop(joint.map(|joint| world.set_joint_enabled(joint, x < 0.8))),
        28 => {
            drop(joint.map(|joint| world.set_drive(joint, Axis::TurnX, Some(Drive::motor(x, 5.0)))))
        }
        29 => drop(joint.map(|joint| world.set_drive_target(joint, Axis::TurnX, x, x))),
        30 => drop(joint.map(|joint| world.count_turns(joint, Axis::TurnX, 7.0 * x))),
        31 if known.cloths.len() < 2 => {
            let cloth = Cloth::new(ClothMesh::grid(5, 5, [1.0, 1.0]).unwrap()).pose(pose).pin([0]);
            known.cloths.extend(world.add_cloth(cloth));
        }
        32 if v.x < -1.0 => {
            let vertex = cloth.map(|cloth| ParticleId::vertex(cloth, (30.0 * x) as u32));
            let hold = if v.y < 0.0 { Hold::Place } else { Hold::Body(id) };
            drop(vertex.map(|vertex| world.pin_particle(vertex, hold)));
        }
        32 if v.x > 1.0 => {
            let vertex = cloth.map(|cloth| ParticleId::vertex(cloth, (30.0 * x) as u32));
            drop(vertex.map(|vertex| world.unpin_particle(vertex)));
        }
        32 => drop(cloth.map(|cloth| world.set_vertex(cloth, (9.0 * x) as u32, at, v))),
        33 => {
            if let Some(cloth) = known.cloths.pop() {
                let _gone = world.remove_deformable(cloth);
            }
        }
        34 if known.points.len() < 3 => {
            known.points.extend(world.add_point(Point::new(1.0, at).moving(v)));
        }
        35 => drop(point.map(|point| world.push_point(point, v))),
        36 => drop(point.map(|point| world.set_point(point, at, v))),
        37 => {
            let _gone = known.points.pop().map(|point| world.remove_point(point));
        }
        38 if known.emitters.is_empty() => {
            known.emitters.extend(world.add_emitter(Emitter::point(40.0, 2.0).life(0.5)));
        }
        39 => {
            if let Some(&emitter) = known.emitters.last() {
                drop(world.set_particle(emitter, 0, at, v));
                let owner = ParticleOwner::Emitter(emitter);
                drop(world.push_particle(ParticleId { owner, number: 2 }, v));
                if x < 0.1 {
                    let _gone = world.remove_emitter(emitter);
                    known.emitters.clear();
                }
            }
        }
        40 => drop(world.set_user_data(id, 7)),
        41 => known.snapshots.push(world.save()),
        42 => drop(known.snapshots.last().map(|snapshot| world.restore(snapshot))),
        43 => world.set_contact_hook(if x < 0.5 { Some(Arc::new(Slippery(0.5))) } else { None }),
        44 => world.set_force_field(if x < 0.5 { Some(Arc::new(Wind)) } else { None }),
        _ => {
            let substeps = 2 + (4.0 * x) as u32;
            drop(world.set_settings(Settings { substeps, sleeping: x < 0.5, ..*world.settings() }));
        }
    }
    if random.unit() < 0.4 {
        drop(world.step(if x.is_nan() { x } else { FRAME }));
    }
}

fn recorded(calls: usize, seed: u64) -> (World, Vec<u8>, Vec<u64>) {
    let mut random = Random(seed);
    let mut world = earth();
    let lens = Shape::own(Arc::new(Lens)).unwrap();
    let die = cuboid(0.2, 0.2, 0.2).rounded(0.05).unwrap();
    let shapes = vec![sphere(0.3), cuboid(0.3, 0.2, 0.3), die, lens];
    let mut known = Known { shapes, ..Known::default() };
    world.record();
    known.bodies.push(world.add_body(floor()).unwrap());
    let mut hashes = Vec::new();
    while world.recording().unwrap().len() < calls {
        call(&mut world, &mut known, &mut random);
        hashes.push(world.hash());
    }
    let bytes = world.stop_recording().unwrap().to_bytes();
    (world, bytes, hashes)
}

/// A thousand random calls, stale ids and numbers that are none among them, played again in an empty world
/// from bytes: the same bits, by one thread and by four.
#[test]
#[ignore = "takes minutes; scripts/show/recordings runs it"]
fn a_thousand_random_calls_replay_to_the_same_bits() {
    replay(&[1, 2, 3], 1000);
}

/// The same, soon.
#[test]
fn some_random_calls_replay_to_the_same_bits() {
    replay(&[4], 120);
}

fn replay(seeds: &[u64], calls: usize) {
    for &seed in seeds {
        let (world, bytes, hashes) = recorded(calls, seed);
        let recording = CallRecording::from_bytes(&bytes).unwrap();
        assert!(recording.len() >= calls && recording.calls().count() == recording.len());
        for threads in [1, 4] {
            let (again, seen) = with_threads(threads, || {
                let mut seen = std::collections::HashSet::new();
                let again = recording.replay_each(&code(), |_, world| {
                    seen.insert(world.hash());
                });
                (again.unwrap(), seen)
            });
            assert_eq!(again.hash(), world.hash(), "{seed}");
            assert_eq!(again.model().fingerprint(), world.model().fingerprint());
            assert_eq!(again.to_bytes(), world.to_bytes());
            assert!(hashes.iter().all(|hash| seen.contains(hash)));
            println!(
                "seed {seed}, {threads} threads: {} calls, {} bytes: bit-identical",
                recording.len(),
                bytes.len()
            );
        }
    }
}

/// A recording begins anywhere, and its first half is one.
#[test]
fn a_recording_begins_in_the_middle_and_can_be_halved() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let ball = world.add_body(Body::dynamic(sphere(0.3)).at(0.0, 2.0, 0.0)).unwrap();
    let step = |world: &mut World| {
        for _ in 0..20 {
            let _report = world.step(FRAME).unwrap();
        }
    };
    step(&mut world);
    world.record();
    step(&mut world);
    let middle = world.hash();
    world.set_friction(ball, 0.1).unwrap();
    step(&mut world);
    let recording = world.stop_recording().unwrap();
    assert!(world.recording().is_none());
    assert_eq!(recording.replay(&Attachments::default()).unwrap().hash(), world.hash());
    assert_eq!(recording.first(20).replay(&Attachments::default()).unwrap().hash(), middle);
    // what is not recorded costs nothing and changes nothing
    let before = world.hash();
    step(&mut world);
    assert_ne!(world.hash(), before);
}

/// Code that is missing is named, a coupling's hand is told, and damaged bytes are refused.
#[test]
fn recordings_that_cannot_be_played_say_why() {
    let mut world = earth();
    world.record();
    world.add_body(floor()).unwrap();
    world.set_contact_hook(Some(Arc::new(Slippery(0.5))));
    let bytes = world.recording().unwrap().to_bytes();
    let missing = CallRecording::from_bytes(&bytes).unwrap().replay(&Attachments::default());
    let Err(ReplayError::Load(LoadError::Missing { what: "contact hook", name })) = missing else {
        panic!("{missing:?}")
    };
    assert_eq!(name, "slippery");
    thirdlaw::simulator::Simulator::kick(&mut world, 0, thirdlaw::simulator::Wrench::ZERO);
    let driven = world.stop_recording().unwrap().replay(&code());
    assert!(matches!(driven, Err(ReplayError::Driven { call: 2, .. })), "{driven:?}");
    let mut random = Random(5);
    for _ in 0..200 {
        let mut bad = bytes.clone();
        let at = (random.unit() * bad.len() as f64) as usize;
        bad[at] ^= 1 << (random.unit() * 8.0) as u32;
        assert!(CallRecording::from_bytes(&bad).is_err());
        assert!(CallRecording::from_bytes(&bytes[..at]).is_err());
    }
}

/// Every public call that changes a world notes itself, or is made of calls that do.
#[test]
fn no_call_forgets_to_be_recorded() {
    const NOTED: [&str; 8] = [
        "self.note",
        "self.edit_body(",
        "self.edit_joint(",
        "self.set_velocity(",
        "self.set_settings(",
        "self.add_deformable(",
        "self.remove_deformable(",
        "self.step_observed(",
    ];
    // what changes no result
    const QUIET: [&str; 5] = ["listen", "drain_events", "record", "stop_recording", "drop_scratch"];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/world");
    let (mut calls, mut forgotten) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut parts = text.split("impl World {");
        parts.next();
        for methods in parts {
            let methods = methods.split("\n}\n").next().unwrap();
            for method in methods.split("    pub fn ").skip(1) {
                let name = method.split(['(', '<']).next().unwrap();
                let head = method.split('{').next().unwrap();
                if !head.contains("&mut self") || QUIET.contains(&name) {
                    continue;
                }
                calls += 1;
                let body = method.split("\n    }\n").next().unwrap();
                if !NOTED.iter().any(|noted| body.contains(noted)) {
                    forgotten.push(name.to_string());
                }
            }
        }
    }
    assert!(calls > 50, "{calls}");
    assert!(forgotten.is_empty(), "{forgotten:?}");
}
