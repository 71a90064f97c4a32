//! Collisions of everything that deforms, by impulses on the velocities of its particles \[BFA02\].
//!
//! Three stages, each of which may be called alone:
//!
//!   repulsions    push apart what is nearer than its thickness, and rub it    `repulsions`
//!   impacts       stop what would meet on its way, pair by pair, in rounds    `impacts`
//!   zones         move what still meets as one rigid piece                    `zones`
//!
//! A pair is a vertex against a triangle or an edge against an edge, with weights w that sum to 0 and a unit
//! normal n. Its relative speed is vₙ = n·Σ wᵢvᵢ, and an impulse I changes vᵢ by I wᵢ n/mᵢ, so the pair keeps its
//! momentum and answers with 1/Σ(wᵢ²/mᵢ). (The paper writes this for equal masses.) Held particles have no
//! inverse mass.
//!
//! Nothing passes through anything: pairs are searched on straight ways by [`Tree::crossings`], which misses
//! none, and the last stage ends with a way on which none is left, or says that it did not.

mod impacts;
mod repulsions;
mod zones;

use crate::collide::deformable::{Hit, Tree};
use crate::math::Vec3;

/// Particles as their collisions see them.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a> {
    /// Where they are at the start of the step, m; free of crossings.
    pub x: &'a [Vec3],
    /// 1/kg; 0 where a particle is held.
    pub inverse_mass: &'a [f64],
    /// Half the thickness at each particle, m; negative where everything may pass.
    pub radius: &'a [f64],
    /// Coulomb's μ of each particle; a pair has the geometric mean of its two sides.
    pub friction: &'a [f64],
    /// Stiffness of the skin within its thickness, N/m.
    pub stiffness: f64,
}

/// Most rounds of impacts before what still meets is moved as one.
const ROUNDS: usize = 8;

/// What was done in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct RobustReport {
    /// Pairs that repelled each other.
    pub repulsions: usize,
    /// Pairs that met on their way, over all rounds.
    pub impacts: usize,
    /// Rounds of impacts.
    pub rounds: usize,
    /// Particles that move in rigid zones.
    pub in_zones: usize,
    /// Whether nothing meets on the way any more.
    pub clear: bool,
}

/// Memory of the three stages, kept from step to step; nothing depends on what it holds.
#[derive(Clone, Debug, Default)]
pub struct Robust {
    hits: Vec<Hit>,
    ends: Vec<Vec3>,
    zones: zones::Zones,
}

impl Robust {
    /// All three stages: changes `v` (m/s) so that nothing meets while every particle moves straight for
    /// `h` seconds.
    pub fn resolve(
        &mut self,
        tree: &mut Tree,
        bodies: &Bodies<'_>,
        h: f64,
        v: &mut [Vec3],
    ) -> RobustReport {
        let repulsions = self.repel(tree, bodies, h, v);
        RobustReport { repulsions, ..self.prevent_crossings(tree, bodies, h, v) }
    }

    /// The last two stages, for schemes with forces of their own at a distance: changes `v` (m/s) so that
    /// nothing meets while every particle moves straight for `h` seconds, and leaves alone what does not.
    pub fn prevent_crossings(
        &mut self,
        tree: &mut Tree,
        bodies: &Bodies<'_>,
        h: f64,
        v: &mut [Vec3],
    ) -> RobustReport {
        let mut report = RobustReport::default();
        self.stop_impacts(tree, bodies, h, v, &mut report);
        if !report.clear {
            self.move_zones(tree, bodies, h, v, &mut report);
        }
        report
    }

    /// Pairs that meet on the way, in a fixed order.
    fn meet(&mut self, tree: &mut Tree, bodies: &Bodies<'_>, h: f64, v: &[Vec3]) {
        self.ends.clear();
        self.ends.extend(bodies.x.iter().zip(v).map(|(x, v)| *x + h * *v));
        tree.crossings(bodies.x, &self.ends, &mut self.hits);
        let stops = |&i: &u32| bodies.radius[i as usize] >= 0.0;
        self.hits.retain(|hit| hit.particles[..usize::from(hit.count)].iter().all(stops));
    }
}

/// A pair with its answer to impulses.
struct Pair<'a> {
    hit: &'a Hit,
    inverse_mass: &'a [f64],
    /// Σ wᵢ²/mᵢ, 1/kg.
    response: f64,
}

impl<'a> Pair<'a> {
    /// None where all that could move is held.
    fn new(hit: &'a Hit, bodies: &Bodies<'a>) -> Option<Pair<'a>> {
        let inverse_mass = bodies.inverse_mass;
        let count = usize::from(hit.count);
        let each = hit.particles.iter().zip(&hit.weights).take(count);
        let response: f64 = each.map(|(&i, w)| w * w * inverse_mass[i as usize]).sum();
        (response > 0.0).then_some(Pair { hit, inverse_mass, response })
    }

    fn particles(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let count = usize::from(self.hit.count);
        self.hit.particles.iter().zip(self.hit.weights).take(count).map(|(&i, w)| (i as usize, w))
    }

    /// Coulomb's μ: the geometric mean of that of the first particle of either side.
    fn friction(&self, each: &[f64]) -> f64 {
        let first = |positive: bool| self.particles().find(|(_, w)| (*w > 0.0) == positive);
        let of = |positive| first(positive).map_or(0.0, |(i, _)| each[i]);
        (of(true) * of(false)).sqrt()
    }

    /// Of the positive side against the negative one, m/s.
    fn relative(&self, v: &[Vec3]) -> Vec3 {
        self.particles().map(|(i, w)| w * v[i]).sum()
    }

    fn apply(&self, impulse: Vec3, v: &mut [Vec3]) {
        for (i, w) in self.particles() {
            v[i] += impulse * (w * self.inverse_mass[i]);
        }
    }

    /// Brakes the tangential motion by a normal impulse that was just given, N·s.
    fn rub(&self, normal_impulse: f64, friction: f64, v: &mut [Vec3]) {
        let relative = self.relative(v);
        let slip = relative - self.hit.normal * self.hit.normal.dot(relative);
        let speed = slip.length();
        if speed > 0.0 {
            let stop = speed / self.response;
            self.apply(slip * (-stop.min(friction * normal_impulse) / speed), v);
        }
    }
}

#[cfg(test)]
mod tests;
