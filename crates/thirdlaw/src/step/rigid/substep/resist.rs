//! What materials ask of contacts beside friction and restitution: other friction while surfaces stick,
//! surfaces that run, and torques against rolling and turning.
//!
//! A contact that is pressed by N resists rolling by a torque of at most ρN about axes along its surface, and
//! turning about its normal by at most τN. With w the relative angular velocity along such axes, A what unit
//! impulses do to it, λ the larger eigenvalue of A and z_n the normal impulses of the contact's points:
//!
//!   z ← Π(z − w/λ)    onto ‖z‖ ≤ ρ Σz_n, and onto |z| ≤ τ Σz_n about the normal
//!
//! as friction in `contact/sweep.rs`: resistance of greatest dissipation, which never turns a motion round.
//! These sweeps take turns with iterations of the contacts, so that both end up fitting each other.
//!
//! Surfaces stick with μ_s where they slide more slowly than [`STICKING`] at the start of a substep, else they
//! slide with μ. Whatever μ is, friction takes energy only.

use super::IslandScratch;
use crate::contact::{Bound, DirectUse, Row, SolveReport, SolveSettings};
use crate::math::{Mat3, Quat, Twist, Vec3};
use crate::model::body::Material;

/// Iterations at least where a material asks for something: nothing else holds a ball on a slope.
pub(super) const ITERATIONS: u32 = 30;
/// Sliding speed below which surfaces stick, m/s, at bodies of the size that settings are given for.
const STICKING: f64 = 2e-3;

/// Two materials at a contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surfaces {
    /// μ while they slide, and while they stick.
    friction: [f64; 2],
    /// Velocities of both surfaces against their bodies, in axes of these, m/s.
    velocities: [Vec3; 2],
    /// Of the second less that of the first in axes of the world, m/s, where a hook says so instead.
    run: Option<Vec3>,
}

/// Torques of one contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resistance {
    /// The bodies among those of the island.
    bodies: [usize; 2],
    /// First and last but one of its points.
    points: [usize; 2],
    /// Tangents and normal.
    axes: [Vec3; 3],
    /// ρ and τ, m.
    levers: [f64; 2],
    /// Impulses about the axes, N·m·s.
    impulses: [f64; 3],
}

impl Surfaces {
    /// Of two materials, if they or a hook, which lets them `run`, ask for anything.
    pub fn of([a, b]: [&Material; 2], friction: f64, run: Option<Vec3>) -> Option<Surfaces> {
        if a.is_plain() && b.is_plain() && run.is_none() {
            return None;
        }
        let sticking = a.friction_combine.apply(
            a.static_friction.unwrap_or(a.friction),
            b.friction_combine,
            b.static_friction.unwrap_or(b.friction),
        );
        Some(Surfaces {
            friction: [friction, sticking.max(friction)],
            velocities: [a.surface_velocity, b.surface_velocity],
            run,
        })
    }

    /// Whether a surface runs against its body.
    pub fn runs(&self) -> bool {
        let still = match self.run {
            Some(run) => run == Vec3::ZERO,
            None => self.velocities == [Vec3::ZERO; 2],
        };
        !still
    }

    /// What the two friction rows of a point want: how fast surfaces run, and μ as they slide or stick, given
    /// velocities at the start of the substep. `scale` is that of the settings' lengths.
    pub fn place(&self, rows: &mut [Row], turns: [Quat; 2], before: [&Twist; 2], scale: f64) {
        let own = || turns[1] * self.velocities[1] - turns[0] * self.velocities[0];
        let run = self.run.unwrap_or_else(own);
        let mut slip = [0.0; 2];
        for (row, slip) in rows.iter_mut().zip(&mut slip) {
            row.bias = row.direction.dot(run);
            let [a, b] = before;
            *slip = row.bias + row.direction.dot(b.linear - a.linear) + row.arm_b.dot(b.angular)
                - row.arm_a.dot(a.angular);
        }
        let sticks = slip[0].hypot(slip[1]) < STICKING * scale.sqrt();
        for row in rows {
            if let Bound::Friction { coefficient, .. } = &mut row.bound {
                *coefficient = self.friction[usize::from(sticks)];
            }
        }
    }
}

impl Resistance {
    /// Of two materials, if they resist. The larger lever of both counts.
    pub fn of(
        [a, b]: [&Material; 2],
        bodies: [u32; 2],
        points: [usize; 2],
        axes: [Vec3; 3],
    ) -> Option<Resistance> {
        let levers = [
            a.rolling_friction.max(b.rolling_friction),
            a.torsional_friction.max(b.torsional_friction),
        ];
        let bodies = bodies.map(|i| i as usize);
        let resists = levers != [0.0; 2];
        resists.then_some(Resistance { bodies, points, axes, levers, impulses: [0.0; 3] })
    }

    /// One sweep: torques about tangents, then about the normal.
    fn sweep(&mut self, load: f64, inverse: [Mat3; 2], velocities: &mut [Twist]) {
        let [t, u, n] = self.axes;
        let both = inverse[0] + inverse[1];
        let (p, q, r) = (t.dot(both * t), t.dot(both * u), u.dot(both * u));
        let half = 0.5 * (p - r);
        let largest = 0.5 * (p + r) + (half * half + q * q).sqrt();
        if largest > 0.0 {
            let w = self.turning(velocities);
            let next =
                [self.impulses[0] - w.dot(t) / largest, self.impulses[1] - w.dot(u) / largest];
            let (length, most) = (next[0].hypot(next[1]), self.levers[0] * load);
            let share = if length > most { most / length } else { 1.0 };
            let next = next.map(|z| share * z);
            let turn = t * (next[0] - self.impulses[0]) + u * (next[1] - self.impulses[1]);
            self.turn(turn, inverse, velocities);
            (self.impulses[0], self.impulses[1]) = (next[0], next[1]);
        }
        let about = n.dot(both * n);
        if about > 0.0 {
            let most = self.levers[1] * load;
            let next = self.impulses[2] - self.turning(velocities).dot(n) / about;
            let next = next.clamp(-most, most);
            self.turn(n * (next - self.impulses[2]), inverse, velocities);
            self.impulses[2] = next;
        }
    }

    fn turning(&self, velocities: &[Twist]) -> Vec3 {
        velocities[self.bodies[1]].angular - velocities[self.bodies[0]].angular
    }

    fn turn(&self, impulse: Vec3, inverse: [Mat3; 2], velocities: &mut [Twist]) {
        velocities[self.bodies[0]].angular -= inverse[0] * impulse;
        velocities[self.bodies[1]].angular += inverse[1] * impulse;
    }
}

impl IslandScratch {
    /// Gives the velocities what the torques of the substep before do.
    pub(in crate::step) fn warm_resistances(&mut self) {
        let IslandScratch { resistances, problem, velocities, .. } = self;
        for resistance in resistances {
            let [t, u, n] = resistance.axes;
            let [x, y, z] = resistance.impulses;
            let inverse = resistance.bodies.map(|i| problem.bodies[i].inv_inertia);
            resistance.turn(x * t + y * u + z * n, inverse, &mut velocities.bodies);
        }
    }

    /// One sweep over all torques.
    pub(in crate::step) fn resist(&mut self) {
        let IslandScratch { resistances, problem, velocities, impulses, .. } = self;
        for resistance in resistances {
            let [first, end] = resistance.points;
            let load = (first..end).map(|point| impulses[3 * point].max(0.0)).sum();
            let inverse = resistance.bodies.map(|i| problem.bodies[i].inv_inertia);
            resistance.sweep(load, inverse, &mut velocities.bodies);
        }
    }

    /// The same, where torques of the substep before have not been given.
    pub(in crate::step) fn resist_anew(&mut self) {
        self.forget_resistances();
        self.resist();
    }

    /// Lets go of all torques.
    pub(super) fn forget_resistances(&mut self) {
        self.resistances.iter_mut().for_each(|resistance| resistance.impulses = [0.0; 3]);
    }

    /// Solves contacts, in turns with torques where there are any.
    pub(in crate::step) fn solve_resisting(&mut self, settings: &SolveSettings) -> SolveReport {
        if self.surfaces.is_empty() {
            return self.solve(settings);
        }
        let iterations = settings.iterations.max(ITERATIONS);
        if self.resistances.is_empty() {
            return self.solve(&SolveSettings { iterations, ..*settings });
        }
        let one = SolveSettings { iterations: 1, direct: DirectUse::Never, ..*settings };
        let mut report = SolveReport::default();
        for _ in 0..iterations {
            report = self.solve(&one);
            self.resist();
        }
        SolveReport { iterations, ..report }
    }
}
