//! Ctrl-C and `kill`: the first asks for an end after the frame, the second ends at once.
//!
//! SIGHUP is left alone, so that `nohup thirdlaw run …` outlives its terminal.

use crate::failure::Failure;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody asked for an end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on.
    pub fn listen() -> Result<Interrupt, Failure> {
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM] {
            // the order counts: the second signal finds the flag that the first one set
            signal_hook::flag::register_conditional_shutdown(signal, 130, interrupt.0.clone())
                .and_then(|_| signal_hook::flag::register(signal, interrupt.0.clone()))
                .map_err(Failure::file("listen for", Path::new("Ctrl-C")))?;
        }
        Ok(interrupt)
    }

    /// Whether the end was asked for.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
