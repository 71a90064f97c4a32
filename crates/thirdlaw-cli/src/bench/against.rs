//! `thirdlaw bench --against rapier`: the same bodies in Rapier, judged by the same measures.
//!
//! Rapier runs as published and at its defaults (or, if asked, without what it calls contact recycling, which
//! keeps the place where a contact pushes until a pair has moved by 50 mm), in the same pool of threads, with
//! the same step and frames. Energy is that of its velocities by our formula; for overlap its final poses
//! are written into a copy of our world. Neither is timed.

use super::gaps::Gaps;
use super::{Figures, Pass, add_rest_energy, overlap, start};
use crate::args::Peer;
use crate::failure::Failure;
use crate::print;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;
use thirdlaw::model::BodyModel;
use thirdlaw::simulator::Simulator;
use thirdlaw::{BodyId, Pose, World, measure};
use thirdlaw_rapier::RapierWorld;
use thirdlaw_run::stats::median;
use thirdlaw_scene::Scene;

/// Ours over theirs, for one scene and number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Ratios {
    scene: String,
    threads: usize,
    ms_per_frame: f64,
    total_ms: f64,
    rest_energy_median: f64,
    rest_energy_mean: f64,
    rest_jitter: f64,
    overlap_p99: f64,
    overlap_max: f64,
}

/// One simulation of a scene in Rapier.
pub fn simulate(peer: Peer, name: &str, scene: &Scene, frames: u32) -> Result<Pass, Failure> {
    let mut mirror = start(scene, false)?.world;
    let mut rapier = RapierWorld::from_world(&mirror)
        .map_err(|error| Failure::Input(format!("{name}: {error}")))?;
    let bodies: Vec<BodyId> = mirror.bodies().collect();
    rapier.world.integration_parameters.dt = scene.dt() as f32;
    if peer == Peer::RapierAnew {
        rapier.world.integration_parameters.contact_recycling = false;
    }
    let settled_from = frames - frames.div_ceil(3);
    let mut frame_ms = Vec::with_capacity(frames as usize);
    let mut rest_energy = Vec::new();
    let mut jitter = Vec::new();
    let mut gaps = Gaps::default();
    for frame in 0..frames {
        let started = Instant::now();
        for _ in 0..scene.steps_per_frame {
            rapier.world.step();
        }
        frame_ms.push(started.elapsed().as_secs_f64() * 1e3);
        if mirror.joints().next().is_some() {
            reflect(&rapier, &bodies, &mut mirror)?;
            gaps.add(&mirror);
        }
        if frame >= settled_from {
            let energies = energies(&rapier, &mirror);
            jitter.push(median(energies.clone()));
            add_rest_energy(&mut rest_energy, energies, frames - settled_from);
        }
    }
    reflect(&rapier, &bodies, &mut mirror)?;
    let (overlap_p99, overlap_max) = overlap(&mirror);
    Ok(Pass {
        settled_ms: median(frame_ms[settled_from as usize..].to_vec()),
        total_ms: frame_ms.iter().sum(),
        stage_ms: BTreeMap::new(),
        rest_energy,
        rest_jitter: median(jitter),
        overlap_p99,
        overlap_max,
        contacts: contact_count(&rapier),
        gaps: gaps.figures(),
        paths: Default::default(),
        cloth: None,
        coupling: None,
        hash: None,
    })
}

/// Kinetic energy per mass of every dynamic body, J/kg.
fn energies(rapier: &RapierWorld, mirror: &World) -> Vec<f64> {
    let model = mirror.bodies().map(|id| &mirror.model().bodies[id.index as usize]);
    let dynamic = model.enumerate().filter(|(_, body)| body.is_dynamic());
    let energy = |(handle, body): (usize, &BodyModel)| {
        let motion = rapier.read(handle);
        measure::kinetic(body, motion.rotation, &motion.velocity) / body.mass
    };
    dynamic.map(energy).collect()
}

/// Puts the bodies of our world where Rapier has them.
fn reflect(rapier: &RapierWorld, bodies: &[BodyId], mirror: &mut World) -> Result<(), Failure> {
    for (handle, id) in bodies.iter().enumerate() {
        let Ok(body) = mirror.body(*id) else { continue };
        if !body.is_dynamic() {
            continue;
        }
        let motion = rapier.read(handle);
        let origin = motion.position - motion.rotation * body.center;
        let pose = Pose::from_parts(origin, motion.rotation);
        mirror.set_pose(*id, pose).map_err(|error| {
            Failure::Simulation(format!("what Rapier says of {id} cannot be used: {error}"))
        })?;
    }
    Ok(())
}

/// Points of contact that Rapier's solver works on.
fn contact_count(rapier: &RapierWorld) -> u32 {
    let pairs = rapier.world.narrow_phase.contact_pairs();
    let points = pairs.flat_map(|pair| pair.manifolds().iter());
    points.map(|manifold| manifold.data.solver_contacts.len() as u32).sum()
}

/// Ours over theirs wherever both were measured.
pub fn ratios(all: &[Figures]) -> Vec<Ratios> {
    let pairs = all.windows(2).filter(|pair| pair[1].engine != pair[0].engine);
    let pairs = pairs.filter(|pair| pair[0].engine == "thirdlaw");
    pairs
        .map(|pair| {
            let ratio = |of: fn(&Figures) -> f64| of(&pair[0]) / of(&pair[1]);
            Ratios {
                scene: pair[0].scene.clone(),
                threads: pair[0].threads,
                ms_per_frame: ratio(|f| f.ms_per_frame),
                total_ms: ratio(|f| f.total_ms),
                rest_energy_median: ratio(|f| f.rest_energy_median),
                rest_energy_mean: ratio(|f| f.rest_energy_mean),
                rest_jitter: ratio(|f| f.rest_jitter),
                overlap_p99: ratio(|f| f.overlap_p99),
                overlap_max: ratio(|f| f.overlap_max),
            }
        })
        .collect()
}

/// The ratios as text; nothing where there are none.
pub fn table(ratios: &[Ratios], names: usize) -> String {
    if ratios.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nours over Rapier's: less is better\n");
    let _ = write!(
        text,
        "{:<names$}  threads  ms/frame  total     rest median  mean      jitter    overlap p99  max",
        "scene"
    );
    for r in ratios {
        let _ = write!(
            text,
            "\n{:<names$}  {:>7}  {:<8}  {:<8}  {:<11}  {:<8}  {:<8}  {:<11}  {}",
            r.scene,
            r.threads,
            print::number(r.ms_per_frame),
            print::number(r.total_ms),
            print::number(r.rest_energy_median),
            print::number(r.rest_energy_mean),
            print::number(r.rest_jitter),
            print::number(r.overlap_p99),
            print::number(r.overlap_max)
        );
    }
    text + "\n"
}
