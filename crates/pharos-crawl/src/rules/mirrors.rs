//! Mirror detection (站点别名): the same site under two names.
//!
//! The names may differ in `www.`, in the scheme, or altogether. Two names are one site if their home pages and the
//! first pages linked from them have the same text. A shared IP address is no evidence: one machine serves many sites
//! (《搜索引擎——原理、技术与系统》§3.4). Until the comparison is finished, only those first pages of the younger site are
//! fetched.

use std::collections::{HashMap, HashSet};

use pharos_core::{PageUrl, Timestamp};
use pharos_store::catalog::DueOrder;
use pharos_store::{Catalog, PageState, StoreError};

/// Number of linked pages compared besides the home pages.
const SAMPLE_PAGES: usize = 3;
/// Requests needed to compare two sites: robots.txt, the home page, the sample pages.
const COMPARISON_REQUESTS: u64 = 2 + SAMPLE_PAGES as u64;
/// Number of identical sample pages required if the names are not variants of each other.
const REQUIRED_MATCHES: usize = 2;
/// Maximum number of sites with the same home page considered.
const MAX_CANDIDATES: usize = 8;
/// Time after which an undecided suspect counts as distinct, in seconds.
const SUSPICION_TIMEOUT: i64 = 600;
const FAR_FUTURE: Timestamp = Timestamp::from_millis(i64::MAX / 2);
/// Maximum number of sites remembered as distinct.
const MAX_DISTINCT: usize = 16_384;
/// Maximum number of suspects; further ones are ignored for now.
const MAX_SUSPECTS: usize = 1_024;

/// A site that may be a mirror of another.
#[derive(Clone, Debug)]
struct SuspectedMirror {
    original: PageUrl,
    /// Pages compared with their counterparts.
    samples: Vec<PageUrl>,
    since: Timestamp,
}

/// Suspected mirrors by home page.
#[derive(Default)]
pub(crate) struct MirrorDetector {
    suspects: HashMap<PageUrl, SuspectedMirror>,
    /// Home pages of sites found to be distinct.
    distinct: HashSet<PageUrl>,
}

/// Result of a mirror comparison.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MirrorVerdict {
    /// The first site mirrors the second.
    Mirror(PageUrl, PageUrl),
    /// The site is not a mirror.
    Distinct(PageUrl),
}

impl MirrorDetector {
    /// Returns other sites with the same home page text that are not known mirrors. Reads the catalog.
    pub(crate) fn find_candidates(catalog: &dyn Catalog, home: &PageUrl) -> Result<Vec<PageUrl>, StoreError> {
        let details = catalog.page(home.id())?.filter(|details| details.state == PageState::Stored);
        let Some(text) = details.and_then(|details| details.text) else { return Ok(Vec::new()) };
        let same = catalog.pages_with_text(text, MAX_CANDIDATES)?.into_iter().map(|(page, _)| page);
        let mut others: Vec<PageUrl> = same.filter(|page| page != home && *page == page.home()).collect();
        if !others.is_empty() {
            let copies = catalog.aliases()?;
            others.retain(|other| copies.iter().all(|(copy, _)| copy != other));
        }
        Ok(others)
    }

    /// Pairs sites with the same home page: the highest ranked is the original, so that mirrors never refer to
    /// mirrors.
    pub(crate) fn pair_candidates(
        catalog: &dyn Catalog,
        candidates: Vec<MirrorCandidate>,
    ) -> Result<Vec<SuspectedPair>, StoreError> {
        let ranked = candidates.iter().map(|site| Ok((site.rank(catalog)?, &site.home)));
        let mut homes = ranked.collect::<Result<Vec<_>, StoreError>>()?;
        homes.sort();
        let Some(((_, original), copies)) = homes.split_first() else { return Ok(Vec::new()) };
        copies
            .iter()
            .map(|(_, copy)| SuspectedPair::new(catalog, (*copy).clone(), (*original).clone()))
            .collect()
    }

    /// Adds a suspected mirror.
    pub(crate) fn add_suspect(&mut self, pair: SuspectedPair, now: Timestamp) {
        let SuspectedPair { copy, original, samples } = pair;
        if self.suspects.len() < MAX_SUSPECTS && !self.distinct.contains(&copy) {
            // If the original is itself suspected, not all of its pages are fetched: compare with its original.
            let original = self.suspects.get(&original).map_or(original, |suspect| suspect.original.clone());
            self.retarget(&copy, &original);
            if copy != original {
                self.suspects.entry(copy).or_insert(SuspectedMirror { original, samples, since: now });
            }
        }
    }

    /// Returns `true` if the page is held back until its site is known to be distinct.
    pub(crate) fn is_held(&self, page: &PageUrl) -> bool {
        !self.suspects.is_empty()
            && self.suspects.get(&page.home()).is_some_and(|suspect| !suspect.samples.contains(page))
    }

    /// Returns `true` if any site is suspected.
    pub(crate) fn has_suspects(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Drops suspects that were undecided for too long.
    pub(crate) fn expire(&mut self, now: Timestamp) {
        self.suspects.retain(|_, suspect| suspect.since.millis() + SUSPICION_TIMEOUT * 1000 >= now.millis());
    }

    /// Returns the comparisons in progress.
    pub(crate) fn pending_pairs(&self) -> Vec<SuspectedPair> {
        let pair = |(copy, suspect): (&PageUrl, &SuspectedMirror)| SuspectedPair {
            copy: copy.clone(),
            original: suspect.original.clone(),
            samples: suspect.samples.clone(),
        };
        self.suspects.iter().map(pair).collect()
    }

    /// Applies the result of a comparison. Returns the verdict once it is certain.
    pub(crate) fn apply_comparison(
        &mut self,
        pair: &SuspectedPair,
        comparison: PairComparison,
        now: Timestamp,
    ) -> Option<MirrorVerdict> {
        let too_long =
            self.suspects.get(&pair.copy)?.since.millis() + SUSPICION_TIMEOUT * 1000 < now.millis();
        let verdict = match comparison {
            PairComparison::Same => MirrorVerdict::Mirror(pair.copy.clone(), pair.original.clone()),
            PairComparison::Different => MirrorVerdict::Distinct(pair.copy.clone()),
            PairComparison::Pending if too_long => MirrorVerdict::Distinct(pair.copy.clone()),
            PairComparison::Pending => return None,
        };
        self.suspects.remove(&pair.copy);
        match &verdict {
            MirrorVerdict::Mirror(copy, original) => self.retarget(copy, original),
            MirrorVerdict::Distinct(copy) => {
                if self.distinct.len() >= MAX_DISTINCT {
                    self.distinct.clear();
                }
                self.distinct.insert(copy.clone());
            }
        }
        Some(verdict)
    }

    /// Redirects comparisons with a mirror to its original.
    fn retarget(&mut self, copy: &PageUrl, original: &PageUrl) {
        for suspect in self.suspects.values_mut().filter(|suspect| suspect.original == *copy) {
            suspect.original = original.clone();
        }
    }
}

/// A site whose home page equals that of another site.
pub(crate) struct MirrorCandidate {
    pub(crate) home: PageUrl,
    /// Number of recent requests, which the catalog may not contain yet.
    pub(crate) requests: u64,
}

/// Sort key; the smallest is the original.
type OriginalRank = (bool, bool, Timestamp, String, Option<Timestamp>, bool, String);

impl MirrorCandidate {
    /// Ranks the candidates for the original.
    ///
    /// A name precedes an IP address, then a site with stored pages precedes a new one, then the name known first
    /// under any spelling (a new site does not become the original by having a certificate). Among its spellings,
    /// https precedes http, unless it appeared late: then the spelling that responded first is the original.
    fn rank(&self, catalog: &dyn Catalog) -> Result<OriginalRank, StoreError> {
        let home = &self.home;
        let is_address = home.host().trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
        let stored = catalog.site(home.site().id())?.map_or(0, |details| details.stored);
        let is_new = stored.max(self.requests) <= COMPARISON_REQUESTS;
        let name = bare_name(home);
        let since = known_since(catalog, &name)?;
        // Requests and stored pages are counted by host, not by scheme.
        let answered = catalog.page(home.id())?.filter(|_| !is_new).and_then(|details| details.visited_at);
        Ok((is_address, is_new, since, name, answered, !home.is_https(), home.as_str().to_string()))
    }
}

/// A possible mirror, its original, and the sample pages to compare.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SuspectedPair {
    pub(crate) copy: PageUrl,
    pub(crate) original: PageUrl,
    pub(crate) samples: Vec<PageUrl>,
}

/// Result of comparing two sites, as far as the catalog knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairComparison {
    Same,
    Different,
    Pending,
}

impl SuspectedPair {
    /// Selects the first pages of the mirror as samples.
    fn new(catalog: &dyn Catalog, copy: PageUrl, original: PageUrl) -> Result<Self, StoreError> {
        // Pages nearest to the home page are known on both sites first.
        let due = catalog.due_pages(copy.id().site(), FAR_FUTURE, DueOrder::Nearest, 64)?;
        let samples = due
            .into_iter()
            .map(|page| page.url)
            .filter(|url| *url != copy && url.home() == copy && original.join(url.path_and_query()).is_ok())
            .take(SAMPLE_PAGES)
            .collect();
        Ok(Self { copy, original, samples })
    }

    /// Compares the texts of the sample pages. Reads the catalog.
    pub(crate) fn compare(&self, catalog: &dyn Catalog) -> Result<PairComparison, StoreError> {
        let mut same = 0;
        for page in &self.samples {
            let Ok(counterpart) = self.original.join(page.path_and_query()) else { continue };
            match (page_text(catalog, page)?, page_text(catalog, &counterpart)?) {
                (PageTextState::Text(one), PageTextState::Text(other)) if one == other => same += 1,
                (PageTextState::Empty, PageTextState::Empty) => {}
                (PageTextState::Pending, _) | (_, PageTextState::Pending) => {
                    return Ok(PairComparison::Pending);
                }
                _ => return Ok(PairComparison::Different),
            }
        }
        // Default pages that many servers show prove nothing.
        let enough = if are_name_variants(&self.copy, &self.original) {
            1.min(self.samples.len())
        } else {
            REQUIRED_MATCHES
        };
        let proven = same >= enough;
        Ok(if proven { PairComparison::Same } else { PairComparison::Different })
    }
}

/// Text of a page, as far as known.
enum PageTextState {
    Pending,
    Empty,
    Text(u64),
}

fn page_text(catalog: &dyn Catalog, page: &PageUrl) -> Result<PageTextState, StoreError> {
    let details = catalog.page(page.id())?;
    Ok(match details {
        Some(details) if details.state == PageState::Waiting => PageTextState::Pending,
        Some(details) => details.text.map_or(PageTextState::Empty, PageTextState::Text),
        // Unknown on the other site: its home page links elsewhere.
        None => PageTextState::Empty,
    })
}

/// Returns `true` if two names differ only in `www.` or the scheme.
fn are_name_variants(one: &PageUrl, other: &PageUrl) -> bool {
    bare_name(one) == bare_name(other)
}

/// Returns the site name without `www.`. Default ports are omitted, so http and https have the same name.
fn bare_name(url: &PageUrl) -> String {
    let site = url.site();
    site.as_str().strip_prefix("www.").unwrap_or(site.as_str()).to_string()
}

fn known_since(catalog: &dyn Catalog, bare_name: &str) -> Result<Timestamp, StoreError> {
    let mut since = FAR_FUTURE;
    for spelling in ["http://", "https://", "http://www.", "https://www."] {
        if let Ok(home) = PageUrl::parse(&format!("{spelling}{bare_name}/"))
            && let Some(details) = catalog.page(home.id())?
        {
            since = since.min(details.found_at);
        }
    }
    Ok(since)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::open_catalog;
    use pharos_store::LibraryPosition;
    use pharos_store::catalog::{CatalogChange, DiscoveredLink, ResponseSummary, VisitOutcome};
    use std::sync::Arc;

    struct TestCatalog {
        catalog: Arc<dyn Catalog>,
        end: u64,
        /// Time of responses.
        at: i64,
        _dir: tempfile::TempDir,
    }

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn now(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    impl TestCatalog {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let catalog = open_catalog(dir.path());
            Self { catalog, end: 0, at: 1, _dir: dir }
        }

        fn apply(&mut self, change: CatalogChange) {
            self.end += 1;
            self.catalog.apply(&[change], &LibraryPosition::new(1, self.end).into()).unwrap();
        }

        fn found(&mut self, page: &str) {
            self.apply(CatalogChange::Found(DiscoveredLink::new(url(page), 1, now(self.end as i64))));
        }

        fn answered(&mut self, page: &str, text: u64) {
            let position = LibraryPosition::new(1, self.end);
            let outcome = VisitOutcome::Responded(ResponseSummary {
                status: 200,
                position,
                text,
                ..ResponseSummary::default()
            });
            self.apply(CatalogChange::Visited { url: url(page), at: now(self.at), outcome, next_due: None });
        }

        /// Returns the first pair of this site and one with the same home page.
        fn pair(&self, home: &str) -> SuspectedPair {
            let mut homes = MirrorDetector::find_candidates(&*self.catalog, &url(home)).unwrap();
            homes.push(url(home));
            let sites = homes.into_iter().map(|home| MirrorCandidate { home, requests: 0 }).collect();
            MirrorDetector::pair_candidates(&*self.catalog, sites).unwrap().remove(0)
        }

        /// Adds a home page and two pages it links to.
        fn site(&mut self, origin: &str, texts: [u64; 3]) {
            self.found(&format!("{origin}/"));
            self.answered(&format!("{origin}/"), texts[0]);
            self.found(&format!("{origin}/a"));
            self.found(&format!("{origin}/b"));
        }
    }

    #[test]
    fn two_names_of_one_site_are_detected_by_their_text() {
        let mut sites = TestCatalog::new();
        sites.site("http://example.org", [7, 1, 2]);
        sites.site("http://www.example.org", [7, 1, 2]);
        let home = url("http://www.example.org/");
        let pair = sites.pair("http://www.example.org/");
        assert_eq!((&pair.copy, &pair.original), (&home, &url("http://example.org/")));
        let mut mirrors = MirrorDetector::default();
        mirrors.add_suspect(pair.clone(), now(2));
        sites.found("http://www.example.org/c");
        assert!(mirrors.is_held(&url("http://www.example.org/c")), "only the samples are fetched");
        assert!(
            !mirrors.is_held(&url("http://www.example.org/a"))
                && !mirrors.is_held(&url("http://example.org/c"))
        );
        assert!(mirrors.has_suspects());
        assert_eq!(pair.compare(&*sites.catalog).unwrap(), PairComparison::Pending);
        for origin in ["http://example.org", "http://www.example.org"] {
            sites.answered(&format!("{origin}/a"), 1);
            sites.answered(&format!("{origin}/b"), 2);
        }
        let comparison = mirrors.pending_pairs()[0].compare(&*sites.catalog).unwrap();
        let verdict = mirrors.apply_comparison(&pair, comparison, now(3));
        assert_eq!(verdict, Some(MirrorVerdict::Mirror(home.clone(), url("http://example.org/"))));
        assert!(!mirrors.is_held(&url("http://www.example.org/c")));
    }

    #[test]
    fn the_same_home_page_alone_makes_no_mirror() {
        let mut sites = TestCatalog::new();
        sites.site("http://one.example", [7, 1, 2]);
        sites.site("http://two.example", [7, 1, 2]);
        let pair = sites.pair("http://two.example/");
        sites.answered("http://one.example/a", 1);
        sites.answered("http://two.example/a", 3);
        assert_eq!(pair.compare(&*sites.catalog).unwrap(), PairComparison::Different);
        let bare = SuspectedPair { samples: Vec::new(), ..pair };
        assert_eq!(
            bare.compare(&*sites.catalog).unwrap(),
            PairComparison::Different,
            "an empty server proves nothing"
        );
        assert_eq!(
            MirrorDetector::find_candidates(&*sites.catalog, &url("http://three.example/")).unwrap(),
            []
        );
        let first = sites.pair("http://one.example/");
        assert_eq!(first.copy, url("http://two.example/"), "independently of the order");
    }

    #[test]
    fn https_is_the_original_and_a_name_before_an_address() {
        let mut sites = TestCatalog::new();
        for origin in ["http://example.org", "https://example.org", "http://192.0.2.7"] {
            sites.site(origin, [7, 1, 2]);
        }
        let originals = |homes: [&str; 2]| {
            let candidates = homes.map(|home| MirrorCandidate { home: url(home), requests: 0 });
            MirrorDetector::pair_candidates(&*sites.catalog, candidates.into()).unwrap().remove(0).original
        };
        let https = url("https://example.org/");
        assert_eq!(originals(["https://example.org/", "http://example.org/"]), https);
        assert_eq!(originals(["http://192.0.2.7/", "https://example.org/"]), https);
        assert!(are_name_variants(&url("https://www.example.org/"), &url("http://example.org/")));
        assert!(!are_name_variants(&url("http://a.example/"), &url("http://b.example/")));
    }

    #[test]
    fn the_site_with_stored_pages_is_the_original() {
        let mut sites = TestCatalog::new();
        sites.site("http://late.example", [7, 1, 2]);
        sites.site("http://early.example", [7, 1, 2]);
        for number in 0..COMPARISON_REQUESTS {
            let page = format!("http://early.example/{number}");
            sites.found(&page);
            sites.answered(&page, 10 + number);
        }
        let pair = sites.pair("http://late.example/");
        assert_eq!((pair.copy, pair.original), (url("http://late.example/"), url("http://early.example/")));
    }

    #[test]
    fn https_that_comes_late_is_a_copy() {
        let mut sites = TestCatalog::new();
        sites.site("http://example.org", [7, 1, 2]);
        for number in 0..COMPARISON_REQUESTS {
            let page = format!("http://example.org/{number}");
            sites.found(&page);
            sites.answered(&page, 10 + number);
        }
        sites.at = 60;
        sites.site("https://example.org", [7, 1, 2]);
        assert_eq!(sites.pair("https://example.org/").original, url("http://example.org/"));
    }

    #[test]
    fn a_copy_is_not_compared_again() {
        let mut sites = TestCatalog::new();
        sites.site("http://one.example", [7, 1, 2]);
        sites.site("http://two.example", [7, 1, 2]);
        let (home, of) = (url("http://two.example/"), url("http://one.example/"));
        sites.apply(CatalogChange::Alias { home, of: of.clone() });
        assert_eq!(MirrorDetector::find_candidates(&*sites.catalog, &of).unwrap(), []);
    }

    #[test]
    fn suspicion_expires() {
        let pair = SuspectedPair {
            copy: url("http://www.a.example/"),
            original: url("http://a.example/"),
            samples: Vec::new(),
        };
        let mut mirrors = MirrorDetector::default();
        mirrors.add_suspect(pair.clone(), now(0));
        assert_eq!(mirrors.apply_comparison(&pair, PairComparison::Pending, now(60)), None);
        let verdict = mirrors.apply_comparison(&pair, PairComparison::Pending, now(SUSPICION_TIMEOUT + 1));
        assert_eq!(verdict, Some(MirrorVerdict::Distinct(pair.copy)));
    }
}
