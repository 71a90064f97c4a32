//! The layers of the engine: each sees only those above it in [`LAYERS`].
//!
//! Every path in non-test code is resolved to the file that defines what it names, through `use`, inline
//! paths, `super::`, macros and re-exports (`paths.rs`, `tree.rs`); an edge from a layer to one below it
//! fails.

mod listing;
mod names;
mod paths;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tree::Tree;

/// From the top down. A module sees itself and those before it.
const LAYERS: &[&str] = &[
    "math",
    "ids",
    "parallel",
    "simd",
    "linalg",
    "shape",
    "energy",
    "model",
    "state",
    "report",
    "simulator",
    "collide",
    "contact",
    "joint",
    "step",
    "world",
    "measure",
    "control",
    "couple",
];

/// What a layer does not see although it stands above: layer, what it does not see, and what of that it may.
const CLOSED: &[(&str, &str, &[&str])] = &[
    // the border that a GPU takes
    ("contact", "model", &["settings"]),
    ("contact", "state", &[]),
    // only `couple` sees two simulators, and it never names the world
    ("couple", "world", &[]),
    ("couple", "step", &[]),
    ("couple", "measure", &[]),
    ("couple", "control", &[]),
];

/// A reference from one module to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    /// File that holds the path.
    file: String,
    line: usize,
    /// The path as written.
    path: String,
    /// Modules from the root to where the item is defined.
    target: Vec<String>,
}

/// What users see of the crate, above all layers.
const FRONT: [&str; 2] = ["lib", "prelude"];

impl Edge {
    fn from(&self) -> &str {
        top(&self.file)
    }

    /// Why this edge is not allowed, if it is not.
    fn problem(&self) -> Option<String> {
        let rank = |name: &str| LAYERS.iter().position(|layer| *layer == name);
        let (from, to) = (self.from(), self.target.first()?.as_str());
        if from == to || FRONT.contains(&from) {
            return None;
        }
        let (Some(here), Some(there)) = (rank(from), rank(to)) else {
            return Some(format!("`{from}` or `{to}` is not a layer"));
        };
        if there > here {
            return Some(format!("`{from}` stands above `{to}`"));
        }
        let second = self.target.get(1).map_or("", String::as_str);
        let closed = CLOSED.iter().find(|(layer, hidden, _)| (*layer, *hidden) == (from, to))?;
        (!closed.2.contains(&second)).then(|| format!("`{from}` must not see `{to}::{second}`"))
    }
}

/// The top-level module that a file belongs to.
fn top(file: &str) -> &str {
    let first = file.split('/').next().unwrap_or(file);
    first.strip_suffix(".rs").unwrap_or(first)
}

fn source() -> Tree {
    Tree::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

fn problems(tree: &Tree) -> Vec<String> {
    let edges = paths::edges(tree);
    let describe = |edge: &Edge| {
        let why = edge.problem()?;
        Some(format!("{}:{}: `{}`: {why}", edge.file, edge.line, edge.path))
    };
    edges.iter().filter_map(describe).collect()
}

#[test]
fn no_layer_sees_one_below_it() {
    let found = problems(&source());
    assert!(found.is_empty(), "{} edges upwards\n{}", found.len(), found.join("\n"));
}

/// Prints who sees whom: `cargo test -p thirdlaw --test layers -- --nocapture graph`.
#[test]
fn graph_has_no_cycle() {
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for edge in paths::edges(&source()) {
        let (from, to) = (edge.from().to_string(), edge.target[0].clone());
        if from != to && !FRONT.contains(&edge.from()) {
            graph.entry(from).or_default().insert(to);
        }
    }
    for (from, to) in &graph {
        println!("{from:<10} sees {}", to.iter().cloned().collect::<Vec<_>>().join(", "));
    }
    let mut left: BTreeSet<&String> = graph.keys().collect();
    loop {
        let free: Vec<&String> = left
            .iter()
            .copied()
            .filter(|from| !graph[*from].iter().any(|to| left.contains(to)))
            .collect();
        if free.is_empty() {
            break;
        }
        left.retain(|from| !free.contains(from));
    }
    println!("{} modules in a cycle: {left:?}", left.len());
    assert!(left.is_empty());
}

/// The check sees edges of every kind: each of these, planted, is found.
#[test]
fn planted_edges_are_found() {
    let planted = [
        ("use", "math", "use crate::world::World;"),
        ("a group", "shape", "use crate::{ids, world::{self, World}};"),
        ("an inline path", "contact", "fn planted(world: &crate::world::World) {}"),
        ("super", "contact", "fn planted(world: &super::world::World) {}"),
        ("super in a module", "contact", "mod a { fn f(w: &super::super::world::World) {} }"),
        ("a re-export of the crate", "joint", "fn planted(world: &crate::World) {}"),
        ("a macro", "collide", "fn planted() { println!(\"{:?}\", crate::world::World::new) }"),
        ("a renaming", "state", "use crate::world as above; fn planted(w: &above::World) {}"),
        ("a border", "contact", "use crate::state::State;"),
        ("a border by inline path", "contact", "fn planted(m: &crate::model::Model) {}"),
        ("couple and world", "couple", "fn planted(w: &crate::World) {}"),
    ];
    let sound = problems(&source());
    for (kind, layer, code) in planted {
        let mut tree = source();
        tree.plant(layer, code);
        let found = problems(&tree);
        assert!(found.len() > sound.len(), "{kind} was not seen: {code}");
    }
    let mut tree = source();
    tree.plant("contact", "#[cfg(test)] mod tests { use crate::world::World; }");
    assert_eq!(problems(&tree), sound, "tests may see anything");
}

/// Inside the crate nobody goes through the re-exports of `lib.rs`: paths name where things are.
#[test]
fn nobody_goes_through_the_front_door() {
    let tree = source();
    let short: Vec<String> = paths::edges(&tree)
        .iter()
        .filter(|edge| edge.path.starts_with("crate::") && !FRONT.contains(&edge.from()))
        .filter(|edge| {
            let second = edge.path.split("::").nth(1).unwrap_or_default();
            !tree.has_module(&[second.to_string()]) && !tree.defines_macro(second)
        })
        .map(|edge| format!("{}:{}: {}", edge.file, edge.line, edge.path))
        .collect();
    assert!(short.is_empty(), "{}", short.join("\n"));
}
