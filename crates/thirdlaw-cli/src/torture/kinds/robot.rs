//! Robots from generated URDF files: trees of links with limits, efforts, friction and damping, under PD
//! drives with random gains and targets, on the ground and in the air.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Link, Robot, Sketch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes a robot.
pub fn make(draw: &mut Draw) -> Sketch {
    let frames = draw.whole(60, 120);
    let mut sketch = pieces::timed(draw, frames);
    let fixed = draw.chance(0.4);
    let size = draw.decades(0.05, 0.6);
    let legs = if fixed { 1 } else { draw.whole(1, 4) };
    let root = Vec3::new(rounded(1.5 * size, 3), rounded(size, 3), rounded(0.5 * size, 3));
    let mass = rounded(500.0 * root.x * root.y * root.z, 3);
    let mut links = vec![link(0, root, mass, Vec3::ZERO)];
    for leg in 0..legs {
        let mut parent = 0;
        let corner = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]][leg];
        for segment in 0..draw.whole(1, 4) {
            let length = rounded(size * draw.between(0.4, 1.0), 3);
            let thin = rounded(length * draw.between(0.08, 0.3), 3);
            let origin = match segment {
                0 => 0.5 * Vec3::new(corner[0] * root.x, corner[1] * root.y, 2.0 * root.z),
                _ => Vec3::new(0.0, 0.0, links[parent].size.z),
            };
            let mass = rounded(1000.0 * length * thin * thin, 3);
            let mut new = link(parent, Vec3::new(thin, thin, length), mass, origin);
            new.axis = draw.whole(0, 2);
            let load = mass * 9.81 * length;
            new.effort = rounded(load * draw.decades(1.0, 100.0), 3);
            if draw.chance(0.7) {
                new.limits = Some([draw.between(-2.5, -0.2), draw.between(0.2, 2.5)]);
            }
            if draw.chance(0.4) {
                new.friction = rounded(load * draw.between(0.01, 0.5), 2);
            }
            if draw.chance(0.4) {
                new.damping = rounded(load * draw.between(0.01, 0.3), 2);
            }
            new.target = draw.between(-1.5, 1.5);
            parent = links.len();
            links.push(new);
        }
    }
    let gains = draw.chance(0.85).then(|| [draw.decades(0.1, 500.0), draw.decades(0.01, 20.0)]);
    let reach: f64 = links.iter().map(|l| l.size.z).sum();
    let on_ground = !fixed && draw.chance(0.6);
    if on_ground {
        sketch.wall("floor", Vec3::new(0.0, -1.1 * reach, 0.0), Vec3::Y, [0.8, 0.0]);
    }
    // legs hang down: the file's z points down in the scene
    let rotation = if fixed { Quat::IDENTITY } else { Quat::from_rotation_x(std::f64::consts::PI) };
    let (name, position) = ("robot".into(), Vec3::ZERO);
    sketch.robots.push(Robot { name, fixed, position, rotation, links, gains });
    sketch
}

fn link(parent: usize, size: Vec3, mass: f64, origin: Vec3) -> Link {
    Link {
        parent,
        size,
        mass,
        slides: false,
        origin,
        axis: 0,
        limits: None,
        effort: 1.0,
        friction: 0.0,
        damping: 0.0,
        target: 0.0,
    }
}
