//! The nearest name to one that was mistyped.

/// Number of single-character insertions, deletions, substitutions and swaps of neighbours that
/// turn `a` into `b` (the optimal string alignment distance).
pub fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 0..a.len() {
        row[0] = i + 1;
        for j in 0..b.len() {
            let change = usize::from(a[i] != b[j]);
            let mut best = (last[j] + change).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row[j + 1] = best;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

/// The candidate nearest to `name`, if it is near enough to be what was meant. Case, `-` and `_`
/// are not counted as differences.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // a name this long is no typo of ours, and the distance is quadratic
    if name.len() > 64 {
        return None;
    }
    let plain = |s: &str| s.to_lowercase().replace('-', "_");
    let wanted = plain(name);
    let (distance, best) = candidates
        .into_iter()
        .map(|c| (edit_distance(&wanted, &plain(c)), c))
        .min_by_key(|&(distance, _)| distance)?;
    let near = distance <= 1.max(wanted.chars().count() / 3);
    near.then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("friction", "friction"), 0);
        assert_eq!(edit_distance("frcition", "friction"), 1, "a swap is one slip of the fingers");
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_near_names_are_offered() {
        let keys = ["friction", "restitution", "density"];
        assert_eq!(nearest("fricton", keys), Some("friction"));
        assert_eq!(nearest("Density", keys), Some("density"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("x", []), None);
    }
}
