use super::*;

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(text, category)| (text.to_string(), category.to_string())).collect()
}

#[test]
fn few_contradictory_and_unknown_examples_are_usable() {
    let taxonomy = Taxonomy::parse("id,en\nsea,Sea\nsky,Sky\n").unwrap();
    let settings = TrainingSettings::default();
    let texts =
        pairs(&[("ships and waves", "sea"), ("stars", "sky"), ("stars", "sea"), ("x", "none"), ("", "sky")]);
    let (model, card) = train(&texts, &taxonomy, &settings, "now").unwrap();
    assert_eq!((model.classes().len(), card.examples, card.contradictory), (2, 4, 2));
    assert_eq!((card.micro_f1, card.digest.len()), (None, 16));
    assert_eq!(train(&texts[..1], &taxonomy, &settings, "").unwrap_err(), TrainingError::OneClass);
    assert_eq!(train(&[], &taxonomy, &settings, "").unwrap_err(), TrainingError::NoTexts);
}
