//! The unified scheme: rigid bodies, cloth, soft bodies and particles advanced together [shinar2008].
//!
//! A step is cut into equal substeps (`span.rs`), each of which is the paper's five steps:
//!
//!   I.   vⁿ → ṽ½                 forces, half a substep ahead             half_step.rs, elastic.rs
//!   II.  vⁿ → ṽⁿ, ṽ½ → v̂½        collisions, on velocities of time n      collide.rs
//!   III. v̂½ → v½                 contact graph, contact, friction         graph.rs, contact.rs
//!   IV.  xⁿ → xⁿ⁺¹ by v½         positions, overlaps pushed apart,        positions.rs, central.rs
//!                                collisions of what deforms [BFA02]       stops.rs
//!   V.   v̄ⁿ → vⁿ⁺¹               constrained solve, contact, friction     final_step.rs, sweeps.rs, solve.rs
//!
//! Everything is a node (`nodes.rs`) with two velocities; every contact point is a touch (`pairs.rs`), whatever
//! meets. What stretches too much in a substep is tried again with twice as many.
//!
//! Joints (`joints.rs`), bonds and what deforms are solved together with contacts in steps III and V
//! (`together.rs`, `coupled.rs`), by a sparse factor (`direct.rs`); rigid bodies alone by Gauss–Seidel (`contact.rs`).
//!
//! What is incompressible keeps its volumes in steps IV and V (`volume.rs`).
//!
//! Surfaces that deform are kept apart as touches, in contact with all else; where settings ask for it, what
//! would still pass is stopped after the move. `supported.rs` refuses what needs what is missing.

mod blocks;
mod central;
mod collide;
mod contact;
mod coupled;
mod course;
mod detect;
mod direct;
#[cfg(test)]
mod direct_tests;
mod elastic;
mod final_step;
mod graph;
mod half_step;
mod joints;
mod nodes;
mod pairs;
mod positions;
mod rows;
mod solve;
mod span;
mod stops;
mod supported;
mod sweeps;
mod together;
mod volume;

use crate::energy::Energies;
use crate::math::Vec3;
use crate::model::Model;
use crate::model::settings::{SelfCollision, Settings};
use crate::parallel::loops::inside;
use crate::report::{Observer, Stage, StepError, StepReport};
use crate::state::State;
use contact::Relaxed;
use elastic::Elastic;
use graph::Graph;
use nodes::Nodes;
use pairs::{Touch, TouchKey};
use positions::Resolution;
use span::Span;
use stops::Stops;
use sweeps::Links;
use together::Together;
use volume::Volumes;

/// Memory reused between substeps.
#[derive(Debug, Default)]
pub struct Scratch {
    nodes: Nodes,
    search: detect::Search,
    graph: Graph,
    links: Links,
    elastic: Elastic,
    resolution: Resolution,
    stops: Stops,
    together: Together,
    volumes: Volumes,
    /// Pairs of bodies that joints keep from touching.
    apart: Vec<(u32, u32)>,
    /// Pairs of bodies that collisions have touched in this substep.
    processed: Vec<(u32, u32)>,
    /// Impulses of the last substep of this step, by touch: where contact starts from.
    known: Vec<(TouchKey, Vec3)>,
    /// The state at the beginning of the substep.
    start: State,
}

impl Clone for Scratch {
    /// Scratch memory holds nothing worth copying.
    fn clone(&self) -> Self {
        Scratch::default()
    }
}

/// How often a step is cut in two because something stretches too much.
const HALVINGS: u32 = 6;

impl Scratch {
    /// At the beginning of a step: forces on vertices that others ask for.
    pub fn take_pushes(&mut self, pushes: &mut Vec<(u32, Vec3)>) {
        self.elastic.pushed.clear();
        self.elastic.pushed.append(pushes);
    }
}

/// Advances `state` by `dt` seconds.
pub fn step(
    model: &Model,
    state: &mut State,
    settings: &Settings,
    dt: f64,
    scratch: &mut Scratch,
    observer: &mut dyn Observer,
) -> Result<StepReport, StepError> {
    if let Some(what) = supported::unsupported(model, settings) {
        return Err(StepError::Unsupported { scheme: "unified", what });
    }
    crate::step::rigid::check_finite(model, state)?;
    crate::step::deformable::check_finite(model, state)?;
    state.contacts.clear();
    let mut report = StepReport::default();
    let coarse = span::substeps(model, state, settings, dt);
    // time in ticks of the shortest substep, so that it adds up exactly
    let whole = u64::from(coarse) << HALVINGS;
    let (mut tick, mut length) = (0, 1 << HALVINGS);
    let time = state.time;
    scratch.known.clear();
    scratch.together.forget();
    while tick < whole {
        let share = |tick: u64| tick as f64 / whole as f64;
        let span = Span { time: time + share(tick) * dt, dt: share(length) * dt };
        let strain = stretch(&model.sheet.elements.energies, state);
        scratch.start.copy_from(state);
        let clear = substep(model, state, settings, &span, scratch, (&mut report, observer));
        let torn =
            stretch(&model.sheet.elements.energies, state) > strain + settings.cloth.strain_step;
        if (torn || !clear) && length > 1 {
            state.copy_from(&scratch.start);
            report.rejected += 1;
            length /= 2;
            scratch.known.clear();
            continue;
        }
        count(&mut report, &span, model);
        tick += length;
        if length < 1 << HALVINGS && tick % (2 * length) == 0 {
            length *= 2;
            scratch.known.clear();
        }
    }
    state.bodies.iter_mut().for_each(|body| body.push = Default::default());
    state.points.push.iter_mut().for_each(|push| *push = Vec3::ZERO);
    state.time = time + dt;
    state.substep = 0.0;
    state.step = state.step.wrapping_add(1);
    crate::step::rigid::check_finite(model, state)?;
    crate::step::deformable::check_finite(model, state)?;
    Ok(report)
}

/// Steps I to V; whether nothing that deforms passed what deforms, as far as settings ask for it.
fn substep(
    model: &Model,
    state: &mut State,
    settings: &Settings,
    span: &Span,
    scratch: &mut Scratch,
    (report, observer): (&mut StepReport, &mut dyn Observer),
) -> bool {
    let Scratch {
        nodes,
        search,
        graph,
        links,
        elastic,
        resolution,
        stops,
        processed,
        known,
        together,
        volumes,
        apart,
        ..
    } = scratch;
    keep_apart(model, state, apart);
    nodes.gather(model, state, span);
    together.joints.gather(model, state, nodes);
    elastic.together = !model.sheet.is_empty() || !together.joints.is_empty();

    // I
    observer.begin(Stage::ClothForces);
    links.bind(model, nodes);
    report.cg_iterations +=
        half_step::half_step(model, state, settings, span, nodes, (links, elastic));
    observer.end(Stage::ClothForces);

    // II
    observer.begin(Stage::NarrowPhase);
    search.find(model, state, nodes, settings, span, apart);
    observer.end(Stage::NarrowPhase);
    observer.begin(Stage::Solve);
    let bounce_speed = settings.contact.bounce_speed;
    collide::collide(&mut search.touches, nodes, span, bounce_speed, processed);

    // III
    graph.sort(&mut search.touches, nodes, settings.gravity, span);
    let before = known.iter().map(|(key, impulse)| (*key, 0.5 * *impulse));
    let touches = start(&mut search.touches, processed, before);
    let relaxed = if elastic.together {
        let found = together.half((model, settings), span, nodes, elastic, touches);
        report.cg_iterations += found.iterations;
        Relaxed { rounds: found.rounds, residual: found.residual }
    } else {
        let found = contact::contact(touches, &mut nodes.half, &nodes.mass, span);
        together.carry(nodes, touches);
        found
    };
    keep(known, touches);
    observer.end(Stage::Solve);

    // IV
    let mut clear = true;
    observer.begin(Stage::Integrate);
    report.cg_iterations += volumes.displace(model, nodes, &search.touches, span).iterations;
    positions::advance(model, nodes, span);
    positions::place(nodes, state);
    search.find(model, state, nodes, settings, span, apart);
    if resolution.resolve(model, nodes, &search.touches, &graph.level) {
        let before = potential(model, nodes, settings.gravity);
        resolution.apply(model, nodes);
        positions::place(nodes, state);
        report.resolved_energy += potential(model, nodes, settings.gravity) - before;
        search.find(model, state, nodes, settings, span, apart);
    }
    if settings.cloth.self_collision == SelfCollision::Robust && model.sheet.self_collision {
        let detector = search.layers();
        let stopped = stops.stop(model, span, nodes, (detector, elastic.start()));
        report.impacts += stopped.impacts as u32;
        report.in_zones += stopped.in_zones as u32;
        clear = stopped.clear;
        if stopped.impacts > 0 {
            elastic.follow(model, settings, span, nodes);
            positions::place(nodes, state);
            search.find(model, state, nodes, settings, span, apart);
        }
    }
    observer.end(Stage::Integrate);

    // V
    observer.begin(Stage::Finish);
    graph.sort(&mut search.touches, nodes, settings.gravity, span);
    // velocities have the impulses of step III already
    let before = known.iter().copied();
    let touches = start(&mut search.touches, processed, before);
    report.cg_iterations += volumes.remove_divergence(model, nodes, touches).iterations;
    let end = if elastic.together {
        final_step::final_together(model, (state, settings), span, nodes, elastic);
        let found = together.end(model, span, nodes, touches);
        report.cg_iterations += found.iterations;
        Relaxed { rounds: found.rounds, residual: found.residual }
    } else {
        final_step::final_step(model, (state, settings), span, nodes);
        together.end_of_bodies(span, nodes, touches)
    };
    keep(known, touches);
    nodes.write(model, state, span);
    together.write(model, state, nodes, span);
    observer.end(Stage::Finish);

    report.contacts = touches.len() as u32;
    report.contact_iterations = report.contact_iterations.max(relaxed.rounds.max(end.rounds));
    report.contact_residual = report.contact_residual.max(relaxed.residual.max(end.residual));
    clear
}

/// The pairs of bodies that an unbroken joint keeps from touching, in order.
fn keep_apart(model: &Model, state: &State, apart: &mut Vec<(u32, u32)>) {
    apart.clear();
    let joints = model.joints.iter().zip(&state.joints);
    apart.extend(joints.filter_map(|(joint, now)| joint.apart(now.broken)));
    apart.sort_unstable();
    apart.dedup();
}

/// The touches that contact acts on, with the impulses that they start from: those of bodies that collisions
/// have touched, and all of what deforms, which never bounces.
fn start<'a>(
    touches: &'a mut Vec<Touch>,
    processed: &[(u32, u32)],
    known: impl Iterator<Item = (TouchKey, Vec3)>,
) -> &'a mut [Touch] {
    let met = |bodies: &(u32, u32)| processed.binary_search(bodies).is_ok();
    touches.retain(|touch| touch.bodies().as_ref().is_none_or(met));
    touches.iter_mut().for_each(|touch| touch.impulse = Vec3::ZERO);
    let known: Vec<(TouchKey, Vec3)> = known.collect();
    for touch in touches.iter_mut() {
        if let Ok(place) = known.binary_search_by(|(key, _)| key.cmp(&touch.key)) {
            let (n, impulse) = (touch.normal, known[place].1);
            // what was found anew may lie otherwise
            let normal = n.dot(impulse).max(0.0);
            let tangent = impulse - n.dot(impulse) * n;
            let most = touch.friction * normal;
            let scale = if tangent.length() > most { most / tangent.length() } else { 1.0 };
            touch.impulse = normal * n + scale * tangent;
        }
    }
    touches
}

/// Remembers impulses, in order of keys.
fn keep(known: &mut Vec<(TouchKey, Vec3)>, touches: &[Touch]) {
    known.clear();
    known.extend(touches.iter().map(|touch| (touch.key, touch.impulse)));
    known.sort_by_key(|known| known.0);
}

/// Energy of weight and of what is deformed, J.
fn potential(model: &Model, nodes: &Nodes, gravity: Vec3) -> f64 {
    let mut sum = 0.0;
    for (slot, body) in model.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic()) {
        sum -= body.mass * body.gravity_scale * gravity.dot(nodes.x[slot]);
    }
    for (slot, point) in model.points.iter().enumerate().filter(|(_, point)| point.alive) {
        let x = nodes.x[model.bodies.len() + slot];
        sum -= point.mass * point.gravity_scale * gravity.dot(x);
    }
    let (sheet, x) = (&model.sheet, &nodes.x[nodes.bodies..]);
    for ((mass, scale), x) in sheet.elements.mass.iter().zip(&sheet.gravity_scale).zip(x) {
        sum -= mass * scale * gravity.dot(*x);
    }
    sheet.elements.energies.each_energy(x, |_, energy| sum += energy);
    sum
}

/// The largest tensile strain.
fn stretch(energies: &Energies, state: &State) -> f64 {
    if energies.is_empty() { 0.0 } else { inside(|| energies.largest_strain(&state.particles.x)) }
}

fn count(report: &mut StepReport, span: &Span, model: &Model) {
    report.substeps += 1;
    if !model.sheet.is_empty() {
        report.cloth_steps += 1;
    }
    report.largest_step = report.largest_step.max(span.dt);
    let shortest = if report.smallest_step == 0.0 { span.dt } else { report.smallest_step };
    report.smallest_step = shortest.min(span.dt);
}
