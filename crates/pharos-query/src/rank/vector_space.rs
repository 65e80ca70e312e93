//! The vector space model (向量空间模型): a query and a page as vectors of words, and the angle between them
//! (《走进搜索引擎》 §5.2, 《搜索引擎——原理、技术与系统》 §10.1; Salton 1975).
//!
//! For comparison with the other models only: the length of a page's vector needs all its words, so that its text is read
//! and cut again.

use std::collections::HashMap;

/// How a word is weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weighing {
    /// Is it there? (二元模型)
    Binary,
    /// Its share of all words.
    Frequency,
    /// Its share, times how rare it is.
    FrequencyAndRarity,
}

/// A sparse vector.
pub(crate) type Vector = HashMap<String, f64>;

/// The vector of a text, of which `rarity` tells log2(1/D): D is the share of pages that have the word.
pub(crate) fn vector(words: &[String], weighing: Weighing, rarity: impl Fn(&str) -> f64) -> Vector {
    let mut vector = Vector::new();
    words.iter().for_each(|word| *vector.entry(word.clone()).or_default() += 1.0);
    let all = words.len().max(1) as f64;
    for (word, weight) in &mut vector {
        *weight = match weighing {
            Weighing::Binary => 1.0,
            Weighing::Frequency => *weight / all,
            Weighing::FrequencyAndRarity => *weight / all * rarity(word),
        };
    }
    vector
}

/// cos θ = a·b / (|a||b|); 0 where one of them has no direction. Only words of the shorter one are looked at.
pub(crate) fn cosine(a: &Vector, b: &Vector) -> f64 {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let product: f64 = short.iter().filter_map(|(word, x)| long.get(word).map(|y| x * y)).sum();
    let lengths = length(a) * length(b);
    if lengths > 0.0 { product / lengths } else { 0.0 }
}

fn length(vector: &Vector) -> f64 {
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
        let of = |counts: [f64; 7]| -> Vector {
            let parts = counts.into_iter().enumerate().filter(|(_, count)| *count > 0.0);
            parts.map(|(nth, count)| (format!("t{nth}"), count)).collect()
        };
        let (a, b) = (of([0., 0., 2., 0., 1., 0., 1.]), of([0., 1., 3., 5., 2., 4., 0.]));
        assert!((cosine(&a, &b) - 0.44).abs() < 0.005, "{}", cosine(&a, &b));
        assert_eq!(cosine(&a, &Vector::new()), 0.0);
        assert!((cosine(&a, &a) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn frequency_and_rarity_of_the_worked_example() {
        let text = words("走进 搜索引擎 学习 搜索引擎");
        let rarity = |word: &str| if word == "搜索引擎" { 4096f64.log2() } else { 256f64.log2() };
        let vector = vector(&text, Weighing::FrequencyAndRarity, rarity);
        assert_eq!((vector["搜索引擎"], vector["走进"], vector["学习"]), (6.0, 2.0, 2.0));
    }

    #[test]
    fn weighings_differ() {
        let text = words("a a b");
        let of = |weighing| vector(&text, weighing, |_| 1.0);
        assert_eq!(of(Weighing::Binary)["a"], 1.0);
        assert_eq!(of(Weighing::Frequency)["a"], 2.0 / 3.0);
    }
}
