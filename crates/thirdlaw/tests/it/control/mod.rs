//! Characters and vehicles keep the laws of what they are made of.

mod character;
mod minute;
mod vehicle;
