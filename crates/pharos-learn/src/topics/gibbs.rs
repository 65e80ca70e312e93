//! Collapsed Gibbs sampling of LDA (Griffiths & Steyvers 2004), with the sparse sampler of Yao, Mimno & McCallum 2009, §4.
//!
//! The probability of topic k for a word w of a text d is split into three sums, of which two have few terms:
//! s = Σ αβ / (βV + n_k), r = Σ n_dk β / (βV + n_k), q = Σ (α + n_dk) n_wk / (βV + n_k).

use super::corpus::Corpus;
use super::model::TopicModel;
use crate::random::Random;

/// Parameters of the sampling.
#[derive(Clone, Copy, Debug)]
pub struct GibbsParameters {
    /// Number of topics.
    pub topics: usize,
    /// Prior α of the topics of a text.
    pub alpha: f64,
    /// Prior β of the words of a topic.
    pub beta: f64,
    /// Number of passes over the texts.
    pub passes: usize,
    pub seed: u64,
}

impl Default for GibbsParameters {
    fn default() -> Self {
        Self { topics: 100, alpha: 0.1, beta: 0.01, passes: 200, seed: 1 }
    }
}

/// Counts of the sampler.
struct Sampler {
    parameters: GibbsParameters,
    /// β times the number of words.
    beta_sum: f64,
    /// Number of words of each topic, n_k.
    of_topic: Vec<u32>,
    /// Topics of each word with their counts n_wk.
    of_word: Vec<Vec<(u16, u32)>>,
    /// Counts n_dk of the current text.
    of_text: Vec<u32>,
    /// (α + n_dk) / (βV + n_k) of each topic.
    factors: Vec<f64>,
    s: f64,
    r: f64,
    random: Random,
}

impl Sampler {
    /// Adds `change` to the counts of a topic, and updates the sums.
    fn change(&mut self, word: u32, topic: u16, change: i32) {
        let k = usize::from(topic);
        let GibbsParameters { alpha, beta, .. } = self.parameters;
        let scale = self.beta_sum + f64::from(self.of_topic[k]);
        self.s -= alpha * beta / scale;
        self.r -= f64::from(self.of_text[k]) * beta / scale;
        self.of_topic[k] = self.of_topic[k].saturating_add_signed(change);
        self.of_text[k] = self.of_text[k].saturating_add_signed(change);
        let scale = self.beta_sum + f64::from(self.of_topic[k]);
        self.s += alpha * beta / scale;
        self.r += f64::from(self.of_text[k]) * beta / scale;
        self.factors[k] = (alpha + f64::from(self.of_text[k])) / scale;
        let topics = &mut self.of_word[word as usize];
        match topics.iter().position(|&(of, _)| of == topic) {
            Some(at) => {
                topics[at].1 = topics[at].1.saturating_add_signed(change);
                if topics[at].1 == 0 {
                    topics.swap_remove(at);
                }
            }
            None => topics.push((topic, 1)),
        }
    }

    /// Computes the sums for a text with the given topics.
    fn enter_text(&mut self, topics: &[u16]) {
        self.of_text.fill(0);
        topics.iter().for_each(|&topic| self.of_text[usize::from(topic)] += 1);
        let GibbsParameters { alpha, beta, .. } = self.parameters;
        (self.s, self.r) = (0.0, 0.0);
        for k in 0..self.of_topic.len() {
            let scale = self.beta_sum + f64::from(self.of_topic[k]);
            self.s += alpha * beta / scale;
            self.r += f64::from(self.of_text[k]) * beta / scale;
            self.factors[k] = (alpha + f64::from(self.of_text[k])) / scale;
        }
    }

    /// Draws a topic for a word of the current text.
    fn draw(&mut self, word: u32) -> u16 {
        let topics = &self.of_word[word as usize];
        let q: f64 = topics.iter().map(|&(k, count)| self.factors[usize::from(k)] * f64::from(count)).sum();
        let mut left = self.random.unit() * (self.s + self.r + q);
        if left < q {
            for &(k, count) in topics {
                left -= self.factors[usize::from(k)] * f64::from(count);
                if left <= 0.0 {
                    return k;
                }
            }
        }
        left -= q;
        let GibbsParameters { alpha, beta, .. } = self.parameters;
        let is_in_r = left < self.r;
        if !is_in_r {
            left -= self.r;
        }
        let mut last = 0;
        for (k, (&of_topic, &of_text)) in (0u16..).zip(self.of_topic.iter().zip(&self.of_text)) {
            let weight = if is_in_r { f64::from(of_text) } else { alpha };
            if weight > 0.0 {
                left -= weight * beta / (self.beta_sum + f64::from(of_topic));
                last = k;
                if left <= 0.0 {
                    return k;
                }
            }
        }
        last
    }
}

/// Learns a model. The number of topics is limited to [`MAX_TOPICS`](super::MAX_TOPICS).
pub fn sample(corpus: &Corpus, parameters: GibbsParameters) -> TopicModel {
    let topics = parameters.topics.clamp(1, super::MAX_TOPICS);
    let mut sampler = Sampler {
        parameters,
        beta_sum: parameters.beta * corpus.words.len() as f64,
        of_topic: vec![0; topics],
        of_word: vec![Vec::new(); corpus.words.len()],
        of_text: vec![0; topics],
        factors: vec![0.0; topics],
        s: 0.0,
        r: 0.0,
        random: Random::new(parameters.seed),
    };
    // Initially each word gets a topic by the words before it.
    let mut assigned: Vec<Vec<u16>> = Vec::with_capacity(corpus.texts.len());
    for text in &corpus.texts {
        sampler.enter_text(&[]);
        let mut of_words = Vec::with_capacity(text.len());
        for &word in text {
            let topic = sampler.draw(word);
            sampler.change(word, topic, 1);
            of_words.push(topic);
        }
        assigned.push(of_words);
    }
    for _ in 0..parameters.passes {
        for (text, of_words) in corpus.texts.iter().zip(&mut assigned) {
            sampler.enter_text(of_words);
            for (&word, topic) in text.iter().zip(of_words) {
                sampler.change(word, *topic, -1);
                *topic = sampler.draw(word);
                sampler.change(word, *topic, 1);
            }
        }
    }
    let counts = sampler.of_word.into_iter().map(|topics| {
        let mut topics: Vec<(u16, f32)> = topics.into_iter().map(|(k, count)| (k, count as f32)).collect();
        topics.sort_unstable_by_key(|&(k, _)| k);
        topics
    });
    TopicModel::new(corpus.words.clone(), counts.collect(), topics, parameters.alpha, parameters.beta)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::corpus::CorpusLimits;
    use super::*;

    /// Texts of two topics without a common word.
    pub(in super::super) fn two_topics() -> Corpus {
        let (weather, sports) = (["rain", "wind", "snow", "storm"], ["goal", "match", "player", "team"]);
        let text = |i: usize| {
            let words = if i.is_multiple_of(2) { weather } else { sports };
            (0..8).map(|j| words[(i / 2 + j * (1 + i % 3)) % 4]).collect::<Vec<_>>().join(" ")
        };
        let texts: Vec<String> = (0..40).map(text).collect();
        Corpus::new(
            texts.iter().map(String::as_str),
            CorpusLimits { min_texts: 1, max_share: 1.0, words: 100 },
        )
    }

    #[test]
    fn topics_without_common_words_are_separated() {
        let parameters = GibbsParameters { topics: 2, passes: 50, ..GibbsParameters::default() };
        let model = sample(&two_topics(), parameters);
        let words = |topic| {
            let mut words: Vec<String> = model.top_words(topic, 4).into_iter().map(|w| w.0).collect();
            words.sort_unstable();
            words.join(" ")
        };
        let mut topics = [words(0), words(1)];
        topics.sort_unstable();
        assert_eq!(topics, ["goal match player team", "rain snow storm wind"]);
        let again = sample(&two_topics(), parameters);
        assert_eq!(again.to_bytes(), model.to_bytes(), "the same seed gives the same model");
    }
}
