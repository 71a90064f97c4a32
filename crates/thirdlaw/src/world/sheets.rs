//! Cloth across simulators: a world's own as sheets for others, and those of others for its particles.

use super::World;
use crate::math::Vec3;
use crate::simulator::{ContactSheet, Motion};

impl World {
    /// Every cloth as a sheet whose vertices are handles.
    pub(super) fn own_sheets(&self) -> Vec<ContactSheet> {
        let first = self.model.bodies.len() + self.model.points.len();
        let cloths = self.model.cloths.iter().filter(|cloth| cloth.alive);
        let sheet = |cloth: &crate::model::deformable::model::DeformableModel| {
            let elements = &cloth.elements;
            let handles = cloth.range().map(|i| first + i).collect();
            ContactSheet {
                handles,
                triangles: elements.triangles.clone(),
                masses: elements.mass.clone(),
                thickness: 2.0 * elements.radius.first().copied().unwrap_or(0.0),
                friction: elements.surfaces.first().map_or(0.0, |surface| surface.friction),
            }
        };
        cloths.map(sheet).collect()
    }

    /// Takes in a sheet of another simulator. Only particles bounce off it, so that a world of which
    /// something else could touch it refuses.
    pub(super) fn take_sheet(&mut self, sheet: &ContactSheet) -> Option<usize> {
        let streams = self.model.emitters.iter().any(|emitter| emitter.alive);
        let mut bodies = self.model.bodies.iter();
        if !streams
            || bodies.any(|body| body.alive && body.is_dynamic())
            || self.deformables().next().is_some()
            || self.points().next().is_some()
        {
            return None;
        }
        let count = sheet.handles.len();
        let sound = sheet.masses.len() == count
            && sheet.masses.iter().all(|m| m.is_finite() && *m > 0.0)
            && sheet.triangles.iter().flatten().all(|i| (*i as usize) < count)
            && [sheet.thickness, sheet.friction].iter().all(|x| x.is_finite() && *x >= 0.0);
        if !sound {
            return None;
        }
        let all = &mut self.ports.sheets;
        let first = all.mass.len();
        all.triangles.extend(sheet.triangles.iter().map(|t| t.map(|i| i + first as u32)));
        all.friction.resize(all.triangles.len(), sheet.friction);
        all.mass.extend_from_slice(&sheet.masses);
        all.sheet.resize(first + count, self.ports.sheet_ranges.len() as u32);
        all.radius.resize(first + count, 0.5 * sheet.thickness);
        all.struck.resize(first + count, Vec3::ZERO);
        for list in all.starts.iter_mut().chain(&mut all.ends) {
            list.resize(first + count, Vec3::ZERO);
        }
        self.ports.sheet_ranges.push(first..first + count);
        Some(self.ports.sheet_ranges.len() - 1)
    }

    /// Where a foreign sheet is over the next step.
    pub(super) fn follow_sheet(&mut self, sheet: usize, starts: &[Motion], ends: &[Motion]) {
        let Some(range) = self.ports.sheet_ranges.get(sheet).cloned() else { return };
        let all = &mut self.ports.sheets;
        for (list, motions) in [(&mut all.starts, starts), (&mut all.ends, ends)] {
            for (i, motion) in range.clone().zip(motions).filter(|(_, m)| m.is_finite()) {
                list[0][i] = motion.position;
                list[1][i] = motion.velocity.linear;
            }
        }
    }

    /// Adds what particles struck a foreign sheet with.
    pub(super) fn sheet_struck(&self, sheet: usize, impulses: &mut [Vec3]) -> bool {
        let Some(range) = self.ports.sheet_ranges.get(sheet) else { return false };
        let struck = &self.ports.sheets.struck[range.clone()];
        impulses.iter_mut().zip(struck).for_each(|(sum, struck)| *sum += *struck);
        true
    }
}
