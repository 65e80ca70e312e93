//! The searches of a log: queries joined with their impressions and clicks, in memory and compact.
//!
//! Sessions, statistics of behaviour and the lists of the desk read this form. Queries, URLs and visits are numbers;
//! a million searches with their results and clicks take some 300 MB. The number of searches and of distinct strings is
//! bounded: what exceeds the bounds is counted in [`LogCoverage`], never silently lost.

mod builder;
mod interner;
mod source;

use std::ops::Range;

use pharos_core::Timestamp;
use serde::Serialize;

pub use self::builder::SearchLogBuilder;
pub(crate) use self::builder::query_key;
pub use self::interner::Interner;
pub use self::source::{FileForm, ReadOptions, for_each_record, read_data_dir, read_file};
use crate::log::records::QuerySource;

/// Number of a query, a URL or a visit in its [`Interner`].
pub type StringNumber = u32;

/// Dwell time from which a click counts as satisfied (Fox et al. 2005, §4).
pub const SATISFIED_DWELL_MS: u32 = 30_000;

/// A search: one result page of one query.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    pub at: Timestamp,
    /// `None` if the log does not distinguish visits.
    pub visit: Option<StringNumber>,
    pub query: StringNumber,
    /// Number of the result page, from 1.
    pub page: u32,
    pub source: QuerySource,
    /// Number of matches, if logged.
    pub total: Option<u32>,
    /// Response time in milliseconds, if logged.
    pub took_ms: Option<f32>,
    /// A browser that reports clicks has shown the page.
    pub is_seen: bool,
    /// The search was sent by a program or to the API, which do not report clicks.
    pub is_program: bool,
    /// A notice of an operator was shown above the results.
    pub has_notice: bool,
    shown: (u32, u16),
    clicks: (u32, u16),
}

/// A click on a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchClick {
    pub at: Timestamp,
    /// Index into [`SearchLog::searches`].
    pub search: u32,
    pub url: StringNumber,
    /// Rank over all result pages, from 1; 0 if unknown.
    pub rank: u32,
    /// Dwell time in milliseconds, if known.
    pub dwell_ms: Option<u32>,
}

impl SearchClick {
    /// Returns `true` if the dwell time is known and long.
    pub fn is_satisfied(&self) -> bool {
        self.dwell_ms.is_some_and(|dwell| dwell >= SATISFIED_DWELL_MS)
    }
}

/// Numbers of records read, skipped and doubtful.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LogCoverage {
    pub queries: u64,
    pub impressions: u64,
    pub clicks: u64,
    /// Invalid lines and incomplete rows.
    pub invalid: u64,
    /// Records beyond the limits of memory.
    pub dropped: u64,
    /// Clicks whose search is not in the log.
    pub orphans: u64,
    /// Queries logged more than a minute before their predecessor in the file.
    pub clock_jumps: u64,
    /// Records of the future.
    pub future: u64,
    /// The log contains times of day without dates.
    pub is_undated: bool,
}

/// Suggestions shown and selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SuggestionCounts {
    /// Lists of suggestions shown.
    pub shown: u64,
    /// Queries that were selected from suggestions.
    pub selected: u64,
    /// Characters of the selected queries, if the partial query is known.
    pub characters: u64,
    /// Characters typed before the selection.
    pub typed: u64,
}

/// The searches of a log in order of time.
#[derive(Debug, Default)]
pub struct SearchLog {
    /// Normalised queries.
    pub queries: Interner,
    /// URLs shown or clicked.
    pub urls: Interner,
    /// Identifiers of visits.
    pub visits: Interner,
    pub searches: Vec<Search>,
    /// Clicks, grouped by search and in order of time.
    pub clicks: Vec<SearchClick>,
    shown: Vec<StringNumber>,
    has_seen: bool,
    pub suggestions: SuggestionCounts,
    pub coverage: LogCoverage,
}

impl SearchLog {
    /// Returns the clicks of a search.
    pub fn clicks_of(&self, search: &Search) -> &[SearchClick] {
        part(&self.clicks, search.clicks)
    }

    /// Returns the URLs shown for a search, in order.
    pub fn shown_of(&self, search: &Search) -> &[StringNumber] {
        part(&self.shown, search.shown)
    }

    /// Returns `true` if a search without clicks was seen and not clicked, rather than not reported.
    ///
    /// Browsers report that they show a result page. Where no search of a log says so, as in logs of other engines,
    /// every search of a log with clicks counts as reported.
    pub fn reports_clicks(&self, search: &Search) -> bool {
        !search.is_program
            && (search.is_seen || search.clicks.1 > 0 || (!self.has_seen && !self.clicks.is_empty()))
    }

    /// Returns first result pages: queries as the user counts them.
    pub fn asked(&self) -> impl Iterator<Item = &Search> {
        self.searches.iter().filter(|search| search.page <= 1)
    }

    /// Returns the time of the first and the last search.
    pub fn period(&self) -> Option<(Timestamp, Timestamp)> {
        Some((self.searches.first()?.at, self.searches.last()?.at))
    }

    /// Returns how many visits asked each query, by query number. Searches without a visit count as one visit each day.
    pub fn visits_by_query(&self) -> Vec<u32> {
        let mut pairs: Vec<(StringNumber, u64)> = self
            .searches
            .iter()
            .map(|search| {
                let day = search.at.millis().div_euclid(86_400_000) as u64;
                (search.query, search.visit.map_or((1 << 63) | day, u64::from))
            })
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut visits = vec![0; self.queries.len()];
        pairs.iter().for_each(|(query, _)| visits[*query as usize] += 1);
        visits
    }
}

fn part<T>(all: &[T], (start, len): (u32, u16)) -> &[T] {
    let range: Range<usize> = start as usize..start as usize + len as usize;
    all.get(range).unwrap_or_default()
}

#[cfg(test)]
mod tests;
