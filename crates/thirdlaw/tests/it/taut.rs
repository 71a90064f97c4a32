//! Chains and bridges that exactly fill their span: no motion is left to them, though to first order
//! every link may still sink. The tension that would hold them is infinite; what they do is stay.

use crate::{cuboid, earth, sphere};
use thirdlaw::{Axis, Body, BodyId, Joint, Side, Vec3, World, measure};

const FRAME: f64 = 1.0 / 60.0;

/// Ten bars on ball joints, pulled straight between two anchors.
fn chain(world: &mut World, slack: f64, dress: impl Fn(Joint) -> Joint) -> Vec<BodyId> {
    let mut before = Side::World;
    let mut bars = Vec::new();
    for i in 0..10 {
        let x = 0.4 * i as f64;
        let bar = Body::dynamic(cuboid(0.18, 0.03, 0.03)).at(x + 0.2, 0.0, 0.0).mass(1.0);
        let bar = world.add_body(bar).unwrap();
        world.add_joint(dress(Joint::ball(before, bar).at(x, 0.0, 0.0))).unwrap();
        before = bar.into();
        bars.push(bar);
    }
    let last = Joint::ball(before, Side::World).assembling();
    world
        .add_joint(dress(
            last.anchors(Vec3::new(0.2, 0.0, 0.0), Vec3::new(4.0 - slack, 0.0, 0.0)),
        ))
        .unwrap();
    bars
}

/// Largest kinetic energy, gap, and rise of the total energy in so many steps.
fn watch(world: &mut World, steps: usize, name: &str) -> (f64, f64, f64) {
    let total = |world: &World| {
        let e = measure::energy(world);
        (e.kinetic, e.kinetic + e.gravity)
    };
    let start = total(world).1;
    let (mut kinetic, mut gap, mut rise) = (0.0_f64, 0.0_f64, 0.0_f64);
    for step in 0..steps {
        if let Err(e) = world.step(FRAME) {
            println!("{name}: step {step} {e}");
            return (f64::NAN, f64::NAN, f64::NAN);
        }
        let (k, t) = total(world);
        if false {
            println!("   {step} k {k:e} rise {:e} gap {:e}", t - start, measure::joint_error(world));
        }
        kinetic = kinetic.max(k);
        gap = gap.max(measure::joint_error(world));
        rise = rise.max(t - start);
    }
    println!("{name}: kinetic {kinetic:e} gap {gap:e} rise {rise:e}");
    (kinetic, gap, rise)
}

#[test]
fn a_taut_chain_stays() {
    let mut world = earth();
    chain(&mut world, 0.0, |j| j);
    let (kinetic, gap, rise) = watch(&mut world, 300, "bare");
    assert!(kinetic < 1e-2 && gap < 1e-3 && rise < 1e-2);
}

#[test]
fn a_taut_chain_with_limits_and_friction_stays() {
    let mut world = earth();
    chain(&mut world, 0.0, |j| {
        j.limit(Axis::TurnX, -0.5, 0.5)
            .limit(Axis::TurnY, -0.8, 0.8)
            .limit(Axis::TurnZ, -0.8, 0.8)
            .friction(Axis::TurnX, 0.01)
            .friction(Axis::TurnY, 0.01)
            .friction(Axis::TurnZ, 0.01)
    });
    let (kinetic, gap, rise) = watch(&mut world, 300, "dressed");
    assert!(kinetic < 1e-2 && gap < 1e-3 && rise < 1e-2);
}

#[test]
fn a_chain_with_hardly_any_slack_gains_no_energy() {
    for slack in [1e-9, 1e-7, 1e-5, 1e-4, 1e-3, -1e-6, -1e-4] {
        let mut world = earth();
        chain(&mut world, slack, |j| j);
        let (_, gap, rise) = watch(&mut world, 300, &format!("slack {slack:e}"));
        assert!(gap < 1e-3 && rise < 2.0);
    }
}

#[test]
fn a_taut_bridge_of_planks_stays() {
    let mut world = earth();
    let mut before = Side::World;
    for i in 0..10 {
        let x = 0.4 * i as f64;
        let plank = Body::dynamic(cuboid(0.18, 0.03, 0.5)).at(x + 0.2, 0.0, 0.0).mass(4.0);
        let plank = world.add_body(plank).unwrap();
        for z in [-0.4, 0.4] {
            let hinge = Joint::hinge(before, plank).axis(Vec3::Z).at(x, 0.0, z);
            world.add_joint(hinge).unwrap();
        }
        before = plank.into();
    }
    for z in [-0.4, 0.4] {
        let hinge = Joint::hinge(before, Side::World).axis(Vec3::Z).at(4.0, 0.0, z);
        world.add_joint(hinge).unwrap();
    }
    let (kinetic, gap, rise) = watch(&mut world, 300, "bridge");
    assert!(kinetic < 1e-2 && gap < 1e-3 && rise < 1e-2);
}

#[test]
fn a_weight_falls_on_a_taut_chain() {
    for mass in [1.0, 50.0, 1000.0] {
        let mut world = earth();
        chain(&mut world, 0.0, |j| j);
        let weight = Body::dynamic(cuboid(0.3, 0.2, 0.3)).at(2.1, 1.0, 0.0).mass(mass);
        let weight = world.add_body(weight).unwrap();
        let (_, gap, rise) = watch(&mut world, 300, &format!("weight {mass}"));
        println!("at {} {}", world.center(weight).unwrap(), measure::penetration(&world));
        assert!(gap < 1e-2 && rise < 1e-1);
    }
}
