//! Decisions of operators on a small index.

use std::sync::Arc;
use std::time::Duration;

use pharos_core::{Config, LibraryPosition, ManualClock, PageUrl, Timestamp};
use pharos_index::{IndexChange, IndexDocument};
use pharos_mining::CacheUse;

use super::records::{CurationChange, CurationRecords, CurationRule};
use super::store::CurationStore;
use crate::language::filters::Filters;
use crate::testing::open_index;
use crate::{QueryProcessor, ResultOptions, SearchRequest, SearchResponse};

struct Curated {
    dir: tempfile::TempDir,
    clock: ManualClock,
    search: QueryProcessor,
}

impl Curated {
    fn new(pages: &[(&str, &str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let index = open_index(&dir.path().join("index"));
        let changes = pages.iter().map(|(url, title, body)| {
            IndexChange::Put(Box::new(IndexDocument {
                title: (*title).into(),
                body: (*body).into(),
                ..IndexDocument::new(PageUrl::parse(url).unwrap())
            }))
        });
        index.apply(changes.collect()).unwrap();
        index.commit(&LibraryPosition::new(1, 1).into()).unwrap();
        let clock = ManualClock::starting_at(Timestamp::parse("2026-01-31T12:00:00Z").unwrap());
        let search = QueryProcessor::new(index, &Config::default())
            .with_clock(Arc::new(clock.clone()))
            .with_curation(dir.path());
        Self { dir, clock, search }
    }

    fn change(&self, rule: CurationRule, until: Option<&str>) -> CurationChange {
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        let until = until.map(|until| Timestamp::parse(until).unwrap());
        CurationChange { rule, until, by: "Keeper".into(), at }
    }

    fn add(&self, rule: CurationRule, until: Option<&str>) {
        let change = self.change(rule, until);
        CurationStore::at(self.dir.path()).change(|records| records.add(change)).unwrap();
        self.search.reload_curation();
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).unwrap();
        self.search.reload_curation();
    }

    fn run(&self, text: &str) -> SearchResponse {
        self.search.run(&SearchRequest::new(text)).unwrap()
    }

    fn found(&self, text: &str) -> Vec<String> {
        paths(self.run(text))
    }
}

fn paths(response: SearchResponse) -> Vec<String> {
    response.hits.into_iter().map(|hit| hit.url.rsplit('/').next().unwrap().to_string()).collect()
}

fn pin(query: &str, path: &str, place: u8) -> CurationRule {
    CurationRule::Pin { query: query.into(), url: format!("http://a.example/{path}"), place }
}

fn hide(query: Option<&str>, path: &str) -> CurationRule {
    CurationRule::Hide { query: query.map(String::from), url: format!("http://a.example/{path}") }
}

fn lamps() -> Curated {
    Curated::new(&[
        ("http://a.example/1", "The lamp", "a lamp in the tower"),
        ("http://a.example/2", "Oil", "oil for the lamp and more of the kind"),
        ("http://a.example/3", "Tea", "nothing of the kind"),
    ])
}

#[test]
fn pinned_pages_come_first_whether_they_match_or_not() {
    let curated = lamps();
    assert_eq!(curated.found("lamp"), ["1", "2"]);
    curated.add(pin("Lamp ", "3", 1), None);
    curated.add(pin("lamp", "2", 2), None);
    curated.add(pin("lamp", "gone", 3), None);
    let response = curated.run("  LAMP");
    assert_eq!((response.total, response.hits[0].pinned, response.hits[2].pinned), (3, true, false));
    assert_eq!(paths(response), ["3", "2", "1"]);
    assert_eq!(curated.found("lamp tower"), ["1"], "another query");
    let page = |page| {
        let request = SearchRequest { page, size: 2, ..SearchRequest::new("lamp") };
        paths(curated.search.run(&request).unwrap())
    };
    assert_eq!((page(1), page(2), page(3)), (vec!["3".into(), "2".into()], vec!["1".into()], vec![]));
    let by_date = ResultOptions { newest_first: true, ..ResultOptions::default() };
    let sorted = SearchRequest { options: by_date, ..SearchRequest::new("lamp") };
    assert_eq!(curated.search.run(&sorted).unwrap().total, 2, "not in another order");
    let filters = Filters { site: Some("b.example".into()), ..Filters::default() };
    let filtered = SearchRequest { filters, ..SearchRequest::new("lamp") };
    assert_eq!(curated.search.run(&filtered).unwrap().total, 0, "not with filters");
    let explained = SearchRequest { explain: true, ..SearchRequest::new("lamp") };
    let hits = curated.search.run(&explained).unwrap().hits;
    let pinned: Vec<Option<String>> = hits
        .into_iter()
        .map(|hit| hit.explanation.unwrap().pinned.map(|pinned| format!("{} {}", pinned.by, pinned.at)))
        .collect();
    let keeper = Some("Keeper 2026-01-31T12:00:00Z".to_string());
    assert_eq!(pinned, [keeper.clone(), keeper, None]);
}

#[test]
fn a_pin_gives_results_to_a_query_without_any() {
    let curated = lamps();
    curated.add(pin("opening hours", "3", 1), None);
    let response = curated.run("opening hours");
    assert_eq!((response.total, response.last_page), (1, Some(1)));
}

#[test]
fn hidden_pages_are_neither_found_nor_counted() {
    let curated = lamps();
    assert_eq!(curated.run("lamp").cache, CacheUse::Miss);
    assert_eq!(curated.run("lamp").cache, CacheUse::Hit);
    curated.add(hide(Some("lamp"), "1"), None);
    curated.add(pin("lamp", "1", 1), None);
    let response = curated.run("lamp");
    assert_eq!((response.total, paths(response)), (1, vec!["2".to_string()]), "hidden wins over pinned");
    assert_eq!(curated.found("lamp tower"), ["1"], "another query");
    curated.add(hide(None, "2"), None);
    assert!(curated.found("lamp").is_empty() && curated.found("oil").is_empty());
    assert_eq!(curated.found("related:http://a.example/1"), [""; 0]);
    let explained = SearchRequest { explain: true, ..SearchRequest::new("lamp") };
    let hidden = curated.search.run(&explained).unwrap().explanation.unwrap().hidden;
    let mut entries: Vec<u64> = hidden.iter().map(|hidden| hidden.entry).collect();
    entries.sort_unstable();
    assert_eq!(entries, [1, 3]);
    assert!(hidden.iter().all(|hidden| hidden.by == "Keeper"));
    let id = PageUrl::parse("http://a.example/2").unwrap().id();
    assert_eq!(curated.search.hidden_by(id).unwrap().by, "Keeper");
    std::fs::remove_file(curated.dir.path().join("curation.json")).unwrap();
    curated.search.reload_curation();
    assert_eq!(curated.found("lamp"), ["1", "2"], "hiding is reversible");
}

#[test]
fn entries_end_at_their_time_although_responses_are_cached() {
    let curated = lamps();
    let until = Some("2026-01-31T13:00:00Z");
    curated.add(pin("lamp", "3", 1), until);
    let text = "The tower is <closed>".to_string();
    let link = Some("https://a.example/closed".to_string());
    curated.add(CurationRule::Notice { query: "lamp".into(), text, link }, until);
    let before = curated.run("lamp");
    assert_eq!(before.notice.as_ref().unwrap().text, "The tower is <closed>");
    assert_eq!(curated.run("lamp").cache, CacheUse::Hit);
    assert!(curated.run("tower").notice.is_none());
    curated.clock.advance(Duration::from_secs(3600));
    let after = curated.run("lamp");
    assert_eq!((after.notice.is_none(), paths(after)), (true, vec!["1".to_string(), "2".to_string()]));
}

#[test]
fn a_preview_shows_entries_that_are_not_stored_and_changes_nothing() {
    let curated = lamps();
    let mut records = CurationRecords::default();
    records.add(curated.change(pin("lamp", "3", 1), None)).unwrap();
    let request = SearchRequest { size: 1, ..SearchRequest::new("lamp") };
    let preview = curated.search.preview(&request, &records).unwrap();
    assert_eq!((preview.hits[0].pinned, paths(preview)), (true, vec!["3".to_string()]));
    let first = curated.search.run(&request).unwrap();
    assert_eq!(first.hits[0].url, "http://a.example/1");
    let second = SearchRequest { page: 2, generation: Some(first.generation), ..request };
    assert_eq!(paths(curated.search.run(&second).unwrap()), ["2"]);
}

#[test]
fn synonyms_find_more_pages_after_those_with_the_typed_word() {
    let curated = Curated::new(&[
        ("http://a.example/typed", "Notes", "people walk to the lighthouse by the shore"),
        ("http://a.example/synonym", "Notes", "people walk to the pharos by the shore"),
        ("http://a.example/han", "Notes", "海边的灯塔"),
        ("http://a.example/nyc", "Notes", "hotels of nyc"),
        ("http://a.example/york", "Notes", "hotels of new york"),
        ("http://a.example/duke", "Notes", "hotels of the duke of york"),
    ]);
    assert_eq!(curated.found("lighthouse"), ["typed"]);
    curated.write("synonyms.tsv", "lighthouse, pharos, 灯塔\npharos, lighthouse\nnew york\tnyc\n");
    let found = curated.found("lighthouses");
    assert_eq!((found[0].as_str(), found.len()), ("typed", 3), "{found:?}");
    assert_eq!(curated.found("灯塔")[0], "han");
    assert_eq!(curated.found("\"lighthouse\""), ["typed"], "quoted words have no synonyms");
    assert_eq!(curated.found("new york hotels")[..2], ["york", "nyc"]);
    assert_eq!(curated.found("nyc"), ["nyc", "york"]);
    let explained = SearchRequest { explain: true, ..SearchRequest::new("new york hotels") };
    let hits = curated.search.run(&explained).unwrap().hits;
    let words = &hits[1].explanation.as_ref().unwrap().words;
    let synonym = words[0].synonym.as_ref().unwrap();
    assert_eq!((synonym.text.as_str(), synonym.synonym_of.as_str()), ("nyc", "new york"));
    assert!(words[2].synonym.is_none());
    assert!(hits[1].snippet_html.contains("<mark>nyc</mark>"), "{}", hits[1].snippet_html);
    curated.write("synonyms.tsv", "");
    assert_eq!(curated.found("lighthouse"), ["typed"]);
}

#[test]
fn additional_stop_words_are_optional_in_queries() {
    let curated = lamps();
    assert_eq!(curated.found("pharos tower"), ["1"], "no page has both words");
    assert!(curated.run("pharos tower").relaxed);
    curated.write("stop_words.txt", "# ours\nPharos\n");
    let response = curated.run("pharos tower");
    assert_eq!((response.relaxed, paths(response)), (false, vec!["1".to_string()]));
    assert_eq!(curated.run("\"pharos\" tower").total, 0, "quoted words are required");
}
