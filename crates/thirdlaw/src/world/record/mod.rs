//! Every call that changed a world, for bug reports: bytes in, the same bits out.
//!
//! A recording begins with the world as it was, whole, and holds each later call with what it was given;
//! calls that were refused are among them. Played again, in any process and by any number of threads, it gives
//! a world with the same hash after every call. What is code is held by name and attached again.
//!
//! ```
//! use thirdlaw::prelude::*;
//! let mut world = World::new(Settings::default())?;
//! world.record();
//! world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
//! let ball = world.add_body(Body::dynamic(Shape::sphere(0.5)?).at(0.0, 3.0, 0.0))?;
//! for _ in 0..60 {
//!     let _report = world.step(1.0 / 60.0)?;
//! }
//! world.set_velocity(ball, Twist { linear: Vec3::X, angular: Vec3::ZERO })?;
//! let bytes = world.stop_recording().ok_or("it was recorded")?.to_bytes();
//!
//! // elsewhere
//! let recording = CallRecording::from_bytes(&bytes)?;
//! assert_eq!(recording.len(), 63);
//! let again = recording.replay(&Attachments::default())?;
//! assert_eq!(again.hash(), world.hash());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod call;

use super::World;
use super::store::{Attachments, LoadError};
use crate::shape::Shape;
use crate::state::snapshot::checksum;
pub(super) use body::BodyRecord;
pub(super) use call::Call;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const MAGIC: &[u8; 8] = b"3rdcalls";
/// Rises whenever anything that is written comes, goes or changes.
const VERSION: u32 = 2;
const HEADER: usize = 8 + 4 + 8;

/// A world at some moment, and the calls that changed it since.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[must_use = "a recording is there to be kept"]
pub struct CallRecording {
    start: Vec<u8>,
    /// Shapes that calls give to bodies, each once.
    shapes: Vec<Shape>,
    /// Snapshots that were restored, each once.
    snapshots: Vec<Vec<u8>>,
    calls: Vec<Call>,
}

/// What is recorded, and where what was seen before is in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorder {
    recording: CallRecording,
    shapes: BTreeMap<usize, u32>,
    snapshots: BTreeMap<u64, u32>,
}

/// A recording that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayError {
    /// The world at its beginning cannot be read, or code that it or a call names was not attached.
    Load(LoadError),
    /// A coupling changed the world by other means than calls that are recorded: record the simulators
    /// alone, or save the coupling.
    Driven {
        /// Which call, counted from 0.
        call: usize,
        /// What it did.
        what: String,
    },
}

impl std::fmt::Display for ReplayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplayError::Load(error) => error.fmt(f),
            ReplayError::Driven { call, what } => write!(
                f,
                "call {call} is `{what}` by a coupling, which is not recorded; record a world that no \
                 coupling drives"
            ),
        }
    }
}

impl std::error::Error for ReplayError {}

impl From<LoadError> for ReplayError {
    fn from(error: LoadError) -> Self {
        ReplayError::Load(error)
    }
}

impl Recorder {
    /// Where a shape is among those recorded.
    pub fn shape(&mut self, shape: &Shape) -> u32 {
        let shapes = &mut self.recording.shapes;
        // the recording keeps the shape, so that its address stays its own
        *self.shapes.entry(shape.address()).or_insert_with(|| {
            shapes.push(shape.clone());
            shapes.len() as u32 - 1
        })
    }

    /// Where a snapshot is among those recorded.
    pub fn snapshot(&mut self, bytes: Vec<u8>) -> u32 {
        let all = &mut self.recording.snapshots;
        let key = checksum(&bytes);
        if let Some(&place) = self.snapshots.get(&key)
            && all.get(place as usize) == Some(&bytes)
        {
            return place;
        }
        all.push(bytes);
        let place = all.len() as u32 - 1;
        self.snapshots.insert(key, place);
        place
    }
}

impl World {
    /// Records every call that changes this world from now on; a recording that was begun before is
    /// dropped. Questions, [`World::listen`] and what changes no result are not recorded. A clone of the world
    /// goes on with a recording of its own.
    pub fn record(&mut self) {
        let recording = CallRecording { start: self.to_bytes(), ..CallRecording::default() };
        self.recorder = Some(Box::new(Recorder { recording, ..Recorder::default() }));
    }

    /// What was recorded until now.
    pub fn recording(&self) -> Option<&CallRecording> {
        self.recorder.as_ref().map(|recorder| &recorder.recording)
    }

    /// Ends a recording and hands it out.
    pub fn stop_recording(&mut self) -> Option<CallRecording> {
        self.recorder.take().map(|recorder| recorder.recording)
    }

    /// Notes a call.
    pub(super) fn note(&mut self, call: impl FnOnce(&mut Recorder) -> Call) {
        if let Some(recorder) = &mut self.recorder {
            let call = call(recorder);
            recorder.recording.calls.push(call);
        }
    }

    /// Notes that a coupling does something to this world that no call does.
    pub(super) fn note_driven(&mut self, what: &str) {
        self.note(|_| Call::Driven(what.into()));
    }
}

impl CallRecording {
    /// Number of calls.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether nothing was called.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Each call in words, for people who look for the one that matters.
    pub fn calls(&self) -> impl Iterator<Item = String> + '_ {
        self.calls.iter().map(|call| format!("{call:?}"))
    }

    /// The world after all calls; code of the user's own is attached by name.
    pub fn replay(&self, code: &Attachments) -> Result<World, ReplayError> {
        self.replay_each(code, |_, _| ())
    }

    /// The same, and shows the world after every call, counted from 0.
    pub fn replay_each(
        &self,
        code: &Attachments,
        mut seen: impl FnMut(usize, &World),
    ) -> Result<World, ReplayError> {
        let mut world = World::from_bytes(&self.start, code)?;
        let mut shapes = self.shapes.clone();
        for shape in &mut shapes {
            code.attach_shape(shape)?;
        }
        for (number, call) in self.calls.iter().enumerate() {
            if let Call::Driven(what) = call {
                return Err(ReplayError::Driven { call: number, what: what.clone() });
            }
            call.make(&mut world, (&shapes, &self.snapshots), code)?;
            seen(number, &world);
        }
        Ok(world)
    }

    /// The first so many calls alone: halve a recording until the one that matters is found.
    pub fn first(&self, count: usize) -> CallRecording {
        let mut first = self.clone();
        first.calls.truncate(count);
        first
    }

    /// For a file: versioned and with a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = postcard::to_stdvec(self).unwrap_or_default();
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&checksum(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    /// Reads what [`CallRecording::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<CallRecording, LoadError> {
        let short = LoadError::Damaged("it is cut short");
        let (header, body) = bytes.split_at_checked(HEADER).ok_or(short)?;
        let number = |at: usize, count: usize| -> u64 {
            header[at..at + count].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
        };
        if &header[..8] != MAGIC {
            return Err(LoadError::Damaged("it does not begin like a recording"));
        }
        let found = number(8, 4) as u32;
        if found != VERSION {
            return Err(LoadError::Version { found, expected: VERSION });
        }
        if number(12, 8) != checksum(body) {
            return Err(LoadError::Damaged("its checksum is wrong"));
        }
        match postcard::take_from_bytes::<CallRecording>(body) {
            Ok((recording, [])) => Ok(recording),
            _ => Err(LoadError::Layout),
        }
    }
}
