//! Joints held exactly inside the averaging of mass splitting [tonge2012, Eq. 37].

use super::reference::{Dense, flatten, linear_solve, multiply, murty, transpose};
use super::splitting::SplitSystem;
use super::*;
use crate::joint::island::JointIsland;
use crate::joint::system::{NodeMass, Role, Source, Status};
use crate::math::Vec3;

const RECIPE: Recipe =
    Recipe { bodies: 6, particles: 12, blocks: 9, points: 2, friction: None, softness: 0.05 };

const SPLITTING: [Solver; 2] = [Solver::MassSplitting, Solver::BlockMassSplitting];

/// Contacts with joints between some of their bodies.
struct Held {
    case: Case,
    joints: JointIsland,
    /// The same with joints as bilateral rows after those of the contacts, in dense algebra.
    dense: Dense,
    /// Contact rows.
    contacts: usize,
}

/// The contacts alone, with joints eliminated.
struct Reduced {
    matrix: Vec<Vec<f64>>,
    q: Vec<f64>,
    /// What the joints answer to each contact impulse.
    to_row: Vec<Vec<f64>>,
    /// What they answer to q.
    to_q: Vec<f64>,
}

/// A random problem whose bodies hang together by ball joints: a tree with one loop, tied to the fixed
/// body and to a particle. Joints ask for velocities other than zero, as they do where gaps are closed.
fn held(seed: u64, recipe: Recipe) -> Held {
    let case = random_case(seed, recipe);
    let random = &mut Random(seed + 1000);
    let mut joints = JointIsland::default();
    let system = &mut joints.system;
    for (i, inverse) in case.problem.bodies.iter().enumerate() {
        let mut node = NodeMass { inverse: *inverse, ..NodeMass::default() };
        if i > 0 {
            node.movable = true;
            node.mass = 1.0 / inverse.inv_mass.x;
            node.inertia = inverse.inv_inertia.inverse();
        }
        system.nodes.push(node);
    }
    for &inv_mass in &case.problem.particles {
        let mut node = NodeMass { mass: 1.0 / inv_mass, ..NodeMass::default() };
        (node.movable, node.is_point, node.locked_angular) = (true, true, [true; 3]);
        node.inverse.inv_mass = Vec3::splat(inv_mass);
        system.nodes.push(node);
    }
    system.nodes.push(NodeMass::default());
    let pairs = [[0, 1], [1, 2], [2, 3], [1, 3], [3, 4], [4, recipe.bodies as u32 + 2]];
    for (i, ends) in pairs.iter().enumerate() {
        system.add_link(Source::Joint(i as u32), ends);
        (0..3).for_each(|axis| system.add_row(Role::Hold, axis));
    }
    system.finish();
    for link in system.links.clone() {
        let arms = [random.vector() * 0.5, random.vector() * 0.5];
        for (i, axis) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
            let r = link.row_start as usize + i;
            let parts = system.parts(&link, r);
            system.jacobian[parts.start].linear = -axis;
            system.jacobian[parts.start].angular = -arms[0].cross(axis);
            system.jacobian[parts.start + 1].linear = axis;
            if !system.nodes[system.ends[link.end_start as usize + 1] as usize].is_point {
                system.jacobian[parts.start + 1].angular = arms[1].cross(axis);
            }
            (system.rows[r].status, system.rows[r].bias) =
                (Status::Free, random.between(-0.1, 0.1));
        }
    }
    system.touch();
    let contacts = case.problem.rows.len();
    let mut all = case.problem.clone();
    let first = recipe.bodies as u32;
    let side = |end: u32| match end.checked_sub(first) {
        None => ContactSide::Body(end),
        Some(p) => ContactSide::Particles { index: [p; 4], weight: [1.0, 0.0, 0.0, 0.0] },
    };
    for (i, &[a, b]) in pairs.iter().enumerate() {
        let row_start = (contacts + 3 * i) as u32;
        let key = 1 << 63 | i as u64;
        all.blocks.push(Block { a: side(a), b: side(b), row_start, row_count: 3, key });
    }
    let blank = all.rows[0];
    all.rows.resize(contacts + 3 * pairs.len(), blank);
    joints.system.write_rows(&mut all.rows[contacts..]);
    let dense = Dense::new(&all, &case.velocities);
    Held { case, joints, dense, contacts }
}

impl Held {
    fn project(&mut self) {
        self.joints.take_velocities(&self.case.velocities);
        self.joints.system.solve(&mut self.joints.v);
        self.joints.give_velocities(&mut self.case.velocities);
    }

    /// Iterations of the path that steps take.
    fn iterate(&mut self, solver: Solver, iterations: u32) -> SolveReport {
        let settings = SolveSettings {
            solver,
            iterations,
            tolerance: 0.0,
            direct: DirectUse::Never,
            ..SolveSettings::default()
        };
        let Case { problem, velocities, impulses, scratch } = &mut self.case;
        let joints = &mut self.joints;
        let mut hold = |velocities: &mut Velocities| {
            joints.take_velocities(velocities);
            joints.system.solve(&mut joints.v);
            joints.give_velocities(velocities);
        };
        solve_and_hold(problem, &settings, velocities, impulses, scratch, &mut hold)
    }

    /// Impulses of contacts and joints.
    fn impulses(&self) -> Vec<f64> {
        let joints = self.joints.system.rows.iter().map(|row| row.impulse);
        self.case.impulses.iter().copied().chain(joints).collect()
    }

    /// Largest |J v + b| over the joints, by dense algebra.
    fn worst_joint(&self) -> f64 {
        let rates =
            multiply(&self.dense.jacobian[self.contacts..], &flatten(&self.case.velocities));
        let rows = self.joints.system.rows.iter();
        rates.iter().zip(rows).map(|(w, row)| (w + row.bias).abs()).fold(0.0, f64::max)
    }

    /// The Schur complement of the joints.
    fn reduced(&self) -> Reduced {
        let (n, c) = (self.dense.q.len(), self.contacts);
        let matrix = &self.dense.matrix;
        let held: Vec<Vec<f64>> = (c..n).map(|i| matrix[i][c..].to_vec()).collect();
        let answer = |right: Vec<f64>| linear_solve(held.clone(), right);
        let to_row: Vec<Vec<f64>> =
            (0..c).map(|k| answer((c..n).map(|i| -matrix[i][k]).collect())).collect();
        let to_q = answer(self.dense.q[c..].iter().map(|q| -q).collect());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let reduced: Vec<Vec<f64>> = (0..c)
            .map(|i| (0..c).map(|k| matrix[i][k] + dot(&matrix[i][c..], &to_row[k])).collect())
            .collect();
        let q = (0..c).map(|i| self.dense.q[i] + dot(&matrix[i][c..], &to_q)).collect();
        Reduced { matrix: reduced, q, to_row, to_q }
    }

    /// The exact solution: contacts by pivoting on what the joints leave them.
    fn exact(&self) -> Vec<f64> {
        let Reduced { matrix, q, to_row, to_q } = self.reduced();
        let mut z = murty(&matrix, &q);
        let answer = |j: usize| (0..z.len()).map(|k| z[k] * to_row[k][j]).sum::<f64>();
        let joints: Vec<f64> = (0..to_q.len()).map(|j| to_q[j] + answer(j)).collect();
        z.extend(joints);
        z
    }

    /// Half the square of the energy norm, ½(z − z*)ᵀN(z − z*).
    fn distance(&self, to: &[f64]) -> f64 {
        let d: Vec<f64> = self.impulses().iter().zip(to).map(|(z, t)| z - t).collect();
        0.5 * multiply(&self.dense.matrix, &d).iter().zip(&d).map(|(a, b)| a * b).sum::<f64>()
    }
}

#[test]
fn joints_hold_exactly_after_every_iteration() {
    for solver in SPLITTING {
        let mut held = held(3, RECIPE);
        assert!(held.worst_joint() > 0.1);
        for _ in 0..30 {
            held.iterate(solver, 1);
            let worst = held.worst_joint();
            assert!(worst < 1e-12, "{}: {worst:e}", solver.name());
        }
    }
}

#[test]
fn splitting_with_joints_reaches_the_exact_solution() {
    for solver in SPLITTING.into_iter().chain([Solver::Pgs, Solver::ColoredPgs]) {
        for seed in 0..8 {
            let mut held = held(seed, RECIPE);
            let exact = held.exact();
            assert!(exact[..held.contacts].iter().any(|&z| z > 0.0));
            held.iterate(solver, 6000);
            let (z, v) = (held.impulses(), flatten(&held.case.velocities));
            let wanted = held.dense.velocities(&exact);
            for (a, b) in z.iter().zip(&exact).chain(v.iter().zip(&wanted)) {
                assert!((a - b).abs() < 1e-8, "{} seed {seed}: {a} {b}", solver.name());
            }
        }
    }
}

#[test]
fn the_energy_of_the_dual_problem_only_falls_and_bounds_the_error() {
    for solver in SPLITTING {
        for seed in 0..8 {
            let mut held = held(seed, RECIPE);
            let exact = held.exact();
            let least = held.dense.energy(&exact);
            held.project();
            let first = held.dense.energy(&held.impulses());
            let mut before = first;
            for _ in 0..300 {
                held.iterate(solver, 1);
                let now = held.dense.energy(&held.impulses());
                assert!(now <= before + 1e-14, "{} seed {seed}: {now} {before}", solver.name());
                let distance = held.distance(&exact);
                assert!(distance <= now - least + 1e-13, "{distance:e} {:e}", now - least);
                before = now;
            }
            assert!(before - least < 0.1 * (first - least), "{} {first} {least}", before);
        }
    }
}

#[test]
fn the_error_in_the_energy_norm_only_falls_where_contacts_hold_both_ways() {
    // without bounds the energy above its least is the square of the norm itself
    for solver in SPLITTING {
        for seed in 0..8 {
            let mut held = held(seed, RECIPE);
            for row in &mut held.case.problem.rows {
                row.bound = Bound::Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
            }
            let q = held.dense.q.iter().map(|q| -q).collect();
            let exact = linear_solve(held.dense.matrix.clone(), q);
            held.project();
            let first = held.distance(&exact);
            let mut before = first;
            for _ in 0..300 {
                held.iterate(solver, 1);
                let now = held.distance(&exact);
                assert!(now < before, "{} seed {seed}: {now} {before}", solver.name());
                before = now;
            }
            assert!(before < 0.2 * first, "{} seed {seed}: {before:e} {first:e}", solver.name());
        }
    }
}

/// Projects the copies of all nodes onto the fixed joints between them and the joints, all of them
/// rows of one dense system (Eq. 37, with the minus that the print lacks). A joint holds the first
/// copy of its bodies.
fn project_copies(split: &SplitSystem, held: &Held, after: &[Vec<f64>], velocity: &mut [f64]) {
    // (coordinate, copy) of every unknown; nodes that nothing touches have one copy
    let copies = |k: usize| split.copies[k].len().max(1);
    let starts: Vec<usize> = (0..=velocity.len()).map(|k| (0..k).map(copies).sum()).collect();
    let count = starts[velocity.len()];
    let mut all = vec![0.0; count];
    let mut weight = vec![vec![0.0; count]; count];
    for k in 0..velocity.len() {
        for c in 0..copies(k) {
            let source = split.copies[k].get(c).map_or(&*velocity, |&block| &after[block]);
            all[starts[k] + c] = source[k];
            for other in 0..velocity.len() {
                let inv_mass = held.dense.inv_mass[k][other];
                if inv_mass != 0.0 {
                    weight[starts[k] + c][starts[other] + c] = inv_mass * copies(k) as f64;
                }
            }
        }
    }
    let mut rows = Vec::new();
    let mut right = Vec::new();
    for k in 0..velocity.len() {
        // what cannot move needs no joint to hold it together
        if held.dense.inv_mass[k][k] == 0.0 {
            continue;
        }
        for c in 1..copies(k) {
            let mut row = vec![0.0; count];
            (row[starts[k]], row[starts[k] + c]) = (1.0, -1.0);
            rows.push(row);
            right.push(0.0);
        }
    }
    let joints = held.dense.jacobian[held.contacts..].iter().zip(&held.joints.system.rows);
    for (joint, with) in joints {
        let mut row = vec![0.0; count];
        (0..velocity.len()).for_each(|k| row[starts[k]] = joint[k]);
        rows.push(row);
        right.push(with.bias);
    }
    for (right, row) in right.iter_mut().zip(&rows) {
        *right += row.iter().zip(&all).map(|(a, b)| a * b).sum::<f64>();
    }
    let matrix = rows.iter().map(|row| multiply(&rows, &multiply(&weight, row))).collect();
    let z = linear_solve(matrix, right);
    let change = multiply(&weight, &multiply(&transpose(&rows), &z));
    all.iter_mut().zip(change).for_each(|(v, d)| *v -= d);
    for k in 0..velocity.len() {
        velocity[k] = all[starts[k]];
        for c in 1..copies(k) {
            assert!((all[starts[k] + c] - velocity[k]).abs() < 1e-10, "copies move as one");
        }
    }
}

#[test]
fn averaging_then_projecting_is_one_projection_of_the_split_system() {
    let recipe = Recipe { softness: 0.0, ..RECIPE };
    for seed in 0..4 {
        let mut held = held(seed, recipe);
        let split = SplitSystem::new(&held.case.problem);
        let mut velocity = flatten(&held.case.velocities);
        let mut impulses = held.case.impulses.clone();
        for iteration in 0..15 {
            let after = split.sweep(&velocity, &mut impulses);
            project_copies(&split, &held, &after, &mut velocity);
            held.iterate(Solver::BlockMassSplitting, 1);
            let ours = flatten(&held.case.velocities);
            let pairs = ours.iter().zip(&velocity).chain(held.case.impulses.iter().zip(&impulses));
            for (a, b) in pairs {
                assert!((a - b).abs() < 1e-9, "seed {seed} iteration {iteration}: {a} {b}");
            }
        }
        assert!(impulses.iter().any(|&z| z > 0.0));
    }
}

#[test]
fn impulses_spread_through_joints_as_dense_algebra_says() {
    use crate::joint::spread::Spread;
    use crate::joint::system::Part;
    for seed in 0..4 {
        let mut held = held(seed, RECIPE);
        let wanted = held.reduced().matrix;
        held.project();
        let (problem, system) = (&held.case.problem, &mut held.joints.system);
        let mut spread = Spread::default();
        system.spread_clear(&mut spread);
        for block in &problem.blocks {
            for i in block.rows() {
                let row = &problem.rows[i];
                let mut pushes = Vec::new();
                for (side, arm, sign) in [(block.a, row.arm_a, -1.0), (block.b, row.arm_b, 1.0)] {
                    let linear = sign * row.direction;
                    match side {
                        ContactSide::World => {}
                        ContactSide::Body(b) => {
                            pushes.push((b, Part { linear, angular: sign * arm }))
                        }
                        ContactSide::Particles { index, weight } => {
                            for (p, w) in index.into_iter().zip(weight) {
                                let part = Part { linear: w * linear, angular: Vec3::ZERO };
                                pushes.push((problem.bodies.len() as u32 + p, part));
                            }
                        }
                    }
                }
                let mut out = vec![0.0; i + 1];
                system.spread_row(&mut spread, pushes.into_iter(), &mut out);
                out[i] += row.compliance;
                for (k, (a, b)) in out.iter().zip(&wanted[i]).enumerate() {
                    assert!((a - b).abs() < 1e-12, "seed {seed} rows {i} {k}: {a} {b}");
                }
            }
        }
    }
}
