//! `[expect]`: what its keys mean.

use super::Builder;
use super::settings::Timing;
use crate::error::SceneError;
use crate::expect::{
    BODY_READINGS, BodyReading, CLOTH_READINGS, ClothReading, Expectation, Of, Reading, Test,
    VERTEX_READINGS, expected_columns,
};
use crate::names::nearest;
use crate::node::{Entry, Table};

impl Builder<'_> {
    /// All expectations; where bodies could not be built, their readings are not looked for.
    pub fn expectations(&mut self, timing: &Timing) -> Vec<Expectation> {
        if !self.errors.is_empty() {
            return Vec::new();
        }
        let end = f64::from(timing.frames) / timing.fps;
        let mut expectations = Vec::new();
        for entry in self.root.named("expect") {
            let Some(table) = entry.node.table() else { continue };
            for key in ["at", "from", "until"] {
                if let Some(time) = table.number(key).filter(|t| *t > end + 0.5 / timing.fps) {
                    let place = table.get(key).map_or(&entry.node.place, |n| &n.place).clone();
                    self.error(&place, format!("the scene ends at {end} s, before {time} s"));
                }
            }
            match self.reading(entry) {
                Ok(reading) => expectations.push(expectation(entry, table, reading)),
                Err(e) => self.errors.push(e),
            }
        }
        expectations
    }

    fn reading(&self, entry: &Entry) -> Result<Reading, SceneError> {
        let key = entry.key.as_str();
        if let Some(column) = expected_columns().find(|column| *column == key) {
            return Ok(Reading::Column(column));
        }
        let fail = |message: String, hint: String| {
            Err(SceneError::new(&entry.key_place, message).hint(hint))
        };
        let Some((body, quantity)) = key.rsplit_once('.') else {
            let hint = match nearest(key, expected_columns()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "a quantity of a body like \"{key}.y\", or one of {}",
                    expected_columns().collect::<Vec<_>>().join(", ")
                ),
            };
            return fail(format!("there is no reading `{key}`"), hint);
        };
        if let Some(found) = self.joint_or_point_reading(entry, body, quantity) {
            return found;
        }
        if let Some(found) = self.emitter_reading(entry, body, quantity) {
            return found;
        }
        if let Some(found) = self.cloth_reading(entry, body, quantity) {
            return found;
        }
        if let Some(found) = self.coupling_reading(entry, body, quantity) {
            return found;
        }
        let Some(quantity) = body_reading(quantity) else {
            let names = BODY_READINGS.map(|r| r.0);
            let hint = match nearest(quantity, names) {
                Some(near) => format!("did you mean `{body}.{near}`?"),
                None => format!("quantities of a body: {}", names.join(", ")),
            };
            return fail(format!("a body has no quantity `{quantity}`"), hint);
        };
        if let Some(first) = self.bodies.iter().position(|b| b.name == body) {
            return Ok(Reading::Bodies { first, count: 1, quantity });
        }
        let group = body.strip_suffix(".*").unwrap_or(body);
        let is_copy =
            |name: &str| name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'));
        let count = self.bodies.iter().filter(|b| is_copy(&b.name)).count();
        if count > 0 {
            if group == body {
                let hint =
                    format!("\"{body}.0.…\" is the first of {count}, \"{body}.*.…\" all of them");
                return fail(format!("`{body}` stands for several bodies"), hint);
            }
            let first = self.bodies.iter().position(|b| is_copy(&b.name)).unwrap_or(0);
            return Ok(Reading::Bodies { first, count, quantity });
        }
        // whole names first, then those without the number of a copy
        let names = self.bodies.iter().map(|b| b.name.as_str()).take(10_000);
        let names = names.chain(self.cloths.iter().map(|c| c.name.as_str()));
        let names = names.chain(self.joints.iter().map(|j| j.name.as_str()).take(10_000));
        let names = names.chain(self.points.iter().map(|p| p.name.as_str()).take(10_000));
        let names = names.chain(self.emitters.iter().map(|e| e.name.as_str()));
        let names = names.chain(self.root.named("couplings").iter().map(|e| e.key.as_str()));
        let hint = match nearest(body, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "names stand under [bodies], [generate], [cloths], [soft_bodies], [points], [urdf], [joints], \
                 [emitters] and [couplings]"
                    .into()
            }
        };
        fail(
            format!(
                "there is no body, cloth, soft body, point, joint, emitter or coupling `{body}`"
            ),
            hint,
        )
    }
}

impl Builder<'_> {
    /// A reading of a cloth or of one of its vertices; `None` if no cloth has that name.
    fn cloth_reading(
        &self,
        entry: &Entry,
        object: &str,
        quantity: &str,
    ) -> Option<Result<Reading, SceneError>> {
        let fail = |message: String, hint: String| {
            Some(Err(SceneError::new(&entry.key_place, message).hint(hint)))
        };
        let whole = |name: &str| self.cloths.iter().position(|c| c.name == name);
        let group = object.strip_suffix(".*").unwrap_or(object);
        let is_copy =
            |name: &str| name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'));
        let count = self.cloths.iter().filter(|c| is_copy(&c.name)).count();
        let (first, count) = match whole(object) {
            Some(first) => (first, 1),
            None if count > 0 && group == object => {
                let hint = format!(
                    "\"{object}.0.…\" is the first of {count}, \"{object}.*.…\" all of them"
                );
                return fail(format!("`{object}` stands for several cloths"), hint);
            }
            None if count > 0 => (self.cloths.iter().position(|c| is_copy(&c.name))?, count),
            None => {
                let (name, vertex) = object.rsplit_once('.')?;
                let first = whole(name)?;
                let total = self.world.vertices(self.cloths[first].id).map_or(0, <[_]>::len);
                let Some(vertex) = vertex.parse().ok().filter(|v| (*v as usize) < total) else {
                    let message = format!("the cloth `{name}` has no vertex `{vertex}`");
                    return fail(message, format!("its vertices: 0 to {}", total.max(1) - 1));
                };
                let found = VERTEX_READINGS.iter().find(|r| r.0 == quantity);
                let Some(&(_, part)) = found else {
                    let names = VERTEX_READINGS.map(|r| r.0).join(", ");
                    let message = format!("a vertex has no quantity `{quantity}`");
                    return fail(message, format!("quantities of a vertex: {names}"));
                };
                let quantity = ClothReading::Vertex(vertex, part);
                return Some(Ok(Reading::Cloths { first, count: 1, quantity }));
            }
        };
        match CLOTH_READINGS.iter().find(|r| r.0 == quantity) {
            Some(&(_, quantity)) => Some(Ok(Reading::Cloths { first, count, quantity })),
            None => {
                let names = CLOTH_READINGS.map(|r| r.0);
                let hint = match nearest(quantity, names) {
                    Some(near) => format!("did you mean `{object}.{near}`?"),
                    None => format!("quantities of a cloth: {}", names.join(", ")),
                };
                fail(format!("a cloth has no quantity `{quantity}`"), hint)
            }
        }
    }
}

fn body_reading(name: &str) -> Option<BodyReading> {
    BODY_READINGS.iter().find(|r| r.0 == name).map(|r| r.1)
}

fn expectation(entry: &Entry, table: &Table, reading: Reading) -> Expectation {
    let test = if let Some(limit) = table.number("below") {
        Test::Below(limit)
    } else if let Some(limit) = table.number("above") {
        Test::Above(limit)
    } else if let Some(wanted) = table.number("near") {
        Test::Near(wanted, table.number("within").unwrap_or(0.0))
    } else {
        Test::Equals(table.number("equals").unwrap_or(f64::NAN))
    };
    let of = match table.text("of") {
        Some("max") => Of::Max,
        Some("min") => Of::Min,
        Some("mean") => Of::Mean,
        _ => Of::Each,
    };
    Expectation {
        key: entry.key.clone(),
        reading,
        test,
        of,
        from: table.number("from"),
        until: table.number("until"),
        at: table.number("at"),
        span: entry.key_place.span.clone(),
    }
}
