//! Bodies of several parts, each with a material, groups, a sensor flag and user data of its own; groups
//! of who pushes whom.

use crate::{cuboid, earth, floor, sphere};
use thirdlaw::prelude::*;
use thirdlaw::{Paths, measure};

const FRAME: f64 = 1.0 / 60.0;

fn slab(x: f64, y: f64, z: f64) -> BodyPart {
    BodyPart::new(cuboid(x, y, z))
}

fn run(world: &mut World, frames: u32) {
    for _ in 0..frames {
        world.step(FRAME).unwrap();
    }
}

/// Parts that differ in nothing are the compound of their shapes, to the last bit.
#[test]
fn parts_alike_are_a_compound() {
    let (mut parted, mut plain) = (earth(), earth());
    let arm = Pose::from_translation(Vec3::new(0.6, 0.1, 0.0));
    let both = [(Pose::IDENTITY, cuboid(0.4, 0.1, 0.2)), (arm, sphere(0.25))];
    for world in [&mut parted, &mut plain] {
        world.add_body(floor()).unwrap();
    }
    for i in 0..6 {
        let place = |body: Body| body.at(0.2 * f64::from(i), 1.0 + f64::from(i), 0.0);
        let own = Body::dynamic(cuboid(0.4, 0.1, 0.2));
        parted.add_body(place(own.part(BodyPart::new(sphere(0.25)).at(0.6, 0.1, 0.0)))).unwrap();
        plain.add_body(place(Body::dynamic(Shape::compound(&both).unwrap()))).unwrap();
    }
    for frame in 0..240 {
        parted.step(FRAME).unwrap();
        plain.step(FRAME).unwrap();
        assert_eq!(parted.hash(), plain.hash(), "frame {frame}");
    }
}

/// A sled on two runners of different friction is braked by the mean of both, and each runner's contacts
/// say so; in every kind of solve.
#[test]
fn each_part_rubs_by_its_own_friction() {
    for paths in [Paths::Auto, Paths::General] {
        let mut settings = Settings::default();
        settings.contact.paths = paths;
        let mut world = World::new(settings).unwrap();
        let mut ground = floor();
        ground.material.friction = 1.0;
        world.add_body(ground).unwrap();
        let rule = |friction| Material {
            friction,
            friction_combine: Combine::Multiply,
            ..Material::default()
        };
        let mut sled = Body::dynamic(cuboid(0.4, 0.05, 0.4)).mass(10.0);
        for (z, friction) in [(-0.35, 0.6), (0.35, 0.2)] {
            sled = sled.part(slab(0.4, 0.05, 0.05).at(0.0, -0.1, z).material(rule(friction)));
        }
        sled.locks.rotation = [false, true, false];
        let sled = world.add_body(sled.at(0.0, 0.15, 0.0)).unwrap();
        run(&mut world, 60);
        let from = world.velocity(sled).unwrap();
        let speed = Vec3::new(4.0, 0.0, 0.0);
        world.set_velocity(sled, Twist { linear: speed, ..from }).unwrap();
        run(&mut world, 5);
        let before = world.velocity(sled).unwrap().linear.x;
        run(&mut world, 30);
        let braked = (before - world.velocity(sled).unwrap().linear.x) / (30.0 * FRAME);
        assert!((braked - 0.4 * 9.81).abs() < 0.02 * 9.81, "{braked} {paths:?}");
        let parts: Vec<PartId> = world.parts(sled).unwrap().collect();
        for (part, friction) in [(parts[1], 0.6), (parts[2], 0.2)] {
            let (mut load, mut rub) = (0.0, 0.0);
            for contact in world.contacts_of(sled).unwrap().filter(|c| c.parts.contains(&part)) {
                assert_eq!(contact.friction, friction);
                load += contact.points().iter().map(|p| p.normal_force).sum::<f64>();
                rub += contact.points().iter().map(|p| p.friction_force).sum::<Vec3>().length();
            }
            assert!((load - 49.05).abs() < 1.5, "{load}");
            assert!((rub - friction * load).abs() < 0.02 * load, "{rub} of {load}");
        }
    }
}

const GHOST: Groups = Groups { member: 2, collides: 2 };

/// A shelf whose left half lets everything of the first group through.
fn shelf() -> Body {
    Body::fixed(cuboid(0.5, 0.1, 0.5)).part(slab(0.5, 0.1, 0.5).at(1.0, 0.0, 0.0).groups(GHOST))
}

#[test]
fn each_part_lets_its_own_groups_through() {
    // at rest, fast, and off again; rigid bodies, rays, shapes and measures
    for speed in [0.0, -80.0] {
        let mut world = earth();
        world.add_body(floor()).unwrap();
        let shelf = world.add_body(shelf().at(0.0, 2.0, 0.0)).unwrap();
        let ball =
            |x: f64| Body::dynamic(sphere(0.05)).at(x, 2.6, 0.0).moving(Vec3::new(0.0, speed, 0.0));
        let held = world.add_body(ball(0.0)).unwrap();
        let through = world.add_body(ball(1.0)).unwrap();
        let ghost = world.add_body(ball(1.3).groups(GHOST)).unwrap();
        run(&mut world, 180);
        let height = |id| world.center(id).unwrap().y;
        assert!((height(held) - 2.15).abs() < 2e-3, "{} at {speed}", height(held));
        assert!((height(through) - 0.05).abs() < 2e-3, "{} at {speed}", height(through));
        assert!((height(ghost) - 2.15).abs() < 2e-3, "{} at {speed}", height(ghost));
        assert!(measure::penetration(&world) < 2e-3);
        let parts: Vec<PartId> = world.parts(shelf).unwrap().collect();
        let down = |x: f64| Ray::new(Vec3::new(x, 2.11, 0.4), -Vec3::Y).unwrap();
        let first = Filter::new().groups(Groups::default());
        let hit = world.cast_ray(&down(0.0), &first).unwrap();
        assert_eq!((hit.part, hit.piece), (Some(parts[0]), 0));
        let hit = world.cast_ray(&down(1.0), &Filter::new()).unwrap();
        assert_eq!((hit.part, hit.piece), (Some(parts[1]), 1));
        assert_ne!(world.cast_ray(&down(1.0), &first).unwrap().body(), Some(shelf));
        let above = Pose::from_translation(Vec3::new(1.0, 2.3, 0.4));
        let cast = |filter| {
            let met = world.cast_shape(&sphere(0.05), above, -0.5 * Vec3::Y, filter).unwrap();
            met.and_then(|met| met.part)
        };
        assert_eq!((cast(&Filter::new()), cast(&first)), (Some(parts[1]), None));
        // once the part takes part in the first group it holds what comes
        world.edit_part(parts[1], |part| part.groups = Groups::default()).unwrap();
        world.set_pose(through, above).unwrap();
        run(&mut world, 120);
        assert!((world.center(through).unwrap().y - 2.15).abs() < 2e-3);
    }
}

#[test]
fn cloth_and_particles_ask_each_part() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    world.add_body(shelf().at(0.0, 1.0, 0.0)).unwrap();
    let small = |x: f64| {
        let mesh = ClothMesh::grid(6, 6, [0.3, 0.3]).unwrap();
        Cloth::new(mesh).pose(Pose::from_translation(Vec3::new(x, 1.15, 0.0)))
    };
    let held = world.add_cloth(small(0.0)).unwrap();
    let through = world.add_cloth(small(1.0)).unwrap();
    let drip = |x: f64| Emitter::point(30.0, 1.0).at(x, 1.8, 0.0).toward(-Vec3::Y);
    let on = world.add_emitter(drip(-0.4)).unwrap();
    let past = world.add_emitter(drip(1.4)).unwrap();
    run(&mut world, 90);
    let lowest = |world: &World, id| {
        let x = world.vertices(id).unwrap();
        x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min)
    };
    assert!(lowest(&world, held) > 1.095, "{}", lowest(&world, held));
    assert!(lowest(&world, through) < 0.2, "{}", lowest(&world, through));
    let below = |world: &World, id| {
        world.stream(id).unwrap().particles.x.iter().filter(|x| x.y < 0.9).count()
    };
    assert!(below(&world, past) > 5 && below(&world, on) == 0, "{}", below(&world, on));
}

#[test]
fn a_sensor_part_tells_and_touches_nothing() {
    let mut world = earth();
    let body = Body::dynamic(cuboid(0.2, 0.2, 0.2)).mass(3.0).gravity_scale(0.0);
    let mine =
        world.add_body(body.part(BodyPart::new(sphere(0.5)).at(2.0, 0.0, 0.0).sensor())).unwrap();
    let mass = world.body(mine).unwrap();
    assert_eq!((mass.mass, mass.center), (3.0, Vec3::ZERO));
    world.listen(Listening { sensors: true, contacts: true, ..Listening::default() });
    let ball = Body::dynamic(sphere(0.1)).gravity_scale(0.0).at(2.0, 0.0, 3.0);
    let ball = world.add_body(ball.moving(Vec3::new(0.0, 0.0, -4.0))).unwrap();
    run(&mut world, 90);
    let parts: Vec<PartId> = world.parts(mine).unwrap().collect();
    let heard: Vec<WorldEvent> = world.drain_events().collect();
    let [enter, leave] = heard[..] else { panic!("{heard:?}") };
    let (sensor, part, who) = (mine, parts[1], AnyId::from(ball));
    assert_eq!(enter, WorldEvent::SensorEntered { sensor, part, who });
    assert_eq!(leave, WorldEvent::SensorLeft { sensor, part, who });
    assert_eq!(world.velocity(ball).unwrap().linear.z, -4.0);
    let ray = Ray::new(Vec3::new(2.0, 0.0, 3.0), -Vec3::Z).unwrap();
    assert!(world.cast_ray(&ray, &Filter::new().except(ball)).is_none());
    let hit = world.cast_ray(&ray, &Filter::new().except(ball).with_sensors()).unwrap();
    assert_eq!((hit.part, hit.body()), (Some(parts[1]), Some(mine)));
}

#[test]
fn parts_weigh_what_they_are_made_of() {
    let mut world = earth();
    let iron = slab(0.1, 0.1, 0.1).at(1.0, 0.0, 0.0).density(8000.0);
    let body = Body::dynamic(cuboid(0.1, 0.1, 0.1)).density(1000.0).part(iron);
    let id = world.add_body(body).unwrap();
    let found = world.body(id).unwrap();
    assert!((found.mass - 72.0).abs() < 1e-12, "{}", found.mass);
    assert!((found.center.x - 64.0 / 72.0).abs() < 1e-12, "{}", found.center);
    // two cubes of side .2 and a reduced mass of 64·8/72 at a distance of 1 m
    let across = 72.0 * 0.04 / 6.0 + 64.0 * 8.0 / 72.0;
    assert!((found.inertia.y_axis.y - across).abs() < 1e-12, "{}", found.inertia.y_axis.y);
    world.set_mass(id, Mass::Total(9.0)).unwrap();
    let found = world.body(id).unwrap();
    // kilograms are spread by densities; what has none counts as water
    assert!((found.mass - 9.0).abs() < 1e-12 && (found.center.x - 64.0 / 72.0).abs() < 1e-12);
}

#[test]
fn parts_keep_their_ids_and_their_world() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let id = world.add_body(Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(0.0, 1.0, 0.0)).unwrap();
    let part = |x: f64| slab(0.1, 0.1, 0.1).at(x, 0.0, 0.0).user_data(x as u128);
    let [one, two, three] = [1.0, 2.0, 3.0].map(|x| world.add_part(id, part(x)).unwrap());
    world.remove_part(two).unwrap();
    assert_eq!(world.user_data(three), Ok(3));
    assert!(world.describe_part(two).is_err() && world.remove_part(two).is_err());
    assert!(world.edit_part(two, |part| part.sensor = true).is_err());
    let four = world.add_part(id, part(4.0)).unwrap();
    assert!(![one, two, three].contains(&four));
    world.set_user_data(one, 11).unwrap();
    // what is refused leaves the old part standing
    let plane = Shape::half_space(Vec3::Y).unwrap();
    assert!(world.edit_part(one, |part| part.shape = plane.clone()).is_err());
    assert!(world.edit_part(one, |part| part.material.friction = f64::NAN).is_err());
    assert!(world.edit_part(one, |part| part.pose.translation.x = f64::INFINITY).is_err());
    assert!(world.add_part(id, BodyPart::new(plane)).is_err());
    let own = PartId { body: id, number: 0 };
    assert!(world.remove_part(own).is_err());
    world.edit_part(own, |part| part.material.friction = 0.9).unwrap();
    assert_eq!(world.body(id).unwrap().material.friction, 0.9);
    assert_eq!(world.describe_part(one).unwrap().pose.translation.x, 1.0);
    run(&mut world, 30);
    let bytes = world.to_bytes();
    let mut again = World::from_bytes(&bytes, &Attachments::default()).unwrap();
    assert_eq!(again.user_data(one), Ok(11));
    assert_eq!(again.add_part(id, part(5.0)), world.add_part(id, part(5.0)));
    for world in [&mut world, &mut again] {
        run(world, 60);
    }
    assert_eq!(again.hash(), world.hash());
    // the last part may go, and the body is as it was
    for part in world.parts(id).unwrap().skip(1).collect::<Vec<_>>() {
        world.remove_part(part).unwrap();
    }
    assert!(world.body(id).unwrap().shape.is_convex());
    assert_eq!(world.parts(id).unwrap().collect::<Vec<_>>(), [own]);
}

#[test]
fn each_part_bounces_by_its_own_restitution() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let mut dumbbell = Body::dynamic(sphere(0.1))
        .part(BodyPart::new(sphere(0.1)).at(0.0, 1.0, 0.0).restitution(1.0));
    dumbbell.locks.rotation = [true; 3];
    let up = world.add_body(dumbbell.clone().at(0.0, 1.0, 0.0)).unwrap();
    let down = dumbbell.rotated(Vec3::new(std::f64::consts::PI, 0.0, 0.0)).at(5.0, 2.0, 0.0);
    let down = world.add_body(down).unwrap();
    let mut fastest = [f64::NEG_INFINITY; 2];
    for _ in 0..60 {
        world.step(FRAME).unwrap();
        for (fastest, id) in fastest.iter_mut().zip([up, down]) {
            *fastest = fastest.max(world.velocity(id).unwrap().linear.y);
        }
    }
    // 0.9 m down: 4.2 m/s back with the elastic end first, nothing with the other one
    assert!(fastest[0] < 0.05 && (fastest[1] - 4.2).abs() < 0.1, "{fastest:?}");
}

#[test]
fn solver_groups_let_through_and_tell() {
    let mut world = earth();
    let ground = world.add_body(floor()).unwrap();
    let ball = |y: f64| Body::dynamic(sphere(0.2)).at(0.0, y, 0.0);
    let ghost = Groups { member: 1, collides: 0 };
    let (under, over) = (world.add_body(ball(0.2)).unwrap(), world.add_body(ball(2.0)).unwrap());
    world.listen(Listening { contacts: true, ..Listening::default() });
    world.set_solver_groups(over, ghost).unwrap();
    let mut deepest: f64 = 0.0;
    let mut heard = Vec::new();
    for _ in 0..120 {
        world.step(FRAME).unwrap();
        heard.extend(world.drain_events());
        deepest = deepest.min(world.center(over).unwrap().y);
    }
    // through the ball and through the floor, which pushes it as little
    assert!(deepest < -5.0 && (world.center(under).unwrap().y - 0.2).abs() < 1e-3);
    let began = |body: BodyId| {
        let with = |event: &&WorldEvent| {
            matches!(event, WorldEvent::ContactBegan { a, b, impulse, .. }
                if [*a, *b] == [body, over] && *impulse == 0.0)
        };
        heard.iter().filter(with).count()
    };
    assert_eq!((began(ground), began(under)), (1, 1), "{heard:?}");
}

/// A light body of higher dominance goes its way through a heavy one, which is pushed off; what is equal
/// pushes both; and momentum then is nobody's affair.
#[test]
fn who_dominates_is_not_pushed() {
    let step = |world: &mut World, frames: u32| {
        for _ in 0..frames {
            let _report = world.step(1.0 / 60.0).unwrap();
        }
    };
    for (dominance, stays) in [(1, true), (0, false)] {
        let mut world = crate::world(0.0);
        let fly = Body::dynamic(crate::sphere(0.1)).at(-1.0, 0.0, 0.0).moving(2.0 * Vec3::X);
        let fly = world.add_body(fly.dominance(dominance)).unwrap();
        let rock = world.add_body(Body::dynamic(crate::cuboid(0.3, 0.3, 0.3)).mass(50.0)).unwrap();
        step(&mut world, 60);
        let [v, w] = [fly, rock].map(|id| world.velocity(id).unwrap().linear.x);
        if stays {
            // exactly: it does not know of the other
            assert_eq!(v, 2.0);
            assert!((w - 2.0).abs() < 1e-6, "{w}");
            let gap = world.center(rock).unwrap().x - world.center(fly).unwrap().x;
            assert!((gap - 0.4).abs() < 5e-3, "{gap}");
        } else {
            assert!(v < 0.7 && w < 0.7, "{v} {w}");
        }
        world.set_dominance(fly, -1).unwrap();
        world.set_velocity(rock, Twist::default()).unwrap();
        world.set_pose(rock, Pose::IDENTITY).unwrap();
        world.set_pose(fly, Pose::from_translation(-Vec3::X)).unwrap();
        world.set_velocity(fly, Twist { linear: 2.0 * Vec3::X, angular: Vec3::ZERO }).unwrap();
        step(&mut world, 60);
        assert_eq!(world.velocity(rock).unwrap(), Twist::default());
        let left = world.velocity(fly).unwrap().linear.x;
        assert!(left.abs() < 0.1, "{left}");
    }
}

/// A heap on a platform that dominates, which hangs from a drive: the platform moves bit by bit as if it were
/// empty, and the heap is carried and comes to rest on it.
#[test]
fn a_platform_that_dominates_carries_a_heap_and_does_not_feel_it() {
    let lift = |world: &mut World, dominance| {
        let table = Body::dynamic(crate::cuboid(2.0, 0.1, 2.0)).mass(5.0).at(0.0, 1.0, 0.0);
        let table = world.add_body(table.dominance(dominance)).unwrap();
        let joint = Joint::slider(Side::World, table).at(0.0, 1.0, 0.0).axis(Vec3::Y);
        let drive = Drive::pd(2000.0, 200.0).at(0.4);
        let joint = world.add_joint(joint).unwrap();
        world.set_drive(joint, Axis::X, Some(drive)).unwrap();
        table
    };
    let (mut empty, mut full) = (crate::earth(), crate::earth());
    let table = lift(&mut empty, 1);
    assert_eq!(lift(&mut full, 1), table);
    let mut crates = Vec::new();
    for i in 0..12 {
        let (x, z) = (0.5 * f64::from(i % 3) - 0.5, 0.5 * f64::from(i / 3 % 2) - 0.25);
        let y = 1.31 + 0.41 * f64::from(i / 6);
        let heavy = Body::dynamic(crate::cuboid(0.2, 0.2, 0.2)).at(x, y, z).mass(100.0);
        crates.push(full.add_body(heavy).unwrap());
    }
    for _ in 0..240 {
        let _reports = (empty.step(1.0 / 60.0).unwrap(), full.step(1.0 / 60.0).unwrap());
        assert_eq!(empty.pose(table), full.pose(table));
    }
    let top = full.center(table).unwrap().y + 0.1;
    for (i, &id) in crates.iter().enumerate() {
        let known = top + 0.2 + 0.4 * (i / 6) as f64;
        let y = full.center(id).unwrap().y;
        assert!((y - known).abs() < 0.01, "{i}: {y} {known}");
    }
}
