//! Worlds and snapshots with serde: the bytes of [`World::to_bytes`] and [`Snapshot::to_bytes`], with their
//! versions and checksums, in whatever format holds them.
//!
//! A world that needs code of the user's own is read by [`Attachments`], which are the seed of that:
//!
//! ```
//! use serde::de::DeserializeSeed;
//! use thirdlaw::prelude::*;
//! let mut world = World::new(Settings::default())?;
//! world.add_body(Body::dynamic(Shape::sphere(0.5)?))?;
//! let text = serde_json::to_string(&world)?;
//! let plain: World = serde_json::from_str(&text)?;
//! let mut reader = serde_json::Deserializer::from_str(&text);
//! let with_code = Attachments::default().deserialize(&mut reader)?;
//! assert_eq!((plain.hash(), with_code.hash()), (world.hash(), world.hash()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::World;
use super::store::Attachments;
use crate::state::snapshot::Snapshot;
use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for World {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

impl<'de> Deserialize<'de> for World {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<World, D::Error> {
        Attachments::default().deserialize(deserializer)
    }
}

impl<'de> DeserializeSeed<'de> for Attachments {
    type Value = World;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<World, D::Error> {
        let bytes = deserializer.deserialize_byte_buf(Bytes)?;
        World::from_bytes(&bytes, &self).map_err(D::Error::custom)
    }
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Snapshot, D::Error> {
        let bytes = deserializer.deserialize_byte_buf(Bytes)?;
        Snapshot::from_bytes(&bytes).map_err(D::Error::custom)
    }
}

/// Bytes, or a list of numbers in formats that have no bytes.
struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the bytes of a world or a snapshot")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}
