//! PNG and animated PNG.

use std::io::{Cursor, Error, ErrorKind, Write};

use crate::image::Image;

/// Why an image could not be written: its size is zero or differs from the
/// frames before, or the sink refused the bytes.
pub type EncodeError = png::EncodingError;

/// The image as the bytes of a PNG file.
pub fn write_png(image: &Image) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.width as u32, image.height as u32);
    describe(&mut encoder);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&image.rgb())?;
    writer.finish()?;
    Ok(bytes)
}

/// Why the bytes are no image of ours: damaged, cut short, or of another format.
pub type DecodeError = png::DecodingError;

/// Reads back what [`write_png`] wrote: the still image of a PNG file of 8-bit RGB.
pub fn read_png(bytes: &[u8]) -> Result<Image, DecodeError> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info()?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    let other = |what| DecodeError::IoError(Error::new(ErrorKind::InvalidData, what));
    if reader.output_color_type() != (png::ColorType::Rgb, png::BitDepth::Eight) {
        return Err(other("not an image of 8-bit red, green and blue"));
    }
    let size = reader.output_buffer_size().ok_or_else(|| other("an image too large"))?;
    let mut rgb = vec![0; size];
    reader.next_frame(&mut rgb)?;
    let rgba8 = rgb.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect();
    Ok(Image { width, height, rgba8 })
}

/// Writes frames as an animated PNG that loops for ever.
///
/// Only the rectangle that changed since the frame before is stored: the noise
/// of the renderer is fixed to the pixels, so what stands still costs nothing.
pub struct ApngWriter<W: Write> {
    writer: png::Writer<W>,
    last: Option<Image>,
    width: usize,
    height: usize,
}

impl<W: Write> ApngWriter<W> {
    /// Begins a file of exactly `frame_count` frames of `width` × `height`
    /// pixels, shown at `fps` frames per second.
    pub fn new(
        sink: W,
        width: usize,
        height: usize,
        frame_count: usize,
        fps: u16,
    ) -> Result<Self, EncodeError> {
        let mut encoder = png::Encoder::new(sink, width as u32, height as u32);
        describe(&mut encoder);
        encoder.set_animated(frame_count as u32, 0)?;
        encoder.set_frame_delay(1, fps.max(1))?;
        Ok(Self { writer: encoder.write_header()?, last: None, width, height })
    }

    /// Appends a frame. A frame of another size is scaled to fit.
    pub fn push(&mut self, image: &Image) -> Result<(), EncodeError> {
        let scaled;
        let image = if (image.width, image.height) == (self.width, self.height) {
            image
        } else {
            scaled = image.downscaled(self.width, self.height);
            &scaled
        };
        match &self.last {
            None => self.writer.write_image_data(&image.rgb())?,
            Some(last) => {
                let [left, top, width, height] = changed(last, image);
                // Shrink the origin first: the library checks each call against the other.
                self.writer.reset_frame_position()?;
                self.writer.set_frame_dimension(width as u32, height as u32)?;
                self.writer.set_frame_position(left as u32, top as u32)?;
                let mut rgb = Vec::with_capacity(3 * width * height);
                for y in top..top + height {
                    for x in left..left + width {
                        rgb.extend_from_slice(&image.pixel(x, y)[..3]);
                    }
                }
                self.writer.write_image_data(&rgb)?;
            }
        }
        self.last = Some(image.clone());
        Ok(())
    }

    /// Ends the file.
    pub fn finish(self) -> Result<(), EncodeError> {
        self.writer.finish()
    }
}

fn describe<W: Write>(encoder: &mut png::Encoder<'_, W>) {
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Balanced);
}

/// Smallest rectangle `[left, top, width, height]` outside which the images
/// agree; one pixel where they agree everywhere.
fn changed(before: &Image, after: &Image) -> [usize; 4] {
    let row_bytes = 4 * after.width;
    let rows = before.rgba8.chunks_exact(row_bytes).zip(after.rgba8.chunks_exact(row_bytes));
    let (mut left, mut right, mut top, mut bottom) = (usize::MAX, 0, usize::MAX, 0);
    for (y, (a, b)) in rows.enumerate() {
        let differs = |x: &usize| a[4 * x..4 * x + 4] != b[4 * x..4 * x + 4];
        let Some(first) = (0..after.width).find(differs) else {
            continue;
        };
        let final_x = (0..after.width).rev().find(differs).unwrap_or(first);
        left = left.min(first);
        right = right.max(final_x);
        top = top.min(y);
        bottom = y;
    }
    if top == usize::MAX {
        return [0, 0, 1, 1];
    }
    [left, top, right - left + 1, bottom - top + 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u32, width: usize, height: usize) -> Image {
        let rgba8 = (0..width * height)
            .flat_map(|i| {
                let h = (i as u32 + seed).wrapping_mul(0x9E37_79B9) >> 8;
                [h as u8, (h >> 8) as u8, (h >> 16) as u8, 255]
            })
            .collect();
        Image { width, height, rgba8 }
    }

    #[test]
    fn png_decodes_to_the_same_pixels() {
        let image = noise(3, 37, 21);
        let bytes = write_png(&image).unwrap();
        let back = read_png(&bytes).unwrap();
        assert_eq!((back.width, back.height), (37, 21));
        assert_eq!(back.rgb(), image.rgb());
        for length in [0, 8, 40, bytes.len() / 2] {
            assert!(read_png(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn an_image_without_pixels_is_an_error() {
        assert!(write_png(&Image::default()).is_err());
    }

    #[test]
    fn animation_stores_the_changed_rectangle() {
        let first = noise(1, 30, 20);
        let mut second = first.clone();
        second.rgba8[4 * (7 * 30 + 5)] ^= 0x55;
        second.rgba8[4 * (9 * 30 + 12)] ^= 0x55;
        let mut bytes = Vec::new();
        let mut apng = ApngWriter::new(&mut bytes, 30, 20, 3, 25).unwrap();
        for frame in [&first, &second, &second] {
            apng.push(frame).unwrap();
        }
        apng.finish().unwrap();

        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        assert_eq!(reader.info().animation_control().unwrap().num_frames, 3);
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, first.rgb());
        reader.next_frame(&mut pixels).unwrap();
        let control = *reader.info().frame_control().unwrap();
        assert_eq!((control.x_offset, control.y_offset), (5, 7));
        assert_eq!((control.width, control.height), (8, 3));
        assert_eq!(pixels[..3], second.pixel(5, 7)[..3]);
    }
}
