//! A house of cards: levels of cards that lean on each other in pairs, flat cards between levels.
//!
//! Side view of a pair, cards of length l, thickness t, leaning at angle α from the ground. The
//! inner top edges touch above the middle; each card stands on its inner bottom edge, l·cos α from
//! the middle; the outer top edges carry the flat cards at height l·sin α + t·cos α.
//! Flat cards reach from the middle of one pair to the middle of the next, and the pairs of the next
//! level stand on their middles: `base` pairs carry `base − 1` flat cards and `base − 1` pairs, or one
//! fewer at a ledge.

use super::{Piece, turn};
use thirdlaw::Shape;
use thirdlaw::math::{Quat, Vec3};
use thirdlaw::shape::ShapeError;

/// Numbers of a card house.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CardHouse {
    /// Levels of leaning cards.
    pub levels: u32,
    /// Pairs of cards in the lowest level.
    pub base: u32,
    /// Above this level (counted from 1) the house steps in by two pairs instead of one; 0: nowhere.
    pub ledge: u32,
    /// Length, width and thickness of a card, m.
    pub card: Vec3,
    /// Angle of the leaning cards from the ground, rad.
    pub lean: f64,
    /// Between the ends of flat cards, m.
    pub gap: f64,
}

impl CardHouse {
    /// Five levels on five pairs: forty cards.
    pub fn new(levels: u32) -> CardHouse {
        CardHouse {
            levels,
            base: levels,
            ledge: 0,
            card: Vec3::new(1.0, 0.6, 0.02),
            lean: 72f64.to_radians(),
            gap: 0.001,
        }
    }

    /// Height of a level of leaning cards, m.
    pub fn level_height(&self) -> f64 {
        self.card.x * libm::sin(self.lean) + self.card.z * libm::cos(self.lean)
    }

    /// Pairs of cards in a level, counted from 0.
    fn pairs(&self, level: u32) -> u32 {
        let ledge = u32::from(self.ledge > 0 && level >= self.ledge);
        self.base.saturating_sub(level + ledge)
    }

    /// The cards, from the ground up, standing on y = 0 in the xy plane.
    pub fn pieces(&self) -> Result<Vec<Piece>, ShapeError> {
        let card =
            Shape::cuboid(Vec3::new(0.5 * self.card.x, 0.5 * self.card.z, 0.5 * self.card.y))?;
        let (sine, cosine) = (libm::sin(self.lean), libm::cos(self.lean));
        let (length, thickness) = (self.card.x, self.card.z);
        let spacing = length + self.gap;
        let mut pieces = Vec::new();
        let mut ground = 0.0;
        let mut first = -0.5 * f64::from(self.base.saturating_sub(1));
        for level in 0..self.levels {
            let pairs = self.pairs(level);
            for pair in 0..pairs {
                let x = (first + f64::from(pair)) * spacing;
                // from the edge the two share to the middle of the left card
                let offset = 0.5 * length * cosine + 0.5 * thickness * sine;
                let y = ground + 0.5 * length * sine + 0.5 * thickness * cosine;
                for side in [-1.0, 1.0] {
                    let position = Vec3::new(x + side * offset, y, 0.0);
                    let rotation = turn(Vec3::Z, -side * self.lean);
                    pieces.push(Piece::new(card.clone(), position, rotation));
                }
            }
            ground += self.level_height();
            // the last level carries no roof
            let above = self.pairs(level + 1);
            if level + 1 < self.levels && above > 0 {
                first += 0.5;
                for flat in 0..above {
                    let x = (first + f64::from(flat)) * spacing;
                    let position = Vec3::new(x, ground + 0.5 * thickness, 0.0);
                    pieces.push(Piece::new(card.clone(), position, Quat::IDENTITY));
                }
                ground += thickness;
            }
        }
        Ok(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_counted() {
        let house = CardHouse::new(5);
        assert_eq!(house.pieces().unwrap().len(), 2 * 15 + 10);
        let ledged = CardHouse { base: 6, ledge: 3, ..house };
        assert_eq!(ledged.pieces().unwrap().len(), 48, "2·(6+5+4+2+1) leaning and 5+4+2+1 flat");
        assert_eq!(CardHouse { base: 1, ..house }.pieces().unwrap().len(), 2);
    }
}
