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
/// [`Vector::apart`] for this machine.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}

impl Vector for Register {
    #[inline(always)]
    fn apart<T>(work: impl FnOnce() -> T) -> T {
        // SAFETY: registers are used where the machine has them
        unsafe { apart(work) }
    }
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
    unsafe fn read_difference(b: [*const Quad; LANES], a: [*const Quad; LANES]) -> [Register; 3] {
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
