//! Lists of different length, one for each row, one behind the other in memory.

/// The lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<E> {
    /// Where each row begins; one more than rows.
    pub start: Vec<u32>,
    /// All entries.
    pub entries: Vec<E>,
}

impl<E> Default for Rows<E> {
    fn default() -> Rows<E> {
        Rows { start: Vec::new(), entries: Vec::new() }
    }
}

impl<E: Copy> Rows<E> {
    /// Hands each entry of `all` to the row it names; those of a row keep their order.
    pub fn gathered(rows: usize, all: &[(u32, E)]) -> Rows<E> {
        let mut start = vec![0_u32; rows + 1];
        for (row, _) in all {
            start[*row as usize + 1] += 1;
        }
        for i in 0..rows {
            start[i + 1] += start[i];
        }
        let mut entries = all.first().map_or(Vec::new(), |first| vec![first.1; all.len()]);
        let mut next = start.clone();
        for &(row, entry) in all {
            let next = &mut next[row as usize];
            entries[*next as usize] = entry;
            *next += 1;
        }
        Rows { start, entries }
    }

    /// Rows made one after the other: `fill(row, out)` writes one into an empty list.
    pub fn made(rows: usize, mut fill: impl FnMut(usize, &mut Vec<E>)) -> Rows<E> {
        let mut out = Rows { start: vec![0], entries: Vec::new() };
        let mut row = Vec::new();
        for i in 0..rows {
            row.clear();
            fill(i, &mut row);
            out.entries.extend_from_slice(&row);
            out.start.push(out.entries.len() as u32);
        }
        out
    }

    /// Entries of a row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[E] {
        &self.entries[self.start[row] as usize..self.start[row + 1] as usize]
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.start.len().saturating_sub(1)
    }
}

/// Sorts a short list by its keys and joins entries with the same one, in the order they came in.
pub fn join(list: &mut Vec<(u32, f64)>, join: impl Fn(f64, f64) -> f64) {
    list.sort_by_key(|entry| entry.0);
    list.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = join(kept.1, next.1);
        }
        same
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_the_order_of_their_entries() {
        let rows = Rows::gathered(3, &[(2, 'a'), (0, 'b'), (2, 'c'), (2, 'd')]);
        assert_eq!(rows.rows(), 3);
        assert_eq!(
            (rows.row(0), rows.row(1), rows.row(2)),
            (&['b'][..], &[][..], &['a', 'c', 'd'][..])
        );
        assert!(Rows::<char>::gathered(2, &[]).row(1).is_empty());
    }

    #[test]
    fn entries_with_the_same_key_are_joined() {
        let mut list = vec![(3, 1.0), (1, 2.0), (3, 4.0), (1, 8.0), (2, 16.0)];
        join(&mut list, |a, b| a + b);
        assert_eq!(list, [(1, 10.0), (2, 16.0), (3, 5.0)]);
    }
}
