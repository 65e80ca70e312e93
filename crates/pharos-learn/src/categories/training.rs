//! Trains a classifier for pages, with the figures that its card states.

use std::collections::{BTreeMap, HashMap};

use xxhash_rust::xxh3::Xxh3;

use super::store::{ClassFigures, ModelCard};
use crate::classify::dataset::{Dataset, Example};
use crate::classify::taxonomy::Taxonomy;
use crate::classify::validation::cross_validate;
use crate::classify::{ClassifierModel, TrainingError, TrainingOptions};

/// Default of the least confidence of a category.
pub const MIN_CONFIDENCE: f32 = 0.5;

/// Number of texts up to which the figures come from five parts, beyond from two.
const FIVE_PARTS_UP_TO: usize = 5_000;

/// Least number of texts for figures.
const MEASURED_FROM: usize = 10;

/// Maximum number of confusions of a card.
const MAX_CONFUSIONS: usize = 50;

/// Settings of the training.
#[derive(Clone, Copy, Debug)]
pub struct TrainingSettings {
    pub options: TrainingOptions,
    /// Pages whose best category has less confidence get none.
    pub min_confidence: f32,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self { options: TrainingOptions::default(), min_confidence: MIN_CONFIDENCE }
    }
}

/// Trains a classifier on pairs of text and category. Texts of categories that the taxonomy lacks are not used.
/// `trained` is the time that the card states.
pub fn train(
    texts: &[(String, String)],
    taxonomy: &Taxonomy,
    settings: &TrainingSettings,
    trained: &str,
) -> Result<(ClassifierModel, ModelCard), TrainingError> {
    let data = dataset(texts, taxonomy);
    let model = ClassifierModel::train(&data, &settings.options)?;
    let mut card = ModelCard {
        version: 0,
        trained: trained.to_string(),
        digest: digest(&data),
        algorithm: model.algorithm().name().to_string(),
        examples: data.examples.len(),
        contradictory: model.summary().contradictory,
        categories: data.classes.len(),
        features: model.summary().features,
        min_confidence: settings.min_confidence,
        ..ModelCard::default()
    };
    if data.examples.len() >= MEASURED_FROM {
        let parts = if data.examples.len() <= FIVE_PARTS_UP_TO { 5 } else { 2 };
        // A part may lack all but one class of a small set of examples; the model is usable nevertheless.
        if let Ok(evaluation) = cross_validate(&data, &settings.options, parts) {
            card.accuracy = Some(evaluation.accuracy);
            card.micro_f1 = Some(evaluation.micro_f1);
            card.macro_f1 = Some(evaluation.macro_f1);
            let figures = evaluation.classes.into_iter().map(|class| ClassFigures {
                category: class.class,
                examples: class.support,
                precision: class.measures.precision,
                recall: class.measures.recall,
                f1: class.measures.f1,
            });
            card.classes = figures.collect();
            card.confusions = evaluation.confusions;
            card.confusions.truncate(MAX_CONFUSIONS);
        }
    }
    Ok((model, card))
}

/// Makes a data set whose classes are the categories with examples, in the order of the taxonomy.
fn dataset(texts: &[(String, String)], taxonomy: &Taxonomy) -> Dataset {
    let mut of_category: BTreeMap<&str, u64> = BTreeMap::new();
    texts.iter().for_each(|(_, category)| *of_category.entry(category).or_default() += 1);
    let used = taxonomy.categories().iter().filter(|category| of_category.contains_key(category.id.as_str()));
    let classes: Vec<String> = used.map(|category| category.id.clone()).collect();
    let numbers: HashMap<&str, u32> = classes.iter().map(String::as_str).zip(0..).collect();
    let example = |(text, category): &(String, String)| {
        let class = *numbers.get(category.as_str())?;
        Some(Example { text: text.clone(), classes: vec![class] })
    };
    let examples = texts.iter().filter_map(example).collect();
    Dataset { examples, classes, ..Dataset::default() }
}

/// Returns a digest of the training data.
fn digest(data: &Dataset) -> String {
    let mut hash = Xxh3::new();
    for example in &data.examples {
        hash.update(example.text.as_bytes());
        example.classes.iter().for_each(|class| hash.update(&class.to_le_bytes()));
    }
    data.classes.iter().for_each(|class| hash.update(class.as_bytes()));
    format!("{:016x}", hash.digest())
}

#[cfg(test)]
mod tests;
