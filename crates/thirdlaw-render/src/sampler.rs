//! Low-discrepancy samples whose error looks like blue noise.
//!
//! Pixels are visited along a Morton curve and share one Sobol sequence: pixel m
//! takes the points m·n … m·n + n − 1. The base-4 digits of the index are
//! shuffled by a hash of the digits above them, separately for each pair of
//! dimensions (ahmed2020). Every pixel, and every square block of pixels, then
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

/// The sequences for a given number of samples a pixel.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    camera: Sequence,
    sky: Sequence,
    /// Every so many samples of a pixel one looks at the sky.
    pub sky_stride: usize,
}

impl Sampler {
    pub fn new(count: usize) -> Self {
        let count = count.clamp(1, 1 << 16);
        // The sky's light is smoothed over neighbours: half the samples suffice.
        let sky_stride = if count < 8 { 1 } else { 2 };
        let sky = Sequence::new(count.div_ceil(sky_stride));
        Self { camera: Sequence::new(count), sky, sky_stride }
    }

    /// Replaces `samples` by those of a pixel. `Sky` and `Bounce` are given to
    /// each `sky_stride`-th sample.
    pub fn fill(&self, x: usize, y: usize, samples: &mut Vec<Sample>) {
        samples.clear();
        samples.resize(self.camera.count, Sample::default());
        let morton = spread(x as u32) | spread(y as u32) << 1;
        for dimension in [Dimension::Pixel, Dimension::Sun] {
            self.camera.fill(morton, dimension, samples, 1);
        }
        for dimension in [Dimension::Sky, Dimension::Bounce] {
            self.sky.fill(morton, dimension, samples, self.sky_stride);
        }
    }
}

/// A number of points for each pixel.
#[derive(Clone, Debug)]
struct Sequence {
    count: usize,
    /// Bits of a point's index within its pixel.
    bits: u32,
    /// Sobol points of the indices below 2^bits.
    points: Vec<[u32; 2]>,
}

impl Sequence {
    fn new(count: usize) -> Self {
        let bits = count.next_power_of_two().trailing_zeros();
        Self { count, bits, points: (0..1u32 << bits).map(sobol).collect() }
    }

    fn fill(&self, morton: u32, dimension: Dimension, samples: &mut [Sample], stride: usize) {
        let seed = hash(0x9E37_79B9 ^ dimension as u32);
        // Twelve digits shuffle squares of up to 4,096 pixels.
        let pixel = shuffle_digits(morton, 12, seed);
        // Sobol points are linear in the bits of the index: the pixel's part is
        // computed once.
        let [a, b] = sobol(pixel.wrapping_shl(self.bits));
        let offset = [a ^ hash(seed + 1), b ^ hash(seed + 2)];
        let key = hash(morton ^ seed.rotate_left(7));
        // With an odd number of bits the top one is a digit of base 2: flip it or not.
        let flip = if self.bits % 2 == 1 { (key & 1) << (self.bits - 1) } else { 0 };
        let mut slots = samples.iter_mut().step_by(stride);
        for four in 0..self.count.div_ceil(4) as u32 {
            let above =
                if self.bits > 3 { shuffle_digits(four, self.bits / 2 - 1, key) } else { four };
            let low = if self.bits > 1 { permutation(four ^ key.rotate_left(9)) } else { IN_ORDER };
            for (k, sample) in slots.by_ref().take(4).enumerate() {
                let index = ((above << 2) | (low >> (2 * k) & 3)) ^ flip;
                let point = self.points[index as usize & (self.points.len() - 1)];
                sample.0[dimension as usize] = std::array::from_fn(|k| {
                    ((point[k] ^ offset[k]) >> 8) as f32 * (1.0 / 16_777_216.0)
                });
            }
        }
    }
}

/// The permutation of 0..4 that changes nothing, two bits per entry.
const IN_ORDER: u32 = 0b11_10_01_00;

/// Shuffles the lowest base-4 digits of `index`, each by the digits above it.
#[inline]
fn shuffle_digits(index: u32, digits: u32, key: u32) -> u32 {
    let mut shuffled = index & !1u32.checked_shl(2 * digits).map_or(u32::MAX, |bit| bit - 1);
    for digit in 0..digits {
        let above = index.checked_shr(2 * digit + 2).unwrap_or(0);
        let order = permutation(above ^ key.rotate_left(digit + 1));
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
    u32::from(PERMUTATIONS[((u64::from(hash(key)) * 24) >> 32) as usize])
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

/// A 32-bit mixer of low bias (wellons2018).
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
            for dimension in [Dimension::Pixel, Dimension::Sun] {
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
    fn every_second_sample_looks_at_the_sky_and_these_are_stratified() {
        let sampler = Sampler::new(16);
        let mut samples = Vec::new();
        let (mut cells, mut rows) = ([0; 16], [0; 16]);
        for (x, y) in [(2, 6), (3, 6)] {
            sampler.fill(x, y, &mut samples);
            let (mut columns, looks) = ([0; 8], samples.iter().step_by(sampler.sky_stride));
            for sample in looks {
                let [u, v] = sample.get(Dimension::Sky);
                cells[(4.0 * u) as usize * 4 + (4.0 * v) as usize] += 1;
                rows[(16.0 * v) as usize] += 1;
                columns[(8.0 * u) as usize] += 1;
            }
            assert_eq!(columns, [1; 8]);
        }
        assert_eq!((cells.iter().sum::<i32>(), rows.iter().sum::<i32>()), (16, 16));
        assert!(cells.iter().all(|&n| n <= 2) && rows.iter().all(|&n| n <= 2));
    }

    #[test]
    fn any_number_of_samples_is_in_range() {
        let mut samples = Vec::new();
        for count in [0, 1, 2, 3, 5, 8, 31, 32, 100] {
            Sampler::new(count).fill(11, 70_000, &mut samples);
            assert_eq!(samples.len(), count.max(1));
            let numbers = samples.iter().flat_map(|s| s.0).flatten();
            assert!({ numbers }.all(|u| (0.0..1.0).contains(&u)));
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
