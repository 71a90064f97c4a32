//! A hash that is the same on every platform.

use std::hash::Hasher;

/// A 64-bit hash of a byte stream, the same on every platform and in every version: each eight
/// bytes are folded in by a multiplication and a shift.
#[derive(Clone, Debug, Default)]
pub struct BitHasher {
    value: u64,
    pending: u64,
    pending_count: u32,
    length: u64,
}

impl BitHasher {
    fn fold(value: u64, word: u64) -> u64 {
        let mixed = (value ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    }
}

impl Hasher for BitHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.pending |= u64::from(byte) << (8 * self.pending_count);
            self.pending_count += 1;
            if self.pending_count == 8 {
                self.value = Self::fold(self.value, self.pending);
                self.pending = 0;
                self.pending_count = 0;
            }
        }
        self.length += bytes.len() as u64;
    }

    fn finish(&self) -> u64 {
        let value = Self::fold(Self::fold(self.value, self.pending), self.length);
        Self::fold(value, value >> 32)
    }
}
