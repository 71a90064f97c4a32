//! Simulators that misbehave are named, and the others stay untouched.

use super::Mass;
use thirdlaw::couple::{Anchor, CoupleError, Coupling, CouplingSettings, SimulatorProblem, Tie};
use thirdlaw::simulator::{Motion, Simulator, SimulatorFailure, Wrench};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Sin {
    Panics,
    PanicsReading,
    Fails,
    NotANumber,
    ForgetsToRestore,
    LosesHandles,
}

/// A mass that misbehaves from its third step on.
struct Sinner(Mass, Sin, u32);

impl Sinner {
    fn sins(&self, sin: Sin) -> bool {
        self.1 == sin && self.2 > 40
    }
}

impl Simulator for Sinner {
    fn handle_count(&self) -> usize {
        if self.sins(Sin::LosesHandles) { 0 } else { 1 }
    }
    fn read(&self, handle: usize) -> Motion {
        assert!(!self.sins(Sin::PanicsReading), "I cannot read");
        let mut motion = self.0.read(handle);
        if self.sins(Sin::NotANumber) {
            motion.velocity.linear.x = f64::NAN;
        }
        motion
    }
    fn push(&mut self, handle: usize, force: Wrench) {
        self.0.push(handle, force);
    }
    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        self.2 += 1;
        assert!(!self.sins(Sin::Panics), "I cannot step");
        if self.sins(Sin::Fails) {
            return Err(SimulatorFailure("out of fuel".into()));
        }
        self.0.step(dt)
    }
    fn save(&mut self) {
        self.0.save();
    }
    fn restore(&mut self) {
        if !self.sins(Sin::ForgetsToRestore) {
            self.0.restore();
        }
    }
    fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }
    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure> {
        self.0.load(bytes)
    }
}

#[test]
fn whoever_misbehaves_is_named_and_the_others_are_untouched() {
    for sin in [
        Sin::Panics,
        Sin::PanicsReading,
        Sin::Fails,
        Sin::NotANumber,
        Sin::ForgetsToRestore,
        Sin::LosesHandles,
    ] {
        let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
        let sinner = Mass { gravity: 1.0, ..Mass::new(1.0, 3.0) };
        coupling.add("saint", Mass::new(2.0, 5.0)).unwrap();
        coupling.add("sinner", Sinner(sinner, sin, 0)).unwrap();
        coupling.add("bystander", Mass { v: 1.0, ..Mass::new(2.0, 5.0) }).unwrap();
        coupling.tie(Tie::point(Anchor::new(0, 0), Anchor::new(1, 0))).unwrap();
        let state = |c: &Coupling| {
            [0, 2].map(|i| c.get::<Mass>(i).map(|m| (m.x.to_bits(), m.v.to_bits())).unwrap())
        };
        let mut steps = 0;
        let (error, before) = loop {
            let before = state(&coupling);
            match coupling.step(0.01) {
                Ok(_) => steps += 1,
                Err(error) => break (error, before),
            }
            assert!(steps < 100, "{sin:?} goes unnoticed");
        };
        assert!(steps > 3, "{sin:?}: {error}");
        assert_eq!(state(&coupling), before, "{sin:?}");
        let CoupleError::Simulator { name, problem } = &error else { panic!("{error}") };
        assert_eq!(name, "sinner", "{error}");
        let right = match sin {
            Sin::Panics => matches!(problem, SimulatorProblem::Panicked { during: "step", .. }),
            Sin::PanicsReading => {
                matches!(problem, SimulatorProblem::Panicked { during: "read", .. })
            }
            Sin::Fails => {
                matches!(problem, SimulatorProblem::Failed { message, .. } if message == "out of fuel")
            }
            Sin::NotANumber => matches!(problem, SimulatorProblem::NotFinite { handle: 0 }),
            Sin::ForgetsToRestore => matches!(problem, SimulatorProblem::NotRestored { handle: 0 }),
            Sin::LosesHandles => {
                matches!(problem, SimulatorProblem::HandleCount { expected: 1, found: 0 })
            }
        };
        assert!(right, "{sin:?}: {error}");
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    coupling.add("one", Mass::new(1.0, 0.0)).unwrap();
    coupling.add("two", Mass::new(1.0, 0.0)).unwrap();
    let field = |error: CoupleError| match error {
        CoupleError::Input { field, .. } => field,
        other => panic!("{other}"),
    };
    let (a, b) = (Anchor::new(0, 0), Anchor::new(1, 0));
    assert_eq!(field(coupling.tie(Tie::point(a, Anchor::new(1, 1))).unwrap_err()), "handle");
    assert_eq!(field(coupling.tie(Tie::point(a, Anchor::new(2, 0))).unwrap_err()), "simulator");
    assert_eq!(field(coupling.tie(Tie::point(a, a)).unwrap_err()), "anchors");
    assert_eq!(field(coupling.tie(Tie::spring(a, b, -1.0)).unwrap_err()), "kind");
    assert_eq!(field(coupling.tie(Tie::spring(a, b, f64::NAN)).unwrap_err()), "kind");
    assert_eq!(field(coupling.touch(0, 1).unwrap_err()), "simulator");
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(field(coupling.step(dt).unwrap_err()), "dt");
    }
    for tolerance in [0.0, f64::NAN] {
        let settings = CouplingSettings { tolerance, ..Default::default() };
        assert_eq!(field(Coupling::new(settings).unwrap_err()), "tolerance");
    }
}

#[test]
fn with_nothing_coupled_no_bit_changes() {
    let mut alone = Mass { v: 1.0, ..Mass::new(2.0, 5.0) };
    let settings = CouplingSettings { evaluations: 7, exchanges: 3, ..Default::default() };
    let mut coupling = Coupling::new(settings).unwrap();
    coupling.add("one", alone.clone()).unwrap();
    coupling.add("two", Mass::new(1.0, 0.0)).unwrap();
    for _ in 0..50 {
        alone.step(0.01).unwrap();
        coupling.step(0.01).unwrap();
    }
    let coupled = coupling.get::<Mass>(0).unwrap();
    assert_eq!((alone.x.to_bits(), alone.v.to_bits()), (coupled.x.to_bits(), coupled.v.to_bits()));
}

/// A mass whose spring is far too stiff for its explicit steps: it flies off, and soon farther than anything.
struct Thrower(Mass);

impl Simulator for Thrower {
    fn handle_count(&self) -> usize {
        1
    }
    fn read(&self, handle: usize) -> Motion {
        let mut motion = self.0.read(handle);
        motion.position.x *= 1e15;
        motion
    }
    fn push(&mut self, handle: usize, force: Wrench) {
        self.0.push(handle, force);
    }
    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        self.0.step(dt)
    }
    fn save(&mut self) {
        self.0.save();
    }
    fn restore(&mut self) {
        self.0.restore();
    }
    fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }
    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure> {
        self.0.load(bytes)
    }
}

#[test]
fn a_handle_that_is_thrown_is_an_error_and_not_converged() {
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    coupling.add("thrower", Thrower(Mass { v: 1.0, ..Mass::new(1.0, 0.0) })).unwrap();
    coupling.add("mass", Mass::new(1.0, 0.0)).unwrap();
    coupling.tie(Tie::point(Anchor::new(0, 0), Anchor::new(1, 0))).unwrap();
    let error = coupling.step(0.01).unwrap_err();
    let CoupleError::Simulator { name, problem } = &error else { panic!("{error}") };
    assert_eq!(name, "thrower");
    assert!(matches!(problem, SimulatorProblem::Thrown { handle: 0, .. }), "{error}");
}

/// A mass that a random force of 1e-2 N shakes, another one at every call.
struct Noisy(Mass, u64);

impl Simulator for Noisy {
    fn handle_count(&self) -> usize {
        1
    }
    fn read(&self, handle: usize) -> Motion {
        self.0.read(handle)
    }
    fn push(&mut self, handle: usize, force: Wrench) {
        self.0.push(handle, force);
    }
    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        self.1 = self.1.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0.force += 1e-2 * ((self.1 >> 33) as f64 / f64::from(1_u32 << 30) - 1.0);
        self.0.step(dt)
    }
    fn save(&mut self) {
        self.0.save();
    }
    fn restore(&mut self) {
        self.0.restore();
    }
    fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }
    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure> {
        self.0.load(bytes)
    }
}

#[test]
fn a_step_that_did_not_converge_is_an_error_that_names_the_tie_or_is_kept_if_asked() {
    let noisy = |keep_unconverged: bool| {
        let settings = CouplingSettings { keep_unconverged, ..Default::default() };
        let mut coupling = Coupling::new(settings).unwrap();
        coupling.add("noisy", Noisy(Mass::new(1e-3, 0.0), 1)).unwrap();
        coupling.add("calm", Mass::new(1e-3, 0.0)).unwrap();
        coupling.tie(Tie::point(Anchor::new(0, 0), Anchor::new(1, 0))).unwrap();
        coupling
    };
    let mut coupling = noisy(false);
    let error = (0..20).find_map(|_| coupling.step(0.01).err()).expect("noise goes unnoticed");
    let text = error.to_string();
    let CoupleError::Unconverged { number: 0, between: (a, b), .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((&**a, &**b), ("noisy", "calm"));
    assert!(text.contains("tie 0") && text.contains("keep_unconverged"), "{text}");
    assert!(!text.contains("choose `iterated`"), "it is: {text}");
    let mut coupling = noisy(true);
    let kept = (0..20).filter(|_| !coupling.step(0.01).unwrap().converged).count();
    assert!(kept > 0 && coupling.totals().unconverged == kept as u64);
}
