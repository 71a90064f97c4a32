//! The kinds of links between simulators, one file each: how one is described and added, what it reads
//! at the beginning of a step, how it advances the simulators that it connects, and what it writes into
//! the ledger.
//!
//!   tie     points, frames and springs between handles: λ is sought
//!   touch   surfaces of one simulator as obstacles of the other, with their response
//!   watch   surfaces of both, collisions found from outside
//!   lead    handles that move as those of another simulator

pub(crate) mod lead;
pub(crate) mod tie;
pub(crate) mod touch;
pub(crate) mod watch;

use super::method::Method;

/// What links two simulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// A constraint or spring between handles.
    Tie,
    /// Surfaces of one as obstacles of the other.
    Touch,
    /// Surfaces of both, watched from outside.
    Watch,
    /// A handle that moves as one of the other.
    Lead,
}

impl LinkKind {
    /// Whether links of both kinds may connect the same simulators. Iterating solves those of each kind within
    /// every exchange of the next; sides that take turns are stepped without contacts. Led handles are not
    /// free, and nothing else may hold or strike what they lead.
    pub(crate) fn solved_with(self, other: LinkKind, method: Method) -> bool {
        let leads = [self, other].contains(&LinkKind::Lead);
        self == other || (method == Method::Iterated && !leads)
    }

    /// What can be done where the two are not solved together.
    pub(crate) fn way_out(self, other: LinkKind) -> &'static str {
        match [self, other].contains(&LinkKind::Lead) {
            true => "tie the led handles instead of leading them",
            false => "choose the method `iterated`",
        }
    }
}

impl std::fmt::Display for LinkKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LinkKind::Tie => "tie",
            LinkKind::Touch => "touch",
            LinkKind::Watch => "watch",
            LinkKind::Lead => "lead",
        })
    }
}
