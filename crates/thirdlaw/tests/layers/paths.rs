//! Every path that code writes down, with the module in which what it names is defined.

use crate::Edge;
use crate::tree::Tree;
use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// All references of non-test code that lead to a module of the crate.
pub fn edges(tree: &Tree) -> Vec<Edge> {
    let mut all = Vec::new();
    for (path, module) in &tree.modules {
        let mut found: Vec<(Vec<String>, usize)> =
            module.uses.iter().map(|(_, path, line)| (path.clone(), *line)).collect();
        let mut visitor = Paths { found: &mut found };
        module.items.iter().for_each(|item| visitor.visit_item(item));
        for (written, line) in found {
            let mut path = tree.absolute(path, &written);
            if let Some(path) = &mut path
                && path.last().is_some_and(|last| last == "*")
            {
                path.pop();
            }
            let target = path.and_then(|path| tree.resolve(&path));
            if let Some(target) = target.filter(|target| !target.is_empty()) {
                let (file, path) = (module.file.clone(), written.join("::"));
                all.push(Edge { file, line, path, target });
            }
        }
    }
    all.sort();
    all.dedup();
    all
}

struct Paths<'a> {
    found: &'a mut Vec<(Vec<String>, usize)>,
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if segments.len() > 1 || segments.first().is_some_and(|first| first == "crate") {
            self.found.push((segments, path.span().start().line));
        }
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // one within a function
        walk_use(&item.tree, &mut Vec::new(), item.span().start().line, self.found);
    }

    fn visit_macro(&mut self, found: &'ast syn::Macro) {
        tokens(found.tokens.clone(), self.found);
        visit::visit_macro(self, found);
    }

    fn visit_item_macro(&mut self, found: &'ast syn::ItemMacro) {
        tokens(found.mac.tokens.clone(), self.found);
        visit::visit_item_macro(self, found);
    }
}

fn walk_use(
    tree: &syn::UseTree,
    before: &mut Vec<String>,
    line: usize,
    out: &mut Vec<(Vec<String>, usize)>,
) {
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            walk_use(&path.tree, before, line, out);
            before.pop();
        }
        syn::UseTree::Group(group) => {
            group.items.iter().for_each(|tree| walk_use(tree, before, line, out));
        }
        syn::UseTree::Name(name) => {
            out.push(([before.clone(), vec![name.ident.to_string()]].concat(), line));
        }
        syn::UseTree::Rename(name) => {
            out.push(([before.clone(), vec![name.ident.to_string()]].concat(), line));
        }
        syn::UseTree::Glob(_) => out.push((before.clone(), line)),
    }
}

/// Paths among the tokens of a macro: words joined by `::`.
fn tokens(stream: TokenStream, out: &mut Vec<(Vec<String>, usize)>) {
    let mut path: Vec<String> = Vec::new();
    let (mut colons, mut line) = (0, 0);
    let mut end = |path: &mut Vec<String>, line: usize| {
        if path.len() > 1 {
            out.push((std::mem::take(path), line));
        }
        path.clear();
    };
    let mut inner = Vec::new();
    for token in stream {
        match token {
            TokenTree::Ident(word) => {
                if colons != 2 {
                    end(&mut path, line);
                }
                line = word.span().start().line;
                path.push(word.to_string());
                colons = 0;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
            // `$crate`
            TokenTree::Punct(mark) if mark.as_char() == '$' => {}
            other => {
                end(&mut path, line);
                colons = 0;
                if let TokenTree::Group(group) = other {
                    inner.push(group.stream());
                }
            }
        }
    }
    end(&mut path, line);
    inner.into_iter().for_each(|stream| tokens(stream, out));
}
