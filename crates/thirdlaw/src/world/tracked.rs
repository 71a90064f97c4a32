//! A value that counts how often it was lent out for a change.
//!
//! What is derived from a world's state, such as the tree that questions go through, is up to date as
//! long as the count is the same. No way to change the state can forget to say so.

use std::ops::{Deref, DerefMut};

/// A value with a count of its changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracked<T> {
    value: T,
    changes: u64,
}

impl<T> Tracked<T> {
    pub fn new(value: T) -> Tracked<T> {
        Tracked { value, changes: 0 }
    }

    /// How often it was lent out.
    pub fn changes(&self) -> u64 {
        self.changes
    }
}

impl<T> Deref for Tracked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Tracked<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.changes = self.changes.wrapping_add(1);
        &mut self.value
    }
}
