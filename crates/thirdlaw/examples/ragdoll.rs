//! A ragdoll of five capsules falls down stairs.

use thirdlaw::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(Settings::default())?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    for i in 0..6 {
        let height = 0.15 * f64::from(6 - i);
        let step = Shape::cuboid(Vec3::new(0.2, height, 1.0))?;
        world.add_body(Body::fixed(step).at(0.4 * f64::from(i), height, 0.0))?;
    }
    let limb = Shape::capsule(0.18, 0.07)?;
    let chest = Body::dynamic(Shape::capsule(0.15, 0.14)?).mass(30.0).at(0.0, 2.7, 0.0);
    let chest = world.add_body(chest.moving(Vec3::new(1.5, 0.0, 0.0)))?;
    let mut joints = Vec::new();
    for (x, y) in [(-0.1, 2.1), (0.1, 2.1), (-0.24, 2.75), (0.24, 2.75)] {
        let part = world.add_body(Body::dynamic(limb.clone()).mass(5.0).at(0.0, y, x))?;
        let top = y + 0.22;
        joints.push(world.add_joint(Joint::ball(chest, part).at(0.0, top, x))?);
    }
    for _ in 0..240 {
        world.step(1.0 / 60.0)?;
    }
    let gap = joints.iter().filter_map(|&id| world.joint_reading(id).ok()).map(|r| r.error);
    let gap = gap.fold(0.0, f64::max);
    println!("chest at {:.2}, widest gap of a joint {gap:.1e} m", world.center(chest)?);
    assert!(gap < 5e-3 && world.center(chest)?.y > 0.0);
    Ok(())
}
