//! `bones` of a soft body: capsules in a row with joints between them, to which the flesh around is bound.

use super::Builder;
use super::body::groups;
use super::joint_kind::kind_name;
use crate::SceneJoint;
use crate::node::{Entry, Node, Table};
use thirdlaw::math::{Pose, Quat, Vec3};
use thirdlaw::{Body, BodyId, Deformable, Frame, Groups, Hold, Joint, Pin, Shape, Side, Target};

/// A skeleton being built.
pub struct Skeleton<'a> {
    name: String,
    /// Vertices in the mesh's frame, m.
    rest: &'a [Vec3],
    /// Of the soft body.
    pose: Pose,
    /// Ends of the bones in the mesh's frame, m.
    points: Vec<Vec3>,
    bodies: Vec<BodyId>,
}

impl<'a> Skeleton<'a> {
    /// The bones of the soft body of this name with vertices `rest`, placed at `pose`.
    pub fn new(table: &Table, name: &str, (rest, pose): (&'a [Vec3], Pose)) -> Skeleton<'a> {
        let points = table.items("points").iter().filter_map(Node::vector).collect();
        Skeleton { name: name.to_string(), rest, pose, points, bodies: Vec::new() }
    }

    /// What a bone or joint is called: `worm-bones.0`, in copies `worm-bones.2.0`.
    fn part(&self, what: &str, i: usize) -> String {
        match self.name.split_once('.') {
            Some((key, copy)) => format!("{key}-{what}.{copy}.{i}"),
            None => format!("{}-{what}.{i}", self.name),
        }
    }

    /// Distance from the middle line of a bone, m.
    fn distance(&self, bone: usize, p: Vec3) -> f64 {
        let (a, b) = (self.points[bone], self.points[bone + 1]);
        let along = b - a;
        let share = ((p - a).dot(along) / along.length_squared().max(1e-300)).clamp(0.0, 1.0);
        p.distance(a + share * along)
    }

    /// The bone that holds a vertex.
    fn holder(&self, p: Vec3, hold: f64) -> Option<usize> {
        let all = (0..self.bodies.len()).map(|bone| (bone, self.distance(bone, p)));
        let near = all.filter(|(_, d)| *d <= hold);
        near.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(bone, _)| bone)
    }
}

impl Builder<'_> {
    /// Adds bones and joints, and binds the flesh; whether it could.
    pub fn add_bones(
        &mut self,
        (entry, table, object): (&Entry, &Table, usize),
        skeleton: &mut Skeleton<'_>,
        flesh: &mut Deformable,
    ) -> bool {
        let radius = table.number("radius").unwrap_or(0.01);
        for (i, ends) in skeleton.points.clone().windows(2).enumerate() {
            let half = 0.5 * ends[0].distance(ends[1]);
            let Some(shape) = self.shape_or_error(
                Shape::capsule((half - radius).max(0.1 * radius), radius),
                &entry.key_place,
            ) else {
                return false;
            };
            let material = self.material(table.get("material"));
            let density = table.number("density").or(material.density).unwrap_or(1000.0);
            let mut body = Body::dynamic(shape).material(material.surface).density(density);
            let along = Quat::from_rotation_arc(Vec3::Y, (ends[1] - ends[0]).normalize_or(Vec3::Y));
            body.pose = skeleton.pose * Pose::from_parts(0.5 * (ends[0] + ends[1]), along);
            body.linear_velocity = flesh.velocity;
            body.gravity_scale = flesh.gravity_scale;
            body.groups = match table.get("groups") {
                Some(_) => groups(table),
                None => Groups { member: 1 << 31, collides: 0 },
            };
            if !self.add(entry, table, object, skeleton.part("bones", i), body) {
                return false;
            }
            skeleton.bodies.extend(self.bodies.last().map(|body| body.id));
        }
        let hold = table.number("hold").unwrap_or(2.0 * radius);
        let mut held = vec![Vec::new(); skeleton.bodies.len()];
        for (i, p) in (0..).zip(skeleton.rest) {
            if let Some(bone) = skeleton.holder(*p, hold) {
                held[bone].push(i);
            }
        }
        if let Some(bare) = held.iter().position(Vec::is_empty) {
            let message = format!("no vertex of the mesh is within {hold} m of bone {bare}");
            self.error_hint(&entry.key_place, message, "a larger `hold`, or a smaller `spacing`");
            return false;
        }
        let pins = held.into_iter().zip(&skeleton.bodies);
        flesh.pins.extend(pins.map(|(vertices, id)| Pin { vertices, hold: Hold::Body(*id) }));
        (1..skeleton.bodies.len()).all(|i| self.add_bone_joint((entry, table, object), skeleton, i))
    }

    /// The joint between bone i − 1 and bone i.
    fn add_bone_joint(
        &mut self,
        (entry, table, object): (&Entry, &Table, usize),
        skeleton: &Skeleton<'_>,
        i: usize,
    ) -> bool {
        let sides = [skeleton.bodies[i - 1], skeleton.bodies[i]].map(Side::Body);
        let axis = table.vector("axis").and_then(Vec3::try_normalize).unwrap_or(Vec3::X);
        let at = Pose::from_parts(skeleton.points[i], Quat::from_rotation_arc(Vec3::X, axis));
        let frames = sides.map(|side| self.side_pose(side).inverse() * skeleton.pose * at);
        let kind = match kind_name(table) {
            "hinge" => thirdlaw::JointKind::Hinge,
            _ => thirdlaw::JointKind::Ball,
        };
        let mut joint = Joint::new(kind, sides[0], sides[1]);
        (joint.frame_a, joint.frame_b) = (Frame::Local(frames[0]), Frame::Local(frames[1]));
        if !self.act(entry, table, &mut joint) {
            return false;
        }
        let lag = (i - 1) as f64 * table.number("wave").unwrap_or(0.0);
        for drive in joint.axes.iter_mut().filter_map(|axis| axis.drive.as_mut()) {
            if let Target::Sine { phase, .. } = &mut drive.target {
                *phase -= lag;
            }
        }
        let name = skeleton.part("joints", i - 1);
        match self.world.add_joint(joint) {
            Ok(id) => {
                self.joints.push(SceneJoint { name, id, color: None, sides, frames, object });
                true
            }
            Err(e) => {
                self.error(&entry.key_place, format!("joint `{name}`: {}", e.problem));
                false
            }
        }
    }
}
