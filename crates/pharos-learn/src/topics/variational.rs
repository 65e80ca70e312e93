//! Variational EM of LDA (Blei, Ng & Jordan 2003, §5; 《走进搜索引擎》§6.3.4).
//!
//! E-step: for each text, φ_nk ∝ β_kw exp(ψ(γ_k)) and γ_k = α + Σ_n φ_nk are repeated until γ is stable. M-step: β_kw ∝ Σ φ_nk
//! over the words w of all texts. α stays as given, with a symmetric prior of β.

use super::corpus::Corpus;
use super::model::TopicModel;
use crate::random::Random;

/// Parameters of variational EM.
#[derive(Clone, Copy, Debug)]
pub struct EmParameters {
    /// Number of topics.
    pub topics: usize,
    /// Prior α of the topics of a text.
    pub alpha: f64,
    /// Number added to the expected counts of words.
    pub beta: f64,
    /// Maximum number of EM iterations.
    pub iterations: usize,
    /// Relative change of the expected topics of texts at which EM stops.
    pub tolerance: f64,
    pub seed: u64,
}

impl Default for EmParameters {
    fn default() -> Self {
        Self { topics: 100, alpha: 0.1, beta: 0.01, iterations: 50, tolerance: 1e-4, seed: 1 }
    }
}

/// Maximum number of repetitions of the E-step of a text.
const MAX_INNER: usize = 50;

/// Mean change of γ at which the E-step of a text stops.
const INNER_TOLERANCE: f64 = 1e-3;

/// Learns a model. The number of topics is limited to [`MAX_TOPICS`](super::MAX_TOPICS).
pub fn fit(corpus: &Corpus, parameters: EmParameters) -> TopicModel {
    let topics = parameters.topics.clamp(1, super::MAX_TOPICS);
    let words = corpus.words.len();
    let mut random = Random::new(parameters.seed);
    // Word-major: the weights of all topics for a word are neighbours.
    let mut counts: Vec<f64> = (0..words * topics).map(|_| 1.0 + random.unit()).collect();
    let mut gammas: Vec<Vec<f64>> = Vec::new();
    for _ in 0..parameters.iterations.max(1) {
        let beta = probabilities(&counts, topics, words, parameters.beta);
        counts.fill(0.0);
        let (mut change, mut size) = (0.0, 0.0);
        for (at, text) in corpus.texts.iter().enumerate() {
            let gamma = infer(text, &beta, topics, parameters.alpha, |word, phi| {
                let row = &mut counts[word as usize * topics..(word as usize + 1) * topics];
                row.iter_mut().zip(phi).for_each(|(count, phi)| *count += phi);
            });
            if let Some(before) = gammas.get(at) {
                change += gamma.iter().zip(before).map(|(a, b)| (a - b).abs()).sum::<f64>();
                size += gamma.iter().sum::<f64>();
            }
            if at < gammas.len() { gammas[at] = gamma } else { gammas.push(gamma) }
        }
        if size > 0.0 && change / size < parameters.tolerance {
            break;
        }
    }
    let row = |word: usize| {
        let row = &counts[word * topics..(word + 1) * topics];
        // Expected counts far below one word are noise.
        (0u16..).zip(row).filter(|&(_, &count)| count > 1e-3).map(|(k, &count)| (k, count as f32)).collect()
    };
    let counts = (0..words).map(row).collect();
    TopicModel::new(corpus.words.clone(), counts, topics, parameters.alpha, parameters.beta)
}

/// Returns β: the probability of each word in each topic.
fn probabilities(counts: &[f64], topics: usize, words: usize, prior: f64) -> Vec<f64> {
    let mut sums = vec![prior * words as f64; topics];
    for row in counts.chunks_exact(topics) {
        sums.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
    }
    let share = |(at, count): (usize, &f64)| (count + prior) / sums[at % topics];
    counts.iter().enumerate().map(share).collect()
}

/// Returns γ of a text, and calls `f` with the final φ of each of its words.
fn infer(text: &[u32], beta: &[f64], topics: usize, alpha: f64, mut f: impl FnMut(u32, &[f64])) -> Vec<f64> {
    let mut gamma = vec![alpha + text.len() as f64 / topics as f64; topics];
    let mut phi = vec![0.0; topics];
    for round in 0..MAX_INNER {
        let weights: Vec<f64> = gamma.iter().map(|&g| digamma(g).exp()).collect();
        let mut next = vec![alpha; topics];
        for &word in text {
            fill_phi(&mut phi, &weights, &beta[word as usize * topics..(word as usize + 1) * topics]);
            next.iter_mut().zip(&phi).for_each(|(gamma, phi)| *gamma += phi);
        }
        let change = gamma.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum::<f64>() / topics as f64;
        gamma = next;
        if change < INNER_TOLERANCE || round + 1 == MAX_INNER {
            break;
        }
    }
    let weights: Vec<f64> = gamma.iter().map(|&g| digamma(g).exp()).collect();
    for &word in text {
        fill_phi(&mut phi, &weights, &beta[word as usize * topics..(word as usize + 1) * topics]);
        f(word, &phi);
    }
    gamma
}

fn fill_phi(phi: &mut [f64], weights: &[f64], beta: &[f64]) {
    let mut sum = 0.0;
    for ((phi, weight), beta) in phi.iter_mut().zip(weights).zip(beta) {
        *phi = weight * beta;
        sum += *phi;
    }
    if sum > 0.0 {
        phi.iter_mut().for_each(|phi| *phi /= sum);
    }
}

/// Returns ψ(x) = d ln Γ(x) / dx for x > 0 (Bernardo 1976): recurrence up to 6, then the asymptotic series.
pub fn digamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 6.0 {
        shift -= 1.0 / x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse / 252.0));
    shift + x.ln() - 0.5 / x - series
}

#[cfg(test)]
mod tests {
    use super::super::gibbs::tests::two_topics;
    use super::*;

    #[test]
    fn digamma_of_known_values() {
        // ψ(1) = −γ, ψ(1/2) = −γ − 2 ln 2.
        let euler = 0.577_215_664_901_532_9;
        assert!((digamma(1.0) + euler).abs() < 1e-6);
        assert!((digamma(0.5) + euler + 2.0 * 2f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn em_finds_the_topics_and_lowers_the_perplexity() {
        let corpus = two_topics();
        let fitted =
            |iterations| fit(&corpus, EmParameters { topics: 2, iterations, ..EmParameters::default() });
        let (early, late) = (fitted(1), fitted(50));
        let texts: Vec<&[u32]> = corpus.texts.iter().map(Vec::as_slice).collect();
        assert!(late.perplexity(&texts) < early.perplexity(&texts));
        // Four words per topic with equal probability.
        assert!(late.perplexity(&texts) < 5.5, "{}", late.perplexity(&texts));
    }
}
