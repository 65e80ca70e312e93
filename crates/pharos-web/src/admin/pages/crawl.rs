//! `/admin/crawl`: seeds, crawl rules and speed, all of them changeable while the crawl runs.

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::Config;
use pharos_core::PageUrl;
use pharos_core::config::{PolitenessLimits, PolitenessProfile, SettingValue as _};
use pharos_engine::Order;
use pharos_store::CrawlRules;

use super::commands::{change_rules, change_settings, execute, record_and_redirect, with_catalog};
use super::messages::PageMessages;
use super::settings_file::{SettingEdit, format_setting};
use crate::admin::action::Action;
use crate::admin::action_log::ActionOutcome;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::fill;
use crate::pages::frame::respond;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/crawl";
/// Maximum number of seed sites listed.
const MAX_SHOWN: usize = 200;
/// Maximum number of URLs taken from one form.
const MAX_SEEDS: usize = 10_000;

#[derive(Template)]
#[template(path = "admin/crawl.html")]
struct CrawlPage {
    frame: DeskFrame,
    m: &'static PageMessages,
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
    overridden: Vec<String>,
}

/// `/admin/crawl`.
pub(crate) async fn crawl(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let (seeds, rules) =
        with_catalog(&app, |_, catalog| Ok((catalog.seed_sites()?, catalog.rules()?))).await?;
    let loaded = app.service().settings.load();
    let frame = DeskFrame::new(&app, &visitor, &operator);
    let wrong = loaded.as_ref().err().filter(|_| operator.may_act());
    let frame = frame.with_notice(wrong.map(crate::admin::frame::Notice::error));
    let loaded = loaded.unwrap_or_default();
    let config = effective_config(loaded.config, rules);
    let m = PageMessages::for_lang(visitor.lang);
    let crawl = &config.crawl;
    let limits = crawl.politeness_limits();
    let setting = |key: &str| format_setting(&config, key);
    let overridden = loaded.overrides.iter().filter(|(key, _)| key.starts_with("crawl."));
    let page = CrawlPage {
        frame,
        m,
        more_seeds: seeds.len().saturating_sub(MAX_SHOWN),
        seeds: seeds.iter().take(MAX_SHOWN).map(ToString::to_string).collect(),
        needs_contact: crawl.contact.trim().is_empty(),
        contact: crawl.contact.clone(),
        scope: setting("crawl.scope"),
        max_depth: setting("crawl.max_depth"),
        guide_words: setting("crawl.guide_words"),
        include: setting("crawl.include"),
        exclude: setting("crawl.exclude"),
        fetchers: setting("crawl.fetchers"),
        politeness: setting("crawl.politeness"),
        day: unquote(&limits.day_delay.to_toml()),
        night: unquote(&limits.night_delay.to_toml()),
        overridden: overridden.map(|(key, by)| fill(m.decided_by, &[key, by])).collect(),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// Replaces the crawl rules of the settings by those recorded in the catalog, which are in force.
fn effective_config(mut config: Config, rules: Option<CrawlRules>) -> Config {
    if let Some(rules) = rules {
        let crawl = &mut config.crawl;
        (crawl.scope, crawl.max_depth) = (rules.scope, rules.max_depth);
        (crawl.guide_words, crawl.include, crawl.exclude) = (rules.guide_words, rules.include, rules.exclude);
    }
    config
}

fn unquote(toml: &str) -> String {
    toml.trim_matches('"').to_string()
}

/// `POST /admin/crawl/seeds`: adds seeds.
pub(crate) async fn add_seeds(action: Action) -> Response {
    let m = PageMessages::for_lang(action.visitor.lang);
    let typed = action.form.text("seeds").to_string();
    let (seeds, invalid) = parse_seeds(&typed);
    let added = seeds.len();
    let done = if seeds.is_empty() {
        Err(if invalid.is_empty() { m.no_address.to_string() } else { not_added(m, 0, &invalid) })
    } else {
        execute(&action.app, Order::Add(seeds)).await
    };
    let first = typed.lines().next().unwrap_or_default();
    if done.is_ok() && !invalid.is_empty() {
        action.record("crawl.seeds", first, &typed, ActionOutcome::Done).await;
        return action.fail(PATH, not_added(m, added, &invalid));
    }
    record_and_redirect(&action, "crawl.seeds", first, &typed, done, PATH, m.did_add).await
}

/// Returns the URLs in a text with one URL per line, and the lines that are not valid.
fn parse_seeds(typed: &str) -> (Vec<PageUrl>, Vec<&str>) {
    let lines = typed.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (mut seeds, mut invalid) = (Vec::new(), Vec::new());
    for line in lines.take(MAX_SEEDS) {
        let address = if line.contains("://") { line.to_string() } else { format!("https://{line}") };
        match PageUrl::parse(&address) {
            Ok(url) => seeds.push(url),
            Err(_) => invalid.push(line),
        }
    }
    (seeds, invalid)
}

/// Says which lines were not added, and how many were.
fn not_added(m: &PageMessages, added: usize, invalid: &[&str]) -> String {
    const SHOWN: usize = 5;
    const SHOWN_CHARS: usize = 80;
    let shorten = |line: &&str| format!("`{}`", line.chars().take(SHOWN_CHARS).collect::<String>());
    let shown: Vec<String> = invalid.iter().take(SHOWN).map(shorten).collect();
    let mut text = fill(m.seeds_not_added, &[&added.to_string(), &shown.join(", ")]);
    if invalid.len() > SHOWN {
        text = format!("{text} {}", fill(m.and_more, &[&(invalid.len() - SHOWN).to_string()]));
    }
    text
}

/// `POST /admin/crawl/rules`: changes the crawl rules.
pub(crate) async fn set_rules(action: Action) -> Response {
    let keys = ["crawl.scope", "crawl.max_depth", "crawl.guide_words", "crawl.include", "crawl.exclude"];
    apply_edits(&action, "crawl.rules", keys.into_iter().map(|key| (key, field(&action, key))).collect())
        .await
}

/// `POST /admin/crawl/pace`: changes speed and contact.
pub(crate) async fn set_pace(action: Action) -> Response {
    let mut edits: Vec<(&'static str, SettingEdit)> = ["crawl.contact", "crawl.fetchers", "crawl.politeness"]
        .into_iter()
        .map(|key| (key, field(&action, key)))
        .collect();
    // Delays belong to the politeness level that is in force.
    let limits = |config: &Config, politeness| *config.crawl.politeness_limits_of(politeness);
    let politeness = PolitenessProfile::from_text(action.form.text("politeness"));
    let config = action.app.service().settings.load().map(|loaded| loaded.config).unwrap_or_default();
    if let Some(politeness) = politeness.filter(|_| !action.form.text("day").is_empty()) {
        let before = limits(&config, politeness);
        let delay = |name: &str| Duration::from_text(action.form.text(name).trim());
        let (Some(day_delay), Some(night_delay)) = (delay("day"), delay("night")) else {
            return action.fail(PATH, PageMessages::for_lang(action.visitor.lang).no_delay);
        };
        let now = PolitenessLimits { day_delay, night_delay, ..before };
        let key = match politeness {
            PolitenessProfile::Gentle => "crawl.gentle",
            PolitenessProfile::Normal => "crawl.normal",
            PolitenessProfile::OwnSite => "crawl.own_site",
        };
        // The delays in the form belong to the previous level, unless the level is unchanged.
        if now != before && politeness == config.crawl.politeness {
            edits.push((key, SettingEdit::Set(now.to_toml())));
        }
    }
    apply_edits(&action, "crawl.pace", edits).await
}

fn field(action: &Action, key: &str) -> SettingEdit {
    let name = key.trim_start_matches("crawl.");
    SettingEdit::Set(action.form.text(name).to_string())
}

async fn apply_edits(
    action: &Action,
    name: &'static str,
    edits: Vec<(&'static str, SettingEdit)>,
) -> Response {
    let m = PageMessages::for_lang(action.visitor.lang);
    // Unchanged values are neither written nor refused because the command line overrides them.
    let loaded = action.app.service().settings.load().unwrap_or_default();
    let rules = with_catalog(&action.app, |_, catalog| Ok(catalog.rules()?)).await.unwrap_or_default();
    let config = effective_config(loaded.config, rules);
    let edits: Vec<_> = edits
        .into_iter()
        .filter(|(key, edit)| match edit {
            SettingEdit::Set(value) => {
                normalize_lines(value) != normalize_lines(&format_setting(&config, key))
            }
            SettingEdit::Reset => true,
        })
        .collect();
    if edits.is_empty() {
        return action.succeed(PATH, m.did_nothing);
    }
    let keys: Vec<&str> = edits.iter().map(|(key, _)| *key).collect();
    let (detail, done) = match change_settings(&action.app, edits, None).await {
        Ok(changed) => (changed, record_rules(action, keys).await),
        Err(why) => (String::new(), Err(why)),
    };
    record_and_redirect(action, name, "", &detail, done, PATH, m.did_change).await
}

/// Records the crawl rules that the settings now contain.
async fn record_rules(action: &Action, keys: Vec<&'static str>) -> Result<(), String> {
    let crawl = action.app.service().settings.load()?.config.crawl;
    change_rules(&action.app, move |rules| {
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
fn normalize_lines(value: &str) -> String {
    value.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Lang;

    #[test]
    fn good_seeds_are_taken_and_bad_lines_are_listed() {
        let typed = "https://a.example/\r\n\n# a comment\n  b.example/x \nhttp://\nftp://c.example/\n";
        let (seeds, invalid) = parse_seeds(typed);
        let seeds: Vec<&str> = seeds.iter().map(PageUrl::as_str).collect();
        assert_eq!(seeds, ["https://a.example/", "https://b.example/x"]);
        assert_eq!(invalid, ["http://", "ftp://c.example/"]);
        let m = PageMessages::for_lang(Lang::En);
        assert_eq!(not_added(m, 2, &invalid), "2 added. Not valid URLs: `http://`, `ftp://c.example/`");
        assert!(not_added(m, 0, &["x y"; 7]).ends_with("and 2 more"));
    }
}
