//! What a search gives: the object that the result page, `pharos search --json` and the API all print.

use std::collections::BTreeMap;

use pharos_core::config::{Combine, RankModel};
use serde::Serialize;
use utoipa::ToSchema;

use crate::cache::CacheUse;
use crate::intent::Kind;
use crate::rank::WordScore;
use crate::rank::combine::Contribution;

/// The answer to one query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct Answer {
    /// What was asked.
    pub query: String,
    /// How it was understood, written in the query language.
    pub understood: String,
    /// What was probably meant instead.
    #[schema(required)]
    pub corrected: Option<String>,
    /// What kind of query it was taken for.
    pub kind: Kind,
    /// Whether fewer words than asked for were required, because no page has them all.
    pub relaxed: bool,
    /// Whether time ran out before everything was looked at.
    pub partial: bool,
    /// The state of the index that answered.
    pub generation: String,
    /// How many pages match, exact copies counted as one; all of them where all are shown. Results may be fewer, since
    /// pages that say nearly the same are one.
    pub total: u64,
    /// Whether `total` is exact or at least so many.
    pub total_is_exact: bool,
    /// How much of it was known from before.
    pub cache: CacheUse,
    /// How long it took.
    pub took_ms: f64,
    /// Which page of results this is, from 1.
    pub page: usize,
    /// The last page of results, once it is known: whoever turns that far comes to the end.
    #[schema(required)]
    pub last_page: Option<usize>,
    /// The results.
    pub hits: Vec<Hit>,
    /// Other queries to try.
    pub suggestions: Vec<String>,
    /// Counts by property, where asked for: `site`, `lang`, `type`, `category`, `time`.
    pub facets: BTreeMap<String, Vec<FacetValue>>,
    /// How the query was answered, where asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub explanation: Option<QueryExplanation>,
}

/// How many results have a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct FacetValue {
    /// The value.
    pub value: String,
    /// Pages that have it, of the first 10,000.
    pub pages: u64,
}

/// How a query was answered.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct QueryExplanation {
    /// What kind of query it was taken for.
    pub kind: Kind,
    /// What was asked of the index.
    pub asked: String,
    /// The model by which words fit.
    #[schema(value_type = String)]
    pub model: RankModel,
    /// How parts are joined.
    #[schema(value_type = String)]
    pub combine: Combine,
    /// How much each part counts for this kind of query.
    pub weights: BTreeMap<&'static str, f64>,
    /// Pages that were looked at closely.
    pub candidates: usize,
}

/// What the score of a result is made of.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Explanation {
    /// Part by part.
    pub parts: Vec<Contribution>,
    /// What each word gives, by BM25.
    pub words: Vec<WordScore>,
}

/// One result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct Hit {
    /// Where it is.
    pub url: String,
    /// Its title, or its address where it has none.
    pub title: String,
    /// The title as HTML with the query's words in `<mark>`.
    pub title_html: String,
    /// The part of its text that speaks of the query.
    pub snippet: String,
    /// The snippet as HTML with the query's words in `<mark>`.
    pub snippet_html: String,
    /// Its site.
    pub site: String,
    /// When it was published or last changed, by its own account: `2026-01-31`.
    #[schema(required)]
    pub date: Option<String>,
    /// Its language.
    pub lang: String,
    /// Its subject class.
    pub category: String,
    /// How well it fits, or the best of its copies.
    pub score: f32,
    /// The page of ours that shows the stored copy.
    #[schema(required)]
    pub cached_url: Option<String>,
    /// How many more results the same site has.
    pub more_from_site: u64,
    /// How many pages with the same content are known and not shown.
    pub duplicates: u64,
    /// What kind of file it is: `html`, `pdf`.
    #[serde(rename = "type")]
    pub format: String,
    /// Does it stand below another result of its site?
    pub indented: bool,
    /// What the score is made of, where asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub explanation: Option<Explanation>,
}
