//! Scheduled backups of a running engine: retention, restore, and targets that cannot be written.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use pharos_testweb::{ServeOptions, WebSpec};
use serde_json::Value;

use crate::common::{Rig, Running, bound_by_permissions, pharos, succeed, until};
use crate::safety::SmallDisk;

fn rig() -> Rig {
    Rig::new(WebSpec { seed: 91, hosts: 2, pages: 20, ..WebSpec::default() }, ServeOptions::default())
}

/// Returns the complete backups in a directory, oldest first.
fn backups(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut complete: Vec<PathBuf> = entries.filter(|path| path.join("MANIFEST.json").is_file()).collect();
    complete.sort();
    complete
}

/// Returns the recorded outcome of the last backup.
fn last_backup(data: &Path) -> Value {
    let text = fs::read(data.join("LAST_BACKUP")).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn up(rig: &Rig, directory: &Path) -> Command {
    let mut command = rig.crawl("up");
    command.args(["--listen", "127.0.0.1:0"]);
    command.env("PHAROS_BACKUP_DIRECTORY", directory).env("PHAROS_BACKUP_SCHEDULE", "1s");
    command.env("PHAROS_BACKUP_KEEP", "2");
    command
}

#[test]
fn an_engine_backs_itself_up_and_keeps_the_newest() {
    let rig = rig();
    let directory = rig.dir.path().join("backups");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("notes.txt"), "of the operator").unwrap();
    let mut engine = Running::start(&mut up(&rig, &directory));
    engine.address();
    until("the pages are stored", || rig.stored().len() >= rig.truth().stored().count());
    let complete = last_backup(&rig.data())["finished"]["at"].clone();
    until("a later backup is complete", || {
        let last = last_backup(&rig.data());
        !last["finished"].is_null() && last["finished"]["at"] != complete
    });
    let first = backups(&directory);
    until("old ones are deleted", || {
        let now = backups(&directory);
        now.len() == 2 && first.iter().all(|backup| !now.contains(backup))
    });
    engine.signal("TERM");
    assert!(engine.0.wait().unwrap().success());
    let kept = backups(&directory);
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(directory.join("notes.txt").exists());
    let names = fs::read_dir(&directory).unwrap().flatten().map(|entry| entry.file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().ends_with(".incomplete")));

    let back = rig.dir.path().join("back");
    succeed(pharos().arg("--data").arg(&back).arg("restore").arg(&kept[1]));
    succeed(pharos().arg("--data").arg(&back).arg("doctor"));
    let pages = |data: &Path| {
        let stats = succeed(pharos().arg("--data").arg(data).args(["--json", "stats"]));
        serde_json::from_str::<Value>(&stats).unwrap()["searchable"].clone()
    };
    assert_eq!(pages(&back), pages(&rig.data()));
}

#[test]
fn a_target_that_may_not_be_written_or_is_full_is_reported() {
    let rig = rig();
    let directory = rig.dir.path().join("read-only");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = bound_by_permissions(&up(&rig, &directory));
    let mut engine = Running::start(&mut command);
    engine.address();
    let reason = || last_backup(&rig.data())["failed"]["reason"].as_str().unwrap_or_default().to_string();
    until("the failure is recorded", || !reason().is_empty());
    assert!(reason().contains("permission denied") && reason().contains("unchanged"), "{}", reason());
    until("the engine goes on", || rig.stored().len() >= rig.truth().stored().count());
    drop(engine);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);

    // A disk whose free space is reserved for the data counts as full.
    let full = rig.dir.path().join("full");
    let mut command = up(&rig, &full);
    command.env("PHAROS_ENGINE_DISK_FLOOR", "1000TB");
    let mut engine = Running::start(&mut command);
    engine.address();
    until("the failure is recorded", || reason().contains("engine.disk_floor"));
    drop(engine);
    assert_eq!(backups(&full), Vec::<PathBuf>::new());
    succeed(&mut rig.pharos(&["doctor"]));
}

#[test]
fn a_disk_that_fills_up_keeps_the_earlier_backup() {
    let rig = rig();
    succeed(&mut rig.crawl("crawl"));
    let directory = rig.dir.path().join("small");
    let Some(disk) = SmallDisk::mount(&directory, "20m") else {
        println!("skipped: mounting a small file system needs the superuser");
        return;
    };
    let mut engine = Running::start(&mut up(&rig, &directory));
    engine.address();
    until("there is a backup", || !backups(&directory).is_empty());
    engine.signal("TERM");
    assert!(engine.0.wait().unwrap().success());
    let before = backups(&directory);
    // A little more than in use: the next copy of the catalog does not fit.
    let used: u64 = Command::new("du").args(["-sk"]).arg(&directory).output().map_or(0, |output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace().next().unwrap().parse().unwrap()
    });
    disk.resize(&format!("{}k", used + 16));
    let mut engine = Running::start(&mut up(&rig, &directory));
    engine.address();
    let reason = || last_backup(&rig.data())["failed"]["reason"].as_str().unwrap_or_default().to_string();
    until("the failure is recorded", || reason().contains("no space left"));
    drop(engine);
    assert_eq!(backups(&directory), before, "{}", reason());
    let names = fs::read_dir(&directory).unwrap().flatten().map(|entry| entry.file_name());
    let remains: Vec<_> = names.filter(|name| name.to_string_lossy().contains("incomplete")).collect();
    assert!(remains.is_empty(), "{remains:?}");
    let back = rig.dir.path().join("back");
    succeed(pharos().arg("--data").arg(&back).arg("restore").arg(&before[before.len() - 1]));
    succeed(pharos().arg("--data").arg(&back).arg("doctor"));
}
