//! One cloth step: the system, its constraints, its solution.

use super::balance::{Balance, Parts, Reined};
use super::constraints::Constraints;
use super::crossings::Stops;
use super::linear::Linear;
use super::near::{Contacts, Prediction};
use super::solids::Solids;
use super::solution::Solution;
use super::solver::{Aim, Solver};
use super::touch::Span;
use super::volume::Volumes;
use crate::collide::deformable::Detector;
use crate::linalg::block::vector;
use crate::linalg::filter::NONE;
use crate::linalg::pcg;
use crate::math::Vec3;
use crate::model::Model;
use crate::model::deformable::model::Sheet;
use crate::model::settings::{ClothForces, SelfCollision, Settings};
use crate::report::{Observer, Stage};
use crate::state::{State, body::BodyState};

/// Most that a body may turn in a cloth step while it touches cloth, rad. Corners go straight in a
/// step; where friction holds one, the way beside the arc comes back as energy.
const TURN_MAX: f64 = 0.1;
/// Part of the tolerance to which rounds of Newton's method are solved where cloth is free: they do not
/// start from what moves, and a rough solution would take motion out.
const FINER: f64 = 0.1;
/// Rounds that take in what the linearization left out of the last one.
const CORRECTIONS: u32 = 3;
/// Rounds added while particles still come into solids.
const EXTRA_ROUNDS: u32 = 4;
/// Depth in a solid to which a step must not bring triangles, m: bodies that slide along cloth leave the
/// planes that keep them apart.
const DEEP: f64 = 1.5e-3;
/// The same of vertices, m.
const DEEP_VERTEX: f64 = 0.5e-3;
/// Steps are not divided for it more often than this: what is squeezed between solids has nowhere to
/// go.
const DEEP_LEVEL: u32 = 4;
/// How many times the rise of strain that refuses a step refuses it after the first round: more rounds
/// would not bring it down so far.
pub(super) const TORN: f64 = 10.0;
/// Residual, relative to that of the beginning, with which a round counts as failed.
const POOR: f64 = 0.1;
/// What it takes to try a step, to solve a round besides its iterations, and to look for crossings, in iterations of
/// conjugate gradients.
const TRY_WORK: u32 = 50;
pub(super) const ROUND_WORK: u32 = 10;
const SWEEP_WORK: u32 = 50;
/// How often a step is solved again because cloth would cross cloth.
const CROSSING_TRIES: u32 = 3;

/// What holds for all cloth steps of a step of the world.
pub struct Context<'a> {
    pub model: &'a Model,
    pub settings: &'a Settings,
    /// Length of the world's step, s.
    pub dt: f64,
    /// Time at its beginning, s.
    pub time: f64,
    /// Whether search directions are multiplied in single precision.
    pub narrow: bool,
    /// Steady forces on particles, N.
    pub pushed: &'a [(u32, Vec3)],
}

/// How a cloth step went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attempt {
    pub iterations: u32,
    /// All work besides, in what iterations take.
    pub work: u32,
    pub overstretched: bool,
    /// Conjugate gradients did not get there.
    pub failed: bool,
    /// Newton's method did not get on.
    pub stuck: bool,
    /// The last solve ended by its limit of iterations, or rounds by theirs.
    pub unfinished: bool,
    /// Cloth would pass through cloth.
    pub crossed: bool,
    /// Cloth would come deep into a solid.
    pub deep: bool,
    /// It would make energy.
    pub makes: bool,
    /// It went a part of its way only, for that.
    pub reined: bool,
    /// Not even cloth that stops agrees with what drives it.
    pub hopeless: bool,
    /// Pairs that impulses stopped.
    pub impacts: u32,
    /// Particles that moved in rigid zones.
    pub in_zones: u32,
}

impl Attempt {
    /// Whether nothing speaks against it so far.
    fn is_fair(&self) -> bool {
        !(self.failed || self.stuck || self.overstretched)
    }
}

/// A cloth step that is tried: what all its stages read.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    pub context: &'a Context<'a>,
    /// As it is at the beginning.
    pub state: &'a State,
    pub span: &'a Span,
}

impl<'a> Trial<'a> {
    /// All deformable objects.
    pub fn sheet(&self) -> &'a Sheet {
        &self.context.model.sheet
    }
}

/// Memory of a cloth step, by what its stages change.
#[derive(Debug, Default)]
pub struct Work {
    /// Bodies near cloth.
    pub(super) solids: Solids,
    /// Finds what is near, and keeps how deep cloth was in solids at the beginning of the step.
    detector: Detector,
    pub(super) contacts: Contacts,
    pub(super) linear: Linear,
    pub(super) constraints: Constraints,
    pub(super) solver: Solver,
    pub(super) solution: Solution,
    stops: Stops,
    volumes: Volumes,
    /// Largest strain at the beginning of the step and at the end of the last attempt.
    pub(super) strain: f64,
    strain_after: f64,
    /// Energy of the elements at the beginning of the step, J, once it was asked for.
    elastic: Option<f64>,
    /// Energy owed after the last attempt, J.
    owed: f64,
    /// Residual at the beginning of the step.
    reference: f64,
    /// Whether so much work was done in this step of the world that no more than needed is to follow.
    pub(super) hurried: bool,
}

impl Work {
    /// At the beginning of the world's step: which bodies are near.
    pub fn begin(&mut self, context: &Context, state: &State, starts: &[BodyState]) {
        self.solver.begin();
        self.elastic = None;
        let (mut lo, mut hi) = (Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY));
        let mut fastest: f64 = 0.0;
        for (x, v) in state.particles.x.iter().zip(&state.particles.v) {
            (lo, hi) = (lo.min(*x), hi.max(*x));
            fastest = fastest.max(v.length_squared());
        }
        let dt = context.dt;
        let travel = dt * (fastest.sqrt() + dt * context.settings.gravity.length());
        let margin = Vec3::splat(travel + context.model.sheet.edge_length);
        let pushes = &state.cloth.pushes;
        let push = |slot: u32| {
            let found = pushes.binary_search_by_key(&slot, |p| p.0);
            found.map_or([Vec3::ZERO; 2], |i| pushes[i].1)
        };
        let span = (lo - margin, hi + margin);
        self.solids.gather(context.model, (starts, &state.bodies), span, push);
        self.strain = context.model.sheet.elements.largest_strain(&state.particles.x);
    }

    /// Tries a cloth step over these shares of the world's step, the smallest there is if `last`; the
    /// state is not changed.
    pub fn attempt(
        &mut self,
        context: &Context,
        state: &State,
        share: (f64, f64),
        last: bool,
        observer: &mut dyn Observer,
    ) -> Attempt {
        let h = (share.1 - share.0) * context.dt;
        let span = Span {
            h,
            push_speed: context.settings.contact.push_speed,
            creep_speed: (0.02 * h * context.settings.gravity.length()).max(1e-4),
            turns: context.settings.cloth.forces == ClothForces::Solved,
        };
        let trial = Trial { context, state, span: &span };
        let time = (context.time, context.dt);
        self.solids.place(context.model, time, share);

        observer.begin(Stage::ClothForces);
        self.linear.form(&trial);
        self.volumes.begin(&trial, &mut self.linear);
        self.solution.begin(&trial);
        observer.end(Stage::ClothForces);

        let Work { solids, detector, contacts, linear, solution, .. } = self;
        observer.begin(Stage::ClothSolids);
        let prediction = Prediction { solids, linear, solution };
        contacts.find_touches(&trial, &prediction, detector);
        contacts.find_features(&trial, &prediction, detector);
        observer.end(Stage::ClothSolids);
        observer.begin(Stage::ClothCloth);
        contacts.find_layers(&trial, &prediction, detector);
        observer.end(Stage::ClothCloth);

        if !last && self.spins(context.model, h) {
            return Attempt { failed: true, ..Attempt::default() };
        }
        let mut attempt = self.solve(&trial, share.1, last, true, observer);
        attempt.work += TRY_WORK;
        // looking for crossings on wild ways takes longer than all else, and tells nothing
        let most = context.settings.cloth.strain_step;
        let strain = trial.sheet().elements.largest_strain(&self.solution.x1);
        attempt.overstretched |= rises(self.strain, strain, most);
        if (attempt.stuck || attempt.overstretched) && !last {
            return attempt;
        }
        if attempt.failed && !last {
            return attempt;
        }
        self.weigh(&trial, last, &mut attempt);
        if attempt.makes && !last {
            return attempt;
        }
        let found = attempt.iterations;
        if trial.sheet().self_collision && !attempt.failed && !attempt.reined {
            self.add_crossings(&trial, (share.1, last), &mut attempt, observer);
        }
        if attempt.crossed || (attempt.failed && last) {
            self.prevent_crossings(&trial, &mut attempt, observer);
        }
        if !attempt.failed && !attempt.crossed && state.cloth.level < DEEP_LEVEL {
            observer.begin(Stage::ClothSolids);
            let Work { solids, detector, contacts, solution, .. } = self;
            let (vertices, triangles) = contacts.depth_after(&trial, solids, solution, detector);
            let before = detector.depth;
            attempt.deep = (triangles > DEEP && triangles > before + 0.2 * DEEP)
                || (vertices > DEEP_VERTEX && vertices > before + 0.2 * DEEP_VERTEX);
            observer.end(Stage::ClothSolids);
        }
        if attempt.iterations > found || attempt.impacts + attempt.in_zones > 0 {
            self.weigh(&trial, last, &mut attempt);
        }
        self.strain_after = trial.sheet().elements.largest_strain(&self.solution.x1);
        attempt.overstretched = rises(self.strain, self.strain_after, most);
        attempt
    }

    /// Looks at the balance of energy. Where it does not hold and no shorter step is left, the step goes as far
    /// as it does.
    fn weigh(&mut self, trial: &Trial, last: bool, attempt: &mut Attempt) {
        // the work of pressures and of what brings volumes back is not told apart from what is made
        if !trial.sheet().rings.is_empty() {
            return;
        }
        let owed = trial.state.cloth.owed;
        let Work { linear, solids, contacts, constraints, volumes, solution, .. } = self;
        let x0 = &trial.state.particles.x;
        let before = *self.elastic.get_or_insert_with(|| linear.elastic(trial, x0));
        let parts = Parts { solids, contacts, constraints, volumes, solution };
        let mut balance = Balance::of(trial, linear, before, &parts);
        attempt.makes = balance.breaks(owed, last);
        if attempt.makes && last {
            let mut reined = Reined { solids, contacts, constraints, volumes, solution };
            let (left, holds) = reined.rein_in(trial, linear, before, owed);
            (balance, attempt.reined, attempt.hopeless) = (left, true, !holds);
        }
        self.owed = balance.owed(owed);
    }

    /// Takes in pairs that would cross, and solves again, a few times.
    fn add_crossings(
        &mut self,
        trial: &Trial,
        (end, last): (f64, bool),
        attempt: &mut Attempt,
        observer: &mut dyn Observer,
    ) {
        for tries in 0..=CROSSING_TRIES {
            observer.begin(Stage::ClothCloth);
            let Work { solids, detector, contacts, linear, solution, .. } = self;
            let prediction = Prediction { solids, linear, solution };
            attempt.crossed = contacts.add_crossings(trial, &prediction, detector);
            let found = detector.found.len() / trial.state.particles.x.len().max(1);
            attempt.work += SWEEP_WORK * (1 + found as u32);
            observer.end(Stage::ClothCloth);
            if !attempt.crossed || tries == CROSSING_TRIES {
                break;
            }
            let more = self.solve(trial, end, last, false, observer);
            attempt.iterations += more.iterations;
            attempt.work += more.work;
            attempt.failed = more.failed;
            attempt.unfinished |= more.unfinished;
            if more.failed {
                break;
            }
        }
    }

    /// Stops what would still pass, where settings ask for that.
    fn prevent_crossings(
        &mut self,
        trial: &Trial,
        attempt: &mut Attempt,
        observer: &mut dyn Observer,
    ) {
        let robust = trial.context.settings.cloth.self_collision == SelfCollision::Robust;
        if !robust || !trial.sheet().self_collision {
            return;
        }
        observer.begin(Stage::ClothCloth);
        let Work { detector, solution, stops, .. } = self;
        let report = stops.prevent_crossings(trial, detector, solution);
        attempt.crossed = !report.clear;
        (attempt.impacts, attempt.in_zones) = (report.impacts as u32, report.in_zones as u32);
        observer.end(Stage::ClothCloth);
    }

    /// Whether a body turns so far in the step that what touches at its beginning says nothing
    /// about its end.
    fn spins(&self, model: &Model, h: f64) -> bool {
        let turns = |solid: u32| {
            solid != NONE && {
                let solid = &self.solids.list[solid as usize];
                let round = |slot: u32| model.bodies[slot as usize].shape.is_sphere();
                solid.unknown != NONE
                    && h * solid.velocity.angular.length() > TURN_MAX
                    && !round(solid.slot)
            }
        };
        let Contacts { pairs, touches, .. } = &self.contacts;
        pairs.iter().any(|p| turns(p.solid)) || touches.iter().any(|t| turns(t.solid))
    }

    /// Solves until the volumes of what is incompressible agree as well.
    fn solve(
        &mut self,
        trial: &Trial,
        end: f64,
        last: bool,
        fresh: bool,
        observer: &mut dyn Observer,
    ) -> Attempt {
        let mut attempt = self.rounds(trial, end, last, fresh, observer);
        if trial.sheet().rings.is_empty() {
            return attempt;
        }
        while attempt.is_fair() {
            let Work { volumes, linear, constraints, solids, solution, .. } = self;
            if !volumes.press(trial, linear, (constraints, solids), solution) {
                break;
            }
            let more = self.rounds(trial, end, last, false, observer);
            let (iterations, work) = (attempt.iterations, attempt.work);
            attempt = Attempt {
                iterations: iterations + more.iterations,
                work: work + more.work,
                ..more
            };
        }
        if attempt.is_fair() || last {
            // a step that must be taken keeps its volumes, too
            let Work { volumes, constraints, solids, solution, .. } = self;
            let report = volumes.project(trial, (constraints, solids), solution);
            attempt.iterations += report.iterations;
        }
        attempt
    }

    /// Solves until constraints and contacts agree with what they lead to, or for so many rounds.
    fn rounds(
        &mut self,
        trial: &Trial,
        end: f64,
        last: bool,
        fresh: bool,
        observer: &mut dyn Observer,
    ) -> Attempt {
        let settings = &trial.context.settings.cloth;
        if settings.forces == ClothForces::Solved && !self.contacts.plain {
            return self.solved_rounds(trial, end, last, fresh, observer);
        }
        let Work { solids, contacts, linear, constraints, solver, solution, .. } = self;
        let mut attempt = Attempt::default();
        let mut reference = if fresh { 0.0 } else { self.reference };
        let mut changed = true;
        let followed = settings.forces == ClothForces::Followed && !contacts.plain;
        let mut newton = false;
        let usual = settings.rounds.max(1);
        for round in 0..usual + EXTRA_ROUNDS {
            // past the usual rounds only for particles that just came in
            if round >= usual && !contacts.entered && !newton {
                break;
            }
            observer.begin(Stage::ClothForces);
            attempt.work += ROUND_WORK;
            let first = fresh && round == 0;
            let bent = if newton {
                linear.relinearize(trial, solution);
                true
            } else {
                // a few corrections settle it; more could swing up where cloth is crumpled
                fresh && followed && round < CORRECTIONS && linear.overshoot(trial, solution, first)
            };
            observer.end(Stage::ClothForces);
            if round > 0 && !changed && !bent {
                break;
            }
            observer.begin(Stage::ClothSolve);
            constraints.set(trial, end, solids, contacts, linear);
            let finer = if newton && contacts.touches.is_empty() { FINER } else { 1.0 };
            let aim = Aim { first, reference, finer };
            let outcome = solver.solve(trial, linear, constraints, solution, &aim);
            attempt.iterations += outcome.iterations;
            attempt.unfinished = outcome.iterations >= settings.iterations
                && outcome.end > settings.tolerance * outcome.reference;
            if first {
                reference = outcome.reference;
                self.reference = reference;
            }
            attempt.failed = outcome.end.is_nan() || outcome.end > POOR * reference;
            if attempt.failed {
                break;
            }
            if newton {
                attempt.stuck = !solution.search(trial, linear, constraints, f64::INFINITY);
            } else {
                solution.place(trial);
            }
            observer.end(Stage::ClothSolve);
            if first && !last {
                let strain = trial.sheet().elements.largest_strain(&solution.x1);
                attempt.overstretched = rises(self.strain, strain, TORN * settings.strain_step);
                if attempt.overstretched {
                    break;
                }
            }
            observer.begin(Stage::ClothSolids);
            changed = contacts.judge(trial, solids, linear, constraints, solution);
            observer.end(Stage::ClothSolids);
            let settled = newton && !changed && outcome.iterations == 0;
            attempt.stuck &= !settled;
            if settled || attempt.stuck {
                break;
            }
            // with bodies among the unknowns a new start disturbs what lies still on the cloth
            let alone = solids.unknowns.is_empty();
            let corrected = round + 1 == CORRECTIONS || !changed;
            if fresh && followed && alone && !newton && corrected {
                observer.begin(Stage::ClothForces);
                let goal = settings.tolerance * reference;
                newton = solution.makes_energy(trial, linear, constraints, goal);
                observer.end(Stage::ClothForces);
            }
        }
        attempt
    }

    /// Takes over what the last attempt found.
    pub fn accept(&mut self, context: &Context, state: &mut State, share: (f64, f64)) {
        let h = (share.1 - share.0) * context.dt;
        state.particles.x.copy_from_slice(&self.solution.x1);
        for ((v, u), alter) in
            state.particles.v.iter_mut().zip(&self.solution.u).zip(&self.constraints.alter)
        {
            *v = vector(u) - *alter / h;
        }
        for (v, kick) in state.particles.v.iter_mut().zip(&self.volumes.kick) {
            *v += *kick;
        }
        for (unknown, delta) in self.solids.unknowns.iter_mut().zip(&self.solution.u_bodies) {
            let momentum = pcg::body_momentum(&unknown.mass, delta);
            for k in 0..2 {
                unknown.impulse[k] += momentum[k] + h * unknown.expected[k];
                unknown.change[k] += delta[k];
                unknown.drift[k] += h * unknown.change[k];
            }
        }
        for (unknown, kick) in self.solids.unknowns.iter_mut().zip(&self.volumes.kick_bodies) {
            let momentum = pcg::body_momentum(&unknown.mass, kick);
            for k in 0..2 {
                unknown.impulse[k] += momentum[k];
                unknown.change[k] += kick[k];
            }
        }
        self.volumes.keep(&context.model.sheet, state);
        for solid in self.solids.list.iter().filter(|s| s.unknown != NONE) {
            let drift = &mut self.solids.unknowns[solid.unknown as usize].drift;
            drift[0] += solid.extra[0];
            drift[1] += solid.extra[1];
        }
        let touches = &mut state.cloth.touches;
        touches.clear();
        touches.extend(
            self.contacts.touches.iter().filter(|t| t.active).map(|t| t.last(&self.solids, h)),
        );
        let pairs = &mut state.cloth.pairs;
        pairs.clear();
        pairs.extend(self.contacts.pairs.iter().filter_map(|p| p.last(h)));
        pairs.sort_unstable_by_key(|p| (p.kind, p.feature, p.body));
        pairs.dedup_by_key(|p| (p.kind, p.feature, p.body));
        state.cloth.pins.clone_from(&self.constraints.pins);
        self.strain = self.strain_after;
        (self.elastic, state.cloth.owed) = (None, self.owed);
    }

    /// The particle that solids press hardest, and the slot of the body that does; the fastest one where
    /// nothing presses.
    pub fn hardest(&self, state: &State) -> (usize, Option<u32>) {
        let pressed = self.contacts.touches.iter().filter(|t| t.active && t.pressure > 0.0);
        if let Some(touch) = pressed.max_by(|a, b| a.pressure.total_cmp(&b.pressure)) {
            let slot = self.solids.list[touch.solid as usize].slot;
            return (touch.particle as usize, Some(slot));
        }
        let speeds = state.particles.v.iter().map(|v| v.length_squared()).enumerate();
        (speeds.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |fastest| fastest.0), None)
    }

    /// At the end of the world's step: bodies get what cloth did to them.
    pub fn finish(&mut self, context: &Context, state: &mut State) {
        state.cloth.pushes.clear();
        for unknown in &self.solids.unknowns {
            let still = [unknown.change, unknown.drift, unknown.expected];
            if still == [[Vec3::ZERO; 2]; 3] {
                continue;
            }
            let force = unknown.impulse.map(|i| i / context.dt);
            if force != [Vec3::ZERO; 2] {
                state.cloth.pushes.push((unknown.slot, force));
            }
            let body = &mut state.bodies[unknown.slot as usize];
            body.velocity.linear += unknown.change[0];
            body.velocity.angular += unknown.change[1];
            body.position += unknown.drift[0];
            if unknown.drift[1] != Vec3::ZERO {
                let turn = crate::math::rotation_from_vector(unknown.drift[1]);
                body.rotation = (turn * body.rotation).normalize();
            }
            body.asleep = false;
            body.quiet = 0.0;
        }
    }
}

/// Whether strain rises by more than it may; by one that is not a number, it does.
pub(super) fn rises(before: f64, after: f64, most: f64) -> bool {
    let rise = after - before;
    rise.is_nan() || rise > most
}
