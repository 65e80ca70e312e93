//! Click patterns: the clicked positions of each impression, and the frequency of each pattern per query.
//!
//! The clicks on the ten results of a page form one of 2¹⁰ patterns; users and pages repeat them (《走进搜索引擎》§6.4.1,
//! §6.4.5).

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::log::records::{ClickKind, ClickRecord, ImpressionKind, ImpressionRecord};

/// The clicked ranks of one impression, in ascending order.
pub type ClickPattern = Vec<u32>;

/// Counts the click patterns of each query over all users.
///
/// An impression without clicks is counted only if its browser reports clicks ([`ImpressionKind::Seen`]),
/// unless no impression of the log says so.
pub fn click_patterns(
    impressions: &[ImpressionRecord],
    clicks: &[ClickRecord],
) -> BTreeMap<String, BTreeMap<ClickPattern, u64>> {
    let mut clicked: HashMap<&str, ClickPattern> = HashMap::new();
    for click in clicks.iter().filter(|click| click.kind == ClickKind::Result) {
        clicked.entry(&click.impression).or_default().extend(click.rank);
    }
    let mut patterns: BTreeMap<String, BTreeMap<ClickPattern, u64>> = BTreeMap::new();
    let seen = impressions.iter().filter(|impression| impression.kind == ImpressionKind::Seen);
    let seen: HashSet<&str> = seen.map(|impression| impression.id.as_str()).collect();
    for impression in impressions.iter().filter(|impression| !impression.results.is_empty()) {
        let clicked = clicked.get(impression.id.as_str());
        if clicked.is_none() && !seen.is_empty() && !seen.contains(impression.id.as_str()) {
            continue;
        }
        let mut pattern = clicked.cloned().unwrap_or_default();
        pattern.retain(|rank| impression.results.iter().any(|result| result.rank == *rank));
        pattern.sort_unstable();
        pattern.dedup();
        *patterns.entry(impression.query.clone()).or_default().entry(pattern).or_default() += 1;
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::records::ShownResult;

    #[test]
    fn positions_one_and_five_of_cikm() {
        let shown = |id: &str| ImpressionRecord {
            id: id.into(),
            query: "cikm".into(),
            results: (1..=10)
                .map(|rank| ShownResult { rank, url: format!("http://{rank}.example/") })
                .collect(),
            ..ImpressionRecord::default()
        };
        let click = |impression: &str, rank, order| {
            let json = format!(
                r#"{{"at":"2026-01-31T12:00:00Z","impression":"{impression}","kind":"result","rank":{rank},"order":{order}}}"#
            );
            serde_json::from_str::<ClickRecord>(&json).unwrap()
        };
        let impressions = [shown("a"), shown("b"), shown("c")];
        let clicks = [
            click("a", 1, 1),
            click("a", 5, 2),
            click("b", 5, 1),
            click("b", 1, 2),
            click("b", 1, 3),
            click("x", 1, 1),
        ];
        let patterns = click_patterns(&impressions, &clicks);
        assert_eq!(patterns["cikm"], BTreeMap::from([(vec![1, 5], 2), (vec![], 1)]));
    }
}
