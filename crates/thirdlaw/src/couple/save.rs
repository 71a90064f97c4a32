//! A coupling as bytes, for resuming.

use crate::couple::coupling::Coupling;
use crate::couple::error::{CoupleError, Problem};
use crate::couple::ledger::LedgerTotals;
use crate::couple::links::tie::response::Measured;
use crate::simulator::{Failure, Motion, Response};
use serde::{Deserialize, Serialize};

/// Rises whenever a field comes, goes or changes.
const VERSION: u32 = 3;

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    time: f64,
    totals: LedgerTotals,
    lambda: Vec<f64>,
    /// Where ties began the last step.
    starts: Vec<[Motion; 2]>,
    /// Name and state of each simulator.
    members: Vec<(String, Vec<u8>)>,
    contacts: Vec<SavedContact>,
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
            lambda: self.lambda.clone(),
            starts: self.starts.clone(),
            members,
            contacts: self.contacts.iter().map(|c| c.saved()).collect(),
        };
        // numbers and names: writing them to memory cannot fail
        Ok(postcard::to_stdvec(&(saved, &self.measured)).unwrap_or_default())
    }

    /// Takes the state from bytes of a coupling that was built by the same calls; on an error nothing
    /// is changed.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), CoupleError> {
        let refuse = |problem: &str| CoupleError::Input { field: "bytes", problem: problem.into() };
        let (saved, measured): (Saved, Option<Measured>) =
            postcard::from_bytes(bytes).map_err(|_| refuse("are not a saved coupling"))?;
        if saved.version != VERSION {
            return Err(refuse("were written by another version"));
        }
        let names = self.members.iter().map(|m| &m.name);
        let fits = names.eq(saved.members.iter().map(|m| &m.0))
            && saved.lambda.len() == self.lambda.len()
            && (saved.starts.is_empty() || saved.starts.len() == self.ties.len())
            && measured.as_ref().is_none_or(|m| self.fits_measured(m))
            && saved.contacts.len() == self.contacts.len()
            && self.contacts.iter().zip(&saved.contacts).all(|(c, s)| c.fits(s));
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
        self.resume_measured(measured);
        self.starts = saved.starts;
        (self.time, self.totals, self.lambda) = (saved.time, saved.totals, saved.lambda);
        for (contact, saved) in self.contacts.iter_mut().zip(&saved.contacts) {
            contact.resume(saved);
        }
        Ok(())
    }
}
