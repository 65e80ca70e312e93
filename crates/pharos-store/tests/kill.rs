//! `kill -9` at random times during writes loses no acknowledged record and leaves every file readable.
//!
//! The test starts itself again as a writer that prints the acknowledged records to its standard output, and kills
//! it. Small files make it rotate all the time; four threads keep the write queue busy.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pharos_core::config::LibraryFormat;
use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_store::{DiskLibrary, Library, LibraryRecord, LibraryWriteOptions, RawResponse, RecordContent};

const FOLDER: &str = "PHAROS_KILL_TEST_FOLDER";

#[test]
fn acknowledged_records_survive_kills() {
    if let Ok(folder) = std::env::var(FOLDER) {
        write_until_killed(Path::new(&folder));
    }
    let kills = if std::env::var_os("PHAROS_LONG").is_some() { 200 } else { 20 };
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged = HashSet::new();
    for _ in 0..kills {
        acknowledged.extend(run_and_kill(dir.path()));
        let library = open(dir.path());
        let mut found = HashSet::new();
        for stored in library.scan(LibraryPosition::START, None).unwrap() {
            found.insert(stored.expect("no damage").record.url.path_and_query().to_string());
        }
        let lost: Vec<_> = acknowledged.difference(&found).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
    assert!(acknowledged.len() > kills, "the writer was killed before it did anything");
    let files = open(dir.path()).volumes().unwrap().len();
    assert!(files > 3, "only {files} files: nothing was killed while rotating");
}

fn open(dir: &Path) -> DiskLibrary {
    // Every second start uses the other format.
    let files = DiskLibrary::open_reader(dir).unwrap().volumes().unwrap().len();
    let format = if files.is_multiple_of(2) { LibraryFormat::Gzip } else { LibraryFormat::Zstd };
    let options = LibraryWriteOptions { file_size: 200 << 10, format, level: 1 };
    DiskLibrary::open_writer(dir, options, LibraryPosition::START, Timestamp::EPOCH).unwrap()
}

/// Runs a writer for a random time. Returns the acknowledged records.
fn run_and_kill(dir: &Path) -> Vec<String> {
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "acknowledged_records_survive_kills", "--nocapture"])
        .env(FOLDER, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(writer.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        output.lines().map_while(Result::ok).filter(|l| l.starts_with('/')).collect::<Vec<_>>()
    });
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    std::thread::sleep(Duration::from_millis(20 + u64::from(now.subsec_nanos() / 7) % 80));
    writer.kill().unwrap();
    writer.wait().unwrap();
    reader.join().unwrap()
}

fn write_until_killed(dir: &Path) -> ! {
    let library = open(dir);
    let run = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let library = &library;
            threads.spawn(move || {
                for n in 0.. {
                    let path = format!("/{run}-{thread}-{n}");
                    library.append(&[page(&path, n)]).unwrap();
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "{path}").unwrap();
                    out.flush().unwrap();
                }
            });
        }
    });
    unreachable!("the writer is killed")
}

fn page(path: &str, n: usize) -> LibraryRecord {
    let body: Vec<u8> = (0..n * 997 % 20_000).map(|i| (i * i % 251) as u8).collect();
    let response =
        RawResponse { status: 200, body, request: Some("GET\r\n\r\n".into()), ..RawResponse::default() };
    let url = PageUrl::parse(&format!("http://example.org{path}")).unwrap();
    LibraryRecord::new(url, Timestamp::EPOCH, RecordContent::Response(response))
}
