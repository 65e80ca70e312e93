//! Time by the wall clock and by the processor, and the highest memory since the meter was started.

use std::fs;
use std::time::{Duration, Instant};

use rustix::time::ClockId;

/// What a piece of work took.
#[derive(Clone, Copy)]
pub struct Taken {
    pub seconds: f64,
    /// Of all threads together.
    pub processor_seconds: f64,
    /// The whole process at its largest meanwhile.
    pub peak_megabytes: f64,
}

pub fn measured<T>(work: impl FnOnce() -> T) -> (Taken, T) {
    // "5" sets the highest memory back to that of now (proc(5)); where that is not allowed, an earlier peak stays.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let (began, began_processor) = (Instant::now(), processor_time());
    let value = work();
    let taken = Taken {
        seconds: began.elapsed().as_secs_f64(),
        processor_seconds: (processor_time() - began_processor).as_secs_f64(),
        peak_megabytes: peak_megabytes(),
    };
    (taken, value)
}

fn peak_megabytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kibibytes.unwrap_or(f64::NAN) * 1024.0 / 1e6
}

fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}
