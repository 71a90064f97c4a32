//! Coordinates of one limb: read off poses, advanced, turned into poses.
//!
//! Frame b of a joint stands against frame a by a slide along the axes of a and a turn. A turn about one
//! axis is an angle, about two the angles of R_i(α) R_j(β), about three a unit quaternion. Turns about
//! three axes are advanced by a rotation vector δ, q ← q̂(δ) q, whose rate is
//! δ̇ = ω − ½ δ × ω + c δ × (δ × ω), c = (1 − (δ/2) cot(δ/2))/δ², for the relative angular velocity ω.

use super::forest::Limb;
use crate::joint::geometry::{Turning, unit};
use crate::math::{Quat, Vec3, rotation_from_vector};

/// Coordinates of a limb.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub slide: Vec3,
    pub turn: Quat,
    /// The angles where it turns about one or two axes, rad.
    pub angles: [f64; 2],
}

impl Default for Place {
    fn default() -> Self {
        Place { slide: Vec3::ZERO, turn: Quat::IDENTITY, angles: [0.0; 2] }
    }
}

/// A turn about an axis.
fn about(axis: usize, angle: f64) -> Quat {
    let (s, c) = (libm::sin(0.5 * angle), libm::cos(0.5 * angle));
    let v = s * unit(axis);
    Quat::from_xyzw(v.x, v.y, v.z, c)
}

impl Limb {
    /// Coordinates from the six of the joint; a turn about three axes is taken as it is.
    pub fn place(&self, q: &[f64; 6], turn: Quat) -> Place {
        let mut place = Place::default();
        for i in (0..3).filter(|&i| self.slides[i]) {
            place.slide[i] = q[i];
        }
        match self.turning {
            Turning::None => {}
            Turning::One(k) => place.angles[0] = q[3 + k],
            Turning::Two(i, j, _) => place.angles = [q[3 + i], q[3 + j]],
            Turning::Three => place.turn = turn.normalize(),
        }
        self.turned(&mut place);
        place
    }

    /// The turn of the angles.
    fn turned(&self, place: &mut Place) {
        match self.turning {
            Turning::None => place.turn = Quat::IDENTITY,
            Turning::One(k) => place.turn = about(k, place.angles[0]),
            Turning::Two(i, j, _) => {
                place.turn = about(i, place.angles[0]) * about(j, place.angles[1]);
            }
            Turning::Three => {}
        }
    }

    /// Coordinates `step` away, an increment for every freedom.
    pub fn advanced(&self, from: &Place, step: &[f64]) -> Place {
        let mut place = *from;
        let mut k = 0;
        for i in (0..3).filter(|&i| self.slides[i]) {
            place.slide[i] += step[k];
            k += 1;
        }
        match self.turning {
            Turning::None => {}
            Turning::One(_) => place.angles[0] += step[k],
            Turning::Two(..) => {
                place.angles[0] += step[k];
                place.angles[1] += step[k + 1];
            }
            Turning::Three => {
                let delta = Vec3::new(step[k], step[k + 1], step[k + 2]);
                place.turn = (rotation_from_vector(delta) * from.turn).normalize();
            }
        }
        self.turned(&mut place);
        place
    }

    /// Rates of increments `step` at the rates `rates`, in their place.
    pub fn step_rates(&self, step: &[f64], rates: &mut [f64]) {
        if self.turning != Turning::Three {
            return;
        }
        let k = rates.len() - 3;
        let delta = Vec3::new(step[k], step[k + 1], step[k + 2]);
        let omega = Vec3::new(rates[k], rates[k + 1], rates[k + 2]);
        let square = delta.length_squared();
        let half = 0.5 * square.sqrt();
        let c = if square < 1e-6 {
            1.0 / 12.0 + square / 720.0
        } else {
            (1.0 - half * libm::cos(half) / libm::sin(half).max(1e-12)) / square
        };
        let crossed = delta.cross(omega);
        let rate = omega - 0.5 * crossed + c * delta.cross(crossed);
        rates[k..].copy_from_slice(&rate.to_array());
    }

    /// The six coordinates of the joint.
    pub fn coordinates(&self, place: &Place) -> [f64; 6] {
        let mut q = [0.0; 6];
        q[..3].copy_from_slice(&place.slide.to_array());
        match self.turning {
            Turning::None => {}
            Turning::One(k) => q[3 + k] = place.angles[0],
            Turning::Two(i, j, _) => (q[3 + i], q[3 + j]) = (place.angles[0], place.angles[1]),
            Turning::Three => {
                q[3..].copy_from_slice(&crate::math::rotation_vector(place.turn).to_array());
            }
        }
        q
    }

    /// Centre and orientation of the limb's body on a side that is at `on`, and where b's anchor is.
    pub fn pose(&self, place: &Place, on: (Vec3, Quat)) -> (Vec3, Quat, Vec3) {
        let frames = &self.frames;
        if self.sign > 0.0 {
            let frame = on.1 * frames.basis_a;
            let anchor = on.0 + on.1 * frames.anchor_a + frame * place.slide;
            let rotation = (frame * place.turn * frames.basis_b.conjugate()).normalize();
            (anchor - rotation * frames.anchor_b, rotation, anchor)
        } else {
            let anchor = on.0 + on.1 * frames.anchor_b;
            let frame = on.1 * frames.basis_b * place.turn.conjugate();
            let rotation = (frame * frames.basis_a.conjugate()).normalize();
            (anchor - frame * place.slide - rotation * frames.anchor_a, rotation, anchor)
        }
    }
}
