//! What impulses on bodies do through the joints: N = J_c P M⁻¹J_cᵀ for rows j of contacts, with P what the
//! joints leave of a change of velocities.
//!
//! Through the joints an impulse j answers with a, where K (a, −z) = (j, 0) and K = L D Lᵀ is the system that
//! is factored anyway. So N_ik = y_iᵀD⁻¹y_k with y = L⁻¹(j, 0): half a solve a row, and that only on the way
//! from the body to the root of its tree.

use super::system::{NONE, Part, System};

/// y and D⁻¹y of all rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    /// y, one after the other.
    rows: Vec<f64>,
    /// D⁻¹y of the last row.
    last: Vec<f64>,
    /// Where the last row is not zero: (start, length).
    touched: Vec<(u32, u32)>,
    panels: Vec<u32>,
    /// Pushes on nodes that are no unknowns of their own, and how many each row has.
    pushes: Vec<(u32, Part)>,
    counts: Vec<usize>,
}

impl System {
    /// Begins anew, with factors of the rows as they are.
    pub fn spread_clear(&mut self, spread: &mut Spread) {
        spread.rows.clear();
        spread.pushes.clear();
        spread.counts.clear();
        if !self.factored {
            self.assemble(false);
        }
    }

    /// Adds a row whose impulse acts on these nodes, and writes N of it with the rows before and itself.
    pub fn spread_row(
        &mut self,
        spread: &mut Spread,
        pushes: impl Iterator<Item = (u32, Part)>,
        out: &mut [f64],
    ) {
        if self.order.has_many_loops() {
            return self.spread_in_web(spread, pushes, out);
        }
        let width = self.order.scalars;
        let first = spread.rows.len();
        spread.rows.resize(first + width, 0.0);
        let row = &mut spread.rows[first..];
        for (node, part) in pushes {
            let vertex = self.vertex[node as usize];
            if vertex != NONE {
                let start = self.order.start[vertex as usize] as usize;
                let size = self.order.size[vertex as usize] as usize;
                let push = self.nodes[node as usize].row(&part);
                row[start..start + size].iter_mut().zip(push).for_each(|(x, j)| *x += j);
            }
        }
        self.factor.forward(&self.order, row, &mut spread.touched);
        spread.last.clear();
        spread.last.extend_from_slice(row);
        self.factor.divide(&self.order, &mut spread.last, &mut spread.touched);
        for (other, out) in spread.rows.chunks_exact(width.max(1)).zip(out) {
            // two sums side by side, which the processor adds at once
            let mut sums = [0.0; 2];
            for &(start, size) in &spread.touched {
                let part = start as usize..(start + size) as usize;
                let (a, b) = (&spread.last[part.clone()], &other[part]);
                for (a, b) in a.chunks_exact(2).zip(b.chunks_exact(2)) {
                    sums[0] += a[0] * b[0];
                    sums[1] += a[1] * b[1];
                }
                if size % 2 == 1 {
                    sums[0] += a[a.len() - 1] * b[b.len() - 1];
                }
            }
            *out = sums[0] + sums[1];
        }
    }

    /// The same where loops share their joints: with r = (J M⁻¹j, or j of nodes that stay) and y = L⁻¹r it
    /// is N_ik = j_iᵀM⁻¹j_k − y_iᵀD⁻¹y_k, the first over nodes that do not stay.
    fn spread_in_web(
        &mut self,
        spread: &mut Spread,
        pushes: impl Iterator<Item = (u32, Part)>,
        out: &mut [f64],
    ) {
        let (web, members) = self.web();
        let width = web.plan.width();
        let first = spread.rows.len();
        spread.rows.resize(first + width, 0.0);
        let before = spread.pushes.len();
        for (node, part) in pushes {
            if members.nodes[node as usize].movable
                && !web.push(members, node, &part, &mut spread.rows[first..])
            {
                spread.pushes.push((node, part));
            }
        }
        spread.counts.push(spread.pushes.len() - before);
        web.numbers.forward(&web.plan, &mut spread.rows[first..], &mut spread.panels);
        spread.last.clear();
        spread.last.extend_from_slice(&spread.rows[first..]);
        let divided = spread.last.iter_mut().zip(web.numbers.inverse());
        divided.for_each(|(x, inverse)| *x *= inverse);
        let own = &spread.pushes[before..];
        let mut at = 0;
        let others = spread.rows.chunks_exact(width).zip(&spread.counts);
        for ((other, &count), out) in others.zip(out) {
            let mut direct = 0.0;
            for (node, part) in &spread.pushes[at..at + count] {
                let answer = members.nodes[*node as usize].answer(part);
                for (_, own) in own.iter().filter(|own| own.0 == *node) {
                    direct += own.linear.dot(answer.linear) + own.angular.dot(answer.angular);
                }
            }
            at += count;
            let mut through = 0.0;
            for &panel in &spread.panels {
                let part = web.plan.panel_unknowns(panel);
                let pairs = spread.last[part.clone()].iter().zip(&other[part]);
                through += pairs.fold(0.0, |sum, (a, b)| sum + a * b);
            }
            *out = direct - through;
        }
    }
}
