//! A car speeds up, takes a bend, and brakes.

use thirdlaw::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    const FRAME: f64 = 1.0 / 60.0;
    let mut world = World::new(Settings::default())?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let shape = Shape::cuboid(Vec3::new(2.0, 0.3, 0.8))?;
    let chassis = world.add_body(Body::dynamic(shape).mass(1200.0).at(0.0, 0.85, 0.0))?;
    let mut car = Vehicle::new(chassis);
    for (x, z) in [(1.25, -0.8), (1.25, 0.8), (-1.25, -0.8), (-1.25, 0.8)] {
        car.add_wheel(WheelSettings::at(Vec3::new(x, -0.3, z)))?;
    }
    let mut fastest = 0.0f64;
    for frame in 0..600 {
        let seconds = FRAME * f64::from(frame);
        for (number, wheel) in car.wheels_mut().iter_mut().enumerate() {
            let front = number < 2;
            wheel.drive = if seconds < 4.0 && !front { 700.0 } else { 0.0 };
            wheel.steer = if front && (4.0..6.0).contains(&seconds) { 0.1 } else { 0.0 };
            wheel.brake = if seconds > 6.0 { 1500.0 } else { 0.0 };
        }
        car.act(&mut world, FRAME)?;
        world.step(FRAME)?;
        let motion = world.velocity(chassis)?;
        fastest = fastest.max(motion.linear.length());
        if frame % 60 == 59 {
            let loads: Vec<String> =
                car.wheels().iter().map(|wheel| format!("{:4.0}", wheel.load())).collect();
            let speed = 3.6 * motion.linear.length();
            println!("{seconds:4.1} s {speed:5.1} km/h, wheels carry {} N", loads.join(" "));
        }
    }
    let pose = world.pose(chassis)?;
    let heading = pose.rotation * Vec3::X;
    println!("it stands at {:.1}, heading for {heading:.2}", pose.translation);
    assert!(fastest > 10.0 && world.velocity(chassis)?.linear.length() < 1e-3);
    // a bend to the left
    assert!(heading.z < -0.2 && pose.translation.z < -1.0);
    let front = car.wheel_pose(&world, 0)?.translation;
    assert!((front.y - car.wheels()[0].settings().radius).abs() < 0.01, "{front}");
    Ok(())
}
