//! Names that file formats take: ASCII letters, digits and underscores, each only once.

use std::collections::HashSet;

/// Gives every name its own identifier, as like it as can be.
#[derive(Debug, Default)]
pub struct Names {
    used: HashSet<String>,
}

impl Names {
    /// An identifier that was not given before.
    pub fn unique(&mut self, name: &str) -> String {
        let base = identifier(name);
        let mut candidate = base.clone();
        let mut count = 1;
        while !self.used.insert(candidate.clone()) {
            candidate = format!("{base}_{count}");
            count += 1;
        }
        candidate
    }
}

fn identifier(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let text: String = name.chars().map(keep).collect();
    match text.chars().next() {
        Some(first) if !first.is_ascii_digit() => text,
        _ => format!("_{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_and_unique() {
        let mut names = Names::default();
        let given = ["box.0", "box_0", "box-0", "0", "", "würfel", "box_0_1"];
        let wanted = ["box_0", "box_0_1", "box_0_2", "_0", "_", "w_rfel", "box_0_1_1"];
        assert_eq!(given.map(|name| names.unique(name)), wanted);
    }
}
