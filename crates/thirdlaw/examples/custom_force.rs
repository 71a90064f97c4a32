//! A force of one's own: a magnet that pulls bodies by their distance, and a whirl for particles.

use std::sync::Arc;
use thirdlaw::prelude::*;

/// Turns particles about the y axis.
#[derive(Debug)]
struct Whirl(f64);

impl ForceField for Whirl {
    fn acceleration(&self, _emitter: u32, x: Vec3, v: Vec3, _time: f64) -> Vec3 {
        let wanted = self.0 * Vec3::Y.cross(x);
        2.0 * (wanted - v)
    }

    fn name(&self) -> String {
        "whirl".into()
    }

    fn fingerprint(&self) -> u64 {
        self.0.to_bits()
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
    let ball = Shape::sphere(0.1)?;
    for i in 0..8 {
        let angle = f64::from(i);
        world.add_body(Body::dynamic(ball.clone()).mass(1.0).at(
            angle.cos(),
            0.1 * angle,
            angle.sin(),
        ))?;
    }
    world.set_force_field(Some(Arc::new(Whirl(3.0))));
    let jet = world.add_emitter(Emitter::point(100.0, 1.0))?;
    for _ in 0..120 {
        let bodies: Vec<BodyId> = world.bodies().collect();
        for id in bodies {
            let x = world.center(id)?;
            world.push(id, -5.0 * x, x)?;
        }
        world.step(1.0 / 60.0)?;
    }
    // what is code is written by name, and attached again
    let bytes = world.to_bytes();
    let missing =
        World::from_bytes(&bytes, &Attachments::default()).err().ok_or("needs the field")?;
    println!("{missing}");
    let again = World::from_bytes(&bytes, &Attachments::default().field(Arc::new(Whirl(3.0))))?;
    println!("{} particles whirl", again.stream(jet)?.len());
    assert_eq!(again.hash(), world.hash());
    Ok(())
}
