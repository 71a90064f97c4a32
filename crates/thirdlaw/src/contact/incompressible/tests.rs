//! What projections of volumes promise: volumes as wanted, momentum as before, no kinetic energy made.

use super::*;
use crate::energy::Energy;
use crate::energy::solid::SolidMaterial;
use crate::energy::tetrahedron::Tetrahedra;
use crate::math::random;

struct Scene {
    rings: OneRings,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    mass: Vec<f64>,
}

/// A block of 3×3×3 cells, bent, with velocities anywhere.
fn scene() -> Scene {
    let n = 4_u32;
    let at = |i: u32, j: u32, k: u32| (i * n + j) * n + k;
    let (mut rest, mut cells) = (Vec::new(), Vec::new());
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                rest.push(0.1 * Vec3::new(f64::from(i), f64::from(j), f64::from(k)));
            }
        }
    }
    // six tetrahedra around the diagonal of each cell
    for i in 0..n - 1 {
        for j in 0..n - 1 {
            for k in 0..n - 1 {
                for [a, b] in [[0, 1], [1, 2], [2, 0]] {
                    let step = |s: &[usize]| {
                        let mut p = [i, j, k];
                        s.iter().for_each(|&axis| p[axis] += 1);
                        at(p[0], p[1], p[2])
                    };
                    let far = at(i + 1, j + 1, k + 1);
                    cells.push([step(&[]), step(&[a]), step(&[a, b]), far]);
                    cells.push([step(&[]), step(&[a, b]), step(&[b]), far]);
                }
            }
        }
    }
    let set = Tetrahedra::new(&rest, &cells, SolidMaterial::default()).unwrap();
    let mut mass = vec![0.0; rest.len()];
    for element in 0..set.len() {
        set.nodes(element).iter().for_each(|&i| mass[i as usize] += set.mass_share(element));
    }
    let mut drawn = 0;
    let mut draw = || {
        drawn += 1;
        2.0 * random::unit(7, drawn, 0) - 1.0
    };
    let mut vector = || Vec3::new(draw(), draw(), draw());
    let x = rest.iter().map(|x| *x + 0.01 * vector()).collect();
    let v = rest.iter().map(|_| vector()).collect();
    Scene { rings: OneRings::new(&set, |_| true), x, v, mass }
}

fn momenta(scene: &Scene, x: &[Vec3], v: &[Vec3]) -> (Vec3, Vec3, f64) {
    let each = || scene.mass.iter().zip(x.iter().zip(v));
    let linear = each().map(|(m, (_, v))| *m * *v).sum();
    let angular = each().map(|(m, (x, v))| x.cross(*m * *v)).sum();
    (linear, angular, each().map(|(m, (_, v))| 0.5 * m * v.length_squared()).sum())
}

/// B is a quarter of the derivative of the volumes.
#[test]
fn gradients_are_those_of_volumes() {
    let scene = scene();
    let (mut b, mut near) = (Gradients::default(), Gradients::default());
    scene.rings.evaluate(&scene.x, &mut b);
    let mut gains = Vec::new();
    scene.rings.gains(&b, &scene.v, &mut gains);
    let step = 1e-6;
    let moved = |sign: f64| {
        let pairs = scene.x.iter().zip(&scene.v);
        pairs.map(|(x, v)| *x + sign * step * *v).collect::<Vec<_>>()
    };
    scene.rings.evaluate(&moved(1.0), &mut near);
    let ahead = near.volumes.clone();
    scene.rings.evaluate(&moved(-1.0), &mut near);
    for ((gain, ahead), back) in gains.iter().zip(ahead).zip(&near.volumes) {
        let known = 0.25 * (ahead - back) / (2.0 * step);
        assert!((gain - known).abs() < 1e-7, "{gain} {known}");
    }
}

#[test]
fn velocities_lose_their_divergence_and_keep_their_momentum() {
    let scene = scene();
    let mobility = Mobility::free(scene.mass.iter().copied());
    let mut v = scene.v.clone();
    let mut projection = Projection::default();
    let before = momenta(&scene, &scene.x, &v);
    let mut gains = Vec::new();
    let mut flow = Flow { particles: &mut v, bodies: &mut [] };
    let report = projection.remove_divergence(&scene.rings, &mobility, &scene.x, &mut flow);
    scene.rings.gains(&projection.gradients, &v, &mut gains);
    let left = gains.iter().fold(0.0, |most: f64, gain| most.max(gain.abs()));
    let after = momenta(&scene, &scene.x, &v);
    println!("{} iterations, {left:.1e} m³/s left, {before:?} {after:?}", report.iterations);
    assert!(left < 1e-9);
    assert!((after.0 - before.0).length() < 1e-12 && (after.1 - before.1).length() < 1e-12);
    assert!(after.2 < 0.99 * before.2, "{} {}", after.2, before.2);
}

#[test]
fn positions_get_their_volumes_back_about_the_same_centre() {
    let scene = scene();
    let mobility = Mobility::free(scene.mass.iter().copied());
    let mut u = vec![Vec3::ZERO; scene.x.len()];
    let mut projection = Projection::default();
    let (mut x, mut error) = (scene.x.clone(), f64::INFINITY);
    for step in 0..40 {
        u.fill(Vec3::ZERO);
        let mut flow = Flow { particles: &mut u, bodies: &mut [] };
        let report = projection.displace(&scene.rings, &mobility, (&x, 0.01), &mut flow);
        let (moved, _, energy) = momenta(&scene, &x, &u);
        println!("{step}: {report:?}");
        let mass: f64 = scene.mass.iter().sum();
        let most = (2.0 * mass * energy).sqrt();
        assert!(moved.length() < 1e-8 * most, "{moved} {most}");
        error = report.error;
        if error < 1e-5 {
            assert!(energy > 0.0 || step > 0);
            break;
        }
        x.iter_mut().zip(&u).for_each(|(x, u)| *x += 0.01 * *u);
    }
    assert!(error < 1e-5, "{error}");
}

/// A pinned particle stays; what a body carries moves with it, and the body gets what the rest gives.
#[test]
fn what_is_held_stays_held() {
    let scene = scene();
    let mut mobility = Mobility::free(scene.mass.iter().copied());
    let (pinned, follows, slides) = (5_usize, 40_usize, 63_usize);
    mobility.particles[pinned] = Mat3::ZERO;
    let center = Vec3::new(0.2, 0.4, 0.1);
    let normal = Vec3::new(0.6, 0.0, 0.8);
    let along = crate::math::outer(normal, normal);
    let held = [(follows, Mat3::IDENTITY), (slides, along)];
    for (particle, held) in held {
        let free = Mat3::IDENTITY - held;
        mobility.particles[particle] = free * (1.0 / scene.mass[particle]);
    }
    let carried = held.map(|(particle, held)| Carried {
        particle: particle as u32,
        body: 0,
        held,
        arm: scene.x[particle] - center,
        mass: scene.mass[particle],
    });
    let inertia = 0.3;
    let body = BodyMass {
        inv_mass: Vec3::splat(1.0 / 2.0),
        inv_inertia: Mat3::from_diagonal(Vec3::splat(1.0 / inertia)),
    };
    mobility.carry(&[body], carried);
    let (mut v, mut bodies) = (scene.v.clone(), [[Vec3::ZERO; 2]]);
    let before = momenta(&scene, &scene.x, &v);
    let mut projection = Projection::default();
    let mut flow = Flow { particles: &mut v, bodies: &mut bodies };
    let _ = projection.remove_divergence(&scene.rings, &mobility, &scene.x, &mut flow);
    let mut gains = Vec::new();
    scene.rings.gains(&projection.gradients, &v, &mut gains);
    assert!(gains.iter().all(|gain| gain.abs() < 1e-9));
    assert_eq!(v[pinned], scene.v[pinned]);
    let [linear, angular] = bodies[0];
    for (particle, held) in held {
        let change = v[particle] - scene.v[particle];
        let point = linear + angular.cross(scene.x[particle] - center);
        assert!((held * (change - point)).length() < 1e-12);
    }
    // all impulses on all others went to the body and the pin
    let after = momenta(&scene, &scene.x, &v);
    let gained = after.0 - before.0 + 2.0 * linear;
    let turned = after.1 - before.1 + center.cross(2.0 * linear) + inertia * angular;
    let (pin, x) = (gained, scene.x[pinned]);
    // what is missing is what the pin took, at its place
    assert!((turned - x.cross(pin)).length() < 1e-11, "{turned} {}", x.cross(pin));
    assert!(linear.length() > 1e-6);
}
