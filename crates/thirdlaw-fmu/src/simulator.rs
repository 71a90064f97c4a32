//! An FMU behind the black-box interface of `thirdlaw`.
//!
//! Its handles are what the caller names the variables of. One whose state can be taken and given back is
//! coupled as any other simulator; one that cannot go back only by a lagged exchange.

use crate::archive::{self, Folder};
use crate::description::FmuDescription;
use crate::error::FmuError;
use crate::layout::BodyVariable;
use crate::library::Instance;
use std::path::Path;
use thirdlaw::Vec3;
use thirdlaw::math::{Mat3, Quat, Twist};
use thirdlaw::simulator::{HandleResponse, Motion, Simulator, SimulatorFailure, Wrench};

/// Which variables a handle is made of: for each either one variable with all its numbers, or one for each
/// number, `""` for one that stays zero; nothing at all for what the handle has not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandleVariables {
    /// The point at which forces act, m.
    pub position: Vec<String>,
    /// Its velocity, m/s.
    pub velocity: Vec<String>,
    /// Orientation as a quaternion x, y, z, w; none for a point.
    pub rotation: Vec<String>,
    /// In world axes, rad/s.
    pub angular_velocity: Vec<String>,
    /// Input, N.
    pub force: Vec<String>,
    /// Input, about the position, N·m.
    pub torque: Vec<String>,
    /// kg; none where it is not known.
    pub mass: Vec<String>,
    /// In world axes, column by column, kg·m².
    pub inertia: Vec<String>,
}

impl HandleVariables {
    /// The variables of a body of a world that was exported.
    pub fn of_body(name: &str) -> HandleVariables {
        let of = |variable: BodyVariable| vec![format!("{name}.{}", variable.name())];
        HandleVariables {
            position: of(BodyVariable::Position),
            velocity: of(BodyVariable::Velocity),
            rotation: of(BodyVariable::Rotation),
            angular_velocity: of(BodyVariable::AngularVelocity),
            force: of(BodyVariable::Force),
            torque: of(BodyVariable::Torque),
            mass: of(BodyVariable::Mass),
            inertia: of(BodyVariable::Inertia),
        }
    }
}

/// Numbers of a handle, by where they come from; `None` stays zero.
#[derive(Clone, Debug, Default)]
struct Numbers {
    /// Value reference and size of each variable.
    variables: Vec<(u32, usize)>,
    /// For each number of the handle its place among those of the variables.
    places: Vec<Option<usize>>,
}

impl Numbers {
    fn find(
        description: &FmuDescription,
        names: &[String],
        (size, input): (usize, bool),
    ) -> Result<Numbers, FmuError> {
        let mut numbers = Numbers::default();
        let mut count = 0;
        for name in names {
            let refuse = |problem: String| FmuError::Variable { name: name.clone(), problem };
            if name.is_empty() {
                numbers.places.push(None);
                continue;
            }
            let variable = description.variable(name).ok_or_else(|| {
                refuse("there is none of that name with numbers of double precision".into())
            })?;
            if input && !variable.input {
                return Err(refuse("it is no input".into()));
            }
            numbers.variables.push((variable.reference, variable.size));
            numbers.places.extend((count..count + variable.size).map(Some));
            count += variable.size;
        }
        if names.is_empty() || numbers.places.len() == size {
            return Ok(numbers);
        }
        let name = names.join(", ");
        let problem = format!("{size} numbers are needed, not {}", numbers.places.len());
        Err(FmuError::Variable { name, problem })
    }

    fn read(&self, instance: &mut Instance, out: &mut [f64]) -> Result<(), FmuError> {
        let references: Vec<u32> = self.variables.iter().map(|v| v.0).collect();
        let mut values = vec![0.0; self.variables.iter().map(|v| v.1).sum()];
        if !references.is_empty() {
            instance.get(&references, &mut values)?;
        }
        for (out, place) in out.iter_mut().zip(&self.places) {
            *out = place.map_or(0.0, |place| values[place]);
        }
        Ok(())
    }

    fn write(&self, instance: &mut Instance, numbers: [f64; 3]) -> Result<(), FmuError> {
        let references: Vec<u32> = self.variables.iter().map(|v| v.0).collect();
        if references.is_empty() {
            return Ok(());
        }
        let mut values = vec![0.0; self.variables.iter().map(|v| v.1).sum()];
        for (number, place) in numbers.iter().zip(&self.places) {
            if let Some(place) = place {
                values[*place] = *number;
            }
        }
        instance.set(&references, &values)
    }

    fn vector(&self, instance: &mut Instance) -> Result<Vec3, FmuError> {
        let mut numbers = [0.0; 3];
        self.read(instance, &mut numbers)?;
        Ok(Vec3::from_array(numbers))
    }
}

/// A handle at work.
#[derive(Debug)]
struct Mapped {
    position: Numbers,
    velocity: Numbers,
    rotation: Numbers,
    angular_velocity: Numbers,
    force: Numbers,
    torque: Numbers,
    mass: Numbers,
    inertia: Numbers,
    push: Wrench,
    now: Motion,
    response: Option<HandleResponse>,
}

/// An FMU as a simulator.
pub struct Fmu {
    description: FmuDescription,
    instance: Instance,
    handles: Vec<Mapped>,
    reach: Numbers,
    time: f64,
    saved_time: f64,
    /// What went wrong where no failure can be told.
    broken: Option<String>,
    _folder: Folder,
}

impl std::fmt::Debug for Fmu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (model, handles) = (&self.description.model, self.handles.len());
        f.debug_struct("Fmu").field("model", model).field("handles", &handles).finish()
    }
}

impl Fmu {
    /// What an FMU says of itself.
    pub fn describe(path: &Path) -> Result<FmuDescription, FmuError> {
        describe(&archive::unpack(path)?, path)
    }

    /// Loads an FMU and starts it. This runs its native code.
    pub fn open(path: &Path, handles: &[HandleVariables]) -> Result<Fmu, FmuError> {
        let folder = archive::unpack(path)?;
        let description = describe(&folder, path)?;
        let map = |names: &HandleVariables| {
            let find = |names: &[String], size: usize, input: bool| {
                Numbers::find(&description, names, (size, input))
            };
            Ok(Mapped {
                position: find(&names.position, 3, false)?,
                velocity: find(&names.velocity, 3, false)?,
                rotation: find(&names.rotation, 4, false)?,
                angular_velocity: find(&names.angular_velocity, 3, false)?,
                force: find(&names.force, 3, true)?,
                torque: find(&names.torque, 3, true)?,
                mass: find(&names.mass, 1, false)?,
                inertia: find(&names.inertia, 9, false)?,
                push: Wrench::ZERO,
                now: Motion::point(Vec3::ZERO, Vec3::ZERO),
                response: None,
            })
        };
        let handles = handles.iter().map(map).collect::<Result<Vec<Mapped>, FmuError>>()?;
        let reach = match description.variable("reach") {
            Some(_) => Numbers::find(&description, &["reach".into()], (1, false))?,
            None => Numbers::default(),
        };
        let instance = Instance::start(&folder.path, &description, path)?;
        let (broken, (time, saved_time)) = (None, (0.0, 0.0));
        let mut fmu = Fmu {
            description,
            instance,
            handles,
            reach,
            time,
            saved_time,
            broken,
            _folder: folder,
        };
        fmu.look()?;
        Ok(fmu)
    }

    /// What it says of itself.
    pub fn description(&self) -> &FmuDescription {
        &self.description
    }

    /// Reads where all handles are.
    fn look(&mut self) -> Result<(), FmuError> {
        let mut reach = [1.0];
        if !self.reach.places.is_empty() {
            self.reach.read(&mut self.instance, &mut reach)?;
        }
        for handle in &mut self.handles {
            let instance = &mut self.instance;
            let position = handle.position.vector(instance)?;
            let linear = handle.velocity.vector(instance)?;
            let angular = handle.angular_velocity.vector(instance)?;
            let mut q = [0.0, 0.0, 0.0, 1.0];
            if !handle.rotation.places.is_empty() {
                handle.rotation.read(instance, &mut q)?;
            }
            let velocity = Twist { linear, angular };
            handle.now = Motion { position, rotation: Quat::from_array(q), velocity };
            if !handle.mass.places.is_empty() {
                let (mut mass, mut inertia) = ([0.0], [0.0; 9]);
                handle.mass.read(instance, &mut mass)?;
                handle.inertia.read(instance, &mut inertia)?;
                let inertia = Mat3::from_cols_array(&inertia);
                let sound = mass[0] > 0.0 && mass[0].is_finite() && inertia.is_finite();
                let response = HandleResponse { mass: mass[0], inertia, reach: reach[0] };
                handle.response = sound.then_some(response);
            }
        }
        Ok(())
    }

    /// Notes a failure, for the next step.
    fn note(&mut self, result: Result<(), FmuError>) {
        if let Err(error) = result {
            self.broken.get_or_insert(error.to_string());
        }
    }

    fn forget(&mut self) {
        self.handles.iter_mut().for_each(|handle| handle.push = Wrench::ZERO);
    }
}

fn describe(folder: &Folder, path: &Path) -> Result<FmuDescription, FmuError> {
    let text = std::fs::read_to_string(folder.path.join("modelDescription.xml"))
        .map_err(|_| FmuError::unusable(path, "it has no modelDescription.xml"))?;
    FmuDescription::parse(&text, path)
}

impl Simulator for Fmu {
    fn handle_count(&self) -> usize {
        self.handles.len()
    }

    fn read(&self, handle: usize) -> Motion {
        self.handles.get(handle).map_or(Motion::point(Vec3::ZERO, Vec3::ZERO), |h| h.now)
    }

    fn push(&mut self, handle: usize, force: Wrench) {
        if let Some(handle) = self.handles.get_mut(handle) {
            handle.push += force;
        }
    }

    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        if let Some(broken) = &self.broken {
            return Err(SimulatorFailure(broken.clone()));
        }
        for handle in &mut self.handles {
            let push = std::mem::take(&mut handle.push);
            handle.force.write(&mut self.instance, push.force.to_array())?;
            handle.torque.write(&mut self.instance, push.torque.to_array())?;
        }
        self.instance.step(self.time, dt, self.description.restores)?;
        self.time += dt;
        self.look()?;
        Ok(())
    }

    fn can_restore(&self) -> bool {
        self.description.restores
    }

    fn save(&mut self) {
        if self.description.restores {
            let taken = self.instance.take_state();
            self.note(taken);
            self.saved_time = self.time;
        }
    }

    fn restore(&mut self) {
        if self.description.restores {
            let given = self.instance.give_state().and_then(|()| self.look());
            self.note(given);
            self.time = self.saved_time;
        }
        self.forget();
    }

    fn to_bytes(&self) -> Vec<u8> {
        // what cannot be written is refused by `load`
        let state = self.description.serializes.then(|| self.instance.bytes());
        let Some(Ok(state)) = state else { return Vec::new() };
        [&self.time.to_le_bytes()[..], &state].concat()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure> {
        let cannot = || SimulatorFailure("its state cannot be written as bytes".into());
        let (time, state) = bytes.split_first_chunk::<8>().ok_or_else(cannot)?;
        self.instance.load(state)?;
        self.time = f64::from_le_bytes(*time);
        self.forget();
        self.look()?;
        Ok(())
    }

    fn response(&self, handle: usize) -> Option<HandleResponse> {
        self.handles.get(handle)?.response
    }
}
