//! Chess pieces in the proportions of a Staunton set, turned on a lathe: each is a compound of
//! convex slices standing on the origin. Heights and radii are shares of the king's height.

use super::{Piece, Random};
use thirdlaw::Shape;
use thirdlaw::math::{Pose, Quat, Vec3};
use thirdlaw::shape::ShapeError;

/// A kind of piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChessPiece {
    /// Eight in a set.
    Pawn,
    /// Two in a set.
    Rook,
    /// Two in a set.
    Knight,
    /// Two in a set.
    Bishop,
    /// One in a set.
    Queen,
    /// One in a set.
    King,
}

/// A part of a piece.
enum Part {
    /// A slice of the lathe between heights, with its radii below and above.
    Slice(f64, f64, f64, f64),
    /// A ball at a height, with its radius.
    Ball(f64, f64),
    /// An outline in the xy plane made thick, with half its thickness.
    Board(&'static [[f64; 2]], f64),
}

use Part::{Ball, Board, Slice};

const PAWN: &[Part] = &[
    Slice(0.0, 0.08, 0.155, 0.155),
    Slice(0.08, 0.14, 0.13, 0.09),
    Slice(0.14, 0.34, 0.09, 0.055),
    Slice(0.34, 0.37, 0.09, 0.09),
    Ball(0.442, 0.085),
];

const ROOK: &[Part] = &[
    Slice(0.0, 0.09, 0.175, 0.175),
    Slice(0.09, 0.16, 0.15, 0.115),
    Slice(0.16, 0.42, 0.115, 0.1),
    Slice(0.42, 0.47, 0.1, 0.145),
    Slice(0.47, 0.58, 0.145, 0.145),
];

const KNIGHT: &[Part] = &[
    Slice(0.0, 0.09, 0.175, 0.175),
    Slice(0.09, 0.17, 0.15, 0.12),
    Board(&[[-0.12, 0.17], [0.1, 0.17], [0.04, 0.45], [-0.11, 0.5]], 0.06),
    Board(&[[-0.11, 0.46], [0.15, 0.37], [0.18, 0.43], [0.02, 0.62], [-0.07, 0.63]], 0.055),
];

const BISHOP: &[Part] = &[
    Slice(0.0, 0.09, 0.175, 0.175),
    Slice(0.09, 0.16, 0.15, 0.095),
    Slice(0.16, 0.46, 0.095, 0.06),
    Slice(0.46, 0.5, 0.11, 0.11),
    Slice(0.5, 0.59, 0.065, 0.1),
    Slice(0.59, 0.71, 0.1, 0.025),
    Ball(0.715, 0.03),
];

const QUEEN: &[Part] = &[
    Slice(0.0, 0.1, 0.195, 0.195),
    Slice(0.1, 0.18, 0.165, 0.105),
    Slice(0.18, 0.62, 0.105, 0.065),
    Slice(0.62, 0.66, 0.125, 0.125),
    Slice(0.66, 0.82, 0.07, 0.13),
    Slice(0.82, 0.85, 0.13, 0.05),
    Ball(0.865, 0.03),
];

const KING: &[Part] = &[
    Slice(0.0, 0.1, 0.2, 0.2),
    Slice(0.1, 0.19, 0.17, 0.11),
    Slice(0.19, 0.66, 0.11, 0.075),
    Slice(0.66, 0.7, 0.135, 0.135),
    Slice(0.7, 0.85, 0.08, 0.125),
    Slice(0.85, 0.89, 0.125, 0.04),
    Board(&[[-0.022, 0.88], [0.022, 0.88], [0.022, 1.0], [-0.022, 1.0]], 0.018),
    Board(&[[-0.06, 0.925], [0.06, 0.925], [0.06, 0.965], [-0.06, 0.965]], 0.018),
];

/// Sides of the polygon that stands for the lathe's circle.
const SIDES: u32 = 10;

impl ChessPiece {
    /// By its name in scene files.
    pub fn from_name(name: &str) -> Option<ChessPiece> {
        Some(match name {
            "pawn" => ChessPiece::Pawn,
            "rook" => ChessPiece::Rook,
            "knight" => ChessPiece::Knight,
            "bishop" => ChessPiece::Bishop,
            "queen" => ChessPiece::Queen,
            "king" => ChessPiece::King,
            _ => return None,
        })
    }

    fn parts(self) -> &'static [Part] {
        match self {
            ChessPiece::Pawn => PAWN,
            ChessPiece::Rook => ROOK,
            ChessPiece::Knight => KNIGHT,
            ChessPiece::Bishop => BISHOP,
            ChessPiece::Queen => QUEEN,
            ChessPiece::King => KING,
        }
    }

    /// Height over the king's height.
    pub fn height(self) -> f64 {
        let top = |part: &Part| match part {
            Slice(_, top, ..) => *top,
            Ball(y, r) => y + r,
            Board(outline, _) => outline.iter().map(|p| p[1]).fold(0.0, f64::max),
        };
        self.parts().iter().map(top).fold(0.0, f64::max)
    }

    /// The piece of a set whose king is `king_height` (m) tall.
    pub fn shape(self, king_height: f64) -> Result<Shape, ShapeError> {
        let mut parts = Vec::new();
        for part in self.parts() {
            parts.push(match *part {
                Slice(bottom, top, r0, r1) => {
                    let mut points = ring(bottom, r0);
                    points.extend(ring(top, r1));
                    (Pose::IDENTITY, hull(points, king_height)?)
                }
                Ball(y, radius) => {
                    let at = Vec3::new(0.0, y * king_height, 0.0);
                    let ball = Shape::sphere(radius * king_height)?;
                    (Pose::from_parts(at, Quat::IDENTITY), ball)
                }
                Board(outline, half) => {
                    let side = |z: f64| outline.iter().map(move |p| Vec3::new(p[0], p[1], z));
                    (Pose::IDENTITY, hull(side(-half).chain(side(half)).collect(), king_height)?)
                }
            });
        }
        Shape::compound(&parts)
    }
}

fn ring(y: f64, radius: f64) -> Vec<Vec3> {
    let point = |i: u32| {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(SIDES);
        Vec3::new(radius * libm::cos(angle), y, radius * libm::sin(angle))
    };
    (0..SIDES).map(point).collect()
}

fn hull(points: Vec<Vec3>, scale: f64) -> Result<Shape, ShapeError> {
    let points: Vec<Vec3> = points.into_iter().map(|p| p * scale).collect();
    Shape::convex_hull(&points)
}

/// Numbers of a heap of pieces in the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chess {
    /// How many pieces.
    pub count: u32,
    /// Pieces along a side of a layer.
    pub row: u32,
    /// Height of the king, m.
    pub king_height: f64,
    /// From piece to piece, m.
    pub spacing: f64,
    /// Other seeds, other order and turns.
    pub seed: u32,
}

/// Pieces in layers in the numbers of a set, each turned at random about its own middle. The
/// lowest layer is at y = 0, the middle of the layers above the origin.
pub fn chess(chess: &Chess) -> Result<Vec<Piece>, ShapeError> {
    use ChessPiece::*;
    let kinds = [Pawn, Rook, Knight, Bishop, Queen, King];
    let mut shapes = Vec::new();
    for kind in kinds {
        shapes.push(kind.shape(chess.king_height)?);
    }
    let set = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5usize];
    let mut random = Random::new(u64::from(chess.seed));
    let mut order = set;
    let middle = 0.5 * (f64::from(chess.row) - 1.0);
    let mut pieces = Vec::new();
    for i in 0..chess.count {
        let at = (i % 16) as usize;
        if at == 0 {
            shuffle(&mut order, &mut random);
        }
        let kind = order[at];
        let layer_count = chess.row * chess.row;
        let (layer, rest) = (i / layer_count, i % layer_count);
        let center = chess.spacing
            * Vec3::new(
                f64::from(rest / chess.row) - middle,
                f64::from(layer),
                f64::from(rest % chess.row) - middle,
            );
        let rotation = random.orientation();
        let half = Vec3::new(0.0, 0.5 * kinds[kind].height() * chess.king_height, 0.0);
        pieces.push(Piece::new(shapes[kind].clone(), center - rotation * half, rotation));
    }
    Ok(pieces)
}

fn shuffle(items: &mut [usize], random: &mut Random) {
    for i in (1..items.len()).rev() {
        let j = (random.bits() % (i as u64 + 1)) as usize;
        items.swap(i, j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_those_of_a_staunton_set() {
        use ChessPiece::*;
        let heights = [Pawn, Rook, Knight, Bishop, Queen, King].map(ChessPiece::height);
        assert!(heights.is_sorted(), "{heights:?}");
        assert_eq!(heights[5], 1.0);
    }

    #[test]
    fn a_thousand_pieces_do_not_overlap() {
        let set = Chess { count: 1000, row: 10, king_height: 0.95, spacing: 1.045, seed: 0 };
        let pieces = chess(&set).unwrap();
        assert_eq!(pieces.len(), 1000);
        // every piece fits a ball of half the spacing about its grid point
        for kind in [ChessPiece::Pawn, ChessPiece::Knight, ChessPiece::Queen, ChessPiece::King] {
            let half = 0.5 * kind.height();
            for part in kind.parts() {
                let reach = match *part {
                    Slice(bottom, top, r0, r1) => {
                        let far = |y: f64, r: f64| ((y - half).powi(2) + r * r).sqrt();
                        far(bottom, r0).max(far(top, r1))
                    }
                    Ball(y, r) => (y - half).abs() + r,
                    Board(outline, z) => outline
                        .iter()
                        .map(|p| (p[0] * p[0] + (p[1] - half).powi(2) + z * z).sqrt())
                        .fold(0.0, f64::max),
                };
                assert!(reach < 0.55, "{kind:?}: {reach}");
            }
        }
    }
}
