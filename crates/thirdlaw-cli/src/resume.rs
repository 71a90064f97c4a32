//! `thirdlaw resume`: from the last whole frame to the same bits.

use crate::args::ResumeArgs;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::out::named_or_latest;
use crate::run::{self, WorkOptions};
use crate::{print, summary, threads};
use thirdlaw_run::Resumed;
use thirdlaw_run::record::core_count;
use thirdlaw_run::recording::read_record;

/// Goes on with the run in a folder.
pub fn resume(args: &ResumeArgs) -> Result<(), Failure> {
    let path = named_or_latest(args.folder.as_deref())?;
    // before the folder is claimed for writing, which leaves a file in it
    let record = read_record(&path)?;
    if record.outcome.is_final() {
        let shown = path.display();
        print::result(&format!("{shown} is finished: {}\n", record.outcome_text()))?;
        return summary::verdict(&record);
    }
    let interrupt = Interrupt::listen()?;
    let threads = args.threads.unwrap_or_else(core_count);
    threads::install(threads, || {
        let options = WorkOptions { quiet: args.quiet, report: !args.no_report };
        let resumed = thirdlaw_run::resume(&path)?;
        tell(&resumed);
        run::work(resumed.run, &interrupt, options)
    })
}

fn tell(resumed: &Resumed) {
    let Resumed { run, after, skipped } = resumed;
    if let Some((file, why)) = skipped {
        print::remark(&format!("{} is skipped and simulated again: {why}", file.display()));
    }
    let folder = run.folder().display();
    print::remark(&match after {
        Some(last) => format!("{folder}: goes on after frame {last} of {}", run.record().frames),
        None => format!("{folder}: no frame was kept, begins anew"),
    });
}
