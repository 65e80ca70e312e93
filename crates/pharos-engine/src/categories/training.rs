//! Trains a model of categories from the examples of a data directory: texts, stored pages, sections of sites, results of
//! searches, and the decisions of operators.

use std::collections::HashMap;

use pharos_core::config::Config;
use pharos_core::{Clock as _, PageId, PageObject, PageUrl, SystemClock};
use pharos_learn::categories::examples::{is_in_section, without_scheme};
use pharos_learn::categories::page_text::page_text;
use pharos_learn::categories::training::{TrainingSettings, train};
use pharos_learn::categories::{AssignedCategory, CategoryError, CategoryStore, ExampleKind, ModelCard};
use pharos_store::DataDir;
use pharos_store::interpret::is_searchable;
use serde::Serialize;

use crate::EngineError;
use crate::build::current_pages::CurrentPages;

/// Maximum number of pages of a category that become examples.
pub const MAX_PAGES_PER_CATEGORY: usize = 5_000;

/// Number of results of a search that become examples.
pub const SEARCH_RESULTS: usize = 200;

/// Returns the best pages for a query.
pub type ExampleSearch<'a> = &'a dyn Fn(&str, usize) -> Result<Vec<PageId>, EngineError>;

/// Callback for a page and its categories.
pub type CategoryVisitor<'a> = &'a mut dyn FnMut(&PageUrl, &[AssignedCategory]) -> Result<(), EngineError>;

/// A trained model, not deployed yet.
#[derive(Clone, Debug, Serialize)]
pub struct TrainedCategories {
    #[serde(flatten)]
    pub card: ModelCard,
    /// Number of examples that name pages which are not stored, or categories which do not exist.
    pub unused_examples: usize,
}

/// The pages that are examples.
#[derive(Default)]
struct ExamplePages {
    /// Category by page.
    pages: HashMap<PageId, String>,
    /// Sections with their categories, the longest first.
    sections: Vec<(String, String)>,
}

impl ExamplePages {
    fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.sections.is_empty()
    }

    /// Returns the category that a page is an example of.
    fn category(&self, url: &PageUrl) -> Option<&str> {
        if let Some(category) = self.pages.get(&url.id()) {
            return Some(category);
        }
        let plain = without_scheme(url.as_str());
        let section = self.sections.iter().find(|(section, _)| is_in_section(plain, section));
        section.map(|(_, category)| category.as_str())
    }
}

/// Trains a model and stores it as a new version. `check` receives the number of pages read and stops the training with an
/// error.
///
/// # Errors
/// Fails without examples of at least two categories.
pub fn train_categories(
    data: &DataDir,
    config: &Config,
    settings: &TrainingSettings,
    search: ExampleSearch<'_>,
    check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
) -> Result<TrainedCategories, EngineError> {
    let store = CategoryStore::at(&data.models());
    let taxonomy = store.taxonomy()?;
    let mut texts: Vec<(String, String)> = Vec::new();
    let mut pages = ExamplePages::default();
    let mut unused = 0;
    for example in store.examples()? {
        let (category, value) = (example.category, example.value);
        if taxonomy.get(&category).is_none() {
            unused += 1;
            continue;
        }
        match example.kind {
            ExampleKind::Text => texts.push((value, category)),
            ExampleKind::Section => pages.sections.push((value, category)),
            ExampleKind::Url => match PageUrl::parse(&value) {
                Ok(url) => drop(pages.pages.insert(url.id(), category)),
                Err(_) => unused += 1,
            },
            ExampleKind::Search => {
                for page in search(&value, SEARCH_RESULTS)? {
                    pages.pages.entry(page).or_insert_with(|| category.clone());
                }
            }
        }
    }
    for decision in store.decisions()?.list() {
        if let (Some(category), Ok(url)) = (&decision.category, PageUrl::parse(&decision.target))
            && taxonomy.get(category).is_some()
        {
            pages.pages.insert(url.id(), category.clone());
        }
    }
    pages.sections.sort_by_key(|(section, _)| std::cmp::Reverse(section.len()));
    if !pages.is_empty() {
        unused += read_pages(data, config, &pages, &mut texts, check)?;
    }
    let trained = SystemClock.now().to_string();
    let (model, card) = train(&texts, &taxonomy, settings, &trained).map_err(CategoryError::Training)?;
    check(0)?;
    let card = store.add_model(&model, &taxonomy, card)?;
    Ok(TrainedCategories { card, unused_examples: unused })
}

/// Adds the texts of the stored pages that are examples. Returns the number of named pages that are not stored.
fn read_pages(
    data: &DataDir,
    config: &Config,
    examples: &ExamplePages,
    texts: &mut Vec<(String, String)>,
    check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
) -> Result<usize, EngineError> {
    let pages = CurrentPages::find(data, config, &mut |_| check(0))?;
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut named = 0;
    let mut add = |url: &PageUrl, page: &PageObject| {
        let Some(category) = examples.category(url).filter(|_| is_searchable(page)) else { return };
        named += usize::from(examples.pages.contains_key(&url.id()));
        let count = counts.entry(category.to_string()).or_default();
        if *count < MAX_PAGES_PER_CATEGORY {
            *count += 1;
            texts.push((page_text(page), category.to_string()));
        }
    };
    pages.for_each(check, &mut |url, _, _, page| {
        add(url, page);
        Ok(())
    })?;
    Ok(examples.pages.len() - named)
}

/// Calls `each` with the categories of every searchable page by the deployed model.
///
/// # Errors
/// Fails if no model is deployed.
pub fn export_categories(
    data: &DataDir,
    config: &Config,
    each: CategoryVisitor<'_>,
) -> Result<(), EngineError> {
    let classifier = CategoryStore::at(&data.models()).classifier()?.ok_or(CategoryError::NotDeployed)?;
    let pages = CurrentPages::find(data, config, &mut |_| Ok(()))?;
    pages.for_each(&mut |_| Ok(()), &mut |url, _, _, page| {
        if is_searchable(page) { each(url, &classifier.assign(url, page)) } else { Ok(()) }
    })
}

#[cfg(test)]
mod tests {
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
        let response =
            RawResponse { status: 200, headers, body: body.into_bytes(), ..RawResponse::default() };
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
            records
                .push(record(&format!("/sky/{n}"), &format!("Planets and stars with telescope number {n}")));
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
}
