//! A world's state as a value and as bytes.
//!
//! Layout: magic, format version, model fingerprint, length and hash of the body, then the state in
//! postcard's encoding. Everything is checked before anything is used.

use super::State;
use crate::math::hash::BitHasher;
use std::hash::Hasher;

const MAGIC: &[u8; 8] = b"3rdlaw\r\n";
/// Rises whenever a field of [`State`] comes, goes or changes.
const VERSION: u32 = 11;
const HEADER: usize = 8 + 4 + 8 + 8 + 8;

/// A checkpoint of a world.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a snapshot is there to be restored"]
pub struct Snapshot {
    /// The changing part of the world.
    pub state: State,
    /// Fingerprint of the model that it belongs to.
    pub model: u64,
}

impl Snapshot {
    /// The snapshot as bytes, for a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = postcard::to_stdvec(&self.state).unwrap_or_default();
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&self.model.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&checksum(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    /// Reads what [`Snapshot::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Snapshot, SnapshotError> {
        let short = SnapshotError::Damaged("it is cut short");
        let (header, body) = bytes.split_at_checked(HEADER).ok_or(short.clone())?;
        let word = |at: usize| -> u64 {
            header[at..at + 8].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
        };
        if &header[..8] != MAGIC {
            return Err(SnapshotError::Damaged("it does not begin like a snapshot"));
        }
        let found = (word(8) & 0xFFFF_FFFF) as u32;
        if found != VERSION {
            return Err(SnapshotError::Version { found, expected: VERSION });
        }
        if word(20) != body.len() as u64 {
            return Err(short);
        }
        if word(28) != checksum(body) {
            return Err(SnapshotError::Damaged("its checksum is wrong"));
        }
        // the checksum is right: what does not fit now was meant otherwise
        match postcard::take_from_bytes(body) {
            Ok((state, [])) => Ok(Snapshot { state, model: word(12) }),
            _ => Err(SnapshotError::Layout),
        }
    }
}

/// A number that changes when any of the bytes does.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = BitHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// A snapshot that does not fit this world; the world is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The bytes are not a snapshot, or are cut short or damaged.
    Damaged(&'static str),
    /// Written by an incompatible version of the format.
    Version {
        /// Version found.
        found: u32,
        /// Version understood.
        expected: u32,
    },
    /// Whole, but not laid out as this version writes states: one that is not numbered otherwise,
    /// such as one in development.
    Layout,
    /// Taken from a world with other bodies or shapes.
    OtherModel,
}

impl std::fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SnapshotError::Damaged(what) => write!(f, "the snapshot is damaged: {what}"),
            SnapshotError::Version { found, expected } => {
                write!(f, "the snapshot has format {found}, this version reads format {expected}")
            }
            SnapshotError::Layout => {
                write!(f, "the snapshot is whole, but another version of thirdlaw wrote it")
            }
            SnapshotError::OtherModel => {
                write!(f, "the snapshot belongs to a world with other bodies")
            }
        }
    }
}

impl std::error::Error for SnapshotError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snapshot whose content is `body`, whatever that is.
    fn with_body(body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::from(*MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&7u64.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&checksum(body).to_le_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    #[test]
    fn a_state_with_other_fields_is_of_another_version_and_not_damaged() {
        let body = postcard::to_stdvec(&State::default()).unwrap();
        assert_eq!(Snapshot::from_bytes(&with_body(&body)).unwrap().model, 7);
        let longer = [body.as_slice(), &[0]].concat();
        for other in [&body[..body.len() - 1], &longer] {
            assert_eq!(Snapshot::from_bytes(&with_body(other)), Err(SnapshotError::Layout));
        }
        let mut flipped = with_body(&body);
        *flipped.last_mut().unwrap() ^= 1;
        assert!(matches!(Snapshot::from_bytes(&flipped), Err(SnapshotError::Damaged(_))));
    }
}
