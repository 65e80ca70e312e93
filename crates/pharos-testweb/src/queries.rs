//! A Zipf-distributed query stream for a web.

use std::collections::HashSet;

use crate::model::{Lang, Web};
use crate::rng::Rng;
use crate::words::{CHINESE, ENGLISH, TOPICS};

/// Number of attempts per query, because duplicates are dropped.
const TRIES: usize = 20;

/// Parameters of a query stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuerySpec {
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of distinct queries; fewer if the web has too little text.
    pub distinct: usize,
    /// Exponent s of Zipf's law, between 0 and 4: the nth query is 1/nˢ times as frequent as the first. With the
    /// default, the first fifth makes up four fifths of the stream, as the literature reports for query logs.
    pub exponent: f64,
}

impl Default for QuerySpec {
    fn default() -> Self {
        Self { seed: 1, distinct: 20_000, exponent: 0.95 }
    }
}

/// An endless query stream, distributed by Zipf's law.
#[derive(Clone, Debug)]
pub struct QueryStream {
    texts: Vec<String>,
    exponent: f64,
    rng: Rng,
}

impl Web {
    /// Returns a query stream of words and titles of the pages and names of the sites, in their languages.
    pub fn queries(&self, spec: &QuerySpec) -> QueryStream {
        let mut rng = Rng::from_parts(&[0x0A5C_ED00, self.seed, spec.seed]);
        let (mut texts, mut known) = (Vec::new(), HashSet::new());
        for _ in 0..spec.distinct.saturating_mul(TRIES) {
            if texts.len() >= spec.distinct {
                break;
            }
            let Some(text) = self.query(&mut rng) else { break };
            if !text.is_empty() && known.insert(text.clone()) {
                texts.push(text);
            }
        }
        let exponent = if spec.exponent.is_nan() { 1.0 } else { spec.exponent.clamp(0.0, 4.0) };
        QueryStream { texts, exponent, rng }
    }

    /// Returns one query, or `None` if the web has no page.
    fn query(&self, rng: &mut Rng) -> Option<String> {
        let pages = self.pages.len();
        if pages == 0 {
            return None;
        }
        let page = &self.pages[rng.below(pages)];
        let host = self.host_of(page);
        let topic = TOPICS.get(host.topic);
        let word = |rng: &mut Rng| match (page.lang, topic) {
            (Lang::En, Some(topic)) => ENGLISH.nouns.draw_of_topic(rng, host.topic, topic.en),
            (Lang::Zh, Some(topic)) => CHINESE.nouns.draw_of_topic(rng, host.topic, topic.zh),
            (Lang::En, None) => ENGLISH.nouns.draw(rng),
            (Lang::Zh, None) => CHINESE.nouns.draw(rng),
        };
        Some(match rng.below(10) {
            0 => host.title.clone(),
            1 | 2 => page.title.to_string(),
            3 | 4 => piece_of_title(&page.title, rng),
            5 | 6 => word(rng).to_string(),
            7 | 8 => format!("{} {}", word(rng), word(rng)),
            _ => format!("{} {} {}", word(rng), word(rng), word(rng)),
        })
    }
}

/// Returns a few words of a title, or characters if it has no spaces.
fn piece_of_title(title: &str, rng: &mut Rng) -> String {
    let words: Vec<&str> = title.split_whitespace().collect();
    if words.len() > 2 {
        let first = rng.below(words.len() - 1);
        return words[first..first + 2].join(" ");
    }
    let letters: Vec<char> = title.chars().filter(|c| c.is_alphanumeric()).collect();
    let length = letters.len().min(rng.between(2, 5));
    let first = rng.below(letters.len() - length + 1);
    letters[first..first + length].iter().collect()
}

impl QueryStream {
    /// Returns the distinct queries, the most frequent first.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Draws the rank of the next query, or `None` if there are none.
    pub fn draw(&mut self) -> Option<usize> {
        let count = self.texts.len();
        let end = (count + 1) as f64;
        let (unit, rest) = (self.rng.unit(), 1.0 - self.exponent);
        // The inverse of the integral of 1/xˢ from 1 to count + 1.
        let rank = if rest.abs() < 1e-9 {
            end.powf(unit)
        } else {
            (1.0 + unit * (end.powf(rest) - 1.0)).powf(1.0 / rest)
        };
        (count > 0).then(|| (rank as usize).clamp(1, count) - 1)
    }
}

impl Iterator for QueryStream {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.draw().map(|rank| self.texts[rank].clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::WebSpec;

    fn web() -> Web {
        Web::generate(&WebSpec { seed: 5, hosts: 20, pages: 600, ..WebSpec::default() })
    }

    #[test]
    fn a_fifth_of_the_queries_makes_four_fifths_of_the_stream() {
        let mut queries = web().queries(&QuerySpec::default());
        assert_eq!(queries.texts().len(), 20_000);
        let different: HashSet<&String> = queries.texts().iter().collect();
        assert_eq!(different.len(), 20_000);
        let is_chinese = |text: &&String| !text.is_ascii();
        let chinese = queries.texts().iter().filter(is_chinese).count();
        assert!((2_000..18_000).contains(&chinese), "{chinese}");
        let draws = 200_000;
        let of_top = (0..draws).filter(|_| queries.draw().unwrap() < 4_000).count();
        let share = of_top as f64 / draws as f64;
        assert!((0.77..0.83).contains(&share), "{share}");
    }

    #[test]
    fn the_same_seed_gives_the_same_queries() {
        let draw = |seed| -> Vec<String> {
            let spec = QuerySpec { seed, distinct: 50, ..QuerySpec::default() };
            web().queries(&spec).take(20).collect()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn any_exponent_and_any_count_will_do() {
        let web = web();
        for exponent in [0.0, 1.0, 2.5, f64::NAN, f64::INFINITY, -3.0] {
            let spec = QuerySpec { distinct: 7, exponent, ..QuerySpec::default() };
            let mut queries = web.queries(&spec);
            assert!((0..1_000).all(|_| queries.draw().is_some_and(|rank| rank < 7)), "{exponent}");
        }
        assert_eq!(web.queries(&QuerySpec { distinct: 0, ..QuerySpec::default() }).next(), None);
    }
}
