//! Contact between simulators: one follows the other's surfaces as obstacles and tells what it
//! pushed them with.
//!
//! An obstacle comes with its owner's response, and the follower carries it as an unknown of its own
//! solve. One step:
//!
//!   1. the owner steps under the impulse J of the last step
//!   2. the follower steps against the owner's motion, with the response on top: J̃
//!   3. the owner's bodies get J̃ − J and are moved to where the follower has them
//!
//! which is one exchange, at any ratio of masses. An owner that cannot move its bodies at will goes
//! back and steps again under J̃ instead, and where it then differs from what the follower believes
//! (its bodies touch each other, say) all is repeated. With m⁻¹ the response that the follower
//! carries, b the true one and a its own, the error of J shrinks by (m⁻¹ − b)/(a + m⁻¹) from one
//! exchange, or one step, to the next: it never grows, since what holds a body inside its simulator
//! only lowers b. A response of infinite mass is the paper's interleaved simulation
//! [baraff1997 §4.3], which grows where b > a.
//!
//! A step's impulse may come early or late in it. An owner that steps again gets what it had
//! expected as a steady force, and what came on top as a steady force and a kick at the beginning
//! that together lead to the follower's velocity and place.

pub(crate) mod mirror;
pub(crate) mod sheets;

use crate::couple::coupling::{Coupling, Lead};
use crate::couple::error::{CoupleError, Problem};
use crate::couple::ledger::CouplingReport;
use crate::couple::links::touch::mirror::{Mirror, Touching};
use crate::couple::links::touch::sheets::SheetMirror;
use crate::couple::settings::Method;
use crate::math::Vec3;
use crate::simulator::{Met, Simulator, Wrench};

/// A lagged exchange that shrinks its error by less than this is iterated instead.
const SLOW: f64 = 0.95;
/// Steps between two trials of a lagged exchange.
const TRIAL_PAUSE: u32 = 20;
/// How much of the largest error is remembered a step later. An exchange that diverges outgrows it at
/// every step, one that is only noisy (a jet of particles) now and then.
const FADING: f64 = 0.95;

impl Coupling {
    /// Lets two simulators touch: the first follows the surfaces of the second if it can, else the
    /// other way round. Returns the numbers of the follower and of the owner. Obstacles may renumber
    /// the follower's handles (those of a world's cloth, say): touch first, tie later.
    pub fn touch(&mut self, a: usize, b: usize) -> Result<(usize, usize), CoupleError> {
        let count = self.members.len();
        if a >= count || b >= count || a == b {
            let problem = format!("{a} and {b} are not two of the {count} simulators");
            return Err(CoupleError::Input { field: "simulator", problem });
        }
        // first whoever can follow all that the other has
        for partly in [false, true] {
            for (follower, owner) in [(a, b), (b, a)] {
                if self.reaches(owner, follower) {
                    continue;
                }
                if let Some(contact) = self.mirrors(follower, owner, partly)? {
                    self.contacts.push(contact);
                    return Ok((follower, owner));
                }
            }
        }
        let [a, b] = [a, b].map(|i| self.members[i].name.clone());
        let problem = format!("neither `{a}` nor `{b}` can follow the surfaces of the other");
        Err(CoupleError::Input { field: "simulator", problem })
    }

    /// Impulse that a handle will get in the next step from what others owe it: what particles of theirs
    /// have struck it with.
    pub fn owed(&self, simulator: usize, handle: usize) -> Wrench {
        let mut sum = Wrench::ZERO;
        for contact in self.contacts.iter().filter(|c| c.owner == simulator) {
            for mirror in contact.mirrors.iter().filter(|m| m.dynamic && m.handle == handle) {
                let owed = |s: &dyn Simulator| s.owed(mirror.obstacle);
                sum += self.members[contact.follower].look("owed", owed).unwrap_or(Wrench::ZERO);
            }
        }
        sum
    }

    /// Whether the first follows the second already, directly or over others.
    fn reaches(&self, first: usize, second: usize) -> bool {
        let mut seen = vec![first];
        let mut i = 0;
        while i < seen.len() {
            let next = self.contacts.iter().filter(|c| c.follower == seen[i]).map(|c| c.owner);
            let next: Vec<usize> = next.filter(|o| !seen.contains(o)).collect();
            seen.extend(next);
            i += 1;
        }
        first != second && seen.contains(&second)
    }

    fn mirrors(
        &mut self,
        follower: usize,
        owner: usize,
        partly: bool,
    ) -> Result<Option<Touching>, CoupleError> {
        let surfaces = self.members[owner].surfaces()?;
        let led = |l: &Lead| l.leader.0 == follower || l.follower.0 == follower;
        if self.is_tied(follower) || self.leads.iter().any(led) {
            let name = &self.members[follower].name;
            let problem = format!("`{name}` is tied already; let simulators touch first");
            return Err(CoupleError::Input { field: "simulator", problem });
        }
        let has_sheets = !self.members[owner].own_sheets()?.is_empty();
        let sheets = self.sheet_mirrors(follower, owner)?;
        if has_sheets && sheets.is_none() && !partly {
            return Ok(None);
        }
        let sheets = sheets.unwrap_or_default();
        let mut mirrors = Vec::new();
        for surface in &surfaces {
            let member = &mut self.members[follower];
            let Some(obstacle) = member.ask("add_obstacle", |s| s.add_obstacle(surface))? else {
                return Ok(None);
            };
            member.recount()?;
            let member = &mut self.members[owner];
            member.watch(surface.handle);
            let start = member.read(surface.handle)?;
            member.save()?;
            let kickable = member.ask("kick", |s| s.kick(surface.handle, Wrench::ZERO))?;
            let shift = |s: &mut dyn Simulator| s.shift(surface.handle, Vec3::ZERO, Vec3::ZERO);
            let shiftable = kickable && member.ask("shift", shift)?;
            member.restore()?;
            mirrors.push(Mirror {
                handle: surface.handle,
                obstacle,
                dynamic: surface.dynamic,
                kickable,
                shiftable,
                tried: None,
                response: None,
                radius: surface.shape.outer_radius().min(1e3),
                start,
                end: start,
                steady: Wrench::ZERO,
                kick: Wrench::ZERO,
                met: Met { impulse: Wrench::ZERO, end: start },
                owed: Wrench::ZERO,
            });
        }
        let some = !(mirrors.is_empty() && sheets.is_empty());
        Ok(some.then_some(Touching {
            follower,
            owner,
            mirrors,
            sheets,
            switched: false,
            pause: 0,
            surprise: 0.0,
            dt: 0.0,
        }))
    }

    /// Members such that owners come before whoever follows them.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        // few simulators: moving followers behind their owners until none is left is enough
        for _ in 0..self.members.len() {
            for contact in &self.contacts {
                let place = |m: usize| order.iter().position(|&o| o == m).unwrap_or(0);
                let (follower, owner) = (place(contact.follower), place(contact.owner));
                if follower < owner {
                    let moved = order.remove(follower);
                    order.insert(owner, moved);
                }
            }
        }
        order
    }

    pub(crate) fn touches(&self, member: usize) -> bool {
        self.contacts.iter().any(|c| c.follower == member || c.owner == member)
            || self.watched.iter().any(|w| w.sides.contains(&member))
    }

    /// Gives a member what contacts ask of it.
    pub(crate) fn load_contacts(&mut self, member: usize, dt: f64) -> Result<(), CoupleError> {
        let lagged = self.settings.method == Method::Interleaved;
        self.load_watched(member, dt);
        for contact in &self.contacts {
            if contact.owner == member {
                contact.push(&mut self.members[member], dt);
            }
            if contact.follower == member {
                let heavy = lagged && !contact.switched;
                for mirror in &contact.mirrors {
                    let follow = mirror.follow(heavy);
                    self.members[member].follows.push((mirror.obstacle, follow));
                }
                let sheets = contact.sheets.iter().map(SheetMirror::follow);
                self.members[member].sheets.extend(sheets);
            }
        }
        Ok(())
    }

    /// Reads what a member's step did to contacts.
    pub(crate) fn read_contacts(&mut self, member: usize) -> Result<(), CoupleError> {
        let (mut next, mut next_sheet) = (0, 0);
        for contact in &mut self.contacts {
            for sheet in &mut contact.sheets {
                if contact.owner == member {
                    sheet.end(&self.members[member])?;
                }
                if contact.follower == member {
                    sheet.met.clone_from(&self.members[member].sheets[next_sheet].met);
                    next_sheet += 1;
                }
            }
            for mirror in &mut contact.mirrors {
                if contact.owner == member {
                    mirror.end = self.members[member].read(mirror.handle)?;
                }
                if contact.follower == member {
                    mirror.met = self.members[member].met[next];
                    next += 1;
                }
            }
        }
        Ok(())
    }

    /// A step of everything, contacts exchanged until both sides agree.
    pub(crate) fn exchange_contacts(
        &mut self,
        dt: f64,
        report: &mut CouplingReport,
    ) -> Result<(), CoupleError> {
        self.exchange_wrenches(dt, report)?;
        self.kick_sheets()
    }

    fn exchange_wrenches(
        &mut self,
        dt: f64,
        report: &mut CouplingReport,
    ) -> Result<(), CoupleError> {
        for i in 0..self.contacts.len() {
            self.contacts[i].prepare(&mut self.members, dt)?;
        }
        let lagged = self.settings.method == Method::Interleaved;
        let most = if self.settings.spread { 1 } else { self.settings.exchanges };
        self.accelerator.reset();
        for exchange in 0..most {
            self.try_all(dt, report)?;
            report.exchanges = exchange + 1;
            if lagged && self.contacts.iter().any(|c| !c.switched) {
                self.try_lagged(dt, report)?;
                if self.contacts.iter().all(|c| !c.switched) {
                    report.mismatch =
                        self.contacts.iter().map(|c| c.mismatch().0).fold(0.0, f64::max);
                    return Ok(());
                }
            }
            report.switched = lagged;
            let mut x = self.gathered(|m| m.steady + m.kick);
            let image = self.gathered(|m| m.met.impulse);
            if x == image {
                return Ok(());
            }
            if self.settle_owners()? {
                report.mismatch = self.contacts.iter().map(|c| c.mismatch().0).fold(0.0, f64::max);
                return Ok(());
            }
            for contact in &mut self.contacts {
                contact.mirrors.iter_mut().for_each(|m| m.answer(dt));
            }
            self.step_owners(dt)?;
            report.evaluations += 1;
            let pairs = self.contacts.iter().map(Touching::mismatch);
            let (off, change) = pairs.fold((0.0_f64, 0.0_f64), |s, p| (s.0.max(p.0), s.1.max(p.1)));
            report.mismatch = off;
            let settled = off <= self.settings.contact_tolerance * change;
            report.converged = settled;
            if settled || exchange + 1 == most {
                return Ok(());
            }
            self.accelerator.next(self.settings.acceleration, &mut x, &image);
            self.scatter(&x);
        }
        Ok(())
    }

    /// Gives owners what the followers found beyond what was counted, where all of them can take it
    /// now; false if they have to step again.
    fn settle_owners(&mut self) -> Result<bool, CoupleError> {
        let mirrors = self.contacts.iter().flat_map(|c| &c.mirrors);
        if mirrors.filter(|m| m.changed()).any(|m| !m.shiftable) {
            return Ok(false);
        }
        for contact in &mut self.contacts {
            let owner = &mut self.members[contact.owner];
            for mirror in contact.mirrors.iter_mut().filter(|m| m.changed()) {
                let change = mirror.met.impulse - (mirror.steady + mirror.kick);
                let way = mirror.met.end.position - mirror.end.position;
                let turn = mirror.turn();
                let handle = mirror.handle;
                let took = owner.ask("kick", |s| s.kick(handle, change))?
                    && owner.ask("shift", |s| s.shift(handle, way, turn))?;
                if !took {
                    return Err(owner.error(Problem::Broke { promise: "kick and shift" }));
                }
                (mirror.steady, mirror.kick) = (mirror.met.impulse, Wrench::ZERO);
                mirror.end = owner.read(handle)?;
            }
        }
        Ok(true)
    }

    fn try_all(&mut self, dt: f64, report: &mut CouplingReport) -> Result<(), CoupleError> {
        if self.ties.is_empty() {
            report.evaluations += 1;
            return self.try_forces(dt, &[]);
        }
        self.hold_ties(dt, report)
    }

    /// Steps the owners again under new wrenches; followers stay.
    fn step_owners(&mut self, dt: f64) -> Result<(), CoupleError> {
        let lambda = self.lambda.clone();
        for member in self.order() {
            if self.contacts.iter().any(|c| c.owner == member) {
                self.step_alone(member, dt, &lambda)?;
            }
        }
        Ok(())
    }

    /// All impulses, one after the other.
    fn gathered(&self, of: impl Fn(&Mirror) -> Wrench) -> Vec<f64> {
        let mirrors = self.contacts.iter().flat_map(|c| &c.mirrors);
        mirrors.filter(|m| m.dynamic).flat_map(|m| of(m).to_array()).collect()
    }

    fn scatter(&mut self, x: &[f64]) {
        let mirrors = self.contacts.iter_mut().flat_map(|c| &mut c.mirrors);
        for (mirror, x) in mirrors.filter(|m| m.dynamic).zip(x.chunks(6)) {
            mirror.steady = Wrench::from_slice(x) - mirror.kick;
        }
    }

    /// Now and then, and whenever its error has grown, a lagged exchange is made twice in place, to see
    /// by how much its error shrinks; contacts where it does not are iterated from now on.
    fn try_lagged(&mut self, dt: f64, report: &mut CouplingReport) -> Result<(), CoupleError> {
        let first = self.gathered(|m| m.met.impulse);
        let counted = self.gathered(|m| m.steady + m.kick);
        let size = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
        };
        let zero = vec![0.0; first.len()];
        let surprise = size(&first, &counted);
        let mut due = false;
        for contact in &mut self.contacts {
            contact.pause = contact.pause.saturating_sub(1);
            // an error that outgrows all of the last steps is not left alone until the pause is over
            due |= contact.pause == 0 || surprise > contact.surprise;
            contact.surprise = surprise.max(FADING * contact.surprise);
        }
        if surprise <= 0.2 * size(&first, &zero) || !due {
            return Ok(());
        }
        let kept: Vec<Touching> = self.contacts.clone();
        for contact in &mut self.contacts {
            contact.pause = TRIAL_PAUSE;
            contact.mirrors.iter_mut().for_each(|m| m.steady = m.met.impulse);
        }
        self.try_all(dt, report)?;
        let ratio = size(&self.gathered(|m| m.met.impulse), &first) / surprise;
        report.contraction = Some(ratio);
        let diverges = ratio > SLOW;
        for (contact, kept) in self.contacts.iter_mut().zip(kept) {
            contact.mirrors = kept.mirrors;
            contact.switched |= diverges && self.settings.switch;
        }
        if diverges && !self.settings.switch {
            let name = |i: usize| self.members[i].name.clone();
            let Touching { owner, follower, .. } = self.contacts[0];
            let between = (name(owner), name(follower));
            return Err(CoupleError::Diverged { between, growth: ratio, residual: 0.0 });
        }
        self.try_all(dt, report)
    }
}
