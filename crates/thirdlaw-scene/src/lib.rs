//! Scene text to worlds.
