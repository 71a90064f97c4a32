//! Sheets of one simulator that something of another bounces off, particles say [baraff1997 §4.2].
//!
//! The follower learns how every vertex moves over the step and reports what each was pushed with; the
//! owner's vertices get that at once, at the end of the step. Nothing is iterated: whoever bounces off a
//! sheet takes its vertices for point masses, and does not ask how they go on.

use crate::couple::component::{Component, Step};
use crate::couple::coupling::{Coupling, input};
use crate::couple::error::{CoupleError, SimulatorProblem};
use crate::couple::ledger::LedgerEntry;
use crate::couple::member::{Member, between};
use crate::math::Vec3;
use crate::simulator::{ContactSheet, Motion, Wrench};

/// A sheet of one simulator in another.
#[derive(Clone, Debug)]
pub(crate) struct SheetMirror {
    /// Its number at the follower.
    pub sheet: usize,
    /// The owner's handles.
    pub handles: Vec<usize>,
    pub starts: Vec<Motion>,
    pub ends: Vec<Motion>,
    /// What each vertex was pushed with, N·s.
    pub impulses: Vec<Vec3>,
}

/// A sheet that a member follows through the coming step, and what struck its vertices there.
#[derive(Clone, Debug)]
pub(crate) struct SheetMotion {
    sheet: usize,
    starts: Vec<Motion>,
    ends: Vec<Motion>,
    pub impulses: Vec<Vec3>,
}

impl SheetMirror {
    /// Takes in a sheet whose number at the follower is known.
    pub fn new(
        sheet: usize,
        of: &ContactSheet,
        owner: &Member,
    ) -> Result<SheetMirror, CoupleError> {
        let handles = of.handles.clone();
        let starts = read(&handles, owner)?;
        let impulses = vec![Vec3::ZERO; handles.len()];
        Ok(SheetMirror { sheet, handles, ends: starts.clone(), starts, impulses })
    }

    /// Reads where its vertices begin.
    pub fn begin(&mut self, owner: &Member) -> Result<(), CoupleError> {
        self.starts = read(&self.handles, owner)?;
        self.ends.clone_from(&self.starts);
        self.impulses.fill(Vec3::ZERO);
        Ok(())
    }

    /// Reads where they end.
    pub fn end(&mut self, owner: &Member) -> Result<(), CoupleError> {
        self.ends = read(&self.handles, owner)?;
        Ok(())
    }

    /// What a follower has to know.
    pub fn motion(&self) -> SheetMotion {
        SheetMotion {
            sheet: self.sheet,
            starts: self.starts.clone(),
            ends: self.ends.clone(),
            impulses: vec![Vec3::ZERO; self.impulses.len()],
        }
    }

    /// Books what crossed: owner first, follower second.
    pub fn book(&self, entry: &mut LedgerEntry, dt: f64) {
        for ((start, end), force) in self.starts.iter().zip(&self.ends).zip(&self.impulses) {
            if *force != Vec3::ZERO {
                let impulse = Wrench { force: *force, torque: Vec3::ZERO };
                entry.book(0, impulse, start, end, dt);
                entry.book(1, impulse.scaled(-1.0), start, end, dt);
            }
        }
    }
}

fn read(handles: &[usize], owner: &Member) -> Result<Vec<Motion>, CoupleError> {
    handles.iter().map(|handle| owner.read(*handle)).collect()
}

impl Member {
    /// Its sheets, checked.
    pub fn own_sheets(&self) -> Result<Vec<ContactSheet>, CoupleError> {
        let sheets = self.look("sheets", |s| s.sheets())?;
        let handles = sheets.iter().flat_map(|s| &s.handles);
        let found = handles.max().map_or(0, |h| h + 1);
        let expected = self.handle_count();
        if found > expected {
            return Err(self.error(SimulatorProblem::HandleCount { expected, found }));
        }
        Ok(sheets)
    }

    /// Says how sheets move in a part of the step, from one share of it to another.
    pub fn send_sheets(&mut self, dt: f64, (from, to): (f64, f64)) -> Result<(), CoupleError> {
        let sheets = std::mem::take(&mut self.sheets);
        for motion in &sheets {
            let at = |share: f64| -> Vec<Motion> {
                let ways = motion.starts.iter().zip(&motion.ends);
                ways.map(|(start, end)| between(start, end, dt, share)).collect()
            };
            let (starts, ends) = (at(from), at(to));
            self.ask("move_sheet", |s| s.move_sheet(motion.sheet, &starts, &ends))?;
        }
        self.sheets = sheets;
        Ok(())
    }

    /// Adds up what struck sheets in a part of the step.
    pub fn gather_sheets(&mut self) -> Result<(), CoupleError> {
        let mut sheets = std::mem::take(&mut self.sheets);
        for motion in &mut sheets {
            let impulses = &mut motion.impulses;
            if !self.look("sheet_impulses", |s| s.sheet_impulses(motion.sheet, impulses))? {
                return Err(
                    self.error(SimulatorProblem::BrokenPromise { promise: "follow sheets" })
                );
            }
            if let Some(handle) = motion.impulses.iter().position(|impulse| !impulse.is_finite()) {
                return Err(self.error(SimulatorProblem::NotFinite { handle }));
            }
        }
        self.sheets = sheets;
        Ok(())
    }
}

impl Coupling {
    /// Makes sheets of one simulator known to another. `None` where there are none or it cannot
    /// follow them; then it knows none of them.
    pub(crate) fn sheet_mirrors(
        &mut self,
        follower: usize,
        owner: usize,
    ) -> Result<Option<Vec<SheetMirror>>, CoupleError> {
        let sheets = self.members[owner].own_sheets()?;
        let mut mirrors = Vec::new();
        for sheet in &sheets {
            let taken = self.members[follower].ask("add_sheet", |s| s.add_sheet(sheet))?;
            let Some(number) = taken else { return Ok(None) };
            let owner = &mut self.members[owner];
            owner.save()?;
            for &handle in &sheet.handles {
                if !owner.ask("kick", |s| s.kick(handle, Wrench::ZERO))? {
                    let problem = format!("vertices of `{}` cannot be kicked", owner.name);
                    return Err(input("simulator", problem));
                }
            }
            owner.restore()?;
            mirrors.push(SheetMirror::new(number, sheet, owner)?);
        }
        Ok((!mirrors.is_empty()).then_some(mirrors))
    }
}

impl Component {
    /// Gives the vertices of sheets what they were pushed with, once everything else has settled.
    pub fn kick_sheets(&self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        for contact in &self.touches {
            let owner = &mut step.members[contact.owner];
            for mirror in &contact.sheets {
                let struck = mirror.handles.iter().zip(&mirror.impulses);
                for (&handle, &force) in struck.filter(|(_, force)| **force != Vec3::ZERO) {
                    let impulse = Wrench { force, torque: Vec3::ZERO };
                    owner.settle_impulse(handle, impulse)?;
                }
            }
        }
        Ok(())
    }
}
