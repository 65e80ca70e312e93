//! Both retrieval stages on small indexes.

use std::collections::HashSet;
use std::sync::Arc;

use pharos_core::{Config, LibraryPosition, PageUrl};
use pharos_index::{
    Candidate, Index, IndexChange, IndexDocument, IndexError, LinkFigures, LinkMaxima, RetrievalRequest,
    RetrievalResult,
};
use pharos_text::Analyser;

use crate::cache::ResponseState;
use crate::language::parse::parse;
use crate::rank::boost::RankingRules;
use crate::rank::query_words::QueryWords;
use crate::retrieval::candidate_source::{CandidateSource, WholeIndex};
use crate::retrieval::retriever::{RetrievalQuery, Retriever};
use crate::testing::{begin_history, open_index};
use crate::{Clicks, QueryProcessor, ResultOptions, SearchRequest};

const AT: LibraryPosition = LibraryPosition::new(1, 1);

fn page(nth: usize, body: &str) -> IndexDocument {
    IndexDocument {
        body: body.into(),
        ..IndexDocument::new(PageUrl::parse(&format!("http://s{nth}.example/{nth}")).unwrap())
    }
}

fn search(dir: &tempfile::TempDir, pages: &[IndexDocument], config: &Config) -> QueryProcessor {
    let index = open_index(dir.path());
    let _builder = index.generations().lock_builder().unwrap();
    let mut maxima = LinkMaxima::default();
    pages.iter().for_each(|page| maxima.include(&page.link_figures));
    let history = begin_history(&*index);
    let mut history = history.with_maxima(maxima).unwrap();
    pages.iter().for_each(|page| history.add(page).unwrap());
    index.generations().install(history.finish(AT.into()).unwrap()).unwrap();
    index.commit(&AT.into()).unwrap();
    QueryProcessor::new(index, config)
}

fn paths(search: &QueryProcessor, request: &SearchRequest) -> Vec<String> {
    let hits = search.run(request).unwrap().hits.into_iter();
    hits.map(|hit| hit.url.rsplit('/').next().unwrap().to_string()).collect()
}

/// Page 1 contains the words twice and once, page 2 once each, page 3 only the first word, three times.
#[test]
fn both_words_are_asked_for_and_more_is_better() {
    let pages = [
        page(1, "搜索引擎与搜索引擎的系统构成"),
        page(2, "搜索引擎以及它们的系统构成吧"),
        page(3, "搜索引擎，搜索引擎，搜索引擎"),
    ];
    let dir = tempfile::tempdir().unwrap();
    let search = search(&dir, &pages, &Config::default());
    assert_eq!(paths(&search, &SearchRequest::new("搜索引擎 系统构成")), ["1", "2"]);
    let answer = search.run(&SearchRequest::new("搜索引擎 灯塔")).unwrap();
    assert!(answer.relaxed, "no page has both, so those with one are shown");
    assert_eq!((answer.total, answer.partial_total, answer.hits.len()), (0, 3, 3));
    assert_eq!(
        (answer.hits[0].missing.as_slice(), answer.exact_query.as_deref()),
        (["灯塔".to_string()].as_slice(), Some("+搜索引擎 +灯塔"))
    );
    let strict = search.run(&SearchRequest::new("搜索引擎 -系统构成")).unwrap();
    assert_eq!((strict.relaxed, strict.total), (false, 1));
}

/// The first candidates by static rank are scored, and the best of them by text score are kept.
#[test]
fn many_match_some_are_looked_at_and_few_are_kept() {
    let pages: Vec<IndexDocument> = (0..2_000)
        .map(|nth| {
            let link_figures = LinkFigures { page_rank: nth as f32, ..LinkFigures::default() };
            IndexDocument {
                link_figures,
                ..page(nth, if nth % 100 == 0 { "lamp lamp" } else { "lamp rock" })
            }
        })
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    (config.query.candidates, config.query.rank_weight) = (500, 1_000.0);
    let search = search(&dir, &pages, &config);
    let answer =
        search.run(&SearchRequest { explain: true, size: 300, ..SearchRequest::new("lamp") }).unwrap();
    assert_eq!((answer.total, answer.hits.len()), (2_000, 256));
    assert_eq!(answer.explanation.unwrap().candidates, 500);
    let ranks: Vec<usize> =
        answer.hits.iter().map(|hit| hit.url.rsplit('/').next().unwrap().parse().unwrap()).collect();
    assert!(ranks.iter().all(|rank| *rank >= 1_500), "the first 500 by rank");
    assert!(ranks[..5].iter().all(|rank| rank % 100 == 0), "and of these the best by their match: {ranks:?}");
}

#[test]
fn there_are_26_pages_at_most() {
    let pages: Vec<IndexDocument> = (0..400).map(|nth| page(nth, "lamp")).collect();
    let dir = tempfile::tempdir().unwrap();
    let search = search(&dir, &pages, &Config::default());
    let answer = search.run(&SearchRequest::new("lamp")).unwrap();
    assert_eq!((answer.total, answer.last_page), (400, Some(26)));
    assert_eq!(search.run(&SearchRequest { page: 26, ..SearchRequest::new("lamp") }).unwrap().hits.len(), 6);
    assert_eq!(search.run(&SearchRequest { page: 27, ..SearchRequest::new("lamp") }).unwrap().hits.len(), 0);
    assert_eq!(
        search.run(&SearchRequest { page: 1_000_000_000, ..SearchRequest::new("lamp") }).unwrap().hits.len(),
        0
    );
}

#[test]
fn time_that_is_up_gives_what_there_is() {
    let pages: Vec<IndexDocument> = (0..3_000).map(|nth| page(nth, "lamp rock")).collect();
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.query.time = std::time::Duration::ZERO;
    let search = search(&dir, &pages, &config);
    for text in ["lamp", "lamp OR rock", "\"lamp rock\"", "site:example", "intitle:lamp OR lamp"] {
        let answer = search.run(&SearchRequest::new(text)).unwrap();
        assert!(answer.partial && !answer.total_is_exact && !answer.hits.is_empty(), "{text}: {answer:?}");
    }
}

#[test]
fn further_pages_follow_on_the_first_though_the_index_changes() {
    let dir = tempfile::tempdir().unwrap();
    let index = open_index(dir.path());
    let put = |index: &dyn Index, pages: std::ops::Range<usize>, times: usize| {
        let changes =
            pages.map(|nth| IndexChange::Put(Box::new(page(nth, &"lamp ".repeat(times))))).collect();
        index.apply(changes).unwrap();
        index.commit(&AT.into()).unwrap();
    };
    put(&*index, 0..30, 2);
    let search = QueryProcessor::new(Arc::clone(&index) as Arc<dyn Index>, &Config::default());
    let first = search.run(&SearchRequest::new("lamp")).unwrap();
    put(&*index, 100..140, 9);
    index.apply(vec![IndexChange::Gone(page(3, "").url.id())]).unwrap();
    index.commit(&AT.into()).unwrap();
    let mut seen: Vec<String> = first.hits.iter().map(|hit| hit.url.clone()).collect();
    for number in 2..=3 {
        let generation = Some(first.generation.clone());
        let request = SearchRequest { page: number, generation, facets: true, ..SearchRequest::new("lamp") };
        let next = search.run(&request).unwrap();
        assert!(!next.facets["site"].is_empty(), "facets are returned on every page");
        assert_eq!((next.generation.as_str(), next.total), (first.generation.as_str(), 30));
        seen.extend(next.hits.into_iter().map(|hit| hit.url));
    }
    let different: HashSet<&String> = seen.iter().collect();
    assert_eq!(different.len(), seen.len(), "no duplicates");
    assert!(
        seen.len() >= 29 && seen.iter().all(|url| !url.starts_with("http://s1") || url.len() < 22),
        "{seen:?}"
    );
}

#[test]
fn the_newest_come_first_where_asked_for() {
    let dated = |nth: usize, date: &str| IndexDocument { date: Some(date.into()), ..page(nth, "lamp") };
    let pages =
        [page(1, "lamp lamp lamp"), dated(2, "2020-01-01"), dated(3, "2026-01-01"), dated(4, "2024-05-05")];
    let dir = tempfile::tempdir().unwrap();
    let search = search(&dir, &pages, &Config::default());
    let newest = SearchRequest {
        options: ResultOptions { newest_first: true, ..ResultOptions::default() },
        ..SearchRequest::new("lamp")
    };
    assert_eq!(paths(&search, &newest), ["3", "4", "2", "1"]);
    assert_eq!(paths(&search, &SearchRequest::new("lamp after:2024 before:2025")), ["4"]);
}

#[test]
fn what_an_operator_raises_and_blocks_is_seen() {
    let pages: Vec<IndexDocument> = (0..5).map(|nth| page(nth, &"lamp ".repeat(nth + 1))).collect();
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.rank.boost = vec!["s0.example 0.5".into()];
    config.rank.block = vec!["s4.example".into()];
    let search = search(&dir, &pages, &config);
    let answer = search.run(&SearchRequest { explain: true, ..SearchRequest::new("lamp") }).unwrap();
    assert_eq!((answer.total, answer.hits[0].site.as_str()), (4, "s0.example"));
    let parts = &answer.hits[0].explanation.as_ref().unwrap().parts;
    assert!(parts.iter().any(|part| part.part == "boost" && part.gives == 0.5), "{parts:?}");
    let sum: f64 = parts.iter().map(|part| part.gives).sum();
    assert!((sum - f64::from(answer.hits[0].score)).abs() < 1e-5, "the contributions sum to the score");
}

#[test]
fn every_model_ranks() {
    let pages =
        [page(1, "lamp"), page(2, "lamp and much else that is said of other things"), page(3, "rock")];
    for model in ["bm25", "basic-weight", "binary", "tf", "tfidf"] {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.set("rank.model", model, "").unwrap();
        for combine in ["sum", "product"] {
            config.set("rank.combine", combine, "").unwrap();
            let dir = dir.path().join(combine);
            std::fs::create_dir(&dir).unwrap();
            let dir = tempfile::tempdir_in(dir).unwrap();
            let search = search(&dir, &pages, &config);
            let found = paths(&search, &SearchRequest::new("lamp"));
            assert_eq!(found.len(), 2, "{model} {combine}");
            assert!(combine == "product" || found == ["1", "2"], "{model} {combine}: {found:?}");
        }
    }
}

#[test]
fn pages_like_another_are_found() {
    let pages = [
        page(1, "The keeper lit the lamp of the lighthouse on the rock."),
        page(2, "A lighthouse keeper and his lamp, on another rock."),
        page(3, "Bread is made of flour, water and salt."),
        page(4, "Flour and water make bread; salt makes it good."),
    ];
    let dir = tempfile::tempdir().unwrap();
    let search = search(&dir, &pages, &Config::default());
    assert_eq!(paths(&search, &SearchRequest::new("related:http://s1.example/1")), ["2"]);
    assert_eq!(paths(&search, &SearchRequest::new("related:s3.example/3")), ["4"]);
    assert_eq!(search.run(&SearchRequest::new("related:s9.example/9")).unwrap().total, 0);
}

#[test]
fn pages_with_most_of_the_words_follow_those_with_all() {
    let pages = [
        page(1, "The keeper of the lighthouse cleans the lamp."),
        page(2, "A lighthouse keeper and his rock. A keeper of the lighthouse."),
        page(3, "The lamp of a desk, a lamp for reading."),
        page(4, "Bread is made of flour."),
    ];
    let dir = tempfile::tempdir().unwrap();
    let search = search(&dir, &pages, &Config::default());
    let run = |text: &str| search.run(&SearchRequest::new(text)).unwrap();
    let response = run("lighthouse keeper lamp");
    let urls = |response: &crate::SearchResponse| {
        response.hits.iter().map(|hit| hit.url[8..9].to_string()).collect::<Vec<_>>()
    };
    assert_eq!((urls(&response), response.relaxed), (vec!["1".to_string(), "2".into()], false));
    assert_eq!((response.total, response.partial_total, response.matches()), (1, 1, 2));
    assert!(response.hits[0].missing.is_empty() && response.hits[1].missing == ["lamp"]);
    assert_eq!(response.exact_query.as_deref(), Some("+lighthouse +keeper +lamp"));
    for strict in ["+lighthouse +keeper +lamp", "\"keeper\" +lighthouse +lamp"] {
        let response = run(strict);
        assert_eq!((urls(&response), response.partial_total), (vec!["1".to_string()], 0), "{strict}");
    }
    let facets = SearchRequest { facets: true, ..SearchRequest::new("lighthouse keeper lamp") };
    let counted: u64 = search.run(&facets).unwrap().facets["site"].iter().map(|site| site.pages).sum();
    assert_eq!(counted, 2, "filters count partial matches, too");
    let question = run("how does the keeper clean a lamp");
    assert_eq!((urls(&question)[0].as_str(), question.total), ("1", 1));
    assert!(question.hits[0].missing.is_empty(), "question words are not reported");
    let mut config = Config::default();
    config.query.partial_below = 0;
    drop(search);
    let strict = QueryProcessor::new(open_index(dir.path()), &config);
    assert_eq!(strict.run(&SearchRequest::new("lighthouse bread")).unwrap().matches(), 0);
}

/// A source that writes down the calls to it, and gives up at one of them.
struct RecordedCalls<'a> {
    source: WholeIndex<'a>,
    calls: Vec<String>,
    gives_up_at: &'a str,
}

impl RecordedCalls<'_> {
    /// Returns `true` if the source goes on.
    fn record(&mut self, call: &str) -> bool {
        self.calls.push(call.to_string());
        call != self.gives_up_at
    }
}

impl CandidateSource for RecordedCalls<'_> {
    fn accepts(&mut self, query_words: &QueryWords, state: Option<&ResponseState>) -> bool {
        self.record("accepts") && self.source.accepts(query_words, state)
    }

    fn candidates(
        &mut self,
        step: usize,
        request: &RetrievalRequest<'_>,
        results: usize,
    ) -> Result<Option<RetrievalResult>, IndexError> {
        if !self.record(&format!("candidates {step}")) {
            return Ok(None);
        }
        self.source.candidates(step, request, results)
    }

    fn partial_matches(
        &mut self,
        request: &RetrievalRequest<'_>,
    ) -> Result<Option<RetrievalResult>, IndexError> {
        if !self.record("partial_matches") {
            return Ok(None);
        }
        self.source.partial_matches(request)
    }

    fn home_pages(&mut self, request: &RetrievalRequest<'_>) -> Result<Vec<Candidate>, IndexError> {
        self.record("home_pages");
        self.source.home_pages(request)
    }

    fn boosted(&mut self, nth: usize, request: &RetrievalRequest<'_>) -> Result<Vec<Candidate>, IndexError> {
        self.record(&format!("boosted {nth}"));
        self.source.boosted(nth, request)
    }

    fn record_best(&mut self, scored: &mut dyn Iterator<Item = Candidate>, results: usize) {
        self.record("record_best");
        self.source.record_best(scored, results);
    }
}

#[test]
fn a_source_is_called_in_the_order_of_its_protocol() {
    let dir = tempfile::tempdir().unwrap();
    let index = open_index(dir.path());
    index.apply(vec![IndexChange::Put(Box::new(page(1, "lamp rock")))]).unwrap();
    index.commit(&AT.into()).unwrap();
    let mut config = Config::default();
    config.rank.boost = vec!["s1.example 0.5".into(), "s2.example 0.1".into()];
    let (view, analyser) = (index.view().unwrap(), Analyser::with_vocabulary(index.vocabulary()));
    let (ranking, clicks) = (RankingRules::from_config(&config.rank), Clicks::default());
    let retriever = Retriever {
        view: &*view,
        analyser: &analyser,
        query: &config.query,
        rank: &ranking.rank,
        boosts: &ranking.boosts,
        hidden: &[],
        clicks: &clicks,
        today: 0,
        until: None,
        state: None,
    };
    let calls = |text: &str, options: ResultOptions, gives_up_at: &str| {
        let mut source =
            RecordedCalls { source: WholeIndex::new(&*view, None), calls: Vec::new(), gives_up_at };
        let expression = parse(text, &analyser);
        let query = RetrievalQuery { expression: &expression, text, options };
        let found = retriever.retrieve_from(query, &mut source).unwrap();
        assert_eq!(found.is_none(), source.calls.iter().any(|call| call == gives_up_at));
        source.calls.join(", ")
    };
    let (best, newest) =
        (ResultOptions::default(), ResultOptions { newest_first: true, ..ResultOptions::default() });
    let beside = "home_pages, boosted 0, boosted 1, record_best";
    assert_eq!(calls("lamp", best, ""), format!("accepts, candidates 0, {beside}"));
    assert_eq!(calls("lamp absent", best, ""), format!("accepts, candidates 0, partial_matches, {beside}"));
    assert_eq!(
        calls("site:s1.example lamp", best, ""),
        "accepts, candidates 0, boosted 0, boosted 1, record_best",
        "such a query names no site"
    );
    assert_eq!(calls("lamp", newest, ""), "accepts, candidates 0, record_best");
    assert_eq!(calls("lamp", best, "accepts"), "accepts");
    assert_eq!(calls("lamp absent", best, "partial_matches"), "accepts, candidates 0, partial_matches");
    assert_eq!(calls("related:nowhere.example", best, ""), "", "nothing can be found");
}

/// The best pages for a long query share a word that the query lacks; a page with it outranks one without.
#[test]
fn words_of_the_best_results_count_for_long_queries() {
    let long = "red lamp stands upon windy rocks";
    let good = (1..=10).map(|nth| page(nth, "red lamp stands upon windy rocks with a fresnel lens"));
    let others = [
        page(11, "rocks, red lamp, upon a windy hill, stands of the grass"),
        page(12, "rocks, red lamp, upon a windy hill, stands of the fresnel"),
    ];
    let filler = (13..60).map(|nth| page(nth, "grass and something else"));
    let pages: Vec<IndexDocument> = good.chain(others).chain(filler).collect();
    let explained = |feedback_words: usize, text: &str| {
        let mut config = Config::default();
        config.query.feedback_words = feedback_words;
        let dir = tempfile::tempdir().unwrap();
        let search = search(&dir, &pages, &config);
        let options = ResultOptions { all: true, ..ResultOptions::default() };
        let request = SearchRequest { explain: true, size: 20, options, ..SearchRequest::new(text) };
        let answer = search.run(&request).unwrap();
        let words = |url: &str| {
            let hit = answer.hits.iter().find(|hit| hit.url.ends_with(url)).unwrap();
            hit.explanation.as_ref().unwrap().parts.iter().find(|part| part.part == "words").unwrap().value
        };
        (words("/12") - words("/11"), answer.explanation.unwrap().feedback)
    };
    let (without, none) = explained(0, long);
    let (with, words) = explained(5, long);
    assert!(none.is_empty() && words.iter().any(|word| word.contains("fresnel")), "{words:?}");
    assert!(with > without + 0.01, "{with} {without}");
    assert!(explained(5, "red lamp").1.is_empty(), "short queries name what they want");
}
