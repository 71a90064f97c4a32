//! The contact graph: who rests on whom [shinar2008 §5, after GBF03].
//!
//! b rests on a if b alone, moved by its weight with a held still, would overlap a within the substep. Circles
//! (bodies that lean on each other) count as one; each body gets a level above all it rests on, and contacts
//! are gone through from the ground up. Joints are to add their order here.

use super::nodes::Nodes;
use super::pairs::Touch;
use super::span::Span;
use crate::math::Vec3;

/// Levels of the nodes of a substep.
#[derive(Debug, Default)]
pub struct Graph {
    /// Per node; 0 on the ground, or on nothing.
    pub level: Vec<u32>,
    /// Which rests on which: the lower, the upper node.
    rests: Vec<(u32, u32)>,
    start: Vec<u32>,
    order: Vec<u32>,
    low: Vec<u32>,
    component: Vec<u32>,
    stack: Vec<u32>,
    path: Vec<(u32, u32)>,
}

const NONE: u32 = u32::MAX;
/// Share of the fall in a substep that a gap may have beyond it, for rounding.
const ROUNDING: f64 = 1e-6;

impl Graph {
    /// Finds the levels, and puts the touches in their order.
    pub fn sort(&mut self, touches: &mut [Touch], nodes: &Nodes, gravity: Vec3, span: &Span) {
        self.link(touches, nodes, gravity, span);
        self.components(nodes.x.len());
        self.rise();
        let level = &self.level;
        let height = |touch: &Touch| {
            let of = |(i, _): (usize, f64)| level[i];
            touch.a.parts().chain(touch.b.parts()).map(of).max().unwrap_or(0)
        };
        touches.sort_by(|a, b| height(a).cmp(&height(b)).then(a.key.cmp(&b.key)));
    }

    fn link(&mut self, touches: &[Touch], nodes: &Nodes, gravity: Vec3, span: &Span) {
        self.rests.clear();
        let fall = span.dt * span.dt;
        let moves = |i: u32| nodes.mass[i as usize].inv_mass != Vec3::ZERO;
        for touch in touches {
            let down = fall * gravity.dot(touch.normal);
            let slack = ROUNDING * fall * gravity.length();
            for (i, _) in touch.a.parts() {
                for (j, _) in touch.b.parts() {
                    let (i, j) = (i as u32, j as u32);
                    if moves(j) && down < 0.0 && touch.gap + down <= slack {
                        self.rests.push((i, j));
                    }
                    if moves(i) && down > 0.0 && touch.gap - down <= slack {
                        self.rests.push((j, i));
                    }
                }
            }
        }
        self.rests.sort_unstable();
        self.rests.dedup();
    }

    /// Tarjan's strongly connected components, without recursion; they come out upper ones first.
    fn components(&mut self, count: usize) {
        let Graph { rests, start, order, low, component, stack, path, .. } = self;
        start.clear();
        start.resize(count + 1, 0);
        for (lower, _) in rests.iter() {
            start[*lower as usize + 1] += 1;
        }
        for i in 0..count {
            start[i + 1] += start[i];
        }
        for list in [&mut *order, low, component] {
            list.clear();
            list.resize(count, NONE);
        }
        let (mut next, mut found) = (0, 0);
        for root in 0..count as u32 {
            if order[root as usize] != NONE {
                continue;
            }
            path.push((root, start[root as usize]));
            while let Some((node, edge)) = path.pop() {
                let i = node as usize;
                if order[i] == NONE {
                    (order[i], low[i]) = (next, next);
                    next += 1;
                    stack.push(node);
                }
                if edge < start[i + 1] {
                    path.push((node, edge + 1));
                    let upper = rests[edge as usize].1;
                    let j = upper as usize;
                    if order[j] == NONE {
                        path.push((upper, start[j]));
                    } else if component[j] == NONE {
                        low[i] = low[i].min(order[j]);
                    }
                    continue;
                }
                if low[i] == order[i] {
                    while let Some(member) = stack.pop() {
                        component[member as usize] = found;
                        if member == node {
                            break;
                        }
                    }
                    found += 1;
                }
                if let Some((parent, _)) = path.last() {
                    let p = *parent as usize;
                    low[p] = low[p].min(low[i]);
                }
            }
        }
    }

    /// Levels: components come out upper ones first, so they are gone through backward.
    fn rise(&mut self) {
        let Graph { level, rests, component, order, low, .. } = self;
        let count = component.len();
        level.clear();
        level.resize(count, 0);
        // of components, in the memory of `low`; edges by the component of their lower end, downward
        low.fill(0);
        order.clear();
        order.extend(0..rests.len() as u32);
        order.sort_by_key(|&e| {
            let (lower, upper) = rests[e as usize];
            (std::cmp::Reverse(component[lower as usize]), upper)
        });
        for &e in order.iter() {
            let (lower, upper) = rests[e as usize];
            let (p, q) = (component[lower as usize] as usize, component[upper as usize] as usize);
            if p != q {
                low[q] = low[q].max(low[p] + 1);
            }
        }
        for (level, component) in level.iter_mut().zip(component.iter()) {
            *level = low[*component as usize];
        }
    }
}
