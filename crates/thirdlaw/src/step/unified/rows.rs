//! Contacts, joints and bonds as rows of one system: w = J v + b + Γ z, with z the impulse of each.
//!
//! A tie is what shares a law: a row that holds, or keeps within bounds, or the three rows of a contact.

use super::nodes::Nodes;
use super::pairs::{Side, Touch};
use crate::math::mass::BodyMass;
use crate::math::{Twist, Vec3, tangents};
use crate::model::Model;
use crate::model::deformable::model::PinHold;

/// All rows of a substep.
#[derive(Debug, Default)]
pub struct Rows {
    /// One after the other.
    pub list: Vec<Row>,
    /// What shares a law, in order.
    pub ties: Vec<Tie>,
    /// J, row after row: a node and its part.
    pub parts: Vec<(u32, Twist)>,
}

/// One row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    /// Where its parts begin.
    pub start: u32,
    /// And end.
    pub end: u32,
    /// b, m/s or rad/s.
    pub bias: f64,
    /// Γ, m/s per N·s.
    pub compliance: f64,
    /// z, N·s.
    pub impulse: f64,
    /// J v + b.
    pub speed: f64,
}

/// Rows under one law.
#[derive(Clone, Copy, Debug)]
pub struct Tie {
    /// The first of them.
    pub row: u32,
    /// What they obey.
    pub law: Law,
}

/// What a tie obeys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// One row, l ≤ z ≤ u.
    Range(f64, f64),
    /// Three rows, normal and tangents, with Coulomb's μ.
    Contact(f64),
}

impl Tie {
    /// Its rows.
    pub fn rows(&self) -> std::ops::Range<usize> {
        let count = if matches!(self.law, Law::Contact(_)) { 3 } else { 1 };
        self.row as usize..self.row as usize + count
    }
}

impl Rows {
    /// Takes out all.
    pub fn clear(&mut self) {
        self.list.clear();
        self.ties.clear();
        self.parts.clear();
    }

    /// A tie whose rows follow.
    pub fn begin(&mut self, law: Law) {
        self.ties.push(Tie { row: self.list.len() as u32, law });
    }

    /// A row of the last tie.
    pub fn row(&mut self, bias: f64, parts: impl Iterator<Item = (u32, Twist)>) -> &mut Row {
        let start = self.parts.len() as u32;
        self.parts.extend(parts);
        let end = self.parts.len() as u32;
        let place = self.list.len();
        self.list.push(Row { start, end, bias, ..Row::default() });
        &mut self.list[place]
    }

    /// A row along a direction between two sides, b against a.
    pub fn between(&mut self, a: &Side, b: &Side, along: Vec3, bias: f64) -> &mut Row {
        let part = |sign: f64| {
            move |side: Side| {
                let of = move |(i, w): (usize, f64)| {
                    let linear = sign * w * along;
                    (i as u32, Twist { linear, angular: side.arm.cross(linear) })
                };
                let parts: [Option<(u32, Twist)>; 4] = std::array::from_fn(|k| {
                    let used = k < usize::from(side.count);
                    used.then(|| of((side.nodes[k] as usize, side.weights[k])))
                });
                parts.into_iter().flatten()
            }
        };
        self.row(bias, part(-1.0)(*a).chain(part(1.0)(*b)))
    }

    /// Contacts, with the impulses that they start from; `aim` is the least normal velocity.
    pub fn touch(&mut self, touches: &[Touch], aim: impl Fn(&Touch) -> f64) {
        for touch in touches {
            self.begin(Law::Contact(touch.friction));
            let (s, t) = tangents(touch.normal);
            let normal = touch.normal.dot(touch.impulse).max(0.0);
            self.between(&touch.a, &touch.b, touch.normal, -aim(touch)).impulse = normal;
            self.between(&touch.a, &touch.b, s, 0.0).impulse = s.dot(touch.impulse);
            self.between(&touch.a, &touch.b, t, 0.0).impulse = t.dot(touch.impulse);
        }
    }

    /// Particles that bodies hold. `closing` is the part of what is open that is to be closed in a second, 1/s.
    pub fn bind(&mut self, model: &Model, nodes: &Nodes, closing: f64) {
        for (particle, hold) in &model.sheet.pins {
            let PinHold::Body { body, local } = hold else { continue };
            let Ok(slot) = model.slot(*body) else { continue };
            let i = nodes.bodies + *particle as usize;
            let at = nodes.x[slot] + nodes.rotation[slot] * *local;
            let arm = nodes.x[i] - nodes.x[slot];
            let (a, b) = (Side::body(slot as u32, arm), Side::body(i as u32, Vec3::ZERO));
            for axis in Vec3::AXES {
                self.begin(Law::Range(f64::NEG_INFINITY, f64::INFINITY));
                self.between(&a, &b, axis, closing * axis.dot(nodes.x[i] - at));
            }
        }
    }

    /// Gives contacts what was found; they are the last ties.
    pub fn give(&self, touches: &mut [Touch]) {
        let first = self.ties.len() - touches.len();
        for (touch, tie) in touches.iter_mut().zip(&self.ties[first..]) {
            let [n, s, t] = std::array::from_fn(|k| self.list[tie.row as usize + k].impulse);
            let (along, across) = tangents(touch.normal);
            touch.impulse = n * touch.normal + s * along + t * across;
        }
    }

    /// The parts of a row.
    pub fn parts_of(&self, row: &Row) -> &[(u32, Twist)] {
        &self.parts[row.start as usize..row.end as usize]
    }

    /// J v of a row.
    pub fn rate(&self, row: &Row, v: &[Twist]) -> f64 {
        let of = |(i, g): &(u32, Twist)| dot(g, &v[*i as usize]);
        self.parts_of(row).iter().map(of).sum()
    }

    /// r ← r + Jᵀ z for one row.
    pub fn scatter(&self, row: &Row, z: f64, r: &mut [Twist]) {
        for (i, g) in self.parts_of(row) {
            let r = &mut r[*i as usize];
            r.linear += z * g.linear;
            r.angular += z * g.angular;
        }
    }

    /// v ← v + M⁻¹Jᵀ z.
    pub fn push(&self, v: &mut [Twist], mass: &[BodyMass]) {
        for row in &self.list {
            for (i, g) in self.parts_of(row) {
                let (v, m) = (&mut v[*i as usize], &mass[*i as usize]);
                v.linear += m.inv_mass * (row.impulse * g.linear);
                v.angular += m.inv_inertia * (row.impulse * g.angular);
            }
        }
    }
}

/// a · b.
pub fn dot(a: &Twist, b: &Twist) -> f64 {
    a.linear.dot(b.linear) + a.angular.dot(b.angular)
}
