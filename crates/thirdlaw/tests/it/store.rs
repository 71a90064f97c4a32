//! One id for particles of every kind: vertices, free points, drops of streams.

use crate::{earth, run};
use std::collections::HashSet;
use thirdlaw::{
    Attachments, Body, BodyId, Bond, Cloth, ClothId, ClothMesh, Deformable, DeformableId,
    EditError, Emitter, EmitterId, Hold, Joint, ParticleId, ParticleOwner, Point, PointId, Pose,
    Shape, StaleId, Twist, Vec3, World,
};

const H: f64 = 1.0 / 60.0;

struct Zoo {
    world: World,
    cloth: ClothId,
    points: [PointId; 2],
    emitter: EmitterId,
}

/// A cloth, two points joined by a rod, and an emitter whose particles die out of order.
fn zoo() -> Zoo {
    let mut world = earth();
    let high = Pose::from_parts(Vec3::new(0.0, 9.0, 0.0), Default::default());
    let cloth = Cloth::new(ClothMesh::grid(3, 4, [1.0, 1.0]).unwrap()).pose(high);
    let cloth = world.add_cloth(cloth).unwrap();
    let a = world.add_point(Point::new(2.0, Vec3::new(5.0, 0.0, 0.0))).unwrap();
    let b = world.add_point(Point::new(3.0, Vec3::new(6.0, 0.0, 0.0)).moving(Vec3::Z)).unwrap();
    world.add_joint(Joint::rod(a, b, 1.0).anchors(Vec3::ZERO, Vec3::ZERO)).unwrap();
    let drops = Emitter::point(300.0, 2.0).at(-5.0, 0.0, 0.0).spread(0.3).mass(0.02);
    let drops = Emitter { life_spread: 0.8, ..drops.life(0.2) };
    let emitter = world.add_emitter(drops).unwrap();
    Zoo { world, cloth, points: [a, b], emitter }
}

/// Every vertex has mass, and nothing acts between them.
fn loose(world: &mut World) -> DeformableId {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Z];
    world.add_deformable(Deformable::new(corners).masses(vec![0.5, 2.0, 3.0])).unwrap()
}

fn refused(world: &mut World, id: ParticleId) {
    let stale = StaleId::of(id);
    assert_eq!(world.particle(id), Err(stale), "{id}");
    assert_eq!(world.push_particle(id, Vec3::X), Err(EditError::Stale(stale)));
    let moved = world.set_particle_motion(id, Vec3::ZERO, Vec3::ZERO);
    assert_eq!(moved, Err(EditError::Stale(stale)));
}

#[test]
fn every_id_reads_what_its_owner_has() {
    let Zoo { mut world, cloth, points, emitter } = zoo();
    run(&mut world, 0.5, H);
    let read = |id| {
        let now = world.particle(id).unwrap();
        (now.position, now.velocity, now.mass)
    };
    let mut wanted = Vec::new();
    let (x, v) = (world.vertices(cloth).unwrap(), world.vertex_velocities(cloth).unwrap());
    for i in 0..x.len() {
        let id = ParticleId::vertex(cloth, i as u32);
        let mass = world.model().sheet.elements.mass[i];
        assert_eq!(read(id), (x[i], v[i], mass));
        wanted.push(id);
    }
    for (point, mass) in points.into_iter().zip([2.0, 3.0]) {
        let now = world.point(point).unwrap();
        assert_eq!(read(point.into()), (now.position, now.velocity, mass));
        wanted.push(point.into());
    }
    let stream = &world.stream(emitter).unwrap().particles;
    assert!(!stream.id.is_sorted(), "none has taken the place of another");
    let mut numbers = stream.id.clone();
    for (i, &number) in stream.id.iter().enumerate() {
        let id = ParticleId::emitted(emitter, number);
        assert_eq!(read(id), (stream.x[i], stream.v[i], 0.02));
    }
    numbers.sort_unstable();
    wanted.extend(numbers.into_iter().map(|number| ParticleId::emitted(emitter, number)));
    let found: Vec<ParticleId> = world.particles().collect();
    assert_eq!(found, wanted);
    assert_eq!(found.iter().collect::<HashSet<_>>().len(), found.len());
}

#[test]
fn a_push_changes_the_velocity_of_every_kind_of_particle_alike() {
    let mut world = earth();
    let object = loose(&mut world);
    let point = world.add_point(Point::new(2.0, Vec3::new(5.0, 0.0, 0.0))).unwrap();
    let drops = Emitter::point(300.0, 2.0).at(-5.0, 0.0, 0.0).mass(0.02);
    let emitter = world.add_emitter(drops.during(0.0, 0.1)).unwrap();
    run(&mut world, 0.2, H);
    let force = Vec3::new(0.3, -0.2, 0.5);
    let pushed = [
        ParticleId::vertex(object, 0),
        ParticleId::vertex(object, 2),
        point.into(),
        ParticleId::emitted(emitter, 7),
    ];
    let mut twin = world.clone();
    for id in pushed {
        // pushes add up
        world.push_particle(id, 2.0 * force).unwrap();
        world.push_particle(id, -force).unwrap();
    }
    world.step(H).unwrap();
    twin.step(H).unwrap();
    for id in twin.particles() {
        let (now, other) = (world.particle(id).unwrap(), twin.particle(id).unwrap());
        let share = if pushed.contains(&id) { H / now.mass } else { 0.0 };
        let error = (now.velocity - other.velocity - share * force).length();
        assert!(error < 1e-9 * (1.0 + share), "{id}: {error:e}");
    }
    // for one step only
    let before: Vec<Vec3> = pushed.map(|id| world.particle(id).unwrap().velocity).into();
    world.step(H).unwrap();
    for (id, before) in pushed.into_iter().zip(before) {
        let change = world.particle(id).unwrap().velocity - before;
        assert!((change + 9.81 * H * Vec3::Y).length() < 1e-9, "{id}: {change}");
    }
}

#[test]
fn ids_of_drops_hold_while_others_die_and_are_refused_afterwards() {
    let Zoo { mut world, emitter, .. } = zoo();
    run(&mut world, 0.1, H);
    let first: Vec<ParticleId> =
        world.particles().filter(|id| id.owner == ParticleOwner::Emitter(emitter)).collect();
    let mut swapped = false;
    let mut last: Vec<Vec3> =
        first.iter().map(|&id| world.particle(id).unwrap().position).collect();
    for _ in 0..30 {
        world.step(H).unwrap();
        let stream = world.stream(emitter).unwrap();
        swapped |= !stream.particles.id.is_sorted();
        let alive: HashSet<u64> = stream.particles.id.iter().copied().collect();
        for (id, last) in first.iter().zip(&mut last) {
            if !alive.contains(&id.number) {
                refused(&mut world, *id);
                continue;
            }
            // still the same one: it is where its velocity took it
            let now = world.particle(*id).unwrap();
            assert!((now.position - *last - H * now.velocity).length() < 1e-9, "{id}");
            *last = now.position;
        }
    }
    assert!(swapped && world.particle(first[0]).is_err());
    refused(&mut world, ParticleId::emitted(emitter, u64::MAX));
}

#[test]
fn particles_of_removed_owners_are_refused() {
    let Zoo { mut world, cloth, points: [a, b], emitter } = zoo();
    run(&mut world, 0.1, H);
    let all: Vec<ParticleId> = world.particles().collect();
    world.remove_cloth(cloth).unwrap();
    world.remove_point(a).unwrap();
    world.remove_emitter(emitter).unwrap();
    assert_eq!(world.particles().collect::<Vec<_>>(), [b.into()]);
    // others in their slots are others
    let object = loose(&mut world);
    world.add_point(Point::new(1.0, Vec3::ZERO)).unwrap();
    world.add_emitter(Emitter::point(300.0, 2.0)).unwrap();
    run(&mut world, 0.1, H);
    for id in all.into_iter().filter(|id| *id != b.into()) {
        refused(&mut world, id);
    }
    refused(&mut world, ParticleId::vertex(object, 3));
    refused(&mut world, ParticleId { number: 0, ..b.into() });
    assert_eq!(ParticleId::vertex(object, 2).to_string(), format!("vertex 2 of {object}"));
    assert_eq!(ParticleId::from(b).to_string(), b.to_string());
    assert_eq!(ParticleId::emitted(emitter, 4).to_string(), "particle 4 of emitter 0v0");
}

#[test]
fn pushes_follow_their_particles_when_the_world_is_edited() {
    let mut world = earth();
    let first = loose(&mut world);
    let second = loose(&mut world);
    let emitter = world.add_emitter(Emitter::point(300.0, 2.0).at(-5.0, 0.0, 0.0)).unwrap();
    world.step(H).unwrap();
    let id = ParticleId::vertex(second, 1);
    let before = world.particle(id).unwrap().velocity;
    world.push_particle(id, Vec3::X).unwrap();
    world.push_particle(ParticleId::vertex(first, 1), Vec3::X).unwrap();
    world.push_particle(ParticleId::emitted(emitter, 0), Vec3::X).unwrap();
    world.remove_deformable(first).unwrap();
    world.remove_emitter(emitter).unwrap();
    let third = loose(&mut world);
    world.add_emitter(Emitter::point(300.0, 2.0).at(-5.0, 0.0, 0.0)).unwrap();
    world.step(H).unwrap();
    let change = (world.particle(id).unwrap().velocity - before).x;
    assert!((change - H / 2.0).abs() < 1e-9, "{change}");
    assert_eq!(world.particle(ParticleId::vertex(third, 1)).unwrap().velocity.x, 0.0);
    // a world put back has not been pushed
    let saved = world.save();
    let plain = world.clone();
    world.push_particle(id, Vec3::X).unwrap();
    world.restore(&saved).unwrap();
    let [mut world, mut plain] = [world, plain];
    world.step(H).unwrap();
    plain.step(H).unwrap();
    assert_eq!(world.hash(), plain.hash());
}

#[test]
fn particles_go_where_they_are_put_unless_that_is_nowhere() {
    let Zoo { mut world, cloth, points, emitter } = zoo();
    run(&mut world, 0.1, H);
    let number = world.stream(emitter).unwrap().particles.id[3];
    let ids =
        [ParticleId::vertex(cloth, 5), points[1].into(), ParticleId::emitted(emitter, number)];
    for id in ids {
        let (x, v) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(-1.0, 0.0, 4.0));
        world.set_particle_motion(id, x, v).unwrap();
        let now = world.particle(id).unwrap();
        assert_eq!((now.position, now.velocity), (x, v));
        for bad in [Vec3::NAN, Vec3::INFINITY] {
            assert!(matches!(world.push_particle(id, bad), Err(EditError::Value(_))));
            assert!(world.set_particle_motion(id, bad, v).is_err());
            assert!(world.set_particle_motion(id, x, bad).is_err());
        }
        assert_eq!(world.particle(id).unwrap(), now);
    }
}

/// A sheet that hangs by one edge, and its vertices by row and column.
fn hanging() -> (World, ClothId, impl Fn(u32, u32) -> ParticleId) {
    let mut world = earth();
    let mesh = ClothMesh::grid(7, 7, [0.6, 0.6]).unwrap();
    let cloth = world.add_cloth(Cloth::new(mesh).pin(0..7)).unwrap();
    (world, cloth, move |row, column| ParticleId::vertex(cloth, 7 * row + column))
}

fn weight(world: &World) -> f64 {
    9.81 * world.model().sheet.elements.mass.iter().sum::<f64>()
}

fn held(world: &World, cloth: ClothId) -> Vec3 {
    world.pin_forces(cloth).unwrap().iter().map(|(_, force)| *force).sum()
}

#[test]
fn a_vertex_that_is_let_go_falls_and_one_that_is_grabbed_stays_and_bears() {
    let (mut world, cloth, at) = hanging();
    run(&mut world, 2.0, H);
    for column in 1..6 {
        world.unpin_particle(at(0, column)).unwrap();
    }
    run(&mut world, 4.0, H);
    let pins: Vec<u32> = world.pin_forces(cloth).unwrap().iter().map(|pin| pin.0).collect();
    assert_eq!(pins, [0, 6]);
    let low = world.particle(at(0, 3)).unwrap().position.y;
    assert!(low < -1e-3, "the middle of the edge sags: {low}");

    // grabbed in the air, the middle of the lower edge stays where it is and takes its share of the weight
    let grabbed = at(6, 3);
    let place = world.particle(grabbed).unwrap().position;
    world.pin_particle(grabbed, Hold::Place).unwrap();
    for id in [at(0, 0), at(0, 6)] {
        world.unpin_particle(id).unwrap();
    }
    run(&mut world, 12.0, H);
    let off = world.particle(grabbed).unwrap().position.distance(place);
    assert!(off < 1e-9, "{off:e}");
    let (force, weight) = (held(&world, cloth), weight(&world));
    assert!((force - weight * Vec3::Y).length() < 0.02 * weight, "{force} {weight}");

    // nothing holds it any more: free fall, with no force
    world.unpin_particle(grabbed).unwrap();
    world.unpin_particle(grabbed).unwrap();
    let masses = world.model().sheet.elements.mass.clone();
    let momentum = |world: &World| -> Vec3 {
        let v = world.vertex_velocities(cloth).unwrap();
        masses.iter().zip(v).map(|(m, v)| *m * *v).sum()
    };
    let start = momentum(&world);
    world.step(H).unwrap();
    let gained = momentum(&world) - start;
    let fallen = H * weight * Vec3::Y;
    assert!((gained + fallen).length() < 0.01 * fallen.length(), "{gained} {fallen}");
    assert!(world.pin_forces(cloth).unwrap().is_empty());
}

#[test]
fn vertices_are_handed_from_one_hold_to_another() {
    let (mut world, cloth, at) = hanging();
    let ball = Body::kinematic(Shape::sphere(0.01).unwrap()).at(0.0, 1.0, 0.0);
    let carrier = world.add_body(ball).unwrap();
    for column in 0..7 {
        world.pin_particle(at(0, column), Hold::Body(carrier)).unwrap();
    }
    let start = world.particle(at(0, 0)).unwrap().position;
    let up = Twist { linear: 0.5 * Vec3::Y, ..Twist::default() };
    world.set_velocity(carrier, up).unwrap();
    run(&mut world, 1.0, H);
    let risen = world.particle(at(0, 0)).unwrap().position - start;
    assert!((risen - 0.5 * Vec3::Y).length() < 1e-6, "{risen}");
    // by springs, each of which bears its share
    world.set_velocity(carrier, Twist::default()).unwrap();
    for column in 0..7 {
        let bond = Bond::body(carrier).soft(50.0, 0.1);
        world.pin_particle(at(0, column), Hold::Bond(bond)).unwrap();
    }
    assert!(world.deformable(cloth).unwrap().pins.is_empty());
    let before = world.particle(at(0, 3)).unwrap().position.y;
    run(&mut world, 20.0, H);
    let mean: f64 = (0..7).map(|c| world.particle(at(0, c)).unwrap().position.y).sum::<f64>() / 7.0;
    let sag = weight(&world) / (7.0 * 50.0);
    assert!((before - mean - sag).abs() < 0.02 * sag, "{} {sag}", before - mean);
}

#[test]
fn holds_that_cannot_be_are_refused_and_change_nothing() {
    let Zoo { mut world, cloth, points, emitter } = zoo();
    run(&mut world, 0.3, H);
    let vertex = ParticleId::vertex(cloth, 4);
    let own = Hold::Bond(Bond::surface(cloth));
    let gone = BodyId { index: 9, generation: 1 };
    let drop = world.stream(emitter).unwrap().particles.id[0];
    let before = (world.hash(), world.to_bytes());
    let refused = [
        world.pin_particle(vertex, own),
        world.pin_particle(vertex, Hold::Body(gone)),
        world.pin_particle(vertex, Hold::Path(Vec::new())),
        world.pin_particle(vertex, Hold::Directions(vec![Vec3::splat(f64::NAN)])),
        world.pin_particle(ParticleId::vertex(cloth, 12), Hold::Place),
        world.pin_particle(points[0].into(), Hold::Place),
        world.unpin_particle(points[0].into()),
        world.pin_particle(ParticleId::emitted(emitter, drop), Hold::Place),
    ];
    for (i, refused) in refused.into_iter().enumerate() {
        assert!(refused.is_err(), "{i}");
    }
    assert_eq!((world.hash(), world.to_bytes()), before);
}

#[test]
fn holds_are_saved_with_a_world() {
    let (mut world, _, at) = hanging();
    world.pin_particle(at(6, 3), Hold::Directions(vec![Vec3::X])).unwrap();
    world.unpin_particle(at(0, 2)).unwrap();
    run(&mut world, 0.2, H);
    let mut again = World::from_bytes(&world.to_bytes(), &Attachments::default()).unwrap();
    let mut copy = world.clone();
    for world in [&mut world, &mut again, &mut copy] {
        run(world, 0.3, H);
    }
    assert_eq!([again.hash(), copy.hash()], [world.hash(); 2]);
}
