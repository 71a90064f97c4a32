//! A substep in which the Newton iterations on the positions do not arrive.
//!
//! Bodies may turn too far for them; or the joints leave no room. A chain that exactly fills its span
//! has rows that are free to first order (J of the whole loop has no pivot) while any sag needs a stretch
//! of second order, so that no λ along J at the start of the substep ends at C = 0, and λ along a J with
//! hardly a pivot throws bodies about. Such a substep is taken in two parts that cannot add energy:
//!
//!   v ← v + M⁻¹Jᵀλ with J v = 0           a projection, which shortens v in the norm of M
//!   x ← x + h v, then Newton on C(x) = 0   with J at every iterate, each step of it a descent of |C|²
//!
//! The Newton moves are impulses d = M⁻¹Σ Jᵀλ/h that were missing before the move, so velocities get
//! them too, but only as far as that takes energy: v ← v + α d with α from 0 to 1 that leaves the
//! smallest norm of v.
//! This stops what the rows at the end do not see, since their J has lost its pivot again.

use super::island::{JointIsland, Stage};
use super::system::{JointRow, Role, Status};
use crate::math::{Quat, Twist, Vec3, rotation_from_vector};
use crate::model::joint::description::Enforcement;

/// Places looked at by Newton at most.
const STEPS: usize = 24;
/// Halvings of one step at most.
const HALVINGS: usize = 6;
/// Part of the promised descent of |C|² that makes a step worth taking.
const ENOUGH: f64 = 0.1;
/// Farthest that one step moves a centre or turns a body, m and rad.
const FAR: f64 = 0.5;
/// |C| at which no more steps are taken.
const CLOSE: f64 = 1e-11;
/// |C| from which only full steps are taken: near a place without pivots halved ones gain nothing.
const NEAR: f64 = 1e-8;
/// |C|² left of 1 by a step towards a double root, 1/16, with some room.
const DOUBLE_ROOT: std::ops::Range<f64> = 0.04..0.1;

/// Gaps that closing them may throw bodies about, m and rad.
const APART: f64 = 1e-9;
/// Work of joints on bodies that turn by a radian in a substep, of their kinetic energy.
const TURNING: f64 = 0.25;
/// Speeds that do not matter, m/s.
const NOISE: f64 = 1e-3;

/// Memory of the fallback.
#[derive(Clone, Debug, Default)]
pub(crate) struct FallBack {
    /// Velocities before joints and contacts were solved.
    v: Vec<Twist>,
    /// Rows at that time.
    rows: Vec<JointRow>,
    /// Impulses of contacts at that time.
    impulses: Vec<f64>,
    /// Where a Newton step begins.
    from: Vec<(Vec3, Quat)>,
    /// Sum of all moves.
    sum: Vec<Twist>,
    /// Reactions, for every link: before, of one step, of all steps.
    reactions: Vec<[[Vec3; 2]; 3]>,
}

impl JointIsland {
    /// Remembers what the substep would be taken from again.
    pub fn keep_entry(&mut self, impulses: &[f64]) {
        self.fall_back.v.clone_from(&self.v);
        self.fall_back.rows.clone_from(&self.system.rows);
        self.fall_back.impulses.clear();
        self.fall_back.impulses.extend_from_slice(impulses);
    }

    /// Whether closing gaps that were there at the start throws bodies about: rows that hold do far
    /// more work than the turning of bodies in a substep explains.
    pub fn throws(&self, stage: &Stage) -> bool {
        let entry = &self.fall_back;
        let holds = |row: &JointRow| row.role == Role::Hold && row.status == Status::Free;
        let apart = self.system.links.iter().any(|link| {
            (link.row_start..link.row_start + link.row_count).any(|r| {
                let (r, row) = (r as usize, &entry.rows[r as usize]);
                let least = stage.pace.way(self.turns(stage.model, link, r), APART);
                holds(row) && row.error.abs() > least
            })
        });
        if !apart {
            return false;
        }
        let mut work = 0.0;
        for link in &self.system.links {
            // what moves with time does work by right
            let moving = self.rates_of_time(stage, link);
            for k in 0..link.row_count as usize {
                let r = link.row_start as usize + k;
                if holds(&self.system.rows[r]) {
                    let before = self.system.rate(link, r, &entry.v);
                    let after = self.system.rate(link, r, &self.v);
                    let drift = moving.get(k).copied().unwrap_or(0.0);
                    work += self.system.rows[r].impulse * (0.5 * (before + after) + drift);
                }
            }
        }
        let (mut kinetic, mut mass) = (0.0, 0.0);
        for (node, v) in self.system.nodes.iter().zip(&entry.v).filter(|(node, _)| node.movable) {
            kinetic += 0.5 * node.square(v);
            mass += node.mass;
        }
        // a NaN throws them too
        let noise = stage.pace.rate(false, NOISE);
        let explained = work <= TURNING * kinetic + 0.5 * mass * noise * noise;
        !explained
    }

    /// Goes back there, with rows that want velocities to fit and close no gaps.
    pub fn begin_again(&mut self, stage: &Stage, impulses: &mut [f64]) {
        self.v.clone_from(&self.fall_back.v);
        impulses.copy_from_slice(&self.fall_back.impulses);
        self.system.rows.clone_from(&self.fall_back.rows);
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            let stiff = self.locals[l].way == Enforcement::Stabilized;
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let row = &mut self.system.rows[r];
                match row.role {
                    Role::Hold if stiff => row.bias = 0.0,
                    Role::Low | Role::High => row.bias = row.error.max(0.0) / stage.h,
                    _ => {}
                }
            }
        }
        self.want_rates_of_time(stage);
        self.system.touch();
    }

    /// Moves the trial poses onto the constraint as far as they go, and takes from the velocities what
    /// went against it.
    pub fn pull_back(&mut self, stage: &Stage) {
        let ours = |way: &Enforcement| *way == Enforcement::Stabilized;
        self.kept_poses.clone_from(&self.poses);
        self.kept_rows.clone_from(&self.system.rows);
        let mut memory = std::mem::take(&mut self.fall_back);
        memory.from.clone_from(&self.trial);
        self.moves.clear();
        self.moves.resize(self.poses.len(), Twist::default());
        memory.sum.clear();
        memory.sum.resize(self.poses.len(), Twist::default());
        memory.reactions.clear();
        memory.reactions.extend(
            self.locals.iter().map(|l| [[l.push, l.turn], [Vec3::ZERO; 2], [Vec3::ZERO; 2]]),
        );
        // Σ λᵀJ v / h of one step and of all
        let (mut step_work, mut work, mut promised) = (0.0, 0.0, 0.0);
        let (mut share, mut best, mut tries, mut close) = (0.0_f64, f64::INFINITY, 0, false);
        for _ in 0..STEPS {
            self.poses.clone_from(&self.trial);
            self.place(stage);
            let worst = self.aim_to_close(stage, &ours);
            let left = self.squares();
            // a NaN does not
            let descends = left < best - ENOUGH * share.min(1.0) * promised;
            if !descends {
                tries += 1;
                share *= 0.5;
                if tries > HALVINGS || close || best == f64::INFINITY {
                    self.trial.clone_from(&memory.from);
                    break;
                }
                self.advance(&memory.from, share);
                continue;
            }
            // the step is taken
            work += share * step_work;
            for (sum, moved) in memory.sum.iter_mut().zip(&self.moves) {
                sum.linear += share / stage.h * moved.linear;
                sum.angular += share / stage.h * moved.angular;
            }
            for [_, step, all] in &mut memory.reactions {
                all[0] += share * step[0];
                all[1] += share * step[1];
            }
            memory.from.clone_from(&self.trial);
            if worst <= CLOSE {
                break;
            }
            close = worst <= NEAR;
            let double = tries == 0 && DOUBLE_ROOT.contains(&(left / best));
            (best, tries) = (left, 0);
            self.moves.clear();
            self.moves.resize(self.poses.len(), Twist::default());
            let mut moves = std::mem::take(&mut self.moves);
            self.system.solve(&mut moves);
            self.moves = moves;
            promised = left - self.squares_after();
            step_work = self.collect_step(stage, &mut memory);
            let length = stage.pace.length;
            let largest =
                |m: f64, v: &Twist| m.max(v.linear.length() / length).max(v.angular.length());
            let farthest = self.moves.iter().fold(0.0, largest);
            share = if double { 2.0_f64 } else { 1.0 };
            if farthest * share > FAR {
                share = FAR / farthest;
            }
            self.advance(&memory.from, share);
        }
        self.trial.clone_from(&memory.from);
        self.take_away(work, &memory);
        self.fall_back = memory;
        std::mem::swap(&mut self.poses, &mut self.kept_poses);
        std::mem::swap(&mut self.system.rows, &mut self.kept_rows);
        self.place(stage);
    }

    /// |C|² of the rows that are to be closed.
    fn squares(&self) -> f64 {
        let free = |row: &&JointRow| row.status == Status::Free;
        self.system.rows.iter().filter(free).map(|row| row.bias * row.bias).sum()
    }

    /// |C|² as the linearized rows promise it after the moves: what is left are rows without pivots.
    fn squares_after(&self) -> f64 {
        let mut sum = 0.0;
        for link in &self.system.links {
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let row = &self.system.rows[r];
                if row.status == Status::Free {
                    let c = self.system.rate(link, r, &self.moves) + row.bias;
                    sum += c * c;
                }
            }
        }
        sum
    }

    /// The trial poses a share of the moves away.
    fn advance(&mut self, from: &[(Vec3, Quat)], share: f64) {
        for ((pose, from), v) in self.trial.iter_mut().zip(from).zip(&self.moves) {
            pose.0 = from.0 + share * v.linear;
            pose.1 = (rotation_from_vector(share * v.angular) * from.1).normalize();
        }
    }

    /// Reactions of one Newton step; returns the power of its impulses at the velocities as they are.
    fn collect_step(&mut self, stage: &Stage, memory: &mut FallBack) -> f64 {
        for local in &mut self.locals {
            (local.push, local.turn) = (Vec3::ZERO, Vec3::ZERO);
        }
        self.collect_scaled(1.0 / stage.h);
        for (local, [_, step, _]) in self.locals.iter().zip(&mut memory.reactions) {
            *step = [local.push, local.turn];
        }
        let mut work = 0.0;
        for link in &self.system.links {
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let z = self.system.rows[r].impulse;
                if z != 0.0 {
                    work += z / stage.h * self.system.rate(link, r, &self.v);
                }
            }
        }
        work
    }

    /// v ← v + α d, where that has the least energy.
    fn take_away(&mut self, work: f64, memory: &FallBack) {
        let mut square = 0.0;
        for (node, d) in self.system.nodes.iter().zip(&memory.sum) {
            if node.movable {
                square += node.square(d);
            }
        }
        let alpha = if square > 0.0 { (-work / square).clamp(0.0, 1.0) } else { 0.0 };
        let alpha = if alpha.is_nan() { 0.0 } else { alpha };
        for (v, d) in self.v.iter_mut().zip(&memory.sum) {
            v.linear += alpha * d.linear;
            v.angular += alpha * d.angular;
        }
        for (local, [before, _, all]) in self.locals.iter_mut().zip(&memory.reactions) {
            local.push = before[0] + alpha * all[0];
            local.turn = before[1] + alpha * all[1];
        }
    }
}
