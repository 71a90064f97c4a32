//! `[generate.NAME]`: bodies by the dozen.

use super::Builder;
use super::shape::link;
use crate::SceneJoint;
use crate::generate::card_house::CardHouse;
use crate::generate::chess::Chess;
use crate::generate::figure::{Figure, Gait};
use crate::generate::loops::Loops;
use crate::generate::rain::Rain;
use crate::generate::voronoi::Fracture;
use crate::generate::{
    Piece, PieceJoint, chain, chess, joint_grid, pyramid, ragdolls, rain, stack,
};
use crate::node::{Entry, Node, Table};
use thirdlaw::math::{Pose, Quat, Vec3};
use thirdlaw::{BodyKind, Frame, Joint, Limits, Mass, Side};

impl Builder<'_> {
    /// Adds all bodies of a generator.
    pub fn add_generated(&mut self, entry: &Entry, table: &Table, object: usize) {
        let Some(make) = table.get("make") else { return };
        let Some(pieces) = self.pieces(make) else { return };
        let Some(first) = pieces.first() else { return };
        let template = self.template(table, first.shape.clone());
        let first_body = self.bodies.len();
        for (i, piece) in pieces.into_iter().enumerate() {
            let mut body = template.clone();
            body.pose = template.pose * piece.pose;
            body.shape = piece.shape;
            body.mass = match template.mass {
                Mass::Density(density) => Mass::Density(density * piece.mass_factor),
                Mass::Total(mass) => Mass::Total(mass * piece.mass_factor),
                explicit => explicit,
            };
            if let Some(mass) = piece.mass {
                body.mass = Mass::Total(mass);
            }
            if piece.fixed {
                body.kind = BodyKind::Fixed;
                body.linear_velocity = Vec3::ZERO;
                body.angular_velocity = Vec3::ZERO;
            }
            if !piece.motion.keys.is_empty() {
                body.kind = BodyKind::Kinematic;
                body.motion = piece.motion;
                for key in &mut body.motion.keys {
                    let pose = template.pose * Pose::from_parts(key.position, key.rotation);
                    (key.position, key.rotation) = (pose.translation, pose.rotation);
                }
            }
            let name = piece.name.map_or_else(|| i.to_string(), str::to_string);
            if !self.add(entry, table, object, format!("{}.{name}", entry.key), body) {
                return;
            }
        }
        for (i, tie) in ties(make).into_iter().enumerate() {
            if !self.add_tie((entry, object), template.pose, (first_body, i), &tie) {
                return;
            }
        }
    }

    /// Adds a joint of a generator.
    fn add_tie(
        &mut self,
        (entry, object): (&Entry, usize),
        place: Pose,
        (first_body, number): (usize, usize),
        tie: &PieceJoint,
    ) -> bool {
        let bodies = tie.sides.map(|side| self.bodies[first_body + side].id);
        let frame = Pose::from_parts(tie.at, Quat::from_rotation_arc(Vec3::X, tie.axis));
        let frames = bodies.map(|body| self.side_pose(Side::Body(body)).inverse() * place * frame);
        let mut joint = Joint::new(tie.kind.clone(), bodies[0], bodies[1]);
        (joint.frame_a, joint.frame_b) = (Frame::Local(frames[0]), Frame::Local(frames[1]));
        for (axis, limits) in joint.axes[3..].iter_mut().zip(tie.limits) {
            axis.limits = limits.map(|[lower, upper]| Limits { lower, upper, restitution: 0.0 });
        }
        let (name, sides) = (format!("{}.{number}", entry.key), [joint.a, joint.b]);
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

    fn pieces(&mut self, make: &Node) -> Option<Vec<Piece>> {
        let entry = make.table()?.entries.first()?;
        let table = entry.node.table()?;
        let place = &entry.node.place;
        let made = match entry.key.as_str() {
            "rain" => rain::rain(&read_rain(table)),
            "pyramid" => {
                let size = table.number("size").unwrap_or(1.0);
                let spacing = table.number("spacing").unwrap_or(1.05 * size);
                pyramid::pyramid(table.count("base").unwrap_or(1), size, spacing)
            }
            "card_house" => read_card_house(table).pieces(),
            "chain" => {
                let link = link(table);
                if let Some(problem) = link.problem() {
                    self.error(place, problem);
                    return None;
                }
                let slack = table.number("slack").unwrap_or(0.001);
                let hang = table.flag("hang").unwrap_or(true);
                chain::chain(table.count("count").unwrap_or(1), &link, slack, hang)
            }
            "chess" => chess::chess(&read_chess(table)),
            "figure" => read_figure(table).pieces(),
            "ragdolls" => ragdolls::ragdolls(table.count("count").unwrap_or(1)),
            "joint_grid" => joint_grid::joint_grid(table.count("count").unwrap_or(1)),
            "loops" => {
                if table.table("grid").is_some_and(|grid| self.too_many(grid, place)) {
                    return None;
                }
                let loops = read_loops(table);
                if let Some(problem) = loops.problem() {
                    self.error(place, problem);
                    return None;
                }
                loops.pieces()
            }
            "voronoi" => read_fracture(table).pieces(),
            "stack" => stack::stack(
                table.count("count").unwrap_or(1),
                table.number("size").unwrap_or(1.0),
                table.number("ratio").unwrap_or(1.0),
            ),
            _ => return None,
        };
        self.shape_or_error(made, place)
    }
}

/// The joints of a generator.
fn ties(make: &Node) -> Vec<PieceJoint> {
    let entry = make.table().and_then(|table| table.entries.first());
    let count = |entry: &Entry| entry.node.table().and_then(|t| t.count("count")).unwrap_or(1);
    match entry {
        Some(entry) if entry.key == "ragdolls" => ragdolls::joints(count(entry)),
        Some(entry) if entry.key == "loops" => {
            entry.node.table().map(|table| read_loops(table).joints()).unwrap_or_default()
        }
        Some(entry) if entry.key == "joint_grid" => joint_grid::joints(count(entry)),
        _ => Vec::new(),
    }
}

fn read_rain(table: &Table) -> Rain {
    let plain = Rain::default();
    let spacing = table.number("spacing").unwrap_or(plain.spacing);
    Rain {
        count: table.count("count").unwrap_or(plain.count),
        row: table.count("row").unwrap_or(plain.row),
        size: table.number("size").unwrap_or(plain.size),
        spacing,
        rise: table.number("rise").unwrap_or(spacing),
        shift: table.number("shift").unwrap_or(plain.shift),
        seed: table.count("seed").unwrap_or(plain.seed),
    }
}

fn read_loops(table: &Table) -> Loops {
    let plain = Loops::default();
    let middles = |grid: &Table| super::copies::grid(grid).iter().map(|copy| copy.offset).collect();
    Loops {
        links: table.count("links").unwrap_or(plain.links),
        radius: table.number("radius").unwrap_or(plain.radius),
        wire: table.number("wire").unwrap_or(plain.wire),
        at: table.table("grid").map_or(plain.at, middles),
    }
}

fn read_card_house(table: &Table) -> CardHouse {
    let levels = table.count("levels").unwrap_or(1);
    let plain = CardHouse::new(levels);
    CardHouse {
        levels,
        base: table.count("base").unwrap_or(plain.base),
        ledge: table.count("ledge").unwrap_or(plain.ledge),
        card: table.vector("card").unwrap_or(plain.card),
        lean: table.number("lean").map_or(plain.lean, f64::to_radians),
        gap: table.number("gap").unwrap_or(plain.gap),
    }
}

fn read_chess(table: &Table) -> Chess {
    let king_height = table.number("king_height").unwrap_or(0.95);
    Chess {
        count: table.count("count").unwrap_or(1),
        row: table.count("row").unwrap_or(10),
        king_height,
        spacing: table.number("spacing").unwrap_or(1.1 * king_height),
        seed: table.count("seed").unwrap_or(0),
    }
}

fn read_figure(table: &Table) -> Figure {
    let plain = Figure::default();
    Figure {
        motion: match table.text("motion") {
            Some("twist") => Gait::Twist,
            Some("walk") => Gait::Walk,
            Some("dance") => Gait::Dance,
            _ => Gait::Stand,
        },
        duration: table.number("duration").unwrap_or(plain.duration),
        begin: table.number("begin").unwrap_or(plain.begin),
        speed: table.number("speed").unwrap_or(plain.speed),
    }
}

fn read_fracture(table: &Table) -> Fracture {
    let size = table.vector("size").unwrap_or(Vec3::ONE);
    let impacts: Vec<Vec3> = table.items("impacts").iter().filter_map(Node::vector).collect();
    let middle = Vec3::new(0.0, 0.5 * size.y, 0.0);
    Fracture {
        size,
        cells: table.count("cells").unwrap_or(1),
        impacts: if impacts.is_empty() { vec![middle] } else { impacts },
        spread: table.number("spread").unwrap_or(0.5 * size.y),
        seed: table.count("seed").unwrap_or(0),
    }
}
