//! Where a glTF file says its bytes are: inside itself in base64, or in a file beside it.

use std::path::{Component, Path, PathBuf};

/// What an address means.
#[derive(Debug, PartialEq, Eq)]
pub enum Target {
    /// Bytes that are part of the address.
    Bytes(Vec<u8>),
    /// A file, relative to the folder of the one that names it.
    File(PathBuf),
}

/// Reads an address. Only what lies in the same folder or below is looked at.
pub fn resolve(uri: &str) -> Result<Target, String> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (kind, text) = data.split_once(',').ok_or("its data have no beginning")?;
        if !kind.ends_with(";base64") {
            return Err("its data are not in base64".into());
        }
        return decode(text).map(Target::Bytes).ok_or("its data are not base64".into());
    }
    let path = PathBuf::from(percent_decoded(uri).ok_or("its address cannot be read")?);
    let is_plain =
        path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_plain || uri.contains("://") || path.as_os_str().is_empty() {
        let shown: String = uri.chars().take(60).collect();
        return Err(format!("`{shown}` is not a file in the same folder"));
    }
    Ok(Target::File(path))
}

/// Reads a file that `name` gives relative to `folder`.
pub fn read_file(folder: Option<&Path>, name: &Path) -> Result<Vec<u8>, String> {
    let path = folder.unwrap_or(Path::new("")).join(name);
    let shown = path.display().to_string();
    // a device or a pipe would be read for ever
    match std::fs::metadata(&path) {
        Ok(about) if !about.is_file() => Err(format!("{shown} is not a file")),
        Ok(_) => std::fs::read(&path).map_err(|error| format!("cannot read {shown}: {error}")),
        Err(error) => Err(format!("cannot read {shown}: {error}")),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digit = |c: &u8| char::from(*c).to_digit(16);
        let (byte, next) = match (first, tail) {
            (b'%', [a, b, tail @ ..]) => ((digit(a)? * 16 + digit(b)?) as u8, tail),
            _ => (*first, tail),
        };
        bytes.push(byte);
        rest = next;
    }
    String::from_utf8(bytes).ok()
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut bits) = (0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_decoded() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9vYg", "foob")] {
            let uri = format!("data:application/octet-stream;base64,{text}");
            assert_eq!(resolve(&uri), Ok(Target::Bytes(bytes.into())));
        }
        assert!(resolve("data:;base64,Z$==").is_err());
        assert!(resolve("data:text/plain,abc").is_err());
    }

    #[test]
    fn only_files_beside_are_named() {
        assert_eq!(resolve("a%20b.bin"), Ok(Target::File("a b.bin".into())));
        for bad in ["/etc/passwd", "../a.bin", "a/../../b", "http://x/y", "", "%2e%2e/a", "a%zz"] {
            assert!(resolve(bad).is_err(), "{bad}");
        }
    }
}
