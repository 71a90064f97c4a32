//! A world that is an FMU: its inputs, its time, and what the functions of the standard do with them. No
//! `unsafe` here; the border to C is `lib.rs`.

use std::path::Path;
use thirdlaw::math::{Mat3, Vec3};
use thirdlaw::simulator::{Simulator, Wrench};
use thirdlaw::{Attachments, World};

use thirdlaw_fmu::layout::{BodyVariable, REACH, TIME};

/// An instance of the FMU.
pub struct Instance {
    world: World,
    /// As it was at the beginning.
    fresh: Vec<u8>,
    /// Its longest step, s.
    step: f64,
    /// What pushes each handle, until it is set anew.
    inputs: Vec<Wrench>,
    time: f64,
}

/// A state that was taken.
pub struct Taken {
    world: Vec<u8>,
    inputs: Vec<Wrench>,
    time: f64,
}

impl Instance {
    /// Reads the world from the folder `resources` of the FMU.
    pub fn open(resources: &Path, token: &str) -> Result<Instance, String> {
        let read = |name: &str| {
            let path = resources.join(name);
            std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|error| error.to_string());
        if text(read("token.txt")?)? != token {
            return Err("its instantiationToken is that of another FMU".into());
        }
        let world = World::from_bytes(&read("world.bin")?, &Attachments::default())
            .map_err(|error| error.to_string())?;
        let step: f64 = text(read("step.txt")?)?.trim().parse().map_err(|_| "no step")?;
        if !(step.is_finite() && step > 0.0) {
            return Err(format!("{step} s is no step"));
        }
        let inputs = vec![Wrench::ZERO; world.handle_count()];
        let fresh = Simulator::to_bytes(&world);
        Ok(Instance { world, fresh, step, inputs, time: 0.0 })
    }

    /// Back to how it was at the beginning.
    pub fn reset(&mut self) -> Result<(), String> {
        let fresh = std::mem::take(&mut self.fresh);
        let took = Simulator::load(&mut self.world, &fresh).map_err(|error| error.to_string());
        self.fresh = fresh;
        self.inputs.fill(Wrench::ZERO);
        self.time = 0.0;
        took
    }

    /// Sets the time at which it begins, s.
    pub fn begin(&mut self, time: f64) {
        self.time = time;
    }

    /// Advances by `dt` seconds, in steps no longer than its own.
    pub fn advance(&mut self, from: f64, dt: f64) -> Result<(), String> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(format!("{dt} s is no step"));
        }
        // what is longer by rounding only is one step
        let count = (dt / self.step - 1e-6).ceil().max(1.0);
        for _ in 0..count as u64 {
            for (handle, force) in self.inputs.iter().enumerate() {
                if *force != Wrench::ZERO {
                    Simulator::push(&mut self.world, handle, *force);
                }
            }
            Simulator::step(&mut self.world, dt / count).map_err(|error| error.to_string())?;
        }
        self.time = from + dt;
        Ok(())
    }

    /// The time that it has reached, s.
    pub fn time(&self) -> f64 {
        self.time
    }

    fn of_body(&self, handle: usize, variable: BodyVariable) -> Vec<f64> {
        let motion = self.world.read(handle);
        let vector = |v: Vec3| v.to_array().to_vec();
        let response = self.world.response(handle);
        match variable {
            BodyVariable::Force => vector(self.inputs[handle].force),
            BodyVariable::Torque => vector(self.inputs[handle].torque),
            BodyVariable::Position => vector(motion.position),
            BodyVariable::Rotation => motion.rotation.to_array().to_vec(),
            BodyVariable::Velocity => vector(motion.velocity.linear),
            BodyVariable::AngularVelocity => vector(motion.velocity.angular),
            BodyVariable::Mass => vec![response.map_or(f64::INFINITY, |r| r.mass)],
            BodyVariable::Inertia => {
                response.map_or(Mat3::ZERO, |r| r.inertia).to_cols_array().to_vec()
            }
        }
    }

    /// The numbers of a variable.
    pub fn get(&self, reference: u32) -> Result<Vec<f64>, String> {
        match BodyVariable::named(reference) {
            _ if reference == TIME => Ok(vec![self.time]),
            _ if reference == REACH => {
                let substeps = f64::from(self.world.settings().substeps);
                Ok(vec![0.5 * (1.0 + 1.0 / substeps)])
            }
            Some((handle, variable)) if handle < self.inputs.len() => {
                Ok(self.of_body(handle, variable))
            }
            _ => Err(format!("there is no value reference {reference}")),
        }
    }

    /// Sets an input from the numbers that follow; returns how many it took.
    pub fn set(&mut self, reference: u32, numbers: &[f64]) -> Result<usize, String> {
        let named = BodyVariable::named(reference).filter(|(h, _)| *h < self.inputs.len());
        let Some((handle, variable)) = named.filter(|(_, variable)| variable.is_input()) else {
            return Err(format!("value reference {reference} is no input"));
        };
        let Some(&[x, y, z]) = numbers.first_chunk::<3>() else {
            return Err(format!("value reference {reference} has three numbers"));
        };
        let vector = Vec3::new(x, y, z);
        if !vector.is_finite() {
            return Err(format!("value reference {reference} is not finite"));
        }
        match variable {
            BodyVariable::Force => self.inputs[handle].force = vector,
            _ => self.inputs[handle].torque = vector,
        }
        Ok(3)
    }

    /// Its state now.
    pub fn take(&self) -> Taken {
        let world = Simulator::to_bytes(&self.world);
        Taken { world, inputs: self.inputs.clone(), time: self.time }
    }

    /// Goes to a state.
    pub fn give(&mut self, state: &Taken) -> Result<(), String> {
        if state.inputs.len() != self.inputs.len() {
            return Err("it is the state of another world".into());
        }
        Simulator::load(&mut self.world, &state.world).map_err(|error| error.to_string())?;
        self.inputs.clone_from(&state.inputs);
        self.time = state.time;
        Ok(())
    }
}

impl Taken {
    /// How many bytes it takes.
    pub fn size(&self) -> usize {
        16 + 48 * self.inputs.len() + self.world.len()
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.time.to_le_bytes().to_vec();
        bytes.extend((self.inputs.len() as u64).to_le_bytes());
        let numbers = self.inputs.iter().flat_map(|wrench| wrench.to_array());
        bytes.extend(numbers.flat_map(f64::to_le_bytes));
        bytes.extend(&self.world);
        bytes
    }

    /// From bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Taken> {
        let (time, bytes) = bytes.split_first_chunk::<8>()?;
        let (count, bytes) = bytes.split_first_chunk::<8>()?;
        let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
        let (inputs, world) = bytes.split_at_checked(count.checked_mul(48)?)?;
        let wrench = |chunk: &[u8]| {
            let number = |b: &[u8]| b.try_into().map_or(0.0, f64::from_le_bytes);
            let numbers: Vec<f64> = chunk.chunks_exact(8).map(number).collect();
            Wrench::from_slice(&numbers)
        };
        let inputs = inputs.chunks_exact(48).map(wrench).collect();
        Some(Taken { world: world.to_vec(), inputs, time: f64::from_le_bytes(*time) })
    }
}
