//! Where pictures are taken from, and which of them tells most.

use crate::error::RunError;
use crate::recording::Recording;
use rayon::prelude::*;
use thirdlaw::shape::Aabb;
use thirdlaw::{BodyKind, Pose, Snapshot, Vec3};
use thirdlaw_render::{Bounds, Camera};
use thirdlaw_scene::CameraSpec;

/// Frames looked at to frame a run; more would change little.
const FRAMING_FRAMES: u32 = 120;
/// A body this many times as far from the middle as nine tenths of all is not waited for.
const STRAY: f64 = 4.0;
/// Mean activity of the bodies below which the end of a run tells more.
const WORTH: f64 = 0.2;

/// The camera of a whole run.
#[derive(Clone, Debug)]
pub enum View {
    /// As the scene says, moving where it says so.
    Scene(CameraSpec),
    /// One for all frames.
    Still(Camera),
}

impl View {
    /// The scene's own camera, else one that shows where bodies move during the whole run.
    pub fn of(recording: &Recording, aspect: f64) -> Result<View, RunError> {
        match &recording.scene.camera {
            Some(camera) => Ok(View::Scene(camera.clone())),
            None => Ok(View::Still(Camera::framing(&moving_bounds(recording)?, aspect))),
        }
    }

    /// The camera at a time (s).
    pub fn camera(&self, time: f64) -> Camera {
        match self {
            View::Still(camera) => *camera,
            View::Scene(spec) => {
                let (eye, target) = spec.at(time);
                Camera {
                    eye: eye.to_array(),
                    target: target.to_array(),
                    up: [0.0, 1.0, 0.0],
                    vertical_fov_deg: spec.fov,
                }
            }
        }
    }
}

/// Bounds over the whole run of the bodies that can move, without those that fly far away.
fn moving_bounds(recording: &Recording) -> Result<Bounds, RunError> {
    let last = recording.last_frame;
    let count = last.min(FRAMING_FRAMES - 1);
    let boxes: Vec<Vec<Aabb>> = (0..=count)
        .into_par_iter()
        .map(|i| {
            let frame = u64::from(i) * u64::from(last) / u64::from(count.max(1));
            Ok(moving_boxes(recording, &recording.frame(frame as u32)?))
        })
        .collect::<Result<_, RunError>>()?;
    let boxes: Vec<Aabb> = boxes.into_iter().flatten().collect();
    let part = |values: &mut Vec<f64>, share: f64| {
        values.sort_by(f64::total_cmp);
        values.get(((values.len() as f64 - 1.0) * share) as usize).copied().unwrap_or(0.0)
    };
    let along = |k: usize| part(&mut boxes.iter().map(|b| b.center().to_array()[k]).collect(), 0.5);
    let middle = Vec3::new(along(0), along(1), along(2));
    let far = |b: &Aabb| (b.center() - middle).length() + b.half_extents().length();
    let limit = STRAY * part(&mut boxes.iter().map(far).collect(), 0.9);
    let mut bounds = Bounds::EMPTY;
    for near in boxes.iter().filter(|b| far(b) <= limit) {
        bounds.include(near.mins.to_array());
        bounds.include(near.maxs.to_array());
    }
    Ok(bounds)
}

fn moving_boxes(recording: &Recording, snapshot: &Snapshot) -> Vec<Aabb> {
    let bodies = recording.scene.world.model().bodies.iter().zip(&snapshot.state.bodies);
    let moving = bodies
        .filter(|(model, _)| model.alive && model.kind != BodyKind::Fixed)
        .filter(|(model, _)| !model.shape.is_half_space());
    let boxes = moving.map(|(model, state)| {
        let origin = state.position - state.rotation * model.center;
        model.shape.aabb(&Pose::from_parts(origin, state.rotation))
    });
    let cloths = recording.scene.world.model().cloths.iter().filter(|cloth| cloth.alive);
    let sheets = cloths.filter_map(|cloth| {
        let points = snapshot.state.particles.x.get(cloth.range())?;
        let (first, rest) = points.split_first()?;
        let (low, high) =
            rest.iter().fold((*first, *first), |(low, high), p| (low.min(*p), high.max(*p)));
        Some(Aabb::new(low, high))
    });
    boxes.chain(sheets).filter(|b| b.mins.is_finite() && b.maxs.is_finite()).collect()
}

/// The frame in which most happens: many bodies move and touch something at once. The last one
/// where nothing much does.
pub fn busiest_frame(recording: &Recording, frames: &[u32]) -> Result<u32, RunError> {
    let activity: Vec<f64> = frames
        .par_iter()
        .map(|&frame| Ok(activity(recording, &recording.frame(frame)?)))
        .collect::<Result<_, RunError>>()?;
    let bodies = &recording.scene.world.model().bodies;
    let dynamic = bodies.iter().filter(|body| body.alive && body.is_dynamic()).count();
    let mut best = (WORTH * dynamic as f64, recording.last_frame);
    if let Some(&last) = frames.last() {
        best.1 = last;
    }
    for (&frame, &activity) in frames.iter().zip(&activity) {
        if activity > best.0 {
            best = (activity, frame);
        }
    }
    Ok(best.1)
}

/// How much goes on among bodies that touch: their speeds, in their own lengths per second, as
/// logarithms, so that many slow ones count for more than a fast one.
fn activity(recording: &Recording, snapshot: &Snapshot) -> f64 {
    let models = &recording.scene.world.model().bodies;
    let mut touches = vec![false; models.len()];
    for contact in snapshot.state.contacts.iter().filter(|contact| contact.count > 0) {
        for slot in [contact.key.a, contact.key.b] {
            if let Some(touch) = touches.get_mut(slot as usize) {
                *touch = true;
            }
        }
    }
    let bodies = models.iter().zip(&snapshot.state.bodies).zip(touches);
    bodies
        .filter(|((model, _), touches)| model.alive && model.is_dynamic() && *touches)
        .map(|((model, state), _)| {
            let speed = state.velocity.linear.length();
            if model.reach > 0.0 { libm::log1p(speed / (2.0 * model.reach)) } else { 0.0 }
        })
        .sum()
}
