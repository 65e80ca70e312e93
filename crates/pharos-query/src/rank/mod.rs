//! Ranking: how well a page answers a query.
//!
//! Three levels, joined by a weighted sum (《搜索引擎——原理、技术与系统》 §8.1, §10.3): how near each other the words stand
//! ([`proximity`]), whether they stand in title and anchors, and how well the words fit and how important the page is. Each
//! part lies between 0 and 1:
//!
//! | part | is |
//! |---|---|
//! | words (WB) | [`bm25`] as s/(s+c), where c is the weight of the query's words: a page of mean length that has each once comes to about a half. Or the [`basic_weight`], measured by its largest possible value; or a cosine ([`vector_space`]) |
//! | near | pairs of neighbouring words, 1 where they stand as in the query |
//! | title | the share of the query in the title, more where the title says little else; or in anchors |
//! | links (WL) | rank of page and site on a logarithmic scale up to the largest; for queries that name a site in-links from other sites, too |
//! | home | for queries that name a site: is it the home page that is called so, how many link to it, what they call it, how deep it lies, how often it is copied |
//! | clicks (WU) | [`user_weight`], or [`hot_clicks`] where nobody has clicked for the query |
//! | fresh | halves with every half-life |
//!
//! One table of weights for each kind of query ([`Kind`](crate::intent::Kind)) tells how much each part counts; they are
//! settings. [`combine`] joins the parts.

pub(crate) mod basic_weight;
pub(crate) mod bm25;
pub(crate) mod combine;
mod hot_clicks;
pub(crate) mod proximity;
pub(crate) mod sought;
pub(crate) mod user_weight;
pub(crate) mod vector_space;

use pharos_core::config::{PartWeights, RankConfig, RankModel};
use pharos_index::{Evidence, Maxima, WebFigures, Zone};
use serde::Serialize;
use smallvec::SmallVec;
use utoipa::ToSchema;

use self::basic_weight::{Lengths, Shape};
use self::bm25::Bm25;
use self::combine::Parts;
use self::proximity::Placed;
use self::sought::{Occurrences, Sought, SoughtWords};
use crate::intent::Kind;

/// A word in its exact form counts this much more than in another; see [`pharos_text::stem`] for the measurement.
pub(crate) const EXACT_FORM: f32 = 0.25;

/// Where a page has the words of a query.
type Found<'e> = SmallVec<[Occurrences<'e>; 4]>;

/// What a word of the query gives a page, for explaining it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct WordScore {
    /// The word.
    pub word: String,
    /// Pages that have it.
    pub pages: u64,
    /// How rare it is.
    pub weight: f64,
    /// How often the page has it, by what that counts where it stands.
    pub times: f64,
    /// What it adds to the score of the words, before that is brought between 0 and 1.
    pub score: f64,
}

/// What pages are scored by, for one query.
pub(crate) struct Ranker<'a> {
    pub(crate) config: &'a RankConfig,
    pub(crate) sought: &'a SoughtWords,
    pub(crate) maxima: Maxima,
    /// How the words belong together.
    pub(crate) shape: &'a Shape,
    /// The day it is.
    pub(crate) today: i64,
}

/// What is known of a page.
pub(crate) struct Facts<'a> {
    pub(crate) evidence: &'a Evidence,
    /// For queries that name a site.
    pub(crate) figures: Option<&'a WebFigures>,
    /// Is it a home page that the query names?
    pub(crate) is_named: bool,
    pub(crate) clicks: Option<f64>,
    pub(crate) boost: f64,
    /// The cosine, where that is the model.
    pub(crate) cosine: Option<f64>,
}

impl Ranker<'_> {
    /// The table of weights for a kind of query.
    pub(crate) fn weights(&self, kind: Kind) -> &PartWeights {
        match kind {
            Kind::Ordinary => &self.config.ordinary,
            Kind::Site => &self.config.site,
            Kind::News => &self.config.news,
        }
    }

    /// The parts of a page's score.
    pub(crate) fn parts(&self, kind: Kind, page: &Facts<'_>) -> Parts {
        let found = self.found(page.evidence);
        let placed = self.sought.words.iter().zip(&found).map(|(word, found)| Placed {
            position: word.position,
            weight: word.weight,
            places: &found.places,
        });
        let placed: SmallVec<[Placed<'_>; 4]> = placed.collect();
        // A single word is as near as it is there.
        let is_there = if found.iter().any(|word| !word.places.is_empty()) { 1.0 } else { 0.0 };
        Parts {
            words: page.cosine.unwrap_or_else(|| self.words(page.evidence, &found)),
            near: proximity::nearness(&placed, is_there),
            title: self.title(page.evidence, &found),
            links: self.links(page),
            home: if kind == Kind::Site { self.home(page, &found) } else { 0.0 },
            clicks: page.clicks,
            fresh: if kind == Kind::News { self.fresh(page.evidence.day) } else { 0.0 },
            boost: page.boost,
        }
    }

    fn found<'e>(&self, page: &'e Evidence) -> Found<'e> {
        self.sought.words.iter().map(|word| word.on(page)).collect()
    }

    /// How well the words fit, between 0 and 1 (WB).
    fn words(&self, page: &Evidence, found: &[Occurrences<'_>]) -> f64 {
        match self.config.model {
            RankModel::BasicWeight => {
                let lengths = Lengths { page: f64::from(page.length), longest: self.config.longest };
                let weight = |(word, found): (&Sought, &Occurrences<'_>)| {
                    let occurrences = basic_weight::of_occurrences(&found.times);
                    basic_weight::weight(occurrences, lengths, self.sought.pages, word.known.with_word)
                };
                let weights: Vec<f64> = self.sought.words.iter().zip(found).map(weight).collect();
                self.shape.weight(&weights)
            }
            _ => {
                let bm25 = self.bm25();
                let length = f64::from(page.length) / self.sought.mean_length;
                let words = self.sought.words.iter().zip(found);
                let score: f64 = words.map(|(word, found)| self.of_word(word, page, found).1).sum();
                let score = score + bm25.of_length(self.sought.words.len(), length);
                let all: f64 = self.sought.words.iter().map(|w| w.weight * bm25.in_query(w.times)).sum();
                if score > 0.0 { score / (score + all) } else { 0.0 }
            }
        }
    }

    fn bm25(&self) -> Bm25 {
        let RankConfig { k1, b, k2, k3, .. } = *self.config;
        Bm25 { k1, b: b.min(1.0), k2, k3 }
    }

    /// How often a page has a word, and what that gives by BM25.
    fn of_word(&self, word: &Sought, page: &Evidence, found: &Occurrences<'_>) -> (f64, f64) {
        let bm25 = self.bm25();
        let length = f64::from(page.length) / self.sought.mean_length;
        let times = self.weighted(&found.times);
        let exact = word.exactly_on(page).map_or(0.0, |exact| self.weighted(&exact.times));
        let saturated = bm25.saturated(times, length) + f64::from(EXACT_FORM) * bm25.saturated(exact, length);
        (times, word.weight * bm25.in_query(word.times) * saturated)
    }

    /// What each word of the query gives a page.
    pub(crate) fn explain_words(&self, page: &Evidence) -> Vec<WordScore> {
        let explain = |(word, found): (&Sought, &Occurrences<'_>)| {
            let (times, score) = self.of_word(word, page, found);
            let (pages, weight) = (word.known.with_word as u64, word.weight);
            WordScore { word: word.word.clone(), pages, weight, times, score }
        };
        self.sought.words.iter().zip(&self.found(page)).map(explain).collect()
    }

    /// How often a page has a word, by what that counts in each zone.
    fn weighted(&self, times: &[f64; 6]) -> f64 {
        let RankConfig { title, address, anchor, heading, emphasis, .. } = *self.config;
        times
            .iter()
            .zip([title, address, anchor, heading, emphasis, 1.0])
            .map(|(times, weight)| times * weight)
            .sum()
    }

    /// The share of the query in a zone.
    fn share(&self, found: &[Occurrences<'_>], zone: Zone) -> f64 {
        let (mut all, mut there) = (0.0, 0.0);
        for (word, found) in self.sought.words.iter().zip(found) {
            all += word.weight;
            there += if found.times[zone as usize] > 0.0 { word.weight } else { 0.0 };
        }
        if all > 0.0 { there / all } else { 0.0 }
    }

    fn title(&self, page: &Evidence, found: &[Occurrences<'_>]) -> f64 {
        let words = self.sought.words.iter().zip(found);
        let in_title = words.filter(|(_, found)| found.times[Zone::Title as usize] > 0.0);
        let said: usize = in_title.map(|(word, _)| word.length).sum();
        let coverage = (said as f64 / f64::from(page.title_length.max(1))).min(1.0);
        let share = self.share(found, Zone::Title);
        (share * (0.5 + 0.5 * coverage)).max(0.8 * self.share(found, Zone::Anchor))
    }

    /// What the web says of the page (WL). In-links lead from home page to home page: they say little of other pages.
    fn links(&self, page: &Facts<'_>) -> f64 {
        let page_rank = f64::from(page.evidence.static_rank);
        let site_rank = logarithmic(page.evidence.site_rank, self.maxima.0.site_rank);
        match page.figures {
            Some(figures) => {
                0.5 * f64::from(figures.link_weight.clamp(0.0, 1.0)) + 0.3 * page_rank + 0.2 * site_rank
            }
            None => 0.6 * page_rank + 0.4 * site_rank,
        }
    }

    /// Is it the home page that the query names?
    fn home(&self, page: &Facts<'_>, found: &[Occurrences<'_>]) -> f64 {
        let Some(WebFigures { link_hits, mirror_degree, domain_depth, .. }) =
            page.figures.filter(|_| page.is_named)
        else {
            return 0.0;
        };
        let most = &self.maxima.0;
        let hits = logarithmic(*link_hits as f32, most.link_hits as f32);
        let mirrors = logarithmic(*mirror_degree as f32, most.mirror_degree as f32);
        let depth = 1.0 / (1.0 + f64::from(*domain_depth));
        0.5 + 0.2 * hits + 0.15 * self.share(found, Zone::Anchor) + 0.1 * depth + 0.05 * mirrors
    }

    /// Do others call a page so, word for word? One short word is part of many a name.
    pub(crate) fn is_called(&self, page: &Evidence) -> bool {
        let words = &self.sought.words;
        let Some(first) = words.first().filter(|first| words.len() > 1 || first.length > 3) else {
            return false;
        };
        let found = self.found(page);
        let anchors = Zone::Anchor.positions();
        let mut begins = found[0].places.iter().filter(|place| anchors.contains(place));
        begins.any(|begin| {
            words.iter().zip(&found).all(|(word, found)| {
                let at = begin + (word.position - first.position) as u32;
                found.places.binary_search(&at).is_ok()
            })
        })
    }

    fn fresh(&self, day: Option<i64>) -> f64 {
        let Some(day) = day else { return 0.0 };
        let half_life = self.config.half_life.as_secs_f64() / 86_400.0;
        let age = (self.today - day).max(0) as f64;
        0.5f64.powf(age / half_life.max(0.01))
    }
}

/// A figure on a logarithmic scale up to the largest.
fn logarithmic(value: f32, largest: f32) -> f64 {
    let share = f64::from(value.max(0.0).ln_1p()) / f64::from(largest.max(0.0).ln_1p());
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}
