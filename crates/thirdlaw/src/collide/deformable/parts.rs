//! Particles near bodies of several parts, of which each may have groups and a material of its own.

use super::{Solid, Surface, signed_distance};
use crate::math::Vec3;
use crate::model::body::part::PartModel;
use crate::model::body::{Groups, Material};
use crate::shape::Shape;

/// Signed distance of a point of the body's frame from what `groups` may touch, and the index of the part
/// that is nearest; as [`signed_distance`] where the body has no other part than its own.
pub fn distance_to_parts(
    shape: &Shape,
    parts: &[PartModel],
    groups: Option<&Groups>,
    local: Vec3,
    reach: f64,
) -> Option<(Surface, u32)> {
    if parts.is_empty() {
        return Some((signed_distance(shape, local, reach)?, 0));
    }
    let may_touch =
        |part: &PartModel| part.is_solid() && groups.is_none_or(|g| g.touch(part.part.groups));
    let solid = || parts.iter().enumerate().filter(|(_, part)| part.is_solid());
    if solid().all(|(_, part)| may_touch(part)) {
        let surface = signed_distance(shape, local, reach)?;
        // the surface belongs to the part that has it nearest
        let near = |part: &PartModel| {
            let found = signed_distance(&part.shape, surface.point, 1e-3 + reach);
            found.map_or(f64::INFINITY, |found| found.distance.abs())
        };
        let nearest = solid().min_by(|(_, a), (_, b)| near(a).total_cmp(&near(b)))?;
        return Some((surface, nearest.0 as u32));
    }
    let found = solid().filter(|(_, part)| may_touch(part)).filter_map(|(index, part)| {
        Some((signed_distance(&part.shape, local, reach)?, index as u32))
    });
    found.min_by(|a, b| a.0.distance.total_cmp(&b.0.distance))
}

impl<'a> Solid<'a> {
    /// Whether a particle of these groups may touch the part with this piece.
    pub(super) fn lets(&self, groups: Option<&Groups>, piece: u32) -> bool {
        let part = self.parts.iter().find(|p| (p.pieces.0..p.pieces.1).contains(&piece));
        part.is_none_or(|part| groups.is_none_or(|g| g.touch(part.part.groups)))
    }

    /// What the part of a hit is made of, by its index or the index of a piece.
    pub(super) fn material_at(&self, index: u32, is_piece: bool) -> Option<&'a Material> {
        let part = if is_piece {
            self.parts.iter().find(|p| (p.pieces.0..p.pieces.1).contains(&index))
        } else {
            self.parts.get(index as usize)
        };
        Some(&part?.part.material)
    }
}
