//! Islands: bodies linked by contacts, each solved, stopped and put to sleep alone.
//!
//! Islands are numbered by their lowest body and hold bodies and contacts in the order of the
//! world's arrays, so an island's solution depends on nothing outside it.

use crate::collide::contacts::Contact;
use crate::model::Model;
use crate::state::State;

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
    /// Whether a kinematic body that moves touches it.
    pub carried: bool,
}

/// All islands that are awake.
#[derive(Clone, Debug, Default)]
pub struct Islands {
    /// The islands, ordered by their lowest body.
    pub islands: Vec<Island>,
    /// Slots of dynamic bodies, island after island.
    pub bodies: Vec<u32>,
    /// Indices of contacts, island after island.
    pub contacts: Vec<u32>,
    parent: Vec<u32>,
    awake: Vec<bool>,
    carried: Vec<bool>,
    number: Vec<u32>,
    cursor: Vec<usize>,
}

const NONE: u32 = u32::MAX;

impl Islands {
    /// Groups bodies by the contacts between dynamic bodies. An island with one body awake, or
    /// touched by a kinematic body that moves, wakes as a whole.
    pub fn build(&mut self, model: &Model, state: &mut State) {
        let count = model.bodies.len();
        self.parent.clear();
        self.parent.extend(0..count as u32);
        for contact in &state.contacts {
            let (a, b) = (contact.key.a, contact.key.b);
            if contact.count > 0
                && model.bodies[a as usize].is_dynamic()
                && model.bodies[b as usize].is_dynamic()
            {
                self.join(a, b);
            }
        }
        self.wake(model, state);
        self.number_islands(model);
        self.fill_bodies(model);
        self.fill_contacts(model, &state.contacts);
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
        self.awake.resize(count, false);
        self.carried.clear();
        self.carried.resize(count, false);
        for i in 0..count {
            if model.bodies[i].is_dynamic() && !state.bodies[i].asleep {
                let root = self.root(i as u32);
                self.awake[root as usize] = true;
            }
        }
        for contact in &state.contacts {
            let (a, b) = (contact.key.a as usize, contact.key.b as usize);
            for (mover, other) in [(a, b), (b, a)] {
                let moves = state.bodies[mover].velocity != Default::default();
                if contact.count > 0
                    && moves
                    && !model.bodies[mover].is_dynamic()
                    && model.bodies[other].is_dynamic()
                {
                    let root = self.root(other as u32) as usize;
                    self.awake[root] = true;
                    self.carried[root] = true;
                }
            }
        }
        for i in 0..count {
            let root = self.root(i as u32);
            let body = &mut state.bodies[i];
            if body.asleep && self.awake[root as usize] {
                body.asleep = false;
                body.quiet = 0.0;
            }
        }
    }

    fn number_islands(&mut self, model: &Model) {
        self.islands.clear();
        self.number.clear();
        self.number.resize(model.bodies.len(), NONE);
        for i in 0..model.bodies.len() {
            if !model.bodies[i].is_dynamic() {
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
            island.body_count += 1;
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
        for i in 0..model.bodies.len() {
            if self.number[i] != NONE {
                let cursor = &mut self.cursor[self.number[i] as usize];
                self.bodies[*cursor] = i as u32;
                *cursor += 1;
            }
        }
    }

    /// The island of a contact: that of its dynamic side.
    fn island_of(&self, model: &Model, contact: &Contact) -> Option<usize> {
        let slot = if model.bodies[contact.key.a as usize].is_dynamic() {
            contact.key.a
        } else {
            contact.key.b
        };
        let number = self.number[slot as usize];
        (number != NONE && contact.count > 0).then_some(number as usize)
    }

    fn fill_contacts(&mut self, model: &Model, contacts: &[Contact]) {
        for contact in contacts {
            if let Some(island) = self.island_of(model, contact) {
                self.islands[island].contact_count += 1;
            }
        }
        let mut start = 0;
        self.cursor.clear();
        for island in &mut self.islands {
            island.contact_start = start;
            self.cursor.push(start);
            start += island.contact_count;
        }
        self.contacts.clear();
        self.contacts.resize(start, 0);
        for (i, contact) in contacts.iter().enumerate() {
            if let Some(island) = self.island_of(model, contact) {
                let cursor = &mut self.cursor[island];
                self.contacts[*cursor] = i as u32;
                *cursor += 1;
            }
        }
    }
}
