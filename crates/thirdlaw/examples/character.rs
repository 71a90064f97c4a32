//! Up some stairs, onto a lift, and off it with a jump.

use thirdlaw::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    const FRAME: f64 = 1.0 / 60.0;
    let mut world = World::new(Settings::default())?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    for i in 1..=5 {
        let (x, top) = (1.5 + 0.4 * f64::from(i), 0.25 * f64::from(i));
        let stair = Shape::cuboid(Vec3::new(0.2, 0.5 * top, 1.0))?;
        world.add_body(Body::fixed(stair).at(x, 0.5 * top, 0.0))?;
    }
    let lift = Shape::cuboid(Vec3::new(1.0, 0.1, 1.0))?;
    let lift = world.add_body(Body::kinematic(lift).at(4.75, 1.15, 0.0))?;
    let crate_ = Body::dynamic(Shape::cuboid(Vec3::splat(0.3))?).mass(20.0);
    let crate_ = world.add_body(crate_.at(10.0, 0.3, 0.05))?;
    let mut walker = Character::add(&mut world, CharacterSettings::default(), Vec3::ZERO)?;
    let mut seconds = 0.0;
    let (mut aboard, mut highest) = (None, 0.0f64);
    while seconds < 8.0 {
        // towards the lift until it stands there; off it when it is up
        let height = world.pose(lift)?.translation.y;
        let up = height > 2.9;
        let wish = if aboard.is_none() || up { 2.0 * Vec3::X } else { Vec3::ZERO };
        let footing = walker.walk(&mut world, wish, up && highest < 3.2, FRAME)?;
        let on_lift = footing.is_some_and(|footing| footing.who == lift.into());
        if on_lift && walker.feet(&world)?.x > 4.4 && aboard.is_none() {
            println!("on the lift after {seconds:.1} s");
            aboard = Some(seconds);
        }
        let rises = aboard.is_some() && !up;
        world.set_velocity(
            lift,
            Twist { linear: if rises { Vec3::Y } else { Vec3::ZERO }, ..Twist::default() },
        )?;
        world.step(FRAME)?;
        seconds += FRAME;
        highest = highest.max(walker.feet(&world)?.y);
    }
    let (feet, pushed) = (walker.feet(&world)?, world.center(crate_)?);
    println!("its feet are at {feet:.2}, the highest was {highest:.2} m");
    println!("the crate in its way was pushed to {pushed:.2}");
    assert!(aboard.is_some() && highest > 3.8 && feet.x > 6.0 && feet.y.abs() < 2e-3);
    assert!(pushed.distance(Vec3::new(10.0, 0.3, 0.05)) > 0.3);
    Ok(())
}
