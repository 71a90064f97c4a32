//! The impulse scheme: rigid bodies by velocity-level complementarity [tonge2012 §3].
//!
//! One step:
//!   1. pairs whose bounds come within reach            collide/broad.rs
//!   2. contact points of every pair                    collide/contacts.rs
//!   3. islands of bodies linked by contacts            step/island/
//!      and the path that each takes                    step/classify.rs
//!   4. per island, in equal substeps: forces, contact
//!      impulses with and without push, positions       step/rigid/substep/
//!      and so for most of them together                step/rigid/pile/, step/rigid/batched.rs
//!      or without contacts                             step/rigid/free.rs
//!   5. fast bodies are stopped where they first touch,
//!      quiet islands fall asleep, the result is checked
//!
//! Islands are independent: they run in parallel, and each gives the same bits whether or not others
//! exist.

pub(crate) mod batched;
pub(crate) mod continuous;
pub(crate) mod finish;
pub(crate) mod free;
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
use super::island::{Island, Islands, Linked};
use crate::collide::broad::BroadPhase;
use crate::collide::contacts::{self, ContactScratch};
use crate::ids::{JointId, PointId};
use crate::model::Model;
use crate::model::body::BodyKind;
use crate::model::joint::model::{JointModel, Node};
use crate::model::settings::Settings;
use crate::parallel::pool;
use crate::parallel::pool::prelude::*;
use crate::report::{Observer, SolvePath, Stage, StepError, StepReport};
use crate::state::State;
use crate::state::body::BodyState;
use crate::state::contact::POINTS_MAX;
use crate::state::joint::JointState;
use crate::state::point::PointState;
use pile::Piles;
use std::ops::Range;
use std::sync::Mutex;
use stopwatch::{Clock, Spent, Stopwatch};
use substep::{Changed, IslandScratch, PointImpulse, SolveTotals, solve_island};

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

/// What every island reads.
struct Shared<'a> {
    model: &'a Model,
    state: &'a State,
    settings: &'a Settings,
    dt: f64,
    islands: &'a Islands,
    plans: &'a [Plan],
    pool: &'a Mutex<Vec<IslandScratch>>,
    clock: Option<Clock>,
}

/// What one run of consecutive islands writes.
struct Output<'a> {
    bodies: &'a mut [BodyState],
    impulses: &'a mut [[PointImpulse; POINTS_MAX]],
    totals: &'a mut [SolveTotals],
    joints: &'a mut [JointState],
    points: &'a mut [PointState],
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
    let shared = Shared { model, state, settings, dt, islands, plans, pool, clock };
    let out = Output { bodies, impulses, totals, joints, points };
    let mut watch = Stopwatch::start(clock);
    let mut alone = Spent::default();
    solve_range(&shared, 0..islands.islands.len(), out);
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

/// Islands with less work than this together, in sixteenths of a contact alone, are not worth a task of
/// their own.
const TASK: usize = 16 * 64;

/// Solves consecutive islands, halving the run until the tasks are small. Those in piles wait.
fn solve_range(shared: &Shared, range: Range<usize>, mut out: Output) {
    let islands = &shared.islands.islands[range.clone()];
    let paths = || shared.plans[range.clone()].iter().map(|plan| plan.path);
    let weights = islands.iter().zip(paths()).map(|(island, path)| match path {
        SolvePath::Batched => 8 * island.contact_count,
        SolvePath::Free => 1,
        SolvePath::Pile | SolvePath::ConvergedPile | SolvePath::JointedPile => 0,
        _ => 16 * (island.contact_count + 2 * island.link_count) + 2 * island.body_count,
    });
    if islands.len() > 1 && weights.sum::<usize>() > TASK {
        let (left, _) = islands.split_at(islands.len() / 2);
        let middle = range.start + left.len();
        let (first, second) = out.split(left);
        pool::join(
            || solve_range(shared, range.start..middle, first),
            || solve_range(shared, middle..range.end, second),
        );
        return;
    }
    let Some(first) = islands.first() else { return };
    let setting = (shared.model, shared.state, shared.settings, shared.dt);
    let mut watch = Stopwatch::start(shared.clock);
    let mut scratch = None;
    for (i, (island, path)) in islands.iter().zip(paths()).enumerate() {
        if path == SolvePath::General {
            let scratch = scratch.get_or_insert_with(|| take(shared.pool));
            let members = shared.islands.members(island);
            let changed = out.of(first, island);
            out.totals[i] = solve_island(setting, members, changed, scratch, &mut watch);
        }
    }
    let abreast = islands.iter().zip(paths()).filter(|(_, path)| *path == SolvePath::Batched);
    if abreast.clone().next().is_some() {
        let scratch = scratch.get_or_insert_with(|| take(shared.pool));
        let members = abreast.clone().map(|(island, _)| shared.islands.members(island));
        let totals = batched::solve(setting, members, scratch, &mut watch);
        out.totals[0].include(&totals);
        let mut at = (0, 0);
        for (i, (island, _)) in abreast.clone().enumerate() {
            if island.carried || !scratch.energies[i].gained {
                let changed = out.of(first, island);
                scratch.write_back(shared.model, at, changed.bodies, changed.impulses);
            }
            at = (at.0 + island.body_count, at.1 + island.contact_count);
        }
        let mut batched = 0;
        for (i, (island, path)) in islands.iter().zip(paths()).enumerate() {
            if path != SolvePath::Batched {
                continue;
            }
            if !island.carried && scratch.energies[batched].gained {
                let members = shared.islands.members(island);
                let changed = out.of(first, island);
                let totals = solve_island(setting, members, changed, scratch, &mut watch);
                out.totals[i].include(&totals);
                (out.totals[i].path, out.totals[i].again) = (totals.path, true);
            }
            batched += 1;
        }
    }
    if let Some(scratch) = scratch {
        give_back(shared.pool, scratch);
    }
    watch.lap();
    for (island, path) in islands.iter().zip(paths()) {
        if path == SolvePath::Free {
            let slot = shared.islands.bodies[island.body_start];
            let body = &mut out.bodies[island.body_start - first.body_start];
            free::fly(setting, &shared.model.bodies[slot as usize], body);
        }
    }
    out.totals[0].spent.integrate += watch.lap();
}

impl<'a> Output<'a> {
    /// What an island writes; the output begins with that of `first`.
    fn of(&mut self, first: &Island, island: &Island) -> Changed<'_> {
        Changed {
            bodies: &mut self.bodies[island.body_start - first.body_start..][..island.body_count],
            impulses: &mut self.impulses[island.contact_start - first.contact_start..]
                [..island.contact_count],
            joints: &mut self.joints[island.link_start - first.link_start..][..island.link_count],
            points: &mut self.points[island.point_start - first.point_start..]
                [..island.point_count],
        }
    }

    /// What these first islands write, and the rest.
    fn split(self, islands: &[Island]) -> (Output<'a>, Output<'a>) {
        let count = |f: fn(&Island) -> usize| islands.iter().map(f).sum();
        let (bodies, bodies_rest) = self.bodies.split_at_mut(count(|i| i.body_count));
        let (impulses, impulses_rest) = self.impulses.split_at_mut(count(|i| i.contact_count));
        let (joints, joints_rest) = self.joints.split_at_mut(count(|i| i.link_count));
        let (points, points_rest) = self.points.split_at_mut(count(|i| i.point_count));
        let (totals, totals_rest) = self.totals.split_at_mut(islands.len());
        (
            Output { bodies, impulses, totals, joints, points },
            Output {
                bodies: bodies_rest,
                impulses: impulses_rest,
                totals: totals_rest,
                joints: joints_rest,
                points: points_rest,
            },
        )
    }
}

fn take(pool: &Mutex<Vec<IslandScratch>>) -> IslandScratch {
    pool.lock().ok().and_then(|mut pool| pool.pop()).unwrap_or_default()
}

fn give_back(pool: &Mutex<Vec<IslandScratch>>, scratch: IslandScratch) {
    if let Ok(mut pool) = pool.lock() {
        pool.push(scratch);
    }
}
