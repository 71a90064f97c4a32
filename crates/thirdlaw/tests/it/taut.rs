//! Chains and bridges that exactly fill their span: no motion is left to them, though to first order
//! every link may still sink. The tension that would hold them is infinite; what they do is stay.

use crate::{cuboid, earth};
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
        .add_joint(dress(last.anchors(Vec3::new(0.2, 0.0, 0.0), Vec3::new(4.0 - slack, 0.0, 0.0))))
        .unwrap();
    bars
}

/// The largest kinetic energy, gap, and rise of the total energy in so many steps.
fn watch(world: &mut World, steps: usize, name: &str) -> (f64, f64, f64) {
    let energy = |world: &World| {
        let e = measure::energy(world);
        (e.kinetic, e.kinetic + e.gravity)
    };
    let start = energy(world).1;
    let (mut kinetic, mut gap, mut rise) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..steps {
        world.step(FRAME).unwrap();
        let (moving, total) = energy(world);
        kinetic = kinetic.max(moving);
        gap = gap.max(measure::joint_error(world));
        rise = rise.max(total - start);
    }
    println!("{name}: kinetic {kinetic:e} J, gap {gap:e} m, rise {rise:e} J");
    (kinetic, gap, rise)
}

#[test]
fn a_taut_chain_stays() {
    let mut world = earth();
    chain(&mut world, 0.0, |j| j);
    let (kinetic, gap, rise) = watch(&mut world, 120, "bare");
    assert!(kinetic < 0.02 && gap < 1e-6 && rise < 1e-2);
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
    let (kinetic, gap, rise) = watch(&mut world, 30, "dressed");
    assert!(kinetic < 0.02 && gap < 1e-6 && rise < 1e-2);
}

#[test]
fn a_chain_with_hardly_any_slack_gains_no_energy() {
    for slack in [1e-9, 1e-7, 1e-5, 1e-4, 1e-3, -1e-6, -1e-4] {
        let mut world = earth();
        chain(&mut world, slack, |j| j);
        let (_, gap, rise) = watch(&mut world, 60, &format!("slack {slack:e}"));
        assert!(gap < 2e-4 && rise < 0.3);
    }
}

/// Ten planks between two banks, with two hinges at every edge.
fn bridge(world: &mut World) {
    let mut before = Side::World;
    for i in 0..=10 {
        let x = 0.4 * i as f64;
        let next = if i < 10 {
            let plank = Body::dynamic(cuboid(0.18, 0.03, 0.5)).at(x + 0.2, 0.0, 0.0).mass(4.0);
            world.add_body(plank).unwrap().into()
        } else {
            Side::World
        };
        for z in [-0.4, 0.4] {
            let hinge = Joint::hinge(before, next).axis(Vec3::Z).at(x, 0.0, z);
            world.add_joint(hinge).unwrap();
        }
        before = next;
    }
}

#[test]
fn a_taut_bridge_of_planks_stays() {
    let mut world = earth();
    bridge(&mut world);
    let (kinetic, gap, rise) = watch(&mut world, 120, "bridge");
    assert!(kinetic < 0.05 && gap < 1e-6 && rise < 1e-2);
}

#[test]
fn a_taut_bridge_bears_a_weight_that_falls_on_it() {
    let mass = 1000.0;
    let mut world = earth();
    bridge(&mut world);
    let weight = Body::dynamic(cuboid(0.3, 0.2, 0.3)).at(2.1, 1.0, 0.0).mass(mass);
    let weight = world.add_body(weight).unwrap();
    let (_, gap, rise) = watch(&mut world, 90, &format!("{mass} kg on the bridge"));
    let (at, moving) = (world.center(weight).unwrap(), measure::energy(&world).kinetic);
    println!("at {at}, kinetic {moving:e} J");
    // half its height over the upper faces of the planks
    assert!(gap < 1e-4 && rise < 1e-1, "gap {gap} rise {rise}");
    assert!((at.y - 0.23).abs() < 5e-3 && moving < 1e-3 * mass, "{at} {moving}");
}

#[test]
fn a_weight_falls_on_a_taut_chain() {
    // it lands after 0.4 s and later tips over
    let mass = 1000.0;
    let mut world = earth();
    chain(&mut world, 0.0, |j| j);
    let weight = Body::dynamic(cuboid(0.3, 0.2, 0.3)).at(2.1, 1.0, 0.0).mass(mass);
    let weight = world.add_body(weight).unwrap();
    let (_, gap, rise) = watch(&mut world, 40, &format!("{mass} kg on the chain"));
    let at = world.center(weight).unwrap();
    println!("at {at}");
    assert!(gap < 1e-4 && rise < 1e-1, "gap {gap} rise {rise}");
    // by then it may lean by a degree
    assert!((at.y - 0.23).abs() < 1e-2, "{at}");
}

#[test]
fn joints_to_the_world_far_from_the_origin_agree_with_their_friction() {
    // friction and its bounds take several rounds on the same velocities; the world must not turn
    let mut world = earth();
    let door = Body::dynamic(cuboid(0.5, 0.05, 0.05)).at(40.5, 0.0, 0.0).mass(1.0);
    let door = world.add_body(door).unwrap();
    let hinge = Joint::hinge(door, Side::World).axis(Vec3::Z).at(40.0, 0.0, 0.0);
    let hinge = hinge.friction(Axis::TurnX, 2.0).limit(Axis::TurnX, -1.0, 1.0);
    world.add_joint(hinge).unwrap();
    let (_, gap, rise) = watch(&mut world, 120, "door");
    assert!(gap < 1e-8 && rise < 1e-9, "gap {gap} rise {rise}");
}
