//! Statistics of clicks: ranks, result pages, URLs, and how alike clicks are across queries
//! (《搜索引擎——原理、技术与系统》§9.2; position bias: Joachims et al. 2005, Craswell et al. 2008).

use std::collections::HashMap;

use crate::search_log::SearchLog;

/// Highest rank and page number with a count of its own.
const MAX_RANK: usize = 100;
/// Impressions that a rank must have for its click-through rate.
const MIN_SHOWN: u64 = 20;
/// Largest correction of a click for its position.
const MAX_COMPENSATION: f64 = 40.0;

/// Returns the share of viewed result pages by number, from 1 (formula 9-5).
pub fn page_shares(log: &SearchLog) -> Vec<f64> {
    let mut counts = vec![0_u64; MAX_RANK];
    for search in &log.searches {
        counts[(search.page.max(1) as usize).min(MAX_RANK) - 1] += 1;
    }
    shares(counts)
}

/// Returns the share of clicks by rank, from 1. Logs of other engines may contain clicks only.
pub fn rank_shares(log: &SearchLog) -> Vec<f64> {
    let mut counts = vec![0_u64; MAX_RANK];
    for click in log.clicks.iter().filter(|click| click.rank > 0) {
        counts[(click.rank as usize).min(MAX_RANK) - 1] += 1;
    }
    shares(counts)
}

/// Returns shares of a total without the zeros at the end.
fn shares(mut counts: Vec<u64>) -> Vec<f64> {
    counts.truncate(counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1));
    let total: u64 = counts.iter().sum();
    counts.iter().map(|count| *count as f64 / total.max(1) as f64).collect()
}

/// A rank of the position-bias curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct RankUse {
    /// Result pages that showed this rank and whose browser reports clicks.
    pub shown: u64,
    pub clicked: u64,
    /// Result pages on which this rank was clicked first.
    pub first: u64,
}

/// Counts by rank how often results were shown, clicked, and clicked first.
pub fn rank_use(log: &SearchLog) -> Vec<RankUse> {
    let mut ranks = vec![RankUse::default(); MAX_RANK];
    for search in log.searches.iter().filter(|search| log.reports_clicks(search)) {
        let clicks = log.clicks_of(search);
        let shown = log.shown_of(search).len();
        // Results of a page have consecutive ranks that end with the page.
        let first = search.page.saturating_sub(1) as usize * shown.max(10);
        ranks.iter_mut().skip(first).take(shown).for_each(|rank| rank.shown += 1);
        let mut seen = [false; MAX_RANK];
        for (nth, click) in clicks.iter().enumerate() {
            let Some(rank) = (click.rank as usize).checked_sub(1).filter(|rank| *rank < MAX_RANK) else {
                continue;
            };
            ranks[rank].first += u64::from(nth == 0);
            ranks[rank].clicked += u64::from(!std::mem::replace(&mut seen[rank], true));
        }
    }
    ranks.truncate(ranks.iter().rposition(|rank| rank.shown + rank.clicked > 0).map_or(0, |last| last + 1));
    ranks
}

/// Returns the factor by rank that makes clicks at different ranks comparable: the click-through rate of rank 1 over that
/// of the rank, made monotonic and limited. Empty if impressions are not logged.
pub fn position_compensation(ranks: &[RankUse]) -> Vec<f64> {
    let rate = |rank: &RankUse| rank.clicked as f64 / rank.shown as f64;
    let usable = ranks.iter().take_while(|rank| rank.shown >= MIN_SHOWN && rank.clicked > 0);
    let Some(first) = ranks.first().filter(|rank| rank.shown >= MIN_SHOWN && rank.clicked > 0).map(rate)
    else {
        return Vec::new();
    };
    let mut before = 1.0_f64;
    usable
        .map(|rank| {
            before = before.max(first / rate(rank)).min(MAX_COMPENSATION);
            before
        })
        .collect()
}

/// Returns the clicks of each clicked URL, the most clicked first.
pub fn clicks_by_url(log: &SearchLog) -> Vec<u64> {
    let mut counts = vec![0_u64; log.urls.len()];
    log.clicks.iter().for_each(|click| counts[click.url as usize] += 1);
    counts.retain(|count| *count > 0);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

/// Returns for each of the `most` most clicked queries the cosine between its clicks over URLs and the clicks of all queries
/// on the same URLs (formula 9-6). High values justify a cache of hot clicks by URL alone.
pub fn agreement_with_all(log: &SearchLog, most: usize) -> Vec<f64> {
    let mut by_query: HashMap<u32, HashMap<u32, u64>> = HashMap::new();
    let mut all: HashMap<u32, u64> = HashMap::new();
    for click in &log.clicks {
        let query = log.searches[click.search as usize].query;
        *by_query.entry(query).or_default().entry(click.url).or_default() += 1;
        *all.entry(click.url).or_default() += 1;
    }
    let mut queries: Vec<(u64, u32)> =
        by_query.iter().map(|(query, urls)| (urls.values().sum::<u64>(), *query)).collect();
    queries.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let cosine = |(_, query): &(u64, u32)| {
        let pairs: Vec<(f64, f64)> =
            by_query[query].iter().map(|(url, own)| (*own as f64, all[url] as f64)).collect();
        let dot: f64 = pairs.iter().map(|(a, b)| a * b).sum();
        let length =
            |side: fn(&(f64, f64)) -> f64| pairs.iter().map(|pair| side(pair).powi(2)).sum::<f64>().sqrt();
        dot / (length(|pair| pair.0) * length(|pair| pair.1))
    };
    queries.iter().take(most).map(cosine).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::records::AnyRecord;
    use crate::search_log::SearchLogBuilder;
    use crate::testing::{at, click_at, query_at};
    use crate::{ClickRecord, QueryRecord};

    fn log(pages: &[u32], clicks: &[(&str, &str, u32)]) -> SearchLog {
        let mut builder = SearchLogBuilder::new(at("2026-02-01T00:00:00Z"));
        for page in pages {
            let record = query_at("tea", "v", at("2026-01-31T12:00:00Z"));
            builder.add(AnyRecord::Query(QueryRecord { page: *page, ..record }));
        }
        for (query, url, rank) in clicks {
            let record = click_at("", query, url, at("2026-01-31T12:00:00Z"));
            builder.add(AnyRecord::Click(ClickRecord { rank: Some(*rank), ..record }));
        }
        builder.finish()
    }

    #[test]
    fn five_result_pages_of_the_source_are_three_quarters() {
        let published = [473, 122, 74, 50, 37];
        let mut pages: Vec<u32> = (1..).zip(published).flat_map(|(page, count)| vec![page; count]).collect();
        pages.extend(vec![90; 1000 - pages.len()]);
        let shares = page_shares(&log(&pages, &[]));
        let first: f64 = shares[..5].iter().sum();
        assert!((first - 0.756).abs() < 1e-9 && (shares[0] - 0.473).abs() < 1e-9);
        assert_eq!(shares.len(), 90);
    }

    #[test]
    fn queries_with_the_clicks_of_all_agree_with_them() {
        let clicks = [("a", "x", 1), ("a", "y", 2), ("b", "x", 1), ("b", "y", 2), ("c", "z", 30)];
        let log = log(&[], &clicks);
        assert!(agreement_with_all(&log, 10).iter().all(|cosine| (cosine - 1.0).abs() < 1e-9));
        let uneven = self::log(&[], &[("a", "x", 1), ("b", "x", 1), ("b", "y", 1), ("b", "y", 1)]);
        // b clicked (1, 2), all clicked (2, 2).
        let expected = 6.0 / (5.0_f64.sqrt() * 8.0_f64.sqrt());
        assert!((agreement_with_all(&uneven, 1)[0] - expected).abs() < 1e-9);
        assert_eq!(clicks_by_url(&uneven), [2, 2]);
        assert_eq!(rank_shares(&log).len(), 30);
    }

    #[test]
    fn a_rank_that_few_look_at_counts_more() {
        let ranks = [(1000, 400), (1000, 100), (1000, 200), (5, 1)];
        let ranks = ranks.map(|(shown, clicked)| RankUse { shown, clicked, first: 0 });
        assert_eq!(position_compensation(&ranks), [1.0, 4.0, 4.0]);
        assert!(position_compensation(&[]).is_empty());
    }
}
