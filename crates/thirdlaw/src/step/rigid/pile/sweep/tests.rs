use super::*;
use crate::parallel::share::Shared;
use crate::simd::f32x8::{LANES, Wide};
use crate::step::rigid::pile::bundle::{Bundle, Line, Padded, Points};
use crate::step::rigid::pile::convergence::Outcome;

const PASSES: [Pass; 5] = [Pass::Warm, Pass::Place, Pass::Push, Pass::Relax, Pass::Last];

/// Numbers between −1 and 1 that look random.
fn numbers(seed: u32) -> impl FnMut() -> f32 {
    let mut x = seed;
    move || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (x >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

fn fill(wide: &mut Wide, mut f: impl FnMut() -> f32) {
    wide.0.iter_mut().for_each(|x| *x = f());
}

type Setup = (Bundle, Vec<Points>, Vec<Line>, Vec<Line>, Vec<Padded>);

fn setup() -> Setup {
    let mut f = numbers(7);
    let mut bundle = Bundle { count: 4, moves: [0xFF, 0b1011_0111], ..Bundle::default() };
    for lane in 0..LANES {
        bundle.body[0][lane] = 1 + lane as u32;
        bundle.body[1][lane] = 9 + lane as u32;
    }
    let wide3 = [&mut bundle.normal, &mut bundle.tangent, &mut bundle.friction];
    wide3.into_iter().flatten().for_each(|w| fill(w, &mut f));
    bundle.turn.iter_mut().flatten().flatten().for_each(|w| fill(w, &mut f));
    bundle.mass.iter_mut().chain(&mut bundle.stick).for_each(|w| fill(w, || 0.3 * f().abs()));
    for w in [&mut bundle.slide, &mut bundle.twist, &mut bundle.coefficient] {
        fill(w, || f().abs());
    }
    fill(&mut bundle.skin, || 0.004 * f().abs());
    fill(&mut bundle.scale, || 0.1 + f().abs());
    fill(&mut bundle.rate, || 90.0 * f().abs());
    fill(&mut bundle.softness, || 0.2 * f().abs());
    let mut points = vec![Points::default(); 4];
    for p in &mut points {
        p.arm.iter_mut().flatten().for_each(|w| fill(w, &mut f));
        [&mut p.inverse, &mut p.impulse].into_iter().for_each(|w| fill(w, || f().abs()));
        fill(&mut p.gap_start, || 0.01 * f());
    }
    let mut line = || {
        let mut v = || crate::math::Vec3::new(f().into(), f().into(), f().into());
        Line::new(v(), v())
    };
    let lines: Vec<Line> = (0..17).map(|_| line()).collect();
    let moved: Vec<Line> = (0..17).map(|_| line()).collect();
    let masses = vec![Padded([0.5, 0.25, 1.0, 0.0]); 17];
    (bundle, points, lines, moved, masses)
}

const SPRING: Spring = Spring { inv_h: 480.0, slop: 1e-4, speed: 3.0, sag: 1e-3 };

/// All passes, by vectors of the machine or by portable ones: impulses and velocities after them.
fn passes(portable: bool, patient: bool) -> (Vec<u32>, Vec<u64>) {
    let (mut bundle, mut points, mut lines, mut moved, masses) = setup();
    let bundles = std::slice::from_mut(&mut bundle);
    {
        let (velocity, moved) = (Shared::new(&mut lines), Shared::new(&mut moved));
        let bodies = Bodies { velocity: &velocity, moved: &moved, inv_mass: &masses };
        let open = Wide([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
        let mut outcome = Outcome { open, ..Outcome::default() };
        for pass in PASSES {
            let outcomes = patient.then_some(std::slice::from_mut(&mut outcome));
            let part = Part { bundles, points: &mut points, outcomes };
            // SAFETY: one thread, and lines for all bodies
            unsafe {
                if portable {
                    sweep_as::<Wide>(pass, part, &bodies, &SPRING);
                } else {
                    sweep(pass, part, &bodies, &SPRING);
                }
            }
        }
    }
    let impulses = points.iter().flat_map(|p| p.impulse.0).chain(bundle.friction[0].0);
    let velocities = lines.iter().flat_map(|l| l.linear.into_iter().chain(l.angular));
    (impulses.map(f32::to_bits).collect(), velocities.map(f64::to_bits).collect())
}

#[test]
fn portable_vectors_give_the_bits_of_the_machine() {
    for patient in [false, true] {
        let (machine, portable) = (passes(false, patient), passes(true, patient));
        assert_eq!(machine, portable);
        assert!(machine.0.iter().any(|&z| z != 0), "impulses act");
    }
}

#[test]
fn a_contact_that_is_done_stands_still_beside_the_others() {
    let (_, points, ..) = setup();
    let (alone, _) = passes(false, false);
    let (beside, _) = passes(false, true);
    let lane = |impulses: &[u32], lane: usize| -> Vec<u32> {
        impulses.iter().copied().skip(lane).step_by(LANES).collect()
    };
    let start: Vec<u32> = points.iter().flat_map(|p| p.impulse.0).map(f32::to_bits).collect();
    // bodies of different lanes are different ones, so that what iterates sees no difference
    assert_eq!(lane(&alone, 0), lane(&beside, 0));
    assert_eq!(lane(&beside, 1)[..4], lane(&start, 1)[..]);
    assert_ne!(lane(&alone, 1)[..4], lane(&start, 1)[..]);
}

#[test]
fn linear_momentum_keeps_its_digits() {
    let (mut bundle, mut points, mut lines, mut moved, masses) = setup();
    bundle.moves = [0xFF; 2];
    let momentum = |lines: &[Line]| -> f64 {
        lines.iter().zip(&masses).map(|(l, m)| l.linear[0] / m.0[0]).sum()
    };
    let before = momentum(&lines);
    {
        let (velocity, moved) = (Shared::new(&mut lines), Shared::new(&mut moved));
        let bodies = Bodies { velocity: &velocity, moved: &moved, inv_mass: &masses };
        let bundles = std::slice::from_mut(&mut bundle);
        for pass in PASSES {
            let part = Part { bundles, points: &mut points, outcomes: None };
            // SAFETY: one thread, and lines for all bodies
            unsafe { sweep(pass, part, &bodies, &SPRING) };
        }
    }
    assert!((momentum(&lines) - before).abs() < 1e-13);
}
