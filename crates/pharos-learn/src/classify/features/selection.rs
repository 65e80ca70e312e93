//! Feature selection (特征选择): the terms that separate the classes best.
//!
//! 《搜索引擎——原理、技术与系统》§11.5 and Yang & Pedersen 1997. Every method gives each term a score; the terms with the
//! highest scores are kept, by number or by share.

use serde::{Deserialize, Serialize};

use super::vector::SparseVector;
use crate::random::Random;

/// Cosine above which two texts count as related for the term strength.
const RELATED_FROM: f32 = 0.2;

/// Maximum number of texts that are compared with each other for the term strength.
const MAX_COMPARED: usize = 1000;

/// Method of feature selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SelectionMethod {
    /// Document frequency (文档频率).
    Df,
    /// Information gain (信息增益), formula 11-4.
    Ig,
    /// Mutual information (互信息), formula 11-5, mean over the classes.
    Mi,
    /// χ² statistic (CHI), formula 11-8, mean over the classes.
    Chi,
    /// Term strength (Wilbur & Sirotkin 1992): share of the related texts of a text with the term that contain it, too.
    Ts,
}

/// Number of features to keep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SelectionSize {
    /// Share of the terms, from 0 to 1.
    Share(f64),
    Number(usize),
}

/// Counts of a term and a class in the symbols of the literature.
#[derive(Clone, Copy, Debug)]
struct Contingency {
    /// Texts of the class with the term.
    a: f64,
    /// Texts of other classes with the term.
    b: f64,
    /// Texts of the class without the term.
    c: f64,
    /// Texts of other classes without the term.
    d: f64,
}

impl Contingency {
    fn new(both: u32, with_term: u32, of_class: u32, texts: usize) -> Self {
        let (a, t, c) = (f64::from(both), f64::from(with_term), f64::from(of_class));
        Self { a, b: t - a, c: c - a, d: texts as f64 - t - c + a }
    }

    fn n(&self) -> f64 {
        self.a + self.b + self.c + self.d
    }

    /// Returns log(A·N / ((A+C)(A+B))), 0 if term and class never meet.
    fn mutual_information(&self) -> f64 {
        let expected = (self.a + self.c) * (self.a + self.b);
        if self.a > 0.0 && expected > 0.0 { (self.a * self.n() / expected).ln() } else { 0.0 }
    }

    /// Returns N(AD−CB)² / ((A+C)(B+D)(A+B)(C+D)), 0 if a factor of the denominator is 0.
    fn chi_square(&self) -> f64 {
        let Self { a, b, c, d } = *self;
        let scale = (a + c) * (b + d) * (a + b) * (c + d);
        if scale > 0.0 { self.n() * (a * d - c * b).powi(2) / scale } else { 0.0 }
    }

    /// Returns what this class adds to P(t) Σ P(c|t) log P(c|t) + P(¬t) Σ P(c|¬t) log P(c|¬t) − Σ P(c) log P(c).
    fn information_gain(&self) -> f64 {
        let n = self.n();
        let part = |both: f64, all: f64| {
            if both > 0.0 && all > 0.0 { all / n * (both / all) * (both / all).ln() } else { 0.0 }
        };
        part(self.a, self.a + self.b) + part(self.c, self.c + self.d) - part(self.a + self.c, n)
    }
}

/// Texts with their classes, from which features are selected.
#[derive(Clone, Copy, Debug)]
pub struct LabelledVectors<'a> {
    pub vectors: &'a [SparseVector],
    /// Classes of each text.
    pub labels: &'a [Vec<u32>],
    pub classes: usize,
    pub terms: usize,
}

/// Returns the features to keep, in ascending order: at least one if there are any.
pub fn select(data: LabelledVectors<'_>, method: SelectionMethod, size: SelectionSize) -> Vec<u32> {
    let scores = scores(data, method);
    let keep = match size {
        SelectionSize::Share(share) => (share.clamp(0.0, 1.0) * scores.len() as f64).round() as usize,
        SelectionSize::Number(number) => number,
    };
    let mut order: Vec<u32> = (0u32..).take(scores.len()).collect();
    order.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]).then(a.cmp(&b)));
    order.truncate(keep.max(1));
    order.sort_unstable();
    order
}

/// Returns the score of each term.
pub fn scores(data: LabelledVectors<'_>, method: SelectionMethod) -> Vec<f64> {
    if method == SelectionMethod::Ts {
        return term_strengths(data);
    }
    let mut of_class = vec![0u32; data.classes];
    for &class in data.labels.iter().flatten() {
        of_class[class as usize] += 1;
    }
    let mut both = vec![0u32; data.classes];
    let score = |texts: &[u32]| {
        if method == SelectionMethod::Df {
            return texts.len() as f64;
        }
        for &class in texts.iter().flat_map(|&text| &data.labels[text as usize]) {
            both[class as usize] += 1;
        }
        let mut sum = 0.0;
        for (both, &of_class) in both.iter().zip(&of_class) {
            let counts = Contingency::new(*both, texts.len() as u32, of_class, data.vectors.len());
            sum += match method {
                SelectionMethod::Ig => counts.information_gain(),
                SelectionMethod::Mi => counts.mutual_information(),
                _ => counts.chi_square(),
            };
        }
        both.fill(0);
        if method == SelectionMethod::Ig { sum } else { sum / data.classes.max(1) as f64 }
    };
    inverted_lists(data).iter().map(|texts| texts.as_slice()).map(score).collect()
}

/// Returns the texts of each term.
fn inverted_lists(data: LabelledVectors<'_>) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); data.terms];
    for (text, vector) in (0u32..).zip(data.vectors) {
        for &(term, _) in vector.pairs() {
            lists[term as usize].push(text);
        }
    }
    lists
}

fn term_strengths(data: LabelledVectors<'_>) -> Vec<f64> {
    let mut sample: Vec<&SparseVector> = data.vectors.iter().collect();
    Random::new(1).shuffle(&mut sample);
    sample.truncate(MAX_COMPARED);
    let mut shared = vec![0u32; data.terms];
    let mut with_term = vec![0u32; data.terms];
    for (at, first) in sample.iter().enumerate() {
        for second in &sample[at + 1..] {
            if first.cosine(second) < RELATED_FROM {
                continue;
            }
            for &(term, _) in first.pairs().iter().chain(second.pairs()) {
                with_term[term as usize] += 1;
            }
            for &(term, _) in first.pairs() {
                if second.pairs().binary_search_by_key(&term, |&(other, _)| other).is_ok() {
                    shared[term as usize] += 2;
                }
            }
        }
    }
    let share = |(&shared, &with): (&u32, &u32)| f64::from(shared) / f64::from(with.max(1));
    shared.iter().zip(&with_term).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten texts of two classes. Term 0 is in all texts, term 1 in all five of class 0, term 2 in one of class 0.
    fn example(method: SelectionMethod) -> Vec<f64> {
        let vector = |terms: &[u32]| SparseVector::from_pairs(terms.iter().map(|&t| (t, 1.0)).collect());
        let mut vectors = vec![vector(&[0, 1, 2])];
        vectors.extend((0..4).map(|_| vector(&[0, 1])));
        vectors.extend((0..5).map(|_| vector(&[0])));
        let labels: Vec<Vec<u32>> = (0..10).map(|text| vec![u32::from(text >= 5)]).collect();
        scores(LabelledVectors { vectors: &vectors, labels: &labels, classes: 2, terms: 3 }, method)
    }

    #[test]
    fn document_frequency_counts_texts() {
        assert_eq!(example(SelectionMethod::Df), [10.0, 5.0, 1.0]);
    }

    #[test]
    fn chi_square_of_a_perfect_term_is_the_number_of_texts() {
        let scores = example(SelectionMethod::Chi);
        // Term 2: 10 · (1·5 − 4·0)² / (5 · 5 · 1 · 9) = 1.111.
        assert!(scores[0] == 0.0 && (scores[1] - 10.0).abs() < 1e-9 && (scores[2] - 10.0 / 9.0).abs() < 1e-9);
    }

    #[test]
    fn information_gain_of_a_perfect_term_is_the_entropy() {
        let scores = example(SelectionMethod::Ig);
        assert!(scores[0].abs() < 1e-9 && (scores[1] - 2f64.ln()).abs() < 1e-9);
        assert!(scores[2] > 0.0 && scores[2] < scores[1]);
    }

    #[test]
    fn mutual_information_prefers_rare_terms() {
        let scores = example(SelectionMethod::Mi);
        // ln(5·10 / (5·5)) = ln 2 for both, the known weakness of the method: rare and frequent terms are equal.
        assert!((scores[1] - 2f64.ln() / 2.0).abs() < 1e-9 && (scores[1] - scores[2]).abs() < 1e-9);
    }

    #[test]
    fn term_strength_is_a_probability() {
        let scores = example(SelectionMethod::Ts);
        assert_eq!(scores[0], 1.0);
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
        assert_eq!(scores[2], 0.0);
    }

    #[test]
    fn selection_by_share_and_by_number() {
        let vectors = vec![SparseVector::from_pairs(vec![(0, 1.0), (3, 1.0)]); 2];
        let labels = vec![vec![0], vec![0]];
        let data = LabelledVectors { vectors: &vectors, labels: &labels, classes: 1, terms: 4 };
        assert_eq!(select(data, SelectionMethod::Df, SelectionSize::Share(0.5)), [0, 3]);
        assert_eq!(select(data, SelectionMethod::Df, SelectionSize::Number(1)), [0]);
        assert_eq!(select(data, SelectionMethod::Df, SelectionSize::Share(0.0)).len(), 1);
    }
}
