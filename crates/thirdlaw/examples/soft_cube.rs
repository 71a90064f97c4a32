//! A cube of jelly lands on a box and pushes back.

use thirdlaw::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(Settings::default())?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let table = Shape::cuboid(Vec3::new(0.4, 0.2, 0.4))?;
    let table = world.add_body(Body::dynamic(table).density(500.0).at(0.0, 0.2, 0.0))?;
    let jelly = SolidMaterial::preset("jelly").ok_or("no such material")?;
    let cube = SolidMesh::block(Vec3::splat(0.4), [3; 3])?.deformable(jelly)?;
    let cube = world.add_deformable(cube.pose(Pose::from_translation(Vec3::Y)))?;
    for _ in 0..120 {
        world.step(1.0 / 60.0)?;
    }
    let x = world.vertices(cube)?;
    let middle = x.iter().sum::<Vec3>() / x.len() as f64;
    println!(
        "the jelly rests at {:.3} m, the box at {:.3}",
        middle.y,
        world.pose(table)?.translation.y
    );
    assert!(middle.y > 0.4, "it lies on the box");
    Ok(())
}
