//! Explains the category of one page: what the index has, what the deployed model assigns now, and why.

use pharos_core::{PageObject, PageUrl};
use pharos_learn::categories::page_text::page_text;
use pharos_learn::categories::{AssignedCategory, CategoryError, CategoryStore, ConsideredCategory};
use pharos_store::derived::DerivedReader;
use serde::Serialize;

use crate::{EngineError, Stores};

/// Number of categories in an explanation.
const CONSIDERED: usize = 5;

/// Why a page has its category.
#[derive(Clone, Debug, Serialize)]
pub struct CategoryExplanation {
    pub url: String,
    pub title: String,
    /// Version of the deployed model.
    pub version: u64,
    /// Category in the index; it may be that of an earlier model.
    pub indexed: Option<String>,
    /// Categories by the deployed model and the decisions of operators.
    pub assigned: Vec<AssignedCategory>,
    /// `true` if a decision of an operator applies.
    pub decided: bool,
    /// The most probable categories with the terms that decide about them.
    pub considered: Vec<ConsideredCategory>,
    /// Place of the page on its site, as stated by the page.
    pub breadcrumbs: Vec<String>,
    /// Keywords of the page.
    pub keywords: Vec<String>,
}

/// Explains the category of a page, or returns `None` if it is not searchable.
///
/// # Errors
/// Fails if no model is deployed.
pub fn explain_categories(
    stores: &Stores,
    url: &PageUrl,
) -> Result<Option<CategoryExplanation>, EngineError> {
    let data = stores.data();
    let classifier = CategoryStore::at(&data.models()).classifier()?.ok_or(CategoryError::NotDeployed)?;
    let Some(stored) = stores.index()?.view()?.page(url.id())? else { return Ok(None) };
    let derived = DerivedReader::open(&data.library(), pharos_html::VERSION);
    let page = match derived.page_without_links(stored.fields.position)? {
        Some(derived) => derived.page,
        None => {
            PageObject { title: stored.fields.title.clone(), text: stored.text.body, ..PageObject::default() }
        }
    };
    let category = stored.fields.category;
    Ok(Some(CategoryExplanation {
        url: stored.fields.url,
        title: stored.fields.title,
        version: classifier.card().version,
        indexed: (!category.is_empty()).then_some(category),
        assigned: classifier.assign(url, &page),
        decided: classifier.decision(url).is_some(),
        considered: classifier.consider(&page_text(&page), CONSIDERED),
        breadcrumbs: page.breadcrumbs,
        keywords: page.keywords,
    }))
}
