//! How a coupling goes about its work.

use super::accelerate::Acceleration;
use super::error::CoupleError;

/// How forces between simulators are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// One step each: one side moves under the force of the last step, the other follows it and
    /// tells the new force [baraff1997 §3].
    Interleaved,
    /// The same, taken back and repeated until the forces agree.
    FixedPoint,
    /// Newton's iteration over retracted steps, or, for many ties, conjugate gradients [baraff1997 §2.3];
    /// contacts by exchange of wrenches with the touched bodies as unknowns of whoever touches them.
    #[default]
    Iterated,
    /// The same, and then one side steps again, consistently with the other [baraff1997 §2.5].
    Repaired,
}

/// How a coupling goes about its work. The defaults need no tuning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CouplingSettings {
    /// How forces are found.
    pub method: Method,
    /// Error of ties at which iterating ends, relative to the speeds at hand.
    pub tolerance: f64,
    /// Mismatch of touched bodies at which exchanging ends, relative to the change of their speed.
    pub contact_tolerance: f64,
    /// Most evaluations in a step.
    pub evaluations: u32,
    /// Most exchanges over contacts in a step.
    pub exchanges: u32,
    /// One iteration a step, the clock advancing meanwhile, instead of iterating in place
    /// [baraff1997 §2.4].
    pub spread: bool,
    /// How fixed points are sped up.
    pub acceleration: Acceleration,
    /// Whether conjugate gradients over more ties than can be measured one by one are preconditioned by
    /// steps in which the lighter side is constrained [baraff1997 §2.3].
    pub precondition: bool,
    /// Whether a lagged exchange that is measured to diverge is iterated instead; otherwise it is an
    /// error.
    pub switch: bool,
    /// Whether a step that did not reach its tolerance is kept and counted as unconverged; otherwise it is
    /// an error.
    pub keep_unconverged: bool,
}

impl Default for CouplingSettings {
    fn default() -> Self {
        CouplingSettings {
            method: Method::default(),
            tolerance: 1e-9,
            contact_tolerance: 0.02,
            evaluations: 60,
            exchanges: 6,
            spread: false,
            acceleration: Acceleration::default(),
            precondition: true,
            switch: true,
            keep_unconverged: false,
        }
    }
}

impl CouplingSettings {
    /// Refuses what cannot be used.
    pub(super) fn check(&self) -> Result<(), CoupleError> {
        let settings = self;
        let positive = |field, x: f64| {
            if x.is_finite() && x > 0.0 {
                return Ok(());
            }
            Err(CoupleError::Input {
                field,
                problem: format!("must be positive and finite, not {x}"),
            })
        };
        positive("tolerance", settings.tolerance)?;
        positive("contact_tolerance", settings.contact_tolerance)?;
        for (field, n) in [("evaluations", settings.evaluations), ("exchanges", settings.exchanges)]
        {
            if n == 0 {
                return Err(CoupleError::Input { field, problem: "must be at least 1".into() });
            }
        }
        Ok(())
    }
}
