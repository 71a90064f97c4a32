//! Everything wrong with a scene, each with its place in the text.

use std::ops::Range;

/// Where something stands: in the scene's text, or in one of the overrides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// `None`: the scene's text; `Some(i)`: override `i`, written `key=value`.
    pub source: Option<usize>,
    /// Bytes of that text.
    pub span: Range<usize>,
}

/// One thing wrong with a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    /// `None`: in the scene's text; `Some(i)`: in override `i`.
    pub source: Option<usize>,
    /// Bytes of that text it is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What was probably meant, or what would be right.
    pub hint: Option<String>,
}

impl SceneError {
    /// An error at a place.
    pub fn new(place: &Place, message: impl Into<String>) -> SceneError {
        SceneError {
            source: place.source,
            span: place.span.clone(),
            message: message.into(),
            hint: None,
        }
    }

    /// Adds what was probably meant.
    pub fn hint(mut self, hint: impl Into<String>) -> SceneError {
        self.hint = Some(hint.into());
        self
    }
}

/// All that is wrong with a scene. Its `Display` prints each error with file, line, column, the
/// line itself, an underline and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneErrors {
    /// Name or path the scene was loaded by.
    pub name: String,
    /// The scene's text.
    pub text: String,
    /// The overrides as `key=value`.
    pub overrides: Vec<String>,
    /// At least one.
    pub errors: Vec<SceneError>,
}

/// More errors than this in one file tell nothing new.
const SHOWN: usize = 20;

impl SceneErrors {
    /// Line and column (in characters), both from 1, of a byte of a text.
    pub fn line_column(text: &str, at: usize) -> (usize, usize) {
        let before = text.get(..floor_boundary(text, at)).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        (line, before[start..].chars().count() + 1)
    }

    fn text_of(&self, error: &SceneError) -> &str {
        match error.source {
            None => &self.text,
            Some(i) => self.overrides.get(i).map_or("", String::as_str),
        }
    }
}

/// Characters of a line that are shown at most.
const LINE_SHOWN: usize = 110;
/// Of these, before the place in question.
const LINE_BEFORE: usize = 40;

/// A line shortened around `width` characters from `column` (from 1) on, with both as they are then.
fn excerpt(line: &str, column: usize, width: usize) -> (String, usize, usize) {
    let count = line.chars().count();
    if count <= LINE_SHOWN {
        return (line.into(), column, width);
    }
    let from = (column - 1).saturating_sub(LINE_BEFORE).min(count - LINE_SHOWN);
    let mut shown: String = line.chars().skip(from).take(LINE_SHOWN).collect();
    let mut column = column - from;
    if from > 0 {
        shown.insert(0, '…');
        column += 1;
    }
    if from + LINE_SHOWN < count {
        shown.push('…');
    }
    (shown, column, width.min(LINE_SHOWN + 1 - column.min(LINE_SHOWN)))
}

/// The last character boundary at or before a byte.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl std::fmt::Display for SceneErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, error) in self.errors.iter().take(SHOWN).enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            let text = self.text_of(error);
            let start = floor_boundary(text, error.span.start);
            let (line, column) = SceneErrors::line_column(text, start);
            match error.source {
                None => writeln!(f, "{}:{line}:{column}: {}", self.name, error.message)?,
                Some(_) => writeln!(f, "in --set {text}: {}", error.message)?,
            }
            let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
            let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
            // a tab would put the underline elsewhere
            let shown = text[line_start..line_end].trim_end().replace('\t', " ");
            let end = floor_boundary(text, error.span.end.min(line_end)).max(start);
            let width = text[start..end].trim_end().chars().count().max(1);
            let gutter = if error.source.is_none() { line.to_string() } else { String::new() };
            let blank = " ".repeat(gutter.len());
            let (shown, column, width) = excerpt(&shown, column, width);
            writeln!(f, " {gutter} | {shown}")?;
            writeln!(f, " {blank} | {}{}", " ".repeat(column - 1), "^".repeat(width))?;
            if let Some(hint) = &error.hint {
                writeln!(f, " {blank} = {hint}")?;
            }
        }
        if self.errors.len() > SHOWN {
            writeln!(f, "\n… and {} more errors", self.errors.len() - SHOWN)?;
        }
        Ok(())
    }
}

impl std::error::Error for SceneErrors {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters() {
        assert_eq!(SceneErrors::line_column("a\nµb = 1", 4), (2, 2));
        assert_eq!(SceneErrors::line_column("a\nµb", 3), (2, 1), "inside a character: its start");
        assert_eq!(SceneErrors::line_column("ab", 99), (1, 3));
    }

    #[test]
    fn spans_outside_the_text_do_not_panic() {
        let errors = SceneErrors {
            name: "x.toml".into(),
            text: "a = 1\n".into(),
            overrides: vec![],
            errors: vec![
                SceneError::new(&Place { source: None, span: 90..95 }, "far away"),
                SceneError::new(&Place { source: Some(3), span: 0..1 }, "no such override"),
            ],
        };
        assert!(errors.to_string().starts_with("x.toml:2:1: far away\n"));
    }
}
