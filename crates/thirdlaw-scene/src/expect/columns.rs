//! The columns of `stats.csv`: one list for whoever writes them, reads them back, or expects something of them.

use super::reading::FrameStats;
use thirdlaw::SolvePath;

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct StatsColumn {
    /// As it stands in the first row.
    pub name: &'static str,
    field: Field,
}

/// Where a number is, and how it is written.
#[derive(Clone, Copy, Debug)]
enum Field {
    /// What no expectation is about: which frame it is.
    Frame,
    Time,
    /// In 16 hexadecimal digits; no number that something could be expected of.
    Hash,
    Path(SolvePath),
    Real(fn(&mut FrameStats) -> &mut f64),
    /// To a thousandth.
    Milliseconds(fn(&mut FrameStats) -> &mut f64),
    Count(fn(&mut FrameStats) -> &mut u32),
    Many(fn(&mut FrameStats) -> &mut u64),
}

const fn real(name: &'static str, field: fn(&mut FrameStats) -> &mut f64) -> StatsColumn {
    StatsColumn { name, field: Field::Real(field) }
}

const fn count(name: &'static str, field: fn(&mut FrameStats) -> &mut u32) -> StatsColumn {
    StatsColumn { name, field: Field::Count(field) }
}

const fn path(name: &'static str, path: SolvePath) -> StatsColumn {
    StatsColumn { name, field: Field::Path(path) }
}

/// All columns in order. Energies in J, momentum in N·s, angular momentum about the world's origin in N·m·s,
/// jitter in J/kg, lengths in m, residual in m/s.
pub static COLUMNS: [StatsColumn; 40] = [
    StatsColumn { name: "frame", field: Field::Frame },
    StatsColumn { name: "time", field: Field::Time },
    real("kinetic", |stats| &mut stats.kinetic),
    real("jitter", |stats| &mut stats.jitter),
    real("gravity", |stats| &mut stats.gravity),
    real("elastic", |stats| &mut stats.elastic),
    real("px", |stats| &mut stats.momentum[0]),
    real("py", |stats| &mut stats.momentum[1]),
    real("pz", |stats| &mut stats.momentum[2]),
    real("lx", |stats| &mut stats.angular[0]),
    real("ly", |stats| &mut stats.angular[1]),
    real("lz", |stats| &mut stats.angular[2]),
    count("contacts", |stats| &mut stats.contacts),
    real("penetration", |stats| &mut stats.penetration),
    real("strain", |stats| &mut stats.strain),
    real("volume_error", |stats| &mut stats.volume_error),
    real("joint_error", |stats| &mut stats.joint_error),
    count("contact_iterations", |stats| &mut stats.contact_iterations),
    real("contact_residual", |stats| &mut stats.contact_residual),
    count("cg_iterations", |stats| &mut stats.cg_iterations),
    count("substeps", |stats| &mut stats.substeps),
    StatsColumn { name: "step_ms", field: Field::Milliseconds(|stats| &mut stats.step_ms) },
    StatsColumn { name: "hash", field: Field::Hash },
    StatsColumn { name: "particles", field: Field::Many(|stats| &mut stats.particles) },
    path("path_free", SolvePath::Free),
    path("path_batched", SolvePath::Batched),
    path("path_pile", SolvePath::Pile),
    path("path_converged_pile", SolvePath::ConvergedPile),
    path("path_jointed_pile", SolvePath::JointedPile),
    path("path_general", SolvePath::General),
    path("path_direct", SolvePath::Direct),
    path("path_reduced", SolvePath::Reduced),
    path("path_joints", SolvePath::Joints),
    path("path_through_joints", SolvePath::ThroughJoints),
    path("path_joints_in_turn", SolvePath::JointsInTurn),
    path("path_joints_interleaved", SolvePath::JointsInterleaved),
    path("path_joint_rows", SolvePath::JointRows),
    path("path_soft_joints", SolvePath::SoftJoints),
    count("unconverged", |stats| &mut stats.unconverged),
    count("unfinished", |stats| &mut stats.unfinished),
];

/// The names of the columns that can be expected.
pub fn expected_columns() -> impl Iterator<Item = &'static str> {
    let expected = |column: &&StatsColumn| {
        !matches!(column.field, Field::Frame | Field::Time | Field::Hash | Field::Path(_))
    };
    COLUMNS.iter().filter(expected).map(|column| column.name)
}

/// The column of a name.
pub fn column(name: &str) -> Option<&'static StatsColumn> {
    COLUMNS.iter().find(|column| column.name == name)
}

impl StatsColumn {
    /// What something may be expected of.
    pub fn value(&self, stats: &FrameStats) -> Option<f64> {
        let mut stats = *stats;
        match self.field {
            Field::Real(field) | Field::Milliseconds(field) => Some(*field(&mut stats)),
            Field::Count(field) => Some(f64::from(*field(&mut stats))),
            Field::Many(field) => Some(*field(&mut stats) as f64),
            Field::Frame | Field::Time | Field::Hash | Field::Path(_) => None,
        }
    }

    /// As it is written; `real` writes numbers so that they read back as the same.
    pub fn text(&self, stats: &FrameStats, real: impl Fn(f64) -> String) -> String {
        let mut stats = *stats;
        match self.field {
            Field::Frame => stats.frame.to_string(),
            Field::Time => real(stats.time),
            Field::Hash => format!("{:016x}", stats.hash),
            Field::Path(path) => stats.paths.of(path).to_string(),
            Field::Real(field) => real(*field(&mut stats)),
            Field::Milliseconds(field) => format!("{:.3}", field(&mut stats)),
            Field::Count(field) => field(&mut stats).to_string(),
            Field::Many(field) => field(&mut stats).to_string(),
        }
    }

    /// Reads back what was written; none if it is something else.
    pub fn read(&self, text: &str, stats: &mut FrameStats) -> Option<()> {
        match self.field {
            Field::Frame => stats.frame = text.parse().ok()?,
            Field::Time => stats.time = text.parse().ok()?,
            Field::Hash => stats.hash = u64::from_str_radix(text, 16).ok()?,
            Field::Path(path) => stats.paths.count(path, text.parse().ok()?),
            Field::Real(field) | Field::Milliseconds(field) => *field(stats) = text.parse().ok()?,
            Field::Count(field) => *field(stats) = text.parse().ok()?,
            Field::Many(field) => *field(stats) = text.parse().ok()?,
        }
        Some(())
    }
}
