//! The response of a search: the object that the result page, `pharos search --json` and the API print.

use std::collections::BTreeMap;

use pharos_core::config::{RankModel, ScoreCombination};
use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_mining::CacheUse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::curation::active::{CuratedBy, ResultNotice};
use crate::language::intent::QueryKind;
use crate::rank::WordScore;
use crate::rank::combine::Contribution;

/// The response to one query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[schema(as = Answer)]
pub struct SearchResponse {
    /// The query as given.
    pub query: String,
    /// The query as parsed, written in the query language.
    pub understood: String,
    /// A correction of the query that has more results.
    #[schema(required)]
    pub corrected: Option<String>,
    /// `true` if the results are those of the correction, because the query has none and the correction is certain.
    pub is_corrected: bool,
    /// Kind of the query, as detected.
    pub kind: QueryKind,
    /// `true` if not all words were required, because no page contains them all.
    pub relaxed: bool,
    /// `true` if the time limit passed before all candidates were examined.
    pub partial: bool,
    /// Identifier of the state of the index that the results come from.
    pub generation: String,
    /// Number of pages that contain all required words. Exact copies count as one, unless all copies are requested. There
    /// may be fewer results, because near-duplicates are folded.
    pub total: u64,
    /// `true` if `total` is exact; otherwise it is a lower-bound estimate.
    pub total_is_exact: bool,
    /// Number of further pages that lack some of the words; they are results if few pages contain all of them.
    pub partial_total: u64,
    /// A query that requires all words, if results of this page lack some.
    #[schema(required)]
    pub exact_query: Option<String>,
    /// Use of the cache for this response.
    pub cache: CacheUse,
    /// Processing time in milliseconds.
    pub took_ms: f64,
    /// Number of this result page, from 1.
    pub page: usize,
    /// Number of the last result page, once it is known.
    #[schema(required)]
    pub last_page: Option<usize>,
    /// A text that the operator shows above the results of this query.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notice: Option<ResultNotice>,
    /// The results of this page.
    pub hits: Vec<SearchHit>,
    /// Other queries to try.
    pub suggestions: Vec<String>,
    /// Counts by property, if requested: `site`, `lang`, `type`, `category`, `time`.
    pub facets: BTreeMap<String, Vec<FacetValue>>,
    /// Explanation of the ranking, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub explanation: Option<QueryExplanation>,
}

impl SearchResponse {
    /// Returns the number of matching pages, partial matches included.
    pub fn matches(&self) -> u64 {
        self.total.saturating_add(self.partial_total)
    }
}

/// The index entry of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedPage {
    pub url: PageUrl,
    pub title: String,
    pub lang: String,
    pub fetched: Timestamp,
    /// Position of the stored response in the library.
    pub position: LibraryPosition,
    /// `true` if the cached page may be shown.
    pub archive: bool,
}

impl IndexedPage {
    /// Returns the title, or the URL if there is none.
    pub fn title_or_url(&self) -> &str {
        if self.title.trim().is_empty() { self.url.as_str() } else { &self.title }
    }
}

/// The number of results with a facet value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct FacetValue {
    /// The value.
    pub value: String,
    /// Number of pages with the value, among the first 10,000 matches.
    pub pages: u64,
}

/// An explanation of how a query was processed.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct QueryExplanation {
    /// Kind of the query, as detected.
    pub kind: QueryKind,
    /// The query that was sent to the index.
    #[serde(rename = "asked")]
    pub executed: String,
    /// Model of the word score.
    #[schema(value_type = String)]
    pub model: RankModel,
    /// Combination of the parts of the score.
    #[schema(value_type = String)]
    pub combine: ScoreCombination,
    /// Weight of each part for this kind of query.
    pub weights: BTreeMap<&'static str, f64>,
    /// Number of candidates scored in the second stage.
    pub candidates: usize,
    /// Words of the best results that count for the order, too, as index terms.
    pub feedback: Vec<String>,
    /// Operators who hid matching pages, and the times. The URLs of these pages are visible on the desk only.
    pub hidden: Vec<CuratedBy>,
}

/// An explanation of the score of a result.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = Explanation)]
pub struct HitExplanation {
    /// Contributions of the parts.
    pub parts: Vec<Contribution>,
    /// BM25 score of each query word.
    pub words: Vec<WordScore>,
    /// Operator who pinned the result to this query, and the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub pinned: Option<CuratedBy>,
}

/// One result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[schema(as = Hit)]
pub struct SearchHit {
    /// URL of the page.
    pub url: String,
    /// Title of the page, or its URL if it has none.
    pub title: String,
    /// The title as HTML with the query words in `<mark>`.
    pub title_html: String,
    /// Excerpt of the text that best matches the query.
    pub snippet: String,
    /// The snippet as HTML with the query words in `<mark>`.
    pub snippet_html: String,
    /// Site of the page.
    pub site: String,
    /// Names of the places above the page within its site, from the top, as stated by the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breadcrumbs: Vec<String>,
    /// Date of publication or last change, as stated by the page: `2026-01-31`.
    #[schema(required)]
    pub date: Option<String>,
    /// Language of the page.
    pub lang: String,
    /// Subject category of the page.
    pub category: String,
    /// Confidence of the category in percent; 0 if unknown.
    pub category_confidence: u8,
    /// Score of the page, or of the best of its duplicates.
    pub score: f32,
    /// Path of the cached page on this server.
    #[schema(required)]
    pub cached_url: Option<String>,
    /// Words of the query that the page lacks.
    pub missing: Vec<String>,
    /// Number of further results of the same site.
    pub more_from_site: u64,
    /// Number of duplicates that are not shown.
    pub duplicates: u64,
    /// File type: `html`, `pdf`.
    #[serde(rename = "type")]
    pub format: String,
    /// `true` if the result is listed below another result of its site.
    pub indented: bool,
    /// Important pages of the site, if the query names the site and this is its home page.
    pub sitelinks: Vec<Sitelink>,
    /// `true` if an operator has pinned the page to this query.
    pub pinned: bool,
    /// Explanation of the score, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub explanation: Option<HitExplanation>,
}

/// A link to an important page of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Sitelink {
    /// URL of the page.
    pub url: String,
    /// Title of the page, without the name of the site.
    pub title: String,
}
