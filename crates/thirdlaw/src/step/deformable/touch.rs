//! Particles against solids: contact constraints that come and go with the sign of their force,
//! friction by tangential against normal force, position alteration (baraff1998).
//!
//! A touching particle is held to the plane n·(x − q) = r through the nearest surface point q at the
//! end of the step, r being half the cloth's thickness. While it sticks it is held in all
//! directions; where the tangential impulse passes μ times the normal one the tangent is set free
//! and −μ f_n pushes along it (a sliding contact is not a free one). Constraints and friction
//! depend on the solution, so a step is solved in a few rounds. A particle that neither sticks nor
//! slides to the end, because it is at the limit, is slowed by a drag instead, which can only take
//! energy: without it a cloth at rest keeps itself awake by changing its mind.

use super::layers::CARRIED;
use super::solids::{Solid, Solids, surface};
use crate::collide::deformable::parts::distance_to_parts;
use crate::collide::deformable::{DeformableContact, Surface, signed_distance};
use crate::linalg::filter::{Hold, NONE};
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use crate::state::cloth::{Grip, LastTouch};

/// Distance, relative to the one to keep, at which a particle that was free begins to touch in a later
/// round: one that comes a little too near is pushed off in the next step, which costs no round.
const ENTERED: f64 = 0.7;

/// Cosine of the angle beyond which the surface at the end of a step is another one than that at its
/// beginning.
const TURNED: f64 = 0.5;

/// Part of the most friction there can be below which a particle hardly creeps.
const HARDLY: f64 = 0.9;

/// A particle near a solid.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touch {
    /// Which particle.
    pub particle: u32,
    /// Which of the near solids.
    pub solid: u32,
    /// Whether the constraint is on.
    pub active: bool,
    /// How it moves along the surface.
    pub grip: Grip,
    /// Outward unit vector, at the end of the step.
    pub normal: Vec3,
    /// Surface point at the end of the step, m.
    pub point: Vec3,
    /// Impulse along the normal, N·s.
    pub pressure: f64,
    /// Impulse of friction, N·s.
    pub friction: Vec3,
    /// Position alteration along the normal, m.
    pub alter: f64,
    /// Outward unit vector at the beginning of the step; zero where it was not near the surface.
    pub(super) start: Vec3,
    /// Impulse that turns the velocity with the surface, N·s.
    pub(super) turning: Vec3,
    /// Speed along the surface in the round before, m/s; 0: not known, or stale.
    pub(super) speed: f64,
    /// Changes of grip in this step.
    pub(super) switches: u8,
    pub(super) releases: u8,
    /// From the surface at the end of the last round, m.
    pub distance: f64,
    pub(super) radius: f64,
    pub(super) mu: f64,
}

/// Numbers of a cloth step.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Its length, s.
    pub h: f64,
    /// Fastest position alteration, m/s.
    pub push_speed: f64,
    /// Speed at which a creeping particle meets full friction, m/s.
    pub creep_speed: f64,
    /// Whether contacts turn what slides with the surface.
    pub turns: bool,
}

impl Touch {
    /// A particle near a solid, in the state that the last step left it in.
    pub fn new(solids: &Solids, contact: &DeformableContact) -> Option<Touch> {
        let DeformableContact { hit, apart, friction } = contact;
        let solid = solids.find(hit.body)?;
        Some(Touch {
            particle: hit.particles[0],
            solid: solid as u32,
            active: false,
            grip: Grip::Sticks,
            normal: hit.normal,
            point: hit.point,
            pressure: 0.0,
            friction: Vec3::ZERO,
            alter: 0.0,
            start: Vec3::ZERO,
            turning: Vec3::ZERO,
            speed: 0.0,
            switches: 0,
            releases: 0,
            distance: f64::INFINITY,
            radius: *apart,
            mu: *friction,
        })
    }

    /// Goes on as in the last step.
    pub fn resume(&mut self, last: &LastTouch, h: f64) {
        self.active = true;
        self.grip = last.grip;
        self.pressure = last.pressure * h;
        self.friction = last.friction * h;
    }

    /// Distance of a place in the frame of the solid from what the particle may touch of it.
    fn distance(&self, model: &Model, solid: &Solid, local: Vec3, reach: f64) -> Option<Surface> {
        let body = &model.bodies[solid.slot as usize];
        let groups = model.sheet.groups.get(self.particle as usize);
        Some(distance_to_parts(&body.shape, &body.parts, groups, local, reach)?.0)
    }

    /// Where the solid's surface is for a particle that goes from `x0` to `x1`: the plane to hold it
    /// to, or none while it stays away. `delta` is the new change of the body's velocity.
    fn find_plane(
        &self,
        model: &Model,
        solid: &Solid,
        (x0, x1): (Vec3, Vec3),
        delta: &[Vec3; 2],
        h: f64,
    ) -> Option<(Vec3, Vec3, f64)> {
        let (shape, center, _, _) = surface(model, solid.slot);
        let end = solid.changed(delta, h).pose(center);
        let local = end.inverse() * x1;
        let found = self.distance(model, solid, local, self.radius * 2.0)?;
        let mut plane = found;
        // deep inside, the nearest surface may be the far one: take the one it came through
        let whole = model.bodies[solid.slot as usize].parts.is_empty();
        if whole && found.distance < -4.0 * self.radius {
            let start = solid.before.pose(center).inverse() * x0;
            if let Some(entry) = entry(shape, start, local, self.radius) {
                plane = entry;
            }
        }
        Some((end.rotation * plane.normal, end * plane.point, found.distance))
    }

    /// The first look in a step: constraints carried on are placed, new ones found on the way from
    /// `x0` to the guess `x1`.
    pub fn begin(&mut self, model: &Model, solid: &Solid, x0: Vec3, x1: Vec3, span: &Span) {
        let found = self.find_plane(model, solid, (x0, x1), &[Vec3::ZERO; 2], span.h);
        let (_, center, _, _) = surface(model, solid.slot);
        let before = solid.before.pose(center);
        let look = |at: &Touch, reach| at.distance(model, solid, before.inverse() * x0, reach);
        let near = if span.turns { look(self, self.radius * 4.0) } else { None };
        self.start = near.as_ref().map_or(Vec3::ZERO, |s| before.rotation * s.normal);
        if solid.is_pushed() && !self.active {
            // a body that cloth carries is carried on, if by another particle than before
            let reach = (1.0 + CARRIED) * self.radius;
            self.active = look(self, 2.0 * reach).is_some_and(|s| s.distance < reach);
        }
        match found {
            Some((normal, point, distance)) => {
                self.normal = normal;
                self.point = point;
                self.active |= distance < self.radius;
            }
            // carried on, but the guess leaves the surface: the plane where it is now will tell
            None => match look(self, self.radius * 4.0) {
                Some(s) if self.active => {
                    let after = solid.after.pose(center);
                    self.normal = after.rotation * s.normal;
                    self.point = after * s.point;
                }
                _ => self.active = false,
            },
        }
    }

    /// Normal velocity to reach the plane, without what unknown bodies add, and the alteration in
    /// it.
    pub fn target(&mut self, solid: &Solid, x0: Vec3, span: &Span) -> f64 {
        let gap = self.normal.dot(x0 - self.point) - self.radius;
        let along = solid.velocity_at(self.point).dot(self.normal);
        // relative to the plane, which is where it is at the end of the step
        let wanted = -gap / span.h;
        self.alter = ((wanted - along) * span.h).clamp(0.0, span.push_speed * span.h);
        wanted.min(along + self.alter / span.h)
    }

    /// The impulse that turns the velocity `v0` of a particle with the surface, from its normal at the
    /// beginning of the step to that at the end. Over the step a contact pushes along all normals
    /// between the two and only turns what slides. Pushing along the last one alone it would take
    /// 1 − cos θ of the speed in every step, θ being the angle between them: v²h/2R² in a second.
    pub fn turn(&mut self, solid: &Solid, v0: Vec3, mass: f64) {
        self.turning = Vec3::ZERO;
        let (from, to) = (self.start, self.normal);
        let cosine = from.dot(to);
        if cosine < TURNED {
            return;
        }
        let relative = v0 - solid.velocity.linear;
        let along = relative - from * from.dot(relative);
        // the shortest rotation from one normal to the other (Rodrigues), of what lies across the first
        let axis = from.cross(to);
        let turned = along * cosine + axis.cross(along) + axis * (axis.dot(along) / (1.0 + cosine));
        self.turning = mass * (turned - along);
    }

    /// Judges the constraint by its impulse λ and the motion it led to.
    pub fn judge(
        &mut self,
        model: &Model,
        solid: &Solid,
        moved: &Moved,
        span: &Span,
        delta: &[Vec3; 2],
    ) -> Verdict {
        let h = span.h;
        let path = (moved.x0, moved.x1);
        if !self.active {
            self.distance = f64::INFINITY;
            let Some((normal, point, distance)) = self.find_plane(model, solid, path, delta, h)
            else {
                return Verdict::default();
            };
            self.distance = distance;
            if distance >= self.radius * ENTERED {
                return Verdict::default();
            }
            self.active = true;
            (self.normal, self.point) = (normal, self.unmoved(solid, point, delta, h));
            self.grip = self.arrives(solid, moved.velocity, span);
            self.friction = Vec3::ZERO;
            return Verdict { changed: true, entered: true, ..Verdict::default() };
        }
        let n = self.normal;
        let lambda = n.dot(moved.impulse + self.turning);
        // one that was let go and came back in stays to the end of the step
        if lambda < 0.0 && self.releases == 0 {
            self.active = false;
            self.releases += 1;
            self.pressure = 0.0;
            self.friction = Vec3::ZERO;
            return Verdict { changed: true, error: -lambda, ..Verdict::default() };
        }
        let before = self.pressure;
        self.pressure = lambda.max(0.0);
        let mut verdict = self.judge_friction(solid, moved, before, delta, span);
        verdict.push = self.pressure;
        self.distance = f64::INFINITY;
        if let Some((normal, point, distance)) = self.find_plane(model, solid, path, delta, h) {
            self.distance = distance;
            // a curved surface has turned under the particle: take its plane there
            if normal.dot(n) > 0.5 {
                let off = (distance - self.radius).abs() > 0.5 * self.radius;
                verdict.changed |= off;
                verdict.entered |= off;
                (self.normal, self.point) = (normal, self.unmoved(solid, point, delta, h));
            }
        }
        verdict
    }

    /// A surface point found after the body's change, brought back to before it: planes are kept
    /// relative to the unchanged body.
    fn unmoved(&self, solid: &Solid, point: Vec3, delta: &[Vec3; 2], h: f64) -> Vec3 {
        if solid.unknown == NONE {
            return point;
        }
        point - h * (delta[0] + delta[1].cross(point - solid.after.center))
    }

    /// For the next step.
    pub fn last(&self, solids: &Solids, h: f64) -> LastTouch {
        LastTouch {
            particle: self.particle,
            body: solids.list[self.solid as usize].slot,
            // one that hardly creeps may hold in the next step, one that slides so slowly may creep
            grip: match self.grip {
                grip if self.friction.length() >= HARDLY * self.mu * self.pressure => grip,
                Grip::Slides => Grip::Creeps,
                _ => Grip::Sticks,
            },
            normal: self.normal,
            pressure: self.pressure / h,
            friction: self.friction / h,
        }
    }
}

/// Drag along a surface.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceDrag {
    /// On which particle.
    pub particle: u32,
    /// Across the surface.
    pub normal: Vec3,
    /// N·s/m.
    pub coefficient: f64,
    /// Velocity of the surface, m/s.
    pub surface: Vec3,
    /// Which unknown body the surface belongs to, or `NONE`.
    pub body: u32,
    /// From that body's centre to the surface point, m.
    pub arm: Vec3,
}

/// What a round was found to have done wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verdict {
    /// Something looks different now.
    pub changed: bool,
    /// Something new holds, which no sum of forces shows: another round is needed.
    pub entered: bool,
    /// What pushed otherwise than it should have, N·s.
    pub error: f64,
    /// What pushes, N·s.
    pub push: f64,
}

impl Verdict {
    /// Takes in another one.
    pub fn add(&mut self, other: Verdict) {
        self.changed |= other.changed;
        self.entered |= other.entered;
        self.error += other.error;
        self.push += other.push;
    }
}

/// How a particle moved in a round.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// At the beginning of the step, m.
    pub x0: Vec3,
    /// At its end, m.
    pub x1: Vec3,
    /// Velocity, m/s.
    pub velocity: Vec3,
    /// Impulse of all its constraints, N·s.
    pub impulse: Vec3,
}

/// Where the way from `a` to `b` in a shape's frame first comes within `radius` of its surface.
fn entry(
    shape: &crate::shape::Shape,
    a: Vec3,
    b: Vec3,
    radius: f64,
) -> Option<crate::collide::deformable::Surface> {
    let (way, length) = (b - a, (b - a).length());
    let mut done = 0.0;
    for _ in 0..64 {
        let at = a + way * (done / length.max(1e-300));
        let Some(surface) = signed_distance(shape, at, f64::INFINITY) else { break };
        let free = surface.distance - radius;
        if free < 0.1 * radius {
            // only a start outside tells where it came through
            return (surface.distance > -2.0 * radius).then_some(surface);
        }
        done += free;
        if done >= length {
            break;
        }
    }
    None
}

/// The hold of a particle with these active touches (up to three), from their planes and friction;
/// `x0` is where it starts. Position alterations and friction go into `alter` (m) and `push` (N·s),
/// drags into `drags`.
pub fn hold(
    touches: &mut [Touch],
    solids: &Solids,
    (x0, v0, mass): (Vec3, Vec3, f64),
    span: &Span,
    (alter, push, drags): (&mut Vec3, &mut Vec3, &mut Vec<SurfaceDrag>),
) -> Option<Hold> {
    let mut hold: Option<Hold> = None;
    let mut sticks = None;
    for touch in touches.iter_mut().filter(|t| t.active) {
        let solid = &solids.list[touch.solid as usize];
        let target = touch.target(solid, x0, span);
        *alter += touch.alter * touch.normal;
        if span.turns {
            touch.turn(solid, v0, mass);
            *push += touch.turning;
        }
        let current = hold.get_or_insert(Hold {
            particle: touch.particle,
            free: Mat3::IDENTITY,
            prescribed: Vec3::ZERO,
            body: NONE,
            arm: Vec3::ZERO,
        });
        if let Some(coefficient) = touch.drag(span) {
            drags.push(SurfaceDrag {
                particle: touch.particle,
                normal: touch.normal,
                coefficient,
                surface: solid.velocity_at(touch.point),
                body: solid.unknown,
                arm: touch.point - solid.after.center,
            });
        } else if touch.grip == Grip::Slides {
            *push += touch.friction;
        }
        // along what the planes before left free
        let along = current.free * touch.normal;
        let share = along.length();
        if share > 0.1 {
            let e = along / share;
            let rest = target - touch.normal.dot(current.prescribed);
            current.prescribed += e * (rest / share);
            current.free -= crate::math::outer(e, e);
        }
        if touch.grip == Grip::Sticks && sticks.is_none() {
            sticks = Some(solid.velocity_at(touch.point));
        }
        if solid.unknown != NONE && current.body == NONE {
            current.body = solid.unknown;
            current.arm = touch.point + touch.normal * touch.radius - solid.after.center;
        }
    }
    // planes come first: what sticks to one solid must still stay out of the others
    if let (Some(hold), Some(surface)) = (&mut hold, sticks) {
        hold.prescribed += hold.free * surface;
        hold.free = Mat3::ZERO;
    }
    hold
}
