//! Structures that stand or fall: arches, towers, heavy loads on light blocks.
//!
//! Known: a semicircular arch of radius R without tension stands from a thickness of .107 R on, and on friction
//! from μ = .3495 (at .15 R) on; blocks that are stacked straight stand at any height and under any load.

use crate::{cuboid, floor, world};
use thirdlaw::{Body, BodyId, Quat, Shape, Vec3, World};

/// Where a structure is put, and what is done to it.
#[derive(Clone, Copy)]
struct Place {
    name: &'static str,
    degrees: f64,
    shift: Vec3,
    kick: f64,
}

const PLACES: [Place; 4] = [
    Place { name: "as it is", degrees: 0.0, shift: Vec3::ZERO, kick: 0.0 },
    Place { name: "turned by 37°", degrees: 37.0, shift: Vec3::ZERO, kick: 0.0 },
    Place { name: "1 km off", degrees: 0.0, shift: Vec3::new(1e3, 0.0, 1e3), kick: 0.0 },
    Place { name: "pushed", degrees: 0.0, shift: Vec3::ZERO, kick: 1e-3 },
];

impl Place {
    /// A world with the defaults but for sleeping, with these bodies put in place.
    fn build(&self, friction: f64, bodies: Vec<Body>) -> (World, Vec<BodyId>) {
        let mut world = world(9.81);
        let mut settings = *world.settings();
        settings.sleeping = false;
        world.set_settings(settings).unwrap();
        world.add_body(floor().friction(friction)).unwrap();
        let turn = Quat::from_rotation_y(self.degrees.to_radians());
        let ids = bodies.into_iter().map(|body| {
            let id = world.add_body(body.friction(friction)).unwrap();
            let mut pose = world.pose(id).unwrap();
            pose.translation = turn * pose.translation + self.shift;
            pose.rotation = turn * pose.rotation;
            world.set_pose(id, pose).unwrap();
            let mut velocity = world.velocity(id).unwrap();
            velocity.linear = turn * Vec3::new(self.kick, 0.0, 0.6 * self.kick);
            world.set_velocity(id, velocity).unwrap();
            id
        });
        let ids = ids.collect();
        (world, ids)
    }
}

/// How a structure fared: the farthest that a body has gone, and the lowest that one has sunk, m; steps in
/// which an island was left unconverged.
struct Fate {
    moved: f64,
    sunk: f64,
    unconverged: u32,
}

fn watch((mut world, ids): (World, Vec<BodyId>), seconds: f64) -> Fate {
    let at = |world: &World| -> Vec<Vec3> {
        ids.iter().map(|&id| world.pose(id).unwrap().translation).collect()
    };
    let start = at(&world);
    let mut fate = Fate { moved: 0.0, sunk: 0.0, unconverged: 0 };
    for _ in 0..(60.0 * seconds) as usize {
        fate.unconverged += world.step(1.0 / 60.0).unwrap().unconverged.min(1);
        for (now, start) in at(&world).into_iter().zip(&start) {
            fate.moved = fate.moved.max(now.distance(*start));
            fate.sunk = fate.sunk.max(start.y - now.y);
        }
        if fate.moved > 0.2 {
            break;
        }
    }
    fate
}

fn arch(thickness: f64) -> Vec<Body> {
    arch_of(25, thickness)
}

fn arch_of(stones: i32, thickness: f64) -> Vec<Body> {
    let angle = std::f64::consts::PI / f64::from(stones);
    let at = |r: f64, k: f64| Vec3::new(r * libm::cos(angle * k), r * libm::sin(angle * k), 0.0);
    let stone = |i: i32| {
        let center = at(1.0, f64::from(i) + 0.5);
        let mut points = Vec::new();
        for k in [i, i + 1] {
            for r in [1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness] {
                for z in [-0.2, 0.2] {
                    points.push(at(r, f64::from(k)) + Vec3::new(0.0, 0.0, z) - center);
                }
            }
        }
        let stone = Body::dynamic(Shape::convex_hull(&points).unwrap()).density(1000.0);
        stone.at(center.x, center.y, center.z)
    };
    (0..stones).map(stone).collect()
}

fn column(masses: impl IntoIterator<Item = f64>) -> Vec<Body> {
    let cube =
        |(i, mass)| Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, 0.5 + i as f64, 0.0).mass(mass);
    masses.into_iter().enumerate().map(cube).collect()
}

fn stands(name: &str, friction: f64, bodies: impl Fn() -> Vec<Body>, most: f64) {
    for place in PLACES {
        let fate = watch(place.build(friction, bodies()), 20.0);
        let Fate { moved, sunk, unconverged } = fate;
        let place = place.name;
        println!(
            "after:  {name}, {place}: moves {:.3} mm, sinks {:.3} mm, {unconverged} steps unconverged",
            1e3 * moved,
            1e3 * sunk
        );
        assert!(moved < most, "{name}, {place}: moves by {moved} m");
        assert!(sunk < 1e-3, "{name}, {place}: sinks by {sunk} m");
    }
}

/// It stands with the first value, and falls with the others.
fn both_sides(name: &str, values: [f64; 3], build: impl Fn(f64) -> (World, Vec<BodyId>)) {
    for (i, value) in values.into_iter().enumerate() {
        let Fate { moved, .. } = watch(build(value), 20.0);
        let word = if moved < 0.2 { "stands" } else { "falls" };
        println!("after:  arch, {name} {value}: {word}, moves {:.3} mm", 1e3 * moved);
        assert!(if i == 0 { moved < 1e-3 } else { moved > 0.2 }, "{name} {value} moves {moved} m");
    }
}

#[test]
fn an_arch_stands_on_its_thickness_and_falls_below_it() {
    println!("known:  25 stones stand from t/R = .107 on; before: .12 falls within .25 s");
    stands("arch .115", 0.6, || arch(0.115), 1e-3);
    both_sides("t/R", [0.109, 0.106, 0.1], |t| PLACES[0].build(0.6, arch(t)));
}

#[test]
fn an_arch_stands_on_its_friction_and_slides_below_it() {
    println!("known:  t/R = .15 stands from mu = .3495 on; before: .36 falls");
    stands("arch .15, mu .37", 0.37, || arch(0.15), 1e-3);
    both_sides("mu", [0.355, 0.345, 0.33], |mu| PLACES[0].build(mu, arch(0.15)));
}

#[test]
fn short_arches_and_low_towers_stand_on_contacts_that_give_way() {
    println!("known:  stand; contacts of what is swept give way by millimetres");
    for stones in [5, 9, 11, 13, 17, 21] {
        let fate = watch(PLACES[3].build(0.6, arch_of(stones, 0.15)), 20.0);
        println!("after:  arch of {stones}, pushed: moves {:.3} mm", 1e3 * fate.moved);
        assert!(fate.moved < 5e-3, "arch of {stones}: {} m", fate.moved);
    }
    for count in [3, 8, 10, 12, 15] {
        let fate = watch(PLACES[3].build(0.5, column(vec![1e3; count])), 20.0);
        println!("after:  tower of {count}, pushed: moves {:.3} mm", 1e3 * fate.moved);
        assert!(fate.moved < 2e-3 * count as f64, "tower of {count}: {} m", fate.moved);
    }
}

#[test]
fn towers_of_forty_and_eighty_stand() {
    println!("known:  stand; before: 40 cubes fall at 5.1 s, 80 at 2.0 s");
    for count in [16, 25, 40, 80] {
        stands(&format!("tower of {count}"), 0.5, || column(vec![1e3; count]), 2e-3);
    }
}

#[test]
fn light_blocks_bear_a_hundred_tonnes() {
    println!("known:  stands; before: four cubes of 1 kg are crushed at 1.4 s");
    for load in [1e3, 1e5] {
        stands(
            &format!("{load} kg on four of 1 kg"),
            0.5,
            || column([1.0, 1.0, 1.0, 1.0, load]),
            2e-3,
        );
    }
}
