//! Particles of a world, whoever owns them: one way to read, place and push vertices of deformable
//! objects, free point masses and drops of streams.

use super::World;
use super::record::Call;
use super::step_inputs::DropPush;
use crate::ids::{EmitterId, ParticleId, ParticleOwner, StaleId};
use crate::math::Vec3;
use crate::model::error::{BodyError, EditError, check_vector};
use crate::state::particles::Particles;

/// A point mass as it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// m.
    pub position: Vec3,
    /// m/s.
    pub velocity: Vec3,
    /// kg.
    pub mass: f64,
}

/// Largest coordinate (m) and velocity (m/s) that a particle can be given.
const REACH: f64 = 1e9;

/// Where a particle is kept.
#[derive(Clone, Copy)]
enum Place {
    /// Index among the vertices of all deformable objects.
    Vertex(usize),
    /// Slot of the point.
    Point(usize),
    /// Slot of the emitter and index in its stream.
    Drop(usize, usize),
}

impl World {
    /// Ids of all particles: vertices object by object, then free points, then drops emitter by emitter in
    /// the order of births.
    pub fn particles(&self) -> impl Iterator<Item = ParticleId> + '_ {
        let vertices = self.deformables().flat_map(|id| {
            let count = self.model.cloths[id.index as usize].count() as u64;
            (0..count)
                .map(move |number| ParticleId { owner: ParticleOwner::Deformable(id), number })
        });
        let drops = self.emitters().flat_map(|id| self.drops(id));
        vertices.chain(self.points().map(ParticleId::from)).chain(drops)
    }

    /// Where a particle is, how it moves and what it weighs. A drop is looked for in its whole stream: read
    /// [`World::stream`] for all of one.
    pub fn particle(&self, id: ParticleId) -> Result<Particle, StaleId> {
        let place = self.place(id)?;
        let (store, index, mass) = match place {
            Place::Vertex(i) => (&self.state.particles, i, self.model.sheet.elements.mass[i]),
            Place::Point(slot) => {
                (&self.state.points.particles, slot, self.model.points[slot].mass)
            }
            Place::Drop(slot, index) => {
                let mass = self.model.emitters[slot].emitter.mass;
                (&self.state.streams.list[slot].particles, index, mass)
            }
        };
        Ok(Particle { position: store.x[index], velocity: store.v[index], mass })
    }

    /// Places a particle (m) and gives it a velocity (m/s); a held vertex follows what holds it.
    pub fn set_particle_motion(
        &mut self,
        id: ParticleId,
        position: Vec3,
        velocity: Vec3,
    ) -> Result<(), EditError> {
        self.note(|_| Call::SetParticleMotion(id, position, velocity));
        let place = self.place(id)?;
        check_reach("position", position)?;
        check_reach("velocity", velocity)?;
        let (store, index) = self.store_mut(place);
        (store.x[index], store.v[index]) = (position, velocity);
        Ok(())
    }

    /// Adds a force (N) on a particle for the next step only, or until the world is restored. Snapshots hold
    /// what points are pushed with, but not what vertices and drops are: push them after restoring.
    pub fn push_particle(&mut self, id: ParticleId, force: Vec3) -> Result<(), EditError> {
        self.note(|_| Call::PushParticle(id, force));
        let place = self.place(id)?;
        check_vector("force", force)?;
        let inputs = &mut self.ports.inputs;
        match place {
            Place::Vertex(index) => inputs.vertex_pushes.push((index as u32, force)),
            Place::Point(slot) => {
                let sum = self.state.points.push[slot] + force;
                check_vector("force", sum)?;
                self.state.points.push[slot] = sum;
            }
            Place::Drop(slot, index) => {
                let (emitter, number) = (slot as u32, id.number);
                inputs.drop_pushes.push(DropPush { emitter, index, number, force });
            }
        }
        Ok(())
    }

    /// Ids of the drops of an emitter, in the order of births.
    fn drops(&self, emitter: EmitterId) -> impl Iterator<Item = ParticleId> + use<> {
        let mut numbers = self.state.streams.list[emitter.index as usize].particles.id.clone();
        numbers.sort_unstable();
        let owner = ParticleOwner::Emitter(emitter);
        numbers.into_iter().map(move |number| ParticleId { owner, number })
    }

    fn place(&self, id: ParticleId) -> Result<Place, StaleId> {
        self.find(id).ok_or(StaleId::of(id))
    }

    fn find(&self, id: ParticleId) -> Option<Place> {
        match id.owner {
            ParticleOwner::Deformable(owner) => {
                let range = self.model.cloths[self.model.cloth_slot(owner).ok()?].range();
                let inside = id.number < range.len() as u64;
                inside.then(|| Place::Vertex(range.start + id.number as usize))
            }
            ParticleOwner::Point(owner) => {
                let slot = self.point_slot(owner).ok()?;
                (id.number == slot as u64).then_some(Place::Point(slot))
            }
            ParticleOwner::Emitter(owner) => {
                let slot = self.model.emitter_slot(owner).ok()?;
                let index = self.state.streams.list[slot].particles.index_of(id.number)?;
                Some(Place::Drop(slot, index))
            }
        }
    }

    fn store_mut(&mut self, place: Place) -> (&mut Particles, usize) {
        match place {
            Place::Vertex(index) => (&mut self.state.particles, index),
            Place::Point(slot) => (&mut self.state.points.particles, slot),
            Place::Drop(slot, index) => (&mut self.state.streams.list[slot].particles, index),
        }
    }
}

/// Refuses what is not finite or so far away that steps lose their precision.
fn check_reach(field: &'static str, v: Vec3) -> Result<(), BodyError> {
    if v.is_finite() && v.abs().max_element() < REACH {
        return Ok(());
    }
    Err(BodyError { field, problem: format!("must be finite and less than {REACH:e}, not {v}") })
}
