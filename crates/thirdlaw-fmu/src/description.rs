//! `modelDescription.xml` of an FMU, as far as coupling needs it [FMI 3.0, §2.4].

use crate::error::FmuError;
use std::path::Path;

/// What an FMU says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FmuDescription {
    /// Name of the model.
    pub model: String,
    /// Name of its shared library.
    pub identifier: String,
    /// What it wants to be shown when it is instantiated.
    pub token: String,
    /// Whether its state can be taken and given back: whether steps of it can be taken back.
    pub restores: bool,
    /// Whether its state can be written as bytes.
    pub serializes: bool,
    /// Its variables of double precision whose size is fixed.
    pub variables: Vec<FmuVariable>,
}

/// A variable of double precision.
#[derive(Clone, Debug, PartialEq)]
pub struct FmuVariable {
    /// Its name.
    pub name: String,
    /// Its value reference.
    pub reference: u32,
    /// Whether it may be set between steps.
    pub input: bool,
    /// How many numbers it has.
    pub size: usize,
}

impl FmuDescription {
    /// Reads `modelDescription.xml`; `path` is that of the FMU, for errors.
    pub fn parse(text: &str, path: &Path) -> Result<FmuDescription, FmuError> {
        let refuse = |problem: String| FmuError::unusable(path, problem);
        let document = roxmltree::Document::parse(text)
            .map_err(|error| refuse(format!("its modelDescription.xml is no XML: {error}")))?;
        let root = document.root_element();
        let version = root.attribute("fmiVersion").unwrap_or("?");
        if root.tag_name().name() != "fmiModelDescription" || !version.starts_with("3.") {
            return Err(refuse(format!("it is of FMI {version}; only FMI 3.0 can be used")));
        }
        let child = |name: &str| root.children().find(|node| node.has_tag_name(name));
        let Some(kind) = child("CoSimulation") else {
            return Err(refuse("it is not for co-simulation".into()));
        };
        let needed = |attribute: &str| {
            let found = kind.attribute(attribute).or_else(|| root.attribute(attribute));
            found.map(str::to_string).ok_or_else(|| refuse(format!("it has no {attribute}")))
        };
        let flag = |attribute: &str| matches!(kind.attribute(attribute), Some("true" | "1"));
        let mut description = FmuDescription {
            model: needed("modelName")?,
            identifier: needed("modelIdentifier")?,
            token: needed("instantiationToken")?,
            restores: flag("canGetAndSetFMUState"),
            serializes: flag("canGetAndSetFMUState") && flag("canSerializeFMUState"),
            variables: Vec::new(),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !description.identifier.chars().all(plain) {
            // it names a file
            return Err(refuse("its modelIdentifier is no name of a C function".into()));
        }
        let all = child("ModelVariables").into_iter().flat_map(|node| node.children());
        for node in all.filter(|node| node.has_tag_name("Float64")) {
            let Some(variable) = variable(&node) else { continue };
            let aliases = node.children().filter(|n| n.has_tag_name("Alias"));
            for name in aliases.filter_map(|alias| alias.attribute("name")) {
                let name = name.to_string();
                description.variables.push(FmuVariable { name, ..variable.clone() });
            }
            description.variables.push(variable);
        }
        Ok(description)
    }

    /// A variable by its name.
    pub fn variable(&self, name: &str) -> Option<&FmuVariable> {
        self.variables.iter().find(|variable| variable.name == name)
    }
}

/// A variable; `None` where its size hangs on a parameter.
fn variable(node: &roxmltree::Node<'_, '_>) -> Option<FmuVariable> {
    let mut size = 1_usize;
    for dimension in node.children().filter(|n| n.has_tag_name("Dimension")) {
        size = size.checked_mul(dimension.attribute("start")?.parse().ok()?)?;
    }
    Some(FmuVariable {
        name: node.attribute("name")?.to_string(),
        reference: node.attribute("valueReference")?.parse().ok()?,
        input: node.attribute("causality") == Some("input"),
        size,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"<?xml version="1.0"?>
<fmiModelDescription fmiVersion="3.0" modelName="m" instantiationToken="t">
  <CoSimulation modelIdentifier="m_1" canGetAndSetFMUState="true"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent"/>
    <Float64 name="f" valueReference="7" causality="input" start="0 0 0"><Dimension start="3"/></Float64>
    <Float64 name="x" valueReference="8"><Alias name="y"/></Float64>
    <Float64 name="open" valueReference="9"><Dimension valueReference="3"/></Float64>
    <Int32 name="count" valueReference="10"/>
  </ModelVariables>
</fmiModelDescription>"#;

    #[test]
    fn sizes_inputs_and_aliases_are_read() {
        let read = FmuDescription::parse(TEXT, Path::new("m.fmu")).unwrap();
        assert_eq!((read.identifier.as_str(), read.restores), ("m_1", true));
        assert!(!read.serializes);
        let f = read.variable("f").unwrap();
        assert!(f.input && f.size == 3 && f.reference == 7, "{f:?}");
        assert_eq!(read.variable("y").unwrap().reference, 8);
        assert!(read.variable("open").is_none() && read.variable("count").is_none());
    }

    #[test]
    fn other_versions_and_kinds_and_paths_are_refused() {
        let cases = [
            (r#"fmiVersion="3.0""#, r#"fmiVersion="2.0""#, "FMI 2.0"),
            ("CoSimulation", "ModelExchange", "co-simulation"),
            ("m_1", "../m", "C function"),
            ("</fmiModelDescription>", "", "XML"),
        ];
        for (from, to, says) in cases {
            let text = TEXT.replace(from, to);
            let error = FmuDescription::parse(&text, Path::new("m.fmu")).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("m.fmu"), "{error}");
        }
    }
}
