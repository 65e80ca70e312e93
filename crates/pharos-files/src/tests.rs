use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::*;
use crate::power_cut::{check, check_with};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_replacement_leaves_one_file_with_its_permissions() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a/b/file");
    assert_eq!(replace(&path, b"x").unwrap_err().kind(), io::ErrorKind::NotFound);
    create_dir_all(path.parent().unwrap()).unwrap();
    replace(&path, b"old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    replace(&path, b"new").unwrap();
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"new".to_vec(), 0o640));
    replace_private(&path, b"secret").unwrap();
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"secret".to_vec(), 0o600));
    replace_volatile(&path, b"status").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"status");
    assert_eq!(names(path.parent().unwrap()), ["file"]);
    assert!(replace(Path::new("/"), b"").is_err());
}

#[test]
fn remains_of_a_killed_process_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let remains = directory.path().join(".file.new");
    fs::write(&remains, "half of").unwrap();
    fs::set_permissions(&remains, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(is_unfinished(&remains) && !is_unfinished(&path) && !is_unfinished(Path::new(".new")));
    replace_private(&path, b"x").unwrap();
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"x".to_vec(), 0o600));
    assert_eq!(names(directory.path()), ["file"]);
}

#[test]
fn an_abandoned_replacement_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    replace(&path, b"old").unwrap();
    let mut new = NewFile::create(&path).unwrap();
    new.write_all(b"half").unwrap();
    drop(new);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    let mut new = NewFile::create(&path).unwrap();
    new.write_all(b"other").unwrap();
    assert_eq!(new.install_new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    NewFile::create(&directory.path().join("second")).unwrap().install_new().unwrap();
    assert_eq!(names(directory.path()), ["file", "second"]);
}

#[test]
fn concurrent_replacements_take_turns() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let broken = AtomicU64::new(0);
    std::thread::scope(|threads| {
        for writer in 0..8_u8 {
            let (path, broken) = (&path, &broken);
            threads.spawn(move || {
                for _ in 0..20 {
                    replace(path, &[writer; 4_000]).unwrap();
                    let read = fs::read(path).unwrap();
                    if read.len() != 4_000 || read.iter().any(|byte| *byte != read[0]) {
                        broken.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(broken.into_inner(), 0);
    assert_eq!(names(directory.path()), ["file"]);
}

#[test]
fn every_operation_survives_a_power_cut() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let path = root.join("file");
    assert!(check(root, || replace(&path, b"the first content").unwrap()).unwrap() >= 8);
    check(root, || replace(&path, b"the second content").unwrap()).unwrap();
    let in_new_directories = || {
        create_dir_all(&root.join("a/b")).unwrap();
        replace_private(&root.join("a/b/new"), b"content").unwrap();
    };
    check(root, in_new_directories).unwrap();
    check(root, || NewFile::create(&root.join("only")).unwrap().install_new().unwrap()).unwrap();
    let by_others = root.join("database.part");
    let write = || {
        fs::write(&by_others, "written by another library").unwrap();
        install(&by_others, &path).unwrap();
    };
    check(root, write).unwrap();
    check(root, || rename(&path, &root.join("a/moved")).unwrap()).unwrap();
    let build = || {
        create_dir_all(&root.join("building")).unwrap();
        for name in ["x", "y"] {
            let part = root.join("building").join(name);
            fs::write(&part, name.repeat(9)).unwrap();
            sync_file(&File::open(&part).unwrap(), &part).unwrap();
        }
        install_directory(&root.join("building"), &root.join("installed")).unwrap();
    };
    check(root, build).unwrap();
    assert_eq!(fs::read(root.join("installed/y")).unwrap(), b"yyyyyyyyy");
}

/// The simulation must find the mistakes that it exists for.
#[test]
fn careless_writers_are_caught() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let path = root.join("file");
    replace(&path, b"old content").unwrap();
    let new = root.join(".file.new");
    let no_sync = || {
        layer::create(&new, None).unwrap().write_all(b"new content").unwrap();
        layer::rename(&new, &path).unwrap();
        layer::sync_directory(root).unwrap();
    };
    let problem = check(root, no_sync).unwrap_err();
    assert!(problem.contains("neither the old nor the new content"), "{problem}");
    assert!(check(root, || replace_volatile(&path, b"newer content").unwrap()).is_err());
    let no_directory_sync = || {
        layer::create(&new, None).unwrap().write_all(b"newest content").unwrap();
        layer::sync_path(&new).unwrap();
        layer::rename(&new, &path).unwrap();
    };
    let problem = check(root, no_directory_sync).unwrap_err();
    assert!(problem.contains("not durable"), "{problem}");
    let in_place = || {
        fs::write(&path, "in place").unwrap();
        sync_directory(root).unwrap();
    };
    let problem = check(root, in_place).unwrap_err();
    assert!(problem.contains("without pharos-files"), "{problem}");
    let removed_too_early = || {
        remove_if_exists(&path).unwrap();
        sync_directory(root).unwrap();
        replace(&root.join("successor"), b"in place").unwrap();
    };
    let one_exists = |files: &power_cut::Files| {
        ["file", "successor"].iter().any(|name| files.contains_key(&PathBuf::from(name)))
    };
    let problem = check_with(root, removed_too_early, one_exists).unwrap_err();
    assert!(problem.contains("invalid files"), "{problem}");
    let directory_not_synced = || {
        fs::create_dir(root.join("a")).unwrap();
        replace(&root.join("a/file"), b"content").unwrap();
    };
    let problem = check(root, directory_not_synced).unwrap_err();
    assert!(problem.contains("not durable"), "{problem}");
    assert!(check(root, || ()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_sequence_of_replacements_survives(writes in prop::collection::vec((0..3_usize, any::<Vec<u8>>()), 1..4)) {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("c")).unwrap();
        for (name, content) in writes {
            let path = directory.path().join(["a", "b", "c/d"][name]);
            let states = check(directory.path(), || replace(&path, &content).unwrap());
            prop_assert!(states.is_ok(), "{states:?}");
        }
    }
}
