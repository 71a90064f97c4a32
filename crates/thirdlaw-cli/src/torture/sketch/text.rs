//! A sketch as a scene file.

use super::{Body, Cloth, Drive, Joint, JointKind, Motion, Robot, Shape, Sketch, Soft, SoftMesh};
use std::fmt::Write;
use thirdlaw::math::{Quat, Vec3};

impl Sketch {
    /// The scene file.
    pub fn text(&self) -> String {
        let mut out = String::from("version = 1\n\n[settings]\n");
        let _ = writeln!(out, "fps = {:?}\nframes = {}", self.fps, self.frames);
        let _ = writeln!(out, "substeps = {}\nsleeping = false", self.substeps);
        let _ = writeln!(out, "gravity = {}", vector(self.gravity));
        if !self.continuous {
            out.push_str("continuous = false\n");
        }
        self.solver_text(&mut out);
        for body in &self.bodies {
            body_text(&mut out, body);
        }
        for cloth in &self.cloths {
            cloth_text(&mut out, cloth);
        }
        for soft in &self.softs {
            soft_text(&mut out, soft);
        }
        for robot in &self.robots {
            robot_text(&mut out, robot);
        }
        for joint in &self.joints {
            self.joint_text(&mut out, joint);
        }
        self.partition.text(self, &mut out);
        out
    }

    fn solver_text(&self, out: &mut String) {
        let mut lines: Vec<(&str, String)> = Vec::new();
        lines.extend(self.solver.iter().map(|(key, value)| (key.as_str(), value.clone())));
        if !lines.is_empty() {
            out.push_str("\n[solver]\n");
            lines.iter().for_each(|(key, value)| {
                let _ = writeln!(out, "{key} = {value}");
            });
        }
    }

    fn joint_text(&self, out: &mut String, joint: &Joint) {
        let line = matches!(joint.kind, JointKind::Rope | JointKind::Rod | JointKind::Spring(..));
        let kind = match joint.kind {
            JointKind::Fixed => "\"fixed\"".into(),
            JointKind::Ball => "\"ball\"".into(),
            JointKind::Hinge => "\"hinge\"".into(),
            JointKind::Slider => "\"slider\"".into(),
            JointKind::Universal => "\"universal\"".into(),
            JointKind::Cylindrical => "\"cylindrical\"".into(),
            JointKind::Planar => "\"planar\"".into(),
            JointKind::Rope => "\"rope\"".into(),
            JointKind::Rod => "\"rod\"".into(),
            JointKind::Spring(k, d) => {
                format!("{{ spring = {{ stiffness = {k:?}, damping = {d:?} }} }}")
            }
        };
        let name = |side: Option<usize>| side.map_or("world", |i| self.bodies[i].name.as_str());
        let (a, b) = (name(joint.a), name(Some(joint.b)));
        let _ = writeln!(out, "\n[joints.{}]\nkind = {kind}", quoted(&joint.name));
        let _ = writeln!(out, "between = [\"{a}\", \"{b}\"]");
        if line {
            let local = |side: Option<usize>, point: Vec3| match side {
                Some(i) => self.bodies[i].rotation.inverse() * (point - self.bodies[i].position),
                None => point,
            };
            let (from, to) = (local(joint.a, joint.at), local(Some(joint.b), joint.to));
            let _ = writeln!(out, "anchors = [{}, {}]", vector(from), vector(to));
        } else {
            let _ = writeln!(out, "at = {}", vector(joint.at));
            if !matches!(joint.kind, JointKind::Ball | JointKind::Fixed) {
                let _ = writeln!(out, "rotation = {}", rotation(joint.frame));
            }
        }
        if let Some([low, high]) = joint.limits {
            let _ = writeln!(out, "limits = [{low:?}, {high:?}]");
        }
        if joint.friction > 0.0 {
            let _ = writeln!(out, "friction = {:?}", joint.friction);
        }
        if let Some([k, d]) = joint.spring {
            let _ = writeln!(out, "spring = {{ stiffness = {k:?}, damping = {d:?} }}");
        }
        if let Some(drive) = joint.drive {
            let _ = writeln!(out, "drive = {}", drive_text(drive));
        }
    }
}

fn drive_text(drive: Drive) -> String {
    match drive {
        Drive::Pd { stiffness, damping, target, limit } => format!(
            "{{ stiffness = {stiffness:?}, damping = {damping:?}, target = {target:?}, limit = {limit:?} }}"
        ),
        Drive::Motor { velocity, limit } => {
            format!("{{ motor = {velocity:?}, limit = {limit:?} }}")
        }
    }
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn vector(v: Vec3) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

fn rotation(q: Quat) -> String {
    format!("{{ quaternion = [{:?}, {:?}, {:?}, {:?}] }}", q.w, q.x, q.y, q.z)
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(", "))
}

/// A shape as a value.
fn shape(shape: &Shape) -> String {
    let mesh = |kind: &str, vertices: &[Vec3], triangles: &[[u32; 3]]| {
        let (vertices, triangles) =
            (list(vertices, |v| vector(*v)), list(triangles, |t| format!("{t:?}")));
        format!("{{ {kind} = {{ vertices = {vertices}, triangles = {triangles} }} }}")
    };
    match shape {
        Shape::Box(size) => format!("{{ box = {{ size = {} }} }}", vector(*size)),
        Shape::Sphere(r) => format!("{{ sphere = {{ radius = {r:?} }} }}"),
        Shape::Capsule(r, l) => {
            format!("{{ capsule = {{ radius = {r:?}, length = {l:?} }} }}")
        }
        Shape::Cylinder(r, h) => {
            format!("{{ cylinder = {{ radius = {r:?}, height = {h:?} }} }}")
        }
        Shape::Cone(r, h) => format!("{{ cone = {{ radius = {r:?}, height = {h:?} }} }}"),
        Shape::HalfSpace => "{ half_space = {} }".into(),
        Shape::Hull(points) => {
            format!("{{ hull = {{ points = {} }} }}", list(points, |p| vector(*p)))
        }
        Shape::Mesh(vertices, triangles) => mesh("mesh", vertices, triangles),
        Shape::Decompose(vertices, triangles) => mesh("decompose", vertices, triangles),
        Shape::HeightField(heights, [x, z]) => {
            let rows = list(heights, |row| list(row, |h| format!("{h:?}")));
            format!("{{ height_field = {{ heights = {rows}, size = [{x:?}, {z:?}] }} }}")
        }
        Shape::Compound(parts) => {
            let part = |(s, at, turn): &(Shape, Vec3, Quat)| {
                let (at, turn) = (vector(*at), rotation(*turn));
                format!("{{ shape = {}, position = {at}, rotation = {turn} }}", self::shape(s))
            };
            format!("{{ compound = {{ parts = {} }} }}", list(parts, part))
        }
    }
}

fn body_text(out: &mut String, body: &Body) {
    let _ = writeln!(out, "\n[bodies.{}]", quoted(&body.name));
    let _ = writeln!(out, "shape = {}", shape(&body.shape));
    let _ = writeln!(out, "position = {}", vector(body.position));
    if body.rotation != Quat::IDENTITY {
        let _ = writeln!(out, "rotation = {}", rotation(body.rotation));
    }
    match &body.motion {
        Motion::Fixed => out.push_str("kind = \"fixed\"\n"),
        Motion::Kinematic(keys) => {
            let key = |(time, at): &(f64, Vec3)| {
                format!("{{ time = {time:?}, position = {} }}", vector(*at))
            };
            let _ = writeln!(out, "kind = \"kinematic\"");
            let _ = writeln!(out, "keyframes = {{ keys = {} }}", list(keys, key));
        }
        Motion::Dynamic => {
            let _ = writeln!(out, "mass = {:?}", body.mass);
            if body.velocity != Vec3::ZERO {
                let _ = writeln!(out, "velocity = {}", vector(body.velocity));
            }
            if body.spin != Vec3::ZERO {
                let _ = writeln!(out, "angular_velocity = {}", vector(body.spin));
            }
        }
    }
    if body.alone {
        out.push_str("groups = { collides = [] }\n");
    }
    let (mu, e) = (body.friction, body.restitution);
    let _ = writeln!(out, "material = {{ friction = {mu:?}, restitution = {e:?} }}");
}

fn cloth_text(out: &mut String, cloth: &Cloth) {
    let ([columns, rows], [x, z]) = (cloth.counts, cloth.size);
    let f = &cloth.fabric;
    let _ = writeln!(out, "\n[cloths.{}]", quoted(&cloth.name));
    let _ = writeln!(
        out,
        "mesh = {{ grid = {{ columns = {columns}, rows = {rows}, size = [{x:?}, {z:?}] }} }}"
    );
    let _ = writeln!(out, "position = {}", vector(cloth.position));
    let _ = writeln!(out, "rotation = {}", rotation(cloth.rotation));
    let _ = writeln!(
        out,
        "fabric = {{ density = {:?}, stretch = {:?}, shear = {:?}, bend = {:?}, damping = {:?}, \
         friction = {:?}, thickness = {:?} }}",
        f.density, f.stretch, f.shear, f.bend, f.damping, f.friction, f.thickness
    );
    if !cloth.pins.is_empty() {
        let _ = writeln!(out, "pins = \"{}\"", cloth.pins);
    }
}

fn soft_text(out: &mut String, soft: &Soft) {
    let _ = writeln!(out, "\n[soft_bodies.{}]", quoted(&soft.name));
    let _ = match soft.mesh {
        SoftMesh::Box { size, cells } => {
            writeln!(out, "mesh = {{ box = {{ size = {}, cells = {cells:?} }} }}", vector(size))
        }
        SoftMesh::Ball { radius, spacing } => {
            writeln!(out, "mesh = {{ ball = {{ radius = {radius:?}, spacing = {spacing:?} }} }}")
        }
    };
    let Soft { young, poisson, density, damping, law, .. } = soft;
    let _ = writeln!(
        out,
        "material = {{ law = \"{law}\", young = {young:?}, poisson = {poisson:?}, \
         density = {density:?}, damping = {damping:?} }}"
    );
    let _ = writeln!(out, "friction = {:?}", soft.friction);
    let _ = writeln!(out, "position = {}", vector(soft.position));
    let _ = writeln!(out, "rotation = {}", rotation(soft.rotation));
    if soft.velocity != Vec3::ZERO {
        let _ = writeln!(out, "velocity = {}", vector(soft.velocity));
    }
    if soft.incompressible {
        let _ = writeln!(out, "incompressible = true");
    }
    if !soft.pins.is_empty() {
        let pin = |(group, body): &(&str, String)| {
            format!("{{ group = \"{group}\", body = {} }}", quoted(body))
        };
        let _ = writeln!(out, "pins = {}", list(&soft.pins, pin));
    }
}

fn robot_text(out: &mut String, robot: &Robot) {
    let _ = writeln!(out, "\n[urdf.{}]", quoted(&robot.name));
    let _ = writeln!(out, "text = '''\n{}'''", urdf(robot));
    let _ = writeln!(out, "base = \"{}\"", if robot.fixed { "fixed" } else { "free" });
    let _ = writeln!(out, "position = {}", vector(robot.position));
    let _ = writeln!(out, "rotation = {}", rotation(robot.rotation));
    let Some([k, d]) = robot.gains else { return };
    let joint = |(i, target): (usize, f64)| {
        format!(
            "joint{i} = {{ drive = {{ stiffness = {k:?}, damping = {d:?}, target = {target:?} }} }}"
        )
    };
    let links = robot.links.iter().enumerate().skip(1);
    let joints: Vec<_> = links.map(|(i, link)| joint((i, link.target))).collect();
    let _ = writeln!(out, "joints = {{ {} }}", joints.join(", "));
}

/// The robot's own file.
fn urdf(robot: &Robot) -> String {
    let mut out = format!("<robot name=\"{}\">\n", robot.name);
    for (i, link) in robot.links.iter().enumerate() {
        let (size, m) = (link.size, link.mass);
        let moment = |a: f64, b: f64| m / 12.0 * (a * a + b * b);
        let (ix, iy, iz) = (moment(size.y, size.z), moment(size.x, size.z), moment(size.x, size.y));
        let origin = format!("<origin xyz=\"0 0 {:?}\"/>", 0.5 * size.z);
        let _ = writeln!(
            out,
            "<link name=\"link{i}\"><inertial>{origin}<mass value=\"{m:?}\"/>\
             <inertia ixx=\"{ix:?}\" ixy=\"0\" ixz=\"0\" iyy=\"{iy:?}\" iyz=\"0\" izz=\"{iz:?}\"/></inertial>\
             <collision>{origin}<geometry><box size=\"{:?} {:?} {:?}\"/></geometry></collision></link>",
            size.x, size.y, size.z
        );
    }
    for (i, link) in robot.links.iter().enumerate().skip(1) {
        let kind = match (link.slides, link.limits) {
            (true, _) => "prismatic",
            (false, Some(_)) => "revolute",
            (false, None) => "continuous",
        };
        let [low, high] = link.limits.unwrap_or([-1e3, 1e3]);
        let axis = ["1 0 0", "0 1 0", "0 0 1"][link.axis];
        let o = link.origin;
        let _ = writeln!(
            out,
            "<joint name=\"joint{i}\" type=\"{kind}\"><parent link=\"link{}\"/><child link=\"link{i}\"/>\
             <origin xyz=\"{:?} {:?} {:?}\"/><axis xyz=\"{axis}\"/>\
             <limit lower=\"{low:?}\" upper=\"{high:?}\" effort=\"{:?}\" velocity=\"1000\"/>\
             <dynamics damping=\"{:?}\" friction=\"{:?}\"/></joint>",
            link.parent, o.x, o.y, o.z, link.effort, link.damping, link.friction
        );
    }
    out + "</robot>\n"
}
