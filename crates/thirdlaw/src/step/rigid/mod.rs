//! The impulse scheme: rigid bodies by velocity-level complementarity [tonge2012 §3].
//!
//! One step:
//!   1. pairs whose bounds come within reach            collide/broad.rs
//!   2. contact points of every pair                    collide/contacts.rs
//!   3. islands of bodies linked by contacts            step/island/
//!      and the path that each takes                    step/classify.rs
//!   4. batches of islands, in equal substeps: forces,   step/rigid/batch.rs
//!      contact impulses with and without push, and
//!      positions                                       step/rigid/substep/
//!      and so for most of them together                step/rigid/pile/, step/rigid/batched.rs
//!      or without contacts                             step/rigid/free.rs
//!   5. fast bodies are stopped where they first touch,
//!      quiet islands fall asleep, the result is checked
//!
//! Islands are independent: they run in parallel, and each gives the same bits whether or not others
//! exist.

mod batch;
pub(crate) mod batched;
pub(crate) mod continuous;
pub(crate) mod finish;
pub(crate) mod free;
mod general;
mod hooked;
pub(crate) mod jointed;
mod jointed_books;
pub(crate) mod jointed_bounce;
pub(crate) mod jointed_contacts;
pub(crate) mod jointed_rows;
pub(crate) mod jointed_through;
pub(crate) mod kinematic;
pub(crate) mod next_problem;
mod parts;
pub(crate) mod pile;
pub(crate) mod reduced;
pub(crate) mod restitution;
pub(crate) mod sleep;
mod soft_joints;
pub(crate) mod stopwatch;
pub(crate) mod substep;

use super::classify::{Facts, classify};
use super::island::{Islands, Linked};
use crate::collide::broad::BroadPhase;
use crate::collide::contacts::{self, ContactScratch};
use crate::ids::{JointId, PointId};
use crate::model::Model;
use crate::model::body::BodyKind;
use crate::model::joint::model::{JointModel, Node};
use crate::model::settings::Settings;
use crate::parallel::pool::prelude::*;
use crate::report::{Observer, SolvePath, Stage, StepError, StepReport};
use crate::state::State;
use crate::state::body::BodyState;
use crate::state::contact::POINTS_MAX;
use crate::state::joint::JointState;
use crate::state::point::PointState;
use batch::{Batch, Output};
use pile::Piles;
use std::sync::Mutex;
use stopwatch::{Clock, Spent, Stopwatch};
use substep::{IslandScratch, PointImpulse, SolveTotals};

/// Bodies that a thread goes through at least.
const TOGETHER: usize = 512;

/// Islands that a thread judges at least.
const JUDGED: usize = 64;

/// How an island is solved, and what that was decided by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub path: SolvePath,
    pub facts: Facts,
}

/// Memory reused between steps.
#[derive(Debug, Default)]
pub struct Scratch {
    broad: BroadPhase,
    contacts: ContactScratch,
    pub(super) islands: Islands,
    /// How each island is solved.
    plans: Vec<Plan>,
    piles: Piles,
    pool: Mutex<Vec<IslandScratch>>,
    bodies: Vec<BodyState>,
    impulses: Vec<[PointImpulse; POINTS_MAX]>,
    totals: Vec<SolveTotals>,
    seen: Vec<finish::Seen>,
    joints: Vec<JointState>,
    points: Vec<PointState>,
    /// Pairs of bodies that a joint or a hook keeps from touching, ordered.
    apart: Vec<(u32, u32)>,
}

impl Clone for Scratch {
    /// Scratch memory holds nothing worth copying.
    fn clone(&self) -> Self {
        Scratch::default()
    }
}

/// Advances `state` by `dt` seconds, in as many parts as small bodies ask for.
pub fn step(
    model: &Model,
    state: &mut State,
    settings: &Settings,
    dt: f64,
    scratch: &mut Scratch,
    observer: &mut dyn Observer,
) -> Result<StepReport, StepError> {
    let parts = parts::count(model, state, settings, dt);
    if parts == 1 {
        return advance(model, state, settings, dt, scratch, observer);
    }
    let (time, number) = (state.time, state.step);
    let each = Settings { substeps: settings.substeps.div_ceil(parts), ..*settings };
    let mut whole = StepReport::default();
    for part in 0..parts {
        let made = advance(model, state, &each, dt / f64::from(parts), scratch, observer);
        state.step = number;
        let report = made.inspect_err(|_| state.time = time)?;
        whole = if part == 0 { report } else { whole.followed_by(report) };
    }
    (state.time, state.step) = (time + dt, number.wrapping_add(1));
    Ok(whole)
}

/// Advances `state` by `dt` seconds with one set of contacts.
fn advance(
    model: &Model,
    state: &mut State,
    settings: &Settings,
    dt: f64,
    scratch: &mut Scratch,
    observer: &mut dyn Observer,
) -> Result<StepReport, StepError> {
    check_finite(model, state)?;

    detect(model, state, settings, dt, scratch, observer);

    observer.begin(Stage::Solve);
    let clock = observer.clock();
    let spent = solve_islands((model, state, settings, dt), scratch, clock);
    state.runs.clear();
    observer.end(Stage::Solve);
    if clock.is_some() {
        observer.divide(Stage::Integrate, spent.share());
    }

    observer.begin(Stage::Finish);
    let mut report = report(settings, scratch);
    let Scratch { broad, islands, bodies, seen, apart, .. } = scratch;
    // on a failure the clock stays, so that further attempts name the same step
    let end = (model, &mut *state, settings, dt);
    finish::finish(end, (islands, bodies), (broad, apart), seen, &mut report)?;
    state.time += dt;
    state.substep = dt / f64::from(settings.substeps);
    state.step = state.step.wrapping_add(1);
    observer.end(Stage::Finish);
    Ok(report)
}

/// Pairs, contacts, islands.
pub(super) fn detect(
    model: &Model,
    state: &mut State,
    settings: &Settings,
    dt: f64,
    scratch: &mut Scratch,
    observer: &mut dyn Observer,
) {
    observer.begin(Stage::BroadPhase);
    set_kinematic_velocities(model, state, dt);
    scratch.broad.update(model, state, (dt, settings.gravity));
    if settings.continuous {
        scratch.broad.look_ahead(dt);
    }
    keep_apart(model, state, scratch);
    observer.end(Stage::BroadPhase);

    observer.begin(Stage::NarrowPhase);
    let lengths = (dt, dt / f64::from(settings.substeps));
    contacts::update(model, state, &mut scratch.broad, lengths, &mut scratch.contacts);
    if let Some(hook) = &model.contact_hook {
        hooked::judge(&**hook, model, state, &mut scratch.apart);
    }
    observer.end(Stage::NarrowPhase);

    observer.begin(Stage::Islands);
    scratch.islands.build(model, state);
    observer.end(Stage::Islands);
}

/// Takes out the pairs that an unbroken joint, or a user's own hook, keeps from touching.
fn keep_apart(model: &Model, state: &State, scratch: &mut Scratch) {
    scratch.apart.clear();
    let joints = model.joints.iter().zip(&state.joints);
    scratch.apart.extend(joints.filter_map(|(joint, now)| joint.apart(now.broken)));
    if let Some(hook) = &model.contact_hook {
        hooked::leave_out(&**hook, (model, state), &scratch.broad, &mut scratch.apart);
    }
    if !scratch.apart.is_empty() {
        scratch.apart.sort_unstable();
        scratch.broad.leave_out(&scratch.apart);
    }
}

/// Names the first body whose state is not finite.
pub(super) fn check_finite(model: &Model, state: &State) -> Result<(), StepError> {
    let bodies = state.bodies.par_iter().zip(&model.bodies).with_min_len(TOGETHER);
    let broken = bodies.position_first(|(now, body)| !now.is_finite() && body.alive);
    if let Some(i) = broken {
        let (step, time) = (state.step, state.time);
        let joint = joint_of(model, i);
        return Err(StepError::NotFinite { body: model.id(i), joint, step, time });
    }
    for (i, point) in state.points.iter().enumerate() {
        let model = &model.points[i];
        if model.alive && !point.is_finite() {
            let point = PointId { index: i as u32, generation: model.generation };
            return Err(StepError::PointNotFinite { point, step: state.step, time: state.time });
        }
    }
    Ok(())
}

/// A joint of a body: one with a drive, else any.
fn joint_of(model: &Model, body: usize) -> Option<JointId> {
    let holds =
        |joint: &JointModel| joint.alive && [joint.a, joint.b].contains(&Node::Body(body as u32));
    let joints = || model.joints.iter().enumerate().filter(|(_, joint)| holds(joint));
    let driven = |joint: &JointModel| joint.joint.axes.iter().any(|axis| axis.drive.is_some());
    let found = joints().find(|(_, joint)| driven(joint)).or_else(|| joints().next());
    found.map(|(i, joint)| JointId { index: i as u32, generation: joint.generation })
}

/// Keyframed bodies get the mean velocity of this step, by which neighbours judge them.
fn set_kinematic_velocities(model: &Model, state: &mut State, dt: f64) {
    let time = state.time;
    let bodies = model.bodies.par_iter().zip(&mut state.bodies).with_min_len(TOGETHER);
    bodies.for_each(|(body, now)| {
        if body.alive && body.kind == BodyKind::Kinematic && !body.motion.keys.is_empty() {
            now.velocity = kinematic::keyframe_velocity(body, now, time + dt, dt);
        }
    });
}

fn report(settings: &Settings, scratch: &Scratch) -> StepReport {
    let mut report = StepReport {
        contacts: scratch.islands.contact_points,
        islands: scratch.islands.islands.len() as u32,
        substeps: settings.substeps,
        ..StepReport::default()
    };
    for totals in &scratch.totals {
        report.contact_iterations = report.contact_iterations.max(totals.iterations);
        report.contact_residual = report.contact_residual.max(totals.residual);
        report.unconverged += totals.unconverged;
        report.joint_work += totals.joint_work;
        report.reduced_substeps += totals.reduced;
    }
    for (plan, totals) in scratch.plans.iter().zip(&scratch.totals) {
        let general = plan.path == SolvePath::General || totals.again;
        let path = if general { totals.path } else { plan.path };
        report.paths.count(path, 1);
    }
    report
}

/// Returns what integrating took of its time.
fn solve_islands(
    (model, state, settings, dt): (&Model, &mut State, &Settings, f64),
    scratch: &mut Scratch,
    clock: Option<Clock>,
) -> Spent {
    let Scratch { islands, plans, piles, pool, bodies, impulses, totals, joints, points, .. } =
        scratch;
    bodies.clear();
    let slots = islands.bodies.par_iter().with_min_len(TOGETHER);
    bodies.par_extend(slots.map(|&slot| state.bodies[slot as usize]));
    // what they hold is of no matter: islands outside piles fill in all of their own
    impulses.resize(islands.contacts.len(), Default::default());
    totals.clear();
    totals.resize(islands.islands.len(), SolveTotals::default());
    joints.clear();
    joints.resize(islands.links.len(), JointState::default());
    points.clear();
    points.resize(islands.points.len(), PointState::default());

    let setting = (model, &*state, settings, dt);
    plans.clear();
    plans.par_extend(islands.islands.par_iter().with_min_len(JUDGED).map(|island| {
        let facts = Facts::of(model, state, island, &islands.members(island));
        Plan { path: classify(&facts, settings, dt), facts }
    }));
    piles.collect(setting, islands, plans);
    let out = Output { bodies, impulses, totals, joints, points };
    let mut watch = Stopwatch::start(clock);
    let mut alone = Spent::default();
    Batch::whole(setting, islands, plans, out).advance(pool, clock);
    totals.iter().for_each(|totals| alone.add(&totals.spent));
    watch.divided(&alone);
    if !piles.is_empty() {
        // piles hand their contacts the impulses themselves
        let mut contacts = std::mem::take(&mut state.contacts);
        let setting = (model, &*state, settings, dt);
        piles.solve(setting, bodies, &mut contacts, joints, &mut watch);
        state.contacts = contacts;
        totals.extend(piles.totals());
    }

    for (&link, solved) in islands.links.iter().zip(joints.iter()) {
        if let Linked::Joint(slot) = link {
            state.joints[slot as usize] = *solved;
        }
    }
    for (&slot, point) in islands.points.iter().zip(points.iter()) {
        state.points.set(slot as usize, *point);
    }
    // piles have handed their contacts the impulses themselves
    let alone = |plan: &Plan| matches!(plan.path, SolvePath::General | SolvePath::Batched);
    for (island, _) in islands.islands.iter().zip(plans).filter(|(_, plan)| alone(plan)) {
        let own = island.contact_start..island.contact_start + island.contact_count;
        for (touch, solved) in islands.contacts[own.clone()].iter().zip(&impulses[own]) {
            let impulses = &mut state.contacts[touch.index as usize].impulses;
            impulses.normal = solved.map(|point| point.normal);
            impulses.friction = solved.map(|point| point.friction);
        }
    }
    watch.spent
}
