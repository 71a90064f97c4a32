//! One cloth step: the system, its constraints, its solution.

use super::layers::Pair;
use super::newton::Motion;
use super::solids::Solids;
use super::touch::{Span, SurfaceDrag, Touch};
use crate::collide::deformable::Detector;
use crate::energy::Contributions;
use crate::math::Vec3;
use crate::model::Model;
use crate::settings::{ClothForces, Settings};
use crate::solve::block::{Block, Lane, vector};
use crate::solve::filter::{Filter, Hold, NONE};
use crate::solve::multilevel::Multilevel;
use crate::solve::narrow::Narrow;
use crate::solve::pcg;
use crate::solve::stencil::Stencils;
use crate::state::{BodyState, State};
use crate::world::{Observer, Stage};

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
const TORN: f64 = 10.0;
/// Residual, relative to that of the beginning, with which a round counts as failed.
const POOR: f64 = 0.1;
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
}

/// How a cloth step went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attempt {
    pub iterations: u32,
    pub overstretched: bool,
    /// Conjugate gradients did not get there.
    pub failed: bool,
    /// Newton's method did not get on.
    pub stuck: bool,
    /// Cloth would pass through cloth.
    pub crossed: bool,
    /// Cloth would come deep into a solid.
    pub deep: bool,
}

/// Memory of a cloth step.
#[derive(Debug, Default)]
pub struct Work {
    pub(super) solids: Solids,
    pub(super) parts: Contributions,
    pub(super) blocks: Vec<Block<f64>>,
    /// Whether the matrix has changed since it was last preconditioned.
    pub(super) renewed: bool,
    /// Mass and drag of each particle, which the blocks of its row sum to.
    pub(super) own: Vec<Block<f64>>,
    pub(super) forces: Vec<Vec3>,
    pub(super) stencils: Stencils<f64>,
    pub(super) filter: Filter<f64>,
    pub(super) numbers: Multilevel<f64>,
    /// The matrix of search directions.
    pub(super) narrow: Narrow,
    pub(super) pcg: pcg::Scratch<f64>,
    pub(super) b: Vec<Lane<f64>>,
    pub(super) u: Vec<Lane<f64>>,
    /// Right side without constraints, N·s.
    pub(super) base: Vec<Vec3>,
    /// Its part that does not come from elements, of particles and of bodies.
    pub(super) given: Vec<Vec3>,
    pub(super) given_bodies: Vec<[Vec3; 2]>,
    /// Where a round began.
    pub(super) from: Motion,
    /// Forces that the linearization leaves out, N.
    pub(super) turned: Vec<Vec3>,
    /// Position alteration, m, and friction, N·s, of constrained particles.
    pub(super) alter: Vec<Vec3>,
    pub(super) push: Vec<Vec3>,
    pub(super) x1: Vec<Vec3>,
    pub(super) touches: Vec<Touch>,
    pub(super) pairs: Vec<Pair>,
    /// Finds what is near, and keeps how deep cloth was in solids at the beginning of the step.
    pub(super) detector: Detector,
    pub(super) holds: Vec<Hold>,
    pub(super) drags: Vec<SurfaceDrag>,
    /// Particles with drags, and their diagonal blocks and sums as they were before.
    pub(super) undragged: Vec<(u32, Block<f64>, Block<f64>)>,
    pub(super) drag: Vec<f64>,
    pub(super) b_bodies: Vec<[Vec3; 2]>,
    pub(super) u_bodies: Vec<[Vec3; 2]>,
    pub(super) masses: Vec<crate::contact::BodyMass>,
    /// Largest strain at the beginning of the step and at the end of the last attempt.
    pub(super) strain: f64,
    pub(super) strain_after: f64,
    /// Whether the last round took particles into a solid.
    pub(super) entered: bool,
    /// Residual at the beginning of the step.
    pub(super) reference: f64,
    /// Residual to which conjugate gradients went.
    pub(super) goal: f64,
    /// Force on each pinned particle, N.
    pub(super) pins: Vec<(u32, Vec3)>,
    /// Whether contacts have no friction and no memory, and forces are linear.
    pub(super) plain: bool,
}

impl Work {
    /// At the beginning of the world's step: which bodies are near.
    pub fn begin(&mut self, context: &Context, state: &State, starts: &[BodyState]) {
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
        let sheet = &*context.model.sheet;
        let h = (share.1 - share.0) * context.dt;
        let span = Span {
            h,
            push_speed: context.settings.contact.push_speed,
            creep_speed: (0.02 * h * context.settings.gravity.length()).max(1e-4),
        };
        let time = (context.time, context.dt);
        self.solids.place(context.model, time, share);

        observer.begin(Stage::ClothForces);
        self.form(context, state, h);
        observer.end(Stage::ClothForces);

        observer.begin(Stage::ClothSolids);
        self.find_touches(context, state, &span);
        self.find_features(context, state, &span);
        observer.end(Stage::ClothSolids);
        observer.begin(Stage::ClothCloth);
        self.find_layers(context, state, &span);
        observer.end(Stage::ClothCloth);

        if !last && self.spins(context.model, h) {
            return Attempt { failed: true, ..Attempt::default() };
        }
        let mut attempt = self.rounds(context, state, (share.1, last), &span, true, observer);
        if (attempt.stuck || attempt.overstretched) && !last {
            return attempt;
        }
        if sheet.self_collision && !attempt.failed {
            for tries in 0..=CROSSING_TRIES {
                observer.begin(Stage::ClothCloth);
                attempt.crossed = self.add_crossings(context, state, &span);
                observer.end(Stage::ClothCloth);
                if !attempt.crossed || tries == CROSSING_TRIES {
                    break;
                }
                let more = self.rounds(context, state, (share.1, last), &span, false, observer);
                attempt.iterations += more.iterations;
                attempt.failed = more.failed;
                if more.failed {
                    break;
                }
            }
        }
        if !attempt.failed && !attempt.crossed && state.cloth.level < DEEP_LEVEL {
            observer.begin(Stage::ClothSolids);
            let (vertices, triangles) = self.depth_after(context, &span);
            let before = self.detector.depth;
            attempt.deep = (triangles > DEEP && triangles > before + 0.2 * DEEP)
                || (vertices > DEEP_VERTEX && vertices > before + 0.2 * DEEP_VERTEX);
            observer.end(Stage::ClothSolids);
        }
        self.strain_after = sheet.elements.largest_strain(&self.x1);
        let rise = self.strain_after - self.strain;
        attempt.overstretched = rise.is_nan() || rise > context.settings.cloth.strain_step;
        attempt
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
        self.pairs.iter().any(|p| turns(p.solid)) || self.touches.iter().any(|t| turns(t.solid))
    }

    /// Solves until constraints and contacts agree with what they lead to, or for so many rounds.
    fn rounds(
        &mut self,
        context: &Context,
        state: &State,
        (end, last): (f64, bool),
        span: &Span,
        fresh: bool,
        observer: &mut dyn Observer,
    ) -> Attempt {
        let sheet = &*context.model.sheet;
        let h = span.h;
        let mut attempt = Attempt::default();
        let mut reference = if fresh { 0.0 } else { self.reference };
        let mut changed = true;
        let followed = context.settings.cloth.forces == ClothForces::Followed && !self.plain;
        let mut newton = false;
        let usual = context.settings.cloth.rounds.max(1);
        for round in 0..usual + EXTRA_ROUNDS {
            // past the usual rounds only for particles that just came in
            if round >= usual && !self.entered && !newton {
                break;
            }
            observer.begin(Stage::ClothForces);
            let first = fresh && round == 0;
            let bent = if newton {
                self.relinearize(context, state, h);
                true
            } else {
                // a few corrections settle it; more could swing up where cloth is crumpled
                fresh && followed && round < CORRECTIONS && self.overshoot(sheet, state, h, first)
            };
            observer.end(Stage::ClothForces);
            if round > 0 && !changed && !bent {
                break;
            }
            observer.begin(Stage::ClothSolve);
            self.constrain(context, state, end, span);
            let finer = if newton && self.touches.is_empty() { FINER } else { 1.0 };
            let outcome = self.solve(context, state, h, first, reference, finer);
            attempt.iterations += outcome.iterations;
            if first {
                reference = outcome.reference;
                self.reference = reference;
            }
            attempt.failed = outcome.end.is_nan() || outcome.end > POOR * reference;
            if attempt.failed {
                break;
            }
            if newton {
                attempt.stuck = !self.search(sheet, state, h);
            } else {
                self.place(state, h);
            }
            observer.end(Stage::ClothSolve);
            if first && !last {
                let most = TORN * context.settings.cloth.strain_step;
                let rise = sheet.elements.largest_strain(&self.x1) - self.strain;
                attempt.overstretched = rise.is_nan() || rise > most;
                if attempt.overstretched {
                    break;
                }
            }
            observer.begin(Stage::ClothSolids);
            changed = self.judge(context, state, span);
            observer.end(Stage::ClothSolids);
            if newton && !changed && outcome.iterations == 0 {
                attempt.stuck = false;
                break;
            }
            if attempt.stuck {
                break;
            }
            // with bodies among the unknowns a new start disturbs what lies still on the cloth
            let alone = self.solids.unknowns.is_empty();
            let corrected = round + 1 == CORRECTIONS || !changed;
            if fresh && followed && alone && !newton && corrected {
                observer.begin(Stage::ClothForces);
                self.goal = context.settings.cloth.tolerance * reference;
                newton = self.makes_energy(sheet, state, h);
                observer.end(Stage::ClothForces);
            }
        }
        attempt
    }

    /// Takes over what the last attempt found.
    pub fn accept(&mut self, context: &Context, state: &mut State, share: (f64, f64)) {
        let h = (share.1 - share.0) * context.dt;
        state.particles.x.copy_from_slice(&self.x1);
        for ((v, u), alter) in state.particles.v.iter_mut().zip(&self.u).zip(&self.alter) {
            *v = vector(u) - *alter / h;
        }
        for (unknown, delta) in self.solids.unknowns.iter_mut().zip(&self.u_bodies) {
            let momentum = pcg::body_momentum(&unknown.mass, delta);
            for k in 0..2 {
                unknown.impulse[k] += momentum[k] + h * unknown.expected[k];
                unknown.change[k] += delta[k];
                unknown.drift[k] += h * unknown.change[k];
            }
        }
        for solid in self.solids.list.iter().filter(|s| s.unknown != NONE) {
            let drift = &mut self.solids.unknowns[solid.unknown as usize].drift;
            drift[0] += solid.extra[0];
            drift[1] += solid.extra[1];
        }
        let touches = &mut state.cloth.touches;
        touches.clear();
        touches.extend(self.touches.iter().filter(|t| t.active).map(|t| t.last(&self.solids, h)));
        let pairs = &mut state.cloth.pairs;
        pairs.clear();
        pairs.extend(self.pairs.iter().filter_map(|p| p.last(h)));
        pairs.sort_unstable_by_key(|p| (p.kind, p.feature, p.body));
        pairs.dedup_by_key(|p| (p.kind, p.feature, p.body));
        state.cloth.pins.clone_from(&self.pins);
        self.strain = self.strain_after;
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
