//! The modules of the crate, parsed: what each defines, brings into scope and gives on.

use std::collections::BTreeMap;
use std::path::Path;
use syn::spanned::Spanned;
use syn::{Item, UseTree};

/// A module.
#[derive(Default)]
pub struct Module {
    /// Path of its file from `src/`.
    pub file: String,
    /// Its items, without child modules and tests.
    pub items: Vec<Item>,
    /// Names brought in by `use`: name here, path as written, line.
    pub uses: Vec<(String, Vec<String>, usize)>,
    /// Those of them that are given on to everyone.
    pub given_on: Vec<(String, Vec<String>, usize)>,
    /// Whether its parent shows it to everyone.
    pub public: bool,
}

/// All modules of a crate by their path from the root; the root is the empty path.
#[derive(Default)]
pub struct Tree {
    pub modules: BTreeMap<Vec<String>, Module>,
    macros: Vec<String>,
}

impl Tree {
    /// Reads `lib.rs` in `src` and every module it declares.
    pub fn read(src: &Path) -> Tree {
        let mut tree = Tree::default();
        tree.add_file(src, "lib.rs", Vec::new());
        tree
    }

    fn add_file(&mut self, src: &Path, file: &str, path: Vec<String>) {
        let text = std::fs::read_to_string(src.join(file)).expect("a file of the crate");
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
        self.add_items(Some(src), file, path, parsed.items);
    }

    fn add_items(&mut self, src: Option<&Path>, file: &str, path: Vec<String>, items: Vec<Item>) {
        let mut module = Module { file: file.to_string(), ..Module::default() };
        for item in items {
            if is_test(attributes(&item)) {
                continue;
            }
            match item {
                Item::Mod(child) => {
                    let mut inner = path.clone();
                    inner.push(child.ident.to_string());
                    let public = is_public(&child.vis) && !is_hidden(&child.attrs);
                    self.modules.entry(inner.clone()).or_default().public = public;
                    match (child.content, src) {
                        (Some((_, items)), _) => self.add_items(src, file, inner, items),
                        (None, Some(src)) => {
                            let base = inner.join("/");
                            let flat = format!("{base}.rs");
                            let deep = format!("{base}/mod.rs");
                            let file = if src.join(&flat).exists() { flat } else { deep };
                            self.add_file(src, &file, inner);
                        }
                        (None, None) => {}
                    }
                }
                Item::Use(item) => {
                    let line = item.span().start().line;
                    flatten(&item.tree, &mut Vec::new(), line, &mut module.uses);
                    if is_public(&item.vis) {
                        flatten(&item.tree, &mut Vec::new(), line, &mut module.given_on);
                    }
                }
                Item::Macro(item) => {
                    self.macros.extend(item.ident.as_ref().map(ToString::to_string));
                    module.items.push(Item::Macro(item));
                }
                item => module.items.push(item),
            }
        }
        let old = self.modules.entry(path).or_default();
        old.items.append(&mut module.items);
        old.uses.append(&mut module.uses);
        old.given_on.append(&mut module.given_on);
        if old.file.is_empty() {
            old.file = module.file;
        }
    }

    /// Adds code to a top-level module, to see whether it is noticed.
    pub fn plant(&mut self, layer: &str, code: &str) {
        let items = syn::parse_file(code).expect("planted code").items;
        let path = vec![layer.to_string()];
        let file =
            self.modules.get(&path).map_or_else(|| format!("{layer}.rs"), |m| m.file.clone());
        self.add_items(None, &file, path, items);
    }

    pub fn has_module(&self, path: &[String]) -> bool {
        self.modules.contains_key(path)
    }

    pub fn defines_macro(&self, name: &str) -> bool {
        self.macros.iter().any(|known| known == name)
    }

    /// The module in which what an absolute path names is defined. Re-exports are followed; what is not
    /// of this crate has none.
    pub fn resolve(&self, path: &[String]) -> Option<Vec<String>> {
        self.resolve_within(path, 0)
    }

    fn resolve_within(&self, path: &[String], depth: usize) -> Option<Vec<String>> {
        let mut at: Vec<String> = Vec::new();
        for (i, segment) in path.iter().enumerate() {
            let mut child = at.clone();
            child.push(segment.clone());
            if self.has_module(&child) {
                at = child;
                continue;
            }
            let module = self.modules.get(&at)?;
            if module.items.iter().any(|item| name_of(item).as_deref() == Some(segment)) {
                return Some(at);
            }
            let named = module.uses.iter().find(|(name, ..)| name == segment);
            let globs = module.uses.iter().filter(|(name, ..)| name == "*");
            for (_, target, _) in named.into_iter().chain(globs) {
                let mut target = self.absolute(&at, target)?;
                if target.last().is_some_and(|last| last == "*") {
                    target.pop();
                    target.push(segment.clone());
                }
                target.extend_from_slice(&path[i + 1..]);
                if depth < 16
                    && let Some(found) = self.resolve_within(&target, depth + 1)
                {
                    return Some(found);
                }
            }
            // an associated item or something a macro made: it belongs to where the path led
            return (!at.is_empty()).then_some(at);
        }
        Some(at)
    }

    /// A path written in a module, from the root; none if it leads out of the crate.
    pub fn absolute(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let first = path.first()?;
        let mut base = module.to_vec();
        match first.as_str() {
            "crate" | "thirdlaw" => return Some(path[1..].to_vec()),
            "self" => base.extend_from_slice(&path[1..]),
            "super" => {
                let ups = path.iter().take_while(|segment| *segment == "super").count();
                base.truncate(base.len().checked_sub(ups)?);
                base.extend_from_slice(&path[ups..]);
            }
            _ => {
                let own = self.modules.get(module)?;
                let mut child = base.clone();
                child.push(first.clone());
                if self.has_module(&child) {
                    child.extend_from_slice(&path[1..]);
                    return Some(child);
                }
                let (_, target, _) = own.uses.iter().find(|(name, ..)| name == first)?;
                // `use a::a` names itself
                if target.first() == Some(first) {
                    return None;
                }
                let mut target = self.absolute(module, target)?;
                target.extend_from_slice(&path[1..]);
                return Some(target);
            }
        }
        Some(base)
    }
}

/// The leaves of a `use`.
fn flatten(
    tree: &UseTree,
    before: &mut Vec<String>,
    line: usize,
    out: &mut Vec<(String, Vec<String>, usize)>,
) {
    let mut leaf = |name: String, last: String, before: &[String]| {
        let mut path = before.to_vec();
        // `use a::{self}` names a
        if last != "self" {
            path.push(last);
        }
        let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
        out.push((name, path, line));
    };
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, line, out);
            before.pop();
        }
        UseTree::Name(name) => leaf(name.ident.to_string(), name.ident.to_string(), before),
        UseTree::Rename(name) => leaf(name.rename.to_string(), name.ident.to_string(), before),
        UseTree::Glob(_) => leaf("*".into(), "*".into(), before),
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, before, line, out);
            }
        }
    }
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(i) => i.ident.to_string(),
        Item::Enum(i) => i.ident.to_string(),
        Item::Fn(i) => i.sig.ident.to_string(),
        Item::Macro(i) => i.ident.as_ref()?.to_string(),
        Item::Static(i) => i.ident.to_string(),
        Item::Struct(i) => i.ident.to_string(),
        Item::Trait(i) => i.ident.to_string(),
        Item::Type(i) => i.ident.to_string(),
        Item::Union(i) => i.ident.to_string(),
        _ => return None,
    })
}

fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

/// The name of a type that everyone may see.
pub fn public_type(item: &Item) -> Option<String> {
    let (vis, name) = match item {
        Item::Enum(i) => (&i.vis, &i.ident),
        Item::Struct(i) => (&i.vis, &i.ident),
        Item::Trait(i) => (&i.vis, &i.ident),
        Item::Type(i) => (&i.vis, &i.ident),
        _ => return None,
    };
    is_public(vis).then(|| name.to_string())
}

pub fn is_public(vis: &syn::Visibility) -> bool {
    matches!(vis, syn::Visibility::Public(_))
}

/// Whether `#[doc(hidden)]` stands on it.
fn is_hidden(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| match &a.meta {
        syn::Meta::List(list) => a.path().is_ident("doc") && list.tokens.to_string() == "hidden",
        _ => false,
    })
}

/// Whether `#[cfg(test)]`, `#[cfg(doctest)]` or `#[test]` stands on it.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        let words = match &a.meta {
            syn::Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        a.path().is_ident("test")
            || (a.path().is_ident("cfg") && (words == "test" || words == "doctest"))
    })
}
