//! `[joints.NAME]`: one table, one joint, or one for each pair of a chain or of copies.

use super::Builder;
use super::joint_kind::{bear, has_axis, is_line, kind_name};
use super::material::color;
use super::sides::Sides;
use crate::SceneJoint;
use crate::error::Place;
use crate::node::{Entry, Node, Table};
use thirdlaw::math::{Pose, Quat, Vec3};
use thirdlaw::{Frame, Joint, JointError, JointKind, Side};

/// More joints than this are a slip of the keyboard.
const JOINTS_MAX: usize = 1_000_000;

/// Where the two frames of a joint are, in the frames of their sides.
#[derive(Clone, Copy)]
pub struct Frames(pub [Pose; 2]);

impl Builder<'_> {
    /// Adds all joints; those that turn with others after the others.
    pub fn add_joints(&mut self, first_object: usize) {
        let root = self.root;
        let sides = Sides::new(&self.bodies, &self.points);
        for last in [false, true] {
            for (object, entry) in (first_object..).zip(root.named("joints")) {
                let Some(table) = entry.node.table() else { continue };
                if matches!(kind_name(table), "gear" | "rack") == last {
                    self.add_table(entry, table, object, &sides);
                }
            }
        }
    }

    fn add_table(&mut self, entry: &Entry, table: &Table, object: usize, sides: &Sides) {
        let kind = kind_name(table);
        if matches!(kind, "gear" | "rack") {
            for key in ["between", "chain", "at", "anchor", "anchors", "frames", "axis", "rotation"]
            {
                if let Some(found) = table.entries.iter().find(|e| e.key == key) {
                    let message = format!("a {kind} has no `{key}`: it joins two joints");
                    return self.error(&found.key_place, message);
                }
            }
            let Some(kind) = self.coupling(entry, table) else { return };
            let joint = Joint::new(kind, Side::World, Side::World);
            self.add_joint(entry, table, object, entry.key.clone(), joint);
            return;
        }
        if has_axis(kind) && ["axis", "rotation", "frames"].iter().all(|k| table.get(k).is_none()) {
            let message = format!("joint `{}`: a {kind} joint needs `axis`", entry.key);
            let hint = "a direction in the world such as [0, 0, 1], or `rotation`, or `frames`";
            return self.error_hint(&entry.key_place, message, hint);
        }
        let pairs = match sides.pairs(table) {
            Ok(pairs) => pairs,
            // a side that is written but could not be built has its error already
            Err(error) if error.name.as_deref().is_some_and(|n| self.is_lost(n)) => return,
            Err(error) => {
                let mut found = error.at(&entry.key_place);
                found.message = format!("joint `{}`: {}", entry.key, found.message);
                return self.errors.push(found);
            }
        };
        for (i, pair) in pairs.joints.iter().enumerate() {
            let name = match pairs.many {
                true => format!("{}.{i}", entry.key),
                false => entry.key.clone(),
            };
            let Some(frames) = self.frames(entry, table, *pair, i) else { return };
            let anchors = [0, 1].map(|s| self.side_pose(pair[s]) * frames.0[s].translation);
            let Some(kind) = self.joint_kind(table, anchors[0].distance(anchors[1])) else {
                return;
            };
            let mut joint = Joint::new(kind, pair[0], pair[1]);
            (joint.frame_a, joint.frame_b) = (Frame::Local(frames.0[0]), Frame::Local(frames.0[1]));
            if !self.act(entry, table, &mut joint) {
                return;
            }
            bear(table, &mut joint);
            if !self.add_joint(entry, table, object, name, joint) {
                return; // the others would fail alike
            }
        }
    }

    /// Whether a name is written in the scene though nothing could be built of it.
    fn is_lost(&self, name: &str) -> bool {
        let head = name.split('.').next().unwrap_or(name);
        let sections = ["bodies", "generate", "points", "urdf"];
        !self.errors.is_empty()
            && sections.iter().any(|s| self.root.named(s).iter().any(|e| e.key == head))
    }

    /// Adds a joint to the world; an engine's refusal becomes an error at the key it is about.
    fn add_joint(
        &mut self,
        entry: &Entry,
        table: &Table,
        object: usize,
        name: String,
        joint: Joint,
    ) -> bool {
        if self.joints.len() >= JOINTS_MAX {
            self.error(&entry.key_place, format!("a scene holds at most {JOINTS_MAX} joints"));
            return false;
        }
        let sides = [joint.a, joint.b];
        let frames = [joint.frame_a, joint.frame_b].map(|frame| match frame {
            Frame::Local(pose) | Frame::World(pose) => pose,
        });
        match self.world.add_joint(joint) {
            Ok(id) => {
                let color = table.get("color").and_then(color);
                self.joints.push(SceneJoint { name, id, color, sides, frames, object });
                true
            }
            Err(e) => {
                let place = place_of(entry, table, &e);
                self.error(&place, format!("joint `{name}`: {}", e.problem));
                false
            }
        }
    }

    /// Where a side is, m.
    pub fn side_pose(&self, side: Side) -> Pose {
        match side {
            Side::World => Pose::IDENTITY,
            Side::Body(id) => self.world.pose(id).unwrap_or(Pose::IDENTITY),
            Side::Point(id) => {
                let place = self.world.point(id).map_or(Vec3::ZERO, |p| p.position);
                Pose::from_parts(place, Quat::IDENTITY)
            }
        }
    }

    /// The frames of joint number `i` of a table.
    fn frames(
        &mut self,
        entry: &Entry,
        table: &Table,
        pair: [Side; 2],
        i: usize,
    ) -> Option<Frames> {
        let sides = pair.map(|side| self.side_pose(side));
        if table.get("frames").is_some() {
            let items = table.items("frames");
            let mut poses = [Pose::IDENTITY; 2];
            for (pose, node) in poses.iter_mut().zip(items) {
                let frame = node.table()?;
                let rotation = self.orientation(&entry.key, frame)?;
                let place = frame.vector("position").unwrap_or_default();
                *pose = Pose::from_parts(place, rotation);
            }
            return Some(Frames(poses));
        }
        let turn = self.orientation(&entry.key, table)?;
        let local =
            |s: usize, anchor: Vec3| Pose::from_parts(anchor, sides[s].rotation.conjugate() * turn);
        let in_world = |at: Vec3| Frames([0, 1].map(|s| local(s, sides[s].inverse() * at)));
        let kind = kind_name(table);
        let written = table.items("anchors");
        if let [a, b] = written {
            return Some(Frames([local(0, a.vector()?), local(1, b.vector()?)]));
        }
        let anchor = table.vector("anchor");
        if kind == "curve" {
            // the wire from `at`, the bead by its own anchor
            let start = match table.vector("at") {
                Some(at) => local(0, sides[0].inverse() * (at + step(table, i))),
                None => local(0, Vec3::ZERO),
            };
            return Some(Frames([start, local(1, anchor.unwrap_or_default())]));
        }
        if let Some(at) = table.vector("at") {
            return Some(in_world(at + step(table, i)));
        }
        match anchor {
            None if is_line(kind) => Some(Frames([local(0, Vec3::ZERO), local(1, Vec3::ZERO)])),
            _ => Some(in_world(sides[1] * anchor.unwrap_or_default())),
        }
    }

    /// The `axis` or `rotation` of a joint or of one of its frames.
    fn orientation(&mut self, joint: &str, table: &Table) -> Option<Quat> {
        if let Some(node) = table.get("rotation") {
            return Some(self.rotation(node));
        }
        let Some(node) = table.get("axis") else { return Some(Quat::IDENTITY) };
        match node.vector()?.try_normalize() {
            Some(axis) => Some(Quat::from_rotation_arc(Vec3::X, axis)),
            None => {
                let message = format!("joint `{joint}`: its axis needs a direction");
                self.error_hint(&node.place, message, "any vector but [0, 0, 0]");
                None
            }
        }
    }

    /// A gear or a rack.
    fn coupling(&mut self, entry: &Entry, table: &Table) -> Option<JointKind> {
        let numbers = table.table("kind")?.entries.first()?.node.table()?;
        if kind_name(table) == "gear" {
            let first = self.joint_named(entry, numbers, "first")?;
            let second = self.joint_named(entry, numbers, "second")?;
            return Some(JointKind::Gear { first, second, ratio: numbers.number("ratio")? });
        }
        let hinge = self.joint_named(entry, numbers, "hinge")?;
        let slider = self.joint_named(entry, numbers, "slider")?;
        Some(JointKind::Rack { hinge, slider, radius: numbers.number("radius")? })
    }

    fn joint_named(
        &mut self,
        entry: &Entry,
        table: &Table,
        key: &str,
    ) -> Option<thirdlaw::JointId> {
        let node: &Node = table.get(key)?;
        let name = node.text()?;
        if let Some(found) = self.joints.iter().find(|j| j.name == name) {
            return Some(found.id);
        }
        let head = name.split('.').next().unwrap_or(name);
        if !self.errors.is_empty() && self.root.named("joints").iter().any(|e| e.key == head) {
            return None; // it has its error already
        }
        let names = self.joints.iter().map(|j| j.name.as_str()).take(10_000);
        let hint = match crate::names::nearest(name, names) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "the names of joints stand under [joints]".into(),
        };
        let message = format!("joint `{}`: there is no joint \"{name}\" to join", entry.key);
        self.error_hint(&node.place, message, &hint);
        None
    }
}

/// How far joint number `i` is from the first one.
fn step(table: &Table, i: usize) -> Vec3 {
    i as f64 * table.vector("step").unwrap_or_default()
}

/// Where the user wrote what the engine refuses.
fn place_of(entry: &Entry, table: &Table, e: &JointError) -> Place {
    let keys: &[&str] = match e.field {
        "a" | "b" => &["between", "chain"],
        "frame_a" | "frame_b" => &["at", "anchors", "anchor", "frames", "axis", "between", "chain"],
        "break_force" | "break_torque" => &["breaking"],
        "enforcement" => &["enforcement"],
        field if field.starts_with("kind") => &["kind"],
        field if field.starts_with("axes.limits") => &["limits", "axes"],
        field if field.starts_with("axes.friction") => &["friction", "axes"],
        field if field.starts_with("axes.spring") => &["spring", "axes"],
        field if field.starts_with("drive") => &["drive", "axes"],
        field if field.starts_with("axes") => &["axes", "limits", "friction", "spring", "drive"],
        _ => &[],
    };
    let find =
        |key: &&str| table.entries.iter().find(|e| e.key == **key).map(|e| e.node.place.clone());
    keys.iter().find_map(find).unwrap_or_else(|| entry.key_place.clone())
}
