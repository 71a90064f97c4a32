//! The equations of an island's joints: nodes, links, rows. Their exact solution is in `solve`.
//!
//! Every joint is a link with rows w = J v + b + Γ z, l ≤ z ≤ u, in the form of the contact problem.
//! Rows without bounds hold w = 0. Bounded ones (limits, friction, drives with a limit) are free (w = 0)
//! or at a bound.

use super::descent::Descent;
use super::factor::Factor;
use super::order::{Order, Vertex};
use super::share::Sharing;
use super::web::{Members, Web};
use crate::contact::{Bound, Row};
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Twist, Vec3};

/// The joints of one island as equations.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    /// One per body and point mass of the island, movable or not.
    pub nodes: Vec<NodeMass>,
    pub links: Vec<Link>,
    pub rows: Vec<JointRow>,
    /// Ends of links: indices into `nodes`.
    pub ends: Vec<u32>,
    /// Rows of J, for every row the part of every end of its link.
    pub jacobian: Vec<Part>,
    pub(super) order: Order,
    pub(crate) factor: Factor,
    /// What holds instead of them where loops share their joints.
    pub(super) web: Web,
    pub(super) descent: Descent,
    pub(super) sharing: Sharing,
    /// Whether the factors are those of the rows as they are.
    pub(super) factored: bool,
    /// Vertex of each node; NONE where it cannot move.
    pub(super) vertex: Vec<u32>,
    pub(super) kinds: Vec<Vertex>,
    sizes: Vec<u32>,
    edges: Vec<(u32, u32)>,
    /// Changes of states since the last time it was reset.
    pub changes: u32,
}

/// What a node puts up against impulses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeMass {
    /// kg; read only where the node can move.
    pub mass: f64,
    /// In world axes.
    pub inertia: Mat3,
    pub inverse: BodyMass,
    pub locked_linear: [bool; 3],
    pub locked_angular: [bool; 3],
    pub movable: bool,
    pub is_point: bool,
}

/// One joint, or one constraint, of the island.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub source: Source,
    pub end_start: u32,
    pub end_count: u32,
    pub row_start: u32,
    pub row_count: u32,
    pub jacobian_start: u32,
}

/// Where a link comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Joint(u32),
    Constraint(u32),
}

/// The part of a row that one end feels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    pub linear: Vec3,
    pub angular: Vec3,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointRow {
    pub role: Role,
    /// Which coordinate of the joint it acts on.
    pub axis: u8,
    pub bias: f64,
    pub compliance: f64,
    /// Compliance of the factors alone, where joints share what they hold.
    pub gives_way: f64,
    pub lower: f64,
    pub upper: f64,
    /// Impulse of this stage, N·s.
    pub impulse: f64,
    pub status: Status,
    /// C, or how far the coordinate is from a limit: m or rad.
    pub error: f64,
    /// Part of the error that is left for later substeps, so that gaps close at a bounded speed.
    pub keep: f64,
    /// θ of the implicit spring.
    pub theta: f64,
    /// Velocity with which it leaves a limit, m/s or rad/s.
    pub bounce: f64,
    /// Whether a limit was passed already when the substep began, so that velocities are pushed by it.
    pub pushed: bool,
}

/// What a row does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Holds a coordinate.
    Hold,
    /// Keeps a coordinate above its lower limit.
    Low,
    /// Keeps a coordinate below its upper limit (its J is reversed).
    High,
    /// A spring–damper.
    Spring,
    /// A drive with finite gains.
    Drive,
    /// A drive that holds a velocity.
    Motor,
    /// Dry friction.
    Friction,
    /// A row of a user's constraint on velocities.
    Rate,
}

/// What a row is taken to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Not there at all in this stage.
    Off,
    /// w = 0.
    Free,
    /// z = l.
    Lower,
    /// z = u.
    Upper,
}

pub(super) const NONE: u32 = u32::MAX;

impl System {
    /// Forgets all links.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.links.clear();
        self.rows.clear();
        self.ends.clear();
        self.jacobian.clear();
        self.factored = false;
        self.factor.redundant = 0;
        self.web.forget();
    }

    /// Adds a link between nodes, whose rows follow by [`System::add_row`].
    pub fn add_link(&mut self, source: Source, ends: &[u32]) {
        self.links.push(Link {
            source,
            end_start: self.ends.len() as u32,
            end_count: ends.len() as u32,
            row_start: self.rows.len() as u32,
            row_count: 0,
            jacobian_start: self.jacobian.len() as u32,
        });
        self.ends.extend_from_slice(ends);
    }

    /// Adds a row to the last link.
    pub fn add_row(&mut self, role: Role, axis: usize) {
        let Some(link) = self.links.last_mut() else { return };
        link.row_count += 1;
        let width = link.end_count as usize;
        self.jacobian.resize(self.jacobian.len() + width, Part::default());
        self.rows.push(JointRow {
            role,
            axis: axis as u8,
            bias: 0.0,
            compliance: 0.0,
            gives_way: 0.0,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            impulse: 0.0,
            status: Status::Off,
            error: 0.0,
            keep: 0.0,
            theta: 0.5,
            bounce: 0.0,
            pushed: false,
        });
    }

    /// Orders the elimination, once all links are there.
    pub fn finish(&mut self) {
        self.vertex.clear();
        self.kinds.clear();
        self.sizes.clear();
        self.edges.clear();
        for node in &self.nodes {
            if !node.movable {
                self.vertex.push(NONE);
                continue;
            }
            self.vertex.push(self.kinds.len() as u32);
            let locked = !node.is_point
                && (node.locked_linear != [false; 3] || node.locked_angular != [false; 3]);
            self.kinds.push(if locked { Vertex::Locked } else { Vertex::Free });
            self.sizes.push(if node.is_point { 3 } else { 6 });
        }
        let first = self.kinds.len() as u32;
        for (i, link) in self.links.iter().enumerate() {
            self.kinds.push(Vertex::Link);
            self.sizes.push(link.row_count);
            for &end in &self.ends[link.end_start as usize..][..link.end_count as usize] {
                if self.vertex[end as usize] != NONE {
                    self.edges.push((first + i as u32, self.vertex[end as usize]));
                }
            }
        }
        self.order.build(&self.kinds, &self.sizes, &self.edges);
        if self.order.has_many_loops() {
            let (web, members) = self.web();
            web.build(members);
        }
        self.factored = false;
    }

    /// The equations of joints in many loops, and what they are made of.
    pub(super) fn web(&mut self) -> (&mut Web, Members<'_>) {
        let System { nodes, links, rows, ends, jacobian, web, .. } = self;
        (web, Members { nodes, links, rows, ends, jacobian })
    }

    pub(super) fn link_vertex(&self, link: usize) -> u32 {
        (self.kinds.len() - self.links.len() + link) as u32
    }

    /// The parts of a row, one per end.
    pub fn parts(&self, link: &Link, row: usize) -> std::ops::Range<usize> {
        let start = link.jacobian_start as usize
            + (row - link.row_start as usize) * link.end_count as usize;
        start..start + link.end_count as usize
    }

    /// Tells that rows have changed.
    pub fn touch(&mut self) {
        self.factored = false;
    }

    /// (J v) of a row.
    pub fn rate(&self, link: &Link, row: usize, v: &[Twist]) -> f64 {
        let ends = &self.ends[link.end_start as usize..];
        let mut sum = 0.0;
        for (part, &end) in self.jacobian[self.parts(link, row)].iter().zip(ends) {
            let v = &v[end as usize];
            sum += part.linear.dot(v.linear) + part.angular.dot(v.angular);
        }
        sum
    }

    /// J M⁻¹Jᵀ of a row with itself.
    pub fn response(&self, link: &Link, row: usize) -> f64 {
        let ends = &self.ends[link.end_start as usize..];
        let mut sum = 0.0;
        for (part, &end) in self.jacobian[self.parts(link, row)].iter().zip(ends) {
            sum += self.nodes[end as usize].inverse.response(part.linear, part.angular);
        }
        sum
    }

    /// v += M⁻¹Jᵀz of a row.
    pub fn apply(&self, link: &Link, row: usize, impulse: f64, v: &mut [Twist]) {
        let ends = &self.ends[link.end_start as usize..];
        for (part, &end) in self.jacobian[self.parts(link, row)].iter().zip(ends) {
            let (mass, v) = (&self.nodes[end as usize].inverse, &mut v[end as usize]);
            v.linear += mass.inv_mass * part.linear * impulse;
            v.angular += mass.inv_inertia * (part.angular * impulse);
        }
    }

    /// Whether all links hold two sides, as the contact problem wants them.
    pub fn is_pairwise(&self) -> bool {
        self.links.iter().all(|l| l.end_count == 2 && matches!(l.source, Source::Joint(_)))
    }

    /// Writes all rows as rows of a contact problem.
    pub fn write_rows(&self, out: &mut [Row]) {
        for link in &self.links {
            let rows = link.row_start as usize..(link.row_start + link.row_count) as usize;
            for (r, out) in rows.clone().zip(&mut out[rows]) {
                let (row, parts) = (&self.rows[r], &self.jacobian[self.parts(link, r)]);
                let bound = match row.status {
                    Status::Off => Bound::Interval { lower: 0.0, upper: 0.0 },
                    _ => Bound::Interval { lower: row.lower, upper: row.upper },
                };
                *out = Row {
                    direction: parts[1].linear,
                    arm_a: -parts[0].angular,
                    arm_b: parts[1].angular,
                    bias: row.bias,
                    compliance: row.compliance,
                    bound,
                };
            }
        }
    }

    /// Takes over impulses that were found elsewhere.
    pub fn read_impulses(&mut self, impulses: &[f64]) {
        for (row, &z) in self.rows.iter_mut().zip(impulses) {
            row.impulse = z;
            if row.status != Status::Off {
                let inside = z > row.lower && z < row.upper;
                row.status = if inside { Status::Free } else { Status::Lower };
            }
        }
    }
}

impl NodeMass {
    /// M⁻¹j.
    pub(super) fn answer(&self, push: &Part) -> Part {
        Part {
            linear: self.inverse.inv_mass * push.linear,
            angular: self.inverse.inv_inertia * push.angular,
        }
    }

    /// vᵀM v.
    pub fn square(&self, v: &Twist) -> f64 {
        let turning = if self.is_point { 0.0 } else { v.angular.dot(self.inertia * v.angular) };
        self.mass * v.linear.length_squared() + turning
    }

    /// The part of a row with locked axes left out.
    pub(super) fn row(&self, part: &Part) -> [f64; 6] {
        let mut row = [0.0; 6];
        for k in 0..3 {
            row[k] = if self.locked_linear[k] { 0.0 } else { part.linear[k] };
            row[3 + k] = if self.locked_angular[k] { 0.0 } else { part.angular[k] };
        }
        row
    }

    /// The mass matrix; locked axes have nothing to do with the others.
    pub(super) fn write(&self, out: &mut [f64]) {
        if self.is_point {
            for k in 0..3 {
                out[3 * k + k] = self.mass;
            }
            return;
        }
        let inertia = self.inertia.to_cols_array_2d();
        for k in 0..3 {
            out[6 * k + k] = self.mass;
            for j in 0..3 {
                let free = !self.locked_angular[k] && !self.locked_angular[j];
                let alone = if k == j { self.mass } else { 0.0 };
                out[6 * (3 + k) + 3 + j] = if free { inertia[j][k] } else { alone };
            }
        }
    }
}
