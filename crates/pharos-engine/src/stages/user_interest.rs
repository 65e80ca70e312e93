//! Interest of users in pages, which raises their weight in the refresh policy: words of popular queries, clicks, and links.
//!
//! ```text
//! query log ─▶ hot words ─▶ pages with these words ─▶ relevance ─▶ probability ─┐
//! click log ─▶ clicked pages ───────────────────────────────────────────────────┼▶ factor of the weight
//! last build ─▶ PageRank: home pages and hubs pass it on ───────────────────────┘
//! ```
//!
//! It is computed again at `refresh.interest_every` on a thread of its own. Nothing is stored except the factor of each page.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pharos_core::config::Config;
use pharos_core::{PageId, PageUrl, Timestamp};
use pharos_crawl::refresh::relevance::{HotWordCounts, TagWeights, relevance, relevance_probability};
use pharos_index::document::zones::Zone;
use pharos_index::read::evidence::TermEvidence;
use pharos_index::{IndexView, Query, RetrievalRequest};
use pharos_mining::LogStatistics;
use pharos_store::StoreError;
use tracing::{debug, warn};

use crate::{EngineError, Stores};

/// Number of hot words that are looked up, and of pages with each.
const MAX_WORDS: usize = 50;
const PAGES_PER_WORD: usize = 500;

/// Largest gains by queries and by clicks: with both, a page weighs seven times as much.
const QUERY_GAIN: f64 = 3.0;
const CLICK_GAIN: f64 = 3.0;

/// Relevance and number of clicks at which a page gains half of that. The hottest word in a title has relevance 3.
const HALF_RELEVANCE: f64 = 3.0;
const HALF_CLICKS: f64 = 5.0;

/// Maximum number of pages with a factor from links, and the least PageRank of these pages. The mean is 1.
const MAX_LINKED: usize = 10_000;
const LEAST_RANK: f64 = 2.0;
/// Largest factor from links. The factor is the square root of the PageRank.
const MAX_LINK_FACTOR: f64 = 4.0;

/// Factors of the weights of pages; 1 for pages without one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UserInterest {
    factors: HashMap<PageId, f64>,
}

impl UserInterest {
    pub(crate) fn factor(&self, page: PageId) -> f64 {
        self.factors.get(&page).copied().unwrap_or(1.0)
    }

    /// Reads logs and index.
    pub(crate) fn read(stores: &Stores, config: &Config, now: Timestamp) -> Result<Self, EngineError> {
        let logs = stores.data().logs();
        let mut statistics =
            LogStatistics::open(stores.data(), &config.hot, now).map_err(StoreError::io("read", &logs))?;
        // A crawl without indexing has no index.
        let view = stores.index().and_then(|index| index.view()).ok();
        let view = view.filter(|view| view.pages().is_ok_and(|pages| pages > 0));
        let (relevance, factors) = match &view {
            Some(view) => (page_relevance(&**view, &statistics)?, link_factors(&**view)?),
            None => (HashMap::new(), HashMap::new()),
        };
        let mut clicks: HashMap<PageId, f64> = HashMap::new();
        for click in statistics.take_clicks() {
            if let Ok(url) = PageUrl::parse(&click.url) {
                *clicks.entry(url.id()).or_default() += 1.0;
            }
        }
        let mut interest = Self { factors };
        let gains = relevance
            .into_iter()
            .map(|(page, relevance)| (page, QUERY_GAIN * relevance_probability(relevance, HALF_RELEVANCE)))
            .chain(
                clicks.into_iter().map(|(page, clicks)| (page, CLICK_GAIN * clicks / (clicks + HALF_CLICKS))),
            );
        let mut sums: HashMap<PageId, f64> = HashMap::new();
        gains.for_each(|(page, gain)| *sums.entry(page).or_default() += gain);
        for (page, gain) in sums {
            *interest.factors.entry(page).or_insert(1.0) *= 1.0 + gain;
        }
        Ok(interest)
    }
}

/// Returns the relevance of the pages that contain words of popular queries, weighted by the heat of each word.
fn page_relevance(view: &dyn IndexView, logs: &LogStatistics) -> Result<HashMap<PageId, f64>, EngineError> {
    let (mut pages, tags) = (HashMap::<PageId, f64>::new(), TagWeights::default());
    for word in logs.hot_words(MAX_WORDS) {
        let found = view.search(&Query::Word(word.word.clone()), PAGES_PER_WORD)?;
        let evidence = view.evidence(&found.candidates, std::slice::from_ref(&word.word))?;
        for (candidate, evidence) in found.candidates.iter().zip(evidence) {
            let counts = evidence.terms.first().map(count_word).unwrap_or_default();
            *pages.entry(candidate.page).or_default() += word.heat * relevance(counts, &tags, 1.0);
        }
    }
    Ok(pages)
}

/// Returns the parts of a page that contain a word. A word counts once per part, so that repeating it gains nothing.
fn count_word(term: &TermEvidence) -> HotWordCounts {
    let has = |zones: &[Zone]| u32::from(zones.iter().any(|zone| term.times[*zone as usize] > 0));
    HotWordCounts {
        title: has(&[Zone::Title]),
        anchor: has(&[Zone::Anchor]),
        text: has(&[Zone::Heading, Zone::Emphasis, Zone::Body]),
    }
}

/// Returns the factors of the pages with the highest PageRank of the last build.
fn link_factors(view: &dyn IndexView) -> Result<HashMap<PageId, f64>, EngineError> {
    let request = RetrievalRequest {
        rank_weight: 1.0,
        count_up_to: 0,
        ..RetrievalRequest::new(&Query::All, MAX_LINKED)
    };
    let pages = view.retrieve(&request)?.candidates;
    let ranks = view.link_figures(&pages)?.into_iter().map(|figures| f64::from(figures.page_rank));
    let ranked = pages.iter().zip(ranks).filter(|(_, rank)| *rank >= LEAST_RANK);
    Ok(ranked.map(|(page, rank)| (page.page, rank.sqrt().min(MAX_LINK_FACTOR))).collect())
}

/// Computes the interest of users again and again, beside the apply stage.
#[derive(Debug, Default)]
pub(crate) struct InterestReader {
    latest: Option<Arc<UserInterest>>,
    /// The result of the running computation.
    result: Arc<Mutex<Option<UserInterest>>>,
    is_running: bool,
    next: Option<Instant>,
}

impl InterestReader {
    /// Starts a computation if one is due. Returns `true` if the interest changed since the last call.
    pub(crate) fn poll(&mut self, stores: &Stores, config: &Config, now: Timestamp) -> bool {
        let every = config.refresh.interest_every;
        if !config.refresh.policy.uses_weights() || every.is_zero() {
            let none = Some(Arc::new(UserInterest::default()));
            self.next = None;
            return std::mem::replace(&mut self.latest, none.clone()) != none;
        }
        if self.is_running {
            let Some(now) = self.result.lock().take() else { return false };
            (self.is_running, self.next) = (false, Some(Instant::now() + every));
            let now = Some(Arc::new(now));
            return std::mem::replace(&mut self.latest, now.clone()) != now;
        }
        if self.next.is_none_or(|at| at <= Instant::now()) {
            self.start(stores.clone(), config.clone(), now);
        }
        false
    }

    /// Returns the last result, or `None` before the first.
    pub(crate) fn latest(&self) -> Option<Arc<UserInterest>> {
        self.latest.clone()
    }

    fn start(&mut self, stores: Stores, config: Config, now: Timestamp) {
        let (result, before) = (Arc::clone(&self.result), self.latest());
        let compute = move || {
            let read = UserInterest::read(&stores, &config, now).unwrap_or_else(|error| {
                warn!(%error, "cannot compute the weights of pages from queries, clicks and links");
                before.map(|before| (*before).clone()).unwrap_or_default()
            });
            debug!(pages = read.factors.len(), "weights of pages computed");
            *result.lock() = Some(read);
        };
        self.is_running = thread::Builder::new().name("interest".into()).spawn(compute).is_ok();
        if !self.is_running {
            self.next = Some(Instant::now() + Duration::from_secs(60));
        }
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::LibraryPositions;
    use pharos_core::config::RefreshPolicyName;
    use pharos_index::{IndexChange, IndexDocument};
    use pharos_mining::log::records::ClickKind;
    use pharos_mining::{ClickRecord, LogWriter, QueryRecord, new_id};
    use pharos_store::DataDir;

    use super::*;
    use crate::stores::test_stores;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://a.example{path}")).unwrap()
    }

    fn document(path: &str, title: &str, body: &str) -> IndexChange {
        let document =
            IndexDocument { title: title.into(), body: body.into(), ..IndexDocument::new(url(path)) };
        IndexChange::Put(Box::new(document))
    }

    /// Stores three pages and the log of a query by `visits` visits, one of which clicks on `/clicked`.
    fn searched(data: &DataDir, visits: usize) -> Stores {
        let stores = test_stores(data);
        let index = stores.own_index().unwrap();
        let pages = [
            document("/title", "The eclipse", "It becomes dark."),
            document("/text", "Astronomy", "A total eclipse of the sun."),
            document("/clicked", "Harbour", "Ships and lamps."),
        ];
        index.apply(pages.into()).unwrap();
        index.commit(&LibraryPositions::START).unwrap();
        let (config, clock) = (Config::default(), Arc::new(pharos_core::SystemClock));
        let log = LogWriter::open(data, &config.log, clock);
        let now = pharos_core::Clock::now(&pharos_core::SystemClock);
        for number in 0..visits {
            let (query, visit) = ("eclipse".to_string(), format!("visit-{number}"));
            log.query(QueryRecord { id: new_id(), at: now, visit, query, page: 1, ..QueryRecord::default() });
        }
        log.click(ClickRecord {
            at: now,
            impression: "i".into(),
            visit: "visit-0".into(),
            kind: ClickKind::Result,
            searched: "harbour".into(),
            rank: Some(1),
            page_size: None,
            order: None,
            url: Some(url("/clicked").to_string()),
            query: None,
            dwell_ms: None,
        });
        log.flush();
        stores
    }

    fn read(stores: &Stores) -> UserInterest {
        UserInterest::read(stores, &Config::default(), pharos_core::Clock::now(&pharos_core::SystemClock))
            .unwrap()
    }

    #[test]
    fn pages_with_words_of_popular_queries_and_clicked_pages_weigh_more() {
        let dir = tempfile::tempdir().unwrap();
        let stores = searched(&DataDir::at(dir.path()), 5);
        let interest = read(&stores);
        let factor = |path: &str| interest.factor(url(path).id());
        // The hottest word has relevance 3 in a title, which is half of the gain, and 1 in a text.
        assert!((factor("/title") - (1.0 + QUERY_GAIN / 2.0)).abs() < 1e-9, "{}", factor("/title"));
        assert!((factor("/text") - (1.0 + QUERY_GAIN / 4.0)).abs() < 1e-9, "{}", factor("/text"));
        assert!((factor("/clicked") - (1.0 + CLICK_GAIN / 6.0)).abs() < 1e-9, "{}", factor("/clicked"));
        assert_eq!(factor("/other"), 1.0);
    }

    #[test]
    fn queries_of_few_visits_count_for_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let stores = searched(&DataDir::at(dir.path()), 2);
        assert_eq!(read(&stores).factor(url("/title").id()), 1.0);
    }

    #[test]
    fn the_interest_is_computed_beside_the_caller_and_can_be_switched_off() {
        let dir = tempfile::tempdir().unwrap();
        let stores = searched(&DataDir::at(dir.path()), 5);
        let (mut reader, mut config) = (InterestReader::default(), Config::default());
        config.refresh.policy = RefreshPolicyName::Lag;
        let now = pharos_core::Clock::now(&pharos_core::SystemClock);
        assert!(!reader.poll(&stores, &config, now) && reader.latest().is_none());
        let deadline = Instant::now() + Duration::from_secs(120);
        while !reader.poll(&stores, &config, now) {
            assert!(Instant::now() < deadline, "the computation did not end");
            thread::sleep(Duration::from_millis(10));
        }
        assert!(reader.latest().unwrap().factor(url("/title").id()) > 1.0);
        config.refresh.interest_every = Duration::ZERO;
        assert!(reader.poll(&stores, &config, now), "all factors are 1 again");
        assert!(!reader.poll(&stores, &config, now));
        assert_eq!(*reader.latest().unwrap(), UserInterest::default());
    }
}
