//! Worlds coupled with worlds.
