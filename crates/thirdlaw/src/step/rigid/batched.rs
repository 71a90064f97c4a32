//! Small islands that move fast, several at a time: the substeps of [`super::substep`] with the same
//! friction at every point and the same arms, which follow the bodies.
//!
//! One such island leaves most lanes of a sweep empty, and its ten contacts cost as much to set up as to
//! solve. Islands that iterate a fixed number of times, because nothing about them asks to converge,
//! bounces or the direct path, are one problem together: their contacts share no body that moves, so that
//! the colours of each are those that it has alone, and lanes do not mix. The bits of an island do not
//! depend on its company. An island that contact has given energy in a substep was not solved: it is said so,
//! and goes the general way instead.

use super::batch::{Batch, Memory};
use super::general;
use super::restitution::{INSIDE, Spring, Springs};
use super::stopwatch::{Spent, Stopwatch};
use super::substep::{GAINED, IslandScratch, Members, Setting, SolveTotals};
use crate::contact::{Anchor, Softness, follow};
use crate::math::Mat3;
use crate::model::Model;
use crate::report::SolvePath;

/// Advances the islands of a batch that go together by a step: those that turn far in it, and the others.
pub fn solve(batch: &mut Batch, memory: &mut Memory, watch: &mut Stopwatch) {
    for turning in [false, true] {
        solve_those(batch, turning, memory, watch);
    }
}

fn solve_those(batch: &mut Batch, turning: bool, memory: &mut Memory, watch: &mut Stopwatch) {
    let setting = batch.setting;
    let (dt, path) = (setting.3, SolvePath::Batched);
    let places = batch.places_where(path, move |facts| facts.turns_far(dt) == turning);
    if places.clone().next().is_none() {
        return;
    }
    let members = places.clone().map(|place| batch.members(place));
    let totals = advance(setting, members, !turning, memory.get(), watch);
    batch.totals(0).include(&totals);
    let mut at = (0, 0);
    for (i, place) in places.clone().enumerate() {
        let (island, scratch) = (batch.island(place), memory.get());
        if island.carried || !scratch.energies[i].gained {
            let changed = batch.changed(place);
            scratch.write_back(setting.0, at, changed.bodies, changed.impulses);
        }
        at = (at.0 + island.body_count, at.1 + island.contact_count);
    }
    // the general way needs the same memory, but for what was noted of energies
    let energies = std::mem::take(&mut memory.get().energies);
    for (place, energy) in places.zip(&energies) {
        if !batch.island(place).carried && energy.gained {
            general::advance(batch, place, memory, watch);
            batch.totals(place).again = true;
        }
    }
    memory.get().energies = energies;
}

/// Advances islands by a step; what comes out waits in `scratch` to be written back.
fn advance<'a>(
    setting: Setting,
    islands: impl Iterator<Item = Members<'a>> + Clone,
    rigid: bool,
    scratch: &mut IslandScratch,
    watch: &mut Stopwatch,
) -> SolveTotals {
    let (model, state, settings, dt) = setting;
    let (substeps, contact) = (settings.substeps, &settings.contact);
    let h = dt / f64::from(substeps);
    let springs = Springs::new(contact, h);
    let count: usize = islands.clone().map(|island| island.bodies.len()).sum();
    let mut totals = SolveTotals::default();
    let mut first = *watch;

    scratch.gather(setting, islands.clone());
    scratch.fix_points(&springs);
    scratch.watch_energy(islands.map(|island| island.bodies.len()));
    let turned = scratch.bodies[..count].iter().any(|b| !model.bodies[b.slot as usize].isotropic);
    follow::begin(&scratch.problem, &scratch.anchors, &scratch.impulses, &mut scratch.solver);
    for substep in 0..substeps {
        let told = substep == 0;
        if told {
            first.lap();
        }
        scratch.apply_forces(setting, count, state.time + f64::from(substep) * h, h);
        scratch.set_kinematic_velocities(setting, count, (substep, substeps));
        if told {
            first.integrated();
        }
        scratch.note_energy(model);
        let IslandScratch { problem, velocities, solver, poses, bodies, .. } = scratch;
        poses.clear();
        poses.extend(bodies.iter().map(|body| (body.position, Mat3::from_quat(body.rotation))));
        follow::advance((problem, turned), poses, h, velocities, solver);
        let mut left = follow::iterate(contact.iterations, velocities, solver);
        scratch.pushed.clone_from(&velocities.bodies);
        if contact.relax_iterations > 0 {
            let relax = follow::relax((h, rigid), contact.relax_iterations, velocities, solver);
            left = left.max(relax);
        }
        totals.iterations += contact.iterations + contact.relax_iterations;
        totals.residual = totals.residual.max(left);
        scratch.judge_energy(model);
        if told {
            first.solved();
        }
        scratch.move_bodies(setting, count, substep, h);
        if told {
            first.integrated();
        }
    }
    follow::end(&mut scratch.impulses, &scratch.solver);
    let (lap, share) = (watch.lap(), first.spent.share());
    totals.spent = Spent { integrate: lap * share, solve: lap * (1.0 - share) };
    totals
}

/// Kinetic energy of an island before contact, and whether contact has added to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnergyWatch {
    bodies: [usize; 2],
    before: f64,
    pub gained: bool,
}

impl IslandScratch {
    /// Begins to watch the energy of islands of so many bodies each.
    fn watch_energy(&mut self, counts: impl Iterator<Item = usize>) {
        self.energies.clear();
        let mut first = 0;
        self.energies.extend(counts.map(|count| {
            let bodies = [first, first + count];
            first += count;
            EnergyWatch { bodies, before: 0.0, gained: false }
        }));
    }

    fn note_energy(&mut self, model: &Model) {
        for i in 0..self.energies.len() {
            let [first, end] = self.energies[i].bodies;
            self.energies[i].before = self.kinetic(model, first..end);
        }
    }

    fn judge_energy(&mut self, model: &Model) {
        for i in 0..self.energies.len() {
            let [first, end] = self.energies[i].bodies;
            let gained = self.kinetic(model, first..end) > GAINED * self.energies[i].before;
            self.energies[i].gained |= gained;
        }
    }

    /// Where contact points are on their bodies.
    fn fix_points(&mut self, springs: &Springs) {
        self.anchors.clear();
        for (i, local) in self.contacts.iter().enumerate() {
            let next = self.contacts.get(i + 1);
            let end = next.map_or(self.points.len(), |next| next.point_start as usize);
            let points = &self.points[local.point_start as usize..end];
            let first = points.first().map_or(f64::INFINITY, |point| point.half_thickness);
            let Spring { rate, softness, slop, skin, sag, speed, .. } = springs.of(first);
            self.anchors.extend(points.iter().map(|point| Anchor {
                bodies: [local.a, local.b],
                arms: point.anchors,
                radii: point.radii,
                skin: point.skin.min(skin),
                inside: INSIDE,
                soft: Softness { rate, softness, slop, carried: rate * sag, speed },
                with_b: local.travels_with_b(point),
            }));
        }
    }
}
