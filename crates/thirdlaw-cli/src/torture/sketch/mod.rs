//! A scene in numbers, before it is text: what can be turned, scaled, shrunk and then written as the
//! scene file that a user would have written.

mod partition;
mod text;
mod transform;

pub use partition::{Partition, Tie, TieKind, Touch};
pub use transform::Transform;

use thirdlaw::math::{Quat, Vec3};

/// A scene in numbers.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// Frames per second.
    pub fps: f64,
    /// How many.
    pub frames: u32,
    /// Parts of a step.
    pub substeps: u32,
    /// m/s².
    pub gravity: Vec3,
    /// Whether fast bodies are swept.
    pub continuous: bool,
    /// Unit of length of the thresholds in metres; those in m/s have its root. 1 unless the scene was scaled.
    pub scale: f64,
    /// Further lines of `[solver]`.
    pub solver: Vec<(String, String)>,
    /// Rigid bodies.
    pub bodies: Vec<Body>,
    /// Joints between them.
    pub joints: Vec<Joint>,
    /// Cloths.
    pub cloths: Vec<Cloth>,
    /// Soft bodies.
    pub softs: Vec<Soft>,
    /// Robots, written as URDF.
    pub robots: Vec<Robot>,
    /// How simulators share the bodies; without any, one world holds everything.
    pub partition: Partition,
    /// What must stay true by the way the scene is made.
    pub promises: Vec<Promise>,
}

/// A rigid body.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// What moves it.
    pub motion: Motion,
    /// Its surface.
    pub shape: Shape,
    /// m.
    pub position: Vec3,
    /// Orientation.
    pub rotation: Quat,
    /// m/s.
    pub velocity: Vec3,
    /// rad/s.
    pub spin: Vec3,
    /// kg.
    pub mass: f64,
    /// Coulomb's μ.
    pub friction: f64,
    /// Newton's e.
    pub restitution: f64,
    /// Whether it touches nothing.
    pub alone: bool,
}

/// What moves a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Forces.
    Dynamic,
    /// Nothing.
    Fixed,
    /// Keyframes: times and places.
    Kinematic(Vec<(f64, Vec3)>),
}

/// A surface.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Side lengths.
    Box(Vec3),
    /// Radius.
    Sphere(f64),
    /// Radius, and length of the straight part along y.
    Capsule(f64, f64),
    /// Radius and height along y.
    Cylinder(f64, f64),
    /// Radius and height along y.
    Cone(f64, f64),
    /// All below the xz plane of the body.
    HalfSpace,
    /// Hull of points.
    Hull(Vec<Vec3>),
    /// Triangles.
    Mesh(Vec<Vec3>, Vec<[u32; 3]>),
    /// The same, cut into convex parts.
    Decompose(Vec<Vec3>, Vec<[u32; 3]>),
    /// Rows along z of heights along x, and extent in x and z.
    HeightField(Vec<Vec<f64>>, [f64; 2]),
    /// Convex parts with their poses.
    Compound(Vec<(Shape, Vec3, Quat)>),
}

/// A joint.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Its name.
    pub name: String,
    /// What it allows.
    pub kind: JointKind,
    /// First side: a body, or the world.
    pub a: Option<usize>,
    /// Second side.
    pub b: usize,
    /// Anchor on the first side, in the world at the start.
    pub at: Vec3,
    /// Anchor on the second side, in the world at the start; as `at` but for lines.
    pub to: Vec3,
    /// Orientation of its frames in the world at the start; x is the axis.
    pub frame: Quat,
    /// Least and greatest coordinate.
    pub limits: Option<[f64; 2]>,
    /// N or N·m.
    pub friction: f64,
    /// Stiffness and damping on its coordinate, at rest where it starts.
    pub spring: Option<[f64; 2]>,
    /// What drives it.
    pub drive: Option<Drive>,
}

/// What a joint allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// Nothing.
    Fixed,
    /// All turns.
    Ball,
    /// Turns about x.
    Hinge,
    /// Shifts along x.
    Slider,
    /// Turns about x and y.
    Universal,
    /// Turns about and shifts along x.
    Cylindrical,
    /// Shifts in a plane, turns across it.
    Planar,
    /// No farther apart than at the start.
    Rope,
    /// As far apart as at the start.
    Rod,
    /// A spring between the anchors: stiffness and damping.
    Spring(f64, f64),
}

/// A drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drive {
    /// Towards a target by stiffness and damping, at most by `limit`.
    Pd {
        /// N/m or N·m/rad.
        stiffness: f64,
        /// N·s/m or N·m·s/rad.
        damping: f64,
        /// m or rad.
        target: f64,
        /// N or N·m.
        limit: f64,
    },
    /// At a velocity, at most by `limit`.
    Motor {
        /// m/s or rad/s.
        velocity: f64,
        /// N or N·m.
        limit: f64,
    },
}

/// A sheet of cloth.
#[derive(Clone, Debug)]
pub struct Cloth {
    /// Its name.
    pub name: String,
    /// Vertices along x and z.
    pub counts: [usize; 2],
    /// m.
    pub size: [f64; 2],
    /// Of its middle, m.
    pub position: Vec3,
    /// Orientation.
    pub rotation: Quat,
    /// What it is made of.
    pub fabric: Fabric,
    /// A group of vertices that is held; empty: none.
    pub pins: &'static str,
}

/// What cloth is made of.
#[derive(Clone, Copy, Debug)]
pub struct Fabric {
    /// kg/m².
    pub density: f64,
    /// N/m.
    pub stretch: f64,
    /// N/m.
    pub shear: f64,
    /// N·m.
    pub bend: f64,
    /// s.
    pub damping: f64,
    /// Coulomb's μ.
    pub friction: f64,
    /// m.
    pub thickness: f64,
}

/// A soft body.
#[derive(Clone, Debug)]
pub struct Soft {
    /// Its name.
    pub name: String,
    /// Its tetrahedra.
    pub mesh: SoftMesh,
    /// Young's modulus, Pa.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// kg/m³.
    pub density: f64,
    /// s.
    pub damping: f64,
    /// Name of its law.
    pub law: &'static str,
    /// Whether it keeps its volume.
    pub incompressible: bool,
    /// Coulomb's μ.
    pub friction: f64,
    /// Of its middle, m.
    pub position: Vec3,
    /// Orientation.
    pub rotation: Quat,
    /// m/s.
    pub velocity: Vec3,
    /// Groups of vertices, and the bodies that they are bound to.
    pub pins: Vec<(&'static str, String)>,
}

/// Tetrahedra.
#[derive(Clone, Copy, Debug)]
pub enum SoftMesh {
    /// Side lengths and cells.
    Box {
        /// m.
        size: Vec3,
        /// Along x, y and z.
        cells: [usize; 3],
    },
    /// A ball.
    Ball {
        /// m.
        radius: f64,
        /// Of its tetrahedra, m.
        spacing: f64,
    },
}

impl Soft {
    /// About, kg.
    pub fn mass(&self) -> f64 {
        self.density
            * match self.mesh {
                SoftMesh::Box { size, .. } => size.x * size.y * size.z,
                SoftMesh::Ball { radius, .. } => 4.19 * radius * radius * radius,
            }
    }

    /// Its longest extent, m.
    pub fn extent(&self) -> f64 {
        match self.mesh {
            SoftMesh::Box { size, .. } => size.length(),
            SoftMesh::Ball { radius, .. } => 2.0 * radius,
        }
    }
}

/// A tree of links, each hanging on an earlier one.
#[derive(Clone, Debug)]
pub struct Robot {
    /// Its name.
    pub name: String,
    /// Whether its root is held.
    pub fixed: bool,
    /// Of its root, m.
    pub position: Vec3,
    /// Of its root.
    pub rotation: Quat,
    /// The root first.
    pub links: Vec<Link>,
    /// Stiffness and damping of every drive; targets are with the links.
    pub gains: Option<[f64; 2]>,
}

/// A link, a box, with the joint that it hangs on.
#[derive(Clone, Debug)]
pub struct Link {
    /// Which link it hangs on; the root's is 0.
    pub parent: usize,
    /// Side lengths; it reaches from its joint along its z.
    pub size: Vec3,
    /// kg.
    pub mass: f64,
    /// Whether its joint slides instead of turning.
    pub slides: bool,
    /// Where its joint is on the parent, m.
    pub origin: Vec3,
    /// Axis of its joint: 0, 1 or 2.
    pub axis: usize,
    /// Least and greatest coordinate; none: unlimited.
    pub limits: Option<[f64; 2]>,
    /// Largest effort, N or N·m.
    pub effort: f64,
    /// N or N·m.
    pub friction: f64,
    /// N·s/m or N·m·s/rad.
    pub damping: f64,
    /// Where the drive wants it, m or rad.
    pub target: f64,
}

/// What must stay true by the way a scene is made.
#[derive(Clone, Copy, Debug)]
pub enum Promise {
    /// Centres of all dynamic bodies stay before this plane: a point on it, and its normal.
    Before(Vec3, Vec3),
    /// Two bodies on a line keep their order: (second − first)·axis > 0.
    Order(usize, usize, Vec3),
    /// Centres of dynamic bodies stay above this height field, the body of this number.
    Above(usize),
}

impl Sketch {
    /// An empty scene.
    pub fn new() -> Sketch {
        Sketch {
            fps: 60.0,
            frames: 60,
            substeps: 8,
            gravity: Vec3::new(0.0, -9.81, 0.0),
            continuous: true,
            scale: 1.0,
            solver: Vec::new(),
            bodies: Vec::new(),
            joints: Vec::new(),
            cloths: Vec::new(),
            softs: Vec::new(),
            robots: Vec::new(),
            partition: Partition::default(),
            promises: Vec::new(),
        }
    }

    /// Adds a body; gives its number.
    pub fn add(&mut self, body: Body) -> usize {
        self.bodies.push(body);
        self.bodies.len() - 1
    }

    /// Adds a fixed half-space through a point with a normal out of it, and promises that nothing passes it.
    pub fn wall(&mut self, name: &str, point: Vec3, normal: Vec3, surface: [f64; 2]) -> usize {
        self.promises.push(Promise::Before(point, normal));
        let mut body = Body::new(name, Shape::HalfSpace, 1.0).fixed().surface(surface);
        body.position = point;
        body.rotation = Quat::from_rotation_arc(Vec3::Y, normal);
        self.add(body)
    }

    /// Drives by the names of their joints in the scene.
    pub fn drives(&self) -> Vec<(String, Drive)> {
        let joints = self.joints.iter().filter_map(|j| Some((j.name.clone(), j.drive?)));
        let robots = self.robots.iter().flat_map(|robot| {
            let gains = robot.gains;
            robot.links.iter().enumerate().skip(1).filter_map(move |(i, link)| {
                let [stiffness, damping] = gains?;
                let (target, limit) = (link.target, link.effort);
                let drive = Drive::Pd { stiffness, damping, target, limit };
                Some((format!("{}.joint{i}", robot.name), drive))
            })
        });
        joints.chain(robots).collect()
    }

    /// Whether anything outside can push: fixed or kinematic bodies, joints to the world, pins.
    pub fn is_closed(&self) -> bool {
        self.bodies.iter().all(|b| b.motion == Motion::Dynamic)
            && self.joints.iter().all(|j| j.a.is_some())
            && self.cloths.iter().all(|c| c.pins.is_empty())
            && self.robots.iter().all(|r| !r.fixed)
    }
}

impl Body {
    /// A dynamic body at the origin.
    pub fn new(name: &str, shape: Shape, mass: f64) -> Body {
        Body {
            name: name.into(),
            motion: Motion::Dynamic,
            shape,
            position: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            mass,
            friction: 0.5,
            restitution: 0.0,
            alone: false,
        }
    }

    /// The same, touching nothing.
    pub fn alone(self) -> Body {
        Body { alone: true, ..self }
    }

    /// The same, held.
    pub fn fixed(self) -> Body {
        Body { motion: Motion::Fixed, ..self }
    }

    /// With this friction and restitution.
    pub fn surface(self, [friction, restitution]: [f64; 2]) -> Body {
        Body { friction, restitution, ..self }
    }

    /// With this pose.
    pub fn at(self, position: Vec3, rotation: Quat) -> Body {
        Body { position, rotation, ..self }
    }
}

impl Joint {
    /// A joint between two bodies, or the world and a body, at a place.
    pub fn new(name: &str, kind: JointKind, a: Option<usize>, b: usize, at: Vec3) -> Joint {
        Joint {
            name: name.into(),
            kind,
            a,
            b,
            at,
            to: at,
            frame: Quat::IDENTITY,
            limits: None,
            friction: 0.0,
            spring: None,
            drive: None,
        }
    }

    /// With its x along this direction.
    pub fn along(self, axis: Vec3) -> Joint {
        Joint { frame: Quat::from_rotation_arc(Vec3::X, axis.normalize()), ..self }
    }

    /// Whether its coordinate is an angle.
    pub fn turns(&self) -> bool {
        self.kind == JointKind::Hinge
    }
}

impl Shape {
    /// Volume, m³; of meshes that of their box.
    pub fn volume(&self) -> f64 {
        let pi = std::f64::consts::PI;
        match self {
            Shape::Box(size) => size.x * size.y * size.z,
            Shape::Sphere(r) => 4.0 / 3.0 * pi * r * r * r,
            Shape::Capsule(r, l) => pi * r * r * (l + 4.0 / 3.0 * r),
            Shape::Cylinder(r, h) => pi * r * r * h,
            Shape::Cone(r, h) => pi * r * r * h / 3.0,
            Shape::HalfSpace | Shape::HeightField(..) => f64::INFINITY,
            Shape::Hull(points) | Shape::Mesh(points, _) | Shape::Decompose(points, _) => {
                let low = points.iter().fold(Vec3::INFINITY, |a, b| a.min(*b));
                let high = points.iter().fold(Vec3::NEG_INFINITY, |a, b| a.max(*b));
                0.5 * (high - low).max(Vec3::splat(1e-6)).to_array().iter().product::<f64>()
            }
            Shape::Compound(parts) => parts.iter().map(|p| p.0.volume()).sum(),
        }
    }

    /// Radius of a ball about the origin that holds it, m.
    pub fn radius(&self) -> f64 {
        let far = |points: &[Vec3]| points.iter().map(|p| p.length()).fold(0.0, f64::max);
        match self {
            Shape::Box(size) => 0.5 * size.length(),
            Shape::Sphere(r) => *r,
            Shape::Capsule(r, l) => r + 0.5 * l,
            Shape::Cylinder(r, h) | Shape::Cone(r, h) => (r * r + 0.25 * h * h).sqrt(),
            Shape::HalfSpace | Shape::HeightField(..) => f64::INFINITY,
            Shape::Hull(p) | Shape::Mesh(p, _) | Shape::Decompose(p, _) => far(p),
            Shape::Compound(parts) => {
                parts.iter().map(|(s, at, _)| s.radius() + at.length()).fold(0.0, f64::max)
            }
        }
    }
}
