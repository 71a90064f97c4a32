//! FMUs in scene files, and scenes as FMUs.

use crate::export::{FmuExport, NamedBody};
use crate::simulator::{Fmu, HandleVariables};
use std::path::Path;
use thirdlaw::BodyId;
use thirdlaw::simulator::Simulator;
use thirdlaw_scene::Scene;
use thirdlaw_scene::coupled::{SceneFmuHandle, SceneSimulator};

/// Farthest that a body may stand from where its FMU has it at the start, m.
const APART: f64 = 1e-6;

impl Fmu {
    /// Loads the FMU of a simulator of a scene. Its handles are the bodies of the simulator, in their order.
    pub fn of_scene(simulator: &SceneSimulator) -> Result<Fmu, String> {
        let Some(named) = &simulator.fmu else { return Err("it names no FMU".into()) };
        let handles: Vec<HandleVariables> = named.handles.iter().map(variables).collect();
        let fmu = Fmu::open(&named.file, &handles).map_err(|error| error.to_string())?;
        for (i, handle) in named.handles.iter().enumerate() {
            let center = simulator.world.center(handle.body).map_err(|error| error.to_string())?;
            let there = fmu.read(i).position;
            if (there - center).length() > APART {
                return Err(format!(
                    "`{}` stands at {center} in the scene and at {there} in the FMU: ties are placed by the scene",
                    handle.name
                ));
            }
        }
        Ok(fmu)
    }
}

/// What the scene says, and for the rest the names that exported worlds have.
fn variables(handle: &SceneFmuHandle) -> HandleVariables {
    let said = |key: &str| handle.variables.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
    if handle.variables.is_empty() {
        return HandleVariables::of_body(&handle.name);
    }
    let of = |key: &str| said(key).unwrap_or_default();
    HandleVariables {
        position: of("position"),
        velocity: of("velocity"),
        rotation: of("rotation"),
        angular_velocity: of("angular_velocity"),
        force: of("force"),
        torque: of("torque"),
        mass: of("mass"),
        inertia: of("inertia"),
    }
}

/// The dynamic bodies of a scene by their names.
pub fn named_bodies(scene: &Scene) -> Vec<NamedBody> {
    let world = &scene.world;
    let moves =
        |id: BodyId| world.body_handle(id).and_then(|handle| world.response(handle)).is_some();
    let all = scene.bodies.iter().filter(|body| moves(body.id));
    all.map(|body| NamedBody { name: body.name.clone(), id: body.id }).collect()
}

/// Writes a scene as an FMU.
pub fn write_scene(
    scene: &Scene,
    restores: bool,
    library: &Path,
    out: &Path,
) -> Result<(), String> {
    if scene.partition.is_some() {
        return Err("several simulators share it; export each from a scene of its own".into());
    }
    let bodies = named_bodies(scene);
    let export = FmuExport {
        name: &scene.name,
        world: &scene.world,
        bodies: &bodies,
        step: scene.dt(),
        duration: f64::from(scene.frames) / scene.fps,
        restores,
    };
    export.write(library, out).map_err(|error| error.to_string())
}
