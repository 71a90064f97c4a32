//! Pictures of rigid bodies, cloth and particles, ray-traced on the CPU.
//!
//! A [`Picture`] is plain data: meshes, instances of them, balls, a floor, a
//! camera and a light. [`render`] turns it into an [`Image`]; [`write_png`],
//! [`ApngWriter`] and [`contact_sheet`] turn images into files.
//!
//! ```
//! use thirdlaw_render::*;
//! let balls = [Ball { center: [0.0, 0.5, 0.0], radius: 0.5, color: palette(0) }];
//! let mut picture = Picture { balls: &balls, ground: Some(Ground::default()), ..Picture::default() };
//! picture.camera = Camera::framing(&picture.bounds(), 16.0 / 9.0);
//! let image = render(&picture, &RenderOptions { width: 32, height: 18, ..RenderOptions::default() });
//! let file = write_png(&image).unwrap();
//! # assert!(!file.is_empty());
//! ```
//!
//! What holds here: lengths are in metres and y is up; colours of surfaces are
//! sRGB in 0..1, as in image editors, and light is linear radiance; no input
//! panics (what is not finite or out of range is left out); the same picture
//! gives the same bytes for any number of threads.
//!
//! The way of one picture: [`render`] moves everything into camera-relative
//! `f32`, builds a bounding volume hierarchy per mesh and one over the bodies
//! (`stage`), then traces each pixel's samples (`shade`), smooths the light of the
//! sky between neighbours (`film`) and maps radiance to display colours (`tone`).

mod bvh;
mod camera;
mod encode;
mod film;
mod image;
mod indexed;
mod mesh;
mod normals;
mod palette;
mod picture;
mod render;
mod sampler;
mod shade;
mod sky;
mod stage;
mod tone;

pub use camera::{Bounds, Camera};
pub use encode::{ApngWriter, DecodeError, EncodeError, read_png, write_png};
pub use image::{Image, contact_sheet};
pub use indexed::write_indexed_png;
pub use palette::palette;
pub use picture::{Ball, Checker, Ground, Instance, Light, Picture, SurfaceMesh};
pub use render::{RenderOptions, render};
