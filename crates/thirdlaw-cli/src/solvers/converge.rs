//! All solvers on the contacts of one frame.

use super::{Contestant, is_sequential};
use crate::args::SolversArgs;
use crate::failure::Failure;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;
use thirdlaw::contact::colors::Colors;
use thirdlaw::contact::{ContactProblem, Study, Velocities, Violation};
use thirdlaw::{Precision, Settings};
use thirdlaw_run::stats::{exact, median};
use thirdlaw_run::tables::FrameTable;
use thirdlaw_scene::Scene;

/// The contacts of a frame as one problem, and their colours.
#[derive(Serialize)]
pub struct Contacts {
    /// Which frame.
    pub frame: u32,
    /// Bodies in the problem.
    pub bodies: usize,
    /// Pairs of bodies that touch.
    pub pairs: usize,
    /// Points at which they do.
    pub points: usize,
    /// Pairs of each colour [tonge2012, Fig. 3].
    pub colors: Vec<usize>,
    /// Most pairs that one movable body is in.
    pub most_on_a_body: usize,
    #[serde(skip)]
    problem: ContactProblem,
    #[serde(skip)]
    velocities: Velocities,
    #[serde(skip)]
    impulses: Vec<f64>,
}

/// What one solver did.
#[derive(Serialize)]
pub struct Convergence {
    #[serde(skip)]
    pub who: Contestant,
    /// Its name.
    pub name: String,
    /// Before the first iteration and after each, m/s.
    pub steps: Vec<Left>,
    /// Median over the iterations, ms.
    pub iteration_ms: f64,
    /// What the first iteration took beyond that: effective masses, colours, ms.
    pub setup_ms: f64,
}

/// What is left after so many iterations.
#[derive(Clone, Copy, Serialize)]
pub struct Left {
    /// Time that so many iterations take, ms: the first one's set-up, and the median for each.
    pub ms: f64,
    /// Average constraint violation: mean speed at which contacts still close, m/s.
    pub closing: f64,
    /// Mean distance of normals from the solution, m/s.
    pub normal: f64,
    /// Mean distance of friction from the solution, m/s.
    pub friction: f64,
    /// Largest distance from the solution, m/s.
    pub largest: f64,
}

impl Left {
    fn new(v: Violation, ms: f64) -> Left {
        Left { ms, closing: v.closing, normal: v.normal, friction: v.friction, largest: v.largest }
    }
}

/// Runs the scene as it stands to a frame, and takes the problem of the next step.
pub fn contacts(name: &str, scene: &Scene, frame: u32, substeps: u32) -> Result<Contacts, Failure> {
    let mut world = scene.world.clone();
    let input = |error: thirdlaw::SettingsError| Failure::Input(error.to_string());
    world.set_settings(Settings { sleeping: false, ..*world.settings() }).map_err(input)?;
    for at in 0..frame * scene.steps_per_frame {
        world.step(scene.dt()).map_err(|error| {
            let frame = at / scene.steps_per_frame;
            Failure::Simulation(format!("{name}, frame {frame}: {error}"))
        })?;
    }
    world.set_settings(Settings { substeps, ..*world.settings() }).map_err(input)?;
    let next = world
        .contact_problem(scene.dt())
        .map_err(|error| Failure::Simulation(format!("{name}, frame {frame}: {error}")))?;
    let problem = next.without_push();
    if problem.rows.is_empty() {
        return Err(Failure::Input(format!(
            "{name}: nothing touches in frame {frame}; --frame chooses another"
        )));
    }
    let mut colors = Colors::default();
    colors.build(&problem);
    Ok(Contacts {
        frame,
        bodies: problem.bodies.len(),
        pairs: problem.blocks.len(),
        points: problem.rows.len() / 3,
        colors: (0..colors.count()).map(|i| colors.blocks(i).len()).collect(),
        most_on_a_body: most_on_a_body(&problem),
        problem,
        velocities: next.velocities,
        impulses: next.impulses,
    })
}

fn most_on_a_body(problem: &ContactProblem) -> usize {
    let mut counts = vec![0; problem.bodies.len()];
    for block in &problem.blocks {
        for side in [block.a, block.b] {
            if let thirdlaw::contact::ContactSide::Body(i) = side
                && !problem.bodies[i as usize].is_fixed()
            {
                counts[i as usize] += 1;
            }
        }
    }
    counts.into_iter().max().unwrap_or(0)
}

/// How often the first iteration is made, to tell what it takes beyond the others.
const FIRSTS: u32 = 3;

/// Lets everyone iterate who can on a problem of its own.
pub fn converge(contacts: &Contacts, all: &[Contestant], args: &SolversArgs) -> Vec<Convergence> {
    let cold = vec![0.0; contacts.impulses.len()];
    let start = if args.warm { &contacts.impulses } else { &cold };
    let study = |who: Contestant| {
        let study = Study::warm(&contacts.problem, &contacts.velocities, start, who.solver);
        match who.precision {
            // the pile's kernel takes no problem but its own
            Precision::Single => study.single(),
            _ => Some(study),
        }
    };
    all.iter().filter_map(|&who| go(who, || study(who), args.iterations)).collect()
}

fn go<'a>(
    who: Contestant,
    study: impl Fn() -> Option<Study<'a>>,
    iterations: u32,
) -> Option<Convergence> {
    let mut first = f64::INFINITY;
    for _ in 0..FIRSTS {
        first = first.min(timed(&mut study()?));
    }
    let mut study = study()?;
    let mut left = vec![study.violation()];
    let mut times = Vec::new();
    for _ in 0..iterations {
        times.push(timed(&mut study));
        left.push(study.violation());
    }
    let iteration_ms = median(if times.len() > 1 { times.split_off(1) } else { times });
    let setup_ms = (first - iteration_ms).max(0.0);
    let ms = |i: usize| if i == 0 { 0.0 } else { setup_ms + iteration_ms * i as f64 };
    let steps = left.into_iter().enumerate().map(|(i, v)| Left::new(v, ms(i)));
    Some(Convergence { who, name: who.name(), steps: steps.collect(), iteration_ms, setup_ms })
}

/// How long an iteration takes, ms.
fn timed(study: &mut Study) -> f64 {
    let begun = Instant::now();
    study.iterate();
    begun.elapsed().as_secs_f64() * 1e3
}

/// Writes `convergence.csv` and `colors.csv`.
pub fn write(out: &Path, contacts: &Contacts, found: &[Convergence]) -> Result<(), Failure> {
    let columns = ["iteration", "solver", "kind", "ms", "closing", "normal", "friction", "largest"];
    let mut table = FrameTable::create(&out.join("convergence.csv"), &columns)?;
    for c in found {
        let kind = if is_sequential(c.who.solver) { "gauss-seidel" } else { "jacobi" };
        let rows = c.steps.iter().enumerate().map(|(i, left)| {
            let mut row = vec![i.to_string(), c.name.clone(), kind.into()];
            row.push(format!("{:.6}", left.ms));
            row.extend([left.closing, left.normal, left.friction, left.largest].map(exact));
            row
        });
        table.append(rows)?;
    }
    table.sync()?;
    let mut table = FrameTable::create(&out.join("colors.csv"), &["color", "pairs"])?;
    let colors = contacts.colors.iter().enumerate();
    table.append(colors.map(|(i, n)| [i.to_string(), n.to_string()]))?;
    Ok(table.sync()?)
}
