//! One proximal problem: its impulses, its gradient, its matrix and a step of Newton's method.

use super::Proximal;
use super::order::NONE;
use crate::contact::problem::{Bound, Velocities};
use crate::contact::sweep::project_disc;
use crate::math::Twist;
use crate::math::mass::BodyMass;
use crate::model::settings::FrictionModel;

/// Trials of a line search at most.
const TRIALS: usize = 40;
/// Share of the first slope at which it ends.
const LEVEL: f64 = 0.1;

impl Proximal<'_> {
    /// Takes over velocities and impulses, and finds J over L.
    pub(super) fn enter(&mut self, velocities: &Velocities, impulses: &[f64]) {
        let m = &mut *self.memory;
        m.roots.clear();
        m.roots.extend(self.order.bodies().iter().map(|&i| root(&self.problem.bodies[i as usize])));
        m.entry.clear();
        m.entry.extend_from_slice(impulses);
        m.center.clone_from(&m.entry);
        m.impulses.clone_from(&m.entry);
        m.change.clear();
        m.change.resize(6 * self.order.len(), 0.0);
        m.direction.clone_from(&m.change);
        m.rows.clear();
        m.start.clear();
        for block in &self.problem.blocks {
            let at = [self.order.place(&block.a), self.order.place(&block.b)];
            let twist = [&block.a, &block.b].map(|side| match side {
                crate::contact::ContactSide::Body(i) => velocities.bodies[*i as usize],
                _ => Twist::default(),
            });
            for row in &self.problem.rows[block.rows()] {
                let mut over = [[0.0; 6]; 2];
                let mut w = row.bias;
                for (k, (arm, sign)) in
                    [(row.arm_a, -1.0), (row.arm_b, 1.0)].into_iter().enumerate()
                {
                    w += sign * (row.direction.dot(twist[k].linear) + arm.dot(twist[k].angular));
                    if at[k] == NONE {
                        continue;
                    }
                    let [x, y, z, l11, l21, l22, l31, l32, l33] = m.roots[at[k] as usize];
                    let d = sign * row.direction;
                    let r = sign * arm;
                    over[k] = [
                        x * d.x,
                        y * d.y,
                        z * d.z,
                        l11 * r.x + l21 * r.y + l31 * r.z,
                        l22 * r.y + l32 * r.z,
                        l33 * r.z,
                    ];
                }
                m.rows.push(over);
                m.start.push(w);
            }
        }
        m.speed.clone_from(&m.start);
        m.gain.clear();
        m.gain.resize(m.rows.len(), 0.0);
        m.stiffness.clear();
        m.stiffness.resize(m.rows.len(), 0.0);
    }

    /// ẑ ← z, and r of this softness.
    pub(super) fn soften(&mut self, softness: f64) {
        let m = &mut *self.memory;
        m.center.clone_from(&m.impulses);
        for (i, row) in self.problem.rows.iter().enumerate() {
            m.stiffness[i] = softness * self.effective[i].largest + row.compliance;
        }
    }

    /// z of the velocities now.
    pub(super) fn respond(&mut self) {
        let mut i = 0;
        while i < self.problem.rows.len() {
            match self.problem.rows[i].bound {
                Bound::Interval { lower, upper } => {
                    let z = self.tried(i);
                    self.memory.impulses[i] = if self.effective[i].inverse > 0.0 {
                        z.max(lower).min(upper)
                    } else {
                        self.memory.center[i]
                    };
                    i += 1;
                }
                Bound::Friction { normal, coefficient } => {
                    let radius = coefficient * self.memory.center[normal as usize].max(0.0);
                    let y = [self.tried(i), self.tried(i + 1)];
                    let z = match self.problem.friction {
                        FrictionModel::Cone => project_disc(y, radius),
                        FrictionModel::Pyramid => y.map(|y| y.max(-radius).min(radius)),
                    };
                    self.memory.impulses[i..i + 2].copy_from_slice(&z);
                    i += 2;
                }
            }
        }
    }

    /// (r ẑ − (J v + b))/(r + Γ), before it is projected; 0 where nothing can move.
    fn tried(&self, i: usize) -> f64 {
        let m = &*self.memory;
        let stiffness = m.stiffness[i];
        if self.effective[i].largest == 0.0 || stiffness == 0.0 {
            return 0.0;
        }
        let soft = stiffness - self.problem.rows[i].compliance;
        (soft * m.center[i] - m.speed[i]) / stiffness
    }

    /// One step of Newton's method: whether there was one, where the gradient is above the noise; none if
    /// there is no way down. Gradients are velocities over L.
    pub(super) fn descend(&mut self, noise: f64) -> Option<bool> {
        self.gradient();
        let m = &mut *self.memory;
        // over L a velocity of one body has the size √m
        let steep = m.direction.chunks_exact(6).zip(&m.roots).fold(0.0_f64, |most, (g, root)| {
            let speeds = g[..3].iter().zip(root).map(|(g, root)| (g * root).abs());
            g[3..].iter().map(|g| g.abs() * root[0]).chain(speeds).fold(most, f64::max)
        });
        if steep <= noise {
            return Some(false);
        }
        m.matrix.clear();
        for i in 0..6 * self.order.len() {
            m.matrix.add(i, i, 1.0);
        }
        self.assemble();
        let m = &mut *self.memory;
        if !m.matrix.factor() {
            return None;
        }
        m.direction.iter_mut().for_each(|g| *g = -*g);
        m.matrix.solve(&mut m.direction);
        self.search().then_some(true)
    }

    /// y − JᵀΔz into the place of the direction.
    fn gradient(&mut self) {
        let m = &mut *self.memory;
        m.direction.clone_from(&m.change);
        for block in &self.problem.blocks {
            for (k, side) in [&block.a, &block.b].into_iter().enumerate() {
                let at = self.order.place(side);
                if at == NONE {
                    continue;
                }
                let out = &mut m.direction[6 * at as usize..][..6];
                for i in block.rows() {
                    let z = m.impulses[i] - m.entry[i];
                    out.iter_mut().zip(&m.rows[i][k]).for_each(|(out, j)| *out -= j * z);
                }
            }
        }
    }

    /// J times a change of velocity.
    fn speeds(&self, change: &[f64], mut out: impl FnMut(usize, f64)) {
        for block in &self.problem.blocks {
            let at = [self.order.place(&block.a), self.order.place(&block.b)];
            for i in block.rows() {
                let mut sum = 0.0;
                for k in 0..2 {
                    if at[k] != NONE {
                        let own = &change[6 * at[k] as usize..][..6];
                        sum += own
                            .iter()
                            .zip(&self.memory.rows[i][k])
                            .map(|(v, j)| v * j)
                            .sum::<f64>();
                    }
                }
                out(i, sum);
            }
        }
    }

    /// Adds JᵀDJ of the rows as they are.
    fn assemble(&mut self) {
        for block in &self.problem.blocks {
            let at = [self.order.place(&block.a), self.order.place(&block.b)];
            let mut i = block.row_start as usize;
            let end = block.rows().end;
            while i < end {
                match self.problem.rows[i].bound {
                    Bound::Interval { lower, upper } => {
                        let z = self.tried(i);
                        if z >= lower && z <= upper && self.effective[i].inverse > 0.0 {
                            self.add(at, i, i, 1.0 / self.memory.stiffness[i]);
                        }
                        i += 1;
                    }
                    Bound::Friction { normal, coefficient } => {
                        let radius = coefficient * self.memory.center[normal as usize].max(0.0);
                        self.assemble_friction(at, i, radius);
                        i += 2;
                    }
                }
            }
        }
    }

    fn assemble_friction(&mut self, at: [u32; 2], i: usize, radius: f64) {
        if radius == 0.0 || self.effective[i].largest == 0.0 || self.memory.stiffness[i] == 0.0 {
            return;
        }
        let d = 1.0 / self.memory.stiffness[i];
        let y = [self.tried(i), self.tried(i + 1)];
        match self.problem.friction {
            FrictionModel::Cone => {
                let length = (y[0] * y[0] + y[1] * y[1]).sqrt();
                let inside = length <= radius;
                let bend = if inside { d } else { d * radius / length };
                let along = if inside { [0.0; 2] } else { y.map(|y| y / length) };
                for (a, b) in [(0, 0), (0, 1), (1, 1)] {
                    let across = f64::from(u8::from(a == b)) - along[a] * along[b];
                    if across != 0.0 {
                        self.add(at, i + a, i + b, bend * across);
                    }
                }
            }
            FrictionModel::Pyramid => {
                for (k, y) in y.iter().enumerate() {
                    if y.abs() < radius {
                        self.add(at, i + k, i + k, d);
                    }
                }
            }
        }
    }

    /// Adds d·(JᵢᵀJₖ + JₖᵀJᵢ), half of that where both are the same row.
    fn add(&mut self, at: [u32; 2], i: usize, k: usize, d: f64) {
        let (one, other) = (self.memory.rows[i], self.memory.rows[k]);
        for (p, q) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            if at[p] == NONE || at[q] == NONE || at[p] < at[q] {
                continue;
            }
            let (x, y) = (6 * at[p] as usize, 6 * at[q] as usize);
            for a in 0..6 {
                let upto = if p == q { a + 1 } else { 6 };
                for b in 0..upto {
                    let mut value = one[p][a] * other[q][b];
                    if i != k {
                        value += other[p][a] * one[q][b];
                    }
                    self.memory.matrix.add(x + a, y + b, d * value);
                }
            }
        }
    }

    /// Goes along the direction to where the slope vanishes, nearly; false where it leads nowhere.
    fn search(&mut self) -> bool {
        let mut gain = std::mem::take(&mut self.memory.gain);
        self.speeds(&self.memory.direction, |i, x| gain[i] = x);
        self.memory.gain = gain;
        let first = self.slope();
        if first >= 0.0 {
            return false;
        }
        let (mut low, mut high, mut at, mut now) = ((0.0, first), None::<(f64, f64)>, 1.0, 0.0);
        for trial in 0..TRIALS {
            self.go(at - now);
            now = at;
            self.respond();
            let slope = self.slope();
            // a step that does not overshoot is taken whole
            if slope.abs() <= LEVEL * first.abs() || (slope < 0.0 && high.is_none()) {
                break;
            }
            if slope < 0.0 {
                low = (at, slope);
            } else {
                high = Some((at, slope));
            }
            let Some(high) = high else { break };
            // edges of discs are narrow: the secant finds those near, halves the others
            let secant = low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1);
            at = if trial % 2 == 0 { secant } else { 0.5 * (low.0 + high.0) };
        }
        true
    }

    /// Goes on by a share of the direction.
    fn go(&mut self, share: f64) {
        let m = &mut *self.memory;
        m.change.iter_mut().zip(&m.direction).for_each(|(v, p)| *v += share * p);
        m.speed.iter_mut().zip(&m.gain).for_each(|(w, gain)| *w += share * gain);
    }

    /// Derivative along the direction of what is minimized.
    fn slope(&self) -> f64 {
        let m = &*self.memory;
        let own: f64 = m.change.iter().zip(&m.direction).map(|(v, p)| v * p).sum();
        let rows = m.impulses.iter().zip(&m.entry).zip(&m.gain);
        own - rows.map(|((z, z0), gain)| (z - z0) * gain).sum::<f64>()
    }

    /// Makes the velocities those of the impulses exactly. Returns the largest natural-map residual of the
    /// problem itself, m/s.
    pub(super) fn accept(&mut self) -> f64 {
        self.memory.change.fill(0.0);
        self.gradient();
        let m = &mut *self.memory;
        m.change.iter_mut().zip(&m.direction).for_each(|(v, g)| *v = -g);
        let mut speed = std::mem::take(&mut self.memory.speed);
        self.speeds(&self.memory.change, |i, x| speed[i] = self.memory.start[i] + x);
        self.memory.speed = speed;
        self.left()
    }

    fn left(&self) -> f64 {
        let m = &*self.memory;
        let mut worst = 0.0_f64;
        let mut i = 0;
        let stepped = |i: usize| {
            let w = m.speed[i] + self.problem.rows[i].compliance * m.impulses[i];
            m.impulses[i] - w / self.effective[i].largest
        };
        while i < self.problem.rows.len() {
            let largest = self.effective[i].largest;
            match self.problem.rows[i].bound {
                Bound::Interval { lower, upper } => {
                    if self.effective[i].inverse > 0.0 {
                        let z = stepped(i).max(lower).min(upper);
                        worst = worst.max((m.impulses[i] - z).abs() * largest);
                    }
                    i += 1;
                }
                Bound::Friction { normal, coefficient } => {
                    if largest > 0.0 {
                        let radius = coefficient * m.impulses[normal as usize].max(0.0);
                        let y = [stepped(i), stepped(i + 1)];
                        let z = match self.problem.friction {
                            FrictionModel::Cone => project_disc(y, radius),
                            FrictionModel::Pyramid => y.map(|y| y.max(-radius).min(radius)),
                        };
                        let gap = [m.impulses[i] - z[0], m.impulses[i + 1] - z[1]];
                        worst = worst.max((gap[0] * gap[0] + gap[1] * gap[1]).sqrt() * largest);
                    }
                    i += 2;
                }
            }
        }
        worst
    }
}

/// L of a body: M⁻¹ = LLᵀ.
fn root(mass: &BodyMass) -> [f64; 9] {
    let linear = [mass.inv_mass.x, mass.inv_mass.y, mass.inv_mass.z].map(f64::sqrt);
    let i = &mass.inv_inertia;
    // what does not turn about an axis has zeros there
    let sqrt = |x: f64, scale: f64| if x > 1e-14 * scale { x.sqrt() } else { 0.0 };
    let over = |x: f64, by: f64| if by > 0.0 { x / by } else { 0.0 };
    let l11 = sqrt(i.x_axis.x, i.x_axis.x);
    let (l21, l31) = (over(i.x_axis.y, l11), over(i.x_axis.z, l11));
    let l22 = sqrt(i.y_axis.y - l21 * l21, i.y_axis.y);
    let l32 = over(i.y_axis.z - l31 * l21, l22);
    let l33 = sqrt(i.z_axis.z - l31 * l31 - l32 * l32, i.z_axis.z);
    [linear[0], linear[1], linear[2], l11, l21, l22, l31, l32, l33]
}
