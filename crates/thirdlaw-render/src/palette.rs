//! Colours that sit well beside each other under a warm sun.

/// The `i`-th default colour (sRGB, 0..1); neighbours in the sequence differ in
/// both hue and lightness, and after twelve colours the sequence repeats.
pub fn palette(i: usize) -> [f32; 3] {
    const HEX: [u32; 12] = [
        0xE4572E, // vermilion
        0x2E86AB, // lake blue
        0xF3B61F, // saffron
        0x4BA36B, // fern
        0x8E5EA8, // plum
        0xF29E6D, // apricot
        0x1F5F7A, // deep teal
        0xEAD8B1, // sand
        0xC8374E, // raspberry
        0x5FC4B8, // aqua
        0x4A5A8C, // indigo
        0xA9C052, // moss
    ];
    let hex = HEX[i % HEX.len()];
    [16, 8, 0].map(|shift| ((hex >> shift) & 0xff) as f32 / 255.0)
}
