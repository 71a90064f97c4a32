//! Simulators that cannot go back.

use super::Mass;
use thirdlaw::couple::{
    Anchor, CoupleError, Coupling, CouplingSettings, Method, SimulatorProblem, Tie, TieKind,
};
use thirdlaw::simulator::{
    ContactSurface, HandleResponse, Motion, Simulator, SimulatorFailure, Wrench,
};
use thirdlaw::{Body, Vec3, World};

/// Hands every call on and cannot go back: whoever asks for that finds a panic.
struct OneWay<S>(S);

impl<S: Simulator> Simulator for OneWay<S> {
    fn handle_count(&self) -> usize {
        self.0.handle_count()
    }
    fn read(&self, handle: usize) -> Motion {
        self.0.read(handle)
    }
    fn push(&mut self, handle: usize, force: Wrench) {
        self.0.push(handle, force);
    }
    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        self.0.step(dt)
    }
    fn save(&mut self) {
        panic!("it cannot save");
    }
    fn restore(&mut self) {
        panic!("it cannot go back");
    }
    fn to_bytes(&self) -> Vec<u8> {
        Vec::new()
    }
    fn load(&mut self, _: &[u8]) -> Result<(), SimulatorFailure> {
        Err(SimulatorFailure("it cannot load".into()))
    }
    fn can_restore(&self) -> bool {
        false
    }
    fn surfaces(&self) -> Vec<ContactSurface> {
        self.0.surfaces()
    }
    fn response(&self, handle: usize) -> Option<HandleResponse> {
        self.0.response(handle)
    }
}

fn lagged() -> CouplingSettings {
    CouplingSettings { method: Method::Interleaved, ..CouplingSettings::default() }
}

fn space() -> World {
    crate::world(0.0)
}

fn ball(world: &mut World, mass: f64, x: f64) -> usize {
    let body = Body::dynamic(crate::sphere(0.1)).mass(mass).at(x, 0.0, 0.0);
    let id = world.add_body(body).unwrap();
    world.body_handle(id).unwrap()
}

/// Two balls in two worlds of which one cannot go back, on a spring.
fn pair(stiffness: f64, damping: f64, masses: [f64; 2]) -> Coupling {
    let (mut a, mut b) = (space(), space());
    let handles = [ball(&mut a, masses[0], 0.5), ball(&mut b, masses[1], -0.5)];
    let mut coupling = Coupling::new(lagged()).unwrap();
    let a = coupling.add("rig", OneWay(a)).unwrap();
    let b = coupling.add("world", b).unwrap();
    let kind = TieKind::Spring { stiffness, damping, rest: 0.8 };
    let anchors = [Anchor::new(a, handles[0]), Anchor::new(b, handles[1])];
    coupling.tie(Tie { kind, anchors, roles: Default::default() }).unwrap();
    coupling
}

fn energy(coupling: &Coupling, masses: [f64; 2]) -> f64 {
    let kinetic = |i: usize| {
        let motion = coupling.simulator(i).unwrap().read(0);
        0.5 * masses[i] * motion.velocity.linear.length_squared()
    };
    kinetic(0) + kinetic(1) + coupling.stored()
}

#[test]
fn a_spring_to_a_simulator_that_cannot_go_back_neither_pumps_nor_leaks_momentum() {
    for masses in [[1.0, 1.0], [0.1, 10.0], [10.0, 0.1]] {
        let reduced = masses[0] * masses[1] / (masses[0] + masses[1]);
        for rate in [60.0, 240.0] {
            // ω h = 0.5 at 60 frames/s
            let stiffness = reduced * 900.0;
            let mut coupling = pair(stiffness, 0.0, masses);
            let first = energy(&coupling, masses);
            let mut most: f64 = 0.0;
            for _ in 0..(10.0 * rate) as u32 {
                let report = coupling.step(1.0 / rate).unwrap();
                assert_eq!(report.evaluations, 1);
                most = most.max(energy(&coupling, masses));
            }
            let contraction = coupling.contraction(0).unwrap();
            println!(
                "{masses:?} at {rate}: energy at most {:.4}, contraction {contraction:.4}",
                most / first
            );
            assert!(most < 1.1 * first, "{masses:?} at {rate}: {first} J became {most} J");
            assert!(contraction < 1.02, "{contraction}");
            let v = |i: usize| coupling.simulator(i).unwrap().read(0).velocity.linear;
            let momentum = masses[0] * v(0) + masses[1] * v(1);
            assert!(momentum.length() < 1e-9, "{momentum}");
        }
    }
}

#[test]
fn a_spring_that_is_too_stiff_for_the_step_is_an_error_within_a_few_steps() {
    // ω h = 2.6 and 6: a lagged force turns about and grows; or too much damping for the step
    for (stiffness, damping) in [(6.8 * 1800.0, 0.0), (36.0 * 1800.0, 0.0), (0.0, 150.0)] {
        let masses = [1.0, 1.0];
        let mut coupling = pair(stiffness, damping, masses);
        // what only damps needs something to damp
        coupling.get_mut::<World>(1).unwrap().kick(0, Wrench { force: Vec3::X, ..Wrench::ZERO });
        let first = energy(&coupling, masses);
        let error = (0..600).find_map(|_| coupling.step(1.0 / 60.0).err()).expect("it diverges");
        let CoupleError::Diverged { between, growth, .. } = &error else { panic!("{error}") };
        assert_eq!(*between, ("rig".to_string(), "world".to_string()));
        assert!(*growth > 1.0, "{growth}");
        let text = error.to_string();
        assert!(text.contains("shorten the step"), "{text}");
        let now = energy(&coupling, masses);
        println!(
            "k {stiffness}, d {damping}: grows {growth:.2} times a step, {:.0} times the energy",
            now / first
        );
        for i in 0..2 {
            assert!(coupling.simulator(i).unwrap().read(0).position.length() < 1e4, "{text}");
        }
    }
}

#[test]
fn the_contraction_is_that_of_the_spring_and_the_masses() {
    let (k, d, h) = (400.0, 3.0, 1.0 / 60.0);
    let mut coupling = pair(k, d, [1.0, 4.0]);
    for _ in 0..40 {
        coupling.step(h).unwrap();
    }
    let substeps = f64::from(coupling.get::<World>(1).unwrap().settings().substeps);
    let (mu, c) = (1.25, 0.5 * (1.0 + 1.0 / substeps));
    let (w, drag) = (h * h * mu * k, h * mu * d);
    let determinant: f64 = 1.0 + (0.5 - c) * w - drag;
    let trace = 2.0 - (c + 0.5) * w - drag;
    assert!(0.25 * trace * trace < determinant, "it swings");
    let seen = coupling.contraction(0).unwrap();
    assert!((seen - determinant.sqrt()).abs() < 2e-3, "{seen} and {}", determinant.sqrt());
}

#[test]
fn whatever_needs_steps_taken_back_is_refused_by_name() {
    let mut a = space();
    let handle = ball(&mut a, 1.0, 0.0);
    let mut coupling = Coupling::new(lagged()).unwrap();
    let a = coupling.add("rig", OneWay(a)).unwrap();
    let b = coupling.add("mass", Mass::new(1.0, 0.0)).unwrap();
    let anchors = [Anchor::new(a, handle), Anchor::new(b, 0)];
    let cannot = |error: CoupleError| {
        let text = error.to_string();
        assert!(text.contains("rig") && text.contains("interleaved"), "{text}");
        let problem = SimulatorProblem::CannotGoBack;
        assert_eq!(error, CoupleError::Simulator { name: "rig".into(), problem });
    };
    cannot(coupling.tie(Tie::point(anchors[0], anchors[1])).unwrap_err());
    cannot(coupling.touch(a, b).unwrap_err());
    coupling.tie(Tie::spring(anchors[0], anchors[1], 10.0)).unwrap();
    cannot(coupling.tie(Tie::point(anchors[0], anchors[1])).unwrap_err());
    let iterated = CouplingSettings::default();
    cannot(coupling.set_settings(iterated).unwrap_err());
    coupling.step(0.01).unwrap();
    let mut other = Coupling::new(iterated).unwrap();
    let a = other.add("rig", OneWay(space())).unwrap();
    let b = other.add("world", space()).unwrap();
    cannot(other.watch(a, b).unwrap_err());
}

#[test]
fn a_box_rests_on_the_floor_of_a_simulator_that_cannot_go_back() {
    let mut floor = crate::earth();
    let slab = crate::cuboid(2.0, 0.1, 2.0);
    floor.add_body(Body::fixed(slab).at(0.0, -0.1, 0.0)).unwrap();
    let mut boxes = crate::earth();
    let body = Body::dynamic(crate::cuboid(0.2, 0.2, 0.2)).mass(2.0).at(0.0, 0.5, 0.0);
    let id = boxes.add_body(body).unwrap();
    let handle = boxes.body_handle(id).unwrap();
    let mut coupling = Coupling::new(lagged()).unwrap();
    let boxes = coupling.add("boxes", OneWay(boxes)).unwrap();
    let floor = coupling.add("floor", floor).unwrap();
    coupling.watch(boxes, floor).unwrap();
    let mut lowest = f64::INFINITY;
    for step in 0..600 {
        coupling.step(1.0 / 60.0).unwrap();
        if step > 120 {
            lowest = lowest.min(coupling.simulator(boxes).unwrap().read(handle).position.y);
        }
    }
    let motion = coupling.simulator(boxes).unwrap().read(handle);
    println!(
        "at {:.4} m, lowest {lowest:.4} m, {:.4} m/s",
        motion.position.y,
        motion.velocity.linear.length()
    );
    assert!(motion.position.y < 0.21 && lowest > 0.2 - 0.01, "{motion:?}, lowest {lowest}");
    assert!(motion.velocity.linear.length() < 0.2, "{motion:?}");
}
