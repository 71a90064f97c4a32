//! Rigid impact zones: what impulses cannot part moves as one rigid piece [BFA02, §7.5], after Provot.
//!
//! A zone keeps its momentum and angular momentum:
//!
//!   v = Σ mᵢvᵢ / Σ mᵢ,   I ω = Σ rᵢ × mᵢvᵢ,   x₁ᵢ = c + h v + R(h ω) rᵢ,
//!
//! and turns by R exactly, so that nothing in it changes its distance. (The paper moves with v + ω × r, which
//! swells by (hω)²/2.) On straight ways to x₁ the distances within shrink by up to 1 − cos(hω/2); the turn of a step
//! is bounded so that this matters to nobody. A zone with held particles follows the rigid motion nearest to theirs.

use super::{Bodies, Robust, RobustReport};
use crate::collide::deformable::Tree;
use crate::math::{Mat3, Quat, Vec3, outer};

/// Most times that zones are joined: each joins at least two, so that it ends long before.
const JOININGS: usize = 200;
/// Most that a zone turns in a step, rad.
const TURN: f64 = 0.5;
/// No particle before it in its zone.
const ALONE: u32 = u32::MAX;

/// Particles joined into zones: each knows one before it, the first of a zone none.
#[derive(Clone, Debug, Default)]
pub(super) struct Zones {
    before: Vec<u32>,
    /// Particles in zones with more than one, by zone.
    members: Vec<(u32, u32)>,
    v0: Vec<Vec3>,
}

impl Zones {
    fn clear(&mut self, count: usize) {
        self.before.clear();
        self.before.resize(count, ALONE);
    }

    fn first(&self, mut i: u32) -> u32 {
        while self.before[i as usize] != ALONE {
            i = self.before[i as usize];
        }
        i
    }

    /// Returns whether they were apart.
    fn join(&mut self, i: u32, j: u32) -> bool {
        let (a, b) = (self.first(i), self.first(j));
        if a != b {
            self.before[a.max(b) as usize] = a.min(b);
        }
        a != b
    }

    fn gather(&mut self) {
        self.members.clear();
        for i in 0..self.before.len() as u32 {
            let first = self.first(i);
            if first != i {
                self.members.push((first, i));
            }
        }
        let firsts: Vec<u32> = self.members.iter().map(|m| m.0).collect();
        self.members.extend(firsts.into_iter().map(|first| (first, first)));
        self.members.sort_unstable();
        self.members.dedup();
    }
}

impl Robust {
    /// Joins what still meets on its way into rigid zones, and those with what they meet, until nothing meets.
    pub fn move_zones(
        &mut self,
        tree: &mut Tree,
        bodies: &Bodies<'_>,
        h: f64,
        v: &mut [Vec3],
        report: &mut RobustReport,
    ) {
        self.zones.clear(bodies.x.len());
        self.zones.v0.clear();
        self.zones.v0.extend_from_slice(v);
        for _ in 0..JOININGS {
            self.meet(tree, bodies, h, v);
            let mut joined = false;
            for hit in &self.hits {
                let particles = &hit.particles[..usize::from(hit.count)];
                for pair in particles.windows(2) {
                    joined |= self.zones.join(pair[0], pair[1]);
                }
            }
            // what meets within one zone does so by rounding only, unless held particles part it
            report.clear = !joined && self.hits.iter().all(|hit| hit.distance >= 0.0);
            if !joined {
                return;
            }
            self.zones.gather();
            report.in_zones = self.zones.members.len();
            let Zones { members, v0, .. } = &self.zones;
            for zone in members.chunk_by(|a, b| a.0 == b.0) {
                move_rigidly(zone, bodies, h, v0, v);
            }
        }
    }
}

/// Gives the members of a zone the velocities of a rigid piece with the momentum that they had in `v0`.
pub(super) fn move_rigidly(
    zone: &[(u32, u32)],
    bodies: &Bodies<'_>,
    h: f64,
    v0: &[Vec3],
    v: &mut [Vec3],
) {
    let members = || zone.iter().map(|m| m.1 as usize);
    let held = members().filter(|&i| bodies.inverse_mass[i] == 0.0).count();
    if held > 0 {
        return follow_held(zone, bodies, h, v0, v);
    }
    let mass = |i: usize| 1.0 / bodies.inverse_mass[i];
    let whole: f64 = members().map(mass).sum();
    let center = members().map(|i| mass(i) * bodies.x[i]).sum::<Vec3>() / whole;
    let linear = members().map(|i| mass(i) * v0[i]).sum::<Vec3>() / whole;
    let mut spin = Vec3::ZERO;
    let mut inertia = Mat3::ZERO;
    for i in members() {
        let r = bodies.x[i] - center;
        spin += mass(i) * r.cross(v0[i] - linear);
        inertia += (Mat3::IDENTITY * r.length_squared() - outer(r, r)) * mass(i);
    }
    // a zone always holds two features, but they may lie in one line
    let size = (inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z).max(f64::MIN_POSITIVE);
    let angular = (inertia + Mat3::IDENTITY * (1e-12 * size)).inverse() * spin;
    let turn = angular * h;
    let turn = turn * (TURN / turn.length().max(TURN));
    let rotation = Quat::from_scaled_axis(turn);
    for i in members() {
        let r = bodies.x[i] - center;
        v[i] = linear + (rotation * r - r) / h;
    }
}

/// Times that the turn of held particles is corrected: it begins as that of their velocities, which is of
/// first order.
const CORRECTIONS: usize = 4;

/// Moves the free members of a zone by the rigid motion that is nearest to that of the held ones. About what
/// does not move them (a line through them, a single one) it does not turn.
fn follow_held(zone: &[(u32, u32)], bodies: &Bodies<'_>, h: f64, v0: &[Vec3], v: &mut [Vec3]) {
    let members = || zone.iter().map(|m| m.1 as usize);
    let held = || members().filter(|&i| bodies.inverse_mass[i] == 0.0);
    let count = held().count() as f64;
    let center = held().map(|i| bodies.x[i]).sum::<Vec3>() / count;
    let mean = held().map(|i| v0[i]).sum::<Vec3>() / count;
    let mut rotation = Quat::IDENTITY;
    for _ in 0..CORRECTIONS {
        let (mut moment, mut inertia) = (Vec3::ZERO, Mat3::ZERO);
        for i in held() {
            let from = bodies.x[i] - center;
            let (r, to) = (rotation * from, from + h * (v0[i] - mean));
            moment += r.cross(to - r);
            inertia += Mat3::IDENTITY * r.length_squared() - outer(r, r);
        }
        let size = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        if size < f64::MIN_POSITIVE {
            break;
        }
        let turn = (inertia + Mat3::IDENTITY * (1e-12 * size)).inverse() * moment;
        rotation = (Quat::from_scaled_axis(turn) * rotation).normalize();
    }
    for i in members().filter(|&i| bodies.inverse_mass[i] > 0.0) {
        let r = bodies.x[i] - center;
        v[i] = mean + (rotation * r - r) / h;
    }
}
