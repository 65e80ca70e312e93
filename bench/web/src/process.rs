//! Resource usage of a process (Linux: /proc).

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Sampling interval.
const PERIOD: Duration = Duration::from_millis(200);

/// Resource usage at one moment, or the maximum of each resource.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Resident memory in bytes.
    pub memory: u64,
    pub threads: usize,
    pub open_files: usize,
}

impl Usage {
    /// Returns the current usage of a process, zero if it has exited.
    pub fn of(process: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
        };
        let open_files = fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count);
        Self { memory: number("VmRSS:") * 1024, threads: number("Threads:") as usize, open_files }
    }

    fn most(self, other: Self) -> Self {
        Self {
            memory: self.memory.max(other.memory),
            threads: self.threads.max(other.threads),
            open_files: self.open_files.max(other.open_files),
        }
    }

    pub fn megabytes(self) -> f64 {
        self.memory as f64 / f64::from(1 << 20)
    }
}

/// Samples a process periodically.
pub struct Watch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Usage>,
}

impl Watch {
    pub fn start(process: u32) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut most = Usage::of(process);
            while !over.load(Ordering::Relaxed) {
                thread::sleep(PERIOD);
                most = most.most(Usage::of(process));
            }
            most
        });
        Self { is_over, thread }
    }

    /// Returns the maximum of each resource.
    pub fn end(self) -> Usage {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

/// Raises the limit of open files of this process to its maximum and returns it.
pub fn raise_open_files() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let now = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    now.map_or(usize::MAX, |files| files as usize)
}

/// Returns the limit of open files of another process.
pub fn open_files_limit(process: u32) -> String {
    let limits = fs::read_to_string(format!("/proc/{process}/limits")).unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    line.and_then(|rest| rest.split_whitespace().next()).unwrap_or("unknown").to_string()
}
