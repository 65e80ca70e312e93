//! Metrics of the machine, of this process and of its threads: CPU, memory, disk, network.
//!
//! The source is `/proc` of Linux. Counters only grow, so the difference of two readings covers the time between them. A
//! value that the system does not provide is `None`, never zero.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Clock ticks per second (`USER_HZ`), 100 on every Linux architecture in use.
const TICKS: f64 = 100.0;
const SECTOR: u64 = 512;

/// Metrics of the machine at one point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineReading {
    pub processors: u32,
    /// Busy CPU seconds of all processors since boot.
    pub busy: Option<f64>,
    /// CPU seconds idle while waiting for disk I/O.
    pub waited: Option<f64>,
    /// Context switches since boot.
    pub switches: Option<u64>,
    /// Load average over the last minute.
    pub load: Option<f64>,
    /// Total and available memory in bytes.
    pub memory: Option<(u64, u64)>,
    /// Resident memory of this process in bytes.
    pub own_memory: Option<u64>,
    /// Total and free bytes of the file system of the data directory.
    pub disk: Option<(u64, u64)>,
    /// Bytes read from and written to disks since boot.
    pub disk_traffic: Option<(u64, u64)>,
    /// Bytes received and sent since boot, without loopback.
    pub network: Option<(u64, u64)>,
    /// Share of the last ten seconds in which tasks were stalled on CPU, disk and memory (pressure stall information).
    pub pressure: [Option<f64>; 3],
}

impl MachineReading {
    /// Reads the current metrics. `data` selects the file system.
    pub fn now(data: &Path) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let stat = read("/proc/stat");
        let (busy, waited) = processor_seconds(&stat).unzip();
        let pressure = |of: &str| average(&read(&format!("/proc/pressure/{of}")));
        Self {
            processors: stat
                .lines()
                .filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "))
                .count() as u32,
            busy,
            waited,
            switches: field(&stat, "ctxt"),
            load: read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()),
            memory: memory(&read("/proc/meminfo")),
            own_memory: kilobytes(&read("/proc/self/status"), "VmRSS:"),
            disk: disk_space(data),
            disk_traffic: disk_traffic(&read("/proc/diskstats")),
            network: network(&read("/proc/net/dev")),
            pressure: ["cpu", "io", "memory"].map(pressure),
        }
    }
}

/// Returns the total and the free bytes of the file system of `path`, if known.
pub fn disk_space(path: &Path) -> Option<(u64, u64)> {
    let disk = rustix::fs::statvfs(path).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    Some((bytes(disk.f_blocks), bytes(disk.f_bavail)))
}

/// Returns the CPU seconds used by this process, if known.
pub fn own_processor_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    thread_time(&stat).map(|(_, seconds)| seconds)
}

/// Resource usage of a group of threads since they were started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadReading {
    pub threads: u32,
    /// CPU seconds.
    pub seconds: f64,
    /// Bytes read from and written to disks.
    pub disk: (u64, u64),
    /// Voluntary and involuntary context switches.
    pub switches: (u64, u64),
}

/// Returns the resource usage of the threads of this process, by the group that `group_of` assigns to a thread name.
pub fn thread_readings(group_of: impl Fn(&str) -> &'static str) -> BTreeMap<&'static str, ThreadReading> {
    let mut groups: BTreeMap<&'static str, ThreadReading> = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let read = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let (stat, io, status) = (read("stat"), read("io"), read("status"));
        let Some((name, seconds)) = thread_time(&stat) else { continue };
        let group = groups.entry(group_of(name)).or_default();
        group.threads += 1;
        group.seconds += seconds;
        group.disk.0 += field(&io, "read_bytes:").unwrap_or_default();
        group.disk.1 += field(&io, "write_bytes:").unwrap_or_default();
        group.switches.0 += field(&status, "voluntary_ctxt_switches:").unwrap_or_default();
        group.switches.1 += field(&status, "nonvoluntary_ctxt_switches:").unwrap_or_default();
    }
    groups
}

/// Returns name and CPU seconds of a process or thread from its `stat`.
///
/// The name is enclosed in parentheses and may contain any character, including parentheses.
fn thread_time(stat: &str) -> Option<(&str, f64)> {
    let (head, rest) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let ticks = |nth: usize| rest.split_whitespace().nth(nth)?.parse::<f64>().ok();
    Some((name, (ticks(11)? + ticks(12)?) / TICKS))
}

/// Returns the busy CPU seconds and the seconds waiting for disks.
fn processor_seconds(stat: &str) -> Option<(f64, f64)> {
    let line = stat.lines().find(|line| line.starts_with("cpu "))?;
    let ticks: Vec<f64> = line.split_whitespace().skip(1).map_while(|ticks| ticks.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; guest time is part of user.
    let busy = [0, 1, 2, 5, 6, 7].iter().filter_map(|nth| ticks.get(*nth)).sum::<f64>();
    Some((busy / TICKS, ticks.get(4)? / TICKS))
}

fn memory(meminfo: &str) -> Option<(u64, u64)> {
    Some((kilobytes(meminfo, "MemTotal:")?, kilobytes(meminfo, "MemAvailable:")?))
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    field(text, name).map(|kilobytes| kilobytes.saturating_mul(1024))
}

/// Returns the number after `name` at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns bytes read and written by physical disks. Partitions, loop devices and RAM disks are skipped.
fn disk_traffic(diskstats: &str) -> Option<(u64, u64)> {
    let mut traffic = None;
    let mut last = "";
    for line in diskstats.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, name, _, _, read, _, _, _, written, ..] = words[..] else { continue };
        let is_part = !last.is_empty()
            && name
                .strip_prefix(last)
                .is_some_and(|rest| rest.trim_start_matches('p').parse::<u32>().is_ok());
        if is_part || ["loop", "ram", "zram", "dm-", "md", "sr"].iter().any(|kind| name.starts_with(kind)) {
            continue;
        }
        last = name;
        let sectors = |text: &str| text.parse::<u64>().unwrap_or_default().saturating_mul(SECTOR);
        let (before_read, before_written) = traffic.unwrap_or((0u64, 0u64));
        traffic = Some((before_read + sectors(read), before_written + sectors(written)));
    }
    traffic
}

/// Returns bytes received and sent by all interfaces except loopback.
fn network(dev: &str) -> Option<(u64, u64)> {
    let mut traffic = None;
    for (name, figures) in dev.lines().filter_map(|line| line.split_once(':')) {
        if name.trim() == "lo" {
            continue;
        }
        let figures: Vec<u64> = figures.split_whitespace().map_while(|figure| figure.parse().ok()).collect();
        let (Some(received), Some(sent)) = (figures.first(), figures.get(8)) else { continue };
        let (before_received, before_sent) = traffic.unwrap_or((0u64, 0u64));
        traffic = Some((before_received + received, before_sent + sent));
    }
    traffic
}

/// Returns the ten-second average of the line `some`, as a fraction.
fn average(pressure: &str) -> Option<f64> {
    let line = pressure.lines().find(|line| line.starts_with("some "))?;
    let percent = line.split_whitespace().find_map(|word| word.strip_prefix("avg10="))?;
    percent.parse::<f64>().ok().map(|percent| percent / 100.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_kernels_tables_are_read() {
        let stat = "cpu  100 20 30 400 50 6 7 8 9 10\ncpu0 1 2 3 4\ncpu1 1 2 3 4\nctxt 12345\nbtime 1\n";
        assert_eq!(processor_seconds(stat), Some((1.71, 0.5)));
        assert_eq!(field(stat, "ctxt"), Some(12345));
        assert_eq!(memory("MemTotal: 4 kB\nMemFree: 1 kB\nMemAvailable: 2 kB\n"), Some((4096, 2048)));
        let disks = " 7 0 loop0 1 0 10 0 1 0 10 0 0 0 0\n 8 0 sda 5 0 100 0 9 0 40 0 0 0 0\n \
                     8 1 sda1 5 0 90 0 9 0 40 0 0 0 0\n 259 0 nvme0n1 1 0 2 0 1 0 4 0 0 0 0\n \
                     259 1 nvme0n1p1 1 0 2 0 1 0 4 0 0 0 0\n";
        assert_eq!(disk_traffic(disks), Some((102 * SECTOR, 44 * SECTOR)));
        let dev =
            "Inter-| Receive\n face |bytes\n    lo: 9 0 0 0 0 0 0 0 9 0\n  eth0: 70 1 0 0 0 0 0 0 30 1 0\n";
        assert_eq!(network(dev), Some((70, 30)));
        assert_eq!(average("some avg10=12.50 avg60=1.0\nfull avg10=3.0\n"), Some(0.125));
        let thread = "17 (odd) name) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 1 0 1 2 3";
        assert_eq!(thread_time(thread), Some(("odd) name", 3.0)));
    }

    #[test]
    fn threads_are_grouped_by_name() {
        let group = |name: &str| if name == "kindle" { "kindle" } else { "other" };
        let worked = std::thread::Builder::new().name("kindle".into()).spawn(move || thread_readings(group));
        assert!(worked.unwrap().join().unwrap()["kindle"].threads >= 1);
    }

    #[test]
    fn this_machine_has_metrics() {
        let reading = MachineReading::now(Path::new("."));
        assert!(reading.processors > 0 && reading.disk.is_some_and(|(all, free)| free <= all), "{reading:?}");
        assert!(reading.own_memory.is_some_and(|bytes| bytes > 1 << 20), "{reading:?}");
        assert!(own_processor_seconds().is_some_and(|seconds| seconds >= 0.0));
    }

    proptest! {
        #[test]
        fn no_table_panics(text in "[\\PC\n:() ]{0,200}") {
            let _ = (processor_seconds(&text), disk_traffic(&text), network(&text), average(&text));
            let _ = (thread_time(&text), memory(&text));
        }
    }
}
