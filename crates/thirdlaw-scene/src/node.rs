//! The scene as a tree in which everything knows its place in the text.
//!
//! Values are kept in the order they were written, since bodies are added in that order.

use crate::error::{Place, SceneError};
use crate::format::TableFormat;
use thirdlaw::math::Vec3;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// What can stand in a scene.
#[derive(Clone, Debug)]
pub enum Value {
    /// Text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A date or a time, which no key takes.
    Date,
    /// `[…]`.
    List(Vec<Node>),
    /// `[name]` or `{…}`.
    Table(Table),
}

/// Keys and their values in the order they were written.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The keys.
    pub entries: Vec<Entry>,
    /// What it may hold; set once it was checked.
    pub format: Option<&'static TableFormat>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_place: Place,
    /// Its value.
    pub node: Node,
}

impl Value {
    /// The kind of value in a reader's words.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "text",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

impl Node {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Integer(i) => Some(i as f64),
            Value::Float(x) => Some(x),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// The items, if it is a list.
    pub fn items(&self) -> &[Node] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    /// The table, if it is one.
    pub fn table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    /// All numbers of a list.
    pub fn numbers(&self) -> Vec<f64> {
        self.items().iter().filter_map(Node::number).collect()
    }

    /// Three numbers as a vector.
    pub fn vector(&self) -> Option<Vec3> {
        match *self.numbers() {
            [x, y, z] => Some(Vec3::new(x, y, z)),
            _ => None,
        }
    }
}

/// Reading a checked table. Each asks for a key that the table's format must describe, so that what
/// is read and what is described cannot drift apart unnoticed in tests.
impl Table {
    /// A value.
    pub fn get(&self, key: &str) -> Option<&Node> {
        debug_assert!(
            self.format.is_none_or(|f| f.key(key).is_some()),
            "`{key}` is read but not described"
        );
        self.entries.iter().find(|e| e.key == key).map(|e| &e.node)
    }

    /// A number.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.number()
    }

    /// A whole number that is not negative.
    pub fn count(&self, key: &str) -> Option<u32> {
        self.number(key).map(|x| x as u32)
    }

    /// Three numbers.
    pub fn vector(&self, key: &str) -> Option<Vec3> {
        self.get(key)?.vector()
    }

    /// Text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// True or false.
    pub fn flag(&self, key: &str) -> Option<bool> {
        if let Value::Flag(flag) = self.get(key)?.value { Some(flag) } else { None }
    }

    /// A table.
    pub fn table(&self, key: &str) -> Option<&Table> {
        self.get(key)?.table()
    }

    /// The items of a list; none if it is absent.
    pub fn items(&self, key: &str) -> &[Node] {
        self.get(key).map_or(&[], Node::items)
    }

    /// The entries of a table of names; none if it is absent.
    pub fn named(&self, key: &str) -> &[Entry] {
        self.table(key).map_or(&[], |t| &t.entries)
    }
}

/// Reads a scene's text. What cannot be read becomes errors.
pub fn parse(text: &str) -> Result<Node, Vec<SceneError>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut found: Vec<SceneError> = errors
        .iter()
        .map(|e| {
            let span = e.span().unwrap_or(0..text.len().min(1));
            let span = span.start.min(text.len())..span.end.min(text.len());
            SceneError::new(
                &Place { source: None, span },
                format!("this is not TOML: {}", e.message()),
            )
        })
        .collect();
    let root = table_from(table.get_ref(), &mut |span| Place { source: None, span }, &mut found);
    let place = Place { source: None, span: 0..text.lines().next().map_or(0, str::len) };
    if found.is_empty() { Ok(Node { place, value: Value::Table(root) }) } else { Err(found) }
}

type At<'a> = &'a mut dyn FnMut(std::ops::Range<usize>) -> Place;

fn table_from(table: &DeTable<'_>, at: At<'_>, errors: &mut Vec<SceneError>) -> Table {
    let mut entries = Vec::new();
    for (key, value) in table.iter() {
        let place = at(value.span());
        let node = Node { value: value_from(value.get_ref(), &place, at, errors), place };
        entries.push(Entry { key: key.get_ref().to_string(), key_place: at(key.span()), node });
    }
    Table { entries, format: None }
}

fn value_from(
    value: &DeValue<'_>,
    place: &Place,
    at: At<'_>,
    errors: &mut Vec<SceneError>,
) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
            Ok(i) => Value::Integer(i),
            Err(_) => {
                errors.push(SceneError::new(place, "this whole number is too large"));
                Value::Integer(0)
            }
        },
        DeValue::Float(x) => match x.as_str().parse() {
            Ok(x) => Value::Float(x),
            Err(_) => {
                errors.push(SceneError::new(place, "this is not a number"));
                Value::Float(0.0)
            }
        },
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => {
            let mut list = Vec::new();
            for item in items.iter() {
                let place = at(item.span());
                list.push(Node { value: value_from(item.get_ref(), &place, at, errors), place });
            }
            Value::List(list)
        }
        DeValue::Table(table) => Value::Table(table_from(table, at, errors)),
    }
}

/// Puts override number `index` into the tree: a dotted path (a number counts in a list) and a TOML
/// value; what is no TOML value is taken as text, so that quotes are not needed on a command line.
pub fn apply_override(
    root: &mut Node,
    index: usize,
    path: &str,
    value: &str,
) -> Result<(), Vec<SceneError>> {
    let place = |span| Place { source: Some(index), span };
    let path_place = place(0..path.len());
    let Some(names) = path_names(path) else {
        let message = "the part before `=` is not a path of keys like `solver.iterations`";
        return Err(vec![SceneError::new(&path_place, message)]);
    };
    let offset = path.len() + 1;
    let value_place = place(offset..offset + value.len());
    let mut errors = Vec::new();
    let new = match DeValue::parse(value) {
        Ok(parsed) => {
            let mut at = |s: std::ops::Range<usize>| place(s.start + offset..s.end + offset);
            value_from(parsed.get_ref(), &value_place, &mut at, &mut errors)
        }
        Err(_) => Value::Text(value.trim().to_string()),
    };
    if errors.is_empty() {
        let node = Node { place: value_place, value: new };
        if let Err(message) = replace(root, &names, node, &path_place) {
            errors.push(SceneError::new(&path_place, message));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The names of a dotted path; a name with dots of its own is quoted as in TOML.
fn path_names(path: &str) -> Option<Vec<String>> {
    let line = format!("{path}=0");
    let parsed = DeTable::parse(&line).ok()?;
    let mut names = Vec::new();
    let mut here = parsed.get_ref();
    loop {
        let mut entries = here.iter();
        let (key, value) = entries.next()?;
        if entries.next().is_some() {
            return None;
        }
        names.push(key.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(inner) => here = inner,
            _ => return Some(names),
        }
    }
}

/// Replaces what a path leads to, making the tables it lacks.
fn replace(node: &mut Node, names: &[String], new: Node, place: &Place) -> Result<(), String> {
    let Some((name, rest)) = names.split_first() else {
        *node = new;
        return Ok(());
    };
    match &mut node.value {
        Value::Table(table) => {
            let known = table.entries.iter().position(|e| e.key == *name);
            let at = known.unwrap_or_else(|| {
                let value = Value::Table(Table::default());
                let node = Node { place: place.clone(), value };
                table.entries.push(Entry { key: name.clone(), key_place: place.clone(), node });
                table.entries.len() - 1
            });
            if rest.is_empty() {
                table.entries[at].key_place = place.clone();
            }
            replace(&mut table.entries[at].node, rest, new, place)
        }
        Value::List(items) => {
            let count = items.len();
            let item = name.parse().ok().and_then(|i: usize| items.get_mut(i));
            let item = item.ok_or_else(|| {
                format!(
                    "`{name}` leads into a list, whose items are numbered 0 to {}",
                    count.max(1) - 1
                )
            })?;
            replace(item, rest, new, place)
        }
        other => Err(format!("`{name}` leads into {}, which holds no keys", other.kind())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_places_are_kept() {
        let root = parse("b = 1\na = [2.5, 'x']\n").unwrap();
        let table = root.table().unwrap();
        let keys: Vec<_> = table.entries.iter().map(|e| e.key.as_str()).collect();
        assert_eq!(keys, ["b", "a"]);
        assert_eq!(table.entries[1].node.place.span, 10..20);
        assert_eq!(table.items("a")[1].place.span, 16..19);
    }

    #[test]
    fn overrides_replace_and_make() {
        let mut root = parse("[a]\nb = 1\nlist = [1, 2]\n").unwrap();
        for (path, value) in
            [("a.b", "2"), ("a.c.d", "free text"), ("a.list.1", "7"), ("x", "true")]
        {
            apply_override(&mut root, 0, path, value).unwrap();
        }
        let a = root.table().and_then(|t| t.table("a")).unwrap();
        assert_eq!(a.number("b"), Some(2.0));
        assert_eq!(a.table("c").and_then(|c| c.text("d")), Some("free text"));
        assert_eq!(a.get("list").map(Node::numbers), Some(vec![1.0, 7.0]));
    }

    #[test]
    fn impossible_paths_are_refused() {
        let mut root = parse("a = 1\nlist = [1]\n").unwrap();
        for path in ["", "a.b", "list.1", "list.x", "a..b", "x\ny", "[q]"] {
            assert!(apply_override(&mut root, 0, path, "1").is_err(), "{path}");
        }
    }
}
