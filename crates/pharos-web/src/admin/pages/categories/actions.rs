//! Actions of the page of categories.

use std::thread;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_core::{Clock as _, SystemClock};
use pharos_engine::EngineError;
use pharos_engine::categories::training::train_categories;
use pharos_learn::categories::decisions::parse_target;
use pharos_learn::categories::training::TrainingSettings;
use pharos_learn::categories::{
    CategoryDecision, CategoryError, CategoryExample, CategoryStore, ExampleKind, examples, starter,
};
use pharos_learn::classify::taxonomy::{Category, TaxonomyError};

use super::PATH;
use super::messages::CategoryMessages;
use crate::admin::action::Action;
use crate::admin::action_log::ActionOutcome;
use crate::admin::form::FormFields;
use crate::admin::pages::commands::spawn_blocking;
use crate::messages::{fill, grouped};
use crate::state::{AppState, Service, ServiceError};

/// Maximum number of examples of one form.
const MAX_EXAMPLES: usize = 5_000;

/// Outcome of an action: its object for the action log, and the text for the operator.
type Changed = Result<(String, String), CategoryError>;

/// A change of the files of categories.
type Change = Box<dyn FnOnce(&CategoryStore) -> Changed + Send>;

/// `POST /admin/categories/{what}`.
pub(crate) async fn act(Path(what): Path<String>, action: Action) -> Result<Response, ServiceError> {
    let m = CategoryMessages::for_lang(action.visitor.lang);
    let form = action.form.clone();
    let by = action.operator.name.clone();
    let (name, change): (_, Change) = match what.as_str() {
        "starter" => ("categories.starter", Box::new(move |store| install_starter(store, m))),
        "save" if form.text("do") == "remove" => {
            ("categories.remove", Box::new(move |store| remove_category(store, &form, m)))
        }
        "save" => ("categories.change", Box::new(move |store| save_category(store, &form, m))),
        "examples" => ("categories.examples", Box::new(move |store| add_examples(store, &form, m))),
        "deploy" => ("categories.deploy", Box::new(move |store| deploy(store, &form, m))),
        "rollback" => ("categories.rollback", Box::new(move |store| roll_back(store, m))),
        "decide" => ("categories.decide", Box::new(move |store| decide(store, &form, by, m))),
        "undecide" => ("categories.undecide", Box::new(move |store| undecide(store, &form, m))),
        "train" => return start_training(&action, m).await,
        "apply" => return apply(&action, m).await,
        _ => return Ok(StatusCode::NOT_FOUND.into_response()),
    };
    let changed =
        spawn_blocking(&action.app, move |service| Ok(change(&CategoryStore::at(&service.data.models()))));
    match changed.await? {
        Ok((subject, text)) => {
            action.app.reload_taxonomy();
            action.record(name, &subject, "", ActionOutcome::Done).await;
            Ok(action.succeed(PATH, text))
        }
        Err(error) => {
            let why = error.to_string();
            action.record(name, "", "", ActionOutcome::Refused(&why)).await;
            Ok(action.fail(PATH, fill(m.refused, &[&why])))
        }
    }
}

fn install_starter(store: &CategoryStore, m: &CategoryMessages) -> Changed {
    store.change_taxonomy(|taxonomy| {
        Ok(if taxonomy.is_empty() { starter::taxonomy() } else { taxonomy.clone() })
    })?;
    let added = store.change_examples(|all| examples::merge(all, starter::examples()))?;
    Ok((String::new(), fill(m.did_examples, &[&grouped(added as u64)])))
}

fn save_category(store: &CategoryStore, form: &FormFields, m: &CategoryMessages) -> Changed {
    let text = |name| form.text(name).trim().to_string();
    let parent = text("parent");
    let synonyms =
        form.text("synonyms").split([',', '，', '|']).map(str::trim).filter(|word| !word.is_empty());
    let category = Category {
        id: text("id"),
        parent: (!parent.is_empty()).then_some(parent),
        en: text("en"),
        zh: text("zh"),
        synonyms: synonyms.map(Into::into).collect(),
    };
    let id = category.id.clone();
    store.change_taxonomy(|taxonomy| taxonomy.put(category))?;
    Ok((id, m.did_save.into()))
}

fn remove_category(store: &CategoryStore, form: &FormFields, m: &CategoryMessages) -> Changed {
    let id = form.text("id").trim().to_string();
    store.change_taxonomy(|taxonomy| taxonomy.remove(&id))?;
    Ok((id, m.did_remove.into()))
}

fn require_category(store: &CategoryStore, name: &str) -> Result<String, CategoryError> {
    let taxonomy = store.taxonomy()?;
    let missing = || TaxonomyError::Missing(name.to_string());
    Ok(taxonomy.find(name).map(|category| category.id.clone()).ok_or_else(missing)?)
}

fn add_examples(store: &CategoryStore, form: &FormFields, m: &CategoryMessages) -> Changed {
    let id = require_category(store, form.text("category"))?;
    let kind = ExampleKind::named(form.text("kind")).unwrap_or(ExampleKind::Text);
    let lines = form.text("values").lines().take(MAX_EXAMPLES);
    let new: Vec<CategoryExample> = lines.filter_map(|line| CategoryExample::new(&id, kind, line)).collect();
    let added = store.change_examples(|all| examples::merge(all, new))?;
    Ok((id, fill(m.did_examples, &[&grouped(added as u64)])))
}

fn deploy(store: &CategoryStore, form: &FormFields, m: &CategoryMessages) -> Changed {
    let version = form.text("version").parse().unwrap_or_default();
    store.deploy(version)?;
    Ok((version.to_string(), m.did_deploy.into()))
}

fn roll_back(store: &CategoryStore, m: &CategoryMessages) -> Changed {
    Ok(match store.roll_back()? {
        Some(version) => (version.to_string(), m.did_deploy.into()),
        None => (String::new(), m.did_withdraw.into()),
    })
}

fn decide(store: &CategoryStore, form: &FormFields, by: String, m: &CategoryMessages) -> Changed {
    let typed = form.text("target");
    let Some(target) = parse_target(typed) else {
        return Ok((String::new(), fill(m.bad_target, &[typed])));
    };
    let name = form.text("category").trim();
    let category = if name.is_empty() { None } else { Some(require_category(store, name)?) };
    let at = SystemClock.now().to_string();
    let decision = CategoryDecision { target: target.clone(), category, by, at };
    let done = store.change_decisions(|decisions| decisions.put(decision))?;
    Ok((target, if done { m.did_decide } else { m.too_many }.into()))
}

fn undecide(store: &CategoryStore, form: &FormFields, m: &CategoryMessages) -> Changed {
    let target = form.text("target").to_string();
    store.change_decisions(|decisions| decisions.remove(&target))?;
    Ok((target, m.did_undecide.into()))
}

/// Trains on a thread of its own; the page shows the outcome.
async fn start_training(action: &Action, m: &CategoryMessages) -> Result<Response, ServiceError> {
    if !action.app.begin_training() {
        return Ok(action.fail(PATH, m.is_training));
    }
    let app = action.app.clone();
    let spawned = thread::Builder::new().name("train".into()).spawn(move || {
        let outcome = train(&app, app.service());
        app.end_training(outcome);
    });
    if let Err(error) = spawned {
        action.app.end_training(Err(error.to_string()));
    }
    action.record("categories.train", "", "", ActionOutcome::Done).await;
    Ok(action.succeed(PATH, m.did_train))
}

fn train(app: &AppState, service: &Service) -> Result<u64, String> {
    let search = |query: &str, results: usize| {
        let found = service.search.processor().best(query, results);
        found.map_err(|error| EngineError::Settings(error.to_string()))
    };
    let mut check = |_| if app.is_shutting_down() { Err(EngineError::Stopped) } else { Ok(()) };
    let settings = TrainingSettings::default();
    train_categories(&service.data, &service.config, &settings, &search, &mut check)
        .map(|trained| trained.card.version)
        .map_err(|error| error.to_string())
}

/// Starts a build of the index, which gives all pages their categories.
async fn apply(action: &Action, m: &CategoryMessages) -> Result<Response, ServiceError> {
    let started = spawn_blocking(&action.app, |service| Ok(service.builds.start()?)).await?;
    action.record("categories.apply", "", "", ActionOutcome::Done).await;
    Ok(action.succeed(PATH, if started { m.did_apply } else { m.is_building }))
}
