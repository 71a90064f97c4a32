//! The stages of a pile's step, one after the other, each made by all threads.
//!
//! Blocks take turns with the contacts between them. A block goes from the end of one substep to the middle
//! of the next in one go, while everything in it is at hand: the last impulses without push, forces, impulses
//! with push. Then come the contacts between blocks, colour by colour; positions; and the contacts between
//! blocks without push.

use super::blocks::Blocks;
use super::bounce::ROUNDS;
use super::sweep::Pass;
use super::work::Work;
use crate::parallel::team;
use crate::step::classify::JOINTED_ITERATIONS;
use crate::step::rigid::stopwatch::Stopwatch;
use std::sync::atomic::Ordering;

/// Contacts from which several threads are worth calling.
const TEAM: usize = 500;

/// A stage, and how many chunks it has.
pub type Planned = (Stage, usize);

/// What all threads make together, chunk by chunk.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// Contacts between blocks into bundles.
    Pack,
    /// Bodies that follow a path, for this substep.
    Lead(u32),
    /// Blocks from contacts and forces up to the impulses that the contacts start with.
    Start,
    /// Blocks from there on: impulses with push.
    Push,
    /// Blocks from the last impulses without push into this substep, up to those with push.
    Next(u32),
    /// The same in two, where contacts bounce in between.
    Begin(u32),
    /// A round of impacts, counted from 1 over all substeps: blocks, then contacts of a colour between them.
    Bounce(u32),
    BounceBetween(u32, usize),
    /// What impacts did in this substep to bodies.
    Rebound(u32),
    /// Blocks: impulses without push.
    Relax,
    /// Blocks: the last ones, which go to the contacts, and bodies back to the state.
    End,
    /// Contacts of a colour between blocks.
    Between(Pass, usize),
    /// Joints between blocks into bundles.
    PackJoints,
    /// Joints of a colour between blocks.
    JointsBetween(Pass, usize),
    /// States of joints within blocks, and between them, once bodies have theirs.
    EndJoints,
    EndJointsBetween,
    /// Positions.
    Advance,
    /// Impulses to the contacts between blocks.
    Unpack,
}

impl Stage {
    fn integrates(self) -> bool {
        matches!(self, Stage::Lead(_) | Stage::Advance)
    }

    /// Whether there is nothing to do, as no impact came before.
    fn is_idle(self, work: &Work) -> bool {
        let struck_in = || work.struck_in.load(Ordering::Relaxed);
        match self {
            Stage::Bounce(round) | Stage::BounceBetween(round, _) => {
                round % ROUNDS != 1 && struck_in() + 1 < round
            }
            Stage::Rebound(substep) => struck_in() <= substep * ROUNDS,
            _ => false,
        }
    }
}

/// Advances a pile by a step. Returns the iterations made, and the change that the last one asked for, m/s.
///
/// # Safety
/// Nobody else works on the pile.
pub unsafe fn solve(
    work: &Work,
    helped: bool,
    blocks: &Blocks,
    plan: &mut Vec<Planned>,
    watch: &mut Stopwatch,
) -> (u32, f64) {
    list(work, blocks, plan);
    let bodies = work.body_at.len();
    // joints within a block
    let joints = |pass: Pass, at: usize| {
        if !work.joints.is_empty() {
            // SAFETY: blocks have no movable body in common
            unsafe { work.joints.sweep(work, pass, &work.joints.order.inside[at]) };
        }
    };
    let [iterations, relax_iterations] = rounds(work);
    let push = |at: usize| {
        let chunk = &work.order.inside[at];
        for round in 0..iterations {
            let pass = if round == 0 { Pass::Place } else { Pass::Push };
            // SAFETY: blocks have no movable body in common
            unsafe {
                joints(pass, at);
                work.sweep(pass, chunk);
            }
        }
    };
    let perform = |stage: u32, at: usize| {
        // SAFETY of all below: each chunk is made once in a stage; blocks, and the contacts of a colour, have
        // no movable body in common
        unsafe {
            match plan[stage as usize].0 {
                Stage::Pack => work.pack(&work.order.between[at]),
                Stage::Lead(substep) => work.lines.lead(work.setting, substep),
                Stage::Start => {
                    work.pack(&work.order.inside[at]);
                    work.begin(blocks.range(at, bodies), 0);
                    if !work.joints.is_empty() {
                        work.joints.pack(work, &work.joints.order.inside[at]);
                    }
                    joints(Pass::Warm, at);
                    work.sweep(Pass::Warm, &work.order.inside[at]);
                }
                Stage::Push => push(at),
                Stage::Next(substep) => {
                    joints(Pass::Relax, at);
                    work.sweep(Pass::Relax, &work.order.inside[at]);
                    work.begin(blocks.range(at, bodies), substep);
                    push(at);
                }
                Stage::Begin(substep) => {
                    joints(Pass::Relax, at);
                    work.sweep(Pass::Relax, &work.order.inside[at]);
                    work.begin(blocks.range(at, bodies), substep);
                }
                Stage::Bounce(round) => work.bounce(&work.order.inside[at], round),
                Stage::BounceBetween(round, color) => {
                    let first = work.order.colors[color].start as usize;
                    work.bounce(&work.order.between[first + at], round);
                }
                Stage::Rebound(_) => work.rebound(blocks.range(at, bodies)),
                Stage::Relax => {
                    joints(Pass::Relax, at);
                    work.sweep(Pass::Relax, &work.order.inside[at]);
                }
                Stage::End => {
                    joints(Pass::Last, at);
                    work.sweep(Pass::Last, &work.order.inside[at]);
                    work.unpack(&work.order.inside[at]);
                    work.finish(blocks.range(at, bodies));
                }
                Stage::Between(pass, color) => {
                    let first = work.order.colors[color].start as usize;
                    work.sweep(pass, &work.order.between[first + at]);
                }
                Stage::PackJoints => work.joints.pack(work, &work.joints.order.between[at]),
                Stage::JointsBetween(pass, color) => {
                    let first = work.joints.order.colors[color].start as usize;
                    let chunk = &work.joints.order.between[first + at];
                    work.joints.sweep(work, pass, chunk);
                }
                Stage::EndJoints => work.joints.finish(work, &work.joints.order.inside[at]),
                Stage::EndJointsBetween => {
                    work.joints.finish(work, &work.joints.order.between[at]);
                }
                Stage::Advance => work.advance(blocks.range(at, bodies)),
                Stage::Unpack => work.unpack(&work.order.between[at]),
            }
        }
    };
    team::run(helped && work.contacts.len() >= TEAM, &perform, |leader| {
        for (number, &(stage, chunks)) in plan.iter().enumerate() {
            if stage.is_idle(work) {
                continue;
            }
            leader.stage(number as u32, chunks);
            if stage.integrates() { watch.integrated() } else { watch.solved() }
        }
    });
    let met = f32::from_bits(work.met.load(Ordering::Relaxed));
    (work.setting.2.substeps * (iterations + relax_iterations), f64::from(met))
}

/// Iterations of both solves of a substep.
fn rounds(work: &Work) -> [u32; 2] {
    let contact = &work.setting.2.contact;
    let least = if work.joints.is_empty() { [0; 2] } else { JOINTED_ITERATIONS };
    // none without push stays none
    let relax = if contact.relax_iterations > 0 { least[1] } else { 0 };
    [contact.iterations.max(least[0]), contact.relax_iterations.max(relax)]
}

/// Lists the stages.
fn list(work: &Work, blocks: &Blocks, plan: &mut Vec<Planned>) {
    let (settings, blocks) = (work.setting.2, blocks.len());
    let [iterations, relax_iterations] = rounds(work);
    plan.clear();
    plan.push((Stage::Pack, work.order.between.len()));
    let order = &work.joints.order;
    let jointed = !work.joints.is_empty();
    if jointed {
        plan.push((Stage::PackJoints, order.between.len()));
    }
    let between = |plan: &mut Vec<Planned>, pass: Pass| {
        if jointed {
            let colors = order.colors.iter().enumerate();
            plan.extend(colors.map(|(i, of)| (Stage::JointsBetween(pass, i), of.len())));
        }
        let colors = work.order.colors.iter().enumerate();
        plan.extend(colors.map(|(i, chunks)| (Stage::Between(pass, i), chunks.len())));
    };
    let impacts = |plan: &mut Vec<Planned>, substep: u32| {
        if work.rebounds.len() == 0 {
            return;
        }
        for round in substep * ROUNDS + 1..=(substep + 1) * ROUNDS {
            plan.push((Stage::Bounce(round), blocks));
            let colors = work.order.colors.iter().enumerate();
            plan.extend(colors.map(|(i, of)| (Stage::BounceBetween(round, i), of.len())));
        }
        plan.push((Stage::Rebound(substep), blocks));
    };
    for substep in 0..settings.substeps {
        plan.push((Stage::Lead(substep), 1));
        if substep == 0 {
            plan.push((Stage::Start, blocks));
            between(plan, Pass::Warm);
            impacts(plan, substep);
            plan.push((Stage::Push, blocks));
        } else if work.rebounds.len() > 0 {
            plan.push((Stage::Begin(substep), blocks));
            impacts(plan, substep);
            plan.push((Stage::Push, blocks));
        } else {
            plan.push((Stage::Next(substep), blocks));
        }
        for round in 0..iterations {
            between(plan, if round == 0 { Pass::Place } else { Pass::Push });
        }
        plan.push((Stage::Advance, blocks));
        for round in 1..=relax_iterations {
            let last = round == relax_iterations;
            let measured = last && substep + 1 == settings.substeps;
            between(plan, if measured { Pass::Last } else { Pass::Relax });
            // within blocks the last one belongs to what follows
            if !last {
                plan.push((Stage::Relax, blocks));
            }
        }
    }
    plan.push((Stage::Unpack, work.order.between.len()));
    plan.push((Stage::End, blocks));
    if jointed {
        plan.push((Stage::EndJoints, blocks));
        plan.push((Stage::EndJointsBetween, order.between.len()));
    }
}
