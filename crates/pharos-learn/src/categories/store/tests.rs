use super::super::training::{TrainingSettings, train};
use super::*;

fn store() -> (tempfile::TempDir, CategoryStore, Taxonomy) {
    let dir = tempfile::tempdir().unwrap();
    let store = CategoryStore::at(dir.path());
    let taxonomy = Taxonomy::parse("id,en,zh\nsea,Sea,海\nsky,Sky,天\n").unwrap();
    store.change_taxonomy(|_| Ok(taxonomy.clone())).unwrap();
    (dir, store, taxonomy)
}

fn add(store: &CategoryStore, taxonomy: &Taxonomy) -> u64 {
    let texts = [("ships", "sea"), ("waves", "sea"), ("stars", "sky")];
    let texts: Vec<(String, String)> = texts.iter().map(|(t, c)| (t.to_string(), c.to_string())).collect();
    let (model, card) = train(&texts, taxonomy, &TrainingSettings::default(), "now").unwrap();
    store.add_model(&model, taxonomy, card).unwrap().version
}

#[test]
fn versions_are_deployed_and_rolled_back() {
    let (_dir, store, taxonomy) = store();
    assert!(store.classifier().unwrap().is_none() && store.deployed_taxonomy().unwrap().is_none());
    assert!(matches!(store.roll_back(), Err(CategoryError::NotDeployed)));
    assert!(matches!(store.deploy(1), Err(CategoryError::NoVersion(1))));
    let (first, second) = (add(&store, &taxonomy), add(&store, &taxonomy));
    store.deploy(first).unwrap();
    store.deploy(second).unwrap();
    assert_eq!(store.classifier().unwrap().unwrap().card().version, second);
    assert_eq!(store.roll_back().unwrap(), Some(first));
    assert_eq!(store.classifier().unwrap().unwrap().card().version, first);
    assert_eq!(store.roll_back().unwrap(), None);
    let versions: Vec<u64> = store.models().unwrap().iter().map(|card| card.version).collect();
    assert_eq!(versions, [second, first]);
}

#[test]
fn old_versions_go_and_deployed_ones_stay() {
    let (_dir, store, taxonomy) = store();
    let first = add(&store, &taxonomy);
    store.deploy(first).unwrap();
    let added: Vec<u64> = (0..KEPT + 3).map(|_| add(&store, &taxonomy)).collect();
    let versions: Vec<u64> = store.models().unwrap().iter().map(|card| card.version).collect();
    assert_eq!((versions.len(), versions[0], *versions.last().unwrap()), (KEPT + 2, added[KEPT + 2], first));
}

#[test]
fn names_are_current_and_places_are_those_of_the_model() {
    let (_dir, store, taxonomy) = store();
    store.deploy(add(&store, &taxonomy)).unwrap();
    let edited = Taxonomy::parse("id,parent,en,zh\nsea,,Oceans,海洋\nnew,,New,新\n").unwrap();
    store.change_taxonomy(|_| Ok(edited)).unwrap();
    let shown = store.deployed_taxonomy().unwrap().unwrap();
    let names: Vec<&str> = shown.categories().iter().map(|category| category.name(false)).collect();
    assert_eq!(names, ["Oceans", "Sky"]);
}

#[test]
fn files_survive_power_cuts() {
    let (dir, store, taxonomy) = store();
    store.deploy(add(&store, &taxonomy)).unwrap();
    let renamed = Taxonomy::parse("id,en\nsea,Oceans\n").unwrap();
    pharos_files::power_cut::check(dir.path(), || {
        store.change_taxonomy(|_| Ok(renamed.clone())).unwrap();
    })
    .unwrap();
    // A version has its name only once it is complete.
    let is_complete = |files: &pharos_files::power_cut::Files| {
        let has = |name: &str| files.contains_key(&Path::new("categories/model-2").join(name));
        [MODEL, TAXONOMY, CARD].map(has).iter().all(|has_file| *has_file == has(CARD))
    };
    let write = || assert_eq!(add(&store, &taxonomy), 2);
    pharos_files::power_cut::check_states(dir.path(), write, is_complete).unwrap();
    assert!(store.classifier().unwrap().is_some());
}

#[test]
fn damaged_files_are_reported_and_kept() {
    let (dir, store, _) = store();
    let path = dir.path().join("categories").join(EXAMPLES);
    fs::write(&path, "[{").unwrap();
    assert!(store.change_examples(Vec::clear).unwrap_err().to_string().contains("examples.json is damaged"));
    assert_eq!(fs::read_to_string(path).unwrap(), "[{");
}
