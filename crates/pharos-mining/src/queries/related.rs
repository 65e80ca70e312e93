//! Related queries (相关搜索), by shared words, shared clicks and query sequences.
//!
//! ```text
//! score(q, p) = 0.3 · words(q, p) + 0.4 · clicks(q, p) + next(q, p) + walk(q, p)
//! ```
//!
//! * `words`: shared words over all words of both (Jaccard), without stop words.
//! * `clicks`: the cosine of the click counts over results (Cao et al. 2008; Xue et al. 2004 count shared
//!   results in the same way). Queries with the same clicks have the same meaning.
//! * `next`: the share of the queries q that are followed by p in the same visit, n / (count + 2). One in ten
//!   users who search for Z50 then searches for 火车Z50 (《走进搜索引擎》§5.6.2). The 2 prevents a single sequence from
//!   dominating.
//! * `walk`: the weighted share of p among the queries that random walks on the click graph reach from q. They find
//!   queries without common words and clicks (Craswell & Szummer 2007).
//!
//! Queries that score below 0.06 are not related. Candidates come from inverted indexes by word and by
//! result, so that the cost depends on the number of shared items and not on the number of queries.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::time::Duration;

use foldhash::fast::FixedState;
use pharos_core::Timestamp;
use pharos_text::Analyser;
use pharos_text::analyser::stop_words::is_stop_word;

const WORDS_WEIGHT: f64 = 0.3;
const CLICKS_WEIGHT: f64 = 0.4;
const NEXT_SMOOTHING: f64 = 2.0;
const MIN_SCORE: f64 = 0.06;
/// Maximum number of words of a query that are used.
const MAX_WORDS: usize = 16;
/// Maximum number of results and next queries stored per query; the most frequent are kept.
const MAX_EDGES: usize = 64;
/// Maximum number of queries examined for one word or result, the latest first.
const MAX_CANDIDATES: usize = 1000;
/// Maximum number of visits whose last query is stored.
const MAX_VISITS: usize = 1 << 16;

/// Stores queries, their words and clicks, and their successors.
pub struct RelatedQueries {
    numbers: HashMap<Box<str>, u32>,
    queries: Vec<StoredQuery>,
    by_word: HashMap<Box<str>, Vec<u32>>,
    by_result: HashMap<u64, Vec<u32>>,
    /// Last query of each visit, and its time.
    visits: HashMap<u64, (u32, Timestamp)>,
    max_queries: usize,
    follow_within: Duration,
}

struct StoredQuery {
    key: Box<str>,
    text: Box<str>,
    count: u32,
    last: Timestamp,
    words: Vec<Box<str>>,
    /// Click counts by result.
    clicks: HashMap<u64, u32>,
    /// Counts of the following queries.
    next: HashMap<u32, u32>,
}

impl RelatedQueries {
    /// Creates a store of at most `max_queries` queries. A query follows another if the same visit sends it
    /// within `follow_within`.
    pub fn new(max_queries: usize, follow_within: Duration) -> Self {
        Self {
            numbers: HashMap::new(),
            queries: Vec::new(),
            by_word: HashMap::new(),
            by_result: HashMap::new(),
            visits: HashMap::new(),
            max_queries: max_queries.clamp(4, u32::MAX as usize),
            follow_within,
        }
    }

    /// Adds a query of a visit.
    pub fn add_query(&mut self, key: &str, text: &str, visit: &str, at: Timestamp) {
        let number = self.number(key, text);
        let query = &mut self.queries[number as usize];
        query.count = query.count.saturating_add(1);
        query.last = query.last.max(at);
        if visit.is_empty() {
            return;
        }
        if self.visits.len() >= MAX_VISITS {
            self.visits.retain(|_, (_, last)| at.since(*last) <= self.follow_within);
            if self.visits.len() >= MAX_VISITS {
                self.visits.clear();
            }
        }
        let visit = FixedState::default().hash_one(visit);
        if let Some((before, when)) = self.visits.insert(visit, (number, at))
            && before != number
            && at.since(when) <= self.follow_within
        {
            count(&mut self.queries[before as usize].next, number);
        }
    }

    /// Adds a click on a result of a query.
    pub fn add_click(&mut self, key: &str, text: &str, url: &str, at: Timestamp) {
        let number = self.number(key, text);
        let result = FixedState::default().hash_one(url);
        let query = &mut self.queries[number as usize];
        query.last = query.last.max(at);
        if count(&mut query.clicks, result) {
            self.by_result.entry(result).or_default().push(number);
        }
    }

    fn number(&mut self, key: &str, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(key) {
            return *number;
        }
        if self.queries.len() >= self.max_queries {
            let mut heat: Vec<(u32, Timestamp)> = self.queries.iter().map(StoredQuery::heat).collect();
            let (_, limit, _) = heat.select_nth_unstable(self.max_queries / 4);
            let limit = *limit;
            self.keep(|query| query.heat() > limit);
        }
        let number = self.queries.len() as u32;
        let words = words(text);
        for word in &words {
            self.by_word.entry(word.clone()).or_default().push(number);
        }
        self.numbers.insert(key.into(), number);
        self.queries.push(StoredQuery {
            key: key.into(),
            text: text.into(),
            count: 0,
            last: Timestamp::from_millis(i64::MIN),
            words,
            clicks: HashMap::new(),
            next: HashMap::new(),
        });
        number
    }

    /// Drops queries that were last seen before `limit`.
    pub fn forget_before(&mut self, limit: Timestamp) {
        if self.queries.iter().any(|query| query.last < limit) {
            self.keep(|query| query.last >= limit);
        }
    }

    /// Keeps the selected queries and removes all references to the others.
    fn keep(&mut self, keep: impl Fn(&StoredQuery) -> bool) {
        let mut numbers = vec![None; self.queries.len()];
        let kept = self.queries.iter().enumerate().filter(|(_, query)| keep(query));
        for (new, (old, _)) in (0_u32..).zip(kept) {
            numbers[old] = Some(new);
        }
        let renumber = |number: u32| numbers.get(number as usize).copied().flatten();
        let mut old = 0;
        self.queries.retain(|_| {
            old += 1;
            renumber(old - 1).is_some()
        });
        for query in &mut self.queries {
            let next = std::mem::take(&mut query.next);
            query.next = next.into_iter().filter_map(|(to, count)| Some((renumber(to)?, count))).collect();
        }
        let renumbered = |list: &mut Vec<u32>| {
            *list = list.iter().filter_map(|number| renumber(*number)).collect();
            !list.is_empty()
        };
        self.by_word.retain(|_, list| renumbered(list));
        self.by_result.retain(|_, list| renumbered(list));
        self.visits.retain(|_, (number, _)| renumber(*number).map(|new| *number = new).is_some());
        self.numbers = (0..).zip(&self.queries).map(|(number, query)| (query.key.clone(), number)).collect();
    }

    /// Returns the queries related to this one, the closest first, restricted to keys for which `may_show` is
    /// `true`. `walked` are keys that walks reach, with their shares of the score; they may be shown.
    pub fn related(
        &self,
        key: &str,
        text: &str,
        n: usize,
        walked: &[(&str, f64)],
        may_show: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let own = self.numbers.get(key).map(|number| &self.queries[*number as usize]);
        let own_words = own.map_or_else(|| words(text), |own| own.words.clone());
        let empty = HashMap::new();
        let (own_clicks, next) = own.map_or((&empty, None), |own| (&own.clicks, Some(&own.next)));
        let mut candidates: HashSet<u32> = next.into_iter().flat_map(HashMap::keys).copied().collect();
        let lists = own_words.iter().filter_map(|word| self.by_word.get(word));
        for list in lists.chain(own_clicks.keys().filter_map(|result| self.by_result.get(result))) {
            candidates.extend(list.iter().rev().take(MAX_CANDIDATES));
        }
        let count = own.map_or(0.0, |own| f64::from(own.count));
        let mut scored: Vec<(f64, &str)> = Vec::new();
        for (key, share) in walked {
            match self.numbers.get(*key) {
                Some(number) => _ = candidates.insert(*number),
                None if *share >= MIN_SCORE => scored.push((*share, *key)),
                None => {}
            }
        }
        let walked: HashMap<&str, f64> = walked.iter().copied().collect();
        for number in candidates {
            let other = &self.queries[number as usize];
            let followed = next.and_then(|next| next.get(&number)).map_or(0.0, |n| f64::from(*n));
            let score = WORDS_WEIGHT * shared(&own_words, &other.words)
                + CLICKS_WEIGHT * cosine(own_clicks, &other.clicks)
                + (followed / (count + NEXT_SMOOTHING)).min(1.0);
            let share = walked.get(&*other.key);
            let score = score + share.unwrap_or(&0.0);
            if score >= MIN_SCORE && &*other.key != key && (share.is_some() || may_show(&other.key)) {
                scored.push((score, &other.text));
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        scored.into_iter().take(n).map(|(_, text)| text.to_string()).collect()
    }
}

impl StoredQuery {
    fn heat(&self) -> (u32, Timestamp) {
        (self.count, self.last)
    }
}

/// Increments a count; if there are too many keys, the rarest one is replaced. Returns `true` if the key is
/// new.
fn count<K: Copy + Eq + std::hash::Hash + Ord>(counts: &mut HashMap<K, u32>, key: K) -> bool {
    if let Some(count) = counts.get_mut(&key) {
        *count = count.saturating_add(1);
        return false;
    }
    if counts.len() >= MAX_EDGES
        && let Some(rarest) = counts.iter().min_by_key(|(key, count)| (**count, **key)).map(|(key, _)| *key)
    {
        counts.remove(&rarest);
    }
    counts.insert(key, 1);
    true
}

/// Returns the distinct words of a query without stop words, sorted.
fn words(text: &str) -> Vec<Box<str>> {
    let mut words: Vec<Box<str>> = Vec::new();
    Analyser::shared().for_each_token(text, |word, _, _, _| {
        if words.len() < MAX_WORDS && !is_stop_word(word) {
            words.push(word.into());
        }
    });
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns the Jaccard coefficient of two sorted lists.
fn shared(a: &[Box<str>], b: &[Box<str>]) -> f64 {
    let both = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
    let any = a.len() + b.len() - both;
    if any == 0 { 0.0 } else { both as f64 / any as f64 }
}

/// Returns the cosine of two vectors of counts.
fn cosine(a: &HashMap<u64, u32>, b: &HashMap<u64, u32>) -> f64 {
    let dot: f64 = a.iter().filter_map(|(key, n)| Some(f64::from(*n) * f64::from(*b.get(key)?))).sum();
    let length =
        |counts: &HashMap<u64, u32>| counts.values().map(|n| f64::from(*n).powi(2)).sum::<f64>().sqrt();
    if dot == 0.0 { 0.0 } else { dot / (length(a) * length(b)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    const WITHIN: Duration = Duration::from_secs(1800);

    fn noon() -> Timestamp {
        at("2026-01-31T12:00:00Z")
    }

    fn ask(related: &mut RelatedQueries, query: &str, visit: &str, after: u64) {
        related.add_query(query, query, visit, noon().plus(Duration::from_secs(after)));
    }

    fn of(related: &RelatedQueries, query: &str) -> Vec<String> {
        related.related(query, query, 5, &[], |_| true)
    }

    #[test]
    fn queries_for_z50_are_related_to_the_train() {
        let mut related = RelatedQueries::new(1000, WITHIN);
        for person in 0..100 {
            ask(&mut related, "z50", &person.to_string(), 0);
            if person % 10 == 0 {
                ask(&mut related, "火车z50", &person.to_string(), 60);
            }
            if person == 1 {
                ask(&mut related, "weather", &person.to_string(), 60);
            }
        }
        assert_eq!(of(&related, "z50"), ["火车z50"]);
        // Also without a common word.
        for person in 0..100 {
            ask(&mut related, "tickets", &person.to_string(), 10_000);
            ask(&mut related, "timetable", &person.to_string(), if person < 10 { 10_060 } else { 90_000 });
        }
        assert_eq!(of(&related, "tickets"), ["timetable"]);
    }

    #[test]
    fn same_words_and_same_clicks_relate() {
        let mut related = RelatedQueries::new(1000, WITHIN);
        for query in ["北京大学 图书馆", "清华大学 图书馆", "图书馆", "大熊猫", "the panda", "the lighthouse"]
        {
            ask(&mut related, query, "", 0);
        }
        assert_eq!(of(&related, "图书馆"), ["北京大学 图书馆", "清华大学 图书馆"]);
        assert!(of(&related, "the panda").is_empty());
        for (query, url, times) in
            [("大熊猫", "http://a/", 3), ("the panda", "http://a/", 2), ("图书馆", "http://b/", 1)]
        {
            (0..times).for_each(|_| related.add_click(query, query, url, noon()));
        }
        assert_eq!(of(&related, "the panda"), ["大熊猫"]);
        // An unseen query is related by its words.
        assert_eq!(of(&related, "武汉大学 图书馆").len(), 3);
        assert!(related.related("图书馆", "图书馆", 5, &[], |key| key.starts_with("清华")).len() == 1);
        assert!(of(&related, "").is_empty());
    }

    #[test]
    fn walks_add_queries_and_raise_known_ones() {
        let mut related = RelatedQueries::new(1000, WITHIN);
        for query in ["red tea", "green tea", "tea"] {
            ask(&mut related, query, "", 0);
        }
        let walked = [("red tea", 0.1), ("infusion", 0.08), ("rare", 0.01)];
        let found = |shown: bool| related.related("tea", "tea", 5, &walked, |_| shown);
        assert_eq!(found(true), ["red tea", "green tea", "infusion"]);
        assert_eq!(found(false), ["red tea", "infusion"]);
    }

    #[test]
    fn memory_is_bounded_and_no_reference_dangles() {
        let mut related = RelatedQueries::new(50, WITHIN);
        for n in 0..2000_u64 {
            ask(&mut related, "hot", "v", n);
            ask(&mut related, &format!("词 {n}"), "v", n);
            related.add_click(&format!("词 {n}"), "词", "http://a/", noon());
        }
        assert!(related.queries.len() <= 50);
        assert!(related.by_word.len() <= 200 && related.by_result.len() == 1);
        let count = related.queries.len() as u32;
        assert!(related.queries.iter().all(|query| query.next.keys().all(|to| *to < count)));
        assert!(related.numbers.iter().all(|(key, number)| related.queries[*number as usize].key == *key));
        assert!(related.numbers.contains_key("hot"));
        related.forget_before(noon().plus(Duration::from_secs(1999)));
        assert_eq!(related.queries.len(), 2);
        assert!(related.numbers.contains_key("hot") && related.numbers.contains_key("词 1999"));
    }
}
