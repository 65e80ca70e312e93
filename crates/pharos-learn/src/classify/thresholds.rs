//! Threshold strategies (截尾): which classes of a list of scores are assigned.
//!
//! 《搜索引擎——原理、技术与系统》§11.7; Yang 2001. *RCut* (位置截尾) takes the k best classes of each text. *PCut* (比例截尾) takes,
//! for each class, a number of texts in proportion to its share of the training. *SCut* (最优截尾) takes the classes whose
//! score reaches the threshold of the class, which is tuned on texts that the classifier did not learn from.

use serde::{Deserialize, Serialize};

/// A strategy with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Thresholds {
    RCut {
        k: usize,
    },
    PCut {
        /// Factor x of the number of texts of a class, n · Pᵢ · x.
        x: f64,
        /// Share Pᵢ of each class in the training texts.
        shares: Vec<f64>,
    },
    SCut {
        /// Least score of each class.
        least: Vec<f32>,
        /// Texts that reach no threshold get their best class.
        at_least_one: bool,
    },
}

impl Thresholds {
    /// Returns `true` if the thresholds of a file fit a number of classes.
    pub(crate) fn is_valid(&self, classes: usize) -> bool {
        match self {
            Self::RCut { k } => *k > 0,
            Self::PCut { x, shares } => {
                x.is_finite() && shares.len() == classes && shares.iter().all(|share| share.is_finite())
            }
            Self::SCut { least, .. } => least.len() == classes && least.iter().all(|score| !score.is_nan()),
        }
    }

    /// Returns the classes of each text, in ascending order.
    pub fn decide(&self, scores: &[Vec<f32>]) -> Vec<Vec<u32>> {
        match self {
            Self::PCut { x, shares } => pcut(scores, *x, shares),
            _ => scores.iter().map(|scores| self.decide_one(scores)).collect(),
        }
    }

    /// Returns the classes of one text. PCut needs all texts at once: for one text it takes the best class.
    pub fn decide_one(&self, scores: &[f32]) -> Vec<u32> {
        match self {
            Self::RCut { k } => best(scores, *k),
            Self::PCut { .. } => best(scores, 1),
            Self::SCut { least, at_least_one } => {
                let reached =
                    (0u32..).zip(scores.iter().zip(least)).filter(|(_, (score, least))| score >= least);
                let classes: Vec<u32> = reached.map(|(class, _)| class).collect();
                if classes.is_empty() && *at_least_one { best(scores, 1) } else { classes }
            }
        }
    }
}

/// Returns the classes with the highest scores, in ascending order of class. Of equal scores the first class wins.
pub fn best(scores: &[f32], count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0u32..).take(scores.len()).collect();
    let by_score = |a: &u32, b: &u32| scores[*b as usize].total_cmp(&scores[*a as usize]).then(a.cmp(b));
    if count < order.len() {
        order.select_nth_unstable_by(count, by_score);
        order.truncate(count);
    }
    order.sort_unstable();
    order
}

fn pcut(scores: &[Vec<f32>], x: f64, shares: &[f64]) -> Vec<Vec<u32>> {
    let mut decisions = vec![Vec::new(); scores.len()];
    for (class, share) in (0u32..).zip(shares) {
        let take = (scores.len() as f64 * share * x).round().max(0.0) as usize;
        let of_class: Vec<f32> =
            scores.iter().map(|scores| scores.get(class as usize).copied().unwrap_or(f32::MIN)).collect();
        for text in best(&of_class, take) {
            decisions[text as usize].push(class);
        }
    }
    decisions
}

/// F1 below which a threshold is not trusted.
const TRUSTED_FROM: f64 = 0.1;

/// Returns the SCut threshold of each class: the one with the highest F1, in the middle between two scores. A class whose
/// F1 stays low, because its few texts have no typical scores, gets its highest score (SCutFBR.1, Yang 2001, §4).
///
/// `scores` are of texts that the classifier did not learn from. A class without such a text is never assigned.
pub fn tune_scut(scores: &[Vec<f32>], labels: &[Vec<u32>], classes: usize) -> Vec<f32> {
    let mut positives = vec![0u32; classes];
    for &class in labels.iter().flatten() {
        positives[class as usize] += 1;
    }
    let mut ranked: Vec<(f32, bool)> = Vec::with_capacity(scores.len());
    let tune = |class: usize| {
        let of_class =
            |(scores, labels): (&Vec<f32>, &Vec<u32>)| (scores[class], labels.contains(&(class as u32)));
        ranked.clear();
        ranked.extend(scores.iter().zip(labels).map(of_class));
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let (mut best, mut hits) = ((0.0, f32::INFINITY), 0u32);
        for (at, &(score, is_hit)) in ranked.iter().enumerate() {
            hits += u32::from(is_hit);
            let next = ranked.get(at + 1).map_or(score, |next| next.0);
            if next == score && at + 1 < ranked.len() {
                continue; // No threshold separates equal scores.
            }
            let f1 = 2.0 * f64::from(hits) / (at as f64 + 1.0 + f64::from(positives[class]));
            if hits > 0 && f1 > best.0 {
                best = (f1, (score + next) / 2.0);
            }
        }
        match ranked.first() {
            Some(&(highest, _)) if best.0 > 0.0 && best.0 < TRUSTED_FROM => highest,
            _ => best.1,
        }
    };
    (0..classes).map(tune).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rcut_takes_the_best_and_scut_those_above_their_thresholds() {
        let scores = [0.4, 0.9, 0.9, 0.1];
        assert_eq!(Thresholds::RCut { k: 1 }.decide_one(&scores), [1]);
        assert_eq!(Thresholds::RCut { k: 3 }.decide_one(&scores), [0, 1, 2]);
        let least = vec![0.4, 1.0, 1.0, 0.2];
        assert_eq!(Thresholds::SCut { least, at_least_one: false }.decide_one(&scores), [0]);
        let scut = |at_least_one| Thresholds::SCut { least: vec![2.0; 4], at_least_one };
        assert!(scut(false).decide_one(&scores).is_empty());
        assert_eq!(scut(true).decide_one(&scores), [1]);
    }

    #[test]
    fn pcut_assigns_texts_in_proportion_to_the_training() {
        let scores = [vec![0.9, 0.2], vec![0.8, 0.1], vec![0.1, 0.05], vec![0.7, 0.6]];
        // Four texts: class 0 takes 4 · 0.75 · 1 = 3, class 1 takes 1.
        let thresholds = Thresholds::PCut { x: 1.0, shares: vec![0.75, 0.25] };
        let expected: [&[u32]; 4] = [&[0], &[0], &[], &[0, 1]];
        assert_eq!(thresholds.decide(&scores), expected);
    }

    #[test]
    fn scut_maximises_f1_of_each_class() {
        let scores: Vec<Vec<f32>> = [0.9, 0.8, 0.7, 0.2, 0.1].iter().map(|&s| vec![s, s]).collect();
        let labels = [vec![0], vec![], vec![0], vec![], vec![]];
        let least = tune_scut(&scores, &labels, 2);
        // 0.9 … 0.7: precision 2/3, recall 1, F1 0.8; only 0.9: F1 2/3.
        assert!((least[0] - 0.45).abs() < 1e-6);
        assert_eq!(least[1], f32::INFINITY);
    }
}
