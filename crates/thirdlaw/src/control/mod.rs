//! What a program steers: characters that walk and vehicles on rays.
//!
//! They are made of what any program can use: questions to a world, and forces for the next step. So they
//! work beside everything else in it, on bodies, cloth and soft bodies, and everything that carries them is
//! pushed back. Call them before every step.

mod character;
mod support;
mod vehicle;

pub use character::{Character, CharacterSettings, Footing};
pub use vehicle::{Vehicle, Wheel, WheelSettings};
