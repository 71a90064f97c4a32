//! `[settings]` and `[solver]`.

use super::joint_kind::enforcement;
use crate::error::SceneError;
use crate::node::Table;
use thirdlaw::couple::{Acceleration, CouplingSettings, Method};
use thirdlaw::{
    ClothForces, ClothSettings, ClothSolver, FrictionModel, JointSolve, Paths, Precision,
    Preconditioner, Scheme, SelfCollision, Settings, SettingsError, Solver, VelocityRule,
};

/// How a run is cut into frames and steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Frames per second.
    pub fps: f64,
    /// How many frames.
    pub frames: u32,
    /// Steps in each.
    pub steps_per_frame: u32,
}

/// Reads what the checker let through; what is absent keeps the engine's default.
pub fn read(root: &Table) -> (Settings, Timing) {
    let mut settings = Settings::default();
    let mut timing = Timing { fps: 60.0, frames: 300, steps_per_frame: 1 };
    let mut duration = 5.0;
    let mut frames = None;
    if let Some(table) = root.table("settings") {
        put(&mut timing.fps, table.number("fps"));
        put(&mut duration, table.number("duration"));
        frames = table.count("frames");
        put(&mut timing.steps_per_frame, table.count("steps_per_frame"));
        put(&mut settings.substeps, table.count("substeps"));
        put(&mut settings.gravity, table.vector("gravity"));
        let scheme = |name: &str| match name {
            "unified" => Scheme::Unified,
            _ => Scheme::Impulses,
        };
        put(&mut settings.scheme, table.text("scheme").map(scheme));
        let rule = |name: &str| match name {
            "backward-euler" => VelocityRule::BackwardEuler,
            _ => VelocityRule::Trapezoidal,
        };
        put(&mut settings.unified.velocity, table.text("velocity_rule").map(rule));
        put(&mut settings.sleeping, table.flag("sleeping"));
        put(&mut settings.continuous, table.flag("continuous"));
        if let Some(table) = table.table("joints") {
            let joints = &mut settings.joints;
            put(&mut joints.enforcement, table.get("enforcement").map(enforcement));
            put(&mut joints.solve, table.text("solve").map(joint_solve));
            put(&mut joints.iterations, table.count("iterations"));
            put(&mut joints.tolerance, table.number("tolerance"));
            put(&mut joints.closing, table.number("closing"));
        }
        if let Some(table) = table.table("cloth") {
            read_cloth(&mut settings.cloth, table);
        }
    }
    timing.frames =
        frames.unwrap_or_else(|| (duration * timing.fps).round().clamp(1.0, 1e8) as u32);
    if let Some(table) = root.table("solver") {
        let contact = &mut settings.contact;
        put(&mut contact.solver, table.text("kind").map(solver));
        put(&mut contact.iterations, table.count("iterations"));
        put(&mut contact.relax_iterations, table.count("relax_iterations"));
        put(&mut contact.tolerance, table.number("tolerance"));
        put(&mut contact.friction, table.text("friction").map(friction));
        put(&mut contact.staggered, table.flag("staggered"));
        put(&mut contact.direct_rows, table.count("direct_rows"));
        put(&mut contact.reference_size, table.number("reference_size"));
        put(&mut contact.slop, table.number("slop"));
        put(&mut contact.skin, table.number("skin"));
        put(&mut contact.push_speed, table.number("push_speed"));
        put(&mut contact.stiffness, table.number("stiffness"));
        put(&mut contact.damping, table.number("damping"));
        put(&mut contact.sag, table.number("sag"));
        put(&mut contact.bounce_speed, table.number("bounce_speed"));
        put(&mut contact.converge, table.flag("converge"));
        put(&mut contact.precision, table.text("precision").map(precision));
        let paths = |name: &str| if name == "general" { Paths::General } else { Paths::Auto };
        put(&mut contact.paths, table.text("paths").map(paths));
    }
    (settings, timing)
}

fn read_cloth(cloth: &mut ClothSettings, table: &Table) {
    put(&mut cloth.solver, table.text("solver").map(cloth_solver));
    put(&mut cloth.tolerance, table.number("tolerance"));
    put(&mut cloth.iterations, table.count("iterations"));
    put(&mut cloth.rounds, table.count("rounds"));
    put(&mut cloth.strain_step, table.number("strain_step"));
    put(&mut cloth.wind, table.vector("wind"));
    put(&mut cloth.air, table.flag("air"));
    let forces = |name: &str| match name {
        "linear" => ClothForces::Linear,
        "solved" => ClothForces::Solved,
        _ => ClothForces::Followed,
    };
    put(&mut cloth.forces, table.text("forces").map(forces));
    put(&mut cloth.precision, table.text("precision").map(precision));
    let preconditioner = |name: &str| match name {
        "jacobi" => Preconditioner::BlockJacobi,
        "levels" => Preconditioner::Multilevel,
        "factor" => Preconditioner::Factored,
        _ => Preconditioner::Auto,
    };
    put(&mut cloth.preconditioner, table.text("preconditioner").map(preconditioner));
    let collision = |name: &str| match name {
        "robust" => SelfCollision::Robust,
        _ => SelfCollision::Springs,
    };
    put(&mut cloth.self_collision, table.text("self_collision").map(collision));
}

fn precision(name: &str) -> Precision {
    match name {
        "single" => Precision::Single,
        "auto" => Precision::Auto,
        _ => Precision::Double,
    }
}

/// How couplings go about their work.
pub fn coupling(root: &Table) -> CouplingSettings {
    let mut settings = CouplingSettings::default();
    let Some(table) = root.table("settings").and_then(|t| t.table("coupling")) else {
        return settings;
    };
    let method = |name: &str| match name {
        "interleaved" => Method::Interleaved,
        "fixed-point" => Method::FixedPoint,
        "repaired" => Method::Repaired,
        _ => Method::Iterated,
    };
    let acceleration = |name: &str| match name {
        "none" => Acceleration::None,
        "aitken" => Acceleration::Aitken,
        _ => Acceleration::QuasiNewton,
    };
    put(&mut settings.method, table.text("method").map(method));
    put(&mut settings.tolerance, table.number("tolerance"));
    put(&mut settings.contact_tolerance, table.number("contact_tolerance"));
    put(&mut settings.evaluations, table.count("evaluations"));
    put(&mut settings.exchanges, table.count("exchanges"));
    put(&mut settings.spread, table.flag("spread"));
    put(&mut settings.acceleration, table.text("acceleration").map(acceleration));
    put(&mut settings.switch, table.flag("switch"));
    put(&mut settings.keep_unconverged, table.flag("keep_unconverged"));
    settings
}

fn cloth_solver(name: &str) -> ClothSolver {
    match name {
        "direct" => ClothSolver::Direct,
        "penalty" => ClothSolver::Penalty,
        _ => ClothSolver::Filtered,
    }
}

fn put<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}

fn solver(name: &str) -> Solver {
    match name {
        "pgs" => Solver::Pgs,
        "jacobi" => Solver::Jacobi,
        "jacobi-line-search" => Solver::JacobiLineSearch,
        "jacobi-scaled" => Solver::JacobiScaled,
        "jacobi-bridson" => Solver::JacobiBridson,
        "mass-splitting" => Solver::MassSplitting,
        "block-mass-splitting" => Solver::BlockMassSplitting,
        "shuffled-pgs" => Solver::ShuffledPgs,
        _ => Solver::ColoredPgs,
    }
}

fn friction(name: &str) -> FrictionModel {
    if name == "pyramid" { FrictionModel::Pyramid } else { FrictionModel::Cone }
}

fn joint_solve(name: &str) -> JointSolve {
    match name {
        "rows" => JointSolve::Rows,
        "soft" => JointSolve::Soft,
        "interleaved" => JointSolve::Interleaved,
        _ => JointSolve::Exact,
    }
}

/// An engine's refusal, at the key it is about.
pub fn error(root: &Table, e: &SettingsError) -> SceneError {
    let key = e.field.rsplit('.').next().unwrap_or(e.field);
    let own = |name: &str| root.table("settings").map_or(&[][..], |t| t.named(name));
    let tables = match e.field.split('.').next() {
        Some("cloth") => [own("cloth"), &[]],
        Some("joints") => [own("joints"), &[]],
        _ => [root.named("solver"), root.named("settings")],
    };
    let place = tables.iter().find_map(|entries| {
        let entry = entries.iter().find(|entry| entry.key == key)?;
        Some(entry.node.place.clone())
    });
    let place = place.unwrap_or(crate::error::Place { source: None, span: 0..0 });
    SceneError::new(&place, format!("`{key}` {}", e.problem))
}
