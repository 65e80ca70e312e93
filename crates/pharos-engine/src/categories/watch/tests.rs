use pharos_learn::categories::training::{TrainingSettings, train};
use pharos_learn::categories::{CategoryDecision, PageClassifier};
use pharos_learn::classify::taxonomy::Taxonomy;

use super::*;

#[test]
fn changes_are_loaded_and_damage_is_survived() {
    let dir = tempfile::tempdir().unwrap();
    let store = CategoryStore::at(dir.path());
    let watch: CategoryWatch<PageClassifier> = CategoryWatch::new(store.clone(), CategoryStore::classifier);
    assert!(watch.current().is_none());
    let taxonomy = Taxonomy::parse("id,en\nsea,Sea\nsky,Sky\n").unwrap();
    let texts = [("ships", "sea"), ("stars", "sky")].map(|(t, c)| (t.to_string(), c.to_string()));
    let (model, card) = train(&texts, &taxonomy, &TrainingSettings::default(), "now").unwrap();
    let version = store.add_model(&model, &taxonomy, card).unwrap().version;
    store.deploy(version).unwrap();
    assert_eq!(watch.reload().unwrap().card().version, version);
    let decision = CategoryDecision {
        target: "a.example".into(),
        category: Some("sky".into()),
        by: String::new(),
        at: String::new(),
    };
    store.change_decisions(|decisions| decisions.put(decision)).unwrap();
    let url = pharos_core::PageUrl::parse("http://a.example/").unwrap();
    assert_eq!(watch.reload().unwrap().decision(&url), Some(Some("sky")));
    fs::write(dir.path().join("categories/deployed.json"), "{").unwrap();
    assert!(watch.reload().is_some(), "the last model stays in use");
    fs::remove_file(dir.path().join("categories/deployed.json")).unwrap();
    assert!(watch.reload().is_none());
}
