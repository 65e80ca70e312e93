//! The doctor: checks every store, and their agreement with the library and with each other.
//!
//! One pass over the library yields a table of its responses; catalog, derived stores and index are compared with it.
//! Memory use is about 200 bytes per page and 40 per further version, and temporarily the link-analysis results, whose
//! tables are verified as a whole. Alongside an owner nothing is locked: each comparison ends at the position the stores had
//! applied when the check began, and apparent faults are checked again.
//!
//! With `repair`, the process owns the data directory throughout, rebuilds derived data, and checks again.

mod catalog;
mod derived;
mod graph;
mod index;
mod library;
mod permissions;
mod repair;

use std::collections::{BTreeSet, HashMap};

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, PageUrl};
use pharos_store::catalog::{PageDetails, PageVersion};
use pharos_store::{DataDir, Library};
use serde::Serialize;

use crate::{EngineError, Stores};

/// Number of findings of one kind that are listed individually.
const MAX_LISTED: u64 = 20;

const LOST_RECORDS: &str = "the versions stored here are lost";
const LOST_PAGES: &str = "the pages remain searchable until the next rebuild, but cannot be shown";

/// Recommended action if the library lacks records that other stores have applied.
const CURE_INCOMPLETE: &str = "put the missing volumes back (is the disk mounted?), or accept the loss with `pharos doctor --repair --force`";

/// The store a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckedStore {
    /// Raw responses and events.
    Library,
    /// Sites, pages and the crawl schedule.
    Catalog,
    /// Page objects and links.
    Derived,
    Index,
    /// Link-analysis results: links, ranks, duplicates.
    Graph,
}

impl CheckedStore {
    /// Returns the name used in reports.
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

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A defect.
    Fault,
    /// Information only.
    Note,
}

/// One finding of the doctor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub store: CheckedStore,
    pub grade: Severity,
    /// A file with an offset, a library position, or a URL.
    pub place: String,
    /// Description of the defect.
    pub what: String,
    /// Consequences of the defect.
    pub cost: String,
    /// Recommended action.
    pub cure: String,
    /// `true` if this run repaired it.
    #[serde(rename = "mended")]
    pub repaired: bool,
}

/// The outcome of a check.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DoctorReport {
    /// All findings, sorted by store.
    pub findings: Vec<Finding>,
    pub records: u64,
    /// Pages in the catalog.
    pub pages: u64,
    /// Pages in the index.
    pub searchable: u64,
}

impl DoctorReport {
    /// Returns `true` if no defect was found, or all were repaired.
    pub fn is_healthy(&self) -> bool {
        self.findings.iter().all(|finding| finding.grade == Severity::Note || finding.repaired)
    }
}

/// Progress of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoctorProgress {
    /// Reading the library; records read.
    Library(u64),
    /// Comparing the catalog; pages compared.
    Catalog(u64),
    /// Verifying page objects and links.
    Derived,
    /// Comparing the index; pages compared.
    Index(u64),
    /// Repairing a store.
    Repairing(CheckedStore),
}

/// Reaction of the doctor to its findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    No,
    /// Repairs them, unless that would discard what the library no longer contains.
    Safe,
    /// Repairs them from whatever the library contains. Replaced stores are set aside.
    Forced,
}

/// Checks a data directory and repairs it.
///
/// `progress` receives the current step and returns `false` to stop.
pub fn doctor(
    data: &DataDir,
    config: &Config,
    repair: Repair,
    mut progress: impl FnMut(DoctorProgress) -> bool,
) -> Result<DoctorReport, EngineError> {
    let mut check = |step| if progress(step) { Ok(()) } else { Err(EngineError::Stopped) };
    if crate::maintenance::backup::is_restore_incomplete(data) {
        return Err(EngineError::RestoreIncomplete { path: data.root().to_path_buf() });
    }
    permissions::require_readable(data)?;
    let stores = Stores::open(data, config)?;
    if repair == Repair::No {
        let owned = data.is_owned();
        let mut exam = Examination::run(&stores, owned, &mut check)?;
        if !owned && data.is_owned() && !exam.report.is_healthy() {
            // An owner started during the check.
            exam = Examination::run(&stores, true, &mut check)?;
        }
        return Ok(exam.into_report());
    }
    let mut owner = data.own("doctor --repair")?;
    let exam = Examination::run(&stores, false, &mut check)?;
    let is_refused = exam.needs.is_lossy && repair != Repair::Forced;
    let has_faults = exam.report.findings.iter().any(|finding| finding.grade == Severity::Fault);
    let has_replaceable = exam.lost.iter().any(LostRange::is_replaceable);
    if is_refused || !(has_faults || has_replaceable) {
        return Ok(exam.into_report());
    }
    owner = repair::repair(owner, &stores, config, &exam, &mut check)?;
    let left = Examination::run(&stores, false, &mut check)?.into_report();
    drop(owner);
    let mut findings = exam.into_report().findings;
    for finding in &mut findings {
        let same = |l: &Finding| (l.store, &l.place) == (finding.store, &finding.place);
        finding.repaired = finding.grade == Severity::Fault && !left.findings.iter().any(same);
    }
    let is_reported = |l: &Finding| findings.iter().any(|f| (f.store, &f.place) == (l.store, &l.place));
    let new: Vec<Finding> = left.findings.iter().filter(|l| !is_reported(l)).cloned().collect();
    findings.extend(new);
    Ok(DoctorReport { findings, ..left })
}

type ProgressCheck<'a> = &'a mut dyn FnMut(DoctorProgress) -> Result<(), EngineError>;

/// A check in progress.
struct Examination {
    report: DoctorReport,
    needs: RepairPlan,
    lost: Vec<LostRange>,
    /// Number of findings of each kind.
    reported: HashMap<(CheckedStore, &'static str), u64>,
}

/// The repairs that a check found necessary.
#[derive(Default)]
struct RepairPlan {
    library: bool,
    catalog: bool,
    /// Library files whose page objects and links must be derived again.
    derived: BTreeSet<u32>,
    index: bool,
    /// Remove unreferenced generations.
    sweep: bool,
    /// Remove the link-analysis results; the next build computes them again.
    graph: bool,
    /// Remove remains of interrupted link-analysis builds.
    unfinished_graph: bool,
    /// The library lacks records that the stores have applied. Stores rebuilt from it would lack them, too.
    is_lossy: bool,
}

/// An unreadable range of the library.
struct LostRange {
    from: LibraryPosition,
    to: LibraryPosition,
    place: String,
    what: String,
    /// Versions in the range, according to the catalog.
    versions: Vec<(PageUrl, PageVersion)>,
    /// Pages whose current version lies in the range.
    pages: Vec<PageDetails>,
    /// `true` if a whole volume is missing.
    is_volume: bool,
}

impl LostRange {
    fn contains(&self, position: LibraryPosition) -> bool {
        (self.from..self.to).contains(&position)
    }

    /// Returns `true` if no page needs what the range contained, so that a placeholder may replace it.
    fn is_replaceable(&self) -> bool {
        !self.is_volume && self.pages.is_empty()
    }
}

impl Examination {
    /// Checks everything without writing. `owned` is `true` if a process writes at the same time.
    fn run(stores: &Stores, owned: bool, check: ProgressCheck<'_>) -> Result<Self, EngineError> {
        let mut exam = Self {
            report: DoctorReport::default(),
            needs: RepairPlan::default(),
            lost: Vec::new(),
            reported: HashMap::new(),
        };
        // The library is written first, so it contains everything a store has applied by now.
        let open_catalog = catalog::open(stores, &mut exam)?;
        let indexed = index::open(stores, &mut exam)?;
        let related = graph::open(stores, &mut exam);
        let index_at = indexed.as_ref().map(|indexed| indexed.at.clone()).unwrap_or_default();
        let library = stores.library()?;
        let contents = library::examine(&*library, owned, &index_at, &mut exam, check)?;
        let summary = match &open_catalog {
            Some(open_catalog) => {
                catalog::examine(open_catalog, &*library, &contents, owned, &mut exam, check)?
            }
            None => catalog::CatalogSummary::default(),
        };
        check(DoctorProgress::Derived)?;
        // Without a catalog, the library itself determines how much must be derived.
        let applied = if open_catalog.is_some() { &summary.applied } else { &contents.end }.get(0);
        derived::examine(stores.data(), &*library, &contents, applied, owned, &mut exam)?;
        if let Some(indexed) = indexed {
            index::examine(&indexed, open_catalog.as_ref(), &summary, &contents, &mut exam, check)?;
        }
        graph::examine(stores, related, &contents.end, &mut exam)?;
        exam.note_lossy_repair(&*library)?;
        exam.report_lost();
        exam.report_unlisted();
        Ok(exam)
    }

    fn into_report(self) -> DoctorReport {
        self.report
    }

    /// Reports a defect. `cost` and `cure` are the same for all findings of a kind.
    fn fault(
        &mut self,
        store: CheckedStore,
        place: impl ToString,
        what: impl ToString,
        cost: &'static str,
        cure: &'static str,
    ) {
        let reported = self.reported.entry((store, cost)).or_default();
        *reported += 1;
        if *reported <= MAX_LISTED {
            self.push(store, Severity::Fault, place.to_string(), what.to_string(), cost, cure);
        }
    }

    fn note(&mut self, store: CheckedStore, place: impl ToString, what: &str) {
        self.push(store, Severity::Note, place.to_string(), what.to_string(), "", "");
    }

    fn push(
        &mut self,
        store: CheckedStore,
        grade: Severity,
        place: String,
        what: String,
        cost: &str,
        cure: &str,
    ) {
        let (cost, cure) = (cost.to_string(), cure.to_string());
        self.report.findings.push(Finding { store, grade, place, what, cost, cure, repaired: false });
    }

    /// Returns `true` if this part of the library is known to be lost, so other stores cannot be compared with it.
    fn is_lost(&self, position: LibraryPosition) -> bool {
        self.lost.iter().any(|lost| lost.contains(position))
    }

    /// Determines whether stores that need to be rebuilt would lose pages of a missing volume.
    fn note_lossy_repair(&mut self, library: &dyn Library) -> Result<(), EngineError> {
        let mut volumes = self.lost.iter().filter(|lost| lost.is_volume);
        let loses_pages = if self.needs.catalog {
            volumes.next().is_some()
        } else {
            self.needs.index && volumes.any(|lost| !lost.pages.is_empty())
        };
        // An index without a readable list of generations came from a library.
        let has_no_source = self.needs.index && library.volumes()?.is_empty();
        self.needs.is_lossy |= loses_pages || has_no_source;
        if loses_pages || has_no_source {
            let what = "volumes are missing that a damaged store was built from";
            self.fault(CheckedStore::Library, "volumes", what, LOST_PAGES, CURE_INCOMPLETE);
        }
        Ok(())
    }

    /// Reports the lost ranges with the pages they contained.
    fn report_lost(&mut self) {
        for lost in std::mem::take(&mut self.lost) {
            let urls: Vec<&str> = lost.pages.iter().take(5).map(|page| page.url.as_str()).collect();
            let more = lost.pages.len().saturating_sub(urls.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let what = match (urls.is_empty(), lost.versions.len()) {
                (false, _) => {
                    format!("{}: contained the current version of {}{more}", lost.what, urls.join(", "))
                }
                (true, 0) => lost.what.clone(),
                (true, n) => format!("{}: contained {n} older versions", lost.what),
            };
            if lost.is_replaceable() && !lost.versions.is_empty() {
                // The pages have been fetched again.
                let note = format!("{what}; `pharos doctor --repair` replaces it by a placeholder");
                self.note(CheckedStore::Library, &lost.place, &note);
                self.lost.push(lost);
                continue;
            }
            let cost = if lost.pages.is_empty() { LOST_RECORDS } else { LOST_PAGES };
            let cure = if lost.is_replaceable() {
                "only a backup can restore it; `pharos doctor --repair` acknowledges the loss"
            } else if lost.pages.iter().all(|page| page.due.is_some()) {
                "only a backup can restore it; the current pages are due to be fetched again"
            } else {
                "`pharos doctor --repair` schedules the pages for fetching; only a backup can restore old versions"
            };
            self.fault(CheckedStore::Library, &lost.place, what, cost, cure);
            self.lost.push(lost);
        }
    }

    /// Reports how many findings were not listed individually.
    fn report_unlisted(&mut self) {
        let mut more: Vec<_> = self.reported.drain().filter(|(_, reported)| *reported > MAX_LISTED).collect();
        more.sort_unstable();
        for ((store, cost), reported) in more {
            let what = format!("{} more findings of this kind", reported - MAX_LISTED);
            self.push(store, Severity::Fault, "…".into(), what, cost, "");
        }
        self.report.findings.sort_by_key(|finding| finding.store);
    }
}

/// Parses the URL of a finding.
fn page_id(url: &str) -> Option<pharos_core::PageId> {
    PageUrl::parse(url).ok().map(|url| url.id())
}
