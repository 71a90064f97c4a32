//! The book is in step with the program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn read(path: &str) -> String {
    let path = docs().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Everything between `open` and `close` in a text.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    let parts = text.split(open).skip(1);
    parts.filter_map(|part| part.split_once(close)).map(|(inner, _)| inner).collect()
}

#[test]
fn the_reference_of_scene_files_is_up_to_date() {
    // not compared as a whole, which would print a thousand lines
    let page = read("book/src/scene-reference.md");
    let fresh = thirdlaw_scene::reference();
    let differs = page.lines().zip(fresh.lines()).find(|(a, b)| a != b);
    assert_eq!(differs, None, "run scripts/book-reference");
    assert_eq!(page.lines().count(), fresh.lines().count(), "run scripts/book-reference");
}

#[test]
fn every_table_of_the_reference_is_where_links_look_for_it() {
    let page = thirdlaw_scene::reference();
    let places = between(&page, "<a id=\"", "\"");
    let unique: BTreeSet<_> = places.iter().collect();
    assert_eq!(places.len(), unique.len(), "two tables of one name");
    assert!(places.len() > 20);
    for link in between(&page, "](#", ")") {
        assert!(unique.contains(&link), "{link}");
    }
}

#[test]
fn pictures_of_the_gallery_are_shown_made_and_small() {
    let page = read("book/src/gallery.md");
    let script = std::fs::read_to_string(docs().join("../scripts/gallery")).unwrap();
    let list = between(&script, "pictures='\n", "\n'")[0];
    let shown: BTreeSet<_> = between(&page, "](../../gallery/", ".png)").into_iter().collect();
    let made: BTreeSet<_> = list.lines().filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(shown, made, "docs/book/src/gallery.md and scripts/gallery differ");
    for line in list.lines() {
        let scene = line.split_whitespace().nth(1).unwrap();
        assert!(thirdlaw_scene::find_builtin(scene).is_some(), "{scene}");
    }
    for name in shown {
        let path = docs().join(format!("gallery/{name}.png"));
        let size = std::fs::metadata(&path).map_or(u64::MAX, |m| m.len());
        assert!(size <= 60 * 1024, "{name}: {size} bytes; run scripts/gallery {name}");
    }
}

#[test]
fn the_chapters_are_listed_and_link_to_each_other() {
    let summary = read("book/src/SUMMARY.md");
    let listed: BTreeSet<_> = between(&summary, "](", ")").into_iter().collect();
    let entries = std::fs::read_dir(docs().join("book/src")).unwrap();
    for entry in entries {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") && name != "SUMMARY.md" {
            assert!(listed.contains(name.as_str()), "{name} is not in SUMMARY.md");
            for link in between(&read(&format!("book/src/{name}")), "](", ")") {
                let page = link.split('#').next().unwrap_or_default();
                if page.ends_with(".md") {
                    assert!(listed.contains(page), "{name} links to {page}");
                }
            }
        }
    }
}
