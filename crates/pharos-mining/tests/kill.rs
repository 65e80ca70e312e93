//! A writer that is killed loses at most its last second and leaves readable logs.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pharos_core::config::LogConfig;
use pharos_core::{Clock as _, SystemClock};
use pharos_mining::{DayRange, LineError, LogWriter, QueryRecord, read};
use pharos_store::DataDir;

/// Environment variable that passes the data directory to the child.
const CHILD: &str = "PHAROS_MINING_KILL_TEST";
const ROUNDS: usize = 3;

/// Not a test of its own: runs in the child until it is killed.
#[test]
fn child() {
    let Ok(dir) = env::var(CHILD) else { return };
    let log = LogWriter::open(&DataDir::at(dir), &LogConfig::default(), Arc::new(SystemClock));
    for n in 0_u64.. {
        let query = format!("{} {}", n % 100_000, "词".repeat(n as usize % 200));
        log.query(QueryRecord { at: SystemClock.now(), query, page: 1, ..QueryRecord::default() });
        if n % 20 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn killed_writers_leave_clean_logs() {
    let dir = tempfile::tempdir().unwrap();
    for round in 1..=ROUNDS {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "child"])
            .env(CHILD, dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(700));
        let killed = SystemClock.now();
        child.kill().unwrap();
        child.wait().unwrap();
        let (rounds, last) = check(dir.path());
        assert_eq!(rounds, round);
        let lost = killed.since(last);
        assert!(lost < Duration::from_secs(1), "the last {lost:?} are lost");
    }
}

/// Checks that every line but the last is complete and that each writer's lines are consecutive. Returns the
/// number of writers and the time of the last line.
fn check(dir: &Path) -> (usize, pharos_core::Timestamp) {
    let (mut writers, mut last, mut at) = (0, 0, pharos_core::Timestamp::EPOCH);
    for record in read::<QueryRecord>(&dir.join("logs"), &DayRange::default()).unwrap() {
        match record {
            Ok(record) => {
                let number: u64 = record.query.split(' ').next().unwrap().parse().unwrap();
                if number == 0 {
                    writers += 1;
                } else {
                    assert_eq!(number, last + 1);
                }
                (last, at) = (number, record.at);
            }
            Err(line) => assert_eq!(line.error, LineError::Unfinished, "{line}"),
        }
    }
    (writers, at)
}
