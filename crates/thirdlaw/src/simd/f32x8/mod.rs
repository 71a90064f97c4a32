//! Eight numbers of single precision worked on at once, each in its lane: portable, and in one register
//! where the machine has AVX2. Nothing is fused and no lane looks at another, so both give the same
//! bits.

#[cfg(target_arch = "x86_64")]
pub mod avx2;

use std::array::from_fn;
use std::ops::{Add, Div, Mul, Sub};

/// Contacts worked on at once.
pub const LANES: usize = 8;

/// One number per lane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Wide(pub [f32; LANES]);

/// One vector per lane.
pub type Wide3 = [Wide; 3];

/// A vector of double precision, padded to a register.
pub type Quad = [f64; 4];

/// [`LANES`] numbers as the machine works on them: each lane as `f32` does.
///
/// # Safety
/// The functions that take pointers read (and write, where the lane is in `mask`) what they point to.
pub trait Vector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn load(from: &Wide) -> Self;
    fn store(self, to: &mut Wide);
    fn splat(x: f32) -> Self;
    fn sqrt(self) -> Self;
    /// self > other ? self : other, lane by lane.
    fn max(self, other: Self) -> Self;
    /// self < other ? self : other, lane by lane.
    fn min(self, other: Self) -> Self;
    /// `yes` where self ≤ `limit`, else `no`; `no` for NaN.
    fn select_le(self, limit: Self, yes: Self, no: Self) -> Self;
    /// Whether self ≤ `limit` in all lanes.
    fn all_le(self, limit: Self) -> bool;
    /// Does what is seldom done in a place of its own, so that it takes no registers from what surrounds it.
    fn apart<T>(work: impl FnOnce() -> T) -> T;
    /// The numbers of double precision that go with it.
    type Row: Row;
    /// Rounds a row per lane.
    fn columns(rows: [Self::Row; LANES]) -> [Self; 4];
    /// Takes over a row of single precision per lane.
    unsafe fn read_single(from: [*const [f32; 4]; LANES]) -> [Self; 4];
    /// Rounds a vector per lane.
    unsafe fn read(from: [*const Quad; LANES]) -> [Self; 3];
    /// Writes a row per lane, in the lanes of `mask`.
    unsafe fn write(v: [Self; 4], to: [*mut Quad; LANES], mask: u8);
    /// b − a, formed in double precision.
    unsafe fn read_difference(b: [*const Quad; LANES], a: [*const Quad; LANES]) -> [Self; 3];
    /// to += v in double precision, in the lanes of `mask`.
    unsafe fn add_to(v: [Self; 3], to: [*mut Quad; LANES], mask: u8);
    /// to += v·scale in double precision, in the lanes of `mask`.
    unsafe fn add_scaled_to(
        v: [Self; 3],
        scale: [*const Quad; LANES],
        to: [*mut Quad; LANES],
        mask: u8,
    );
}

/// Four numbers of double precision, such as those of one lane.
///
/// # Safety
/// Pointers lead to four numbers, at any address.
pub trait Row: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    unsafe fn load(from: *const f64) -> Self;
    fn splat(x: f64) -> Self;
}

/// Rounds a row per lane.
///
/// # Safety
/// The pointers lead to four numbers each.
#[inline(always)]
pub unsafe fn read4<V: Vector>(from: [*const f64; LANES]) -> [V; 4] {
    let mut rows = [V::Row::splat(0.0); LANES];
    for lane in 0..LANES {
        // SAFETY: the caller's
        rows[lane] = unsafe { V::Row::load(from[lane]) };
    }
    V::columns(rows)
}

#[inline(always)]
pub fn load<V: Vector>(from: &Wide3) -> [V; 3] {
    [V::load(&from[0]), V::load(&from[1]), V::load(&from[2])]
}

#[inline(always)]
pub fn add<V: Vector>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub fn sub<V: Vector>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub fn scaled<V: Vector>(a: [V; 3], k: V) -> [V; 3] {
    [a[0] * k, a[1] * k, a[2] * k]
}

#[inline(always)]
pub fn dot<V: Vector>(a: [V; 3], b: [V; 3]) -> V {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub fn cross<V: Vector>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

macro_rules! wide_operator {
    ($trait:ident, $name:ident, $operator:tt) => {
        impl $trait for Wide {
            type Output = Wide;
            #[inline(always)]
            fn $name(self, other: Wide) -> Wide {
                Wide(from_fn(|i| self.0[i] $operator other.0[i]))
            }
        }
    };
}
wide_operator!(Add, add, +);
wide_operator!(Sub, sub, -);
wide_operator!(Mul, mul, *);
wide_operator!(Div, div, /);

/// A row, portable.
#[derive(Clone, Copy)]
pub struct Four([f64; 4]);

macro_rules! four_operator {
    ($trait:ident, $name:ident, $operator:tt) => {
        impl $trait for Four {
            type Output = Four;
            #[inline(always)]
            fn $name(self, other: Four) -> Four {
                Four(from_fn(|i| self.0[i] $operator other.0[i]))
            }
        }
    };
}
four_operator!(Add, add, +);
four_operator!(Sub, sub, -);
four_operator!(Mul, mul, *);

impl Row for Four {
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Four {
        // SAFETY: the caller's, as the trait says
        Four(unsafe { from.cast::<[f64; 4]>().read_unaligned() })
    }

    #[inline(always)]
    fn splat(x: f64) -> Four {
        Four([x; 4])
    }
}

// SAFETY of the pointers: the caller's, as the trait says
impl Vector for Wide {
    #[inline(never)]
    fn apart<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    type Row = Four;

    #[inline(always)]
    fn columns(rows: [Four; LANES]) -> [Wide; 4] {
        from_fn(|x| Wide(from_fn(|lane| rows[lane].0[x] as f32)))
    }

    #[inline(always)]
    unsafe fn read_single(from: [*const [f32; 4]; LANES]) -> [Wide; 4] {
        from_fn(|x| Wide(from_fn(|lane| unsafe { (*from[lane])[x] })))
    }

    #[inline(always)]
    unsafe fn write(v: [Wide; 4], to: [*mut Quad; LANES], mask: u8) {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            unsafe { *to[lane] = from_fn(|x| f64::from(v[x].0[lane])) };
        }
    }

    #[inline(always)]
    fn load(from: &Wide) -> Wide {
        *from
    }

    #[inline(always)]
    fn store(self, to: &mut Wide) {
        *to = self;
    }

    #[inline(always)]
    fn splat(x: f32) -> Wide {
        Wide([x; LANES])
    }

    #[inline(always)]
    fn sqrt(self) -> Wide {
        Wide(from_fn(|i| self.0[i].sqrt()))
    }

    #[inline(always)]
    fn max(self, other: Wide) -> Wide {
        Wide(from_fn(|i| if self.0[i] > other.0[i] { self.0[i] } else { other.0[i] }))
    }

    #[inline(always)]
    fn min(self, other: Wide) -> Wide {
        Wide(from_fn(|i| if self.0[i] < other.0[i] { self.0[i] } else { other.0[i] }))
    }

    #[inline(always)]
    fn select_le(self, limit: Wide, yes: Wide, no: Wide) -> Wide {
        Wide(from_fn(|i| if self.0[i] <= limit.0[i] { yes.0[i] } else { no.0[i] }))
    }

    #[inline(always)]
    fn all_le(self, limit: Wide) -> bool {
        (0..LANES).all(|i| self.0[i] <= limit.0[i])
    }

    #[inline(always)]
    unsafe fn read(from: [*const Quad; LANES]) -> [Wide; 3] {
        from_fn(|x| Wide(from_fn(|lane| unsafe { (*from[lane])[x] as f32 })))
    }

    #[inline(always)]
    unsafe fn read_difference(b: [*const Quad; LANES], a: [*const Quad; LANES]) -> [Wide; 3] {
        from_fn(|x| Wide(from_fn(|lane| unsafe { ((*b[lane])[x] - (*a[lane])[x]) as f32 })))
    }

    #[inline(always)]
    unsafe fn add_to(v: [Wide; 3], to: [*mut Quad; LANES], mask: u8) {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            for (x, v) in v.iter().enumerate() {
                unsafe { (*to[lane])[x] += f64::from(v.0[lane]) };
            }
        }
    }

    #[inline(always)]
    unsafe fn add_scaled_to(
        v: [Wide; 3],
        scale: [*const Quad; LANES],
        to: [*mut Quad; LANES],
        mask: u8,
    ) {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            for (x, v) in v.iter().enumerate() {
                unsafe { (*to[lane])[x] += f64::from(v.0[lane]) * (*scale[lane])[x] };
            }
        }
    }
}
