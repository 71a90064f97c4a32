//! Where limbs are, how they move, and how their rates change: the articulated-body algorithm, about
//! centres of mass in world axes.
//!
//! With P the anchor on side b, ρ = x − P, T and Ω the slide and turn of b against a, s = ±1 for the side
//! that the limb is, and d = x − x_p from the parent's centre,
//!
//!   ω = ω_p + s Ω,    v = v_p + ω_p × d + s T + s Ω × ρ
//!
//! are linear in the rates with the columns S, and with rates held the accelerations gain
//!
//!   c_ω = s Σ q̇ (ω_side × e),    c_v = ω_p × (v − v_p) + s ω_a × T + c_ω × ρ + s Ω × ρ̇,
//!
//! each axis e turning with its side. Inward, Iᴬ and pᴬ of what hangs on a limb are gathered without what
//! its joint gives way; outward, rates follow from the motion of the parent.

use super::Tree;
use super::forest::Limb;
use super::spatial::{Inertia, add, dot, factor, moved, scaled};
use crate::joint::geometry::{Turning, unit};
use crate::joint::system::NONE;
use crate::math::{Mat3, Quat, Twist, Vec3};

/// Where a limb is and how it moves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Motion {
    pub x: Vec3,
    pub rotation: Quat,
    pub v: Twist,
    /// In world axes.
    pub inertia: Mat3,
    /// Anchor on side b, m.
    pub anchor: Vec3,
    /// From the centre of the limb it hangs on.
    pub from_parent: Vec3,
    /// Acceleration with rates held.
    pub drift: Twist,
}

/// What hangs on a limb.
#[derive(Clone, Copy, Debug)]
pub(super) struct Articulated {
    pub inertia: Inertia,
    pub bias: Twist,
    /// Acceleration found.
    pub acceleration: Twist,
}

impl Tree {
    pub(super) fn resize(&mut self, freedoms: usize, factors: usize) {
        let limbs = self.limbs.len();
        self.motions.resize(limbs, Motion::default());
        let nothing = Twist::default();
        let empty = Articulated { inertia: Inertia::ZERO, bias: nothing, acceleration: nothing };
        self.articulated.resize(limbs, empty);
        self.start.resize(limbs, Default::default());
        self.places.resize(limbs, Default::default());
        self.columns.resize(freedoms, Twist::default());
        self.given.resize(freedoms, Twist::default());
        self.factors.resize(factors, 0.0);
        let stages = &mut self.stages;
        for list in [
            &mut self.rates,
            &mut self.start_rates,
            &mut self.found,
            &mut self.efforts,
            &mut self.pivots,
            &mut self.wanted,
            &mut stages.step,
            &mut stages.moved,
            &mut stages.gained,
            &mut stages.first_move,
            &mut stages.first_gain,
        ] {
            list.resize(freedoms, 0.0);
        }
    }

    /// Poses, velocities, columns and drifts at the coordinates and rates looked at; `fixed` are the poses
    /// of nodes that do not move.
    pub(super) fn put(&mut self, fixed: &[(Vec3, Quat)]) {
        for i in 0..self.limbs.len() {
            let limb = &self.limbs[i];
            let (on, v_on) = match limb.parent {
                NONE => (fixed[limb.on as usize], Twist::default()),
                parent => {
                    let motion = &self.motions[parent as usize];
                    ((motion.x, motion.rotation), motion.v)
                }
            };
            let place = &self.places[i];
            let (x, rotation, anchor) = limb.pose(place, on);
            let (from_parent, rho) = (x - on.0, x - anchor);
            let frame_a = match limb.sign > 0.0 {
                true => on.1 * limb.frames.basis_a,
                false => rotation * limb.frames.basis_a,
            };
            let range = limb.first as usize..(limb.first + limb.count) as usize;
            let columns = &mut self.columns[range.clone()];
            let slides = axes(limb, frame_a, place.turn, columns);
            let rates = &self.rates[range];
            let (mut slide, mut turn, mut by_b) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
            for (k, (column, &rate)) in columns.iter_mut().zip(rates).enumerate() {
                if k < slides {
                    slide += rate * column.linear;
                } else {
                    let e = column.angular;
                    turn += rate * e;
                    if k == slides + 1 && matches!(limb.turning, Turning::Two(..)) {
                        by_b = rate * e;
                    }
                    column.linear = e.cross(rho);
                }
                *column = scaled(column, limb.sign);
            }
            let (slide, turn, by_b) = (limb.sign * slide, limb.sign * turn, limb.sign * by_b);
            let v = Twist {
                linear: v_on.linear + v_on.angular.cross(from_parent) + slide + turn.cross(rho),
                angular: v_on.angular + turn,
            };
            let (v_a, v_b, x_b) = if limb.sign > 0.0 { (v_on, v, x) } else { (v, v_on, on.0) };
            let c_turn = v_a.angular.cross(turn - by_b) + v_b.angular.cross(by_b);
            let anchor_v = v_b.linear + v_b.angular.cross(anchor - x_b);
            let drift = Twist {
                linear: v_on.angular.cross(v.linear - v_on.linear)
                    + v_a.angular.cross(slide)
                    + c_turn.cross(rho)
                    + turn.cross(v.linear - anchor_v),
                angular: c_turn,
            };
            let r = Mat3::from_quat(rotation);
            let inertia = r * limb.inertia * r.transpose();
            self.motions[i] = Motion { x, rotation, v, inertia, anchor, from_parent, drift };
        }
    }

    /// Solves for `found` under `efforts` and the bias of every limb; without drift, a bias of minus the
    /// momenta makes `found` the rates that have them.
    pub(super) fn solve(&mut self, drifts: bool) {
        // with what it takes to put them, by count of the code
        self.work += 430 * self.limbs.len() as u64 + 95 * self.found.len() as u64;
        for (whole, (limb, motion)) in
            self.articulated.iter_mut().zip(self.limbs.iter().zip(&self.motions))
        {
            whole.inertia = Inertia::of(limb.mass, motion.inertia);
        }
        for i in (0..self.limbs.len()).rev() {
            self.gather(i, drifts);
        }
        for i in 0..self.limbs.len() {
            self.spread(i, drifts);
        }
    }

    /// Adds what limb `i` is without its joint to the one it hangs on.
    fn gather(&mut self, i: usize, drifts: bool) {
        let limb = &self.limbs[i];
        let (n, first) = (limb.count as usize, limb.first as usize);
        let Articulated { inertia, bias, .. } = self.articulated[i];
        let columns = &self.columns[first..first + n];
        let given = &mut self.given[first..first + n];
        let m = &mut self.factors[limb.factor as usize..][..n * n];
        let wanted = &mut self.wanted[first..first + n];
        for k in 0..n {
            given[k] = inertia.times(&columns[k]);
            wanted[k] = self.efforts[first + k] - dot(&columns[k], &bias);
            for l in 0..=k {
                m[k * n + l] = dot(&columns[k], &given[l]);
            }
        }
        for row in &self.rows[limb.first_row as usize..][..limb.row_count as usize] {
            if row.extra > 0.0 {
                for k in 0..n {
                    for l in 0..=k {
                        m[k * n + l] += row.extra * row.along[k] * row.along[l];
                    }
                }
            }
        }
        let pivots = &mut self.pivots[first..first + n];
        factor(n, m, pivots);
        for k in 0..n {
            for l in 0..k {
                let x = m[k * n + l];
                wanted[k] -= x * wanted[l];
                let taken = scaled(&given[l], -x);
                given[k] = add(given[k], taken);
            }
        }
        if limb.parent == NONE {
            return;
        }
        let (mut left, mut push) = (inertia, bias);
        for k in 0..n {
            left.reduce(&given[k], pivots[k]);
            push = add(push, scaled(&given[k], pivots[k] * wanted[k]));
        }
        let motion = &self.motions[i];
        if drifts {
            push = add(push, left.times(&motion.drift));
        }
        let d = motion.from_parent;
        let parent = &mut self.articulated[limb.parent as usize];
        parent.inertia.add_from(&left, d);
        parent.bias.linear += push.linear;
        parent.bias.angular += push.angular + d.cross(push.linear);
    }

    /// What the motion of the parent leaves limb `i` to find.
    fn spread(&mut self, i: usize, drifts: bool) {
        let limb = &self.limbs[i];
        let (n, first) = (limb.count as usize, limb.first as usize);
        let motion = &self.motions[i];
        let mut a = match limb.parent {
            NONE => Twist::default(),
            parent => moved(&self.articulated[parent as usize].acceleration, motion.from_parent),
        };
        if drifts {
            a = add(a, motion.drift);
        }
        let m = &self.factors[limb.factor as usize..][..n * n];
        let found = &mut self.found[first..first + n];
        for (k, found) in found.iter_mut().enumerate() {
            let given = dot(&self.given[first + k], &a);
            *found = self.pivots[first + k] * (self.wanted[first + k] - given);
        }
        for k in (0..n).rev() {
            for l in k + 1..n {
                found[k] -= m[l * n + k] * found[l];
            }
        }
        for (column, &found) in self.columns[first..].iter().zip(found.iter()) {
            a = add(a, scaled(column, found));
        }
        self.articulated[i].acceleration = a;
    }

    /// Fastest that anything swings under the forces of the last solve, and turns, 1/s. A force f at the
    /// arm r resists a turn with (f·r) 1 − ½(r fᵀ + f rᵀ) (`joint::stiffness`).
    pub(super) fn fastest(&mut self) -> (f64, f64) {
        let swings = &mut self.books.swings;
        swings.clear();
        swings.resize(self.limbs.len(), Mat3::ZERO);
        let outer = |a: Vec3, b: Vec3| Mat3::from_cols(a * b.x, a * b.y, a * b.z);
        let stiff = |f: Vec3, r: Vec3| {
            Mat3::from_diagonal(Vec3::splat(f.dot(r))) - 0.5 * (outer(r, f) + outer(f, r))
        };
        // what hangs on something that does not move turns about its anchor, else about its centre
        let grounded = |limb: &Limb| limb.link != NONE && limb.parent == NONE;
        for (i, limb) in self.limbs.iter().enumerate() {
            if limb.link == NONE {
                continue;
            }
            let (whole, motion) = (&self.articulated[i], &self.motions[i]);
            let force = add(whole.inertia.times(&whole.acceleration), whole.bias).linear;
            let arm = motion.anchor - motion.x;
            // a force at the anchor is balanced at the centre
            swings[i] += stiff(force, arm);
            if limb.parent != NONE {
                let parent = &self.motions[limb.parent as usize];
                let arm = motion.anchor - parent.x;
                let mut swing = stiff(-force, arm);
                if grounded(&self.limbs[limb.parent as usize]) {
                    let to_center = parent.x - parent.anchor;
                    swing = stiff(-force, arm + to_center) + stiff(force, to_center);
                }
                swings[limb.parent as usize] += swing;
            }
        }
        let mut most = [0.0_f64; 2];
        for ((limb, motion), swing) in self.limbs.iter().zip(&self.motions).zip(swings) {
            let mut inertia = motion.inertia;
            if grounded(limb) {
                let r = motion.x - motion.anchor;
                let square = Mat3::from_diagonal(Vec3::splat(r.length_squared()));
                inertia += limb.mass * (square - outer(r, r));
            }
            let turn = inertia.inverse() * *swing;
            let squares = turn.to_cols_array().iter().map(|x| x * x).sum::<f64>();
            let omega = motion.v.angular.length_squared();
            // a NaN is fastest of all
            for (most, x) in most.iter_mut().zip([squares.sqrt(), omega]) {
                *most = if x > *most || x.is_nan() { x } else { *most };
            }
        }
        (most[0].sqrt(), most[1].sqrt())
    }
}

/// Axes of a limb's freedoms in the world: slides, then turns. Returns the number of slides.
fn axes(limb: &Limb, frame_a: Quat, turn: Quat, columns: &mut [Twist]) -> usize {
    let mut k = 0;
    for i in (0..3).filter(|&i| limb.slides[i]) {
        columns[k] = Twist { linear: frame_a * unit(i), angular: Vec3::ZERO };
        k += 1;
    }
    let slides = k;
    let mut turn_about = |e: Vec3| {
        columns[k] = Twist { linear: Vec3::ZERO, angular: e };
        k += 1;
    };
    match limb.turning {
        Turning::None => {}
        Turning::One(i) => turn_about(frame_a * unit(i)),
        Turning::Two(i, j, _) => {
            turn_about(frame_a * unit(i));
            turn_about(frame_a * (turn * unit(j)));
        }
        Turning::Three => (0..3).for_each(|i| turn_about(frame_a * unit(i))),
    }
    slides
}
