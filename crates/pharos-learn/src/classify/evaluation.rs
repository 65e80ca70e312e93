//! Evaluation of decisions: precision, recall and F1 of classes, micro and macro means, confusions, roll-up.
//!
//! 《搜索引擎——原理、技术与系统》§11.3, formulas 11-1 to 11-3; Yang & Liu 1999. Classes are counted that occur in the
//! right or in the assigned classes.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

/// Maximum number of confusions in a report.
const MAX_CONFUSIONS: usize = 100;

/// Precision, recall and F1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

impl Measures {
    /// Returns the measures of counts: right, wrongly assigned, and missed assignments. F1 = 2pr / (p + r).
    pub fn from_counts(right: u64, wrong: u64, missed: u64) -> Self {
        let share = |part: u64, all: u64| if all > 0 { part as f64 / all as f64 } else { 0.0 };
        Self {
            precision: share(right, right + wrong),
            recall: share(right, right + missed),
            f1: share(2 * right, 2 * right + wrong + missed),
        }
    }
}

/// Results of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassResult {
    pub class: String,
    #[serde(flatten)]
    pub measures: Measures,
    /// Number of texts that belong to the class.
    pub support: u64,
    /// Number of texts that the class was assigned to.
    pub assigned: u64,
}

/// A pair of classes that are confused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    /// A class that was not assigned.
    pub right: String,
    /// A class that was assigned wrongly to the same text.
    pub assigned: String,
    pub count: u64,
}

/// Evaluation of a classifier.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    pub examples: u64,
    /// Share of the texts with exactly the right classes.
    pub accuracy: f64,
    pub micro_f1: f64,
    /// Mean of the F1 of all classes (11-2).
    pub macro_f1: f64,
    /// F1 of the mean precision and the mean recall of all classes (11-3).
    pub macro_f1_of_means: f64,
    #[serde(rename = "micro")]
    pub micro_measures: Measures,
    /// Means of the classes.
    #[serde(rename = "macro")]
    pub macro_measures: Measures,
    pub classes: Vec<ClassResult>,
    /// The most frequent confusions, in descending order.
    pub confusions: Vec<Confusion>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    right: u64,
    wrong: u64,
    missed: u64,
}

/// Compares assigned with right classes of texts. Both lists are ascending and without repetitions.
pub fn evaluate<'a>(names: &[String], pairs: impl Iterator<Item = (&'a [u32], &'a [u32])>) -> Evaluation {
    let mut counts: BTreeMap<u32, Counts> = BTreeMap::new();
    let mut confusions: HashMap<(u32, u32), u64> = HashMap::new();
    let (mut examples, mut exact) = (0u64, 0u64);
    for (right, assigned) in pairs {
        examples += 1;
        exact += u64::from(right == assigned);
        let missed: Vec<u32> = right.iter().copied().filter(|class| !assigned.contains(class)).collect();
        for &class in right {
            let counts = counts.entry(class).or_default();
            if missed.contains(&class) { counts.missed += 1 } else { counts.right += 1 }
        }
        for &class in assigned.iter().filter(|class| !right.contains(class)) {
            counts.entry(class).or_default().wrong += 1;
            for &missed in &missed {
                *confusions.entry((missed, class)).or_default() += 1;
            }
        }
    }
    let name = |class: u32| names.get(class as usize).cloned().unwrap_or_default();
    let result = |(&class, counts): (&u32, &Counts)| ClassResult {
        class: name(class),
        measures: Measures::from_counts(counts.right, counts.wrong, counts.missed),
        support: counts.right + counts.missed,
        assigned: counts.right + counts.wrong,
    };
    let classes: Vec<ClassResult> = counts.iter().map(result).collect();
    let sum = |part: fn(&Counts) -> u64| counts.values().map(part).sum();
    let micro = Measures::from_counts(sum(|c| c.right), sum(|c| c.wrong), sum(|c| c.missed));
    let mean = |part: fn(&Measures) -> f64| {
        classes.iter().map(|class| part(&class.measures)).sum::<f64>() / classes.len().max(1) as f64
    };
    let macro_measures =
        Measures { precision: mean(|m| m.precision), recall: mean(|m| m.recall), f1: mean(|m| m.f1) };
    let Measures { precision: p, recall: r, .. } = macro_measures;
    let mut confusions: Vec<((u32, u32), u64)> = confusions.into_iter().collect();
    confusions.sort_unstable_by_key(|&(pair, count)| (std::cmp::Reverse(count), pair));
    confusions.truncate(MAX_CONFUSIONS);
    let confusion =
        |((right, assigned), count)| Confusion { right: name(right), assigned: name(assigned), count };
    Evaluation {
        examples,
        accuracy: if examples > 0 { exact as f64 / examples as f64 } else { 0.0 },
        micro_f1: micro.f1,
        macro_f1: macro_measures.f1,
        macro_f1_of_means: if p + r > 0.0 { 2.0 * p * r / (p + r) } else { 0.0 },
        micro_measures: micro,
        macro_measures,
        classes,
        confusions: confusions.into_iter().map(confusion).collect(),
    }
}

/// Top classes of classes whose names are paths such as `arts/film/reviews`: the parts before the first `/`.
pub struct RollUp {
    /// Names of the top classes.
    pub names: Vec<String>,
    top_of: Vec<u32>,
}

impl RollUp {
    /// Finds the top classes.
    pub fn new(names: &[String]) -> Self {
        let mut tops: Vec<String> = Vec::new();
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut top_of = Vec::with_capacity(names.len());
        for name in names {
            let top = name.split('/').next().unwrap_or_default();
            top_of.push(*known.entry(top).or_insert_with(|| {
                tops.push(top.to_string());
                tops.len() as u32 - 1
            }));
        }
        Self { names: tops, top_of }
    }

    /// Returns the top classes of classes, in ascending order.
    pub fn apply(&self, classes: &[u32]) -> Vec<u32> {
        let mut tops: Vec<u32> =
            classes.iter().filter_map(|&class| self.top_of.get(class as usize).copied()).collect();
        tops.sort_unstable();
        tops.dedup();
        tops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn measures_of_a_worked_example() {
        // Class a: right twice, missed once. Class b: right once, wrong once.
        let right: [&[u32]; 4] = [&[0], &[0], &[0], &[1]];
        let assigned: [&[u32]; 4] = [&[0], &[0], &[1], &[1]];
        let evaluation = evaluate(&names(&["a", "b", "unused"]), right.into_iter().zip(assigned));
        assert_eq!(evaluation.accuracy, 0.75);
        assert_eq!(evaluation.micro_f1, 0.75);
        assert_eq!(evaluation.classes.len(), 2);
        assert!((evaluation.classes[0].measures.f1 - 0.8).abs() < 1e-12);
        assert!((evaluation.macro_f1 - (0.8 + 2.0 / 3.0) / 2.0).abs() < 1e-12);
        // p = (1 + 1/2) / 2, r = (2/3 + 1) / 2.
        let (p, r) = (0.75, 5.0 / 6.0);
        assert!((evaluation.macro_f1_of_means - 2.0 * p * r / (p + r)).abs() < 1e-12);
        let confusion = Confusion { right: "a".into(), assigned: "b".into(), count: 1 };
        assert_eq!(evaluation.confusions, [confusion]);
    }

    #[test]
    fn several_classes_per_text_and_no_text() {
        let right: [&[u32]; 2] = [&[0, 1], &[]];
        let assigned: [&[u32]; 2] = [&[1], &[0]];
        let evaluation = evaluate(&names(&["a", "b"]), right.into_iter().zip(assigned));
        assert_eq!(evaluation.accuracy, 0.0);
        assert_eq!(evaluation.micro_measures, Measures::from_counts(1, 1, 1));
        let nothing = evaluate(&[], std::iter::empty());
        assert_eq!((nothing.accuracy, nothing.macro_f1, nothing.micro_f1), (0.0, 0.0, 0.0));
    }

    #[test]
    fn roll_up_to_top_classes() {
        let roll_up = RollUp::new(&names(&["arts/film", "science", "arts/music/jazz"]));
        assert_eq!(roll_up.names, ["arts", "science"]);
        assert_eq!(roll_up.apply(&[0, 1, 2]), [0, 1]);
        assert_eq!(roll_up.apply(&[2]), [0]);
    }
}
