//! `[urdf.NAME]`: a robot becomes bodies and joints named `NAME.link` and `NAME.joint`.
//!
//! Links that are fixed to each other are one body, which carries the name of the link nearest to
//! the root: their masses add, and nothing is left to solve between them. A link without mass is
//! only a frame. Turns about the file's axis z, which points up there, into the scene's y.

use super::Builder;
use super::mesh::read_text;
use super::robot_shape::MeshFiles;
use crate::SceneBody;
use crate::error::SceneError;
use crate::names::nearest;
use crate::node::{Entry, Node, Table};
use crate::urdf::{self, Motion, Robot, RobotJoint};
use thirdlaw::math::{Mat3, Pose, Quat, Vec3};
use thirdlaw::{Body, BodyKind, Groups, Mass, Shape, Side};

/// Radius of the ball that stands for a link without any geometry, m.
const SPECK: f64 = 0.01;

/// A robot that is being built.
pub(super) struct Build<'a> {
    pub name: &'a str,
    pub table: &'a Table,
    pub robot: Robot,
    /// What errors in the file are said about.
    pub node: &'a Node,
    /// How messages call the file.
    pub label: String,
    pub files: MeshFiles,
    /// Which table it is.
    pub object: usize,
    /// Start of every joint, m or rad.
    pub start: Vec<f64>,
    /// Frame of every link in the world.
    pub poses: Vec<Pose>,
    /// The link whose body each link is part of, and its frame in that of the other.
    pub owners: Vec<(usize, Pose)>,
}

/// Mass of the links that are one body, in the frame of the first.
#[derive(Clone, Copy, Default)]
struct Lump {
    mass: f64,
    center: Vec3,
    inertia: Mat3,
}

impl Builder<'_> {
    /// Adds a robot.
    pub fn add_robot(&mut self, entry: &Entry, table: &Table, object: usize) {
        let Some((node, label, text, files)) = self.robot_text(entry, table) else { return };
        let robot = match urdf::read(&text) {
            Ok(robot) => robot,
            Err(problems) => {
                for problem in problems {
                    let (line, column) = problem.place;
                    let message = format!("{label}:{line}:{column}: {}", problem.message);
                    self.error(&node.place, message);
                }
                return;
            }
        };
        let before = self.errors.len();
        let name = entry.key.as_str();
        let mut build = Build {
            start: Vec::new(),
            poses: Vec::new(),
            owners: Vec::new(),
            name,
            table,
            robot,
            node,
            label,
            files,
            object,
        };
        self.start_robot(&mut build);
        if self.errors.len() > before {
            return;
        }
        self.place_links(&mut build);
        let Some(sides) = self.add_links(&mut build) else { return };
        self.add_robot_joints(&build, &sides);
        let Build { label, robot, .. } = build;
        self.notes.extend(robot.notes.iter().map(|note| format!("{name}: {label}: {note}")));
    }

    /// The node that names the file, what to call it, its text, and where its meshes are.
    fn robot_text<'t>(
        &mut self,
        entry: &Entry,
        table: &'t Table,
    ) -> Option<(&'t Node, String, String, MeshFiles)> {
        let mut files = MeshFiles::new(self.base, table);
        if let Some(node) = table.get("text") {
            return Some((node, format!("{}.urdf", entry.key), node.text()?.into(), files));
        }
        let node = table.get("file")?;
        let Some(base) = self.base else {
            self.error(&node.place, "this scene has no folder in which to look for files");
            return None;
        };
        let path = base.join(node.text()?);
        match read_text(&path) {
            Ok(text) => {
                files.folder = path.parent().map(|p| p.to_path_buf());
                Some((node, path.display().to_string(), text, files))
            }
            Err(e) => {
                self.error(&node.place, e);
                None
            }
        }
    }

    /// Where every joint starts; checks what the scene says about single joints.
    fn start_robot(&mut self, build: &mut Build<'_>) {
        let joints = &build.robot.joints;
        let nearest_to_zero =
            |j: &RobotJoint| j.limits.map_or(0.0, |(lower, upper)| 0.0_f64.max(lower).min(upper));
        build.start = joints.iter().map(nearest_to_zero).collect();
        for own in build.table.named("joints") {
            let Some(i) = joints.iter().position(|j| j.name == own.key) else {
                let names = joints.iter().map(|j| j.name.as_str());
                let hint = match nearest(&own.key, names) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "names as in the URDF file".into(),
                };
                let message = format!("the robot has no joint `{}`", own.key);
                self.error_hint(&own.key_place, message, &hint);
                continue;
            };
            let joint = &joints[i];
            let (Some(table), one) =
                (own.node.table(), matches!(joint.motion, Motion::Turn | Motion::Slide))
            else {
                continue;
            };
            if !one || joint.mimic.is_some() {
                let why = if one { "follows another joint" } else { "has not one coordinate" };
                self.error(&own.key_place, format!("joint `{}` {why}", own.key));
                continue;
            }
            let Some(node) = table.get("position") else { continue };
            let position = node.number().unwrap_or(0.0);
            if let Some((lower, upper)) = joint.limits
                && !(lower..=upper).contains(&position)
            {
                let message =
                    format!("joint `{}` goes from {lower} to {upper}, not to {position}", own.key);
                self.error(&node.place, message);
            }
            build.start[i] = position;
        }
        for i in 0..joints.len() {
            // followers of followers: factor and offset along the way
            let (mut at, mut factor, mut offset) = (i, 1.0, 0.0);
            while let Some((leader, k, d)) = joints[at].mimic {
                offset += factor * d;
                factor *= k;
                at = leader;
            }
            if at != i {
                build.start[i] = factor * build.start[at] + offset;
            }
        }
    }

    fn place_links(&mut self, build: &mut Build<'_>) {
        let robot = &build.robot;
        let rotation = build.table.get("rotation").map(|n| self.rotation(n)).unwrap_or_default();
        // z up becomes y up
        let upright = match build.table.text("up") {
            Some("y") => Quat::IDENTITY,
            _ => crate::generate::turn(Vec3::X, -std::f64::consts::FRAC_PI_2),
        };
        let place = build.table.vector("position").unwrap_or_default();
        let root = Pose::from_parts(place, rotation * upright);
        let mut poses = vec![root; robot.links.len()];
        let mut owners: Vec<_> = (0..robot.links.len()).map(|i| (i, Pose::IDENTITY)).collect();
        for &link in &robot.order {
            let Some(j) = robot.parents[link] else { continue };
            let joint = &robot.joints[j];
            let moved = match joint.motion {
                Motion::Turn => {
                    Pose::from_parts(Vec3::ZERO, crate::generate::turn(joint.axis, build.start[j]))
                }
                Motion::Slide => Pose::from_parts(joint.axis * build.start[j], Quat::IDENTITY),
                _ => Pose::IDENTITY,
            };
            poses[link] = poses[joint.parent] * joint.origin * moved;
            if joint.motion == Motion::Fixed {
                let (owner, parent) = owners[joint.parent];
                owners[link] = (owner, parent * joint.origin);
            }
        }
        (build.poses, build.owners) = (poses, owners);
    }

    /// Adds a body for every link that is not part of another; what joints hold on to, by link.
    fn add_links(&mut self, build: &mut Build<'_>) -> Option<Vec<Side>> {
        let mut sides = vec![Side::World; build.robot.links.len()];
        let groups = self.robot_groups(build)?;
        let fixed_base = build.table.text("base") != Some("free");
        let mut notes = Vec::new();
        for link in build.robot.order.clone() {
            let (owner, _) = build.owners[link];
            let name = build.robot.links[link].name.clone();
            if owner != link {
                let first = &build.robot.links[owner].name;
                notes.push(format!("link `{name}` is fixed to `{first}` and part of its body"));
                continue;
            }
            let members: Vec<usize> =
                (0..build.owners.len()).filter(|&i| build.owners[i].0 == link).collect();
            let is_base = build.robot.parents[link].is_none() && fixed_base;
            let lump = lump(build, &members);
            let solid = self.link_parts(build, &members, true)?;
            let shown = if solid.is_empty() {
                self.link_parts(build, &members, false)?
            } else {
                Vec::new()
            };
            if is_base && solid.is_empty() && shown.is_empty() {
                continue; // the world itself
            }
            if !is_base && lump.mass <= 0.0 {
                let message =
                    format!("link `{name}` can move but has no mass: it needs <inertial>");
                self.robot_error(build, (1, 1), message);
                return None;
            }
            if solid.is_empty() {
                notes.push(format!("link `{name}` has no <collision> and touches nothing"));
            }
            let parts = if solid.is_empty() { &shown } else { &solid };
            let shape = match &parts[..] {
                [] => Shape::sphere(SPECK),
                [(pose, shape)] if *pose == Pose::IDENTITY => Ok(shape.clone()),
                parts => Shape::compound(parts),
            };
            let shape = self.shape_or_error(shape, &build.node.place.clone())?;
            let touching =
                if solid.is_empty() { Groups { member: 0, collides: 0 } } else { groups };
            let body = self.link_body(build, link, shape, lump, touching, is_base);
            sides[link] = Side::Body(self.add_link_body(build, link, body)?);
        }
        for (link, owner) in build.owners.iter().enumerate() {
            sides[link] = sides[owner.0];
        }
        build.robot.notes.extend(notes);
        Some(sides)
    }

    fn link_body(
        &mut self,
        build: &Build<'_>,
        link: usize,
        shape: Shape,
        lump: Lump,
        groups: Groups,
        is_base: bool,
    ) -> Body {
        let mut body = Body::dynamic(shape);
        body.kind = if is_base { BodyKind::Fixed } else { BodyKind::Dynamic };
        body.pose = build.poses[link];
        body.material = self.material(build.table.get("material")).surface;
        body.groups = groups;
        if !is_base {
            let Lump { mass, center, inertia } = lump;
            body.mass = Mass::Explicit { mass, center, inertia };
        }
        body
    }

    fn add_link_body(
        &mut self,
        build: &Build<'_>,
        link: usize,
        body: Body,
    ) -> Option<thirdlaw::BodyId> {
        let own = &build.robot.links[link];
        let name = format!("{}.{}", build.name, own.name);
        match self.world.add_body(body) {
            Ok(id) => {
                let color = build.table.get("color").and_then(super::material::color);
                let color = color.or(own.color);
                self.bodies.push(SceneBody { name, id, color, object: build.object });
                Some(id)
            }
            Err(e) => {
                let message = format!("link `{}`: {}: {}", own.name, e.field, e.problem);
                self.robot_error(build, (1, 1), message);
                None
            }
        }
    }

    /// Groups of the links: unless they may touch each other, one of their own that they avoid.
    fn robot_groups(&mut self, build: &Build<'_>) -> Option<Groups> {
        if build.table.get("groups").is_some() {
            return Some(super::body::groups(build.table));
        }
        if build.table.flag("self_collision").unwrap_or(false) {
            return Some(Groups::default());
        }
        let taken = self.bodies.iter().filter_map(|b| self.world.body(b.id).ok());
        let taken = taken.fold(1, |bits, body| bits | body.groups.member);
        let Some(free) = (0..32).rev().map(|bit| 1u32 << bit).find(|bit| taken & bit == 0) else {
            let message = "no collision group is left to keep its links from touching";
            self.error_hint(&build.node.place.clone(), message, "give it `groups`");
            return None;
        };
        Some(Groups { member: free, collides: !free })
    }

    /// Shapes of links in the frame of the first; `solid`: those that touch.
    fn link_parts(
        &mut self,
        build: &mut Build<'_>,
        members: &[usize],
        solid: bool,
    ) -> Option<Vec<(Pose, Shape)>> {
        let mut shapes = Vec::new();
        for &link in members {
            let own = &build.robot.links[link];
            let parts = if solid { &own.collisions } else { &own.visuals };
            for part in parts {
                let frame = build.owners[link].1 * part.pose;
                match build.files.shape(&part.form) {
                    Ok((turn, shape)) => shapes.push((frame * turn, shape)),
                    // what is only looked at may be missing
                    Err(why) if !solid => {
                        build.robot.notes.push(format!("link `{}` is not drawn: {why}", own.name));
                    }
                    Err(why) => {
                        let message = format!("link `{}`: {why}", own.name);
                        let place = part.place;
                        self.robot_error(build, place, message);
                        return None;
                    }
                }
            }
        }
        build.robot.notes.append(&mut build.files.notes);
        Some(shapes)
    }

    /// An error in the file, at its place there.
    pub fn robot_error(&mut self, build: &Build<'_>, place: (u32, u32), message: String) {
        let message = match place {
            (1, 1) => format!("{}: {message}", build.label),
            (line, column) => format!("{}:{line}:{column}: {message}", build.label),
        };
        self.errors.push(SceneError::new(&build.node.place, message));
    }
}

/// Mass of links as one, in the frame of the first.
fn lump(build: &Build<'_>, members: &[usize]) -> Lump {
    let masses = || {
        members.iter().filter_map(|&link| {
            let inertial = build.robot.links[link].inertial?;
            Some((build.owners[link].1 * inertial.pose, inertial))
        })
    };
    let mass: f64 = masses().map(|(_, i)| i.mass).sum();
    if mass == 0.0 {
        return Lump::default();
    }
    let center = masses().map(|(pose, i)| i.mass * pose.translation).sum::<Vec3>() / mass;
    let mut inertia = Mat3::ZERO;
    for (pose, own) in masses() {
        let turn = Mat3::from_quat(pose.rotation);
        let d = pose.translation - center;
        let away = Mat3::from_cols(d * d.x, d * d.y, d * d.z);
        let shift = Mat3::from_diagonal(Vec3::splat(d.length_squared())) - away;
        inertia += turn * own.inertia * turn.transpose() + own.mass * shift;
    }
    // exactly symmetric again
    Lump { mass, center, inertia: 0.5 * (inertia + inertia.transpose()) }
}
