//! Boosts and blocks by site, directory or URL, set by the operator: `docs.example.org 0.1`.

use pharos_core::config::RankConfig;
use pharos_index::Query;

use crate::language::expression::{Expression, PageTarget};
use crate::language::parse;

/// Maximum number of boosts, because each one costs an additional index query.
const MAX_BOOSTS: usize = 32;

/// The boosts and blocks of the settings. Invalid ones are dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boosts {
    boosted: Vec<(Query, f64)>,
    blocked: Vec<Query>,
}

/// The ranking settings of the operator.
#[derive(Debug)]
pub(crate) struct RankingRules {
    pub(crate) rank: RankConfig,
    pub(crate) boosts: Boosts,
}

impl RankingRules {
    pub(crate) fn from_config(rank: &RankConfig) -> Self {
        Self { rank: rank.clone(), boosts: Boosts::from_config(rank) }
    }
}

impl Boosts {
    pub(crate) fn from_config(config: &RankConfig) -> Self {
        let raise = |rule: &String| {
            let (place, by) = rule.trim().rsplit_once(char::is_whitespace)?;
            let by: f64 = by.parse().ok().filter(|by: &f64| by.is_finite())?;
            Some((place_query(place)?, by.clamp(-1.0, 1.0)))
        };
        let boosted = config.boost.iter().filter_map(|rule| {
            let known = raise(rule);
            if known.is_none() {
                tracing::warn!(rule, "invalid boost: expected a site, directory or URL followed by a number");
            }
            known
        });
        let boosted = boosted.take(MAX_BOOSTS).collect();
        Self { boosted, blocked: config.block.iter().filter_map(|place| place_query(place.trim())).collect() }
    }

    /// Returns the boosted pages with their amounts.
    pub(crate) fn boosted(&self) -> impl Iterator<Item = (Query, f64)> + '_ {
        self.boosted.iter().cloned()
    }

    /// Excludes blocked pages from a query.
    pub(crate) fn exclude_blocked(&self, query: &mut Query) {
        if self.blocked.is_empty() {
            return;
        }
        let not = self.blocked.iter().map(|place| Query::Not(Box::new(place.clone())));
        let mut parts = match std::mem::replace(query, Query::All) {
            Query::And(parts) => parts,
            other => vec![other],
        };
        parts.extend(not);
        *query = Query::And(parts);
    }
}

/// Returns the query for a URL (one page), a site or a directory.
fn place_query(place: &str) -> Option<Query> {
    if place.starts_with("http://") || place.starts_with("https://") {
        return Some(Expression::Url(PageTarget::parse_page(place)?).to_query(&|_, _| false));
    }
    parse::parse_site(place).map(Query::Site)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_nonsense_is_left_out() {
        let config = RankConfig {
            boost: ["Docs.example.org 0.1", "example.org/a -9", "nonsense", "a.b x", ""]
                .map(String::from)
                .into(),
            block: ["spam.example", "http://a.example/x"].map(String::from).into(),
            ..RankConfig::default()
        };
        let boosts = Boosts::from_config(&config);
        let expected =
            [(Query::Site("docs.example.org".into()), 0.1), (Query::Site("example.org/a".into()), -1.0)];
        assert_eq!(boosts.boosted, expected);
        let mut query = Query::Word("x".into());
        boosts.exclude_blocked(&mut query);
        assert!(matches!(query, Query::And(parts) if parts.len() == 3));
    }
}
