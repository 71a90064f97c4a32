//! A world behind the black-box interface.
//!
//! Its handles are its bodies (one a slot, at the centre of mass), then its point masses, then the
//! vertices of its cloths, cloth after cloth. Adding or removing things renumbers them: build the
//! world first and couple it then.

use super::World;
use super::prescribed::{PrescribedBody, motion};
use crate::ids::{BodyId, ClothId, PointId};
use crate::math::{Mat3, Vec3, rotation_from_vector};
use crate::model::body::{Body, BodyKind, Groups};
use crate::model::joint::model::Node;
use crate::simulator::{
    ContactSheet, ContactSurface, FreeHandle, HandleResponse, Motion, ObstacleMotion, Reaction,
    Simulator, SimulatorFailure, StepConstraint, Wrench,
};
use crate::state::snapshot::Snapshot;

/// What a handle names.
enum Named {
    Body(usize),
    Point(usize),
    Vertex(usize),
    Nothing,
}

impl World {
    /// The handle of a body.
    pub fn body_handle(&self, id: BodyId) -> Option<usize> {
        self.model.slot(id).ok()
    }

    /// The handle of a point mass.
    pub fn point_handle(&self, id: PointId) -> Option<usize> {
        self.point(id).ok()?;
        Some(self.model.bodies.len() + id.index as usize)
    }

    /// The handle of a vertex of a cloth.
    pub fn vertex_handle(&self, id: ClothId, vertex: u32) -> Option<usize> {
        let range = self.deformable(id).ok()?.range();
        let first = self.model.bodies.len() + self.model.points.len() + range.start;
        ((vertex as usize) < range.len()).then_some(first + vertex as usize)
    }

    /// The body that stands for an obstacle of another simulator, for pins and joints to it.
    pub fn obstacle_body(&self, obstacle: usize) -> Option<BodyId> {
        self.ports.obstacles.get(obstacle).copied()
    }

    fn named(&self, handle: usize) -> Named {
        let (bodies, points) = (self.model.bodies.len(), self.model.points.len());
        match handle {
            h if h < bodies && self.model.bodies[h].alive => Named::Body(h),
            h if h < bodies => Named::Nothing,
            h if h < bodies + points => Named::Point(h - bodies),
            h if h - bodies - points < self.state.particles.len() => {
                Named::Vertex(h - bodies - points)
            }
            _ => Named::Nothing,
        }
    }

    /// A dynamic body or a point mass, as joints know it.
    pub(super) fn node_of(&self, handle: usize) -> Option<Node> {
        match self.named(handle) {
            Named::Body(slot) if self.model.bodies[slot].is_dynamic() => {
                Some(Node::Body(slot as u32))
            }
            Named::Point(slot) => Some(Node::Point(slot as u32)),
            _ => None,
        }
    }

    fn is_obstacle(&self, slot: usize) -> bool {
        self.ports.obstacles.iter().any(|id| id.index as usize == slot)
    }
}

impl Simulator for World {
    fn handle_count(&self) -> usize {
        self.model.bodies.len() + self.model.points.len() + self.state.particles.len()
    }

    fn read(&self, handle: usize) -> Motion {
        match self.named(handle) {
            Named::Body(slot) => motion(&self.state.bodies[slot]),
            Named::Point(slot) => {
                let point = self.state.points.get(slot);
                Motion::point(point.position, point.velocity)
            }
            Named::Vertex(i) => Motion::point(self.state.particles.x[i], self.state.particles.v[i]),
            Named::Nothing => Motion::point(Vec3::ZERO, Vec3::ZERO),
        }
    }

    fn push(&mut self, handle: usize, wrench: Wrench) {
        self.note_driven("push");
        if !wrench.is_finite() {
            return;
        }
        match self.named(handle) {
            Named::Body(slot) => {
                let body = &mut self.state.bodies[slot];
                body.push.force += wrench.force;
                body.push.torque += wrench.torque;
                self.wake_slot(slot);
            }
            Named::Point(slot) => self.state.points.push[slot] += wrench.force,
            Named::Vertex(i) => self.ports.inputs.vertex_pushes.push((i as u32, wrench.force)),
            Named::Nothing => {}
        }
    }

    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        World::step(self, dt)?;
        Ok(())
    }

    fn save(&mut self) {
        self.ports.saved.copy_from(&self.state);
    }

    fn restore(&mut self) {
        self.note_driven("restore");
        self.state.copy_from(&self.ports.saved);
        self.ports.forget();
    }

    fn to_bytes(&self) -> Vec<u8> {
        World::save(self).to_bytes()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure> {
        World::restore(self, &Snapshot::from_bytes(bytes)?)?;
        self.ports.forget();
        Ok(())
    }

    fn kick(&mut self, handle: usize, impulse: Wrench) -> bool {
        self.note_driven("kick");
        match self.named(handle) {
            Named::Body(slot) if self.model.bodies[slot].is_dynamic() => {
                let mass = crate::model::body::mass::body_mass(
                    &self.model.bodies[slot],
                    self.state.bodies[slot].rotation,
                );
                if impulse != Wrench::ZERO && impulse.is_finite() {
                    let velocity = &mut self.state.bodies[slot].velocity;
                    velocity.linear += mass.inv_mass * impulse.force;
                    velocity.angular += mass.inv_inertia * impulse.torque;
                    self.wake_slot(slot);
                }
                true
            }
            Named::Point(slot) if impulse.is_finite() => {
                let mass = self.model.points[slot].mass;
                self.state.points.particles.v[slot] += impulse.force / mass;
                true
            }
            Named::Vertex(i) if impulse.is_finite() => {
                let mass = self.model.sheet.elements.mass[i];
                self.state.particles.v[i] += impulse.force / mass;
                true
            }
            _ => false,
        }
    }

    fn shift(&mut self, handle: usize, way: Vec3, turn: Vec3) -> bool {
        self.note_driven("shift");
        match self.named(handle) {
            Named::Body(slot) if self.model.bodies[slot].is_dynamic() => {
                let body = &mut self.state.bodies[slot];
                if way.is_finite() && turn.is_finite() {
                    body.position += way;
                    if turn != Vec3::ZERO {
                        body.rotation = (rotation_from_vector(turn) * body.rotation).normalize();
                    }
                }
                true
            }
            _ => false,
        }
    }

    fn response(&self, handle: usize) -> Option<HandleResponse> {
        let reach = 0.5 * (1.0 + 1.0 / f64::from(self.settings.substeps));
        match self.named(handle) {
            Named::Body(slot) if self.model.bodies[slot].is_dynamic() => {
                let body = &self.model.bodies[slot];
                let r = Mat3::from_quat(self.state.bodies[slot].rotation);
                let inertia = r * body.inertia * r.transpose();
                Some(HandleResponse { mass: body.mass, inertia, reach })
            }
            Named::Point(slot) => Some(HandleResponse {
                mass: self.model.points[slot].mass,
                inertia: Mat3::ZERO,
                reach,
            }),
            _ => None,
        }
    }

    fn free_handles(&self, out: &mut Vec<FreeHandle>) -> bool {
        self.list_free_handles(out);
        true
    }

    fn prescribe(&mut self, handle: usize, end: &Motion) -> bool {
        self.note_driven("prescribe");
        match self.named(handle) {
            Named::Body(slot) if self.model.bodies[slot].is_dynamic() && end.is_finite() => {
                let start = motion(&self.state.bodies[slot]);
                let body =
                    PrescribedBody::prescribed(slot as u32, &self.model.bodies[slot], start, *end);
                self.ports.inputs.prescribed.push(body);
                true
            }
            _ => false,
        }
    }

    fn constraint_force(&self, handle: usize) -> Option<Wrench> {
        let found =
            self.ports.constraint_forces.iter().find(|(slot, _)| *slot as usize == handle)?;
        Some(found.1)
    }

    fn constrain(&mut self, constraint: &StepConstraint) -> bool {
        self.note_driven("constrain");
        self.take_constraint(constraint)
    }

    fn multipliers(&self, constraint: usize, out: &mut [f64]) -> bool {
        self.read_multipliers(constraint, out)
    }

    fn surfaces(&self) -> Vec<ContactSurface> {
        let bodies = self.model.bodies.iter().enumerate();
        let touches = |groups: Groups| groups.member != 0 && groups.collides != 0;
        let mine = bodies
            .filter(|(slot, body)| body.alive && !self.is_obstacle(*slot) && touches(body.groups));
        let surface =
            |(handle, body): (usize, &crate::model::body::model::BodyModel)| ContactSurface {
                handle,
                shape: body.shape.clone(),
                center: body.center,
                material: body.material,
                dynamic: body.kind == BodyKind::Dynamic,
            };
        mine.map(surface).collect()
    }

    fn add_obstacle(&mut self, surface: &ContactSurface) -> Option<usize> {
        self.note_driven("add_obstacle");
        let mut body = Body::kinematic(surface.shape.clone());
        body.material = surface.material;
        // its owner looks after what touches its own
        body.groups = crate::step::streams::FOREIGN;
        let id = self.add_body(body).ok()?;
        let model = &mut self.model.bodies[id.index as usize];
        model.center = surface.center;
        model.reach = surface.shape.outer_radius() + surface.center.length();
        self.ports.obstacles.push(id);
        self.ports.reactions.push(None);
        Some(self.ports.obstacles.len() - 1)
    }

    fn move_obstacle(&mut self, obstacle: usize, motion: &ObstacleMotion) {
        self.note_driven("move_obstacle");
        let id = self.ports.obstacles.get(obstacle);
        if let Some(slot) = id.and_then(|id| self.model.slot(*id).ok()) {
            self.ports.inputs.prescribed.push(PrescribedBody::obstacle(
                slot as u32,
                obstacle,
                motion,
            ));
        }
    }

    fn reaction(&self, obstacle: usize) -> Option<Reaction> {
        *self.ports.reactions.get(obstacle)?
    }

    fn pending_impulse(&self, obstacle: usize) -> Wrench {
        let struck = &self.state.streams.struck;
        let slot = self.ports.obstacles.get(obstacle).map_or(u32::MAX, |id| id.index);
        match struck.binary_search_by_key(&slot, |s| s.body) {
            Ok(at) => Wrench { force: struck[at].impulse, torque: struck[at].angular },
            Err(_) => Wrench::ZERO,
        }
    }

    fn sheets(&self) -> Vec<ContactSheet> {
        self.own_sheets()
    }

    fn add_sheet(&mut self, sheet: &ContactSheet) -> Option<usize> {
        self.note_driven("add_sheet");
        self.take_sheet(sheet)
    }

    fn move_sheet(&mut self, sheet: usize, starts: &[Motion], ends: &[Motion]) {
        self.note_driven("move_sheet");
        self.follow_sheet(sheet, starts, ends);
    }

    fn sheet_impulses(&self, sheet: usize, impulses: &mut [Vec3]) -> bool {
        self.sheet_struck(sheet, impulses)
    }
}
