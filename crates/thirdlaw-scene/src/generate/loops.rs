//! Closed loops of rods joined end to end by balls.

use super::{Piece, PieceJoint, turn};
use thirdlaw::math::Vec3;
use thirdlaw::shape::ShapeError;
use thirdlaw::{JointKind, Shape};

/// Numbers of the loops.
#[derive(Clone, Debug)]
pub struct Loops {
    /// Rods of each loop.
    pub links: u32,
    /// From the middle of a loop to its joints, m.
    pub radius: f64,
    /// Of the rods, m.
    pub wire: f64,
    /// Middles of the loops, m.
    pub at: Vec<Vec3>,
}

impl Loops {
    /// Why the numbers make no loop.
    pub fn problem(&self) -> Option<String> {
        let side = self.side();
        (side <= 2.0 * self.wire).then(|| {
            format!("rods of radius {} are thicker than the {side:.3} m between joints", self.wire)
        })
    }

    fn side(&self) -> f64 {
        2.0 * self.radius * libm::sin(0.5 * self.step())
    }

    fn step(&self) -> f64 {
        std::f64::consts::TAU / f64::from(self.links.max(3))
    }

    fn corner(&self, i: u32) -> Vec3 {
        let angle = f64::from(i) * self.step();
        self.radius * Vec3::new(libm::cos(angle), 0.0, libm::sin(angle))
    }

    /// The rods, loop by loop, flat in the xz plane.
    pub fn pieces(&self) -> Result<Vec<Piece>, ShapeError> {
        // round ends meet in the joint without touching
        let rod = Shape::capsule(0.5 * self.side() - self.wire, self.wire)?;
        let mut pieces = Vec::new();
        for middle in &self.at {
            for i in 0..self.links.max(3) {
                let (a, b) = (self.corner(i), self.corner(i + 1));
                let rotation = turn(Vec3::Y.cross(b - a), std::f64::consts::FRAC_PI_2);
                pieces.push(Piece::new(rod.clone(), *middle + 0.5 * (a + b), rotation));
            }
        }
        Ok(pieces)
    }

    /// Between each rod and the next, the last and the first.
    pub fn joints(&self) -> Vec<PieceJoint> {
        let links = self.links.max(3) as usize;
        let mut joints = Vec::new();
        for (k, middle) in self.at.iter().enumerate() {
            for i in 0..links {
                let next = (i + 1) % links;
                joints.push(PieceJoint {
                    kind: JointKind::Ball,
                    sides: [k * links + i, k * links + next],
                    at: *middle + self.corner(next as u32),
                    axis: Vec3::X,
                    limits: [None; 3],
                });
            }
        }
        joints
    }
}

impl Default for Loops {
    fn default() -> Self {
        Loops { links: 6, radius: 0.12, wire: 0.025, at: vec![Vec3::ZERO] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_closed() {
        let loops = Loops { at: vec![Vec3::ZERO, Vec3::Y], ..Loops::default() };
        let (pieces, joints) = (loops.pieces().unwrap(), loops.joints());
        assert_eq!((pieces.len(), joints.len()), (12, 12));
        for joint in &joints {
            for side in joint.sides {
                let pose = pieces[side].pose;
                let end = pose.rotation.inverse() * (joint.at - pose.translation);
                assert!((end.y.abs() - 0.06).abs() < 1e-12 && end.x.hypot(end.z) < 1e-12, "{end}");
            }
        }
        assert!(pieces[0].pose.translation.length() < 0.12);
    }
}
