//! Drives the built command as a user does: files, exit codes, signals.

mod bench;
mod cloth;
mod contacts;
mod coupled;
mod errors;
mod export;
mod joints;
mod library;
mod particles;
mod render;
mod report;
mod resume;
mod run;
mod solvers;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// A scene of boxes that fall on a floor and on each other: 4 × 4 × 4 of them, one second.
const BOXES: &str = r#"version = 1
title = "Boxes that fall on a floor"

[settings]
fps = 60
frames = 60
sleeping = false

[bodies.floor]
kind = "fixed"
shape = { half_space = {} }

[bodies.box]
shape = { box = { size = [0.5, 0.5, 0.5] } }
position = [0, 0.4, 0]
angular_velocity = [0, 0, 0.5]
copies = { grid = { count = [4, 4, 4], spacing = [0.55, 0.6, 0.52] } }

[expect]
penetration = { below = 0.05 }
"#;

/// An empty folder to work in, with `boxes.toml` in it.
struct Workplace {
    folder: TempDir,
}

impl Workplace {
    fn new() -> Workplace {
        let workplace = Workplace { folder: tempfile::tempdir().unwrap() };
        workplace.write("boxes.toml", BOXES);
        workplace
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The command, without the report at the end of a run: it takes longer than most of the runs.
    fn command(&self, args: &str) -> Command {
        let mut command = self.command_as_typed(args);
        if args.starts_with("run ") || args.starts_with("resume") {
            command.arg("--no-report");
        }
        command
    }

    fn command_as_typed(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thirdlaw"));
        command.args(args.split_whitespace()).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the command to its end.
    fn thirdlaw(&self, args: &str) -> Done {
        Done::from(self.command(args).output().unwrap())
    }

    fn start(&self, args: &str) -> Started {
        Started(Some(self.command(args).spawn().unwrap()))
    }
}

/// A command at work; killed when its test ends, however that ends.
struct Started(Option<Child>);

impl Started {
    fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    fn kill(&mut self) {
        self.child().kill().unwrap();
        self.child().wait().unwrap();
    }

    /// Waits for its own end.
    fn finish(mut self) -> Done {
        Done::from(self.0.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a command left behind.
struct Done {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        Done {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Done {
    #[track_caller]
    fn expect_code(self, code: i32) -> Done {
        let Done { stdout, stderr, .. } = &self;
        assert_eq!(self.code, Some(code), "stdout:\n{stdout}\nstderr:\n{stderr}");
        self
    }
}

/// The folder of a run, read back.
struct Run {
    folder: PathBuf,
    record: serde_json::Value,
    stats: Vec<Vec<String>>,
}

impl Run {
    fn read(folder: &Path) -> Run {
        let record = std::fs::read(folder.join("run.json")).unwrap();
        let stats = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_path(folder.join("stats.csv"))
            .unwrap()
            .into_records()
            .map(|row| row.unwrap().iter().map(str::to_owned).collect())
            .collect();
        let record = serde_json::from_slice(&record).unwrap();
        Run { folder: folder.into(), record, stats }
    }

    /// A column without its header.
    fn column(&self, name: &str) -> Vec<String> {
        let at = self.stats[0].iter().position(|column| column == name).unwrap();
        self.stats[1..].iter().map(|row| row[at].clone()).collect()
    }

    fn final_hash(&self) -> &str {
        self.record["final_hash"].as_str().unwrap()
    }

    fn frame_files(&self) -> usize {
        frame_files(&self.folder)
    }
}

/// How many frames a folder holds.
fn frame_files(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder.join("frames")) else {
        return 0;
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".3l")).count()
}

/// The built-in scene of a box on a floor, wherever it is filed.
fn box_on_floor(workplace: &Workplace) -> String {
    let list = workplace.thirdlaw("scenes --json").expect_code(0).stdout;
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let names = list.as_array().unwrap().iter().map(|scene| scene["name"].as_str().unwrap());
    names.into_iter().find(|name| name.ends_with("box-on-floor")).unwrap().to_owned()
}
