//! Generated arrangements start without overlap: checked by `parry`'s queries on their poses.

use parry3d_f64::query::contact;
use thirdlaw::math::{Quat, Vec3};
use thirdlaw_scene::generate::Piece;
use thirdlaw_scene::generate::card_house::CardHouse;
use thirdlaw_scene::generate::chain::{Link, chain};
use thirdlaw_scene::generate::chess::{Chess, chess};
use thirdlaw_scene::generate::voronoi::Fracture;

/// The deepest overlap of any two pieces, and the number of pairs closer than `near`, m.
fn overlap(pieces: &[Piece], near: f64) -> (f64, usize) {
    let (mut deepest, mut touching) = (0.0, 0);
    for (i, a) in pieces.iter().enumerate() {
        for b in &pieces[..i] {
            let reach = a.shape.outer_radius() + b.shape.outer_radius() + near;
            if a.pose.translation.distance(b.pose.translation) > reach {
                continue;
            }
            let (sa, sb) = (a.shape.parry(), b.shape.parry());
            let found = contact(&a.pose, sa.0.as_ref(), &b.pose, sb.0.as_ref(), near);
            if let Ok(Some(found)) = found {
                deepest = f64::max(deepest, -found.dist);
                touching += 1;
            }
        }
    }
    (deepest, touching)
}

#[test]
fn cards_touch_and_do_not_overlap() {
    for house in [CardHouse::new(5), CardHouse { base: 6, ..CardHouse::new(4) }] {
        let pieces = house.pieces().unwrap();
        let (deepest, touching) = overlap(&pieces, 1e-5);
        assert!(deepest < 1e-4, "{deepest}");
        // a pair touches itself, a flat card the two pairs under it and both cards above it
        let pairs: u32 = (0..house.levels).map(|l| house.base - l).sum();
        let flat: u32 = (1..house.levels).map(|l| house.base - l).sum();
        assert_eq!(touching as u32, pairs + 4 * flat);
        let lowest =
            pieces.iter().map(|p| p.shape.aabb(&p.pose).mins.y).fold(f64::INFINITY, f64::min);
        assert!(lowest.abs() < 1e-9, "the house stands on the ground: {lowest}");
    }
}

#[test]
fn links_hook_into_each_other_without_overlap() {
    let link = Link::default();
    let pieces = chain(25, &link, 0.001, true).unwrap();
    let (deepest, near) = overlap(&pieces, 0.0011);
    assert_eq!(deepest, 0.0);
    assert_eq!(near, 24, "each link reaches the next");
    // pulled apart by more than the slack they hold each other
    let mut pulled = pieces[..2].to_vec();
    pulled[1].pose.translation.x += 0.05;
    assert!(overlap(&pulled, 0.0).0 > 0.01);
}

#[test]
fn chess_pieces_start_apart() {
    let set = Chess { count: 100, row: 5, king_height: 0.95, spacing: 1.045, seed: 3 };
    assert_eq!(overlap(&chess(&set).unwrap(), 0.0).0, 0.0);
}

#[test]
fn cells_meet_without_overlap() {
    let fracture = Fracture {
        size: Vec3::new(0.8, 4.0, 0.8),
        cells: 92,
        impacts: vec![Vec3::new(0.0, 2.2, 0.4)],
        spread: 2.0,
        seed: 1,
    };
    let pieces = fracture.pieces().unwrap();
    let (deepest, touching) = overlap(&pieces, 1e-6);
    assert!(deepest < 1e-4, "{deepest}");
    assert!(touching > 300, "{touching} faces");
    assert!(pieces.iter().all(|p| p.pose.rotation == Quat::IDENTITY));
}
