//! `/admin/crawl`: seeds, crawl rules and speed, all of them changeable while the crawl runs.

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::Config;
use pharos_core::PageUrl;
use pharos_core::config::{Manners, Politeness, Setting as _};
use pharos_engine::Order;
use pharos_store::CrawlRules;

use super::settings_file::{Edit, for_people};
use super::words::PageWords;
use super::work::{change_rules, change_settings, finish, order, with_catalog};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::Visitor;
use crate::words::fill;

const HERE: &str = "/admin/crawl";
/// Maximum number of seed sites listed.
const SHOWN: usize = 200;
/// Maximum number of URLs taken from one form.
const MOST: usize = 10_000;

#[derive(Template)]
#[template(path = "admin/crawl.html")]
struct CrawlPage {
    frame: DeskFrame,
    w: &'static PageWords,
    seeds: Vec<String>,
    more_seeds: usize,
    needs_contact: bool,
    contact: String,
    scope: String,
    max_depth: String,
    guide_words: String,
    include: String,
    exclude: String,
    fetchers: String,
    politeness: String,
    day: String,
    night: String,
    /// Notes about settings that are overridden outside the file.
    decided: Vec<String>,
}

/// `/admin/crawl`.
pub(crate) async fn crawl(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let (seeds, rules) =
        with_catalog(&rooms, |_, catalog| Ok((catalog.seed_sites()?, catalog.rules()?))).await?;
    let loaded = rooms.service().settings.load();
    let frame = DeskFrame::new(&rooms, &visitor, &operator);
    let wrong = loaded.as_ref().err().filter(|_| operator.may_act());
    let frame = frame.saying(wrong.map(crate::admin::frame::Notice::bad));
    let loaded = loaded.unwrap_or_default();
    let config = in_force(loaded.config, rules);
    let w = PageWords::of(visitor.lang);
    let crawl = &config.crawl;
    let manners = crawl.manners();
    let said = |key: &str| for_people(&config, key);
    let decided = loaded.decided.iter().filter(|(key, _)| key.starts_with("crawl."));
    let page = CrawlPage {
        frame,
        w,
        more_seeds: seeds.len().saturating_sub(SHOWN),
        seeds: seeds.iter().take(SHOWN).map(ToString::to_string).collect(),
        needs_contact: crawl.contact.trim().is_empty(),
        contact: crawl.contact.clone(),
        scope: said("crawl.scope"),
        max_depth: said("crawl.max_depth"),
        guide_words: said("crawl.guide_words"),
        include: said("crawl.include"),
        exclude: said("crawl.exclude"),
        fetchers: said("crawl.fetchers"),
        politeness: said("crawl.politeness"),
        day: plain(&manners.day_delay.to_toml()),
        night: plain(&manners.night_delay.to_toml()),
        decided: decided.map(|(key, by)| fill(w.decided_by, &[key, by])).collect(),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// Replaces the crawl rules of the settings by those recorded in the catalog, which are in force.
fn in_force(mut config: Config, rules: Option<CrawlRules>) -> Config {
    if let Some(rules) = rules {
        let crawl = &mut config.crawl;
        (crawl.scope, crawl.max_depth) = (rules.scope, rules.max_depth);
        (crawl.guide_words, crawl.include, crawl.exclude) = (rules.guide_words, rules.include, rules.exclude);
    }
    config
}

fn plain(toml: &str) -> String {
    toml.trim_matches('"').to_string()
}

/// `POST /admin/crawl/seeds`: adds seeds.
pub(crate) async fn add_seeds(action: Action) -> Response {
    let w = PageWords::of(action.visitor.lang);
    let typed = action.form.text("seeds").to_string();
    let lines =
        typed.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).take(MOST);
    let parsed: Result<Vec<PageUrl>, String> = lines
        .map(|line| {
            let address = if line.contains("://") { line.to_string() } else { format!("https://{line}") };
            PageUrl::parse(&address).map_err(|error| error.to_string())
        })
        .collect();
    let done = match parsed {
        Err(error) => Err(error),
        Ok(seeds) if seeds.is_empty() => Err(w.no_address.to_string()),
        Ok(seeds) => order(&action.rooms, Order::Add(seeds)).await,
    };
    finish(&action, "crawl.seeds", typed.lines().next().unwrap_or_default(), &typed, done, HERE, w.did_add)
        .await
}

/// `POST /admin/crawl/rules`: changes the crawl rules.
pub(crate) async fn set_rules(action: Action) -> Response {
    let keys = ["crawl.scope", "crawl.max_depth", "crawl.guide_words", "crawl.include", "crawl.exclude"];
    change(&action, "crawl.rules", keys.into_iter().map(|key| (key, field(&action, key))).collect()).await
}

/// `POST /admin/crawl/pace`: changes speed and contact.
pub(crate) async fn set_pace(action: Action) -> Response {
    let mut edits: Vec<(&'static str, Edit)> = ["crawl.contact", "crawl.fetchers", "crawl.politeness"]
        .into_iter()
        .map(|key| (key, field(&action, key)))
        .collect();
    // Delays belong to the politeness level that is in force.
    let manners = |config: &Config, politeness| *config.crawl.manners_of(politeness);
    let politeness = Politeness::from_text(action.form.text("politeness"));
    let config = action.rooms.service().settings.load().map(|loaded| loaded.config).unwrap_or_default();
    if let Some(politeness) = politeness.filter(|_| !action.form.text("day").is_empty()) {
        let before = manners(&config, politeness);
        let delay = |name: &str| Duration::from_text(action.form.text(name).trim());
        let (Some(day_delay), Some(night_delay)) = (delay("day"), delay("night")) else {
            return action.failed(HERE, PageWords::of(action.visitor.lang).no_delay);
        };
        let now = Manners { day_delay, night_delay, ..before };
        let key = match politeness {
            Politeness::Gentle => "crawl.gentle",
            Politeness::Normal => "crawl.normal",
            Politeness::OwnSite => "crawl.own_site",
        };
        // The delays in the form belong to the previous level, unless the level is unchanged.
        if now != before && politeness == config.crawl.politeness {
            edits.push((key, Edit::Set(now.to_toml())));
        }
    }
    change(&action, "crawl.pace", edits).await
}

fn field(action: &Action, key: &str) -> Edit {
    let name = key.trim_start_matches("crawl.");
    Edit::Set(action.form.text(name).to_string())
}

async fn change(action: &Action, name: &'static str, edits: Vec<(&'static str, Edit)>) -> Response {
    let w = PageWords::of(action.visitor.lang);
    // Unchanged values are neither written nor refused because the command line overrides them.
    let loaded = action.rooms.service().settings.load().unwrap_or_default();
    let rules = with_catalog(&action.rooms, |_, catalog| Ok(catalog.rules()?)).await.unwrap_or_default();
    let config = in_force(loaded.config, rules);
    let edits: Vec<_> = edits
        .into_iter()
        .filter(|(key, edit)| match edit {
            Edit::Set(said) => normal(said) != normal(&for_people(&config, key)),
            Edit::Forget => true,
        })
        .collect();
    if edits.is_empty() {
        return action.done(HERE, w.did_nothing);
    }
    let keys: Vec<&str> = edits.iter().map(|(key, _)| *key).collect();
    let (detail, done) = match change_settings(&action.rooms, edits, None).await {
        Ok(changed) => (changed, rules_as_set(action, keys).await),
        Err(why) => (String::new(), Err(why)),
    };
    finish(action, name, "", &detail, done, HERE, w.did_change).await
}

/// Records the crawl rules that the settings now contain.
async fn rules_as_set(action: &Action, keys: Vec<&'static str>) -> Result<(), String> {
    let crawl = action.rooms.service().settings.load()?.config.crawl;
    change_rules(&action.rooms, move |rules| {
        for key in keys {
            match key {
                "crawl.scope" => rules.scope = crawl.scope,
                "crawl.max_depth" => rules.max_depth = crawl.max_depth,
                "crawl.guide_words" => rules.guide_words.clone_from(&crawl.guide_words),
                "crawl.include" => rules.include.clone_from(&crawl.include),
                "crawl.exclude" => rules.exclude.clone_from(&crawl.exclude),
                _ => {}
            }
        }
    })
    .await
}

/// Normalises the line ends of form fields.
fn normal(said: &str) -> String {
    said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}
