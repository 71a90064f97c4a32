use super::bundle::{Bundle, Row};
use super::sweep::{Bodies, sweep, sweep_as};
use crate::math::{Mat3, Quat, Vec3, rotation_from_vector};
use crate::parallel::share::Shared;
use crate::simd::f32x8::{LANES, Wide};
use crate::step::rigid::pile::bundle::{Line, Padded};
use crate::step::rigid::pile::joints::padded;
use crate::step::rigid::pile::sweep::Pass;

const PASSES: [Pass; 5] = [Pass::Warm, Pass::Push, Pass::Place, Pass::Relax, Pass::Last];

/// Numbers between −1 and 1 that look random.
fn numbers(seed: u32) -> impl FnMut() -> f32 {
    let mut x = seed;
    move || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (x >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

struct Setup {
    bundle: Bundle,
    rows: Vec<Row>,
    velocity: Vec<Line>,
    moved: Vec<Line>,
    turned: Vec<Padded>,
    masses: Vec<Padded>,
    /// Centres at the beginning.
    places: Vec<Vec3>,
}

fn vector(f: &mut impl FnMut() -> f32) -> Vec3 {
    Vec3::new(f().into(), f().into(), f().into())
}

/// Sixteen bodies, each of which has turned and moved, and a joint between each of the first eight and one of the
/// others: a held turn, a limit, friction.
fn setup() -> Setup {
    let mut f = numbers(11);
    let mut bundle = Bundle { rows: 3, moves: [0xFF; 2], ..Bundle::default() };
    let mut rows = vec![Row::default(); 3];
    let places: Vec<Vec3> = (0..17).map(|_| 3.0 * vector(&mut f)).collect();
    for lane in 0..LANES {
        let [a, b] = [1 + lane, 9 + lane];
        (bundle.body[0][lane], bundle.body[1][lane]) = (a as u32, b as u32);
        let (arm_a, gap) = (vector(&mut f), 0.01 * vector(&mut f));
        let arm_b = places[a] + arm_a + gap - places[b];
        for x in 0..3 {
            bundle.arm[0][x].0[lane] = arm_a[x] as f32;
            bundle.arm[1][x].0[lane] = arm_b[x] as f32;
            bundle.gap[x].0[lane] = gap[x] as f32;
            bundle.mass[x].0[lane] = 0.5 + 0.5;
            rows.iter_mut().for_each(|row| row.axis[x].0[lane] = f());
        }
        for side in 0..2 {
            bundle.free[side].0[lane] = 1.0;
            for (i, to) in bundle.root[side].iter_mut().enumerate() {
                to.0[lane] = if [0, 2, 5].contains(&i) { 1.0 + 0.5 * f() } else { 0.3 * f() };
            }
        }
        rows[0].most.0[lane] = f32::MAX;
        rows[0].room[0].0[lane] = 0.01 * f();
        rows[1].most.0[lane] = f32::MAX;
        rows[1].limit.0[lane] = 1.0;
        rows[1].room = [Wide([0.001; LANES]), Wide([-0.01; LANES])];
        rows[2].most.0[lane] = 0.01;
    }
    let mut line = |k: f64| {
        (0..17).map(|_| Line::new(k * vector(&mut f), k * vector(&mut f))).collect::<Vec<_>>()
    };
    let (velocity, moved) = (line(1.0), line(0.01));
    let turned = (0..17).map(|_| padded(rotation_from_vector(0.4 * vector(&mut f)))).collect();
    let masses = vec![Padded([0.5, 0.5, 0.5, 0.0]); 17];
    Setup { bundle, rows, velocity, moved, turned, masses, places }
}

fn pass(setup: &mut Setup, pass: Pass, portable: bool) {
    let velocity = Shared::new(&mut setup.velocity);
    let (moved, turned) = (Shared::new(&mut setup.moved), Shared::new(&mut setup.turned));
    let (velocity, moved, turned, inv_mass) = (&velocity, &moved, &turned, &setup.masses[..]);
    let bodies = Bodies { velocity, moved, turned, inv_mass, inv_h: 480.0 };
    let bundles = std::slice::from_mut(&mut setup.bundle);
    // SAFETY: one thread, and lines for all bodies
    unsafe {
        if portable {
            sweep_as::<Wide>(pass, bundles, &mut setup.rows, &bodies);
        } else {
            sweep(pass, bundles, &mut setup.rows, &bodies);
        }
    }
}

/// L₀ of a body.
fn root(setup: &Setup, body: usize) -> Mat3 {
    let (side, lane) = ((body - 1) / LANES, (body - 1) % LANES);
    let [a, b, c, d, e, f] = setup.bundle.root[side].map(|entry| f64::from(entry.0[lane]));
    Mat3::from_cols(Vec3::new(a, b, d), Vec3::new(0.0, c, e), Vec3::new(0.0, 0.0, f))
}

fn turn(setup: &Setup, body: usize) -> Quat {
    let [x, y, z, w] = setup.turned[body].0;
    Quat::from_xyzw(x, y, z, w)
}

/// Momentum, and angular momentum about the origin: with ω = Δ L₀ y and I⁻¹ = Δ L₀ L₀ᵀ Δᵀ, I ω = Δ L₀⁻ᵀ y.
fn momenta(setup: &Setup) -> (Vec3, Vec3) {
    (1..17).fold((Vec3::ZERO, Vec3::ZERO), |(p, l), body| {
        let own = 2.0 * setup.velocity[body].linear();
        let spin = root(setup, body).transpose().inverse() * setup.velocity[body].angular();
        let at = setup.places[body] + setup.moved[body].linear();
        (p + own, l + at.cross(own) + turn(setup, body) * spin)
    })
}

#[test]
fn portable_vectors_give_the_bits_of_the_machine() {
    let bits = |portable: bool| {
        let mut setup = setup();
        PASSES.iter().for_each(|&p| pass(&mut setup, p, portable));
        let impulses = setup.rows.iter().flat_map(|row| row.impulse.0);
        let impulses: Vec<u32> =
            impulses.chain(setup.bundle.impulse[1].0).map(f32::to_bits).collect();
        let lines = setup.velocity.iter().flat_map(|l| l.linear.into_iter().chain(l.angular));
        (impulses, lines.map(f64::to_bits).collect::<Vec<_>>())
    };
    let (machine, portable) = (bits(false), bits(true));
    assert_eq!(machine, portable);
    assert!(machine.0.iter().filter(|&&z| z != 0).count() > 20, "impulses act");
}

#[test]
fn joints_keep_both_momenta_however_far_bodies_have_turned_and_wide_the_gap() {
    let mut setup = setup();
    let before = momenta(&setup);
    for p in PASSES {
        pass(&mut setup, p, false);
        let now = momenta(&setup);
        assert!(now.0.distance(before.0) < 1e-13, "{p:?}: {}", now.0 - before.0);
        assert!(now.1.distance(before.1) < 2e-5, "{p:?}: {}", now.1 - before.1);
    }
}

#[test]
fn iterations_end_with_anchors_that_move_together_and_rows_within_their_bounds() {
    let mut setup = setup();
    pass(&mut setup, Pass::Warm, false);
    for _ in 0..300 {
        pass(&mut setup, Pass::Relax, false);
    }
    for lane in 0..LANES {
        let [a, b] = [1 + lane, 9 + lane];
        let omega = |body: usize| {
            turn(&setup, body) * (root(&setup, body) * setup.velocity[body].angular())
        };
        let of = |v: &[Wide; 3]| Vec3::from_array([0, 1, 2].map(|x| f64::from(v[x].0[lane])));
        let at = setup.places[b] + setup.moved[b].linear();
        let anchor = at + turn(&setup, b) * of(&setup.bundle.arm[1]);
        let arm_a = anchor - (setup.places[a] + setup.moved[a].linear());
        let apart = setup.velocity[b].linear() + omega(b).cross(anchor - at)
            - setup.velocity[a].linear()
            - omega(a).cross(arm_a);
        assert!(apart.length() < 1e-5, "{lane}: {apart}");
        let rate = |row: &Row| {
            let axis = turn(&setup, a) * of(&row.axis);
            axis.dot(omega(b) - omega(a))
        };
        let [held, limit, rubs] = [0, 1, 2].map(|i| &setup.rows[i]);
        assert!(rate(held).abs() < 1e-5);
        // the upper end may be passed: then it lets the coordinate only come back, and pulls no further
        let z = limit.impulse.0[lane];
        let by = setup.rows[1].push[1].0[lane] > 0.0;
        assert!(!by || (z <= 0.0 && rate(limit) < 1e-5), "{lane}: {z}, {}", rate(limit));
        assert!(!by || z == 0.0 || rate(limit) > -1e-5, "{lane}: {z}, {}", rate(limit));
        let z = rubs.impulse.0[lane];
        assert!(z.abs() <= 0.01);
        let slides = rate(rubs).abs() > 1e-5;
        assert!(!slides || (z.abs() == 0.01 && f64::from(z) * rate(rubs) < 0.0), "{lane}: {z}");
    }
}
