//! A joint as a step reads it, and the checks that make it so.

use super::axis::{AxisMode, AxisSettings, Limits};
use super::curve::Curve;
use super::description::{Enforcement, Frame, Joint, JointKind, Side};
use super::drive::{Drive, Target};
use super::error::JointError;
use crate::math::{Pose, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// The constant part of a joint.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct JointModel {
    /// Whether the slot is in use.
    pub alive: bool,
    /// How often the slot had been used before.
    pub generation: u32,
    /// What the user said; its frames as anchors and turns stand below.
    pub joint: Joint,
    /// Side a.
    pub(crate) a: Node,
    /// Side b.
    pub(crate) b: Node,
    /// Anchor from a's centre of mass in a's own axes, m.
    pub(crate) anchor_a: Vec3,
    /// Anchor from b's centre of mass in b's own axes, m.
    pub(crate) anchor_b: Vec3,
    /// Turn of frame a in a's own axes.
    pub(crate) basis_a: Quat,
    /// Turn of frame b in b's own axes.
    pub(crate) basis_b: Quat,
    /// Which coordinates are held.
    pub(crate) locked: [bool; 6],
    /// The curve of a bead.
    pub(crate) curve: Option<Curve>,
    /// Rest length of a spring, or what a gear's coordinates differed by when it was added.
    pub(crate) rest: f64,
}

/// A side of a joint by its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Node {
    World,
    Body(u32),
    Point(u32),
}

fn fail<T>(field: &'static str, problem: impl Into<String>) -> Result<T, JointError> {
    Err(JointError::new(field, problem))
}

/// Refuses a number outside a range, or NaN.
fn check(field: &'static str, x: f64, low: f64, high: f64) -> Result<(), JointError> {
    if (low..=high).contains(&x) {
        return Ok(());
    }
    fail(field, format!("must be from {low} to {high}, not {x}"))
}

/// Largest stiffness, damping or force taken.
const MOST: f64 = 1e30;

/// Checks everything about a joint that does not depend on where its sides are.
pub(crate) fn check_joint(joint: &Joint) -> Result<(), JointError> {
    match &joint.kind {
        JointKind::Distance { min, max } => {
            check("kind.min", *min, 0.0, MOST)?;
            if max < min || max.is_nan() {
                return fail(
                    "kind.max",
                    format!("must be at least the least distance {min}, not {max}"),
                );
            }
        }
        JointKind::Curve { points, closed } => {
            if let Err(problem) = Curve::new(points, *closed) {
                return fail("kind.points", problem);
            }
        }
        JointKind::Gear { first, second, ratio } => {
            check_ratio("kind.ratio", *ratio)?;
            if first == second {
                return fail("kind.second", "must be another joint than the first");
            }
        }
        JointKind::Rack { hinge, slider, radius } => {
            check_ratio("kind.radius", *radius)?;
            if hinge == slider {
                return fail("kind.slider", "must be another joint than the hinge");
            }
        }
        JointKind::Spring { stiffness, damping, length } => {
            check("kind.stiffness", *stiffness, 0.0, MOST)?;
            check("kind.damping", *damping, 0.0, MOST)?;
            check("kind.length", length.unwrap_or(0.0), 0.0, MOST)?;
        }
        JointKind::AngularSpring { stiffness, damping } => {
            check("kind.stiffness", *stiffness, 0.0, MOST)?;
            check("kind.damping", *damping, 0.0, MOST)?;
        }
        _ => {}
    }
    check_frame("frame_a", &joint.frame_a)?;
    check_frame("frame_b", &joint.frame_b)?;
    for axis in &joint.axes {
        check_axis(axis)?;
    }
    for (field, x) in [("break_force", joint.break_force), ("break_torque", joint.break_torque)] {
        if x <= 0.0 || x.is_nan() {
            return fail(field, format!("must be positive, not {x}"));
        }
    }
    if joint.enforcement == Some(Enforcement::Reduced) && !holds(&joint.kind) {
        return fail(
            "enforcement",
            "reduced coordinates hold fixed, ball, hinge, slider, universal, cylindrical, planar and \
             six-axis joints, not this kind",
        );
    }
    check_enforcement("enforcement", joint.enforcement.unwrap_or_default())
}

fn check_ratio(field: &'static str, ratio: f64) -> Result<(), JointError> {
    if ratio.is_finite() && ratio != 0.0 {
        return Ok(());
    }
    fail(field, format!("must be finite and not zero, not {ratio}"))
}

pub(crate) fn check_enforcement(
    field: &'static str,
    enforcement: Enforcement,
) -> Result<(), JointError> {
    match enforcement {
        Enforcement::Soft { stiffness, damping } => {
            check(field, stiffness, 0.0, MOST)?;
            check(field, damping, 0.0, MOST)
        }
        Enforcement::Multipliers { rate } => check(field, rate, 0.0, MOST),
        _ => Ok(()),
    }
}

fn check_frame(field: &'static str, frame: &Frame) -> Result<(), JointError> {
    let (Frame::Local(pose) | Frame::World(pose)) = frame;
    if !pose.translation.is_finite() {
        return fail(field, format!("the anchor must be finite, not {}", pose.translation));
    }
    let length = pose.rotation.length();
    if !(0.999..=1.001).contains(&length) {
        return fail(
            field,
            "the axis must be a finite vector other than zero, and the rotation a unit quaternion",
        );
    }
    Ok(())
}

fn check_axis(axis: &AxisSettings) -> Result<(), JointError> {
    if let Some(Limits { lower, upper, restitution }) = axis.limits {
        let crossed = lower > upper || lower.is_nan() || upper.is_nan();
        if crossed || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
            return fail(
                "axes.limits",
                format!("the lower limit {lower} must not exceed the upper limit {upper}"),
            );
        }
        check("axes.limits.restitution", restitution, 0.0, 1.0)?;
    }
    check("axes.friction", axis.friction, 0.0, MOST)?;
    if let Some(spring) = axis.spring {
        check("axes.spring.stiffness", spring.stiffness, 0.0, MOST)?;
        check("axes.spring.damping", spring.damping, 0.0, MOST)?;
        check("axes.spring.rest", spring.rest, -MOST, MOST)?;
    }
    axis.drive.as_ref().map_or(Ok(()), check_drive)
}

/// Checks a drive.
pub(crate) fn check_drive(drive: &Drive) -> Result<(), JointError> {
    check("drive.stiffness", drive.stiffness, 0.0, MOST)?;
    check("drive.damping", drive.damping, 0.0, f64::INFINITY)?;
    check("drive.limit", drive.limit, 0.0, f64::INFINITY)?;
    check("drive.effort", drive.effort, -MOST, MOST)?;
    if drive.damping == f64::INFINITY && drive.stiffness > 0.0 {
        return fail("drive.stiffness", "a motor of infinite damping has no use for stiffness");
    }
    check_target(&drive.target)
}

/// Checks what a drive aims at.
pub(crate) fn check_target(target: &Target) -> Result<(), JointError> {
    let number = |x: f64| check("drive.target", x, -MOST, MOST);
    match target {
        Target::Constant { position, velocity } => {
            number(*position)?;
            number(*velocity)
        }
        Target::Sine { center, amplitude, frequency, phase } => {
            [*center, *amplitude, *frequency, *phase].into_iter().try_for_each(number)
        }
        Target::Keyframes { keys, .. } => {
            if keys.is_empty() {
                return fail("drive.target.keys", "must hold at least one key");
            }
            for (i, key) in keys.iter().enumerate() {
                number(key.time)?;
                number(key.position)?;
                if i > 0 && key.time <= keys[i - 1].time {
                    return fail(
                        "drive.target.keys",
                        format!("times must increase, but key {i} does not follow key {}", i - 1),
                    );
                }
            }
            Ok(())
        }
    }
}

/// Which coordinates a kind holds at zero.
pub(crate) fn locked_axes(joint: &Joint) -> [bool; 6] {
    const F: bool = false;
    const T: bool = true;
    match joint.kind {
        JointKind::Fixed => [T; 6],
        JointKind::Ball => [T, T, T, F, F, F],
        JointKind::Hinge => [T, T, T, F, T, T],
        JointKind::Slider => [F, T, T, T, T, T],
        JointKind::Universal => [T, T, T, F, F, T],
        JointKind::Cylindrical => [F, T, T, F, T, T],
        JointKind::Planar => [T, F, F, F, T, T],
        JointKind::SixAxis => [0, 1, 2, 3, 4, 5].map(|i| joint.axes[i].mode == AxisMode::Locked),
        _ => [F; 6],
    }
}

/// Which coordinates a kind has at all.
pub(crate) fn used_axes(kind: &JointKind) -> [bool; 6] {
    match kind {
        JointKind::Distance { .. } | JointKind::Curve { .. } | JointKind::Spring { .. } => {
            [true, false, false, false, false, false]
        }
        JointKind::Gear { .. } | JointKind::Rack { .. } | JointKind::AngularSpring { .. } => {
            [false; 6]
        }
        _ => [true; 6],
    }
}

/// Checks that what acts on coordinates acts on free ones, and that sides suit the kind.
pub(crate) fn check_use(joint: &Joint, locked: &[bool; 6]) -> Result<(), JointError> {
    let used = used_axes(&joint.kind);
    for (i, axis) in joint.axes.iter().enumerate() {
        if axis.acts() && (locked[i] || !used[i]) {
            let name = super::axis::Axis::ALL[i];
            return fail(
                "axes",
                format!("{name:?} is not a free coordinate of this joint: nothing can act on it"),
            );
        }
    }
    if matches!(joint.kind, JointKind::Gear { .. } | JointKind::Rack { .. }) {
        return Ok(());
    }
    if joint.a == joint.b {
        return fail("b", "a joint needs two different sides");
    }
    let turns = locked[3] || locked[4] || locked[5] || joint.axes[3..].iter().any(|a| a.acts());
    let angular = turns || matches!(joint.kind, JointKind::AngularSpring { .. });
    let point = |side: &Side| matches!(side, Side::Point(_));
    if angular && (point(&joint.a) || point(&joint.b)) {
        return fail("kind", "a point mass has no rotation that a joint could hold or drive");
    }
    let partly = locked[..3].iter().any(|&l| l) && !locked[..3].iter().all(|&l| l);
    if point(&joint.a) && (partly || matches!(joint.kind, JointKind::Curve { .. })) {
        return fail("a", "a point mass has no axes: make it side b of this joint");
    }
    Ok(())
}

impl JointModel {
    /// Anchor from the centre of mass and turn of the frame of both sides, in their own axes.
    pub fn frames(&self) -> [(Vec3, Quat); 2] {
        [(self.anchor_a, self.basis_a), (self.anchor_b, self.basis_b)]
    }

    /// How many turns are left free by a joint that holds its anchors together; none where it does not.
    pub fn free_turns(&self) -> Option<usize> {
        let [x, y, z, turns @ ..] = self.locked;
        (x && y && z).then(|| turns.iter().filter(|&&locked| !locked).count())
    }

    /// Which coordinates it holds, in the order of [`Axis::ALL`](crate::Axis::ALL).
    pub fn held(&self) -> [bool; 6] {
        self.locked
    }

    /// The pose of a frame from its side's centre of mass, in the side's own axes.
    pub(crate) fn set_frames(&mut self, a: Pose, b: Pose) {
        (self.anchor_a, self.basis_a) = (a.translation, a.rotation.normalize());
        (self.anchor_b, self.basis_b) = (b.translation, b.rotation.normalize());
    }

    /// The number by which a gear or rack couples two joints: (first, second, ratio).
    pub(crate) fn coupling(&self) -> Option<(u32, u32, f64)> {
        match self.joint.kind {
            JointKind::Gear { first, second, ratio } => Some((first.index, second.index, ratio)),
            JointKind::Rack { hinge, slider, radius } => Some((hinge.index, slider.index, radius)),
            _ => None,
        }
    }

    /// Length of the curve on which it keeps a bead, m.
    pub fn curve_length(&self) -> Option<f64> {
        self.curve.as_ref().map(Curve::length)
    }

    /// Whether it is a wire with two ends, at which a bead stops.
    pub(crate) fn has_ends(&self) -> bool {
        matches!(self.joint.kind, JointKind::Curve { closed: false, .. })
    }

    /// The two bodies that it keeps from touching, the lower slot first.
    pub(crate) fn apart(&self, broken: bool) -> Option<(u32, u32)> {
        match (self.a, self.b) {
            (Node::Body(a), Node::Body(b)) if self.alive && !self.joint.collide && !broken => {
                Some((a.min(b), a.max(b)))
            }
            _ => None,
        }
    }

    /// Whether it acts along the line between its anchors.
    pub(crate) fn is_line(&self) -> bool {
        matches!(self.joint.kind, JointKind::Distance { .. } | JointKind::Spring { .. })
    }

    /// Whether it can be rows of a pile: it holds its anchors together and may hold, limit and rub turns, and
    /// nobody asks it for more.
    pub(crate) fn fits_rows(&self) -> bool {
        let kind = matches!(
            self.joint.kind,
            JointKind::Fixed
                | JointKind::Ball
                | JointKind::Hinge
                | JointKind::Universal
                | JointKind::SixAxis
        );
        let plain = |axis: &AxisSettings| {
            axis.spring.is_none()
                && axis.drive.is_none()
                && axis.limits.is_none_or(|limits| limits.restitution == 0.0)
        };
        let unbreakable =
            self.joint.break_force == f64::INFINITY && self.joint.break_torque == f64::INFINITY;
        let points = [self.a, self.b].iter().any(|side| matches!(side, Node::Point(_)));
        kind && self.locked[..3] == [true; 3]
            && self.joint.axes.iter().all(plain)
            && self.joint.enforcement.is_none()
            && unbreakable
            && !points
    }

    /// Rows about axes at most, where it is rows of a pile.
    pub(crate) fn rows_about_axes(&self) -> usize {
        let rows = |i: usize| match (self.locked[i], &self.joint.axes[i]) {
            (true, _) => 1,
            (false, axis) => usize::from(axis.limits.is_some()) + usize::from(axis.friction > 0.0),
        };
        (3..6).map(rows).sum()
    }

    /// Whether a drive moves it by itself.
    pub(crate) fn is_driven(&self) -> bool {
        let moves = |drive: &Drive| drive.target.moves() || drive.effort != 0.0;
        self.joint.axes.iter().any(|axis| axis.drive.as_ref().is_some_and(moves))
    }

    /// The first coordinate that may change: what a gear turns.
    pub(crate) fn first_free(&self) -> Option<usize> {
        let used = used_axes(&self.joint.kind);
        // an angle before a length, so that a cylindrical joint is geared by its turn
        [3, 4, 5, 0, 1, 2].into_iter().find(|&i| used[i] && !self.locked[i])
    }

    pub(crate) fn fingerprint(&self, hasher: &mut crate::math::hash::BitHasher) {
        use std::hash::{Hash, Hasher};
        self.alive.hash(hasher);
        self.generation.hash(hasher);
        if !self.alive {
            return;
        }
        let joint = &self.joint;
        let plain = (
            (&joint.kind, self.a, self.b, self.anchor_a, self.anchor_b, self.basis_a, self.basis_b),
            (&joint.axes, joint.break_force, joint.break_torque, joint.collide),
            (joint.enforcement, self.rest),
        );
        if let Ok(bytes) = postcard::to_stdvec(&plain) {
            hasher.write(&bytes);
        }
    }
}

/// Whether a joint of this kind can be held in its coordinates.
pub(crate) fn holds(kind: &JointKind) -> bool {
    matches!(
        kind,
        JointKind::Fixed
            | JointKind::Ball
            | JointKind::Hinge
            | JointKind::Slider
            | JointKind::Universal
            | JointKind::Cylindrical
            | JointKind::Planar
            | JointKind::SixAxis
    )
}
