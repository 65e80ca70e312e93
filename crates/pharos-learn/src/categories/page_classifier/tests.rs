use super::super::decisions::CategoryDecision;
use super::super::training::{TrainingSettings, train};
use super::*;

fn classifier(decisions: &CategoryDecisions) -> PageClassifier {
    let csv = "id,parent,en\nscience,,Science\nphysics,science,Physics\nchemistry,science,Chemistry\nsports,,Sports\n";
    let taxonomy = Taxonomy::parse(csv).unwrap();
    // A quarter of the texts is about physics or chemistry alike, so that confidences stay moderate.
    let text = |n: usize| {
        let (text, category) = match n % 8 {
            0 | 3 => ("quantum energy particle wave", "physics"),
            1 | 4 => ("molecule acid reaction compound", "chemistry"),
            6 => ("experiment laboratory lesson", "physics"),
            7 => ("experiment laboratory lesson", "chemistry"),
            _ => ("football match goal player team", "sports"),
        };
        (format!("{text} {n}"), category.to_string())
    };
    let texts: Vec<(String, String)> = (0..80).map(text).collect();
    let settings = TrainingSettings { min_confidence: 0.75, ..TrainingSettings::default() };
    let (model, card) = train(&texts, &taxonomy, &settings, "now").unwrap();
    PageClassifier::new(card, model, taxonomy, decisions)
}

fn ids(assigned: &[AssignedCategory]) -> Vec<&str> {
    assigned.iter().map(|category| category.id.as_str()).collect()
}

#[test]
fn uncertain_pages_get_the_category_above() {
    let classifier = classifier(&CategoryDecisions::default());
    assert_eq!(ids(&classifier.assign_text("a quantum particle")), ["physics"]);
    assert_eq!(ids(&classifier.assign_text("a laboratory experiment")), ["science"]);
    assert!(classifier.assign_text("完全不同").is_empty());
    assert!(classifier.assign_text("").is_empty());
    assert_eq!(classifier.path("physics"), ["science", "physics"]);
    let considered = classifier.consider("quantum", 2);
    assert_eq!((considered[0].id.as_str(), considered.len()), ("physics", 2));
    assert_eq!(considered[0].terms[0].term, "quantum");
    assert!(classifier.card().micro_f1.is_some_and(|f1| f1 > 0.7));
}

#[test]
fn decisions_win_and_unknown_categories_have_no_effect() {
    let mut decisions = CategoryDecisions::default();
    for (target, category) in [
        ("a.example", Some("sports")),
        ("http://a.example/none", None),
        ("http://a.example/odd", Some("renamed")),
    ] {
        let category = category.map(Into::into);
        decisions.put(CategoryDecision {
            target: target.into(),
            category,
            by: String::new(),
            at: String::new(),
        });
    }
    let classifier = classifier(&decisions);
    let page = PageObject { text: "a quantum particle".into(), ..PageObject::default() };
    let assign = |url: &str| classifier.assign(&PageUrl::parse(url).unwrap(), &page);
    assert_eq!(ids(&assign("http://b.example/")), ["physics"]);
    assert_eq!(assign("http://a.example/")[0].by, AssignedBy::Operator);
    assert!(assign("http://a.example/none").is_empty());
    assert_eq!(ids(&assign("http://a.example/odd")), ["sports"]);
}
