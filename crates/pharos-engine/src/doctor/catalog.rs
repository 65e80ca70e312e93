//! The catalog: is the file sound, and does it say what the library says?

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use pharos_core::{LibraryPosition, PageId};
use pharos_store::{
    Catalog as _, DataDir, DiskLibrary, Library as _, PageState, PageStory, SqliteCatalog, StoreError,
    Version,
};

use super::library::Shelf;
use super::{Check, Exam, Examining, Store};
use crate::EngineError;

const DAMAGE: &str = "nothing can be crawled, and pages have no story";
const DISAGREEMENT: &str = "the crawl may repeat or miss pages; stories and versions are wrong";
const CURE: &str = "pharos doctor --repair makes it again from the library";
const BATCH: usize = 1000;
/// How long a second look waits, beside an owner.
const PAUSE: Duration = Duration::from_millis(200);

/// The catalog, and how far it had come when the examination began.
pub(super) struct Known {
    pub(super) catalog: SqliteCatalog,
    absorbed: LibraryPosition,
    place: String,
}

/// What the other stores are compared with.
#[derive(Default)]
pub(super) struct Facts {
    /// How far the catalog has come.
    pub(super) absorbed: LibraryPosition,
    /// Pages to be found by searching, with where their answer stands.
    pub(super) indexable: HashMap<PageId, LibraryPosition>,
}

/// Opens the catalog; what cannot be opened is a finding.
pub(super) fn open(data: &DataDir, exam: &mut Exam) -> Result<Option<Known>, EngineError> {
    let place = data.catalog().display().to_string();
    for (ending, what) in [
        ("damaged", "kept by an earlier repair; delete it when you like"),
        ("work", "a rebuild is at work, or was cut short; the next one removes this"),
        ("new", "a rebuild is at work, or was cut short; the next one removes this"),
        ("old", "a rebuild is at work, or was cut short; the next one removes this"),
    ] {
        let path = data.root().join(format!("catalog.db.{ending}"));
        if path.exists() {
            exam.note(Store::Catalog, path.display(), what);
        }
    }
    let opened = SqliteCatalog::open_reader(&data.catalog())
        .and_then(|catalog| catalog.map(|catalog| Ok((catalog.absorbed()?, catalog))).transpose());
    match opened {
        Ok(Some((absorbed, catalog))) => Ok(Some(Known { catalog, absorbed, place })),
        Ok(None) => {
            if !DiskLibrary::open_reader(&data.library())?.files()?.is_empty() {
                exam.needs.catalog = true;
                exam.fault(Store::Catalog, place, "there is no catalog", DAMAGE, CURE);
            }
            Ok(None)
        }
        Err(StoreError::CatalogDamaged { detail, .. }) => {
            exam.needs.catalog = true;
            exam.fault(Store::Catalog, place, detail, DAMAGE, CURE);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Compares the catalog with the library.
pub(super) fn examine(
    known: &Known,
    library: &DiskLibrary,
    shelf: &Shelf,
    owned: bool,
    exam: &mut Exam,
    check: Check<'_>,
) -> Result<Facts, EngineError> {
    let problems = known.catalog.check()?;
    let sound = problems.is_empty();
    for problem in problems {
        exam.needs.catalog = true;
        exam.fault(Store::Catalog, &known.place, problem, DISAGREEMENT, CURE);
    }
    let mut facts = Facts { absorbed: known.absorbed, indexable: HashMap::new() };
    if known.absorbed > shelf.end {
        exam.needs.catalog = true;
        let what = format!(
            "it knows the library up to {}, which ends at {}: the library has lost its end",
            known.absorbed, shelf.end
        );
        exam.fault(Store::Catalog, &known.place, what, DISAGREEMENT, CURE);
        // What it says of the lost end is of no use any more.
        return Ok(facts);
    }
    match compare(known, library, shelf, owned, exam, check, &mut facts) {
        // Damage was told above, and stops the comparison.
        Err(EngineError::Store(StoreError::CatalogDamaged { .. } | StoreError::Catalog(_))) if !sound => {}
        Err(EngineError::Store(StoreError::CatalogDamaged { detail, .. } | StoreError::Catalog(detail))) => {
            exam.needs.catalog = true;
            exam.fault(Store::Catalog, &known.place, detail, DAMAGE, CURE);
        }
        other => other?,
    }
    Ok(facts)
}

fn compare(
    known: &Known,
    library: &DiskLibrary,
    shelf: &Shelf,
    owned: bool,
    exam: &mut Exam,
    check: Check<'_>,
    facts: &mut Facts,
) -> Result<(), EngineError> {
    let catalog = &known.catalog;
    exam.diagnosis.pages = catalog.counts()?.pages;
    let mut seen = vec![false; shelf.answers().len()];
    let mut after = None;
    let mut pages = 0;
    loop {
        let batch = catalog.pages(None, after, BATCH)?;
        let Some(last) = batch.last() else { break };
        after = Some(last.url.id());
        pages += batch.len() as u64;
        check(Examining::Catalog(pages))?;
        for mut story in batch {
            let id = story.url.id();
            let mut versions = catalog.versions(id)?;
            let mut wrong = disagreements(&story, &versions, known.absorbed, shelf, exam);
            if owned && !wrong.is_empty() {
                // The page may have changed between two questions.
                thread::sleep(PAUSE);
                let Some(again) = catalog.page(id)? else { continue };
                story = again;
                versions = catalog.versions(id)?;
                wrong = disagreements(&story, &versions, known.absorbed, shelf, exam);
            }
            for what in wrong {
                exam.needs.catalog = true;
                exam.fault(Store::Catalog, &story.url, what, DISAGREEMENT, CURE);
            }
            for version in &versions {
                if let Some(place) = shelf.place(version.position) {
                    seen[place] = true;
                }
                if let Some(lost) = exam.lost.iter_mut().find(|lost| lost.contains(version.position)) {
                    lost.versions += 1;
                }
            }
            let Some(position) = story.position.filter(|position| *position < known.absorbed) else {
                continue;
            };
            if story.indexable {
                facts.indexable.insert(id, position);
            }
            if let Some(lost) = exam.lost.iter_mut().find(|lost| lost.contains(position)) {
                lost.pages.push(story);
            }
        }
    }
    for (answer, seen) in shelf.answers().iter().zip(seen) {
        let position = answer.position();
        if seen || position >= known.absorbed || shelf.is_removed(answer.page) {
            continue;
        }
        if catalog.versions(answer.page)?.iter().any(|version| version.position == position) {
            continue;
        }
        // Compaction may have taken it away meanwhile.
        let Ok(stored) = library.read(position) else { continue };
        let url = stored.record.url;
        if catalog.is_removed(&url)? {
            continue;
        }
        exam.needs.catalog = true;
        exam.fault(
            Store::Catalog,
            &url,
            format!("the library has an answer at {position} that the catalog does not know"),
            DISAGREEMENT,
            CURE,
        );
    }
    Ok(())
}

/// What the catalog says of a page that the library says otherwise.
fn disagreements(
    story: &PageStory,
    versions: &[Version],
    absorbed: LibraryPosition,
    shelf: &Shelf,
    exam: &Exam,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |position: LibraryPosition, status: Option<u16>, which: &str| {
        if position >= absorbed || exam.is_lost(position) {
            return;
        }
        match shelf.at(position) {
            None => wrong.push(format!("{which} is said to stand at {position}, where no answer stands")),
            Some(answer) if answer.page != story.url.id() => {
                wrong.push(format!("{which} is said to stand at {position}, where another page stands"));
            }
            Some(answer) if answer.status.is_some_and(|s| status.is_some_and(|known| known != s)) => {
                wrong.push(format!(
                    "{which} at {position} has status {}, not {}",
                    answer.status.unwrap_or_default(),
                    status.unwrap_or_default()
                ));
            }
            Some(_) => {}
        }
    };
    if let Some(position) = story.position {
        compare(position, story.status, "its current version");
    }
    for version in versions.iter().filter(|version| Some(version.position) != story.position) {
        compare(version.position, Some(version.status), "a version");
    }
    let newest = versions.first().map(|version| version.position);
    if story.state == PageState::Stored && newest.is_some() && story.position != newest {
        wrong.push("its current version is not its newest".into());
    }
    wrong
}
