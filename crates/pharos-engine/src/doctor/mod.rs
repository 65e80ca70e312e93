//! The doctor: is every store whole, and do they agree with the library and with each other?
//!
//! One look through the library gives a small table of what stands where; catalog, derived stores and index are compared
//! with it. All that is held in memory is some 200 bytes for each page and 40 for each further version, and before that
//! for a moment the graph, whose tables prove themselves only as a whole. Beside an
//! owner nothing is locked: every comparison goes only as far as the stores had come when the examination began, and
//! what looks wrong is looked at again.
//!
//! With `repair`, the data directory is owned for the whole time, what can be made again is made again, and a second
//! examination tells what is left.

mod catalog;
mod derived;
mod graph;
mod index;
mod library;
mod repair;

use std::collections::{BTreeSet, HashMap};
use std::fs::{File, TryLockError};

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, PageUrl};
use pharos_store::{DataDir, DiskLibrary, PageStory};
use serde::Serialize;

use crate::EngineError;

/// Findings of one kind that are told one by one.
const LISTED: u64 = 20;

const LOST_RECORDS: &str = "what stood here cannot be shown any more";
const LOST_PAGES: &str = "the pages are found as long as the index lasts, but cannot be shown";

/// Which store something is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Store {
    /// The raw pages.
    Library,
    /// What is known of sites and pages.
    Catalog,
    /// Page objects and links.
    Derived,
    /// The index.
    Index,
    /// What the web says about pages: links, ranks, copies.
    Graph,
}

impl Store {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Catalog => "catalog",
            Self::Derived => "derived",
            Self::Index => "index",
            Self::Graph => "graph",
        }
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Something is wrong.
    Fault,
    /// Good to know.
    Note,
}

/// Something the doctor found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// In which store.
    pub store: Store,
    /// Whether it matters.
    pub grade: Grade,
    /// Where: a file with an offset, a position, a URL.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// What it costs.
    pub cost: String,
    /// What to do about it.
    pub cure: String,
    /// Whether it was mended.
    pub mended: bool,
}

/// What an examination gave.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Diagnosis {
    /// What was found, store by store.
    pub findings: Vec<Finding>,
    /// Records in the library.
    pub records: u64,
    /// Pages that the catalog knows.
    pub pages: u64,
    /// Pages that can be found.
    pub searchable: u64,
}

impl Diagnosis {
    /// Is nothing wrong, or not any more?
    pub fn is_healthy(&self) -> bool {
        self.findings.iter().all(|finding| finding.grade == Grade::Note || finding.mended)
    }
}

/// What the doctor is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examining {
    /// Reading the library; so many records.
    Library(u64),
    /// Comparing the catalog; so many pages.
    Catalog(u64),
    /// Reading page objects and links.
    Derived,
    /// Comparing the index; so many pages.
    Index(u64),
    /// Mending.
    Mending(Store),
}

/// Examines a data directory, and mends it where `repair` says so. `progress` hears what is being done and says whether
/// to go on.
pub fn doctor(
    data: &DataDir,
    config: &Config,
    repair: bool,
    mut progress: impl FnMut(Examining) -> bool,
) -> Result<Diagnosis, EngineError> {
    let mut check = |step| if progress(step) { Ok(()) } else { Err(EngineError::Stopped) };
    if crate::backup::is_unfinished(data) {
        return Err(EngineError::Unrestored { path: data.root().to_path_buf() });
    }
    if !repair {
        let owned = is_owned(data);
        let mut exam = Exam::of(data, owned, &mut check)?;
        if !owned && is_owned(data) && !exam.diagnosis.is_healthy() {
            // Somebody began to work on it in the middle of this.
            exam = Exam::of(data, true, &mut check)?;
        }
        return Ok(exam.diagnosis());
    }
    let mut owner = data.own("doctor --repair")?;
    let exam = Exam::of(data, false, &mut check)?;
    if exam.diagnosis.findings.iter().all(|finding| finding.grade == Grade::Note) {
        return Ok(exam.diagnosis());
    }
    owner = repair::mend(owner, data, config, &exam, &mut check)?;
    let left = Exam::of(data, false, &mut check)?.diagnosis();
    drop(owner);
    let mut findings = exam.diagnosis().findings;
    for finding in &mut findings {
        let same = |l: &Finding| (l.store, &l.place) == (finding.store, &finding.place);
        finding.mended = finding.grade == Grade::Fault && !left.findings.iter().any(same);
    }
    let known = |l: &Finding| findings.iter().any(|f| (f.store, &f.place) == (l.store, &l.place));
    let new: Vec<Finding> = left.findings.iter().filter(|l| !known(l)).cloned().collect();
    findings.extend(new);
    Ok(Diagnosis { findings, ..left })
}

/// Does somebody own the data directory? The lock is free again at once.
fn is_owned(data: &DataDir) -> bool {
    let Ok(lock) = File::open(data.root().join("LOCK")) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

type Check<'a> = &'a mut dyn FnMut(Examining) -> Result<(), EngineError>;

/// An examination under way.
struct Exam {
    diagnosis: Diagnosis,
    needs: Needs,
    lost: Vec<Lost>,
    /// How often each kind of finding was told.
    told: HashMap<(Store, &'static str), u64>,
}

/// What has to be made again.
#[derive(Default)]
struct Needs {
    library: bool,
    catalog: bool,
    /// Library files whose page objects and links are to be derived again.
    derived: BTreeSet<u32>,
    index: bool,
    /// Generations that nobody names.
    sweep: bool,
    /// What the web says about pages, which then goes: the next build makes it again.
    graph: bool,
    /// What a build of that left behind.
    unfinished_graph: bool,
}

/// A stretch of the library that cannot be read any more.
struct Lost {
    from: LibraryPosition,
    to: LibraryPosition,
    place: String,
    what: String,
    /// Versions that stood there, as far as the catalog knows.
    versions: u64,
    /// Pages whose current version stood there.
    pages: Vec<PageStory>,
}

impl Lost {
    fn contains(&self, position: LibraryPosition) -> bool {
        (self.from..self.to).contains(&position)
    }
}

impl Exam {
    /// Looks at everything, writing nothing. `owned` says whether somebody writes at the same time.
    fn of(data: &DataDir, owned: bool, check: Check<'_>) -> Result<Self, EngineError> {
        let mut exam = Self {
            diagnosis: Diagnosis::default(),
            needs: Needs::default(),
            lost: Vec::new(),
            told: HashMap::new(),
        };
        // The library is written first: what a store has absorbed now is in it when it is read afterwards.
        let known = catalog::open(data, &mut exam)?;
        let indexed = index::open(data, &mut exam)?;
        let related = graph::open(data, &mut exam);
        let index_at = indexed.as_ref().map_or(LibraryPosition::START, |indexed| indexed.at);
        let library = DiskLibrary::open_reader(&data.library())?;
        let shelf = library::examine(&library, owned, index_at, &mut exam, check)?;
        let facts = match &known {
            Some(known) => catalog::examine(known, &library, &shelf, owned, &mut exam, check)?,
            None => catalog::Facts::default(),
        };
        check(Examining::Derived)?;
        // Without a catalog, the library itself says how far there is something to derive.
        let absorbed = if known.is_some() { facts.absorbed } else { shelf.end };
        derived::examine(data, &library, &shelf, absorbed, owned, &mut exam)?;
        if let Some(indexed) = indexed {
            index::examine(&indexed, known.as_ref(), &facts, &shelf, &mut exam, check)?;
        }
        graph::examine(data, related, shelf.end, &mut exam)?;
        exam.tell_lost();
        exam.tell_more();
        Ok(exam)
    }

    fn diagnosis(self) -> Diagnosis {
        self.diagnosis
    }

    /// Something is wrong. `cost` and `cure` are the same for everything of a kind.
    fn fault(
        &mut self,
        store: Store,
        place: impl ToString,
        what: impl ToString,
        cost: &'static str,
        cure: &'static str,
    ) {
        let told = self.told.entry((store, cost)).or_default();
        *told += 1;
        if *told <= LISTED {
            self.push(store, Grade::Fault, place.to_string(), what.to_string(), cost, cure);
        }
    }

    fn note(&mut self, store: Store, place: impl ToString, what: &str) {
        self.push(store, Grade::Note, place.to_string(), what.to_string(), "", "");
    }

    fn push(&mut self, store: Store, grade: Grade, place: String, what: String, cost: &str, cure: &str) {
        let (cost, cure) = (cost.to_string(), cure.to_string());
        self.diagnosis.findings.push(Finding { store, grade, place, what, cost, cure, mended: false });
    }

    /// Is this part of the library known to be lost? What other stores know of it is then all that is left.
    fn is_lost(&self, position: LibraryPosition) -> bool {
        self.lost.iter().any(|lost| lost.contains(position))
    }

    /// What is lost, with the pages that stood there.
    fn tell_lost(&mut self) {
        for lost in std::mem::take(&mut self.lost) {
            let urls: Vec<&str> = lost.pages.iter().take(5).map(|page| page.url.as_str()).collect();
            let more = lost.pages.len().saturating_sub(urls.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let what = match (urls.is_empty(), lost.versions) {
                (false, _) => {
                    format!("{}: the current version of {}{more} stood here", lost.what, urls.join(", "))
                }
                (true, 0) => lost.what.clone(),
                (true, n) => format!("{}: {n} older versions stood here", lost.what),
            };
            let cost = if lost.pages.is_empty() { LOST_RECORDS } else { LOST_PAGES };
            let cure = if lost.pages.iter().all(|page| page.due.is_some()) {
                "nothing but a backup brings it back; what is current is due to be fetched again"
            } else {
                "pharos doctor --repair has the pages fetched again; nothing but a backup brings the old versions back"
            };
            self.fault(Store::Library, &lost.place, what, cost, cure);
            self.lost.push(lost);
        }
    }

    /// How much was not told one by one.
    fn tell_more(&mut self) {
        let mut more: Vec<_> = self.told.drain().filter(|(_, told)| *told > LISTED).collect();
        more.sort_unstable();
        for ((store, cost), told) in more {
            let what = format!("{} more like those above", told - LISTED);
            self.push(store, Grade::Fault, "…".into(), what, cost, "");
        }
        self.diagnosis.findings.sort_by_key(|finding| finding.store);
    }
}

/// A URL of a finding, where the text was one.
fn page_id(url: &str) -> Option<pharos_core::PageId> {
    PageUrl::parse(url).ok().map(|url| url.id())
}
