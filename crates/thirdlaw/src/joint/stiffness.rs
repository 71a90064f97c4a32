//! How fast joints under load make bodies swing, and how short a substep must be for that.
//!
//! A link under tension swings across it like a string. A force f at the arm r resists a turn of its
//! body with the stiffness K = (f·r) 1 − ½(r fᵀ + f rᵀ), and the impulses of a substep, taken along J at
//! its start, follow such a swing only while h ω < 2. Under a load ten thousand times their own weight
//! links swing that fast, so substeps are divided until they follow.

use super::island::JointIsland;
use super::system::Source;
use crate::math::{Mat3, Vec3};
use crate::model::Model;

/// (h ω)² that is followed well.
const FOLLOWED: f64 = 1.5;
/// Parts of a substep at most; beyond that inertia is added instead.
const PARTS_MAX: u32 = 8;

impl JointIsland {
    /// Into how many parts a substep of `h` seconds is to be divided.
    pub fn parts_of(&mut self, model: &Model, h: f64) -> u32 {
        self.load(model);
        let mut fastest = 0.0_f64;
        for (node, load) in self.system.nodes.iter().zip(&self.loads) {
            if !node.movable {
                continue;
            }
            let turn = node.inverse.inv_inertia * load.turn;
            let squares = turn.to_cols_array().iter().map(|x| x * x).sum::<f64>();
            fastest = fastest.max(squares.sqrt()).max(load.along / node.mass);
        }
        let parts = (h * (fastest / FOLLOWED).sqrt()).ceil();
        // a NaN asks for one part
        (parts.max(1.0) as u32).min(PARTS_MAX)
    }

    /// Adds inertia to bodies that would swing too fast for substeps of `h` seconds all the same.
    pub fn calm(&mut self, h: f64) {
        for (node, load) in self.system.nodes.iter_mut().zip(&self.loads) {
            if !node.movable {
                continue;
            }
            let k = load.turn.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt();
            let turn = node.inverse.inv_inertia * load.turn;
            let squares = turn.to_cols_array().iter().map(|x| x * x).sum::<f64>();
            if !node.is_point && h * h * squares.sqrt() > 2.0 * FOLLOWED {
                node.inertia += Mat3::from_diagonal(Vec3::splat(0.4 * h * h * k));
                if node.locked_angular == [false; 3] {
                    node.inverse.inv_inertia = node.inertia.inverse();
                }
            }
            if node.is_point && h * h * load.along > 2.0 * FOLLOWED * node.mass {
                node.mass += 0.4 * h * h * load.along;
                node.inverse.inv_mass = Vec3::splat(1.0 / node.mass);
            }
        }
    }

    /// Stiffness against swinging of every node, by the last reactions.
    fn load(&mut self, model: &Model) {
        self.loads.clear();
        self.loads.resize(self.system.nodes.len(), Load::default());
        for (link, local) in self.system.links.iter().zip(&self.locals) {
            let Source::Joint(slot) = link.source else { continue };
            let joint = &model.joints[slot as usize];
            if joint.coupling().is_some() || local.state.broken {
                continue;
            }
            let ends = &self.system.ends[link.end_start as usize..];
            let sides = [(ends[0], joint.anchor_a, -1.0), (ends[1], joint.anchor_b, 1.0)];
            for (end, anchor, sign) in sides {
                let f = sign * local.state.force;
                let r = self.poses[end as usize].1 * anchor;
                let outer = |a: Vec3, b: Vec3| Mat3::from_cols(a * b.x, a * b.y, a * b.z);
                let load = &mut self.loads[end as usize];
                load.turn +=
                    Mat3::from_diagonal(Vec3::splat(f.dot(r))) - 0.5 * (outer(r, f) + outer(f, r));
                let length = local.state.coordinates[0];
                if joint.is_line() && length > 0.0 {
                    load.along += f.length() / length;
                }
            }
        }
    }
}

/// Stiffness of a node against turning (N·m/rad) and against moving across its rods (N/m).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    turn: Mat3,
    along: f64,
}
