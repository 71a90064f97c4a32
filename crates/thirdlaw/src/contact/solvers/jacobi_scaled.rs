//! Jacobi scaled by the spectral radius [tonge2012, Eq. 11]: steps of ω D⁻¹w with ω < 2/ρ(D⁻¹N).
//!
//! The print has ρ(N), which has a unit and bounds nothing. ρ(D⁻¹N) comes from a power iteration with
//! a fixed start, once per part and problem. It approaches ρ from below, hence ω = 1.5/ρ: safe while
//! the estimate is not a quarter too small. D holds the 2×2 blocks of the friction pairs.

use crate::contact::problem::{Bound, ContactProblem, Row, Velocities};
use crate::contact::row::{Pair, row_velocity};
use crate::contact::scratch::Scratch;
use crate::contact::solver::in_turn;
use crate::contact::sweep::{Effective, Part};
use crate::contact::wrench::{Pass, Push, apply_pushes};

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
    update_radius(problem, scratch);
    let radius = scratch.radius.value[usize::from(part == Part::Friction)];
    let pass = Pass {
        problem,
        part,
        velocities,
        effective: &scratch.whole.value,
        split: None,
        relax: if radius > 0.0 { 1.5 / radius } else { 1.0 },
    };
    scratch.met = pass.run(impulses, &mut scratch.pushes);
    apply_pushes(problem, &scratch.adjacency.value, &scratch.pushes, 1.0, None, velocities);
}

const POWER_ITERATIONS: usize = 100;

/// ρ(D⁻¹N) of the normals and of the friction rows.
fn update_radius(problem: &ContactProblem, scratch: &mut Scratch) {
    if !scratch.radius.fresh {
        let radius = [Part::Normal, Part::Friction].map(|part| power(problem, part, scratch));
        scratch.radius.get(|value| *value = radius);
    }
}

/// Power iteration on D⁻¹(N + Γ); growth measured in the norm of D, in which it is symmetric.
fn power(problem: &ContactProblem, part: Part, scratch: &mut Scratch) -> f64 {
    let mut x = std::mem::take(&mut scratch.trial);
    let mut probe = std::mem::take(&mut scratch.probe);
    x.clear();
    // a start without symmetry: golden-ratio steps have a share in every mode
    x.extend((0..problem.rows.len()).map(|i| 0.5 + (i as f64 * 0.618_033_988_749_895).fract()));
    let mut radius = 0.0;
    for _ in 0..POWER_ITERATIONS {
        let (before, after) = power_step(problem, part, scratch, &mut x, &mut probe);
        // ‖x‖²_D before and after: one step multiplies it by at most ρ²
        let next = if before > 0.0 { (after / before).sqrt() } else { 0.0 };
        let settled = (next - radius).abs() <= 1e-6 * next;
        radius = next;
        if settled {
            break;
        }
        let k = if after > 0.0 { 1.0 / after.sqrt() } else { 0.0 };
        x.iter_mut().for_each(|x| *x *= k);
    }
    probe.bodies.iter_mut().for_each(|v| *v = Default::default());
    probe.particles.iter_mut().for_each(|v| *v = Default::default());
    scratch.probe = probe;
    scratch.trial = x;
    radius
}

/// x ← D⁻¹(N + Γ)x on the rows of a part; returns ‖x‖²_D before and after.
fn power_step(
    problem: &ContactProblem,
    part: Part,
    scratch: &mut Scratch,
    x: &mut [f64],
    probe: &mut Velocities,
) -> (f64, f64) {
    probe.bodies.clear();
    probe.bodies.resize(problem.bodies.len(), Default::default());
    probe.particles.clear();
    probe.particles.resize(problem.particles.len(), Default::default());
    for (block, out) in problem.blocks.iter().zip(&mut scratch.pushes) {
        *out = Push::default();
        for i in block.rows().filter(|&i| in_part(&problem.rows[i], part)) {
            let row = &problem.rows[i];
            out.push += row.direction * x[i];
            out.turn_a += row.arm_a * x[i];
            out.turn_b += row.arm_b * x[i];
        }
    }
    apply_pushes(problem, &scratch.adjacency.value, &scratch.pushes, 1.0, None, probe);
    let (mut before, mut after) = (0.0, 0.0);
    for block in &problem.blocks {
        let pair = Pair::gather(problem, block, probe);
        let range = block.rows();
        let mut i = range.start;
        while i < range.end {
            let width = if matches!(problem.rows[i].bound, Bound::Friction { .. }) { 2 } else { 1 };
            if in_part(&problem.rows[i], part) && i + width <= range.end {
                let y = |k: usize| {
                    row_velocity(&problem.rows[k], &pair) + problem.rows[k].compliance * x[k]
                };
                let y = [y(i), if width == 2 { y(i + 1) } else { 0.0 }];
                let e = &scratch.whole.value[i..i + width];
                before += norm(e, &x[i..i + width]);
                divide(e, y, &mut x[i..i + width]);
                after += norm(e, &x[i..i + width]);
            }
            i += width;
        }
    }
    (before, after)
}

fn in_part(row: &Row, part: Part) -> bool {
    matches!(row.bound, Bound::Friction { .. }) == (part == Part::Friction)
}

/// xᵀDx of one step.
fn norm(e: &[Effective], x: &[f64]) -> f64 {
    match x {
        [x] => e[0].response * x * x,
        _ => {
            e[0].response * x[0] * x[0]
                + 2.0 * e[0].cross * x[0] * x[1]
                + e[1].response * x[1] * x[1]
        }
    }
}

/// x = D⁻¹y of one step, with the same guard as the step itself has.
fn divide(e: &[Effective], y: [f64; 2], x: &mut [f64]) {
    if let [x] = x {
        *x = e[0].inverse * y[0];
        return;
    }
    let (a, b, c) = (e[0].response, e[0].cross, e[1].response);
    let determinant = a * c - b * b;
    if determinant > 1e-12 * a * c {
        x[0] = (c * y[0] - b * y[1]) / determinant;
        x[1] = (a * y[1] - b * y[0]) / determinant;
    } else {
        let k = if e[0].largest > 0.0 { 1.0 / e[0].largest } else { 0.0 };
        x[0] = k * y[0];
        x[1] = k * y[1];
    }
}
