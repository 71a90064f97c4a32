//! Steps of one length under a clock of any: the time a frame took goes in, as many whole steps as fit
//! come out, and what is drawn lies between the last two.
//!
//! ```
//! use thirdlaw::prelude::*;
//! let mut world = World::new(Settings::default())?;
//! let ball = world.add_body(Body::dynamic(Shape::sphere(0.5)?).at(0.0, 9.0, 0.0))?;
//! let mut clock = StepClock::new(1.0 / 60.0)?;
//! for frame_took in [0.004, 0.030, 0.017] {
//!     let steps = clock.advance(&mut world, frame_took)?;
//!     let drawn = clock.pose(&world, ball)?;
//!     assert!(steps <= 2 && drawn.translation.y <= 9.0);
//! }
//! assert_eq!(world.state().step, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::World;
use crate::ids::{BodyId, StaleId};
use crate::math::{Pose, Vec3, rotation_from_vector, rotation_vector};
use crate::model::error::{BodyError, check_number};
use crate::report::StepError;

/// Makes steps of one length, and shows poses between them.
#[derive(Clone, Debug)]
pub struct StepClock {
    step: f64,
    owed: f64,
    most: u32,
    dropped: f64,
    before: Vec<(u32, Pose)>,
}

impl StepClock {
    /// Steps of `step` seconds, ten at most for one frame.
    pub fn new(step: f64) -> Result<StepClock, BodyError> {
        check_number("step", step, 1e-9..=1e9)?;
        Ok(StepClock { step, owed: 0.0, most: 10, dropped: 0.0, before: Vec::new() })
    }

    /// At most so many steps for one frame. The time of those left out is dropped, so that a slow
    /// machine shows slow motion instead of falling behind for ever.
    pub fn most_steps(mut self, most: u32) -> StepClock {
        self.most = most.max(1);
        self
    }

    /// Lets `seconds` go by; returns how many steps were made. What is negative or not finite counts as 0.
    /// On an error the time of the steps that were not made is still owed.
    pub fn advance(&mut self, world: &mut World, seconds: f64) -> Result<u32, StepError> {
        self.advance_with(world, seconds, |_| {})
    }

    /// The same, calling `before` ahead of every step: forces last for one.
    pub fn advance_with(
        &mut self,
        world: &mut World,
        seconds: f64,
        mut before: impl FnMut(&mut World),
    ) -> Result<u32, StepError> {
        if seconds.is_finite() && seconds > 0.0 {
            self.owed += seconds;
        }
        let mut steps = 0;
        while self.owed >= self.step {
            if steps == self.most {
                let rest = self.owed % self.step;
                self.dropped += self.owed - rest;
                self.owed = rest;
                break;
            }
            before(world);
            self.before.clear();
            let bodies = world.model.bodies.iter().enumerate();
            let alive = bodies.filter(|(_, body)| body.alive);
            self.before.extend((0..world.model.bodies.len()).map(|_| (u32::MAX, Pose::IDENTITY)));
            for (slot, body) in alive {
                self.before[slot] = (body.generation, world.slot_pose(slot));
            }
            let _report = world.step(self.step)?;
            self.owed -= self.step;
            steps += 1;
        }
        Ok(steps)
    }

    /// How far into the next step the time has gone, 0 to 1.
    pub fn share(&self) -> f64 {
        (self.owed / self.step).clamp(0.0, 1.0)
    }

    /// Time that was dropped because too many steps were owed, s.
    pub fn dropped(&self) -> f64 {
        self.dropped
    }

    /// Where a body is drawn: between its poses before and after the last step, one step late.
    pub fn pose(&self, world: &World, id: BodyId) -> Result<Pose, StaleId> {
        let now = world.pose(id)?;
        let before = match self.before.get(id.index as usize) {
            Some((generation, pose)) if *generation == id.generation => *pose,
            _ => return Ok(now),
        };
        let share = self.share();
        let turn = rotation_vector(now.rotation * before.rotation.conjugate());
        let between = |a: Vec3, b: Vec3| a + share * (b - a);
        let rotation = (rotation_from_vector(share * turn) * before.rotation).normalize();
        Ok(Pose::from_parts(between(before.translation, now.translation), rotation))
    }
}
