//! Preferences between results, from clicks (Joachims 2002; Joachims et al. 2005; 《走进搜索引擎》§6.4.5).
//!
//! Users read from the top. A clicked result is better than the results above it that were not clicked (*skip above*), and
//! better than the next one if that was not clicked (*no click next*). There are 2^n click patterns of n results, so
//! patterns themselves are too many to learn from.

use std::collections::HashMap;

use crate::search_log::SearchLog;

/// Returns the number of click patterns of n results.
pub fn pattern_count(results: u32) -> u64 {
    1_u64.checked_shl(results).unwrap_or(u64::MAX)
}

/// Selection of the pairs to extract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreferenceRules {
    /// A clicked result is better than unclicked ones above it.
    pub skip_above: bool,
    /// A clicked result is better than the next one, if that is not clicked.
    pub no_click_next: bool,
}

/// Returns pairs (better, worse) of positions, counted from 1, for the clicked positions among n results.
pub fn preferences(results: u32, clicked: &[u32], rules: PreferenceRules) -> Vec<(u32, u32)> {
    let is_clicked = |position: u32| clicked.contains(&position);
    let mut pairs = Vec::new();
    for better in (1..=results).filter(|position| is_clicked(*position)) {
        if rules.skip_above {
            pairs.extend((1..better).filter(|worse| !is_clicked(*worse)).map(|worse| (better, worse)));
        }
        if rules.no_click_next && better < results && !is_clicked(better + 1) {
            pairs.push((better, better + 1));
        }
    }
    pairs
}

/// Preferences for one query: how often a page was preferred to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PreferenceCount {
    /// Numbers of query and pages in the search log.
    pub query: u32,
    pub better: u32,
    pub worse: u32,
    /// Number of visits, each counted once a day.
    pub votes: u32,
}

/// Counts the preferences of a log, at most one vote per visit, query, pair and day. Preferences may be cyclic.
pub fn count_preferences(log: &SearchLog, rules: PreferenceRules) -> Vec<PreferenceCount> {
    let mut votes: Vec<(u32, u32, u32, Option<u32>, i64)> = Vec::new();
    for search in &log.searches {
        let shown = log.shown_of(search);
        let clicked: Vec<u32> = log
            .clicks_of(search)
            .iter()
            .filter_map(|click| shown.iter().position(|url| *url == click.url))
            .map(|position| position as u32 + 1)
            .collect();
        let day = search.at.millis().div_euclid(86_400_000);
        for (better, worse) in preferences(shown.len() as u32, &clicked, rules) {
            votes.push((
                search.query,
                shown[better as usize - 1],
                shown[worse as usize - 1],
                search.visit,
                day,
            ));
        }
    }
    votes.sort_unstable();
    votes.dedup();
    let mut counts: HashMap<(u32, u32, u32), u32> = HashMap::new();
    votes
        .iter()
        .for_each(|(query, better, worse, ..)| *counts.entry((*query, *better, *worse)).or_default() += 1);
    let count = |((query, better, worse), votes)| PreferenceCount { query, better, worse, votes };
    let mut counts: Vec<PreferenceCount> = counts.into_iter().map(count).collect();
    counts.sort_unstable_by_key(|count| {
        (count.query, std::cmp::Reverse(count.votes), count.better, count.worse)
    });
    counts
}

/// Ranks items by their clicks, the most clicked first; ties keep their order.
pub fn rank_by_clicks<T>(items: impl IntoIterator<Item = (T, u64)>) -> Vec<T> {
    let mut items: Vec<(T, u64)> = items.into_iter().collect();
    items.sort_by_key(|(_, clicks)| std::cmp::Reverse(*clicks));
    items.into_iter().map(|(item, _)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ImpressionRecord;
    use crate::QueryRecord;
    use crate::log::records::{AnyRecord, ShownResult};
    use crate::search_log::SearchLogBuilder;
    use crate::testing::{at, click_at, query_at};

    const BOTH: PreferenceRules = PreferenceRules { skip_above: true, no_click_next: true };

    #[test]
    fn the_fifth_result_is_preferred_to_those_skipped_above() {
        let rules = PreferenceRules { no_click_next: false, ..BOTH };
        assert_eq!(preferences(10, &[1, 5], rules), [(5, 2), (5, 3), (5, 4)]);
        assert_eq!(preferences(10, &[1, 5], BOTH), [(1, 2), (5, 2), (5, 3), (5, 4), (5, 6)]);
        assert_eq!(preferences(2, &[2, 7], BOTH), [(2, 1)]);
    }

    #[test]
    fn ten_results_have_1024_patterns() {
        assert_eq!((pattern_count(10), pattern_count(0), pattern_count(64)), (1024, 1, u64::MAX));
    }

    #[test]
    fn clicks_for_z50_rank_the_train_first() {
        assert_eq!(
            rank_by_clicks([("phone", 5), ("train", 50), ("camera", 10)]),
            ["train", "camera", "phone"]
        );
    }

    #[test]
    fn a_visitor_who_repeats_has_one_vote() {
        let mut builder = SearchLogBuilder::new(at("2026-02-01T00:00:00Z"));
        for n in 0..100 {
            let visit = if n == 99 { "b" } else { "a" };
            let when = at("2026-01-31T12:00:00Z");
            builder.add(AnyRecord::Query(QueryRecord { id: n.to_string(), ..query_at("tea", visit, when) }));
            let results = ["http://x/", "http://y/"];
            let results = (1..).zip(results).map(|(rank, url)| ShownResult { rank, url: url.into() });
            builder.add(AnyRecord::Impression(ImpressionRecord {
                id: n.to_string(),
                results: results.collect(),
                ..ImpressionRecord::default()
            }));
            builder.add(AnyRecord::Click(click_at(&n.to_string(), "", "http://y/", when)));
        }
        let log = builder.finish();
        let counts = count_preferences(&log, BOTH);
        assert_eq!(counts.len(), 1);
        assert_eq!((log.urls.text(counts[0].better), counts[0].votes), ("http://y/", 2));
    }
}
