//! Low-discrepancy samples whose error looks like blue noise.
//!
//! Pixels are visited along a Morton curve and share one Sobol sequence: pixel m
//! takes the points m·n … m·n + n − 1. The base-4 digits of the index are
//! shuffled by a hash of the digits above them, separately for each pair of
//! dimensions [ahmed2020]. Every pixel, and every square block of pixels, then
//! holds well-stratified points, so that neighbours cancel each other's error.
//! A sample depends on its pixel alone, never on the thread that traces it.

/// Pairs of random numbers that one sample needs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dimension {
    /// Where in the pixel.
    Pixel = 0,
    /// Where on the sun.
    Sun = 1,
    /// Where in the sky.
    Sky = 2,
    /// Where on the sun, seen from what a sky ray met.
    Bounce = 3,
}

const DIMENSIONS: usize = 4;

/// The random numbers of one sample, a pair per dimension.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample([[f32; 2]; DIMENSIONS]);

impl Sample {
    /// Two numbers in 0..1.
    #[inline]
    pub fn get(&self, dimension: Dimension) -> [f32; 2] {
        self.0[dimension as usize]
    }
}

/// The sequence for a given number of samples a pixel.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    count: usize,
    /// Base-4 digits of a sample's index.
    digits: u32,
    /// Sobol points of the indices below 4^digits.
    points: Vec<[u32; 2]>,
}

impl Sampler {
    pub fn new(count: usize) -> Self {
        let count = count.clamp(1, 1 << 16);
        let mut digits = 0;
        while 1usize << (2 * digits) < count {
            digits += 1;
        }
        Self { count, digits, points: (0..1u32 << (2 * digits)).map(sobol).collect() }
    }

    /// Replaces `samples` by those of a pixel.
    pub fn fill(&self, x: usize, y: usize, samples: &mut Vec<Sample>) {
        samples.clear();
        samples.resize(self.count, Sample::default());
        let morton = spread(x as u32) | spread(y as u32) << 1;
        for dimension in 0..DIMENSIONS {
            let seed = hash(0x9E37_79B9 ^ dimension as u32);
            let pixel = shuffle_digits(morton, 16, 0, seed);
            // Sobol points are linear in the bits of the index: the pixel's part
            // is computed once.
            let [a, b] = sobol(pixel.wrapping_shl(2 * self.digits));
            let offset = [a ^ hash(seed + 1), b ^ hash(seed + 2)];
            let key = hash(morton ^ seed.rotate_left(7));
            for (four, group) in samples.chunks_mut(4).enumerate() {
                let four = four as u32;
                let above = shuffle_digits(four, self.digits.saturating_sub(1), 1, key);
                let low = permutation(four ^ key);
                for (k, sample) in group.iter_mut().enumerate() {
                    let index = above << 2 | low >> (2 * k) & 3;
                    let point = self.points[index as usize & (self.points.len() - 1)];
                    sample.0[dimension] = std::array::from_fn(|k| {
                        ((point[k] ^ offset[k]) >> 8) as f32 * (1.0 / 16_777_216.0)
                    });
                }
            }
        }
    }
}

/// Shuffles each base-4 digit of `index` by the digits above it.
#[inline]
fn shuffle_digits(index: u32, digits: u32, level: u32, key: u32) -> u32 {
    let mut shuffled = 0;
    for digit in 0..digits {
        let above = index.checked_shr(2 * digit + 2).unwrap_or(0);
        let order = permutation(above ^ key.rotate_left(digit + level));
        shuffled |= (order >> (2 * (index >> (2 * digit) & 3)) & 3) << (2 * digit);
    }
    shuffled
}

/// First two dimensions of the Sobol sequence, as 32-bit fractions.
fn sobol(index: u32) -> [u32; 2] {
    let mut second = 0;
    let mut direction = 1u32 << 31;
    let mut rest = index;
    while rest != 0 {
        if rest & 1 == 1 {
            second ^= direction;
        }
        rest >>= 1;
        direction ^= direction >> 1;
    }
    [index.reverse_bits(), second]
}

/// One of the 24 permutations of 0..4, chosen by `key`, two bits per entry.
#[inline]
fn permutation(key: u32) -> u32 {
    const PERMUTATIONS: [u8; 24] = permutations();
    u32::from(PERMUTATIONS[(u64::from(hash(key)) * 24 >> 32) as usize])
}

/// All permutations of 0..4, two bits per entry.
const fn permutations() -> [u8; 24] {
    let mut table = [0; 24];
    let mut k = 0;
    let mut packed = 0u32;
    while packed < 256 {
        let seen = 1 << (packed & 3) | 1 << (packed >> 2 & 3) | 1 << (packed >> 4 & 3);
        if seen | 1 << (packed >> 6) == 15 {
            table[k] = packed as u8;
            k += 1;
        }
        packed += 1;
    }
    table
}

/// Puts a zero between the lower 16 bits.
fn spread(x: u32) -> u32 {
    let x = x & 0xffff;
    let x = (x | x << 8) & 0x00ff_00ff;
    let x = (x | x << 4) & 0x0f0f_0f0f;
    let x = (x | x << 2) & 0x3333_3333;
    (x | x << 1) & 0x5555_5555
}

/// A 32-bit mixer of low bias [wellons2018].
#[inline]
fn hash(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    let x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pixel_has_one_sample_per_stratum() {
        let sampler = Sampler::new(16);
        for (x, y) in [(0, 0), (5, 9), (958, 539)] {
            let mut samples = Vec::new();
            sampler.fill(x, y, &mut samples);
            for dimension in [Dimension::Pixel, Dimension::Sun, Dimension::Sky] {
                let (mut cells, mut rows, mut columns) = ([0; 16], [0; 16], [0; 16]);
                for sample in &samples {
                    let [u, v] = sample.get(dimension);
                    assert!((0.0..1.0).contains(&u) && (0.0..1.0).contains(&v));
                    cells[(4.0 * u) as usize * 4 + (4.0 * v) as usize] += 1;
                    columns[(16.0 * u) as usize] += 1;
                    rows[(16.0 * v) as usize] += 1;
                }
                for counts in [cells, rows, columns] {
                    assert_eq!(counts, [1; 16]);
                }
            }
        }
    }

    #[test]
    fn two_by_two_pixels_share_a_finer_stratification() {
        let sampler = Sampler::new(4);
        let mut cells = [0; 16];
        for (x, y) in [(6, 4), (7, 4), (6, 5), (7, 5)] {
            let mut samples = Vec::new();
            sampler.fill(x, y, &mut samples);
            for sample in &samples {
                let [u, v] = sample.get(Dimension::Sky);
                cells[(4.0 * u) as usize * 4 + (4.0 * v) as usize] += 1;
            }
        }
        assert_eq!(cells, [1; 16]);
    }
}
