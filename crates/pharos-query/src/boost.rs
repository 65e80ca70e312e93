//! What an operator raises or blocks, by site, folder or address: `docs.example.org 0.1`.

use pharos_core::config::RankConfig;
use pharos_index::Query;

use crate::expression::{Expression, Target};
use crate::parse;

/// More rules are not looked at: each asks the index once more.
const MAX_RAISED: usize = 32;

/// The rules of the settings; those that say nothing are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boosts {
    raised: Vec<(Query, f64)>,
    blocked: Vec<Query>,
}

/// How everything is ranked, as an operator set it.
#[derive(Debug)]
pub(crate) struct Ranking {
    pub(crate) rank: RankConfig,
    pub(crate) boosts: Boosts,
}

impl Ranking {
    pub(crate) fn of(rank: &RankConfig) -> Self {
        Self { rank: rank.clone(), boosts: Boosts::of(rank) }
    }
}

impl Boosts {
    pub(crate) fn of(config: &RankConfig) -> Self {
        let raise = |rule: &String| {
            let (place, by) = rule.trim().rsplit_once(char::is_whitespace)?;
            let by: f64 = by.parse().ok().filter(|by: &f64| by.is_finite())?;
            Some((place_of(place)?, by.clamp(-1.0, 1.0)))
        };
        let raised = config.boost.iter().filter_map(|rule| {
            let known = raise(rule);
            if known.is_none() {
                tracing::warn!(
                    rule,
                    "a boost is not understood: write a site, folder or address and a number"
                );
            }
            known
        });
        let raised = raised.take(MAX_RAISED).collect();
        Self { raised, blocked: config.block.iter().filter_map(|place| place_of(place.trim())).collect() }
    }

    /// What is raised, and by how much.
    pub(crate) fn raised(&self) -> impl Iterator<Item = (Query, f64)> + '_ {
        self.raised.iter().cloned()
    }

    /// Leaves blocked pages out of a question.
    pub(crate) fn block(&self, query: &mut Query) {
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

/// A whole address is one page; anything else a site or a folder of it.
fn place_of(place: &str) -> Option<Query> {
    if place.starts_with("http://") || place.starts_with("https://") {
        return Some(Expression::Url(Target::page(place)?).to_query(&|_, _| false));
    }
    parse::site(place).map(Query::Site)
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
        let boosts = Boosts::of(&config);
        let expected =
            [(Query::Site("docs.example.org".into()), 0.1), (Query::Site("example.org/a".into()), -1.0)];
        assert_eq!(boosts.raised, expected);
        let mut query = Query::Word("x".into());
        boosts.block(&mut query);
        assert!(matches!(query, Query::And(parts) if parts.len() == 3));
    }
}
