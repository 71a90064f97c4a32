//! What is measured of each frame, and how the reports of its steps add up.

use super::FrameReport;
use thirdlaw::{StepReport, World, measure};
use thirdlaw_scene::FrameStats;

/// Measures the world at the end of a frame; `hash` is that of the whole state.
pub fn measure_frame(frame: u32, world: &World, report: &FrameReport, hash: u64) -> FrameStats {
    let FrameReport { steps: report, step_ms, .. } = report;
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
        volume_error: measure::volume_error(world),
        joint_error: measure::joint_error(world),
        contact_iterations: report.contact_iterations,
        contact_residual: report.contact_residual,
        cg_iterations: report.cg_iterations,
        // where there is cloth, how often its strain made it step is what tells
        substeps: if report.cloth_steps > 0 { report.cloth_steps } else { report.substeps },
        step_ms: *step_ms,
        hash,
        particles: world.state().streams.count() as u64,
        paths: report.paths,
        unfinished: report.unfinished,
    }
}

/// Adds the report of one more step of the same frame: work is summed, the worst error kept, and
/// what describes a moment is taken from the later step.
pub fn add_report(sum: &mut StepReport, step: &StepReport) {
    let mut paths = sum.paths;
    paths.add(&step.paths);
    *sum = StepReport {
        paths,
        contact_iterations: sum.contact_iterations + step.contact_iterations,
        contact_residual: sum.contact_residual.max(step.contact_residual),
        substeps: sum.substeps + step.substeps,
        swept: sum.swept + step.swept,
        cg_iterations: sum.cg_iterations + step.cg_iterations,
        cloth_steps: sum.cloth_steps + step.cloth_steps,
        rejected: sum.rejected + step.rejected,
        unfinished: sum.unfinished + step.unfinished,
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
