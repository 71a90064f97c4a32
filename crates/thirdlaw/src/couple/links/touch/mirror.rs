//! The surfaces of one simulator as obstacles of another, and the impulses between them.

use super::sheets::SheetMirror;
use crate::couple::error::{CoupleError, SimulatorProblem};
use crate::couple::ledger::LedgerEntry;
use crate::couple::member::Member;
use crate::couple::save::SavedContact;
use crate::math::{Mat3, Twist, Vec3, rotation_vector};
use crate::simulator::{HandleResponse, Motion, ObstacleMotion, Reaction, Wrench};

/// How much heavier than it is a body is taken to be that is only followed: its motion is off by that
/// share of what the follower would do to it. Much more of it, and cloth solves with such a body among
/// their unknowns came apart (a million did, in a garment on a hanger).
const HEAVY: f64 = 1e4;

/// A surface of one simulator as an obstacle of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mirror {
    pub handle: usize,
    pub obstacle: usize,
    pub dynamic: bool,
    pub kickable: bool,
    /// Whether it can be moved at will, too.
    pub shiftable: bool,
    /// Measured once, where the owner cannot say it.
    pub tried: Option<HandleResponse>,
    pub response: Option<HandleResponse>,
    /// Distance from the handle to the farthest point, m.
    pub radius: f64,
    pub start: Motion,
    pub end: Motion,
    /// Impulse on the owner as a steady force, and at the beginning of the step.
    pub steady: Wrench,
    pub kick: Wrench,
    pub reaction: Reaction,
    /// What of the step's impulse was known before it.
    pub pending: Wrench,
}

/// One simulator that follows the surfaces of another.
#[derive(Clone, Debug)]
pub(crate) struct Touching {
    /// Counted over all touches of the coupling.
    pub number: usize,
    pub follower: usize,
    pub owner: usize,
    pub mirrors: Vec<Mirror>,
    pub sheets: Vec<SheetMirror>,
    /// Lagged exchange was measured to diverge.
    pub switched: bool,
    pub pause: u32,
    /// By how much lagged impulses were wrong at most, old ones counted less and less, N·s.
    pub surprise: f64,
    pub dt: f64,
}

impl Touching {
    /// Reads where the owner's bodies begin.
    pub fn begin(&mut self, members: &mut [Member]) -> Result<(), CoupleError> {
        for mirror in &mut self.mirrors {
            mirror.start = members[self.owner].read(mirror.handle)?;
            mirror.end = mirror.start;
        }
        for sheet in &mut self.sheets {
            sheet.begin(&members[self.owner])?;
        }
        Ok(())
    }

    /// Takes what is pending, and beyond that the impulse of the last step, as what to expect, and
    /// learns the responses.
    pub fn prepare(&mut self, members: &mut [Member], dt: f64) -> Result<(), CoupleError> {
        let scale = if self.dt > 0.0 { dt / self.dt } else { 1.0 };
        self.dt = dt;
        for mirror in self.mirrors.iter_mut().filter(|m| m.dynamic) {
            let steady = (mirror.reaction.impulse - mirror.pending).scaled(scale);
            let obstacle = mirror.obstacle;
            mirror.pending =
                members[self.follower].look("pending_impulse", |s| s.pending_impulse(obstacle))?;
            if !mirror.pending.is_finite() {
                return Err(
                    members[self.follower].error(SimulatorProblem::NotFinite { handle: obstacle })
                );
            }
            mirror.steady = steady + mirror.pending;
            mirror.kick = Wrench::ZERO;
        }
        let owner = &mut members[self.owner];
        for mirror in self.mirrors.iter_mut().filter(|m| m.dynamic) {
            let handle = mirror.handle;
            mirror.response = owner.look("response", |s| s.response(handle))?.or(mirror.tried);
            if mirror.response.is_none() {
                mirror.tried = Some(owner.response(handle, dt)?);
                mirror.response = mirror.tried;
            }
        }
        Ok(())
    }

    /// What the next step depends on.
    pub fn saved(&self) -> SavedContact {
        let expected = |m: &Mirror| (m.reaction.impulse - m.pending).to_array();
        let impulses = self.mirrors.iter().map(expected).collect();
        let tried = self.mirrors.iter().map(|m| m.tried).collect();
        let Touching { switched, pause, surprise, dt, .. } = *self;
        SavedContact { switched, pause, surprise, dt, impulses, tried }
    }

    pub fn fits(&self, saved: &SavedContact) -> bool {
        saved.impulses.len() == self.mirrors.len()
            && saved.tried.len() == self.mirrors.len()
            && saved.impulses.iter().flatten().all(|x| x.is_finite())
            && saved.dt.is_finite()
    }

    pub fn resume(&mut self, saved: &SavedContact) {
        (self.switched, self.pause, self.dt) = (saved.switched, saved.pause, saved.dt);
        self.surprise = saved.surprise;
        let saved = saved.impulses.iter().zip(&saved.tried);
        for (mirror, (impulse, tried)) in self.mirrors.iter_mut().zip(saved) {
            mirror.reaction.impulse = Wrench::from_slice(impulse);
            mirror.pending = Wrench::ZERO;
            mirror.tried = *tried;
        }
    }

    pub fn push(&self, owner: &mut Member, dt: f64) {
        for mirror in &self.mirrors {
            if mirror.steady != Wrench::ZERO {
                owner.pushes.push((mirror.handle, mirror.steady.scaled(1.0 / dt)));
            }
            if mirror.kick != Wrench::ZERO {
                owner.kicks.push((mirror.handle, mirror.kick));
            }
        }
    }

    /// Largest difference between where the owner's bodies are and where the follower believes them
    /// to be, and the largest change of speed in the step, m/s.
    pub fn mismatch(&self) -> (f64, f64) {
        let mut worst = (0.0_f64, 0.0_f64);
        for mirror in self.mirrors.iter().filter(|m| m.dynamic) {
            let apart = |a: &Twist, b: &Twist| {
                (a.linear - b.linear).length() + mirror.radius * (a.angular - b.angular).length()
            };
            if mirror.reaction.impulse != Wrench::ZERO {
                worst.0 = worst.0.max(apart(&mirror.end.velocity, &mirror.reaction.end.velocity));
                worst.1 = worst.1.max(apart(&mirror.reaction.end.velocity, &mirror.start.velocity));
                let mass = mirror.response.map_or(f64::INFINITY, |r| r.mass);
                worst.1 = worst.1.max(mirror.reaction.impulse.force.length() / mass);
            }
        }
        worst
    }

    /// Handles of the owner that it pushes.
    pub fn handles(&self) -> Vec<usize> {
        let bodies = self.mirrors.iter().filter(|m| m.dynamic).map(|m| m.handle);
        bodies.chain(self.sheets.iter().flat_map(|sheet| sheet.handles.iter().copied())).collect()
    }

    /// What crossed in the step: owner first, follower second.
    pub fn entry(&self, dt: f64) -> LedgerEntry {
        let between = [self.owner, self.follower];
        let mut entry = LedgerEntry { between, ..LedgerEntry::default() };
        for m in self.mirrors.iter().filter(|m| m.dynamic) {
            entry.book(0, m.steady + m.kick, &m.start, &m.end, dt);
            entry.book(1, m.reaction.impulse.scaled(-1.0), &m.start, &m.reaction.end, dt);
        }
        self.sheets.iter().for_each(|sheet| sheet.book(&mut entry, dt));
        entry
    }
}

impl Mirror {
    pub fn motion(&self, heavy: bool) -> ObstacleMotion {
        let mut response = self.response.filter(|r| r.mass.is_finite() && r.mass > 0.0);
        if let Some(response) = &mut response {
            if response.inertia == Mat3::ZERO {
                // a handle that does not turn: as a ball of its size
                let moment = 0.4 * response.mass * self.radius * self.radius;
                response.inertia = Mat3::from_diagonal(Vec3::splat(moment));
            }
            if heavy {
                response.mass *= HEAVY;
                response.inertia *= HEAVY;
            }
        }
        ObstacleMotion {
            start: self.start,
            end: self.end,
            counted: self.steady + self.kick,
            response,
        }
    }

    /// Whether the follower found another impulse than was counted.
    pub fn changed(&self) -> bool {
        self.dynamic && self.reaction.impulse != self.steady + self.kick
    }

    /// From where the owner's body is turned to where the follower's is.
    pub fn turn(&self) -> Vec3 {
        let (a, b) = (self.end.rotation, self.reaction.end.rotation);
        if a == b { Vec3::ZERO } else { rotation_vector(b * a.conjugate()) }
    }

    /// Makes the reaction the wrench of the next try: with Δv by a kick u and a steady force, the way
    /// is h (u + c (Δv − u)).
    pub fn answer(&mut self, dt: f64) {
        let change = self.reaction.impulse - (self.steady + self.kick);
        let mut early = Wrench::ZERO;
        if let (true, Some(response)) = (self.kickable, self.response)
            && response.reach < 0.99
        {
            let first =
                |way: Vec3, gain: Vec3| (way / dt - response.reach * gain) / (1.0 - response.reach);
            let (to, from) = (&self.reaction.end, &self.end);
            let gain = to.velocity.linear - from.velocity.linear;
            early.force = response.mass * first(to.position - from.position, gain);
            let gain = to.velocity.angular - from.velocity.angular;
            early.torque = response.inertia * first(self.turn(), gain);
        }
        self.kick += early;
        self.steady += change - early;
    }
}
