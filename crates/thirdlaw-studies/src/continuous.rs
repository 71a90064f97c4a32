//! Answers whether pairs of moving features meet, for a check in exact arithmetic from outside:
//! `cargo run --release -p thirdlaw-studies -- continuous < PAIRS`. Each line is `vt` (a point, a triangle) or
//! `ee` (two edges) and the 24 numbers of four places at the start and at the end; the answer is the share of
//! the way at which they meet, or `-`.

use std::io::{BufRead, Write};
use thirdlaw::Vec3;
use thirdlaw::collide::deformable::Tree;

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut hits = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split_ascii_whitespace();
        let edges = words.next() == Some("ee");
        let numbers: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>()?;
        if numbers.len() != 24 {
            return Err(format!("24 numbers, not {}", numbers.len()).into());
        }
        let place = |k: usize| Vec3::new(numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]);
        let mut x0: Vec<Vec3> = (0..4).map(place).collect();
        let mut x1: Vec<Vec3> = (4..8).map(place).collect();
        let mut tree = if edges {
            Tree::new(&x0, &[], &[[0, 1], [2, 3]])
        } else {
            // a vertex needs a triangle of its own to be seen: one that goes along, far away
            for offset in [Vec3::new(1e6, 1e6, 0.0), Vec3::new(1e6, 0.0, 1e6)] {
                x0.push(x0[0] + offset);
                x1.push(x1[0] + offset);
            }
            Tree::new(&x0, &[[1, 2, 3], [0, 4, 5]], &[])
        };
        tree.crossings(&x0, &x1, &mut hits);
        let first = hits.iter().filter(|hit| edges || hit.particles[0] == 0).map(|hit| hit.time);
        match first.reduce(f64::min) {
            Some(time) => writeln!(out, "{time}")?,
            None => writeln!(out, "-")?,
        }
    }
    Ok(())
}
