//! P1: the oscillator of two masses, one mass a simulator. Exact: u = ½(cos 2πt ± cos 6πt).

use super::Mass;
use std::f64::consts::PI;
use thirdlaw::Vec3;
use thirdlaw::couple::{Acceleration, Anchor, Coupling, CouplingSettings, Method, Tie};
use thirdlaw::simulator::{Motion, Simulator, SimulatorFailure, Wrench};

const OUTER: f64 = 4.0 * PI * PI;
const INNER: f64 = 16.0 * PI * PI;
const DT: f64 = 0.01;

/// A mass that holds its half of the spring between: handle 1 is the neighbour's end of it.
#[derive(Clone)]
struct Half {
    x: f64,
    v: f64,
    /// Where the neighbour is at the beginning and end of the step.
    neighbour: [f64; 2],
    /// The neighbour moves evenly through the step, or is at its end throughout.
    linear: bool,
    saved: (f64, f64, [f64; 2]),
}

impl Simulator for Half {
    fn handle_count(&self) -> usize {
        2
    }
    fn read(&self, handle: usize) -> Motion {
        let (x, v) = if handle == 0 { (self.x, self.v) } else { (self.neighbour[1], 0.0) };
        Motion::point(Vec3::new(x, 0.0, 0.0), Vec3::new(v, 0.0, 0.0))
    }
    fn push(&mut self, _: usize, _: Wrench) {}
    fn step(&mut self, h: f64) -> Result<(), SimulatorFailure> {
        let [first, last] = self.neighbour;
        let (f0, f1) = (INNER * if self.linear { first } else { last }, INNER * last);
        let k = OUTER + INNER;
        let a0 = f0 - k * self.x;
        let x1 = (self.x + h * self.v + 0.25 * h * h * (a0 + f1)) / (1.0 + 0.25 * h * h * k);
        self.v += 0.5 * h * (a0 + f1 - k * x1);
        self.x = x1;
        self.neighbour = [last; 2];
        Ok(())
    }
    fn save(&mut self) {
        self.saved = (self.x, self.v, self.neighbour);
    }
    fn restore(&mut self) {
        (self.x, self.v, self.neighbour) = self.saved;
    }
    fn to_bytes(&self) -> Vec<u8> {
        Vec::new()
    }
    fn load(&mut self, _: &[u8]) -> Result<(), SimulatorFailure> {
        Err(SimulatorFailure("not needed here".into()))
    }
    fn prescribe(&mut self, handle: usize, end: &Motion) -> bool {
        self.neighbour[1] = end.position.x;
        handle == 1
    }
    fn constraint_force(&self, _: usize) -> Option<Wrench> {
        Some(Wrench::ZERO)
    }
}

fn exact(t: f64) -> [f64; 2] {
    let (slow, fast) = ((2.0 * PI * t).cos(), (6.0 * PI * t).cos());
    [0.5 * (slow + fast), 0.5 * (slow - fast)]
}

/// Largest error of both masses over a second.
fn error_of(coupling: &mut Coupling, place: impl Fn(&Coupling, usize) -> f64) -> f64 {
    let mut worst: f64 = 0.0;
    for n in 1..=100 {
        coupling.step(DT).unwrap();
        let u = exact(f64::from(n) * DT);
        for (i, u) in u.iter().enumerate() {
            worst = worst.max((place(coupling, i) - u).abs());
        }
    }
    worst
}

fn halves(settings: CouplingSettings, linear: bool) -> f64 {
    let mut coupling = Coupling::new(settings).unwrap();
    for (name, x, other) in [("left", 1.0, 0.0), ("right", 0.0, 1.0)] {
        let half = Half { x, v: 0.0, neighbour: [other; 2], linear, saved: (0.0, 0.0, [0.0; 2]) };
        coupling.add(name, half).unwrap();
    }
    coupling.lead((1, 0), (0, 1)).unwrap();
    coupling.lead((0, 0), (1, 1)).unwrap();
    error_of(&mut coupling, |c, i| c.get::<Half>(i).unwrap().x)
}

#[test]
fn the_error_table_of_motions_exchanged() {
    let iterated = CouplingSettings { tolerance: 1e-12, ..Default::default() };
    for acceleration in [Acceleration::None, Acceleration::Aitken, Acceleration::QuasiNewton] {
        let error = halves(CouplingSettings { acceleration, ..iterated }, true);
        assert!((error - 2.597530e-2).abs() < 5e-9, "{acceleration:?}: {error:e}");
    }
    let serial = CouplingSettings { method: Method::Interleaved, ..Default::default() };
    let error = halves(serial, false);
    assert!((error - 9.886e-2).abs() < 5e-6, "serial, constant: {error:e}");
}

#[test]
fn an_external_spring_iterated_is_the_monolithic_oscillator() {
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    for (name, x) in [("left", 1.0), ("right", 0.0)] {
        let mass = Mass { x, newmark: true, ..Mass::new(1.0, OUTER) };
        coupling.add(name, mass).unwrap();
    }
    coupling.tie(Tie::spring(Anchor::new(0, 0), Anchor::new(1, 0), INNER)).unwrap();
    let error = error_of(&mut coupling, |c, i| c.get::<Mass>(i).unwrap().x);
    assert!((error - 2.597530e-2).abs() < 5e-9, "{error:e}");
    // average acceleration keeps the energy of a linear system, and the spring is part of it
    assert!(coupling.totals().passivity_error.abs() < 1e-10, "{:?}", coupling.totals());
}

/// A lagged spring is of second order and neither gains nor loses energy: what it stores swings about its
/// value by a share ωh of it.
#[test]
fn an_external_spring_that_lags_keeps_its_energy() {
    let settings = CouplingSettings { method: Method::Interleaved, ..Default::default() };
    let mut coupling = Coupling::new(settings).unwrap();
    for (name, x) in [("left", 1.0), ("right", 0.0)] {
        let mass = Mass { x, newmark: true, ..Mass::new(1.0, OUTER) };
        coupling.add(name, mass).unwrap();
    }
    coupling.tie(Tie::spring(Anchor::new(0, 0), Anchor::new(1, 0), INNER)).unwrap();
    let energy = |c: &Coupling| {
        let of = |i: usize| {
            let mass = c.get::<Mass>(i).unwrap();
            0.5 * (mass.mass * mass.v * mass.v + OUTER * mass.x * mass.x)
        };
        of(0) + of(1) + c.stored()
    };
    let start = energy(&coupling);
    let error = error_of(&mut coupling, |c, i| c.get::<Mass>(i).unwrap().x);
    assert!(error < 5e-2, "{error:e}");
    for step in 100..1000 {
        coupling.step(DT).unwrap();
        let now = energy(&coupling);
        assert!((now / start - 1.0).abs() < 0.1, "step {step}: {now} of {start} J");
    }
}
