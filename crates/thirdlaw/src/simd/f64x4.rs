//! A few numbers worked on at once, each in its lane: portable, and in one register where the machine
//! has AVX2. Both give the same bits.

use crate::math::{Vec3, worse};
use std::array::from_fn;
use std::ops::{Add, Div, Mul, Sub};

/// Blocks worked on at once.
pub(crate) const LANES: usize = 4;

/// One number per lane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(crate) struct Wide(pub [f64; LANES]);

/// One vector per lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wide3(pub [Wide; 3]);

/// 1 in every lane.
pub(crate) const ONE: Wide = Wide([1.0; LANES]);

/// [`LANES`] numbers as the machine works on them: each lane as `f64` does.
pub(crate) trait Vector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn load(from: &Wide) -> Self;
    /// The same number in all lanes.
    fn splat(x: f64) -> Self;
    fn store(self, to: &mut Wide);
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// What is positive, else 0; 0 for NaN.
    fn or_zero(self) -> Self;
    /// [`worse`].
    fn worse(self, other: Self) -> Self;
    /// Whether self ≤ `limit` in all lanes.
    fn all_le(self, limit: Self) -> bool;
    /// `yes` where self ≤ `limit`.
    fn select_le(self, limit: Self, yes: Self, no: Self) -> Self;
}

impl Vector for Wide {
    #[inline(always)]
    fn load(from: &Wide) -> Wide {
        *from
    }

    #[inline(always)]
    fn splat(x: f64) -> Wide {
        Wide([x; LANES])
    }

    #[inline(always)]
    fn store(self, to: &mut Wide) {
        *to = self;
    }

    #[inline(always)]
    fn abs(self) -> Wide {
        Wide(from_fn(|i| self.0[i].abs()))
    }

    #[inline(always)]
    fn sqrt(self) -> Wide {
        Wide(from_fn(|i| self.0[i].sqrt()))
    }

    #[inline(always)]
    fn or_zero(self) -> Wide {
        Wide(from_fn(|i| if self.0[i] > 0.0 { self.0[i] } else { 0.0 }))
    }

    #[inline(always)]
    fn worse(self, other: Wide) -> Wide {
        Wide(from_fn(|i| worse(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn all_le(self, limit: Wide) -> bool {
        (0..LANES).all(|i| self.0[i] <= limit.0[i])
    }

    #[inline(always)]
    fn select_le(self, limit: Wide, yes: Wide, no: Wide) -> Wide {
        Wide(from_fn(|i| if self.0[i] <= limit.0[i] { yes.0[i] } else { no.0[i] }))
    }
}

impl Wide3 {
    #[inline(always)]
    pub fn set(&mut self, lane: usize, v: Vec3) {
        self.0[0].0[lane] = v.x;
        self.0[1].0[lane] = v.y;
        self.0[2].0[lane] = v.z;
    }

    #[inline(always)]
    pub fn get(&self, lane: usize) -> Vec3 {
        Vec3::new(self.0[0].0[lane], self.0[1].0[lane], self.0[2].0[lane])
    }
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

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2 {
    //! The lanes in one register. Never fused, so that the bits are those of [`Wide`](super::Wide).

    use crate::simd::f64x4::{Vector, Wide};
    use std::arch::x86_64::*;
    use std::ops::{Add, Div, Mul, Sub};

    /// Four numbers. Made only where the machine has been asked whether it can.
    #[derive(Clone, Copy)]
    pub struct Register(__m256d);

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
    operator!(Add, add, _mm256_add_pd);
    operator!(Sub, sub, _mm256_sub_pd);
    operator!(Mul, mul, _mm256_mul_pd);
    operator!(Div, div, _mm256_div_pd);

    // SAFETY of all below: as above; `Wide` is four aligned numbers
    impl Vector for Register {
        #[inline(always)]
        fn load(from: &Wide) -> Register {
            Register(unsafe { _mm256_load_pd(from.0.as_ptr()) })
        }

        #[inline(always)]
        fn splat(x: f64) -> Register {
            Register(unsafe { _mm256_set1_pd(x) })
        }

        #[inline(always)]
        fn store(self, to: &mut Wide) {
            unsafe { _mm256_store_pd(to.0.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn abs(self) -> Register {
            Register(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
        }

        #[inline(always)]
        fn sqrt(self) -> Register {
            Register(unsafe { _mm256_sqrt_pd(self.0) })
        }

        #[inline(always)]
        fn or_zero(self) -> Register {
            Register(unsafe { _mm256_max_pd(self.0, _mm256_setzero_pd()) })
        }

        #[inline(always)]
        fn worse(self, other: Register) -> Register {
            Register(unsafe {
                let greater = _mm256_cmp_pd::<_CMP_GT_OQ>(other.0, self.0);
                let nan = _mm256_cmp_pd::<_CMP_UNORD_Q>(other.0, other.0);
                _mm256_blendv_pd(self.0, other.0, _mm256_or_pd(greater, nan))
            })
        }

        #[inline(always)]
        fn all_le(self, limit: Register) -> bool {
            let mask = unsafe { _mm256_cmp_pd::<_CMP_LE_OQ>(self.0, limit.0) };
            (unsafe { _mm256_movemask_pd(mask) }) == 0b1111
        }

        #[inline(always)]
        fn select_le(self, limit: Register, yes: Register, no: Register) -> Register {
            Register(unsafe {
                _mm256_blendv_pd(no.0, yes.0, _mm256_cmp_pd::<_CMP_LE_OQ>(self.0, limit.0))
            })
        }
    }
}
