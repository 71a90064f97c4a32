//! Pairs of bodies, and what is known of those that do not touch.
//!
//! Most neighbours in a pile are near and yet do not touch. How far they are apart, and how far both have
//! gone since, says for how long they need not be looked at again. A body's way is the sum of what its
//! fastest point may have gone in each step, so that no gap closes by more than two bodies have gone.

/// Two bodies to be examined.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Slot of the lower body.
    pub a: u32,
    /// Slot of the higher body.
    pub b: u32,
    /// Its place among the loose pairs, or `NOWHERE`.
    pub(super) at: u32,
    /// Whether they are known to have touched in the step before.
    pub(super) touched: bool,
    /// Whether they touch, and else a distance that they have at least, m; 0 where none is known.
    pub(super) touches: bool,
    pub(super) apart: f64,
}

impl Pair {
    /// No pair.
    pub(super) const NONE: Pair =
        Pair { a: 0, b: 0, at: NOWHERE, touched: false, touches: false, apart: 0.0 };
}

/// Place of a pair that has none.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Two bodies whose loose boxes overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loose {
    pub a: u32,
    pub b: u32,
    /// They do not touch while both have gone, and look ahead, no farther than this together, m.
    pub far: f64,
}

/// Share of the distance looked ahead at rest that is left for rounding, and for points of kept contacts
/// that fall behind.
pub(super) const SLACK: f64 = 0.2;

impl Loose {
    /// Nothing is known of the pair.
    pub const UNKNOWN: f64 = f64::NEG_INFINITY;
    /// They touch.
    pub const TOUCHING: f64 = f64::MIN;

    /// A pair of which nothing is known.
    pub fn new(a: u32, b: u32) -> Loose {
        Loose { a: a.min(b), b: a.max(b), far: Loose::UNKNOWN }
    }
}

/// What pairs are ordered by.
pub(super) trait Ordered: Copy {
    fn order(&self) -> (u32, u32);
}

impl Ordered for Pair {
    fn order(&self) -> (u32, u32) {
        (self.a, self.b)
    }
}

impl Ordered for Loose {
    fn order(&self) -> (u32, u32) {
        (self.a, self.b)
    }
}

/// Brings ordered pairs into an ordered list.
pub(super) fn merge<T: Ordered>(list: &mut Vec<T>, new: &[T]) {
    let (mut left, mut from) = (new.len(), list.len());
    list.extend_from_slice(new);
    // from the back, where there is room
    while left > 0 {
        let to = from + left - 1;
        if from > 0 && list[from - 1].order() > new[left - 1].order() {
            from -= 1;
            list[to] = list[from];
        } else {
            left -= 1;
            list[to] = new[left];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::tests::Dice;

    #[test]
    fn merged_lists_are_ordered_and_whole() {
        let mut dice = Dice(4);
        for round in 0..200 {
            let mut draw = |most: f64| {
                let count = (most * dice.roll()) as usize;
                let mut list: Vec<Loose> = (0..count)
                    .map(|_| Loose::new((9.0 * dice.roll()) as u32, (99.0 * dice.roll()) as u32))
                    .collect();
                list.sort_unstable_by_key(Ordered::order);
                list
            };
            let (one, other) = (draw(40.0), draw(if round % 3 == 0 { 1.0 } else { 40.0 }));
            let mut expected: Vec<_> = one.iter().chain(&other).map(Ordered::order).collect();
            expected.sort_unstable();
            let mut merged = one;
            merge(&mut merged, &other);
            assert_eq!(merged.iter().map(Ordered::order).collect::<Vec<_>>(), expected);
        }
    }
}
