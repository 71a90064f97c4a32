//! The JSON Schema and the loader agree, judged by a validator that knows nothing of scenes.

use serde_json::{Map, Value, json};
use thirdlaw_scene::{builtin, load, schema};

/// Whether a value fits a schema, for the keywords that ours uses. An unknown keyword fails, so
/// that none is silently ignored.
fn valid(schema: &Value, value: &Value, root: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return schema != &Value::Bool(false) };
    schema.iter().all(|(keyword, want)| keyword_holds(keyword, want, schema, value, root))
}

fn keyword_holds(
    keyword: &str,
    want: &Value,
    all: &Map<String, Value>,
    value: &Value,
    root: &Value,
) -> bool {
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let fits = |s: &Value| valid(s, value, root);
    let has = |key: &Value| key.as_str().is_some_and(|k| value.get(k).is_some());
    let number = value.as_f64();
    match keyword {
        "$schema" | "$defs" | "title" | "description" => true,
        "$ref" => {
            let path = want.as_str().unwrap_or("").trim_start_matches('#');
            root.pointer(path).is_some_and(fits)
        }
        "type" => match want.as_str().unwrap_or("") {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            "integer" => number.is_some_and(|x| x.fract() == 0.0),
            _ => false,
        },
        "enum" => list(want).contains(value),
        "minimum" => number.is_none_or(|x| Some(x) >= want.as_f64()),
        "maximum" => number.is_none_or(|x| Some(x) <= want.as_f64()),
        "exclusiveMinimum" => number.is_none_or(|x| Some(x) > want.as_f64()),
        "minLength" => {
            value.as_str().is_none_or(|s| s.chars().count() as u64 >= want.as_u64().unwrap_or(0))
        }
        "pattern" => value.as_str().is_none_or(|s| {
            want == "^#[0-9a-fA-F]{6}$"
                && s.len() == 7
                && s.starts_with('#')
                && s[1..].chars().all(|c| c.is_ascii_hexdigit())
        }),
        "anyOf" => list(want).iter().any(fits),
        "allOf" => list(want).iter().all(fits),
        "oneOf" => list(want).iter().filter(|s| fits(s)).count() == 1,
        "not" => !fits(want),
        "required" => !value.is_object() || list(want).iter().all(has),
        "dependentRequired" => want.as_object().is_some_and(|rules| {
            rules.iter().all(|(k, needs)| value.get(k).is_none() || list(needs).iter().all(has))
        }),
        "minItems" => value.as_array().is_none_or(|a| a.len() as u64 >= want.as_u64().unwrap_or(0)),
        "maxItems" => value.as_array().is_none_or(|a| a.len() as u64 <= want.as_u64().unwrap_or(0)),
        "items" => value.as_array().is_none_or(|a| a.iter().all(|v| valid(want, v, root))),
        "properties" => value.as_object().is_none_or(|object| {
            object.iter().all(|(k, v)| want.get(k).is_none_or(|s| valid(s, v, root)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|object| {
            let known = all.get("properties");
            let other = |k: &String| known.is_none_or(|p| p.get(k).is_none());
            object.iter().filter(|(k, _)| other(k)).all(|(_, v)| valid(want, v, root))
        }),
        _ => false,
    }
}

fn schema_value() -> Value {
    serde_json::from_str(&schema()).expect("the schema is JSON")
}

fn json_from(value: &toml::de::DeValue<'_>) -> Value {
    use toml::de::DeValue::*;
    match value {
        String(s) => json!(s),
        Integer(i) => json!(i.as_str().parse::<i64>().unwrap_or(0)),
        Float(x) => json!(x.as_str().parse::<f64>().unwrap_or(f64::NAN)),
        Boolean(b) => json!(b),
        Datetime(d) => json!({ "date": d.to_string() }),
        Array(items) => items.iter().map(|i| json_from(i.get_ref())).collect(),
        Table(table) => Value::Object(object_from(table)),
    }
}

fn object_from(table: &toml::de::DeTable<'_>) -> Map<String, Value> {
    table.iter().map(|(k, v)| (k.get_ref().to_string(), json_from(v.get_ref()))).collect()
}

fn fits_schema(schema: &Value, text: &str) -> bool {
    let table = toml::de::DeTable::parse(text).expect("TOML");
    valid(schema, &Value::Object(object_from(table.get_ref())), schema)
}

#[test]
fn every_scene_fits_the_schema() {
    let schema = schema_value();
    for scene in builtin() {
        assert!(fits_schema(&schema, scene.text), "{}", scene.name);
    }
}

#[test]
fn schema_and_loader_refuse_the_same() {
    let schema = schema_value();
    let good = "version = 1\n[solver]\nkind = \"pgs\"\n[bodies.a]\nshape = { sphere = { radius = 1 } }\n\
                position = [0, 0, 0]\nrotation = { axis = [0, 1, 0], degrees = 5 }\nmass = 2\n\
                color = \"#ffffff\"\nmaterial = { friction = 0.5 }\n\
                [points.p]\nmass = 3\n[joints.j]\nkind = { rope = { length = 7 } }\nbetween = [\"world\", \"a\"]\n\
                [joints.k]\nkind = \"hinge\"\nbetween = [\"world\", \"a\"]\naxis = [0, 0, 1]\n\
                limits = [-1, 1]\ndrive = { stiffness = 9, target = 0.5 }\n";
    assert!(fits_schema(&schema, good) && load("a", good, None, &[]).is_ok());
    for (from, to) in [
        ("version = 1", "version = 2"),
        ("version = 1\n", ""),
        ("\"pgs\"", "\"sgp\""),
        ("\"pgs\"", "3"),
        ("sphere", "ball"),
        ("radius = 1", "radius = 0"),
        ("radius = 1", "radius = true"),
        ("radius = 1", ""),
        ("radius = 1", "radius = 1, height = 2"),
        ("{ sphere = { radius = 1 } }", "{}"),
        ("{ sphere = { radius = 1 } }", "{ sphere = { radius = 1 }, box = { size = [1, 1, 1] } }"),
        ("[0, 0, 0]", "[0, 0]"),
        ("[0, 0, 0]", "0"),
        (", degrees = 5", ""),
        ("axis = [0, 1, 0], ", ""),
        ("mass = 2", "mass = 2\ndensity = 3"),
        ("mass = 2", "inertia = { moments = [1, 1, 1] }"),
        ("#ffffff", "white"),
        ("friction = 0.5", "friction = -0.5"),
        ("friction = 0.5", "restitution = 1.5"),
        ("friction = 0.5", "slipperiness = 1"),
        ("mass = 3", ""),
        ("mass = 3", "mass = 0"),
        ("kind = \"hinge\"", ""),
        ("\"hinge\"", "\"door\""),
        ("{ rope = { length = 7 } }", "{ rope = { length = 7 }, rod = { length = 7 } }"),
        ("length = 7", "length = -7"),
        ("[\"world\", \"a\"]", "[\"a\"]"),
        ("[\"world\", \"a\"]", "\"a\""),
        ("limits = [-1, 1]", "limits = [-1, 1, 2]"),
        ("limits = [-1, 1]", "limits = { low = 1 }"),
        ("axis = [0, 0, 1]", "axis = [0, 0, 1]\nat = [0, 0, 0]\nanchor = [0, 0, 0]"),
        ("stiffness = 9", "stiffness = -9"),
        ("stiffness = 9", "stiffness = 9, motor = 1"),
        ("target = 0.5", "target = { sine = { amplitude = 1 } }"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good);
        assert!(!fits_schema(&schema, &bad), "the schema takes {to}");
        assert!(load("a", &bad, None, &[]).is_err(), "the loader takes {to}");
    }
}
