//! Step IV: positions [shinar2008 §6].
//!
//!   x̂ⁿ⁺¹ = xⁿ + Δt v½,   orientations to second order,   then overlaps are pushed apart by central bodies.
//!
//! Orientations follow the midpoint rule of `model/body/rotation.rs`, which keeps energy and angular momentum;
//! the print's q̂(Δt ω + ½Δt² I⁻¹(L × ω)) q makes energy with slender bodies. Velocities of time n keep their
//! angular momentum: ω follows the new orientation.
//!
//! Pushing apart moves positions only. It cannot keep Σ x × mv; what vanishes is Σ m Δx and Σ (x × m Δx + I Δθ),
//! here exactly, since arms stay those of x̂ while it lasts. What it does to energy is booked.

use super::central::{Central, Outer};
use super::nodes::Nodes;
use super::pairs::{Side, Touch};
use super::span::Span;
use crate::math::{Mat3, Twist, Vec3, rotation_from_vector};
use crate::model::Model;
use crate::model::body::{BodyKind, rotation};
use crate::state::State;

/// Moves everything by the half-step velocities.
pub fn advance(model: &Model, nodes: &mut Nodes, span: &Span) {
    for (slot, body) in model.bodies.iter().enumerate().filter(|(_, body)| body.alive) {
        let omega = nodes.half[slot].angular;
        if omega == Vec3::ZERO {
            continue;
        }
        let before = nodes.rotation[slot];
        nodes.rotation[slot] = match body.kind {
            BodyKind::Dynamic => rotation::advance(body, before, omega, span.dt),
            _ => (rotation_from_vector(span.dt * omega) * before).normalize(),
        };
        let turned = (before, nodes.rotation[slot]);
        nodes.v[slot].angular = rotation::carry(body, turned, nodes.v[slot].angular);
    }
    for (x, half) in nodes.x.iter_mut().zip(&nodes.half) {
        *x += span.dt * half.linear;
    }
    nodes.weigh(model);
}

/// Writes places where the search reads them.
pub fn place(nodes: &Nodes, state: &mut State) {
    for (slot, now) in state.bodies.iter_mut().enumerate() {
        (now.position, now.rotation) = (nodes.x[slot], nodes.rotation[slot]);
        now.velocity = nodes.v[slot];
        now.asleep = false;
    }
}

/// Memory of pushing apart.
#[derive(Debug, Default)]
pub struct Resolution {
    /// Shift and turn of each node.
    pub shift: Vec<Twist>,
    /// Touches that overlap.
    deep: Vec<Touch>,
    /// Central nodes with their touches: where each begins in `at`.
    centers: Vec<(u32, u32, u32)>,
    at: Vec<(u32, u32)>,
    meetings: Vec<Meeting>,
    outers: Vec<Outer>,
    /// Rounds made.
    pub rounds: u32,
}

/// An outer body of the central one at hand.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    outer: Outer,
    side: Side,
    /// Sum of how deep its points are, m.
    depths: f64,
}

/// Overlap that is left alone, m.
const LEFT: f64 = 1e-7;
/// Most rounds over all central bodies.
const ROUNDS: u32 = 20;

impl Resolution {
    /// Finds shifts that push apart what overlaps; whether there are any. `level` orders the nodes.
    pub fn resolve(
        &mut self,
        model: &Model,
        nodes: &Nodes,
        touches: &[Touch],
        level: &[u32],
    ) -> bool {
        self.rounds = 0;
        self.deep.clear();
        self.deep.extend(touches.iter().filter(|touch| touch.gap < -LEFT));
        if self.deep.is_empty() {
            return false;
        }
        // what is near takes part as well: it may come to overlap when others are pushed
        let reach = self.deep.iter().fold(0.0_f64, |d, touch| d.max(-touch.gap));
        self.deep.clear();
        self.deep.extend(touches.iter().filter(|touch| touch.gap < 4.0 * reach));
        self.shift.clear();
        self.shift.resize(nodes.x.len(), Twist::default());
        self.list_centers(nodes, level);
        while self.rounds < ROUNDS {
            self.rounds += 1;
            for center in 0..self.centers.len() {
                self.push_around(model, nodes, center);
            }
            self.push_pairs(nodes);
            let depth = |touch: &Touch| touch.gap + touch.normal.dot(touch.velocity(&self.shift));
            if self.deep.iter().all(|touch| depth(touch) >= -LEFT) {
                break;
            }
        }
        true
    }

    /// Bodies and particles that something meets, in order of levels, with their touches.
    fn list_centers(&mut self, nodes: &Nodes, level: &[u32]) {
        let Resolution { deep, at, centers, .. } = self;
        at.clear();
        centers.clear();
        for (i, touch) in deep.iter().enumerate() {
            for side in [&touch.a, &touch.b] {
                let node = side.nodes[0];
                if side.count == 1 && nodes.mass[node as usize].inv_mass != Vec3::ZERO {
                    at.push((node, i as u32));
                }
            }
        }
        at.sort_unstable_by_key(|&(node, i)| (level[node as usize], node, i));
        let mut start = 0;
        while start < at.len() {
            let node = at[start].0;
            let count = at[start..].iter().take_while(|other| other.0 == node).count();
            centers.push((node, start as u32, (start + count) as u32));
            start += count;
        }
    }

    /// Pushes everything that overlaps a central body off it, at once.
    fn push_around(&mut self, model: &Model, nodes: &Nodes, center: usize) {
        let (node, start, end) = self.centers[center];
        let slot = node as usize;
        self.meetings.clear();
        for place in start as usize..end as usize {
            let touch = &self.deep[self.at[place].1 as usize];
            let depth = -(touch.gap + touch.normal.dot(touch.velocity(&self.shift)));
            if depth <= LEFT {
                continue;
            }
            let own_is_a = touch.a.count == 1 && touch.a.nodes[0] == node;
            let (own, other) = if own_is_a { (touch.a, touch.b) } else { (touch.b, touch.a) };
            let normal = if own_is_a { touch.normal } else { -touch.normal };
            self.add_outer((own, other), normal, depth, nodes);
        }
        if self.meetings.is_empty() {
            return;
        }
        let Some(central) = central(model, nodes, slot) else {
            self.push_one_by_one(nodes, node);
            return;
        };
        // nobody is pulled: who would be is let go
        loop {
            self.outers.clear();
            self.outers.extend(self.meetings.iter().map(|meeting| meeting.outer));
            let change = central.solve(&self.outers);
            let before = self.meetings.len();
            self.meetings.retain(|meeting| !meeting.is_pulled(change));
            if self.meetings.is_empty() {
                return;
            }
            if self.meetings.len() == before {
                return self.give(nodes, slot, change);
            }
        }
    }

    /// Points of the same outer body count as one, at the centre of their depths.
    fn add_outer(&mut self, (own, other): (Side, Side), normal: Vec3, depth: f64, nodes: &Nodes) {
        let same = |meeting: &&mut Meeting| {
            other.is_body(nodes) && meeting.side.nodes[0] == other.nodes[0]
        };
        if let Some(known) = self.meetings.iter_mut().find(same) {
            let Meeting { outer, side, depths } = known;
            *depths += depth;
            let share = depth / *depths;
            outer.arm = outer.arm.lerp(own.arm, share);
            side.arm = side.arm.lerp(other.arm, share);
            outer.normal = outer.normal.lerp(normal, share).normalize_or(normal);
            outer.wanted = outer.wanted.length().max(depth) * outer.normal;
            outer.block = inverse(&side.response(&nodes.mass));
            return;
        }
        let block = inverse(&other.response(&nodes.mass));
        let outer = Outer { arm: own.arm, block, normal, wanted: depth * normal };
        self.meetings.push(Meeting { outer, side: other, depths: depth });
    }

    /// Moves the central body and those around it.
    fn give(&mut self, nodes: &Nodes, slot: usize, change: [Vec3; 2]) {
        for meeting in &self.meetings {
            let impulse = meeting.impulse(change);
            meeting.side.push(&mut self.shift, &nodes.mass, impulse);
        }
        self.shift[slot].linear += change[0];
        self.shift[slot].angular += change[1];
    }

    /// The same pair by pair, for a body with locked axes.
    fn push_one_by_one(&mut self, nodes: &Nodes, node: u32) {
        for Meeting { outer, side, .. } in &self.meetings {
            let own = Side::body(node, outer.arm);
            let k = own.response(&nodes.mass) + side.response(&nodes.mass);
            let how = (outer.normal, outer.wanted.length(), &k);
            push_along((&own, side), how, &mut self.shift, nodes);
        }
    }

    /// Pairs of which neither side is one node.
    fn push_pairs(&mut self, nodes: &Nodes) {
        let Resolution { deep, shift, .. } = self;
        for touch in deep.iter().filter(|touch| touch.a.count > 1 && touch.b.count > 1) {
            let depth = -(touch.gap + touch.normal.dot(touch.velocity(shift)));
            if depth > LEFT {
                let how = (touch.normal, depth, &touch.response);
                push_along((&touch.a, &touch.b), how, shift, nodes);
            }
        }
    }

    /// Applies the shifts. Velocities of time n keep their angular momentum.
    pub fn apply(&self, model: &Model, nodes: &mut Nodes) {
        for (i, shift) in self.shift.iter().enumerate() {
            nodes.x[i] += shift.linear;
            if i < nodes.bodies && shift.angular != Vec3::ZERO {
                let before = nodes.rotation[i];
                let after = (rotation_from_vector(shift.angular) * before).normalize();
                nodes.rotation[i] = after;
                let body = &model.bodies[i];
                nodes.v[i].angular = rotation::carry(body, (before, after), nodes.v[i].angular);
            }
        }
        nodes.weigh(model);
    }
}

impl Meeting {
    /// What the outer body gets when the central one changes so.
    fn impulse(&self, [linear, angular]: [Vec3; 2]) -> Vec3 {
        let given = self.outer.wanted + linear + angular.cross(self.outer.arm);
        self.outer.block.map_or(Vec3::ZERO, |b| b * given)
    }

    fn is_pulled(&self, change: [Vec3; 2]) -> bool {
        self.outer.normal.dot(self.impulse(change)) < 0.0
    }
}

fn push_along(
    (own, other): (&Side, &Side),
    (normal, depth, k): (Vec3, f64, &Mat3),
    shift: &mut [Twist],
    nodes: &Nodes,
) {
    let kn = normal.dot(*k * normal);
    if kn > 0.0 {
        let impulse = normal * (depth / kn);
        other.push(shift, &nodes.mass, impulse);
        own.push(shift, &nodes.mass, -impulse);
    }
}

/// What a node puts up as a central body; none for one with locked axes.
fn central(model: &Model, nodes: &Nodes, slot: usize) -> Option<Central> {
    if slot >= nodes.bodies {
        let mass = model.sheet.elements.mass[slot - nodes.bodies];
        return Some(Central { mass, inertia: None });
    }
    let body = &model.bodies[slot];
    if body.locks != Default::default() {
        return None;
    }
    let r = Mat3::from_quat(nodes.rotation[slot]);
    Some(Central { mass: body.mass, inertia: Some(r * body.inertia * r.transpose()) })
}

/// None where nothing gives way.
fn inverse(k: &Mat3) -> Option<Mat3> {
    let trace = k.x_axis.x + k.y_axis.y + k.z_axis.z;
    if trace <= 0.0 {
        return None;
    }
    // locked axes give way a little, or there were no inverse
    Some((*k + Mat3::from_diagonal(Vec3::splat(1e-12 * trace))).inverse())
}
