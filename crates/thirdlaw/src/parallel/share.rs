//! A slice that several threads change at once, no element by two of them.

use std::marker::PhantomData;
use std::ops::Range;

/// A slice shared by the threads of one stage.
pub struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    life: PhantomData<&'a mut [T]>,
}

// SAFETY: it hands out elements only by functions whose callers promise not to take one twice at once
unsafe impl<T: Send> Sync for Shared<'_, T> {}
unsafe impl<T: Send> Send for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    /// Takes the slice for as long as it is shared.
    pub fn new(slice: &'a mut [T]) -> Shared<'a, T> {
        Shared { start: slice.as_mut_ptr(), len: slice.len(), life: PhantomData }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Where the first element lies.
    #[inline(always)]
    pub fn start(&self) -> *mut T {
        self.start
    }

    /// Where an element lies, or would lie.
    #[inline(always)]
    pub fn address(&self, index: usize) -> *mut T {
        self.start.wrapping_add(index)
    }

    /// An element to read.
    ///
    /// # Safety
    /// Until the result is dropped nobody changes it.
    #[inline(always)]
    pub unsafe fn get(&self, index: usize) -> &T {
        assert!(index < self.len);
        // SAFETY: within the slice, and the caller's promise
        unsafe { &*self.start.add(index) }
    }

    /// Elements to change.
    ///
    /// # Safety
    /// Until the result is dropped nobody else reads or changes these elements.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub unsafe fn range(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: within the slice, and the caller's promise
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

/// Asks for what lies there, without waiting for it; any address will do.
#[inline(always)]
pub fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of::<T>()).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint to the machine that reads and changes nothing
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast::<i8>().wrapping_add(offset)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
