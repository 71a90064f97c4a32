//! A door that opens while somebody is in front of it.

use thirdlaw::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    const FRAME: f64 = 1.0 / 60.0;
    let mut world = World::new(Settings::default())?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let leaf = Body::kinematic(Shape::cuboid(Vec3::new(0.05, 1.0, 0.5))?).at(0.0, 1.0, 0.0);
    let door = world.add_body(leaf)?;
    let mat = Body::fixed(Shape::cuboid(Vec3::new(1.5, 1.0, 0.5))?).sensor().at(0.0, 1.0, 0.0);
    let mat = world.add_body(mat)?;
    // the sensor sees the guest, not the door
    world.set_groups(mat, Groups { member: 2, collides: 2 })?;
    let guest = Body::dynamic(Shape::sphere(0.3)?).groups(Groups { member: 3, collides: 3 });
    let guest = world.add_body(guest.friction(0.0).at(-4.0, 0.3, 0.0).moving(2.0 * Vec3::X))?;
    world.listen(Listening { sensors: true, ..Listening::default() });
    let mut inside = 0;
    for _ in 0..300 {
        world.step(FRAME)?;
        for event in world.drain_events() {
            match event {
                WorldEvent::SensorEntered { who, .. } => {
                    println!("{who} is there");
                    inside += 1;
                }
                WorldEvent::SensorLeft { who, .. } => {
                    println!("{who} has gone");
                    inside -= 1;
                }
                _ => {}
            }
        }
        let height = world.pose(door)?.translation.y;
        let wanted = if inside > 0 { 3.2 } else { 1.0 };
        let next = height + (wanted - height).clamp(-6.0 * FRAME, 6.0 * FRAME);
        world.move_kinematic_to(door, Pose::from_translation(next * Vec3::Y), FRAME)?;
    }
    let (guest, door) = (world.pose(guest)?.translation, world.pose(door)?.translation);
    println!("the guest is at {:.1} m, the door at {:.1} m", guest.x, door.y);
    assert!(guest.x > 4.0 && (door.y - 1.0).abs() < 1e-6 && inside == 0);
    Ok(())
}
