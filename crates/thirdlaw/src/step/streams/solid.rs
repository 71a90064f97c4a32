//! Bodies over a step: where their surfaces are at any moment, how fast, and what strikes them.
//!
//! A centre of mass moves evenly from where it was to where it is, the body turns evenly about it.
//! The velocity that decides about a bounce is interpolated between those at the beginning and the
//! end of the step [baraff1997 §4.2, footnote 3]; for kinematic bodies it is that of the motion
//! itself, which is what their keyframes mean.

use super::advance::{Flight, Nearest, Touch, touch_piece};
use super::grid::Bounds;
use crate::math::closest::point_triangle;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Quat, Twist, Vec3, rotation_from_vector};
use crate::model::Model;
use crate::model::body::mass::body_mass;
use crate::model::body::model::BodyModel;
use crate::model::body::{BodyKind, Groups, Material};
use crate::shape::distance::convex_distance;
use crate::shape::{Aabb, Convex, Geometry};
use crate::state::body::BodyState;

/// A body over a step.
#[derive(Clone, Copy, Debug)]
pub struct Solid {
    /// Centre of mass at the beginning, m.
    start: Vec3,
    /// Its velocity over the step, m/s.
    shift: Vec3,
    rotation: Quat,
    /// Centre of mass in the body's own frame, m.
    middle: Vec3,
    /// Angular velocity over the step, rad/s.
    spin: Vec3,
    /// Velocities at the beginning and at the end.
    ends: [Twist; 2],
    /// Its response to impulses.
    pub mass: BodyMass,
    pub material: Material,
    pub groups: Groups,
    /// From world axes to the body's own, at the beginning and at the end.
    back: [Mat3; 2],
    /// Centre of mass at the end, m.
    end: Vec3,
    /// Distance from the centre of mass to the farthest surface point, m.
    reach: f64,
    /// Box around the shape in its own frame.
    local: Bounds,
    /// Of a half-space that does not turn: a point of its surface at the beginning, its normal.
    plane: Option<(Vec3, Vec3)>,
    dt: f64,
}

impl Solid {
    /// Of the body `model` that went from `start` to `end` in `dt` seconds.
    pub fn new(model: &BodyModel, start: &BodyState, end: &BodyState, dt: f64) -> Solid {
        let turn = if start.rotation == end.rotation {
            Vec3::ZERO
        } else {
            crate::math::rotation_vector(end.rotation * start.rotation.conjugate())
        };
        let (shift, spin) = ((end.position - start.position) / dt, turn / dt);
        let ends = match model.kind {
            BodyKind::Dynamic => [start.velocity, end.velocity],
            _ => [Twist { linear: shift, angular: spin }; 2],
        };
        let box_of = model.shape.aabb(&crate::math::Pose::IDENTITY);
        let plane = match model.shape.geometry() {
            Geometry::Convex(Convex::HalfSpace { normal }) if turn == Vec3::ZERO => {
                let point = start.position - start.rotation * model.center;
                Some((point, start.rotation * *normal))
            }
            _ => None,
        };
        Solid {
            start: start.position,
            shift,
            rotation: start.rotation,
            middle: model.center,
            spin,
            ends,
            mass: body_mass(model, end.rotation),
            material: model.material,
            groups: model.groups,
            back: [start.rotation, end.rotation].map(|q| Mat3::from_quat(q.conjugate())),
            end: end.position,
            reach: model.reach,
            local: Bounds { lo: box_of.mins, hi: box_of.maxs },
            plane,
            dt,
        }
    }

    /// A box around the body at all moments of the step, and `margin` more.
    pub fn bounds(&self, model: &BodyModel, ends: [&BodyState; 2], margin: f64) -> Bounds {
        if model.shape.is_half_space() {
            let far = Vec3::splat(f64::INFINITY);
            return Bounds { lo: -far, hi: far };
        }
        let [a, b] = ends.map(|body| {
            let origin = body.position - body.rotation * model.center;
            model.shape.aabb(&crate::math::Pose::from_parts(origin, body.rotation))
        });
        // an arc leaves its chord by r (1 − cos θ/2) at most
        let half = 0.5 * self.spin.length() * self.dt;
        let bulge = model.reach * (0.5 * half * half).min(2.0);
        let margin = Vec3::splat(margin + bulge);
        Bounds { lo: a.mins.min(b.mins) - margin, hi: a.maxs.max(b.maxs) + margin }
    }

    /// Centre of mass at `time` into the step.
    fn center(&self, time: f64) -> Vec3 {
        self.start + self.shift * time
    }

    /// Orientation at `time` into the step.
    fn turned(&self, time: f64) -> Quat {
        if self.spin == Vec3::ZERO {
            self.rotation
        } else {
            (rotation_from_vector(self.spin * time) * self.rotation).normalize()
        }
    }

    /// A place (m) and a velocity (m/s) in the body's own frame, in the world at `time`.
    pub fn carried(&self, local: Vec3, way: Vec3, time: f64) -> (Vec3, Vec3) {
        let rotation = self.turned(time);
        (self.center(time) + rotation * (local - self.middle), rotation * way)
    }

    /// Where a place in the body's own frame, from its centre of mass, is at `time`.
    pub fn place(&self, local: Vec3, time: f64) -> Vec3 {
        self.center(time) + self.turned(time) * local
    }

    /// Where the point `p` at `time` is in the body's own frame, from its centre of mass.
    pub fn local(&self, p: Vec3, time: f64) -> Vec3 {
        self.turned(time).conjugate() * (p - self.center(time))
    }

    /// Velocity at `p` by which the surface moves, m/s.
    pub fn path_velocity(&self, p: Vec3, time: f64) -> Vec3 {
        self.shift + self.spin.cross(p - self.center(time))
    }

    /// Velocity at `p` that decides about a bounce, m/s.
    pub fn velocity(&self, p: Vec3, time: f64) -> Vec3 {
        let share = time / self.dt;
        let [a, b] = &self.ends;
        let linear = a.linear + share * (b.linear - a.linear);
        let angular = a.angular + share * (b.angular - a.angular);
        linear + angular.cross(p - self.center(time))
    }

    /// Velocity that an impulse of one N·s along `n` at `p` gives to that place along `n`, 1/kg.
    pub fn response(&self, p: Vec3, n: Vec3, time: f64) -> f64 {
        let r = p - self.center(time);
        let turn = self.mass.inv_inertia * r.cross(n);
        (n * self.mass.inv_mass).dot(n) + turn.cross(r).dot(n)
    }

    /// Where a flight begins in the body's own frame.
    fn local_start(&self, flight: &Flight) -> Vec3 {
        if flight.from == 0.0 {
            return self.back[0] * (flight.x - self.start) + self.middle;
        }
        self.local(flight.x, flight.from) + self.middle
    }

    /// Where a flight ends in the body's own frame.
    fn local_end(&self, flight: &Flight) -> Vec3 {
        let x = flight.at(flight.until);
        if flight.until == self.dt {
            return self.back[1] * (x - self.end) + self.middle;
        }
        self.local(x, flight.until) + self.middle
    }

    /// The first touch of a flight of a particle of these groups, and the piece that it touches.
    pub fn touch(
        &self,
        model: &BodyModel,
        flight: &Flight,
        groups: Groups,
    ) -> Option<(Touch, u32)> {
        if let Some((point, normal)) = self.plane {
            let height = |time: f64| normal.dot(flight.at(time) - point - self.shift * time);
            if height(flight.from).min(height(flight.until)) > flight.radius + flight.skin {
                return None;
            }
        }
        let length = flight.until - flight.from;
        let speed = (flight.u - self.shift).length();
        let arm = flight.x - self.center(flight.from);
        let touching = self.reach + flight.radius + 2.0 * flight.skin;
        let within = touching + speed * length;
        if arm.length_squared() > within * within {
            return None;
        }
        let spin = self.spin.length();
        let bend = spin * (2.0 * speed + spin * (arm.length() + speed * length));
        // the path in the body's frame stays this near to its chord
        let margin = flight.radius + 2.0 * flight.skin + 0.125 * bend * length * length;
        let (a, b) = (self.local_start(flight), self.local_end(flight));
        let chord = Bounds::around(a, b, margin);
        if !chord.meets(&self.local) {
            return None;
        }
        let reach = (a - b).length() + 2.0 * margin;
        let path = |time: f64| {
            let (p, back) = (flight.at(time), self.turned(time).conjugate());
            let w = back * (flight.u - self.path_velocity(p, time));
            (back * (p - self.center(time)) + self.middle, w)
        };
        let found = match model.shape.geometry() {
            Geometry::Convex(convex) => {
                touch_piece(flight, bend, path, |y| near(convex, y, reach)).map(|touch| (touch, 0))
            }
            Geometry::Compound(compound) => {
                let mut first = None;
                for index in compound.bvh.intersect_aabb(&Aabb::new(chord.lo, chord.hi)) {
                    let part = model.part_of(index);
                    if part.is_some_and(|part| !part.part.groups.touch(groups)) {
                        continue;
                    }
                    let (pose, convex) = &compound.parts[index as usize];
                    let own = |y: Vec3| {
                        let found = near(
                            convex,
                            pose.rotation.conjugate() * (y - pose.translation),
                            reach,
                        )?;
                        Some(Nearest { normal: pose.rotation * found.normal, ..found })
                    };
                    first = sooner(first, touch_piece(flight, bend, path, own), index);
                }
                first
            }
            Geometry::Mesh(mesh) => {
                let mut first = None;
                for index in mesh.bvh.intersect_aabb(&Aabb::new(chord.lo, chord.hi)) {
                    let corners = mesh.corners(index as usize);
                    let facing = mesh.normals[index as usize];
                    let own = |y: Vec3| Some(near_triangle(corners, facing, y));
                    first = sooner(first, touch_piece(flight, bend, path, own), index);
                }
                first
            }
        }?;
        let (found, piece) = found;
        let normal = self.turned(found.time) * found.normal;
        Some((Touch { normal, ..found }, piece))
    }
}

/// The touch that comes first, with the piece that is touched; of two at the same moment the first given.
fn sooner(a: Option<(Touch, u32)>, b: Option<Touch>, piece: u32) -> Option<(Touch, u32)> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.time < a.0.time { (b, piece) } else { a }),
        (a, b) => a.or(b.map(|b| (b, piece))),
    }
}

fn near(convex: &Convex, y: Vec3, reach: f64) -> Option<Nearest> {
    let surface = convex_distance(convex, y, reach)?;
    Some(Nearest { distance: surface.distance, normal: surface.normal })
}

/// Both sides of a triangle are solid.
fn near_triangle(corners: [Vec3; 3], facing: Vec3, y: Vec3) -> Nearest {
    let d = y - super::advance::blend(corners, point_triangle(y, corners));
    let distance = d.length();
    let normal = if distance > 0.0 { d / distance } else { facing };
    Nearest { distance, normal }
}

/// All bodies over a step, one per slot, and boxes around them.
#[derive(Clone, Debug, Default)]
pub struct Solids {
    pub list: Vec<Solid>,
    pub bounds: Vec<Bounds>,
}

impl Solids {
    /// Takes in the bodies that went from `starts` to `ends`; boxes get `margin`.
    pub fn gather(
        &mut self,
        model: &Model,
        (starts, ends): (&[BodyState], &[BodyState]),
        dt: f64,
        margin: f64,
    ) {
        self.list.clear();
        self.bounds.clear();
        for (slot, body) in model.bodies.iter().enumerate() {
            let (start, end) = (&starts[slot], &ends[slot]);
            let solid = Solid::new(body, start, end, dt);
            let nowhere = Bounds { lo: Vec3::ONE, hi: -Vec3::ONE };
            let bounds =
                if body.alive { solid.bounds(body, [start, end], margin) } else { nowhere };
            self.list.push(solid);
            self.bounds.push(bounds);
        }
    }
}
