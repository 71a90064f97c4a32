//! What carries a controller: how it moves, and how it is pushed back.

use crate::ids::{AnyId, BodyId, DeformableId, ParticleId, StaleId};
use crate::math::Vec3;
use crate::model::error::EditError;
use crate::world::World;

/// A place of a surface that carries something.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Support {
    pub who: AnyId,
    /// m.
    pub point: Vec3,
    /// Velocity of the surface there, m/s.
    pub velocity: Vec3,
    /// Of a deformable object: vertices that share a push, with their shares.
    shares: Vec<(u32, f64)>,
}

impl Support {
    /// A place of a body's or a deformable object's surface; `piece` is the triangle that was met there,
    /// and a push on a deformable object is spread over about `radius` metres.
    pub fn new(
        world: &World,
        (who, piece): (AnyId, u32),
        point: Vec3,
        radius: f64,
    ) -> Result<Support, StaleId> {
        let mut support = Support { who, point, velocity: Vec3::ZERO, shares: Vec::new() };
        if let Some(id) = who.body() {
            support.velocity = velocity_at(world, id, point)?;
        } else if let Some(id) = who.deformable() {
            support.shares = shares(world, id, piece, point, radius)?;
            let velocities = world.vertex_velocities(id)?;
            let share = |&(vertex, share): &(u32, f64)| share * velocities[vertex as usize];
            support.velocity = support.shares.iter().map(share).sum();
        }
        Ok(support)
    }

    /// Velocity of what is there now, `dt` seconds later, m/s: what turns takes it round.
    pub fn velocity_after(&self, world: &World, dt: f64) -> Result<Vec3, StaleId> {
        let Some(id) = self.who.body() else { return Ok(self.velocity) };
        let motion = world.velocity(id)?;
        Ok(self.velocity + motion.angular.cross(dt * (self.velocity - motion.linear)))
    }

    /// Adds a force (N) on it for the next step. What nothing moves is not moved.
    pub fn push(&self, world: &mut World, force: Vec3) -> Result<(), EditError> {
        match (self.who.body(), self.who.deformable()) {
            (Some(id), _) if world.body(id)?.is_dynamic() => world.push(id, force, self.point),
            (_, Some(id)) => {
                for &(vertex, share) in &self.shares {
                    world.push_particle(ParticleId::vertex(id, vertex), share * force)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Velocity of a body's material at a point, m/s.
pub(super) fn velocity_at(world: &World, id: BodyId, point: Vec3) -> Result<Vec3, StaleId> {
    let motion = world.velocity(id)?;
    Ok(motion.linear + motion.angular.cross(point - world.center(id)?))
}

/// Vertices of a deformable object near a place, with shares that add up to 1 and fall off towards
/// `radius`; never fewer than the corners of the triangle that was met.
fn shares(
    world: &World,
    id: DeformableId,
    piece: u32,
    point: Vec3,
    radius: f64,
) -> Result<Vec<(u32, f64)>, StaleId> {
    let x = world.vertices(id)?;
    let mut square = radius * radius;
    for corner in world.deformable(id)?.triangles().nth(piece as usize).into_iter().flatten() {
        square = square.max(1.1 * x[corner as usize].distance_squared(point));
    }
    let weight = |p: &Vec3| (1.0 - p.distance_squared(point) / square).max(0.0).powi(2);
    let near = x.iter().enumerate().map(|(i, p)| (i as u32, weight(p)));
    let mut near: Vec<(u32, f64)> = near.filter(|share| share.1 > 0.0).collect();
    let sum: f64 = near.iter().map(|share| share.1).sum();
    for share in &mut near {
        share.1 /= sum;
    }
    Ok(near)
}
