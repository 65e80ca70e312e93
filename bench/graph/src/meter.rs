//! Wall-clock time, processor time and peak memory of a piece of work.

use std::fs;
use std::time::{Duration, Instant};

use rustix::time::ClockId;

/// Resources used.
#[derive(Clone, Copy)]
pub struct Taken {
    pub seconds: f64,
    /// Sum over all threads.
    pub processor_seconds: f64,
    /// Peak memory of the whole process.
    pub peak_megabytes: f64,
}

pub fn measured<T>(work: impl FnOnce() -> T) -> (Taken, T) {
    // "5" resets the peak memory to the current value (proc(5)); if that is not permitted, an earlier peak remains.
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
