//! A simulator with a clock: hands every call on and knows how long its steps took.

use super::stages::StageTimes;
use super::{Clock, measure, read};
use std::any::Any;
use thirdlaw::math::Vec3;
use thirdlaw::simulator::{
    ContactSheet, ContactSurface, FreeHandle, HandleResponse, Motion, ObstacleMotion, Reaction,
    Simulator, SimulatorFailure, StepConstraint, Wrench,
};
use thirdlaw::{StepReport, World};

/// A simulator whose steps are measured.
pub struct Timed {
    inner: Box<dyn Simulator>,
    clock: Option<Clock>,
    /// In all steps, those taken back included, ns.
    pub spent: u64,
    /// Of all steps since it was last taken, where it is a world of ours.
    pub report: StepReport,
    /// By stage, where it is a world of ours.
    stages: StageTimes,
}

impl Timed {
    /// Measures this one.
    pub fn new(inner: Box<dyn Simulator>, clock: Option<Clock>) -> Timed {
        let (report, stages) = (StepReport::default(), StageTimes::new(clock));
        Timed { inner, clock, spent: 0, report, stages }
    }

    /// The times by stage since they were last taken.
    pub fn take_stages(&mut self) -> StageTimes {
        std::mem::replace(&mut self.stages, StageTimes::new(self.clock))
    }
}

impl Simulator for Timed {
    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        let begun = read(self.clock);
        let inner: &mut dyn Any = &mut *self.inner;
        let done = match inner.downcast_mut::<World>() {
            Some(world) => match world.step_observed(dt, &mut self.stages) {
                Ok(report) => {
                    measure::add_report(&mut self.report, &report);
                    Ok(())
                }
                Err(error) => Err(error.into()),
            },
            None => self.inner.step(dt),
        };
        self.spent += read(self.clock).saturating_sub(begun);
        done
    }

    fn inner(&self) -> Option<&dyn Simulator> {
        Some(&*self.inner)
    }
    fn inner_mut(&mut self) -> Option<&mut dyn Simulator> {
        Some(&mut *self.inner)
    }
    fn handle_count(&self) -> usize {
        self.inner.handle_count()
    }
    fn read(&self, handle: usize) -> Motion {
        self.inner.read(handle)
    }
    fn push(&mut self, handle: usize, force: Wrench) {
        self.inner.push(handle, force);
    }
    fn can_restore(&self) -> bool {
        self.inner.can_restore()
    }
    fn save(&mut self) {
        self.inner.save();
    }
    fn restore(&mut self) {
        self.inner.restore();
    }
    fn to_bytes(&self) -> Vec<u8> {
        self.inner.to_bytes()
    }
    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure> {
        self.inner.load(bytes)
    }
    fn kick(&mut self, handle: usize, impulse: Wrench) -> bool {
        self.inner.kick(handle, impulse)
    }
    fn shift(&mut self, handle: usize, way: Vec3, turn: Vec3) -> bool {
        self.inner.shift(handle, way, turn)
    }
    fn response(&self, handle: usize) -> Option<HandleResponse> {
        self.inner.response(handle)
    }
    fn free_handles(&self, out: &mut Vec<FreeHandle>) -> bool {
        self.inner.free_handles(out)
    }
    fn prescribe(&mut self, handle: usize, end: &Motion) -> bool {
        self.inner.prescribe(handle, end)
    }
    fn constraint_force(&self, handle: usize) -> Option<Wrench> {
        self.inner.constraint_force(handle)
    }
    fn constrain(&mut self, constraint: &StepConstraint) -> bool {
        self.inner.constrain(constraint)
    }
    fn multipliers(&self, constraint: usize, out: &mut [f64]) -> bool {
        self.inner.multipliers(constraint, out)
    }
    fn surfaces(&self) -> Vec<ContactSurface> {
        self.inner.surfaces()
    }
    fn add_obstacle(&mut self, surface: &ContactSurface) -> Option<usize> {
        self.inner.add_obstacle(surface)
    }
    fn move_obstacle(&mut self, obstacle: usize, motion: &ObstacleMotion) {
        self.inner.move_obstacle(obstacle, motion);
    }
    fn reaction(&self, obstacle: usize) -> Option<Reaction> {
        self.inner.reaction(obstacle)
    }
    fn pending_impulse(&self, obstacle: usize) -> Wrench {
        self.inner.pending_impulse(obstacle)
    }
    fn sheets(&self) -> Vec<ContactSheet> {
        self.inner.sheets()
    }
    fn add_sheet(&mut self, sheet: &ContactSheet) -> Option<usize> {
        self.inner.add_sheet(sheet)
    }
    fn move_sheet(&mut self, sheet: usize, starts: &[Motion], ends: &[Motion]) {
        self.inner.move_sheet(sheet, starts, ends);
    }
    fn sheet_impulses(&self, sheet: usize, impulses: &mut [Vec3]) -> bool {
        self.inner.sheet_impulses(sheet, impulses)
    }
}
