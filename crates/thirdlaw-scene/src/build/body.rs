//! `[bodies.NAME]`: one description, one body or many copies.

use super::material::color;
use super::{BODIES_MAX, Builder};
use crate::SceneBody;
use crate::error::Place;
use crate::node::{Entry, Node, Table};
use thirdlaw::math::{Mat3, Pose, Vec3};
use thirdlaw::{AxisLocks, Body, BodyError, Force, Groups, Keyframe, Keyframes, Mass, Shape};

impl Builder<'_> {
    /// Adds the body of a table, or all its copies.
    pub fn add_bodies(&mut self, entry: &Entry, table: &Table, object: usize) {
        let Some(shape) = table.get("shape").and_then(|node| self.shape(node)) else { return };
        let mut body = self.template(table, shape);
        body.motion = self.keyframes(table, body.pose);
        if let (Some(inertia), Mass::Total(mass)) = (table.table("inertia"), body.mass) {
            body.mass = explicit_mass(mass, inertia);
        }
        let Some(copies) = table.get("copies") else {
            self.add(entry, table, object, entry.key.clone(), body);
            return;
        };
        for (i, copy) in self.copies(copies).into_iter().enumerate() {
            let mut next = body.clone();
            next.pose = Pose::from_parts(
                body.pose.translation + copy.offset,
                copy.rotation * body.pose.rotation,
            );
            next.linear_velocity = copy.velocity.unwrap_or(body.linear_velocity);
            next.angular_velocity = copy.angular_velocity.unwrap_or(body.angular_velocity);
            // a path goes with its copy
            let shift = next.pose * body.pose.inverse();
            for key in &mut next.motion.keys {
                let pose = shift * Pose::from_parts(key.position, key.rotation);
                key.position = pose.translation;
                key.rotation = pose.rotation;
            }
            if !self.add(entry, table, object, format!("{}.{i}", entry.key), next) {
                return; // the others would fail alike
            }
        }
    }

    /// Adds a body to the world; an engine's refusal becomes an error at the key it is about.
    pub fn add(
        &mut self,
        entry: &Entry,
        table: &Table,
        object: usize,
        name: String,
        body: Body,
    ) -> bool {
        if self.bodies.len() >= BODIES_MAX {
            self.error(&entry.key_place, format!("a scene holds at most {BODIES_MAX} bodies"));
            return false;
        }
        match self.world.add_body(body) {
            Ok(id) => {
                let own = table.get("color").and_then(color);
                let color = own.or_else(|| self.material(table.get("material")).color);
                self.bodies.push(SceneBody { name, id, color, object });
                true
            }
            Err(e) => {
                let place = place_of(entry, table, &e);
                self.error(&place, format!("body `{name}`: {}", e.problem));
                false
            }
        }
    }

    /// What bodies and generated bodies share.
    pub fn template(&mut self, table: &Table, shape: Shape) -> Body {
        let material = self.material(table.get("material"));
        let mut body = match table.text("kind") {
            Some("fixed") => Body::fixed(shape),
            Some("kinematic") => Body::kinematic(shape),
            _ => Body::dynamic(shape),
        };
        let rotation = table.get("rotation").map(|node| self.rotation(node)).unwrap_or_default();
        body.pose = Pose::from_parts(table.vector("position").unwrap_or_default(), rotation);
        body.linear_velocity = table.vector("velocity").unwrap_or_default();
        body.angular_velocity = table.vector("angular_velocity").unwrap_or_default();
        body.mass = match table.number("mass") {
            Some(mass) => Mass::Total(mass),
            None => Mass::Density(table.number("density").or(material.density).unwrap_or(1000.0)),
        };
        body.material = material.surface;
        body.groups = groups(table);
        if let Some(damping) = table.table("damping") {
            body.linear_damping = damping.number("linear").unwrap_or(0.0);
            body.angular_damping = damping.number("angular").unwrap_or(0.0);
        }
        body.gravity_scale = table.number("gravity_scale").unwrap_or(1.0);
        if let Some(locks) = table.table("locks") {
            body.locks = AxisLocks {
                translation: axes(locks.items("translation")),
                rotation: axes(locks.items("rotation")),
            };
        }
        body.forces = table.items("forces").iter().filter_map(Node::table).map(force).collect();
        body.can_sleep = table.flag("can_sleep").unwrap_or(true);
        body
    }

    fn keyframes(&mut self, table: &Table, pose: Pose) -> Keyframes {
        let Some(path) = table.table("keyframes") else { return Keyframes::default() };
        Keyframes {
            keys: self.keys(path, pose),
            repeat: path.flag("repeat").unwrap_or(false),
            smooth: path.flag("smooth").unwrap_or(false),
        }
    }

    /// The keys of a path; what they leave out is that of `pose`. Paths turn the short way, so a longer turn
    /// gets keys of its own between, a third of a turn apart at most.
    pub fn keys(&mut self, path: &Table, pose: Pose) -> Vec<Keyframe> {
        const APART: f64 = 120.0;
        let mut keys: Vec<Keyframe> = Vec::new();
        for key in path.items("keys").iter().filter_map(Node::table) {
            let time = key.number("time").unwrap_or(0.0);
            let position = key.vector("position").unwrap_or(pose.translation);
            let rotation = key.get("rotation").map(|node| self.rotation(node));
            let (Some(node), Some(turn)) = (key.get("turn"), key.table("turn")) else {
                let rotation = rotation.unwrap_or(pose.rotation);
                keys.push(Keyframe { time, position, rotation });
                continue;
            };
            let (axis, degrees) = (turn.vector("axis"), turn.number("degrees").unwrap_or(0.0));
            let smooth = path.flag("smooth").unwrap_or(false);
            let (Some(axis), Some(last), false) =
                (axis.and_then(Vec3::try_normalize), keys.last().copied(), smooth)
            else {
                let message =
                    "a turn needs a direction, a key before it, and a path without `smooth`";
                self.error(&node.place, message);
                return keys;
            };
            let pieces = (degrees.abs() / APART).ceil().clamp(1.0, 1e5);
            for piece in 1..=pieces as u32 {
                let share = f64::from(piece) / pieces;
                let turned = crate::generate::turn(axis, (share * degrees).to_radians());
                keys.push(Keyframe {
                    time: last.time + share * (time - last.time),
                    position: last.position + share * (position - last.position),
                    rotation: (turned * last.rotation).normalize(),
                });
            }
        }
        keys
    }
}

fn explicit_mass(mass: f64, table: &Table) -> Mass {
    let m = table.vector("moments").unwrap_or(Vec3::ONE);
    let p = table.vector("products").unwrap_or_default();
    let inertia = Mat3::from_cols(
        Vec3::new(m.x, p.x, p.y),
        Vec3::new(p.x, m.y, p.z),
        Vec3::new(p.y, p.z, m.z),
    );
    Mass::Explicit { mass, center: table.vector("center").unwrap_or_default(), inertia }
}

/// Groups that the checker let through.
pub fn groups(table: &Table) -> Groups {
    let mut groups = Groups::default();
    let Some(table) = table.table("groups") else { return groups };
    let bits = |node: &Node| {
        node.numbers()
            .iter()
            .fold(0u32, |bits, &group| bits | 1u32.checked_shl(group as u32).unwrap_or(0))
    };
    groups.member = table.get("member").map_or(groups.member, bits);
    groups.collides = table.get("collides").map_or(groups.collides, bits);
    groups
}

fn axes(names: &[Node]) -> [bool; 3] {
    ["x", "y", "z"].map(|axis| names.iter().any(|n| n.text() == Some(axis)))
}

fn force(table: &Table) -> Force {
    let plain = Force::default();
    Force {
        force: table.vector("force").unwrap_or(plain.force),
        torque: table.vector("torque").unwrap_or(plain.torque),
        point: table.vector("point"),
        local: table.flag("local").unwrap_or(plain.local),
        from: table.number("from").unwrap_or(plain.from),
        until: table.number("until").unwrap_or(plain.until),
    }
}

/// Where the user wrote what the engine refuses.
fn place_of(entry: &Entry, table: &Table, e: &BodyError) -> Place {
    let keys: &[&str] = match e.field {
        "pose.translation" => &["position", "keyframes"],
        "pose.rotation" => &["rotation", "keyframes"],
        "linear_velocity" => &["velocity", "angular_velocity"],
        "angular_velocity" => &["angular_velocity"],
        "mass.inertia" | "mass.center" => &["inertia", "shape"],
        "linear_damping" | "angular_damping" => &["damping"],
        "gravity_scale" => &["gravity_scale"],
        field if field.starts_with("mass") => &["mass", "density", "material", "shape"],
        field if field.starts_with("material") => &["material"],
        field if field.starts_with("forces") => &["forces"],
        field if field.starts_with("motion") => &["keyframes"],
        _ => &["shape", "make"],
    };
    let find =
        |key: &&str| table.entries.iter().find(|e| e.key == **key).map(|e| e.node.place.clone());
    keys.iter().find_map(find).unwrap_or_else(|| entry.key_place.clone())
}
