//! A ball falls on the ground and bounces.

use thirdlaw::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(Settings::default())?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let ball = Body::dynamic(Shape::sphere(0.5)?).restitution(0.6).at(0.0, 3.0, 0.0);
    let ball = world.add_body(ball)?;
    for frame in 0..240 {
        world.step(1.0 / 60.0)?;
        if frame % 20 == 0 {
            println!("{:5.2} s: {:6.3} m", world.time(), world.pose(ball)?.translation.y);
        }
    }
    assert!((world.pose(ball)?.translation.y - 0.5).abs() < 0.01);
    Ok(())
}
