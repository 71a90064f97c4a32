//! What a scene file may hold, as data: one description that the checker, its error messages and
//! the JSON Schema all read, so that they cannot disagree.

mod body;
mod bones;
mod cloth;
mod couple;
mod emitter;
mod generate;
mod joint;
mod scene;
mod shape;
mod soft_body;
mod urdf;

pub use joint::AXIS_NAMES;
pub use scene::SCENE;

/// What a value may be.
#[derive(Debug)]
pub enum Kind {
    /// A finite number, or an expression that gives one.
    Number(Range),
    /// A whole number, or an expression that gives one.
    Integer(Range),
    /// `true` or `false`.
    Flag,
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The name of an entry of `[materials]`.
    Material,
    /// `"#rrggbb"`, or three numbers from 0 to 1.
    Color,
    /// A list of so many items.
    List(&'static Kind, LengthRange),
    /// A table with these keys.
    Table(&'static TableFormat),
    /// A table with keys of the user's choice.
    Names(&'static Kind),
    /// Any of these; they differ in the type of TOML value.
    Either(&'static [Kind]),
}

/// Which numbers are possible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Smallest.
    pub low: f64,
    /// Largest.
    pub high: f64,
    /// `low` itself is too small.
    pub above: bool,
}

/// How long a list may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthRange {
    /// Fewest items.
    pub least: usize,
    /// Most items.
    pub most: usize,
}

/// A key of a table.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// Whether the table makes no sense without it.
    pub required: bool,
    /// What it means, with unit and default.
    pub doc: &'static str,
}

/// The keys of a table and the rules between them.
#[derive(Debug)]
pub struct TableFormat {
    /// What the table describes, in a reader's words: "a sphere".
    pub what: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Rules between keys.
    pub rules: &'static [Rule],
}

/// A rule between keys of one table.
#[derive(Debug)]
pub enum Rule {
    /// Exactly one of them.
    One(&'static [&'static str]),
    /// None or one of them.
    AtMostOne(&'static [&'static str]),
    /// The first only together with the second.
    Needs(&'static str, &'static str),
}

impl TableFormat {
    /// The description of a key.
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|k| k.name == name)
    }
}

impl Range {
    /// Whether a number is possible.
    pub fn contains(&self, x: f64) -> bool {
        x.is_finite() && x <= self.high && if self.above { x > self.low } else { x >= self.low }
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) if self.low == self.high => write!(f, "{}", self.low),
            (false, false) => write!(f, "a finite number"),
            (true, false) if self.above => write!(f, "greater than {}", self.low),
            (true, false) => write!(f, "at least {}", self.low),
            (false, true) => write!(f, "at most {}", self.high),
            (true, true) if self.above => {
                write!(f, "greater than {} and at most {}", self.low, self.high)
            }
            (true, true) => write!(f, "from {} to {}", self.low, self.high),
        }
    }
}

// ----- short forms for the tables -----

const fn from(low: f64) -> Range {
    Range { low, high: f64::INFINITY, above: false }
}

const fn range(low: f64, high: f64) -> Range {
    Range { low, high, above: false }
}

const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, above: false };
const POSITIVE: Range = Range { low: 0.0, high: f64::INFINITY, above: true };

const NUMBER: Kind = Kind::Number(ANY);
const LENGTH: Kind = Kind::Number(POSITIVE);
const VECTOR: Kind = Kind::List(&NUMBER, exactly(3));
const VECTORS: Kind = Kind::List(&VECTOR, at_least(0));

const fn exactly(count: usize) -> LengthRange {
    LengthRange { least: count, most: count }
}

const fn at_least(least: usize) -> LengthRange {
    LengthRange { least, most: usize::MAX }
}

const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, required: false, doc }
}

const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, required: true, doc }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each_table(table: &'static TableFormat, seen: &mut Vec<&'static TableFormat>) {
        if seen.iter().any(|t| std::ptr::eq(*t, table)) {
            return;
        }
        seen.push(table);
        table.keys.iter().for_each(|k| each_kind(&k.kind, seen));
    }

    fn each_kind(kind: &'static Kind, seen: &mut Vec<&'static TableFormat>) {
        match kind {
            Kind::Table(table) => each_table(table, seen),
            Kind::List(item, _) | Kind::Names(item) => each_kind(item, seen),
            Kind::Either(kinds) => kinds.iter().for_each(|k| each_kind(k, seen)),
            _ => {}
        }
    }

    #[test]
    fn descriptions_are_consistent() {
        let mut tables = Vec::new();
        each_table(&SCENE, &mut tables);
        assert!(tables.len() > 20);
        for table in tables {
            for (i, key) in table.keys.iter().enumerate() {
                assert!(!key.doc.is_empty(), "{}.{}", table.what, key.name);
                assert!(table.keys[..i].iter().all(|k| k.name != key.name), "{} twice", key.name);
            }
            for rule in table.rules {
                let names = match rule {
                    Rule::One(names) | Rule::AtMostOne(names) => names.to_vec(),
                    Rule::Needs(a, b) => vec![*a, *b],
                };
                for name in names {
                    assert!(table.key(name).is_some(), "{}: {name}", table.what);
                }
            }
        }
    }
}
