//! Newton's step against the matrix multiplied out.

use super::direct::Direct;
use super::rows::{Law, Row, Rows};
use super::solve::System;
use crate::linalg::block::{Block, Pattern, block_of};
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Quat, Twist, Vec3};

/// Pattern and blocks of what deforms, bodies, their masses, and rows.
type TestSystem = (Pattern, Vec<Block<f64>>, Vec<(f64, Mat3)>, Vec<BodyMass>, Rows);

/// A chain of particles with stiff blocks between neighbours, two bodies, and what ties them.
fn system() -> TestSystem {
    let count = 6;
    let pattern = Pattern::new(count, |i, row| {
        row.extend([i.saturating_sub(1) as u32, (i + 1).min(count - 1) as u32]);
    });
    let mut blocks = Vec::new();
    for i in 0..count {
        for &j in &pattern.column[pattern.range(i)] {
            let stiff = if i == j as usize { 50.0 } else { -20.0 };
            blocks.push(block_of::<f64>(&Mat3::from_diagonal(Vec3::new(
                stiff,
                0.5 * stiff,
                0.1 * stiff,
            ))));
        }
    }
    let r = Mat3::from_quat(Quat::from_scaled_axis(Vec3::new(0.3, -1.0, 0.4)));
    let inertia = r * Mat3::from_diagonal(Vec3::new(0.1, 2.0, 3.0)) * r.transpose();
    let free = BodyMass { inv_mass: Vec3::splat(0.25), inv_inertia: inertia.inverse() };
    // the second cannot move along y
    let locked = BodyMass { inv_mass: Vec3::new(0.5, 0.0, 0.5), ..free };
    let particle = BodyMass { inv_mass: Vec3::ONE, inv_inertia: Mat3::ZERO };
    let mut mass = vec![free, locked];
    mass.extend(vec![particle; count]);
    mass[4] = BodyMass::default();
    let mut rows = Rows::default();
    let twist = |k: f64| Twist {
        linear: Vec3::new(1.0 - k, 0.3 + k, 0.2 * k),
        angular: Vec3::new(0.1 * k, 0.5, -k),
    };
    let push = |k: f64| Twist { angular: Vec3::ZERO, ..twist(k) };
    rows.begin(Law::Contact(0.5));
    for k in 0..3 {
        let k = f64::from(k);
        rows.row(0.0, [(0, twist(k)), (5, push(-k)), (7, push(0.4))].into_iter());
    }
    rows.begin(Law::Range(f64::NEG_INFINITY, f64::INFINITY));
    rows.row(0.0, [(0, twist(0.7)), (1, twist(-0.4))].into_iter());
    rows.begin(Law::Range(0.0, f64::INFINITY));
    rows.row(0.0, [(4, push(0.7)), (2, push(-0.4))].into_iter());
    (pattern, blocks, vec![(4.0, inertia), (2.0, inertia)], mass, rows)
}

#[test]
fn newtons_step_solves_the_system() {
    let (pattern, blocks, bodies, mass, rows) = system();
    let system = System { bodies: &bodies, pattern: &pattern, blocks: &blocks };
    let slopes = [[3e4, 2e4, 1e3, 5e3], [7e5, 0.0, 0.0, 0.0], [2e3, 0.0, 0.0, 0.0]];
    let gradient: Vec<Twist> = (0..mass.len())
        .map(|i| Twist { linear: Vec3::new(1.0, i as f64, -2.0), angular: Vec3::splat(0.3) })
        .collect();
    let mut direct = Direct::default();
    assert!(direct.begin(&system, &mass, &rows));
    let mut way = Vec::new();
    direct.solve(&system, &rows, &slopes, &gradient, &mut way);
    // (A + JᵀDJ) way + gradient, by multiplication
    let mut left = Vec::new();
    system.multiply(&way, &mut left, &mut Default::default());
    for (tie, d) in rows.ties.iter().zip(&slopes) {
        let list: Vec<Row> = tie.rows().map(|i| rows.list[i]).collect();
        let rate: Vec<f64> = list.iter().map(|row| rows.rate(row, &way)).collect();
        let push = |k: usize| match (k, rate.len()) {
            (0, _) => d[0] * rate[0],
            (1, _) => d[1] * rate[1] + d[2] * rate[2],
            _ => d[2] * rate[1] + d[3] * rate[2],
        };
        for (k, row) in list.iter().enumerate() {
            rows.scatter(row, push(k), &mut left);
        }
    }
    for (i, (left, gradient)) in left.iter().zip(&gradient).enumerate() {
        let free =
            Vec3::from_array(mass[i].inv_mass.to_array().map(|m| if m > 0.0 { 1.0 } else { 0.0 }));
        let linear = free * (left.linear + gradient.linear);
        assert!(linear.length() < 1e-6, "{i}: {linear}");
        if i < 2 {
            let angular = left.angular + gradient.angular;
            assert!(angular.length() < 1e-6, "{i}: {angular}");
        }
    }
    assert_eq!(way[1].linear.y, 0.0);
    assert_eq!(way[4], Twist::default());
}
