//! Handles that are led by handles of other simulators: each simulator holds its part of the force
//! between them, and only motions cross.

use crate::couple::coupling::Coupling;
use crate::couple::error::CoupleError;
use crate::couple::ledger::CouplingReport;
use crate::couple::settings::Method;
use crate::math::Vec3;
use crate::simulator::Motion;

impl Coupling {
    /// Steps a member from its saved state under what ties and contacts ask of it.
    pub(crate) fn step_alone(
        &mut self,
        member: usize,
        dt: f64,
        lambda: &[f64],
    ) -> Result<(), CoupleError> {
        self.members[member].restore()?;
        self.push_ties(member, lambda, |_, _| true);
        self.load_contacts(member, dt)?;
        self.members[member].advance(dt)?;
        self.read_ties(member)?;
        self.read_contacts(member)
    }

    /// One after the other with what is known of the leaders, or again and again until the motions
    /// agree.
    pub(crate) fn exchange_motions(
        &mut self,
        dt: f64,
        report: &mut CouplingReport,
    ) -> Result<(), CoupleError> {
        let once = self.settings.method == Method::Interleaved || self.settings.spread;
        let mut ends: Vec<Motion> = self.leads.iter().map(|l| l.start).collect();
        self.accelerator.reset();
        let mut last: Option<f64> = None;
        for _ in 0..self.settings.evaluations {
            let guess = ends.clone();
            for member in 0..self.members.len() {
                let led = self.leads.iter().any(|l| l.leader.0 == member || l.follower.0 == member);
                if !led {
                    continue;
                }
                self.members[member].restore()?;
                for (lead, end) in self.leads.iter().zip(&ends) {
                    if lead.follower.0 == member {
                        self.members[member].prescribed.push((lead.follower.1, *end));
                    }
                }
                self.members[member].advance(dt)?;
                for (lead, end) in self.leads.iter().zip(&mut ends) {
                    if lead.leader.0 == member {
                        *end = self.members[member].read(lead.leader.1)?;
                    }
                }
            }
            report.evaluations += 1;
            if once {
                return Ok(());
            }
            let (mut x, image) = (flat(&guess), flat(&ends));
            let apart = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
            };
            let error = apart(&x, &image);
            let size = image.iter().fold(1e-9, |m: f64, x| m.max(x.abs()));
            report.residual = error;
            report.converged = error <= self.settings.tolerance * size;
            report.contraction = last.map(|last| error / last);
            if report.converged {
                return Ok(());
            }
            last = Some(error);
            self.accelerator.next(self.settings.acceleration, &mut x, &image);
            for (end, x) in ends.iter_mut().zip(x.chunks(6)) {
                end.position = Vec3::from_slice(&x[..3]);
                end.velocity.linear = Vec3::from_slice(&x[3..]);
            }
        }
        if report.contraction.is_some_and(|growth| growth >= 1.0) {
            let name = |m: usize| self.members[m].name.clone();
            let lead = &self.leads[0];
            return Err(CoupleError::Diverged {
                between: (name(lead.leader.0), name(lead.follower.0)),
                growth: report.contraction.unwrap_or(f64::INFINITY),
                residual: report.residual,
            });
        }
        Ok(())
    }
}

fn flat(motions: &[Motion]) -> Vec<f64> {
    let parts = motions.iter().map(|m| (m.position.to_array(), m.velocity.linear.to_array()));
    parts.flat_map(|(x, v)| [x[0], x[1], x[2], v[0], v[1], v[2]]).collect()
}
