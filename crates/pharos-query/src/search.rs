//! Answering: parse, retrieve, arrange, show.

use std::sync::{Arc, RwLock};
use std::time::Instant;

use pharos_core::config::{Config, CorrectConfig, QueryConfig, RankConfig};
use pharos_core::{Clock, PageId, PageUrl, SystemClock};
use pharos_index::{Card, Index, IndexError, Snapshot};
use pharos_text::Analyser;
use thiserror::Error;

use crate::answer::Answer;
use crate::boost::Ranking;
use crate::cache::answers::AnswerKey;
use crate::cache::{CacheUse, Caches, State, note};
use crate::correct::Corrector;
use crate::expression::Expression;
use crate::filters::Filters;
use crate::help::Help;
use crate::look::Look;
use crate::parse::parse;
use crate::rank::user_weight::{ClickRules, Clicks};
use crate::retrieve::{COUNTED, Question, Retriever, Wanted};
use crate::stage::Stage;

/// What can go wrong with a query.
#[derive(Debug, Error)]
pub enum QueryError {
    /// The index could not answer.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// What the person typed.
    pub text: String,
    /// Which page of results, from 1; 0 means 1.
    pub page: usize,
    /// Results a page; 0 means the configured number.
    pub size: usize,
    /// Show copies and near-duplicates, too, each as a result of its own, and any number of a site.
    pub all: bool,
    /// The newest first instead of the best.
    pub newest_first: bool,
    /// Pages that have some of the words, from the beginning.
    pub any_word: bool,
    /// Tell how the query was understood and what each result's score is made of.
    pub explain: bool,
    /// Count results by what they are.
    pub facets: bool,
    /// The state of the index that gave the first page of results, so that the others follow on it.
    pub generation: Option<String>,
    /// What is chosen beside the text.
    pub filters: Filters,
}

impl Request {
    /// The first page of results for a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), page: 1, ..Self::default() }
    }
}

/// The query service over an index. Cheap to share; every call is independent.
pub struct Search {
    index: Arc<dyn Index>,
    query: QueryConfig,
    ranking: RwLock<Arc<Ranking>>,
    clicks: RwLock<Arc<Clicks>>,
    clock: Arc<dyn Clock>,
    correct: CorrectConfig,
    help: RwLock<Arc<Help>>,
    pub(crate) caches: Caches,
}

impl Search {
    /// A query service over `index`.
    pub fn new(index: Arc<dyn Index>, config: &Config) -> Self {
        Self {
            index,
            query: config.query.clone(),
            ranking: RwLock::new(Arc::new(Ranking::of(&config.rank))),
            clicks: RwLock::default(),
            clock: Arc::new(SystemClock),
            correct: config.correct.clone(),
            help: RwLock::default(),
            caches: Caches::new(config.cache.memory.bytes()),
        }
    }

    /// Takes the time from another clock.
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Ranks by these settings from now on; what was known before is not shown any more.
    pub fn set_ranking(&self, rank: &RankConfig) {
        if self.ranking().rank != *rank {
            let ranking = Arc::new(Ranking::of(rank));
            *self.ranking.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = ranking;
        }
    }

    /// Ranks by these clicks from now on.
    pub fn set_clicks(&self, clicks: Clicks) {
        *self.clicks.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = Arc::new(clicks);
    }

    /// A day is over: clicks before it count less.
    pub fn end_click_day(&self) {
        let rank = &self.ranking().rank;
        self.clicks().end_day(&ClickRules { decay: rank.click_decay, start: rank.click_start });
    }

    /// Helps people with this from now on.
    pub fn set_help(&self, help: Help) {
        *self.help.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = Arc::new(help);
    }

    /// What people are helped with.
    pub fn help(&self) -> Arc<Help> {
        Arc::clone(&self.help.read().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// The index as it is now.
    pub fn snapshot(&self) -> Result<Arc<dyn Snapshot>, QueryError> {
        Ok(self.index.snapshot()?)
    }

    /// Has an answer so few results that something else was probably meant?
    pub fn is_doubtful(&self, answer: &Answer) -> Result<bool, QueryError> {
        Ok(self.doubtful_results(&*self.index.snapshot()?, answer)?.is_some())
    }

    /// How many results an answer has, where that is so few that something else was probably meant.
    fn doubtful_results(&self, snapshot: &dyn Snapshot, answer: &Answer) -> Result<Option<u64>, QueryError> {
        if answer.query.is_empty() {
            return Ok(None);
        }
        let results = self.exact_results(snapshot, answer)?;
        Ok(Some(results).filter(|results| *results < self.correct.below))
    }

    /// How many pages have everything that was asked, as it was asked.
    fn exact_results(&self, snapshot: &dyn Snapshot, answer: &Answer) -> Result<u64, QueryError> {
        if answer.relaxed {
            return Ok(0);
        }
        let knows = |word: &str, kind| snapshot.knows(word, kind);
        let asked = self.parse(&answer.query);
        if asked.apart(&knows).is_some() {
            // The characters of an unknown word may stand anywhere on the pages that were found.
            Ok(snapshot.count(&asked.to_query(&knows), COUNTED)?.pages)
        } else {
            Ok(answer.total)
        }
    }

    /// What was probably meant instead, where a query has few results: something that has more of them.
    pub fn correction(&self, answer: &Answer) -> Result<Option<String>, QueryError> {
        let help = self.help();
        if help.is_empty() {
            return Ok(None);
        }
        let snapshot = self.index.snapshot()?;
        let Some(results) = self.doubtful_results(&*snapshot, answer)? else { return Ok(None) };
        let pages = |term: &str| {
            let found = snapshot.frequencies(&[term.to_string()]);
            found.ok().and_then(|found| found.with_term.first().copied()).unwrap_or_default()
        };
        let corrector = Corrector { help: &help, costs: &self.correct, pages: &pages };
        for text in corrector.corrections(&answer.query) {
            let knows = |word: &str, kind| snapshot.knows(word, kind);
            let meant = self.parse(&text).to_query(&knows);
            if snapshot.count(&meant, COUNTED)?.pages > results {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// Somebody chose a page from the nth page of results for a query, counted from 1. It counts at once.
    pub fn click(&self, query: &str, page: PageId, nth: usize) {
        self.clicks().click(query, page, nth);
    }

    /// Asks these, so that who asks them next in this state of the index need not wait. Gives how many were not known.
    pub fn warm<'q>(&self, queries: impl IntoIterator<Item = &'q str>) -> Result<usize, QueryError> {
        let mut new = 0;
        for query in queries {
            new += usize::from(self.run(&Request::new(query))?.cache != CacheUse::Hit);
        }
        Ok(new)
    }

    /// Answers a request. Any text is fine.
    pub fn run(&self, request: &Request) -> Result<Answer, QueryError> {
        self.run_within(request, self.query.max_length)
    }

    /// Pages like one, the best first: what `related:` asks for, for addresses of any length.
    pub fn similar(&self, url: &PageUrl, size: usize) -> Result<Answer, QueryError> {
        let text = format!("related:\"{url}\"");
        let length = text.chars().count();
        self.run_within(&Request { size, ..Request::new(text) }, length)
    }

    /// Answers a request whose text may have so many characters.
    fn run_within(&self, request: &Request, length: usize) -> Result<Answer, QueryError> {
        let started = Instant::now();
        let mut answer = self.answer(request, length, started)?;
        answer.took_ms = started.elapsed().as_micros() as f64 / 1000.0;
        Ok(answer)
    }

    /// The answer, if it was given before in this state of everything. Takes microseconds.
    pub fn known(&self, request: &Request) -> Result<Option<Answer>, QueryError> {
        let started = Instant::now();
        let put = self.put(request, self.query.max_length, self.index.at_hand()?);
        let known = put.key.as_ref().and_then(|key| self.caches.answers.get_if_kept(key, &put.state));
        if known.is_some() {
            note("answers", true);
        }
        Ok(known.map(|known| Answer {
            query: put.text,
            cache: CacheUse::Hit,
            took_ms: started.elapsed().as_micros() as f64 / 1000.0,
            ..known
        }))
    }

    /// A request against the state of everything it depends on.
    fn put(&self, request: &Request, length: usize, snapshot: Arc<dyn Snapshot>) -> Put {
        let text: String = request.text.chars().take(length).collect();
        let size = if request.size == 0 { self.query.page_size.max(1) } else { request.size };
        let page = request.page.max(1);
        self.caches.see_history(snapshot.history());
        let clicks = self.clicks();
        let state = State {
            generation: snapshot.generation().to_string(),
            day: self.today(),
            words: self.index.vocabulary(),
            clicks: clicks.stamp(&text),
            ranking: self.ranking(),
        };
        // What follows on another state is not the answer of this one.
        let follows = page > 1 && request.generation.as_ref().is_some_and(|from| *from != state.generation);
        let key = AnswerKey::of(request, &text, page, size).filter(|_| !follows);
        Put { text, size, page, snapshot, clicks, state, key }
    }

    /// The answer, from memory if it was given before in this state of everything.
    fn answer(&self, request: &Request, length: usize, started: Instant) -> Result<Answer, QueryError> {
        let Put { text, size, page, snapshot, clicks, state, key } =
            self.put(request, length, self.index.snapshot()?);
        if let Some(key) = &key {
            let known = self.caches.answers.get(key, &state);
            note("answers", known.is_some());
            if let Some(known) = known {
                return Ok(Answer { query: text, cache: CacheUse::Hit, ..known });
            }
        }
        let stage = Stage::begin();
        let analyser = Analyser::with(Arc::clone(&state.words));
        let typed = parse(&text, &analyser);
        stage.end("understand");
        let mut answer = Answer {
            query: text,
            understood: typed.to_string(),
            generation: snapshot.generation().to_string(),
            total_is_exact: true,
            page,
            ..Answer::default()
        };
        if !typed.is_empty() {
            let mut asked = vec![typed];
            asked.extend(request.filters.expressions(state.day));
            let asked = Expression::all(asked);
            let until = started.checked_add(self.query.time);
            let retriever = self.retriever(&*snapshot, &analyser, &clicks, &state.ranking);
            let retriever = Retriever { until, state: Some(&state), today: state.day, ..retriever };
            let (caches, state) = (&self.caches, &state);
            let look = Look { request, asked: &asked, retriever, caches, state, size };
            look.answer(&mut answer)?;
        }
        // Who chose to see little did not mistype.
        if request.filters.is_empty() {
            let stage = Stage::begin();
            answer.corrected = self.correction(&answer)?;
            stage.end("correct");
        }
        if let Some(key) = key.filter(|_| !answer.partial) {
            self.caches.answers.keep(key, state, &answer);
        }
        Ok(answer)
    }

    /// All pages that match a text, copies too, best first, for those who want nothing shown.
    pub fn matching(&self, text: &str) -> Result<Vec<PageId>, QueryError> {
        let asked = self.parse(text);
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = self.index.snapshot()?;
        let knows = |word: &str, kind| snapshot.knows(word, kind);
        let mut found = snapshot.search_addresses(&asked.to_query(&knows), usize::MAX)?;
        if found.candidates.is_empty()
            && let Some(apart) = asked.apart(&knows)
        {
            found = snapshot.search_addresses(&apart, usize::MAX)?;
        }
        Ok(found.candidates.iter().map(|candidate| candidate.page).collect())
    }

    /// The best `count` pages for a text, copies too, in the order of their ranks; nothing is folded or shown.
    pub fn best(&self, text: &str, count: usize) -> Result<Vec<PageId>, QueryError> {
        self.ranked(text, count, Wanted { all: true, newest_first: false, any_word: false })
    }

    /// The best `count` pages that have some of the words.
    pub(crate) fn best_of_any(&self, text: &str, count: usize) -> Result<Vec<PageId>, QueryError> {
        self.ranked(text, count, Wanted { all: false, newest_first: false, any_word: true })
    }

    /// There is no limit of time.
    fn ranked(&self, text: &str, count: usize, wanted: Wanted) -> Result<Vec<PageId>, QueryError> {
        let analyser = Analyser::with(self.index.vocabulary());
        let text: String = text.chars().take(self.query.max_length).collect();
        let asked = parse(&text, &analyser);
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = self.index.snapshot()?;
        let query = QueryConfig { max_results: count, ..self.query.clone() };
        let (clicks, ranking) = (self.clicks(), self.ranking());
        let retriever = self.retriever(&*snapshot, &analyser, &clicks, &ranking);
        let retriever = Retriever { query: &query, ..retriever };
        let found = retriever.retrieve(Question { asked: &asked, text: &text, wanted })?;
        Ok(found.kept.iter().map(|kept| kept.candidate.page).collect())
    }

    /// How many results can be paged through at most.
    pub fn max_results(&self) -> usize {
        self.query.max_results
    }

    /// One page by its id.
    pub fn page(&self, id: PageId) -> Result<Option<Card>, QueryError> {
        Ok(self.index.snapshot()?.page(id)?.map(|page| page.card))
    }

    /// How many pages can be found.
    pub fn pages(&self) -> Result<u64, QueryError> {
        Ok(self.index.snapshot()?.pages()?)
    }

    /// The words of a query that its results contain.
    pub fn words(&self, text: &str) -> Vec<String> {
        self.parse(text).words()
    }

    /// Understands a text with the words of the installation as they are now.
    fn parse(&self, text: &str) -> Expression {
        let text: String = text.chars().take(self.query.max_length).collect();
        parse(&text, &Analyser::with(self.index.vocabulary()))
    }

    fn retriever<'a>(
        &'a self,
        snapshot: &'a dyn Snapshot,
        analyser: &'a Analyser,
        clicks: &'a Clicks,
        ranking: &'a Ranking,
    ) -> Retriever<'a> {
        Retriever {
            snapshot,
            analyser,
            query: &self.query,
            rank: &ranking.rank,
            boosts: &ranking.boosts,
            clicks,
            today: self.today(),
            until: None,
            state: None,
        }
    }

    /// The day it is.
    fn today(&self) -> i64 {
        self.clock.now().seconds().div_euclid(86_400)
    }

    fn ranking(&self) -> Arc<Ranking> {
        Arc::clone(&self.ranking.read().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    fn clicks(&self) -> Arc<Clicks> {
        Arc::clone(&self.clicks.read().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

/// A request, and all that its answer depends on.
struct Put {
    text: String,
    size: usize,
    page: usize,
    snapshot: Arc<dyn Snapshot>,
    clicks: Arc<Clicks>,
    state: State,
    /// Names the answer, where it may be known.
    key: Option<AnswerKey>,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::filters::Age;
    use pharos_core::LibraryPosition;
    use pharos_index::{Change, Document, EmbeddedIndex};

    fn search(pages: &[(&str, &str, &str)]) -> (tempfile::TempDir, Search) {
        let dir = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open_writer(dir.path(), 16 << 20, 1 << 20).unwrap();
        let changes = pages.iter().map(|(url, title, body)| {
            Change::Put(Box::new(Document {
                title: (*title).into(),
                body: (*body).into(),
                lang: "en".into(),
                ..Document::new(PageUrl::parse(url).unwrap())
            }))
        });
        index.apply(changes.collect()).unwrap();
        index.commit(LibraryPosition { file: 1, offset: 1 }).unwrap();
        (dir, Search::new(Arc::new(index), &Config::default()))
    }

    #[test]
    fn the_better_page_comes_first_with_its_words_marked() {
        let (_dir, search) = search(&[
            ("http://a.example/1", "A walk", "we saw a lighthouse and much else on the way"),
            ("http://a.example/2", "The lighthouse", "lighthouse keepers"),
            ("http://b.example/3", "Tea", "nothing of the kind"),
        ]);
        let answer = search.run(&Request::new("Lighthouse")).unwrap();
        assert_eq!(answer.total, 2);
        assert_eq!(answer.hits[0].url, "http://a.example/2");
        assert_eq!(answer.hits[0].title_html, "The <mark>lighthouse</mark>");
        assert!(answer.hits[1].snippet_html.contains("<mark>lighthouse</mark>"));
        assert_eq!(answer.hits[0].site, "a.example");
        assert_eq!(search.run(&Request::new("lighthouse site:b.example")).unwrap().total, 0);
        let id = PageUrl::parse("http://b.example/3").unwrap().id();
        assert_eq!(search.page(id).unwrap().unwrap().title, "Tea");
    }

    #[test]
    fn what_an_operator_blocks_is_gone_at_once() {
        let (_dir, search) = search(&[
            ("http://a.example/1", "The lighthouse", "lighthouse keepers"),
            ("http://b.example/2", "Lighthouses", "a lighthouse and its keepers"),
        ]);
        let found = |cache| {
            let answer = search.run(&Request::new("lighthouse")).unwrap();
            assert_eq!(answer.cache, cache);
            answer.hits.into_iter().map(|hit| hit.site).collect::<HashSet<_>>()
        };
        assert_eq!(found(CacheUse::Miss).len(), 2);
        let mut rank = Config::default().rank;
        search.set_ranking(&rank);
        assert_eq!(found(CacheUse::Hit).len(), 2, "nothing has changed");
        rank.block = vec!["b.example".into()];
        search.set_ranking(&rank);
        assert_eq!(found(CacheUse::Miss), HashSet::from(["a.example".to_string()]));
    }

    #[test]
    fn a_page_with_any_address_has_its_like() {
        let long = format!("http://a.example/({})|x", "long/".repeat(100));
        let text = "lighthouse keepers light the lamp of the lighthouse";
        let (_dir, search) = search(&[
            (&long, "The lighthouse", text),
            ("http://b.example/2", "Lighthouses", text),
            ("http://b.example/3", "Tea", "nothing of the kind"),
        ]);
        let urls = |url: &str| -> Vec<String> {
            let answer = search.similar(&PageUrl::parse(url).unwrap(), 10).unwrap();
            answer.hits.into_iter().map(|hit| hit.url).collect()
        };
        assert_eq!(urls(&long), ["http://b.example/2"]);
        assert_eq!(urls("http://b.example/none"), [""; 0]);
    }

    #[test]
    fn pages_of_results_do_not_overlap_and_end() {
        let urls: Vec<String> = (0..25).map(|n| format!("http://a.example/{n}")).collect();
        let pages: Vec<_> = urls.iter().map(|u| (u.as_str(), "Same", "same words")).collect();
        let (_dir, search) = search(&pages);
        let mut seen = HashSet::new();
        for page in 1..=3 {
            let answer = search.run(&Request { page, size: 10, ..Request::new("same") }).unwrap();
            assert_eq!((answer.total, answer.page), (25, page));
            seen.extend(answer.hits.into_iter().map(|h| h.url));
        }
        assert_eq!(seen.len(), 25);
        for page in [4, 1000, usize::MAX] {
            let answer = search.run(&Request { page, size: 10, ..Request::new("same") }).unwrap();
            assert_eq!((answer.hits.len(), answer.last_page), (0, Some(3)));
        }
    }

    #[test]
    fn forms_are_found_exact_ones_first_and_quotes_mean_what_they_say() {
        let (_dir, search) = search(&[
            ("http://a.example/run", "Notes", "people run along the shore"),
            ("http://a.example/running", "Notes", "people running along the shore"),
            ("http://a.example/other", "Notes", "people walk along the shore"),
        ]);
        let urls = |text: &str| -> Vec<String> {
            let answer = search.run(&Request::new(text)).unwrap();
            answer.hits.into_iter().map(|hit| hit.url.replace("http://a.example/", "")).collect()
        };
        assert_eq!(urls("running"), ["running", "run"]);
        assert_eq!(urls("run"), ["run", "running"]);
        assert_eq!(urls("\"running\""), ["running"]);
        assert_eq!(urls("\"people run\""), ["run"]);
        assert_eq!(urls("the people of a run").len(), 2, "stop words need not be there");
        assert_eq!(urls("\"of the shore\"").len(), 0, "in quotes they must");
        assert_eq!(urls("the").len(), 3);
    }

    #[test]
    fn who_mistypes_is_asked_what_was_meant_and_gets_what_was_asked() {
        let (dir, search) = search(&[
            ("http://a.example/1", "The lighthouse", "lighthouse keepers of the north"),
            ("http://a.example/2", "周杰伦演唱会 - 海港音乐网", "周杰伦的演唱会"),
            ("http://a.example/3", "Tea and lighthouses", "a lamp"),
        ]);
        assert_eq!(
            search.run(&Request::new("lighthuose keepers")).unwrap().corrected,
            None,
            "nobody helps yet"
        );
        let config = Config::default();
        let snapshot = search.snapshot().unwrap();
        let gather = |before: &Help| {
            let queries = [("lighthouse keepers".to_string(), 9)];
            Help::gather(dir.path(), &*snapshot, queries, &config.suggest, before).unwrap()
        };
        search.set_help(gather(&gather(&Help::default())));
        let answer = search.run(&Request::new("lighthuose keepers of")).unwrap();
        assert_eq!(answer.corrected.as_deref(), Some("lighthouse keepers of"));
        assert!(answer.relaxed && answer.query == "lighthuose keepers of");
        let answer = search.run(&Request::new("周结伦")).unwrap();
        assert_eq!((answer.corrected.as_deref(), answer.total), (Some("周杰伦"), 0));
        for right in ["lighthouse", "\"lighthuose\"", "zzzzzz", ""] {
            assert_eq!(search.run(&Request::new(right)).unwrap().corrected, None, "{right}");
        }
        let suggest = |typed| -> Vec<String> {
            search.help().suggest(typed, 3).into_iter().map(|suggestion| suggestion.text).collect()
        };
        assert_eq!(suggest("ligh")[0], "lighthouse keepers", "what people asked comes first");
        assert_eq!(suggest("zhoujie"), ["周杰伦演唱会", "周杰伦"]);
        assert_eq!(suggest("haigang"), ["海港音乐网", "海港"]);
        assert!(suggest("\u{0}").is_empty() && suggest("").is_empty());
        let blocked =
            pharos_core::config::SuggestConfig { block: vec!["Keeper".into()], ..config.suggest.clone() };
        search.set_help(
            Help::gather(
                dir.path(),
                &*snapshot,
                [("lighthouse keepers".into(), 9)],
                &blocked,
                &Help::default(),
            )
            .unwrap(),
        );
        assert!(!suggest("ligh").contains(&"lighthouse keepers".to_string()));
    }

    #[test]
    fn filters_narrow_what_the_words_find_and_are_remembered_apart() {
        let (_dir, search) = search(&[
            ("http://a.example/1", "Lighthouse", "a lamp"),
            ("http://b.example/2", "Lighthouse", "a lamp by the sea"),
        ]);
        let with = |filters: Filters| {
            let request = Request { filters, facets: true, ..Request::new("lighthouse") };
            let (asked, again) = (search.run(&request).unwrap(), search.known(&request).unwrap().unwrap());
            assert_eq!(again.cache, CacheUse::Hit);
            assert_eq!((&asked.hits, &asked.facets), (&again.hits, &again.facets));
            asked
        };
        let site = |site: &str| Filters { site: Some(site.into()), ..Filters::default() };
        assert_eq!(with(Filters::default()).total, 2);
        let narrow = with(site("b.example"));
        assert_eq!((narrow.total, narrow.hits[0].url.as_str()), (1, "http://b.example/2"));
        assert_eq!((narrow.query.as_str(), narrow.understood.as_str()), ("lighthouse", "lighthouse"));
        assert_eq!(narrow.facets["site"].len(), 1);
        assert_eq!(with(site("nowhere.example")).total, 0);
        assert_eq!(with(site("a:b@c/ \n")).total, 0, "no site is no error");
        assert_eq!(with(Filters { lang: Some("EN".into()), ..Filters::default() }).total, 2);
        assert_eq!(with(Filters { format: Some("pdf".into()), ..Filters::default() }).total, 0);
        assert_eq!(
            with(Filters { time: Some(Age::Year), ..Filters::default() }).total,
            0,
            "they have no date"
        );
        assert!(search.known(&Request::new("never asked")).unwrap().is_none());
    }

    #[test]
    fn nothing_asked_nothing_found() {
        let (_dir, search) = search(&[("http://a.example/", "T", "b")]);
        for text in ["", "???", "absent"] {
            let answer = search.run(&Request::new(text)).unwrap();
            assert_eq!((answer.total, answer.hits.len()), (0, 0));
        }
        assert_eq!(search.pages().unwrap(), 1);
    }
}
