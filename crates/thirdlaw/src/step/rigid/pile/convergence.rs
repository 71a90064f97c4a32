//! Islands that iterate until they have met their tolerance, side by side with others, each for as long
//! as it needs itself: one that is done stands still in its lanes while the others go on, so that its
//! bits do not depend on them.

use super::bounce::ROUNDS;
use super::order::{NONE, Order};
use super::sweep::Pass;
use super::work::Work;
use crate::model::settings::ContactSettings;
use crate::simd::f32x8::{LANES, Wide};
use crate::step::classify::{FALLEN_SHORT, Facts, effort};
use crate::step::rigid::stopwatch::Stopwatch;
use std::sync::atomic::Ordering;

/// Error below which `f32` impulses do not get, and no stack creeps visibly, m/s.
const LEAST: f64 = 1e-7;

/// The two solves of a substep.
#[derive(Clone, Copy, Debug)]
pub enum Solve {
    /// With overlaps pushed apart.
    Push,
    /// Without.
    Relax,
}

/// How a pass over a bundle went, by lanes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// 1 where the contact's island iterates, 0 where it is done.
    pub open: Wide,
    /// Largest change of velocity that the pass asked for, m/s.
    pub error: Wide,
}

impl Outcome {
    /// Whether no contact of the bundle iterates.
    pub fn is_done(&self) -> bool {
        self.open.0 == [0.0; LANES]
    }
}

/// How long one island iterates.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// Most iterations of each solve.
    most: [u32; 2],
    tolerance: f32,
    /// More than this should not be left, m/s.
    short: f32,
    open: bool,
    error: f32,
    /// Iterations made in the step.
    iterations: u32,
    /// What the last solve left.
    left: f32,
}

/// The islands of a pile that converge.
#[derive(Debug, Default)]
pub struct Convergence {
    members: Vec<Member>,
    /// Island of each contact.
    member_of: Vec<u32>,
}

/// Advances a pile of islands that converge by a step. Returns the most iterations of an island, and the largest
/// error that is left, m/s.
///
/// # Safety
/// Nobody else works on the pile.
pub unsafe fn solve(work: &Work, patience: &mut Convergence, watch: &mut Stopwatch) -> (u32, f64) {
    let settings = work.setting.2;
    let bodies = 0..work.body_at.len();
    // SAFETY of all below: this thread is the only one
    let sweep = |pass: Pass| {
        work.order.inside.iter().for_each(|chunk| unsafe { work.sweep(pass, chunk) });
    };
    let mut solve = |kind: Solve| {
        let judged = || unsafe { work.judged.range(0..work.judged.len()) };
        patience.begin(work.order, judged());
        for round in 1.. {
            sweep(match kind {
                Solve::Push if round == 1 => Pass::Place,
                Solve::Push => Pass::Push,
                Solve::Relax => Pass::Relax,
            });
            if !patience.judge(work.order, judged(), kind, round) {
                break;
            }
        }
    };
    work.order.inside.iter().for_each(|chunk| unsafe { work.pack(chunk) });
    for substep in 0..settings.substeps {
        watch.solved();
        unsafe { work.lines.lead(work.setting, substep) };
        unsafe { work.begin(bodies.clone(), substep) };
        watch.integrated();
        if substep == 0 {
            sweep(Pass::Warm);
        }
        // SAFETY: likewise
        unsafe { reflect(work, substep) };
        solve(Solve::Push);
        watch.solved();
        unsafe { work.advance(bodies.clone()) };
        watch.integrated();
        solve(Solve::Relax);
    }
    work.order.inside.iter().for_each(|chunk| unsafe { work.unpack(chunk) });
    watch.solved();
    unsafe { work.finish(bodies) };
    watch.integrated();
    patience.totals()
}

/// Impacts of a substep, as [`super::plan`] has them. What does not approach is left as it is, so that islands whose
/// impacts end early go by themselves here too.
///
/// # Safety
/// Nobody else works on the pile.
unsafe fn reflect(work: &Work, substep: u32) {
    if work.rebounds.len() == 0 {
        return;
    }
    let struck_in = || work.struck_in.load(Ordering::Relaxed);
    for round in substep * ROUNDS + 1..=(substep + 1) * ROUNDS {
        // SAFETY: the caller's
        work.order.inside.iter().for_each(|chunk| unsafe { work.bounce(chunk, round) });
        if struck_in() < round {
            break;
        }
    }
    if struck_in() > substep * ROUNDS {
        // SAFETY: the caller's
        unsafe { work.rebound(0..work.body_at.len()) };
    }
}

impl Convergence {
    pub fn clear(&mut self) {
        self.members.clear();
        self.member_of.clear();
    }

    /// Takes in an island.
    pub fn add(&mut self, contact: &ContactSettings, facts: &Facts, contacts: usize) {
        let most = [contact.iterations, contact.relax_iterations]
            .map(|asked| effort(facts, contact, asked, facts.rows).iterations);
        let tolerance =
            effort(facts, contact, 1, facts.rows).tolerance.max(facts.scaled(LEAST)) as f32;
        let short = facts.scaled(FALLEN_SHORT) as f32;
        let number = self.members.len() as u32;
        self.member_of.extend(std::iter::repeat_n(number, contacts));
        let (open, error, iterations, left) = (false, 0.0, 0, 0.0);
        self.members.push(Member { most, tolerance, short, open, error, iterations, left });
    }

    /// A solve begins: everyone iterates again.
    pub fn begin(&mut self, order: &Order, judged: &mut [Outcome]) {
        self.members.iter_mut().for_each(|member| member.open = true);
        self.mark(order, judged);
    }

    /// An iteration was made, the `round`-th of this solve; says whether another one is needed.
    pub fn judge(
        &mut self,
        order: &Order,
        judged: &mut [Outcome],
        solve: Solve,
        round: u32,
    ) -> bool {
        for (group, outcome) in
            order.all_groups().zip(&*judged).filter(|(_, outcome)| !outcome.is_done())
        {
            for (&contact, &error) in group.lanes.iter().zip(&outcome.error.0) {
                if contact != NONE {
                    let member = &mut self.members[self.member_of[contact as usize] as usize];
                    member.error = member.error.max(error);
                }
            }
        }
        let (mut any, mut changed) = (false, false);
        for member in self.members.iter_mut().filter(|member| member.open) {
            let most = member.most[solve as usize];
            member.iterations += 1;
            member.left = member.error;
            member.open = member.error > member.tolerance && round < most;
            member.error = 0.0;
            any |= member.open;
            changed |= !member.open;
        }
        if changed {
            self.mark(order, judged);
        }
        any
    }

    /// Opens the lanes of contacts whose island iterates.
    fn mark(&self, order: &Order, judged: &mut [Outcome]) {
        for (group, outcome) in order.all_groups().zip(judged) {
            for (&contact, open) in group.lanes.iter().zip(&mut outcome.open.0) {
                let is_open =
                    contact != NONE && self.members[self.member_of[contact as usize] as usize].open;
                *open = f32::from(u8::from(is_open));
            }
            outcome.error = Wide::default();
        }
    }

    /// Islands whose last solve left more than they may be left with.
    pub fn unconverged(&self) -> u32 {
        let short = |member: &&Member| member.left > member.short;
        self.members.iter().filter(short).count() as u32
    }

    /// Most iterations of an island in the step, and the largest error that is left, m/s.
    pub fn totals(&self) -> (u32, f64) {
        self.members.iter().fold((0, 0.0), |(most, left), member| {
            (most.max(member.iterations), f64::max(left, f64::from(member.left)))
        })
    }
}
