//! Numbers written as expressions of the scene's parameters: `"0.5*n + 1"`.
//!
//! Grammar, loosest first: `+ -`, `* /`, unary `-`, `^` (to the right), then numbers, names,
//! functions and parentheses. Angles are in radians. Transcendental functions come from `libm`, so
//! that a scene means the same bits everywhere.

use crate::names::nearest;
use std::ops::Range;

/// The scene's `[parameters]`: their values, and whether anything used them.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    values: Vec<(String, f64, bool)>,
}

impl Parameters {
    /// Adds a parameter.
    pub fn insert(&mut self, name: &str, value: f64) {
        self.values.push((name.into(), value, false));
    }

    /// Names that nothing used.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        self.values.iter().filter(|v| !v.2).map(|v| v.0.as_str())
    }

    fn read(&mut self, name: &str) -> Option<f64> {
        let entry = self.values.iter_mut().find(|v| v.0 == name)?;
        entry.2 = true;
        Some(entry.1)
    }
}

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionError {
    /// Bytes of the expression.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What was probably meant.
    pub hint: Option<String>,
}

/// Functions of one or two numbers that expressions know.
const FUNCTIONS: [(&str, usize); 10] = [
    ("min", 2),
    ("max", 2),
    ("sqrt", 1),
    ("sin", 1),
    ("cos", 1),
    ("tan", 1),
    ("abs", 1),
    ("floor", 1),
    ("ceil", 1),
    ("round", 1),
];

/// Parentheses and signs may nest this deep.
const DEPTH: usize = 64;

/// The finite value of an expression.
pub fn evaluate(text: &str, parameters: &mut Parameters) -> Result<f64, ExpressionError> {
    let mut reader = Reader { text, at: 0, depth: 0, parameters };
    let value = reader.sum()?;
    reader.skip_space();
    if reader.at < text.len() {
        let rest = reader.at..text.len();
        return Err(error(rest, "the expression should end here, or go on with + - * / ^"));
    }
    if !value.is_finite() {
        return Err(error(0..text.len(), "the expression has no finite value"));
    }
    Ok(value)
}

fn error(span: Range<usize>, message: impl Into<String>) -> ExpressionError {
    ExpressionError { span, message: message.into(), hint: None }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    parameters: &'a mut Parameters,
}

type Result_ = Result<f64, ExpressionError>;

impl Reader<'_> {
    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.text[self.at..].chars().next()
    }

    /// Takes one of `wanted` (all ASCII) if it comes next.
    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|c| wanted.contains(c))?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn sum(&mut self) -> Result_ {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let next = self.product()?;
            value = if sign == '+' { value + next } else { value - next };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result_ {
        let mut value = self.signed()?;
        while let Some(sign) = self.take(&['*', '/']) {
            let next = self.signed()?;
            value = if sign == '*' { value * next } else { value / next };
        }
        Ok(value)
    }

    fn signed(&mut self) -> Result_ {
        if self.take(&['-']).is_some() {
            return Ok(-self.deeper(Reader::signed)?);
        }
        let base = self.atom()?;
        if self.take(&['^']).is_some() {
            return Ok(libm::pow(base, self.deeper(Reader::signed)?));
        }
        Ok(base)
    }

    fn deeper(&mut self, read: fn(&mut Self) -> Result_) -> Result_ {
        if self.depth == DEPTH {
            return Err(error(self.at..self.text.len(), "the expression is nested too deeply"));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Result_ {
        match self.peek() {
            Some('(') => {
                let value = self.arguments(1)?;
                Ok(value[0])
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            Some(c) => Err(error(
                self.at..self.at + c.len_utf8(),
                format!("`{c}` cannot stand here: a number, a parameter or `(` was expected"),
            )),
            None => Err(error(
                self.at..self.text.len(),
                "the expression ends where a number, a parameter or `(` was expected",
            )),
        }
    }

    fn number(&mut self) -> Result_ {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start;
        while end < bytes.len() {
            let exponent_sign = matches!(bytes[end], b'+' | b'-')
                && end > start
                && matches!(bytes[end - 1], b'e' | b'E');
            if !(bytes[end].is_ascii_digit()
                || matches!(bytes[end], b'.' | b'e' | b'E')
                || exponent_sign)
            {
                break;
            }
            end += 1;
        }
        self.at = end;
        let text = &self.text[start..end];
        text.parse().map_err(|_| error(start..end, format!("`{text}` is not a number")))
    }

    fn name(&mut self) -> Result_ {
        let start = self.at;
        let rest = &self.text[start..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let name = &rest[..length];
        self.at += length;
        let span = start..self.at;
        if self.peek() == Some('(') {
            return self.function(name, span);
        }
        if name == "pi" {
            return Ok(std::f64::consts::PI);
        }
        if let Some(value) = self.parameters.read(name) {
            return Ok(value);
        }
        let known = self.parameters.values.iter().map(|v| v.0.as_str());
        let hint = match nearest(name, known.chain(["pi"])) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "define it under [parameters], above where it is used".into(),
        };
        let message = format!("there is no parameter `{name}`");
        Err(ExpressionError { span, message, hint: Some(hint) })
    }

    fn function(&mut self, name: &str, span: Range<usize>) -> Result_ {
        let Some(&(_, count)) = FUNCTIONS.iter().find(|f| f.0 == name) else {
            let hint = match nearest(name, FUNCTIONS.map(|f| f.0)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known functions: {}", FUNCTIONS.map(|f| f.0).join(", ")),
            };
            let message = format!("there is no function `{name}`");
            return Err(ExpressionError { span, message, hint: Some(hint) });
        };
        let [x, y] = self.arguments(count)?;
        Ok(match name {
            "min" => x.min(y),
            "max" => x.max(y),
            "sqrt" => x.sqrt(),
            "sin" => libm::sin(x),
            "cos" => libm::cos(x),
            "tan" => libm::tan(x),
            "abs" => x.abs(),
            "floor" => x.floor(),
            "ceil" => x.ceil(),
            _ => x.round(),
        })
    }

    /// One or two values in parentheses.
    fn arguments(&mut self, count: usize) -> Result<[f64; 2], ExpressionError> {
        let open = self.at;
        self.take(&['(']);
        let mut values = [0.0; 2];
        for (i, value) in values.iter_mut().enumerate().take(count) {
            if i > 0 && self.take(&[',']).is_none() {
                return Err(error(open..self.at, format!("{count} values are needed here")));
            }
            *value = self.deeper(Reader::sum)?;
        }
        if self.take(&[')']).is_none() {
            return Err(error(open..open + 1, "this `(` is never closed by `)`"));
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, ExpressionError> {
        let mut parameters = Parameters::default();
        parameters.insert("n", 5.0);
        parameters.insert("angle", 0.5);
        evaluate(text, &mut parameters)
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        for (text, wanted) in [
            ("0.5*n + 1", 3.5),
            ("1 - 2 - 3", -4.0),
            ("8/4/2", 1.0),
            ("2^3^2", 512.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("(1 + 2)*3", 9.0),
            ("min(n, 3) + max(1, 2)", 5.0),
            ("floor(n/2)", 2.0),
            ("sqrt(16)", 4.0),
            ("1e-3", 1e-3),
            (".5", 0.5),
            ("--3", 3.0),
        ] {
            assert_eq!(value(text), Ok(wanted), "{text}");
        }
        assert!((value("cos(pi/3)").unwrap_or(9.0) - 0.5).abs() < 1e-15);
        assert!((value("sin(angle)^2 + cos(angle)^2").unwrap_or(9.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn errors_point_into_the_expression() {
        for (text, span, message) in [
            ("1 + m", 4..5, "there is no parameter `m`"),
            ("2*cosine(1)", 2..8, "there is no function `cosine`"),
            ("(1 + 2", 0..1, "this `(` is never closed by `)`"),
            ("1 2", 2..3, "the expression should end here, or go on with + - * / ^"),
            ("1/0", 0..3, "the expression has no finite value"),
            ("", 0..0, "the expression ends where a number, a parameter or `(` was expected"),
            ("1.2.3", 0..5, "`1.2.3` is not a number"),
            ("min(1)", 3..5, "2 values are needed here"),
        ] {
            let found = value(text).unwrap_err();
            assert_eq!((found.span, found.message.as_str()), (span, message), "{text}");
        }
        assert_eq!(value("angel").unwrap_err().hint.as_deref(), Some("did you mean `angle`?"));
    }

    #[test]
    fn deep_nesting_is_refused_without_overflow() {
        assert!(value(&"(".repeat(100_000)).is_err());
        assert!(value(&"-".repeat(100_000)).is_err());
        assert!(value(&format!("{}1", "2^".repeat(100_000))).is_err());
    }

    #[test]
    fn use_of_parameters_is_noticed() {
        let mut parameters = Parameters::default();
        parameters.insert("used", 1.0);
        parameters.insert("idle", 1.0);
        let _ = evaluate("used + 1", &mut parameters);
        assert_eq!(parameters.unused().collect::<Vec<_>>(), ["idle"]);
    }
}
