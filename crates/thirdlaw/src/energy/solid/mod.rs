//! Elastic solids: energy densities Ψ(F) of the deformation gradient F, one file each.
//!
//! Every law gives, at one F, its energy per volume, the first Piola–Kirchhoff stress P = ∂Ψ/∂F and its
//! stiffness ∂²Ψ/∂F² with all negative directions removed. Isotropic laws do so in principal stretches
//! (`principal`), where both are known in closed form. All laws are defined for flat and inverted
//! elements and push them back to their right side.
//!
//! λ = Eν/((1 + ν)(1 − 2ν)) and μ = E/(2(1 + ν)) are Lamé's numbers of Young's modulus E and Poisson's
//! ratio ν; at rest every law has the stiffness of a Hookean solid with them. Damping acts on the rate
//! of Green's strain,
//!
//!   Ψ_d = (τ/h)(½ λ tr²Δ + μ Δ:Δ),   Δ = sym(F₀ᵀ(F₁ − F₀)),
//!
//! which a rigid motion leaves at zero whatever the shape.

pub(crate) mod corotated;
pub(crate) mod custom;
pub(crate) mod linear;
pub(crate) mod neo_hookean;
pub(crate) mod principal;
pub(crate) mod st_venant_kirchhoff;

pub use custom::EnergyDensity;

use super::ElementError;
use crate::math::{Mat3, Vec3};
use principal::{Blocks, Stiffness};
use std::hash::Hasher;
use std::sync::Arc;

/// How stress follows from strain.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub enum SolidLaw {
    /// Hooke's law for small strains and small rotations; large rotations look like stretch.
    Linear,
    /// Hooke's law in a frame that turns along; stress grows with strain in a straight line.
    Corotated,
    /// Hooke's law of Green's strain: stiffens when stretched; continued by a straight line where it
    /// would give way under compression.
    StVenantKirchhoff,
    /// Rubber, flesh and jelly: keeps its volume as Poisson's ratio says under any strain.
    NeoHookean,
    /// A user's own.
    #[serde(with = "custom::by_name")]
    Custom(Arc<dyn EnergyDensity>),
}

/// What a solid is made of.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SolidMaterial {
    /// How stress follows from strain.
    pub law: SolidLaw,
    /// Young's modulus E, Pa.
    pub young: f64,
    /// Poisson's ratio ν, above −1 and below ½.
    pub poisson: f64,
    /// kg/m³; 0 where masses are given otherwise.
    pub density: f64,
    /// Time τ in which the stiffness acts on the rate of strain, s.
    pub damping: f64,
}

impl Default for SolidMaterial {
    /// Rubber as in a soft eraser.
    fn default() -> Self {
        SolidMaterial {
            law: SolidLaw::NeoHookean,
            young: 1e6,
            poisson: 0.45,
            density: 1000.0,
            damping: 0.0,
        }
    }
}

/// Names of presets.
pub const SOLIDS: [&str; 5] = ["jelly", "flesh", "rubber", "foam", "cork"];

impl SolidMaterial {
    /// A material by its name, one of [`SOLIDS`].
    pub fn preset(name: &str) -> Option<SolidMaterial> {
        let of = |young, poisson, density, damping| {
            Some(SolidMaterial { young, poisson, density, damping, ..SolidMaterial::default() })
        };
        match name {
            "jelly" => of(1e4, 0.45, 1000.0, 0.005),
            "flesh" => of(5e4, 0.45, 1050.0, 0.01),
            "rubber" => of(1e6, 0.47, 1100.0, 0.001),
            "foam" => of(5e4, 0.1, 50.0, 0.01),
            "cork" => of(2e7, 0.0, 200.0, 0.001),
            _ => None,
        }
    }

    /// λ and μ, Pa.
    pub fn lame(&self) -> [f64; 2] {
        let SolidMaterial { young, poisson, .. } = *self;
        let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
        [lambda, young / (2.0 * (1.0 + poisson))]
    }

    /// Ψ, J/m³.
    pub fn energy_density(&self, f: &Mat3) -> f64 {
        let lame = self.lame();
        match &self.law {
            SolidLaw::Linear => linear::density(lame, f),
            SolidLaw::Corotated => principal::density(corotated::at, lame, f),
            SolidLaw::StVenantKirchhoff => principal::density(st_venant_kirchhoff::at, lame, f),
            SolidLaw::NeoHookean => principal::density(neo_hookean::at, lame, f),
            SolidLaw::Custom(law) => law.density(f),
        }
    }

    /// P = ∂Ψ/∂F, Pa.
    pub fn stress(&self, f: &Mat3) -> Mat3 {
        let mut blocks = [Mat3::ZERO; 6];
        self.respond(f, &[Vec3::ZERO; 3], &mut blocks)
    }

    /// P, and of every pair of corners i ≤ j of 1, 2, 3 the block g_iᵀ (∂²Ψ/∂F²)₊ g_j.
    pub(crate) fn respond(&self, f: &Mat3, gradients: &[Vec3; 3], blocks: &mut Blocks) -> Mat3 {
        let lame = self.lame();
        match &self.law {
            SolidLaw::Linear => linear::respond(lame, f, gradients, blocks),
            SolidLaw::Corotated => principal::respond(corotated::at, lame, f, gradients, blocks),
            SolidLaw::StVenantKirchhoff => {
                principal::respond(st_venant_kirchhoff::at, lame, f, gradients, blocks)
            }
            SolidLaw::NeoHookean => principal::respond(neo_hookean::at, lame, f, gradients, blocks),
            SolidLaw::Custom(law) => custom::respond(&**law, f, gradients, blocks),
        }
    }

    /// Adds damping within a step from F₀ to F₁ of `h` seconds: its stress, and h²∂²Ψ_d/∂F² over h².
    pub(crate) fn damp(
        &self,
        (f0, f1): (&Mat3, &Mat3),
        h: f64,
        gradients: &[Vec3; 3],
        (stress, blocks): (&mut Mat3, &mut Blocks),
    ) {
        if self.damping == 0.0 {
            return;
        }
        let rate = self.damping / h;
        let lame = self.lame().map(|k| k * rate);
        *stress += *f0 * linear::stress(lame, &linear::symmetric(&(f0.transpose() * (*f1 - *f0))));
        Stiffness::hookean(lame).add(f0, gradients, blocks);
    }

    /// What damping takes on the way from F₀ to F₁ in `h` seconds, J/m³.
    pub(crate) fn damped(&self, f0: &Mat3, f1: &Mat3, h: f64) -> f64 {
        if self.damping == 0.0 {
            return 0.0;
        }
        let change = linear::symmetric(&(f0.transpose() * (*f1 - *f0)));
        self.damping / h * linear::of_strain(self.lame(), &change)
    }

    /// Whether every number can be used.
    pub(crate) fn check(&self, energy: &'static str) -> Result<(), ElementError> {
        let bounds = [
            ("young", self.young, 1e-6, 1e15),
            ("density", self.density, 0.0, 1e9),
            ("damping", self.damping, 0.0, 1e3),
        ];
        for (field, value, low, high) in bounds {
            if !(low..=high).contains(&value) {
                let problem = format!("must be between {low:e} and {high:e}, not {value}");
                return Err(ElementError::Material { energy, field, problem });
            }
        }
        if !(self.poisson > -1.0 && self.poisson < 0.5) {
            let problem = format!("must be above -1 and below 0.5, not {}", self.poisson);
            return Err(ElementError::Material { energy, field: "poisson", problem });
        }
        Ok(())
    }

    /// Feeds every number to `hasher`.
    pub(crate) fn fingerprint(&self, hasher: &mut dyn Hasher) {
        match &self.law {
            SolidLaw::Linear => hasher.write_u8(0),
            SolidLaw::Corotated => hasher.write_u8(1),
            SolidLaw::StVenantKirchhoff => hasher.write_u8(2),
            SolidLaw::NeoHookean => hasher.write_u8(3),
            SolidLaw::Custom(law) => {
                hasher.write_u8(4);
                hasher.write(law.name().as_bytes());
            }
        }
        for x in [self.young, self.poisson, self.density, self.damping] {
            hasher.write_u64(x.to_bits());
        }
    }
}
