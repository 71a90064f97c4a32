//! `thirdlaw report`: the page of a run, written anew.

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::out::named_or_latest;
use crate::{print, threads};
use thirdlaw_run::SceneSource;
use thirdlaw_run::record::core_count;
use thirdlaw_run::recording::read_record;
use thirdlaw_run::report::{self, FILE_NAME};

/// Writes the report of a run anew.
pub fn report(args: &ReportArgs) -> Result<(), Failure> {
    let folder = named_or_latest(args.folder.as_deref())?;
    let record = read_record(&folder)?;
    let scene = SceneSource::of_record(&record).load(&record.scene.overrides)?;
    let threads = args.threads.unwrap_or_else(core_count);
    threads::install(threads, || Ok(report::write(&folder, record, scene)?))?;
    print::result(&format!("results in {}: {FILE_NAME}\n", folder.display()))
}
