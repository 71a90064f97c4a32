//! Joints whose loops share their joints, as nets and grids do: what takes the defects w away,
//!
//!   (J M⁻¹Jᵀ + Γ) δz = −w,
//!
//! by a sparse factor. Bodies are gone from it: those that hold few joints couple their rows (a group of
//! [`crate::linalg::sparse`]), so that a cut through a net costs three rows a joint. A body with many joints
//! would couple all of them with all, and stays as six unknowns −M δv + Jᵀδz = 0 in rows of their own.
//!
//! Loops hold motions several times, so all rows give way a little (`share`): the matrix is
//! quasi-definite and has all pivots in any order. The factor of a substep is good enough for the next ones
//! while bodies turn little: what it leaves of w is taken away by the same factor again, and it is made anew
//! where that does not converge fast. A substep begins with the impulses of the one before. Both are
//! forgotten at the end of a step.

use super::system::{JointRow, Link, NONE, NodeMass, Part, Status};
use crate::linalg::sparse::Groups;
use crate::linalg::sparse::factor::Numbers;
use crate::linalg::sparse::plan::{Entry, Plan};

/// Joints of a body beyond which it stays among the unknowns.
const HUB: u32 = 16;
/// Change of a compliance, of itself, that another factor is not needed for.
const ALIKE: f64 = 0.01;

/// The equations of joints in many loops.
#[derive(Clone, Debug, Default)]
pub(super) struct Web {
    pub plan: Plan,
    pub numbers: Numbers,
    groups: Groups,
    /// (node, link, end of the link), ordered by nodes.
    holds: Vec<(u32, u32, u32)>,
    /// Entries of all pairs of each node's holds: of the second with the first.
    entries: Vec<Entry>,
    /// Block of each link and of each node that stays, or NONE.
    link_block: Vec<u32>,
    hub_block: Vec<u32>,
    /// The holds that the entries belong to.
    known: Vec<(u32, u32, u32)>,
    /// Parts and M⁻¹ of them of one node's rows, with the first row of each hold.
    parts: Vec<[Part; 2]>,
    firsts: Vec<usize>,
    /// Right side, then solution, in the order of the plan.
    pub vector: Vec<f64>,
    pub touched: Vec<u32>,
    /// Compliance of each row in the factor, or NaN where it was not free.
    factored: Vec<f64>,
    /// Whether there is a factor of this step.
    serves: bool,
    /// Impulses of the substep before, for the rows before and after the move, and the defects that they were
    /// found for.
    guesses: [Guess; 2],
    /// Which of them the next solve begins with.
    pub moment: Option<usize>,
}

/// What a solve may begin with.
#[derive(Clone, Debug, Default)]
pub(super) struct Guess {
    pub impulses: Vec<f64>,
    pub defects: f64,
}

/// What the equations are made of.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    pub nodes: &'a [NodeMass],
    pub links: &'a [Link],
    pub rows: &'a [JointRow],
    pub ends: &'a [u32],
    pub jacobian: &'a [Part],
}

impl Web {
    /// Plans the elimination for joints between these nodes.
    pub fn build(&mut self, of: Members) {
        self.holds.clear();
        self.hub_block.clear();
        self.hub_block.resize(of.nodes.len(), 0);
        for (l, link) in of.links.iter().enumerate().filter(|(_, link)| link.row_count > 0) {
            let ends = &of.ends[link.end_start as usize..][..link.end_count as usize];
            for (e, &end) in ends.iter().enumerate() {
                if of.nodes[end as usize].movable {
                    self.holds.push((end, l as u32, e as u32));
                    self.hub_block[end as usize] += 1;
                }
            }
        }
        self.holds.sort_unstable();
        self.groups.clear();
        self.link_block.clear();
        self.groups.sizes.extend(of.links.iter().map(|link| link.row_count));
        self.link_block.extend(0..of.links.len() as u32);
        for (node, block) in of.nodes.iter().zip(&mut self.hub_block) {
            let stays = *block > HUB;
            *block = if stays { self.groups.sizes.len() as u32 } else { NONE };
            if stays {
                self.groups.sizes.push(if node.is_point { 3 } else { 6 });
            }
        }
        for of_node in self.holds.chunk_by(|a, b| a.0 == b.0) {
            let hub = self.hub_block[of_node[0].0 as usize];
            for &(_, link, _) in of_node {
                self.groups.members.push(link);
                if hub != NONE {
                    self.groups.members.push(hub);
                    self.groups.end_group();
                }
            }
            if hub == NONE {
                self.groups.end_group();
            }
        }
        let anew = self.plan.build(&self.groups);
        if !anew && self.known == self.holds {
            return;
        }
        self.known.clone_from(&self.holds);
        self.entries.clear();
        for of_node in self.holds.chunk_by(|a, b| a.0 == b.0) {
            let hub = self.hub_block[of_node[0].0 as usize];
            for (i, &(_, later, _)) in of_node.iter().enumerate() {
                if hub != NONE {
                    self.entries.push(self.plan.entry(later, hub));
                    continue;
                }
                let pairs = of_node[..=i].iter().map(|other| self.plan.entry(later, other.1));
                self.entries.extend(pairs);
            }
        }
    }

    /// Forgets the factor: what a step leaves is nothing that the next depends on.
    pub fn forget(&mut self) {
        self.serves = false;
        self.moment = None;
        self.guesses.iter_mut().for_each(|guess| guess.impulses.clear());
    }

    /// The guess of a moment.
    pub fn guess(&mut self, moment: usize) -> &mut Guess {
        &mut self.guesses[moment]
    }

    /// Whether the factor was made in this step for the same rows, if of other poses.
    pub fn may_serve(&self, rows: &[JointRow]) -> bool {
        let same = |(row, &known): (&JointRow, &f64)| match row.status {
            Status::Free => (row.compliance - known).abs() <= ALIKE * known,
            _ => known.is_nan(),
        };
        self.serves
            && rows.len() == self.factored.len()
            && rows.iter().zip(&self.factored).all(same)
    }

    /// The holds of a node.
    fn holds_of(&self, node: u32) -> &[(u32, u32, u32)] {
        let start = self.holds.partition_point(|hold| hold.0 < node);
        let count = self.holds[start..].partition_point(|hold| hold.0 == node);
        &self.holds[start..start + count]
    }

    /// Adds what an impulse on a node does to all unknowns: J M⁻¹j, or j itself where the node stays. Says
    /// whether it stays.
    pub fn push(&self, of: Members, node: u32, part: &Part, out: &mut [f64]) -> bool {
        let mass = &of.nodes[node as usize];
        let hub = self.hub_block[node as usize];
        if hub != NONE {
            let push = mass.row(part);
            out[self.plan.unknowns(hub)].iter_mut().zip(push).for_each(|(x, j)| *x += j);
            return true;
        }
        let answer = mass.answer(part);
        for &(_, l, e) in self.holds_of(node) {
            let link = &of.links[l as usize];
            let out = &mut out[self.plan.unknowns(l)];
            for (i, x) in out.iter_mut().enumerate() {
                let row = of.part(link, i, e as usize);
                *x += row.linear.dot(answer.linear) + row.angular.dot(answer.angular);
            }
        }
        false
    }

    /// Factors the free rows. Returns the multiplications.
    pub fn factor(&mut self, of: Members) -> u64 {
        let Web { plan, numbers, .. } = self;
        self.factored.clear();
        let known = |row: &JointRow| {
            if row.status == Status::Free { row.compliance } else { f64::NAN }
        };
        self.factored.extend(of.rows.iter().map(known));
        self.serves = true;
        numbers.clear(plan);
        for (l, link) in of.links.iter().enumerate().filter(|(_, link)| link.row_count > 0) {
            let entry = plan.entry(l as u32, l as u32);
            let rows = &of.rows[link.row_start as usize..][..link.row_count as usize];
            for (i, row) in rows.iter().enumerate() {
                let free = row.status == Status::Free;
                // others keep their impulses: an equation of their own
                let own = if free { row.compliance + row.gives_way } else { 1.0 };
                numbers.add(&entry, i, i, own);
            }
        }
        let mut next = 0;
        for of_node in self.holds.chunk_by(|a, b| a.0 == b.0) {
            let node = &of.nodes[of_node[0].0 as usize];
            let hub = self.hub_block[of_node[0].0 as usize];
            if hub != NONE {
                write_hub(numbers, &plan.entry(hub, hub), node);
                for &(_, l, e) in of_node {
                    let link = &of.links[l as usize];
                    write_coupling(numbers, &self.entries[next], of, (node, link, e as usize));
                    next += 1;
                }
                continue;
            }
            self.parts.clear();
            self.firsts.clear();
            for &(_, l, e) in of_node {
                self.firsts.push(self.parts.len());
                let link = &of.links[l as usize];
                for i in 0..link.row_count as usize {
                    let part = of.part(link, i, e as usize);
                    self.parts.push([part, node.answer(&part)]);
                }
            }
            self.firsts.push(self.parts.len());
            for later in 0..of_node.len() {
                let rows = &self.parts[self.firsts[later]..self.firsts[later + 1]];
                for (other, hold) in of_node.iter().enumerate().take(later + 1) {
                    let columns = &self.parts[self.firsts[other]..self.firsts[other + 1]];
                    let entry = &self.entries[next];
                    next += 1;
                    // a joint whose sides are one body meets itself twice
                    let twice = other < later && hold.1 == of_node[later].1;
                    for (i, [row, _]) in rows.iter().enumerate() {
                        for (j, [_, column]) in columns.iter().enumerate() {
                            let x = row.linear.dot(column.linear) + row.angular.dot(column.angular);
                            numbers.add(entry, i, j, x);
                            if twice {
                                numbers.add(entry, j, i, x);
                            }
                        }
                    }
                }
            }
        }
        numbers.factor(plan);
        self.vector.clear();
        self.vector.resize(plan.width(), 0.0);
        plan.work[0]
    }

    /// Solves for what is in the vector. Returns the multiplications.
    pub fn solve(&mut self) -> u64 {
        self.numbers.solve(&self.plan, &mut self.vector, &mut self.touched);
        self.plan.work[1]
    }
}

impl Members<'_> {
    /// What an end feels of a row; nothing where the row is not free.
    fn part(&self, link: &Link, row: usize, end: usize) -> Part {
        if self.rows[link.row_start as usize + row].status != Status::Free {
            return Part::default();
        }
        let at = link.jacobian_start as usize + row * link.end_count as usize + end;
        self.jacobian[at]
    }
}

/// −M of a body that stays.
fn write_hub(numbers: &mut Numbers, entry: &Entry, node: &NodeMass) {
    let width = if node.is_point { 3 } else { 6 };
    let mut mass = [0.0; 36];
    node.write(&mut mass[..width * width]);
    for i in 0..width {
        for j in 0..width {
            numbers.add(entry, i, j, -mass[i * width + j]);
        }
    }
}

/// J of a joint and a body that stays.
fn write_coupling(
    numbers: &mut Numbers,
    entry: &Entry,
    of: Members,
    (node, link, end): (&NodeMass, &Link, usize),
) {
    let width = if node.is_point { 3 } else { 6 };
    for i in 0..link.row_count as usize {
        let row = node.row(&of.part(link, i, end));
        for (k, &x) in row[..width].iter().enumerate() {
            numbers.add(entry, i, k, x);
        }
    }
}
