//! One public name means one type in the whole workspace.

use crate::tree::{Tree, public_type};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Names of types that users of a crate can write down, with the file that defines each.
pub fn public_names(tree: &Tree) -> BTreeSet<(String, String)> {
    let mut names = BTreeSet::new();
    let visible = |path: &[String]| (1..=path.len()).all(|n| tree.modules[&path[..n]].public);
    for (path, module) in tree.modules.iter().filter(|(path, _)| visible(path)) {
        let own = module.items.iter().filter_map(public_type);
        names.extend(own.map(|name| (name, module.file.clone())));
        for (name, target, _) in &module.given_on {
            let Some(absolute) = tree.absolute(path, target) else { continue };
            let Some(home) = tree.resolve(&absolute) else { continue };
            let home = &tree.modules[&home];
            let last = target.last().unwrap_or(name);
            if home.items.iter().filter_map(public_type).any(|defined| defined == *last) {
                names.insert((name.clone(), home.file.clone()));
            }
        }
    }
    names
}

#[test]
fn one_public_name_is_one_type_in_the_workspace() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut homes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(crates).expect("the folder of crates").flatten() {
        let src = entry.path().join("src");
        // a command has no users who write down its types
        if src.join("lib.rs").exists() {
            let name = entry.file_name().to_string_lossy().into_owned();
            for (item, file) in public_names(&Tree::read(&src)) {
                homes.entry(item).or_default().insert(format!("{name}/{file}"));
            }
        }
    }
    let twice: Vec<String> = homes
        .iter()
        .filter(|(_, files)| files.len() > 1)
        .map(|(name, files)| {
            format!("{name}: {}", files.iter().cloned().collect::<Vec<_>>().join(", "))
        })
        .collect();
    assert!(homes.len() > 200, "only {} public names were seen", homes.len());
    assert!(twice.is_empty(), "{} names of {}\n{}", twice.len(), homes.len(), twice.join("\n"));
}
