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
mod tests;
