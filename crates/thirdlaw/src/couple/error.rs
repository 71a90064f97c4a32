//! What can go wrong in a coupling.

use super::links::LinkKind;
use super::method::Method;

/// A coupled step, or a part of a coupling, that was refused. Unless it says otherwise every
/// simulator is where it was before the call, but for those that cannot go back: they are where they came to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CoupleError {
    /// A simulator misbehaved. The others are where they were before the step; so is this one, if
    /// it still obeys.
    Simulator {
        /// Its name.
        name: String,
        /// What it did.
        problem: SimulatorProblem,
    },
    /// The exchange of forces grew instead of settling, and no other way was open.
    Diverged {
        /// The two simulators, forced side first.
        between: (String, String),
        /// By how much the error grew from exchange to exchange, measured.
        growth: f64,
        /// Error at the end, m/s.
        residual: f64,
        /// How forces were sought.
        method: Method,
    },
    /// A link did not reach its tolerance in a step.
    Unconverged {
        /// Its kind.
        kind: LinkKind,
        /// Its number among those of its kind.
        number: usize,
        /// The two simulators.
        between: (String, String),
        /// Error that is left, m/s.
        residual: f64,
        /// Error that would have been accepted, m/s.
        wanted: f64,
        /// How often the step was halved.
        halvings: u32,
        /// How forces were sought.
        method: Method,
    },
    /// Simulators would be connected by links of kinds that are not solved together.
    Mixture {
        /// The two kinds, the new one first.
        kinds: [LinkKind; 2],
        /// The names of all simulators that would be connected.
        simulators: Vec<String>,
    },
    /// Bytes of a coupling that were refused; nothing is changed.
    Saved(SavedProblem),
    /// A coupling that cannot be.
    Input {
        /// Which argument.
        field: &'static str,
        /// What is wrong with it and what would be right.
        problem: String,
    },
}

/// Why the bytes of a coupling were refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedProblem {
    /// They are not a coupling, or are cut short or damaged.
    Damaged(&'static str),
    /// Written by an incompatible version of the format.
    Version {
        /// Version found.
        found: u32,
        /// Version understood.
        expected: u32,
    },
    /// Whole, but not laid out as this version writes couplings.
    Layout,
    /// Taken from a coupling of other simulators or with other links.
    OtherCoupling,
}

/// How a simulator misbehaved.
#[derive(Clone, Debug, PartialEq)]
pub enum SimulatorProblem {
    /// It panicked.
    Panicked {
        /// In which call.
        during: &'static str,
        /// What it said.
        message: String,
    },
    /// It said that it failed.
    Failed {
        /// In which call.
        during: &'static str,
        /// What it said.
        message: String,
    },
    /// A handle's position or velocity is infinite or NaN.
    NotFinite {
        /// Which handle.
        handle: usize,
    },
    /// After `restore` a handle was not where it had been at `save`.
    NotRestored {
        /// Which handle.
        handle: usize,
    },
    /// The number of handles changed.
    HandleCount {
        /// When it was added.
        expected: usize,
        /// Now.
        found: usize,
    },
    /// It moved a handle farther or faster than anything moves: its solve came apart.
    Thrown {
        /// Which handle.
        handle: usize,
        /// How far it moved, m.
        distance: f64,
        /// How fast it is, m/s.
        speed: f64,
    },
    /// It was to take a step back and cannot.
    CannotGoBack,
    /// It promised something that it then did not do.
    BrokenPromise {
        /// What it had promised.
        promise: &'static str,
    },
}

impl std::fmt::Display for SimulatorProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SimulatorProblem::Panicked { during, message } => {
                write!(f, "panicked in `{during}`: {message}")
            }
            SimulatorProblem::Failed { during, message } => {
                write!(f, "failed in `{during}`: {message}")
            }
            SimulatorProblem::NotFinite { handle } => {
                write!(f, "reports an infinite or NaN motion of handle {handle}")
            }
            SimulatorProblem::NotRestored { handle } => write!(
                f,
                "did not go back to its saved state: handle {handle} is elsewhere after `restore`"
            ),
            SimulatorProblem::HandleCount { expected, found } => {
                write!(f, "had {expected} handles when it was added and reports {found} now")
            }
            SimulatorProblem::Thrown { handle, distance, speed } => write!(
                f,
                "threw handle {handle} by {distance:.3e} m in a step, at {speed:.3e} m/s: its solve \
                 came apart; shorten the step or soften what it holds"
            ),
            SimulatorProblem::CannotGoBack => write!(
                f,
                "cannot take back steps, which this link or method needs: couple it by the method \
                 `interleaved`, by springs and watched surfaces, and let it say how its handles answer"
            ),
            SimulatorProblem::BrokenPromise { promise } => {
                write!(f, "said that it can {promise} and did not")
            }
        }
    }
}

impl std::fmt::Display for SavedProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SavedProblem::Damaged(what) => write!(f, "the saved coupling is damaged: {what}"),
            SavedProblem::Version { found, expected } => {
                write!(f, "the saved coupling has format {found}, this version reads {expected}")
            }
            SavedProblem::Layout => {
                write!(f, "the saved coupling is whole, but another version of thirdlaw wrote it")
            }
            SavedProblem::OtherCoupling => {
                write!(f, "the saved coupling is of other simulators or has other links")
            }
        }
    }
}

impl std::fmt::Display for CoupleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CoupleError::Simulator { name, problem } => write!(f, "simulator `{name}` {problem}"),
            CoupleError::Diverged { between: (a, b), growth, residual, method } => write!(
                f,
                "the exchange between `{a}` and `{b}` does not settle: its error grows {growth:.3} \
                 times from one exchange to the next ({residual:.3e} m/s left); {}",
                match method {
                    Method::Interleaved | Method::FixedPoint => {
                        "shorten the step, swap their roles or choose `iterated`"
                    }
                    Method::Iterated | Method::Repaired => {
                        "shorten the step, or join what it links in one simulator"
                    }
                }
            ),
            CoupleError::Unconverged {
                kind,
                number,
                between: (a, b),
                residual,
                wanted,
                halvings,
                method,
            } => {
                write!(
                    f,
                    "{kind} {number} between `{a}` and `{b}` is not held: its error is \
                     {residual:.3e} m/s where {wanted:.3e} is wanted"
                )?;
                if *halvings > 0 {
                    write!(f, ", even in {} parts of the step", 1_u32 << halvings)?;
                }
                write!(f, "; {}", advice(*kind, *method))
            }
            CoupleError::Mixture { kinds: [a, b], simulators } => write!(
                f,
                "a {a} and a {b} cannot connect the simulators `{}`: the two are not solved \
                 together; {}",
                simulators.join("`, `"),
                a.way_out(*b)
            ),
            CoupleError::Saved(problem) => write!(f, "{problem}"),
            CoupleError::Input { field, problem } => write!(f, "{field}: {problem}"),
        }
    }
}

/// What can be done about a link that is not held.
fn advice(kind: LinkKind, method: Method) -> &'static str {
    match (kind, method) {
        (LinkKind::Tie, Method::Interleaved | Method::FixedPoint) => {
            "choose `iterated`, shorten the step, or go on regardless by `keep_unconverged`"
        }
        (LinkKind::Tie | LinkKind::Lead, _) => {
            "shorten the step, allow more `evaluations` or a larger `tolerance` (a simulator that is noisy or \
             that stops its own solver early cannot be held closer), or go on regardless by \
             `keep_unconverged`"
        }
        (LinkKind::Touch | LinkKind::Watch, _) => {
            "shorten the step, allow more `exchanges` and `evaluations` or a larger \
             `contact_tolerance`, or go on regardless by `keep_unconverged`"
        }
    }
}

impl CoupleError {
    /// Whether a shorter step, or other forces, may do better.
    pub(crate) fn is_of_a_step(&self) -> bool {
        match self {
            CoupleError::Diverged { .. } | CoupleError::Unconverged { .. } => true,
            CoupleError::Simulator { problem, .. } => matches!(
                problem,
                SimulatorProblem::Failed { during: "step", .. }
                    | SimulatorProblem::NotFinite { .. }
                    | SimulatorProblem::Thrown { .. }
            ),
            _ => false,
        }
    }
}

impl std::error::Error for CoupleError {}
