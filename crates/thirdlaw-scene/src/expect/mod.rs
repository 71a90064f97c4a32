//! What a scene promises, and whether a run kept it.

mod cloth;
mod columns;
mod coupling;
mod emitter;
mod joint;
mod point;
mod reading;

pub use cloth::{CLOTH_READINGS, ClothReading, VERTEX_READINGS, VertexReading};
pub use columns::{COLUMNS, StatsColumn, expected_columns};
pub use coupling::{COUPLING_READINGS, CouplingFrame, CouplingReading};
pub use emitter::{EMITTER_READINGS, EmitterReading};
pub use joint::{JOINT_READINGS, JointQuantity, MAIN_READINGS};
pub use point::{POINT_READINGS, PointReading};
pub use reading::{BODY_READINGS, BodyReading, FrameStats, Reading};

use crate::{Scene, SceneBody};
use std::ops::Range;
use thirdlaw::math::{Pose, Vec3};
use thirdlaw::{ClothId, EmitterId, JointId, PointId, World};

/// One line of `[expect]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// As written: `"ball.y"`.
    pub key: String,
    /// What is read in every frame.
    pub reading: Reading,
    /// What must hold.
    pub test: Test,
    /// What the test is applied to.
    pub of: Of,
    /// First time it is checked, s.
    pub from: Option<f64>,
    /// Last time it is checked, s.
    pub until: Option<f64>,
    /// The only time it is checked, s: the frame nearest to it.
    pub at: Option<f64>,
    /// Where it stands in the scene's text.
    pub span: Range<usize>,
}

/// What must hold for a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Test {
    /// Smaller than this.
    Below(f64),
    /// Larger than this.
    Above(f64),
    /// No farther from this than that.
    Near(f64, f64),
    /// Exactly this.
    Equals(f64),
}

/// Which number of all frames is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Every frame's.
    Each,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The mean.
    Mean,
}

impl Test {
    /// How far a reading is on the wrong side; negative or zero is right, for `Below` and `Above`
    /// only negative.
    fn excess(self, value: f64) -> f64 {
        match self {
            Test::Below(limit) => value - limit,
            Test::Above(limit) => limit - value,
            Test::Near(wanted, within) => (value - wanted).abs() - within,
            Test::Equals(wanted) => (value - wanted).abs(),
        }
    }

    /// Whether a reading is right. NaN never is.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Test::Below(limit) => value < limit,
            Test::Above(limit) => value > limit,
            Test::Near(..) => self.excess(value) <= 0.0,
            Test::Equals(wanted) => value == wanted,
        }
    }

    /// The worse of two readings.
    fn worse(self, a: f64, b: f64) -> f64 {
        let worse = |x: f64| if x.is_nan() { f64::INFINITY } else { self.excess(x) };
        if worse(b) > worse(a) { b } else { a }
    }
}

impl std::fmt::Display for Expectation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.of {
            Of::Each => {}
            Of::Max => write!(f, "largest ")?,
            Of::Min => write!(f, "smallest ")?,
            Of::Mean => write!(f, "mean ")?,
        }
        match self.test {
            Test::Below(limit) => write!(f, "below {limit}")?,
            Test::Above(limit) => write!(f, "above {limit}")?,
            Test::Near(wanted, within) => write!(f, "within {within} of {wanted}")?,
            Test::Equals(wanted) => write!(f, "equal to {wanted}")?,
        }
        if let Some(at) = self.at {
            write!(f, " at {at} s")?;
        }
        if let Some(from) = self.from {
            write!(f, " from {from} s")?;
        }
        if let Some(until) = self.until {
            write!(f, " until {until} s")?;
        }
        Ok(())
    }
}

/// Whether an expectation came true.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// As written in the scene.
    pub key: String,
    /// What was wanted, in words.
    pub wanted: String,
    /// The worst reading; `None` if the run never came to the time.
    pub value: Option<f64>,
    /// Whether it came true.
    pub passed: bool,
}

/// Fed with every frame's readings, tells the verdicts at the end.
#[derive(Clone, Debug)]
pub struct ExpectTracker {
    expectations: Vec<Expectation>,
    seen: Vec<Seen>,
    /// Poses at the start, for readings of how far a body came.
    start: Vec<Pose>,
    cloths: Vec<ClothId>,
    joints: Vec<JointId>,
    emitters: Vec<EmitterId>,
    /// With where they started.
    points: Vec<(PointId, Vec3)>,
    /// The books of the frame that is observed next.
    couplings: Vec<CouplingFrame>,
    frame_time: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    count: u64,
    sum: f64,
    /// Worst, largest or smallest so far.
    value: f64,
}

impl ExpectTracker {
    /// Begins to watch; the scene's world must still be at its start.
    pub fn new(scene: &Scene) -> ExpectTracker {
        let pose = |body: &SceneBody| scene.world.pose(body.id).unwrap_or(Pose::IDENTITY);
        ExpectTracker {
            expectations: scene.expect.clone(),
            seen: vec![Seen::default(); scene.expect.len()],
            start: scene.bodies.iter().map(pose).collect(),
            cloths: scene.cloths.iter().map(|c| c.id).collect(),
            joints: scene.joints.iter().map(|j| j.id).collect(),
            emitters: scene.emitters.iter().map(|e| e.id).collect(),
            points: scene
                .points
                .iter()
                .map(|p| (p.id, scene.world.point(p.id).map_or(Vec3::ZERO, |now| now.position)))
                .collect(),
            couplings: Vec::new(),
            frame_time: 1.0 / scene.fps,
        }
    }

    /// Takes in what the books of all couplings, in the order of the scene, say of the frame that is
    /// observed next. A frame without books, like the first, tells nothing of couplings.
    pub fn keep_books(&mut self, couplings: Vec<CouplingFrame>) {
        self.couplings = couplings;
    }

    /// Takes in a frame.
    pub fn observe(&mut self, time: f64, stats: &FrameStats, world: &World, bodies: &[SceneBody]) {
        for (expectation, seen) in self.expectations.iter().zip(&mut self.seen) {
            if !applies(expectation, time, self.frame_time) {
                continue;
            }
            let pick = |a: f64, b: f64| match expectation.of {
                Of::Each => expectation.test.worse(a, b),
                Of::Max | Of::Mean => {
                    if b > a || b.is_nan() {
                        b
                    } else {
                        a
                    }
                }
                Of::Min => {
                    if b < a || b.is_nan() {
                        b
                    } else {
                        a
                    }
                }
            };
            let value = match &expectation.reading {
                Reading::Bodies { first, count, quantity } => (*first..first + count)
                    .filter_map(|i| Some((bodies.get(i)?, self.start.get(i)?)))
                    .map(|(body, start)| quantity.read(world, body.id, start))
                    .reduce(pick),
                Reading::Cloths { first, count, quantity } => (*first..first + count)
                    .filter_map(|i| self.cloths.get(i))
                    .map(|cloth| quantity.read(world, *cloth))
                    .reduce(pick),
                Reading::Joints { first, count, quantity } => (*first..first + count)
                    .filter_map(|i| self.joints.get(i))
                    .map(|joint| quantity.read(world, *joint))
                    .reduce(pick),
                Reading::Points { first, count, quantity } => (*first..first + count)
                    .filter_map(|i| self.points.get(i))
                    .map(|(point, start)| quantity.read(world, *point, *start))
                    .reduce(pick),
                Reading::Emitter { index, quantity } => {
                    self.emitters.get(*index).map(|emitter| quantity.read(world, *emitter))
                }
                Reading::Coupling { index, quantity } => {
                    self.couplings.get(*index).and_then(|frame| quantity.read(frame))
                }
                column => column.of_frame(stats),
            };
            let Some(value) = value else { continue };
            seen.sum += value;
            seen.value = if seen.count == 0 { value } else { pick(seen.value, value) };
            seen.count += 1;
        }
        self.couplings.clear();
    }

    /// One verdict for each expectation, in their order.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let verdict = |(expectation, seen): (&Expectation, &Seen)| {
            let value = match expectation.of {
                _ if seen.count == 0 => None,
                Of::Mean => Some(seen.sum / seen.count as f64),
                _ => Some(seen.value),
            };
            Verdict {
                key: expectation.key.clone(),
                wanted: expectation.to_string(),
                value,
                passed: value.is_some_and(|v| expectation.test.holds(v)),
            }
        };
        self.expectations.iter().zip(&self.seen).map(verdict).collect()
    }
}

/// Whether a frame at `time` counts; frames are `frame_time` apart.
fn applies(expectation: &Expectation, time: f64, frame_time: f64) -> bool {
    if let Some(at) = expectation.at {
        // the nearest frame, the earlier of two
        let offset = time - at;
        return offset >= -0.5 * frame_time * (1.0 + 1e-9)
            && offset < 0.5 * frame_time * (1.0 - 1e-9);
    }
    let slack = 1e-9 * time.abs().max(1.0);
    expectation.from.is_none_or(|from| time >= from - slack)
        && expectation.until.is_none_or(|until| time <= until + slack)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation(test: Test, of: Of) -> Expectation {
        Expectation {
            key: "kinetic".into(),
            reading: Reading::Column("kinetic"),
            test,
            of,
            from: Some(1.0),
            until: None,
            at: None,
            span: 0..0,
        }
    }

    /// Of one expectation in a world of which nothing is read.
    fn tracker(expectation: Expectation) -> ExpectTracker {
        ExpectTracker {
            expectations: vec![expectation],
            seen: vec![Seen::default()],
            start: vec![],
            cloths: vec![],
            joints: vec![],
            emitters: vec![],
            points: vec![],
            couplings: vec![],
            frame_time: 0.5,
        }
    }

    fn verdict(expectation: Expectation, values: &[f64]) -> Verdict {
        let mut tracker = tracker(expectation);
        let world = World::new(Default::default()).unwrap();
        for (i, &kinetic) in values.iter().enumerate() {
            let time = 0.5 * i as f64;
            tracker.observe(time, &FrameStats { kinetic, ..Default::default() }, &world, &[]);
        }
        tracker.verdicts().remove(0)
    }

    #[test]
    fn every_frame_in_the_window_counts() {
        let found = verdict(expectation(Test::Below(1.0), Of::Each), &[9.0, 9.0, 0.5, 0.7]);
        assert_eq!((found.passed, found.value), (true, Some(0.7)));
        assert_eq!(found.wanted, "below 1 from 1 s");
        let found =
            verdict(expectation(Test::Near(1.0, 0.1), Of::Each), &[0.0, 0.0, 1.05, 0.8, 1.0]);
        assert_eq!((found.passed, found.value), (false, Some(0.8)));
        assert!(
            !verdict(expectation(Test::Below(1.0), Of::Each), &[0.0, 0.0, 0.1, f64::NAN, 0.2])
                .passed
        );
    }

    #[test]
    fn books_count_in_the_frames_that_have_them() {
        let expectation = Expectation {
            reading: Reading::Coupling { index: 0, quantity: CouplingReading::Imbalance },
            from: None,
            ..expectation(Test::Below(1e-9), Of::Each)
        };
        let world = World::new(Default::default()).unwrap();
        let verdict = |books: &[Option<f64>]| {
            let mut tracker = tracker(expectation.clone());
            for imbalance in books {
                let frame = CouplingFrame { imbalance: *imbalance, ..Default::default() };
                tracker.keep_books(vec![frame]);
                tracker.observe(0.0, &FrameStats::default(), &world, &[]);
            }
            tracker.verdicts().remove(0)
        };
        let found = verdict(&[None, Some(1e-12), Some(0.0)]);
        assert_eq!((found.passed, found.value), (true, Some(1e-12)));
        assert!(!verdict(&[None, Some(1e-12), Some(2e-9)]).passed);
        assert!(!verdict(&[None, Some(f64::NAN)]).passed);
        assert_eq!(verdict(&[None]).value, None);
    }

    #[test]
    fn extremes_and_means_are_tested_as_one_number() {
        let values = [9.0, 9.0, 1.0, 3.0, 2.0];
        for (of, wanted) in [(Of::Max, 3.0), (Of::Min, 1.0), (Of::Mean, 2.0)] {
            assert!(verdict(expectation(Test::Equals(wanted), of), &values).passed, "{of:?}");
        }
    }

    #[test]
    fn a_time_never_reached_fails() {
        let found = verdict(expectation(Test::Below(1.0), Of::Each), &[0.0, 0.0]);
        assert_eq!((found.passed, found.value), (false, None));
    }

    #[test]
    fn a_moment_is_its_nearest_frame() {
        let at =
            |t| Expectation { at: Some(t), from: None, ..expectation(Test::Equals(7.0), Of::Each) };
        assert!(verdict(at(1.1), &[0.0, 0.0, 7.0, 0.0]).passed);
        assert!(verdict(at(0.9), &[0.0, 0.0, 7.0, 0.0]).passed);
        assert!(!verdict(at(1.3), &[0.0, 0.0, 7.0, 0.0]).passed);
    }
}
