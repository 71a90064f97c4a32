//! Handles that are led by handles of other simulators: each simulator holds its part of the force
//! between them, and only motions cross.

use crate::couple::accelerate::Accelerator;
use crate::couple::component::{Component, Step, Unsettled};
use crate::couple::coupling::{Coupling, input};
use crate::couple::error::CoupleError;
use crate::couple::links::LinkKind;
use crate::couple::method::Method;
use crate::math::Vec3;
use crate::simulator::Motion;

/// A handle that is moved as a handle of another simulator moves, and pushes nothing back by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lead {
    /// Counted over all leads of the coupling.
    pub number: usize,
    /// Simulator and handle that lead.
    leader: (usize, usize),
    /// Simulator and handle that are led.
    follower: (usize, usize),
    /// Where the leader was at the beginning of the step, and where it ends.
    start: Motion,
    end: Motion,
}

impl Coupling {
    /// Lets a handle move as one of another simulator does. It pushes nothing back: for simulators
    /// that hold a part of their neighbour themselves.
    pub fn lead(
        &mut self,
        leader: (usize, usize),
        follower: (usize, usize),
    ) -> Result<(), CoupleError> {
        self.check_handle(leader.0, leader.1)?;
        self.check_handle(follower.0, follower.1)?;
        if leader.0 == follower.0 {
            return Err(input("follower", "lies in the leader's simulator"));
        }
        let sides = [leader.0, follower.0];
        self.check_mixture((LinkKind::Lead, false), sides)?;
        let mut leads = self.components.iter().flat_map(|component| &component.leads);
        if leads.any(|lead| lead.follower == follower) {
            let name = &self.members[follower.0].name;
            let problem = format!("handle {} of `{name}` is led already", follower.1);
            return Err(input("follower", problem));
        }
        let start = self.members[leader.0].read(leader.1)?;
        let member = &mut self.members[follower.0];
        let now = member.read(follower.1)?;
        member.save()?;
        let can = member.ask("prescribe", |s| s.prescribe(follower.1, &now))?;
        member.restore()?;
        if !can {
            let problem =
                format!("`{}` cannot move its handles as another simulator does", member.name);
            return Err(input("follower", problem));
        }
        let number = self.components.iter().map(|c| c.leads.len()).sum();
        self.connect(sides).leads.push(Lead { number, leader, follower, start, end: start });
        Ok(())
    }
}

impl Component {
    /// Reads where leaders begin.
    pub fn begin_leads(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        for lead in &mut self.leads {
            lead.start = step.members[lead.leader.0].read(lead.leader.1)?;
            lead.end = lead.start;
        }
        Ok(())
    }

    /// Tells a member how those of its handles move that are led.
    pub fn push_leads(&self, step: &mut Step<'_>, member: usize) {
        let led = self.leads.iter().filter(|lead| lead.follower.0 == member);
        step.members[member].prescribed.extend(led.map(|lead| (lead.follower.1, lead.end)));
    }

    /// Reads where leaders end.
    pub fn read_leads(&mut self, step: &mut Step<'_>, member: usize) -> Result<(), CoupleError> {
        for lead in self.leads.iter_mut().filter(|lead| lead.leader.0 == member) {
            lead.end = step.members[member].read(lead.leader.1)?;
        }
        Ok(())
    }

    /// One after the other with what is known of the leaders, or again and again until the motions
    /// agree.
    pub fn exchange_motions(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        let once = step.settings.method == Method::Interleaved || step.settings.spread;
        let mut accelerator = Accelerator::default();
        let mut last: Option<f64> = None;
        for _ in 0..step.settings.evaluations {
            let guess: Vec<Motion> = self.leads.iter().map(|lead| lead.end).collect();
            self.solve(step, Some(LinkKind::Lead))?;
            if once {
                return Ok(());
            }
            let ends: Vec<Motion> = self.leads.iter().map(|lead| lead.end).collect();
            let (mut x, image) = (flat(&guess), flat(&ends));
            let apart = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
            };
            let error = apart(&x, &image);
            let size = image.iter().fold(1e-9, |m: f64, x| m.max(x.abs()));
            step.report.residual = error;
            let wanted = step.settings.tolerance * size;
            step.report.contraction = last.map(|last| error / last);
            if error <= wanted {
                step.loose_contact = None;
                return Ok(());
            }
            let Lead { number, leader, follower, .. } = self.leads[0];
            let (kind, between) = (LinkKind::Lead, [leader.0, follower.0]);
            // a few units in the last place of single precision
            let coarse = wanted.max(4e-6 * size);
            let unsettled = Unsettled { kind, number, between, residual: error, wanted: coarse };
            step.loose_contact = (error > coarse).then_some(unsettled);
            last = Some(error);
            accelerator.next(step.settings.acceleration, &mut x, &image);
            for (lead, x) in self.leads.iter_mut().zip(x.chunks(6)) {
                lead.end.position = Vec3::from_slice(&x[..3]);
                lead.end.velocity.linear = Vec3::from_slice(&x[3..]);
            }
        }
        if step.report.contraction.is_some_and(|growth| growth >= 1.0) {
            let lead = &self.leads[0];
            return Err(CoupleError::Diverged {
                between: (step.name(lead.leader.0), step.name(lead.follower.0)),
                growth: step.report.contraction.unwrap_or(f64::INFINITY),
                residual: step.report.residual,
                method: step.settings.method,
            });
        }
        Ok(())
    }
}

fn flat(motions: &[Motion]) -> Vec<f64> {
    let parts = motions.iter().map(|m| (m.position.to_array(), m.velocity.linear.to_array()));
    parts.flat_map(|(x, v)| [x[0], x[1], x[2], v[0], v[1], v[2]]).collect()
}
