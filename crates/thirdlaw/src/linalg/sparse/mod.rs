//! A direct solver of sparse symmetric systems of small blocks whose graph has many loops.
//!
//! `dissect` orders the blocks, `plan` says where the factor has entries and where they lie, `factor` fills
//! them and solves, `kernel` has the loops over dense panels.
//!
//! What is coupled is said by *groups*: sets of blocks that are all coupled with each other. (A body
//! that holds four joints couples their rows: a group of four blocks.)

mod dissect;
pub(crate) mod factor;
mod kernel;
pub(crate) mod plan;
#[cfg(test)]
mod tests;

/// Blocks of unknowns and what couples them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups {
    /// Number of unknowns of each block.
    pub sizes: Vec<u32>,
    /// First entry of each group in `members`, and the end of the last.
    pub starts: Vec<u32>,
    pub members: Vec<u32>,
    /// A block in more groups than this is taken to reach everywhere.
    pub far_reaching: u32,
}

/// Blocks in so many groups are in every cut, and are no way from one place to another, if the groups do not
/// say otherwise.
pub(crate) const FAR_REACHING: u32 = 16;

impl Groups {
    pub fn clear(&mut self) {
        self.sizes.clear();
        self.starts.clear();
        self.starts.push(0);
        self.members.clear();
        self.far_reaching = FAR_REACHING;
    }

    /// Ends the group that the last members belong to.
    pub fn end_group(&mut self) {
        self.starts.push(self.members.len() as u32);
    }

    fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn group(&self, g: usize) -> &[u32] {
        &self.members[self.starts[g] as usize..self.starts[g + 1] as usize]
    }
}
