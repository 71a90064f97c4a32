//! `[simulators]` and `[couplings]`: who holds what, and what couples them.

use super::settings::coupling;
use super::{Builder, SECTIONS};
use crate::SceneBody;
use crate::coupled::{
    ContactKind, Handle, LedgerLimits, Partition, SceneCoupling, SceneFmu, SceneFmuHandle,
    SceneSimulator, SceneTie, SimulatorKind,
};
use crate::error::Place;
use crate::names::nearest;
use crate::node::{Entry, Node, Table};
use std::collections::HashMap;
use std::path::PathBuf;
use thirdlaw::couple::TieKind;
use thirdlaw::math::{Pose, Quat, Vec3};
use thirdlaw::model::deformable::model::{BoundTo, PinHold};
use thirdlaw::{BodyId, JointKind, Side, Thing};

/// Keys of the variables of a body in an FMU.
const FMU_VARIABLES: [&str; 8] =
    ["position", "velocity", "rotation", "angular_velocity", "force", "torque", "mass", "inertia"];

/// What the scene says of a body in an FMU.
struct SaidHandle {
    body: BodyId,
    variables: Vec<(String, Vec<String>)>,
}

/// The FMU of a simulator, with every body that it holds.
fn fmu_of(
    said: &Option<(PathBuf, Vec<SaidHandle>)>,
    bodies: &[SceneBody],
    holds: impl Fn(BodyId) -> bool,
) -> Option<SceneFmu> {
    let (file, said) = said.as_ref()?;
    let handle = |body: &SceneBody| {
        let found = said.iter().find(|s| s.body == body.id);
        let variables = found.map(|s| s.variables.clone()).unwrap_or_default();
        SceneFmuHandle { name: body.name.clone(), body: body.id, variables }
    };
    let handles = bodies.iter().filter(|body| holds(body.id)).map(handle).collect();
    Some(SceneFmu { file: file.clone(), handles })
}

/// Which simulator everything belongs to.
struct Owners {
    things: HashMap<Thing, usize>,
    names: Vec<String>,
}

impl Builder<'_> {
    /// The simulators of the scene and what couples them, where it names any.
    pub fn partition(&mut self) -> Option<Partition> {
        let root = self.root;
        let entries = root.named("simulators");
        if entries.is_empty() {
            for entry in root.named("couplings") {
                let hint = "say under [simulators] who holds what";
                self.error_hint(&entry.key_place, "there is nothing to couple", hint);
            }
            return None;
        }
        for entry in entries {
            self.check_name(entry, "simulators");
        }
        let owners = self.owners(entries)?;
        self.check_owners(&owners, entries);
        let couplings: Vec<SceneCoupling> =
            root.named("couplings").iter().filter_map(|e| self.link(e, &owners)).collect();
        if !self.errors.is_empty() {
            return None;
        }
        let mut fmus = Vec::new();
        for entry in entries {
            fmus.push(self.fmu(entry));
        }
        if !self.errors.is_empty() {
            return None;
        }
        let simulator = |(i, entry): (usize, &Entry)| {
            let table = entry.node.table()?;
            let kind = match table.text("kind") {
                Some("rapier") => SimulatorKind::Rapier,
                Some("fmu") => SimulatorKind::Fmu,
                _ => SimulatorKind::Thirdlaw,
            };
            Some(SceneSimulator {
                name: entry.key.clone(),
                kind,
                fmu: fmu_of(&fmus[i], &self.bodies, |id| {
                    owners.things.get(&Thing::Body(id)) == Some(&i)
                }),
                world: self.world.part(|thing| owners.things.get(&thing) == Some(&i)),
                steps: table.count("steps").unwrap_or(1),
                place: table.get("kind").map_or(&entry.key_place, |n| &n.place).clone(),
            })
        };
        let simulators = entries.iter().enumerate().filter_map(simulator).collect();
        Some(Partition { simulators, couplings, settings: coupling(root), source: String::new() })
    }

    /// The file of an FMU, and which variables its bodies are where the scene says so.
    fn fmu(&mut self, entry: &Entry) -> Option<(PathBuf, Vec<SaidHandle>)> {
        let table = entry.node.table()?;
        let file = table.get("file");
        match (table.text("kind") == Some("fmu"), file) {
            (false, None) => return None,
            (false, Some(node)) => {
                self.error_hint(&node.place, "only an FMU is a file", "kind = \"fmu\"");
                return None;
            }
            (true, None) => {
                let hint = "file = \"…\", beside the scene";
                self.error_hint(&entry.key_place, "an FMU needs its file", hint);
                return None;
            }
            (true, Some(_)) => {}
        }
        let path = self.file_beside(file?)?;
        let mut handles = Vec::new();
        for node in table.items("handles") {
            let table = node.table()?;
            let name = table.text("body").unwrap_or_default().to_string();
            let Some(body) = self.bodies.iter().find(|b| b.name == name).map(|b| b.id) else {
                self.error(&node.place, format!("there is no body \"{name}\""));
                continue;
            };
            let names = |key: &str| -> Vec<String> {
                let items = table.items(key).iter();
                items.map(|node| node.text().unwrap_or_default().to_string()).collect()
            };
            let said = FMU_VARIABLES.iter().map(|key| (key.to_string(), names(key)));
            let said = said.filter(|(_, names)| !names.is_empty()).collect();
            handles.push(SaidHandle { body, variables: said });
        }
        Some((path, handles))
    }

    /// Who holds what: by name, the rest in the simulator that names nothing.
    fn owners(&mut self, entries: &[Entry]) -> Option<Owners> {
        let root = self.root;
        let objects: Vec<(&str, &str)> = SECTIONS
            .iter()
            .flat_map(|s| root.named(s).iter().map(move |e| (e.key.as_str(), *s)))
            .collect();
        let mut owner: Vec<Option<usize>> = vec![None; objects.len()];
        let mut rest = None;
        for (i, entry) in entries.iter().enumerate() {
            let Some(list) = entry.node.table().and_then(|t| t.get("objects")) else {
                match rest {
                    None => rest = Some(i),
                    Some(first) => {
                        let first: &Entry = &entries[first];
                        let message = format!("`{}` holds the rest already", first.key);
                        self.error_hint(&entry.key_place, message, "name its `objects`");
                    }
                }
                continue;
            };
            for node in list.items() {
                let name = node.text().unwrap_or_default();
                let Some(at) = objects.iter().position(|o| o.0 == name) else {
                    let hint = match nearest(name, objects.iter().map(|o| o.0)) {
                        Some(near) => format!("did you mean \"{near}\"?"),
                        None => "names stand under [bodies], [generate], [cloths], [soft_bodies], [points], \
                                 [urdf] and [emitters]"
                            .into(),
                    };
                    self.error_hint(&node.place, format!("there is no object \"{name}\""), &hint);
                    continue;
                };
                if objects[at].1 == "joints" {
                    let message = format!("\"{name}\" is a joint");
                    self.error_hint(&node.place, message, "joints go with what they join");
                } else if let Some(first) = owner[at].replace(i) {
                    let message = format!("\"{name}\" belongs to `{}` already", entries[first].key);
                    self.error(&node.place, message);
                }
            }
        }
        for (at, (name, section)) in objects.iter().enumerate() {
            if owner[at].is_none() && rest.is_none() && *section != "joints" {
                let place = root.named(section).iter().find(|e| e.key == *name);
                let place = place.map(|e| e.key_place.clone())?;
                let hint = "name it among the `objects` of one, or let one have no such list";
                self.error_hint(&place, format!("`{name}` belongs to no simulator"), hint);
            }
        }
        let names = entries.iter().map(|e| e.key.clone()).collect();
        let of = |object: usize| owner.get(object).copied().flatten().or(rest).unwrap_or(0);
        let mut things = HashMap::new();
        things.extend(self.bodies.iter().map(|b| (Thing::Body(b.id), of(b.object))));
        things.extend(self.cloths.iter().map(|c| (Thing::Cloth(c.id), of(c.object))));
        things.extend(self.points.iter().map(|p| (Thing::Point(p.id), of(p.object))));
        things.extend(self.emitters.iter().map(|e| (Thing::Emitter(e.id), of(e.object))));
        for joint in &self.joints {
            let side = joint.sides.iter().find_map(|side| things.get(&thing_of(side)?).copied());
            things.insert(Thing::Joint(joint.id), side.unwrap_or(0));
        }
        // gears and racks go with the joints that they connect
        for joint in &self.joints {
            let first = match self.world.joint(joint.id).map(|model| &model.joint.kind) {
                Ok(JointKind::Gear { first, .. }) => *first,
                Ok(JointKind::Rack { hinge, .. }) => *hinge,
                _ => continue,
            };
            if let Some(owner) = things.get(&Thing::Joint(first)).copied() {
                things.insert(Thing::Joint(joint.id), owner);
            }
        }
        for (i, entry) in entries.iter().enumerate() {
            if !things.values().any(|&owner| owner == i) {
                let others = entries.iter().map(|e| e.key.as_str()).filter(|key| *key != entry.key);
                let hint = match nearest(&entry.key, others) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => "every object belongs to another simulator".into(),
                };
                self.error_hint(&entry.key_place, format!("`{}` holds nothing", entry.key), &hint);
            }
        }
        Some(Owners { things, names })
    }

    /// What holds on to something must lie in its simulator.
    fn check_owners(&mut self, owners: &Owners, entries: &[Entry]) {
        let root = self.root;
        let place = |object: usize| {
            let all = SECTIONS.iter().flat_map(|s| root.named(s));
            let found = all.map(|e| e.key_place.clone()).nth(object);
            found.unwrap_or_else(|| entries[0].key_place.clone())
        };
        let name = |body: BodyId| {
            let found = self.bodies.iter().find(|b| b.id == body);
            found.map_or_else(|| body.to_string(), |b| b.name.clone())
        };
        let apart = |a: Thing, b: Thing| owners.things.get(&a) != owners.things.get(&b);
        let mut found: Vec<(Place, String)> = Vec::new();
        for joint in &self.joints {
            let sides: Vec<Thing> = joint.sides.iter().filter_map(thing_of).collect();
            if let [a, b] = *sides
                && apart(a, b)
            {
                let message = format!("`{}` joins things of two simulators", joint.name);
                found.push((place(joint.object), message));
            }
        }
        for cloth in &self.cloths {
            let Ok(model) = self.world.deformable(cloth.id) else { continue };
            let held = model.pins.iter().find_map(|pin| match pin.hold {
                PinHold::Body { body, .. } => Some(body),
                _ => None,
            });
            if let Some(body) = held.filter(|b| apart(Thing::Body(*b), Thing::Cloth(cloth.id))) {
                let holder = name(body);
                let message =
                    format!("`{}` is pinned to `{holder}` of another simulator", cloth.name);
                found.push((place(cloth.object), message));
            }
        }
        for cloth in &self.cloths {
            let Ok(model) = self.world.deformable(cloth.id) else { continue };
            let mut others = model.bonds.iter().map(|bond| match bond.to {
                BoundTo::Body { body, .. } => Thing::Body(body),
                BoundTo::Vertices { object, .. } => Thing::Cloth(object),
            });
            if others.any(|other| apart(other, Thing::Cloth(cloth.id))) {
                let message =
                    format!("`{}` is bound to something of another simulator", cloth.name);
                found.push((place(cloth.object), message));
            }
        }
        for emitter in &self.emitters {
            let body = self.world.emitter(emitter.id).ok().and_then(|m| m.emitter.body);
            if let Some(body) = body.filter(|b| apart(Thing::Body(*b), Thing::Emitter(emitter.id)))
            {
                let carrier = name(body);
                let message =
                    format!("`{}` is carried by `{carrier}` of another simulator", emitter.name);
                found.push((place(emitter.object), message));
            }
        }
        for (place, message) in found {
            self.error_hint(&place, message, "hold them together by ties under [couplings]");
        }
    }

    fn link(&mut self, entry: &Entry, owners: &Owners) -> Option<SceneCoupling> {
        self.check_name(entry, "couplings");
        let table = entry.node.table()?;
        let mut between = Vec::new();
        for node in table.items("between") {
            let name = node.text().unwrap_or_default();
            match owners.names.iter().position(|n| n == name) {
                Some(simulator) => between.push(simulator),
                None => {
                    let hint = match nearest(name, owners.names.iter().map(String::as_str)) {
                        Some(near) => format!("did you mean \"{near}\"?"),
                        None => format!("there is {}", owners.names.join(", ")),
                    };
                    self.error_hint(
                        &node.place,
                        format!("there is no simulator \"{name}\""),
                        &hint,
                    );
                }
            }
        }
        let between: [usize; 2] = between.try_into().ok()?;
        if between[0] == between[1] {
            let place = table.get("between").map_or(&entry.key_place, |n| &n.place).clone();
            self.error(&place, "a coupling is between two simulators");
            return None;
        }
        let mut ties = Vec::new();
        for node in table.items("ties") {
            ties.extend(self.tie(node, between, owners));
        }
        let contact = match table.text("contact") {
            Some("watch") => ContactKind::Watch,
            Some("follow") => ContactKind::Follow,
            None if table.items("ties").is_empty() => ContactKind::Follow,
            _ => ContactKind::None,
        };
        let limits = table.table("limits").map(limits).unwrap_or_default();
        let (name, place) = (entry.key.clone(), entry.key_place.clone());
        Some(SceneCoupling { name, between, contact, ties, limits, place })
    }

    fn tie(&mut self, node: &Node, between: [usize; 2], owners: &Owners) -> Option<SceneTie> {
        let table = node.table()?;
        let number = |key: &str| table.number(key).unwrap_or(0.0);
        let kind = match table.text("kind") {
            Some("frame") => TieKind::Frame,
            Some("spring") => TieKind::Spring {
                stiffness: number("stiffness"),
                damping: number("damping"),
                rest: number("rest"),
            },
            _ => TieKind::Point,
        };
        let mut sides = Vec::new();
        for node in table.items("between") {
            let name = node.text().unwrap_or_default();
            let Some((thing, handle, center, rotation)) = self.held(name) else {
                let names = self.bodies.iter().map(|b| b.name.as_str()).take(10_000);
                let names = names.chain(self.points.iter().map(|p| p.name.as_str()).take(10_000));
                let hint = match nearest(name, names) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => "a body, a point, or a vertex of a cloth like \"cloth.12\"".into(),
                };
                let message = format!("a tie cannot hold \"{name}\": there is no such thing");
                self.error_hint(&node.place, message, &hint);
                continue;
            };
            let simulator = owners.things.get(&thing).copied().unwrap_or(0);
            if !between.contains(&simulator) {
                let owner = &owners.names[simulator];
                let message = format!("\"{name}\" belongs to `{owner}`, which is not coupled here");
                self.error(&node.place, message);
                continue;
            }
            let place = table.vector("at").unwrap_or(center);
            let local = rotation.conjugate() * (place - center);
            let turn = if kind == TieKind::Frame { rotation.conjugate() } else { Quat::IDENTITY };
            let turns = matches!(handle, Handle::Body(_));
            if !turns && (local != Vec3::ZERO || kind == TieKind::Frame) {
                let message = format!("\"{name}\" is a point: it has no place or frame of its own");
                self.error(&node.place, message);
            }
            sides.push((simulator, handle, Pose::from_parts(local, turn)));
        }
        let sides: [_; 2] = sides.try_into().ok()?;
        if sides[0].0 == sides[1].0 {
            self.error_hint(
                &node.place,
                "a tie holds something of each simulator",
                "within one simulator a joint does",
            );
            return None;
        }
        Some(SceneTie { kind, sides })
    }

    /// What a name of a tie means: its owner's thing, the handle, its centre and orientation.
    fn held(&self, name: &str) -> Option<(Thing, Handle, Vec3, Quat)> {
        if let Some(body) = self.bodies.iter().find(|b| b.name == name) {
            let center = self.world.center(body.id).ok()?;
            let pose = self.world.pose(body.id).ok()?;
            return Some((Thing::Body(body.id), Handle::Body(body.id), center, pose.rotation));
        }
        if let Some(point) = self.points.iter().find(|p| p.name == name) {
            let at = self.world.point(point.id).ok()?.position;
            return Some((Thing::Point(point.id), Handle::Point(point.id), at, Quat::IDENTITY));
        }
        let (cloth, vertex) = name.rsplit_once('.')?;
        let cloth = self.cloths.iter().find(|c| c.name == cloth)?;
        let vertex: u32 = vertex.parse().ok()?;
        let at = *self.world.vertices(cloth.id).ok()?.get(vertex as usize)?;
        Some((Thing::Cloth(cloth.id), Handle::Vertex(cloth.id, vertex), at, Quat::IDENTITY))
    }
}

fn thing_of(side: &Side) -> Option<Thing> {
    match side {
        Side::Body(id) => Some(Thing::Body(*id)),
        Side::Point(id) => Some(Thing::Point(*id)),
        _ => None,
    }
}

fn limits(table: &Table) -> LedgerLimits {
    let limit = |key: &str| table.number(key).unwrap_or(f64::INFINITY);
    LedgerLimits {
        imbalance: limit("imbalance"),
        angular_imbalance: limit("angular_imbalance"),
        passivity: limit("passivity"),
        residual: limit("residual"),
        mismatch: limit("mismatch"),
        evaluations: limit("evaluations"),
    }
}
