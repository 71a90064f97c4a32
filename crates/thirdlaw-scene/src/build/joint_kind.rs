//! What a joint lets its sides do, and what acts on its coordinates.

use super::Builder;
use crate::format::AXIS_NAMES;
use crate::node::{Entry, Node, Table, Value};
use thirdlaw::{
    AxisMode, AxisSettings, Drive, DriveKey, Enforcement, Joint, JointKind, Limits, Spring, Target,
};

/// The name of a joint's kind.
pub fn kind_name(table: &Table) -> &str {
    let Some(node) = table.get("kind") else { return "" };
    match &node.value {
        Value::Table(kind) => kind.entries.first().map_or("", |e| e.key.as_str()),
        _ => node.text().unwrap_or(""),
    }
}

/// Whether a kind acts along the line between its anchors.
pub fn is_line(kind: &str) -> bool {
    matches!(kind, "rope" | "rod" | "distance" | "spring")
}

/// Whether a kind means nothing without a direction.
pub fn has_axis(kind: &str) -> bool {
    matches!(kind, "hinge" | "slider" | "universal" | "cylindrical" | "planar")
}

impl Builder<'_> {
    /// The kind of a joint whose anchors are `gap` apart, m.
    pub fn joint_kind(&mut self, table: &Table, gap: f64) -> Option<JointKind> {
        let none = Table::default();
        let node = table.get("kind")?;
        let numbers = match node.table() {
            Some(kind) => kind.entries.first()?.node.table()?,
            None => &none,
        };
        let number = |key: &str| numbers.number(key);
        let kind = match kind_name(table) {
            "fixed" => JointKind::Fixed,
            "ball" => JointKind::Ball,
            "hinge" => JointKind::Hinge,
            "slider" => JointKind::Slider,
            "universal" => JointKind::Universal,
            "cylindrical" => JointKind::Cylindrical,
            "planar" => JointKind::Planar,
            "rope" => JointKind::Distance { min: 0.0, max: number("length").unwrap_or(gap) },
            "rod" => {
                let length = number("length").unwrap_or(gap);
                JointKind::Distance { min: length, max: length }
            }
            "distance" => JointKind::Distance {
                min: number("min").unwrap_or(0.0),
                max: number("max").unwrap_or(f64::INFINITY),
            },
            "curve" => JointKind::Curve {
                points: numbers.items("points").iter().filter_map(Node::vector).collect(),
                closed: numbers.flag("closed").unwrap_or(false),
            },
            "six_axis" => JointKind::SixAxis,
            "spring" => JointKind::Spring {
                stiffness: number("stiffness").unwrap_or(0.0),
                damping: number("damping").unwrap_or(0.0),
                length: number("length"),
            },
            "angular_spring" => JointKind::AngularSpring {
                stiffness: number("stiffness").unwrap_or(0.0),
                damping: number("damping").unwrap_or(0.0),
            },
            _ => return None,
        };
        Some(kind)
    }

    /// Reads what acts along and about the axes of a joint; whether it could be read.
    pub fn act(&mut self, entry: &Entry, table: &Table, joint: &mut Joint) -> bool {
        if joint.kind == JointKind::SixAxis {
            let free: Vec<&str> = table
                .table("kind")
                .and_then(|kind| kind.table("six_axis"))
                .map_or(&[][..], |numbers| numbers.items("free"))
                .iter()
                .filter_map(Node::text)
                .collect();
            for (axis, name) in joint.axes.iter_mut().zip(AXIS_NAMES) {
                axis.mode = if free.contains(&name) { AxisMode::Free } else { AxisMode::Locked };
            }
        }
        let acting = ["limits", "friction", "spring", "drive"];
        if let Some(used) = table.entries.iter().find(|e| acting.contains(&e.key.as_str())) {
            let Some(axis) = main_axis(joint) else {
                let kind = kind_name(table);
                let message = format!("joint `{}`: `{}` of which coordinate?", entry.key, used.key);
                let hint = format!(
                    "a {kind} joint has not exactly one: write axes = {{ turn_x = {{ {} = … }} }}",
                    used.key
                );
                self.error_hint(&used.key_place, message, &hint);
                return false;
            };
            act_on(&mut joint.axes[axis], table);
        }
        for own in table.named("axes") {
            let axis = AXIS_NAMES.iter().position(|n| *n == own.key);
            if let (Some(axis), Some(settings)) = (axis, own.node.table()) {
                act_on(&mut joint.axes[axis], settings);
            }
        }
        true
    }
}

/// Reads what a joint bears, how it is held, and whether what it holds touches.
pub fn bear(table: &Table, joint: &mut Joint) {
    if let Some(breaking) = table.table("breaking") {
        joint.break_force = breaking.number("force").unwrap_or(f64::INFINITY);
        joint.break_torque = breaking.number("torque").unwrap_or(f64::INFINITY);
    }
    let is_spring =
        matches!(joint.kind, JointKind::Spring { .. } | JointKind::AngularSpring { .. });
    joint.collide = table.flag("collide").unwrap_or(is_spring);
    joint.enforcement = table.get("enforcement").map(enforcement);
    joint.assemble = table.flag("assemble").unwrap_or(false);
}

/// The only coordinate that may change.
fn main_axis(joint: &Joint) -> Option<usize> {
    match &joint.kind {
        JointKind::Hinge => Some(3),
        JointKind::Slider
        | JointKind::Distance { .. }
        | JointKind::Curve { .. }
        | JointKind::Spring { .. } => Some(0),
        JointKind::SixAxis => {
            let free = |i: &usize| joint.axes[*i].mode == AxisMode::Free;
            let mut all = (0..6).filter(free);
            all.next().filter(|_| all.next().is_none())
        }
        _ => None,
    }
}

fn act_on(axis: &mut AxisSettings, table: &Table) {
    if let Some(limits) = table.get("limits") {
        let (numbers, own) = (limits.numbers(), limits.table());
        let of = |key: &str| own.and_then(|t| t.number(key));
        axis.limits = Some(Limits {
            lower: numbers.first().copied().or(of("lower")).unwrap_or(f64::NEG_INFINITY),
            upper: numbers.get(1).copied().or(of("upper")).unwrap_or(f64::INFINITY),
            restitution: of("restitution").unwrap_or(0.0),
        });
    }
    axis.friction = table.number("friction").unwrap_or(axis.friction);
    if let Some(spring) = table.table("spring") {
        axis.spring = Some(Spring {
            stiffness: spring.number("stiffness").unwrap_or(0.0),
            damping: spring.number("damping").unwrap_or(0.0),
            rest: spring.number("rest").unwrap_or(0.0),
        });
    }
    if let Some(own) = table.table("drive") {
        axis.drive = Some(drive(own));
    }
}

/// A drive as it is written.
pub fn drive(table: &Table) -> Drive {
    let mut drive = match table.number("motor") {
        Some(velocity) => Drive::motor(velocity, f64::INFINITY),
        None => Drive::pd(
            table.number("stiffness").unwrap_or(0.0),
            table.number("damping").unwrap_or(0.0),
        ),
    };
    drive.effort = table.number("effort").unwrap_or(0.0);
    drive.limit = table.number("limit").unwrap_or(f64::INFINITY);
    if let Some(target) = table.get("target") {
        let velocity = table.number("velocity").unwrap_or(0.0);
        drive.target = match target.table() {
            Some(moving) => moving_target(moving),
            None => Target::Constant { position: target.number().unwrap_or(0.0), velocity },
        };
    } else if let Some(velocity) = table.number("velocity") {
        drive.target = Target::Constant { position: 0.0, velocity };
    }
    drive
}

fn moving_target(table: &Table) -> Target {
    if let Some(sine) = table.table("sine") {
        let number = |key: &str| sine.number(key).unwrap_or(0.0);
        return Target::Sine {
            center: number("center"),
            amplitude: number("amplitude"),
            frequency: number("frequency"),
            phase: number("phase"),
        };
    }
    let key = |node: &Node| match *node.numbers() {
        [time, position] => Some(DriveKey { time, position }),
        _ => None,
    };
    Target::Keyframes {
        keys: table.items("keyframes").iter().filter_map(key).collect(),
        repeat: table.flag("repeat").unwrap_or(false),
    }
}

/// An enforcement as it is written.
pub fn enforcement(node: &Node) -> Enforcement {
    let Some(table) = node.table() else {
        return match node.text() {
            Some("pseudo-time") => Enforcement::PseudoTime,
            Some("projection") => Enforcement::Projection,
            Some("reduced") => Enforcement::Reduced,
            _ => Enforcement::Stabilized,
        };
    };
    match (table.table("soft"), table.table("multipliers")) {
        (Some(soft), _) => Enforcement::Soft {
            stiffness: soft.number("stiffness").unwrap_or(0.0),
            damping: soft.number("damping").unwrap_or(0.0),
        },
        (None, Some(numbers)) => {
            Enforcement::Multipliers { rate: numbers.number("rate").unwrap_or(0.0) }
        }
        (None, None) => Enforcement::Stabilized,
    }
}
