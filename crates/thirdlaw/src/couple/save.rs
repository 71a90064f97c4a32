//! A coupling as bytes, for resuming.

use super::component::Component;
use super::coupling::Coupling;
use super::error::{CoupleError, Problem};
use super::ledger::LedgerTotals;
use super::links::tie::response::Measured;
use crate::simulator::{Failure, Motion, Response};
use serde::{Deserialize, Serialize};

/// Rises whenever a field comes, goes or changes.
const VERSION: u32 = 4;

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    time: f64,
    totals: LedgerTotals,
    /// Name and state of each simulator.
    members: Vec<(String, Vec<u8>)>,
    components: Vec<SavedComponent>,
}

/// What connected simulators carry from step to step.
#[derive(Serialize, Deserialize)]
struct SavedComponent {
    lambda: Vec<f64>,
    /// Where each tie began the last step.
    starts: Vec<Option<[Motion; 2]>>,
    contacts: Vec<SavedContact>,
}

impl SavedComponent {
    fn of(component: &Component) -> SavedComponent {
        let starts = component.ties.iter().map(|link| link.begun.then_some(link.starts));
        SavedComponent {
            lambda: component.lambda(),
            starts: starts.collect(),
            contacts: component.touches.iter().map(|c| c.saved()).collect(),
        }
    }

    fn fits(&self, component: &Component) -> bool {
        self.lambda.len() == component.lambda().len()
            && self.starts.len() == component.ties.len()
            && self.contacts.len() == component.touches.len()
            && component.touches.iter().zip(&self.contacts).all(|(c, s)| c.fits(s))
    }

    fn resume(&self, component: &mut Component) {
        component.set_lambda(&self.lambda);
        for (link, starts) in component.ties.iter_mut().zip(&self.starts) {
            link.begun = starts.is_some();
            link.starts = starts.unwrap_or(link.starts);
        }
        for (contact, saved) in component.touches.iter_mut().zip(&self.contacts) {
            contact.resume(saved);
        }
    }
}

/// What a contact carries from step to step.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedContact {
    pub switched: bool,
    pub pause: u32,
    pub surprise: f64,
    pub dt: f64,
    /// Impulse on each surface in the last step.
    pub impulses: Vec<[f64; 6]>,
    /// Responses that were measured by trying.
    pub tried: Vec<Option<Response>>,
}

impl Coupling {
    /// The state of all simulators and of what ties them, with what was measured of them: whoever
    /// loads it goes on to the same bits.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>, CoupleError> {
        let mut members = Vec::new();
        for member in &mut self.members {
            let name = member.name.clone();
            members.push((name, member.look("to_bytes", |s| s.to_bytes())?));
        }
        let saved = Saved {
            version: VERSION,
            time: self.time,
            totals: self.totals,
            members,
            components: self.components.iter().map(SavedComponent::of).collect(),
        };
        let measured: Vec<_> = self.components.iter().map(|c| &c.measured).collect();
        // numbers and names: writing them to memory cannot fail
        Ok(postcard::to_stdvec(&(saved, measured)).unwrap_or_default())
    }

    /// Takes the state from bytes of a coupling that was built by the same calls; on an error nothing
    /// is changed.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), CoupleError> {
        let refuse = |problem: &str| CoupleError::Input { field: "bytes", problem: problem.into() };
        let (saved, measured): (Saved, Vec<Option<Measured>>) =
            postcard::from_bytes(bytes).map_err(|_| refuse("are not a saved coupling"))?;
        if saved.version != VERSION {
            return Err(refuse("were written by another version"));
        }
        let names = self.members.iter().map(|m| &m.name);
        let fits = names.eq(saved.members.iter().map(|m| &m.0))
            && saved.components.len() == self.components.len()
            && measured.len() == self.components.len()
            && self.components.iter().zip(&saved.components).all(|(c, s)| s.fits(c))
            && self.components.iter().zip(&measured).all(|(c, m)| c.fits_measured(m));
        if !fits {
            return Err(refuse("belong to a coupling of other simulators"));
        }
        let mut old = Vec::new();
        for member in &mut self.members {
            old.push(member.look("to_bytes", |s| s.to_bytes())?);
        }
        for i in 0..self.members.len() {
            let took = self.members[i].ask("load", |s| s.load(&saved.members[i].1));
            let problem = match took {
                Ok(Ok(())) => continue,
                Ok(Err(Failure(message))) => {
                    self.members[i].error(Problem::Failed { during: "load", message })
                }
                Err(error) => error,
            };
            for (member, old) in self.members.iter_mut().zip(&old).take(i) {
                let _ = member.ask("load", |s| s.load(old))?;
            }
            return Err(problem);
        }
        let parts = saved.components.iter().zip(measured);
        for (component, (saved, measured)) in self.components.iter_mut().zip(parts) {
            saved.resume(component);
            component.resume_measured(measured);
        }
        (self.time, self.totals) = (saved.time, saved.totals);
        Ok(())
    }
}
