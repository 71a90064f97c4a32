//! The account of a simulator: how its handles moved in a step, against what they were given.
//!
//! What a simulator gained is seen from outside, by the masses of its handles before and after the step, less
//! what its own fields f did. What it was given is what the coupling really asked of it: steady forces F,
//! impulses J, ways s at the end of the step. With h the step and e the share of h Δv by which its steady
//! forces move it beyond half (semi-implicit Euler has e > 0),
//!
//!   lost    Σ m Δv − h f − h F − J
//!   gained  ΔK − F·(x₁ − x₀ − s − e h Δv') − J·½(v before + v after) − e h f·J/m + f·s
//!   K       ½mv² + ½ω·Iω − f·x + e h f·v
//!
//! are zero for whoever does as it is asked; Δv' is that of the steady forces, without impulses. K is what free
//! fall keeps in such steps. Only handles that nothing else pushes can be judged so; where there are none the
//! account is unknown.

use super::error::{CoupleError, SimulatorProblem};
use super::member::Member;
use crate::math::{Mat3, Vec3, rotation_vector};
use crate::simulator::{FreeHandle, Motion, Wrench};

/// How a simulator kept to what it was given, over a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// Handles that could be judged, the fewest of any part of the step; of the others nothing is known.
    pub judged: usize,
    /// Momentum that they have beyond what they were given, N·s.
    pub surplus: Vec3,
    /// Energy that they have beyond what they were given, J.
    pub gained: f64,
}

/// What a handle was given, by the coupling, in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub handle: usize,
    pub impulse: Wrench,
    /// J.
    pub work: f64,
}

/// A change that the coupling made to a handle after its step: an impulse and a way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settled {
    pub handle: usize,
    pub impulse: Wrench,
    pub way: Vec3,
    pub turn: Vec3,
    /// Before it.
    pub before: Motion,
}

impl Member {
    /// Closes the account of a step, or a part of one, of `dt` seconds that is kept. What handles were given is in
    /// [`Member::given`] then.
    pub fn close_account(&mut self, dt: f64) -> Result<(), CoupleError> {
        let mut free = std::mem::take(&mut self.free);
        free.clear();
        // what others moved, and several own steps, are not followed
        if self.substeps == 1 && self.prescribed.is_empty() && self.constraints.is_empty() {
            self.look("free_handles", |s| s.free_handles(&mut free))?;
        }
        let mut account = Account::default();
        self.given.clear();
        for i in 0..self.watched.len() {
            let handle = self.watched[i];
            let Some(start) = self.saved.get(i).copied() else { continue };
            let known = free.binary_search_by_key(&handle, |f| f.handle).ok().map(|at| free[at]);
            let end = self.read(handle)?;
            let given = self.give((handle, known), (&start, &end), dt);
            if let Some(free) = known {
                let surplus = free.mass * (end.velocity.linear - start.velocity.linear)
                    - dt * free.field
                    - given.impulse.force;
                account.surplus += surplus;
                account.gained += kinetic(&free, &end, &end)
                    - kinetic(&free, &start, &end)
                    - free.field.dot(own_way(&free, (&start, &end), dt))
                    - given.work;
                account.judged += 1;
            }
            self.given.push(given);
        }
        self.free = free;
        match &mut self.account {
            Some(sum) => {
                sum.judged = sum.judged.min(account.judged);
                sum.surplus += account.surplus;
                sum.gained += account.gained;
            }
            none => *none = Some(account),
        }
        Ok(())
    }

    /// Gives a handle an impulse and a way after the step.
    pub fn settle(&mut self, change: Settled) -> Result<(), CoupleError> {
        let Settled { handle, impulse, way, turn, .. } = change;
        let took = self.ask("kick", |s| s.kick(handle, impulse))?
            && self.ask("shift", |s| s.shift(handle, way, turn))?;
        if !took {
            return Err(self.error(SimulatorProblem::BrokenPromise { promise: "kick and shift" }));
        }
        self.settled.push(change);
        Ok(())
    }

    /// Gives a handle an impulse after the step.
    pub fn settle_impulse(&mut self, handle: usize, impulse: Wrench) -> Result<(), CoupleError> {
        let before = self.read(handle)?;
        if !self.ask("kick", |s| s.kick(handle, impulse))? {
            return Err(self.error(SimulatorProblem::BrokenPromise { promise: "kick" }));
        }
        let (way, turn) = (Vec3::ZERO, Vec3::ZERO);
        self.settled.push(Settled { handle, impulse, way, turn, before });
        Ok(())
    }

    /// Change of velocity and spin by steady forces.
    fn steady_gain(&self, free: &FreeHandle, start: &Motion, end: &Motion) -> (Vec3, Vec3) {
        let mut sum = Wrench::ZERO;
        let of = |list: &[(usize, Wrench)], sum: &mut Wrench| {
            list.iter().filter(|(h, _)| *h == free.handle).for_each(|(_, j)| *sum += *j);
        };
        of(&self.kicks, &mut sum);
        self.settled.iter().filter(|s| s.handle == free.handle).for_each(|s| sum += s.impulse);
        let (v, w) = (end.velocity.linear - start.velocity.linear, spin(end) - spin(start));
        (v - sum.force / free.mass, w - turned(free, sum.torque))
    }

    /// Sums up what a handle was given.
    fn give(
        &self,
        (handle, free): (usize, Option<FreeHandle>),
        (start, end): (&Motion, &Motion),
        dt: f64,
    ) -> Given {
        let mut given = Given { handle, impulse: Wrench::ZERO, work: 0.0 };
        let settled = || self.settled.iter().filter(move |s| s.handle == handle);
        let mut way = end.position - start.position;
        let mut turn = rotation_vector(end.rotation * start.rotation.conjugate());
        for settled in settled() {
            way -= settled.way;
            turn -= settled.turn;
            if let Some(free) = free {
                // it was carried against its own fields
                given.work -= free.field.dot(settled.way);
            }
        }
        if let Some(free) = free {
            let (v, w) = self.steady_gain(&free, start, end);
            way -= ahead(&free) * dt * v;
            turn -= ahead(&free) * dt * w;
        }
        for (_, force) in self.pushes.iter().filter(|(h, _)| *h == handle) {
            given.impulse += force.scaled(dt);
            given.work += force.force.dot(way) + force.torque.dot(turn);
        }
        // an impulse works along the mean of the velocities before and after it
        let mut kick = |impulse: Wrench, motion: &Motion| {
            let (mut v, mut w) = (motion.velocity.linear, spin(motion));
            if let Some(free) = free {
                v += 0.5 * impulse.force / free.mass;
                w += 0.5 * turned(&free, impulse.torque);
                given.work += ahead(&free) * dt * free.field.dot(impulse.force) / free.mass;
            }
            given.impulse += impulse;
            given.work += impulse.force.dot(v) + impulse.torque.dot(w);
        };
        let mut now = *start;
        for (_, impulse) in self.kicks.iter().filter(|(h, _)| *h == handle) {
            kick(*impulse, &now);
            if let Some(free) = free {
                now.velocity.linear += impulse.force / free.mass;
                now.velocity.angular += turned(&free, impulse.torque);
            }
        }
        for settled in settled() {
            kick(settled.impulse, &settled.before);
        }
        given
    }
}

fn spin(motion: &Motion) -> Vec3 {
    motion.velocity.angular
}

/// Way under the fields of its own that counts as their work, m.
fn own_way(free: &FreeHandle, (start, end): (&Motion, &Motion), dt: f64) -> Vec3 {
    let gain = end.velocity.linear - start.velocity.linear;
    end.position - start.position - ahead(free) * dt * gain
}

fn ahead(free: &FreeHandle) -> f64 {
    free.reach - 0.5
}

fn turned(free: &FreeHandle, torque: Vec3) -> Vec3 {
    if free.inertia == Mat3::ZERO { Vec3::ZERO } else { free.inertia.inverse() * torque }
}

/// Kinetic energy of a handle in a motion, with its inertia known in another orientation, J.
fn kinetic(free: &FreeHandle, motion: &Motion, known: &Motion) -> f64 {
    let back = known.rotation * motion.rotation.conjugate();
    let w = back * motion.velocity.angular;
    0.5 * free.mass * motion.velocity.linear.length_squared() + 0.5 * w.dot(free.inertia * w)
}
