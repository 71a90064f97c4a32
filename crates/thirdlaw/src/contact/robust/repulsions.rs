//! Repulsions: what is nearer than its thickness is stopped, and pushed apart by a tenth of what is missing.

use super::{Bodies, Pair, Robust};
use crate::collide::deformable::Tree;
use crate::math::Vec3;

/// Share of the missing distance that may be made up in a step: more would throw things apart.
const SHARE: f64 = 0.1;

impl Robust {
    /// Repels all pairs that are nearer than their thickness, once each. Returns how many there are.
    ///
    /// With the distance d missing: an inelastic stop of what comes nearer, and where it then leaves more
    /// slowly than 0.1 d/h, a push of h k d, but never beyond that speed [BFA02, §7.2].
    pub fn repel(&mut self, tree: &mut Tree, bodies: &Bodies<'_>, h: f64, v: &mut [Vec3]) -> usize {
        self.ends.clear();
        self.ends.extend(bodies.x.iter().zip(&*v).map(|(x, v)| *x + h * *v));
        tree.proximity((bodies.x, &self.ends), bodies.radius, 0.0, &mut self.hits);
        for hit in &self.hits {
            let Some(pair) = Pair::new(hit, bodies) else { continue };
            let radius = |positive: bool| {
                let side = pair.particles().filter(|(_, w)| (*w > 0.0) == positive);
                side.map(|(i, _)| bodies.radius[i]).fold(0.0, f64::max)
            };
            let missing = radius(true) + radius(false) - hit.distance;
            if missing <= 0.0 {
                continue;
            }
            let speed = hit.normal.dot(pair.relative(v));
            let stop = (-speed).max(0.0) / pair.response;
            let leaving = SHARE * missing / h;
            let push = match leaving > speed.max(0.0) {
                true => {
                    (h * bodies.stiffness * missing).min((leaving - speed.max(0.0)) / pair.response)
                }
                false => 0.0,
            };
            pair.apply(hit.normal * (stop + push), v);
            pair.rub(stop + push, pair.friction(bodies.friction), v);
        }
        self.hits.len()
    }
}
