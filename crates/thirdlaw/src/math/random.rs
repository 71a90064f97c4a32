//! Random numbers without a state: a function of seed, particle and purpose.
//!
//! A particle draws the same numbers whoever else is born, whatever the order and the step.

/// A number in [0, 1) for the `lane`-th draw of a particle.
pub fn unit(seed: u64, particle: u64, lane: u32) -> f64 {
    let word = mix(mix(seed ^ 0x6A09_E667_F3BC_C909).wrapping_add(particle))
        ^ u64::from(lane).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mix(word) >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// A bijection of 64 bits in which every bit of the input moves about half the bits of the output.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use crate::math::random::unit;

    #[test]
    fn numbers_are_even_and_lanes_and_particles_are_unrelated() {
        let count = 20_000;
        let mut cells = [0_u32; 64];
        for particle in 0..count {
            let cell = |lane| (8.0 * unit(7, particle, lane)) as usize;
            cells[8 * cell(0) + cell(1)] += 1;
        }
        // χ² with 63 degrees of freedom: mean 63, deviation 11.2
        let mean = count as f64 / 64.0;
        let chi: f64 = cells.iter().map(|&n| (f64::from(n) - mean).powi(2) / mean).sum();
        assert!((20.0..110.0).contains(&chi), "{chi}");
        assert_ne!(unit(1, 5, 0), unit(2, 5, 0));
    }
}
