//! Islands: what joints and constraints of the user's join and wake.

use super::{Islands, Linked, NONE};
use crate::model::Model;
use crate::model::joint::model::Node;
use crate::state::State;

impl Islands {
    /// The place of a node among the parents, if it is moved by forces: bodies, then points.
    fn place(model: &Model, node: Node) -> Option<u32> {
        match node {
            Node::Body(i) if model.bodies[i as usize].is_dynamic() => Some(i),
            Node::Point(i) => Some(model.bodies.len() as u32 + i),
            _ => None,
        }
    }

    /// Calls `f` with all nodes of every joint and constraint at work, in the order of slots.
    fn each_link(model: &Model, state: &State, mut f: impl FnMut(Linked, &[Node])) {
        for (slot, joint) in model.joints.iter().enumerate() {
            if !joint.alive || state.joints[slot].broken {
                continue;
            }
            let link = Linked::Joint(slot as u32);
            match joint.coupling() {
                Some((first, second, _)) => {
                    let (a, b) = (&model.joints[first as usize], &model.joints[second as usize]);
                    f(link, &[a.a, a.b, b.a, b.b]);
                }
                None => f(link, &[joint.a, joint.b]),
            }
        }
        for (slot, constraint) in model.constraints.iter().enumerate() {
            if constraint.constraint.is_some() {
                f(Linked::Constraint(slot as u32), &constraint.nodes);
            }
        }
    }

    /// The lowest of the bodies that joints and constraints connect each body to, slot by slot.
    pub fn joined(model: &Model, state: &State) -> Vec<u32> {
        let mut islands = Islands::default();
        islands.parent.extend(0..(model.bodies.len() + model.points.len()) as u32);
        islands.join_links(model, state);
        (0..model.bodies.len() as u32).map(|i| islands.root(i)).collect()
    }

    pub(super) fn join_links(&mut self, model: &Model, state: &State) {
        Self::each_link(model, state, |_, nodes| {
            let mut movable = nodes.iter().filter_map(|&node| Self::place(model, node));
            if let Some(first) = movable.next() {
                movable.for_each(|other| self.join(first, other));
            }
        });
    }

    /// The island of a link: that of its first movable node.
    fn island_of_link(&self, model: &Model, nodes: &[Node]) -> Option<usize> {
        let place = nodes.iter().find_map(|&node| Self::place(model, node))?;
        let number = self.number[place as usize];
        (number != NONE).then_some(number as usize)
    }

    pub(super) fn fill_links(&mut self, model: &Model, state: &State) {
        let mut islands = std::mem::take(&mut self.islands);
        Self::each_link(model, state, |_, nodes| {
            if let Some(island) = self.island_of_link(model, nodes) {
                islands[island].link_count += 1;
                islands[island].anchored |=
                    nodes.iter().any(|&node| Self::place(model, node).is_none());
            }
        });
        let mut start = 0;
        self.cursor.clear();
        for island in &mut islands {
            island.link_start = start;
            self.cursor.push(start);
            start += island.link_count;
        }
        self.links.clear();
        self.links.resize(start, Linked::Joint(0));
        Self::each_link(model, state, |link, nodes| {
            if let Some(island) = self.island_of_link(model, nodes) {
                self.links[self.cursor[island]] = link;
                self.cursor[island] += 1;
            }
        });
        self.islands = islands;
    }

    /// Point masses never sleep, nor does what a moving drive or a moving body holds.
    pub(super) fn wake_links(&mut self, model: &Model, state: &State) {
        for (i, point) in model.points.iter().enumerate() {
            if point.alive {
                let root = self.root((model.bodies.len() + i) as u32);
                self.awake[root as usize] = true;
            }
        }
        Self::each_link(model, state, |link, nodes| {
            let driven = match link {
                Linked::Joint(slot) => model.joints[slot as usize].is_driven(),
                Linked::Constraint(_) => true,
            };
            let carried = nodes.iter().any(|&node| match node {
                Node::Body(i) if !model.bodies[i as usize].is_dynamic() => {
                    state.bodies[i as usize].velocity != Default::default()
                }
                _ => false,
            });
            let place = nodes.iter().find_map(|&node| Self::place(model, node));
            if let (true, Some(place)) = (driven || carried, place) {
                let root = self.root(place) as usize;
                self.awake[root] = true;
                self.carried[root] = true;
            }
        });
    }
}
