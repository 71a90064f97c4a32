//! Laws of solids: derivatives, what no rotation may do, and the way back from any shape.

use super::*;
use crate::energy::altitude::AltitudeSprings;
use crate::energy::binding::{BoundParticle, BoundParticles};
use crate::energy::solid::{EnergyDensity, SolidLaw, SolidMaterial};
use crate::energy::spring::EdgeSprings;
use crate::energy::tetrahedron::Tetrahedra;
use crate::math::{Quat, outer};
use std::sync::Arc;

/// A block of n³ cells, six tetrahedra in each, with its inner vertices moved at random.
fn random_block(n: u32) -> (Vec<Vec3>, Vec<[u32; 4]>) {
    let (mut noise, side, size) = (Noise(31), n + 1, 1.0 / f64::from(n));
    let mut x = Vec::new();
    let mut tetrahedra = Vec::new();
    let steps = [1, side, side * side];
    for i in 0..side * side * side {
        let at = [i % side, i / side % side, i / (side * side)];
        let inner = at.iter().all(|k| *k > 0 && *k < n);
        let moved = if inner { 0.2 * size * noise.vector() } else { Vec3::ZERO };
        x.push(Vec3::from_array(at.map(|k| f64::from(k) * size)) + moved);
        if at.iter().all(|k| *k < n) {
            // along the edges from one corner to the opposite one, in every order
            for (a, b, c) in [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)] {
                let (p, q) = (i + steps[a], i + steps[a] + steps[b]);
                let even = (b + 3 - a) % 3 == 1;
                let r = q + steps[c];
                tetrahedra.push(if even { [i, p, q, r] } else { [i, q, p, r] });
            }
        }
    }
    (x, tetrahedra)
}

/// The user's law of the tests: neo-Hookean, by its energy alone.
#[derive(Debug)]
struct Own([f64; 2]);

impl EnergyDensity for Own {
    fn name(&self) -> String {
        format!("own {:?}", self.0)
    }

    fn density(&self, f: &Mat3) -> f64 {
        let [lambda, mu] = self.0;
        let grown = f.determinant() - 1.0;
        let squares: f64 = f.to_cols_array().iter().map(|x| x * x).sum();
        0.5 * mu * (squares - 3.0) - mu * grown + 0.5 * (lambda + mu) * grown * grown
    }
}

fn jelly(law: SolidLaw, poisson: f64) -> SolidMaterial {
    SolidMaterial { law, young: 2e3, poisson, density: 800.0, damping: 0.0 }
}

/// Every law that turns along with the body.
fn turning(poisson: f64) -> Vec<SolidMaterial> {
    let laws = [SolidLaw::Corotated, SolidLaw::StVenantKirchhoff, SolidLaw::NeoHookean];
    let mut all: Vec<_> = laws.into_iter().map(|law| jelly(law, poisson)).collect();
    let own = Own(all[0].lame());
    all.push(jelly(SolidLaw::Custom(Arc::new(own)), poisson));
    all
}

fn every(poisson: f64) -> Vec<SolidMaterial> {
    let mut all = turning(poisson);
    all.push(jelly(SolidLaw::Linear, poisson));
    all
}

fn block_of(material: &SolidMaterial, n: u32) -> (Energies, Vec<Vec3>) {
    let (rest, tetrahedra) = random_block(n);
    (Tetrahedra::new(&rest, &tetrahedra, material.clone()).unwrap().into(), rest)
}

fn shaken(rest: &[Vec3], by: f64) -> Vec<Vec3> {
    let mut noise = Noise(2);
    rest.iter().map(|p| *p + by * noise.vector()).collect()
}

#[test]
fn forces_of_solids_match_finite_differences() {
    for poisson in [0.0, 0.35, 0.45] {
        for mut material in every(poisson) {
            for (damping, by) in [(0.0, 0.1), (0.03, 0.1), (0.0, 0.4)] {
                material.damping = damping;
                let (energies, rest) = block_of(&material, 2);
                check_forces(&format!("{material:?}"), &energies, &shaken(&rest, by));
            }
        }
    }
}

/// Where no direction is negative nothing is left out. Stretched a little in all directions, none is.
#[test]
fn stiffness_of_solids_matches_finite_differences() {
    for poisson in [0.0, 0.35] {
        for material in every(poisson) {
            let (energies, rest) = block_of(&material, 2);
            let stretched: Vec<Vec3> = shaken(&rest, 0.002).iter().map(|p| 1.05 * *p).collect();
            check_matrix(&format!("{material:?}"), &energies, &stretched);
        }
    }
}

/// No motion is pushed along, whatever the shape: flat, inverted, crushed to a point.
#[test]
fn stiffness_of_solids_is_never_negative() {
    let mut noise = Noise(17);
    for material in every(0.3).iter().chain(&every(0.49)) {
        for case in 0..400 {
            let [a, b, c] = [(); 3].map(|()| noise.vector());
            let f = match case % 4 {
                0 => Mat3::from_cols(2.0 * a, 2.0 * b, 2.0 * c),
                1 => Mat3::from_cols(a, b, a + b),
                2 => outer(a, b) * 1e-3,
                _ => Mat3::ZERO,
            };
            let mut blocks = [Mat3::ZERO; 6];
            let gradients = [Vec3::X, Vec3::Y, Vec3::Z];
            let stress = material.respond(&f, &gradients, &mut blocks);
            assert!(stress.is_finite() && blocks.iter().all(Mat3::is_finite), "{material:?} {f}");
            let u = [(); 3].map(|()| noise.vector());
            let own: f64 = (0..3).map(|k| u[k].dot(blocks[k] * u[k])).sum();
            let mixed = u[0].dot(blocks[3] * u[1])
                + u[0].dot(blocks[4] * u[2])
                + u[1].dot(blocks[5] * u[2]);
            assert!(own + 2.0 * mixed > -1e-8 * own, "{material:?} {f}: {own} {mixed}");
        }
    }
}

/// At rest every law is Hooke's.
#[test]
fn all_laws_have_the_same_stiffness_at_rest() {
    let gradients = [Vec3::new(1.0, 0.2, -0.3), Vec3::new(0.1, 2.0, 0.4), Vec3::new(0.3, 0.0, 1.0)];
    for poisson in [-0.5, 0.0, 0.3, 0.49] {
        let mut expected = [Mat3::ZERO; 6];
        let hooke = jelly(SolidLaw::Linear, poisson);
        hooke.respond(&Mat3::IDENTITY, &gradients, &mut expected);
        for material in turning(poisson) {
            let mut found = [Mat3::ZERO; 6];
            let stress = material.respond(&Mat3::IDENTITY, &gradients, &mut found);
            assert!(stress.to_cols_array().iter().all(|p| p.abs() < 1e-6), "{stress}");
            for (found, expected) in found.iter().zip(&expected) {
                for (a, b) in found.to_cols_array().iter().zip(expected.to_cols_array()) {
                    assert!(
                        (a - b).abs() < 1e-6 * hooke.lame()[1].max(hooke.lame()[0]),
                        "{material:?}"
                    );
                }
            }
        }
    }
}

/// A body that has only turned is at rest, and internal forces make no force and no torque.
#[test]
fn rotation_is_no_strain() {
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, -2.0) / 3.0, 2.5);
    for material in turning(0.35) {
        let (energies, rest) = block_of(&material, 2);
        let turned: Vec<Vec3> = rest.iter().map(|p| turn * *p + 100.0 * Vec3::Y).collect();
        let largest = forces(&energies, &turned).iter().map(|f| f.length()).fold(0.0, f64::max);
        assert!(largest < 1e-7 * material.young, "{material:?}: {largest}");
        let x = shaken(&turned, 0.3);
        let forces = forces(&energies, &x);
        let size: f64 = forces.iter().map(|f| f.length()).sum();
        let sum: Vec3 = forces.iter().sum();
        let torque: Vec3 = x.iter().zip(&forces).map(|(x, f)| x.cross(*f)).sum();
        // differences of a user's energy see rotations to the eighth digit
        let digits = if matches!(material.law, SolidLaw::Custom(_)) { 1e-7 } else { 1e-12 };
        assert!(sum.length() < 1e-12 * size, "{material:?}: {sum}");
        assert!(torque.length() < 200.0 * digits * size, "{material:?}: {torque}");
    }
}

/// A block pulled along x with free sides: the traction that the law says, on a random mesh, exactly
/// [VALIDATION: uniaxial block]. λ₂ follows from P₂₂ = 0.
#[test]
fn a_neo_hookean_block_pulls_as_the_formula_says() {
    let material = SolidMaterial { young: 1e5, poisson: 0.4, ..SolidMaterial::default() };
    let [lambda, mu] = material.lame();
    for (stretch, traction) in [(0.8_f64, -24441.96_f64), (1.25, 20871.43), (2.0, 61607.14)] {
        // μ − μℓ + (λ + μ)(ℓ s² − 1)ℓ = 0 for s = ℓ₂
        let square = (1.0 + (mu * stretch - mu) / ((lambda + mu) * stretch)) / stretch;
        let side = f64::sqrt(square);
        let (energies, rest) = block_of(&material, 3);
        let x: Vec<Vec3> = rest.iter().map(|p| *p * Vec3::new(stretch, side, side)).collect();
        let forces = forces(&energies, &x);
        let mut pulled = Vec3::ZERO;
        for (p, f) in rest.iter().zip(&forces) {
            if p.x > 1.0 - 1e-9 {
                pulled -= *f;
            } else if p.x > 1e-9 {
                assert!(f.length() < 1e-8 * traction.abs(), "{f} at {p}");
            }
        }
        assert!((pulled.x - traction).abs() < 0.006, "{stretch}: {pulled}");
        let p = mu * stretch + ((lambda + mu) * (stretch * square - 1.0) - mu) * square;
        assert!((pulled.x - p).abs() < 1e-8 * p.abs(), "{stretch}: {pulled}, not {p}");
        if stretch == 0.8 {
            assert!((side - 1.089725).abs() < 1e-6);
        }
    }
}

/// From a point, a line, a plane and from the inside out, energy falls all the way to rest.
#[test]
fn crushed_elements_are_pushed_back_to_rest() {
    let starts = [
        Vec3::ZERO,
        Vec3::new(1.0, 1.0, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(1.0, 1.0, -1.0),
        Vec3::new(0.3, 0.2, -0.1),
        Vec3::new(1.5, 1.2, -1.0),
    ];
    for poisson in [0.0, 0.2, 0.4, 0.49] {
        for material in &turning(poisson)[..3] {
            for start in starts {
                let at = |t: f64| {
                    material.energy_density(&Mat3::from_diagonal(start.lerp(Vec3::ONE, t)))
                };
                for k in 0..200 {
                    let (before, after) = (at(f64::from(k) / 200.0), at(f64::from(k + 1) / 200.0));
                    let name = &material.law;
                    assert!(after < before, "{name:?} ν = {poisson} from {start} at {k}");
                }
            }
        }
    }
}

/// Damping acts on the rate of strain, and a rigid motion has none: h·D v = 0.
#[test]
fn damping_of_solids_does_not_see_rigid_motion() {
    let velocity = |p: Vec3| Vec3::new(0.3, -2.0, 1.0) + Vec3::new(1.0, 2.0, -0.5).cross(p);
    let (rest, tetrahedra) = random_block(2);
    let x = shaken(&rest, 0.2);
    let v: Vec<_> = x.iter().map(|p| crate::linalg::block::lane::<f64>(velocity(*p))).collect();
    let product = |energies: Energies| {
        let (layout, blocks, _) = system(&energies, &Step { x0: &x, x1: &x, h: H });
        let mut out = vec![[0.0; 4]; x.len()];
        crate::linalg::block::multiply(&layout.pattern, &blocks, &v, &mut out);
        out
    };
    for kind in 0..3 {
        let [without, with] = [0.0, 0.5].map(|damping| {
            product(match kind {
                0 => {
                    let material = SolidMaterial { damping, ..jelly(SolidLaw::NeoHookean, 0.3) };
                    Tetrahedra::new(&rest, &tetrahedra, material).unwrap().into()
                }
                1 => EdgeSprings::of_tetrahedra(&rest, &tetrahedra, 2e3, damping).unwrap().into(),
                _ => {
                    AltitudeSprings::of_tetrahedra(&rest, &tetrahedra, 2e3, damping).unwrap().into()
                }
            })
        });
        for (a, b) in without.iter().zip(&with) {
            for k in 0..3 {
                assert!((a[k] - b[k]).abs() < 1e-9, "{kind}: {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn springs_of_tetrahedra_match_finite_differences() {
    let (rest, tetrahedra) = random_block(2);
    for damping in [0.0, 0.03] {
        let edges = EdgeSprings::of_tetrahedra(&rest, &tetrahedra, 2e3, damping).unwrap();
        let heights = AltitudeSprings::of_tetrahedra(&rest, &tetrahedra, 2e3, damping).unwrap();
        check_forces("edge springs", &edges.clone().into(), &shaken(&rest, 0.1));
        check_forces("altitude springs", &heights.clone().into(), &shaken(&rest, 0.1));
        if damping == 0.0 {
            let stretched: Vec<Vec3> = shaken(&rest, 0.01).iter().map(|p| 1.2 * *p).collect();
            check_matrix("edge springs", &edges.into(), &stretched);
            // the part that is kept is the whole one where nothing pulls
            check_matrix("altitude springs", &heights.into(), &rest);
        }
    }
}

/// A uniform strain is in balance on any mesh, and stores V (½ λ tr²ε + μ ε:ε).
#[test]
fn uniform_strain_of_linear_tetrahedra_is_exact_on_a_random_mesh() {
    let material = jelly(SolidLaw::Linear, 0.35);
    let (energies, rest) = block_of(&material, 4);
    let (exx, eyy, gamma) = (0.02, -0.01, 0.015);
    let strained = |p: &Vec3| Vec3::new(exx * p.x + gamma * p.y, eyy * p.y, 0.0);
    let x: Vec<Vec3> = rest.iter().map(|p| *p + strained(p)).collect();
    let forces = forces(&energies, &x);
    let largest = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
    let inner = |p: &Vec3| p.min_element() > 1e-6 && p.max_element() < 1.0 - 1e-6;
    assert_eq!(rest.iter().filter(|p| inner(p)).count(), 27);
    for (p, f) in rest.iter().zip(&forces).filter(|(p, _)| inner(p)) {
        assert!(f.length() < 1e-10 * largest, "{f} at {p}");
    }
    let [lambda, mu] = material.lame();
    let squares = exx * exx + eyy * eyy + 0.5 * gamma * gamma;
    let expected = 0.5 * lambda * (exx + eyy) * (exx + eyy) + mu * squares;
    let found = energy(&energies, &x);
    assert!((found - expected).abs() < 1e-10 * expected, "{found} {expected}");
}

/// Bound to a tetrahedron and to a triangle, damped and not: derivatives, and neither force nor torque.
#[test]
fn bindings_match_finite_differences() {
    let mut noise = Noise(5);
    let x: Vec<Vec3> = (0..6).map(|_| noise.vector()).collect();
    for damping in [0.0, 0.03] {
        let bound = |nodes, weights| BoundParticle { nodes, weights, stiffness: 700.0, damping };
        let list = vec![
            bound([0, 1, 2, 3, 4], [1.0, -0.4, -0.3, -0.5, 0.2]),
            bound([5, 1, 2, 3, crate::energy::NONE], [1.0, -0.2, -0.5, -0.3, 0.0]),
        ];
        let set: Energies = BoundParticles::new(list).unwrap().into();
        check_forces("binding", &set, &x);
        if damping == 0.0 {
            check_matrix("binding", &set, &x);
        }
        let forces = forces(&set, &x);
        let torque: Vec3 = x.iter().zip(&forces).map(|(x, f)| x.cross(*f)).sum();
        assert!(forces.iter().sum::<Vec3>().length() < 1e-12 && torque.length() < 1e-12);
    }
}
