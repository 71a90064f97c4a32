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

mod exchange;
pub(crate) mod mirror;
pub(crate) mod sheets;

use crate::couple::component::{Component, Step};
use crate::couple::coupling::{Coupling, input};
use crate::couple::error::CoupleError;
use crate::couple::links::LinkKind;
use crate::couple::method::Method;
use crate::math::Vec3;
use crate::simulator::{Reaction, Simulator, Wrench};
use mirror::{Mirror, Touching};
use sheets::SheetMirror;

impl Coupling {
    /// Lets two simulators touch: the first follows the surfaces of the second if it can, else the
    /// other way round. Returns the numbers of the follower and of the owner. Obstacles may renumber
    /// the follower's handles (those of a world's cloth, say): touch first, tie later.
    pub fn touch(&mut self, a: usize, b: usize) -> Result<(usize, usize), CoupleError> {
        let count = self.members.len();
        if a >= count || b >= count || a == b {
            let problem = format!("{a} and {b} are not two of the {count} simulators");
            return Err(input("simulator", problem));
        }
        self.check_mixture((LinkKind::Touch, false), [a, b])?;
        if self.touching().any(|c| [[a, b], [b, a]].contains(&[c.follower, c.owner])) {
            // each would push the same surfaces back with the whole of their response
            let [a, b] = [a, b].map(|i| &self.members[i].name);
            return Err(input("simulator", format!("`{a}` and `{b}` touch already")));
        }
        // first whoever can follow all that the other has
        for partly in [false, true] {
            for (follower, owner) in [(a, b), (b, a)] {
                if self.reaches(owner, follower) {
                    continue;
                }
                if let Some(touching) = self.mirrors(follower, owner, partly)? {
                    self.connect([follower, owner]).touches.push(touching);
                    return Ok((follower, owner));
                }
            }
        }
        let [a, b] = [a, b].map(|i| self.members[i].name.clone());
        let problem = format!("neither `{a}` nor `{b}` can follow the surfaces of the other");
        Err(input("simulator", problem))
    }

    /// Impulse that a handle will get in the next step from what waits for it: what particles of theirs
    /// have struck it with.
    pub fn pending_impulse(&self, simulator: usize, handle: usize) -> Wrench {
        let mut sum = Wrench::ZERO;
        for contact in self.touching().filter(|c| c.owner == simulator) {
            for mirror in contact.mirrors.iter().filter(|m| m.dynamic && m.handle == handle) {
                let pending = |s: &dyn Simulator| s.pending_impulse(mirror.obstacle);
                sum += self.members[contact.follower]
                    .look("pending_impulse", pending)
                    .unwrap_or(Wrench::ZERO);
            }
        }
        sum
    }

    fn touching(&self) -> impl Iterator<Item = &Touching> {
        self.components.iter().flat_map(|component| &component.touches)
    }

    /// Whether the first follows the second already, directly or over others.
    fn reaches(&self, first: usize, second: usize) -> bool {
        let mut seen = vec![first];
        let mut i = 0;
        while i < seen.len() {
            let next = self.touching().filter(|c| c.follower == seen[i]).map(|c| c.owner);
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
        if self.components.iter().any(|component| component.is_tied(follower)) {
            let name = &self.members[follower].name;
            let problem = format!("`{name}` is tied already; let simulators touch first");
            return Err(input("simulator", problem));
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
                reaction: Reaction { impulse: Wrench::ZERO, end: start },
                pending: Wrench::ZERO,
            });
        }
        let some = !(mirrors.is_empty() && sheets.is_empty());
        Ok(some.then_some(Touching {
            number: self.touching().count(),
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
}

impl Component {
    /// Reads where surfaces and sheets begin.
    pub fn begin_touches(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        self.touches.iter_mut().try_for_each(|contact| contact.begin(step.members))
    }

    /// Its simulators such that owners come before whoever follows them.
    pub fn owners_first(&self) -> Vec<usize> {
        let mut order = self.simulators.clone();
        // few simulators: moving followers behind their owners until none is left is enough
        for _ in 0..order.len() {
            for contact in &self.touches {
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

    /// Gives a member what touching asks of it.
    pub fn push_touching(&self, step: &mut Step<'_>, member: usize) {
        let lagged = step.settings.method == Method::Interleaved;
        let (dt, number, member) = (step.dt, member, &mut step.members[member]);
        for contact in &self.touches {
            if contact.owner == number {
                contact.push(member, dt);
            }
            if contact.follower == number {
                let heavy = lagged && !contact.switched;
                for mirror in &contact.mirrors {
                    member.obstacles.push((mirror.obstacle, mirror.motion(heavy)));
                }
                member.sheets.extend(contact.sheets.iter().map(SheetMirror::motion));
            }
        }
    }

    /// Reads what a member's step did to contacts.
    pub fn read_touching(&mut self, step: &mut Step<'_>, member: usize) -> Result<(), CoupleError> {
        let (number, member) = (member, &step.members[member]);
        let (mut next, mut next_sheet) = (0, 0);
        for contact in &mut self.touches {
            for sheet in &mut contact.sheets {
                if contact.owner == number {
                    sheet.end(member)?;
                }
                if contact.follower == number {
                    sheet.impulses.clone_from(&member.sheets[next_sheet].impulses);
                    next_sheet += 1;
                }
            }
            for mirror in &mut contact.mirrors {
                if contact.owner == number {
                    mirror.end = member.read(mirror.handle)?;
                }
                if contact.follower == number {
                    mirror.reaction = member.reactions[next];
                    next += 1;
                }
            }
        }
        Ok(())
    }
}
