//! The scene format as a page of the book: every table, every key, what it may be and what it means.

use crate::format::{Key, Kind, LengthRange, Rule, SCENE, TableFormat};
use std::fmt::Write;

const HEAD: &str = "\
# Scene files: the reference

<!-- Made by scripts/book-reference from the description that also checks scenes. Do not edit. -->

A scene is a TOML file in SI units, y up. Below is every table that it may hold; **bold** keys are \
required. Where a number is asked for, an expression in quotes does as well: `\"2*n + 1\"` with `n` from \
`[parameters]`. `thirdlaw check FILE` says by line and column what is wrong with a file, and \
`thirdlaw schema` prints the same description as a JSON Schema for editors.
";

/// The reference of scene files in Markdown.
pub fn reference() -> String {
    let mut tables = vec![&SCENE];
    let mut next = 0;
    while let Some(&table) = tables.get(next) {
        next += 1;
        table.keys.iter().for_each(|key| find(&key.kind, &mut tables));
    }
    let mut page = HEAD.to_owned();
    for table in tables {
        // writing to a text cannot fail
        let _ = write_table(&mut page, table);
    }
    page
}

/// Adds the tables of a value that are not there yet.
fn find(kind: &'static Kind, tables: &mut Vec<&'static TableFormat>) {
    match kind {
        Kind::Table(table) if !tables.iter().any(|t| std::ptr::eq(*t, *table)) => {
            tables.push(table);
        }
        Kind::List(item, _) | Kind::Names(item) => find(item, tables),
        Kind::Either(kinds) => kinds.iter().for_each(|kind| find(kind, tables)),
        _ => {}
    }
}

fn write_table(page: &mut String, table: &TableFormat) -> std::fmt::Result {
    let title = article_off(table.what);
    let mut letters = title.chars();
    let capital = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    writeln!(page, "\n<a id=\"{}\"></a>\n## {capital}{}\n", anchor(table), letters.as_str())?;
    writeln!(page, "| key | value | meaning |\n|---|---|---|")?;
    for Key { name, kind, required, doc } in table.keys {
        let bold = if *required { "**" } else { "" };
        let (value, doc) = (value(kind), doc.replace('|', "\\|"));
        writeln!(page, "| {bold}`{name}`{bold} | {value} | {doc} |")?;
    }
    for rule in table.rules {
        let names = |keys: &[&str]| {
            keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
        };
        match rule {
            Rule::One(keys) => writeln!(page, "\nExactly one of {}.", names(keys))?,
            Rule::AtMostOne(keys) => writeln!(page, "\nAt most one of {}.", names(keys))?,
            Rule::Needs(key, other) => writeln!(page, "\n`{key}` only together with `{other}`.")?,
        }
    }
    Ok(())
}

fn article_off(what: &str) -> &str {
    what.trim_start_matches("a ").trim_start_matches("an ")
}

fn anchor(table: &TableFormat) -> String {
    format!("table-{}", article_off(table.what).replace(' ', "-"))
}

/// What a value may be, in words.
fn value(kind: &Kind) -> String {
    match kind {
        Kind::Number(range) => match range.to_string().as_str() {
            "a finite number" => "number".to_owned(),
            range => format!("number, {range}"),
        },
        Kind::Integer(range) => format!("whole number, {range}"),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Choice(words) => {
            words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
        }
        Kind::Material => "name of a material".to_owned(),
        Kind::Color => "`\"#rrggbb\"`, or three numbers from 0 to 1".to_owned(),
        Kind::List(item, length) => format!("list of {}({})", count(length), value(item)),
        Kind::Table(table) => format!("table: [{}](#{})", table.what, anchor(table)),
        Kind::Names(item) => format!("table of names, each: {}", value(item)),
        Kind::Either(kinds) => kinds.iter().map(value).collect::<Vec<_>>().join("; or "),
    }
}

fn count(length: &LengthRange) -> String {
    match (length.least, length.most) {
        (0, usize::MAX) => String::new(),
        (least, usize::MAX) => format!("at least {least} "),
        (least, most) if least == most => format!("{least} "),
        (least, most) => format!("{least} to {most} "),
    }
}
