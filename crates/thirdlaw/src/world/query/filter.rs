//! What a question is about.

use super::World;
use crate::ids::{AnyId, BodyId};
use crate::model::body::part::PartModel;
use crate::model::body::{BodyKind, Groups};

/// What a question is about; everything but sensors unless told otherwise.
#[derive(Clone, Copy, Default)]
#[doc(alias = "QueryFilter")]
#[must_use = "a filter does nothing until a question is asked with it"]
pub struct Filter<'a> {
    groups: Option<Groups>,
    except: Option<AnyId>,
    only: Option<&'a (dyn Fn(AnyId) -> bool + 'a)>,
    hidden: [bool; 4],
    sensors: bool,
    pub(super) hollow: bool,
}

/// Places in [`Filter::hidden`].
const FIXED: usize = 0;
const KINEMATIC: usize = 1;
const DYNAMIC: usize = 2;
const SOFT: usize = 3;

impl std::fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter")
            .field("groups", &self.groups)
            .field("except", &self.except)
            .field("only", &self.only.is_some())
            .field("hidden", &self.hidden)
            .field("sensors", &self.sensors)
            .field("hollow", &self.hollow)
            .finish()
    }
}

impl<'a> Filter<'a> {
    /// Everything but sensors.
    pub fn new() -> Filter<'a> {
        Filter::default()
    }

    /// Only what something of these groups could touch.
    pub fn groups(mut self, groups: Groups) -> Self {
        self.groups = Some(groups);
        self
    }

    /// Not this one: who asks, as a rule.
    #[doc(alias = "exclude_rigid_body")]
    pub fn except(mut self, id: impl Into<AnyId>) -> Self {
        self.except = Some(id.into());
        self
    }

    /// Only what `keep` says yes to.
    #[doc(alias = "predicate")]
    pub fn only(mut self, keep: &'a (dyn Fn(AnyId) -> bool + 'a)) -> Self {
        self.only = Some(keep);
        self
    }

    /// No fixed bodies.
    pub fn without_fixed(mut self) -> Self {
        self.hidden[FIXED] = true;
        self
    }

    /// No kinematic bodies.
    pub fn without_kinematic(mut self) -> Self {
        self.hidden[KINEMATIC] = true;
        self
    }

    /// No dynamic bodies.
    pub fn without_dynamic(mut self) -> Self {
        self.hidden[DYNAMIC] = true;
        self
    }

    /// No cloth and no soft bodies.
    pub fn without_deformables(mut self) -> Self {
        self.hidden[SOFT] = true;
        self
    }

    /// Sensors, too.
    pub fn with_sensors(mut self) -> Self {
        self.sensors = true;
        self
    }

    /// Rays that start inside of a body meet its surface on their way out, instead of the body at once.
    pub fn hollow(mut self) -> Self {
        self.hollow = true;
        self
    }

    /// Whether a body counts, before the user's own closure is asked.
    #[inline]
    pub(super) fn takes_body(&self, world: &World, slot: usize) -> bool {
        if self.is_plain() {
            return !world.model.bodies[slot].sensor;
        }
        let body = &world.model.bodies[slot];
        let kind = match body.kind {
            BodyKind::Fixed => FIXED,
            BodyKind::Kinematic => KINEMATIC,
            BodyKind::Dynamic => DYNAMIC,
        };
        (self.sensors || !body.sensor)
            && !self.hidden[kind]
            && match &body.parts[..] {
                [] => self.groups.is_none_or(|groups| groups.touch(body.asked_groups)),
                parts => parts.iter().any(|part| self.takes_part(part)),
            }
            && self.except
                != Some(AnyId::Body(BodyId { index: slot as u32, generation: body.generation }))
    }

    /// Whether a part of a body counts that counts itself.
    pub(super) fn takes_part(&self, part: &PartModel) -> bool {
        (self.sensors || part.is_solid())
            && self.groups.is_none_or(|groups| groups.touch(part.part.groups))
    }

    fn is_plain(&self) -> bool {
        self.groups.is_none() && self.except.is_none() && self.hidden == [false; 4] && !self.sensors
    }

    /// The same of a deformable object.
    pub(super) fn takes_soft(&self, world: &World, slot: usize) -> bool {
        !self.hidden[SOFT]
            && self.groups.is_none_or(|groups| groups.touch(world.model.cloths[slot].groups))
            && self.except != Some(world.model.cloth_id(slot).into())
    }

    /// What the user's own closure says.
    #[inline]
    pub(super) fn lets(&self, who: AnyId) -> bool {
        self.only.is_none_or(|keep| keep(who))
    }
}
