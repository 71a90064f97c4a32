//! Inverse kinematics of a chain of hinges and sliders: coordinates that bring its tip to a goal.
//!
//! With e the way from the tip to the goal and J its derivative by the coordinates q (a hinge: axis × arm; a
//! slider: its axis), every round solves (JᵀJ + μ·1)·Δq = Jᵀe and keeps what makes |e| smaller; μ falls after
//! a success and rises after a failure (Levenberg and Marquardt), which is what keeps stretched arms calm.
//! Coordinates are kept within the limits of their joints. Nothing of the world is changed: hand the answer
//! to drives by [`Chain::drive`], or read it.

use crate::ids::{BodyId, JointId};
use crate::linalg::cholesky::Cholesky;
use crate::math::{Pose, Quat, Vec3, rotation_from_vector, rotation_vector};
use crate::model::joint::axis::Axis;
use crate::model::joint::description::{JointKind, Side};
use crate::model::joint::error::JointError;
use crate::world::World;

/// Joints from the base to the tip, each of which carries the next one with its side b.
///
/// ```
/// use thirdlaw::Chain;
/// use thirdlaw::prelude::*;
/// let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
/// // an arm of two links of 1 m in the xy plane, with a drive on each hinge
/// let link = |x| -> Result<Body, Box<dyn std::error::Error>> {
///     Ok(Body::dynamic(Shape::cuboid(Vec3::new(0.5, 0.05, 0.05))?).at(x, 0.0, 0.0))
/// };
/// let (upper, lower) = (world.add_body(link(0.5)?)?, world.add_body(link(1.5)?)?);
/// let hinge = |a: Side, b: BodyId, x: f64| {
///     let hinge = Joint::hinge(a, b).at(x, 0.0, 0.0).axis(Vec3::Z);
///     hinge.driven(Axis::TurnX, Drive::pd(4000.0, 400.0))
/// };
/// let shoulder = world.add_joint(hinge(Side::World, upper, 0.0))?;
/// let elbow = world.add_joint(hinge(upper.into(), lower, 1.0))?;
/// let arm = Chain::new(&world, [shoulder, elbow], lower, Vec3::new(0.5, 0.0, 0.0))?;
/// let goal = Vec3::new(0.8, 1.1, 0.0);
/// let found = arm.reach(&world, goal)?;
/// assert!(found.error < 1e-6);
/// arm.drive(&mut world, &found)?;
/// for _ in 0..240 {
///     let _report = world.step(1.0 / 60.0)?;
/// }
/// assert!((world.pose(lower)? * Vec3::new(0.5, 0.0, 0.0)).distance(goal) < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[doc(alias = "InverseKinematicsOption")]
pub struct Chain {
    joints: Vec<(JointId, Axis)>,
    tip: BodyId,
    local: Vec3,
}

/// What a chain can do for a goal.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Reach {
    /// Coordinates of the joints from the base to the tip, rad and m.
    pub coordinates: Vec<f64>,
    /// How far the tip is from the goal with them, m.
    pub error: f64,
    /// How far it is turned out of the goal, rad; 0 where only a place was asked for.
    pub turn_error: f64,
    /// Rounds taken.
    pub rounds: u32,
}

/// Most rounds.
const ROUNDS: u32 = 200;
/// Errors below this (m, rad) are as good as none.
const GOOD: f64 = 1e-9;

/// A joint where it is in a round.
#[derive(Clone, Copy, Debug)]
struct Link {
    axis: Vec3,
    anchor: Vec3,
    turns: bool,
    at: f64,
    bounds: [f64; 2],
}

/// The whole chain in a round.
#[derive(Clone, Debug)]
struct Posture {
    links: Vec<Link>,
    tip: Vec3,
    rotation: Quat,
}

impl Chain {
    /// The chain of these joints, whose tip is a place (m) in the frame of the last body.
    pub fn new(
        world: &World,
        joints: impl IntoIterator<Item = JointId>,
        tip: BodyId,
        local: Vec3,
    ) -> Result<Chain, JointError> {
        let mut chain = Chain { joints: Vec::new(), tip, local };
        let mut carried = None;
        for id in joints {
            let joint = &world.joint(id)?.joint;
            let axis = match joint.kind {
                JointKind::Hinge => Axis::TurnX,
                JointKind::Slider => Axis::X,
                _ => return Err(refuse(id, "kind", "a chain is made of hinges and sliders")),
            };
            if carried.is_some_and(|body| joint.a != body) {
                let problem = "must be the body that the joint before carries as its side b";
                return Err(refuse(id, "a", problem));
            }
            carried = Some(joint.b);
            chain.joints.push((id, axis));
        }
        match (carried, chain.joints.last()) {
            (Some(side), Some(&(id, _))) if side != Side::Body(tip) => {
                Err(refuse(id, "b", "the last joint carries the tip as its side b"))
            }
            (None, _) => Err(JointError::new("joints", "a chain needs at least one joint")),
            _ if !local.is_finite() => Err(JointError::new("local", "must be finite")),
            _ => Ok(chain),
        }
    }

    /// Coordinates that bring the tip to a place, m, or as near as it was found to come.
    pub fn reach(&self, world: &World, goal: Vec3) -> Result<Reach, JointError> {
        self.solve(world, goal, None)
    }

    /// The same for a place and an orientation of the tip's body.
    pub fn reach_pose(&self, world: &World, goal: Pose) -> Result<Reach, JointError> {
        self.solve(world, goal.translation, Some(goal.rotation))
    }

    /// Makes coordinates the targets of the drives of the joints.
    pub fn drive(&self, world: &mut World, reach: &Reach) -> Result<(), JointError> {
        for (&(id, axis), &at) in self.joints.iter().zip(&reach.coordinates) {
            world.set_drive_target(id, axis, at, 0.0)?;
        }
        Ok(())
    }

    fn solve(&self, world: &World, goal: Vec3, turn: Option<Quat>) -> Result<Reach, JointError> {
        if !goal.is_finite() || turn.is_some_and(|turn| !turn.is_finite()) {
            return Err(JointError::new("goal", "must be finite"));
        }
        let mut posture = self.posture(world)?;
        let turn = turn.map(Quat::normalize);
        let mut errors = posture.errors(goal, turn);
        let (mut damping, mut rounds) = (1e-3, 0);
        let size = |errors: &[Vec3; 2]| errors[0].length_squared() + errors[1].length_squared();
        while rounds < ROUNDS && size(&errors) > GOOD * GOOD && damping < 1e9 {
            rounds += 1;
            let change = posture.change(&errors, turn.is_some(), damping);
            let mut tried = posture.clone();
            tried.advance(&change);
            let left = tried.errors(goal, turn);
            if size(&left) < size(&errors) {
                (posture, errors) = (tried, left);
                damping = (0.3 * damping).max(1e-12);
            } else {
                damping *= 4.0;
            }
        }
        Ok(Reach {
            coordinates: posture.links.iter().map(|link| link.at).collect(),
            error: errors[0].length(),
            turn_error: errors[1].length(),
            rounds,
        })
    }

    /// The chain as it is in the world.
    fn posture(&self, world: &World) -> Result<Posture, JointError> {
        let mut links = Vec::with_capacity(self.joints.len());
        for &(id, axis) in &self.joints {
            let joint = world.joint(id)?;
            let [(anchor, basis), _] = joint.frames();
            let (center, rotation) = match joint.joint.a {
                Side::Body(body) => (world.center(body)?, world.pose(body)?.rotation),
                _ => (Vec3::ZERO, Quat::IDENTITY),
            };
            let bounds = joint.joint.axes[axis.index()].limits;
            links.push(Link {
                axis: rotation * basis * Vec3::X,
                anchor: center + rotation * anchor,
                turns: axis.is_turn(),
                at: world.joint_reading(id)?.coordinate(axis),
                bounds: bounds.map_or([f64::NEG_INFINITY, f64::INFINITY], |b| [b.lower, b.upper]),
            });
        }
        let pose = world.pose(self.tip)?;
        Ok(Posture { links, tip: pose * self.local, rotation: pose.rotation })
    }
}

impl Posture {
    /// The way from the tip to the goal (m) and the turn (rad).
    fn errors(&self, goal: Vec3, turn: Option<Quat>) -> [Vec3; 2] {
        let left =
            turn.map_or(Vec3::ZERO, |turn| rotation_vector(turn * self.rotation.conjugate()));
        [goal - self.tip, left]
    }

    /// Δq of (JᵀJ + μ·1)·Δq = Jᵀe.
    fn change(&self, errors: &[Vec3; 2], turning: bool, damping: f64) -> Vec<f64> {
        let column = |link: &Link| {
            let shift =
                if link.turns { link.axis.cross(self.tip - link.anchor) } else { link.axis };
            let turn = if link.turns && turning { link.axis } else { Vec3::ZERO };
            [shift, turn]
        };
        let columns: Vec<[Vec3; 2]> = self.links.iter().map(column).collect();
        let product = |a: &[Vec3; 2], b: &[Vec3; 2]| a[0].dot(b[0]) + a[1].dot(b[1]);
        let mut matrix = Cholesky::default();
        matrix.reset(columns.len());
        for (i, a) in columns.iter().enumerate() {
            for (j, b) in columns[..=i].iter().enumerate() {
                matrix.add(i, j, product(a, b) + if i == j { damping } else { 0.0 });
            }
        }
        matrix.factor();
        let mut change: Vec<f64> = columns.iter().map(|a| product(a, errors)).collect();
        matrix.solve(&mut change);
        change
    }

    /// Moves every joint by its change, within its limits, and all that it carries.
    fn advance(&mut self, change: &[f64]) {
        for (i, &change) in change.iter().enumerate() {
            let link = self.links[i];
            let [low, high] = link.bounds;
            // a joint that is outside of its limits already may come back at its own pace
            let to = (link.at + change).max(low.min(link.at)).min(high.max(link.at));
            let by = to - link.at;
            self.links[i].at = to;
            let turn =
                if link.turns { rotation_from_vector(by * link.axis) } else { Quat::IDENTITY };
            let shift = if link.turns { Vec3::ZERO } else { by * link.axis };
            let carry = |x: Vec3| link.anchor + turn * (x - link.anchor) + shift;
            for later in &mut self.links[i + 1..] {
                (later.axis, later.anchor) = ((turn * later.axis).normalize(), carry(later.anchor));
            }
            self.tip = carry(self.tip);
            self.rotation = (turn * self.rotation).normalize();
        }
    }
}

fn refuse(id: JointId, field: &'static str, problem: &str) -> JointError {
    JointError::new(field, problem).of(id)
}
