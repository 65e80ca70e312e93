//! The two stages of retrieval (《走进搜索引擎》 §5.4): the index gives some thousand candidates by their words and their static
//! rank, passing over what cannot be among them; each of these is scored by everything that is known of it, and the best are
//! kept.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use pharos_core::PageId;
use pharos_core::config::{QueryConfig, RankConfig, RankModel};
use pharos_index::{Candidate, Evidence, IndexError, Query, Retrieval, Snapshot, WebFigures};
use pharos_text::Analyser;

use crate::boost::Boosts;
use crate::cache::State;
use crate::cache::history::HistoryList;
use crate::expression::Expression;
use crate::intent::{self, Kind};
use crate::rank::basic_weight::Shape;
use crate::rank::combine::Parts;
use crate::rank::sought::SoughtWords;
use crate::rank::user_weight::{ClickRules, ClickWeights, Clicks};
use crate::rank::vector_space::{Vector, Weighing, cosine, vector};
use crate::rank::{Facts, Ranker};
use crate::similar;
use crate::source::Source;
use crate::stage::Stage;

/// Candidates that are looked at before the clock is.
const BATCH: usize = 1_000;

/// Home pages that are looked at beside the candidates.
const HOMES: usize = 64;

/// Matches are counted exactly up to here.
pub(crate) const COUNTED: u64 = 10_000;

/// Ids are hashes already: hashing them must be quick, not hard to foresee.
type PageSet = HashSet<PageId, foldhash::fast::FixedState>;

/// What is asked for, beside the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    /// Copies, too.
    pub(crate) all: bool,
    pub(crate) newest_first: bool,
    /// Pages that have some of the words, from the beginning.
    pub(crate) any_word: bool,
}

/// The best pages for a query.
pub(crate) struct Retrieved {
    pub(crate) kept: Vec<Kept>,
    pub(crate) total: u64,
    pub(crate) total_is_exact: bool,
    pub(crate) is_partial: bool,
    pub(crate) is_relaxed: bool,
    pub(crate) kind: Kind,
    /// Pages that were looked at closely.
    pub(crate) looked_at: usize,
    /// All that match, copies apart, where the candidates were all.
    pub(crate) all: Option<Vec<Candidate>>,
    /// What was asked of the index.
    pub(crate) asked: Option<Query>,
    pub(crate) sought: SoughtWords,
    /// How its words belong together.
    pub(crate) shape: Shape,
    /// What history gave, where that was to be noted.
    pub(crate) history: Option<HistoryList>,
}

impl Retrieved {
    fn nothing() -> Self {
        Self {
            kept: Vec::new(),
            total: 0,
            total_is_exact: true,
            is_partial: false,
            is_relaxed: false,
            kind: Kind::Ordinary,
            looked_at: 0,
            all: None,
            asked: None,
            sought: SoughtWords::default(),
            shape: Shape::And(Vec::new()),
            history: None,
        }
    }
}

/// A page and its score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// With the whole score.
    pub(crate) candidate: Candidate,
    pub(crate) parts: Parts,
}

/// Everything that a query is answered with.
pub(crate) struct Retriever<'a> {
    pub(crate) snapshot: &'a dyn Snapshot,
    pub(crate) analyser: &'a Analyser,
    pub(crate) query: &'a QueryConfig,
    pub(crate) rank: &'a RankConfig,
    pub(crate) boosts: &'a Boosts,
    pub(crate) clicks: &'a Clicks,
    pub(crate) today: i64,
    pub(crate) until: Option<Instant>,
    /// What an answer depends on, where something of it may be known or is to be noted.
    pub(crate) state: Option<&'a State>,
}

/// A query as it is put.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) asked: &'a Expression,
    pub(crate) text: &'a str,
    pub(crate) wanted: Wanted,
}

impl Retriever<'_> {
    /// The best pages.
    pub(crate) fn retrieve(&self, question: Question<'_>) -> Result<Retrieved, IndexError> {
        let found = self.retrieve_from(question, Source::everything(self.snapshot, self.state))?;
        // Everything knows all there is.
        Ok(found.unwrap_or_else(Retrieved::nothing))
    }

    /// The best pages, where it is known what history has; `None` where that is no longer enough.
    pub(crate) fn complete(
        &self,
        question: Question<'_>,
        known: &HistoryList,
    ) -> Result<Option<Retrieved>, IndexError> {
        self.retrieve_from(question, Source::latest(self.snapshot, known))
    }

    fn retrieve_from(
        &self,
        question: Question<'_>,
        mut source: Source<'_>,
    ) -> Result<Option<Retrieved>, IndexError> {
        let Question { asked, wanted, .. } = question;
        let knows = |word: &str, kind| self.snapshot.knows(word, kind);
        let mut found = Retrieved::nothing();
        let mut query = asked.to_query(&knows);
        let mut relaxed = asked.relaxed(&knows);
        found.sought = match asked.related() {
            Some(target) => {
                let Some(sought) = similar::words(target, self.snapshot, self.analyser)? else {
                    return Ok(Some(found));
                };
                let words = sought.terms.iter().map(|term| Query::Word(term.clone())).collect();
                query = Query::And(vec![Query::Or(words), query]);
                relaxed = None;
                sought
            }
            None => SoughtWords::of(&asked.terms(), &knows, self.snapshot)?,
        };
        if !source.fits(&found.sought, self.state) {
            return Ok(None);
        }
        if wanted.any_word
            && let Some(any) = relaxed.take()
        {
            query = any;
            found.is_relaxed = true;
        }
        let mut ask = |step: usize, query: &mut Query, found: &mut Retrieved| {
            self.candidates(step, query, wanted, found, &mut source)
        };
        let stage = Stage::begin();
        let Some(mut candidates) = ask(0, &mut query, &mut found)? else { return Ok(None) };
        if candidates.is_empty()
            && !found.is_partial
            && asked.related().is_none()
            && let Some(apart) = asked.apart(&knows)
        {
            query = apart;
            let Some(more) = ask(1, &mut query, &mut found)? else { return Ok(None) };
            candidates = more;
        }
        if candidates.is_empty()
            && !found.is_partial
            && let Some(any) = relaxed
        {
            query = any;
            found.is_relaxed = true;
            let Some(more) = ask(2, &mut query, &mut found)? else { return Ok(None) };
            candidates = more;
        }
        stage.end("candidates");
        let stage = Stage::begin();
        // Where one word is enough, one decides.
        let any = || Shape::Or((0..found.sought.words.len()).map(Shape::Word).collect());
        let needs_all = !found.is_relaxed && asked.related().is_none();
        found.shape = if needs_all { found.sought.shape(asked) } else { any() };
        let are_all = found.total_is_exact && found.total == candidates.len() as u64 && !wanted.all;
        found.all = are_all.then(|| candidates.clone());
        if wanted.newest_first {
            source.note(candidates.iter().copied(), self.query.max_results);
            candidates.truncate(self.query.max_results);
            found.kept = candidates.iter().map(|c| Kept { candidate: *c, parts: Parts::default() }).collect();
        } else {
            self.score(question, &query, candidates, &mut source, &mut found)?;
        }
        stage.end("rank");
        found.asked = Some(query);
        found.history = source.finish().filter(|_| !found.is_partial);
        Ok(Some(found))
    }

    /// Stage one. Blocked pages are part of the question: they are neither found nor counted.
    fn candidates(
        &self,
        step: usize,
        query: &mut Query,
        wanted: Wanted,
        found: &mut Retrieved,
        source: &mut Source<'_>,
    ) -> Result<Option<Vec<Candidate>>, IndexError> {
        self.boosts.block(query);
        let asked = Retrieval {
            rank_weight: self.query.rank_weight as f32,
            every_address: wanted.all,
            count_up_to: COUNTED,
            newest_first: wanted.newest_first,
            until: self.until,
            ..Retrieval::new(query, self.query.candidates.max(self.query.max_results))
        };
        let Some(of_index) = source.candidates(step, &asked, self.query.max_results)? else {
            return Ok(None);
        };
        (found.total, found.total_is_exact) = (of_index.total, of_index.total_is_exact);
        found.is_partial = of_index.is_partial;
        Ok(Some(of_index.candidates))
    }

    /// Stage two.
    fn score(
        &self,
        question: Question<'_>,
        query: &Query,
        mut candidates: Vec<Candidate>,
        source: &mut Source<'_>,
        found: &mut Retrieved,
    ) -> Result<(), IndexError> {
        let Question { asked, text, wanted } = question;
        let asks_more = intent::may_name_site(asked) || self.boosts.raised().next().is_some();
        let of_index = candidates.iter().filter(|_| asks_more).map(|candidate| candidate.page);
        let mut known: PageSet = of_index.collect();
        let mut new = |more: Vec<Candidate>| -> (Vec<Candidate>, Vec<PageId>) {
            let pages = more.iter().map(|candidate| candidate.page).collect();
            (more.into_iter().filter(|candidate| known.insert(candidate.page)).collect(), pages)
        };
        let with = |filter: Query| {
            let mut both = match query.clone() {
                Query::And(parts) => parts,
                other => vec![other],
            };
            both.push(filter);
            Query::And(both)
        };
        let plain = Retrieval {
            count_up_to: 0,
            every_address: wanted.all,
            until: self.until,
            ..Retrieval::new(query, 0)
        };
        let mut homes = PageSet::default();
        let mut boosted: HashMap<PageId, f64> = HashMap::new();
        let may_name_site = intent::may_name_site(asked);
        if may_name_site && !candidates.is_empty() {
            let query = with(Query::Home);
            let (more, pages) = new(source.homes(&Retrieval { query: &query, limit: HOMES, ..plain })?);
            candidates.extend(more);
            homes.extend(pages);
        }
        for (nth, (filter, by)) in self.boosts.raised().enumerate() {
            let query = with(filter);
            let asked = Retrieval { query: &query, limit: self.query.max_results, ..plain };
            let (more, pages) = new(source.raised(nth, &asked)?);
            candidates.extend(more);
            pages.into_iter().for_each(|page| *boosted.entry(page).or_default() += by);
        }
        let ranker = Ranker {
            config: self.rank,
            sought: &found.sought,
            maxima: self.snapshot.maxima(),
            shape: &found.shape,
            today: self.today,
        };
        let named = self.named(text, &candidates, &homes, &ranker)?;
        found.kind = if !named.is_empty() {
            Kind::Site
        } else if intent::wants_news(asked, self.today) {
            Kind::News
        } else {
            Kind::Ordinary
        };
        let weights = ranker.weights(found.kind);
        let rules = ClickRules { decay: self.rank.click_decay, start: self.rank.click_start };
        let clicks: Option<ClickWeights> = self.clicks.of(text, rules, candidates.iter().map(|c| c.page));
        let mut cosines = Cosines::of(self, &found.sought);
        let mut kept: Vec<Kept> = Vec::with_capacity(candidates.len());
        for batch in candidates.chunks(BATCH) {
            if !kept.is_empty() && self.until.is_some_and(|until| Instant::now() >= until) {
                found.is_partial = true;
                break;
            }
            let evidence: Vec<Evidence> = self.snapshot.evidence(batch, &found.sought.terms)?;
            let figures: Vec<WebFigures> =
                if found.kind == Kind::Site { self.snapshot.figures(batch)? } else { Vec::new() };
            let cosines = cosines.as_mut().map(|cosines| cosines.of_pages(batch)).transpose()?;
            for (nth, candidate) in batch.iter().enumerate() {
                let parts = ranker.parts(
                    found.kind,
                    &Facts {
                        evidence: &evidence[nth],
                        figures: figures.get(nth),
                        is_named: named.contains(&candidate.page),
                        clicks: clicks.as_ref().map(|clicks| clicks.weight(candidate.page)),
                        boost: boosted.get(&candidate.page).copied().unwrap_or_default(),
                        cosine: cosines.as_ref().map(|cosines| cosines[nth]),
                    },
                );
                let score = parts.score(weights, self.rank.combine) as f32;
                let mut candidate = *candidate;
                candidate.score = score;
                kept.push(Kept { candidate, parts });
            }
        }
        found.looked_at = kept.len();
        let by_score = |a: &Kept, b: &Kept| {
            let (a, b) = (&a.candidate, &b.candidate);
            b.score.total_cmp(&a.score).then_with(|| a.page.cmp(&b.page))
        };
        source.note(kept.iter().map(|kept| kept.candidate), self.query.max_results);
        // The best of many, then these in order: sorting all would be for nothing.
        if kept.len() > self.query.max_results && self.query.max_results > 0 {
            kept.select_nth_unstable_by(self.query.max_results - 1, by_score);
            kept.truncate(self.query.max_results);
        }
        kept.sort_unstable_by(by_score);
        found.kept = kept;
        Ok(())
    }
}

impl Retriever<'_> {
    /// The home pages that a query names.
    fn named(
        &self,
        text: &str,
        candidates: &[Candidate],
        homes: &PageSet,
        ranker: &Ranker<'_>,
    ) -> Result<PageSet, IndexError> {
        if homes.is_empty() {
            return Ok(PageSet::default());
        }
        let homes: Vec<Candidate> = candidates.iter().filter(|c| homes.contains(&c.page)).copied().collect();
        let cards = self.snapshot.cards(&homes)?;
        let evidence = self.snapshot.evidence(&homes, &ranker.sought.terms)?;
        let all = homes.iter().zip(cards).zip(evidence);
        let named = all.filter(|((_, card), evidence)| {
            intent::is_name(text, &card.title, &card.url) || ranker.is_called(evidence)
        });
        Ok(named.map(|((home, _), _)| home.page).collect())
    }
}

/// Cosines of pages with the query, for the models that need them.
struct Cosines<'a> {
    retriever: &'a Retriever<'a>,
    weighing: Weighing,
    pages: f64,
    query: Vector,
    /// log2(1/D) of the words seen so far.
    rarity: HashMap<String, f64>,
}

impl<'a> Cosines<'a> {
    /// `None` where the model needs none.
    fn of(retriever: &'a Retriever<'a>, sought: &SoughtWords) -> Option<Self> {
        let weighing = match retriever.rank.model {
            RankModel::Binary => Weighing::Binary,
            RankModel::Tf => Weighing::Frequency,
            RankModel::TfIdf => Weighing::FrequencyAndRarity,
            RankModel::Bm25 | RankModel::BasicWeight => return None,
        };
        let words: Vec<String> = sought.words.iter().map(|word| word.word.clone()).collect();
        let mut cosines = Self {
            retriever,
            weighing,
            pages: sought.pages.max(1.0),
            query: Vector::new(),
            rarity: HashMap::new(),
        };
        cosines.query = cosines.vector(&words).unwrap_or_default();
        Some(cosines)
    }

    fn of_pages(&mut self, pages: &[Candidate]) -> Result<Vec<f64>, IndexError> {
        let snapshot = self.retriever.snapshot;
        let (cards, texts) = (snapshot.cards(pages)?, snapshot.texts(pages)?);
        let cosine_of = |(card, text): (pharos_index::Card, pharos_index::Text)| {
            let tokens = self.retriever.analyser.tokens(&format!("{}\n{}", card.title, text.body));
            let words: Vec<String> = tokens.into_iter().map(|token| token.text).collect();
            let page = self.vector(&words)?;
            Ok(cosine(&self.query, &page))
        };
        cards.into_iter().zip(texts).map(cosine_of).collect()
    }

    fn vector(&mut self, words: &[String]) -> Result<Vector, IndexError> {
        if self.weighing == Weighing::FrequencyAndRarity {
            let new: HashSet<&String> =
                words.iter().filter(|word| !self.rarity.contains_key(*word)).collect();
            let new: Vec<String> = new.into_iter().cloned().collect();
            let with_term = self.retriever.snapshot.frequencies(&new)?.with_term;
            let rarity = |with: u64| (self.pages / (with as f64).clamp(1.0, self.pages)).log2();
            self.rarity.extend(new.into_iter().zip(with_term.into_iter().map(rarity)));
        }
        Ok(vector(words, self.weighing, |word| self.rarity.get(word).copied().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests;
