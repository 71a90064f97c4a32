//! The numbers of a world that hold for all its bodies. The defaults need no tuning.

use super::error::SettingsError;
use super::joint::description::JointSettings;
use super::joint::model::check_enforcement;
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Settings of a world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// m/s².
    pub gravity: Vec3,
    /// Equal parts a step is divided into; contacts are found once and solved in each.
    pub substeps: u32,
    /// The contact solver and how long it works.
    pub contact: ContactSettings,
    /// How joints are held and solved.
    pub joints: JointSettings,
    /// Whether islands at rest stop being simulated until something touches them.
    pub sleeping: bool,
    /// Whether bodies that move farther in a step than they are thick are swept along their path.
    /// A kinematic body that fast is not stopped for, and may pass through a slow body.
    pub continuous: bool,
    /// How cloth is solved.
    pub cloth: ClothSettings,
    /// Which scheme advances the world.
    pub scheme: Scheme,
    /// How the unified scheme goes about its work.
    pub unified: UnifiedSettings,
}

/// Which scheme advances a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scheme {
    /// Bodies by impulses in substeps, then cloth, implicitly, then particles.
    #[default]
    Impulses,
    /// Everything together in the five steps of \[shinar2008\].
    Unified,
}

/// How the unified scheme goes about its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnifiedSettings {
    /// How velocities follow from forces at the end of a substep.
    pub velocity: VelocityRule,
}

/// How velocities follow from forces at the end of a substep of the unified scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum VelocityRule {
    /// By the forces of the middle: of second order, without damping of its own.
    #[default]
    Trapezoidal,
    /// By those of the end: of first order; damps what is stiff.
    BackwardEuler,
}

/// How cloth is solved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClothSettings {
    /// How the forces of elements follow the motion within a step.
    pub forces: ClothForces,
    /// How the linear system and its constraints are solved.
    pub solver: ClothSolver,
    /// What conjugate gradients are preconditioned with.
    pub preconditioner: Preconditioner,
    /// Residual at which conjugate gradients stop, relative to the better of two starts (free flight,
    /// or the velocities at the beginning), or to what weight adds in a step where that is more.
    pub tolerance: f64,
    /// Most iterations of conjugate gradients in a round.
    pub iterations: u32,
    /// Most rounds in which contacts are judged and the system is solved again.
    /// With [`ClothForces::Solved`] up to four times as many, while contacts change.
    pub rounds: u32,
    /// Rise of the largest strain in a step at which it is made again with half the length.
    pub strain_step: f64,
    /// Velocity of the air, m/s.
    pub wind: Vec3,
    /// Whether there is air.
    pub air: bool,
    /// Numbers in which search directions are multiplied; all else is `f64`.
    pub precision: Precision,
    /// What keeps cloth and soft bodies from passing through themselves and each other.
    pub self_collision: SelfCollision,
}

/// What keeps cloth and soft bodies from passing through themselves and each other. Stiff springs act where
/// surfaces come near; the step is solved again with more of them where surfaces would still pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SelfCollision {
    /// Springs; where that is not enough, shorter steps. In the shortest step something may pass.
    #[default]
    Springs,
    /// Springs; where that is not enough, inelastic impulses and rigid impact zones \[BFA02\]: nothing
    /// passes, and steps need not be shorter for it.
    Robust,
}

/// How the forces of elements follow the motion within a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClothForces {
    /// Corrected by what the linearization leaves out; and by Newton's method, never making energy,
    /// where that is not enough.
    #[default]
    Followed,
    /// Linearized once, at the beginning of the step, as the paper does.
    Linear,
    /// By Newton's method in every step, each round solved until the error of its velocities is below the
    /// tolerance, relative to their change in the step: whatever slides, swings or slips as a whole is
    /// not held back. Takes several times as long as the others, which end on a residual.
    Solved,
}

/// How the linear system of cloth and its constraints are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClothSolver {
    /// Conjugate gradients with the filter S.
    #[default]
    Filtered,
    /// The W-form with a dense factorization: exact, for small cloths.
    Direct,
    /// Conjugate gradients with stiff springs in place of the filter.
    Penalty,
}

/// What conjugate gradients are preconditioned with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Preconditioner {
    /// The multilevel one where it pays, else block Jacobi. With [`ClothForces::Solved`] a factor where
    /// that would take longer than making one.
    #[default]
    Auto,
    /// The inverse of each particle's own block.
    BlockJacobi,
    /// Smoothed aggregation: iterations hardly depend on the mesh.
    Multilevel,
    /// A sparse factor of the whole matrix: a few iterations, whatever the mesh, its stiffness and its
    /// contacts. Only with [`ClothForces::Solved`]; else it is `Auto`.
    Factored,
}

/// Numbers of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precision {
    /// `f32` where it is enough. Of cloth that is where tolerance and stiffness allow it.
    Auto,
    /// `f32`.
    Single,
    /// `f64`.
    #[default]
    Double,
}

impl Default for ClothSettings {
    fn default() -> Self {
        ClothSettings {
            forces: ClothForces::Followed,
            solver: ClothSolver::Filtered,
            preconditioner: Preconditioner::Auto,
            tolerance: 1e-2,
            iterations: 500,
            rounds: 4,
            strain_step: 0.01,
            wind: Vec3::ZERO,
            air: true,
            precision: Precision::Auto,
            self_collision: SelfCollision::Springs,
        }
    }
}

/// How contacts are solved.
///
/// Lengths (`slop`, `skin`, `sag`) and speeds (`push_speed`, `bounce_speed`, `tolerance`) are those of bodies as
/// thick as [`reference_size`](ContactSettings::reference_size); for others they go with their size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactSettings {
    /// Which iteration.
    pub solver: Solver,
    /// Most iterations of the solve with position correction in each substep.
    pub iterations: u32,
    /// Most iterations of the second solve in each substep, which takes out the velocity that the
    /// position correction put in, and gives bounces theirs.
    pub relax_iterations: u32,
    /// Iteration stops below this error of the contact velocities, m/s; 0 runs all iterations.
    pub tolerance: f64,
    /// Cone or pyramid.
    pub friction: FrictionModel,
    /// Solve normals and friction each to convergence in turn instead of one iteration each.
    pub staggered: bool,
    /// Largest number of rows of an island of extreme mass ratio that is solved directly where iteration
    /// falls short; 0 turns the direct path off.
    pub direct_rows: u32,
    /// Thickness of the bodies that lengths and speeds of these settings are given for, m. Where a contact's
    /// thinner body is n times as thick, its lengths are n times these, its speeds √n times, and times √n
    /// times: a scene scaled as a whole, under the same gravity, then moves as before. 0: they hold as given
    /// for all bodies.
    pub reference_size: f64,
    /// Overlap that is left alone, m.
    pub slop: f64,
    /// Gap up to which a contact counts as closed where nothing bounces and both bodies are slow, m, but no
    /// more than 4e-3 of the thinner one's half thickness: there it gives way to its load, and is not
    /// pushed apart. 0 lets surfaces meet freely.
    pub skin: f64,
    /// Fastest speed at which position correction pushes a contact apart, m/s.
    pub push_speed: f64,
    /// Frequency of the spring that pushes overlaps apart, in units of the substep rate;
    /// at most 120 Hz.
    pub stiffness: f64,
    /// Damping ratio of that spring; 1 is critical.
    pub damping: f64,
    /// Most that spring gives way under a resting load, m; heavier loads are carried rigidly.
    pub sag: f64,
    /// Approach speeds below this do not bounce, m/s.
    pub bounce_speed: f64,
    /// Whether islands that may be about to stand or fall get more iterations than asked for. Off, every
    /// island gets the iterations above and no more, for comparisons.
    pub converge: bool,
    /// Numbers that contacts are solved in. `Auto`: `f32` impulses on `f64` velocities where many contacts
    /// are solved with `colored-pgs`, else `f64`. `Double`: `f64` everywhere. `Single`: as `Auto`, and
    /// `pgs` and `block-mass-splitting` have everything in `f32`.
    pub precision: Precision,
    /// Which paths islands may take.
    pub paths: Paths,
}

/// Which paths islands may take through a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Paths {
    /// The fastest that suits each.
    #[default]
    Auto,
    /// Contacts by the general path, one island at a time in double precision: what the others are
    /// compared with.
    General,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            substeps: 8,
            contact: ContactSettings::default(),
            joints: JointSettings::default(),
            sleeping: true,
            continuous: true,
            cloth: ClothSettings::default(),
            scheme: Scheme::Impulses,
            unified: UnifiedSettings::default(),
        }
    }
}

impl Default for ContactSettings {
    fn default() -> Self {
        ContactSettings {
            solver: Solver::ColoredPgs,
            iterations: 2,
            relax_iterations: 1,
            tolerance: 1e-9,
            friction: FrictionModel::Cone,
            staggered: false,
            direct_rows: 100,
            reference_size: 0.5,
            slop: 1e-4,
            skin: 1e-3,
            push_speed: 3.0,
            stiffness: 0.25,
            damping: 1.0,
            sag: 1e-3,
            bounce_speed: 0.01,
            converge: true,
            precision: Precision::Auto,
            paths: Paths::Auto,
        }
    }
}

impl ContactSettings {
    /// Lengths at a contact over those of these settings; `half` is half the thickness of its thinner
    /// body, m.
    pub(crate) fn scale(&self, half: f64) -> f64 {
        let scale = 2.0 * half / self.reference_size;
        if self.reference_size > 0.0 && scale.is_finite() { scale } else { 1.0 }
    }
}

impl Settings {
    /// Refuses what cannot be simulated, naming the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        let contact = &self.contact;
        let fail = |field, problem: String| Err(SettingsError { field, problem });
        if !self.gravity.is_finite() {
            return fail("gravity", format!("must be finite, not {}", self.gravity));
        }
        if !(self.cloth.wind.is_finite() && self.cloth.wind.length() < 1e4) {
            let wind = self.cloth.wind;
            return fail("cloth.wind", format!("must be slower than 1e4 m/s, not {wind}"));
        }
        for (field, count, most) in [
            ("substeps", self.substeps, 1000),
            ("contact.iterations", contact.iterations, 100_000),
            ("contact.relax_iterations", contact.relax_iterations, 100_000),
            ("joints.iterations", self.joints.iterations, 1000),
            ("cloth.iterations", self.cloth.iterations, 100_000),
            ("cloth.rounds", self.cloth.rounds, 100),
        ] {
            if count == 0 || count > most {
                return fail(field, format!("must be between 1 and {most}, not {count}"));
            }
        }
        for (field, x, low, high) in [
            ("contact.tolerance", contact.tolerance, 0.0, f64::MAX),
            ("contact.reference_size", contact.reference_size, 0.0, f64::MAX),
            ("contact.slop", contact.slop, 0.0, f64::MAX),
            ("contact.skin", contact.skin, 0.0, f64::MAX),
            ("contact.push_speed", contact.push_speed, 0.0, f64::MAX),
            ("contact.stiffness", contact.stiffness, 0.0, 1.0),
            ("contact.damping", contact.damping, 0.0, 1e6),
            ("contact.sag", contact.sag, 0.0, f64::MAX),
            ("contact.bounce_speed", contact.bounce_speed, 0.0, f64::MAX),
            ("joints.tolerance", self.joints.tolerance, 0.0, f64::MAX),
            ("joints.closing", self.joints.closing, 0.0, f64::MAX),
            ("cloth.tolerance", self.cloth.tolerance, 1e-15, 1.0),
            ("cloth.strain_step", self.cloth.strain_step, 1e-6, f64::MAX),
        ] {
            if !(low..=high).contains(&x) {
                return fail(field, format!("must be finite and from {low} to {high}, not {x}"));
            }
        }
        check_enforcement("joints.enforcement", self.joints.enforcement)
            .or_else(|e| fail(e.field, e.problem))
    }
}

/// How the two friction rows of a contact are bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum FrictionModel {
    /// ‖(z₁, z₂)‖ ≤ μ z_n: the Coulomb cone, the same in every direction.
    #[default]
    Cone,
    /// |z₁|, |z₂| ≤ μ z_n each: the paper's boxed problem; up to 41 % too strong at 45°.
    Pyramid,
}

/// The iterative solvers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Projected Gauss–Seidel.
    Pgs,
    /// Projected Gauss–Seidel, coloured: parallel.
    #[default]
    ColoredPgs,
    /// Projected Jacobi; may diverge.
    Jacobi,
    /// Projected Jacobi with a line search.
    JacobiLineSearch,
    /// Projected Jacobi scaled by the spectral radius.
    JacobiScaled,
    /// Bridson's Jacobi; solves the problem of heavier bodies.
    JacobiBridson,
    /// Mass splitting.
    MassSplitting,
    /// Block mass splitting.
    BlockMassSplitting,
    /// Projected Gauss–Seidel in an order drawn anew for every step: to be compared with.
    ShuffledPgs,
}
