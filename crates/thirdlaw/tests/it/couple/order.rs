//! How fast the answer of tied simulators gets better with shorter steps.

use crate::{cuboid, world};
use thirdlaw::couple::{Anchor, Coupling, CouplingSettings, Tie};
use thirdlaw::simulator::Simulator;
use thirdlaw::{Body, Joint, Side, Vec3, World};

/// A crank on a hinge in one world, and a bob in another which hangs on its end by an arm.
fn sling(spin: f64) -> Coupling {
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    let mut cranks = world(9.81);
    let crank = Body::dynamic(cuboid(0.3, 0.03, 0.03)).mass(1.0).at(0.3, 0.0, 0.0);
    let crank =
        cranks.add_body(crank.spinning(spin * Vec3::Z).moving(0.3 * spin * Vec3::Y)).unwrap();
    cranks.add_joint(Joint::hinge(Side::World, crank).axis(Vec3::Z)).unwrap();
    coupling.add("cranks", cranks).unwrap();
    let mut bobs = world(9.81);
    let bob = Body::dynamic(cuboid(0.1, 0.1, 0.1)).mass(0.5).at(0.6, -0.5, 0.0);
    bobs.add_body(bob.moving(0.6 * spin * Vec3::Y)).unwrap();
    coupling.add("bobs", bobs).unwrap();
    let end = Anchor::new(0, 0).at(Vec3::new(0.3, 0.0, 0.0));
    coupling.tie(Tie::point(end, Anchor::new(1, 0).at(Vec3::new(0.0, 0.5, 0.0)))).unwrap();
    coupling
}

/// Where the bob is after half a second, and the most parts of a step.
fn ends(spin: f64, rate: u32) -> (Vec3, u32) {
    let mut coupling = sling(spin);
    let mut parts = 0;
    for _ in 0..rate / 2 {
        parts = coupling.step(1.0 / f64::from(rate)).unwrap().parts.max(parts);
    }
    (coupling.get::<World>(1).unwrap().read(0).position, parts)
}

#[test]
fn tied_bodies_in_flight_get_better_with_the_square_of_the_step() {
    let (truth, _) = ends(0.0, 3840);
    let [coarse, fine] = [120, 480].map(|rate| ends(0.0, rate));
    let errors = [coarse, fine].map(|(end, _)| (end - truth).length());
    println!("errors {errors:?}, parts {} and {}", coarse.1, fine.1);
    assert!(errors[0] > 8.0 * errors[1], "{errors:?}");
    assert!(errors[0] < 0.002, "{errors:?}");
}

#[test]
fn a_step_in_which_a_tie_changes_much_is_made_in_parts() {
    let (truth, _) = ends(14.0, 3840);
    let (end, parts) = ends(14.0, 60);
    let off = (end - truth).length();
    println!("off by {off}, {parts} parts");
    assert!(parts > 1 && off < 0.02, "{off}, {parts} parts");
    assert_eq!(ends(0.0, 960).1, 1, "slow swings are not divided");
}

#[test]
fn what_parts_depend_on_is_saved() {
    let mut first = sling(14.0);
    for _ in 0..20 {
        first.step(1.0 / 60.0).unwrap();
    }
    let bytes = first.to_bytes().unwrap();
    let mut second = sling(14.0);
    second.load(&bytes).unwrap();
    for _ in 0..20 {
        let [a, b] = [&mut first, &mut second].map(|c| c.step(1.0 / 60.0).unwrap());
        assert_eq!(a, b);
    }
    assert_eq!(first.to_bytes().unwrap(), second.to_bytes().unwrap());
}
