//! Checks a scene's tree against its format and puts numbers in the place of expressions.
//!
//! After a check without errors every value has the type, range and company its format asks for, so
//! building reads it without further questions.

use crate::error::{Place, SceneError};
use crate::expression::{Parameters, evaluate};
use crate::format::{Key, Kind, Range, Rule, SCENE, TableFormat};
use crate::names::nearest;
use crate::node::{Node, Table, Value};

/// Checks a whole scene; `text` and `overrides` are what places point into.
pub fn check_scene(root: &mut Node, text: &str, overrides: &[String]) -> Vec<SceneError> {
    let mut checker = Checker {
        text,
        overrides,
        errors: Vec::new(),
        parameters: Parameters::default(),
        materials: Vec::new(),
    };
    checker.read_parameters(root);
    if let Some(table) = root.table() {
        checker.materials = table.named("materials").iter().map(|e| e.key.clone()).collect();
    }
    static ROOT: Kind = Kind::Table(&SCENE);
    checker.check(root, &ROOT, "the scene");
    checker.report_unused(root);
    checker.errors
}

struct Checker<'a> {
    text: &'a str,
    overrides: &'a [String],
    errors: Vec<SceneError>,
    parameters: Parameters,
    materials: Vec<String>,
}

impl Checker<'_> {
    fn error(&mut self, place: &Place, message: impl Into<String>) {
        self.errors.push(SceneError::new(place, message));
    }

    fn error_hint(&mut self, place: &Place, message: impl Into<String>, hint: impl Into<String>) {
        self.errors.push(SceneError::new(place, message).hint(hint));
    }

    /// Parameters may use those above them.
    fn read_parameters(&mut self, root: &mut Node) {
        let Value::Table(table) = &mut root.value else { return };
        let Some(entry) = table.entries.iter_mut().find(|e| e.key == "parameters") else { return };
        let Value::Table(parameters) = &mut entry.node.value else { return };
        for entry in &mut parameters.entries {
            let name = &entry.key;
            if name == "pi" || !is_identifier(name) {
                let message = format!("`{name}` cannot be the name of a parameter");
                self.error_hint(
                    &entry.key_place,
                    message,
                    "letters, digits and _, not beginning with a digit",
                );
            }
            let before = self.errors.len();
            self.check(&mut entry.node, &Kind::Number(ANY), name);
            match entry.node.number() {
                Some(value) if self.errors.len() == before => self.parameters.insert(name, value),
                // so that its users do not add errors of their own
                _ => self.parameters.insert(name, 1.0),
            }
        }
    }

    fn report_unused(&mut self, root: &Node) {
        // where there are errors the use may be what could not be read
        if !self.errors.is_empty() {
            return;
        }
        let unused: Vec<String> = self.parameters.unused().map(str::to_string).collect();
        let entries = root.table().map_or(&[][..], |t| t.named("parameters"));
        for entry in entries.iter().filter(|e| unused.contains(&e.key)) {
            let message = format!("nothing uses the parameter `{}`", entry.key);
            self.error_hint(
                &entry.key_place,
                message,
                "use it in an expression like \"2*n\", or remove it",
            );
        }
    }

    fn check(&mut self, node: &mut Node, kind: &'static Kind, name: &str) {
        match kind {
            Kind::Number(range) => self.check_number(node, *range, false, name),
            Kind::Integer(range) => self.check_number(node, *range, true, name),
            Kind::Flag => {
                if !matches!(node.value, Value::Flag(_)) {
                    self.wrong_type(node, name, "true or false");
                }
            }
            Kind::Text => {
                if node.text().is_none() {
                    self.wrong_type(node, name, "text");
                }
            }
            Kind::Choice(words) => self.check_choice(node, words, name),
            Kind::Material => self.check_material(node, name),
            Kind::Color => self.check_color(node, name),
            Kind::List(item, length) => {
                let Value::List(items) = &mut node.value else {
                    return self.wrong_type(node, name, &describe(kind));
                };
                let count = items.len();
                for item_node in items.iter_mut() {
                    self.check(item_node, item, name);
                }
                if !(length.least..=length.most).contains(&count) {
                    let message = format!("`{name}` must be {}, but has {count}", describe(kind));
                    self.error(&node.place, message);
                }
            }
            Kind::Table(format) => self.check_table(node, format, name),
            Kind::Names(item) => {
                let Value::Table(table) = &mut node.value else {
                    return self.wrong_type(node, name, "a table of names");
                };
                for entry in &mut table.entries {
                    let key = entry.key.clone();
                    if let Kind::Number(_) = item {
                        continue; // parameters: read already
                    }
                    self.check(&mut entry.node, item, &key);
                }
            }
            Kind::Either(kinds) => match kinds.iter().find(|k| takes_type(k, &node.value)) {
                Some(kind) => self.check(node, kind, name),
                None => self.wrong_type(node, name, &describe(kind)),
            },
        }
    }

    fn wrong_type(&mut self, node: &Node, name: &str, wanted: &str) {
        let message = format!("`{name}` must be {wanted}, not {}", node.value.kind());
        self.error(&node.place, message);
    }

    fn check_number(&mut self, node: &mut Node, range: Range, whole: bool, name: &str) {
        let wanted = if whole { "a whole number" } else { "a number" };
        if let Value::Text(expression) = &node.value {
            match evaluate(expression, &mut self.parameters) {
                Ok(value) => node.value = Value::Float(value),
                Err(e) => {
                    let place = self.place_inside(node, expression, e.span);
                    let message =
                        format!("`{name}` must be {wanted} or an expression: {}", e.message);
                    let mut error = SceneError::new(&place, message);
                    error.hint = e.hint;
                    return self.errors.push(error);
                }
            }
        }
        let Some(value) = node.number() else {
            return self.wrong_type(node, name, &format!("{wanted} or an expression"));
        };
        // expressions of whole numbers may be off by rounding
        let rounded = value.round();
        if whole && (value - rounded).abs() > 1e-9 * rounded.abs().max(1.0) {
            return self
                .error(&node.place, format!("`{name}` must be a whole number, not {value}"));
        }
        if !range.contains(value) {
            return self.error(&node.place, format!("`{name}` must be {range}, not {value}"));
        }
        if whole {
            node.value = Value::Float(rounded);
        }
    }

    /// A part of a text's place, where the text stands as it is written.
    fn place_inside(&self, node: &Node, text: &str, part: std::ops::Range<usize>) -> Place {
        let source = match node.place.source {
            None => self.text,
            Some(i) => self.overrides.get(i).map_or("", String::as_str),
        };
        let written = source.get(node.place.span.clone()).unwrap_or("");
        match written.find(text) {
            Some(offset) if !text.is_empty() => {
                let start = node.place.span.start + offset;
                let end = (start + part.end).max(start + part.start);
                Place { source: node.place.source, span: start + part.start..end }
            }
            _ => node.place.clone(),
        }
    }

    fn check_choice(&mut self, node: &Node, words: &'static [&'static str], name: &str) {
        let Some(text) = node.text() else {
            return self.wrong_type(node, name, &quoted(words));
        };
        if words.contains(&text) {
            return;
        }
        let message = format!("`{name}` cannot be \"{text}\"");
        let hint = match nearest(text, words.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("it is {}", quoted(words)),
        };
        self.error_hint(&node.place, message, hint);
    }

    fn check_material(&mut self, node: &Node, name: &str) {
        let Some(text) = node.text() else {
            return self.wrong_type(node, name, "the name of a material");
        };
        if self.materials.iter().any(|m| m == text) {
            return;
        }
        let message = format!("there is no material \"{text}\"");
        let hint = match nearest(text, self.materials.iter().map(String::as_str)) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if self.materials.is_empty() => format!("define it under [materials.{text}]"),
            None => format!("there is {}", quoted(&self.materials)),
        };
        self.error_hint(&node.place, message, hint);
    }

    fn check_color(&mut self, node: &mut Node, name: &str) {
        const PART: Kind = Kind::Number(Range { low: 0.0, high: 1.0, above: false });
        const RGB: Kind = Kind::List(&PART, crate::format::LengthRange { least: 3, most: 3 });
        match &node.value {
            Value::List(_) => self.check(node, &RGB, name),
            Value::Text(text) if color_from_hex(text).is_some() => {}
            _ => {
                let message = format!("`{name}` must be a color");
                self.error_hint(
                    &node.place,
                    message,
                    "\"#rrggbb\", or [red, green, blue] from 0 to 1",
                );
            }
        }
    }

    fn check_table(&mut self, node: &mut Node, format: &'static TableFormat, name: &str) {
        let place = node.place.clone();
        let Value::Table(table) = &mut node.value else {
            return self.wrong_type(node, name, &format!("a table with {}", key_names(format)));
        };
        table.format = Some(format);
        // what misspelled keys were meant to be: these are not missing too
        let mut meant: Vec<&'static str> = Vec::new();
        for entry in &mut table.entries {
            match format.key(&entry.key) {
                Some(Key { kind, name, .. }) => self.check(&mut entry.node, kind, name),
                None => {
                    let message = format!("{} has no key `{}`", format.what, entry.key);
                    let hint = match nearest(&entry.key, format.keys.iter().map(|k| k.name)) {
                        Some(near) => {
                            meant.push(near);
                            format!("did you mean `{near}`?")
                        }
                        None => format!("its keys: {}", key_names(format)),
                    };
                    self.error_hint(&entry.key_place, message, hint);
                }
            }
        }
        let has = |key: &str| table.entries.iter().any(|e| e.key == key) || meant.contains(&key);
        for key in format.keys.iter().filter(|k| k.required && !has(k.name)) {
            let message = format!("{} needs `{}`", format.what, key.name);
            self.errors.push(SceneError::new(&place, message).hint(key.doc));
        }
        for rule in format.rules {
            self.check_rule(table, rule, (format.what, &place), &meant);
        }
    }

    fn check_rule(
        &mut self,
        table: &Table,
        rule: &Rule,
        (what, place): (&str, &Place),
        meant: &[&str],
    ) {
        let find = |key: &str| table.entries.iter().find(|e| e.key == key);
        match rule {
            Rule::One(keys) | Rule::AtMostOne(keys) => {
                let given: Vec<_> = keys.iter().filter_map(|k| find(k)).collect();
                let is_meant = keys.iter().any(|key| meant.contains(key));
                if given.is_empty() && !is_meant && matches!(rule, Rule::One(_)) {
                    let message = format!("{what} needs one of {}", listed(keys));
                    return self.error(place, message);
                }
                for entry in given.iter().skip(1) {
                    let message =
                        format!("{what} takes only one of `{}` and `{}`", given[0].key, entry.key);
                    self.error(&entry.key_place, message);
                }
            }
            Rule::Needs(key, other) => {
                if let (Some(entry), None, false) = (find(key), find(other), meant.contains(other))
                {
                    let message = format!("`{key}` needs `{other}` beside it");
                    self.error(&entry.key_place, message);
                }
            }
        }
    }
}

const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, above: false };

/// Whether a kind is meant by a value of this type, right or wrong in detail.
fn takes_type(kind: &Kind, value: &Value) -> bool {
    match kind {
        Kind::Number(_) | Kind::Integer(_) => {
            matches!(value, Value::Integer(_) | Value::Float(_) | Value::Text(_))
        }
        Kind::Flag => matches!(value, Value::Flag(_)),
        Kind::Text | Kind::Choice(_) | Kind::Material => matches!(value, Value::Text(_)),
        Kind::Color => matches!(value, Value::Text(_) | Value::List(_)),
        Kind::List(..) => matches!(value, Value::List(_)),
        Kind::Table(_) | Kind::Names(_) => matches!(value, Value::Table(_)),
        Kind::Either(kinds) => kinds.iter().any(|k| takes_type(k, value)),
    }
}

fn describe(kind: &Kind) -> String {
    match kind {
        Kind::Number(_) => "a number".into(),
        Kind::Integer(_) => "a whole number".into(),
        Kind::Flag => "true or false".into(),
        Kind::Text => "text".into(),
        Kind::Choice(words) => quoted(words),
        Kind::Material => "the name of a material".into(),
        Kind::Color => "a color".into(),
        Kind::List(item, length) => {
            let items = match item {
                Kind::Number(_) => "numbers",
                Kind::Integer(_) => "whole numbers",
                Kind::List(..) => "lists",
                Kind::Table(_) => "tables",
                _ => "items",
            };
            match (length.least, length.most) {
                (least, most) if least == most => format!("a list of {least} {items}"),
                (0, usize::MAX) => format!("a list of {items}"),
                (least, usize::MAX) => format!("a list of at least {least} {items}"),
                (least, most) => format!("a list of {least} to {most} {items}"),
            }
        }
        Kind::Table(format) => format!("a table with {}", key_names(format)),
        Kind::Names(_) => "a table of names".into(),
        Kind::Either(kinds) => kinds.iter().map(describe).collect::<Vec<_>>().join(" or "),
    }
}

fn key_names(format: &TableFormat) -> String {
    format.keys.iter().map(|k| k.name).collect::<Vec<_>>().join(", ")
}

fn listed(keys: &[&str]) -> String {
    keys.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")
}

fn quoted<T: std::fmt::Display>(words: &[T]) -> String {
    words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(", ")
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| !(c.is_alphabetic() || c == '_'))
}

/// `"#rrggbb"` as parts from 0 to 1.
pub fn color_from_hex(text: &str) -> Option<[f32; 3]> {
    let digits = text.strip_prefix('#').filter(|d| d.len() == 6 && d.is_ascii())?;
    let mut color = [0.0; 3];
    for (i, part) in color.iter_mut().enumerate() {
        let byte = u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok()?;
        *part = f32::from(byte) / 255.0;
    }
    Some(color)
}
