//! The vector space model (向量空间模型): query and page as term vectors, compared by their cosine (《走进搜索引擎》§5.2.2,
//! 《搜索引擎——原理、技术与系统》§10.1; Salton 1975).
//!
//! It exists for comparison with the other models only: the length of a page vector requires all its words, so the
//! text is read and segmented again.

use std::collections::HashMap;

/// Weighting of the terms of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermWeighting {
    /// 1 if the word occurs (二元模型).
    Binary,
    /// Share of all words.
    Frequency,
    /// Share of all words, times inverse document frequency.
    FrequencyAndRarity,
}

/// A sparse vector.
pub(crate) type TermVector = HashMap<String, f64>;

/// Returns the vector of a text. `rarity` returns log2(1/D), where D is the share of pages that contain the word.
pub(crate) fn term_vector(
    words: &[String],
    weighting: TermWeighting,
    rarity: impl Fn(&str) -> f64,
) -> TermVector {
    let mut vector = TermVector::new();
    words.iter().for_each(|word| *vector.entry(word.clone()).or_default() += 1.0);
    let all = words.len().max(1) as f64;
    for (word, weight) in &mut vector {
        *weight = match weighting {
            TermWeighting::Binary => 1.0,
            TermWeighting::Frequency => *weight / all,
            TermWeighting::FrequencyAndRarity => *weight / all * rarity(word),
        };
    }
    vector
}

/// Returns cos θ = a·b / (|a||b|), or 0 if one vector is zero. Iterates over the shorter vector only.
pub(crate) fn cosine(a: &TermVector, b: &TermVector) -> f64 {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let product: f64 = short.iter().filter_map(|(word, x)| long.get(word).map(|y| x * y)).sum();
    let lengths = length(a) * length(b);
    if lengths > 0.0 { product / lengths } else { 0.0 }
}

fn length(vector: &TermVector) -> f64 {
    vector.values().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn the_angle_of_the_worked_example() {
        let of = |counts: [f64; 7]| -> TermVector {
            let parts = counts.into_iter().enumerate().filter(|(_, count)| *count > 0.0);
            parts.map(|(nth, count)| (format!("t{nth}"), count)).collect()
        };
        let (a, b) = (of([0., 0., 2., 0., 1., 0., 1.]), of([0., 1., 3., 5., 2., 4., 0.]));
        assert!((cosine(&a, &b) - 0.44).abs() < 0.005, "{}", cosine(&a, &b));
        assert_eq!(cosine(&a, &TermVector::new()), 0.0);
        assert!((cosine(&a, &a) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn frequency_and_rarity_of_the_worked_example() {
        let text = words("走进 搜索引擎 学习 搜索引擎");
        let rarity = |word: &str| if word == "搜索引擎" { 4096f64.log2() } else { 256f64.log2() };
        let vector = term_vector(&text, TermWeighting::FrequencyAndRarity, rarity);
        assert_eq!((vector["搜索引擎"], vector["走进"], vector["学习"]), (6.0, 2.0, 2.0));
    }

    #[test]
    fn weighings_differ() {
        let text = words("a a b");
        let of = |weighting| term_vector(&text, weighting, |_| 1.0);
        assert_eq!(of(TermWeighting::Binary)["a"], 1.0);
        assert_eq!(of(TermWeighting::Frequency)["a"], 2.0 / 3.0);
    }
}
