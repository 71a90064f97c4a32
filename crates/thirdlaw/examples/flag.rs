//! A flag in the wind, and who stands behind it.

use thirdlaw::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut settings = Settings::default();
    settings.cloth.wind = Vec3::new(6.0, 0.0, 1.0);
    let mut world = World::new(settings)?;
    let mesh = ClothMesh::grid(19, 13, [1.2, 0.8])?;
    let edge: Vec<u32> = (0..13).map(|row| row * 19).collect();
    let upright = Quat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let pose = Pose::from_parts(Vec3::new(0.0, 2.0, 0.0), upright);
    let flag = world.add_cloth(Cloth::new(mesh).pose(pose).pin(edge))?;
    for _ in 0..90 {
        world.step(1.0 / 60.0)?;
    }
    let lowest = world.vertices(flag)?.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    println!("the flag hangs down to {lowest:.2} m");
    // a ray through one of its triangles
    let x = world.vertices(flag)?;
    let [a, b, c] = world.cloth(flag)?.triangles().nth(100).ok_or("no such triangle")?;
    let middle = (x[a as usize] + x[b as usize] + x[c as usize]) / 3.0;
    let ray = Ray::between(middle + Vec3::Z, middle - Vec3::Z)?;
    let hit = world.cast_ray(&ray, &Filter::new()).ok_or("nothing there")?;
    println!("triangle {} of {} is hit {:.2} m away", hit.piece, hit.who, hit.distance);
    assert_eq!(hit.deformable(), Some(flag));
    Ok(())
}
