//! Stiff contacts within the preconditioner.
//!
//! A stencil k g gᵀ ties particles and bodies together so firmly that the inverse of each alone says
//! little: the diagonal grows by k, while all of them moving along together, which is what happens, meets
//! no more than the cloth around them. Conjugate gradients then take an iteration for every such tie.
//! So stencils are taken in whole. With D the blocks of particles and bodies alone, and G the gradients of
//! stencils that have one of these in common,
//!
//!   (D + G K Gᵀ)⁻¹ = D⁻¹ − D⁻¹G (K⁻¹ + GᵀD⁻¹G)⁻¹ GᵀD⁻¹
//!
//! asks for a small dense system of as many rows as there are stencils. Clusters have a size at which they
//! are full; stencils that find no room leave their diagonal to D, and so do weak ones and those without
//! a body: between layers of cloth most are weak, and chains of them would not end.

use super::block::{Block, Lane, Scalar, lane, matrix, vector};
use super::bodies::BodyPrecondition;
use super::cholesky::Cholesky;
use super::filter::{Filter, NONE};
use super::stencil::{Stencil, Stencils};
use crate::math::Vec3;
use crate::math::mass::BodyMass;

/// Most stencils of a cluster.
const ROOM: u32 = 24;
/// Stencils are worth it where k gᵀD⁻¹g is more than this; D with the diagonal of weaker ones is as good.
const STRONG: f64 = 4.0;

/// All clusters.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// The stencils that each of them leads to, until it leads to itself; `NONE` where it is in no
    /// cluster.
    leader: Vec<u32>,
    /// Stencils of the cluster that a stencil leads.
    size: Vec<u32>,
    /// First stencil at each particle and, behind them, body.
    first: Vec<u32>,
    /// Stencils in clusters, by cluster, and the number of those of each.
    members: Vec<(u32, u32)>,
    counts: Vec<u32>,
    ties: Vec<Tie>,
    /// What ties do to bodies, tie by tie.
    shoves: Vec<Shove>,
    factors: Vec<Cholesky>,
    pulls: Vec<f64>,
    solved: Vec<f64>,
}

/// A stencil of a cluster: D⁻¹g of its particles, and where its bodies are among the shoves.
#[derive(Clone, Copy, Debug)]
struct Tie {
    particles: [u32; 4],
    answer: [Vec3; 4],
    shoves: (u32, u32),
}

/// g of a body, its own or one that holds a particle, and D⁻¹g.
#[derive(Clone, Copy, Debug)]
struct Shove {
    body: u32,
    wrench: [Vec3; 2],
    answer: [Vec3; 2],
}

impl Clusters {
    /// Gathers strong stencils of bodies into clusters; `inverse` is that of the particles' blocks without
    /// stencils.
    pub fn gather<T: Scalar>(
        &mut self,
        stencils: &Stencils<T>,
        filter: &Filter<T>,
        inverse: &[Block<T>],
        masses: &[BodyMass],
    ) {
        let Clusters { leader, size, first, members, counts, .. } = self;
        let particles = filter.index.len();
        leader.clear();
        size.clear();
        if masses.is_empty() {
            members.clear();
            counts.clear();
            leader.resize(stencils.list.len(), NONE);
            return;
        }
        first.clear();
        first.resize(particles + masses.len(), NONE);
        for (s, stencil) in stencils.list.iter().enumerate() {
            leader.push(s as u32);
            size.push(1);
            let (roots, nodes) = (&mut [NONE; 9], &mut [NONE; 9]);
            let mut total = 1;
            for (k, node) in nodes_of(stencil, filter).enumerate() {
                nodes[k] = node;
                let root = find(leader, first[node as usize]);
                if root != NONE && !roots.contains(&root) {
                    roots[k] = root;
                    total += size[root as usize];
                }
            }
            let strong = stencil.body != NONE && strength(stencil, inverse, masses) > STRONG;
            if total > ROOM || !strong {
                leader[s] = NONE;
                continue;
            }
            for &root in roots.iter().filter(|r| **r != NONE) {
                leader[root as usize] = s as u32;
            }
            size[s] = total;
            for &node in nodes.iter().filter(|n| **n != NONE) {
                first[node as usize] = s as u32;
            }
        }
        members.clear();
        for s in 0..leader.len() as u32 {
            let root = find(leader, s);
            if root != NONE {
                members.push((root, s));
            }
        }
        members.sort_unstable();
        counts.clear();
        counts.extend(members.chunk_by(|a, b| a.0 == b.0).map(|c| c.len() as u32));
    }

    /// Whether there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Whether a stencil is in no cluster.
    pub fn is_loose(&self, stencil: usize) -> bool {
        self.leader[stencil] == NONE
    }

    /// Makes the dense systems, with D⁻¹ of particles and of bodies.
    pub fn form<T: Scalar>(
        &mut self,
        stencils: &Stencils<T>,
        filter: &Filter<T>,
        inverse: &[Block<T>],
        bodies: &BodyPrecondition,
    ) {
        let Clusters { members, counts, ties, shoves, factors, .. } = self;
        ties.clear();
        shoves.clear();
        for &(_, s) in &*members {
            let stencil = &stencils.list[s as usize];
            let from = shoves.len();
            add_shoves(stencil, filter, shoves);
            for shove in &mut shoves[from..] {
                shove.answer = bodies.apply(shove.body as usize, &shove.wrench);
            }
            ties.push(Tie {
                particles: stencil.particles,
                answer: std::array::from_fn(|k| {
                    matrix(&inverse[stencil.particles[k] as usize]) * stencil.gradient[k]
                }),
                shoves: (from as u32, shoves.len() as u32),
            });
        }
        factors.resize_with(counts.len().max(factors.len()), Cholesky::default);
        let mut begin = 0;
        for (&count, factor) in counts.iter().zip(factors) {
            let own = begin..begin + count as usize;
            factor.reset(own.len());
            for (i, s) in own.clone().enumerate() {
                let stencil = &stencils.list[members[s].1 as usize];
                for (j, t) in (begin..=s).enumerate() {
                    let (tie, other) = (&ties[s], &ties[t]);
                    let along = along_particles(stencil, other)
                        + along_bodies(tie.bodies(shoves), other.bodies(shoves));
                    factor.add(i, j, along);
                }
                factor.add(i, i, 1.0 / stencil.stiffness);
            }
            factor.factor();
            begin = own.end;
        }
    }

    /// Makes D⁻¹r in `z` the answer with stencils, and returns how r·z changes.
    pub fn apply<T: Scalar>(
        &mut self,
        (r, r_bodies): (&[Lane<T>], &[[Vec3; 2]]),
        (z, z_bodies): (&mut [Lane<T>], &mut [[Vec3; 2]]),
    ) -> f64 {
        let Clusters { counts, ties, shoves, factors, pulls, solved, .. } = self;
        let mut change = 0.0;
        let mut rest = &ties[..];
        for (&count, factor) in counts.iter().zip(factors) {
            let (own, others) = rest.split_at(count as usize);
            rest = others;
            pulls.clear();
            pulls.extend(own.iter().map(|tie| tie.pull(shoves, r, r_bodies)));
            solved.clone_from(pulls);
            factor.solve(solved);
            for ((tie, x), pull) in own.iter().zip(&*solved).zip(&*pulls) {
                change -= x * pull;
                tie.push(-x, shoves, z, z_bodies);
            }
        }
        change
    }
}

/// The particles and, behind them, bodies that a stencil moves.
fn nodes_of<'a, T: Scalar>(
    stencil: &'a Stencil,
    filter: &'a Filter<T>,
) -> impl Iterator<Item = u32> + 'a {
    let particles = filter.index.len() as u32;
    let own = (stencil.body != NONE).then(|| particles + stencil.body);
    let moved = stencil.particles.iter().zip(&stencil.gradient).filter(|(_, g)| **g != Vec3::ZERO);
    let held = moved.clone().filter_map(move |(&i, _)| {
        let hold = filter.held(i as usize).map(|at| &filter.holds[at])?;
        (hold.body != NONE).then(|| particles + hold.body)
    });
    moved.map(|(&i, _)| i).chain(own).chain(held)
}

/// k gᵀD⁻¹g.
fn strength<T: Scalar>(stencil: &Stencil, inverse: &[Block<T>], masses: &[BodyMass]) -> f64 {
    let mut sum = 0.0;
    for (&i, g) in stencil.particles.iter().zip(&stencil.gradient) {
        sum += g.dot(matrix(&inverse[i as usize]) * *g);
    }
    if let Some(mass) = masses.get(stencil.body as usize) {
        let [d, a] = stencil.wrench;
        sum += d.dot(mass.inv_mass * d) + a.dot(mass.inv_inertia * a);
    }
    stencil.stiffness * sum
}

fn find(leader: &mut [u32], s: u32) -> u32 {
    let mut at = s;
    while at != NONE && leader[at as usize] != at {
        let next = leader[at as usize];
        if next != NONE {
            leader[at as usize] = leader[next as usize];
        }
        at = next;
    }
    at
}

/// What a stencil does to bodies.
fn add_shoves<T: Scalar>(stencil: &Stencil, filter: &Filter<T>, out: &mut Vec<Shove>) {
    let shove = |body: u32, wrench: [Vec3; 2]| Shove { body, wrench, answer: [Vec3::ZERO; 2] };
    if stencil.body != NONE {
        out.push(shove(stencil.body, stencil.wrench.map(|w| -w)));
    }
    for (&i, g) in stencil.particles.iter().zip(&stencil.gradient) {
        let Some(hold) = filter.held(i as usize).map(|at| &filter.holds[at]) else { continue };
        if hold.body != NONE && *g != Vec3::ZERO {
            let held = hold.held() * *g;
            out.push(shove(hold.body, [held, hold.arm.cross(held)]));
        }
    }
}

/// gᵀ D⁻¹ g of a stencil and another's particles.
fn along_particles(stencil: &Stencil, other: &Tie) -> f64 {
    let mut sum = 0.0;
    for (i, g) in stencil.particles.iter().zip(&stencil.gradient) {
        for (j, answer) in other.particles.iter().zip(&other.answer) {
            if i == j {
                sum += g.dot(*answer);
            }
        }
    }
    sum
}

/// The same of their bodies.
fn along_bodies(mine: &[Shove], others: &[Shove]) -> f64 {
    let mut sum = 0.0;
    for a in mine {
        for b in others.iter().filter(|b| b.body == a.body) {
            sum += a.wrench[0].dot(b.answer[0]) + a.wrench[1].dot(b.answer[1]);
        }
    }
    sum
}

impl Tie {
    fn bodies<'a>(&self, shoves: &'a [Shove]) -> &'a [Shove] {
        &shoves[self.shoves.0 as usize..self.shoves.1 as usize]
    }

    /// (D⁻¹g)ᵀ r.
    fn pull<T: Scalar>(&self, shoves: &[Shove], r: &[Lane<T>], r_bodies: &[[Vec3; 2]]) -> f64 {
        let mut sum = 0.0;
        for (&i, answer) in self.particles.iter().zip(&self.answer) {
            sum += answer.dot(vector(&r[i as usize]));
        }
        for shove in self.bodies(shoves) {
            let r = &r_bodies[shove.body as usize];
            sum += shove.answer[0].dot(r[0]) + shove.answer[1].dot(r[1]);
        }
        sum
    }

    /// z += x D⁻¹g.
    fn push<T: Scalar>(
        &self,
        x: f64,
        shoves: &[Shove],
        z: &mut [Lane<T>],
        z_bodies: &mut [[Vec3; 2]],
    ) {
        for (&i, answer) in self.particles.iter().zip(&self.answer) {
            let add: Lane<T> = lane(x * *answer);
            for (z, a) in z[i as usize].iter_mut().zip(add) {
                *z += a;
            }
        }
        for shove in self.bodies(shoves) {
            let z = &mut z_bodies[shove.body as usize];
            z[0] += x * shove.answer[0];
            z[1] += x * shove.answer[1];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::block::{Pattern, block_of};
    use crate::linalg::filter::Hold;
    use crate::linalg::precondition::BlockJacobi;
    use crate::math::Mat3;

    /// Six particles, of which the fifth follows the second body in x, and two bodies.
    struct Scene {
        pattern: Pattern,
        blocks: Vec<Block<f64>>,
        filter: Filter<f64>,
        stencils: Stencils<f64>,
        masses: Vec<BodyMass>,
    }

    fn scene() -> Scene {
        let turned = |i: usize| Vec3::new(1.0 + i as f64, 0.3, -0.2 * i as f64);
        let own = |i| Mat3::from_diagonal(turned(i).abs()) + Mat3::from_diagonal(Vec3::ONE);
        let mut filter = Filter::default();
        filter.set(
            6,
            [Hold {
                particle: 4,
                free: Mat3::from_diagonal(Vec3::new(0.0, 1.0, 1.0)),
                prescribed: Vec3::ZERO,
                body: 1,
                arm: Vec3::new(0.1, 0.2, -0.3),
            }],
        );
        let stencil = |particles: [u32; 4], body: u32, k: usize| Stencil {
            particles,
            gradient: std::array::from_fn(|i| match i {
                3 => Vec3::ZERO,
                _ => Vec3::new(0.2, 0.5 - 0.3 * i as f64, 0.1 * k as f64),
            }),
            stiffness: 100.0 + k as f64,
            target: 0.0,
            body,
            wrench: [Vec3::new(0.2, 0.5, 0.3), Vec3::new(0.1, -0.2, 0.05)],
        };
        let mut stencils = Stencils::default();
        stencils.list = vec![
            stencil([0, 1, 2, 0], 0, 0),
            stencil([1, 2, 3, 1], 1, 1),
            stencil([3, 4, 5, 3], 0, 2),
        ];
        stencils.index();
        let mass = BodyMass {
            inv_mass: Vec3::splat(0.8),
            inv_inertia: Mat3::from_diagonal(Vec3::new(3.0, 4.0, 5.0)),
        };
        Scene {
            pattern: Pattern::new(6, |_, _| {}),
            blocks: (0..6).map(|i| block_of(&own(i))).collect(),
            filter,
            stencils,
            masses: vec![mass, mass],
        }
    }

    /// (D + G K Gᵀ) z = r for any r, where D⁻¹ is what is there without the stencils.
    #[test]
    fn the_answer_is_that_of_blocks_and_stencils_together() {
        let Scene { pattern, blocks, filter, stencils, masses } = scene();
        let mut jacobi = BlockJacobi::default();
        let mut bodies = BodyPrecondition::default();
        let mut clusters = Clusters::default();
        jacobi.renew((&pattern, &blocks));
        clusters.gather(&stencils, &filter, &jacobi.plain, &masses);
        assert_eq!(clusters.counts, [3], "all three hang together");
        jacobi.update((&pattern, &blocks), (&stencils, &clusters), &filter);
        bodies.update(&masses, (&pattern, &blocks), &filter, (&stencils, &clusters));
        clusters.form(&stencils, &filter, &jacobi.inverse, &bodies);

        let r: Vec<Lane<f64>> = (0..6)
            .map(|i| filter.apply(i, &[1.0 - 0.3 * i as f64, 0.7, 0.2 * i as f64, 0.0]))
            .collect();
        let r_bodies = vec![[Vec3::new(0.4, -1.0, 0.3), Vec3::new(0.2, 0.1, -0.5)]; 2];
        let mut z = vec![[0.0; 4]; 6];
        let mut along = jacobi.apply(&r, &mut z);
        let mut z_bodies: Vec<[Vec3; 2]> =
            r_bodies.iter().enumerate().map(|(i, r)| bodies.apply(i, r)).collect();
        for (r, z) in r_bodies.iter().zip(&z_bodies) {
            along += r[0].dot(z[0]) + r[1].dot(z[1]);
        }
        along += clusters.apply((&r, &r_bodies), (&mut z, &mut z_bodies));

        // what the stencils push back with, brought into D⁻¹(r − G K Gᵀz), is z again
        let mut rest: Vec<Vec3> = r.iter().map(vector).collect();
        let mut rest_bodies = r_bodies.clone();
        let mut moved = z.clone();
        filter.carry(&z_bodies, &mut moved);
        for s in &stencils.list {
            let mut rate = 0.0;
            for (&i, g) in s.particles.iter().zip(&s.gradient) {
                rate += g.dot(vector(&moved[i as usize]));
            }
            if s.body != NONE {
                let z = &z_bodies[s.body as usize];
                rate -= s.wrench[0].dot(z[0]) + s.wrench[1].dot(z[1]);
            }
            let push = s.stiffness * rate;
            for (&i, g) in s.particles.iter().zip(&s.gradient) {
                rest[i as usize] -= push * *g;
                if let Some(hold) = filter.held(i as usize).map(|at| &filter.holds[at]) {
                    let held = hold.held() * (push * *g);
                    rest_bodies[hold.body as usize][0] -= held;
                    rest_bodies[hold.body as usize][1] -= hold.arm.cross(held);
                }
            }
            if s.body != NONE {
                rest_bodies[s.body as usize][0] += push * s.wrench[0];
                rest_bodies[s.body as usize][1] += push * s.wrench[1];
            }
        }
        let rest: Vec<Lane<f64>> =
            rest.iter().enumerate().map(|(i, v)| filter.apply(i, &lane(*v))).collect();
        let mut again = vec![[0.0; 4]; 6];
        jacobi.apply(&rest, &mut again);
        for (a, b) in again.iter().zip(&z) {
            assert!((vector(a) - vector(b)).length() < 1e-12, "{a:?} {b:?}");
        }
        let mut product: f64 = r.iter().zip(&z).map(|(r, z)| vector(r).dot(vector(z))).sum();
        for (i, z) in z_bodies.iter().enumerate() {
            let again = bodies.apply(i, &rest_bodies[i]);
            assert!((again[0] - z[0]).length() + (again[1] - z[1]).length() < 1e-12);
            product += r_bodies[i][0].dot(z[0]) + r_bodies[i][1].dot(z[1]);
        }
        assert!((along - product).abs() < 1e-12, "{along} {product}");
    }

    #[test]
    fn full_clusters_and_weak_stencils_leave_their_diagonal() {
        let Scene { pattern, blocks, filter, mut stencils, masses } = scene();
        let one = stencils.list[0];
        stencils.list = vec![one; ROOM as usize + 3];
        stencils.list[1].stiffness = 1e-3;
        stencils.index();
        let mut jacobi = BlockJacobi::default();
        jacobi.renew((&pattern, &blocks));
        let mut clusters = Clusters::default();
        clusters.gather(&stencils, &filter, &jacobi.plain, &masses);
        assert_eq!(clusters.counts, [ROOM]);
        assert!(clusters.is_loose(1) && clusters.is_loose(ROOM as usize + 2));
        assert!(!clusters.is_loose(0) && !clusters.is_loose(2));
    }
}
