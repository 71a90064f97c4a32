//! Wind and air drag on a triangle: drag along the flow over the area that faces it, lift across.

use crate::math::Vec3;

/// Density of air, kg/m³.
pub const AIR_DENSITY: f64 = 1.2;

/// What the air does to a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drag {
    /// Force per velocity against the air, N·s/m; taken at the end of the step, so that it can only
    /// slow down.
    pub coefficient: f64,
    /// Force across the flow, N.
    pub lift: Vec3,
}

/// Drag and lift, by their coefficients, of a triangle with corners `x` that moves with `relative`
/// velocity against the air.
pub fn drag([drag, lift]: [f64; 2], x: [Vec3; 3], relative: Vec3) -> Drag {
    let normal = (x[1] - x[0]).cross(x[2] - x[0]);
    let double_area = normal.length();
    let speed = relative.length();
    if double_area < 1e-18 || speed < 1e-9 {
        return Drag::default();
    }
    let n = normal / double_area;
    let pressure = 0.5 * AIR_DENSITY * 0.5 * double_area;
    let facing = n.dot(relative);
    let across = n - (facing / (speed * speed)) * relative;
    Drag {
        coefficient: pressure * drag * facing.abs(),
        lift: -2.0 * pressure * lift * facing * speed * across,
    }
}
