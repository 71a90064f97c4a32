//! Chains of oval links made of round wire.
//!
//! A link lies in the xy plane, long in x: two straight sides and two half circles of `segments`
//! straight pieces each, every piece a capsule. The next link is turned by 90° about x and hooked
//! into it: its wire fills the inside of this link's end.

use super::{Piece, turn};
use thirdlaw::Shape;
use thirdlaw::math::{Pose, Quat, Vec3};
use thirdlaw::shape::ShapeError;

/// Numbers of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Outer length, m.
    pub length: f64,
    /// Outer width, m.
    pub width: f64,
    /// Radius of the wire, m.
    pub wire: f64,
    /// Straight pieces in each half circle.
    pub segments: u32,
}

impl Default for Link {
    fn default() -> Self {
        Link { length: 0.4, width: 0.28, wire: 0.035, segments: 4 }
    }
}

impl Link {
    /// Why the numbers make no link that another fits through.
    pub fn problem(&self) -> Option<String> {
        if self.width > self.length {
            return Some(format!(
                "`width` {} must not exceed `length` {}",
                self.width, self.length
            ));
        }
        // the polygon of the round end cuts a little off the hole
        let inner = 0.5 * self.width - self.wire;
        let narrow = libm::cos(std::f64::consts::FRAC_PI_2 / f64::from(self.even_segments()));
        (inner * narrow - self.wire <= self.wire).then(|| {
            format!(
                "wire of radius {} leaves no hole for the next link in a width of {}",
                self.wire, self.width
            )
        })
    }

    /// The ring.
    pub fn shape(&self) -> Result<Shape, ShapeError> {
        let radius = 0.5 * self.width - self.wire;
        let straight = (0.5 * (self.length - self.width)).max(0.0);
        let mut points = Vec::new();
        let segments = self.even_segments();
        for (end, start) in [(1.0, -0.5), (-1.0, 0.5)] {
            for i in 0..=segments {
                let angle = std::f64::consts::PI * (start + f64::from(i) / f64::from(segments));
                let (x, y) = (libm::cos(angle), libm::sin(angle));
                points.push(Vec3::new(end * straight + radius * x, radius * y, 0.0));
            }
        }
        let mut parts = Vec::new();
        for (i, &a) in points.iter().enumerate() {
            let b = points[(i + 1) % points.len()];
            let along = b - a;
            if along.length() < 1e-9 * self.length {
                continue;
            }
            // capsules lie along y
            let angle = libm::atan2(-along.x, along.y);
            let pose = Pose::from_parts(0.5 * (a + b), turn(Vec3::Z, angle));
            parts.push((pose, Shape::capsule(0.5 * along.length(), self.wire)?));
        }
        Shape::compound(&parts)
    }

    /// From the middle of one link to the middle of the next when pulled tight, m.
    ///
    /// At an end two pieces of wire meet at an angle; hooked into each other, the pieces of both
    /// links, tilted by β, come nearest beside their tips: tips s apart leave s/√(1 + 2 tan² β).
    pub fn pitch(&self) -> f64 {
        let tilt = libm::tan(std::f64::consts::FRAC_PI_2 / f64::from(self.even_segments()));
        self.length - 2.0 * self.wire * (1.0 + (1.0 + 2.0 * tilt * tilt).sqrt())
    }

    /// An even number of pieces, so that a corner and not a flat side is at the tip.
    fn even_segments(&self) -> u32 {
        self.segments.max(2).next_multiple_of(2)
    }
}

/// `count` links along x from the origin, with `slack` (m) of play; the first is fixed if `hang`.
pub fn chain(count: u32, link: &Link, slack: f64, hang: bool) -> Result<Vec<Piece>, ShapeError> {
    let shape = link.shape()?;
    let quarter = turn(Vec3::X, std::f64::consts::FRAC_PI_2);
    let pitch = link.pitch() - slack;
    let pieces = (0..count).map(|i| {
        let rotation = if i % 2 == 0 { Quat::IDENTITY } else { quarter };
        let piece = Piece::new(shape.clone(), Vec3::new(f64::from(i) * pitch, 0.0, 0.0), rotation);
        Piece { fixed: hang && i == 0, ..piece }
    });
    Ok(pieces.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_its_links_and_one_is_fixed() {
        let pieces = chain(25, &Link::default(), 0.001, true).unwrap();
        assert_eq!(pieces.len(), 25);
        assert_eq!(pieces.iter().filter(|p| p.fixed).count(), 1);
        assert_eq!(pieces[0].shape.piece_count(), 10, "two sides and two ends of four");
    }

    #[test]
    fn links_too_thick_to_hook_are_refused() {
        assert_eq!(Link::default().problem(), None);
        assert!(Link { wire: 0.08, ..Link::default() }.problem().is_some());
        assert!(Link { width: 0.5, ..Link::default() }.problem().is_some());
    }
}
