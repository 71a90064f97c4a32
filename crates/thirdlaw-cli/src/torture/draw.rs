//! Random numbers for scenes: the same for a seed on every machine, whatever the order and the threads.

use thirdlaw::math::{Quat, Vec3, rotation_from_vector};

/// A source of random numbers.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The numbers of one scene of a run.
    pub fn new(seed: u64, scene: u64) -> Draw {
        let mut draw = Draw(seed ^ 0x9E37_79B9_7F4A_7C15);
        let first = draw.word();
        Draw(first ^ scene.wrapping_mul(0xD1B5_4A32_D192_ED03))
    }

    /// SplitMix64.
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between two numbers, rounded to four digits: scenes are to be read by people.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        rounded(low + (high - low) * self.unit(), 4)
    }

    /// Between two positive numbers, every decade as likely as any other.
    pub fn decades(&mut self, low: f64, high: f64) -> f64 {
        rounded(libm::exp(libm::log(low) + libm::log(high / low) * self.unit()), 3)
    }

    /// A whole number, both ends included.
    pub fn whole(&mut self, low: usize, high: usize) -> usize {
        low + ((high - low + 1) as f64 * self.unit()) as usize
    }

    /// Whether something of this probability happens.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.whole(0, items.len() - 1)]
    }

    /// A direction.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let mut one = || 2.0 * self.unit() - 1.0;
            let v = Vec3::new(one(), one(), one());
            let length = v.length();
            if (0.1..1.0).contains(&length) {
                return v / length;
            }
        }
    }

    /// A vector of at most this length along each axis.
    pub fn vector(&mut self, most: f64) -> Vec3 {
        let mut one = || self.between(-most, most);
        Vec3::new(one(), one(), one())
    }

    /// An orientation.
    pub fn rotation(&mut self) -> Quat {
        let angle = self.between(0.0, 3.1);
        rotation_from_vector(angle * self.direction())
    }
}

/// A number with so many digits left.
pub fn rounded(x: f64, digits: usize) -> f64 {
    // through text, so that a rounded number is also short when written
    format!("{:.*e}", digits.saturating_sub(1), x).parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_has_its_own_numbers_and_has_them_again() {
        let first = |seed, scene| Draw::new(seed, scene).unit();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
    }

    #[test]
    fn numbers_are_within_their_bounds_and_short() {
        let mut draw = Draw::new(7, 0);
        for _ in 0..1000 {
            let x = draw.decades(1e-3, 100.0);
            assert!((0.999e-3..=100.1).contains(&x) && format!("{x}").len() < 9, "{x}");
            assert!((3..=5).contains(&draw.whole(3, 5)));
            assert!((draw.direction().length() - 1.0).abs() < 1e-12);
        }
        assert_eq!(rounded(0.012345, 2), 0.012);
    }
}
