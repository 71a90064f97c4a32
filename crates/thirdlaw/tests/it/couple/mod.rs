//! Facts about coupled simulators, most of them written as a user would write one.

mod bodies;
mod constrained;
mod inputs;
mod lagged;
mod ledger;
mod misbehave;
mod mixtures;
mod oscillator;
mod parts;
mod roles;
mod streams;
mod together;
mod turns;

use thirdlaw::simulator::{Motion, Simulator, SimulatorFailure, Wrench};
use thirdlaw::{Cloth, ClothMesh, Fabric, Vec3, World};

/// A cloth held along its rim, in a world of its own.
pub fn sheet(side: usize) -> World {
    damped_sheet(side, 0.02)
}

/// The same with this much damping of its stretching, shearing and bending, s.
pub fn damped_sheet(side: usize, damping: f64) -> World {
    let mut world = crate::earth();
    let mesh = ClothMesh::grid(side, side, [1.0, 1.0]).unwrap();
    let rim = (0..side * side).filter(|i| {
        let (row, column) = (i / side, i % side);
        row == 0 || column == 0 || row == side - 1 || column == side - 1
    });
    let cloth = Cloth::new(mesh).fabric(Fabric { damping: [damping; 3], ..Fabric::cotton() });
    world.add_cloth(cloth.pin(rim.map(|i| i as u32))).unwrap();
    world
}

/// A mass on a spring to the origin, along x: twenty lines, as a user would write them.
#[derive(Clone, Default)]
pub struct Mass {
    pub mass: f64,
    pub stiffness: f64,
    pub gravity: f64,
    pub x: f64,
    pub v: f64,
    pub force: f64,
    /// Average acceleration (Newmark) instead of backward Euler.
    pub newmark: bool,
    /// Where it has to go, and what that took.
    pub prescribed: Option<(f64, f64)>,
    pub held: f64,
    /// Whether it can be prescribed.
    pub obeys: bool,
    pub saved: (f64, f64),
}

impl Mass {
    pub fn new(mass: f64, stiffness: f64) -> Mass {
        Mass { mass, stiffness, obeys: true, ..Mass::default() }
    }

    fn advance(&mut self, h: f64, force: f64) -> (f64, f64) {
        let (m, k, x, v) = (self.mass, self.stiffness, self.x, self.v);
        let f = force + m * self.gravity;
        if self.newmark {
            let x1 =
                (x + h * v + 0.25 * h * h * (2.0 * f - k * x) / m) / (1.0 + 0.25 * h * h * k / m);
            (x1, 2.0 * (x1 - x) / h - v)
        } else {
            let v1 = (m * v + h * (f - k * x)) / (m + h * h * k);
            (x + h * v1, v1)
        }
    }
}

impl Simulator for Mass {
    fn handle_count(&self) -> usize {
        1
    }
    fn read(&self, _: usize) -> Motion {
        Motion::point(Vec3::new(self.x, 0.0, 0.0), Vec3::new(self.v, 0.0, 0.0))
    }
    fn push(&mut self, _: usize, force: Wrench) {
        self.force += force.force.x;
    }
    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        let force = std::mem::take(&mut self.force);
        match self.prescribed.take() {
            None => (self.x, self.v) = self.advance(dt, force),
            Some((_, v)) => {
                // the force that leads to the velocity wanted; both schemes are linear in it
                let (free, one) = (self.advance(dt, force).1, self.advance(dt, force + 1.0).1);
                self.held = (v - free) / (one - free);
                (self.x, self.v) = self.advance(dt, force + self.held);
            }
        }
        Ok(())
    }
    fn save(&mut self) {
        self.saved = (self.x, self.v);
    }
    fn restore(&mut self) {
        (self.x, self.v) = self.saved;
        (self.force, self.prescribed) = (0.0, None);
    }
    fn to_bytes(&self) -> Vec<u8> {
        [self.x.to_le_bytes(), self.v.to_le_bytes()].concat()
    }
    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure> {
        let (x, v) = bytes.split_at_checked(8).ok_or(SimulatorFailure("too short".into()))?;
        let number = |b: &[u8]| b.try_into().map(f64::from_le_bytes);
        (self.x, self.v) = (number(x)?, number(v)?);
        Ok(())
    }
    fn prescribe(&mut self, _: usize, end: &Motion) -> bool {
        self.prescribed = Some((end.position.x, end.velocity.linear.x));
        self.obeys
    }
    fn constraint_force(&self, _: usize) -> Option<Wrench> {
        Some(Wrench { force: Vec3::new(self.held, 0.0, 0.0), torque: Vec3::ZERO })
    }
}
