//! What a program steers: characters that walk, vehicles on rays, arms that reach, and controllers.
//!
//! They are made of what any program can use: questions to a world, and forces for the next step. So they
//! work beside everything else in it, on bodies, cloth and soft bodies, and everything that carries them is
//! pushed back. Call them before every step.

mod chain;
mod character;
mod pid;
mod support;
mod vehicle;

pub use chain::{Chain, Reach};
pub use character::{Character, CharacterSettings, Footing};
pub use pid::{Pid, PidGains};
pub use vehicle::{Vehicle, Wheel, WheelSettings};
