//! Properties of queries: length, operators, origin, times of day (Silverstein et al. 1999; Jansen, Spink & Saracevic 2000).

use pharos_core::Timestamp;
use pharos_text::Analyser;
use serde::Serialize;

use crate::import::UtcOffset;
use crate::log::records::QuerySource;
use crate::search_log::{Search, SearchLog};

/// Lengths with a count of their own.
const MAX_LENGTH: usize = 30;

/// Lengths of queries: entry n is the number of queries of n + 1 units, the last one that of longer ones too.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct QueryLengths {
    pub characters: Vec<u64>,
    pub words: Vec<u64>,
    pub mean_characters: f64,
    pub mean_words: f64,
}

/// Counts the lengths of queries. Each search counts; each distinct query is analysed once.
pub fn query_lengths(log: &SearchLog) -> QueryLengths {
    let mut counts = vec![0_u64; log.queries.len()];
    log.asked().for_each(|search| counts[search.query as usize] += 1);
    let (mut lengths, mut characters, mut words) = (QueryLengths::default(), 0_u64, 0_u64);
    lengths.characters = vec![0; MAX_LENGTH];
    lengths.words = vec![0; MAX_LENGTH];
    for (query, count) in (0..).zip(&counts).filter(|(_, count)| **count > 0) {
        let text = log.queries.text(query);
        let chars = text.chars().count();
        let mut tokens = 0_usize;
        Analyser::shared().for_each_token(text, |_, _, _, _| tokens += 1);
        let tokens = tokens.max(1);
        lengths.characters[chars.clamp(1, MAX_LENGTH) - 1] += count;
        lengths.words[tokens.min(MAX_LENGTH) - 1] += count;
        characters += count * chars as u64;
        words += count * tokens as u64;
    }
    let total = counts.iter().sum::<u64>().max(1) as f64;
    (lengths.mean_characters, lengths.mean_words) = (characters as f64 / total, words as f64 / total);
    lengths
}

/// An operator of the query language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryOperator {
    Phrase,
    Exclude,
    Or,
    Field,
    Required,
}

impl QueryOperator {
    /// All operators.
    pub const ALL: [QueryOperator; 5] = [Self::Phrase, Self::Exclude, Self::Or, Self::Field, Self::Required];

    /// Returns the name used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Phrase => "phrase",
            Self::Exclude => "exclude",
            Self::Or => "or",
            Self::Field => "field",
            Self::Required => "required",
        }
    }

    /// Returns `true` if a normalised query contains the operator.
    pub fn is_in(self, query: &str) -> bool {
        let mut words = query.split_whitespace();
        match self {
            Self::Phrase => query.matches('"').count() >= 2 || query.contains(['“', '《']),
            Self::Exclude => words.any(|word| word.len() > 1 && word.starts_with('-')),
            Self::Required => words.any(|word| word.len() > 1 && word.starts_with('+')),
            Self::Or => words.any(|word| word == "or" || word == "|"),
            Self::Field => words.any(|word| {
                let fields =
                    ["site:", "title:", "intitle:", "url:", "inurl:", "link:", "type:", "filetype:", "lang:"];
                fields.iter().any(|field| word.starts_with(field) && word.len() > field.len())
            }),
        }
    }
}

/// Returns the share of searches that use each operator, and of those that use any.
pub fn operator_shares(log: &SearchLog) -> (Vec<(QueryOperator, f64)>, f64) {
    let (mut counts, mut any, mut total) = ([0_u64; QueryOperator::ALL.len()], 0_u64, 0_u64);
    let used: Vec<[bool; QueryOperator::ALL.len()]> = (0..log.queries.len() as u32)
        .map(|query| QueryOperator::ALL.map(|operator| operator.is_in(log.queries.text(query))))
        .collect();
    for search in log.asked() {
        let used = used[search.query as usize];
        used.iter().zip(&mut counts).for_each(|(used, count)| *count += u64::from(*used));
        any += u64::from(used.contains(&true));
        total += 1;
    }
    let share = |count: u64| count as f64 / total.max(1) as f64;
    (QueryOperator::ALL.into_iter().zip(counts.map(share)).collect(), share(any))
}

/// Returns the number of searches by origin.
pub fn source_counts(log: &SearchLog) -> Vec<(&'static str, u64)> {
    let sources = [
        (QuerySource::Typed, "typed"),
        (QuerySource::Suggested, "suggested"),
        (QuerySource::Related, "related"),
        (QuerySource::Corrected, "corrected"),
        (QuerySource::Hot, "hot"),
        (QuerySource::Link, "link"),
    ];
    let count = |source| log.asked().filter(|search| search.source == source).count() as u64;
    sources.map(|(source, name)| (name, count(source))).to_vec()
}

/// Returns the searches by hour of the day and by weekday, Monday first.
pub fn hours_and_weekdays(log: &SearchLog, zone: UtcOffset) -> ([u64; 24], [u64; 7]) {
    let (mut hours, mut weekdays) = ([0; 24], [0; 7]);
    for search in &log.searches {
        let (hour, weekday) = zone.hour_and_weekday(search.at);
        hours[hour % 24] += 1;
        weekdays[weekday % 7] += 1;
    }
    (hours, weekdays)
}

/// Returns the number of whole days that the log covers.
pub fn days_covered(from: Timestamp, to: Timestamp) -> f64 {
    to.since(from).as_secs_f64() / 86_400.0
}

/// Returns the mean share of documents that contain a term of a query, over all terms of all searches: how frequent the
/// terms that users choose are (《搜索引擎——原理、技术与系统》§8.1). `share` returns the share of documents with a term; terms in
/// no document do not count. Returns `None` if no term is known.
pub fn mean_term_share(log: &SearchLog, mut share: impl FnMut(&str) -> Option<f64>) -> Option<f64> {
    let mut counts = vec![0_u64; log.queries.len()];
    log.asked().for_each(|search| counts[search.query as usize] += 1);
    let (mut sum, mut terms) = (0.0, 0_u64);
    for (query, count) in (0..).zip(counts).filter(|(_, count)| *count > 0) {
        Analyser::shared().for_each_token(log.queries.text(query), |term, _, _, _| {
            if let Some(share) = share(term).filter(|share| *share > 0.0) {
                sum += share * count as f64;
                terms += count;
            }
        });
    }
    (terms > 0).then(|| sum / terms as f64)
}

/// Returns `true` if a text contains Han characters.
pub fn is_chinese(query: &str) -> bool {
    query.chars().any(pharos_text::is_han)
}

/// Returns `true` for searches whose query found nothing, if that is logged.
pub fn is_unsuccessful(search: &Search) -> bool {
    search.total == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::records::AnyRecord;
    use crate::search_log::SearchLogBuilder;
    use crate::testing::{at, query_at};

    fn log(queries: &[(&str, &str)]) -> SearchLog {
        let mut builder = SearchLogBuilder::new(at("2026-02-01T00:00:00Z"));
        for (query, time) in queries {
            builder.add(AnyRecord::Query(query_at(query, "v", at(time))));
        }
        builder.finish()
    }

    #[test]
    fn operators_of_the_query_language_are_counted() {
        let noon = "2026-01-31T12:00:00Z";
        let log = log(&[
            ("\"green tea\" -milk", noon),
            ("site:x.org tea", noon),
            ("tea or coffee", noon),
            ("tea-house", noon),
        ]);
        let (shares, any) = operator_shares(&log);
        let shares: Vec<f64> = shares.into_iter().map(|(_, share)| share).collect();
        assert_eq!((shares, any), (vec![0.25, 0.25, 0.25, 0.25, 0.0], 0.75));
    }

    #[test]
    fn lengths_and_hours_are_counted_per_search() {
        let log = log(&[
            ("灯塔", "2026-01-31T23:30:00Z"),
            ("灯塔", "2026-01-31T12:00:00Z"),
            ("green tea", "2026-01-30T12:00:00Z"),
        ]);
        let lengths = query_lengths(&log);
        assert_eq!((lengths.characters[1], lengths.characters[8]), (2, 1));
        assert!((lengths.mean_characters - 13.0 / 3.0).abs() < 1e-9);
        // Saturday 23:30 in UTC is Sunday 7:30 in China.
        let (hours, weekdays) = hours_and_weekdays(&log, UtcOffset::parse("+08:00").unwrap());
        assert_eq!((hours[7], hours[20], weekdays), (1, 2, [0, 0, 0, 0, 1, 1, 1]));
    }

    #[test]
    fn the_mean_share_of_terms_counts_searches() {
        let noon = "2026-01-31T12:00:00Z";
        let log = log(&[("tea", noon), ("tea", noon), ("lighthouse", noon)]);
        let share = |term: &str| match term {
            "tea" => Some(0.1),
            _ => Some(0.4),
        };
        assert!((mean_term_share(&log, share).unwrap() - 0.2).abs() < 1e-9);
        assert_eq!(mean_term_share(&log, |_| None), None);
    }
}
