//! The scene format as a JSON Schema (2020-12), for editors that complete and check while typing.

use crate::format::{Key, Kind, LengthRange, Range, Rule, SCENE, TableFormat};
use serde_json::{Map, Value, json};

/// The schema, pretty-printed.
pub fn schema() -> String {
    let mut definitions = Definitions::default();
    let mut root = definitions.table_body(&SCENE);
    if let Some(root) = root.as_object_mut() {
        root.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        root.insert("title".into(), json!("Thirdlaw scene"));
        let defs: Map<String, Value> =
            definitions.done.into_iter().map(|(_, n, v)| (n, v)).collect();
        root.insert("$defs".into(), Value::Object(defs));
    }
    format!("{root:#}")
}

/// Every table once, since shapes hold shapes.
#[derive(Default)]
struct Definitions {
    done: Vec<(&'static TableFormat, String, Value)>,
}

impl Definitions {
    fn table(&mut self, table: &'static TableFormat) -> Value {
        if let Some((_, name, _)) = self.done.iter().find(|(t, ..)| std::ptr::eq(*t, table)) {
            return json!({ "$ref": format!("#/$defs/{name}") });
        }
        let name = table.what.trim_start_matches("a ").trim_start_matches("an ").replace(' ', "-");
        let at = self.done.len();
        self.done.push((table, name.clone(), Value::Null));
        let body = self.table_body(table);
        self.done[at].2 = body;
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    fn table_body(&mut self, table: &'static TableFormat) -> Value {
        let mut properties = Map::new();
        for Key { name, kind, doc, .. } in table.keys {
            let mut value = self.kind(kind);
            if let Some(object) = value.as_object_mut() {
                object.insert("description".into(), json!(doc));
            }
            properties.insert((*name).into(), value);
        }
        let required: Vec<_> = table.keys.iter().filter(|k| k.required).map(|k| k.name).collect();
        let mut body = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        let rules: Vec<Value> = table.rules.iter().map(rule_schema).collect();
        if let (false, Some(body)) = (rules.is_empty(), body.as_object_mut()) {
            body.insert("allOf".into(), Value::Array(rules));
        }
        body
    }

    fn kind(&mut self, kind: &'static Kind) -> Value {
        match kind {
            Kind::Number(range) => number_schema("number", range),
            Kind::Integer(range) => number_schema("integer", range),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Text | Kind::Material => json!({ "type": "string" }),
            Kind::Choice(words) => json!({ "enum": words }),
            Kind::Color => {
                let part = Range { low: 0.0, high: 1.0, above: false };
                let part = number_schema("number", &part);
                json!({ "anyOf": [
                    { "type": "string", "pattern": "^#[0-9a-fA-F]{6}$" },
                    { "type": "array", "items": part, "minItems": 3, "maxItems": 3 },
                ]})
            }
            Kind::List(item, length) => list_schema(self.kind(item), length),
            Kind::Table(table) => self.table(table),
            Kind::Names(item) => {
                json!({ "type": "object", "additionalProperties": self.kind(item) })
            }
            Kind::Either(kinds) => {
                json!({ "anyOf": kinds.iter().map(|k| self.kind(k)).collect::<Vec<_>>() })
            }
        }
    }
}

fn list_schema(items: Value, length: &LengthRange) -> Value {
    let mut list = json!({ "type": "array", "items": items, "minItems": length.least });
    if let (true, Some(list)) = (length.most < usize::MAX, list.as_object_mut()) {
        list.insert("maxItems".into(), json!(length.most));
    }
    list
}

/// A number in its range, or an expression as text.
fn number_schema(name: &str, range: &Range) -> Value {
    let mut number = Map::from_iter([("type".to_string(), json!(name))]);
    if range.low.is_finite() {
        let key = if range.above { "exclusiveMinimum" } else { "minimum" };
        number.insert(key.into(), json!(range.low));
    }
    if range.high.is_finite() {
        number.insert("maximum".into(), json!(range.high));
    }
    json!({ "anyOf": [number, { "type": "string", "minLength": 1 }] })
}

fn rule_schema(rule: &Rule) -> Value {
    let one = |key: &&str| json!({ "required": [key] });
    match rule {
        Rule::One(keys) => json!({ "oneOf": keys.iter().map(one).collect::<Vec<_>>() }),
        Rule::AtMostOne(keys) => {
            let mut choices: Vec<Value> = keys.iter().map(one).collect();
            choices.push(json!({ "not": { "anyOf": choices.clone() } }));
            json!({ "oneOf": choices })
        }
        Rule::Needs(key, other) => json!({ "dependentRequired": { *key: [other] } }),
    }
}
