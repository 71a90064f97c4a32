//! Greedy colouring of blocks: blocks of one colour share no movable node, so that they can be worked
//! on at once [tonge2012 §3.4.1].
//!
//! Each block takes the first colour that none of its nodes has yet. A block between two bodies meets
//! at most 2(Δ − 1) others, Δ being the most blocks on a body: at most 2Δ − 1 colours. A node whose 64
//! colours are all taken (a tray with a hundred things on it) makes no more parallel work anyway; such
//! blocks form a last group that is worked through one by one.

use super::problem::{Block, ContactProblem, ContactSide};

/// Blocks by colour.
#[derive(Clone, Debug, Default)]
pub struct Colors {
    /// All blocks, colour after colour; ascending within a colour.
    pub order: Vec<u32>,
    /// Where each colour starts in `order`, and the end.
    pub starts: Vec<u32>,
    /// Whether the last group is not a colour: it must be worked through in order.
    pub overflow: bool,
    block_color: Vec<u8>,
    body_taken: Vec<u64>,
    particle_taken: Vec<u64>,
}

const COLOR_MAX: usize = 64;

impl Colors {
    /// Number of colours, the overflow group included.
    pub fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The blocks of colour `i`.
    pub fn blocks(&self, i: usize) -> &[u32] {
        &self.order[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Colours the blocks of a problem, in their order.
    pub fn build(&mut self, problem: &ContactProblem) {
        self.body_taken.clear();
        self.body_taken.resize(problem.bodies.len(), 0);
        self.particle_taken.clear();
        self.particle_taken.resize(problem.particles.len(), 0);
        self.block_color.clear();
        let mut sizes = [0_u32; COLOR_MAX + 1];
        for block in &problem.blocks {
            let mut taken = 0;
            self.for_masks(problem, block, |mask| taken |= *mask);
            let color = (!taken).trailing_zeros() as usize;
            if color < COLOR_MAX {
                self.for_masks(problem, block, |mask| *mask |= 1 << color);
            }
            self.block_color.push(color as u8);
            sizes[color] += 1;
        }
        self.overflow = sizes[COLOR_MAX] > 0;
        self.sort(&sizes);
    }

    /// Calls `f` on the taken colours of each movable node of a block.
    fn for_masks(&mut self, problem: &ContactProblem, block: &Block, mut f: impl FnMut(&mut u64)) {
        for side in [block.a, block.b] {
            match side {
                ContactSide::World => {}
                ContactSide::Body(i) => {
                    if !problem.bodies[i as usize].is_fixed() {
                        f(&mut self.body_taken[i as usize]);
                    }
                }
                ContactSide::Particles { index, weight } => {
                    for (i, weight) in index.into_iter().zip(weight) {
                        if weight != 0.0 && problem.particles[i as usize] != 0.0 {
                            f(&mut self.particle_taken[i as usize]);
                        }
                    }
                }
            }
        }
    }

    fn sort(&mut self, sizes: &[u32; COLOR_MAX + 1]) {
        // colours are taken from the first, so no empty one lies between
        let count = sizes.iter().rposition(|&s| s > 0).map_or(0, |i| i + 1);
        self.starts.clear();
        self.starts.push(0);
        let mut next = [0_u32; COLOR_MAX + 1];
        let mut end = 0;
        for color in 0..count {
            next[color] = end;
            end += sizes[color];
            self.starts.push(end);
        }
        self.order.clear();
        self.order.resize(self.block_color.len(), 0);
        for (block, &color) in self.block_color.iter().enumerate() {
            let at = &mut next[color as usize];
            self.order[*at as usize] = block as u32;
            *at += 1;
        }
    }
}
