//! From linear radiance to display bytes and back.

use glamx::Vec3;

/// Linear value of an sRGB value, both 0..1 (IEC 61966-2-1).
pub(crate) fn srgb_to_linear(s: f32) -> f32 {
    if s <= 0.04045 { s / 12.92 } else { libm::powf((s + 0.055) / 1.055, 2.4) }
}

/// sRGB value of a linear value, both 0..1.
pub(crate) fn linear_to_srgb(l: f32) -> f32 {
    if l <= 0.003_130_8 { 12.92 * l } else { 1.055 * libm::powf(l, 1.0 / 2.4) - 0.055 }
}

/// Linear value of a display byte.
pub(crate) fn byte_to_linear(byte: u8) -> f32 {
    srgb_to_linear(f32::from(byte) / 255.0)
}

/// Display byte of a linear value; not-a-number becomes black.
pub(crate) fn linear_to_byte(l: f32) -> u8 {
    (255.0 * linear_to_srgb(l.clamp(0.0, 1.0)) + 0.5) as u8
}

/// A surface colour as the shader wants it: linear, finite, and never quite
/// black or white, since no real surface is.
pub(crate) fn albedo(srgb: [f32; 3]) -> Vec3 {
    let clean = |s: f32| {
        if s.is_finite() { srgb_to_linear(s.clamp(0.0, 1.0)).clamp(0.004, 0.93) } else { 0.5 }
    };
    Vec3::from(srgb.map(clean))
}

/// Compresses highlights and keeps hues: radiance is left alone up to 0.7, the
/// rest rolls off to white, losing saturation only near the top.
pub(crate) fn tone_map(radiance: Vec3) -> Vec3 {
    const SHOULDER: f32 = 0.70;
    let radiance = radiance.max(Vec3::ZERO);
    let peak = radiance.max_element();
    if peak <= SHOULDER {
        return radiance;
    }
    let room = 1.0 - SHOULDER;
    let mapped = 1.0 - room * room / (peak - SHOULDER + room);
    let bleach = 1.0 - 1.0 / (0.15 * (peak - mapped) + 1.0);
    (radiance * (mapped / peak)).lerp(Vec3::splat(mapped), bleach)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_way_through_linear_light() {
        for byte in 0..=255u8 {
            assert_eq!(linear_to_byte(byte_to_linear(byte)), byte);
        }
        assert_eq!(linear_to_byte(f32::NAN), 0);
    }

    #[test]
    fn brighter_stays_brighter_and_below_one() {
        let mut last = 0.0;
        for step in 1..200 {
            let out = tone_map(Vec3::splat(0.05 * step as f32)).x;
            assert!(out > last && out < 1.0);
            last = out;
        }
    }
}
