//! Islands: bodies linked by contacts, each solved, stopped and put to sleep alone.
//!
//! Islands are numbered by their lowest body and hold bodies and contacts in the order of the
//! world's arrays, so an island's solution depends on nothing outside it.

mod links;

use super::rigid::substep::Members;
use crate::model::Model;
use crate::model::body::model::BodyModel;
use crate::parallel::pool::prelude::*;
use crate::parallel::share::prefetch;
use crate::state::State;
use crate::state::contact::Contact;

/// One island as ranges of [`Islands::bodies`] and [`Islands::contacts`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Island {
    /// First of its bodies.
    pub body_start: usize,
    /// Number of bodies.
    pub body_count: usize,
    /// First of its contacts.
    pub contact_start: usize,
    /// Number of contacts.
    pub contact_count: usize,
    /// Number of those with something that does not move by forces.
    pub grounded: usize,
    /// Number of their points.
    pub contact_points: usize,
    /// Whether any of them may bounce.
    pub bounces: bool,
    /// Whether two of its bodies lie deep in each other.
    pub deep: bool,
    /// Whether a material asks for more than friction and restitution, or a mesh moves by forces.
    pub special: bool,
    /// First of its joints and constraints.
    pub link_start: usize,
    /// Number of joints and constraints.
    pub link_count: usize,
    /// First of its point masses.
    pub point_start: usize,
    /// Number of point masses.
    pub point_count: usize,
    /// Whether a kinematic body that moves touches it.
    pub carried: bool,
    /// Whether a joint holds it to something that does not move freely.
    pub anchored: bool,
}

/// All islands that are awake.
#[derive(Clone, Debug, Default)]
pub struct Islands {
    /// The islands, ordered by their lowest body.
    pub islands: Vec<Island>,
    /// Slots of dynamic bodies, island after island.
    pub bodies: Vec<u32>,
    /// Contacts, island after island.
    pub contacts: Vec<Touch>,
    /// Joints and constraints, island after island: slots of joints, then of constraints.
    pub links: Vec<Linked>,
    /// Slots of point masses, island after island.
    pub points: Vec<u32>,
    parent: Vec<u32>,
    awake: Vec<bool>,
    carried: Vec<bool>,
    number: Vec<u32>,
    cursor: Vec<usize>,
    moved_by: Vec<MovedBy>,
    /// What every contact asks of its bodies, close together.
    traits: Vec<Traits>,
    /// Contacts in the order of the world, and the island of each.
    found: Vec<Touch>,
    island_of: Vec<u32>,
    /// Number of points of all contacts.
    pub contact_points: u32,
    /// Place of each body in `bodies`, or `NONE`.
    places: Vec<u32>,
}

/// What a contact asks of a body.
#[derive(Clone, Copy, Debug)]
struct Traits {
    /// m.
    half_thickness: f32,
    /// Whether its material asks for more than friction and restitution, and whether its surface runs.
    special: bool,
    runs: bool,
    /// Of two that move by forces the lower one gives way.
    dominance: i8,
}

impl Traits {
    fn of(body: &BodyModel) -> Traits {
        Traits {
            half_thickness: body.half_thickness as f32,
            // surfaces without an inside may ask for what cannot be: only the general way looks at the energy
            special: body.materials().any(|material| !material.is_plain())
                || (body.is_dynamic() && body.shape.is_mesh()),
            runs: body.materials().any(|m| m.surface_velocity != Default::default()),
            dominance: body.dominance,
        }
    }
}

/// What moves a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MovedBy {
    Forces,
    /// Forces, once it wakes.
    ForcesAsleep,
    /// Its own motion, which others follow.
    Itself,
    Nothing,
}

impl MovedBy {
    fn by_forces(self) -> bool {
        matches!(self, MovedBy::Forces | MovedBy::ForcesAsleep)
    }
}

/// A contact, without all that only solving asks for: contacts are large.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touch {
    /// Its place among the contacts of the world.
    pub index: u32,
    /// Slots of its bodies, the lower one first.
    pub a: u32,
    /// The higher one.
    pub b: u32,
    /// Number of its points.
    pub count: u8,
    /// Which of the bodies the contact moves: not what moves by itself, and not who dominates.
    pub moves: [bool; 2],
    /// Half the thickness of the thinner body, m.
    pub half_thickness: f32,
    /// Whether it may bounce.
    pub bounces: bool,
    /// Whether both bodies move by forces and lie deep in each other.
    pub deep: bool,
    /// Whether a material or a hook asks for more than friction and restitution, one body dominates, or a mesh moves
    /// by forces.
    pub special: bool,
    /// Whether one of the surfaces runs.
    pub runs: bool,
}

/// What joins bodies beside contacts, by slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    /// A joint.
    Joint(u32),
    /// A constraint of the user's.
    Constraint(u32),
}

/// No island, or no place.
pub const NONE: u32 = u32::MAX;
/// Contacts that a thread goes through at least.
const TOGETHER: usize = 1024;
/// How many contacts ahead memory is asked for.
const EARLY: usize = 12;

impl Islands {
    /// What an island consists of.
    pub fn members(&self, island: &Island) -> Members<'_> {
        Members {
            bodies: self.bodies_of(island),
            contacts: self.contacts_of(island),
            links: &self.links[island.link_start..][..island.link_count],
            points: &self.points[island.point_start..][..island.point_count],
        }
    }

    /// Groups bodies by the contacts between dynamic bodies. An island with one body awake, or
    /// touched by a kinematic body that moves, wakes as a whole.
    pub fn build(&mut self, model: &Model, state: &mut State) {
        let count = model.bodies.len() + model.points.len();
        self.parent.clear();
        self.parent.extend(0..count as u32);
        self.gather(model, state);
        self.contact_points = 0;
        for i in 0..self.found.len() {
            let Touch { a, b, count, moves, .. } = self.found[i];
            self.contact_points += u32::from(count);
            if count > 0 && moves == [true; 2] {
                self.join(a, b);
            }
        }
        self.join_links(model, state);
        self.wake(model, state);
        self.number_islands(model);
        self.fill_bodies(model);
        self.fill_contacts();
        self.fill_links(model, state);
        self.fill_points(model);
    }

    /// Notes what moves the bodies, and which contacts there are.
    fn gather(&mut self, model: &Model, state: &State) {
        self.moved_by.clear();
        let bodies = model.bodies.par_iter().zip(&state.bodies).with_min_len(TOGETHER);
        self.moved_by.par_extend(bodies.map(|(body, now)| {
            if body.is_dynamic() {
                if now.asleep { MovedBy::ForcesAsleep } else { MovedBy::Forces }
            } else if now.velocity != Default::default() {
                MovedBy::Itself
            } else {
                MovedBy::Nothing
            }
        }));
        self.traits.clear();
        let bodies = model.bodies.par_iter().with_min_len(TOGETHER);
        self.traits.par_extend(bodies.map(Traits::of));
        let contacts = state.contacts.par_iter().with_min_len(TOGETHER).enumerate();
        let Islands { moved_by, traits, found, .. } = self;
        found.clear();
        found.par_extend(contacts.map(|(index, contact)| {
            let Contact { key, count, restitution, .. } = contact;
            if let Some(later) = state.contacts.get(index + EARLY) {
                prefetch(&later.key);
            }
            let by_forces = [key.a, key.b].map(|slot| moved_by[slot as usize].by_forces());
            let [a, b] = [key.a, key.b].map(|slot| traits[slot as usize]);
            // who gives way takes the other one as if it moved by itself
            let yields = by_forces == [true; 2] && a.dominance != b.dominance;
            let moves = match yields {
                true => [a.dominance < b.dominance, b.dominance < a.dominance],
                false => by_forces,
            };
            let hooked = state.run_of(key).is_some();
            Touch {
                index: index as u32,
                a: key.a,
                b: key.b,
                count: *count as u8,
                moves,
                half_thickness: a.half_thickness.min(b.half_thickness),
                bounces: *restitution > 0.0,
                deep: contact.is_deep() && moves == [true; 2],
                special: a.special || b.special || hooked || yields,
                runs: a.runs || b.runs || hooked,
            }
        }));
    }

    fn is_dynamic(&self, slot: u32) -> bool {
        self.moved_by[slot as usize].by_forces()
    }

    fn fill_points(&mut self, model: &Model) {
        let first = model.bodies.len();
        let mut start = 0;
        self.cursor.clear();
        for island in &mut self.islands {
            island.point_start = start;
            self.cursor.push(start);
            start += island.point_count;
        }
        self.points.clear();
        self.points.resize(start, 0);
        for i in 0..model.points.len() {
            if self.number[first + i] != NONE {
                let cursor = &mut self.cursor[self.number[first + i] as usize];
                self.points[*cursor] = i as u32;
                *cursor += 1;
            }
        }
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let up = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = up;
            i = up;
        }
        i
    }

    /// The lower root stays root, so that a root is its island's lowest body.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        self.parent[high as usize] = low;
    }

    fn wake(&mut self, model: &Model, state: &mut State) {
        let count = model.bodies.len();
        self.awake.clear();
        self.awake.resize(count + model.points.len(), false);
        self.carried.clear();
        self.carried.resize(count + model.points.len(), false);
        self.wake_links(model, state);
        for i in 0..count {
            if self.moved_by[i] == MovedBy::Forces {
                let root = self.root(i as u32);
                self.awake[root as usize] = true;
            }
        }
        let runs = self.traits.iter().any(|traits| traits.runs) || !state.runs.is_empty();
        let moving = runs
            || self.moved_by.contains(&MovedBy::Itself)
            || self.traits.iter().any(|traits| traits.dominance != 0);
        for i in 0..if moving { self.found.len() } else { 0 } {
            let Touch { a, b, count, moves, runs, .. } = self.found[i];
            for (mover, other, [yields, moves]) in [(a, b, moves), (b, a, [moves[1], moves[0]])] {
                let by = self.moved_by[mover as usize];
                let velocity = state.bodies[mover as usize].velocity;
                let dominates = !yields && by == MovedBy::Forces && velocity != Default::default();
                // what runs carries like what moves
                let carries = runs || by == MovedBy::Itself || dominates;
                if count > 0 && carries && moves {
                    let root = self.root(other) as usize;
                    self.awake[root] = true;
                    self.carried[root] = true;
                }
            }
        }
        for i in 0..count {
            if self.moved_by[i] == MovedBy::ForcesAsleep {
                let root = self.root(i as u32);
                if self.awake[root as usize] {
                    state.bodies[i].asleep = false;
                    state.bodies[i].quiet = 0.0;
                }
            }
        }
    }

    fn number_islands(&mut self, model: &Model) {
        self.islands.clear();
        self.number.clear();
        let count = model.bodies.len();
        self.number.resize(count + model.points.len(), NONE);
        for i in 0..count + model.points.len() {
            let moves = match i.checked_sub(count) {
                None => self.is_dynamic(i as u32),
                Some(point) => model.points[point].alive,
            };
            if !moves {
                continue;
            }
            let root = self.root(i as u32) as usize;
            if !self.awake[root] {
                continue;
            }
            if self.number[root] == NONE {
                self.number[root] = self.islands.len() as u32;
                self.islands.push(Island::default());
            }
            self.number[i] = self.number[root];
            let island = &mut self.islands[self.number[i] as usize];
            if i < count {
                island.body_count += 1;
            } else {
                island.point_count += 1;
            }
            island.carried = self.carried[root];
        }
    }

    fn fill_bodies(&mut self, model: &Model) {
        let mut start = 0;
        self.cursor.clear();
        for island in &mut self.islands {
            island.body_start = start;
            self.cursor.push(start);
            start += island.body_count;
        }
        self.bodies.clear();
        self.bodies.resize(start, 0);
        self.places.clear();
        self.places.resize(model.bodies.len(), NONE);
        for i in 0..model.bodies.len() {
            if self.number[i] != NONE {
                let cursor = &mut self.cursor[self.number[i] as usize];
                self.bodies[*cursor] = i as u32;
                self.places[i] = *cursor as u32;
                *cursor += 1;
            }
        }
    }

    /// Slots of the bodies of an island.
    pub fn bodies_of(&self, island: &Island) -> &[u32] {
        &self.bodies[island.body_start..][..island.body_count]
    }

    /// The contacts of an island.
    pub fn contacts_of(&self, island: &Island) -> &[Touch] {
        &self.contacts[island.contact_start..][..island.contact_count]
    }

    /// The place of each body in `bodies`, slot by slot, or [`NONE`].
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    fn fill_contacts(&mut self) {
        let Islands { islands, found, island_of, number, contacts, cursor, .. } = self;
        island_of.clear();
        island_of.extend(found.iter().map(|touch| {
            // that of its dynamic side
            let slot = if touch.moves[0] { touch.a } else { touch.b };
            let own = if touch.count > 0 { number[slot as usize] } else { NONE };
            if let Some(island) = islands.get_mut(own as usize) {
                island.contact_count += 1;
                island.contact_points += usize::from(touch.count);
                island.grounded += usize::from(touch.moves != [true; 2]);
                island.bounces |= touch.bounces;
                island.deep |= touch.deep;
                island.special |= touch.special;
            }
            own
        }));
        let mut start = 0;
        cursor.clear();
        for island in islands {
            island.contact_start = start;
            cursor.push(start);
            start += island.contact_count;
        }
        // what they hold is of no matter: every place is filled
        contacts.resize(start, Touch::default());
        for (touch, &island) in found.iter().zip(&*island_of) {
            if let Some(cursor) = cursor.get_mut(island as usize) {
                contacts[*cursor] = *touch;
                *cursor += 1;
            }
        }
    }
}
