//! Energy that joints store: springs, and joints that are held softly. Drives are not counted: what
//! they aim at moves, so that they are motors rather than stores.

use super::geometry::Placed;
use crate::model::joint::description::{Enforcement, JointKind};
use crate::model::joint::model::{JointModel, used_axes};
use crate::state::joint::JointState;

impl JointModel {
    /// ½ k (q − q*)² of all springs, and ½ K CᵀC where the joint is held softly, J. `way` is how joints
    /// are held that do not say it themselves.
    pub(crate) fn energy(&self, placed: &Placed, now: &JointState, way: Enforcement) -> f64 {
        let mut place = now.place;
        let q = self.coordinates(placed, &now.coordinates, &mut place);
        let square = |x: f64| x * x;
        let mut sum = match self.joint.kind {
            JointKind::Spring { stiffness, .. } => 0.5 * stiffness * square(q[0] - self.rest),
            JointKind::AngularSpring { stiffness, .. } => {
                0.5 * stiffness * q[3..].iter().map(|&x| square(x)).sum::<f64>()
            }
            _ => 0.0,
        };
        let used = used_axes(&self.joint.kind);
        for (i, axis) in self.joint.axes.iter().enumerate().filter(|(i, _)| used[*i]) {
            if let Some(spring) = axis.spring
                && !self.locked[i]
            {
                sum += 0.5 * spring.stiffness * square(q[i] - spring.rest);
            }
        }
        if let Enforcement::Soft { stiffness, .. } = self.joint.enforcement.unwrap_or(way) {
            let held = match self.joint.kind {
                JointKind::Gear { .. } | JointKind::Rack { .. } => (now.coordinates[0], 0.0),
                // a rope is held by its limits
                JointKind::Distance { min, max } if min < max => (0.0, 0.0),
                _ => self.errors(placed, now),
            };
            sum += 0.5 * stiffness * (square(held.0) + square(held.1));
        }
        sum
    }
}
