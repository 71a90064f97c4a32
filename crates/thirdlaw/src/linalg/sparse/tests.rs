use super::Groups;
use super::factor::Numbers;
use super::plan::Plan;
use crate::math::random;

/// Numbers from 0 to 1, one after the other.
struct Random(u64, u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed, 0)
    }

    fn unit(&mut self) -> f64 {
        self.1 += 1;
        random::unit(self.0, self.1, 0)
    }
}

/// A symmetric matrix on groups: positive on blocks, negative on those that are `turned`.
struct Case {
    groups: Groups,
    /// (row, column, value) of pairs of unknowns, each pair once.
    dense: Vec<f64>,
    starts: Vec<usize>,
}

impl Case {
    /// Blocks of these sizes, coupled by groups. Every group adds GᵀG of random rows, every block a diagonal.
    fn new(sizes: &[u32], sets: &[Vec<u32>], turned: impl Fn(u32) -> bool, seed: u64) -> Case {
        let mut random = Random::new(seed);
        let mut groups = Groups::default();
        groups.clear();
        groups.sizes.extend_from_slice(sizes);
        let mut starts = vec![0];
        sizes.iter().for_each(|&size| starts.push(starts[starts.len() - 1] + size as usize));
        let n = starts[sizes.len()];
        let mut dense = vec![0.0; n * n];
        for set in sets {
            groups.members.extend_from_slice(set);
            groups.end_group();
            let unknowns: Vec<usize> =
                set.iter().flat_map(|&b| starts[b as usize]..starts[b as usize + 1]).collect();
            for _ in 0..3 {
                let row: Vec<f64> = unknowns.iter().map(|_| random.unit() - 0.5).collect();
                for (i, &a) in unknowns.iter().enumerate() {
                    for (j, &b) in unknowns.iter().enumerate() {
                        dense[a * n + b] += row[i] * row[j];
                    }
                }
            }
        }
        for (b, &start) in starts[..sizes.len()].iter().enumerate() {
            for i in start..start + sizes[b] as usize {
                dense[i * n + i] += 1e-3;
                if turned(b as u32) {
                    // quasi-definite: whole negative, coupled by what was there
                    for j in start..start + sizes[b] as usize {
                        dense[i * n + j] = if i == j { -2.0 } else { 0.0 };
                    }
                }
            }
        }
        Case { groups, dense, starts }
    }

    fn block(&self, a: usize, b: usize) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let n = self.starts[self.starts.len() - 1];
        let rows = self.starts[a]..self.starts[a + 1];
        rows.enumerate().flat_map(move |(i, row)| {
            let columns = self.starts[b]..self.starts[b + 1];
            columns.enumerate().map(move |(j, column)| (i, j, self.dense[row * n + column]))
        })
    }

    /// Factors and solves; returns the largest of A x − b over that of b and of x.
    fn residual(&self) -> (f64, Plan) {
        let n = self.starts[self.starts.len() - 1];
        let (mut plan, mut numbers) = (Plan::default(), Numbers::default());
        plan.build(&self.groups);
        numbers.clear(&plan);
        let mut pairs: Vec<(u32, u32)> =
            (0..self.groups.sizes.len() as u32).map(|b| (b, b)).collect();
        for g in 0..self.groups.count() {
            let group = self.groups.group(g);
            group
                .iter()
                .for_each(|&a| pairs.extend(group.iter().filter(|&&b| b < a).map(|&b| (a, b))));
        }
        pairs.sort_unstable();
        pairs.dedup();
        for (a, b) in pairs {
            let entry = plan.entry(a, b);
            self.block(a as usize, b as usize).for_each(|(i, j, x)| numbers.add(&entry, i, j, x));
        }
        numbers.factor(&plan);
        assert_eq!(numbers.without, 0);
        let mut random = Random::new(7);
        let right: Vec<f64> = (0..n).map(|_| random.unit() - 0.5).collect();
        let mut x = vec![0.0; plan.width()];
        let places: Vec<usize> =
            (0..self.groups.sizes.len() as u32).flat_map(|b| plan.unknowns(b)).collect();
        places.iter().zip(&right).for_each(|(&place, &b)| x[place] = b);
        numbers.solve(&plan, &mut x, &mut Vec::new());
        let x: Vec<f64> = places.iter().map(|&place| x[place]).collect();
        let largest = x.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let mut worst = 0.0_f64;
        for (row, b) in self.dense.chunks_exact(n).zip(&right) {
            let sum: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            worst = worst.max((sum - b).abs());
        }
        (worst / largest, plan)
    }
}

/// A square net of joints between n × n bodies: the groups are the bodies.
fn net(n: u32) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut sets = vec![Vec::new(); (n * n) as usize];
    let mut joints = 0;
    for i in 0..n {
        for k in 0..n {
            for (j, l) in [(i, k + 1), (i + 1, k)] {
                if j < n && l < n {
                    sets[(i * n + k) as usize].push(joints);
                    sets[(j * n + l) as usize].push(joints);
                    joints += 1;
                }
            }
        }
    }
    (vec![3; joints as usize], sets)
}

fn chain(n: u32) -> (Vec<u32>, Vec<Vec<u32>>) {
    (vec![5; n as usize], (0..n - 1).map(|i| vec![i, i + 1]).collect())
}

#[test]
fn solutions_solve() {
    let mut cases = vec![net(2), net(5), net(12), chain(2), chain(60)];
    // a ring, a tree, and what has no order at all
    let (sizes, mut ring) = chain(40);
    ring.push(vec![39, 0]);
    cases.push((sizes, ring));
    cases.push((vec![3; 90], (1..90).map(|i| vec![i, (i - 1) / 2]).collect()));
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let mut pick = |n: usize| (random.unit() * n as f64) as u32;
        let blocks = 1 + pick(70) as usize;
        let sizes = (0..blocks).map(|_| 1 + pick(6)).collect();
        let set = |_| {
            let mut set: Vec<u32> = (0..1 + pick(4)).map(|_| pick(blocks)).collect();
            set.sort_unstable();
            set.dedup();
            set
        };
        let sets = (0..2 * blocks).map(set).collect();
        cases.push((sizes, sets));
    }
    for (k, (sizes, sets)) in cases.iter().enumerate() {
        let (left, _) = Case::new(sizes, sets, |_| false, k as u64).residual();
        assert!(left < 1e-11, "case {k}: {left}");
    }
}

#[test]
fn unknowns_of_either_sign_solve() {
    // hubs that hold every second joint of a net, in pairs with each of them
    for hubs in 1..3 {
        let (mut sizes, mut sets) = net(7);
        let joints = sizes.len() as u32;
        for hub in 0..hubs {
            sizes.push(6);
            sets.extend((hub..joints).step_by(2).map(|joint| vec![joint, joints + hub]));
        }
        let (left, _) = Case::new(&sizes, &sets, |b| b >= joints, 3).residual();
        assert!(left < 1e-11, "{hubs} hubs: {left}");
    }
}

#[test]
fn work_grows_as_it_should() {
    let work = |(sizes, sets): (Vec<u32>, Vec<Vec<u32>>)| {
        let mut groups = Groups::default();
        groups.clear();
        groups.sizes = sizes;
        for set in sets {
            groups.members.extend(set);
            groups.end_group();
        }
        let mut plan = Plan::default();
        plan.build(&groups);
        plan.work
    };
    let chains = [work(chain(1_000))[0] as f64, work(chain(10_000))[0] as f64];
    assert!(chains[1] < 11.0 * chains[0], "{chains:?}");
    let nets = [work(net(20)), work(net(40)), work(net(80))];
    for pair in nets.windows(2) {
        // n³ and n² log n of n × n bodies, and some room for small ones
        assert!(pair[1][0] < 10 * pair[0][0], "{nets:?}");
        assert!(pair[1][1] < 6 * pair[0][1], "{nets:?}");
    }
    // the cut of a net goes along its rows: 10 n³ multiplications of 3 × 3 × 3 (George 1973)
    assert!(nets[1][0] < 2 * 10 * 40_u64.pow(3) * 27, "{nets:?}");
}
