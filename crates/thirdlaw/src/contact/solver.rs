//! The driver: which solver, how long, and what came out.

use super::direct;
use super::problem::{Bound, ContactProblem, Velocities};
use super::proximal;
use super::row::Pair;
use super::scratch::{Scratch, measure_whole};
use super::solvers::{
    block_mass_splitting, colored_pgs, jacobi, jacobi_bridson, jacobi_line_search, jacobi_scaled,
    mass_splitting, pgs, shuffled_pgs, single,
};
use super::sweep::{BlockRows, Effective, Part, block_residual};
use crate::math::worse;
use crate::model::settings::{Precision, Solver};

/// How normals and friction take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Staggering {
    /// One iteration on each [tonge2012 §6].
    #[default]
    Alternating,
    /// One iteration on all normals, then one on all friction, which is judged by the loads of this iteration.
    NormalsFirst,
    /// Each solved before the other takes its turn: Kaufman's staggered projections, which the paper
    /// starts from. `SolveSettings::iterations` is not read.
    Converged {
        /// Turns of each at most.
        rounds: u32,
        /// Iterations in a turn at most.
        inner: u32,
    },
}

impl Staggering {
    /// The same with normals before friction, where they take turns at every iteration.
    pub(crate) fn normals_first(self) -> Staggering {
        if self == Staggering::Alternating { Staggering::NormalsFirst } else { self }
    }
}

/// When the direct solver takes over.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectUse {
    /// Never.
    Never,
    /// When the iterations left a larger residual than the tolerance and this, and the problem is small.
    Auto {
        /// Rows at most.
        rows_max: u32,
        /// Residual that is worth it, m/s.
        above: f64,
    },
    /// When the iterations left a larger residual than the tolerance and this: by Newton's method in the
    /// velocities, for structures in which few bodies touch many.
    Chain {
        /// Residual that is worth it, m/s.
        above: f64,
    },
    /// After the iterations, whatever the residual and the size: the cost goes with rows³.
    Always,
}

/// How to solve.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SolveSettings {
    /// Which solver.
    pub solver: Solver,
    /// Iterations at most.
    pub iterations: u32,
    /// Residual at which to stop, m/s; 0 runs all iterations.
    pub tolerance: f64,
    /// How normals and friction take turns.
    pub friction: Staggering,
    /// When the direct solver takes over.
    pub direct: DirectUse,
    /// Numbers that solvers with a single-precision sibling ([`Solver::iterate_single`]) work in:
    /// `f32` for [`Precision::Single`], else `f64`.
    pub precision: Precision,
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// Iterations done; turns of normals and of friction count one each where they are separate.
    pub iterations: u32,
    /// Largest natural-map residual left, m/s. Where nothing depends on it (the tolerance is not
    /// reached and no direct solver may follow) the largest that the last iteration met on its way.
    pub residual: f64,
    /// Whether the result is the direct solver's.
    pub direct: bool,
}

impl Default for SolveSettings {
    fn default() -> Self {
        SolveSettings {
            solver: Solver::default(),
            iterations: 10,
            tolerance: 1e-6,
            friction: Staggering::default(),
            direct: DirectUse::Auto { rows_max: 96, above: 1e-4 },
            precision: Precision::Double,
        }
    }
}

/// Solves a prepared problem. `velocities` come in as v⁰ plus the effect of `impulses`
/// ([`warm_start`]), and go out as the solution.
pub fn solve(
    problem: &ContactProblem,
    settings: &SolveSettings,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) -> SolveReport {
    solve_and_hold(problem, settings, velocities, impulses, scratch, &mut |_| {})
}

/// Holds what the problem does not speak of: changes velocities.
type Hold<'a> = &'a mut dyn FnMut(&mut Velocities);

/// The same with joints beside the problem: `hold` projects the velocities exactly onto the joints, by
/// impulses of its own, and is called after every iteration.
///
/// With mass splitting this is the averaging of [tonge2012, Eq. 37] with all joints among the fixed
/// ones. The velocities that fit the joints lie within those in which sub-bodies move as one, so the
/// projection onto both is the average followed by the projection of whole bodies. (The print lacks
/// a minus before the joint solve.) The direct solver knows nothing of `hold`: where that does something,
/// `settings.direct` must be [`DirectUse::Never`].
pub(crate) fn solve_and_hold(
    problem: &ContactProblem,
    settings: &SolveSettings,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
    hold: Hold,
) -> SolveReport {
    if problem.rows.is_empty() {
        return SolveReport::default();
    }
    // with the compliances that the effective masses of the sweeps have
    if settings.direct != DirectUse::Never {
        scratch.update_whole(problem);
    }
    if settings.solver == Solver::ColoredPgs {
        colored_pgs::hold(problem, impulses, scratch);
    }
    let (iterations, left) = match settings.friction {
        Staggering::Alternating | Staggering::NormalsFirst => {
            alternate(problem, settings, velocities, impulses, scratch, hold)
        }
        Staggering::Converged { .. } => {
            stagger(problem, settings, velocities, impulses, scratch, hold)
        }
    };
    colored_pgs::release(impulses, scratch);
    let residual = match left {
        Some(residual) => residual,
        None if settings.direct == DirectUse::Never && iterations > 0 => scratch.met,
        None => residual(problem, velocities, impulses, scratch),
    };
    let mut report = SolveReport { iterations, residual, direct: false };
    let solved = match settings.direct {
        DirectUse::Never => false,
        DirectUse::Auto { rows_max, above } => {
            let above = above.max(settings.tolerance);
            let worth = residual > above && problem.rows.len() <= rows_max as usize;
            worth && solve_directly(problem, settings.tolerance, velocities, impulses, scratch)
        }
        DirectUse::Chain { above } => {
            residual > above.max(settings.tolerance)
                && proximal::solve(problem, settings.tolerance, velocities, impulses, scratch)
        }
        DirectUse::Always => direct::solve(problem, velocities, impulses, scratch),
    };
    if solved {
        report.residual = self::residual(problem, velocities, impulses, scratch);
        report.direct = true;
    }
    report
}

/// Residual below which nothing is left to do whatever the tolerance, m/s.
const REACHED: f64 = 1e-11;

/// By Newton's method in the velocities, and by that in the impulses where it does not get there.
fn solve_directly(
    problem: &ContactProblem,
    tolerance: f64,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) -> bool {
    let nearer = proximal::solve(problem, tolerance, velocities, impulses, scratch);
    let there =
        nearer && residual(problem, velocities, impulses, scratch) <= REACHED.max(tolerance);
    there || direct::solve(problem, velocities, impulses, scratch) || nearer
}

/// Returns how many iterations it took, and the residual left if it was asked for.
fn alternate(
    problem: &ContactProblem,
    settings: &SolveSettings,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
    hold: Hold,
) -> (u32, Option<f64>) {
    let iterate = settings.iterate();
    let parts: &[Part] = match settings.friction {
        Staggering::NormalsFirst => &[Part::Normal, Part::Friction],
        _ => &[Part::Both],
    };
    for i in 0..settings.iterations {
        let mut met = 0.0;
        for &part in parts {
            iterate(problem, part, velocities, impulses, scratch);
            met = worse(met, scratch.met);
        }
        scratch.met = met;
        hold(velocities);
        // what the iteration met on its way is free; only when that is small enough, ask in earnest
        if met <= settings.tolerance && settings.tolerance > 0.0 {
            colored_pgs::settle(impulses, scratch);
            scratch.update_whole(problem);
            let left = residual(problem, velocities, impulses, scratch);
            if left <= settings.tolerance {
                return (i + 1, Some(left));
            }
        }
    }
    (settings.iterations, None)
}

/// Returns the same as [`alternate`].
fn stagger(
    problem: &ContactProblem,
    settings: &SolveSettings,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
    hold: Hold,
) -> (u32, Option<f64>) {
    let Staggering::Converged { rounds, inner } = settings.friction else { return (0, None) };
    let iterate = settings.iterate();
    let has_friction = problem.rows.iter().any(|r| matches!(r.bound, Bound::Friction { .. }));
    let mut count = 0;
    let mut left = None;
    for _ in 0..rounds {
        for part in [Part::Normal, Part::Friction] {
            if part == Part::Friction && !has_friction {
                continue;
            }
            for _ in 0..inner {
                iterate(problem, part, velocities, impulses, scratch);
                hold(velocities);
                count += 1;
                if scratch.met <= settings.tolerance {
                    break;
                }
            }
        }
        colored_pgs::settle(impulses, scratch);
        scratch.update_whole(problem);
        let now = residual(problem, velocities, impulses, scratch);
        left = Some(now);
        if now <= settings.tolerance {
            break;
        }
    }
    (count, left)
}

/// Gives the velocities what impulses from the step before do: v += M⁻¹Jᵀz.
pub fn warm_start(problem: &ContactProblem, velocities: &mut Velocities, impulses: &[f64]) {
    for block in &problem.blocks {
        let z = &impulses[block.rows()];
        if z.iter().all(|&z| z == 0.0) {
            continue;
        }
        let mut pair = Pair::gather(problem, block, velocities);
        for (row, &z) in problem.rows[block.rows()].iter().zip(z) {
            pair.push += row.direction * z;
            pair.turn_a += row.arm_a * z;
            pair.turn_b += row.arm_b * z;
        }
        pair.a.linear -= pair.a.inv_mass * pair.push;
        pair.b.linear += pair.b.inv_mass * pair.push;
        pair.a.angular -= pair.a.inv_inertia * pair.turn_a;
        pair.b.angular += pair.b.inv_inertia * pair.turn_b;
        pair.scatter(problem, block, velocities);
    }
}

/// The largest natural-map residual |z − proj(z − E w)|/E over all rows, m/s: how far off the worst
/// row is in velocity. For two friction rows it is the length over both, with 1/E their larger
/// response.
pub fn residual(
    problem: &ContactProblem,
    velocities: &Velocities,
    impulses: &[f64],
    scratch: &Scratch,
) -> f64 {
    let mut residual = 0.0;
    let mut own = Vec::new();
    for block in &problem.blocks {
        let effective = if scratch.whole.fresh {
            &scratch.whole.value[block.rows()]
        } else {
            own.clear();
            own.resize(block.row_count as usize, Effective::default());
            measure_whole(problem, block, &mut own);
            &own
        };
        let pair = Pair::gather(problem, block, velocities);
        let rows = BlockRows::new(problem, block, effective);
        let of_block = block_residual(&rows, &impulses[block.rows()], &pair);
        residual = worse(residual, of_block);
    }
    residual
}

/// One iteration of a solver.
pub type Iterate = fn(&ContactProblem, Part, &mut Velocities, &mut [f64], &mut Scratch);

/// Both parts by one iteration of each, normals first [tonge2012 §6], for the solvers in which all
/// rows of a part step against the same velocities.
pub(super) fn in_turn(
    iterate: Iterate,
    problem: &ContactProblem,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) {
    iterate(problem, Part::Normal, velocities, impulses, scratch);
    let met = scratch.met;
    iterate(problem, Part::Friction, velocities, impulses, scratch);
    scratch.met = worse(met, scratch.met);
}

impl SolveSettings {
    fn iterate(&self) -> Iterate {
        let single = self.solver.iterate_single().filter(|_| self.precision == Precision::Single);
        single.unwrap_or(self.solver.iterate())
    }
}

impl Solver {
    /// All solvers.
    pub const ALL: [Solver; 9] = [
        Solver::Pgs,
        Solver::ColoredPgs,
        Solver::Jacobi,
        Solver::JacobiLineSearch,
        Solver::JacobiScaled,
        Solver::JacobiBridson,
        Solver::MassSplitting,
        Solver::BlockMassSplitting,
        Solver::ShuffledPgs,
    ];

    /// Name in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Solver::Pgs => "pgs",
            Solver::ColoredPgs => "colored-pgs",
            Solver::Jacobi => "jacobi",
            Solver::JacobiLineSearch => "jacobi-line-search",
            Solver::JacobiScaled => "jacobi-scaled",
            Solver::JacobiBridson => "jacobi-bridson",
            Solver::MassSplitting => "mass-splitting",
            Solver::BlockMassSplitting => "block-mass-splitting",
            Solver::ShuffledPgs => "shuffled-pgs",
        }
    }

    /// The solver of that name.
    pub fn from_name(name: &str) -> Option<Solver> {
        Solver::ALL.into_iter().find(|s| s.name() == name)
    }

    /// Its iteration.
    pub fn iterate(self) -> Iterate {
        match self {
            Solver::Pgs => pgs::iterate,
            Solver::ColoredPgs => colored_pgs::iterate,
            Solver::Jacobi => jacobi::iterate,
            Solver::JacobiLineSearch => jacobi_line_search::iterate,
            Solver::JacobiScaled => jacobi_scaled::iterate,
            Solver::JacobiBridson => jacobi_bridson::iterate,
            Solver::MassSplitting => mass_splitting::iterate,
            Solver::BlockMassSplitting => block_mass_splitting::iterate,
            Solver::ShuffledPgs => shuffled_pgs::iterate,
        }
    }
    /// Its iteration with all numbers in single precision, for those that have one: to be compared with.
    pub fn iterate_single(self) -> Option<Iterate> {
        match self {
            Solver::Pgs => Some(single::iterate_pgs),
            Solver::BlockMassSplitting => Some(single::iterate_block_mass_splitting),
            _ => None,
        }
    }
}
