use super::block::{Block, Lane, Pattern, block_of, lane, vector};
use super::factored::{ByFactor, Factored, Whole};
use super::filter::{Filter, Hold, NONE};
use super::multilevel::{Levelled, Multilevel};
use super::narrow::Narrow;
use super::pcg::{Outcome, Scratch, Stop, System};
use super::precondition::Precondition;
use super::product::Matrix;
use super::stencil::{Stencil, Stencils};
use crate::energy::Contributions;
use crate::energy::assemble::Layout;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Vec3};
use crate::model::cloth::{Cloth, ClothMesh, Fabric};
use crate::model::deformable::elements::Elements;

const H: f64 = 1.0 / 60.0;

/// The system of a wavy cotton cloth, 2 m wide, in a step of a frame.
struct Problem {
    elements: Elements,
    layout: Layout,
    blocks: Vec<Block<f64>>,
    stencils: Stencils<f64>,
    filter: Filter<f64>,
    own: Vec<Block<f64>>,
    b: Vec<Lane<f64>>,
    /// Whether search directions are multiplied in single precision.
    narrow: bool,
}

impl Problem {
    fn new(sheets: &[usize]) -> Problem {
        let mut elements = Elements::default();
        let mut x = Vec::new();
        for &side in sheets {
            let mesh = ClothMesh::grid(side, side, [2.0, 2.0]).expect("a grid");
            let cloth = Cloth::new(mesh.clone()).fabric(Fabric::cotton());
            let cloth = cloth.deformable().expect("a cloth");
            elements.append(&Elements::build(&cloth).expect("elements"));
            x.extend(mesh.positions.iter().map(|p| {
                *p + Vec3::new(0.0, 0.1 * libm::sin(4.0 * p.x) * libm::cos(3.0 * p.z), 0.0)
            }));
        }
        let n = x.len();
        let layout = Layout::new(&elements, n);
        let mut parts = Contributions::default();
        parts.begin(&elements, &x, H);
        let mut blocks = vec![Block::default(); layout.pattern.column.len()];
        let mut forces = vec![Vec3::ZERO; n];
        layout.assemble(&elements, &parts, &mut blocks, &mut forces);
        let mut b = Vec::new();
        let mut own = Vec::new();
        for (i, force) in forces.iter().enumerate() {
            let mass = elements.mass[i];
            for (k, column) in blocks[layout.pattern.diagonal[i] as usize].iter_mut().enumerate() {
                column[k] += mass;
            }
            own.push(block_of(&Mat3::from_diagonal(Vec3::splat(mass))));
            b.push(lane(H * *force + mass * Vec3::new(0.0, -9.81 * H, 0.3 * H)));
        }
        let mut filter = Filter::default();
        filter.set(n, []);
        let mut stencils = Stencils::default();
        stencils.index();
        Problem { elements, layout, blocks, stencils, filter, own, b, narrow: false }
    }

    /// Two corners pinned, a patch that may only slide.
    fn hold(mut self, side: usize) -> Self {
        let hold = |particle: usize, free: Mat3, prescribed: Vec3| Hold {
            particle: particle as u32,
            free,
            prescribed,
            body: NONE,
            arm: Vec3::ZERO,
        };
        let mut holds = vec![hold(0, Mat3::ZERO, Vec3::new(0.1, 0.0, 0.0))];
        holds.push(hold(side - 1, Mat3::ZERO, Vec3::ZERO));
        let normal = Vec3::new(0.2, 1.0, -0.1).normalize();
        let free = Mat3::IDENTITY - crate::math::outer(normal, normal);
        for row in side / 3..side / 2 {
            for column in side / 3..side / 2 {
                holds.push(hold(row * side + column, free, 0.05 * normal));
            }
        }
        self.filter.set(self.b.len(), holds);
        self
    }

    /// Stiff ties between vertices far from each other, as between two layers that touch.
    fn tie(mut self, side: usize) -> Self {
        let g = Vec3::new(0.0, 1.0, 0.1);
        for k in 0..side / 2 {
            let (a, b) = ((k + side * 2) as u32, (k + side * (side - 2)) as u32);
            self.stencils.list.push(Stencil {
                particles: [a, a + 1, b, b + 1],
                gradient: [0.4 * g, 0.6 * g, -0.5 * g, -0.5 * g],
                stiffness: 3.0,
                target: 0.01,
                body: NONE,
                wrench: [Vec3::ZERO; 2],
            });
        }
        self.stencils.index();
        self.stencils.add_targets(&mut self.b, &mut []);
        self
    }

    fn pattern(&self) -> &Pattern {
        &self.layout.pattern
    }

    fn multilevel(&self) -> Multilevel<f64> {
        let mut numbers = Multilevel::default();
        let matrix = (self.pattern(), &self.blocks[..]);
        numbers.update(&self.layout.levels, matrix, &[], &self.stencils, &self.filter, false);
        numbers
    }

    fn solve(&mut self, levelled: bool, tolerance: f64) -> (Outcome, Vec<Lane<f64>>) {
        let mut u = vec![[0.0; 4]; self.b.len()];
        for hold in &self.filter.holds {
            u[hold.particle as usize] = lane(hold.prescribed);
        }
        let levels = if levelled { &self.layout.levels[..] } else { &[] };
        let mut numbers = Multilevel::default();
        let matrix = (&self.layout.pattern, &self.blocks[..]);
        numbers.update(levels, matrix, &[], &self.stencils, &self.filter, false);
        let wide = Matrix { pattern: &self.layout.pattern, blocks: &self.blocks, own: &self.own };
        let mut narrow = Narrow::default();
        narrow.take(&wide, false, [].into_iter());
        let mut system = System {
            matrix: wide,
            narrow: self.narrow.then_some(&narrow),
            stencils: &mut self.stencils,
            filter: &self.filter,
            bodies: &[],
        };
        let stop = Stop {
            iterations: 5000,
            tolerance,
            reference: 0.0,
            least: 0.0,
            finish: None,
            speed: f64::INFINITY,
        };
        let mut precondition = Levelled { levels, numbers: &mut numbers };
        let (right, scratch) = ((&self.b[..], &[][..]), &mut Scratch::default());
        let outcome = system.solve(&mut precondition, right, &stop, (&mut u, &mut []), scratch);
        (outcome, u)
    }

    /// √(rᵀD⁻¹r) of what `u` leaves in the free directions.
    fn left(&mut self, u: &[Lane<f64>]) -> f64 {
        let mut numbers = Multilevel::default();
        let matrix = (&self.layout.pattern, &self.blocks[..]);
        numbers.update(&[], matrix, &[], &self.stencils, &self.filter, false);
        let wide = Matrix { pattern: &self.layout.pattern, blocks: &self.blocks, own: &self.own };
        let (stencils, filter) = (&mut self.stencils, &self.filter);
        let mut system = System { matrix: wide, narrow: None, stencils, filter, bodies: &[] };
        let mut scratch = Scratch::default();
        let rest = system.impulses(&self.b, u, &[], &mut scratch);
        let r: Vec<_> = rest.iter().enumerate().map(|(i, r)| filter.apply(i, r)).collect();
        let mut z = r.clone();
        numbers.jacobi.apply(&r, &mut z).sqrt()
    }
}

/// Numbers without a pattern.
fn random(count: usize, filter: &Filter<f64>, mut seed: u64) -> Vec<Lane<f64>> {
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    };
    (0..count).map(|i| filter.apply(i, &[next(), next(), next(), 0.0])).collect()
}

fn product(a: &[Lane<f64>], b: &[Lane<f64>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| vector(a).dot(vector(b))).sum()
}

#[test]
fn weights_of_every_particle_sum_to_one() {
    let problem = Problem::new(&[23, 9]);
    assert!(problem.layout.levels.len() >= 2);
    for level in &problem.layout.levels {
        for i in 0..level.weights.rows() {
            let total: f64 = level.weights.row(i).iter().map(|w| f64::from(w.1)).sum();
            assert!((total - 1.0).abs() < 1e-6, "{total}");
        }
    }
}

#[test]
fn a_coarse_matrix_is_the_product_of_weights_and_matrix() {
    // vᵀ(PᵀAP)v = (Pv)ᵀA(Pv), which the energy of a spread velocity shows without the matrix
    let problem = Problem::new(&[14]);
    let level = &problem.layout.levels[0];
    let nodes = level.pattern.rows();
    let mut ap = vec![Block::default(); level.galerkin.product_len()];
    let mut coarse = vec![Block::default(); level.pattern.column.len()];
    level.galerkin.product(problem.pattern(), &problem.blocks, &level.weights, None, &mut ap);
    level.galerkin.coarse(&level.pattern, &level.transposed, &ap, &mut coarse);
    let mut free = Filter::default();
    free.set(nodes, []);
    let v = random(nodes, &free, 5);
    let mut av = v.clone();
    super::block::multiply(&level.pattern, &coarse, &v, &mut av);
    let spread: Vec<Lane<f64>> = (0..problem.b.len())
        .map(|i| {
            let row = level.weights.row(i).iter();
            lane(row.map(|&(c, w)| f64::from(w) * vector(&v[c as usize])).sum())
        })
        .collect();
    let mut a_spread = spread.clone();
    super::block::multiply(problem.pattern(), &problem.blocks, &spread, &mut a_spread);
    let (one, other) = (product(&v, &av), product(&spread, &a_spread));
    assert!((one - other).abs() < 1e-12 * other, "{one} {other}");
}

#[test]
fn the_multilevel_preconditioner_is_symmetric_and_positive() {
    for tied in [false, true] {
        let mut problem = Problem::new(&[24]).hold(24);
        if tied {
            problem = problem.tie(24);
        }
        let n = problem.b.len();
        let mut numbers = problem.multilevel();
        let mut levelled = Levelled { levels: &problem.layout.levels, numbers: &mut numbers };
        for seed in 0..20 {
            let (a, b) =
                (random(n, &problem.filter, 2 * seed + 1), random(n, &problem.filter, 2 * seed));
            let (mut ma, mut mb) = (a.clone(), b.clone());
            let aa = levelled.apply(&problem.filter, (&a, &[]), (&mut ma, &mut []));
            levelled.apply(&problem.filter, (&b, &[]), (&mut mb, &mut []));
            let (ab, ba) = (product(&a, &mb), product(&b, &ma));
            assert!(aa > 0.0);
            assert!((aa - product(&a, &ma)).abs() < 1e-12 * aa);
            assert!((ab - ba).abs() < 1e-10 * aa, "{ab} {ba} {aa}");
        }
    }
}

#[test]
fn the_iteration_agrees_with_the_direct_solution() {
    for levelled in [false, true] {
        let mut problem = Problem::new(&[13]).hold(13).tie(13);
        assert!(!problem.layout.levels.is_empty());
        let (outcome, u) = problem.solve(levelled, 1e-13);
        assert!(!outcome.indefinite);
        let mut exact = problem.b.clone();
        let solved = super::dense::solve(
            &problem.layout.pattern,
            &problem.blocks,
            &problem.stencils,
            &problem.filter,
            &problem.elements.mass,
            &problem.b,
            &mut exact,
        );
        assert!(solved);
        let largest = exact.iter().map(|u| vector(u).length()).fold(0.0, f64::max);
        for (a, b) in u.iter().zip(&exact) {
            assert!((vector(a) - vector(b)).length() < 1e-10 * largest, "{a:?} {b:?}");
        }
    }
}

#[test]
fn iterations_hardly_grow_with_the_mesh() {
    for tolerance in [1e-2, 1e-3] {
        let counts = [32, 86].map(|side| {
            let mut problem = Problem::new(&[side]).hold(side);
            let jacobi = problem.solve(false, tolerance).0.iterations;
            let levelled = problem.solve(true, tolerance).0.iterations;
            assert!(2 * levelled < jacobi, "{side}: {levelled} against {jacobi}");
            levelled
        });
        assert!(2 * counts[1] <= 3 * counts[0], "{counts:?}");
    }
}

#[test]
fn stiff_ties_between_layers_cost_few_iterations() {
    let side = 40;
    let without = Problem::new(&[side]).hold(side).solve(true, 1e-3).0.iterations;
    let with = Problem::new(&[side]).hold(side).tie(side).solve(true, 1e-3).0.iterations;
    assert!(with < 2 * without, "{with} {without}");
}

#[test]
fn the_solution_has_the_same_bits_for_any_number_of_threads() {
    let bits = |narrow: bool| {
        let mut problem = Problem::new(&[51, 20]).hold(51).tie(51);
        problem.narrow = narrow;
        let (_, u) = problem.solve(true, 1e-3);
        u.iter().flatten().map(|x| x.to_bits()).collect::<Vec<u64>>()
    };
    for narrow in [false, true] {
        let mut first = None;
        for threads in [1, 2, 3, 7] {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let found = pool.install(|| bits(narrow));
            assert!(first.get_or_insert_with(|| found.clone()) == &found, "{threads} threads");
        }
    }
}

#[test]
fn narrow_directions_lead_to_the_wide_solution() {
    for tolerance in [1e-2, 1e-3] {
        let mut problem = Problem::new(&[40]).hold(40).tie(40);
        let (wide, _) = problem.solve(false, tolerance);
        problem.narrow = true;
        let (outcome, u) = problem.solve(false, tolerance);
        // what is left is what the iteration says, formed anew from the wide matrix
        let left = problem.left(&u);
        assert!((left / outcome.end - 1.0).abs() < 0.01, "{left} for {}", outcome.end);
        assert!(left <= 1.01 * tolerance * outcome.start);
        let (a, b) = (outcome.iterations, wide.iterations);
        assert!(a <= b + b / 10, "{a} against {b}");
    }
}

#[test]
fn wider_registers_give_the_same_bits() {
    let problem = Problem::new(&[20]);
    let x = &problem.b;
    let (mut one, mut other) = (x.clone(), x.clone());
    super::block::multiply_rows(problem.pattern(), &problem.blocks, x, 0..x.len(), &mut one);
    let (pattern, blocks) = (problem.pattern(), &problem.blocks[..]);
    super::block::multiply_rows_any(pattern, blocks, x, 0..x.len(), &mut other);
    assert_eq!(one, other);
}

/// A body that carries a held patch, and another that presses on triangles.
fn with_bodies(mut problem: Problem, side: usize) -> (Problem, Vec<BodyMass>) {
    let mut holds = problem.filter.holds.clone();
    for (k, hold) in holds.iter_mut().enumerate().skip(2) {
        hold.body = 0;
        hold.arm = Vec3::new(0.02 * k as f64, 0.1, -0.01 * k as f64);
    }
    problem.filter.set(problem.b.len(), holds);
    for k in 0..8 {
        let a = (side * (side - 4) + 2 * k) as u32;
        let direction = Vec3::new(0.1, 1.0, -0.2);
        problem.stencils.list.push(Stencil {
            particles: [a, a + 1, a + side as u32, a],
            gradient: [0.2 * direction, 0.3 * direction, 0.5 * direction, Vec3::ZERO],
            stiffness: 40.0,
            target: 0.0,
            body: 1,
            wrench: [direction, Vec3::new(0.0, 0.05 * k as f64, 0.1)],
        });
    }
    problem.stencils.index();
    let mass = BodyMass {
        inv_mass: Vec3::splat(2.0),
        inv_inertia: Mat3::from_diagonal(Vec3::new(90.0, 60.0, 70.0)),
    };
    (problem, vec![mass, mass])
}

#[test]
fn a_factor_answers_as_the_matrix_does_with_holds_bodies_and_stiff_terms() {
    let side = 21;
    for ties in [false, true] {
        let problem = Problem::new(&[side]).hold(side);
        let problem = if ties { problem.tie(side) } else { problem };
        let (mut problem, masses) = with_bodies(problem, side);
        let plan = problem.layout.factor_plan(&problem.elements.energies);
        let mut numbers = Factored::default();
        let places = vec![Vec3::ZERO; problem.b.len()];
        let (pattern, blocks) = (&problem.layout.pattern, &problem.blocks[..]);
        let (stencils, filter) = (&mut problem.stencils, &problem.filter);
        let whole = Whole { pattern, blocks, stencils, filter, masses: &masses, places: &places };
        assert!(numbers.factor(plan, &whole));
        let mut u = vec![[0.0; 4]; problem.b.len()];
        for hold in &filter.holds {
            u[hold.particle as usize] = lane(hold.prescribed);
        }
        let mut u_bodies = vec![[Vec3::ZERO; 2]; 2];
        let matrix = Matrix { pattern, blocks, own: &problem.own };
        let mut system = System { matrix, narrow: None, stencils, filter, bodies: &masses };
        let stop = Stop {
            iterations: 200,
            tolerance: 1e-9,
            reference: 0.0,
            least: 0.0,
            finish: None,
            speed: f64::INFINITY,
        };
        let given = [[Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.1, 0.0, 0.2)]; 2];
        let outcome = system.solve(
            &mut ByFactor { plan, numbers: &mut numbers },
            (&problem.b, &given),
            &stop,
            (&mut u, &mut u_bodies),
            &mut Scratch::default(),
        );
        // ties that no element connects are taken apart, and cost iterations
        let most = if ties { 120 } else { 2 };
        assert!(outcome.iterations <= most, "{} iterations, ties: {ties}", outcome.iterations);
        assert_eq!(numbers.exact, !ties);
    }
}
