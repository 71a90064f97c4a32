//! The exact solution of an island's joints. Which bounded rows are free and which at a bound is found by
//! guessing, solving and changing what contradicts itself, all at once; where that does not end, by a
//! descent (`descent`).

use super::system::{JointRow, Link, NONE, Status, System};
use crate::math::{Twist, worse};

/// Changes of states by guessing at most.
const ROUNDS: usize = 10;
/// Solves with the same factors at most, where loops share their joints.
const SOLVES: usize = 6;
/// Defects that are left of those before a solve where it went well, ...
const WELL: f64 = 0.1;
/// ... of those at the beginning where nothing more is to be gained, and at all, m/s or rad/s.
const GONE: f64 = 1e-8;
const NOTHING: f64 = 1e-12;

impl System {
    /// Takes the defects of all rows away by impulses; `v` is what the velocities are with the
    /// impulses that the rows have. Says whether all bounds came to agree.
    ///
    /// Where a row holds a velocity that a limit forbids, the guess that both are free gives impulses as
    /// large as their compliance is small. So all rows are judged before any is changed, and the next
    /// guess begins where the solve began: what is left of such impulses by rounding would be judged again,
    /// and grow from guess to guess.
    pub fn solve(&mut self, v: &mut [Twist]) -> bool {
        let bounded = self.rows.iter().any(JointRow::is_bounded);
        if bounded {
            self.keep_entry(v);
        }
        self.clamp_all(v);
        let many = self.order.has_many_loops();
        for _ in 0..ROUNDS {
            if many {
                self.refine(v);
            } else {
                if !self.factored {
                    self.assemble(false);
                }
                self.correct(v);
            }
            if !self.judge(v) {
                if bounded && self.is_torn(v) {
                    break;
                }
                return true;
            }
            if !many {
                self.return_to_entry(v);
            }
            self.clamp_all(v);
        }
        self.descend(v)
    }

    /// Whether two bounded rows that say the same are both free, so that one of them is not met.
    fn is_torn(&self, v: &[Twist]) -> bool {
        self.factor.redundant > 0
            && self.links.iter().any(|link| {
                (link.row_start..link.row_start + link.row_count).any(|r| {
                    let row = &self.rows[r as usize];
                    let w =
                        self.rate(link, r as usize, v) + row.bias + row.compliance * row.impulse;
                    row.is_bounded() && row.status == Status::Free && w.abs() > row.rough()
                })
            })
    }

    /// Takes the defects of free rows away where loops share their joints, by factors of other poses if they
    /// serve.
    fn refine(&mut self, v: &mut [Twist]) {
        if !self.factored && !self.web.may_serve(&self.rows) {
            self.assemble(false);
        }
        let mut before = self.load_defects(v);
        let defects = before;
        let moment = self.web.moment.take();
        if let Some(moment) = moment {
            before = self.begin_with_guess(moment, before, v);
        }
        let enough = (GONE * defects).max(NOTHING);
        for _ in 0..SOLVES {
            if before <= enough {
                break;
            }
            self.factor.work += self.web.solve();
            self.take_step(v);
            let left = self.load_defects(v);
            // a NaN does not go well
            let well = left <= WELL * before;
            before = left;
            if left <= enough || well {
                continue;
            }
            if self.factored {
                break;
            }
            self.assemble(false);
            before = self.load_defects(v);
        }
        if let Some(moment) = moment {
            let guess = self.web.guess(moment);
            guess.defects = defects;
            guess.impulses.clear();
            guess.impulses.extend(self.rows.iter().map(|row| row.impulse));
        }
    }

    /// Begins with the impulses of the substep before, if they leave less of the defects.
    fn begin_with_guess(&mut self, moment: usize, defects: f64, v: &mut [Twist]) -> f64 {
        let guess = std::mem::take(self.web.guess(moment));
        let like = guess.impulses.len() == self.rows.len()
            && guess.defects > 0.5 * defects
            && guess.defects < 2.0 * defects;
        let mut left = defects;
        if like {
            self.give_free(&guess.impulses, 1.0, v);
            left = self.load_defects(v);
            // a NaN does not help either
            let helps = left <= WELL * defects;
            if !helps {
                self.give_free(&guess.impulses, -1.0, v);
                left = self.load_defects(v);
            }
        }
        *self.web.guess(moment) = guess;
        left
    }

    /// Adds impulses to free rows.
    fn give_free(&mut self, impulses: &[f64], sign: f64, v: &mut [Twist]) {
        for l in 0..self.links.len() {
            let link = self.links[l];
            let rows = link.row_start as usize..(link.row_start + link.row_count) as usize;
            for (r, z) in rows.clone().zip(&impulses[rows]) {
                if self.rows[r].status == Status::Free {
                    let dz = sign * z;
                    self.rows[r].impulse += dz;
                    self.apply(&link, r, dz, v);
                }
            }
        }
    }

    /// Takes the defects of free rows away once more with the factors at hand.
    pub(super) fn correct(&mut self, v: &mut [Twist]) {
        self.solve_defects(v);
        self.take_step(v);
    }

    /// δz of a link's rows, and the sign that they were found with.
    fn found(&self, l: usize) -> (&[f64], f64) {
        let count = self.links[l].row_count as usize;
        if self.order.has_many_loops() {
            return (&self.web.vector[self.web.plan.unknowns(l as u32)], 1.0);
        }
        let start = self.order.start[self.link_vertex(l) as usize] as usize;
        (&self.factor.vector[start..start + count], -1.0)
    }

    fn take_step(&mut self, v: &mut [Twist]) {
        for l in 0..self.links.len() {
            let link = self.links[l];
            for i in 0..link.row_count as usize {
                let row = link.row_start as usize + i;
                if self.rows[row].status == Status::Free {
                    // from the impulses, not from δv: what one side gains the other loses exactly
                    let (found, sign) = self.found(l);
                    let dz = sign * found[i];
                    self.rows[row].impulse += dz;
                    self.apply(&link, row, dz, v);
                }
            }
        }
    }

    /// What would take the defects of free rows away, by rows.
    pub(super) fn newton_step(&mut self, v: &[Twist], steps: &mut Vec<f64>) {
        self.solve_defects(v);
        steps.clear();
        for l in 0..self.links.len() {
            let (found, sign) = self.found(l);
            steps.extend(found.iter().map(|z| sign * z));
        }
    }

    /// Solves for the defects of free rows, into the vector of the factors.
    fn solve_defects(&mut self, v: &[Twist]) {
        self.load_defects(v);
        if self.order.has_many_loops() {
            self.factor.work += self.web.solve();
        } else {
            self.factor.solve(&self.order);
        }
    }

    /// −w of free rows as the right side. Returns the largest.
    fn load_defects(&mut self, v: &[Twist]) -> f64 {
        let many = self.order.has_many_loops();
        let mut vector =
            std::mem::take(if many { &mut self.web.vector } else { &mut self.factor.vector });
        vector.fill(0.0);
        let mut largest = 0.0_f64;
        for (l, link) in self.links.iter().enumerate() {
            let start = if many {
                self.web.plan.unknowns(l as u32).start
            } else {
                self.order.start[self.link_vertex(l) as usize] as usize
            };
            for i in 0..link.row_count as usize {
                let row = &self.rows[link.row_start as usize + i];
                if row.status == Status::Free {
                    let w = self.rate(link, link.row_start as usize + i, v)
                        + row.bias
                        + row.compliance * row.impulse;
                    vector[start + i] = -w;
                    largest = worse(largest, w.abs());
                }
            }
        }
        *(if many { &mut self.web.vector } else { &mut self.factor.vector }) = vector;
        largest
    }

    /// Changes the states of rows that contradict themselves. Says whether there were any.
    fn judge(&mut self, v: &[Twist]) -> bool {
        let mut changed = false;
        for l in 0..self.links.len() {
            let link = self.links[l];
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let row = self.rows[r];
                let status = match row.status {
                    Status::Free if row.impulse < row.lower => Status::Lower,
                    Status::Free if row.impulse > row.upper => Status::Upper,
                    Status::Lower | Status::Upper if row.lower < row.upper => {
                        let w = self.rate(&link, r, v) + row.bias + row.compliance * row.impulse;
                        let small = row.small();
                        let wrong =
                            if row.status == Status::Lower { w < -small } else { w > small };
                        if wrong { Status::Free } else { row.status }
                    }
                    status => status,
                };
                if status != row.status {
                    self.rows[r].status = status;
                    self.factored = false;
                    self.changes += 1;
                    changed = true;
                }
            }
        }
        changed
    }

    /// Brings the impulse of a row that is at a bound there.
    fn clamp(&mut self, link: &Link, r: usize, v: &mut [Twist]) {
        let row = self.rows[r];
        let wanted = match row.status {
            Status::Lower => row.lower,
            Status::Upper => row.upper,
            _ => return,
        };
        if wanted != row.impulse {
            self.apply(link, r, wanted - row.impulse, v);
            self.rows[r].impulse = wanted;
        }
    }

    fn clamp_all(&mut self, v: &mut [Twist]) {
        for l in 0..self.links.len() {
            let link = self.links[l];
            for r in link.row_start..link.row_start + link.row_count {
                let r = r as usize;
                let row = &mut self.rows[r];
                if row.status == Status::Free && row.impulse < row.lower {
                    row.status = Status::Lower;
                    self.factored = false;
                } else if row.status == Status::Free && row.impulse > row.upper {
                    row.status = Status::Upper;
                    self.factored = false;
                }
                self.clamp(&link, r, v);
            }
        }
    }

    /// Factors the rows as they are, or as rows that give way. Those of many loops always do.
    pub(super) fn assemble(&mut self, gives_way: bool) {
        let many = self.order.has_many_loops();
        self.factor.gives_way = gives_way || many;
        if self.factor.gives_way {
            self.set_ways();
        }
        if many {
            let (web, members) = self.web();
            let work = web.factor(members);
            self.factor.work += work;
            self.factored = true;
            return;
        }
        self.factor.clear(&self.order);
        let values = &mut self.factor.values;
        for (node, &vertex) in self.nodes.iter().zip(&self.vertex) {
            if vertex != NONE {
                let at = self.order.diagonal[vertex as usize] as usize;
                node.write(&mut values[at..]);
            }
        }
        let first = self.kinds.len() - self.links.len();
        for (l, link) in self.links.iter().enumerate() {
            let vertex = (first + l) as u32;
            let rows = link.row_count as usize;
            let at = self.order.diagonal[vertex as usize] as usize;
            for i in 0..rows {
                let row = &self.rows[link.row_start as usize + i];
                if row.status == Status::Free {
                    let way = if gives_way { row.gives_way } else { 0.0 };
                    values[at + i * rows + i] = -row.compliance - way;
                    self.factor.scale[self.order.start[vertex as usize] as usize + i] =
                        row.compliance;
                }
            }
            let ends = &self.ends[link.end_start as usize..][..link.end_count as usize];
            for (e, &end) in ends.iter().enumerate() {
                let body = self.vertex[end as usize];
                if body == NONE {
                    continue;
                }
                let Some((place, link_rows)) = self.order.coupling(vertex, body) else { continue };
                let width = self.order.size[body as usize] as usize;
                for i in 0..rows {
                    if self.rows[link.row_start as usize + i].status != Status::Free {
                        continue;
                    }
                    let start = link.jacobian_start as usize;
                    let part = &self.jacobian[start + i * link.end_count as usize + e];
                    let row = self.nodes[end as usize].row(part);
                    for (k, &x) in row[..width].iter().enumerate() {
                        let at = if link_rows { i * width + k } else { k * rows + i };
                        values[place as usize + at] = x;
                    }
                }
            }
        }
        self.factor.factor(&self.order, |v| v as usize >= first);
        self.factored = true;
    }
}

impl JointRow {
    /// Whether it may come to a bound.
    pub(super) fn is_bounded(&self) -> bool {
        self.status != Status::Off && (self.lower.is_finite() || self.upper.is_finite())
    }

    /// w that is rounding.
    pub(super) fn small(&self) -> f64 {
        1e-12 * (1.0 + self.bias.abs())
    }

    /// w of a row that is not met.
    pub(super) fn rough(&self) -> f64 {
        1e-6 * (1.0 + self.bias.abs())
    }
}
