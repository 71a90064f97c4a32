//! The description of a body as it is recorded: its shapes by their place among all that were recorded, so that
//! what was one shape is one again.

use super::Recorder;
use crate::model::body::Body;
use crate::model::body::part::BodyPart;
use crate::shape::Shape;
use serde::{Deserialize, Serialize};

/// A body, or a change of one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct BodyRecord {
    /// With other shapes.
    body: Body,
    /// Shapes of the body and of its parts.
    shapes: Vec<u32>,
}

/// The shape that was there before a change.
const SAME: u32 = u32::MAX;

impl BodyRecord {
    /// A body, which is a change of another if that is given.
    pub fn of(body: &Body, was: Option<&Body>, recorder: &mut Recorder) -> BodyRecord {
        let mut place = |shape: &Shape, before: Option<&Shape>| match before {
            Some(before) if before.is_same(shape) => SAME,
            _ => recorder.shape(shape),
        };
        let mut shapes = vec![place(&body.shape, was.map(|was| &was.shape))];
        for part in &body.parts {
            shapes.push(place(&part.shape, was.and_then(|was| shape_of(was, part))));
        }
        let mut body = body.clone();
        body.shape = Shape::placeholder();
        for part in &mut body.parts {
            part.shape = Shape::placeholder();
        }
        BodyRecord { body, shapes }
    }

    /// The body, given all shapes and what it was before.
    pub fn body(&self, shapes: &[Shape], was: Option<&Body>) -> Option<Body> {
        let shape = |place: u32, before: Option<&Shape>| match place {
            SAME => before.cloned(),
            place => shapes.get(place as usize).cloned(),
        };
        let (own, rest) = self.shapes.split_first()?;
        let mut body = self.body.clone();
        body.shape = shape(*own, was.map(|was| &was.shape))?;
        if rest.len() != body.parts.len() {
            return None;
        }
        for (part, &place) in body.parts.iter_mut().zip(rest) {
            part.shape = shape(place, was.and_then(|was| shape_of(was, part)))?;
        }
        Some(body)
    }
}

/// The shape of the same part before.
fn shape_of<'a>(was: &'a Body, part: &BodyPart) -> Option<&'a Shape> {
    let same = |before: &&BodyPart| before.number.is_some() && before.number == part.number;
    was.parts.iter().find(same).map(|before| &before.shape)
}
