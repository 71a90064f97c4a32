//! Step IV, after the move: what deforms and would pass through what deforms is stopped, by impulses and by rigid
//! zones \[BFA02\] (`contact/robust`).
//!
//! With u = (xⁿ⁺¹ − xⁿ)/Δt, where xⁿ⁺¹ is what the move and the pushing apart came to, nothing meets on the ways
//! that are left: xⁿ⁺¹ ← xⁿ + Δt u′. The impulses m(u′ − u) act on velocities of time n as well, so that step V
//! begins with them, as [shinar2008 §6] has it; and v½ ← u′ of what was stopped, since the forces that step V gives
//! to velocities are those of the way that was made (`elastic.rs`). A way that ends where both meet, J u′ = 0,
//! makes no energy. Rigid bodies take no part: what is pushed into one is pushed out in the next substep.

use super::nodes::Nodes;
use super::span::Span;
use crate::collide::deformable::Detector;
use crate::contact::robust::{Bodies, Robust, RobustReport};
use crate::math::Vec3;
use crate::model::Model;

/// Memory of the stage; nothing depends on what it holds.
#[derive(Debug, Default)]
pub struct Stops {
    robust: Robust,
    before: Vec<Vec3>,
    way: Vec<Vec3>,
    inverse_mass: Vec<f64>,
    friction: Vec<f64>,
}

impl Stops {
    /// Stops what would pass on the ways from `x0`. The detector has looked at the layers of this substep.
    pub fn stop(
        &mut self,
        model: &Model,
        span: &Span,
        nodes: &mut Nodes,
        (detector, x0): (&mut Detector, &[Vec3]),
    ) -> RobustReport {
        let first = nodes.bodies;
        let elements = &model.sheet.elements;
        self.before.clear();
        self.before.extend(nodes.x[first..].iter().zip(x0).map(|(x1, x0)| (*x1 - *x0) / span.dt));
        self.way.clone_from(&self.before);
        self.inverse_mass.clear();
        self.inverse_mass.extend(nodes.mass[first..].iter().map(|m| m.inv_mass.x));
        self.friction.clear();
        let count = elements.mass.len() as u32;
        self.friction.extend((0..count).map(|i| elements.surface(i).friction));
        let (tree, radius) = detector.surfaces();
        let bodies = Bodies {
            x: x0,
            inverse_mass: &self.inverse_mass,
            radius,
            friction: &self.friction,
            stiffness: 0.0,
        };
        let report = self.robust.prevent_crossings(tree, &bodies, span.dt, &mut self.way);
        if report.rounds == 0 && report.in_zones == 0 {
            return report;
        }
        for (i, (way, before)) in self.way.iter().zip(&self.before).enumerate() {
            let change = *way - *before;
            if change != Vec3::ZERO {
                let node = first + i;
                nodes.x[node] = x0[i] + span.dt * *way;
                nodes.half[node].linear = *way;
                nodes.v[node].linear += change;
            }
        }
        report
    }
}
