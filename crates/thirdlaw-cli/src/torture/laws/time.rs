//! No frame takes longer than what it holds justifies: time of the computing thread, per contact, joint,
//! triangle and vertex. Limits are some ten times what frames of today take, so that a busy or slow machine
//! does not break them and a search that goes wrong does.

use super::{Case, Verdict};

/// Of every frame, s.
const FRAME: f64 = 0.02;
/// Per contact point, s.
const CONTACT: f64 = 2e-3;
/// Per joint, s.
const JOINT: f64 = 4e-3;
/// Per body, s.
const BODY: f64 = 1e-3;
/// Per triangle of a mesh, s.
const TRIANGLE: f64 = 5e-5;
/// Per vertex of cloth, s.
const VERTEX: f64 = 2e-3;
/// Times that a step of coupled simulators may be made again, at most.
const AGAIN: f64 = 60.0;
/// Per substep beyond eight, as a share of the rest.
const SUBSTEPS: f64 = 1.0 / 8.0;

/// Whether no frame took too long.
pub fn judge(case: &Case) -> Verdict {
    let trace = case.trace;
    let triangles: usize = trace.bodies.iter().map(|b| b.triangles).sum();
    let fixed = FRAME
        + BODY * trace.bodies.len() as f64
        + JOINT * trace.joints.len() as f64
        + TRIANGLE * triangles as f64;
    let longer = SUBSTEPS * f64::from(case.sketch.substeps.max(8));
    let longer = longer * if case.sketch.partition.is_whole() { 1.0 } else { AGAIN };
    for (number, frame) in trace.frames.iter().enumerate() {
        let contacts = CONTACT * f64::from(frame.report.contacts);
        let limit = longer * (fixed + contacts + VERTEX * frame.vertices.len() as f64);
        if frame.seconds > limit {
            return Verdict::Failed(format!(
                "frame {number} took {:.3} s, more than {limit:.3} s, with {} contacts",
                frame.seconds, frame.report.contacts
            ));
        }
    }
    Verdict::Held
}
