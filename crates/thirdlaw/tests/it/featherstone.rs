//! A chain of hinges in reduced coordinates: the articulated-body algorithm (Featherstone 1983), written
//! on its own so that the engine can be held against it. Angles are the only unknowns, so that there
//! is nothing to drift, and one evaluation costs as many operations for every link.
//!
//! Every link has its frame at the hinge to the link before it, x along the bar. Spatial vectors are
//! (angular, linear); E turns from the frame of the link before into that of the link, r = (l, 0, 0) leads
//! from one hinge to the next.

use thirdlaw::{Mat3, Quat, Vec3};

/// A bar with hinges at its ends.
#[derive(Clone, Copy)]
pub struct Bar {
    /// m.
    pub length: f64,
    /// kg.
    pub mass: f64,
    /// About the middle, kg·m².
    pub inertia: Vec3,
}

/// A chain of equal bars that hangs at the origin.
pub struct Chain {
    pub bar: Bar,
    /// Axis of the hinge at the beginning of each bar, in its own frame; unit length.
    pub axes: Vec<Vec3>,
    pub gravity: Vec3,
    /// Angles, rad.
    pub q: Vec<f64>,
    /// Their rates, rad/s.
    pub rates: Vec<f64>,
    links: Vec<Link>,
}

/// A motion or a force: what turns, and what is straight.
#[derive(Clone, Copy, Default)]
struct Spatial {
    turn: Vec3,
    line: Vec3,
}

/// A symmetric spatial inertia [[A, B], [Bᵀ, D]].
#[derive(Clone, Copy, Default)]
struct Inertia {
    a: Mat3,
    b: Mat3,
    d: Mat3,
}

#[derive(Clone, Copy, Default)]
struct Link {
    /// E.
    turn: Mat3,
    velocity: Spatial,
    /// v × S q̇.
    drift: Spatial,
    inertia: Inertia,
    bias: Spatial,
    /// I S.
    column: Spatial,
    /// SᵀI S.
    pivot: f64,
    /// τ − Sᵀp.
    effort: f64,
}

impl Spatial {
    fn add(self, other: Spatial) -> Spatial {
        Spatial { turn: self.turn + other.turn, line: self.line + other.line }
    }

    fn times(self, x: f64) -> Spatial {
        Spatial { turn: self.turn * x, line: self.line * x }
    }

    fn dot(self, other: Spatial) -> f64 {
        self.turn.dot(other.turn) + self.line.dot(other.line)
    }

    /// From the frame of the link before.
    fn down(self, e: &Mat3, r: Vec3) -> Spatial {
        Spatial { turn: *e * self.turn, line: *e * (self.line + self.turn.cross(r)) }
    }

    /// A force, into the frame of the link before.
    fn up(self, e: &Mat3, r: Vec3) -> Spatial {
        let back = e.transpose();
        let line = back * self.line;
        Spatial { turn: back * self.turn + r.cross(line), line }
    }
}

fn cross_matrix(r: Vec3) -> Mat3 {
    Mat3::from_cols(Vec3::new(0.0, r.z, -r.y), Vec3::new(-r.z, 0.0, r.x), Vec3::new(r.y, -r.x, 0.0))
}

/// a bᵀ.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl Inertia {
    /// Of a bar, about its first hinge.
    fn of(bar: &Bar) -> Inertia {
        let c = cross_matrix(Vec3::new(0.5 * bar.length, 0.0, 0.0));
        Inertia {
            a: Mat3::from_diagonal(bar.inertia) + bar.mass * (c * c.transpose()),
            b: bar.mass * c,
            d: Mat3::from_diagonal(Vec3::splat(bar.mass)),
        }
    }

    fn times(&self, v: Spatial) -> Spatial {
        Spatial {
            turn: self.a * v.turn + self.b * v.line,
            line: self.b.transpose() * v.turn + self.d * v.line,
        }
    }

    /// Without what the column c gives up: I − c cᵀ/p.
    fn without(&self, c: Spatial, p: f64) -> Inertia {
        Inertia {
            a: self.a - outer(c.turn / p, c.turn),
            b: self.b - outer(c.turn / p, c.line),
            d: self.d - outer(c.line / p, c.line),
        }
    }

    /// Into the frame of the link before.
    fn up(&self, e: &Mat3, r: Vec3) -> Inertia {
        let back = e.transpose();
        let (a, b, d) = (back * self.a * *e, back * self.b * *e, back * self.d * *e);
        let r = cross_matrix(r);
        let br = b * r;
        Inertia { a: a - br - br.transpose() - r * d * r, b: b + r * d, d }
    }

    fn add(&mut self, other: &Inertia) {
        self.a += other.a;
        self.b += other.b;
        self.d += other.d;
    }
}

impl Chain {
    /// A straight chain along x, at rest.
    pub fn new(bar: Bar, axes: Vec<Vec3>, gravity: Vec3) -> Chain {
        let n = axes.len();
        Chain {
            bar,
            axes,
            gravity,
            q: vec![0.0; n],
            rates: vec![0.0; n],
            links: vec![Link::default(); n],
        }
    }

    fn step_along(&self) -> Vec3 {
        Vec3::new(self.bar.length, 0.0, 0.0)
    }

    /// The frames and velocities of all links.
    fn place(&mut self, q: &[f64], rates: &[f64]) {
        let along = self.step_along();
        let mut before = Spatial::default();
        for (i, link) in self.links.iter_mut().enumerate() {
            let axis = self.axes[i];
            let r = if i == 0 { Vec3::ZERO } else { along };
            link.turn = Mat3::from_quat(Quat::from_axis_angle(axis, -q[i]));
            let spin = axis * rates[i];
            let mut v = before.down(&link.turn, r);
            v.turn += spin;
            link.velocity = v;
            link.drift = Spatial { turn: v.turn.cross(spin), line: v.line.cross(spin) };
            before = v;
        }
    }

    /// Accelerations of the angles.
    pub fn accelerations(&mut self, q: &[f64], rates: &[f64], out: &mut [f64]) {
        self.place(q, rates);
        let own = Inertia::of(&self.bar);
        let along = self.step_along();
        for link in &mut self.links {
            let v = link.velocity;
            let p = own.times(v);
            link.inertia = own;
            link.bias = Spatial {
                turn: v.turn.cross(p.turn) + v.line.cross(p.line),
                line: v.turn.cross(p.line),
            };
        }
        for i in (0..self.links.len()).rev() {
            let s = Spatial { turn: self.axes[i], line: Vec3::ZERO };
            let link = &mut self.links[i];
            link.column = link.inertia.times(s);
            link.pivot = s.dot(link.column);
            link.effort = -s.dot(link.bias);
            if i > 0 {
                let rest = link.inertia.without(link.column, link.pivot);
                let bias = link
                    .bias
                    .add(rest.times(link.drift))
                    .add(link.column.times(link.effort / link.pivot));
                let e = link.turn;
                self.links[i - 1].inertia.add(&rest.up(&e, along));
                self.links[i - 1].bias = self.links[i - 1].bias.add(bias.up(&e, along));
            }
        }
        // a frame that accelerates upwards is gravity
        let mut before = Spatial { turn: Vec3::ZERO, line: -self.gravity };
        for (i, link) in self.links.iter().enumerate() {
            let r = if i == 0 { Vec3::ZERO } else { along };
            let mut a = before.down(&link.turn, r).add(link.drift);
            out[i] = (link.effort - link.column.dot(a)) / link.pivot;
            a.turn += self.axes[i] * out[i];
            before = a;
        }
    }

    /// One step of the classical Runge–Kutta method, four evaluations.
    pub fn runge_kutta(&mut self, h: f64) {
        let n = self.q.len();
        let (q0, u0) = (self.q.clone(), self.rates.clone());
        let (mut q, mut u) = (q0.clone(), u0.clone());
        let mut a = vec![0.0; n];
        for (at, weight) in [(0.5, 1.0), (0.5, 2.0), (1.0, 2.0), (0.0, 1.0)] {
            self.accelerations(&q, &u, &mut a);
            for i in 0..n {
                self.q[i] += h / 6.0 * weight * u[i];
                self.rates[i] += h / 6.0 * weight * a[i];
                (q[i], u[i]) = (q0[i] + at * h * u[i], u0[i] + at * h * a[i]);
            }
        }
    }

    /// One step of the explicit midpoint rule, two evaluations.
    pub fn midpoint(&mut self, h: f64) {
        let (q0, u0) = (self.q.clone(), self.rates.clone());
        let mut a = vec![0.0; q0.len()];
        self.accelerations(&q0, &u0, &mut a);
        let half = |x: &[f64], rate: &[f64]| -> Vec<f64> {
            x.iter().zip(rate).map(|(x, rate)| x + 0.5 * h * rate).collect()
        };
        let (q, u) = (half(&q0, &u0), half(&u0, &a));
        self.accelerations(&q, &u, &mut a);
        for (i, (u, a)) in u.into_iter().zip(a).enumerate() {
            self.q[i] += h * u;
            self.rates[i] += h * a;
        }
    }

    /// One step of semi-implicit Euler, one evaluation.
    pub fn euler(&mut self, h: f64) {
        let (q, u) = (self.q.clone(), self.rates.clone());
        let mut a = vec![0.0; q.len()];
        self.accelerations(&q, &u, &mut a);
        for (i, a) in a.into_iter().enumerate() {
            self.rates[i] += h * a;
            self.q[i] += h * self.rates[i];
        }
    }

    /// Middles of all bars in the world, m.
    pub fn middles(&self) -> Vec<Vec3> {
        let (mut place, mut turn) = (Vec3::ZERO, Quat::IDENTITY);
        let mut out = Vec::new();
        for (q, axis) in self.q.iter().zip(&self.axes) {
            turn *= Quat::from_axis_angle(*axis, *q);
            let along = turn * self.step_along();
            out.push(place + 0.5 * along);
            place += along;
        }
        out
    }

    /// Kinetic energy and energy in the field, J.
    pub fn energy(&mut self) -> f64 {
        let (q, u) = (self.q.clone(), self.rates.clone());
        self.place(&q, &u);
        let own = Inertia::of(&self.bar);
        let moving: f64 =
            self.links.iter().map(|l| 0.5 * l.velocity.dot(own.times(l.velocity))).sum();
        let height: f64 = self.middles().iter().map(|x| self.gravity.dot(*x)).sum();
        moving - self.bar.mass * height
    }
}
