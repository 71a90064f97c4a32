//! What a cloth step solves for: the velocities u by which particles and bodies move, and where they
//! lead.

use super::constraints::Constraints;
use super::linear::Linear;
use super::system::Trial;
use crate::energy::Energy;
use crate::linalg::block::{Lane, lane, matrix, vector};
use crate::linalg::filter::{Filter, NONE};
use crate::linalg::pcg;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Vec3};
use crate::parallel::loops::each_light;

/// Velocities of particles and bodies.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    pub particles: Vec<Lane<f64>>,
    pub bodies: Vec<[Vec3; 2]>,
}

/// The solution so far.
#[derive(Debug, Default)]
pub struct Solution {
    /// u of particles, m/s.
    pub u: Vec<Lane<f64>>,
    /// Changes of the velocities of unknown bodies.
    pub u_bodies: Vec<[Vec3; 2]>,
    /// Where u leads, m.
    pub x1: Vec<Vec3>,
    /// Where a round began.
    pub from: Motion,
    /// Cloths, and with whom they touch.
    groups: Vec<Group>,
}

/// The way of a round, √(2 J).
#[derive(Clone, Copy, Debug, Default)]
pub struct Gone {
    /// √(dᵀMd) of the way d.
    pub way: f64,
    /// Its part along the change of velocity so far, or along the velocity.
    pub along: f64,
    /// √(uᵀMu) of all velocities of particles.
    pub speed: f64,
}

/// A cloth, or several that touch.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Which cloth leads it.
    leader: u32,
    /// Whether something else may take momentum from it.
    held: bool,
    /// Σ of mass and drag.
    own: Mat3,
    missing: Vec3,
    change: Vec3,
}

impl Group {
    fn new(leader: u32) -> Self {
        let zero = Vec3::ZERO;
        Group { leader, held: false, own: Mat3::ZERO, missing: zero, change: zero }
    }
}

fn leader(groups: &[Group], of: u32) -> u32 {
    let mut at = of;
    while groups[at as usize].leader != at {
        at = groups[at as usize].leader;
    }
    at
}

fn join(groups: &mut [Group], a: u32, b: u32) {
    let (a, b) = (leader(groups, a), leader(groups, b));
    groups[a.max(b) as usize].leader = a.min(b);
}

impl Solution {
    /// Makes room for the particles, and has them fly on freely.
    pub fn begin(&mut self, trial: &Trial) {
        let Trial { context, state, span } = trial;
        let (x, v, h) = (&state.particles.x, &state.particles.v, span.h);
        self.u.resize(x.len(), [0.0; 4]);
        self.x1.resize(x.len(), Vec3::ZERO);
        let (gravity, scale) = (context.settings.gravity, &trial.sheet().gravity_scale);
        for (i, x1) in self.x1.iter_mut().enumerate() {
            *x1 = x[i] + h * (v[i] + h * scale[i] * gravity);
        }
    }

    /// Gives held particles what is prescribed.
    pub fn prescribe(&mut self, filter: &Filter<f64>) {
        for hold in &filter.holds {
            let u = &mut self.u[hold.particle as usize];
            *u = lane(hold.free * vector(u) + hold.prescribed);
        }
    }

    /// √(ΔvᵀMΔv) of the change of velocity so far, or of one of `least` (m/s) everywhere if that is
    /// more.
    pub fn change(&self, trial: &Trial, least: f64) -> f64 {
        let (mass, v) = (&trial.sheet().elements.mass, &trial.state.particles.v);
        let mut sum = [0.0; 2];
        for ((mass, v), u) in mass.iter().zip(v).zip(&self.u) {
            sum[0] += mass * (vector(u) - *v).length_squared();
            sum[1] += mass * least * least;
        }
        sum[0].max(sum[1]).sqrt()
    }

    /// How far particles and bodies went since the round began, and how much of that along the change of
    /// velocity in the step, or along the velocities.
    pub fn gone(&self, trial: &Trial, masses: &[BodyMass]) -> Gone {
        let (mass, v) = (&trial.sheet().elements.mass, &trial.state.particles.v);
        let mut sums = [0.0; 5];
        for (i, (from, to)) in self.from.particles.iter().zip(&self.u).enumerate() {
            let (to, way) = (vector(to), vector(to) - vector(from));
            let change = to - v[i];
            let of = [way.dot(way), way.dot(change), change.dot(change), way.dot(to), to.dot(to)];
            sums.iter_mut().zip(of).for_each(|(sum, x)| *sum += mass[i] * x);
        }
        for (mass, (from, to)) in masses.iter().zip(self.from.bodies.iter().zip(&self.u_bodies)) {
            let way = [0, 1].map(|k| to[k] - from[k]);
            let momentum = pcg::body_momentum(mass, &way);
            sums[0] += momentum[0].dot(way[0]) + momentum[1].dot(way[1]);
            sums[1] += momentum[0].dot(to[0]) + momentum[1].dot(to[1]);
            let momentum = pcg::body_momentum(mass, to);
            sums[2] += momentum[0].dot(to[0]) + momentum[1].dot(to[1]);
        }
        let part =
            |along: f64, square: f64| if square > 0.0 { along.abs() / square.sqrt() } else { 0.0 };
        Gone {
            way: sums[0].sqrt(),
            along: part(sums[1], sums[2]).max(part(sums[3], sums[4])),
            speed: sums[4].sqrt(),
        }
    }

    /// Moves each cloth that nothing holds as a whole, so that it has the momentum that it is given:
    /// Σ own u = Σ b, whatever conjugate gradients left. Between its elements all forces cancel; cloths
    /// that touch each other are taken together. It is the best correction by a common velocity, so
    /// the error in the norm of the matrix only falls.
    pub fn keep_momentum(&mut self, trial: &Trial, linear: &Linear, constraints: &Constraints) {
        let owner = &trial.sheet().elements.owner;
        let groups = &mut self.groups;
        groups.clear();
        let count = owner.iter().fold(0, |most, &o| most.max(o as usize + 1));
        groups.extend((0..count as u32).map(Group::new));
        for stencil in &constraints.stencils.list {
            let first = owner[stencil.particles[0] as usize];
            for &i in &stencil.particles {
                join(groups, first, owner[i as usize]);
            }
            let free =
                stencil.body == NONE && stencil.gradient.iter().sum::<Vec3>().length() < 1e-9;
            groups[first as usize].held |= !free;
        }
        let bindings = &trial.sheet().elements.energies.bindings;
        for element in 0..bindings.len() {
            let [first, rest @ ..] = bindings.nodes(element);
            for i in rest.into_iter().filter(|&i| i != crate::energy::NONE) {
                join(groups, owner[first as usize], owner[i as usize]);
            }
        }
        for hold in &constraints.filter.holds {
            groups[owner[hold.particle as usize] as usize].held = true;
        }
        for k in 0..count {
            let leader = leader(groups, k as u32);
            groups[leader as usize].held |= groups[k].held;
        }
        for (i, u) in self.u.iter().enumerate() {
            let leader = leader(groups, owner[i]) as usize;
            let (group, own) = (&mut groups[leader], matrix(&linear.own[i]));
            group.own += own;
            group.missing += vector(&constraints.b[i]) - own * vector(u);
        }
        for group in groups.iter_mut().filter(|g| !g.held) {
            group.change = group.own.inverse() * group.missing;
        }
        for (u, &owner) in self.u.iter_mut().zip(owner) {
            let group = &groups[leader(groups, owner) as usize];
            if !group.held && group.change.is_finite() {
                *u = lane(vector(u) + group.change);
            }
        }
    }

    /// x₁ = x₀ + h u.
    pub fn place(&mut self, trial: &Trial) {
        let (x0, u, h) = (&trial.state.particles.x, &self.u, trial.span.h);
        each_light(x0.len(), &mut self.x1[..], &|rows, x1: &mut [Vec3]| {
            for (i, x1) in rows.zip(x1) {
                *x1 = x0[i] + h * vector(&u[i]);
            }
        });
    }

    /// u, part of the way from one motion to another.
    pub fn blend(&mut self, from: &Motion, to: &Motion, part: f64) {
        let back = 1.0 - part;
        self.u.clear();
        self.u.extend(from.particles.iter().zip(&to.particles).map(|(from, to)| {
            let (from, to) = (vector(from), vector(to));
            lane(to + back * (from - to))
        }));
        self.u_bodies.clear();
        let bodies = from.bodies.iter().zip(&to.bodies);
        self.u_bodies
            .extend(bodies.map(|(from, to)| [0, 1].map(|k| to[k] + back * (from[k] - to[k]))));
    }
}
