//! `/admin/categories`: the taxonomy, its examples, trained models with their figures, and decisions about pages and sites.

mod actions;
mod messages;

use std::collections::HashMap;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_learn::categories::{CategoryDecisions, CategoryError, CategoryStore, ExampleKind, ModelCard};
use pharos_learn::classify::taxonomy::{Category, MAX_NAME, Taxonomy};

pub(crate) use self::actions::act;
use self::messages::CategoryMessages;
use super::commands::spawn_blocking;
use crate::admin::frame::{DeskFrame, Notice};
use crate::admin::session::Operator;
use crate::messages::{Lang, fill, grouped};
use crate::pages::directory::category_path;
use crate::pages::frame::respond;
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/categories";

/// Number of confusions shown.
const CONFUSIONS: usize = 12;

/// Number of decisions shown, the latest first.
const DECISIONS: usize = 200;

#[derive(Template)]
#[template(path = "admin/categories.html")]
struct CategoriesPage {
    frame: DeskFrame,
    m: &'static CategoryMessages,
    state: String,
    is_training: bool,
    /// Outcome of the last training.
    trained: Option<String>,
    is_building: bool,
    is_deployed: bool,
    can_roll_back: bool,
    rows: Vec<CategoryRow>,
    form: CategoryForm,
    kinds: [(&'static str, &'static str); 4],
    models: Vec<ModelRow>,
    confusions: Vec<ConfusionRow>,
    decisions: Vec<DecisionRow>,
    longest_name: usize,
}

/// A category in the tree.
struct CategoryRow {
    id: String,
    name: String,
    level: usize,
    examples: String,
    pages: String,
    /// F1 of the category in the newest model.
    f1: String,
    /// Path in the directory, if the deployed model knows the category.
    shown: Option<String>,
    edit: String,
}

/// The form of a category.
#[derive(Default)]
struct CategoryForm {
    is_new: bool,
    id: String,
    parent: String,
    en: String,
    zh: String,
    synonyms: String,
}

struct ModelRow {
    version: u64,
    trained: String,
    examples: String,
    accuracy: String,
    macro_f1: String,
    is_deployed: bool,
}

struct ConfusionRow {
    right: String,
    assigned: String,
    count: u64,
}

struct DecisionRow {
    target: String,
    category: String,
    by: String,
    at: String,
    /// The category does not exist: the decision has no effect.
    is_inactive: bool,
}

/// The stored state.
struct Stored {
    taxonomy: Taxonomy,
    examples: HashMap<String, u64>,
    models: Vec<ModelCard>,
    deployed: Option<u64>,
    decisions: CategoryDecisions,
}

fn load(store: &CategoryStore) -> Result<Stored, CategoryError> {
    let mut examples: HashMap<String, u64> = HashMap::new();
    for example in store.examples()? {
        *examples.entry(example.category).or_default() += 1;
    }
    Ok(Stored {
        taxonomy: store.taxonomy()?,
        examples,
        models: store.models()?,
        deployed: store.deployed()?,
        decisions: store.decisions()?,
    })
}

/// `GET /admin/categories?edit=…`.
pub(crate) async fn categories(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let (m, lang) = (CategoryMessages::for_lang(visitor.lang), visitor.lang);
    let loaded = spawn_blocking(&app, |service| {
        let loaded = load(&CategoryStore::at(&service.data.models())).map_err(|error| error.to_string());
        Ok((loaded, service.search.processor().category_counts()?, service.builds.state().running.is_some()))
    });
    let (loaded, counts, is_building) = loaded.await?;
    let (stored, error) = match loaded {
        Ok(stored) => (stored, None),
        Err(error) => (empty(), Some(Notice::error(error))),
    };
    let training = app.training();
    let public = app.taxonomy();
    let name = |id: &str| name_of(&stored.taxonomy, id, lang);
    let newest = stored.models.first();
    let row = |(level, category): (usize, &Category)| {
        let figures = newest.and_then(|card| card.classes.iter().find(|class| class.category == category.id));
        let is_public = public.as_ref().is_some_and(|taxonomy| taxonomy.get(&category.id).is_some());
        CategoryRow {
            id: category.id.clone(),
            name: category.name(lang == Lang::Zh).to_string(),
            level,
            examples: grouped(stored.examples.get(&category.id).copied().unwrap_or_default()),
            pages: grouped(counts.get(&category.id).copied().unwrap_or_default()),
            f1: figures.map_or_else(String::new, |class| format!("{:.2}", class.f1)),
            shown: is_public.then(|| category_path(&category.id)),
            edit: link(PATH, [("edit", category.id.as_str())]) + "#category",
        }
    };
    let decisions = stored.decisions.list().iter().rev().take(DECISIONS);
    let edited = visitor.param("edit").and_then(|id| stored.taxonomy.get(id));
    let page = CategoriesPage {
        frame: DeskFrame::new(&app, &visitor, &operator).with_notice(error),
        m,
        state: state_text(&stored, m),
        is_training: training.is_running,
        trained: training.last.map(|last| match last {
            Ok(version) => fill(m.trained, &[&version.to_string()]),
            Err(why) => fill(m.not_trained, &[&why]),
        }),
        is_building,
        is_deployed: stored.deployed.is_some(),
        can_roll_back: stored.deployed.is_some(),
        rows: stored.taxonomy.tree().into_iter().map(row).collect(),
        form: edited.map_or_else(CategoryForm::empty, CategoryForm::of),
        kinds: ExampleKind::ALL.map(|kind| (kind.name(), kind_name(kind, m))),
        models: stored.models.iter().map(|card| model_row(card, stored.deployed)).collect(),
        confusions: newest
            .iter()
            .flat_map(|card| card.confusions.iter().take(CONFUSIONS))
            .map(|confusion| ConfusionRow {
                right: name(&confusion.right),
                assigned: name(&confusion.assigned),
                count: confusion.count,
            })
            .collect(),
        decisions: decisions
            .map(|decision| DecisionRow {
                target: decision.target.clone(),
                category: decision.category.as_deref().map_or_else(|| m.no_category.into(), name),
                by: decision.by.clone(),
                at: decision.at.clone(),
                is_inactive: decision
                    .category
                    .as_ref()
                    .is_some_and(|category| stored.taxonomy.get(category).is_none()),
            })
            .collect(),
        longest_name: MAX_NAME,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

fn empty() -> Stored {
    Stored {
        taxonomy: Taxonomy::default(),
        examples: HashMap::new(),
        models: Vec::new(),
        deployed: None,
        decisions: CategoryDecisions::default(),
    }
}

fn name_of(taxonomy: &Taxonomy, id: &str, lang: Lang) -> String {
    taxonomy.get(id).map_or_else(|| id.to_string(), |category| category.name(lang == Lang::Zh).to_string())
}

/// Says what the operator has to do next.
fn state_text(stored: &Stored, m: &'static CategoryMessages) -> String {
    match (stored.deployed, stored.taxonomy.is_empty(), stored.models.is_empty()) {
        (Some(version), ..) => fill(m.deployed, &[&version.to_string()]),
        (None, true, _) => m.no_taxonomy.to_string(),
        (None, false, true) => m.no_model.to_string(),
        (None, false, false) => m.not_deployed.to_string(),
    }
}

fn kind_name(kind: ExampleKind, m: &'static CategoryMessages) -> &'static str {
    match kind {
        ExampleKind::Text => m.kind_text,
        ExampleKind::Url => m.kind_url,
        ExampleKind::Section => m.kind_section,
        ExampleKind::Search => m.kind_search,
    }
}

fn model_row(card: &ModelCard, deployed: Option<u64>) -> ModelRow {
    let figure = |figure: Option<f64>| figure.map_or_else(String::new, |figure| format!("{figure:.3}"));
    ModelRow {
        version: card.version,
        trained: card.trained.clone(),
        examples: grouped(card.examples as u64),
        accuracy: figure(card.accuracy),
        macro_f1: figure(card.macro_f1),
        is_deployed: deployed == Some(card.version),
    }
}

impl CategoryForm {
    fn empty() -> Self {
        Self { is_new: true, ..Self::default() }
    }

    fn of(category: &Category) -> Self {
        Self {
            is_new: false,
            id: category.id.clone(),
            parent: category.parent.clone().unwrap_or_default(),
            en: category.en.clone(),
            zh: category.zh.clone(),
            synonyms: category.synonyms.join(", "),
        }
    }
}
