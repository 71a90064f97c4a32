//! The particle stage of a step; see the module's header for its order.

use super::bounce::{Law, Loads, Outcome};
use super::emit::{Span, emit};
use super::flight::{Chunk, Contact, Forces, Surroundings, Target, fly};
use super::grid::Grid;
use super::sheet::{Cloths, Foreign};
use super::solid::Solids;
use crate::ids::EmitterId;
use crate::math::Vec3;
use crate::model::Model;
use crate::model::settings::Settings;
use crate::parallel::pool::prelude::*;
use crate::report::{Observer, Stage, StepError, StepReport};
use crate::state::State;
use crate::state::body::BodyState;
use crate::state::particles::Particles;
use crate::state::stream::{Stream, Struck};

/// Particles of a chunk.
const CHUNK: usize = 2048;

/// Memory reused between steps.
#[derive(Debug, Default)]
pub struct Scratch {
    starts: Vec<BodyState>,
    solids: Solids,
    cloths: Cloths,
    solid_grid: Grid,
    cloth_grid: Grid,
    /// Chunks of all streams, one after the other.
    chunks: Vec<ChunkWork>,
    body_loads: Vec<f64>,
    vertex_loads: Vec<f64>,
    /// What each body slot was struck with in this step.
    sums: Vec<Struck>,
}

/// Work on one chunk.
#[derive(Debug, Default)]
struct ChunkWork {
    contacts: Vec<Contact>,
    outcome: Outcome,
    failed: Option<u64>,
}

impl Clone for Scratch {
    /// Scratch memory holds nothing worth copying.
    fn clone(&self) -> Self {
        Scratch::default()
    }
}

impl Scratch {
    /// Before bodies and cloth move: bodies get what particles struck them with in the last step,
    /// over this one of `dt` seconds, and the beginning of everything's motion is kept.
    pub fn before_bodies(&mut self, model: &Model, state: &mut State, dt: f64) {
        self.starts.clear();
        if state.streams.list.is_empty() && state.streams.struck.is_empty() {
            return;
        }
        self.starts.extend_from_slice(&state.bodies);
        self.cloths.before(&state.particles);
        for struck in &state.streams.struck {
            let slot = struck.body as usize;
            if !model.bodies.get(slot).is_some_and(|b| b.is_dynamic()) {
                continue;
            }
            let body = &mut state.bodies[slot];
            body.push.force += struck.impulse / dt;
            body.push.torque += struck.angular / dt;
            body.quiet = 0.0;
            body.asleep = false;
        }
        state.streams.struck.clear();
        state.streams.span = 0.0;
    }
}

/// Refuses to go on from particles that are not finite.
pub fn check_finite(model: &Model, state: &State) -> Result<(), StepError> {
    for (slot, stream) in state.streams.list.iter().enumerate() {
        if let Some(particle) = stream.failed {
            let index = slot as u32;
            let emitter = EmitterId { index, generation: model.emitters[slot].generation };
            let (step, time) = (state.step, state.time);
            return Err(StepError::ParticleNotFinite { emitter, particle, step, time });
        }
    }
    Ok(())
}

/// Advances all particles by the world's step of `dt` seconds, which bodies and cloth have just
/// made, and `foreign` sheets elsewhere.
pub fn step(
    model: &Model,
    (state, foreign): (&mut State, &mut Foreign),
    settings: &Settings,
    dt: f64,
    scratch: &mut Scratch,
    report: &mut StepReport,
    observer: &mut dyn Observer,
) -> Result<(), StepError> {
    if model.emitters.iter().all(|e| !e.alive) {
        return Ok(());
    }
    observer.begin(Stage::Particles);
    gather(model, state, foreign, dt, scratch);
    births(model, state, dt, scratch, report);
    first_flights(model, state, settings, dt, scratch);
    weigh(model, state, scratch);
    bounces(model, state, settings, dt, scratch);
    add_up((state, foreign), dt, scratch, report);
    expire(state, scratch, report);
    report.particles = state.streams.count() as u64;
    observer.end(Stage::Particles);
    check_finite(model, state)
}

/// Where everything that particles may meet is in this step.
fn gather(model: &Model, state: &State, foreign: &Foreign, dt: f64, scratch: &mut Scratch) {
    let living = model.emitters.iter().filter(|e| e.alive);
    let radius = living.map(|e| e.emitter.radius).fold(0.0, f64::max);
    let margin = radius + 4.0 * super::advance::skin(radius);
    let Scratch { starts, solids, cloths, solid_grid, cloth_grid, sums, .. } = scratch;
    solids.gather(model, (starts, &state.bodies), dt, margin);
    cloths.gather(model, &state.particles, foreign, dt, margin);
    solid_grid.build(&solids.bounds);
    cloth_grid.build(&cloths.bounds);
    sums.clear();
    sums.resize(model.bodies.len(), Struck::default());
}

fn births(
    model: &Model,
    state: &mut State,
    dt: f64,
    scratch: &mut Scratch,
    report: &mut StepReport,
) {
    let span = Span { time: state.time - dt, dt };
    let Scratch { solids, sums, .. } = scratch;
    for (emitter, stream) in model.emitters.iter().zip(&mut state.streams.list) {
        if !emitter.alive {
            continue;
        }
        let carrier = emitter.emitter.body.and_then(|id| model.slot(id).ok());
        let solid = carrier.map(|slot| &solids.list[slot]);
        let centers = &state.bodies;
        let births = emit(emitter, stream, span, solid, |impulse, point| {
            if let Some(slot) = carrier {
                push(&mut sums[slot], impulse, point - centers[slot].position);
            }
        });
        report.emitted += births.born;
        report.dropped += births.dropped;
    }
}

fn push(sum: &mut Struck, impulse: Vec3, arm: Vec3) {
    sum.count += 1;
    sum.impulse += impulse;
    sum.angular += arm.cross(impulse);
}

/// Calls `work` with every chunk of the streams of living emitters, in parallel.
fn each_chunk(
    list: &mut [Stream],
    chunks: &mut Vec<ChunkWork>,
    work: impl Fn(u32, &mut Chunk, &mut ChunkWork) + Sync,
) {
    let total: usize = list.iter().map(|s| s.len().div_ceil(CHUNK)).sum();
    if chunks.len() < total {
        chunks.resize_with(total, ChunkWork::default);
    }
    let mut rest = &mut chunks[..total];
    for (slot, stream) in list.iter_mut().enumerate() {
        let (own, others) = rest.split_at_mut(stream.len().div_ceil(CHUNK));
        rest = others;
        let Stream { particles: Particles { x, v, id }, age, .. } = stream;
        let arrays = (x.par_chunks_mut(CHUNK), v.par_chunks_mut(CHUNK), age.par_chunks_mut(CHUNK));
        let parts = (arrays.0, arrays.1, arrays.2, id.par_chunks(CHUNK), own);
        parts.into_par_iter().for_each(|(x, v, age, id, own)| {
            work(slot as u32, &mut Chunk { x, v, age, id }, own);
        });
    }
}

fn first_flights(
    model: &Model,
    state: &mut State,
    settings: &Settings,
    dt: f64,
    scratch: &mut Scratch,
) {
    let Scratch { solids, cloths, solid_grid, cloth_grid, chunks, .. } = scratch;
    let around = Surroundings { model, solids, solid_grid, cloths, cloth_grid, dt };
    let time = state.time - dt;
    each_chunk(&mut state.streams.list, chunks, |slot, chunk, work| {
        let forces = Forces::new(model, slot, settings, (time, dt));
        let emitter = &model.emitters[slot as usize];
        work.failed = fly(&around, emitter, &forces, chunk, &mut work.contacts);
    });
}

/// Masses that strike each body and each vertex of cloth in this step.
fn weigh(model: &Model, state: &State, scratch: &mut Scratch) {
    let Scratch { chunks, cloths, body_loads, vertex_loads, .. } = scratch;
    body_loads.clear();
    body_loads.resize(model.bodies.len(), 0.0);
    vertex_loads.clear();
    vertex_loads.resize(cloths.vertex_count(), 0.0);
    let mut at = 0;
    for (emitter, stream) in model.emitters.iter().zip(&state.streams.list) {
        let mass = emitter.emitter.mass;
        let count = stream.len().div_ceil(CHUNK);
        for work in &chunks[at..at + count] {
            for Contact { meeting, .. } in &work.contacts {
                match meeting.target {
                    Target::Body(slot) => body_loads[slot as usize] += mass,
                    Target::Triangle(triangle) => {
                        for (i, w) in cloths.nodes(triangle).into_iter().zip(meeting.weights) {
                            vertex_loads[i as usize] += w * mass;
                        }
                    }
                }
            }
        }
        at += count;
    }
}

fn bounces(model: &Model, state: &mut State, settings: &Settings, dt: f64, scratch: &mut Scratch) {
    let Scratch { solids, cloths, solid_grid, cloth_grid, chunks, .. } = scratch;
    let loads = Loads { bodies: &scratch.body_loads, vertices: &scratch.vertex_loads };
    let around = Surroundings { model, solids, solid_grid, cloths, cloth_grid, dt };
    each_chunk(&mut state.streams.list, chunks, |slot, chunk, work| {
        let model = &model.emitters[slot as usize];
        let fall = settings.gravity.length() * model.emitter.gravity_scale.abs();
        let law = Law { around, model, loads, bounce_speed: 2.0 * fall * dt };
        law.finish(chunk, &work.contacts, &mut work.outcome);
    });
}

/// Sums of what was pushed, in the order of particles. Cloth gets it at once; what belongs to others
/// is told of it.
fn add_up(
    (state, foreign): (&mut State, &mut Foreign),
    dt: f64,
    scratch: &mut Scratch,
    report: &mut StepReport,
) {
    let Scratch { chunks, cloths, sums, .. } = scratch;
    let own = state.particles.v.len();
    foreign.struck.fill(Vec3::ZERO);
    let mut at = 0;
    for stream in &mut state.streams.list {
        let count = stream.len().div_ceil(CHUNK);
        for work in &chunks[at..at + count] {
            stream.failed = stream.failed.or(work.failed);
            report.crushed += work.outcome.crushed;
            report.bounces += work.outcome.hits.len() as u32;
            for hit in &work.outcome.hits {
                match hit.target {
                    Target::Body(slot) => {
                        let center = state.bodies[slot as usize].position;
                        push(&mut sums[slot as usize], hit.impulse, hit.point - center);
                    }
                    Target::Triangle(triangle) => {
                        let mut give = |i: usize, share: f64| match i.checked_sub(own) {
                            Some(other) => foreign.struck[other] += hit.impulse * share,
                            None => {
                                let change = hit.impulse * (share / cloths.mass(i as u32));
                                state.particles.v[i] += change;
                            }
                        };
                        if hit.spread {
                            cloths.shares(triangle).for_each(|(i, share)| give(i, share));
                        } else {
                            let nodes = cloths.nodes(triangle).into_iter();
                            nodes.zip(hit.weights).for_each(|(i, w)| give(i as usize, w));
                        }
                    }
                }
            }
        }
        at += count;
    }
    let struck = sums.iter().enumerate().filter(|(_, s)| s.count > 0);
    state.streams.struck.extend(struck.map(|(slot, s)| Struck { body: slot as u32, ..*s }));
    state.streams.span = dt;
}

/// Takes out those whose life is over: from the back, so that what takes a place stays.
fn expire(state: &mut State, scratch: &Scratch, report: &mut StepReport) {
    let mut at = 0;
    for stream in &mut state.streams.list {
        let count = stream.len().div_ceil(CHUNK);
        for (index, work) in scratch.chunks[at..at + count].iter().enumerate().rev() {
            for &dead in work.outcome.dead.iter().rev() {
                stream.remove(index * CHUNK + dead as usize);
                report.expired += 1;
            }
        }
        at += count;
    }
    report.expired -= report.crushed.min(report.expired);
}
