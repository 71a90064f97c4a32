//! Frames of any length, steps of one: poses between steps, and debug lines.

use thirdlaw::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(Settings::default())?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let ball = world.add_body(Body::dynamic(Shape::sphere(0.2)?).at(0.0, 2.0, 0.0))?;
    let mut clock = StepClock::new(1.0 / 120.0)?;
    let mut height = 2.0;
    for frame in 0..100 {
        let took = 0.007 + 0.001 * f64::from(frame % 9);
        clock.advance(&mut world, took)?;
        let drawn = clock.pose(&world, ball)?.translation.y;
        // never up and down again between frames
        assert!(frame > 50 || drawn <= height + 1e-9, "{frame}: {drawn} {height}");
        height = drawn;
    }
    let mut lines = 0;
    world.debug_lines(DebugParts::all(), |_| lines += 1);
    println!("the ball is drawn at {height:.3} m with {lines} lines in all");
    Ok(())
}
