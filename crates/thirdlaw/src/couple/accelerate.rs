//! Accelerating a fixed point x = H(x) whose H costs a step of every simulator.
//!
//! Aitken's dynamic relaxation: x ← x + ω r with r = H(x) − x and
//! ω ← −ω r₀·(r − r₀)/|r − r₀|², good for one or two numbers.
//!
//! IQN-ILS: differences of r and of H(x) between exchanges span what is known of the inverse
//! Jacobian; the new x is H(x) + W c with c least squares of V c = −r. Good for many numbers.

/// How a fixed point is sped up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acceleration {
    /// x ← H(x).
    None,
    /// Aitken's relaxation.
    Aitken,
    /// Interface quasi-Newton by inverse least squares.
    #[default]
    QuasiNewton,
}

/// Most differences kept.
const HISTORY: usize = 12;

/// Memory of an accelerated fixed point.
#[derive(Clone, Debug, Default)]
pub struct Accelerator {
    relaxation: f64,
    last_x: Vec<f64>,
    last_r: Vec<f64>,
    /// Differences of r, newest first.
    v: Vec<Vec<f64>>,
    /// Differences of H(x), newest first.
    w: Vec<Vec<f64>>,
}

impl Accelerator {
    /// Starts anew, in a new step.
    pub fn reset(&mut self) {
        self.relaxation = 1.0;
        self.last_x.clear();
        self.last_r.clear();
        self.v.clear();
        self.w.clear();
    }

    /// Replaces `x` by the next guess, given `image` = H(x).
    pub fn next(&mut self, kind: Acceleration, x: &mut [f64], image: &[f64]) {
        let r: Vec<f64> = image.iter().zip(x.iter()).map(|(h, x)| h - x).collect();
        let fresh = self.last_r.len() != x.len();
        if fresh {
            self.reset();
        }
        let old_x = x.to_vec();
        match kind {
            Acceleration::None => x.copy_from_slice(image),
            Acceleration::Aitken => {
                if !fresh {
                    let change = r.iter().zip(&self.last_r).map(|(a, b)| a - b);
                    let (mut top, mut bottom) = (0.0, 0.0);
                    for (d, old) in change.zip(&self.last_r) {
                        top += d * old;
                        bottom += d * d;
                    }
                    if bottom > 0.0 {
                        self.relaxation *= -top / bottom;
                    }
                }
                for (x, r) in x.iter_mut().zip(&r) {
                    *x += self.relaxation * r;
                }
            }
            Acceleration::QuasiNewton => {
                if !fresh {
                    let images = image.iter().zip(self.last_x.iter().zip(&self.last_r));
                    let w = images.map(|(h, (x, r))| h - (x + r)).collect();
                    let v = r.iter().zip(&self.last_r).map(|(a, b)| a - b).collect();
                    self.v.insert(0, v);
                    self.w.insert(0, w);
                    self.v.truncate(HISTORY);
                    self.w.truncate(HISTORY);
                }
                x.copy_from_slice(image);
                for (w, c) in self.w.iter().zip(self.coefficients(&r)) {
                    for (x, w) in x.iter_mut().zip(w) {
                        *x += c * w;
                    }
                }
            }
        }
        self.last_x = old_x;
        self.last_r = r;
    }

    /// c of the least squares V c = −r, by modified Gram–Schmidt; columns that add nothing new are
    /// left out.
    fn coefficients(&self, r: &[f64]) -> Vec<f64> {
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let count = self.v.len();
        let mut basis: Vec<(usize, Vec<f64>)> = Vec::new();
        let mut upper = vec![vec![0.0; count]; count];
        for (j, column) in self.v.iter().enumerate() {
            let mut q = column.clone();
            let size = dot(&q, &q).sqrt();
            for (i, b) in &basis {
                let along = dot(b, &q);
                upper[*i][j] = along;
                q.iter_mut().zip(b).for_each(|(q, b)| *q -= along * b);
            }
            let left = dot(&q, &q).sqrt();
            if left > 1e-10 * size && left > 0.0 {
                upper[j][j] = left;
                q.iter_mut().for_each(|q| *q /= left);
                basis.push((j, q));
            }
        }
        let mut c = vec![0.0; count];
        for (i, q) in basis.iter().rev() {
            let known: f64 = (i + 1..count).map(|j| upper[*i][j] * c[j]).sum();
            c[*i] = (-dot(q, r) - known) / upper[*i][*i];
        }
        c
    }
}
