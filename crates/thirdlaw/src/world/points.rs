//! Point masses of a world: adding, editing, reading.

use super::World;
use super::record::Call;
use crate::ids::{PointId, StaleId};
use crate::math::Vec3;
use crate::model::error::check_vector;
use crate::model::joint::model::Node;
use crate::model::point::{Point, PointError, PointModel};
use crate::state::point::PointState;

impl World {
    /// Adds a free point mass.
    pub fn add_point(&mut self, point: Point) -> Result<PointId, PointError> {
        self.note(|_| Call::AddPoint(point));
        let slot = self.model.points_free.last().copied();
        let generation = slot.map_or(0, |s| self.model.points[s as usize].generation + 1);
        let model = PointModel::build(&point, generation)?;
        let state =
            PointState { position: point.position, velocity: point.velocity, push: Vec3::ZERO };
        self.model.revision += 1;
        let index = match slot {
            Some(slot) => {
                self.model.points_free.pop();
                self.model.points[slot as usize] = model;
                self.state.points.set(slot as usize, state);
                slot
            }
            None => {
                self.model.points.push(model);
                self.state.points.add(state);
                (self.model.points.len() - 1) as u32
            }
        };
        Ok(PointId { index, generation })
    }

    /// Removes a point mass and its joints; its id is refused from now on.
    pub fn remove_point(&mut self, id: PointId) -> Result<(), StaleId> {
        self.note(|_| Call::RemovePoint(id));
        let slot = self.point_slot(id)?;
        self.drop_joints_of(Node::Point(id.index));
        self.model.points[slot].alive = false;
        self.model.points_free.push(id.index);
        self.model.revision += 1;
        self.state.points.set(slot, PointState::default());
        self.drop_user_data();
        Ok(())
    }

    /// Ids of all point masses, in slot order.
    pub fn points(&self) -> impl Iterator<Item = PointId> + '_ {
        let points = self.model.points.iter().enumerate().filter(|(_, p)| p.alive);
        points.map(|(i, p)| PointId { index: i as u32, generation: p.generation })
    }

    /// Where a point mass is and how it moves.
    pub fn point(&self, id: PointId) -> Result<PointState, StaleId> {
        Ok(self.state.points.get(self.point_slot(id)?))
    }

    /// Places a point mass (m) and gives it a velocity (m/s).
    pub fn set_point(
        &mut self,
        id: PointId,
        position: Vec3,
        velocity: Vec3,
    ) -> Result<(), PointError> {
        self.note(|_| Call::SetPoint(id, position, velocity));
        let slot = self.point_slot(id)?;
        check_vector("position", position)?;
        check_vector("velocity", velocity)?;
        self.state.points.particles.x[slot] = position;
        self.state.points.particles.v[slot] = velocity;
        Ok(())
    }

    /// Adds a force (N) on a point mass for the next step only.
    pub fn push_point(&mut self, id: PointId, force: Vec3) -> Result<(), PointError> {
        self.note(|_| Call::PushPoint(id, force));
        let slot = self.point_slot(id)?;
        let sum = self.state.points.push[slot] + force;
        check_vector("force", sum)?;
        self.state.points.push[slot] = sum;
        Ok(())
    }

    pub(super) fn point_slot(&self, id: PointId) -> Result<usize, StaleId> {
        match self.model.points.get(id.index as usize) {
            Some(point) if point.alive && point.generation == id.generation => {
                Ok(id.index as usize)
            }
            _ => Err(StaleId::of(id)),
        }
    }
}
