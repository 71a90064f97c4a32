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
}

impl System {
    /// Begins anew. The factors must be those of the rows as they are, which a solve leaves.
    pub fn spread_clear(&self, spread: &mut Spread) {
        spread.rows.clear();
    }

    /// Adds a row whose impulse acts on these nodes, and writes N of it with the rows before and itself.
    pub fn spread_row(
        &self,
        spread: &mut Spread,
        pushes: impl Iterator<Item = (u32, Part)>,
        out: &mut [f64],
    ) {
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
}
