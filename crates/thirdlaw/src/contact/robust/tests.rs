//! What BFA02 promises: nothing passes, momentum stays, energy never grows, friction is bounded.

use super::*;
use crate::collide::deformable::intersections_brute_force;
use crate::math::random;

/// Numbers one after the other.
struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    fn new(seed: u64) -> Random {
        Random { seed, drawn: 0 }
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        self.drawn += 1;
        random::unit(self.seed, self.drawn, 0)
    }
}

/// Sheets of n×n vertices of a size, one above the other, each turned and bent a little.
struct Scene {
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    inverse_mass: Vec<f64>,
    radius: Vec<f64>,
    friction: Vec<f64>,
}

fn vector(random: &mut Random) -> Vec3 {
    let mut one = || 2.0 * random.unit() - 1.0;
    Vec3::new(one(), one(), one())
}

fn sheets(n: u32, count: u32, speed: f64, random: &mut Random) -> Scene {
    let mut scene = Scene {
        x: Vec::new(),
        v: Vec::new(),
        triangles: Vec::new(),
        edges: Vec::new(),
        inverse_mass: Vec::new(),
        radius: Vec::new(),
        friction: Vec::new(),
    };
    for layer in 0..count {
        let first = scene.x.len() as u32;
        let common = speed * vector(random);
        let mass = 0.001 * 10.0_f64.powf(2.0 * random.unit());
        for i in 0..n {
            for j in 0..n {
                let place = Vec3::new(f64::from(i), 0.0, f64::from(j)) * 0.1;
                scene.x.push(place + Vec3::Y * 0.05 * f64::from(layer) + 0.01 * vector(random));
                scene.v.push(common + 0.3 * speed * vector(random));
                scene.inverse_mass.push(1.0 / mass);
                scene.radius.push(0.002);
                scene.friction.push(0.3);
                let at = |i: u32, j: u32| first + i * n + j;
                if i + 1 < n {
                    scene.edges.push([at(i, j), at(i + 1, j)]);
                }
                if j + 1 < n {
                    scene.edges.push([at(i, j), at(i, j + 1)]);
                }
                if i + 1 < n && j + 1 < n {
                    let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                    scene.triangles.extend([[a, c, b], [a, d, c]]);
                    scene.edges.push([a, c]);
                }
            }
        }
    }
    scene
}

impl Scene {
    fn bodies(&self) -> Bodies<'_> {
        Bodies {
            x: &self.x,
            inverse_mass: &self.inverse_mass,
            radius: &self.radius,
            friction: &self.friction,
            stiffness: 100.0,
        }
    }

    fn tree(&self) -> Tree {
        Tree::new(&self.x, &self.triangles, &self.edges)
    }

    fn momentum(&self, v: &[Vec3]) -> Vec3 {
        let each = v.iter().zip(&self.inverse_mass).filter(|(_, w)| **w > 0.0);
        each.map(|(v, w)| *v / *w).sum()
    }

    fn energy(&self, v: &[Vec3]) -> f64 {
        let each = v.iter().zip(&self.inverse_mass).filter(|(_, w)| **w > 0.0);
        each.map(|(v, w)| 0.5 * v.length_squared() / w).sum()
    }

    /// Whether anything is through anything at moments along the way, by brute force.
    fn passes(&self, v: &[Vec3], h: f64) -> bool {
        (1..=40).any(|k| {
            let t = h * f64::from(k) / 40.0;
            let x: Vec<Vec3> = self.x.iter().zip(v).map(|(x, v)| *x + t * *v).collect();
            intersections_brute_force(&x, &self.triangles, &self.edges) > 0
        })
    }
}

#[test]
fn nothing_passes_momentum_stays_and_energy_does_not_grow() {
    let mut random = Random::new(7);
    let (mut would, mut zones) = (0, 0);
    for k in 0..60 {
        let speed = [0.3, 3.0, 30.0][k % 3];
        let mut scene = sheets(5, 3, speed, &mut random);
        if k % 4 >= 2 {
            // crushed from above and below: impulses alone would go round and round
            let press = |(v, x): (&mut Vec3, &Vec3)| v.y -= 300.0 * (x.y - 0.05);
            scene.v.iter_mut().zip(&scene.x).for_each(press);
        }
        if intersections_brute_force(&scene.x, &scene.triangles, &scene.edges) > 0 {
            continue;
        }
        if k % 2 == 1 {
            // some are held, and some of those move
            (0..5).for_each(|i| scene.inverse_mass[7 * i] = 0.0);
            (0..75).filter(|i| i % 7 == 0).for_each(|i| scene.v[i] = Vec3::ZERO);
        }
        let h = 1.0 / 60.0;
        let mut v = scene.v.clone();
        would += usize::from(scene.passes(&v, h));
        let mut robust = Robust::default();
        let (mut tree, bodies) = (scene.tree(), scene.bodies());
        // without repulsions, which store energy in the skin
        let mut report = RobustReport::default();
        robust.stop_impacts(&mut tree, &bodies, h, &mut v, &mut report);
        if !report.clear {
            robust.move_zones(&mut tree, &bodies, h, &mut v, &mut report);
        }
        zones += usize::from(report.in_zones > 0);
        assert!(report.clear && !scene.passes(&v, h), "scene {k}: {report:?}");
        assert!(scene.energy(&v) <= scene.energy(&scene.v) * (1.0 + 1e-9), "scene {k}");
        if k % 2 == 0 {
            let change = scene.momentum(&v) - scene.momentum(&scene.v);
            let scale: f64 =
                scene.v.iter().zip(&scene.inverse_mass).map(|(v, w)| v.length() / w).sum();
            assert!(change.length() < 1e-12 * scale, "scene {k}: {change}");
        } else {
            let moved = (0..5).any(|i| v[7 * i] != scene.v[7 * i]);
            assert!(!moved, "scene {k}: held particles were pushed");
        }
    }
    assert!(would > 20, "only {would} scenes had anything to stop");
    assert!(zones > 0, "no scene needed zones");
}

#[test]
fn a_pair_keeps_its_momentum_and_angular_momentum_where_it_meets() {
    let mut random = Random::new(3);
    let mut tried = 0;
    for _ in 0..400 {
        let x: Vec<Vec3> = (0..6).map(|_| vector(&mut random)).collect();
        let v: Vec<Vec3> = (0..6).map(|_| vector(&mut random)).collect();
        let inverse_mass: Vec<f64> = (0..6).map(|_| 0.1 + random.unit()).collect();
        let bodies = Bodies {
            x: &x,
            inverse_mass: &inverse_mass,
            radius: &[0.0; 6],
            friction: &[0.4; 6],
            stiffness: 0.0,
        };
        let edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]];
        let mut tree = Tree::new(&x, &[[0, 1, 2], [3, 4, 5]], &edges);
        if tree.intersections(&x) > 0 {
            continue;
        }
        let mut robust = Robust::default();
        robust.meet(&mut tree, &bodies, 1.0, &v);
        let Some(hit) = robust.hits.first() else { continue };
        tried += 1;
        let pair = Pair::new(hit, &bodies).unwrap();
        let mut after = v.clone();
        let speed = hit.normal.dot(pair.relative(&v));
        pair.apply(hit.normal * (-speed / pair.response), &mut after);
        pair.rub(-speed / pair.response, 0.4, &mut after);
        assert!(hit.normal.dot(pair.relative(&after)).abs() < 1e-12, "the normal part is stopped");
        let at = |i: usize| x[i] + hit.time * v[i];
        let sums = |v: &[Vec3]| {
            (0..6).fold((Vec3::ZERO, Vec3::ZERO), |(p, l), i| {
                let p_i = v[i] / inverse_mass[i];
                (p + p_i, l + at(i).cross(p_i))
            })
        };
        let (before, after) = (sums(&v), sums(&after));
        assert!((after.0 - before.0).length() < 1e-13);
        // the search ends a millionth of a size before the meeting
        assert!((after.1 - before.1).length() < 1e-5, "{}", after.1 - before.1);
    }
    assert!(tried > 50, "{tried}");
}

#[test]
fn repulsions_push_apart_slowly_and_rub_within_the_cone() {
    // a vertex 1 mm above a held triangle, of a thickness of 2 mm
    let x = [Vec3::new(0.2, 0.001, 0.2), Vec3::ZERO, Vec3::Z, Vec3::X];
    let h = 0.01;
    for (down, slide, friction) in
        [(1.0, 3.0, 0.2), (0.0, 1.0, 0.5), (0.0, 0.0, 0.0), (2.0, 0.1, 0.9)]
    {
        let bodies = Bodies {
            x: &x,
            inverse_mass: &[1.0, 0.0, 0.0, 0.0],
            radius: &[0.001; 4],
            friction: &[friction; 6],
            stiffness: 1e9,
        };
        let mut v = [Vec3::new(slide, -down, 0.0), Vec3::ZERO, Vec3::ZERO, Vec3::ZERO];
        let mut tree = Tree::new(&x, &[[1, 2, 3]], &[]);
        // a vertex of another piece needs a triangle of its own to be seen
        let mut other = x.to_vec();
        other.extend([x[0] + Vec3::Y, x[0] + Vec3::Y + Vec3::X]);
        let inverse_mass = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0];
        let bodies =
            Bodies { x: &other, inverse_mass: &inverse_mass, radius: &[0.001; 6], ..bodies };
        tree.clone_from(&Tree::new(&other, &[[1, 2, 3], [0, 4, 5]], &[]));
        let mut all = [v[0], v[1], v[2], v[3], Vec3::ZERO, Vec3::ZERO];
        let count = Robust::default().repel(&mut tree, &bodies, h, &mut all);
        v.copy_from_slice(&all[..4]);
        assert_eq!(count, 1);
        // a tenth of the missing millimetre in a step
        let leaving = 0.1 * 0.001 / h;
        assert!((v[0].y - leaving).abs() < 1e-12, "{}", v[0]);
        let braked = (slide - friction * (down + leaving)).max(0.0);
        assert!((v[0].x - braked).abs() < 1e-12, "{} of {braked}", v[0].x);
    }
}

#[test]
fn a_zone_turns_as_one_and_keeps_its_momenta() {
    let mut random = Random::new(5);
    let x: Vec<Vec3> = (0..8).map(|_| vector(&mut random)).collect();
    let v0: Vec<Vec3> = (0..8).map(|_| 0.2 * vector(&mut random)).collect();
    let inverse_mass: Vec<f64> = (0..8).map(|_| 0.5 + random.unit()).collect();
    let bodies = Bodies {
        x: &x,
        inverse_mass: &inverse_mass,
        radius: &[0.0; 8],
        friction: &[0.0; 8],
        stiffness: 0.0,
    };
    let zone: Vec<(u32, u32)> = (0..8).map(|i| (0, i)).collect();
    let mut errors = Vec::new();
    for h in [0.1, 0.05] {
        let mut v = v0.clone();
        zones::move_rigidly(&zone, &bodies, h, &v0, &mut v);
        let end = |i: usize| x[i] + h * v[i];
        for i in 0..8 {
            for j in 0..i {
                assert!((end(i).distance(end(j)) - x[i].distance(x[j])).abs() < 1e-14);
            }
        }
        let momentum = |v: &[Vec3]| -> Vec3 { (0..8).map(|i| v[i] / inverse_mass[i]).sum() };
        assert!((momentum(&v) - momentum(&v0)).length() < 1e-13);
        let spin =
            |v: &[Vec3]| -> Vec3 { (0..8).map(|i| x[i].cross(v[i]) / inverse_mass[i]).sum() };
        errors.push((spin(&v) - spin(&v0)).length());
    }
    assert!(errors[0] < 0.02 && errors[1] < 0.6 * errors[0], "{errors:?}");
}
