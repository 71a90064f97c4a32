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
