//! Weakly supervised LDA (WS-LDA; Guo, Xu, Cheng & Li 2009, §4; Xu, Yang & Li 2009; 《走进搜索引擎》§6.3.4).
//!
//! Texts are entities, words are the contexts of their queries, and topics are classes. Some entities have known classes.
//! The likelihood of LDA is increased by λ for each context of an entity that a known class explains, so that φ_nk ∝ β_kw
//! exp(ψ(γ_k) + λ y_k), and topics become the classes of the examples. Inference is variational, and starts from equal β:
//! only the examples distinguish classes, and the result does not depend on random choices.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::variational::digamma;

/// Prior of the contexts of a class: the count of contexts that were never seen.
const ETA: f64 = 0.01;
/// Repetitions of the inference of an entity.
const ROUNDS: usize = 20;

/// Parameters of the training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassParameters {
    /// Prior α of the classes of an entity.
    pub alpha: f64,
    /// Weight of the examples, λ, for each context.
    pub supervision: f64,
    /// Number of EM iterations.
    pub iterations: usize,
}

impl Default for ClassParameters {
    fn default() -> Self {
        Self { alpha: 0.5, supervision: 3.0, iterations: 30 }
    }
}

/// Classes of entities, as distributions of contexts.
#[derive(Clone, Debug, Serialize)]
pub struct ClassModel {
    classes: Vec<String>,
    /// Probabilities of each context in all classes.
    contexts: HashMap<String, Vec<f64>>,
    alpha: f64,
}

/// An entity for training: the contexts of its queries with their counts, and its known classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassExample {
    pub contexts: BTreeMap<String, u32>,
    pub classes: Vec<String>,
}

impl ClassModel {
    /// Learns the classes that the examples name. Without any, the model predicts nothing.
    pub fn train(examples: &[ClassExample], parameters: &ClassParameters) -> Self {
        let mut classes: Vec<String> = examples.iter().flat_map(|example| example.classes.clone()).collect();
        classes.sort_unstable();
        classes.dedup();
        let number = classes.len();
        let uniform = vec![1.0; number];
        let mut contexts: HashMap<String, Vec<f64>> = examples
            .iter()
            .flat_map(|example| example.contexts.keys())
            .map(|context| (context.clone(), uniform.clone()))
            .collect();
        let alpha = parameters.alpha.max(1e-3);
        for _ in 0..if number == 0 { 0 } else { parameters.iterations } {
            let model = Self { classes: classes.clone(), contexts, alpha };
            let mut counts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for example in examples {
                let known = |class: &String| {
                    if example.classes.contains(class) { parameters.supervision } else { 0.0 }
                };
                let labels: Vec<f64> = classes.iter().map(known).collect();
                model.infer(&example.contexts, &labels, |context, shares, count| {
                    let of_context = counts.entry(context).or_insert_with(|| vec![0.0; number]);
                    of_context.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share * count);
                });
            }
            let mut totals = vec![ETA * counts.len() as f64; number];
            counts
                .values()
                .for_each(|row| totals.iter_mut().zip(row).for_each(|(total, count)| *total += count));
            let share = |row: &Vec<f64>| {
                row.iter().zip(&totals).map(|(count, total)| (count + ETA) / total).collect()
            };
            contexts = counts.into_iter().map(|(context, row)| (context.to_string(), share(&row))).collect();
        }
        Self { classes, contexts, alpha }
    }

    /// Returns the names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Returns the most typical contexts of a class with their probabilities.
    pub fn top_contexts(&self, class: usize, n: usize) -> Vec<(&str, f64)> {
        let mut contexts: Vec<(&str, f64)> = self
            .contexts
            .iter()
            .filter_map(|(context, shares)| Some((context.as_str(), *shares.get(class)?)))
            .collect();
        contexts.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        contexts.truncate(n);
        contexts
    }

    /// Returns the probabilities of the classes of an entity with these contexts, or `None` if no context is known.
    pub fn predict(&self, contexts: &BTreeMap<String, u32>) -> Option<Vec<f64>> {
        let is_known = contexts.keys().any(|context| self.contexts.contains_key(context));
        if !is_known || self.classes.is_empty() {
            return None;
        }
        let labels = vec![0.0; self.classes.len()];
        let gamma = self.infer(contexts, &labels, |_, _, _| ());
        let total: f64 = gamma.iter().sum();
        Some(gamma.into_iter().map(|share| share / total).collect())
    }

    /// Returns γ of an entity, and passes each known context with its final φ and its count to `take`.
    fn infer<'c>(
        &self,
        contexts: &'c BTreeMap<String, u32>,
        labels: &[f64],
        mut take: impl FnMut(&'c str, &[f64], f64),
    ) -> Vec<f64> {
        let known: Vec<(&str, &Vec<f64>, f64)> = contexts
            .iter()
            .filter_map(|(context, count)| {
                Some((context.as_str(), self.contexts.get(context)?, f64::from(*count)))
            })
            .collect();
        let number = self.classes.len().max(1) as f64;
        let total: f64 = known.iter().map(|(_, _, count)| count).sum();
        let mut gamma = vec![self.alpha + total / number; self.classes.len()];
        for round in 0..ROUNDS {
            let weights: Vec<f64> =
                gamma.iter().zip(labels).map(|(gamma, label)| (digamma(*gamma) + label).exp()).collect();
            let mut next = vec![self.alpha; gamma.len()];
            for (context, beta, count) in &known {
                let mut phi: Vec<f64> =
                    weights.iter().zip(*beta).map(|(weight, beta)| weight * beta).collect();
                let sum = phi.iter().sum::<f64>().max(f64::MIN_POSITIVE);
                phi.iter_mut().for_each(|share| *share /= sum);
                next.iter_mut().zip(&phi).for_each(|(gamma, share)| *gamma += share * count);
                if round + 1 == ROUNDS {
                    take(context, &phi, *count);
                }
            }
            gamma = next;
        }
        gamma
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(contexts: &[(&str, u32)], class: &str) -> ClassExample {
        let contexts = contexts.iter().map(|(context, count)| (context.to_string(), *count)).collect();
        let classes = if class.is_empty() { Vec::new() } else { vec![class.to_string()] };
        ClassExample { contexts, classes }
    }

    fn model() -> ClassModel {
        let examples = [
            example(&[("# trailer", 5), ("# cast", 3), ("# review", 2)], "film"),
            example(&[("# author", 4), ("# epub", 3), ("# review", 2)], "novel"),
            // Without a known class, but with contexts of films: `# soundtrack` becomes one.
            example(&[("# trailer", 6), ("# cast", 4), ("# soundtrack", 5)], ""),
            example(&[("# epub", 6), ("# chapters", 5)], ""),
        ];
        ClassModel::train(&examples, &ClassParameters::default())
    }

    #[test]
    fn contexts_of_unknown_entities_extend_the_classes_of_examples() {
        let model = model();
        assert_eq!(model.classes(), ["film", "novel"]);
        let class = |context: &str| {
            let shares = model.predict(&BTreeMap::from([(context.to_string(), 5)])).unwrap();
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            if shares[0] > shares[1] { "film" } else { "novel" }
        };
        assert_eq!(
            ["# cast", "# soundtrack", "# author", "# chapters"].map(class),
            ["film", "film", "novel", "novel"]
        );
        assert_eq!(model.top_contexts(0, 1)[0].0, "# trailer");
        assert!(model.predict(&BTreeMap::from([("# unknown".to_string(), 1)])).is_none());
    }

    #[test]
    fn an_entity_may_have_several_classes() {
        let both = BTreeMap::from([("# trailer".to_string(), 5), ("# epub".to_string(), 5)]);
        let shares = model().predict(&both).unwrap();
        assert!(shares.iter().all(|share| (0.3..0.7).contains(share)), "{shares:?}");
        let none = ClassModel::train(&[example(&[("# x", 1)], "")], &ClassParameters::default());
        assert!(none.predict(&BTreeMap::from([("# x".to_string(), 1)])).is_none());
    }
}
