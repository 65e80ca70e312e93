use pharos_learn::categories::CategoryExample;
use pharos_learn::classify::taxonomy::Taxonomy;
use pharos_store::{LibraryRecord, RawResponse, RecordContent};
use tokio::sync::watch;

use super::*;
use crate::categories::explanation::explain_categories;
use crate::stores::test_stores;
use crate::{Engine, build_history};

fn record(path: &str, text: &str) -> LibraryRecord {
    let headers = vec![("Content-Type".to_string(), "text/html".to_string())];
    let body = format!("<title>{text}</title><p>{text}. {text} again and again, as everybody knows.</p>");
    let response = RawResponse { status: 200, headers, body: body.into_bytes(), ..RawResponse::default() };
    let url = PageUrl::parse(&format!("http://a.example{path}")).unwrap();
    LibraryRecord::new(url, pharos_core::Timestamp::EPOCH, RecordContent::Response(response))
}

fn ingest(data: &DataDir, records: Vec<LibraryRecord>) {
    let engine = Engine::open(data.clone(), Config::default(), "test", true).unwrap();
    let (_stop, never) = watch::channel(false);
    let mut ingest = engine.ingest(&never).unwrap();
    ingest.append(records).unwrap();
    ingest.finish().unwrap();
}

fn counts(data: &DataDir) -> Vec<(String, u64)> {
    let view = test_stores(data).index().unwrap().view().unwrap();
    let facet = pharos_index::Facet::Label(pharos_index::PageLabel::Category);
    let counted = view.facets(&pharos_index::Query::All, &[facet], 10, u64::MAX, None).unwrap();
    counted[0].iter().map(|count| (count.value.clone(), count.pages)).collect()
}

#[test]
fn examples_become_a_model_and_pages_get_categories_in_latest_and_history() {
    let dir = tempfile::tempdir().unwrap();
    let data = DataDir::at(dir.path().join("data"));
    let mut records: Vec<LibraryRecord> = Vec::new();
    for n in 0..4 {
        records.push(record(&format!("/sea/{n}"), &format!("Sailing ships with captain number {n}")));
        records.push(record(&format!("/sky/{n}"), &format!("Planets and stars with telescope number {n}")));
    }
    ingest(&data, records);
    assert!(counts(&data).is_empty());

    let store = CategoryStore::at(&data.models());
    let csv = "id,parent,en\nworld,,World\nsea,world,Sea\nsky,world,Sky\n";
    store.change_taxonomy(|_| Taxonomy::parse(csv)).unwrap();
    let examples = [
        ("sea", ExampleKind::Section, "http://a.example/sea"),
        ("sky", ExampleKind::Search, "telescope"),
        ("sky", ExampleKind::Text, "stars in a telescope"),
        ("sky", ExampleKind::Url, "http://a.example/missing"),
        ("gone", ExampleKind::Text, "an unknown category"),
    ];
    let examples =
        examples.map(|(category, kind, value)| CategoryExample::new(category, kind, value).unwrap());
    store.change_examples(|all| all.extend(examples)).unwrap();
    let sky = |n: usize| PageUrl::parse(&format!("http://a.example/sky/{n}")).unwrap().id();
    let search = |_: &str, _: usize| Ok(vec![sky(0), sky(1)]);
    let config = Config::default();
    let settings = TrainingSettings::default();
    let trained = train_categories(&data, &config, &settings, &search, &mut |_| Ok(())).unwrap();
    assert_eq!((trained.card.version, trained.card.examples, trained.unused_examples), (1, 7, 2));

    // Deployed: new pages get categories at once, all pages with the next build.
    store.deploy(1).unwrap();
    ingest(&data, vec![record("/sky/new", "Stars through a new telescope")]);
    assert_eq!(counts(&data), [("sky".into(), 1), ("world".into(), 1)]);
    build_history(&data, &config, false, |_| true).unwrap();
    assert_eq!(counts(&data), [("world".into(), 9), ("sky".into(), 5), ("sea".into(), 4)]);

    let url = PageUrl::parse("http://a.example/sea/1").unwrap();
    let explained = explain_categories(&test_stores(&data), &url).unwrap().unwrap();
    assert_eq!(explained.indexed.as_deref(), Some("sea"));
    assert_eq!(explained.assigned[0].id, "sea");
    assert_eq!(explained.considered[0].id, "sea");
    assert!(explain_categories(&test_stores(&data), &url.join("/none").unwrap()).unwrap().is_none());
}
