use std::collections::HashMap;

use super::super::decisions::CategoryDecisions;
use super::super::page_classifier::PageClassifier;
use super::super::training::{TrainingSettings, train};
use super::*;

#[test]
fn every_leaf_has_texts_and_every_text_a_category() {
    let (taxonomy, examples) = (taxonomy(), examples());
    assert_eq!(examples.len(), TEXTS.lines().count());
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for example in &examples {
        assert!(taxonomy.get(&example.category).is_some(), "{}", example.category);
        *counts.entry(&example.category).or_default() += 1;
    }
    for category in taxonomy.categories() {
        assert!(!category.en.is_empty() && !category.zh.is_empty());
        let is_leaf = taxonomy.children(Some(&category.id)).next().is_none();
        assert!(
            !is_leaf || counts.get(category.id.as_str()).is_some_and(|count| *count >= 4),
            "{}",
            category.id
        );
    }
}

#[test]
fn clear_texts_get_their_categories() {
    let taxonomy = taxonomy();
    let texts: Vec<(String, String)> =
        examples().into_iter().map(|example| (example.value, example.category)).collect();
    let (model, card) = train(&texts, &taxonomy, &TrainingSettings::default(), "now").unwrap();
    let classifier = PageClassifier::new(card, model, taxonomy, &CategoryDecisions::default());
    for (text, top) in [
        ("The lighthouse keeper lit the lamp and the ships found the harbour", "transport"),
        ("用望远镜看土星和木星的卫星", "science"),
        ("Brew green tea leaves in hot water", "food"),
        ("搜索引擎的爬虫和倒排索引", "computing"),
    ] {
        let assigned = classifier.assign_text(text);
        assert_eq!(
            assigned.first().map(|a| classifier.path(&a.id)[0].clone()).as_deref(),
            Some(top),
            "{text}"
        );
    }
}
