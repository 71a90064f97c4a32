//! Small PNG files: few colours, each pixel an index into a palette.
//!
//! The palette is found by median cut (Heckbert 1982): the box of colours that spreads most, weighted by its
//! pixels, is cut at its median along its longest side, until there are as many boxes as colours.
//! Nothing is dithered, since dithered pixels do not compress.

use crate::encode::EncodeError;
use crate::image::Image;

/// A colour and how many pixels have it.
type Count = ([u8; 3], u64);

/// The image as the bytes of a PNG file of at most `colors` colours (2 to 256).
pub fn write_indexed_png(image: &Image, colors: usize) -> Result<Vec<u8>, EncodeError> {
    let rgb = image.rgb();
    let mut counts = count(&rgb);
    let palette = median_cut(&mut counts, colors.clamp(2, 256));
    let mut index: Vec<([u8; 3], u8)> =
        counts.iter().map(|&(color, _)| (color, nearest(&palette, color))).collect();
    index.sort_unstable();
    let place = |p: &[u8]| {
        let color = [p[0], p[1], p[2]];
        index.binary_search_by_key(&color, |entry| entry.0).map_or(0, |i| index[i].1)
    };
    let pixels: Vec<u8> = rgb.chunks_exact(3).map(place).collect();

    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.width as u32, image.height as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.concat());
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::High);
    // neighbouring indices mean nothing: differences between them do not compress
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(bytes)
}

fn count(rgb: &[u8]) -> Vec<Count> {
    let mut colors: Vec<[u8; 3]> = rgb.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
    colors.sort_unstable();
    let mut counts: Vec<Count> = Vec::new();
    for color in colors {
        match counts.last_mut() {
            Some((last, n)) if *last == color => *n += 1,
            _ => counts.push((color, 1)),
        }
    }
    counts
}

/// The longest side of a box of colours: its axis and length.
fn longest(colors: &[Count]) -> (usize, u64) {
    let side = |k: usize| {
        let values = || colors.iter().map(|(color, _)| color[k]);
        u64::from(values().max().unwrap_or(0) - values().min().unwrap_or(0))
    };
    (0..3).map(|k| (k, side(k))).max_by_key(|&(k, length)| (length, 3 - k)).unwrap_or((0, 0))
}

fn median_cut(counts: &mut [Count], most: usize) -> Vec<[u8; 3]> {
    let mut boxes = vec![counts];
    while boxes.len() < most {
        // the root of the count keeps wide but rare colours: a red ball on a grey floor
        let spread = |colors: &[Count]| {
            let pixels: u64 = colors.iter().map(|(_, n)| n).sum();
            let (_, length) = longest(colors);
            length * length * pixels.isqrt()
        };
        let widest = (0..boxes.len()).max_by_key(|&i| (spread(boxes[i]), boxes.len() - i));
        let Some(widest) = widest.filter(|&i| boxes[i].len() > 1) else { break };
        let colors = boxes.swap_remove(widest);
        let (axis, _) = longest(colors);
        colors.sort_unstable_by_key(|&(color, _)| (color[axis], color));
        let half = colors.iter().map(|(_, n)| n).sum::<u64>() / 2;
        let mut below = 0;
        let cut = colors.iter().position(|(_, n)| {
            below += n;
            below > half
        });
        let cut = cut.unwrap_or(0).clamp(1, colors.len() - 1);
        let (low, high) = colors.split_at_mut(cut);
        boxes.push(low);
        boxes.push(high);
    }
    boxes.iter().map(|colors| mean(colors)).collect()
}

fn mean(colors: &[Count]) -> [u8; 3] {
    let pixels = colors.iter().map(|(_, n)| n).sum::<u64>().max(1);
    [0, 1, 2].map(|k| {
        let sum: u64 = colors.iter().map(|(color, n)| u64::from(color[k]) * n).sum();
        ((sum + pixels / 2) / pixels) as u8
    })
}

fn nearest(palette: &[[u8; 3]], color: [u8; 3]) -> u8 {
    let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    let distance = |p: &[u8; 3]| (0..3).map(|k| square(p[k], color[k])).sum::<u32>();
    (0..palette.len()).min_by_key(|&i| distance(&palette[i])).unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pixels that a reader of PNG files sees.
    fn read(bytes: &[u8]) -> Vec<u8> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels
    }

    fn image(width: usize, height: usize, f: impl Fn(usize, usize) -> [u8; 3]) -> Image {
        let at = |i: usize| f(i % width, i / width);
        let rgba8 = (0..width * height).map(at).flat_map(|[r, g, b]| [r, g, b, 255]).collect();
        Image { width, height, rgba8 }
    }

    #[test]
    fn few_colors_stay_as_they_are() {
        let flags = [[200, 30, 40], [20, 20, 20], [250, 240, 230]];
        let image = image(33, 17, |x, y| flags[(x / 5 + y / 4) % 3]);
        assert_eq!(read(&write_indexed_png(&image, 4).unwrap()), image.rgb());
    }

    #[test]
    fn many_colors_become_near_ones() {
        let image = image(64, 64, |x, y| [4 * x as u8, 4 * y as u8, 128]);
        let small = write_indexed_png(&image, 64).unwrap();
        let pixels = read(&small);
        let worst = pixels.iter().zip(image.rgb()).map(|(a, b)| a.abs_diff(b)).max();
        // 64 colours for a square of 256 × 256: cells of 32 × 32
        assert!(worst.unwrap() <= 18, "{worst:?}");
        let mut used: Vec<_> = pixels.chunks_exact(3).collect();
        used.sort_unstable();
        used.dedup();
        assert!(used.len() <= 64 && used.len() > 48, "{}", used.len());
    }

    #[test]
    fn a_rare_color_is_not_lost() {
        let image = image(100, 100, |x, y| {
            let grey = 100 + ((x * 7 + y * 13) % 60) as u8;
            if (x, y) == (50, 50) { [255, 0, 0] } else { [grey; 3] }
        });
        let pixels = read(&write_indexed_png(&image, 16).unwrap());
        assert!(pixels.chunks_exact(3).any(|p| p[0] > 240 && p[1] < 20));
    }

    #[test]
    fn an_image_without_pixels_is_an_error() {
        assert!(write_indexed_png(&Image::default(), 16).is_err());
    }
}
