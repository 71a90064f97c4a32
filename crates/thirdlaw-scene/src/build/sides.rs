//! Who a joint joins: names of bodies and points, copies, chains.

use crate::error::{Place, SceneError};
use crate::names::nearest;
use crate::node::{Node, Table};
use crate::{SceneBody, ScenePoint};
use std::collections::HashMap;
use thirdlaw::Side;

/// What joints can hold on to, by name.
pub struct Sides {
    single: HashMap<String, Side>,
    /// Copies in their order, by the name before the number.
    copies: HashMap<String, Vec<Side>>,
    names: Vec<String>,
}

/// The sides of all joints of a table.
pub struct Pairs {
    pub joints: Vec<[Side; 2]>,
    /// Whether they are numbered.
    pub many: bool,
}

/// Why a side cannot be found.
pub struct SideError {
    /// The name that was looked for.
    pub name: Option<String>,
    place: Option<Place>,
    message: String,
    hint: Option<String>,
}

impl SideError {
    /// As an error of the scene, at `place` if it has none of its own.
    pub fn at(self, place: &Place) -> SceneError {
        let mut error = SceneError::new(self.place.as_ref().unwrap_or(place), self.message);
        error.hint = self.hint;
        error
    }
}

impl Sides {
    /// Everything that exists so far.
    pub fn new(bodies: &[SceneBody], points: &[ScenePoint]) -> Sides {
        let mut sides = Sides {
            single: HashMap::from([("world".to_string(), Side::World)]),
            copies: HashMap::new(),
            names: Vec::new(),
        };
        let bodies = bodies.iter().map(|b| (b.name.as_str(), Side::Body(b.id)));
        for (name, side) in
            bodies.chain(points.iter().map(|p| (p.name.as_str(), Side::Point(p.id))))
        {
            sides.single.insert(name.to_string(), side);
            sides.names.push(name.to_string());
            if let Some((group, number)) = name.rsplit_once('.')
                && number.bytes().all(|c| c.is_ascii_digit())
            {
                sides.copies.entry(group.to_string()).or_default().push(side);
            }
        }
        sides
    }

    /// The pairs that `between` or `chain` name.
    pub fn pairs(&self, table: &Table) -> Result<Pairs, SideError> {
        if let Some(chain) = table.get("chain") {
            let mut all = Vec::new();
            for node in chain.items() {
                let name = node.text().unwrap_or_default();
                let group = name.strip_suffix(".*").unwrap_or(name);
                match self.copies.get(group) {
                    Some(copies) if !self.single.contains_key(name) => all.extend(copies),
                    _ => all.push(self.one(node)?),
                }
            }
            let joints = all.windows(2).map(|w| [w[0], w[1]]).collect();
            return Ok(Pairs { joints, many: true });
        }
        let [a, b] = table.items("between") else {
            return Err(SideError {
                name: None,
                place: None,
                message: "what does it join?".into(),
                hint: Some("between = [\"world\", \"NAME\"], or a `chain` of names".into()),
            });
        };
        let many = [a, b].iter().any(|n| n.text().is_some_and(|name| name.ends_with(".*")));
        let (first, second) = (self.each(a)?, self.each(b)?);
        let joints = match (&*first, &*second) {
            ([a], all) => all.iter().map(|b| [*a, *b]).collect(),
            (all, [b]) => all.iter().map(|a| [*a, *b]).collect(),
            (a, b) if a.len() == b.len() => a.iter().zip(b).map(|(a, b)| [*a, *b]).collect(),
            (first, second) => {
                let message = format!(
                    "{} copies on one side and {} on the other do not pair",
                    first.len(),
                    second.len()
                );
                return Err(SideError {
                    name: None,
                    place: table.get("between").map(|n| n.place.clone()),
                    message,
                    hint: None,
                });
            }
        };
        Ok(Pairs { joints, many })
    }

    /// One side, or those of all copies.
    fn each(&self, node: &Node) -> Result<Vec<Side>, SideError> {
        let copies = node.text().and_then(|name| self.copies.get(name.strip_suffix(".*")?));
        match copies {
            Some(copies) => Ok(copies.clone()),
            None => Ok(vec![self.one(node)?]),
        }
    }

    fn one(&self, node: &Node) -> Result<Side, SideError> {
        let name = node.text().unwrap_or_default();
        if let Some(side) = self.single.get(name) {
            return Ok(*side);
        }
        let near = nearest(name, self.names.iter().map(String::as_str).take(10_000));
        let (message, hint) = match (self.copies.get(name), near) {
            (Some(copies), _) => (
                format!("\"{name}\" stands for {} copies", copies.len()),
                format!("\"{name}.0\" is the first of them, \"{name}.*\" makes a joint for each"),
            ),
            (None, Some(near)) => (
                format!("there is no body or point \"{name}\""),
                format!("did you mean \"{near}\"?"),
            ),
            (None, None) => (
                format!("there is no body or point \"{name}\""),
                "names stand under [bodies], [generate], [points] and [urdf]; or \"world\"".into(),
            ),
        };
        let (name, place) = (Some(name.to_string()), Some(node.place.clone()));
        Err(SideError { name, place, message, hint: Some(hint) })
    }
}
