//! A world as a part of a whole: made of a copy by leaving out the rest, and shown in the whole again.
//!
//! Ids stay what they were, so that the same id names the same thing in the whole and in its part.

use super::World;
use crate::ids::{BodyId, DeformableId, EmitterId, JointId, PointId};
use crate::simulator::{Motion, Wrench};
use crate::state::stream::Struck;

/// Something that a world holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Thing {
    /// A rigid body.
    Body(BodyId),
    /// A cloth or another deformable object.
    Cloth(DeformableId),
    /// A point mass.
    Point(PointId),
    /// A joint.
    Joint(JointId),
    /// An emitter with its particles.
    Emitter(EmitterId),
}

impl World {
    /// A copy of this world that holds only what `keep` says. Joints go with their bodies, and
    /// vertices pinned to a body that is left out are free.
    pub fn part(&self, keep: impl Fn(Thing) -> bool) -> World {
        let mut part = World { recorder: None, ..self.clone() };
        let emitters = self.emitters().map(Thing::Emitter);
        let joints = self.joints().map(Thing::Joint);
        let cloths = self.deformables().map(Thing::Cloth);
        let points = self.points().map(Thing::Point);
        // last slots first: who is added later fills the first ones first
        let bodies: Vec<Thing> = self.bodies().map(Thing::Body).collect();
        let all = emitters.chain(joints).chain(cloths).chain(points);
        for thing in all.chain(bodies.into_iter().rev()).filter(|thing| !keep(*thing)) {
            // what is gone already, such as a joint with its body, need not be removed again
            let _gone = match thing {
                Thing::Body(id) => part.remove_body(id).is_err(),
                Thing::Cloth(id) => part.remove_deformable(id).is_err(),
                Thing::Point(id) => part.remove_point(id).is_err(),
                Thing::Joint(id) => part.remove_joint(id).is_err(),
                Thing::Emitter(id) => part.remove_emitter(id).is_err(),
            };
        }
        part
    }

    /// Takes over where everything is that `part` holds, too, and what time it is there. Contacts and
    /// what else a step carries on stay behind: the whole shows its parts, it does not go on for them.
    pub fn show(&mut self, part: &World) {
        self.note_driven("show");
        let (time, step) = (part.state.time, part.state.step);
        (self.state.time, self.state.step) = (time, step);
        let shared: Vec<bool> = (0..self.model.bodies.len())
            .map(|slot| {
                self.model.bodies[slot].alive && part.model.slot(self.model.id(slot)) == Ok(slot)
            })
            .collect();
        for (slot, _) in shared.iter().enumerate().filter(|(_, shared)| **shared) {
            self.state.bodies[slot] = part.state.bodies[slot];
        }
        for id in self.deformables().collect::<Vec<_>>() {
            let (Ok(mine), Ok(theirs)) = (self.deformable(id), part.deformable(id)) else {
                continue;
            };
            let (mine, theirs) = (mine.range(), theirs.range());
            if mine.len() == theirs.len() {
                let (to, from) = (&mut self.state.particles, &part.state.particles);
                to.x[mine.clone()].copy_from_slice(&from.x[theirs.clone()]);
                to.v[mine].copy_from_slice(&from.v[theirs]);
            }
        }
        for id in self.points().collect::<Vec<_>>() {
            if let Ok(point) = part.point(id) {
                self.state.points.set(id.index as usize, point);
            }
        }
        for id in self.joints().collect::<Vec<_>>() {
            if part.joint(id).is_ok() {
                let slot = id.index as usize;
                self.state.joints[slot].clone_from(&part.state.joints[slot]);
            }
        }
        for id in self.emitters().collect::<Vec<_>>() {
            if let Ok(stream) = part.stream(id) {
                self.state.streams.list[id.index as usize].clone_from(stream);
            }
        }
        let mine = |struck: &Struck| shared.get(struck.body as usize) == Some(&true);
        self.state.streams.struck.retain(|struck| !mine(struck));
        let theirs = part.state.streams.struck.iter().filter(|struck| mine(struck));
        self.state.streams.struck.extend(theirs.copied());
        self.state.streams.struck.sort_by_key(|struck| struck.body);
        self.state.streams.span = part.state.streams.span;
    }

    /// Shows a body where another simulator has it.
    pub fn show_body(&mut self, id: BodyId, motion: &Motion) {
        self.note_driven("show_body");
        if let (Ok(slot), true) = (self.model.slot(id), motion.is_finite()) {
            let body = &mut self.state.bodies[slot];
            body.position = motion.position;
            body.rotation = motion.rotation;
            body.velocity = motion.velocity;
        }
    }

    /// Shows what particles of another simulator struck a body with in a step of `span` seconds.
    pub fn show_struck(&mut self, id: BodyId, impulse: Wrench, span: f64) {
        self.note_driven("show_struck");
        let Ok(slot) = self.model.slot(id) else { return };
        let streams = &mut self.state.streams;
        let (body, impulse, angular) = (slot as u32, impulse.force, impulse.torque);
        let struck = Struck { body, count: 1, impulse, angular };
        match streams.struck.binary_search_by_key(&body, |s| s.body) {
            Ok(at) => streams.struck[at] = struck,
            Err(at) => streams.struck.insert(at, struck),
        }
        streams.span = span;
    }

    /// Says what time it is in what is shown, s.
    pub fn show_time(&mut self, time: f64) {
        self.note_driven("show_time");
        self.state.time = time;
    }
}
