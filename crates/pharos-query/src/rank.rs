//! Ranking: scores how well a page matches a query.
//!
//! Three levels are combined by a weighted sum (《搜索引擎——原理、技术与系统》§8.1, §10.3): the proximity of the words
//! (`proximity`), their occurrence in title and anchors, and the text score with the importance of the page. Each
//! part is between 0 and 1:
//!
//! | part | definition |
//! |---|---|
//! | words (WB) | `bm25` as s/(s+c), where c is the weight of the query words: a page of mean length with one occurrence of each scores about 0.5. Alternatives: `basic_weight` relative to its maximum, or a cosine (`vector_space`) |
//! | near | pairs of neighbouring words; 1 if they occur as in the query |
//! | title | share of the query in the title, higher if the title contains little else; or in anchors |
//! | links (WL) | rank of page and site on a logarithmic scale relative to the maximum; for queries that name a site also in-links from other sites |
//! | home | for queries that name a site: named home page, number of in-links, anchor texts, domain depth, number of copies |
//! | clicks (WU) | `user_weight`, or `hot_clicks` if the query has no clicks |
//! | fresh | halves with every half-life |
//! | other | share of the query found only outside the main content (menus, comments, code) |
//!
//! Each kind of query ([`QueryKind`]) has its own table of weights, which are settings. [`combine`] combines the
//! parts.

pub(crate) mod basic_weight;
pub(crate) mod bm25;
pub(crate) mod boost;
pub mod combine;
mod hot_clicks;
pub(crate) mod proximity;
pub(crate) mod query_words;
pub(crate) mod user_weight;
pub(crate) mod vector_space;

use pharos_core::config::{RankConfig, RankModel, ScoreWeights};
use pharos_index::document::zones::Zone;
use pharos_index::read::evidence::Evidence;
use pharos_index::{LinkFigures, LinkMaxima};
use serde::Serialize;
use smallvec::SmallVec;
use utoipa::ToSchema;

use self::basic_weight::{PageLengths, QueryShape};
use self::bm25::Bm25;
use self::combine::ScoreParts;
use self::proximity::PlacedWord;
use self::query_words::{QueryWord, QueryWords, WordOccurrences};
use crate::language::intent::QueryKind;

/// Additional weight of a word in its exact form; measured in [`pharos_text::analyser::stem`].
pub(crate) const EXACT_FORM_BONUS: f32 = 0.5;

/// Weight of a synonym relative to the typed word.
pub(crate) const SYNONYM_WEIGHT: f32 = 0.5;

/// Factor of the score of a listing. Its words are those of the pages that it lists.
const LISTING_FACTOR: f64 = 0.85;

/// Weight of a question or filler word relative to other words of the same rarity.
pub(crate) const OPTIONAL_WEIGHT: f64 = 0.3;

/// The occurrences of the query words on a page.
type WordsOnPage<'e> = SmallVec<[WordOccurrences<'e>; 4]>;

/// The contribution of a query word to the score of a page.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct WordScore {
    /// The word.
    pub word: String,
    /// The synonym that occurs on the page in place of the word, and the words of the query that it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub synonym: Option<SynonymMatch>,
    /// Number of pages that contain the word.
    pub pages: u64,
    /// Inverse document frequency weight of the word.
    pub weight: f64,
    /// Occurrences on the page, weighted by zone.
    pub times: f64,
    /// BM25 score of the word, before the total is mapped to 0–1.
    pub score: f64,
}

/// A synonym on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SynonymMatch {
    /// The synonym.
    pub text: String,
    /// The words of the query that it replaces.
    pub synonym_of: String,
}

/// The scorer of the pages for one query.
pub(crate) struct Ranker<'a> {
    pub(crate) config: &'a RankConfig,
    pub(crate) query_words: &'a QueryWords,
    pub(crate) maxima: LinkMaxima,
    /// AND/OR structure of the words.
    pub(crate) shape: &'a QueryShape,
    /// Current day number.
    pub(crate) today: i64,
    /// `true` if listings are worth less than other pages.
    pub(crate) lowers_listings: bool,
}

/// Properties of a candidate beside its score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PageTraits {
    /// Words that the page lacks, as bits in the order of the query words.
    pub(crate) missing: u64,
    /// Words that occur in its title, as bits.
    pub(crate) in_title: u64,
    pub(crate) is_listing: bool,
    /// Length in terms; 0 if unknown.
    pub(crate) length: u32,
}

/// The features of a candidate.
pub(crate) struct CandidateFeatures<'a> {
    pub(crate) evidence: &'a Evidence,
    /// Only for queries that name a site.
    pub(crate) figures: Option<&'a LinkFigures>,
    /// Set for a home page that the query names.
    pub(crate) is_named: bool,
    pub(crate) clicks: Option<f64>,
    pub(crate) boost: f64,
    /// Set for a page that may lack required words.
    pub(crate) is_partial: bool,
    /// Only for the cosine models.
    pub(crate) cosine: Option<f64>,
}

impl Ranker<'_> {
    /// Returns the weights for a kind of query.
    pub(crate) fn weights(&self, kind: QueryKind) -> &ScoreWeights {
        match kind {
            QueryKind::Ordinary => &self.config.ordinary,
            QueryKind::Site => &self.config.site,
            QueryKind::News => &self.config.news,
        }
    }

    /// Computes the parts of the score of a page.
    pub(crate) fn score_page(
        &self,
        kind: QueryKind,
        page: &CandidateFeatures<'_>,
    ) -> (ScoreParts, PageTraits) {
        let found = self.words_on_page(page.evidence);
        let placed_words = self.query_words.words.iter().zip(&found).map(|(word, found)| PlacedWord {
            position: word.position,
            weight: word.weight,
            positions: &found.positions,
        });
        let placed_words: SmallVec<[PlacedWord<'_>; 4]> = placed_words.collect();
        // A single word has full proximity if it occurs as typed.
        let occurring = found.iter().filter(|word| !word.positions.is_empty());
        let single_word = occurring.map(|word| word.weight).fold(0.0, f64::max);
        let is_listing = page.evidence.is_listing;
        let title = self.title_part(page.evidence, &found);
        let is_lowered =
            is_listing && self.lowers_listings && kind != QueryKind::Site && !self.has_title(&found);
        let parts = ScoreParts {
            words: page.cosine.unwrap_or_else(|| self.words_part(page.evidence, &found)),
            near: proximity::nearness(&placed_words, single_word),
            title,
            links: self.links_part(page),
            home: if kind == QueryKind::Site { self.home_part(page, &found) } else { 0.0 },
            clicks: page.clicks,
            fresh: if kind == QueryKind::News { self.fresh_part(page.evidence.day) } else { 0.0 },
            other: self.other_part(&found),
            boost: page.boost,
            coverage: if page.is_partial { self.query_words.coverage(&found) } else { 1.0 },
            listing: if is_lowered { LISTING_FACTOR } else { 1.0 },
        };
        let traits = PageTraits {
            missing: self.query_words.missing(&found),
            in_title: QueryWords::in_title(&found),
            is_listing,
            length: page.evidence.length,
        };
        (parts, traits)
    }

    /// Returns the share of the query that occurs on the page, but not in its zones.
    fn other_part(&self, found: &[WordOccurrences<'_>]) -> f64 {
        let words = self.query_words.words.iter().zip(found);
        let only_other = words.filter(|(_, found)| found.is_empty() && found.other > 0);
        let weight: f64 = only_other.map(|(word, _)| word.weight).sum();
        let all: f64 = self.query_words.words.iter().map(|word| word.weight).sum();
        if all > 0.0 { weight / all } else { 0.0 }
    }

    fn words_on_page<'e>(&'e self, page: &'e Evidence) -> WordsOnPage<'e> {
        self.query_words.words.iter().map(|word| word.occurrences_on(page)).collect()
    }

    /// Computes the text score between 0 and 1 (WB).
    fn words_part(&self, page: &Evidence, found: &[WordOccurrences<'_>]) -> f64 {
        match self.config.model {
            RankModel::BasicWeight => {
                let lengths = PageLengths { page: f64::from(page.length), longest: self.config.longest };
                let weight = |(word, found): (&QueryWord, &WordOccurrences<'_>)| {
                    let occurrences = basic_weight::occurrences_weight(&found.times);
                    found.weight
                        * basic_weight::basic_weight(
                            occurrences,
                            lengths,
                            self.query_words.pages,
                            word.statistics.with_word,
                        )
                };
                let weights: Vec<f64> = self.query_words.words.iter().zip(found).map(weight).collect();
                self.shape.weight(&weights)
            }
            _ => {
                let bm25 = self.bm25();
                let length = f64::from(page.length) / self.query_words.mean_length;
                let words = self.query_words.words.iter().zip(found);
                let score: f64 = words.map(|(word, found)| self.bm25_word_score(word, page, found).1).sum();
                let score = score + bm25.length_correction(self.query_words.words.len(), length);
                let all: f64 = self
                    .query_words
                    .words
                    .iter()
                    .map(|w| w.weight * bm25.query_frequency_factor(w.times))
                    .sum();
                if score > 0.0 { score / (score + all) } else { 0.0 }
            }
        }
    }

    fn bm25(&self) -> Bm25 {
        let RankConfig { k1, b, k2, k3, .. } = *self.config;
        Bm25 { k1, b: b.min(1.0), k2, k3 }
    }

    /// Returns the weighted occurrences of a word on a page, and its BM25 score.
    fn bm25_word_score(&self, word: &QueryWord, page: &Evidence, found: &WordOccurrences<'_>) -> (f64, f64) {
        let bm25 = self.bm25();
        let length = f64::from(page.length) / self.query_words.mean_length;
        let times = self.zone_weighted(&found.times);
        let exact = word.exact_occurrences_on(page).map_or(0.0, |exact| self.zone_weighted(&exact.times));
        let saturated = bm25.term_frequency_factor(times, length)
            + f64::from(EXACT_FORM_BONUS) * bm25.term_frequency_factor(exact, length);
        (times, found.weight * word.weight * bm25.query_frequency_factor(word.times) * saturated)
    }

    /// Returns the contribution of each query word to the score of a page.
    pub(crate) fn explain_words(&self, page: &Evidence) -> Vec<WordScore> {
        let explain = |(word, found): (&QueryWord, &WordOccurrences<'_>)| {
            let (times, score) = self.bm25_word_score(word, page, found);
            let (pages, weight) = (word.statistics.with_word as u64, word.weight);
            let synonym = found.synonym.cloned();
            WordScore { word: word.word.clone(), synonym, pages, weight, times, score }
        };
        self.query_words.words.iter().zip(&self.words_on_page(page)).map(explain).collect()
    }

    /// Returns the saturated occurrences of the nth term of the evidence.
    pub(crate) fn saturated_occurrences(&self, page: &Evidence, nth: usize) -> f64 {
        let Some(term) = page.terms.get(nth) else { return 0.0 };
        let times = self.zone_weighted(&term.times.map(f64::from));
        self.bm25().term_frequency_factor(times, f64::from(page.length) / self.query_words.mean_length)
    }

    /// Returns the number of occurrences, weighted by zone.
    fn zone_weighted(&self, times: &[f64; 6]) -> f64 {
        let RankConfig { title, address, anchor, heading, emphasis, .. } = *self.config;
        times
            .iter()
            .zip([title, address, anchor, heading, emphasis, 1.0])
            .map(|(times, weight)| times * weight)
            .sum()
    }

    /// Returns the share of the query that occurs in a zone.
    fn query_share(&self, found: &[WordOccurrences<'_>], zone: Zone) -> f64 {
        let (mut total_weight, mut found_weight) = (0.0, 0.0);
        for (word, found) in self.query_words.words.iter().zip(found) {
            total_weight += word.weight;
            let is_there = found.times[zone as usize] > 0.0;
            found_weight += if is_there { found.weight * word.weight } else { 0.0 };
        }
        if total_weight > 0.0 { found_weight / total_weight } else { 0.0 }
    }

    /// Returns `true` if several words of the query, and all of them, are in the title: the query may name the page. A
    /// single word names the tag of a listing as often as the listing.
    fn has_title(&self, found: &[WordOccurrences<'_>]) -> bool {
        self.query_words.words.len() > 1 && self.query_share(found, Zone::Title) >= 1.0 - 1e-9
    }

    fn title_part(&self, page: &Evidence, found: &[WordOccurrences<'_>]) -> f64 {
        let words = self.query_words.words.iter().zip(found);
        let in_title = words.filter(|(_, found)| found.times[Zone::Title as usize] > 0.0);
        let said: usize = in_title.map(|(word, _)| word.length).sum();
        let coverage = (said as f64 / f64::from(page.title_length.max(1))).min(1.0);
        let share = self.query_share(found, Zone::Title);
        (share * (0.5 + 0.5 * coverage)).max(0.8 * self.query_share(found, Zone::Anchor))
    }

    /// Computes the link score of a page (WL). In-links mostly connect home pages, so they say little about other
    /// pages.
    fn links_part(&self, page: &CandidateFeatures<'_>) -> f64 {
        let page_rank = f64::from(page.evidence.static_rank);
        let site_rank = log_share(page.evidence.site_rank, self.maxima.0.site_rank);
        match page.figures {
            Some(figures) => {
                0.5 * f64::from(figures.link_weight.clamp(0.0, 1.0)) + 0.3 * page_rank + 0.2 * site_rank
            }
            None => 0.6 * page_rank + 0.4 * site_rank,
        }
    }

    /// Computes the score of a home page that the query names.
    fn home_part(&self, page: &CandidateFeatures<'_>, found: &[WordOccurrences<'_>]) -> f64 {
        let Some(LinkFigures { link_hits, mirror_degree, domain_depth, .. }) =
            page.figures.filter(|_| page.is_named)
        else {
            return 0.0;
        };
        let most = &self.maxima.0;
        let hits = log_share(*link_hits as f32, most.link_hits as f32);
        let mirrors = log_share(*mirror_degree as f32, most.mirror_degree as f32);
        let depth = 1.0 / (1.0 + f64::from(*domain_depth));
        0.5 + 0.2 * hits + 0.15 * self.query_share(found, Zone::Anchor) + 0.1 * depth + 0.05 * mirrors
    }

    /// Returns `true` if an anchor text contains the query literally. A single short word is part of many names and
    /// does not count.
    pub(crate) fn is_named_by_anchors(&self, page: &Evidence) -> bool {
        let words = &self.query_words.words;
        let Some(first) = words.first().filter(|first| words.len() > 1 || first.length > 3) else {
            return false;
        };
        let found = self.words_on_page(page);
        let anchors = Zone::Anchor.positions();
        let mut begins = found[0].positions.iter().filter(|place| anchors.contains(place));
        begins.any(|begin| {
            words.iter().zip(&found).all(|(word, found)| {
                let at = begin + (word.position - first.position) as u32;
                found.positions.binary_search(&at).is_ok()
            })
        })
    }

    fn fresh_part(&self, day: Option<i64>) -> f64 {
        let Some(day) = day else { return 0.0 };
        let half_life = self.config.half_life.as_secs_f64() / 86_400.0;
        let age = (self.today - day).max(0) as f64;
        0.5f64.powf(age / half_life.max(0.01))
    }
}

/// Returns a figure on a logarithmic scale relative to the maximum.
fn log_share(value: f32, largest: f32) -> f64 {
    let share = f64::from(value.max(0.0).ln_1p()) / f64::from(largest.max(0.0).ln_1p());
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}
