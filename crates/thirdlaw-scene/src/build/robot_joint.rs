//! The joints of a robot.

use super::Builder;
use super::joint_kind::drive;
use super::robot::Build;
use crate::SceneJoint;
use crate::urdf::{Motion, RobotJoint};
use thirdlaw::math::{Pose, Quat, Vec3};
use thirdlaw::{Axis, Drive, Frame, Joint, JointId, JointKind, Limits, Side, Spring, Target};

impl Builder<'_> {
    /// Adds the joints of a robot whose links hold on to `sides`; those that mimic others as gears.
    pub fn add_robot_joints(&mut self, build: &Build<'_>, sides: &[Side]) {
        let mut ids: Vec<Option<JointId>> = vec![None; build.robot.joints.len()];
        for (i, own) in build.robot.joints.iter().enumerate() {
            let kind = match own.motion {
                Motion::Turn => JointKind::Hinge,
                Motion::Slide => JointKind::Slider,
                Motion::Plane => JointKind::Planar,
                Motion::Fixed | Motion::Free => continue,
            };
            let pair = [sides[own.parent], sides[own.child]];
            let axis = Pose::from_parts(Vec3::ZERO, Quat::from_rotation_arc(Vec3::X, own.axis));
            let frame_a = build.owners[own.parent].1 * own.origin * axis;
            let frame_b = build.owners[own.child].1 * axis;
            let mut joint = Joint::new(kind, pair[0], pair[1]);
            // without a body the first side is the world
            let frame_a = match pair[0] {
                Side::World => build.poses[build.owners[own.parent].0] * frame_a,
                _ => frame_a,
            };
            (joint.frame_a, joint.frame_b) = (Frame::Local(frame_a), Frame::Local(frame_b));
            act(&mut joint, own);
            if let Some(axis) = main_axis(own)
                && own.mimic.is_none()
            {
                joint.axes[axis.index()].drive = joint_drive(build, i);
            }
            ids[i] = self.add_robot_joint(build, own, joint, [frame_a, frame_b], "");
            if let (Some(id), Motion::Turn) = (ids[i], own.motion) {
                // the robot knows how often it has turned, its pose does not
                let _ = self.world.count_turns(id, Axis::TurnX, build.start[i]);
            }
        }
        for (i, own) in build.robot.joints.iter().enumerate() {
            let Some((leader, factor, _)) = own.mimic else { continue };
            let (Some(first), Some(second)) = (ids[leader], ids[i]) else { continue };
            let gear = Joint::gear(first, second, factor);
            self.add_robot_joint(build, own, gear, [Pose::IDENTITY; 2], ".mimic");
        }
    }

    fn add_robot_joint(
        &mut self,
        build: &Build<'_>,
        own: &RobotJoint,
        joint: Joint,
        frames: [Pose; 2],
        ending: &str,
    ) -> Option<JointId> {
        let sides = [joint.a, joint.b];
        match self.world.add_joint(joint) {
            Ok(id) => {
                let name = format!("{}.{}{ending}", build.name, own.name);
                let object = build.object;
                self.joints.push(SceneJoint { name, id, color: None, sides, frames, object });
                Some(id)
            }
            Err(e) => {
                let message = format!("joint `{}`: {}", own.name, e.problem);
                self.robot_error(build, own.place, message);
                None
            }
        }
    }
}

/// Friction, damping and limits of a joint as the file has them.
fn act(joint: &mut Joint, own: &RobotJoint) {
    let axes: &[Axis] = match own.motion {
        Motion::Turn => &[Axis::TurnX],
        Motion::Slide => &[Axis::X],
        _ => &[Axis::Y, Axis::Z, Axis::TurnX],
    };
    for axis in axes {
        let settings = &mut joint.axes[axis.index()];
        settings.friction = own.friction;
        if own.damping > 0.0 {
            settings.spring = Some(Spring { stiffness: 0.0, damping: own.damping, rest: 0.0 });
        }
    }
    if let (Some(axis), Some((lower, upper))) = (main_axis(own), own.limits) {
        joint.axes[axis.index()].limits = Some(Limits { lower, upper, restitution: 0.0 });
    }
}

/// The only coordinate of a joint.
fn main_axis(own: &RobotJoint) -> Option<Axis> {
    match own.motion {
        Motion::Turn => Some(Axis::TurnX),
        Motion::Slide => Some(Axis::X),
        _ => None,
    }
}

/// The drive that the scene puts on a joint; it holds where it starts unless told otherwise.
fn joint_drive(build: &Build<'_>, i: usize) -> Option<Drive> {
    let own = &build.robot.joints[i];
    let single = build.table.named("joints").iter().find(|e| e.key == own.name);
    let single = single.and_then(|e| e.node.table()).and_then(|t| t.table("drive"));
    let table = single.or_else(|| build.table.table("drive"))?;
    let mut made = drive(table);
    if ["target", "velocity", "motor"].iter().all(|key| table.get(key).is_none()) {
        made.target = Target::Constant { position: build.start[i], velocity: 0.0 };
    }
    if let (None, Some(effort)) = (table.get("limit"), own.effort) {
        made.limit = effort;
    }
    Some(made)
}
