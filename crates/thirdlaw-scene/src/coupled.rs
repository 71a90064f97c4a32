//! A scene that several simulators share: who holds what, what couples them, and a run of it all.
//!
//! The scene's world holds everything and shows it; each simulator has its part, made by leaving out
//! the rest, so that ids are the same everywhere. This crate makes simulators of Thirdlaw; whoever
//! calls brings the other kinds.

use crate::Scene;
use crate::error::{Place, SceneError, SceneErrors};
use std::path::PathBuf;
use thirdlaw::couple::{
    Anchor, CoupleError, Coupling, CouplingReport, CouplingSettings, LedgerEntry, Tie, TieKind,
};
use thirdlaw::math::{Pose, Vec3};
use thirdlaw::simulator::{Simulator, Wrench};
use thirdlaw::{BodyId, ClothId, Joint, JointKind, PointId, Side, World};

/// How a scene is shared among simulators.
#[derive(Clone, Debug)]
pub struct Partition {
    /// In the order of the scene.
    pub simulators: Vec<SceneSimulator>,
    /// In the order of the scene.
    pub couplings: Vec<SceneCoupling>,
    /// How all couplings go about their work.
    pub settings: CouplingSettings,
    /// What the scene was loaded by, for errors.
    pub source: String,
}

/// A simulator of a scene.
#[derive(Clone, Debug)]
pub struct SceneSimulator {
    /// Its name.
    pub name: String,
    /// What makes its steps.
    pub kind: SimulatorKind,
    /// Where it is an FMU.
    pub fmu: Option<SceneFmu>,
    /// What it holds, as a world of ours.
    pub world: World,
    /// Steps of its own in each step of the scene.
    pub steps: u32,
    /// Where it stands in the scene.
    pub(crate) place: Place,
}

/// An FMU of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneFmu {
    /// Where it lies.
    pub file: PathBuf,
    /// The bodies that it holds, in the order of the scene.
    pub handles: Vec<SceneFmuHandle>,
}

/// A body in an FMU.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneFmuHandle {
    /// Its name in the scene.
    pub name: String,
    /// Its id in the scene's world.
    pub body: BodyId,
    /// Names of variables by what they are ("position", "force", …); empty where those that exported worlds have
    /// are meant.
    pub variables: Vec<(String, Vec<String>)>,
}

/// What makes the steps of a simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulatorKind {
    /// A world of ours.
    Thirdlaw,
    /// Rapier.
    Rapier,
    /// An FMU.
    Fmu,
}

/// What couples two simulators of a scene.
#[derive(Clone, Debug)]
pub struct SceneCoupling {
    /// Its name.
    pub name: String,
    /// The two simulators, counted from 0.
    pub between: [usize; 2],
    /// How they touch.
    pub contact: ContactKind,
    /// What holds them together.
    pub ties: Vec<SceneTie>,
    /// When to say something.
    pub limits: LedgerLimits,
    pub(crate) place: Place,
}

/// How two simulators touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactKind {
    /// One follows the surfaces of the other.
    Follow,
    /// Collisions are found from outside.
    Watch,
    /// They do not.
    None,
}

/// A tie of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneTie {
    /// What it holds.
    pub kind: TieKind,
    /// What it holds on to, with the place in its own axes from its centre.
    pub sides: [(usize, Handle, Pose); 2],
}

/// What of a world a tie can hold on to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// A body.
    Body(BodyId),
    /// A point mass.
    Point(PointId),
    /// A vertex of a cloth.
    Vertex(ClothId, u32),
}

/// When a coupling is worth a line; infinite where the scene says nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LedgerLimits {
    /// N·s.
    pub imbalance: f64,
    /// N·m·s.
    pub angular_imbalance: f64,
    /// J.
    pub passivity: f64,
    /// m/s.
    pub residual: f64,
    /// m/s.
    pub mismatch: f64,
    /// Steps of all simulators in a step.
    pub evaluations: f64,
}

impl Default for LedgerLimits {
    fn default() -> Self {
        let none = f64::INFINITY;
        LedgerLimits {
            imbalance: none,
            angular_imbalance: none,
            passivity: none,
            residual: none,
            mismatch: none,
            evaluations: none,
        }
    }
}

/// Makes a simulator of a part of a scene, or says why it cannot.
pub type Maker<'a> = dyn FnMut(&SceneSimulator) -> Result<Box<dyn Simulator>, String> + 'a;

/// Makes worlds of ours, and nothing else.
pub fn plain(simulator: &SceneSimulator) -> Result<Box<dyn Simulator>, String> {
    match simulator.kind {
        SimulatorKind::Thirdlaw => Ok(Box::new(simulator.world.clone())),
        SimulatorKind::Rapier => Err("Rapier is not at hand here".into()),
        SimulatorKind::Fmu => Err("FMUs are not at hand here".into()),
    }
}

/// A coupled scene at work.
pub struct Coupled {
    /// All simulators.
    pub coupling: Coupling,
    links: Vec<Link>,
    /// Bodies of simulators that are no worlds of ours, by handle.
    foreign: Vec<Vec<BodyId>>,
    /// Length of the last step, s.
    dt: f64,
}

/// Where the ledger's entries of a coupling of the scene are.
struct Link {
    between: [usize; 2],
    entries: Vec<usize>,
}

impl Scene {
    /// Makes the simulators of the scene and couples them; `None` where one world holds everything.
    pub fn couple(&self, make: &mut Maker<'_>) -> Result<Option<Coupled>, SceneErrors> {
        let Some(partition) = &self.partition else { return Ok(None) };
        Coupled::new(partition, make).map(Some).map_err(|error| SceneErrors {
            name: partition.source.clone(),
            text: self.text.clone(),
            overrides: self.overrides.iter().map(|(k, v)| format!("{k}={v}")).collect(),
            errors: vec![error],
        })
    }
}

impl Coupled {
    fn new(partition: &Partition, make: &mut Maker<'_>) -> Result<Coupled, SceneError> {
        let at = |place: &Place| {
            let place = place.clone();
            move |error: CoupleError| SceneError::new(&place, error.to_string())
        };
        let nowhere = Place { source: None, span: 0..0 };
        let mut coupling = Coupling::new(partition.settings).map_err(at(&nowhere))?;
        let mut foreign = Vec::new();
        for (i, simulator) in partition.simulators.iter().enumerate() {
            let made = make(simulator).map_err(|why| {
                let message = format!("the simulator `{}` cannot be made: {why}", simulator.name);
                SceneError::new(&simulator.place, message)
            })?;
            coupling.add_boxed(&simulator.name, made).map_err(at(&simulator.place))?;
            coupling.subcycle(i, simulator.steps).map_err(at(&simulator.place))?;
            let ours = coupling.get::<World>(i).is_some();
            foreign.push(if ours { Vec::new() } else { simulator.world.bodies().collect() });
        }
        // obstacles renumber handles: whoever touches comes first
        let (mut touches, mut watches) = (Vec::new(), Vec::new());
        for (i, link) in partition.couplings.iter().enumerate() {
            let [a, b] = link.between;
            match link.contact {
                ContactKind::Follow => {
                    coupling.touch(a, b).map_err(at(&link.place))?;
                    touches.push(i);
                }
                ContactKind::Watch => {
                    coupling.watch(a, b).map_err(at(&link.place))?;
                    watches.push(i);
                }
                ContactKind::None => {}
            }
        }
        let mut links: Vec<Link> = Vec::new();
        let mut ties = 0;
        for link in &partition.couplings {
            let mut entries = Vec::new();
            for tie in &link.ties {
                let anchors = tie.sides.map(|(simulator, handle, frame)| {
                    let handle = handle_of(&coupling, &foreign, simulator, handle);
                    // a handle that is not there is refused by the coupling
                    Anchor { simulator, handle: handle.unwrap_or(usize::MAX), frame }
                });
                let roles = Default::default();
                coupling.tie(Tie { kind: tie.kind, anchors, roles }).map_err(at(&link.place))?;
                entries.push(ties);
                ties += 1;
            }
            links.push(Link { between: link.between, entries });
        }
        for (k, i) in touches.iter().chain(&watches).enumerate() {
            links[*i].entries.push(ties + k);
        }
        Ok(Coupled { coupling, links, foreign, dt: 0.0 })
    }

    /// Advances all simulators by `dt` seconds.
    pub fn step(&mut self, dt: f64) -> Result<CouplingReport, CoupleError> {
        self.dt = dt;
        self.coupling.step(dt)
    }

    /// Shows in the scene's world where the simulators have everything.
    pub fn show(&self, world: &mut World) {
        for (i, bodies) in self.foreign.iter().enumerate() {
            if let Some(part) = self.coupling.get::<World>(i) {
                world.show(part);
            } else if let Some(simulator) = self.coupling.simulator(i) {
                for (handle, id) in bodies.iter().enumerate() {
                    world.show_body(*id, &simulator.read(handle));
                }
            }
        }
        self.show_struck(world);
        world.show_time(self.coupling.time());
    }

    /// What particles of one simulator struck bodies of another with.
    fn show_struck(&self, world: &mut World) {
        for (i, foreign) in self.foreign.iter().enumerate() {
            let show = |world: &mut World, id: BodyId, handle: usize| {
                let pending = self.coupling.pending_impulse(i, handle);
                let shown = world.struck(id).is_ok_and(|push| push.force != Vec3::ZERO);
                if pending != Wrench::ZERO || shown {
                    world.show_struck(id, pending, self.dt);
                }
            };
            match self.coupling.get::<World>(i) {
                Some(part) => {
                    for id in part.bodies().filter(|id| world.body(*id).is_ok()).collect::<Vec<_>>()
                    {
                        if let Some(handle) = part.body_handle(id) {
                            show(world, id, handle);
                        }
                    }
                }
                None => {
                    foreign.iter().enumerate().for_each(|(handle, id)| show(world, *id, handle))
                }
            }
        }
    }

    /// What crossed each coupling of the scene in the last step, in their order: first what the first
    /// of its two simulators got.
    pub fn crossed(&self) -> Vec<LedgerEntry> {
        let ledger = self.coupling.ledger();
        let sum = |link: &Link| {
            let mut sum = LedgerEntry { between: link.between, ..LedgerEntry::default() };
            for entry in link.entries.iter().filter_map(|i| ledger.get(*i)) {
                let turned = entry.between[0] != link.between[0];
                for side in 0..2 {
                    let from = if turned { 1 - side } else { side };
                    sum.impulse[side] += entry.impulse[from];
                    sum.angular_impulse[side] += entry.angular_impulse[from];
                    sum.work[side] += entry.work[from];
                }
                sum.stored += entry.stored;
            }
            sum
        };
        self.links.iter().map(sum).collect()
    }
}

fn handle_of(
    coupling: &Coupling,
    foreign: &[Vec<BodyId>],
    simulator: usize,
    handle: Handle,
) -> Option<usize> {
    let Some(world) = coupling.get::<World>(simulator) else {
        let bodies = foreign.get(simulator)?;
        return bodies.iter().position(|id| Handle::Body(*id) == handle);
    };
    match handle {
        Handle::Body(id) => world.body_handle(id),
        Handle::Point(id) => world.point_handle(id),
        Handle::Vertex(id, vertex) => world.vertex_handle(id, vertex),
    }
}

impl Scene {
    /// The scene in one world of ours, with ties as joints; `None` where one world cannot hold it,
    /// since a simulator is not of ours or a tie holds a vertex.
    pub fn monolithic(&self) -> Option<Scene> {
        let mut scene = self.clone();
        let partition = scene.partition.take()?;
        if partition.simulators.iter().any(|s| s.kind != SimulatorKind::Thirdlaw) {
            return None;
        }
        for tie in partition.couplings.iter().flat_map(|c| &c.ties) {
            let [a, b] = tie.sides.map(|(_, handle, frame)| {
                let side = match handle {
                    Handle::Body(id) => Side::Body(id),
                    Handle::Point(id) => Side::Point(id),
                    Handle::Vertex(..) => return None,
                };
                let center = match handle {
                    Handle::Body(id) => self.world.body(id).ok()?.center,
                    _ => Vec3::ZERO,
                };
                Some((side, Pose::from_parts(center + frame.translation, frame.rotation)))
            });
            let ((a, frame_a), (b, frame_b)) = (a?, b?);
            let joint = match tie.kind {
                TieKind::Point => Joint::ball(a, b).frames(frame_a, frame_b),
                TieKind::Frame => Joint::fixed(a, b).frames(frame_a, frame_b),
                TieKind::Spring { stiffness, damping, rest } => {
                    let mut joint = Joint::spring(a, b, stiffness, damping);
                    if let JointKind::Spring { length, .. } = &mut joint.kind {
                        *length = Some(rest);
                    }
                    joint.frames(frame_a, frame_b)
                }
            };
            scene.world.add_joint(joint.colliding()).ok()?;
        }
        Some(scene)
    }
}
