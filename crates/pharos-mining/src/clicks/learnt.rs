//! Evidence of clicks beyond single results: words of pages, related queries, similar pages and the success of queries.
//!
//! Everything is derived from the click graph as the last build left it, which contains only queries of several visits.

use std::collections::HashMap;
use std::io;

use foldhash::fast::RandomState;
use pharos_core::{Config, PageId, PageUrl, Timestamp};
use pharos_store::DataDir;

use super::ClickGraph;
use super::click_words::ClickWords;
use super::days::{self, GraphRules, MergedDays, QueryOutcome};
use super::walk::{WalkRules, related_queries, walk_from_page};

/// Transitions of a walk to queries that led to the same pages, and of one to their neighbours.
const NEAR: u32 = 2;
const FAR: u32 = 4;

/// Parameters of the uses of clicks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearntRules {
    pub graph: GraphRules,
    /// Number of queries of a page below which its words are discounted.
    pub cutoff: u64,
    /// Weight of walks for related queries and similar pages.
    pub related: f64,
    /// Greatest share by which success changes the weight of a suggestion.
    pub satisfied: f64,
    /// Least number of visits of a query that is shown to others.
    pub shown_from: u32,
}

impl LearntRules {
    /// Returns the rules of the settings.
    pub fn from_config(config: &Config) -> Self {
        Self {
            graph: GraphRules::from_config(config),
            cutoff: config.clicks.cutoff as u64,
            related: config.clicks.related,
            satisfied: config.clicks.satisfied,
            shown_from: u32::try_from(config.hot.min_visits).unwrap_or(u32::MAX),
        }
    }
}

/// Evidence that builds have derived from clicks.
#[derive(Debug)]
pub struct LearntClicks {
    /// Words of the queries that led to pages.
    pub words: ClickWords,
    graph: ClickGraph,
    /// Pages of the graph by number; `None` for an invalid URL.
    pages: Vec<Option<PageId>>,
    numbers: HashMap<PageId, u32, RandomState>,
    outcomes: HashMap<Box<str>, QueryOutcome, RandomState>,
    rules: LearntRules,
}

impl Default for LearntClicks {
    fn default() -> Self {
        Self::new(MergedDays::default(), LearntRules::from_config(&Config::default()))
    }
}

impl LearntClicks {
    /// Derives everything from merged days.
    pub fn new(MergedDays { graph, outcomes }: MergedDays, rules: LearntRules) -> Self {
        let pages: Vec<Option<PageId>> = (0..graph.pages.len() as u32)
            .map(|page| PageUrl::parse(graph.pages.text(page)).ok().map(|url| url.id()))
            .collect();
        let numbers = (0..).zip(&pages).filter_map(|(number, page)| Some(((*page)?, number))).collect();
        let words = ClickWords::build(&graph, rules.cutoff);
        Self { words, graph, pages, numbers, outcomes, rules }
    }

    /// Reads the files of days, as the last build left them.
    ///
    /// # Errors
    /// Fails if the files cannot be listed.
    pub fn load(data: &DataDir, rules: LearntRules, now: Timestamp) -> io::Result<Self> {
        Ok(Self::new(days::load(data, &rules.graph, now)?, rules))
    }

    /// Returns `true` if nothing was learnt.
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty() && self.words.is_empty()
    }

    /// Returns at most `n` queries that random walks from a normalised query reach, with their shares of the weight of
    /// walks. A query with few neighbours, usually a rare one, gets the neighbours of these too.
    pub fn related_queries(&self, query: &str, n: usize) -> Vec<(&str, f64)> {
        let Some(number) = self.graph.queries.number(query).filter(|_| self.rules.related > 0.0) else {
            return Vec::new();
        };
        let walk = |steps| {
            let rules = WalkRules { steps, ..WalkRules::default() };
            related_queries(&self.graph, number, &rules, n)
        };
        let mut reached = walk(NEAR);
        if reached.len() < n {
            reached = walk(FAR);
        }
        let total: f64 = reached.iter().map(|(_, mass)| mass).sum();
        reached
            .into_iter()
            .map(|(query, mass)| (self.graph.queries.text(query), self.rules.related * mass / total))
            .filter(|(query, _)| {
                self.outcomes.get(*query).is_none_or(|known| known.visits >= self.rules.shown_from)
            })
            .collect()
    }

    /// Returns at most `n` pages that the queries of a page led to as well, with their probabilities.
    pub fn similar_pages(&self, page: PageId, n: usize) -> Vec<(PageId, f64)> {
        let Some(number) = self.numbers.get(&page).filter(|_| self.rules.related > 0.0) else {
            return Vec::new();
        };
        let walked = walk_from_page(&self.graph, *number, &WalkRules { steps: NEAR, ..WalkRules::default() });
        let others = walked.top_pages(n.saturating_add(1)).into_iter();
        let others = others.filter_map(|(number, mass)| Some((self.pages[number as usize]?, mass)));
        others.filter(|(other, _)| *other != page).take(n).collect()
    }

    /// Returns the weight of walks for similar pages.
    pub fn similarity_weight(&self) -> f64 {
        self.rules.related
    }

    /// Returns the factor for the weight of a normalised query as a suggestion: above 1 if users were satisfied by its
    /// results, below 1 if they were not.
    pub fn suggestion_factor(&self, query: &str) -> f64 {
        let success = self.outcomes.get(query).map_or(0.5, |outcome| f64::from(outcome.success));
        1.0 + self.rules.satisfied.clamp(0.0, 1.0) * (2.0 * success - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::click_graph::tests::graph;
    use super::*;

    fn learnt(config: &Config) -> LearntClicks {
        let graph = graph(&[
            ("z50", "http://a.example/train", 9.0),
            ("train z50", "http://a.example/train", 2.0),
            ("train z50", "http://a.example/fares", 2.0),
            ("fares", "http://a.example/fares", 1.0),
            ("camera", "http://a.example/shop", 4.0),
            ("camera", "not a URL", 4.0),
        ]);
        let outcome = |visits, success| QueryOutcome { visits, success };
        let outcomes = [("z50", outcome(9, 1.0)), ("fares", outcome(3, 0.0)), ("train z50", outcome(4, 0.5))];
        let outcomes = outcomes.into_iter().map(|(query, outcome)| (query.into(), outcome)).collect();
        LearntClicks::new(MergedDays { graph, outcomes }, LearntRules::from_config(config))
    }

    fn page(name: &str) -> PageId {
        PageUrl::parse(&format!("http://a.example/{name}")).unwrap().id()
    }

    #[test]
    fn walks_relate_queries_without_common_clicks() {
        let learnt = learnt(&Config::default());
        let names =
            |query| learnt.related_queries(query, 5).into_iter().map(|found| found.0).collect::<Vec<_>>();
        assert_eq!(names("z50"), ["train z50", "fares"]);
        assert!(names("camera").is_empty() && names("unknown").is_empty());
        let shares: f64 = learnt.related_queries("z50", 5).iter().map(|found| found.1).sum();
        assert!((shares - 0.3).abs() < 1e-9);
    }

    #[test]
    fn pages_of_the_same_queries_are_similar() {
        let learnt = learnt(&Config::default());
        let found = learnt.similar_pages(page("train"), 5);
        assert_eq!(found.iter().map(|found| found.0).collect::<Vec<_>>(), [page("fares")]);
        // From the train, 2 of 11 clicks lead back to `train z50`, and half of its clicks to the fares.
        assert!((found[0].1 - 1.0 / 11.0).abs() < 1e-6);
        assert!(learnt.similar_pages(page("shop"), 5).is_empty());
        assert!(learnt.similar_pages(page("unknown"), 5).is_empty());
    }

    #[test]
    fn success_changes_the_weight_of_suggestions() {
        let learnt = learnt(&Config::default());
        assert_eq!(
            ["z50", "train z50", "unknown", "fares"].map(|query| learnt.suggestion_factor(query)),
            [1.5, 1.0, 1.0, 0.5]
        );
    }

    #[test]
    fn every_use_can_be_switched_off() {
        let mut config = Config::default();
        (config.clicks.related, config.clicks.satisfied) = (0.0, 0.0);
        let learnt = learnt(&config);
        assert!(learnt.related_queries("z50", 5).is_empty());
        assert!(learnt.similar_pages(page("train"), 5).is_empty());
        assert_eq!(learnt.suggestion_factor("fares"), 1.0);
        config = Config::default();
        config.hot.min_visits = 4;
        let shown = self::learnt(&config);
        let names: Vec<&str> = shown.related_queries("z50", 5).into_iter().map(|found| found.0).collect();
        assert_eq!(names, ["train z50"], "three visits asked for fares");
    }
}
