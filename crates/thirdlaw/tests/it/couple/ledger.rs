//! The ledger: what simulators did, against what they were given. Simulators that cheat are planted.

use thirdlaw::couple::{Anchor, Coupling, CouplingSettings, Tie};
use thirdlaw::simulator::{
    ContactSheet, ContactSurface, FreeHandle, HandleResponse, Motion, Simulator, SimulatorFailure,
    Wrench,
};
use thirdlaw::{Body, Vec3, World, measure};

const DT: f64 = 1.0 / 60.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Every step it multiplies all velocities by this.
    Leak(f64),
    /// It takes a force and does nothing.
    Deaf,
    /// Forces act this many times as strong.
    Loud(f64),
    /// It takes impulses and does nothing.
    Numb,
    /// It does not say what it knows.
    Mute,
}

/// A world that cheats.
struct Cheat {
    world: World,
    fault: Fault,
    /// Energy that it made so far, and at the last save, J.
    made: [f64; 2],
}

impl Cheat {
    fn new(world: World, fault: Fault) -> Cheat {
        Cheat { world, fault, made: [0.0; 2] }
    }
}

impl Simulator for Cheat {
    fn handle_count(&self) -> usize {
        self.world.handle_count()
    }
    fn read(&self, handle: usize) -> Motion {
        self.world.read(handle)
    }
    fn push(&mut self, handle: usize, force: Wrench) {
        match self.fault {
            Fault::Deaf => {}
            Fault::Loud(by) => Simulator::push(&mut self.world, handle, force.scaled(by)),
            _ => Simulator::push(&mut self.world, handle, force),
        }
    }
    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        Simulator::step(&mut self.world, dt)?;
        if let Fault::Leak(by) = self.fault {
            let response = self.world.response(0).unwrap();
            let v = self.world.read(0).velocity;
            let force = (by - 1.0) * response.mass * v.linear;
            let torque = (by - 1.0) * (response.inertia * v.angular);
            let before = measure::energy(&self.world).kinetic;
            self.world.kick(0, Wrench { force, torque });
            self.made[0] += measure::energy(&self.world).kinetic - before;
        }
        Ok(())
    }
    fn save(&mut self) {
        Simulator::save(&mut self.world);
        self.made[1] = self.made[0];
    }
    fn restore(&mut self) {
        Simulator::restore(&mut self.world);
        self.made[0] = self.made[1];
    }
    fn to_bytes(&self) -> Vec<u8> {
        Simulator::to_bytes(&self.world)
    }
    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure> {
        self.world.load(bytes)
    }
    fn kick(&mut self, handle: usize, impulse: Wrench) -> bool {
        if self.fault == Fault::Numb { true } else { self.world.kick(handle, impulse) }
    }
    fn shift(&mut self, handle: usize, way: Vec3, turn: Vec3) -> bool {
        self.world.shift(handle, way, turn)
    }
    fn response(&self, handle: usize) -> Option<HandleResponse> {
        self.world.response(handle)
    }
    fn surfaces(&self) -> Vec<ContactSurface> {
        self.world.surfaces()
    }
    fn sheets(&self) -> Vec<ContactSheet> {
        self.world.sheets()
    }
    fn free_handles(&self, out: &mut Vec<FreeHandle>) -> bool {
        self.fault != Fault::Mute && self.world.free_handles(out)
    }
}

fn body(mass: f64, at: [f64; 3]) -> World {
    let mut world = crate::earth();
    let [x, y, z] = at;
    let body = Body::dynamic(crate::cuboid(0.2, 0.3, 0.1)).mass(mass).at(x, y, z);
    world
        .add_body(body.moving(Vec3::new(0.5, 1.0, 0.0)).spinning(Vec3::new(0.0, 0.2, 1.0)))
        .unwrap();
    world
}

/// Two flying bodies, tied beside their centres by a spring or a point; the second may cheat.
fn flight(fault: Fault, hard: bool) -> Coupling {
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    coupling.add("honest", body(1.0, [0.0; 3])).unwrap();
    coupling.add("other", Cheat::new(body(2.0, [0.4, 0.0, 0.1]), fault)).unwrap();
    let a = Anchor::new(0, 0).at(Vec3::new(0.15, 0.0, 0.0));
    let b = Anchor::new(1, 0).at(Vec3::new(-0.15, 0.0, 0.0));
    coupling.tie(if hard { Tie::point(a, b) } else { Tie::spring(a, b, 200.0) }).unwrap();
    coupling
}

/// Kinetic energy of a coupled world, J.
fn kinetic(coupling: &Coupling, simulator: usize) -> f64 {
    let world = coupling.get::<World>(simulator);
    let cheat = || coupling.get::<Cheat>(simulator).map(|c| &c.world);
    measure::energy(world.or_else(cheat).unwrap()).kinetic
}

#[test]
fn whoever_does_as_asked_has_an_even_account() {
    for hard in [false, true] {
        let mut coupling = flight(Fault::None, hard);
        let (mut worst, mut gained): (f64, f64) = (0.0, 0.0);
        for _ in 0..60 {
            coupling.step(DT).unwrap();
            let entry = coupling.ledger()[0];
            assert!(entry.accounts.iter().all(|a| a.is_some_and(|a| a.judged == 1)));
            worst = worst.max(entry.imbalance().unwrap());
            gained += entry.gained().unwrap().abs();
        }
        println!("hard {hard}: imbalance {worst:e} N·s, gained {gained:e} J");
        assert!(worst < 1e-12, "{worst:e}");
        // what is left is how a body turns under a torque in a finite step
        assert!(gained < 2e-2 * kinetic(&coupling, 0), "{gained:e}");
    }
}

#[test]
fn a_leak_of_energy_is_booked_as_large_as_it_is() {
    for share in [1.001, 1.01, 0.99] {
        let mut coupling = flight(Fault::Leak(share), false);
        let (mut gained, mut lost, mut base) = (0.0, Vec3::ZERO, 0.0);
        let mut honest = flight(Fault::None, false);
        for _ in 0..30 {
            coupling.step(DT).unwrap();
            honest.step(DT).unwrap();
            let account = coupling.account(1).unwrap();
            gained += account.gained;
            lost += account.surplus;
            base += honest.account(1).unwrap().gained;
        }
        let wanted = coupling.get::<Cheat>(1).unwrap().made[0];
        println!("{share}: booked {gained} J, planted {wanted} J, without {base} J");
        assert!((gained - base - wanted).abs() < 0.03 * wanted.abs(), "{gained} {wanted}");
        assert!(lost.length() > 0.1 * (share - 1.0_f64).abs(), "{lost}");
        assert!(coupling.account(0).unwrap().surplus.length() < 1e-12, "the other is honest");
    }
}

#[test]
fn lost_impulses_and_doubled_forces_are_booked_as_large_as_they_are() {
    for (fault, share) in [(Fault::Deaf, -1.0), (Fault::Loud(2.0), 1.0), (Fault::Loud(1.5), 0.5)] {
        let mut coupling = flight(fault, false);
        for _ in 0..20 {
            // whoever hears nothing cannot be tied tightly: what is kept of such a step does not matter
            let settings = CouplingSettings { keep_unconverged: true, ..*coupling.settings() };
            coupling.set_settings(settings).unwrap();
            coupling.step(DT).unwrap();
            let entry = coupling.ledger()[0];
            let (surplus, given) = (entry.accounts[1].unwrap().surplus, entry.impulse[1]);
            let off = (surplus - share * given).length();
            assert!(off < 1e-9 * (1.0 + given.length()), "{fault:?}: {surplus} of {given}");
            assert!(entry.imbalance().unwrap() > 0.9 * share.abs() * given.length());
        }
    }
}

#[test]
fn what_nobody_says_is_unknown_and_not_zero() {
    let mut coupling = flight(Fault::Mute, false);
    coupling.step(DT).unwrap();
    let entry = coupling.ledger()[0];
    assert!(entry.accounts[1].is_none() && coupling.account(1).is_none());
    assert!(entry.imbalance().is_some(), "one side is known");
    // a body on the floor of its own world is not judged, either
    let mut lower = crate::earth();
    lower.add_body(crate::floor()).unwrap();
    lower
        .add_body(Body::dynamic(crate::cuboid(0.3, 0.2, 0.3)).mass(1.0).at(0.0, 0.1, 0.0))
        .unwrap();
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    coupling.add("lower", lower).unwrap();
    coupling.add("other", Cheat::new(body(0.1, [0.0, 0.4, 0.0]), Fault::Mute)).unwrap();
    let (a, b) = (Anchor::new(0, 1), Anchor::new(1, 0));
    coupling.tie(Tie::spring(a, b, 10.0)).unwrap();
    for _ in 0..5 {
        coupling.step(DT).unwrap();
    }
    assert_eq!(coupling.ledger()[0].imbalance(), None);
    assert_eq!(coupling.ledger()[0].gained(), None);
}

/// What a ball loses in falling on cloth of another simulator, whenever in a step it strikes.
#[test]
fn a_ball_that_loses_energy_is_booked_with_that() {
    for drop in [0.30, 0.31, 0.325, 0.34] {
        let mut balls = crate::earth();
        balls
            .add_body(Body::dynamic(crate::sphere(0.1)).mass(0.5).at(0.01, 0.1 + drop, 0.02))
            .unwrap();
        let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
        coupling.add("cloth", super::sheet(13)).unwrap();
        coupling.add("balls", balls).unwrap();
        coupling.touch(0, 1).unwrap();
        let energy = |c: &Coupling| {
            let energy = measure::energy(c.get::<World>(1).unwrap());
            energy.kinetic + energy.gravity
        };
        // E + ½ h g·P is what free fall keeps in steps of semi-implicit Euler
        let kept = |c: &Coupling| {
            let world = c.get::<World>(1).unwrap();
            let h = DT / f64::from(world.settings().substeps);
            energy(c) + 0.5 * h * world.settings().gravity.dot(measure::momentum(world).0)
        };
        let (mut booked, mut worst): (f64, f64) = (0.0, 0.0);
        let before = kept(&coupling);
        for _ in 0..40 {
            coupling.step(DT).unwrap();
            let entry = coupling.ledger()[0];
            assert_eq!(entry.between, [1, 0]);
            booked += entry.work[0];
            worst = worst.max(entry.imbalance().unwrap());
        }
        let lost = kept(&coupling) - before;
        println!("drop {drop}: lost {lost} J, booked {booked} J, imbalance {worst:e}");
        assert!(lost < -0.3, "{lost}");
        assert!((booked - lost).abs() < 0.01 * lost.abs(), "{booked} {lost}");
        assert!(worst < 1e-12, "{worst:e}");
    }
}

/// A simulator that takes the impulse of a contact and does nothing with it.
#[test]
fn an_impulse_of_a_contact_that_is_lost_is_booked() {
    let mut balls = crate::earth();
    balls.add_body(Body::dynamic(crate::sphere(0.1)).mass(0.5).at(0.01, 0.3, 0.02)).unwrap();
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    coupling.add("cloth", super::sheet(13)).unwrap();
    coupling.add("balls", Cheat::new(balls, Fault::Numb)).unwrap();
    coupling.touch(0, 1).unwrap();
    let mut worst: f64 = 0.0;
    for _ in 0..30 {
        if coupling.step(DT).is_err() {
            break;
        }
        worst = worst.max(coupling.ledger()[0].imbalance().unwrap());
    }
    assert!(worst > 0.01, "{worst:e}");
}
