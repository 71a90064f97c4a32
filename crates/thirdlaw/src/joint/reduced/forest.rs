//! Which joints can be held in coordinates, and the forest that those of an island make.
//!
//! Every component is rooted at the one side that does not move, or else at its first body, which floats.
//! A second way to something that does not move, or between two bodies, closes a loop: the joints are
//! then no forest.

use super::Tree;
use super::rows::Row;
use crate::joint::geometry::Turning;
use crate::joint::island::JointIsland;
use crate::joint::system::{NONE, Source};
use crate::math::{Mat3, Quat, Vec3};
use crate::model::Model;
use crate::model::joint::model::{JointModel, Node};

/// One body of the forest, with the joint that leads to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limb {
    /// Its node in the island.
    pub node: u32,
    /// The limb it hangs on; NONE where that does not move or there is none.
    pub parent: u32,
    /// The node it hangs on; the world for a body that floats.
    pub on: u32,
    /// Link of the joint; NONE for a body that floats.
    pub link: u32,
    /// Slot of the joint.
    pub slot: Option<u32>,
    /// 1 where the body is side b of the joint, −1 where it is side a.
    pub sign: f64,
    /// The limb at which its component begins, if that floats; else NONE.
    pub floating: u32,
    /// Which of the three slides are free, and which turns.
    pub slides: [bool; 3],
    pub turning: Turning,
    /// Its freedoms, and where its factor lies.
    pub first: u32,
    pub count: u32,
    pub factor: u32,
    /// What acts on them.
    pub first_row: u32,
    pub row_count: u32,
    pub frames: Frames,
    pub mass: f64,
    /// In its own axes.
    pub inertia: Mat3,
}

/// Frames of a joint on its sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames {
    pub anchor_a: Vec3,
    pub anchor_b: Vec3,
    pub basis_a: Quat,
    pub basis_b: Quat,
}

/// For every node the links that hold it.
#[derive(Clone, Debug, Default)]
pub(super) struct Branches {
    start: Vec<u32>,
    links: Vec<u32>,
    /// Limb of a node; NONE while it has none.
    limbs: Vec<u32>,
}

impl Tree {
    /// Takes over an island whose first nodes are these bodies. Says whether its joints are a forest that
    /// can be held in coordinates.
    pub fn build(&mut self, model: &Model, island: &JointIsland, bodies: &[u32]) -> bool {
        self.limbs.clear();
        self.rows.clear();
        self.current = false;
        self.work = 0;
        let world = (island.system.nodes.len() - 1) as u32;
        if !can_be_held(model, island, bodies) {
            return false;
        }
        self.branch(island);
        for root in 0..=world {
            if root as usize >= bodies.len() && !self.grow_from(model, island, bodies, root) {
                return false;
            }
        }
        for body in 0..bodies.len() as u32 {
            if self.branches.limbs[body as usize] == NONE {
                let at = self.limbs.len() as u32;
                let mut limb = floating(body, world, at);
                (limb.mass, limb.inertia) = mass_of(model, bodies[body as usize]);
                self.branches.limbs[body as usize] = at;
                self.limbs.push(limb);
                if !self.grow(model, island, bodies, at) {
                    return false;
                }
            }
        }
        self.number(model);
        true
    }

    /// For every node its links.
    fn branch(&mut self, island: &JointIsland) {
        let system = &island.system;
        let Branches { start, links, limbs } = &mut self.branches;
        limbs.clear();
        limbs.resize(system.nodes.len(), NONE);
        start.clear();
        start.resize(system.nodes.len() + 1, 0);
        system.ends.iter().for_each(|&end| start[end as usize + 1] += 1);
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        links.clear();
        links.resize(system.ends.len(), 0);
        for (l, link) in system.links.iter().enumerate() {
            for &end in &system.ends[link.end_start as usize..][..link.end_count as usize] {
                links[start[end as usize] as usize] = l as u32;
                start[end as usize] += 1;
            }
        }
        // the starts have moved on by one node each
        start.rotate_right(1);
        start[0] = 0;
    }

    /// Grows what hangs on a node that does not move.
    fn grow_from(&mut self, model: &Model, island: &JointIsland, bodies: &[u32], on: u32) -> bool {
        let at = self.limbs.len() as u32;
        self.sprout(model, island, bodies, (on, NONE, NONE, NONE))
            && self.grow(model, island, bodies, at)
    }

    /// Grows what hangs on the limbs from `at` on.
    fn grow(&mut self, model: &Model, island: &JointIsland, bodies: &[u32], at: u32) -> bool {
        let mut at = at;
        while (at as usize) < self.limbs.len() {
            let limb = self.limbs[at as usize];
            if !self.sprout(model, island, bodies, (limb.node, at, limb.link, limb.floating)) {
                return false;
            }
            at += 1;
        }
        true
    }

    /// Adds the limbs that hang on a node, itself reached by a link. False: there is a loop.
    fn sprout(
        &mut self,
        model: &Model,
        island: &JointIsland,
        bodies: &[u32],
        (on, parent, by, floating): (u32, u32, u32, u32),
    ) -> bool {
        let range = self.branches.start[on as usize]..self.branches.start[on as usize + 1];
        for at in range {
            let l = self.branches.links[at as usize];
            if l == by {
                continue;
            }
            let [a, b] = island.sides(l as usize).map(|end| end as u32);
            let (node, sign) = if a == on { (b, 1.0) } else { (a, -1.0) };
            let Source::Joint(slot) = island.system.links[l as usize].source else { return false };
            let known = self.branches.limbs.get(node as usize).is_none_or(|&limb| limb != NONE);
            if known || node as usize >= bodies.len() {
                return false;
            }
            self.branches.limbs[node as usize] = self.limbs.len() as u32;
            let (mass, inertia) = mass_of(model, bodies[node as usize]);
            let mut limb = jointed(&model.joints[slot as usize], (node, on, l), sign);
            limb.slot = Some(slot);
            (limb.parent, limb.floating) = (parent, floating);
            (limb.mass, limb.inertia) = (mass, inertia);
            self.limbs.push(limb);
        }
        true
    }

    /// Freedoms, rows and the memory for all of them.
    fn number(&mut self, model: &Model) {
        let (mut first, mut factor) = (0, 0);
        for limb in &mut self.limbs {
            let turns = match limb.turning {
                Turning::None => 0,
                Turning::One(_) => 1,
                Turning::Two(..) => 2,
                Turning::Three => 3,
            };
            limb.count = limb.slides.iter().map(|&s| u32::from(s)).sum::<u32>() + turns;
            (limb.first, limb.factor) = (first, factor);
            first += limb.count;
            factor += limb.count * limb.count;
            limb.first_row = self.rows.len() as u32;
            if let Some(slot) = limb.slot {
                Row::add(&mut self.rows, &model.joints[slot as usize], slot, limb);
            }
            limb.row_count = self.rows.len() as u32 - limb.first_row;
        }
        self.resize(first as usize, factor as usize);
    }
}

/// Whether joints, sides and bodies of an island are such that coordinates could hold them.
fn can_be_held(model: &Model, island: &JointIsland, bodies: &[u32]) -> bool {
    let links = island.system.links.iter().zip(&island.locals);
    let joints = links.clone().all(|(link, local)| match link.source {
        Source::Joint(slot) => {
            let joint = &model.joints[slot as usize];
            let point = |node: Node| matches!(node, Node::Point(_));
            local.reduced && !local.state.broken && !point(joint.a) && !point(joint.b)
        }
        Source::Constraint(_) => false,
    });
    let locks = |slot: &u32| {
        let locks = &model.bodies[*slot as usize].locks;
        locks.translation == [false; 3] && locks.rotation == [false; 3]
    };
    joints && bodies.iter().all(locks) && island.system.nodes.iter().all(|node| !node.is_point)
}

fn mass_of(model: &Model, slot: u32) -> (f64, Mat3) {
    let body = &model.bodies[slot as usize];
    (body.mass, body.inertia)
}

/// A body on nothing.
fn floating(node: u32, world: u32, at: u32) -> Limb {
    Limb {
        node,
        parent: NONE,
        on: world,
        link: NONE,
        slot: None,
        sign: 1.0,
        floating: at,
        slides: [true; 3],
        turning: Turning::Three,
        first: 0,
        count: 0,
        factor: 0,
        first_row: 0,
        row_count: 0,
        frames: Frames {
            anchor_a: Vec3::ZERO,
            anchor_b: Vec3::ZERO,
            basis_a: Quat::IDENTITY,
            basis_b: Quat::IDENTITY,
        },
        mass: 0.0,
        inertia: Mat3::ZERO,
    }
}

/// A body on a joint.
fn jointed(joint: &JointModel, (node, on, link): (u32, u32, u32), sign: f64) -> Limb {
    Limb {
        link,
        sign,
        floating: NONE,
        slides: [0, 1, 2].map(|i| !joint.locked[i]),
        turning: joint.turning(),
        frames: Frames {
            anchor_a: joint.anchor_a,
            anchor_b: joint.anchor_b,
            basis_a: joint.basis_a,
            basis_b: joint.basis_b,
        },
        ..floating(node, on, NONE)
    }
}
