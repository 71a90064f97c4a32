//! Netcode by rollback: predict, learn of a late input, restore, replay. The same bits, every time.

use thirdlaw::prelude::*;

const FRAME: f64 = 1.0 / 60.0;

/// The push of the other player in a frame.
fn input(frame: u32) -> Vec3 {
    if frame % 30 < 3 { Vec3::new(400.0, 0.0, 0.0) } else { Vec3::ZERO }
}

fn play(world: &mut World, hero: BodyId, push: Vec3) -> Result<(), Box<dyn std::error::Error>> {
    let center = world.center(hero)?;
    world.push(hero, push, center)?;
    world.step(FRAME)?;
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut server = World::new(Settings::default())?;
    server.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let cube = Shape::cuboid(Vec3::splat(0.5))?;
    let hero = server.add_body(Body::dynamic(cube.clone()).mass(10.0).at(-3.0, 0.5, 0.0))?;
    for i in 0..6 {
        server.add_body(Body::dynamic(cube.clone()).mass(5.0).at(0.0, 0.5 + f64::from(i), 0.0))?;
    }
    // a client that joins gets everything as bytes
    let mut client = World::from_bytes(&server.to_bytes(), &Attachments::default())?;
    const LATE: u32 = 8;
    let mut confirmed = client.clone();
    for frame in 0..240 {
        play(&mut server, hero, input(frame))?;
        // the client guesses that nobody pushes
        play(&mut client, hero, Vec3::ZERO)?;
        if frame >= LATE {
            // the input of some frames ago has arrived: go on from there, and guess the rest again
            play(&mut confirmed, hero, input(frame - LATE))?;
            client = confirmed.clone();
            for _ in 0..LATE {
                play(&mut client, hero, Vec3::ZERO)?;
            }
        }
    }
    for frame in 240 - LATE..240 {
        play(&mut confirmed, hero, input(frame))?;
    }
    println!("server {:016x}, client {:016x}", server.hash(), confirmed.hash());
    assert_eq!(server.hash(), confirmed.hash());
    Ok(())
}
