//! What a cloth is made of, in physical units.

use serde::{Deserialize, Serialize};

/// Stiffness, weight and damping of a cloth.
///
/// Membrane stiffness is force per width (N/m): a strip of width b stretched by the strain ε pulls
/// with `stretch`·ε·b. Bending stiffness is moment per width per curvature (N·m).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fabric {
    /// kg/m².
    pub density: f64,
    /// Membrane stiffness along warp (u) and weft (v), N/m.
    pub stretch: [f64; 2],
    /// Rest scale along warp and weft, b_u and b_v of (baraff1998): 1 keeps the rest coordinates'
    /// lengths, less shrinks the cloth.
    pub rest_scale: [f64; 2],
    /// Resistance to a change of the angle between warp and weft, N/m.
    pub shear: f64,
    /// Bending stiffness along warp and weft, N·m.
    pub bend: [f64; 2],
    /// How bending is measured.
    pub bending: Bending,
    /// Damping of stretch, shear and bend: the time in which the stiffness's force acts on the rate
    /// of the same condition, s.
    pub damping: [f64; 3],
    /// Coulomb's μ against itself and, combined with theirs, against solids.
    pub friction: f64,
    /// How thick the cloth is where it touches something, m.
    pub thickness: f64,
    /// Air drag coefficient of a triangle hit squarely (a flat plate has about 1.2).
    pub drag: f64,
    /// Lift coefficient: force across the wind of a triangle at 45°.
    pub lift: f64,
}

/// How bending is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bending {
    /// By the curvature of each triangle, from the angles at its three edges: the same stiffness in
    /// every direction, whatever the mesh.
    #[default]
    Curvature,
    /// By each hinge alone, as the paper prints it: up to three times stiffer in one direction than
    /// in another on a grid whose diagonals all run the same way.
    Hinge,
}

/// Names of the presets, softest first.
pub const PRESETS: [&str; 5] = ["silk", "cotton", "denim", "canvas", "rubber"];

impl Default for Fabric {
    /// Cotton.
    fn default() -> Self {
        Fabric::cotton()
    }
}

impl Fabric {
    /// Light and flowing: 60 g/m².
    pub fn silk() -> Fabric {
        Fabric {
            density: 0.06,
            stretch: [6_000.0, 5_000.0],
            shear: 30.0,
            bend: [4e-6, 3e-6],
            friction: 0.25,
            thickness: 2e-4,
            ..Fabric::cotton()
        }
    }

    /// Shirt cloth: 200 g/m².
    pub const fn cotton() -> Fabric {
        Fabric {
            density: 0.2,
            stretch: [12_000.0, 10_000.0],
            rest_scale: [1.0, 1.0],
            shear: 80.0,
            bend: [2e-5, 1.5e-5],
            bending: Bending::Curvature,
            damping: [2e-3, 2e-3, 2e-2],
            friction: 0.4,
            thickness: 5e-4,
            drag: 1.2,
            lift: 0.6,
        }
    }

    /// Twill for jeans: 400 g/m².
    pub fn denim() -> Fabric {
        Fabric {
            density: 0.4,
            stretch: [40_000.0, 25_000.0],
            shear: 250.0,
            bend: [2e-4, 1.2e-4],
            friction: 0.5,
            thickness: 9e-4,
            ..Fabric::cotton()
        }
    }

    /// Heavy, load-bearing woven cloth for tarpaulins, sails and trampolines: 600 g/m².
    pub fn canvas() -> Fabric {
        Fabric {
            density: 0.6,
            stretch: [300_000.0, 300_000.0],
            shear: 2_000.0,
            bend: [8e-4, 8e-4],
            friction: 0.5,
            thickness: 1.2e-3,
            ..Fabric::cotton()
        }
    }

    /// A thin elastic sheet: 1 kg/m².
    pub fn rubber() -> Fabric {
        Fabric {
            density: 1.0,
            stretch: [1_500.0, 1_500.0],
            shear: 500.0,
            bend: [1e-4, 1e-4],
            damping: [5e-3, 5e-3, 2e-2],
            friction: 0.9,
            thickness: 1e-3,
            ..Fabric::cotton()
        }
    }

    /// The preset of this name.
    pub fn preset(name: &str) -> Option<Fabric> {
        Some(match name {
            "silk" => Fabric::silk(),
            "cotton" => Fabric::cotton(),
            "denim" => Fabric::denim(),
            "canvas" => Fabric::canvas(),
            "rubber" => Fabric::rubber(),
            _ => return None,
        })
    }

    /// Finds the first number that cannot be used, as (field, what would be right).
    pub(crate) fn check(&self) -> Result<(), (&'static str, String)> {
        let bounds: [(&'static str, f64, f64, f64); 15] = [
            ("fabric.density", self.density, 1e-6, 1e6),
            ("fabric.stretch", self.stretch[0], 1e-9, 1e12),
            ("fabric.stretch", self.stretch[1], 1e-9, 1e12),
            ("fabric.rest_scale", self.rest_scale[0], 1e-3, 1e3),
            ("fabric.rest_scale", self.rest_scale[1], 1e-3, 1e3),
            ("fabric.shear", self.shear, 0.0, 1e12),
            ("fabric.bend", self.bend[0], 0.0, 1e9),
            ("fabric.bend", self.bend[1], 0.0, 1e9),
            ("fabric.damping", self.damping[0], 0.0, 1e3),
            ("fabric.damping", self.damping[1], 0.0, 1e3),
            ("fabric.damping", self.damping[2], 0.0, 1e3),
            ("fabric.friction", self.friction, 0.0, 1e6),
            ("fabric.thickness", self.thickness, 1e-6, 1.0),
            ("fabric.drag", self.drag, 0.0, 1e6),
            ("fabric.lift", self.lift, 0.0, 1e6),
        ];
        for (field, value, low, high) in bounds {
            if !(low..=high).contains(&value) {
                return Err((field, format!("must be between {low:e} and {high:e}, not {value}")));
            }
        }
        Ok(())
    }
}
