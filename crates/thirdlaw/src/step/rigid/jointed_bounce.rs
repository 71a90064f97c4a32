//! Restitution of bodies with joints: wanted velocities of contact rows, so that joints answer together with
//! the contacts.

use super::restitution::bounce;
use super::substep::IslandScratch;
use crate::model::settings::ContactSettings;

impl IslandScratch {
    /// Speeds to leave with of points that close in this substep of `h` seconds, half of whose forces act
    /// already.
    pub(super) fn want_bounces(&mut self, settings: &ContactSettings, h: f64) {
        for row in 0..self.points.len() {
            self.points[row].bounce = 0.0;
            if self.points[row].restitution == 0.0 {
                continue;
            }
            let (before, after) = self.approach_speeds(row);
            let point = &mut self.points[row];
            let threshold = point.bounce_speed(settings);
            let lag = (0.5 * h, 0.0);
            point.bounce = bounce(point.restitution, point.gap, (before, after), lag, threshold);
        }
    }

    /// Wanted velocities of the second solve: no push, but restitution where a gap closed.
    /// Says whether any does.
    pub(super) fn relax_or_bounce(&mut self, h: f64) -> bool {
        self.relax_rows(h);
        let mut bounces = false;
        for (i, point) in self.points.iter_mut().enumerate() {
            if self.impulses[3 * i] == 0.0 {
                point.bounce = 0.0;
            }
            if point.bounce > 0.0 {
                self.problem.rows[3 * i].bias = -point.bounce;
                bounces = true;
            }
        }
        bounces
    }

    /// The impulse of a bounce says nothing about the next substep.
    pub(super) fn forget_bounces(&mut self) {
        for (i, point) in self.points.iter().enumerate() {
            if point.bounce > 0.0 {
                self.impulses[3 * i..3 * i + 3].fill(0.0);
            }
        }
    }
}
