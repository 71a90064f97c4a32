//! One homogeneous world cut in two [baraff1997 §5]: the paper hopes that two dense contact problems of n/2 points cost
//! a quarter of one of n.
//!
//! A heap of discs of equal mass, each in the groove of the two below it, is shaken. Its contact velocities obey
//! 0 ≤ λ ⊥ K λ + q ≥ 0, K = J M⁻¹ Jᵀ, which is solved as the paper's simulator did, by pivots with a dense factor
//! (block principal pivoting, Júdice and Pires 1994). Cut down the middle, the left half sees the discs of the right
//! one as obstacles that answer by their own mass, and holds the contacts between both; halves take turns. A turn of
//! each is a sweep. Error is what a sweep count leaves of the change of velocities that contacts make.
//!
//! `cargo run --release -p thirdlaw-studies -- partition [MOST]`; exits with 1 where turns do not settle.

use std::time::Instant;

const SIZES: [usize; 5] = [200, 400, 800, 1200, 2000];
/// Steps of the shaken heap.
const STEPS: usize = 4;
/// Error at which halves agree, as a share of the change of velocities: what couplings ask of contacts.
const AGREED: f64 = 0.02;
/// Most sweeps.
const SWEEPS: usize = 200;

/// Contacts of a heap: for each two bodies, of which the second may be the ground, and a direction.
struct Heap {
    bodies: usize,
    columns: usize,
    contacts: Vec<(usize, Option<usize>, [f64; 2])>,
}

/// Rows of discs above each other; body i stands in row i / columns.
fn heap(contacts: usize) -> Heap {
    let bodies = contacts / 2;
    let columns = ((bodies as f64).sqrt() * 1.4) as usize;
    let (c, s) = (0.5, 0.75_f64.sqrt());
    let mut all = Vec::new();
    for i in 0..bodies {
        let (row, column) = (i / columns, i % columns);
        for side in 0..2 {
            // every other row is shifted by half a disc; at its ends it leans on the wall
            let below = (column + side + row % 2).checked_sub(1).filter(|k| *k < columns);
            let other = below.filter(|_| row > 0).map(|k| (row - 1) * columns + k);
            let x = if side == 0 { c } else { -c };
            all.push((i, other, [x, s]));
        }
    }
    Heap { bodies, columns, contacts: all }
}

impl Heap {
    fn velocity(&self, v: &[[f64; 2]], (a, b, n): &(usize, Option<usize>, [f64; 2])) -> f64 {
        let along = |i: usize| n[0] * v[i][0] + n[1] * v[i][1];
        along(*a) - b.map_or(0.0, along)
    }

    /// M⁻¹Jᵀλ added to velocities.
    fn push(&self, v: &mut [[f64; 2]], lambda: &[f64]) {
        for ((a, b, n), z) in self.contacts.iter().zip(lambda) {
            for k in 0..2 {
                v[*a][k] += n[k] * z;
                if let Some(b) = b {
                    v[*b][k] -= n[k] * z;
                }
            }
        }
    }

    /// K of these contacts, dense.
    fn matrix(&self, of: &[usize]) -> Vec<f64> {
        let n = of.len();
        let mut k = vec![0.0; n * n];
        for (i, &p) in of.iter().enumerate() {
            for (j, &q) in of.iter().enumerate() {
                let ((a, b, m), (c, d, l)) = (&self.contacts[p], &self.contacts[q]);
                let shared = |x: Option<usize>, y: Option<usize>| x.is_some() && x == y;
                let (a, c) = (Some(*a), Some(*c));
                let sum =
                    f64::from(shared(a, c)) - f64::from(shared(a, *d)) - f64::from(shared(*b, c))
                        + f64::from(shared(*b, *d));
                k[i * n + j] = sum * (m[0] * l[0] + m[1] * l[1]);
            }
            // contacts give way a little
            k[i * n + i] *= 1.0 + 1e-9;
        }
        k
    }
}

/// 0 ≤ λ ⊥ K λ + q ≥ 0 by pivots; `lambda` says where to begin. Returns how many.
fn solve(n: usize, k: &[f64], q: &[f64], lambda: &mut [f64]) -> usize {
    let mut active: Vec<bool> = lambda.iter().map(|z| *z > 0.0).collect();
    let (mut fewest, mut patience) = (n + 1, 10);
    for pivot in 1..=500 {
        let set: Vec<usize> = (0..n).filter(|&i| active[i]).collect();
        let z = cholesky(n, k, q, &set);
        lambda.fill(0.0);
        set.iter().zip(&z).for_each(|(&i, z)| lambda[i] = *z);
        let w = |i: usize| q[i] + set.iter().map(|&j| k[i * n + j] * lambda[j]).sum::<f64>();
        let tiny = 1e-12;
        let wrong: Vec<usize> =
            (0..n).filter(|&i| if active[i] { lambda[i] < 0.0 } else { w(i) < -tiny }).collect();
        if wrong.is_empty() {
            return pivot;
        }
        if wrong.len() < fewest {
            (fewest, patience) = (wrong.len(), 10);
        } else {
            patience -= 1;
        }
        // all at once, as long as that gets on; else the last one alone, which ends for certain
        let one = wrong.len() - 1;
        let flipped = if patience > 0 { &wrong[..] } else { &wrong[one..] };
        flipped.iter().for_each(|&i| active[i] = !active[i]);
    }
    500
}

/// Solves K λ = −q on a set of rows by a dense factor.
fn cholesky(n: usize, k: &[f64], q: &[f64], set: &[usize]) -> Vec<f64> {
    let m = set.len();
    let mut l = vec![0.0; m * m];
    for i in 0..m {
        let (done, rest) = l.split_at_mut(i * m);
        let row = &mut rest[..m];
        for j in 0..=i {
            let sum = k[set[i] * n + set[j]];
            let other = if j < i { &done[j * m..j * m + j] } else { &[] };
            let dot: f64 = match j < i {
                true => dot(&row[..j], other),
                false => dot(&row[..i], &row[..i]),
            };
            row[j] = match j < i {
                true => (sum - dot) / done[j * m + j],
                false => (sum - dot).max(1e-12).sqrt(),
            };
        }
    }
    let mut z: Vec<f64> = set.iter().map(|&i| -q[i]).collect();
    for i in 0..m {
        z[i] = (z[i] - dot(&l[i * m..i * m + i], &z[..i])) / l[i * m + i];
    }
    for i in (0..m).rev() {
        z[i] /= l[i * m + i];
        let x = z[i];
        (0..i).for_each(|j| z[j] -= l[i * m + j] * x);
    }
    z
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (mut x, mut y) = (a.chunks_exact(8), b.chunks_exact(8));
    for (x, y) in (&mut x).zip(&mut y) {
        (0..8).for_each(|i| sums[i] += x[i] * y[i]);
    }
    let rest: f64 = x.remainder().iter().zip(y.remainder()).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// What one size tells.
#[derive(Default)]
struct Told {
    /// Time of one solve of the whole, and of one sweep over both halves, s.
    times: [f64; 2],
    /// Sweeps until halves agree, from nothing and from the last step's forces.
    sweeps: [f64; 2],
    /// Time of the whole over that of halves that begin with the last step's forces and agree.
    saving: f64,
    /// What one sweep a step leaves, as interleaved simulation does, at most.
    interleaved: f64,
}

fn measure(n: usize) -> Told {
    let heap = heap(n);
    let n = heap.contacts.len();
    let all: Vec<usize> = (0..n).collect();
    let home = |i: usize| usize::from(i % heap.columns >= heap.columns / 2);
    // contacts between both belong to the left
    let right = |p: &usize| {
        let (a, b, _) = &heap.contacts[*p];
        home(*a) == 1 && b.is_none_or(|b| home(b) == 1)
    };
    let (second, first): (Vec<usize>, Vec<usize>) = all.iter().partition(|p| right(p));
    let whole = heap.matrix(&all);
    let halves = [first, second].map(|of| (heap.matrix(&of), of));
    let mut told = Told::default();
    let (mut v, mut seed) = (vec![[0.0; 2]; heap.bodies], 1_u64);
    let (mut last, mut lagged) = (vec![0.0; n], vec![0.0; n]);
    let (mut warm_time, mut whole_time) = (0.0, 0.0);
    for _ in 0..STEPS {
        for v in &mut v {
            for (k, fall) in [0.0, -9.81 / 60.0].into_iter().enumerate() {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                v[k] += fall + 0.02 * ((seed >> 33) as f64 / (1_u64 << 31) as f64 - 0.5);
            }
        }
        let q: Vec<f64> = heap.contacts.iter().map(|c| heap.velocity(&v, c)).collect();
        let mut exact = last.clone();
        let begun = Instant::now();
        solve(n, &whole, &q, &mut exact);
        whole_time += begun.elapsed().as_secs_f64();
        let size = gained(&heap, &exact, None);
        let turns = |z: &mut Vec<f64>, most: usize| {
            let begun = Instant::now();
            let mut spent = 0.0;
            for sweep in 1..=most {
                let before = begun.elapsed().as_secs_f64();
                for (k, of) in &halves {
                    let mut own: Vec<f64> = of.iter().map(|&p| z[p]).collect();
                    of.iter().for_each(|&p| z[p] = 0.0);
                    let mut w = v.clone();
                    heap.push(&mut w, z);
                    let q: Vec<f64> =
                        of.iter().map(|&p| heap.velocity(&w, &heap.contacts[p])).collect();
                    solve(of.len(), k, &q, &mut own);
                    of.iter().zip(&own).for_each(|(&p, x)| z[p] = *x);
                }
                spent += begun.elapsed().as_secs_f64() - before;
                if most > 1 && gained(&heap, &exact, Some(z)) <= AGREED * size {
                    return (sweep as f64, spent);
                }
            }
            (most as f64, spent)
        };
        let mut cold = vec![0.0; n];
        let mut warm = last.clone();
        told.sweeps[0] += turns(&mut cold, SWEEPS).0 / STEPS as f64;
        let (sweeps, spent) = turns(&mut warm, SWEEPS);
        told.sweeps[1] += sweeps / STEPS as f64;
        told.times[1] += spent / sweeps / STEPS as f64;
        warm_time += spent;
        turns(&mut lagged, 1);
        told.interleaved = told.interleaved.max(gained(&heap, &exact, Some(&lagged)) / size);
        heap.push(&mut v, &exact);
        last = exact;
    }
    told.times[0] = whole_time / STEPS as f64;
    told.saving = whole_time / warm_time;
    told
}

/// Size of the change of velocities by forces, or of the difference of two.
fn gained(heap: &Heap, a: &[f64], b: Option<&[f64]>) -> f64 {
    let difference = |i: usize| a[i] - b.map_or(0.0, |b| b[i]);
    let z: Vec<f64> = (0..a.len()).map(difference).collect();
    let mut v = vec![[0.0; 2]; heap.bodies];
    heap.push(&mut v, &z);
    v.iter().map(|v| v[0] * v[0] + v[1] * v[1]).sum::<f64>().sqrt()
}

pub fn main() {
    let most = crate::words().next().and_then(|word| word.parse().ok()).unwrap_or(2000);
    println!(
        "{:>6} {:>10} {:>10} {:>9} {:>12} {:>12} {:>9} {:>12}",
        "n", "whole ms", "sweep ms", "a sweep", "sweeps, cold", "warm", "in all", "interleaved"
    );
    let mut missed = 0;
    for n in SIZES.into_iter().filter(|n| *n <= most) {
        let told = measure(n);
        let settled = told.sweeps.iter().all(|sweeps| *sweeps < SWEEPS as f64);
        missed += u32::from(!settled);
        println!(
            "{n:>6} {:>10.2} {:>10.2} {:>7.2} × {:>12.1} {:>12.1} {:>7.2} × {:>10.1} %{}",
            1e3 * told.times[0],
            1e3 * told.times[1],
            told.times[0] / told.times[1],
            told.sweeps[0],
            told.sweeps[1],
            told.saving,
            100.0 * told.interleaved,
            if settled { "" } else { "  ✗" }
        );
    }
    println!("{missed} missed");
    std::process::exit(i32::from(missed > 0));
}
