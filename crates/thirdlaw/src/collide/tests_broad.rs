//! Pairs of the broad phase against all pairs.

use super::broad::BroadPhase;
use super::contacts::{ContactScratch, update};
use super::narrow::{NarrowScratch, collide};
use super::placed::{Placed, pair_margin};
use super::tests::{Dice, stone};
use crate::math::{Pose, Quat, Vec3, rotation_from_vector};
use crate::model::body::Body;
use crate::model::settings::Settings;
use crate::shape::Shape;
use crate::world::World;

/// No pair is missed that has a contact, however bodies move and turn within their loose boxes and out
/// of them, and the ground with them; bodies above the ground are not held against it.
#[test]
fn no_pair_with_a_contact_is_missed() {
    let mut dice = Dice(21);
    let mut world = World::new(Settings::default()).unwrap();
    let heights: Vec<f64> = (0..81).map(|_| 0.5 * dice.roll()).collect();
    let hills = Shape::height_field(9, 9, &heights, Vec3::new(6.0, 1.0, 6.0)).unwrap();
    world.add_body(Body::fixed(hills)).unwrap();
    for i in 0..60 {
        let shape = match i % 3 {
            0 => Shape::cuboid(Vec3::splat(0.05) + dice.vector(0.3).abs()),
            1 => Shape::sphere(0.1 + 0.2 * dice.roll()),
            _ => Shape::capsule(0.1 + 0.2 * dice.roll(), 0.1),
        };
        let place = dice.vector(2.5);
        let body = Body::dynamic(shape.unwrap()).at(place.x, 1.0 + 0.5 * place.y, place.z);
        world.add_body(body).unwrap();
    }
    let (model, mut state) = (world.model(), world.state().clone());
    let dt = 1.0 / 60.0;
    let mut broad = BroadPhase::default();
    let scratch = &mut NarrowScratch::default();
    let (mut touching, mut ground) = (0, 0);
    for step in 0..60 {
        let far = if step % 10 == 9 { 0.3 } else { 0.004 };
        // now and then the ground moves by less than a loose box is loose
        let first = usize::from(step % 7 != 0);
        for (i, body) in state.bodies.iter_mut().enumerate().skip(first) {
            let way = if i == 0 { 1e-3 } else { far };
            body.position += dice.vector(way);
            body.rotation = (rotation_from_vector(dice.vector(way)) * body.rotation).normalize();
            if i > 0 {
                body.velocity.linear = dice.vector(if i % 5 == 0 { 3.0 } else { 0.1 });
                body.velocity.angular = dice.vector(0.5);
            }
        }
        broad.update(model, &state, (dt, Vec3::ZERO));
        let bodies = model.bodies.iter().zip(&state.bodies);
        let placed: Vec<Placed> = bodies.map(|(body, now)| Placed::new(body, now, dt)).collect();
        let pairs: Vec<(u32, u32)> = broad.pairs().collect();
        assert!(pairs.is_sorted_by(|a, b| a < b), "step {step}");
        ground += pairs.iter().filter(|pair| pair.0 == 0).count();
        for a in 0..placed.len() {
            for b in a + 1..placed.len() {
                let margin = pair_margin(&placed[a], &placed[b], dt);
                let (pose_a, pose_b) = (placed[a].pose(), placed[b].pose());
                let mut touches = false;
                let (shape_a, shape_b) = (&model.bodies[a].shape, &model.bodies[b].shape);
                collide(shape_a, &pose_a, shape_b, &pose_b, margin, scratch, &mut |_, _, _| {
                    touches = true;
                });
                if touches {
                    touching += 1;
                    let pair = (a as u32, b as u32);
                    assert!(pairs.binary_search(&pair).is_ok(), "step {step}: {pair:?}");
                }
            }
        }
    }
    assert!(touching > 1_000, "{touching}");
    assert!(ground < 60 * 45, "{ground} pairs with the ground");
}

/// What is remembered of pairs that do not touch, and of loose boxes, changes no bit of a contact: a broad
/// phase that has seen all steps finds what one finds that sees the state for the first time. And at rest
/// it spares work.
#[test]
fn memory_changes_no_contact() {
    let mut dice = Dice(8);
    let mut world = World::new(Settings::default()).unwrap();
    let heights: Vec<f64> = (0..81).map(|_| 0.3 * dice.roll()).collect();
    let hills = Shape::height_field(9, 9, &heights, Vec3::new(6.0, 1.0, 6.0)).unwrap();
    world.add_body(Body::fixed(hills)).unwrap();
    let hull = stone(&mut dice, 0.22);
    let slab = || Shape::cuboid(Vec3::new(0.18, 0.05, 0.18)).unwrap();
    let up = |y: f64| Pose::from_parts(Vec3::new(0.0, y, 0.0), Quat::IDENTITY);
    let mixed = Shape::compound(&[(up(-0.12), hull.clone()), (up(0.12), slab())]).unwrap();
    let slabs = Shape::compound(&[(up(-0.12), slab()), (up(0.12), slab())]).unwrap();
    for i in 0..150 {
        let shape = match i % 10 {
            0 => Shape::sphere(0.2),
            2 => Ok(hull.clone()),
            4 => Ok(mixed.clone()),
            6 => Ok(slabs.clone()),
            8 => Shape::cylinder(0.18, 0.18),
            _ => Shape::cuboid(Vec3::splat(0.2)),
        };
        let place = Vec3::new((i % 5) as f64, (i / 25) as f64, (i / 5 % 5) as f64) * 0.46;
        let body = Body::dynamic(shape.unwrap()).at(place.x - 1.0, place.y + 0.4, place.z - 1.0);
        world.add_body(body).unwrap();
    }
    let plane = Body::fixed(Shape::half_space(Vec3::Y).unwrap()).at(0.0, 0.3, 0.0);
    world.add_body(plane).unwrap();
    let (model, mut state) = (world.model(), world.state().clone());
    // askew, so that many boxes along the axes overlap of cubes that do not touch
    for body in state.bodies.iter_mut().skip(1).take(150) {
        body.rotation = rotation_from_vector(dice.vector(1.0));
    }
    let mut earlier = state.clone();
    let lengths = (1.0 / 60.0, 1.0 / 480.0);
    let (mut broad, mut scratch) = (BroadPhase::default(), ContactScratch::default());
    let (mut known, mut examined, mut touching) = (0, 0, 0);
    for step in 0..120 {
        // creep, rest, now and then a jolt
        let far = [3e-4, 1e-5, 0.0, 4e-3][step / 5 % 4];
        for (i, body) in state.bodies.iter_mut().enumerate().skip(1).take(150) {
            body.position += dice.vector(far);
            body.rotation = (rotation_from_vector(dice.vector(far)) * body.rotation).normalize();
            let fast = far > 1e-4 && (i + step) % 40 == 0;
            body.velocity.linear = dice.vector(if fast { 2.0 } else { 60.0 * far });
        }
        // sometimes back to what was, with the memory of what came after
        if step % 10 == 8 {
            state = earlier.clone();
        } else if step % 10 == 4 {
            earlier = state.clone();
        }
        let mut anew = state.clone();
        let mut first = BroadPhase::default();
        first.update(model, &anew, (lengths.0, Vec3::ZERO));
        let calm = far < 1e-4 && step % 5 > 1;
        known += if calm { first.pairs().count() } else { 0 };
        update(model, &mut anew, &mut first, lengths, &mut ContactScratch::default());
        broad.update(model, &state, (lengths.0, Vec3::ZERO));
        examined += if calm { broad.pairs().count() } else { 0 };
        update(model, &mut state, &mut broad, lengths, &mut scratch);
        assert_eq!(state.contacts, anew.contacts, "step {step}");
        touching += state.contacts.iter().filter(|contact| contact.count > 0).count();
    }
    assert!(touching > 120 * 100, "{touching}");
    assert!(examined * 10 < known * 9, "{examined} of {known} examined");
}
