//! The constant part of an emitter: its description, checked, and its surface as triangles.

use super::{Emitter, EmitterError, Source};
use crate::math::Vec3;
use crate::model::error::check_pose;
use std::hash::{Hash, Hasher};

/// The constant part of an emitter.
#[derive(Clone, Debug)]
pub struct EmitterModel {
    /// Whether the slot is in use.
    pub alive: bool,
    /// How often the slot had been used before.
    pub generation: u32,
    /// What the user said.
    pub emitter: Emitter,
    /// Most particles at a time.
    pub capacity: u32,
    /// Of a surface source, in the frame of the emitter.
    pub(crate) facets: Vec<Facet>,
}

/// A triangle of a surface source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    pub corners: [Vec3; 3],
    pub normal: Vec3,
    /// Area of this and all triangles before it, as a share of the whole.
    pub share: f64,
}

/// Most particles of one stream, as many as take some six gigabytes.
pub const CAPACITY_MAX: u32 = 100_000_000;
/// Longest step whose births always find room, s.
const FRAME_MAX: f64 = 0.25;
/// Segments around round sources.
const SEGMENTS: usize = 48;

impl EmitterModel {
    /// Checks a description and derives the constant part of an emitter from it.
    pub fn build(emitter: Emitter, generation: u32) -> Result<EmitterModel, EmitterError> {
        check(&emitter)?;
        let facets = match &emitter.source {
            Source::Surface(shape) => facets(shape)?,
            _ => Vec::new(),
        };
        let capacity = capacity(&emitter)?;
        Ok(EmitterModel { alive: true, generation, emitter, capacity, facets })
    }

    pub(crate) fn fingerprint(&self, hasher: &mut crate::math::hash::BitHasher) {
        self.alive.hash(hasher);
        self.generation.hash(hasher);
        if !self.alive {
            return;
        }
        let e = &self.emitter;
        match &e.source {
            Source::Point => hasher.write_u8(0),
            Source::Disc { radius } => {
                hasher.write_u8(1);
                hasher.write_u64(radius.to_bits());
            }
            Source::Surface(shape) => {
                hasher.write_u8(2);
                shape.fingerprint(hasher);
            }
        }
        let plain = (
            (e.pose.translation, e.pose.rotation, e.body, e.rate, e.speed, e.speed_spread),
            (e.spread, e.life, e.life_spread, e.from, e.until, e.seed, e.mass, e.radius),
            (e.drag, e.drag_quadratic, e.wind, e.gravity_scale, e.material, e.groups),
            self.capacity,
        );
        if let Ok(bytes) = postcard::to_stdvec(&plain) {
            hasher.write(&bytes);
        }
    }
}

fn value(field: &'static str, problem: impl Into<String>) -> EmitterError {
    EmitterError::Value { field, problem: problem.into() }
}

fn check(e: &Emitter) -> Result<(), EmitterError> {
    check_pose(&e.pose).map_err(|error| value(error.field, error.problem))?;
    let half_turn = std::f64::consts::PI;
    let mut numbers = vec![
        ("rate", e.rate, 0.0, 1e9),
        ("speed", e.speed, 0.0, 1e6),
        ("speed_spread", e.speed_spread, 0.0, 1.0),
        ("spread", e.spread, 0.0, half_turn),
        ("life", e.life, 1e-9, f64::INFINITY),
        ("life_spread", e.life_spread, 0.0, 1.0),
        ("mass", e.mass, 1e-15, 1e12),
        ("radius", e.radius, 0.0, 1e6),
        ("drag", e.drag, 0.0, 1e9),
        ("drag_quadratic", e.drag_quadratic, 0.0, 1e9),
        ("gravity_scale", e.gravity_scale, -1e9, 1e9),
        ("material.friction", e.material.friction, 0.0, 1e6),
        ("material.restitution", e.material.restitution, 0.0, 1.0),
    ];
    if let Source::Disc { radius } = e.source {
        numbers.push(("source.radius", radius, 0.0, 1e6));
    }
    for (field, x, low, high) in numbers {
        if !(low..=high).contains(&x) {
            return Err(value(field, format!("must be from {low} to {high}, not {x}")));
        }
    }
    if e.wind.is_some_and(|w| !(w.is_finite() && w.abs().max_element() < 1e6)) {
        return Err(value("wind", format!("must be finite, not {:?}", e.wind)));
    }
    if !e.from.is_finite() || e.until.is_nan() || e.until < e.from {
        let problem = format!("must come after from, but is {} after {}", e.until, e.from);
        return Err(value("until", problem));
    }
    Ok(())
}

/// Room for all that can be alive, with what is born in a long step before others make room.
fn capacity(e: &Emitter) -> Result<u32, EmitterError> {
    let most = f64::from(CAPACITY_MAX);
    if let Some(capacity) = e.capacity {
        if capacity == 0 || capacity > CAPACITY_MAX {
            let problem = format!("must be from 1 to {CAPACITY_MAX}, not {capacity}");
            return Err(value("capacity", problem));
        }
        return Ok(capacity);
    }
    let longest = e.life * (1.0 + e.life_spread);
    let wanted = e.rate * (longest + FRAME_MAX).min(e.until - e.from);
    // a rate of nothing for ever is nothing
    let wanted = if e.rate == 0.0 { 0.0 } else { wanted };
    if wanted > most {
        let problem = format!(
            "{} particles a second that live for {longest} s are {wanted:.0}; at most \
             {CAPACITY_MAX} have room: lower the rate or the life, or give a capacity",
            e.rate
        );
        return Err(value("capacity", problem));
    }
    Ok(wanted as u32 + 16)
}

fn facets(shape: &crate::shape::Shape) -> Result<Vec<Facet>, EmitterError> {
    let (vertices, triangles) = shape.surface(SEGMENTS);
    let mut facets = Vec::with_capacity(triangles.len());
    let mut sum = 0.0;
    for triangle in triangles {
        let corners @ [a, b, c] = triangle.map(|i| vertices[i as usize]);
        let across = (b - a).cross(c - a);
        if let Some(normal) = across.try_normalize() {
            sum += across.length();
            facets.push(Facet { corners, normal, share: sum });
        }
    }
    if facets.is_empty() || !sum.is_finite() {
        return Err(value("source", "a half-space has no surface to start from; take a box"));
    }
    facets.iter_mut().for_each(|f| f.share /= sum);
    Ok(facets)
}
