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
    /// Rounds a vector per lane.
    unsafe fn read(from: [*const Quad; LANES]) -> [Self; 3];
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

// SAFETY of the pointers: the caller's, as the trait says
impl Vector for Wide {
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

    use super::{LANES, Quad, Vector, Wide};
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

    /// Eight rows (x, y, z, –) as columns.
    #[inline(always)]
    unsafe fn columns(rows: [__m128; LANES]) -> [Register; 3] {
        unsafe {
            let [r0, r1, r2, r3] = [
                _mm256_set_m128(rows[4], rows[0]),
                _mm256_set_m128(rows[5], rows[1]),
                _mm256_set_m128(rows[6], rows[2]),
                _mm256_set_m128(rows[7], rows[3]),
            ];
            let (xy01, z01) = (_mm256_unpacklo_ps(r0, r1), _mm256_unpackhi_ps(r0, r1));
            let (xy23, z23) = (_mm256_unpacklo_ps(r2, r3), _mm256_unpackhi_ps(r2, r3));
            [
                Register(_mm256_shuffle_ps::<0x44>(xy01, xy23)),
                Register(_mm256_shuffle_ps::<0xEE>(xy01, xy23)),
                Register(_mm256_shuffle_ps::<0x44>(z01, z23)),
            ]
        }
    }

    /// Three columns as eight rows (x, y, z, 0), widened.
    #[inline(always)]
    unsafe fn rows([x, y, z]: [Register; 3]) -> [__m256d; LANES] {
        unsafe {
            let zero = _mm256_setzero_ps();
            let (xy01, xy23) = (_mm256_unpacklo_ps(x.0, y.0), _mm256_unpackhi_ps(x.0, y.0));
            let (z01, z23) = (_mm256_unpacklo_ps(z.0, zero), _mm256_unpackhi_ps(z.0, zero));
            let r0 = _mm256_shuffle_ps::<0x44>(xy01, z01);
            let r1 = _mm256_shuffle_ps::<0xEE>(xy01, z01);
            let r2 = _mm256_shuffle_ps::<0x44>(xy23, z23);
            let r3 = _mm256_shuffle_ps::<0xEE>(xy23, z23);
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
                columns(rows)
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
                columns(rows)
            }
        }

        #[inline(always)]
        unsafe fn add_to(v: [Register; 3], to: [*mut Quad; LANES], mask: u8) {
            unsafe {
                if mask == 0 {
                    return;
                }
                let rows = rows(v);
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
                let rows = rows(v);
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
