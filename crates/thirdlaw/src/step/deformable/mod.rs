//! Large steps in cloth simulation (baraff1998): implicit cloth against moving solids.
//!
//! One step of the world is one cloth step, or several where the strain check asks for it. Each
//! solves, by backward Euler with f linearized at x₀,
//!
//!   (M − h ∂f/∂v − h² ∂f/∂x) Δv = h (f₀ + h ∂f/∂x v₀ + ∂f/∂x y),   Δx = h (v₀ + Δv) + y.
//!
//! Written for u = v₀ + Δv + y/h, the velocity by which positions move, it is A u = b with
//! A = M + hD + h²K and b = M v₀ + h f(x₀) + M y/h: the position alteration y only changes the right
//! side and what constraints prescribe. (Damping then sees y/h as motion, too.) The velocity kept is
//! u − y/h.
//!
//!   1. near solids are placed                                     solids.rs
//!   2. forces and matrix of all elements                          linear.rs, energy/assemble.rs
//!   3. what is near: touches and pairs                            near.rs, collide/deformable/
//!   4. in a few rounds: constraints → filter S, z, y → conjugate
//!      gradients → constraint forces → constraints                constraints.rs, solver.rs
//!      (by Newton's method where that would make energy)          newton.rs
//!      or to an error of velocities, with a sparse factor         solved.rs
//!      and with the motion of each cloth as a whole corrected     collective.rs
//!      with pressures, where volumes are kept                       volume.rs, contact/incompressible.rs
//!      what makes energy out of nothing is refused, or goes less far balance.rs
//!   5. what would pass is stopped, where settings ask for it       crossings.rs, contact/robust/
//!      stretched too much at once? back to 1 with half the step
//!   6. positions, velocities, and what pushes the bodies back
//!
//! Contacts by themselves are in `touch.rs` (particles on solids), `friction.rs` and `layers.rs` (pairs
//! of several particles); `system.rs` is the step, and shows by & and &mut what each stage reads and
//! changes.

mod balance;
mod collective;
mod constraints;
mod crossings;
mod friction;
pub mod layers;
mod linear;
mod near;
mod newton;
pub mod solids;
mod solution;
mod solved;
mod solver;
mod system;
pub mod touch;
mod volume;

use crate::math::Vec3;
use crate::model::Model;
use crate::model::settings::{ClothSettings, ClothSolver, Precision, Settings};
use crate::parallel::loops::awake;
use crate::parallel::pool;
use crate::report::{Observer, StepError, StepReport};
use crate::state::{State, body::BodyState};
use system::{Context, Work};

/// Memory reused between steps.
#[derive(Debug, Default)]
pub struct Scratch {
    work: Work,
    starts: Vec<BodyState>,
    /// Steady forces on vertices in this step, N.
    pushed: Vec<(u32, Vec3)>,
}

impl Clone for Scratch {
    /// Scratch memory holds nothing worth copying.
    fn clone(&self) -> Self {
        Scratch::default()
    }
}

/// Smallest tolerance to which directions multiplied in `f32` get as well as in `f64`.
const SINGLE_TOLERANCE: f64 = 1e-3;
/// Largest stiffness in a step relative to mass at which `f32` is enough.
const SINGLE_RATIO: f64 = 1e6;
/// Steps of a frame are never divided further than by two to this power; longer ones are, as far as
/// it takes to make steps of that length, or to `LEVEL_LIMIT`.
const LEVEL_MAX: u32 = 5;
const LEVEL_LIMIT: u32 = 14;
/// Length of a frame, s.
const FRAME: f64 = 1.0 / 50.0;
/// Particles that are worth a thread.
const HELPED: usize = 1000;
/// Iterations in a frame after which steps are taken as they come, those that are to be solved to an error in few
/// rounds: what has not come out by then will not, and the report says so.
const WORK_MAX: u32 = 20_000;
/// How many times that ends the step with an error, at the usual iterations and rounds, tries and rounds and looks
/// for crossings counted as the iterations that they take as long as.
const HOPELESS: f64 = 3.0;
/// Fewest accepted steps before a larger one is tried.
const WAIT_MIN: u32 = 2;
/// Most accepted steps before a larger one is tried.
const WAIT_MAX: u32 = 16;

impl Scratch {
    /// At the beginning of a step: forces on vertices that others ask for.
    pub fn take_pushes(&mut self, pushes: &mut Vec<(u32, Vec3)>) {
        self.pushed.clear();
        self.pushed.append(pushes);
    }

    /// Before the rigid step: bodies feel what cloth pushed them with in the last step, and their
    /// start is kept.
    pub fn before_bodies(&mut self, model: &Model, state: &mut State) {
        self.starts.clear();
        if model.sheet.is_empty() {
            return;
        }
        self.starts.extend_from_slice(&state.bodies);
        for &(slot, [force, torque]) in &state.cloth.pushes {
            let Some(body) = state.bodies.get_mut(slot as usize) else { continue };
            body.push.force += force;
            body.push.torque += torque;
            body.quiet = 0.0;
            body.asleep = false;
        }
    }
}

/// Advances all cloth by the world's step of `dt` seconds, which the bodies have just made.
pub fn step(
    model: &Model,
    state: &mut State,
    settings: &Settings,
    dt: f64,
    scratch: &mut Scratch,
    report: &mut StepReport,
    observer: &mut dyn Observer,
) -> Result<(), StepError> {
    if model.sheet.is_empty() {
        return Ok(());
    }
    let Scratch { work, starts, pushed } = scratch;
    let narrow = match settings.cloth.precision {
        Precision::Auto => {
            settings.cloth.solver == ClothSolver::Filtered
                && settings.cloth.tolerance >= SINGLE_TOLERANCE
                && model.sheet.stiffness_ratio(dt) <= SINGLE_RATIO
        }
        Precision::Single => true,
        Precision::Double => false,
    };
    let context = Context { model, settings, dt, time: state.time - dt, narrow, pushed };
    let helpers = (state.particles.x.len() / HELPED).min(pool::current_num_threads()).max(1) - 1;
    awake(helpers, || advance(&context, state, starts, work, report, observer))?;
    check_finite(model, state)
}

/// The cloth steps of one step of the world.
fn advance(
    context: &Context,
    state: &mut State,
    starts: &[BodyState],
    work: &mut Work,
    report: &mut StepReport,
    observer: &mut dyn Observer,
) -> Result<(), StepError> {
    work.begin(context, state, starts);
    // time in ticks of the smallest step, so that it adds up exactly
    let mut deepest = LEVEL_MAX;
    while deepest < LEVEL_LIMIT && context.dt > FRAME * f64::from(1_u32 << (deepest - LEVEL_MAX)) {
        deepest += 1;
    }
    let whole = 1_u32 << deepest;
    let mut tick = 0;
    let before = report.cg_iterations;
    let mut besides = 0;
    let allowed = f64::from(WORK_MAX) * (context.dt / FRAME).max(1.0);
    let hopeless = HOPELESS * allowed * patience(&context.settings.cloth);
    state.cloth.level = state.cloth.level.min(deepest);
    state.cloth.wait = state.cloth.wait.clamp(WAIT_MIN, WAIT_MAX);
    while tick < whole {
        let length = whole >> state.cloth.level;
        let share = |tick: u32| f64::from(tick) / f64::from(whole);
        let spent = report.cg_iterations - before;
        work.hurried = f64::from(spent) > allowed;
        if f64::from(spent + besides) > hopeless {
            return Err(unsolved(context, state, work, spent + besides));
        }
        let smallest = state.cloth.level == deepest || work.hurried;
        let span = (share(tick), share(tick + length));
        let mut outcome = work.attempt(context, state, span, smallest, observer);
        report.cg_iterations += outcome.iterations;
        besides += outcome.work;
        let mut poor = outcome.failed || outcome.stuck;
        if poor && smallest {
            // no shorter step is left: without friction and without what the last step knew a step
            // always comes out
            work.contacts.plain = true;
            outcome = work.attempt(context, state, span, smallest, observer);
            work.contacts.plain = false;
            report.cg_iterations += outcome.iterations;
            besides += outcome.work;
            poor = outcome.failed || outcome.stuck;
        }
        let refused =
            outcome.overstretched || outcome.crossed || poor || outcome.deep || outcome.makes;
        if outcome.hopeless {
            return Err(unsolved(context, state, work, spent + besides));
        }
        if refused && !smallest {
            report.rejected += 1;
            // failing right after a larger step was tried: wait longer before the next try
            state.cloth.wait = if state.cloth.successes == 0 {
                (2 * state.cloth.wait).min(WAIT_MAX)
            } else {
                WAIT_MIN
            };
            state.cloth.level += 1;
            state.cloth.successes = 0;
            continue;
        }
        work.accept(context, state, (share(tick), share(tick + length)));
        report.cloth_steps += 1;
        report.unfinished += u32::from(outcome.unfinished || outcome.reined || poor);
        report.reined += u32::from(outcome.reined);
        report.impacts += outcome.impacts;
        report.in_zones += outcome.in_zones;
        report.smallest_step = if report.smallest_step == 0.0 {
            share(length) * context.dt
        } else {
            report.smallest_step.min(share(length) * context.dt)
        };
        report.largest_step = report.largest_step.max(share(length) * context.dt);
        tick += length;
        state.cloth.successes += 1;
        // a larger step must begin where larger steps begin
        let aligned = tick % (2 * length) == 0;
        if state.cloth.level > 0 && state.cloth.successes >= state.cloth.wait && aligned {
            state.cloth.level -= 1;
            state.cloth.successes = 0;
        }
    }
    [report.cloth_solves, report.cloth_factors] = work.solver.counts;
    work.finish(context, state);
    Ok(())
}

/// How many times the usual work the settings ask for.
fn patience(settings: &ClothSettings) -> f64 {
    let usual = ClothSettings::default();
    let times = |asked: u32, usual: u32| (f64::from(asked) / f64::from(usual)).max(1.0);
    times(settings.iterations, usual.iterations) * times(settings.rounds, usual.rounds)
}

/// Names where the work went: the particle that solids press hardest, or the fastest one.
fn unsolved(context: &Context, state: &State, work: &Work, iterations: u32) -> StepError {
    let Context { model, dt, .. } = *context;
    let (vertex, body) = work.hardest(state);
    let mut owners = model.cloths.iter().enumerate().filter(|(_, c)| c.alive);
    let (slot, cloth) = match owners.find(|(_, c)| c.range().contains(&vertex)) {
        Some((slot, cloth)) => (slot, vertex as u32 - cloth.first),
        None => (0, vertex as u32),
    };
    StepError::ClothUnsolved {
        cloth: model.cloth_id(slot),
        vertex: cloth,
        body: body.map(|slot| model.id(slot as usize)),
        iterations,
        step: state.step,
        time: state.time - dt,
    }
}

/// Names the first cloth whose state is not finite.
pub fn check_finite(model: &Model, state: &State) -> Result<(), StepError> {
    let sane = |v: &Vec3| v.abs().max_element() < 1e100 && !v.is_nan();
    for (slot, cloth) in model.cloths.iter().enumerate().filter(|(_, c)| c.alive) {
        for i in cloth.range() {
            if !sane(&state.particles.x[i]) || !sane(&state.particles.v[i]) {
                return Err(StepError::ClothNotFinite {
                    cloth: model.cloth_id(slot),
                    vertex: i as u32 - cloth.first,
                    step: state.step,
                    time: state.time,
                });
            }
        }
    }
    Ok(())
}
