//! The lifecycle of generations: rollback, damage, replacement.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pharos_core::{LibraryPosition, PageUrl};
use pharos_index::{
    BuilderRequest, EmbeddedIndex, GenerationStore as _, GenerationalIndex as _, Generations, Index,
    IndexChange, IndexDocument, IndexError, IndexView, Query,
};

fn url(path: &str) -> PageUrl {
    PageUrl::parse(&format!("http://www.example.org{path}")).unwrap()
}

fn at(offset: u64) -> LibraryPosition {
    LibraryPosition::new(1, offset)
}

fn document(path: &str, body: &str) -> IndexDocument {
    let (title, body) = (format!("Page {path}"), body.to_string());
    IndexDocument { title, body, position: at(1), ..IndexDocument::new(url(path)) }
}

fn put(path: &str, body: &str) -> IndexChange {
    IndexChange::Put(Box::new(document(path, body)))
}

fn gone(path: &str) -> IndexChange {
    IndexChange::Gone(url(path).id())
}

fn open(dir: &Path) -> EmbeddedIndex {
    EmbeddedIndex::open_writer(dir, 16 << 20, 1 << 20).unwrap()
}

/// Applies and commits changes up to a library position.
fn change(index: &EmbeddedIndex, to: u64, changes: Vec<IndexChange>) {
    index.apply(changes).unwrap();
    index.commit(&at(to).into()).unwrap();
}

/// Builds a history from the current content of the index, as `index build` does.
fn build(index: &EmbeddedIndex, to: u64) -> u64 {
    let generations = index.generations();
    let _builder = generations.lock_builder().unwrap();
    index.seal().unwrap();
    let mut history = generations.build_directory().begin(1, 16 << 20, 1 << 20).unwrap();
    for (path, body) in texts(&*index.view().unwrap()) {
        history.add(&document(&path, &body)).unwrap();
    }
    let history = history.finish(at(to).into()).unwrap();
    generations.leave_request(BuilderRequest::Install(history.clone())).unwrap();
    assert_eq!(index.serve_request().unwrap(), Some(BuilderRequest::Install(history.clone())));
    history.number
}

/// Returns the text of every page by path, and checks that no page appears twice.
fn texts(view: &dyn IndexView) -> BTreeMap<String, String> {
    try_texts(view).unwrap()
}

fn try_texts(view: &dyn IndexView) -> Result<BTreeMap<String, String>, IndexError> {
    let found = view.search(&Query::All, 1000)?;
    let stored = view.stored(&found.candidates)?;
    let path = |url: &str| PageUrl::parse(url).unwrap().path_and_query().to_string();
    let texts: BTreeMap<String, String> =
        stored.into_iter().map(|page| (path(&page.fields.url), page.text.body)).collect();
    assert_eq!(texts.len() as u64, found.total, "a page is duplicated");
    Ok(texts)
}

fn now(index: &EmbeddedIndex) -> BTreeMap<String, String> {
    // A reader checks for changes every 200 ms.
    std::thread::sleep(Duration::from_millis(250));
    texts(&*index.view().unwrap())
}

/// Creates an index with two builds and changes before, between and after them.
fn index_after_two_builds(dir: &Path) -> (EmbeddedIndex, BTreeMap<String, String>) {
    let index = open(dir);
    change(&index, 100, (0..20).map(|n| put(&format!("/{n}"), "first words")).collect());
    assert_eq!(build(&index, 100), 1);
    change(&index, 200, vec![put("/1", "second words"), put("/2", "second words"), gone("/3"), gone("/4")]);
    change(&index, 210, vec![put("/new", "second words")]);
    assert_eq!(build(&index, 210), 2);
    change(&index, 300, vec![put("/2", "third words"), put("/4", "third words"), gone("/5"), gone("/new")]);
    let expected = now(&index);
    assert_eq!(expected.len(), 18);
    (index, expected)
}

#[test]
fn a_rollback_shows_no_deleted_and_no_duplicate_pages() {
    let dir = tempfile::tempdir().unwrap();
    let (index, expected) = index_after_two_builds(dir.path());
    let reader = EmbeddedIndex::open_reader(dir.path()).unwrap();
    assert_eq!(now(&reader), expected);
    let before = index.view().unwrap().state_id().to_string();
    index.generations().leave_request(BuilderRequest::Rollback(2)).unwrap();
    assert_eq!(index.serve_request().unwrap(), Some(BuilderRequest::Rollback(2)));
    for index in [&index, &reader] {
        assert_eq!(now(index), expected);
        assert_ne!(index.view().unwrap().state_id(), before);
    }
    assert!(dir.path().join("history-1").exists() && !dir.path().join("history-2").exists());
    assert!(matches!(index.roll_back(), Err(IndexError::NoPrevious { .. })));
    assert_eq!(index.applied_positions().unwrap(), at(300).into());
    assert!(Generations::at(dir.path()).verify().unwrap().iter().all(|report| report.flaws.is_empty()));
    // The next build gets a new number, and the previous history is kept.
    change(&index, 310, vec![put("/late", "fourth words")]);
    assert_eq!(build(&index, 310), 3);
    let current = index.generations().current().unwrap();
    assert_eq!(current.previous.map(|previous| previous.history.number), Some(1));
    assert_eq!(now(&reader).len(), 19);
    assert_eq!(now(&open_again(index, dir.path())).len(), 19);
}

fn open_again(index: EmbeddedIndex, dir: &Path) -> EmbeddedIndex {
    drop(index);
    open(dir)
}

/// After a crawl without indexing and a build, the new pages are in no latest generation.
#[test]
fn the_gap_of_a_rollback_is_replayed_first() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path());
    change(&index, 100, vec![put("/a", "first words")]);
    build(&index, 100);
    let generations = Generations::at(dir.path());
    let mut history = generations.build_directory().begin(1, 16 << 20, 1 << 20).unwrap();
    history.add(&document("/a", "second words")).unwrap();
    history.add(&document("/b", "second words")).unwrap();
    index.seal().unwrap();
    generations.install(history.finish(at(200).into()).unwrap()).unwrap();
    let index = open_again(index, dir.path());
    assert_eq!(index.applied_positions().unwrap(), at(200).into());
    change(&index, 300, vec![put("/c", "third words")]);

    generations.leave_request(BuilderRequest::Rollback(2)).unwrap();
    let refused = index.serve_request().unwrap_err().to_string();
    assert!(refused.contains("00000001:100 to 00000001:200"), "{refused}");
    assert_eq!((generations.pending_request(), now(&index).len()), (None, 3));
    assert!(index.close_gap().unwrap());
    assert_eq!(index.applied_positions().unwrap(), at(100).into(), "the replay starts here");
    change(&index, 300, vec![put("/a", "second words"), put("/b", "second words"), put("/c", "third words")]);
    let expected = now(&index);
    index.roll_back().unwrap();
    assert_eq!((now(&index), expected.len()), (expected, 3));
}

/// A deterministic pseudo-random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_none_or(|extension| extension != "lock"));
    files.sort();
    files
}

/// Damages each file of a directory in several ways, one at a time.
fn damage_each(folder: &Path, rounds: usize, mut look: impl FnMut(&Path)) {
    let mut random = Random(7);
    for path in files(folder) {
        let whole = fs::read(&path).unwrap();
        for round in 0..rounds {
            let mut bytes = whole.clone();
            match round % 4 {
                0 => bytes.truncate(random.below(whole.len())),
                1 => bytes.extend(b"garbage"),
                _ if bytes.is_empty() => bytes.push(1),
                _ => {
                    let place = random.below(bytes.len());
                    bytes[place] ^= 1 << random.below(8);
                }
            }
            fs::write(&path, &bytes).unwrap();
            look(&path);
        }
        fs::remove_file(&path).unwrap();
        look(&path);
        fs::write(&path, whole).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &target) } else { fs::copy(&path, &target).map(|_| ()).unwrap() }
    }
}

#[test]
fn a_damaged_history_is_refused_and_the_previous_one_serves() {
    let dir = tempfile::tempdir().unwrap();
    let (index, expected) = index_after_two_builds(dir.path());
    drop(index);
    let list = fs::read(dir.path().join("CURRENT")).unwrap();
    damage_each(&dir.path().join("history-2"), 12, |path| {
        let reader = Arc::new(EmbeddedIndex::open_reader(dir.path()).unwrap());
        assert_eq!(texts(&*reader.view().unwrap()), expected, "{}", path.display());
        assert_eq!(
            reader.refused_history().unwrap().map(|history| history.number),
            Some(2),
            "{}",
            path.display()
        );
        Arc::clone(&reader).serve().unwrap();
        assert_eq!(texts(&*reader.view().unwrap()), expected);
        let flaws = Generations::at(dir.path()).check().unwrap();
        assert!(
            matches!(&flaws[..], [flaw] if flaw.path.starts_with(dir.path().join("history-2"))),
            "{flaws:?}"
        );
    });
    assert_eq!(fs::read(dir.path().join("CURRENT")).unwrap(), list, "readers change nothing");
    // The owner rolls back permanently.
    let meta = dir.path().join("history-2/meta.json");
    fs::write(&meta, "{}").unwrap();
    let owner = open(dir.path());
    assert!(owner.refused_history().unwrap().is_some() && !owner.close_gap().unwrap());
    owner.roll_back().unwrap();
    assert_eq!((owner.refused_history().unwrap(), now(&owner)), (None, expected));
}

#[test]
fn a_damaged_history_with_none_before_it_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path());
    change(&index, 100, (0..20).map(|n| put(&format!("/{n}"), "first words")).collect());
    build(&index, 100);
    drop(index);
    damage_each(&dir.path().join("history-1"), 8, |path| {
        let error = EmbeddedIndex::open_reader(dir.path()).err().unwrap().to_string();
        assert!(error.contains("history-1") && error.contains("pharos rebuild index"), "{error}");
        let error = EmbeddedIndex::open_writer(dir.path(), 16 << 20, 1 << 20).err().unwrap().to_string();
        assert!(error.contains("history-1"), "{}: {error}", path.display());
    });
    assert_eq!(now(&EmbeddedIndex::open_reader(dir.path()).unwrap()).len(), 20);
}

/// Latest generations change constantly and have only tantivy's checksums; damage leads to a result or an error.
#[test]
fn damaged_latest_generations_never_panic() {
    let whole = tempfile::tempdir().unwrap();
    let (index, expected) = index_after_two_builds(whole.path());
    drop(index);
    let dir = tempfile::tempdir().unwrap();
    copy(whole.path(), dir.path());
    let (mut answers, mut errors) = (0, 0);
    damage_each(&dir.path().join("latest-3"), 12, |_| {
        let answer = EmbeddedIndex::open_reader(dir.path()).and_then(|index| try_texts(&*index.view()?));
        match answer {
            Ok(_) => answers += 1,
            Err(error) => {
                errors += 1;
                assert!(error.to_string().contains(dir.path().to_str().unwrap()), "{error}");
            }
        }
        let _ = Generations::at(dir.path()).check();
    });
    assert!(answers > 0 && errors > 0);
    assert_eq!(now(&EmbeddedIndex::open_reader(dir.path()).unwrap()), expected);
}

/// A process without queries closes a replaced history and opens the new one.
#[test]
fn a_replaced_history_is_closed_without_a_query() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path());
    change(&index, 100, (0..20).map(|n| put(&format!("/{n}"), "first words")).collect());
    build(&index, 100);
    let reader = Arc::new(EmbeddedIndex::open_reader(dir.path()).unwrap());
    Arc::clone(&reader).serve().unwrap();
    reader.view().unwrap();
    change(&index, 200, vec![put("/new", "second words")]);
    let folder = |number: u64| Generations::at(dir.path()).history_dir(number).display().to_string();
    let is_mapped = |number| fs::read_to_string("/proc/self/maps").unwrap().contains(&folder(number));
    assert!(is_mapped(1));
    build(&index, 200);
    drop(index);
    let deadline = Instant::now() + Duration::from_secs(60);
    while is_mapped(1) || !is_mapped(2) {
        assert!(Instant::now() < deadline, "the old generation is still open");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(now(&reader).len(), 21);
}

/// The cached view is refreshed in the background once the index is in service.
#[test]
fn the_cached_view_is_refreshed_in_the_background() {
    let dir = tempfile::tempdir().unwrap();
    let index = Arc::new(open(dir.path()));
    let cached_pages = || texts(&*index.cached_view().unwrap()).len();
    change(&index, 100, vec![put("/a", "first words")]);
    assert_eq!(cached_pages(), 1, "without a background refresh it is the current view");
    change(&index, 200, vec![put("/b", "second words")]);
    assert_eq!(cached_pages(), 2);
    Arc::clone(&index).serve().unwrap();
    change(&index, 300, vec![put("/c", "third words")]);
    let deadline = Instant::now() + Duration::from_secs(60);
    while cached_pages() < 3 {
        assert!(Instant::now() < deadline, "the cached view was not refreshed");
        std::thread::sleep(Duration::from_millis(20));
    }
}
