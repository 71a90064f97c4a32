//! P2 to P4: added mass, contraction as the theory says, and nothing hidden.

use super::Mass;
use thirdlaw::couple::{
    Acceleration, Anchor, CoupleError, Coupling, CouplingReport, CouplingSettings, Method, Roles,
    Tie,
};

const DT: f64 = 0.01;

/// `forced` is moved by force, `led` by motion.
fn pair(forced: Mass, led: Mass, settings: CouplingSettings, roles: Roles) -> Coupling {
    let mut coupling = Coupling::new(settings).unwrap();
    coupling.add("forced", forced).unwrap();
    coupling.add("led", led).unwrap();
    let tie = Tie::point(Anchor::new(0, 0), Anchor::new(1, 0)).roles(roles);
    coupling.tie(tie).unwrap();
    coupling
}

fn fixed_point(acceleration: Acceleration) -> CouplingSettings {
    CouplingSettings {
        method: Method::FixedPoint,
        acceleration,
        switch: false,
        tolerance: 1e-10,
        ..Default::default()
    }
}

#[test]
fn a_fixed_point_contracts_by_the_ratio_of_responses() {
    for (led, k) in [(0.5, 0.0), (0.5, 1e4), (1.5, 1e4), (0.9, 2e3)] {
        let expected = led / (1.0 + k * DT * DT);
        assert!(expected < 1.0);
        let forced = Mass { v: 1.0, ..Mass::new(1.0, k) };
        let led = Mass { v: 1.0, gravity: 3.0, ..Mass::new(led, 0.0) };
        // a fixed point that goes slowly is wanted here
        let settings = CouplingSettings { evaluations: 400, ..fixed_point(Acceleration::None) };
        let mut coupling = pair(forced, led, settings, Roles::SecondFollows);
        let report = coupling.step(DT).unwrap();
        let measured = report.contraction.unwrap();
        assert!((measured - expected).abs() < 1e-3, "{measured} for {expected}");
        let theory = coupling.contraction(0).unwrap();
        assert!((theory - expected).abs() < 1e-6, "from responses {theory} for {expected}");
    }
}

#[test]
fn added_mass_is_reported_before_it_is_seen_for_every_step_size() {
    for dt in [1e-1, 1e-2, 1e-3, 1e-4] {
        let led = Mass { gravity: 1.0, ..Mass::new(1.2, 0.0) };
        let settings = fixed_point(Acceleration::None);
        let mut coupling = pair(Mass::new(1.0, 0.0), led, settings, Roles::SecondFollows);
        match coupling.step(dt) {
            Err(CoupleError::Diverged { growth, .. }) => {
                assert!((growth - 1.2).abs() < 1e-6, "{growth}");
            }
            other => panic!("{other:?}"),
        }
        let mass = coupling.get::<Mass>(1).unwrap();
        assert_eq!((mass.x, mass.v), (0.0, 0.0), "nothing moved");
    }
}

#[test]
fn aitken_needs_few_exchanges_up_to_a_hundredfold_added_mass() {
    for ratio in [0.5, 2.0, 10.0, 100.0] {
        let led = Mass { gravity: 1.0, ..Mass::new(ratio, 0.0) };
        let settings = fixed_point(Acceleration::Aitken);
        let mut coupling = pair(Mass::new(1.0, 0.0), led, settings, Roles::SecondFollows);
        for _ in 0..20 {
            let report = coupling.step(DT).unwrap();
            let exchanges = report.evaluations;
            assert!(exchanges <= 4, "{ratio}: {exchanges}");
        }
        let (a, b) = (coupling.get::<Mass>(0).unwrap(), coupling.get::<Mass>(1).unwrap());
        let exact = ratio / (1.0 + ratio) * 20.0 * DT;
        assert!((a.v - exact).abs() < 1e-8 * exact && (b.v - a.v).abs() < 1e-9, "{} {}", a.v, b.v);
    }
}

#[test]
fn roles_are_chosen_by_response_and_not_by_mass() {
    // the first is lighter, but its spring makes it heavier over a step: the second follows
    let stiff = Mass { x: 0.0, ..Mass::new(0.1, 1e5) };
    let settings = CouplingSettings { method: Method::Interleaved, ..Default::default() };
    let mut coupling = pair(stiff, Mass::new(1.0, 0.0), settings, Roles::Measured);
    let report = coupling.step(DT).unwrap();
    let expected = 1.0 / (0.1 + 1e5 * DT * DT);
    assert!((report.contraction.unwrap() - expected).abs() < 1e-6);
    assert!(!report.switched);
}

#[test]
fn a_lagged_force_nears_the_true_one_as_the_theory_says() {
    // both fall with different gravity: the true force is constant
    let (m, n) = (1.0, 0.4);
    let settings = CouplingSettings { method: Method::Interleaved, ..Default::default() };
    let led = Mass { gravity: -2.0, ..Mass::new(n, 0.0) };
    let mut coupling = pair(Mass::new(m, 0.0), led, settings, Roles::SecondFollows);
    let force = -2.0 * n * m / (m + n);
    let mut last = force.abs();
    for _ in 0..12 {
        coupling.step(DT).unwrap();
        let error = (coupling.tie_force(0).unwrap()[0] - force).abs();
        assert!((error / last - n / m).abs() < 1e-6, "{} for {}", error / last, n / m);
        last = error;
        let entry = coupling.ledger()[0];
        assert!(
            entry.crossing_imbalance() > 0.0,
            "lagged forces do not balance, and the books say so"
        );
    }
}

fn run(method: Method, ratio: f64, roles: Roles) -> (f64, f64, CouplingReport) {
    let settings = CouplingSettings { method, ..Default::default() };
    let a = Mass { v: 1.0, ..Mass::new(1.0, 40.0) };
    let b = Mass { v: 1.0, gravity: -1.0, ..Mass::new(ratio, 0.0) };
    let mut coupling = pair(a, b, settings, roles);
    let mut report = CouplingReport::default();
    for _ in 0..100 {
        report = coupling.step(DT).unwrap();
        assert!(report.converged);
    }
    (coupling.get::<Mass>(0).unwrap().x, coupling.get::<Mass>(1).unwrap().x, report)
}

#[test]
fn every_mass_ratio_is_the_merged_mass_or_is_switched() {
    for exponent in -3..=3 {
        let ratio = 10_f64.powi(exponent);
        let mut merged = Mass { v: 1.0, ..Mass::new(1.0 + ratio, 40.0) };
        merged.gravity = -ratio / (1.0 + ratio);
        for _ in 0..100 {
            use thirdlaw::simulator::Simulator;
            merged.step(DT).unwrap();
        }
        let (a, b, report) = run(Method::Iterated, ratio, Roles::Measured);
        assert!((a - merged.x).abs() < 1e-8 && (b - a).abs() < 1e-8, "{ratio}: {a} {}", merged.x);
        assert!(report.evaluations <= 3, "{}", report.evaluations);
        // whoever follows: exact geometry, and roles that converge where they are left open
        let (a, b, _) = run(Method::Interleaved, ratio, Roles::Measured);
        assert!((b - a).abs() < 1e-12 && (a - merged.x).abs() < 0.05, "{ratio}: {a} {}", merged.x);
        let (a, _, report) = run(Method::Interleaved, ratio, Roles::SecondFollows);
        assert_eq!(report.switched, ratio > 0.9, "{ratio}: {:?}", report.contraction);
        assert!((a - merged.x).abs() < 0.05, "{ratio}");
        let (a, b, _) = run(Method::Repaired, ratio, Roles::Measured);
        assert!((a - merged.x).abs() < 1e-8 && (b - a).abs() < 1e-12);
    }
}

#[test]
fn iterating_equals_the_monolithic_scheme() {
    let settings = CouplingSettings { tolerance: 1e-10, ..Default::default() };
    for newmark in [false, true] {
        let a = Mass { v: 1.0, x: 0.2, newmark, ..Mass::new(1.0, 300.0) };
        let b = Mass { v: 1.0, x: 0.2, newmark, gravity: -4.0, ..Mass::new(2.0, 50.0) };
        let mut whole = Mass { v: 1.0, x: 0.2, newmark, ..Mass::new(3.0, 350.0) };
        whole.gravity = -8.0 / 3.0;
        let mut coupling = pair(a, b, settings, Roles::Measured);
        for _ in 0..1000 {
            use thirdlaw::simulator::Simulator;
            coupling.step(DT).unwrap();
            whole.step(DT).unwrap();
            for i in 0..2 {
                let x = coupling.get::<Mass>(i).unwrap().x;
                assert!((x - whole.x).abs() < 1e-8, "{newmark}: {x} {}", whole.x);
            }
        }
        assert!(coupling.totals().imbalance.length() < 1e-12);
    }
}

#[test]
fn iterations_spread_over_time_lag_and_settle() {
    let settings = CouplingSettings { spread: true, ..Default::default() };
    let led = Mass { gravity: -2.0, ..Mass::new(0.4, 0.0) };
    let mut coupling = pair(Mass::new(1.0, 0.0), led, settings, Roles::Measured);
    for _ in 0..30 {
        coupling.step(DT).unwrap();
    }
    let force = coupling.tie_force(0).unwrap()[0];
    assert!((force + 2.0 * 0.4 / 1.4).abs() < 1e-6, "{force}");
}
