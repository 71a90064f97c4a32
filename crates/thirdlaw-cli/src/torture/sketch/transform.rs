//! A whole scene turned, shifted, mirrored or scaled: the same physics, seen otherwise.
//!
//! Scaling by s keeps gravity and density: lengths ×s, times ×√s, speeds ×√s, masses ×s³, forces ×s³,
//! torques ×s⁴, stiffness (N/m) ×s², damping (N·s/m) ×s^2.5, and every threshold in m or m/s with them.

use super::{Drive, Joint, JointKind, Motion, Promise, Shape, Sketch, SoftMesh, TieKind};
use thirdlaw::math::{Quat, Vec3};

/// What is done to a scene: mirror in x, then scale, then turn, then shift.
#[derive(Clone, Copy, Debug)]
pub struct Transform {
    /// Whether x changes its sign.
    pub mirror: bool,
    /// Factor on lengths.
    pub scale: f64,
    /// Turn.
    pub turn: Quat,
    /// m.
    pub shift: Vec3,
}

impl Transform {
    /// Leaves everything as it is.
    pub const NONE: Transform =
        Transform { mirror: false, scale: 1.0, turn: Quat::IDENTITY, shift: Vec3::ZERO };

    /// A direction.
    pub fn direction(&self, v: Vec3) -> Vec3 {
        self.turn * if self.mirror { Vec3::new(-v.x, v.y, v.z) } else { v }
    }

    /// A place.
    pub fn place(&self, x: Vec3) -> Vec3 {
        self.shift + self.scale * self.direction(x)
    }

    /// What turns: an axial vector.
    pub fn axial(&self, w: Vec3) -> Vec3 {
        self.turn * if self.mirror { Vec3::new(w.x, -w.y, -w.z) } else { w }
    }

    /// An orientation; the body's own frame is mirrored with it.
    pub fn rotation(&self, q: Quat) -> Quat {
        let q = if self.mirror { Quat::from_xyzw(q.x, -q.y, -q.z, q.w) } else { q };
        (self.turn * q).normalize()
    }

    /// A place in a body's own frame.
    pub fn own(&self, x: Vec3) -> Vec3 {
        self.scale * if self.mirror { Vec3::new(-x.x, x.y, x.z) } else { x }
    }

    /// The whole scene.
    pub fn apply(&self, sketch: &Sketch) -> Sketch {
        let (s, t) = (self.scale, self.scale.sqrt());
        let mut new = sketch.clone();
        new.fps /= t;
        new.scale *= s;
        new.gravity = self.direction(sketch.gravity);
        for body in &mut new.bodies {
            body.position = self.place(body.position);
            body.rotation = self.rotation(body.rotation);
            body.velocity = t * self.direction(body.velocity);
            body.spin = self.axial(body.spin) / t;
            body.mass *= s * s * s;
            body.shape = self.shape(&body.shape);
            if let Motion::Kinematic(keys) = &mut body.motion {
                keys.iter_mut().for_each(|key| *key = (t * key.0, self.place(key.1)));
            }
        }
        new.joints.iter_mut().for_each(|joint| self.joint(joint));
        for tie in &mut new.partition.ties {
            tie.at = self.place(tie.at);
            if let TieKind::Spring(k, d) = &mut tie.kind {
                (*k, *d) = (*k * s * s, *d * t * s * s);
            }
        }
        for cloth in &mut new.cloths {
            cloth.position = self.place(cloth.position);
            cloth.rotation = self.rotation(cloth.rotation);
            cloth.size = cloth.size.map(|x| s * x);
            let f = &mut cloth.fabric;
            (f.density, f.stretch, f.shear) = (s * f.density, s * s * f.stretch, s * s * f.shear);
            (f.bend, f.damping) = (s * s * s * s * f.bend, t * f.damping);
            f.thickness *= s;
        }
        for soft in &mut new.softs {
            soft.position = self.place(soft.position);
            soft.rotation = self.rotation(soft.rotation);
            soft.velocity = t * self.direction(soft.velocity);
            (soft.young, soft.damping) = (s * soft.young, t * soft.damping);
            soft.mesh = match soft.mesh {
                SoftMesh::Box { size, cells } => SoftMesh::Box { size: s * size, cells },
                SoftMesh::Ball { radius, spacing } => {
                    SoftMesh::Ball { radius: s * radius, spacing: s * spacing }
                }
            };
        }
        for robot in &mut new.robots {
            robot.position = self.place(robot.position);
            robot.rotation = self.rotation(robot.rotation);
            for link in &mut robot.links {
                let (force, length) = if link.slides { (s * s * s, s) } else { (s.powi(4), 1.0) };
                (link.size, link.origin) = (s * link.size, s * link.origin);
                link.mass *= s * s * s;
                link.limits = link.limits.map(|l| l.map(|x| length * x));
                (link.effort, link.friction) = (force * link.effort, force * link.friction);
                link.damping *= t * force / length;
                link.target *= length;
            }
            // all joints share their gains: robots that are scaled have turning joints only
            robot.gains = robot.gains.map(|[k, d]| [s.powi(4) * k, t * s.powi(4) * d]);
        }
        for promise in &mut new.promises {
            *promise = match *promise {
                Promise::Before(x, n) => Promise::Before(self.place(x), self.direction(n)),
                Promise::Order(a, b, axis) => Promise::Order(a, b, self.direction(axis)),
                above => above,
            };
        }
        new
    }

    fn joint(&self, joint: &mut Joint) {
        let (s, t) = (self.scale, self.scale.sqrt());
        let (force, length) = if joint.turns() { (s.powi(4), 1.0) } else { (s * s * s, s) };
        (joint.at, joint.to) = (self.place(joint.at), self.place(joint.to));
        joint.frame = self.rotation(joint.frame);
        if self.mirror && !joint.turns() {
            // a mirrored frame has its x the other way for shifts: turn it about its y, which keeps the
            // sign of the coordinate
            joint.frame *= Quat::from_xyzw(0.0, 1.0, 0.0, 0.0);
        }
        joint.limits = joint.limits.map(|l| l.map(|x| length * x));
        joint.friction *= force;
        let (stiffness, damping) = (force / length, t * force / length);
        joint.spring = joint.spring.map(|[k, d]| [stiffness * k, damping * d]);
        if let JointKind::Spring(k, d) = &mut joint.kind {
            (*k, *d) = (*k * stiffness, *d * damping);
        }
        joint.drive = joint.drive.map(|drive| match drive {
            Drive::Pd { stiffness: k, damping: d, target, limit } => Drive::Pd {
                stiffness: stiffness * k,
                damping: damping * d,
                target: length * target,
                limit: force * limit,
            },
            Drive::Motor { velocity, limit } => {
                Drive::Motor { velocity: velocity * length / t, limit: force * limit }
            }
        });
    }

    fn shape(&self, shape: &Shape) -> Shape {
        let s = self.scale;
        let points = |points: &[Vec3]| points.iter().map(|p| self.own(*p)).collect::<Vec<_>>();
        let triangles = |list: &[[u32; 3]]| {
            let flip = |&[a, b, c]: &[u32; 3]| if self.mirror { [a, c, b] } else { [a, b, c] };
            list.iter().map(flip).collect()
        };
        match shape {
            Shape::Box(size) => Shape::Box(s * *size),
            Shape::Sphere(r) => Shape::Sphere(s * r),
            Shape::Capsule(r, l) => Shape::Capsule(s * r, s * l),
            Shape::Cylinder(r, h) => Shape::Cylinder(s * r, s * h),
            Shape::Cone(r, h) => Shape::Cone(s * r, s * h),
            Shape::HalfSpace => Shape::HalfSpace,
            Shape::Hull(p) => Shape::Hull(points(p)),
            Shape::Mesh(p, t) => Shape::Mesh(points(p), triangles(t)),
            Shape::Decompose(p, t) => Shape::Decompose(points(p), triangles(t)),
            Shape::HeightField(heights, [x, z]) => {
                let row = |row: &Vec<f64>| {
                    let mut row: Vec<f64> = row.iter().map(|h| s * h).collect();
                    if self.mirror {
                        row.reverse();
                    }
                    row
                };
                Shape::HeightField(heights.iter().map(row).collect(), [s * x, s * z])
            }
            Shape::Compound(parts) => {
                let own = Transform { turn: Quat::IDENTITY, shift: Vec3::ZERO, ..*self };
                let part = |(shape, at, turn): &(Shape, Vec3, Quat)| {
                    (self.shape(shape), self.own(*at), own.rotation(*turn))
                };
                Shape::Compound(parts.iter().map(part).collect())
            }
        }
    }
}
