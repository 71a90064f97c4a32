//! A tower of boxes, asked from above: what stands there, how high, and what does it weigh?

use thirdlaw::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(Settings::default())?;
    let ground = world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let cube = Shape::cuboid(Vec3::splat(0.5))?;
    for i in 0..10 {
        let place = 0.5 + f64::from(i);
        let id = world.add_body(Body::dynamic(cube.clone()).mass(10.0).at(0.0, place, 0.0))?;
        world.set_user_data(id, i as u128)?;
    }
    for _ in 0..180 {
        world.step(1.0 / 60.0)?;
    }
    let down = Ray::new(Vec3::new(0.0, 50.0, 0.0), -Vec3::Y)?;
    let top = world.cast_ray(&down, &Filter::new()).ok_or("nothing there")?;
    println!("{} at {:.3} m, user data {}", top.who, top.point.y, world.user_data(top.who)?);
    assert_eq!(world.user_data(top.who)?, 9);
    let through = world.cast_ray_all(&down, &Filter::new());
    assert_eq!(through.len(), 11, "ten boxes and the ground");
    let load = -world.contact_force(ground)?.y;
    println!("the ground carries {load:.2} N");
    assert!((load - 981.0).abs() < 1.0);
    let near =
        world.overlaps(&Shape::sphere(1.0)?, Pose::IDENTITY, &Filter::new().without_fixed())?;
    println!("within a metre of the origin: {near:?}");
    Ok(())
}
