//! Images of 8-bit sRGB pixels, and what is done with several of them.

/// An image; rows from top to bottom, four bytes (red, green, blue, alpha) a pixel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `4 · width · height` bytes, sRGB with alpha.
    pub rgba8: Vec<u8>,
}

impl Image {
    /// An image of one colour.
    pub fn filled(width: usize, height: usize, rgba: [u8; 4]) -> Self {
        Self { width, height, rgba8: rgba.repeat(width * height) }
    }

    /// The pixel in column `x` of row `y`.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 4] {
        let at = 4 * (y * self.width + x);
        let mut rgba = [0; 4];
        rgba.copy_from_slice(&self.rgba8[at..at + 4]);
        rgba
    }

    /// The pixels without alpha, three bytes each, as video encoders want them.
    pub fn rgb(&self) -> Vec<u8> {
        self.rgba8.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect()
    }

    /// The image at another, usually smaller, size. Each new pixel is the mean,
    /// in linear light, of the area it covers. A size of zero gives an empty image.
    pub fn downscaled(&self, width: usize, height: usize) -> Image {
        if width == 0 || height == 0 || self.width == 0 || self.height == 0 {
            return Image::default();
        }
        let columns = spans(self.width, width);
        let rows = spans(self.height, height);
        let linear: Vec<f32> = (0..=255u8).map(crate::tone::byte_to_linear).collect();
        let mut rgba8 = Vec::with_capacity(4 * width * height);
        for row in &rows {
            for column in &columns {
                let mut sum = [0.0f32; 4];
                let mut area = 0.0;
                for &(y, wy) in row {
                    for &(x, wx) in column {
                        let at = 4 * (y * self.width + x);
                        let weight = wx * wy;
                        for (k, s) in sum.iter_mut().enumerate().take(3) {
                            *s += weight * linear[self.rgba8[at + k] as usize];
                        }
                        sum[3] += weight * f32::from(self.rgba8[at + 3]);
                        area += weight;
                    }
                }
                for s in &sum[..3] {
                    rgba8.push(crate::tone::linear_to_byte(s / area));
                }
                rgba8.push((sum[3] / area + 0.5) as u8);
            }
        }
        Image { width, height, rgba8 }
    }

    fn paste(&mut self, image: &Image, left: usize, top: usize) {
        for y in 0..image.height {
            let from = 4 * y * image.width;
            let to = 4 * ((top + y) * self.width + left);
            let bytes = 4 * image.width;
            self.rgba8[to..to + bytes].copy_from_slice(&image.rgba8[from..from + bytes]);
        }
    }
}

/// Which old pixels each new pixel covers along one axis, and how much of each.
fn spans(old: usize, new: usize) -> Vec<Vec<(usize, f32)>> {
    let scale = old as f64 / new as f64;
    (0..new)
        .map(|i| {
            let (lo, hi) = (i as f64 * scale, (i + 1) as f64 * scale);
            (lo as usize..(hi.ceil() as usize).min(old))
                .map(|k| (k, ((k + 1) as f64).min(hi) - (k as f64).max(lo)))
                .filter(|&(_, weight)| weight > 1e-9)
                .map(|(k, weight)| (k, weight as f32))
                .collect()
        })
        .collect()
}

/// The images in reading order on a grid of `columns` columns, with thin white
/// gaps. Cells have the size of the largest image.
pub fn contact_sheet(images: &[Image], columns: usize) -> Image {
    let columns = columns.clamp(1, images.len().max(1));
    let rows = images.len().div_ceil(columns);
    let cell_width = images.iter().map(|i| i.width).max().unwrap_or(0);
    let cell_height = images.iter().map(|i| i.height).max().unwrap_or(0);
    if cell_width == 0 || cell_height == 0 {
        return Image::default();
    }
    let gap = (cell_width / 120).clamp(2, 8);
    let mut sheet = Image::filled(
        columns * cell_width + (columns + 1) * gap,
        rows * cell_height + (rows + 1) * gap,
        [255; 4],
    );
    for (i, image) in images.iter().enumerate() {
        let left = gap + (i % columns) * (cell_width + gap);
        let top = gap + (i / columns) * (cell_height + gap);
        sheet.paste(image, left, top);
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downscaling_averages_light_and_keeps_flat_colours() {
        let flat = Image::filled(7, 5, [12, 130, 250, 255]).downscaled(3, 2);
        assert!(flat.rgba8.chunks_exact(4).all(|p| p == [12, 130, 250, 255]));

        let mut half = Image::filled(2, 1, [0, 0, 0, 255]);
        half.rgba8[..3].fill(255);
        // Half the light of white is sRGB 188, not 128.
        assert_eq!(half.downscaled(1, 1).pixel(0, 0), [188, 188, 188, 255]);
        assert_eq!(half.downscaled(0, 4), Image::default());
    }

    #[test]
    fn contact_sheet_lays_out_in_reading_order() {
        let images: Vec<Image> = (0..5u8).map(|i| Image::filled(10, 6, [i, 0, 0, 255])).collect();
        let sheet = contact_sheet(&images, 3);
        assert_eq!((sheet.width, sheet.height), (3 * 10 + 4 * 2, 2 * 6 + 3 * 2));
        assert_eq!(sheet.pixel(2, 2)[0], 0);
        assert_eq!(sheet.pixel(14, 2)[0], 1);
        assert_eq!(sheet.pixel(14, 10)[0], 4);
        assert_eq!(sheet.pixel(26, 10), [255; 4]);
        assert_eq!(contact_sheet(&[], 3), Image::default());
    }

    #[test]
    fn rgb_drops_alpha() {
        assert_eq!(Image::filled(2, 1, [1, 2, 3, 4]).rgb(), [1, 2, 3, 1, 2, 3]);
    }
}
