//! How far conjugate gradients are from the solution.
//!
//! A residual says little: a soft motion of all unknowns leaves hardly any beside the stiff ones, so that
//! an iteration that stops on residuals stops before such a motion has begun. What counts is the error
//! e, in the norm of the matrix. It is an integral over the spectrum of P⁻¹A of which the iteration
//! knows a Gauss quadrature. With one more node at a number μ that no eigenvalue is smaller than (Gauss
//! and Radau) the quadrature is a bound from above, by a recursion of two numbers an iteration:
//!
//!   eᵀAe ≤ γ rᵀP⁻¹r,   γ₀ = 1/μ,   γ ← (γ − α) / (μ (γ − α) + β).
//!
//! Meurant and Tichý, "On computing quadrature-based bounds for the A-norm of the error in conjugate
//! gradients" (2013), Eq. 3.5.
//!
//! On cloth the bound is three to four times the error, which costs a quarter of the iterations. What an
//! iteration takes off eᵀAe is known exactly: α rᵀP⁻¹r (Hestenes and Stiefel 1952). Where the last
//! windows of iterations took off Δ₀ and then Δ₁, and it goes on so,
//!
//!   eᵀAe ≈ Δ₁ q / (1 − q),   q = Δ₁ / Δ₀.
//!
//! That is taken while it is not much smaller than the bound: before a soft motion has begun little is
//! taken off, and only the bound knows of it.

/// Most iterations in a window.
const WINDOW: usize = 20;

/// How the end of an iteration is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watch {
    /// A number that no eigenvalue of P⁻¹A is smaller than.
    pub smallest: f64,
    /// Iterations in a window, at most twenty.
    pub window: usize,
    /// How many times smaller than the bound the error may be taken to be.
    pub trust: f64,
}

impl Watch {
    /// For block Jacobi and levels.
    pub fn slow(smallest: f64) -> Watch {
        Watch { smallest, window: WINDOW, trust: 6.0 }
    }
}

/// The bound after each iteration, and what the last iterations took off.
#[derive(Clone, Copy, Debug)]
pub struct ErrorBound {
    watch: Watch,
    gamma: f64,
    /// α rᵀP⁻¹r of the last iterations, in turn.
    taken: [f64; 2 * WINDOW],
    count: usize,
}

impl ErrorBound {
    /// Before the first iteration.
    pub fn new(watch: Watch) -> Self {
        let taken = [0.0; 2 * WINDOW];
        ErrorBound { watch, gamma: 1.0 / watch.smallest, taken, count: 0 }
    }

    /// Takes in an iteration from rᵀP⁻¹r = `rz`: its step length α and the β of the next direction.
    pub fn advance(&mut self, rz: f64, alpha: f64, beta: f64) {
        // rounding may bring α to γ, where the error is all that this direction was
        let rest = (self.gamma - alpha).max(0.0);
        let below = self.watch.smallest * rest + beta;
        self.gamma = if below > 0.0 { rest / below } else { 0.0 };
        self.taken[self.count % (2 * WINDOW)] = alpha * rz;
        self.count += 1;
    }

    /// Bound of √(eᵀAe), where rᵀP⁻¹r is `rz`.
    pub fn bound(&self, rz: f64) -> f64 {
        (self.gamma * rz.max(0.0)).sqrt()
    }

    /// √(eᵀAe) as far as it can be told, where rᵀP⁻¹r is `rz`.
    pub fn error(&self, rz: f64) -> f64 {
        let bound = self.bound(rz);
        let window = self.watch.window.min(WINDOW);
        if self.count < 2 * window {
            return bound;
        }
        let sum = |last: usize| -> f64 {
            (1..=window).map(|k| self.taken[(self.count - last - k) % (2 * WINDOW)]).sum()
        };
        let (before, now) = (sum(window), sum(0));
        let left = before - now;
        if left <= 0.0 || left.is_nan() {
            return bound;
        }
        let error = now / left.sqrt();
        bound.min(error.max(bound / self.watch.trust))
    }
}
