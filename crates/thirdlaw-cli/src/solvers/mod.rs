//! `thirdlaw solvers`: every contact solver on the same contacts, and the same scene simulated with each:
//! Figures 3 and 6 and Table 1 of [tonge2012 §7].
//!
//! The setting is the paper's: one step a frame, a fixed number of iterations (5 of the Gauss–Seidel kind
//! against 30 of the Jacobi kind, which took the same time on the authors' GPU), nothing put to sleep,
//! no convergence beyond that, no direct solves. A step solves twice, with and without overlaps pushed apart, and both
//! solves get these iterations; impulses are carried on from step to step. Beside them the scene is
//! simulated as it stands, with its own settings.

mod converge;
mod paper;
mod plot;
mod simulate;
mod text;

use crate::args::{DEFAULT_PILE, SolversArgs};
use crate::failure::Failure;
use crate::out::default_folder;
use crate::print::remark;
use crate::{print, threads};
use converge::{Contacts, Convergence};
use serde::Serialize;
use simulate::Motion;
use std::path::{Path, PathBuf};
use thirdlaw::{Precision, Settings, Solver};
use thirdlaw_run::clock::now;
use thirdlaw_run::record::{Machine, VERSION, core_count};
use thirdlaw_run::{SceneSource, files};
use thirdlaw_scene::Scene;

/// A solver with its numbers and its iterations a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contestant {
    solver: Solver,
    /// Double unless single is asked for by name.
    precision: Precision,
    /// 0: as the scene says, with all its settings.
    iterations: u32,
}

impl Contestant {
    /// The scene as it stands.
    const DEFAULT: Contestant =
        Contestant { solver: Solver::ColoredPgs, precision: Precision::Auto, iterations: 0 };

    fn name(&self) -> String {
        match (self.iterations, self.precision) {
            (0, _) => "settings of the scene".into(),
            (_, Precision::Single) => format!("{} f32", self.solver.name()),
            _ => self.solver.name().into(),
        }
    }

    fn is_single(&self) -> bool {
        self.precision == Precision::Single
    }

    /// The settings to simulate with.
    fn settings(&self, own: &Settings, substeps: u32) -> Settings {
        let mut settings = Settings { sleeping: false, ..*own };
        if self.iterations == 0 {
            return settings;
        }
        settings.substeps = substeps;
        let contact = &mut settings.contact;
        contact.solver = self.solver;
        contact.precision = self.precision;
        (contact.iterations, contact.relax_iterations) = (self.iterations, self.iterations);
        (contact.tolerance, contact.direct_rows, contact.converge) = (0.0, 0, false);
        settings
    }
}

/// Whether it belongs to the Gauss–Seidel kind, which needs few iterations.
fn is_sequential(solver: Solver) -> bool {
    matches!(solver, Solver::Pgs | Solver::ColoredPgs | Solver::ShuffledPgs)
}

/// The order in which solvers are shown.
const ORDER: [Solver; 9] = [
    Solver::Pgs,
    Solver::ColoredPgs,
    Solver::ShuffledPgs,
    Solver::BlockMassSplitting,
    Solver::MassSplitting,
    Solver::JacobiLineSearch,
    Solver::JacobiScaled,
    Solver::JacobiBridson,
    Solver::Jacobi,
];

/// Everyone who takes part, each in double precision and then, where it can, in single.
fn contestants(only: &[Solver], budget: (u32, u32)) -> Vec<Contestant> {
    let chosen = ORDER.into_iter().filter(|s| only.is_empty() || only.contains(s));
    let mut all = Vec::new();
    for solver in chosen {
        let iterations = if is_sequential(solver) { budget.0 } else { budget.1 };
        all.push(Contestant { solver, precision: Precision::Double, iterations });
        // the pile's kernel is the single precision of coloured Gauss–Seidel
        if solver.iterate_single().is_some() || solver == Solver::ColoredPgs {
            all.push(Contestant { solver, precision: Precision::Single, iterations });
        }
    }
    all
}

#[derive(Serialize)]
struct Report<'a> {
    version: &'static str,
    date: String,
    machine: Machine,
    scene: &'a str,
    overrides: &'a [(String, String)],
    substeps: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    contacts: Option<&'a Contacts>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    convergence: &'a [Convergence],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    motion: &'a [Motion],
}

/// Compares the solvers.
pub fn solvers(args: &SolversArgs) -> Result<(), Failure> {
    if args.table {
        return paper::table(args);
    }
    let source = SceneSource::find(args.scene.as_deref().unwrap_or(DEFAULT_PILE))?;
    let scene = source.load(&args.overrides)?;
    refuse(&source.name, &scene)?;
    let frame = args.frame.unwrap_or(scene.frames * 2 / 3);
    let frames = args.frames.unwrap_or(scene.frames);
    let out = prepare(args, &source.name)?;
    let all = contestants(&args.only, args.budget);
    let threads = args.threads.unwrap_or_else(core_count);
    let (contacts, convergence, motion) = threads::install(threads, || {
        remark(&format!("{}: to frame {frame}", source.name));
        let contacts = converge::contacts(&source.name, &scene, frame, args.substeps)?;
        let convergence = converge::converge(&contacts, &all, args);
        let mut motion = Vec::new();
        let with_default = args.only.is_empty().then_some(Contestant::DEFAULT);
        for who in all.iter().copied().chain(with_default).filter(|_| frames > 0) {
            remark(&format!("{}: {frames} frames with {}", source.name, who.name()));
            motion.push(simulate::simulate(&scene, who, frames, args.substeps)?);
        }
        Ok((contacts, convergence, motion))
    })?;
    converge::write(&out, &contacts, &convergence)?;
    simulate::write(&out, &motion)?;
    let picture = plot::svg(&source.name, &contacts, &convergence, &motion);
    files::write_whole(&out.join("solvers.svg"), picture.as_bytes())?;
    print::result(&text::contacts(&source.name, &contacts))?;
    print::result(&text::convergence(&convergence, args.budget))?;
    print::result(&text::motion(&motion))?;
    print::result(&format!(
        "results in {}: convergence.csv, energy.csv, colors.csv, solvers.svg\n",
        out.display()
    ))?;
    let report = Report {
        version: VERSION,
        date: now(),
        machine: Machine::here(threads),
        scene: &source.name,
        overrides: &args.overrides,
        substeps: args.substeps,
        contacts: Some(&contacts),
        convergence: &convergence,
        motion: &motion,
    };
    write_json(args.json.as_deref(), &report)
}

/// What the command is not made for.
fn refuse(name: &str, scene: &Scene) -> Result<(), Failure> {
    if scene.partition.is_some() {
        return Err(Failure::Input(format!(
            "{name} is shared among simulators, each with contacts of its own\n\
             `thirdlaw compare` compares ways to couple them"
        )));
    }
    Ok(())
}

fn prepare(args: &SolversArgs, name: &str) -> Result<PathBuf, Failure> {
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| default_folder(name).join("solvers"));
    std::fs::create_dir_all(&out).map_err(Failure::file("create", &out))?;
    Ok(out)
}

fn write_json(path: Option<&Path>, report: &impl Serialize) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let mut text = serde_json::to_string_pretty(report)
        .map_err(|error| Failure::file("write", path)(error.into()))?;
    text.push('\n');
    Ok(files::write_whole(path, text.as_bytes())?)
}
