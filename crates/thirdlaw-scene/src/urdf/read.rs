//! From XML to a [`Robot`].

use super::tree::arrange;
use super::{Form, Inertial, Link, Motion, Part, Problem, Robot, RobotJoint};
use crate::names::nearest;
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::HashMap;
use thirdlaw::math::{Mat3, Pose, Vec3};

/// More elements than this are no robot.
const NODES_MAX: u32 = 2_000_000;

/// Reads a file's text.
pub fn read(text: &str) -> Result<Robot, Vec<Problem>> {
    let options = ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|e| {
        let place = (e.pos().row, e.pos().col);
        vec![Problem { place, message: format!("this is not XML: {e}") }]
    })?;
    let root = document.root_element();
    let mut reader = Reader {
        document: &document,
        robot: Robot::default(),
        problems: Vec::new(),
        materials: HashMap::new(),
        links: HashMap::new(),
        skipped: Vec::new(),
        fast: Vec::new(),
    };
    reader.robot(root);
    reader.finish()
}

struct Reader<'a, 'input> {
    document: &'a Document<'input>,
    robot: Robot,
    problems: Vec<Problem>,
    materials: HashMap<String, [f32; 3]>,
    links: HashMap<String, usize>,
    /// Elements that are not read: path, place of the first, how many.
    skipped: Vec<(String, (u32, u32), usize)>,
    /// Joints with a limit on their velocity.
    fast: Vec<String>,
}

type Element<'a, 'input> = Node<'a, 'input>;

fn children<'a, 'input>(node: Element<'a, 'input>) -> impl Iterator<Item = Element<'a, 'input>> {
    node.children().filter(Node::is_element)
}

fn child<'a, 'input>(node: Element<'a, 'input>, name: &str) -> Option<Element<'a, 'input>> {
    children(node).find(|n| n.has_tag_name(name))
}

impl<'a, 'input> Reader<'a, 'input> {
    fn place(&self, node: Element<'a, 'input>) -> (u32, u32) {
        let at = self.document.text_pos_at(node.range().start);
        (at.row, at.col)
    }

    fn problem(&mut self, node: Element<'a, 'input>, message: impl Into<String>) {
        let place = self.place(node);
        self.problems.push(Problem { place, message: message.into() });
    }

    fn skip(&mut self, node: Element<'a, 'input>) {
        let parent = node.parent_element().map_or("", |p| p.tag_name().name());
        let path = format!("<{parent}> <{}>", node.tag_name().name());
        let place = self.place(node);
        match self.skipped.iter_mut().find(|s| s.0 == path) {
            Some(known) => known.2 += 1,
            None => self.skipped.push((path, place, 1)),
        }
    }

    fn skip_others(&mut self, node: Element<'a, 'input>, known: &[&str]) {
        for other in children(node).filter(|n| !known.contains(&n.tag_name().name())) {
            self.skip(other);
        }
    }

    fn finish(mut self) -> Result<Robot, Vec<Problem>> {
        if self.problems.is_empty() {
            arrange(&mut self.robot, &mut self.problems);
        }
        for (path, (line, _), count) in &self.skipped {
            let times = if *count > 1 { format!(", {count} times") } else { String::new() };
            self.robot.notes.push(format!("{path} is not read (line {line}{times})"));
        }
        if !self.fast.is_empty() {
            let names = self.fast.join(", ");
            self.robot.notes.push(format!("velocity limits are not enforced: {names}"));
        }
        if self.problems.is_empty() { Ok(self.robot) } else { Err(self.problems) }
    }

    // ----- values -----

    fn text(&mut self, node: Element<'a, 'input>, name: &str) -> Option<&'a str> {
        let found = node.attribute(name);
        if found.is_none() {
            self.problem(node, format!("<{}> needs `{name}`", node.tag_name().name()));
        }
        found
    }

    fn numbers(&mut self, node: Element<'a, 'input>, name: &str) -> Option<Vec<f64>> {
        let text = node.attribute(name)?;
        let mut numbers = Vec::new();
        for word in text.split_whitespace() {
            match word.parse::<f64>() {
                Ok(x) if x.is_finite() => numbers.push(x),
                _ => {
                    self.problem(node, format!("`{name}`: `{word}` is not a finite number"));
                    return None;
                }
            }
        }
        Some(numbers)
    }

    fn number(&mut self, node: Element<'a, 'input>, name: &str) -> Option<f64> {
        self.text(node, name)?;
        match *self.numbers(node, name)? {
            [x] => Some(x),
            _ => {
                self.problem(node, format!("`{name}` must be one number"));
                None
            }
        }
    }

    fn number_or(&mut self, node: Element<'a, 'input>, name: &str, default: f64) -> f64 {
        match node.attribute(name) {
            Some(_) => self.number(node, name).unwrap_or(default),
            None => default,
        }
    }

    fn positive(&mut self, node: Element<'a, 'input>, name: &str) -> Option<f64> {
        let x = self.number(node, name)?;
        if x > 0.0 {
            return Some(x);
        }
        self.problem(node, format!("`{name}` must be greater than 0, not {x}"));
        None
    }

    fn vector(&mut self, node: Element<'a, 'input>, name: &str, default: Vec3) -> Option<Vec3> {
        if node.attribute(name).is_none() {
            return Some(default);
        }
        match *self.numbers(node, name)? {
            [x, y, z] => Some(Vec3::new(x, y, z)),
            _ => {
                self.problem(node, format!("`{name}` must be three numbers"));
                None
            }
        }
    }

    /// The `<origin>` of an element.
    fn pose(&mut self, node: Element<'a, 'input>) -> Pose {
        let Some(origin) = child(node, "origin") else { return Pose::IDENTITY };
        let place = self.vector(origin, "xyz", Vec3::ZERO).unwrap_or_default();
        let angles = self.vector(origin, "rpy", Vec3::ZERO).unwrap_or_default();
        let about = crate::generate::turn;
        let rotation =
            about(Vec3::Z, angles.z) * about(Vec3::Y, angles.y) * about(Vec3::X, angles.x);
        Pose::from_parts(place, rotation)
    }

    // ----- elements -----

    fn robot(&mut self, root: Element<'a, 'input>) {
        if !root.has_tag_name("robot") {
            let name = root.tag_name().name();
            let hint = if name == "sdf" { "; SDF is another format" } else { "" };
            return self.problem(root, format!("a URDF begins with <robot>, not <{name}>{hint}"));
        }
        self.skip_others(root, &["link", "joint", "material"]);
        if let Some(macro_use) = root.descendants().find(|n| {
            n.is_element() && n.tag_name().namespace().is_some_and(|uri| uri.contains("xacro"))
        }) {
            return self.problem(macro_use, "xacro macros must be expanded first: `xacro FILE`");
        }
        for node in children(root).filter(|n| n.has_tag_name("material")) {
            if let (Some(name), Some(color)) = (node.attribute("name"), self.color(node)) {
                self.materials.insert(name.into(), color);
            }
        }
        for node in children(root).filter(|n| n.has_tag_name("link")) {
            self.link(node);
        }
        if self.robot.links.is_empty() && self.problems.is_empty() {
            return self.problem(root, "a robot needs a <link>");
        }
        let mut mimics = Vec::new();
        for node in children(root).filter(|n| n.has_tag_name("joint")) {
            self.joint(node, &mut mimics);
        }
        self.resolve(mimics);
    }

    fn color(&mut self, node: Element<'a, 'input>) -> Option<[f32; 3]> {
        let rgba = self.numbers(child(node, "color")?, "rgba")?;
        match *rgba {
            [r, g, b, ..] => Some([r, g, b].map(|x| x.clamp(0.0, 1.0) as f32)),
            _ => None,
        }
    }

    fn link(&mut self, node: Element<'a, 'input>) {
        let Some(name) = self.text(node, "name") else { return };
        if self.links.insert(name.into(), self.robot.links.len()).is_some() {
            self.problem(node, format!("there is a link `{name}` already"));
        }
        self.skip_others(node, &["inertial", "visual", "collision"]);
        let mut link = Link {
            name: name.into(),
            inertial: None,
            collisions: Vec::new(),
            visuals: Vec::new(),
            color: None,
        };
        if let Some(inertial) = child(node, "inertial") {
            link.inertial = self.inertial(inertial, name);
        }
        for part in children(node) {
            match part.tag_name().name() {
                "collision" => {
                    self.skip_others(part, &["origin", "geometry"]);
                    link.collisions.extend(self.part(part, name));
                }
                "visual" => {
                    self.skip_others(part, &["origin", "geometry", "material"]);
                    link.visuals.extend(self.part(part, name));
                    if let Some(material) = child(part, "material") {
                        let named = material.attribute("name").and_then(|n| self.materials.get(n));
                        let named = named.copied();
                        link.color = link.color.or(self.color(material)).or(named);
                    }
                }
                _ => {}
            }
        }
        self.robot.links.push(link);
    }

    fn inertial(&mut self, node: Element<'a, 'input>, link: &str) -> Option<Inertial> {
        self.skip_others(node, &["origin", "mass", "inertia"]);
        let pose = self.pose(node);
        let (Some(mass), Some(inertia)) = (child(node, "mass"), child(node, "inertia")) else {
            self.problem(node, format!("the <inertial> of link `{link}` needs mass and inertia"));
            return None;
        };
        let mut about = |name: &str| self.number(inertia, name);
        let [xx, xy, xz, yy, yz, zz] = ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"].map(&mut about);
        let (xx, xy, xz, yy, yz, zz) = (xx?, xy?, xz?, yy?, yz?, zz?);
        let mass_value = self.number(mass, "value")?;
        if mass_value == 0.0 {
            let note = format!("link `{link}` weighs nothing and is taken as a frame only");
            self.robot.notes.push(note);
            return None;
        }
        if mass_value < 0.0 {
            let message = format!("link `{link}`: mass must be positive, not {mass_value}");
            self.problem(mass, message);
            return None;
        }
        let columns = [Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz)];
        let inertia = Mat3::from_cols(columns[0], columns[1], columns[2]);
        Some(Inertial { pose, mass: mass_value, inertia })
    }

    fn part(&mut self, node: Element<'a, 'input>, link: &str) -> Option<Part> {
        let pose = self.pose(node);
        let Some(geometry) = child(node, "geometry") else {
            let what = node.tag_name().name();
            self.problem(node, format!("the <{what}> of link `{link}` needs <geometry>"));
            return None;
        };
        let Some(form) = children(geometry).next() else {
            self.problem(geometry, format!("<geometry> of link `{link}` is empty"));
            return None;
        };
        let place = self.place(form);
        let form = match form.tag_name().name() {
            "box" => {
                self.text(form, "size")?;
                let size = self.vector(form, "size", Vec3::ONE)?;
                if size.min_element() <= 0.0 {
                    self.problem(form, format!("the sides of a box must be positive, not {size}"));
                    return None;
                }
                Form::Box(size)
            }
            "cylinder" => {
                Form::Cylinder(self.positive(form, "radius")?, self.positive(form, "length")?)
            }
            "capsule" => {
                Form::Capsule(self.positive(form, "radius")?, self.positive(form, "length")?)
            }
            "sphere" => Form::Sphere(self.positive(form, "radius")?),
            "mesh" => {
                let file = self.text(form, "filename")?.to_string();
                Form::Mesh(file, self.vector(form, "scale", Vec3::ONE)?)
            }
            other => {
                let hint = "box, cylinder, capsule, sphere and mesh are";
                self.problem(form, format!("<{other}> is no shape that is read; {hint}"));
                return None;
            }
        };
        Some(Part { pose, form, place })
    }

    fn joint(&mut self, node: Element<'a, 'input>, mimics: &mut Vec<Mimic<'a, 'input>>) {
        let (Some(name), Some(kind)) = (self.text(node, "name"), self.text(node, "type")) else {
            return;
        };
        if self.robot.joints.iter().any(|j| j.name == name) {
            self.problem(node, format!("there is a joint `{name}` already"));
        }
        let known = ["origin", "parent", "child", "axis", "limit", "dynamics", "mimic"];
        self.skip_others(node, &known);
        let motion = match kind {
            "fixed" => Motion::Fixed,
            "revolute" | "continuous" => Motion::Turn,
            "prismatic" => Motion::Slide,
            "planar" => Motion::Plane,
            "floating" => Motion::Free,
            other => {
                let kinds = ["fixed", "revolute", "continuous", "prismatic", "planar", "floating"];
                let hint = match nearest(other, kinds) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("it is one of {}", kinds.join(", ")),
                };
                let message = format!("joint `{name}`: there is no type `{other}`; {hint}");
                return self.problem(node, message);
            }
        };
        let (parent, child_link) = (self.end(node, "parent", name), self.end(node, "child", name));
        let (Some(parent), Some(child_link)) = (parent, child_link) else { return };
        let place = self.place(node);
        let mut joint = RobotJoint {
            name: name.into(),
            motion,
            parent,
            child: child_link,
            origin: self.pose(node),
            axis: Vec3::X,
            limits: None,
            effort: None,
            damping: 0.0,
            friction: 0.0,
            mimic: None,
            place,
        };
        if let Some(axis) = child(node, "axis") {
            let direction = self.vector(axis, "xyz", Vec3::X).unwrap_or(Vec3::X);
            match direction.try_normalize() {
                Some(axis) => joint.axis = axis,
                None if matches!(motion, Motion::Fixed | Motion::Free) => {}
                None => self.problem(axis, format!("joint `{name}`: its axis needs a direction")),
            }
        }
        self.limits(node, kind, &mut joint);
        if let Some(dynamics) = child(node, "dynamics") {
            joint.damping = self.number_or(dynamics, "damping", 0.0);
            joint.friction = self.number_or(dynamics, "friction", 0.0);
            if joint.damping < 0.0 || joint.friction < 0.0 {
                let message = format!("joint `{name}`: damping and friction cannot be negative");
                self.problem(dynamics, message);
            }
        }
        if let Some(mimic) = child(node, "mimic") {
            mimics.push((self.robot.joints.len(), mimic));
        }
        self.robot.joints.push(joint);
    }

    fn limits(&mut self, node: Element<'a, 'input>, kind: &str, joint: &mut RobotJoint) {
        let name = joint.name.clone();
        let Some(limit) = child(node, "limit") else {
            if matches!(kind, "revolute" | "prismatic") {
                let hint = if kind == "revolute" { "; without, it is continuous" } else { "" };
                self.problem(node, format!("joint `{name}`: {kind} needs <limit>{hint}"));
            }
            return;
        };
        if matches!(kind, "revolute" | "prismatic") {
            let lower = self.number_or(limit, "lower", 0.0);
            let upper = self.number_or(limit, "upper", 0.0);
            if lower > upper {
                let message = format!(
                    "joint `{name}`: the lower limit {lower} exceeds the upper limit {upper}"
                );
                self.problem(limit, message);
            }
            joint.limits = Some((lower, upper));
        }
        joint.effort = Some(self.number_or(limit, "effort", 0.0)).filter(|e| *e > 0.0);
        if self.number_or(limit, "velocity", 0.0) > 0.0 {
            self.fast.push(name);
        }
    }

    /// The link at one end of a joint.
    fn end(&mut self, node: Element<'a, 'input>, end: &str, joint: &str) -> Option<usize> {
        let Some(element) = child(node, end) else {
            self.problem(node, format!("joint `{joint}` needs <{end}>"));
            return None;
        };
        let name = self.text(element, "link")?;
        if let Some(link) = self.links.get(name) {
            return Some(*link);
        }
        let hint = match nearest(name, self.robot.links.iter().map(|l| l.name.as_str())) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        self.problem(element, format!("joint `{joint}`: there is no link `{name}`{hint}"));
        None
    }

    fn resolve(&mut self, mimics: Vec<Mimic<'a, 'input>>) {
        for (follower, node) in mimics {
            let Some(name) = self.text(node, "joint") else { continue };
            let Some(leader) = self.robot.joints.iter().position(|j| j.name == name) else {
                self.problem(node, format!("there is no joint `{name}` to mimic"));
                continue;
            };
            let factor = self.number_or(node, "multiplier", 1.0);
            let offset = self.number_or(node, "offset", 0.0);
            let moves =
                |i: usize| matches!(self.robot.joints[i].motion, Motion::Turn | Motion::Slide);
            if !moves(follower) || !moves(leader) {
                self.problem(node, "only joints that turn or slide along an axis can mimic");
                continue;
            }
            self.robot.joints[follower].mimic = Some((leader, factor, offset));
        }
    }
}

/// A joint and its `<mimic>`.
type Mimic<'a, 'input> = (usize, Element<'a, 'input>);
