//! What a scene did: everything that laws look at, frame by frame.

use super::sketch::Sketch;
use super::watch;
use thirdlaw::couple::CoupleError;
use thirdlaw::energy::Energy;
use thirdlaw::math::{Quat, Twist, Vec3};
use thirdlaw::measure::{self, MechanicalEnergy, Overlap};
use thirdlaw::shape::Geometry;
use thirdlaw::{Pose, Shape, StepReport, World};
use thirdlaw_scene::coupled::plain;
use thirdlaw_scene::{Coupled, Scene};

/// What a scene did.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What does not change.
    pub bodies: Vec<BodyFacts>,
    /// Frame 0 is the start.
    pub frames: Vec<Frame>,
    /// Why it ended before its time.
    pub broke: Option<String>,
    /// The links of several simulators that could not be solved, where it ended by that.
    pub unsolved: Option<String>,
    /// Names of joints, in the order of [`Frame::joints`].
    pub joints: Vec<String>,
    /// Length of a frame, s.
    pub dt: f64,
    /// Length of the largest cloth's diagonal, or extent of a soft body, m.
    pub cloth_size: f64,
}

/// What does not change of a body.
#[derive(Clone, Debug)]
pub struct BodyFacts {
    /// Its name.
    pub name: String,
    /// Whether forces move it.
    pub dynamic: bool,
    /// kg.
    pub mass: f64,
    /// Distance of its farthest point from its centre, m.
    pub reach: f64,
    /// Radius of a ball inside of it, m.
    pub thick: f64,
    /// Its shape.
    pub shape: Shape,
    /// Triangles of meshes and height fields.
    pub triangles: usize,
}

/// One frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// s.
    pub time: f64,
    /// Of every body.
    pub bodies: Vec<BodyFrame>,
    /// Of all cloths and soft bodies.
    pub vertices: Vec<Vec3>,
    /// J of the worst tetrahedron, if there are any.
    pub least_volume: Option<f64>,
    /// J.
    pub energy: MechanicalEnergy,
    /// kg·m/s and kg·m²/s.
    pub momentum: (Vec3, Vec3),
    /// Σ m |v|, kg·m/s.
    pub motion: f64,
    /// Deepest overlaps of pairs as the engine measures them; only where asked for.
    pub overlaps: Vec<Overlap>,
    /// Main coordinate and rate of every joint.
    pub joints: Vec<(f64, f64)>,
    /// How the step went.
    pub report: StepReport,
    /// Time that the step took, s.
    pub seconds: f64,
}

/// A body in a frame.
#[derive(Clone, Copy, Debug)]
pub struct BodyFrame {
    /// Centre of mass, m.
    pub center: Vec3,
    /// Origin of the body, m.
    pub origin: Vec3,
    /// Orientation.
    pub rotation: Quat,
    /// m/s and rad/s.
    pub velocity: Twist,
}

impl BodyFrame {
    /// Pose of the body's origin.
    pub fn pose(&self) -> Pose {
        Pose::from_parts(self.origin, self.rotation)
    }
}

/// Longest that a scene is run, s.
const RUN_LIMIT: f64 = 30.0;

/// What moves a scene: its world, or several simulators, which the world shows.
struct Mover {
    world: World,
    coupled: Option<Coupled>,
}

/// Why a step was not made.
enum Broke {
    World(String),
    Links(String),
}

impl Mover {
    fn new(scene: &Scene) -> Result<Mover, String> {
        let coupled = scene.couple(&mut plain).map_err(|errors| errors.to_string())?;
        Ok(Mover { world: scene.world.clone(), coupled })
    }

    fn step(&mut self, dt: f64) -> Result<StepReport, Broke> {
        let Some(coupled) = &mut self.coupled else {
            let report = self.world.step_observed(dt, &mut watch::Where);
            return report.map_err(|error| Broke::World(error.to_string()));
        };
        match coupled.step(dt) {
            Ok(_) => {
                coupled.show(&mut self.world);
                Ok(StepReport::default())
            }
            Err(error @ (CoupleError::Unconverged { .. } | CoupleError::Diverged { .. })) => {
                Err(Broke::Links(error.to_string()))
            }
            Err(error) => Err(Broke::World(error.to_string())),
        }
    }

    /// What springs between simulators hold, J.
    fn stored(&self) -> f64 {
        self.coupled.as_ref().map_or(0.0, |coupled| coupled.coupling.stored())
    }
}

/// Runs a scene. An error is a scene that was refused.
pub fn run(sketch: &Sketch, frames: u32, with_overlaps: bool) -> Result<Trace, String> {
    run_scene(sketch, load(sketch)?, frames, with_overlaps)
}

/// Runs a scene of several simulators in one world; `None` where one world cannot hold it.
pub fn run_in_one_world(sketch: &Sketch, frames: u32) -> Result<Option<Trace>, String> {
    let Some(whole) = load(sketch)?.monolithic() else { return Ok(None) };
    run_scene(sketch, whole, frames, false).map(Some)
}

fn load(sketch: &Sketch) -> Result<Scene, String> {
    let scene = thirdlaw_scene::load("torture", &sketch.text(), None, &[]);
    scene.map_err(|errors| errors.to_string())
}

fn run_scene(
    sketch: &Sketch,
    scene: Scene,
    frames: u32,
    with_overlaps: bool,
) -> Result<Trace, String> {
    let mut mover = Mover::new(&scene)?;
    let world = mover.world.clone();
    let dt = scene.dt();
    let bodies: Vec<BodyFacts> = scene.bodies.iter().map(|b| facts(&world, b)).collect();
    let diagonal = |c: &super::sketch::Cloth| c.size[0].hypot(c.size[1]);
    let cloths = sketch.cloths.iter().map(diagonal).fold(0.0, f64::max);
    let mut trace = Trace {
        bodies,
        frames: Vec::with_capacity(frames as usize + 1),
        broke: None,
        unsolved: None,
        joints: scene.joints.iter().map(|j| j.name.clone()).collect(),
        dt,
        cloth_size: sketch.softs.iter().map(|s| s.extent()).fold(cloths, f64::max),
    };
    let first = frame(&mover, &scene, (StepReport::default(), 0.0), with_overlaps);
    trace.frames.push(first);
    let mut spent = 0.0;
    for number in 1..=frames {
        // a scene of slow frames is judged by those it has
        if spent > RUN_LIMIT {
            break;
        }
        watch::begin(number);
        let begun = watch::thread_time();
        let result = mover.step(dt);
        let seconds = watch::thread_time() - begun;
        watch::end();
        spent += seconds;
        match result {
            Ok(report) => {
                trace.frames.push(frame(&mover, &scene, (report, seconds), with_overlaps));
            }
            Err(Broke::World(why)) => {
                trace.broke = Some(format!("frame {number}: {why}"));
                break;
            }
            Err(Broke::Links(why)) => {
                trace.unsolved = Some(format!("frame {number}: {why}"));
                break;
            }
        }
    }
    Ok(trace)
}

fn facts(world: &World, body: &thirdlaw_scene::SceneBody) -> BodyFacts {
    let name = body.name.clone();
    let Ok(model) = world.body(body.id) else {
        unreachable!("scenes name bodies that they have made");
    };
    let triangles = match model.shape.geometry() {
        Geometry::Mesh(_) => model.shape.piece_count(),
        _ => 0,
    };
    BodyFacts {
        name,
        dynamic: model.is_dynamic(),
        mass: model.mass,
        reach: model.reach,
        thick: model.shape.inner_radius(),
        shape: model.shape.clone(),
        triangles,
    }
}

fn least_volume(world: &World) -> Option<f64> {
    let tetrahedra = &world.model().sheet.elements.energies.tetrahedra;
    let x = &world.state().particles.x;
    let volumes = (0..tetrahedra.len()).map(|i| tetrahedra.deformation(i, x).determinant());
    volumes.reduce(f64::min)
}

fn frame(
    mover: &Mover,
    scene: &Scene,
    (report, seconds): (StepReport, f64),
    with_overlaps: bool,
) -> Frame {
    let world = &mover.world;
    let mut motion = 0.0;
    let bodies = scene.bodies.iter().filter_map(|body| {
        let (pose, velocity) = (world.pose(body.id).ok()?, world.velocity(body.id).ok()?);
        let model = world.body(body.id).ok()?;
        if model.is_dynamic() {
            motion += model.mass * velocity.linear.length();
        }
        let center = world.center(body.id).ok()?;
        Some(BodyFrame { center, origin: pose.translation, rotation: pose.rotation, velocity })
    });
    let bodies = bodies.collect();
    let particles = &world.state().particles;
    for (mass, v) in world.model().sheet.elements.mass.iter().zip(&particles.v) {
        motion += mass * v.length();
    }
    let joints = scene.joints.iter().map(|joint| {
        let reading = world.joint_reading(joint.id).unwrap_or_default();
        // a hinge has its angle in the fourth place, all others their coordinate in the first
        let turns = world.joint(joint.id).is_ok_and(|j| j.joint.kind == thirdlaw::JointKind::Hinge);
        let place = if turns { 3 } else { 0 };
        (reading.coordinates[place], reading.rates[place])
    });
    let mut energy = measure::energy(world);
    energy.elastic += mover.stored();
    Frame {
        time: world.time(),
        bodies,
        vertices: particles.x.clone(),
        least_volume: least_volume(world),
        energy,
        momentum: measure::momentum(world),
        motion,
        overlaps: if with_overlaps { measure::overlaps(world) } else { Vec::new() },
        joints: joints.collect(),
        report,
        seconds,
    }
}
