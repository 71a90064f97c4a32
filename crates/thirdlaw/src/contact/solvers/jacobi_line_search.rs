//! Jacobi with a line search [tonge2012, Eq. 10]: the projected Jacobi step gives a direction d, along
//! which ½zᵀNz + zᵀq is minimised: α = −dᵀw / dᵀ(N + Γ)d.
//!
//! The print bounds α only from below; z + αd must also stay within its bounds, so α is at most what
//! the first bound in the way allows. That is at least 1, since z and z + d are within.

use crate::contact::problem::{Bound, ContactProblem, Velocities};
use crate::contact::row::{Pair, row_velocity};
use crate::contact::scratch::Scratch;
use crate::contact::solver::in_turn;
use crate::contact::sweep::{Part, project_disc};
use crate::contact::wrench::{Pass, Push, apply_pushes};
use crate::model::settings::FrictionModel;

/// One iteration.
pub fn iterate(
    problem: &ContactProblem,
    part: Part,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) {
    if matches!(part, Part::Both | Part::Loaded) {
        return in_turn(iterate, problem, velocities, impulses, scratch);
    }
    scratch.update_whole(problem);
    scratch.update_adjacency(problem);
    enter_bounds(problem, part, velocities, impulses, scratch);
    scratch.trial.clear();
    scratch.trial.extend_from_slice(impulses);
    let pass = Pass {
        problem,
        part,
        velocities,
        effective: &scratch.whole.value,
        split: None,
        relax: 1.0,
    };
    scratch.met = pass.run(&mut scratch.trial, &mut scratch.pushes);
    let curvature = curvature(problem, impulses, scratch);
    if curvature > 0.0 {
        let best = -slope(problem, velocities, impulses, scratch) / curvature;
        let alpha = best.max(0.0).min(longest_step(problem, part, impulses, &scratch.trial));
        let adjacency = &scratch.adjacency.value;
        apply_pushes(problem, adjacency, &scratch.pushes, alpha, None, velocities);
        for (z, trial) in impulses.iter_mut().zip(&scratch.trial) {
            *z += alpha * (trial - *z);
        }
    }
}

/// Takes impulses whose bounds have moved past them back within: friction, when its normal gave way.
/// No line search may stop short of that, since it can cost energy.
fn enter_bounds(
    problem: &ContactProblem,
    part: Part,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) {
    let mut moved = false;
    for (block, out) in problem.blocks.iter().zip(&mut scratch.pushes) {
        *out = Push::default();
        let range = block.rows();
        let mut i = range.start;
        while i < range.end {
            let (width, z1) = nearest(problem, part, impulses, i);
            for (k, &z1) in z1[..width].iter().enumerate() {
                let (row, dz) = (&problem.rows[i + k], z1 - impulses[i + k]);
                if dz != 0.0 {
                    moved = true;
                    impulses[i + k] = z1;
                    out.push += row.direction * dz;
                    out.turn_a += row.arm_a * dz;
                    out.turn_b += row.arm_b * dz;
                }
            }
            i += width;
        }
    }
    if moved {
        apply_pushes(problem, &scratch.adjacency.value, &scratch.pushes, 1.0, None, velocities);
    }
}

/// How many rows step together at row `i`, and the impulses within their bounds nearest to theirs;
/// rows of the other part stay.
fn nearest(problem: &ContactProblem, part: Part, impulses: &[f64], i: usize) -> (usize, [f64; 2]) {
    match problem.rows[i].bound {
        Bound::Interval { lower, upper } if part == Part::Normal => {
            (1, [impulses[i].max(lower).min(upper), 0.0])
        }
        Bound::Interval { .. } => (1, [impulses[i], 0.0]),
        Bound::Friction { normal, coefficient } => {
            let z = [impulses[i], impulses[i + 1]];
            let radius = coefficient * impulses[normal as usize].max(0.0);
            let z1 = match (part, problem.friction) {
                (Part::Normal, _) => z,
                (_, FrictionModel::Cone) => project_disc(z, radius),
                (_, FrictionModel::Pyramid) => z.map(|z| z.max(-radius).min(radius)),
            };
            (2, z1)
        }
    }
}

/// dᵀ(N + Γ)d: the first term is Σ pᵀM⁻¹p over the nodes, p being the impulse on the node.
fn curvature(problem: &ContactProblem, impulses: &[f64], scratch: &Scratch) -> f64 {
    let adjacency = &scratch.adjacency.value;
    let mut sum = 0.0;
    for (i, mass) in problem.bodies.iter().enumerate() {
        let (push, turn) = adjacency.on_body(i, &scratch.pushes);
        sum += push.dot(mass.inv_mass * push) + turn.dot(mass.inv_inertia * turn);
    }
    for (i, mass) in problem.particles.iter().enumerate() {
        sum += mass * adjacency.on_particle(i, &scratch.pushes).length_squared();
    }
    sum + over_rows(problem, scratch, |i| {
        problem.rows[i].compliance * (scratch.trial[i] - impulses[i]).powi(2)
    })
}

/// dᵀw.
fn slope(
    problem: &ContactProblem,
    velocities: &Velocities,
    impulses: &[f64],
    scratch: &Scratch,
) -> f64 {
    let mut sum = 0.0;
    for &b in &scratch.adjacency.value.order {
        let block = &problem.blocks[b as usize];
        let pair = Pair::gather(problem, block, velocities);
        for i in block.rows() {
            let row = &problem.rows[i];
            let w = row_velocity(row, &pair) + row.bias + row.compliance * impulses[i];
            sum += w * (scratch.trial[i] - impulses[i]);
        }
    }
    sum
}

/// Sum over all rows, blocks in the order of their keys.
fn over_rows(problem: &ContactProblem, scratch: &Scratch, f: impl Fn(usize) -> f64) -> f64 {
    let order = scratch.adjacency.value.order.iter();
    order.flat_map(|&b| problem.blocks[b as usize].rows()).map(f).sum()
}

/// The largest α with z + αd within all bounds.
fn longest_step(problem: &ContactProblem, part: Part, impulses: &[f64], trial: &[f64]) -> f64 {
    let mut longest = f64::INFINITY;
    let mut i = 0;
    while i < problem.rows.len() {
        let (z, d) = (impulses[i], trial[i] - impulses[i]);
        match problem.rows[i].bound {
            Bound::Interval { lower, upper } => {
                if part == Part::Normal {
                    longest = longest.min(axis_step(z, d, lower, upper));
                }
                i += 1;
            }
            Bound::Friction { normal, coefficient } => {
                let radius = coefficient * impulses[normal as usize].max(0.0);
                if part == Part::Friction && i + 1 < problem.rows.len() {
                    let (z2, d2) = (impulses[i + 1], trial[i + 1] - impulses[i + 1]);
                    longest = longest.min(match problem.friction {
                        FrictionModel::Cone => disc_step([z, z2], [d, d2], radius),
                        FrictionModel::Pyramid => {
                            axis_step(z, d, -radius, radius).min(axis_step(z2, d2, -radius, radius))
                        }
                    });
                }
                i += 2;
            }
        }
    }
    longest
}

fn axis_step(z: f64, d: f64, lower: f64, upper: f64) -> f64 {
    if d > 0.0 {
        ((upper - z) / d).max(1.0)
    } else if d < 0.0 {
        ((lower - z) / d).max(1.0)
    } else {
        f64::INFINITY
    }
}

/// The larger root of ‖z + αd‖ = r, which is at least 1.
fn disc_step(z: [f64; 2], d: [f64; 2], radius: f64) -> f64 {
    let a = d[0] * d[0] + d[1] * d[1];
    if a == 0.0 {
        return f64::INFINITY;
    }
    let b = z[0] * d[0] + z[1] * d[1];
    let c = z[0] * z[0] + z[1] * z[1] - radius * radius;
    ((-b + (b * b - a * c).max(0.0).sqrt()) / a).max(1.0)
}
