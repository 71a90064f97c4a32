//! A simulator of one's own, tied to a world: a buoy on waves carries a lamp on a rope.

use thirdlaw::couple::{Anchor, Coupling, CouplingSettings, Tie};
use thirdlaw::prelude::*;
use thirdlaw::simulator::{Motion, Simulator, SimulatorFailure, Wrench};

/// A point on water: it swims by as much as it is under, and moves with damping.
struct Buoy {
    mass: f64,
    time: f64,
    y: f64,
    v: f64,
    force: f64,
    saved: [f64; 3],
}

impl Simulator for Buoy {
    fn handle_count(&self) -> usize {
        1
    }
    fn read(&self, _: usize) -> Motion {
        Motion::point(self.y * Vec3::Y, self.v * Vec3::Y)
    }
    fn push(&mut self, _: usize, push: Wrench) {
        self.force += push.force.y;
    }
    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        self.time += dt;
        let (swim, drag) = (2000.0, 200.0);
        let water = 0.2 * (1.5 * self.time).sin();
        let force = std::mem::take(&mut self.force) - 9.81 * self.mass;
        let force = force + swim * (water - self.y) - drag * self.v;
        self.v += dt * force / (self.mass + dt * drag + dt * dt * swim);
        self.y += dt * self.v;
        Ok(())
    }
    fn save(&mut self) {
        self.saved = [self.time, self.y, self.v];
    }
    fn restore(&mut self) {
        [self.time, self.y, self.v] = self.saved;
        self.force = 0.0;
    }
    fn to_bytes(&self) -> Vec<u8> {
        [self.time, self.y, self.v].iter().flat_map(|x| x.to_le_bytes()).collect()
    }
    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure> {
        let (numbers, _) = bytes.as_chunks::<8>();
        let [time, y, v] = *numbers else { return Err(SimulatorFailure("wrong length".into())) };
        [self.time, self.y, self.v] = [time, y, v].map(f64::from_le_bytes);
        Ok(())
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(Settings::default())?;
    let hook = world.add_body(Body::dynamic(Shape::sphere(0.1)?).mass(10.0))?;
    let lamp = world.add_body(Body::dynamic(Shape::sphere(0.2)?).mass(30.0).at(0.0, -2.0, 0.0))?;
    world.add_joint(Joint::rope(hook, lamp, 2.0))?;
    let handle = world.body_handle(hook).ok_or("it was just added")?;
    let mut coupling = Coupling::new(CouplingSettings::default())?;
    let buoy = Buoy { mass: 20.0, time: 0.0, y: 0.0, v: 0.0, force: 0.0, saved: [0.0; 3] };
    let buoy = coupling.add("buoy", buoy)?;
    let world = coupling.add("world", world)?;
    coupling.tie(Tie::point(Anchor::new(buoy, 0), Anchor::new(world, handle)))?;
    for _ in 0..1200 {
        let report = coupling.step(1.0 / 120.0)?;
        assert!(report.converged);
    }
    let world = coupling.get::<World>(world).ok_or("a world")?;
    let buoy = coupling.get::<Buoy>(buoy).ok_or("a buoy")?;
    let (hook, lamp) = (world.center(hook)?, world.center(lamp)?);
    println!(
        "the buoy is at {:.9} m, the hook at {:.9}, the lamp at {:.9}",
        buoy.y, hook.y, lamp.y
    );
    assert!((buoy.y - hook.y).abs() < 2e-5 && hook.distance(lamp) < 2.01);
    Ok(())
}
