//! How far joints come apart: distances of anchors, measured on poses alike for every engine.

use crate::print;
use std::fmt::Write;
use thirdlaw::{Axis, JointId, Side, Vec3, World};

/// Gaps over all joints and frames, m, and how far turns went beyond their limits, rad.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct GapFigures {
    /// 99.9th percentile.
    pub p999: f64,
    /// Largest.
    pub max: f64,
    /// Largest turn of a hinge beyond a limit.
    pub beyond: f64,
}

/// Gaps as they are gathered.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    all: Vec<f64>,
    beyond: f64,
}

impl Gaps {
    /// Adds those of all joints that hold their anchors together, at the poses as they are.
    pub fn add(&mut self, world: &World) {
        for id in world.joints() {
            self.add_joint(world, id);
        }
    }

    fn add_joint(&mut self, world: &World, id: JointId) {
        let Ok(joint) = world.joint(id) else { return };
        let Some(free) = joint.free_turns() else { return };
        let frames = joint.frames();
        let place = |side: Side, (anchor, basis): (Vec3, thirdlaw::Quat)| match side {
            Side::Body(body) => {
                let (pose, body) = (world.pose(body).ok()?, world.body(body).ok()?);
                Some((pose * (body.center + anchor), pose.rotation * basis))
            }
            Side::World => Some((anchor, basis)),
            Side::Point(_) => None,
        };
        let sides = (place(joint.joint.a, frames[0]), place(joint.joint.b, frames[1]));
        let (Some((a, q_a)), Some((b, q_b))) = sides else { return };
        self.all.push(a.distance(b));
        if let (1, Some(limits)) = (free, joint.joint.axes[Axis::TurnX.index()].limits) {
            let turn = q_a.conjugate() * q_b;
            let angle = 2.0 * turn.x.atan2(turn.w);
            let middle = 0.5 * (limits.lower + limits.upper);
            let tau = std::f64::consts::TAU;
            let angle = angle + tau * ((middle - angle) / tau).round();
            self.beyond = self.beyond.max(limits.lower - angle).max(angle - limits.upper);
        }
    }

    /// The figures; none without joints.
    pub fn figures(mut self) -> Option<GapFigures> {
        self.all.sort_by(f64::total_cmp);
        let max = *self.all.last()?;
        let p999 = self.all[(self.all.len() - 1) * 999 / 1000];
        Some(GapFigures { p999, max, beyond: self.beyond })
    }
}

/// The figures as a table; nothing where there are none.
pub fn table<'a>(
    rows: impl Iterator<Item = (&'a str, &'a str, GapFigures)>,
    names: usize,
) -> String {
    let mut text = String::new();
    for (scene, engine, gaps) in rows {
        if text.is_empty() {
            text.push_str("\njoints over all frames: gaps in mm, hinges beyond limits in rad\n");
            let _ =
                writeln!(text, "{:<names$}  engine       p99.9      max        beyond", "scene");
        }
        let _ = writeln!(
            text,
            "{scene:<names$}  {engine:<11}  {:<9}  {:<9}  {}",
            print::number(gaps.p999 * 1e3),
            print::number(gaps.max * 1e3),
            print::number(gaps.beyond)
        );
    }
    text
}
