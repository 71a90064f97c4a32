//! A world, written as an FMU: the world as bytes, what its variables are called, and the library that steps it.

use crate::archive::platform;
use crate::error::FmuError;
use crate::layout::{BodyVariable, REACH, TIME};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use thirdlaw::{BodyId, World};
use zip::write::SimpleFileOptions;

/// Name of the library in FMUs that are written here.
const IDENTIFIER: &str = "thirdlaw_world";

/// A dynamic body that others may push and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBody {
    /// What stands before the names of its variables.
    pub name: String,
    /// Which.
    pub id: BodyId,
}

/// A world to be written as an FMU.
#[derive(Clone, Debug)]
pub struct FmuExport<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The world, with nothing in it that is the user's own code.
    pub world: &'a World,
    /// What others see of it.
    pub bodies: &'a [NamedBody],
    /// Its longest step, s: longer ones are made in equal parts.
    pub step: f64,
    /// How long it runs where nobody says otherwise, s.
    pub duration: f64,
    /// Whether it says that its steps can be taken back.
    pub restores: bool,
}

impl FmuExport<'_> {
    /// The library that steps exported worlds, beside the running program: what
    /// `cargo build --release -p thirdlaw-fmu-binary` makes.
    pub fn library_beside_program() -> Option<PathBuf> {
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        let name = format!("{prefix}thirdlaw_fmu_binary{suffix}");
        let program = std::env::current_exe().ok()?;
        // tests run one folder deeper
        let folders = program.ancestors().skip(1).take(2);
        folders.map(|folder| folder.join(&name)).find(|file| file.is_file())
    }

    /// Writes the FMU. `library` is that of `thirdlaw-fmu-binary` for this platform.
    pub fn write(&self, library: &Path, out: &Path) -> Result<(), FmuError> {
        let bytes = self.world.to_bytes();
        let token = format!("thirdlaw-{:016x}", checksum(&bytes));
        let description = self.description(&token)?;
        let library = std::fs::read(library).map_err(FmuError::file(library))?;
        let suffix = std::env::consts::DLL_SUFFIX;
        let entries: [(String, &[u8]); 5] = [
            ("modelDescription.xml".into(), description.as_bytes()),
            (format!("binaries/{}/{IDENTIFIER}{suffix}", platform()), &library),
            ("resources/world.bin".into(), &bytes),
            ("resources/token.txt".into(), token.as_bytes()),
            ("resources/step.txt".into(), &format!("{:?}", self.step).into_bytes()),
        ];
        let file = std::fs::File::create(out).map_err(FmuError::file(out))?;
        let mut archive = zip::ZipWriter::new(file);
        let options = SimpleFileOptions::default();
        for (name, content) in entries {
            let failed = |error: zip::result::ZipError| FmuError::unusable(out, error.to_string());
            archive.start_file(name, options).map_err(failed)?;
            archive.write_all(content).map_err(FmuError::file(out))?;
        }
        archive.finish().map_err(|error| FmuError::unusable(out, error.to_string()))?;
        Ok(())
    }

    fn description(&self, token: &str) -> Result<String, FmuError> {
        let mut variables = String::new();
        let mut structure = String::new();
        let _ = writeln!(
            variables,
            "    <Float64 name=\"time\" valueReference=\"{TIME}\" causality=\"independent\" \
             variability=\"continuous\" description=\"s\"/>\n    \
             <Float64 name=\"reach\" valueReference=\"{REACH}\" causality=\"output\" \
             variability=\"discrete\" description=\"share of step × change of velocity by which a steady force \
             moves a body\"/>"
        );
        let mut outputs = vec![REACH];
        for body in self.bodies {
            let refuse = || FmuError::Variable {
                name: body.name.clone(),
                problem: "its body is not in the world".into(),
            };
            let handle = self.world.body_handle(body.id).ok_or_else(refuse)?;
            let name = escaped(&body.name);
            for variable in BodyVariable::ALL {
                let reference = variable.reference(handle);
                let (what, start) = match variable.is_input() {
                    true => ("input", format!(" start=\"{}\"", ["0"; 3].join(" "))),
                    false => ("output", String::new()),
                };
                let dimension = match variable.size() {
                    1 => String::new(),
                    size => format!("<Dimension start=\"{size}\"/>"),
                };
                let _ = writeln!(
                    variables,
                    "    <Float64 name=\"{name}.{}\" valueReference=\"{reference}\" \
                     causality=\"{what}\" variability=\"continuous\"{start}>{dimension}</Float64>",
                    variable.name()
                );
                if !variable.is_input() {
                    outputs.push(reference);
                }
            }
        }
        for kind in ["Output", "InitialUnknown"] {
            for reference in &outputs {
                let _ = writeln!(structure, "    <{kind} valueReference=\"{reference}\"/>");
            }
        }
        let (name, restores) = (escaped(self.name), self.restores);
        let (step, duration) = (self.step, self.duration);
        let version = env!("CARGO_PKG_VERSION");
        Ok(format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <fmiModelDescription fmiVersion=\"3.0\" modelName=\"{name}\" instantiationToken=\"{token}\" \
             generationTool=\"thirdlaw {version}\" variableNamingConvention=\"flat\">\n  \
             <CoSimulation modelIdentifier=\"{IDENTIFIER}\" canHandleVariableCommunicationStepSize=\"true\" \
             canGetAndSetFMUState=\"{restores}\" canSerializeFMUState=\"{restores}\"/>\n  \
             <DefaultExperiment startTime=\"0\" stopTime=\"{duration:?}\" stepSize=\"{step:?}\"/>\n  \
             <ModelVariables>\n{variables}  </ModelVariables>\n  \
             <ModelStructure>\n{structure}  </ModelStructure>\n</fmiModelDescription>\n"
        ))
    }
}

/// Text in an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '"' => out += "&quot;",
            _ => out.push(c),
        }
    }
    out
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
