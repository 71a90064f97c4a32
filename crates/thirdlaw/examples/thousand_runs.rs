//! A thousand runs with other numbers over all threads; the same answers for any number of them.

use rayon::prelude::*;
use thirdlaw::prelude::*;

type Failure = Box<dyn std::error::Error + Send + Sync>;

pub(crate) fn main() -> Result<(), Failure> {
    let mut start = World::new(Settings::default())?;
    start.add_body(Body::fixed(Shape::half_space(Vec3::Y)?).friction(0.3))?;
    let puck = Shape::cylinder(0.05, 0.2)?;
    let puck = start.add_body(Body::dynamic(puck).at(0.0, 0.05, 0.0).friction(0.3))?;
    let ways: Result<Vec<f64>, Failure> = (0..1000_u32)
        .into_par_iter()
        .map(|run| {
            let mut world = start.clone();
            let speed = 1.0 + 0.004 * f64::from(run);
            world.set_velocity(puck, Twist { linear: speed * Vec3::X, ..Twist::default() })?;
            for _ in 0..150 {
                world.step(1.0 / 60.0)?;
            }
            Ok(world.center(puck)?.x)
        })
        .collect();
    let ways = ways?;
    // v²/(2 μ g)
    let (first, last) = (ways[0], ways[999]);
    println!("from {first:.3} m to {last:.3} m");
    assert!((first - 1.0 / (0.6 * 9.81)).abs() < 0.02, "{first}");
    assert!(ways.is_sorted());
    Ok(())
}
