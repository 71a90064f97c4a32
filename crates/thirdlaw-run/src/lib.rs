//! Running a scene: stepping it, keeping its frames and tables, going on after an interruption, and
//! what is made of a run afterwards: reports, exports, pictures.
//!
//! - [`Stepper`] advances a scene frame by frame and measures it; it knows no file, clock or signal.
//! - [`Run`] steps a scene into a folder, from which [`resume()`] goes on to the same bits. A kill at any
//!   moment leaves a folder that resumes.
//! - [`Recording`] is such a folder to be looked at. [`Export`] writes it in the formats of other
//!   programs, [`report`] as a page, and `pictures`, a feature of this crate, as pictures and a movie.
//!
//! Nothing here prints or listens for signals. Long work tells its [`Progress`] to a function of the
//! caller, which may end it. What is computed in parallel is computed in the caller's pool of threads;
//! the results do not depend on it.
//!
//! ```
//! use thirdlaw_run::{Export, ExportFormat, Recording, Run, RunOptions, SceneSource, Stepper, unwatched};
//! # let folder = std::env::temp_dir().join(format!("thirdlaw-run-{}", std::process::id()));
//! let source = SceneSource::find("box-on-floor")?;
//! let scene = source.load(&[])?;
//!
//! // step by step
//! let mut stepper = Stepper::new(scene.clone())?;
//! let body = stepper.body("box").expect("the scene has one");
//! stepper.step()?;
//! println!("{:.3} m", stepper.world().pose(body)?.translation.y);
//!
//! // into a folder, and from there to other programs
//! let options = RunOptions { frames: Some(5), ..RunOptions::default() };
//! Run::create(&source, scene, &folder, &options)?.simulate(&mut unwatched)?;
//! let recording = Recording::open(&folder)?;
//! let file = ExportFormat::Gltf.default_path(&folder);
//! Export::of(&recording, None)?.write(ExportFormat::Gltf, &file, false, &mut unwatched)?;
//! # assert!(file.exists());
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cache;
pub mod clock;
mod colors;
mod coupling_record;
pub mod error;
pub mod export;
pub mod files;
pub mod folder;
mod picture_files;
#[cfg(feature = "pictures")]
pub mod pictures;
pub mod plot;
pub mod progress;
pub mod record;
pub mod recording;
pub mod report;
pub mod resume;
pub mod run;
pub mod source;
pub mod stats;
pub mod stepper;
pub mod tables;
pub mod text;

pub use error::RunError;
pub use export::{Export, ExportFormat};
pub use folder::RunFolder;
pub use progress::{Progress, unwatched};
pub use record::{RunOptions, RunOutcome, RunRecord};
pub use recording::Recording;
pub use resume::{Resumed, resume};
pub use run::Run;
pub use source::SceneSource;
pub use stepper::Stepper;
