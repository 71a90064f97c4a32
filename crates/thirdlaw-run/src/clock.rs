//! The clock of this machine, for steppers that are to be timed, and the date.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

/// Nanoseconds since it was first read: a [`Clock`](crate::stepper::Clock).
pub fn monotonic() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// This moment in UTC, as in `2026-11-15T09:54:36Z`.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
