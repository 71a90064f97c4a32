//! Hooks of contacts: who may touch, which contacts stay, and how they rub.

use crate::{cuboid, floor, sphere};
use std::sync::Arc;
use thirdlaw::prelude::*;

const FRAME: f64 = 1.0 / 60.0;

/// A body carries what stands on it and lets through what comes from below.
#[derive(Debug)]
struct OneWay(BodyId);

impl ContactHook for OneWay {
    fn keeps(&self, contact: &mut HookedContact) -> bool {
        let Some(upwards) = contact.normal_from(self.0) else { return true };
        let rises = contact.other(self.0).velocity.linear.y;
        upwards.y > 0.7 && contact.separation > -0.05 && rises < 0.1
    }
}

/// A body that touches nothing but fixed ones.
#[derive(Debug)]
struct Ghost(BodyId, Vec<BodyId>);

impl ContactHook for Ghost {
    fn may_touch(&self, bodies: &[HookedBody; 2]) -> bool {
        let [a, b] = bodies.map(|body| body.id);
        (a != self.0 && b != self.0) || self.1.contains(&a) || self.1.contains(&b)
    }
}

/// Ice on one half of the world.
#[derive(Debug)]
struct Ice;

impl ContactHook for Ice {
    fn keeps(&self, contact: &mut HookedContact) -> bool {
        if contact.point.x > 0.0 {
            contact.friction = 0.0;
        }
        true
    }
}

fn world_with(bodies: impl IntoIterator<Item = Body>) -> (World, Vec<BodyId>) {
    let mut world = World::new(Settings::default()).unwrap();
    let ids = bodies.into_iter().map(|body| world.add_body(body).unwrap()).collect();
    (world, ids)
}

fn run(world: &mut World, frames: u32) {
    for _ in 0..frames {
        let _report = world.step(FRAME).unwrap();
    }
}

/// Slow and fast, small and large, boxes and balls: all go up through it and come to rest on it.
#[test]
fn a_platform_lets_through_from_below_and_carries_from_above() {
    for speed in [7.5, 12.0, 40.0, 150.0] {
        for size in [0.05, 0.3] {
            for shape in [sphere(size), cuboid(size, size, size)] {
                let (mut world, ids) = world_with([
                    Body::fixed(cuboid(20.0, 0.02, 20.0)).at(0.0, 2.0, 0.0),
                    Body::dynamic(shape).at(0.0, 0.5, 0.0).moving(speed * Vec3::Y),
                ]);
                world.set_contact_hook(Some(Arc::new(OneWay(ids[0]))));
                let (mut highest, mut frames) = (0.0f64, 0);
                while frames < 120 || (frames < 3000 && world.center(ids[1]).unwrap().y > 2.5) {
                    run(&mut world, 1);
                    highest = highest.max(world.center(ids[1]).unwrap().y);
                    frames += 1;
                }
                run(&mut world, 240);
                let known = 0.5 + speed * speed / (2.0 * 9.81);
                let rests = world.center(ids[1]).unwrap().y;
                // it went up as if nothing were there
                assert!(
                    (highest - known).abs() < 0.01 * known + 0.5 * speed * FRAME,
                    "{highest} {known}"
                );
                assert!((rests - 2.02 - size).abs() < 0.01, "{rests} {speed} {size}");
            }
        }
    }
}

#[test]
fn a_pair_that_may_not_touch_passes_through() {
    let (mut world, ids) = world_with([
        floor(),
        Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, 0.5, 0.0),
        Body::dynamic(sphere(0.2)).at(0.0, 3.0, 0.0).moving(-50.0 * Vec3::Y),
    ]);
    world.set_contact_hook(Some(Arc::new(Ghost(ids[2], vec![ids[0]]))));
    run(&mut world, 120);
    assert!((world.center(ids[2]).unwrap().y - 0.2).abs() < 1e-3);
    assert!((world.center(ids[1]).unwrap() - 0.5 * Vec3::Y).length() < 1e-3);
    assert_eq!(world.contacts_between(ids[1], ids[2]).unwrap().count(), 0);
    // without the hook they part
    world.set_contact_hook(None);
    run(&mut world, 120);
    assert!(
        world.contacts_between(ids[1], ids[2]).unwrap().count() > 0 || {
            let apart = world.center(ids[1]).unwrap().distance(world.center(ids[2]).unwrap());
            apart > 0.6
        }
    );
}

/// A block that slides onto ice keeps its speed there; taken away, the hook leaves nothing behind.
#[test]
fn friction_is_changed_where_the_hook_says() {
    for shape in [cuboid(0.2, 0.2, 0.2), Shape::cylinder(0.2, 0.2).unwrap()] {
        let block = Body::dynamic(shape).at(-2.0, 0.2, 0.0).moving(6.0 * Vec3::X);
        let (mut world, ids) = world_with([floor(), block]);
        world.set_contact_hook(Some(Arc::new(Ice)));
        run(&mut world, 40);
        let first = world.velocity(ids[1]).unwrap().linear.x;
        // v² = v₀² − 2μg·2 m by then
        let known = (36.0f64 - 2.0 * 0.5 * 9.81 * 2.0).sqrt();
        assert!((first - known).abs() < 0.03 * known, "{first} {known}");
        run(&mut world, 60);
        let then = world.velocity(ids[1]).unwrap().linear.x;
        assert!((then - first).abs() < 1e-3 * first, "{then} {first}");
        world.set_contact_hook(None);
        run(&mut world, 120);
        assert!(world.velocity(ids[1]).unwrap().linear.length() < 1e-3);
    }
}

/// A hook that says yes to all changes no bit; a world with one is saved by its name.
#[test]
fn a_hook_that_agrees_changes_nothing_and_is_saved_by_name() {
    #[derive(Debug)]
    struct Yes;
    impl ContactHook for Yes {}
    let build = || {
        let (mut world, _) = world_with([floor()]);
        for i in 0..40 {
            let (x, y) = (0.3 * f64::from(i % 5), 0.5 + 0.6 * f64::from(i / 5));
            world.add_body(Body::dynamic(cuboid(0.25, 0.2, 0.3)).at(x, y, 0.0)).unwrap();
        }
        world
    };
    let (mut plain, mut hooked) = (build(), build());
    hooked.set_contact_hook(Some(Arc::new(Yes)));
    run(&mut plain, 90);
    run(&mut hooked, 90);
    assert_eq!(plain.hash(), hooked.hash());
    let bytes = hooked.to_bytes();
    let missing = World::from_bytes(&bytes, &Attachments::default());
    assert!(matches!(missing, Err(LoadError::Missing { what: "contact hook", .. })));
    let mut again = World::from_bytes(&bytes, &Attachments::default().hook(Arc::new(Yes))).unwrap();
    run(&mut again, 30);
    run(&mut hooked, 30);
    assert_eq!(again.hash(), hooked.hash());
}

/// What a hook makes of every contact of one body.
#[derive(Debug)]
struct Made(BodyId, f64, Vec3);

impl ContactHook for Made {
    fn keeps(&self, contact: &mut HookedContact) -> bool {
        contact.restitution = self.1;
        contact.run_surface(self.0, self.2);
        true
    }
}

/// A ball that falls h off a floor on which the hook lets it bounce rises to e²h; the materials say 0.
#[test]
fn restitution_is_changed_by_a_hook() {
    for e in [0.0, 0.5, 0.9] {
        let ball = Body::dynamic(sphere(0.1)).at(0.0, 1.1, 0.0);
        let (mut world, ids) = world_with([floor(), ball]);
        world.set_contact_hook(Some(Arc::new(Made(ids[0], e, Vec3::ZERO))));
        let mut highest: f64 = 0.0;
        let landed = (2.0f64 / 9.81).sqrt();
        let again = landed + 2.0 * e * landed;
        while world.time() < again - FRAME {
            run(&mut world, 1);
            if world.time() > landed + FRAME {
                highest = highest.max(world.center(ids[1]).unwrap().y - 0.1);
            }
        }
        assert!((highest - e * e).abs() < 0.01, "{highest} {e}");
    }
}

/// A floor that a hook lets run takes a block along as a belt of that material does, in the first μgt and
/// at last at its own speed.
#[test]
fn a_surface_runs_where_a_hook_says() {
    let velocity = Vec3::new(2.0, 0.0, -1.0);
    for shape in [cuboid(0.2, 0.2, 0.2), Shape::cylinder(0.2, 0.2).unwrap()] {
        let block = Body::dynamic(shape).at(0.0, 0.2, 0.0);
        let (mut hooked, ids) = world_with([floor(), block.clone()]);
        hooked.set_contact_hook(Some(Arc::new(Made(ids[0], 0.0, velocity))));
        let belt = floor().surface_velocity(velocity);
        let (mut told, _) = world_with([belt, block]);
        for frame in 1..=90 {
            run(&mut hooked, 1);
            run(&mut told, 1);
            let [v, w] = [&hooked, &told].map(|world| world.velocity(ids[1]).unwrap().linear);
            assert!((v - w).length() < 1e-9, "{v} {w}");
            if frame == 15 {
                assert!((v.length() - 0.5 * 9.81 * 0.25).abs() < 0.05, "{v}");
            }
        }
        let v = hooked.velocity(ids[1]).unwrap().linear;
        assert!((v - velocity).length() < 1e-3, "{v}");
        // without it the floor stands still
        hooked.set_contact_hook(None);
        run(&mut hooked, 60);
        assert!(hooked.velocity(ids[1]).unwrap().linear.length() < 1e-3);
    }
}

/// A block at rest does not keep the ice of a hook that is gone.
#[test]
fn a_block_at_rest_forgets_a_hook_that_is_taken_away() {
    let block = Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(1.0, 0.2, 0.0);
    let (mut world, ids) = world_with([floor(), block]);
    world.set_contact_hook(Some(Arc::new(Ice)));
    run(&mut world, 60);
    world.set_contact_hook(None);
    let weight = 9.81 * world.body(ids[1]).unwrap().mass;
    for _ in 0..30 {
        let middle = world.center(ids[1]).unwrap();
        world.push(ids[1], 0.3 * weight * Vec3::X, middle).unwrap();
        run(&mut world, 1);
    }
    assert!(world.velocity(ids[1]).unwrap().linear.length() < 1e-3);
}

/// Numbers that are none change nothing, and nothing panics.
#[test]
fn a_hook_that_talks_nonsense_is_not_believed() {
    let block = Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(0.0, 0.2, 0.0);
    let (mut world, ids) = world_with([floor(), block]);
    world.set_contact_hook(Some(Arc::new(Made(ids[0], f64::NAN, Vec3::splat(f64::INFINITY)))));
    run(&mut world, 60);
    assert!((world.center(ids[1]).unwrap() - 0.2 * Vec3::Y).length() < 1e-3);
}
