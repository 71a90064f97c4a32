//! Pairs of the broad phase against all pairs.

use super::broad::BroadPhase;
use super::narrow::{NarrowScratch, collide};
use super::placed::{pair_margin, place_all};
use super::tests::Dice;
use crate::math::{Vec3, rotation_from_vector};
use crate::{Body, Settings, Shape, World};

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
    let (mut broad, mut placed) = (BroadPhase::default(), Vec::new());
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
        broad.update(model, &state, dt);
        place_all(model, &state, dt, &mut placed);
        assert!(broad.pairs.is_sorted_by(|a, b| a < b), "step {step}");
        ground += broad.pairs.iter().filter(|pair| pair.0 == 0).count();
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
                    assert!(broad.pairs.binary_search(&pair).is_ok(), "step {step}: {pair:?}");
                }
            }
        }
    }
    assert!(touching > 1_000, "{touching}");
    assert!(ground < 60 * 45, "{ground} pairs with the ground");
}
