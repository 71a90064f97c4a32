//! What is measured of each frame, and its row in `stats.csv`.

use crate::motor::state_hash;
use thirdlaw::{StepReport, World, measure};
use thirdlaw_scene::FrameStats;

/// The columns of `stats.csv`. Energies in J, momentum in N·s, angular momentum about the world's
/// origin in N·m·s, jitter in J/kg, lengths in m, residual in m/s.
pub const COLUMNS: [&str; 24] = [
    "frame",
    "time",
    "kinetic",
    "jitter",
    "gravity",
    "elastic",
    "px",
    "py",
    "pz",
    "lx",
    "ly",
    "lz",
    "contacts",
    "penetration",
    "strain",
    "volume_error",
    "joint_error",
    "contact_iterations",
    "contact_residual",
    "cg_iterations",
    "substeps",
    "step_ms",
    "hash",
    "particles",
];

/// Measures the world at the end of a frame that was stepped with `report` in `step_ms`; `coupled` is
/// the state of the simulators that share it, if any do.
pub fn measure_frame(
    frame: u32,
    world: &World,
    report: &StepReport,
    step_ms: f64,
    coupled: &[u8],
) -> FrameStats {
    let energy = measure::energy(world);
    let (momentum, angular) = measure::momentum(world);
    FrameStats {
        frame,
        time: world.time(),
        kinetic: energy.kinetic,
        jitter: measure::jitter(world),
        gravity: energy.gravity,
        elastic: energy.elastic,
        momentum: momentum.to_array(),
        angular: angular.to_array(),
        contacts: report.contacts,
        penetration: measure::penetration(world),
        strain: measure::strain(world),
        volume_error: 0.0,
        joint_error: measure::joint_error(world),
        contact_iterations: report.contact_iterations,
        contact_residual: report.contact_residual,
        cg_iterations: report.cg_iterations,
        // where there is cloth, how often its strain made it step is what tells
        substeps: if report.cloth_steps > 0 { report.cloth_steps } else { report.substeps },
        step_ms,
        hash: state_hash(world.hash(), coupled),
        particles: world.state().streams.count() as u64,
    }
}

/// Adds the report of one more step of the same frame: work is summed, the worst error kept, and
/// what describes a moment is taken from the later step.
pub fn add_report(sum: &mut StepReport, step: &StepReport) {
    *sum = StepReport {
        contact_iterations: sum.contact_iterations + step.contact_iterations,
        contact_residual: sum.contact_residual.max(step.contact_residual),
        substeps: sum.substeps + step.substeps,
        direct: sum.direct + step.direct,
        swept: sum.swept + step.swept,
        cg_iterations: sum.cg_iterations + step.cg_iterations,
        cloth_steps: sum.cloth_steps + step.cloth_steps,
        rejected: sum.rejected + step.rejected,
        emitted: sum.emitted + step.emitted,
        expired: sum.expired + step.expired,
        bounces: sum.bounces + step.bounces,
        crushed: sum.crushed + step.crushed,
        dropped: sum.dropped + step.dropped,
        largest_step: sum.largest_step.max(step.largest_step),
        smallest_step: match sum.cloth_steps {
            0 => step.smallest_step,
            _ => sum.smallest_step.min(step.smallest_step),
        },
        ..*step
    };
}

/// Adds the report of another simulator over the same time: all is summed, but the worst error kept.
pub fn join_report(sum: &mut StepReport, other: &StepReport) {
    let (contacts, islands) = (sum.contacts, sum.islands);
    let (asleep, particles) = (sum.asleep, sum.particles);
    add_report(sum, other);
    sum.contacts += contacts;
    sum.islands += islands;
    sum.asleep += asleep;
    sum.particles += particles;
}

/// The fields of a row.
pub fn to_row(stats: &FrameStats) -> Vec<String> {
    let [px, py, pz] = stats.momentum;
    let [lx, ly, lz] = stats.angular;
    let mut row = vec![stats.frame.to_string()];
    row.extend([stats.time, stats.kinetic, stats.jitter, stats.gravity, stats.elastic].map(exact));
    row.extend([px, py, pz, lx, ly, lz].map(exact));
    row.push(stats.contacts.to_string());
    row.extend([stats.penetration, stats.strain, stats.volume_error, stats.joint_error].map(exact));
    row.push(stats.contact_iterations.to_string());
    row.push(exact(stats.contact_residual));
    row.push(stats.cg_iterations.to_string());
    row.push(stats.substeps.to_string());
    row.push(format!("{:.3}", stats.step_ms));
    row.push(hash_text(stats.hash));
    row.push(stats.particles.to_string());
    row
}

/// Reads a row back; `None` if it is not one.
pub fn from_row(row: &csv::StringRecord) -> Option<FrameStats> {
    if row.len() != COLUMNS.len() {
        return None;
    }
    let real = |column: usize| row[column].parse::<f64>().ok();
    let count = |column: usize| row[column].parse().ok();
    Some(FrameStats {
        frame: count(0)?,
        time: real(1)?,
        kinetic: real(2)?,
        jitter: real(3)?,
        gravity: real(4)?,
        elastic: real(5)?,
        momentum: [real(6)?, real(7)?, real(8)?],
        angular: [real(9)?, real(10)?, real(11)?],
        contacts: count(12)?,
        penetration: real(13)?,
        strain: real(14)?,
        volume_error: real(15)?,
        joint_error: real(16)?,
        contact_iterations: count(17)?,
        contact_residual: real(18)?,
        cg_iterations: count(19)?,
        substeps: count(20)?,
        step_ms: real(21)?,
        hash: u64::from_str_radix(&row[22], 16).ok()?,
        particles: row[23].parse().ok()?,
    })
}

/// A hash as it is written everywhere: 16 hexadecimal digits.
pub fn hash_text(hash: u64) -> String {
    format!("{hash:016x}")
}

/// The shortest text that reads back as the same number, with an exponent where zeros would pile up.
pub fn exact(x: f64) -> String {
    if x == 0.0 || (1e-4..1e15).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_as_the_same_numbers() {
        let stats = FrameStats {
            frame: 12,
            time: 0.2,
            kinetic: 1.0 / 3.0,
            jitter: 2.5e-7,
            momentum: [1e-300, -0.0, 1e22],
            contacts: 9,
            step_ms: 1.25,
            hash: 0x00ab_cdef_0123_4567,
            ..FrameStats::default()
        };
        let row = to_row(&stats);
        assert_eq!(row.len(), COLUMNS.len());
        assert_eq!(row[22], "00abcdef01234567");
        assert_eq!(from_row(&csv::StringRecord::from(row)), Some(stats));
    }

    #[test]
    fn a_cut_row_is_no_row() {
        let row = to_row(&FrameStats::default());
        assert_eq!(from_row(&csv::StringRecord::from(&row[..10])), None);
    }
}
