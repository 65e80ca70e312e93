//! `/admin/settings`: every setting with its meaning and value; export and import of the file.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use pharos_core::Config;
use pharos_core::config::{ConfigKey, KEYS, SECTIONS, TakesEffect, choices, is_secret, takes_effect};

use super::commands::{change_settings, record_and_redirect, replace_settings, spawn_blocking};
use super::messages::PageMessages;
use super::settings_file::{
    SettingEdit, SettingsFile, edit_setting, format_setting, is_list, parse_settings,
};
use super::{params, setting_texts};
use crate::admin::action::Action;
use crate::admin::frame::{DeskFrame, Notice};
use crate::admin::session::Operator;
use crate::messages::Lang;
use crate::pages::frame::respond;
use crate::server::visitor::{Visitor, link};
use crate::state::settings::LoadedSettings;
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/settings";
/// Name of the command line among the sources of settings.
const COMMAND_LINE: &str = "command line";

/// Section name that selects all changed settings.
const CHANGED: &str = "changed";
/// Maximum length of a search text.
const MAX_FIND_LENGTH: usize = 100;

#[derive(Template)]
#[template(path = "admin/settings.html")]
struct SettingsPage {
    frame: DeskFrame,
    m: &'static PageMessages,
    find: String,
    sections: Vec<SectionLink>,
    /// Subject of the shown section.
    subject: &'static str,
    settings: Vec<SettingView>,
    stamp: String,
    file: String,
    text: String,
    /// Settings of the command line, which the file does not contain.
    unkept: Vec<&'static str>,
}

struct SectionLink {
    name: &'static str,
    href: String,
    is_current: bool,
    changed: usize,
}

struct SettingView {
    key: &'static str,
    /// HTML id.
    id: String,
    meaning: &'static str,
    value: String,
    default: String,
    is_changed: bool,
    control: Control,
    effect: &'static str,
    /// Takes effect after a restart and differs from the value this process was started with.
    is_pending: bool,
    decided: Option<&'static str>,
}

/// Form field of a setting.
enum Control {
    /// One of a few values, and whether it is the current one.
    Choice(Vec<(&'static str, bool)>),
    /// A list with one item per line, and its height.
    Lines(usize),
    Text,
}

/// Selection of settings that a page shows.
enum Selection {
    Section(&'static ConfigKey),
    Changed,
    /// Settings whose name or meaning contains a text.
    Containing(String),
}

impl Selection {
    fn from_visitor(visitor: &Visitor) -> Self {
        let find = params::text(visitor, "find", MAX_FIND_LENGTH);
        if !find.is_empty() {
            return Self::Containing(find);
        }
        let section = visitor.param("section").unwrap_or_default();
        if section == CHANGED {
            return Self::Changed;
        }
        let named = SECTIONS.iter().find(|named| named.name == section);
        named.or(SECTIONS.first()).map_or(Self::Changed, Self::Section)
    }

    fn contains(&self, key: &ConfigKey, is_changed: bool, lang: Lang) -> bool {
        match self {
            Self::Section(section) => key.name.split_once('.').is_some_and(|(name, _)| name == section.name),
            Self::Changed => is_changed,
            Self::Containing(text) => {
                let text = text.to_lowercase();
                key.name.contains(&text) || setting_texts::meaning(key, lang).to_lowercase().contains(&text)
            }
        }
    }
}

/// `GET /admin/settings?section=…` or `?find=…`.
pub(crate) async fn settings(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let m = PageMessages::for_lang(visitor.lang);
    let (loaded, file) = spawn_blocking(&app, |service| {
        let file = SettingsFile::read(service.settings.file()).unwrap_or_default();
        Ok((service.settings.load(), file))
    })
    .await?;
    let frame = DeskFrame::new(&app, &visitor, &operator);
    let frame = frame.with_notice(loaded.as_ref().err().filter(|_| operator.may_act()).map(Notice::error));
    let loaded = loaded.unwrap_or_default();
    let unkept = command_line_keys(&loaded, &file.text);
    let default = Config::default();
    let is_changed = |key: &ConfigKey| loaded.config.get(key.name) != default.get(key.name);
    let selection = Selection::from_visitor(&visitor);
    let view = |key: &'static ConfigKey| SettingView {
        default: format_setting(&default, key.name),
        is_changed: is_changed(key),
        is_pending: takes_effect(key.name) == TakesEffect::NextStart
            && app.config().get(key.name) != loaded.config.get(key.name),
        decided: loaded.overrides.get(key.name).copied(),
        ..SettingView::new(key, &loaded.config, visitor.lang, operator.may_act())
    };
    let shown = KEYS.iter().filter(|key| selection.contains(key, is_changed(key), visitor.lang));
    let page = SettingsPage {
        frame,
        m,
        sections: section_links(m, &selection, is_changed),
        subject: match &selection {
            Selection::Section(section) => setting_texts::section_meaning(section, visitor.lang),
            Selection::Changed | Selection::Containing(_) => "",
        },
        settings: shown.map(view).collect(),
        find: match selection {
            Selection::Containing(text) => text,
            Selection::Section(_) | Selection::Changed => String::new(),
        },
        stamp: file.stamp,
        file: app.service().settings.file().display().to_string(),
        unkept,
        text: file.text,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// Returns a link to the changed settings, and one to each section.
fn section_links(
    m: &'static PageMessages,
    selection: &Selection,
    is_changed: impl Fn(&ConfigKey) -> bool,
) -> Vec<SectionLink> {
    let changed = SectionLink {
        name: m.changed_settings,
        href: link(PATH, [("section", CHANGED)]),
        is_current: matches!(selection, Selection::Changed),
        changed: KEYS.iter().filter(|key| is_changed(key)).count(),
    };
    let sections = setting_texts::sections().map(|(section, keys)| SectionLink {
        name: section.name,
        href: link(PATH, [("section", section.name)]),
        is_current: matches!(selection, Selection::Section(shown) if shown.name == section.name),
        changed: keys.into_iter().filter(|key| is_changed(key)).count(),
    });
    std::iter::once(changed).chain(sections).collect()
}

impl SettingView {
    fn new(key: &'static ConfigKey, config: &Config, lang: Lang, may_act: bool) -> Self {
        let m = PageMessages::for_lang(lang);
        let mut value = format_setting(config, key.name);
        if is_secret(key.name) && !may_act && !value.is_empty() {
            value = "…".into();
        }
        let choices = choices(key.name);
        Self {
            key: key.name,
            id: key.name.replace(['.', '_'], "-"),
            meaning: setting_texts::meaning(key, lang),
            control: if !choices.is_empty() {
                Control::Choice(choices.iter().map(|choice| (*choice, *choice == value)).collect())
            } else if is_list(key.name) {
                Control::Lines(value.lines().count().clamp(2, 12))
            } else {
                Control::Text
            },
            effect: match takes_effect(key.name) {
                TakesEffect::AtOnce => m.effect_at_once,
                TakesEffect::NextCrawl => m.effect_next_crawl,
                TakesEffect::NextStart => m.effect_next_start,
            },
            value,
            default: String::new(),
            is_changed: false,
            is_pending: false,
            decided: None,
        }
    }
}

/// `GET /admin/settings/export`: returns the configuration file.
pub(crate) async fn export(
    State(app): State<AppState>,
    operator: Operator,
) -> Result<Response, ServiceError> {
    // The file may contain secrets, which only operators with full access may see.
    if !operator.may_act() {
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    let read = spawn_blocking(&app, |service| Ok(SettingsFile::read(service.settings.file()))).await?;
    Ok(match read {
        Ok(file) => {
            let headers = [
                (CONTENT_TYPE, "application/toml; charset=utf-8"),
                (CONTENT_DISPOSITION, "attachment; filename=\"pharos.toml\""),
            ];
            (headers, file.text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "cannot read the configuration file");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    })
}

/// Returns the settings that only the command line of this process determines: the file has other values.
fn command_line_keys(loaded: &LoadedSettings, file: &str) -> Vec<&'static str> {
    let kept = parse_settings(file).unwrap_or_default();
    let from_command_line = loaded.overrides.iter().filter(|(_, source)| **source == COMMAND_LINE);
    let keys = from_command_line.map(|(key, _)| *key);
    keys.filter(|key| kept.get(key) != loaded.config.get(key)).collect()
}

/// Writes the settings of the command line to the file, so that the next start needs no flags for them.
async fn keep_command_line(app: &AppState, stamp: Option<String>) -> Result<String, String> {
    let loaded = spawn_blocking(app, |service| Ok(service.settings.load())).await;
    let loaded = loaded.map_err(|error| error.to_string())??;
    replace_settings(app, stamp, move |text, _| {
        command_line_keys(&loaded, text).into_iter().try_fold(text.to_string(), |text, key| {
            edit_setting(&text, key, &SettingEdit::Set(format_setting(&loaded.config, key)))
        })
    })
    .await
}

/// `POST /admin/settings/{set,forget,import,keep}`.
pub(crate) async fn act(Path(what): Path<String>, action: Action) -> Response {
    let m = PageMessages::for_lang(action.visitor.lang);
    let stamp = Some(action.form.text("stamp").to_string());
    let key = action.form.text("key").to_string();
    let setting = KEYS.iter().map(|setting| setting.name).find(|name| *name == key);
    let section = setting.and_then(|key| key.split_once('.')).map_or("crawl", |(section, _)| section);
    let back = match action.form.text("find") {
        "" => link(PATH, [("section", section)]),
        find => link(PATH, [("find", find)]),
    };
    let (name, changed) = match (what.as_str(), setting) {
        ("set", Some(key)) => {
            let edit = SettingEdit::Set(action.form.text("value").to_string());
            ("settings.set", change_settings(&action.app, vec![(key, edit)], stamp).await)
        }
        ("forget", Some(key)) => {
            ("settings.forget", change_settings(&action.app, vec![(key, SettingEdit::Reset)], stamp).await)
        }
        ("import", _) => {
            let text = action.form.text("text").replace("\r\n", "\n");
            let replaced = replace_settings(&action.app, stamp, move |_, _| Ok(text)).await;
            ("settings.import", replaced)
        }
        ("keep", _) => ("settings.keep", keep_command_line(&action.app, stamp).await),
        ("set" | "forget", None) => ("settings.set", Err(m.no_setting.to_string())),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let (detail, done) = match changed {
        Ok(detail) => (detail, Ok(())),
        Err(why) => (String::new(), Err(why)),
    };
    record_and_redirect(&action, name, &key, &detail, done, &back, m.did_change).await
}
