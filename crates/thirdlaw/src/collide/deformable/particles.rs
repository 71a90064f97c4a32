//! Particles against solids.

use super::parts::distance_to_parts;
use super::{Bounds, Hit, Placed, Solid};
use crate::math::Vec3;
use crate::model::body::Groups;
use crate::parallel::pool::prelude::*;
use crate::state::cloth::HitKind;

/// Particles to look at.
#[derive(Clone, Copy, Debug)]
pub struct Particles<'a> {
    /// Positions, m.
    pub x: &'a [Vec3],
    /// How far around each particle to look, m; a negative reach leaves a particle out.
    pub reach: &'a [f64],
    /// Which solids each particle may touch; none given: all.
    pub groups: &'a [Groups],
}

impl Particles<'_> {
    /// Whether a particle and a body of `groups` may touch.
    pub(super) fn may_touch(&self, particle: usize, groups: Groups) -> bool {
        self.groups.get(particle).is_none_or(|g| g.touch(groups))
    }
}

/// Memory of [`vertex_solid`], kept from call to call.
#[derive(Debug, Default)]
pub struct ParticleScratch {
    chunks: Vec<Vec<Hit>>,
}

/// Particles handled together; neighbours in the array are mostly neighbours in space.
const CHUNK: usize = 64;

/// Finds every particle within its reach (and the margin of the solid) of the surface of a solid, or
/// inside it. One hit for each particle and solid, in the order of particles, then of slots;
/// replaces what was in `out`.
pub fn vertex_solid(
    particles: &Particles<'_>,
    solids: &[Solid<'_>],
    scratch: &mut ParticleScratch,
    out: &mut Vec<Hit>,
) {
    out.clear();
    let n = particles.x.len().min(particles.reach.len());
    if solids.is_empty() || n == 0 {
        return;
    }
    scratch.chunks.resize_with(n.div_ceil(CHUNK), Vec::new);
    let find = |(index, hits): (usize, &mut Vec<Hit>)| {
        hits.clear();
        let range = index * CHUNK..((index + 1) * CHUNK).min(n);
        let mut bounds = Bounds::EMPTY;
        for i in range.clone() {
            let reach = particles.reach[i];
            if reach >= 0.0 {
                bounds.include(particles.x[i], reach);
            }
        }
        for solid in solids {
            let placed = Placed::new(solid);
            if placed.bounds.touches(&bounds) {
                near_solid(particles, &placed, range.clone(), hits);
            }
        }
        hits.sort_unstable_by_key(|h| h.feature);
    };
    scratch.chunks.par_iter_mut().enumerate().with_min_len(4).for_each(find);
    scratch.chunks.iter().for_each(|hits| out.extend_from_slice(hits));
}

fn near_solid(
    particles: &Particles<'_>,
    placed: &Placed<'_>,
    range: std::ops::Range<usize>,
    hits: &mut Vec<Hit>,
) {
    let solid = &placed.solid;
    for i in range {
        let (x, reach) = (particles.x[i], particles.reach[i]);
        if reach < 0.0 || !placed.bounds.holds(x, reach) || !particles.may_touch(i, solid.groups) {
            continue;
        }
        let local = placed.local(x);
        let reach = reach + solid.margin;
        let groups = particles.groups.get(i);
        let found = distance_to_parts(solid.shape, solid.parts, groups, local, reach);
        let Some((surface, part)) = found else { continue };
        hits.push(Hit {
            kind: HitKind::VertexSolid,
            particles: [i as u32; 4],
            weights: [1.0, 0.0, 0.0, 0.0],
            count: 1,
            body: solid.slot,
            point: placed.world(surface.point),
            normal: placed.rotation * surface.normal,
            distance: surface.distance,
            time: 0.0,
            feature: [i as u32, solid.slot, part],
        });
    }
}
