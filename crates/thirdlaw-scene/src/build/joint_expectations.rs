//! Readings of joints, points and emitters in `[expect]`.

use super::Builder;
use crate::error::SceneError;
use crate::expect::{
    COUPLING_READINGS, EMITTER_READINGS, JOINT_READINGS, JointQuantity, MAIN_READINGS,
    POINT_READINGS, Reading,
};
use crate::names::nearest;
use crate::node::Entry;

/// What a name stands for in a list of names.
enum Found {
    /// This one.
    One(usize),
    /// Copies: the first and how many.
    Copies(usize, usize),
    /// Copies, though none was asked for.
    Several(usize),
}

/// Looks for a name, or with `.*` for all copies of it.
fn find<'a>(names: impl Iterator<Item = &'a str> + Clone, wanted: &str) -> Option<Found> {
    if let Some(at) = names.clone().position(|n| n == wanted) {
        return Some(Found::One(at));
    }
    let group = wanted.strip_suffix(".*").unwrap_or(wanted);
    let is_copy = |name: &str| name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'));
    let first = names.clone().position(is_copy)?;
    let count = names.filter(|n| is_copy(n)).count();
    Some(if group == wanted { Found::Several(count) } else { Found::Copies(first, count) })
}

impl Builder<'_> {
    /// A reading of a joint or a point; `None` if none has that name.
    pub fn joint_or_point_reading(
        &self,
        entry: &Entry,
        object: &str,
        quantity: &str,
    ) -> Option<Result<Reading, SceneError>> {
        let fail = |message: String, hint: String| {
            Some(Err(SceneError::new(&entry.key_place, message).hint(hint)))
        };
        let several = |what: &str, count: usize| {
            let hint =
                format!("\"{object}.0.…\" is the first of {count}, \"{object}.*.…\" all of them");
            fail(format!("`{object}` stands for several {what}"), hint)
        };
        let unknown = |what: &str, names: Vec<&str>| {
            let hint = match nearest(quantity, names.iter().copied()) {
                Some(near) => format!("did you mean `{object}.{near}`?"),
                None => format!("its quantities: {}", names.join(", ")),
            };
            fail(format!("{what} has no quantity `{quantity}`"), hint)
        };
        match find(self.points.iter().map(|p| p.name.as_str()), object) {
            None => {}
            Some(Found::Several(count)) => return several("points", count),
            Some(found) => {
                let (first, count) = range(&found);
                let Some(&(_, quantity)) = POINT_READINGS.iter().find(|r| r.0 == quantity) else {
                    return unknown("a point", POINT_READINGS.map(|r| r.0).to_vec());
                };
                return Some(Ok(Reading::Points { first, count, quantity }));
            }
        }
        match find(self.joints.iter().map(|j| j.name.as_str()), object)? {
            Found::Several(count) => several("joints", count),
            found => {
                let (first, count) = range(&found);
                let kind = &self.world.joint(self.joints.get(first)?.id).ok()?.joint.kind;
                match JointQuantity::named(quantity, kind) {
                    Some(quantity) => Some(Ok(Reading::Joints { first, count, quantity })),
                    None => {
                        let own = MAIN_READINGS.iter().copied();
                        let own = own.filter(|n| JointQuantity::named(n, kind).is_some());
                        let names = own.chain(JOINT_READINGS.map(|r| r.0)).collect();
                        unknown("this joint", names)
                    }
                }
            }
        }
    }
}

impl Builder<'_> {
    /// A reading of a stream; `None` if no emitter has that name.
    pub fn emitter_reading(
        &self,
        entry: &Entry,
        object: &str,
        quantity: &str,
    ) -> Option<Result<Reading, SceneError>> {
        let index = self.emitters.iter().position(|e| e.name == object)?;
        if let Some(&(_, quantity)) = EMITTER_READINGS.iter().find(|r| r.0 == quantity) {
            return Some(Ok(Reading::Emitter { index, quantity }));
        }
        let names = EMITTER_READINGS.map(|r| r.0);
        let hint = match nearest(quantity, names) {
            Some(near) => format!("did you mean `{object}.{near}`?"),
            None => format!("quantities of an emitter: {}", names.join(", ")),
        };
        let message = format!("an emitter has no quantity `{quantity}`");
        Some(Err(SceneError::new(&entry.key_place, message).hint(hint)))
    }
}

impl Builder<'_> {
    /// A reading of a coupling's books; `None` if no coupling has that name, or a body has it.
    pub fn coupling_reading(
        &self,
        entry: &Entry,
        object: &str,
        quantity: &str,
    ) -> Option<Result<Reading, SceneError>> {
        if self.bodies.iter().any(|body| body.name == object) {
            return None;
        }
        let couplings = self.root.named("couplings");
        let found = COUPLING_READINGS.iter().find(|r| r.0 == quantity);
        let Some(index) = couplings.iter().position(|e| e.key == object) else {
            // nothing else has these quantities
            found?;
            let error =
                SceneError::new(&entry.key_place, format!("there is no coupling `{object}`"));
            let hint = match nearest(object, couplings.iter().map(|e| e.key.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "couplings stand under [couplings]".into(),
            };
            return Some(Err(error.hint(hint)));
        };
        if let Some(&(_, quantity)) = found {
            return Some(Ok(Reading::Coupling { index, quantity }));
        }
        let names = COUPLING_READINGS.map(|r| r.0);
        let hint = match nearest(quantity, names) {
            Some(near) => format!("did you mean `{object}.{near}`?"),
            None => format!("quantities of a coupling: {}", names.join(", ")),
        };
        let message = format!("a coupling has no quantity `{quantity}`");
        Some(Err(SceneError::new(&entry.key_place, message).hint(hint)))
    }
}

fn range(found: &Found) -> (usize, usize) {
    match *found {
        Found::One(at) => (at, 1),
        Found::Copies(first, count) => (first, count),
        Found::Several(count) => (0, count),
    }
}
