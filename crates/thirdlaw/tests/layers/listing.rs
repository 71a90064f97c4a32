//! What users of the engine can write down, as a list in `docs/api.txt`: a change of the API shows as a change
//! of that file. `scripts/api-listing` writes it anew. Ids come from a macro and are not in it.

use crate::names::public_names;
use crate::tree::{Tree, is_public};
use quote::ToTokens;
use std::collections::BTreeSet;
use std::path::Path;
use syn::{ImplItem, Item, TraitItem};

/// Code in one line, with the spaces that one would write.
fn line(code: impl ToTokens) -> String {
    let mut text = code.to_token_stream().to_string();
    for (from, to) in [
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        (" : ", ": "),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        ("< ", "<"),
        (" ::", "::"),
        (":: ", "::"),
        ("' ", "'"),
        (",)", ")"),
        (" :", ":"),
        ("-> ", "-> "),
        ("(& ", "(&"),
    ] {
        text = text.replace(from, to);
    }
    text
}

/// Fields, variants and methods of a public type.
fn of_item(name: &str, item: &Item, list: &mut BTreeSet<String>) {
    match item {
        Item::Struct(item) => {
            list.insert(format!("struct {name}"));
            for field in item.fields.iter().filter(|field| is_public(&field.vis)) {
                let field_name = field.ident.as_ref().map_or("0".into(), ToString::to_string);
                list.insert(format!("{name}.{field_name}: {}", line(&field.ty)));
            }
        }
        Item::Enum(item) => {
            list.insert(format!("enum {name}"));
            for variant in &item.variants {
                let fields = variant.fields.iter().map(|field| match &field.ident {
                    Some(own) => format!("{own}: {}", line(&field.ty)),
                    None => line(&field.ty),
                });
                let fields: Vec<String> = fields.collect();
                list.insert(format!("{name}::{} {{{}}}", variant.ident, fields.join(", ")));
            }
        }
        Item::Trait(item) => {
            list.insert(format!("trait {name}"));
            for method in &item.items {
                if let TraitItem::Fn(method) = method {
                    list.insert(format!("{name}::{}", line(&method.sig)));
                }
            }
        }
        Item::Type(item) => {
            list.insert(format!("type {name} = {}", line(&item.ty)));
        }
        _ => {}
    }
}

/// All of it, in the order of the alphabet.
fn listing(tree: &Tree) -> String {
    let mut list = BTreeSet::new();
    let names = public_names(tree);
    for (name, file) in &names {
        for module in tree.modules.values().filter(|module| module.file == *file) {
            for item in &module.items {
                if crate::tree::public_type(item).as_ref() == Some(name) {
                    of_item(name, item, &mut list);
                }
            }
        }
    }
    let visible = |path: &[String]| (1..=path.len()).all(|n| tree.modules[&path[..n]].public);
    for (path, module) in &tree.modules {
        for item in &module.items {
            match item {
                Item::Fn(item) if visible(path) && is_public(&item.vis) => {
                    list.insert(format!("{}::{}", path.join("::"), line(&item.sig)));
                }
                Item::Impl(item) if item.trait_.is_none() => {
                    let syn::Type::Path(own) = &*item.self_ty else { continue };
                    let Some(own) = own.path.segments.last().map(|s| s.ident.to_string()) else {
                        continue;
                    };
                    // an implementation lies in the file of its type or, for a world, beside it
                    let near = |file: &str| {
                        let folder =
                            |file: &str| file.rsplit_once('/').map(|cut| cut.0.to_string());
                        file == module.file || folder(file) == folder(&module.file)
                    };
                    let public = names.iter().any(|(name, file)| {
                        *name == own && (near(file) || own == "World" || own == "Coupling")
                    });
                    for method in item.items.iter().filter(|_| public) {
                        if let ImplItem::Fn(method) = method
                            && is_public(&method.vis)
                        {
                            list.insert(format!("{own}::{}", line(&method.sig)));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    list.into_iter().collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn the_listing_of_the_api_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let now = listing(&Tree::read(&root.join("src")));
    let file = root.join("../../docs/api.txt");
    if std::env::var_os("WRITE_API_LISTING").is_some() {
        std::fs::write(&file, &now).expect("the listing is written");
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    let lines = |text: &str| text.lines().map(String::from).collect::<BTreeSet<_>>();
    let (now, known) = (lines(&now), lines(&known));
    let came: Vec<_> = now.difference(&known).collect();
    let went: Vec<_> = known.difference(&now).collect();
    assert!(now.len() > 1000, "only {} lines were found", now.len());
    assert!(
        came.is_empty() && went.is_empty(),
        "the API has changed: say so in the changelog and run scripts/api-listing\ncame {came:#?}\nwent {went:#?}"
    );
}
