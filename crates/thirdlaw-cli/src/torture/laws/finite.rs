//! No number becomes infinite or NaN, and no speed absurd: a step that fails has failed this law.

use super::{Case, Verdict};

/// Speed that nothing ordinary has, m/s: three times that of light.
const ABSURD: f64 = 1e9;

/// Whether every number is finite.
pub fn judge(case: &Case) -> Verdict {
    if let Some(why) = &case.trace.broke {
        return Verdict::Failed(why.clone());
    }
    for (number, frame) in case.trace.frames.iter().enumerate() {
        for (body, now) in case.trace.bodies.iter().zip(&frame.bodies) {
            let v = now.velocity;
            let fine = now.center.is_finite() && now.rotation.is_finite();
            if !(fine && v.linear.length() < ABSURD && v.angular.is_finite()) {
                let name = &body.name;
                return Verdict::Failed(format!("frame {number}: {name} moves at {}", v.linear));
            }
        }
        if let Some(i) = frame.vertices.iter().position(|x| !x.is_finite()) {
            return Verdict::Failed(format!("frame {number}: vertex {i} of cloth"));
        }
    }
    Verdict::Held
}
