//! Impacts: inelastic impulses between pairs that meet on their way, one after the other, in rounds.

use super::{Bodies, Pair, ROUNDS, Robust, RobustReport};
use crate::collide::deformable::Tree;
use crate::math::Vec3;

impl Robust {
    /// Stops pairs that would meet within `h` seconds where they meet, and looks again, until none meets or
    /// the rounds are over: then `report.clear` is false.
    pub fn stop_impacts(
        &mut self,
        tree: &mut Tree,
        bodies: &Bodies<'_>,
        h: f64,
        v: &mut [Vec3],
        report: &mut RobustReport,
    ) {
        for _ in 0..ROUNDS {
            self.meet(tree, bodies, h, v);
            report.clear = self.hits.is_empty();
            if report.clear {
                return;
            }
            report.rounds += 1;
            report.impacts += self.hits.len();
            for hit in &self.hits {
                let Some(pair) = Pair::new(hit, bodies) else { continue };
                let speed = hit.normal.dot(pair.relative(v));
                if speed < 0.0 {
                    let impulse = -speed / pair.response;
                    pair.apply(hit.normal * impulse, v);
                    pair.rub(impulse, pair.friction(bodies.friction), v);
                }
            }
        }
    }
}
