//! Smooth curves through points: cubic splines with continuous curvature, so that a bead on a wire
//! feels no jolt where two pieces meet.
//!
//! Knots are spaced by chord length. The second derivatives m at the knots follow from a tridiagonal
//! system, cyclic for a closed curve; an open one is straight at its ends (m = 0).

use crate::math::Vec3;

/// A curve p(u) for knot values u from 0 to [`Curve::span`].
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Curve {
    points: Vec<Vec3>,
    /// Second derivatives at the points.
    bends: Vec<Vec3>,
    knots: Vec<f64>,
    /// Arc length up to each knot, m.
    lengths: Vec<f64>,
    closed: bool,
}

/// A place on a curve.
#[derive(Clone, Copy, Debug)]
pub struct CurvePlace {
    /// p.
    pub point: Vec3,
    /// p′.
    pub slope: Vec3,
    /// p″.
    pub bend: Vec3,
}

impl Curve {
    /// A curve through at least two points (three if closed) of which no two in a row coincide.
    pub fn new(points: &[Vec3], closed: bool) -> Result<Curve, &'static str> {
        if points.len() < if closed { 3 } else { 2 } {
            return Err("a curve needs two points, a closed one three");
        }
        let mut points = points.to_vec();
        if closed {
            points.push(points[0]);
        }
        let mut knots = vec![0.0];
        for pair in points.windows(2) {
            let chord = pair[0].distance(pair[1]);
            if !(chord > 1e-9 && chord.is_finite()) {
                return Err("two neighbouring points of a curve coincide or are not finite");
            }
            knots.push(knots[knots.len() - 1] + chord);
        }
        let bends = if closed { closed_bends(&points, &knots) } else { bends(&points, &knots) };
        let mut curve = Curve { points, bends, knots, lengths: Vec::new(), closed };
        curve.measure();
        Ok(curve)
    }

    /// Largest knot value.
    pub fn span(&self) -> f64 {
        self.knots[self.knots.len() - 1]
    }

    /// Its length, m.
    pub fn length(&self) -> f64 {
        self.lengths[self.lengths.len() - 1]
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The place at knot value `u`; open curves go on straight beyond their ends.
    pub fn place(&self, u: f64) -> CurvePlace {
        let span = self.span();
        let (u, beyond) = if self.closed {
            let turned = libm::fmod(u, span);
            (if turned < 0.0 { turned + span } else { turned }, 0.0)
        } else {
            let inside = u.clamp(0.0, span);
            (inside, u - inside)
        };
        let i = self.piece(u);
        let (k0, k1) = (self.knots[i], self.knots[i + 1]);
        let h = k1 - k0;
        let (a, b) = ((k1 - u) / h, (u - k0) / h);
        let (p0, p1) = (self.points[i], self.points[i + 1]);
        let (m0, m1) = (self.bends[i], self.bends[i + 1]);
        let slope =
            (p1 - p0) / h + (h / 6.0) * ((3.0 * b * b - 1.0) * m1 - (3.0 * a * a - 1.0) * m0);
        let point = a * p0 + b * p1 + (h * h / 6.0) * ((a * a * a - a) * m0 + (b * b * b - b) * m1);
        CurvePlace {
            point: point + beyond * slope,
            slope,
            bend: if beyond == 0.0 { a * m0 + b * m1 } else { Vec3::ZERO },
        }
    }

    /// The knot value of the place nearest to `x`, found from the knot value `u` by Newton steps.
    pub fn nearest_from(&self, x: Vec3, mut u: f64) -> f64 {
        for _ in 0..8 {
            let place = self.place(u);
            let gap = place.point - x;
            let slope = place.slope.length_squared();
            // the bend may turn the curvature of the distance negative: then descend
            let curvature = (slope + gap.dot(place.bend)).max(0.25 * slope);
            let step = gap.dot(place.slope) / curvature;
            u -= step.clamp(-0.25 * self.span(), 0.25 * self.span());
            if step.abs() < 1e-14 * self.span() {
                break;
            }
        }
        u
    }

    /// The knot value of the place nearest to `x`.
    pub fn nearest(&self, x: Vec3) -> f64 {
        let count = 8 * (self.knots.len() - 1);
        let mut best = (f64::INFINITY, 0.0);
        for i in 0..=count {
            let u = self.span() * i as f64 / count as f64;
            let distance = self.place(u).point.distance_squared(x);
            if distance < best.0 {
                best = (distance, u);
            }
        }
        self.nearest_from(x, best.1)
    }

    /// Arc length from the first point to knot value `u`, m; whole turns of a closed curve count.
    pub fn length_at(&self, u: f64) -> f64 {
        let span = self.span();
        let turns = if self.closed { libm::floor(u / span) } else { 0.0 };
        let rest = if self.closed { u - turns * span } else { u };
        let inside = rest.clamp(0.0, span);
        let i = self.piece(inside);
        let beyond = (rest - inside) * self.place(inside).slope.length();
        turns * self.length() + self.lengths[i] + self.arc(self.knots[i], inside) + beyond
    }

    fn piece(&self, u: f64) -> usize {
        self.knots.partition_point(|&k| k <= u).clamp(1, self.knots.len() - 1) - 1
    }

    /// Arc length within one piece by Gauss's rule of five points.
    fn arc(&self, from: f64, to: f64) -> f64 {
        const RULE: [(f64, f64); 5] = [
            (0.0, 0.568_888_888_888_888_9),
            (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
            (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
            (0.906_179_845_938_664, 0.236_926_885_056_189_1),
            (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
        ];
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        let speed = |x: f64| self.place(middle + half * x).slope.length();
        half * RULE.iter().map(|&(x, w)| w * speed(x)).sum::<f64>()
    }

    fn measure(&mut self) {
        let mut sum = 0.0;
        let mut lengths = vec![0.0];
        for i in 1..self.knots.len() {
            // the end of the last piece of a closed curve is its beginning: stay inside
            sum += self.arc(self.knots[i - 1], self.knots[i]);
            lengths.push(sum);
        }
        self.lengths = lengths;
    }
}

/// One row of the system for the bends: (h₀, 2(h₀ + h₁), h₁ | 6 × the jump of the chord's slope).
fn row(points: [Vec3; 3], [h0, h1]: [f64; 2]) -> (f64, f64, f64, Vec3) {
    let [p0, p1, p2] = points;
    (h0, 2.0 * (h0 + h1), h1, 6.0 * ((p2 - p1) / h1 - (p1 - p0) / h0))
}

/// Thomas's algorithm with right sides of vectors and one of numbers.
fn tridiagonal(rows: &[(f64, f64, f64, Vec3)], extra: &[f64]) -> (Vec<Vec3>, Vec<f64>) {
    let n = rows.len();
    let (mut upper, mut right, mut other) = (vec![0.0; n], vec![Vec3::ZERO; n], vec![0.0; n]);
    for i in 0..n {
        let (a, b, c, r) = rows[i];
        let (u0, r0, e0) =
            if i > 0 { (upper[i - 1], right[i - 1], other[i - 1]) } else { (0.0, Vec3::ZERO, 0.0) };
        let pivot = b - a * u0;
        upper[i] = c / pivot;
        right[i] = (r - a * r0) / pivot;
        other[i] = (extra[i] - a * e0) / pivot;
    }
    for i in (0..n.saturating_sub(1)).rev() {
        right[i] = right[i] - upper[i] * right[i + 1];
        other[i] -= upper[i] * other[i + 1];
    }
    (right, other)
}

fn bends(points: &[Vec3], knots: &[f64]) -> Vec<Vec3> {
    let rows: Vec<_> = (1..points.len() - 1)
        .map(|i| {
            let h = [knots[i] - knots[i - 1], knots[i + 1] - knots[i]];
            row([points[i - 1], points[i], points[i + 1]], h)
        })
        .collect();
    let (inner, _) = tridiagonal(&rows, &vec![0.0; rows.len()]);
    let ends = [Vec3::ZERO];
    ends.into_iter().chain(inner).chain(ends).collect()
}

/// The cyclic system, by Sherman and Morrison's formula.
fn closed_bends(points: &[Vec3], knots: &[f64]) -> Vec<Vec3> {
    let n = points.len() - 1;
    let h = |i: usize| knots[i % n + 1] - knots[i % n];
    let mut rows: Vec<_> = (0..n)
        .map(|i| row([points[(i + n - 1) % n], points[i], points[i + 1]], [h(i + n - 1), h(i)]))
        .collect();
    let corner = rows[0].0;
    let gamma = -rows[0].1;
    rows[0].1 -= gamma;
    rows[n - 1].1 -= corner * corner / gamma;
    let mut extra = vec![0.0; n];
    extra[0] = gamma;
    extra[n - 1] = corner;
    let (m, z) = tridiagonal(&rows, &extra);
    let factor = (m[0] + corner / gamma * m[n - 1]) / (1.0 + z[0] + corner / gamma * z[n - 1]);
    let mut bends: Vec<Vec3> = (0..n).map(|i| m[i] - factor * z[i]).collect();
    bends.push(bends[0]);
    bends
}
