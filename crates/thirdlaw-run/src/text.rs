//! Numbers as people read them: in reports, summaries and messages.

/// A duration for people: `0.8 s`, `12 s`, `3 min 5 s`, `2 h 10 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match seconds {
        s if !s.is_finite() => "?".into(),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 99.5 => format!("{whole} s"),
        s if s < 3600.0 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A number with four digits, as people write it.
pub fn number(x: f64) -> String {
    significant(x, 4)
}

/// A number with so many digits that it can be told from a limit it just misses.
pub fn precise(x: f64) -> String {
    significant(x, 8)
}

fn significant(x: f64, digits: i32) -> String {
    // a sum of nothing is −0
    let x = x + 0.0;
    if x != 0.0 && !(1e-3..1e5).contains(&x.abs()) {
        let text = format!("{x:.*e}", digits as usize - 1);
        return match text.split_once('e') {
            Some((head, exponent)) => format!("{}e{exponent}", without_zeros(head)),
            None => text,
        };
    }
    let whole = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    without_zeros(&format!("{x:.*}", (digits - 1 - whole).max(0) as usize)).into()
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// `1 thread`, `2 threads`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    #[test]
    fn durations_read_naturally() {
        let cases = [(0.84, "0.8 s"), (12.2, "12 s"), (185.0, "3 min 5 s"), (7805.0, "2 h 10 min")];
        for (seconds, text) in cases {
            assert_eq!(super::duration(seconds), text);
        }
    }

    #[test]
    fn numbers_keep_four_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (0.35, "0.35"),
            (1234.567, "1235"),
            (-2.5e-7, "-2.5e-7"),
        ];
        for (x, text) in cases {
            assert_eq!(super::number(x), text);
        }
        assert_eq!(super::precise(0.0500012), "0.0500012");
        assert_eq!(super::number(f64::INFINITY), "inf");
    }
}
