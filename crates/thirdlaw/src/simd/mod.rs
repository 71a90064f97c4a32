//! Several numbers in one register: portable, and by AVX2 where the machine has it, with the same bits.

pub(crate) mod f32x8;
pub(crate) mod f64x4;
