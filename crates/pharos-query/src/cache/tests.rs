//! A cached response equals the response of a search.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pharos_core::{Config, LibraryPosition, PageUrl, Timestamp};
use pharos_index::{GenerationalIndex, Index, IndexChange, IndexDocument, PageCopy};
use pharos_mining::CacheUse;
use proptest::prelude::*;

use crate::testing::{begin_history, open_index};
use crate::{ClickRules, Clicks, QueryProcessor, ResultOptions, SearchRequest, SearchResponse};

/// An index and its expected content.
struct TestIndex {
    _dir: tempfile::TempDir,
    index: Arc<dyn GenerationalIndex>,
    pages: BTreeMap<usize, IndexDocument>,
    at: u64,
}

impl TestIndex {
    fn new(pages: impl Iterator<Item = (usize, IndexDocument)>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let index = open_index(dir.path());
        let mut index = Self { _dir: dir, index, pages: pages.collect(), at: 0 };
        index.apply(Vec::new());
        index.build();
        index
    }

    fn position(&self) -> LibraryPosition {
        LibraryPosition::new(1, self.at)
    }

    fn apply(&mut self, changes: Vec<IndexChange>) {
        self.at += 1;
        self.index.apply(changes).unwrap();
        self.index.commit(&self.position().into()).unwrap();
    }

    fn put(&mut self, nth: usize, page: IndexDocument) {
        self.pages.insert(nth, page.clone());
        self.apply(vec![IndexChange::Put(Box::new(page))]);
    }

    fn remove(&mut self, nth: usize) {
        self.pages.remove(&nth);
        self.apply(vec![IndexChange::Gone(url(nth).id())]);
    }

    /// Builds a new history: every third page has a copy, and pages are grouped in pairs.
    fn build(&mut self) {
        let at = self.index.seal().unwrap();
        let generations = self.index.generations();
        let _builder = generations.lock_builder().unwrap();
        let mut history = begin_history(&*self.index);
        for (nth, page) in &self.pages {
            let mut page = IndexDocument { group: Some(url(nth / 2 * 2).id()), ..page.clone() };
            if nth % 3 == 0 {
                let url = PageUrl::parse(&format!("http://copies.example/{nth}")).unwrap();
                page.copies = vec![PageCopy { url, position: at.get(0), fetched: Timestamp::EPOCH }];
            }
            history.add(&page).unwrap();
        }
        generations.install(history.finish(at.clone()).unwrap()).unwrap();
        self.apply(Vec::new());
    }

    fn search(&self, config: &Config) -> QueryProcessor {
        QueryProcessor::new(Arc::clone(&self.index) as Arc<dyn Index>, config)
    }

    fn uncached(&self, config: &Config) -> QueryProcessor {
        let mut config = config.clone();
        config.cache.memory.0 = 0;
        self.search(&config)
    }
}

fn url(nth: usize) -> PageUrl {
    let page = if nth.is_multiple_of(4) { String::new() } else { nth.to_string() };
    PageUrl::parse(&format!("http://s{}.example/{page}", nth / 4)).unwrap()
}

fn page(nth: usize, words: &str) -> IndexDocument {
    let day = format!("2026-01-{:02}", 1 + (nth * 7 + words.len()) % 28);
    IndexDocument {
        title: format!("Page {nth}"),
        body: words.into(),
        date: Some(day),
        ..IndexDocument::new(url(nth))
    }
}

/// Removes the fields that may differ.
fn plain(answer: SearchResponse) -> SearchResponse {
    SearchResponse { took_ms: 0.0, cache: CacheUse::Miss, ..answer }
}

/// A generous time limit for busy machines.
fn config() -> Config {
    let mut config = Config::default();
    config.query.time = Duration::from_secs(60);
    config
}

#[derive(Clone, Debug)]
enum TestStep {
    Put(usize, Vec<usize>),
    Remove(usize),
    Build,
    Click(usize, usize),
    Search(SearchRequest),
}

const WORDS: [&str; 6] = ["lamp", "rock", "sea", "灯塔", "keeper", "boats"];

fn step() -> impl Strategy<Value = TestStep> {
    let words = || proptest::collection::vec(0..WORDS.len(), 1..8);
    let text = prop_oneof![
        4 => proptest::collection::vec(0..WORDS.len(), 1..4)
            .prop_map(|words| words.into_iter().map(|word| WORDS[word]).collect::<Vec<_>>().join(" ")),
        1 => Just("\"lamp rock\"".to_string()),
        1 => Just("lamp site:s1.example".to_string()),
        1 => Just("sea OR absent".to_string()),
        1 => Just("related:s1.example".to_string()),
        1 => Just("absent keeper".to_string()),
        1 => Just("page".to_string()),
        1 => Just("???".to_string()),
    ];
    let ask = (text, 0usize..3, 0u8..12).prop_map(|(text, page, flags)| {
        let (all, newest_first, any_word) = (flags == 1, flags == 2, flags == 3);
        TestStep::Search(SearchRequest {
            page,
            size: 3,
            options: ResultOptions { all, newest_first, any_word, as_typed: false },
            ..SearchRequest::new(text)
        })
    });
    prop_oneof![
        4 => (0usize..14, words()).prop_map(|(nth, words)| TestStep::Put(nth, words)),
        2 => (0usize..14).prop_map(TestStep::Remove),
        1 => Just(TestStep::Build),
        1 => (0usize..14, 0..WORDS.len()).prop_map(|(nth, word)| TestStep::Click(nth, word)),
        8 => ask,
    ]
}

fn text(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// After any sequence of changes: same pages, same order, same scores and totals.
    #[test]
    fn caching_changes_no_response(
        first in proptest::collection::vec(proptest::collection::vec(0..WORDS.len(), 1..8), 8),
        steps in proptest::collection::vec(step(), 1..40),
        boosted in any::<bool>(),
    ) {
        let mut config = config();
        if boosted {
            config.rank.boost = vec!["s1.example 0.2".into()];
            config.rank.block = vec!["s2.example".into()];
        }
        let mut index = TestIndex::new(first.iter().enumerate().map(|(nth, words)| (nth, page(nth, &text(words)))));
        let cached = index.search(&config);
        let mut requests: Vec<SearchRequest> = Vec::new();
        let (mut clicks, mut uses) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                TestStep::Put(nth, words) => index.put(nth, page(nth, &text(&words))),
                TestStep::Remove(nth) => index.remove(nth),
                TestStep::Build => index.build(),
                TestStep::Click(nth, word) => {
                    cached.record_click(WORDS[word], url(nth).id(), 1);
                    clicks.push((nth, word));
                }
                TestStep::Search(request) => requests.push(request),
            }
            let uncached = index.uncached(&config);
            clicks.iter().for_each(|(nth, word)| uncached.record_click(WORDS[*word], url(*nth).id(), 1));
            for request in requests.iter().rev().take(6) {
                let expected = plain(uncached.run(request).unwrap());
                for _ in 0..2 {
                    let given = cached.run(request).unwrap();
                    uses.push(given.cache);
                    prop_assert_eq!(&plain(given), &expected);
                }
            }
        }
        prop_assert!(uses.len() < 12 || uses.contains(&CacheUse::Hit));
    }

    /// If more pages match than are kept, the shown ones exist and have correct scores.
    #[test]
    fn a_truncated_list_shows_existing_pages(changed in proptest::collection::vec((0usize..60, any::<bool>()), 1..8)) {
        let mut config = config();
        (config.query.max_results, config.query.candidates) = (12, 30);
        let times = |nth: usize| "lamp ".repeat(1 + nth % 7) + "and the sea";
        let mut index = TestIndex::new((0..60).map(|nth| (nth, page(nth, &times(nth)))));
        let cached = index.search(&config);
        let request = SearchRequest { size: 12, ..SearchRequest::new("lamp") };
        prop_assert_eq!(cached.run(&request).unwrap().cache, CacheUse::Miss);
        for (nth, stays) in changed {
            if stays { index.put(nth, page(nth, &times(nth + 1))) } else { index.remove(nth) }
            let (given, expected) = (cached.run(&request).unwrap(), index.uncached(&config).run(&request).unwrap());
            let all = SearchRequest { options: ResultOptions { all: true, ..ResultOptions::default() }, size: 100, ..SearchRequest::new("lamp") };
            let mut whole = config.clone();
            (whole.query.max_results, whole.query.candidates) = (100, 100);
            let all = index.uncached(&whole).run(&all).unwrap();
            prop_assert!(!given.hits.is_empty());
            for hit in &given.hits {
                prop_assert!(all.hits.iter().any(|other| other.url == hit.url), "{} is gone", hit.url);
                if let Some(other) = expected.hits.iter().find(|other| other.url == hit.url) {
                    prop_assert_eq!(other.score, hit.score);
                }
            }
        }
    }
}

fn small_index() -> TestIndex {
    TestIndex::new((0..8).map(|nth| (nth, page(nth, &"lamp ".repeat(nth + 1)))))
}

#[test]
fn the_second_time_nothing_is_searched_and_pages_are_turned() {
    let mut index = small_index();
    let search = index.search(&config());
    let ask = |page: usize, text: &str| {
        search.run(&SearchRequest { page, size: 3, ..SearchRequest::new(text) }).unwrap()
    };
    let first = ask(1, "lamp");
    assert_eq!(first.cache, CacheUse::Miss);
    let again = ask(1, " lamp  ");
    assert_eq!((again.cache, again.query.as_str()), (CacheUse::Hit, " lamp  "));
    assert_eq!(plain(SearchResponse { query: "lamp".into(), ..again }), plain(first.clone()));
    assert_eq!(ask(2, "lamp").cache, CacheUse::Partly, "from the list");
    assert_eq!(ask(2, "lamp").cache, CacheUse::Hit);
    index.put(20, page(20, "lamp"));
    let changed = ask(1, "lamp");
    assert_eq!((changed.cache, changed.total), (CacheUse::Partly, first.total + 1));
    assert_ne!(changed.generation, first.generation);
    index.build();
    assert_eq!(ask(1, "lamp").cache, CacheUse::Miss, "another history");
}

#[test]
fn explanations_are_never_cached() {
    let index = small_index();
    let search = index.search(&config());
    for _ in 0..2 {
        let explained = search.run(&SearchRequest { explain: true, ..SearchRequest::new("lamp") }).unwrap();
        assert!(explained.cache == CacheUse::Miss && explained.explanation.is_some());
    }
    search.run(&SearchRequest::new("lamp")).unwrap();
    let counted = search.run(&SearchRequest { facets: true, ..SearchRequest::new("lamp") }).unwrap();
    assert!(counted.cache == CacheUse::Partly && !counted.facets.is_empty());
    assert!(search.run(&SearchRequest::new("lamp")).unwrap().facets.is_empty());
}

#[test]
fn partial_responses_are_not_cached() {
    let index = TestIndex::new((0..600).map(|nth| (nth, page(nth, "lamp rock"))));
    let mut config = config();
    config.query.time = Duration::ZERO;
    let search = index.search(&config);
    for _ in 0..2 {
        let answer = search.run(&SearchRequest::new("lamp")).unwrap();
        assert!(answer.partial && answer.cache == CacheUse::Miss);
    }
}

#[test]
fn clicks_are_seen() {
    let index = small_index();
    let search = index.search(&config());
    let first = |search: &QueryProcessor, text: &str| search.run(&SearchRequest::new(text)).unwrap();
    let before = first(&search, "lamp");
    assert_eq!(first(&search, "lamp").cache, CacheUse::Hit);
    let last = PageUrl::parse(&before.hits.last().unwrap().url).unwrap().id();
    (0..3).for_each(|_| search.record_click("lamp", last, 9));
    let after = first(&search, "lamp");
    let score = |answer: &SearchResponse| {
        answer.hits.iter().find(|hit| PageUrl::parse(&hit.url).unwrap().id() == last).map(|hit| hit.score)
    };
    assert!(after.cache == CacheUse::Partly && score(&after) > score(&before));
    let clicks = Clicks::default();
    clicks.click("other", last, 9);
    clicks.end_day(&ClickRules { decay: 0.9, start: 0.1, words: 0.5 });
    search.set_clicks(clicks);
    let hot = first(&search, "lamp");
    assert!(hot.cache != CacheUse::Hit && score(&hot) > score(&before), "clicked for another query");
    search.set_clicks(Clicks::default());
    assert_eq!(plain(first(&search, "lamp")), plain(before));
}

#[test]
fn without_memory_nothing_is_cached() {
    let index = small_index();
    let search = index.uncached(&config());
    let first = search.run(&SearchRequest { size: 3, ..SearchRequest::new("lamp") }).unwrap();
    for _ in 0..2 {
        assert_eq!(
            search.run(&SearchRequest { size: 3, ..SearchRequest::new("lamp") }).unwrap().cache,
            CacheUse::Miss
        );
    }
    let next = SearchRequest {
        page: 2,
        size: 3,
        generation: Some(first.generation.clone()),
        ..SearchRequest::new("lamp")
    };
    assert_eq!(search.run(&next).unwrap().cache, CacheUse::Partly, "further pages are consistent anyway");
}

#[test]
fn queries_can_be_warmed() {
    let index = small_index();
    let search = index.search(&config());
    assert_eq!(search.warm(["lamp", "page", "lamp"]).unwrap(), 2);
    assert_eq!(search.run(&SearchRequest::new("page")).unwrap().cache, CacheUse::Hit);
}

#[test]
fn memory_is_bounded() {
    let index = small_index();
    let mut config = config();
    config.cache.memory.0 = 200 << 10;
    let search = index.search(&config);
    for nth in 0..400 {
        search.run(&SearchRequest::new(format!("lamp OR word{nth}"))).unwrap();
    }
    let bytes = search.caches.responses.bytes();
    assert!(bytes > 0 && bytes <= 100 << 10, "{bytes}");
}

/// All pages change together repeatedly: no response mixes two states.
#[test]
fn threads_see_one_state_while_the_index_changes() {
    let mut index = TestIndex::new((0..6).map(|nth| (nth, page(nth, "lamp version0"))));
    let search = index.search(&config());
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking = || {
            let mut uses = [0; 3];
            while !ends.load(Ordering::Relaxed) {
                for text in ["lamp", "lamp version3", "page"] {
                    let request = SearchRequest {
                        size: 20,
                        options: ResultOptions { all: true, ..ResultOptions::default() },
                        ..SearchRequest::new(text)
                    };
                    let answer = search.run(&request).unwrap();
                    let of_history = |url: &str| url.contains("copies.example");
                    let shown = answer.hits.iter().filter(|hit| !of_history(&hit.url));
                    let versions: std::collections::HashSet<&str> =
                        shown.filter_map(|hit| hit.snippet.split_whitespace().last()).collect();
                    assert!(versions.len() <= 1, "{text}: {versions:?} in {}", answer.generation);
                    uses[answer.cache as usize] += 1;
                }
            }
            uses
        };
        let threads = [scope.spawn(asking), scope.spawn(asking)];
        for version in 1..25 {
            let changed = |nth| IndexChange::Put(Box::new(page(nth, &format!("lamp version{version}"))));
            index.apply((0..6).map(changed).collect());
            std::thread::sleep(Duration::from_millis(10));
        }
        ends.store(true, Ordering::Relaxed);
        let uses = threads.map(|thread| thread.join().unwrap());
        assert!(uses.iter().all(|uses| uses[CacheUse::Hit as usize] > 0), "{uses:?}");
    });
}
