//! Evaluation of training options on parts of a data set: cross-validation and learning curve.

use serde::Serialize;

use super::dataset::Dataset;
use super::evaluation::{Evaluation, evaluate};
use super::model::{ClassifierModel, TrainingError};
use super::options::TrainingOptions;
use crate::random::Random;

/// Evaluates a model on a data set whose first classes are those of the model.
pub fn test(model: &ClassifierModel, data: &Dataset) -> Evaluation {
    let texts: Vec<&str> = data.examples.iter().map(|example| example.text.as_str()).collect();
    let assigned = model.classify_all(&texts);
    let right = data.examples.iter().map(|example| example.classes.as_slice());
    evaluate(&data.classes, right.zip(assigned.iter().map(Vec::as_slice)))
}

/// Divides the examples into parts of nearly equal size, each class evenly over the parts. Returns the part of each.
fn parts(data: &Dataset, count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..data.examples.len()).collect();
    Random::new(seed).shuffle(&mut order);
    order.sort_by_key(|&at| &data.examples[at].classes);
    let mut parts = vec![0; order.len()];
    for (place, at) in order.into_iter().enumerate() {
        parts[at] = place % count;
    }
    parts
}

fn subset(data: &Dataset, mut keep: impl FnMut(usize) -> bool) -> Dataset {
    let kept = data.examples.iter().enumerate().filter(|(at, _)| keep(*at));
    Dataset {
        classes: data.classes.clone(),
        examples: kept.map(|(_, example)| example.clone()).collect(),
        separator: data.separator,
        skipped: data.skipped,
    }
}

/// Trains on all parts but one and tests on that one, for each part. Returns the evaluation of all texts together.
pub fn cross_validate(
    data: &Dataset,
    options: &TrainingOptions,
    folds: usize,
) -> Result<Evaluation, TrainingError> {
    if data.examples.is_empty() {
        return Err(TrainingError::NoTexts);
    }
    let parts = parts(data, folds.max(2), options.seed);
    let mut assigned: Vec<Vec<u32>> = vec![Vec::new(); parts.len()];
    for part in 0..folds.max(2) {
        let held_out: Vec<usize> = (0..parts.len()).filter(|&at| parts[at] == part).collect();
        if held_out.is_empty() {
            continue;
        }
        let model = ClassifierModel::train(&subset(data, |at| parts[at] != part), options)?;
        let texts: Vec<&str> = held_out.iter().map(|&at| data.examples[at].text.as_str()).collect();
        for (at, classes) in held_out.into_iter().zip(model.classify_all(&texts)) {
            assigned[at] = classes;
        }
    }
    let right = data.examples.iter().map(|example| example.classes.as_slice());
    Ok(evaluate(&data.classes, right.zip(assigned.iter().map(Vec::as_slice))))
}

/// A point of a learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Maximum number of training texts of each class.
    pub per_class: usize,
    /// Number of training texts.
    pub examples: usize,
    pub micro_f1: f64,
    pub macro_f1: f64,
}

/// Returns the learning curve (《搜索引擎——原理、技术与系统》§11.4, figures 11-6 and 11-7): results on a fifth of the texts with up
/// to so many training texts of each class.
pub fn learning_curve(
    data: &Dataset,
    options: &TrainingOptions,
    sizes: &[usize],
) -> Result<Vec<CurvePoint>, TrainingError> {
    let parts = parts(data, 5, options.seed);
    let tested = subset(data, |at| parts[at] == 0);
    let mut points = Vec::with_capacity(sizes.len());
    for &per_class in sizes {
        let mut taken = vec![0; data.classes.len()];
        let training = subset(data, |at| {
            let classes = &data.examples[at].classes;
            let keep = parts[at] != 0 && classes.iter().any(|&class| taken[class as usize] < per_class);
            if keep {
                classes.iter().for_each(|&class| taken[class as usize] += 1);
            }
            keep
        });
        let evaluation = test(&ClassifierModel::train(&training, options)?, &tested);
        points.push(CurvePoint {
            per_class,
            examples: training.examples.len(),
            micro_f1: evaluation.micro_f1,
            macro_f1: evaluation.macro_f1,
        });
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::super::dataset::ClassColumn;
    use super::*;

    fn data() -> Dataset {
        let line = |i: usize| match i % 3 {
            0 => format!("rain wind cloud{}\tweather\n", i % 7),
            1 => format!("goal match player{}\tsports\n", i % 5),
            _ => format!("vote party law{}\tpolitics\n", i % 4),
        };
        let tsv: String = (0..60).map(line).collect();
        Dataset::read(tsv.as_bytes(), ClassColumn::Detect, &[]).unwrap()
    }

    #[test]
    fn cross_validation_tests_every_text_once() {
        let evaluation = cross_validate(&data(), &TrainingOptions::default(), 5).unwrap();
        assert_eq!((evaluation.examples, evaluation.accuracy), (60, 1.0));
    }

    #[test]
    fn parts_have_the_classes_evenly() {
        let (data, mut counts) = (data(), vec![[0; 3]; 5]);
        for (at, part) in parts(&data, 5, 1).into_iter().enumerate() {
            counts[part][data.examples[at].classes[0] as usize] += 1;
        }
        assert_eq!(counts, vec![[4; 3]; 5]);
    }

    #[test]
    fn learning_curve_uses_up_to_so_many_texts_per_class() {
        let points = learning_curve(&data(), &TrainingOptions::default(), &[1, 5]).unwrap();
        assert_eq!((points[0].examples, points[1].examples), (3, 15));
        assert!(points[1].micro_f1 >= points[0].micro_f1);
    }

    #[test]
    fn small_and_contradictory_data_are_trained_or_reported() {
        let read = |tsv: &str| Dataset::read(tsv.as_bytes(), ClassColumn::Detect, &[]).unwrap();
        let train = |tsv: &str| ClassifierModel::train(&read(tsv), &TrainingOptions::default());
        assert_eq!(train("").unwrap_err(), TrainingError::NoTexts);
        assert_eq!(train("\ta\n\tb\n").unwrap_err(), TrainingError::NoTexts);
        assert_eq!(train("x\ta\ny\ta\n").unwrap_err(), TrainingError::OneClass);
        let model = train("same\ta\nsame\tb\nother\tc\n\tc\n").unwrap();
        assert_eq!((model.summary().contradictory, model.summary().empty), (2, 1));
        assert_eq!(model.classify("same").len(), 1);
        let many: String = (0..400).map(|i| format!("word{i} common\tclass{i}\n")).collect();
        let model = train(&many).unwrap();
        let class = model.classify("word123")[0].class as usize;
        assert_eq!(model.classes()[class], "class123");
    }
}
