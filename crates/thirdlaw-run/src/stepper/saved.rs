//! The state of a frame, and its bytes: those of the world's snapshot, which carry their own version,
//! the fingerprint of the model and a checksum; behind them, where several simulators share the scene,
//! their state.

use std::hash::Hasher;
use thirdlaw::math::hash::BitHasher;
use thirdlaw::{Snapshot, SnapshotError};

/// The state of a frame, to go back to.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedFrame {
    /// The world.
    pub snapshot: Snapshot,
    /// The simulators that share the scene, and what couples them; empty where the world is all.
    pub coupled: Vec<u8>,
}

impl SavedFrame {
    /// The bytes to keep or send.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.snapshot.to_bytes();
        join(&mut bytes, &self.coupled);
        bytes
    }

    /// Reads the bytes back.
    pub fn from_bytes(mut bytes: Vec<u8>) -> Result<SavedFrame, SnapshotError> {
        let coupled = split(&mut bytes);
        Ok(SavedFrame { snapshot: Snapshot::from_bytes(&bytes)?, coupled })
    }

    /// A number that changes with any bit of it, that of [`Stepper::hash`](super::Stepper::hash).
    pub fn hash(&self) -> u64 {
        state_hash(self.snapshot.state.hash(), &self.coupled)
    }
}

/// A number that changes with any bit of the world's state, whose hash is given, and of the
/// simulators' that share it.
pub fn state_hash(world: u64, coupled: &[u8]) -> u64 {
    if coupled.is_empty() {
        return world;
    }
    let mut hasher = BitHasher::default();
    hasher.write(&world.to_le_bytes());
    hasher.write(coupled);
    hasher.finish()
}

/// Ends the bytes of a frame that holds more than a snapshot; before it stands how long that is.
const COUPLED: &[u8; 8] = b"coupled\n";

/// Puts the state of simulators behind a snapshot.
fn join(bytes: &mut Vec<u8>, coupled: &[u8]) {
    if !coupled.is_empty() {
        bytes.extend_from_slice(coupled);
        bytes.extend_from_slice(&(coupled.len() as u64).to_le_bytes());
        bytes.extend_from_slice(COUPLED);
    }
}

/// Takes it off again.
fn split(bytes: &mut Vec<u8>) -> Vec<u8> {
    let Some(rest) = bytes.strip_suffix(COUPLED) else { return Vec::new() };
    let Some((rest, length)) = rest.split_last_chunk::<8>() else { return Vec::new() };
    let length = u64::from_le_bytes(*length);
    let Some(at) = (rest.len() as u64).checked_sub(length) else { return Vec::new() };
    let coupled = rest[at as usize..].to_vec();
    bytes.truncate(at as usize);
    coupled
}
