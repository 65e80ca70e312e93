//! Hot and rising words of queries, for refreshing pages that contain them sooner (热词).
//!
//! Each query passes its decayed count to its words; counts halve every day. A rising query passes its growth too. The
//! result is bounded in number and in weight, so that no word can claim more than the share of the hottest one.

use std::collections::HashMap;

use pharos_text::Analyser;
use pharos_text::analyser::stop_words::is_stop_word;
use serde::Serialize;
use utoipa::ToSchema;

/// Words of a query that are used.
const MAX_WORDS: usize = 16;
/// Growth beyond which a query rises no further.
const MAX_GROWTH: f64 = 10.0;

/// A word that users search for now.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct HotWord {
    /// The normalised word, as in the index.
    pub word: String,
    /// Decayed share of the hottest word, between 0 and 1.
    pub heat: f64,
    /// Greatest growth of a query with the word, from 1 (not rising) to 10.
    pub growth: f64,
}

/// A query with its decayed count and its growth against the previous day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryHeat<'q> {
    pub query: &'q str,
    pub count: f64,
    pub growth: f64,
}

/// Returns the hottest words of queries, at most `n`, the hottest first. Heat is multiplied by the growth of a query, so
/// that rising words come before those that are merely frequent.
pub fn hot_words<'q>(queries: impl IntoIterator<Item = QueryHeat<'q>>, n: usize) -> Vec<HotWord> {
    let mut words: HashMap<String, (f64, f64)> = HashMap::new();
    for heat in queries {
        let growth = if heat.growth.is_finite() { heat.growth.clamp(1.0, MAX_GROWTH) } else { 1.0 };
        let weight = heat.count * growth;
        if weight.is_nan() || weight <= 0.0 {
            continue;
        }
        let mut own = Vec::new();
        Analyser::shared().for_each_token(heat.query, |word, _, _, _| {
            if own.len() < MAX_WORDS && !is_stop_word(word) && !own.iter().any(|known: &String| known == word)
            {
                own.push(word.to_string());
            }
        });
        for word in own {
            let entry = words.entry(word).or_insert((0.0, 1.0));
            *entry = (entry.0 + weight, entry.1.max(growth));
        }
    }
    let most = words.values().map(|(weight, _)| *weight).fold(f64::MIN_POSITIVE, f64::max);
    let hot = |(word, (weight, growth))| HotWord { word, heat: weight / most, growth };
    let mut words: Vec<HotWord> = words.into_iter().map(hot).collect();
    words.sort_unstable_by(|a, b| b.heat.total_cmp(&a.heat).then_with(|| a.word.cmp(&b.word)));
    words.truncate(n);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_collect_the_heat_of_their_queries_and_rising_ones_lead() {
        let heat = |query, count, growth| QueryHeat { query, count, growth };
        let queries = [heat("green tea", 10.0, 0.5), heat("the tea", 5.0, 1.0), heat("eclipse", 4.0, 100.0)];
        let words = hot_words(queries, 10);
        let found: Vec<(&str, f64)> = words.iter().map(|word| (word.word.as_str(), word.growth)).collect();
        assert_eq!(found, [("eclipse", 10.0), ("tea", 1.0), ("green", 1.0)]);
        assert_eq!((words[0].heat, words[1].heat), (1.0, 15.0 / 40.0));
        assert_eq!(hot_words(queries, 1).len(), 1);
        assert!(hot_words([heat("x", f64::NAN, f64::NAN), heat("y", -1.0, 1.0)], 9).is_empty());
    }
}
