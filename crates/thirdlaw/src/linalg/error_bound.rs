//! How far conjugate gradients are from the solution, from above.
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

/// The bound after each iteration.
#[derive(Clone, Copy, Debug)]
pub struct ErrorBound {
    smallest: f64,
    gamma: f64,
}

impl ErrorBound {
    /// Before the first iteration, where no eigenvalue is smaller than `smallest`.
    pub fn new(smallest: f64) -> Self {
        ErrorBound { smallest, gamma: 1.0 / smallest }
    }

    /// Takes in an iteration: its step length α and the β of the next direction.
    pub fn advance(&mut self, alpha: f64, beta: f64) {
        // rounding may bring α to γ, where the error is all that this direction was
        let rest = (self.gamma - alpha).max(0.0);
        let below = self.smallest * rest + beta;
        self.gamma = if below > 0.0 { rest / below } else { 0.0 };
    }

    /// Bound of √(eᵀAe), where rᵀP⁻¹r is `rz`.
    pub fn error(&self, rz: f64) -> f64 {
        (self.gamma * rz.max(0.0)).sqrt()
    }
}
