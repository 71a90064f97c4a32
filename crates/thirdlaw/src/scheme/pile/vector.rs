//! Eight numbers of single precision worked on at once, each in its lane: portable, and in one register
//! where the machine has AVX2. Nothing is fused and no lane looks at another, so both give the same
//! bits.

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

#[cfg(target_arch = "x86_64")]
pub mod avx2 {
    //! The lanes in one register.

    use super::{LANES, Quad, Row, Vector, Wide};
    use std::arch::x86_64::*;
    use std::ops::{Add, Div, Mul, Sub};

    /// Eight numbers. Made only where the machine has been asked whether it can.
    #[derive(Clone, Copy)]
    pub struct Register(__m256);

    macro_rules! operator {
        ($trait:ident, $name:ident, $intrinsic:ident) => {
            impl $trait for Register {
                type Output = Register;
                #[inline(always)]
                fn $name(self, other: Register) -> Register {
                    // SAFETY: a register is there only where the machine has AVX2
                    Register(unsafe { $intrinsic(self.0, other.0) })
                }
            }
        };
    }
    operator!(Add, add, _mm256_add_ps);
    operator!(Sub, sub, _mm256_sub_ps);
    operator!(Mul, mul, _mm256_mul_ps);
    operator!(Div, div, _mm256_div_ps);

    /// A row.
    #[derive(Clone, Copy)]
    pub struct Four(__m256d);

    macro_rules! four_operator {
        ($trait:ident, $name:ident, $intrinsic:ident) => {
            impl $trait for Four {
                type Output = Four;
                #[inline(always)]
                fn $name(self, other: Four) -> Four {
                    // SAFETY: as above
                    Four(unsafe { $intrinsic(self.0, other.0) })
                }
            }
        };
    }
    four_operator!(Add, add, _mm256_add_pd);
    four_operator!(Sub, sub, _mm256_sub_pd);
    four_operator!(Mul, mul, _mm256_mul_pd);

    // SAFETY: as above; the pointers are the caller's
    impl Row for Four {
        #[inline(always)]
        unsafe fn load(from: *const f64) -> Four {
            Four(unsafe { _mm256_loadu_pd(from) })
        }

        #[inline(always)]
        fn splat(x: f64) -> Four {
            Four(unsafe { _mm256_set1_pd(x) })
        }
    }

    /// Eight rows (x, y, z, w) as columns.
    #[inline(always)]
    unsafe fn columns(rows: [__m128; LANES]) -> [Register; 4] {
        unsafe {
            let [r0, r1, r2, r3] = [
                _mm256_set_m128(rows[4], rows[0]),
                _mm256_set_m128(rows[5], rows[1]),
                _mm256_set_m128(rows[6], rows[2]),
                _mm256_set_m128(rows[7], rows[3]),
            ];
            let (xy01, zw01) = (_mm256_unpacklo_ps(r0, r1), _mm256_unpackhi_ps(r0, r1));
            let (xy23, zw23) = (_mm256_unpacklo_ps(r2, r3), _mm256_unpackhi_ps(r2, r3));
            [
                Register(_mm256_shuffle_ps::<0x44>(xy01, xy23)),
                Register(_mm256_shuffle_ps::<0xEE>(xy01, xy23)),
                Register(_mm256_shuffle_ps::<0x44>(zw01, zw23)),
                Register(_mm256_shuffle_ps::<0xEE>(zw01, zw23)),
            ]
        }
    }

    /// Four columns as eight rows (x, y, z, w), widened.
    #[inline(always)]
    unsafe fn rows([x, y, z, w]: [Register; 4]) -> [__m256d; LANES] {
        unsafe {
            let (xy01, xy23) = (_mm256_unpacklo_ps(x.0, y.0), _mm256_unpackhi_ps(x.0, y.0));
            let (zw01, zw23) = (_mm256_unpacklo_ps(z.0, w.0), _mm256_unpackhi_ps(z.0, w.0));
            let r0 = _mm256_shuffle_ps::<0x44>(xy01, zw01);
            let r1 = _mm256_shuffle_ps::<0xEE>(xy01, zw01);
            let r2 = _mm256_shuffle_ps::<0x44>(xy23, zw23);
            let r3 = _mm256_shuffle_ps::<0xEE>(xy23, zw23);
            [
                _mm256_cvtps_pd(_mm256_castps256_ps128(r0)),
                _mm256_cvtps_pd(_mm256_castps256_ps128(r1)),
                _mm256_cvtps_pd(_mm256_castps256_ps128(r2)),
                _mm256_cvtps_pd(_mm256_castps256_ps128(r3)),
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(r0)),
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(r1)),
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(r2)),
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(r3)),
            ]
        }
    }

    // SAFETY of all below: as above; the pointers are the caller's, as the trait says
    impl Vector for Register {
        #[inline(always)]
        fn load(from: &Wide) -> Register {
            Register(unsafe { _mm256_load_ps(from.0.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut Wide) {
            unsafe { _mm256_store_ps(to.0.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn splat(x: f32) -> Register {
            Register(unsafe { _mm256_set1_ps(x) })
        }

        #[inline(always)]
        fn sqrt(self) -> Register {
            Register(unsafe { _mm256_sqrt_ps(self.0) })
        }

        #[inline(always)]
        fn max(self, other: Register) -> Register {
            Register(unsafe { _mm256_max_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn min(self, other: Register) -> Register {
            Register(unsafe { _mm256_min_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn select_le(self, limit: Register, yes: Register, no: Register) -> Register {
            Register(unsafe {
                _mm256_blendv_ps(no.0, yes.0, _mm256_cmp_ps::<_CMP_LE_OQ>(self.0, limit.0))
            })
        }

        #[inline(always)]
        fn all_le(self, limit: Register) -> bool {
            let mask = unsafe { _mm256_cmp_ps::<_CMP_LE_OQ>(self.0, limit.0) };
            (unsafe { _mm256_movemask_ps(mask) }) == 0xFF
        }

        #[inline(always)]
        unsafe fn read(from: [*const Quad; LANES]) -> [Register; 3] {
            unsafe {
                let mut rows = [_mm_setzero_ps(); LANES];
                for lane in 0..LANES {
                    rows[lane] = _mm256_cvtpd_ps(_mm256_load_pd(from[lane].cast()));
                }
                let [x, y, z, _] = columns(rows);
                [x, y, z]
            }
        }

        type Row = Four;

        #[inline(always)]
        fn columns(rows: [Four; LANES]) -> [Register; 4] {
            unsafe {
                let mut rounded = [_mm_setzero_ps(); LANES];
                for lane in 0..LANES {
                    rounded[lane] = _mm256_cvtpd_ps(rows[lane].0);
                }
                columns(rounded)
            }
        }

        #[inline(always)]
        unsafe fn read_single(from: [*const [f32; 4]; LANES]) -> [Register; 4] {
            unsafe {
                let mut rows = [_mm_setzero_ps(); LANES];
                for lane in 0..LANES {
                    rows[lane] = _mm_loadu_ps(from[lane].cast());
                }
                columns(rows)
            }
        }

        #[inline(always)]
        unsafe fn write(v: [Register; 4], to: [*mut Quad; LANES], mask: u8) {
            unsafe {
                let rows = rows(v);
                for lane in 0..LANES {
                    if mask >> lane & 1 == 1 {
                        _mm256_storeu_pd(to[lane].cast(), rows[lane]);
                    }
                }
            }
        }

        #[inline(always)]
        unsafe fn read_difference(
            b: [*const Quad; LANES],
            a: [*const Quad; LANES],
        ) -> [Register; 3] {
            unsafe {
                let mut rows = [_mm_setzero_ps(); LANES];
                for lane in 0..LANES {
                    let (b, a) = (_mm256_load_pd(b[lane].cast()), _mm256_load_pd(a[lane].cast()));
                    rows[lane] = _mm256_cvtpd_ps(_mm256_sub_pd(b, a));
                }
                let [x, y, z, _] = columns(rows);
                [x, y, z]
            }
        }

        #[inline(always)]
        unsafe fn add_to(v: [Register; 3], to: [*mut Quad; LANES], mask: u8) {
            unsafe {
                if mask == 0 {
                    return;
                }
                let rows = rows([v[0], v[1], v[2], Register::splat(0.0)]);
                for lane in 0..LANES {
                    // bodies that move come together, so that most masks are whole
                    if mask == 0xFF || mask >> lane & 1 == 1 {
                        let to = to[lane].cast();
                        _mm256_store_pd(to, _mm256_add_pd(_mm256_load_pd(to), rows[lane]));
                    }
                }
            }
        }

        #[inline(always)]
        unsafe fn add_scaled_to(
            v: [Register; 3],
            scale: [*const Quad; LANES],
            to: [*mut Quad; LANES],
            mask: u8,
        ) {
            unsafe {
                if mask == 0 {
                    return;
                }
                let rows = rows([v[0], v[1], v[2], Register::splat(0.0)]);
                for lane in 0..LANES {
                    if mask == 0xFF || mask >> lane & 1 == 1 {
                        let to = to[lane].cast();
                        let add = _mm256_mul_pd(rows[lane], _mm256_load_pd(scale[lane].cast()));
                        _mm256_store_pd(to, _mm256_add_pd(_mm256_load_pd(to), add));
                    }
                }
            }
        }
    }
}
