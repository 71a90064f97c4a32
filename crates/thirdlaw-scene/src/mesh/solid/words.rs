//! Words and bytes of a mesh file, one after the other, with the line they stand in.

use super::super::{Refusal, at_byte, at_line};
use std::str::FromStr;
use thirdlaw::math::Vec3;

/// Which byte of a number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
}

/// A place in a file.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    bytes: &'a [u8],
    /// Of the next byte.
    pub at: usize,
    /// Of the last word, from 1.
    pub line: usize,
}

impl<'a> Words<'a> {
    pub fn new(bytes: &'a [u8]) -> Words<'a> {
        Words { bytes, at: 0, line: 1 }
    }

    /// The next word, on whatever line it stands.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        while self.bytes.get(self.at)?.is_ascii_whitespace() {
            self.line += usize::from(self.bytes[self.at] == b'\n');
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += length;
        Some(&rest[..length])
    }

    /// The rest of the line, and goes to the next one.
    pub fn rest_of_line(&mut self) -> String {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        let line = String::from_utf8_lossy(&rest[..length]).trim().to_string();
        self.at = (self.at + length + 1).min(self.bytes.len());
        self.line += 1;
        line
    }

    /// The next word as a number. `what` says what is read, for an error.
    pub fn number<T: FromStr>(&mut self, what: &str) -> Result<T, Refusal> {
        let Some(word) = self.word() else {
            return Err(at_line(self.line, format!("the file ends where {what} should stand")));
        };
        let word = String::from_utf8_lossy(word);
        word.parse().map_err(|_| {
            let word: String = word.chars().take(40).collect();
            at_line(self.line, format!("`{word}` is not a number, where {what} should stand"))
        })
    }

    /// The next three words as a place.
    pub fn place(&mut self, what: &str) -> Result<Vec3, Refusal> {
        let [x, y, z] = [self.number(what)?, self.number(what)?, self.number(what)?];
        let place = Vec3::new(x, y, z);
        match place.is_finite() {
            true => Ok(place),
            false => Err(at_line(self.line, format!("{what} is not finite: {place}"))),
        }
    }

    /// So many bytes.
    pub fn raw(&mut self, count: usize, what: &str) -> Result<&'a [u8], Refusal> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else {
            return Err(at_byte(self.bytes.len(), format!("the file ends within {what}")));
        };
        let raw = &self.bytes[self.at..end];
        self.at = end;
        Ok(raw)
    }

    /// A whole number of `width` bytes, as its bits.
    pub fn bits(&mut self, width: usize, order: Order, what: &str) -> Result<u64, Refusal> {
        let raw = self.raw(width, what)?;
        let join = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
        Ok(match order {
            Order::Big => raw.iter().fold(0, join),
            Order::Little => raw.iter().rev().fold(0, join),
        })
    }

    /// An `int` of C.
    pub fn int(&mut self, order: Order, what: &str) -> Result<i32, Refusal> {
        Ok(self.bits(4, order, what)? as u32 as i32)
    }

    /// A real number of 4 or 8 bytes.
    pub fn real(&mut self, width: usize, order: Order, what: &str) -> Result<f64, Refusal> {
        let bits = self.bits(width, order, what)?;
        Ok(if width == 4 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) })
    }

    /// Three real numbers as a place.
    pub fn real_place(&mut self, width: usize, order: Order, what: &str) -> Result<Vec3, Refusal> {
        let mut real = || self.real(width, order, what);
        let place = Vec3::new(real()?, real()?, real()?);
        match place.is_finite() {
            true => Ok(place),
            false => Err(at_byte(self.at, format!("{what} is not finite: {place}"))),
        }
    }
}
