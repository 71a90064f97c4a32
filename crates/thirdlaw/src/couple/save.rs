//! A coupling as bytes, for resuming.
//!
//! Layout: magic, format version, length and checksum of the body, then the body in postcard's encoding.
//! Everything is checked before anything is used.

use super::component::Component;
use super::coupling::Coupling;
use super::error::{CoupleError, SavedProblem, SimulatorProblem};
use super::ledger::LedgerTotals;
use super::links::tie::TieLink;
use super::links::tie::response::Measured;
use super::parts::HALVINGS;
use crate::math::Quat;
use crate::simulator::{HandleResponse, Motion, SimulatorFailure};
use crate::state::snapshot::checksum;
use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 8] = b"3rdlink\n";
/// Rises whenever a field comes, goes or changes.
const VERSION: u32 = 6;
const HEADER: usize = 8 + 4 + 8 + 8;

#[derive(Serialize, Deserialize)]
struct Saved {
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
    /// Where each tie began the last step, and in which axes its λ was sought.
    starts: Vec<Option<([Motion; 2], Option<Quat>)>>,
    /// How often the last step was halved.
    halvings: u32,
    contacts: Vec<SavedContact>,
}

impl SavedComponent {
    fn of(component: &Component) -> SavedComponent {
        let axes = |link: &TieLink| link.light.map(|_| link.axes);
        let starts = |link: &TieLink| link.begun.then(|| (link.starts, axes(link)));
        let starts = component.ties.iter().map(starts);
        SavedComponent {
            lambda: component.lambda(),
            starts: starts.collect(),
            halvings: component.halvings,
            contacts: component.touches.iter().map(|c| c.saved()).collect(),
        }
    }

    fn fits(&self, component: &Component) -> bool {
        self.lambda.len() == component.lambda().len()
            && self.starts.len() == component.ties.len()
            && self.halvings <= HALVINGS
            && self.contacts.len() == component.touches.len()
            && component.touches.iter().zip(&self.contacts).all(|(c, s)| c.fits(s))
    }

    fn resume(&self, component: &mut Component) {
        component.set_lambda(&self.lambda);
        component.halvings = self.halvings;
        for (link, starts) in component.ties.iter_mut().zip(&self.starts) {
            link.begun = starts.is_some();
            let (starts, axes) = starts.unwrap_or((link.starts, None));
            link.starts = starts;
            // which side it is does not matter: it is looked up at the beginning of a step
            link.light = axes.map(|_| 0);
            link.axes = axes.unwrap_or(Quat::IDENTITY);
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
    pub tried: Vec<Option<HandleResponse>>,
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
            time: self.time,
            totals: self.totals,
            members,
            components: self.components.iter().map(SavedComponent::of).collect(),
        };
        let measured: Vec<_> = self.components.iter().map(|c| &c.measured).collect();
        // numbers and names: writing them to memory cannot fail
        let body = postcard::to_stdvec(&(saved, measured)).unwrap_or_default();
        Ok(sealed(&body))
    }

    /// Takes the state from bytes of a coupling that was built by the same calls; on an error nothing
    /// is changed.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), CoupleError> {
        let body = unsealed(bytes).map_err(CoupleError::Saved)?;
        // the checksum is right: what does not fit now was meant otherwise
        let (saved, measured): (Saved, Vec<Option<Measured>>) =
            match postcard::take_from_bytes(body) {
                Ok((read, [])) => read,
                _ => return Err(CoupleError::Saved(SavedProblem::Layout)),
            };
        let names = self.members.iter().map(|m| &m.name);
        let fits = names.eq(saved.members.iter().map(|m| &m.0))
            && saved.components.len() == self.components.len()
            && measured.len() == self.components.len()
            && self.components.iter().zip(&saved.components).all(|(c, s)| s.fits(c))
            && self.components.iter().zip(&measured).all(|(c, m)| c.fits_measured(m));
        if !fits {
            return Err(CoupleError::Saved(SavedProblem::OtherCoupling));
        }
        let mut old = Vec::new();
        for member in &mut self.members {
            old.push(member.look("to_bytes", |s| s.to_bytes())?);
        }
        for i in 0..self.members.len() {
            let took = self.members[i].ask("load", |s| s.load(&saved.members[i].1));
            let problem = match took {
                Ok(Ok(())) => continue,
                Ok(Err(SimulatorFailure(message))) => {
                    self.members[i].error(SimulatorProblem::Failed { during: "load", message })
                }
                Err(error) => error,
            };
            // this one, too: it may have panicked half way. Whoever does not go back is named later
            for (member, old) in self.members.iter_mut().zip(&old).take(i + 1) {
                let _ = member.ask("load", |s| s.load(old));
            }
            return Err(problem);
        }
        let parts = saved.components.iter().zip(measured);
        for (component, (saved, measured)) in self.components.iter_mut().zip(parts) {
            saved.resume(component);
            component.measured = measured;
        }
        (self.time, self.totals) = (saved.time, saved.totals);
        Ok(())
    }
}

fn sealed(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&checksum(body).to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// The body of what [`sealed`] wrote, if it is whole.
fn unsealed(bytes: &[u8]) -> Result<&[u8], SavedProblem> {
    let short = SavedProblem::Damaged("it is cut short");
    let (header, body) = bytes.split_at_checked(HEADER).ok_or(short.clone())?;
    let number = |range: std::ops::Range<usize>| -> u64 {
        header[range].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    };
    if &header[..8] != MAGIC {
        return Err(SavedProblem::Damaged("it does not begin like a coupling"));
    }
    let found = number(8..12) as u32;
    if found != VERSION {
        return Err(SavedProblem::Version { found, expected: VERSION });
    }
    if number(12..20) != body.len() as u64 {
        return Err(short);
    }
    if number(20..28) != checksum(body) {
        return Err(SavedProblem::Damaged("its checksum is wrong"));
    }
    Ok(body)
}
