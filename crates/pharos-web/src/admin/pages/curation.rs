//! `/admin/curation`: pinned and hidden results, notices, boosts and blocks in one list, with editors for synonyms and
//! stop words.

mod form;
mod messages;
mod proposals;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_core::{Clock as _, Config, PageId, SystemClock};
use pharos_query::SearchRequest;
use pharos_query::curation::file::{CurationFile, text_stamp};
use pharos_query::curation::records::{
    CurationEntry, CurationError, CurationRecords, CurationRule, MAX_NOTICE_CHARS, MAX_PINS, MAX_QUERY_CHARS,
};
use pharos_query::curation::stop_words::stop_words_file;
use pharos_query::curation::store::CurationStore;
use pharos_query::curation::synonyms::{SynonymDefect, SynonymSets, synonyms_file};

use self::form::{EntryForm, describe_error};
use self::messages::CurationMessages;
use self::proposals::{ProposalRow, open_proposals};
use super::commands::spawn_blocking;
use super::sites::report_link;
use crate::admin::action::Action;
use crate::admin::action_log::ActionOutcome;
use crate::admin::frame::{DeskFrame, Notice};
use crate::admin::session::Operator;
use crate::messages::{Lang, fill};
use crate::pages::frame::{Link, respond};
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/curation";
/// Number of results in a preview.
const PREVIEW_SIZE: usize = 10;

#[derive(Template)]
#[template(path = "admin/curation.html")]
struct CurationPage {
    frame: DeskFrame,
    m: &'static CurationMessages,
    form: EntryForm,
    form_title: String,
    kinds: [(&'static str, &'static str); 3],
    preview: Option<PreviewView>,
    entries: Vec<EntryRow>,
    rules: Vec<RuleRow>,
    synonyms: TextForm,
    synonym_problems: Vec<String>,
    proposals: Vec<ProposalRow>,
    stop_words: TextForm,
    longest_query: usize,
    longest_text: usize,
    most_pins: usize,
}

/// The results of a query with an entry that is not saved yet.
struct PreviewView {
    title: String,
    notice: String,
    hits: Vec<PreviewHit>,
}

struct PreviewHit {
    title: String,
    url: String,
    is_pinned: bool,
}

/// A row of the list of entries.
struct EntryRow {
    id: u64,
    version: u64,
    kind: &'static str,
    query: String,
    content: String,
    link: Option<Link>,
    by: String,
    at: String,
    until: String,
    state: &'static str,
    is_good: bool,
    edit: String,
}

/// A boost or a block of the settings.
struct RuleRow {
    kind: &'static str,
    rule: String,
}

/// A text file with an editor.
#[derive(Default)]
struct TextForm {
    text: String,
    stamp: String,
    /// Set if the file was changed while the operator typed.
    current: Option<String>,
}

/// Input of the page beside the stored entries.
#[derive(Default)]
struct PageInput {
    status: StatusCode,
    form: Option<EntryForm>,
    notice: Option<Notice>,
    preview: Option<PreviewView>,
    /// Typed texts that were not saved.
    synonyms: Option<String>,
    stop_words: Option<String>,
}

/// `GET /admin/curation`.
pub(crate) async fn curation(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    show(&app, &visitor, &operator, PageInput::default()).await
}

/// The stored state.
struct Stored {
    records: CurationRecords,
    error: Option<String>,
    searchable: Vec<bool>,
    synonyms: String,
    proposals: Vec<ProposalRow>,
    stop_words: String,
    config: Config,
}

async fn load(app: &AppState, m: &'static CurationMessages) -> Result<Stored, ServiceError> {
    spawn_blocking(app, move |service| {
        let models = service.data.models();
        let synonyms = synonyms_file(&models).read_text().unwrap_or_default();
        let (records, error) = match CurationStore::at(&models).load() {
            Ok(records) => (records, None),
            Err(error) => (CurationRecords::default(), Some(error.to_string())),
        };
        let pages: Vec<PageId> =
            records.entries().iter().filter_map(|entry| entry.rule.page()).map(|page| page.id()).collect();
        let mut found = service.search.processor().are_searchable(&pages)?.into_iter();
        let searchable =
            records.entries().iter().map(|entry| entry.rule.page().is_none() || found.next() == Some(true));
        Ok(Stored {
            searchable: searchable.collect(),
            error,
            proposals: open_proposals(&service.data, &synonyms, m),
            synonyms,
            stop_words: stop_words_file(&models).read_text().unwrap_or_default(),
            config: service.settings.load().unwrap_or_default().config,
            records,
        })
    })
    .await
}

async fn show(
    app: &AppState,
    visitor: &Visitor,
    operator: &Operator,
    input: PageInput,
) -> Result<Response, ServiceError> {
    let (m, lang) = (CurationMessages::for_lang(visitor.lang), visitor.lang);
    let stored = load(app, m).await?;
    let edited = || {
        let id = visitor.param("edit")?.parse().ok()?;
        stored.records.get(id).map(EntryForm::from_entry)
    };
    let form = input.form.or_else(edited).unwrap_or_else(|| EntryForm::from_link(visitor));
    let damaged = stored.error.map(Notice::error);
    let now = SystemClock.now();
    let rows = stored.records.entries().iter().zip(&stored.searchable);
    let (_, problems) = SynonymSets::parse(&stored.synonyms);
    let page = CurationPage {
        frame: DeskFrame::new(app, visitor, operator).with_notice(input.notice.or(damaged)),
        m,
        form_title: match form.id {
            0 => m.add_title.into(),
            id => fill(m.edit_title, &[&id.to_string()]),
        },
        form,
        kinds: [("pin", m.pin), ("hide", m.hide), ("notice", m.notice)],
        preview: input.preview,
        proposals: stored.proposals,
        entries: rows.map(|(entry, is_found)| entry_row(entry, *is_found, now, m, lang)).collect(),
        rules: rules(&stored.config, m),
        synonym_problems: problems
            .iter()
            .map(|problem| fill(m.synonyms_bad, &[&problem.line.to_string(), defect(problem.why, m)]))
            .collect(),
        synonyms: TextForm::new(stored.synonyms.replace('\t', ", "), &stored.synonyms, input.synonyms),
        stop_words: TextForm::new(stored.stop_words.clone(), &stored.stop_words, input.stop_words),
        longest_query: MAX_QUERY_CHARS,
        longest_text: MAX_NOTICE_CHARS,
        most_pins: MAX_PINS,
    };
    Ok(respond(visitor, input.status, &page))
}

fn defect(why: SynonymDefect, m: &'static CurationMessages) -> &'static str {
    match why {
        SynonymDefect::TooFew => m.bad_few,
        SynonymDefect::TooMany => m.bad_many,
        SynonymDefect::TooLong => m.bad_long,
        SynonymDefect::Full => m.bad_full,
    }
}

impl TextForm {
    /// `shown` is the text of the file as edited, `stored` as stored. A typed text that was not saved replaces it.
    fn new(shown: String, stored: &str, typed: Option<String>) -> Self {
        let stamp = text_stamp(stored);
        match typed {
            Some(text) => Self { text, stamp, current: Some(shown) },
            None => Self { text: shown, stamp, current: None },
        }
    }
}

fn entry_row(
    entry: &CurationEntry,
    is_found: bool,
    now: pharos_core::Timestamp,
    m: &'static CurationMessages,
    lang: Lang,
) -> EntryRow {
    let page = |url: &String| Link { href: report_link(url), text: url.clone() };
    let (kind, content, target) = match &entry.rule {
        CurationRule::Pin { url, place, .. } => (m.pin, format!("{place}."), Some(page(url))),
        CurationRule::Hide { url, .. } => (m.hide, String::new(), Some(page(url))),
        CurationRule::Notice { text, link, .. } => {
            let target = link.as_ref().map(|link| Link { href: link.clone(), text: link.clone() });
            (m.notice, text.clone(), target)
        }
    };
    let is_active = entry.is_active(now);
    EntryRow {
        id: entry.id,
        version: entry.version,
        kind,
        query: entry.rule.query().unwrap_or_default().into(),
        content,
        link: target,
        by: entry.by.clone(),
        at: lang.date_time(entry.at),
        until: entry.until.map_or_else(String::new, |until| lang.date_time(until)),
        state: match (is_active, is_found) {
            (false, _) => m.ended,
            (true, false) => m.not_in_index,
            (true, true) => m.active,
        },
        is_good: is_active && is_found,
        edit: link(PATH, [("edit", entry.id.to_string().as_str())]),
    }
}

/// Lists the boosts and blocks of the settings.
fn rules(config: &Config, m: &'static CurationMessages) -> Vec<RuleRow> {
    let boosts = config.rank.boost.iter().map(|rule| RuleRow { kind: m.boost, rule: rule.clone() });
    let blocks = config.rank.block.iter().map(|rule| RuleRow { kind: m.block, rule: rule.clone() });
    boosts.chain(blocks).collect()
}

/// `POST /admin/curation/{save,preview,remove,proposal,synonyms,stop-words}`.
pub(crate) async fn act(Path(what): Path<String>, action: Action) -> Result<Response, ServiceError> {
    match what.as_str() {
        "save" if action.form.text("do") == "preview" => preview(&action).await,
        "save" => save(&action).await,
        "remove" => remove(&action).await,
        "proposal" => proposals::decide(&action).await,
        "synonyms" => {
            let text = typed_text(&action).lines().map(with_tabs).collect::<String>();
            save_text(&action, "curation.synonyms", text, synonyms_file).await
        }
        "stop-words" => save_text(&action, "curation.stop-words", typed_text(&action), stop_words_file).await,
        _ => Ok(StatusCode::NOT_FOUND.into_response()),
    }
}

/// Shows the page again with what was typed, and an error.
async fn refuse(
    action: &Action,
    status: StatusCode,
    text: String,
    input: PageInput,
) -> Result<Response, ServiceError> {
    let input = PageInput { status, notice: Some(Notice::error(text)), ..input };
    show(&action.app, &action.visitor, &action.operator, input).await
}

/// Changes the store, and applies the change to this process at once.
async fn change<T: Send + 'static>(
    app: &AppState,
    edit: impl FnOnce(&mut CurationRecords) -> Result<T, CurationError> + Send + 'static,
) -> Result<Result<T, CurationError>, ServiceError> {
    spawn_blocking(app, move |service| {
        let changed = CurationStore::at(&service.data.models()).change(edit);
        service.search.processor().reload_curation();
        Ok(changed)
    })
    .await
}

async fn save(action: &Action) -> Result<Response, ServiceError> {
    let (m, lang) = (CurationMessages::for_lang(action.visitor.lang), action.visitor.lang);
    let form = EntryForm::from_fields(&action.form);
    let typed = |form| PageInput { form: Some(form), ..PageInput::default() };
    let entry = match form.to_change(&action.operator.name, action.visitor.lang) {
        Ok(entry) => entry,
        Err(why) => return refuse(action, StatusCode::UNPROCESSABLE_ENTITY, why, typed(form)).await,
    };
    let (id, version) = (form.id, form.version);
    let (name, good) = if id == 0 { ("curation.add", m.did_add) } else { ("curation.change", m.did_change) };
    let saved = change(&action.app, move |records| match id {
        0 => records.add(entry),
        id => records.update(id, version, entry),
    });
    match saved.await? {
        Ok(entry) => {
            action.record(name, &subject(&entry), &detail(&entry), ActionOutcome::Done).await;
            Ok(action.succeed(PATH, good))
        }
        Err(error) => {
            action.record(name, &form.query, &form.url, ActionOutcome::Refused(&error.to_string())).await;
            let text = describe_error(&error, m, lang);
            // The operator has seen the current state after this, and may replace it.
            let form = match &error {
                CurationError::Conflict(current) => EntryForm { version: current.version, ..form },
                CurationError::Missing => EntryForm { id: 0, version: 0, ..form },
                _ => form,
            };
            refuse(action, StatusCode::CONFLICT, text, typed(form)).await
        }
    }
}

/// Names an entry in the action log.
fn subject(entry: &CurationEntry) -> String {
    format!("{} {}", entry.rule.kind(), entry.rule.query().unwrap_or("*"))
}

fn detail(entry: &CurationEntry) -> String {
    match &entry.rule {
        CurationRule::Pin { url, .. } | CurationRule::Hide { url, .. } => url.clone(),
        CurationRule::Notice { text, .. } => text.clone(),
    }
}

async fn preview(action: &Action) -> Result<Response, ServiceError> {
    let m = CurationMessages::for_lang(action.visitor.lang);
    let form = EntryForm::from_fields(&action.form);
    let typed = |form| PageInput { form: Some(form), ..PageInput::default() };
    let entry = match form.to_change(&action.operator.name, action.visitor.lang) {
        Ok(entry) => entry,
        Err(why) => return refuse(action, StatusCode::UNPROCESSABLE_ENTITY, why, typed(form)).await,
    };
    let query = entry.rule.query().unwrap_or_default().to_string();
    let (id, text) = (form.id, query.clone());
    let response = spawn_blocking(&action.app, move |service| {
        let mut records = CurationStore::at(&service.data.models()).load().unwrap_or_default();
        if let Some(version) = records.get(id).map(|old| old.version) {
            let _ = records.remove(id, version);
        }
        // A refusal is reported when the entry is saved; the preview then shows the stored entries.
        let _ = records.put(entry);
        let request = SearchRequest { size: PREVIEW_SIZE, ..SearchRequest::new(text) };
        Ok(service.search.processor().preview(&request, &records)?)
    });
    let response = response.await?;
    let hits = response.hits.into_iter().map(|hit| PreviewHit {
        title: hit.title,
        url: hit.url,
        is_pinned: hit.pinned,
    });
    let preview = PreviewView {
        title: fill(m.preview_title, &[&query]),
        notice: response.notice.map(|notice| notice.text).unwrap_or_default(),
        hits: hits.collect(),
    };
    let input = PageInput { form: Some(form), preview: Some(preview), ..PageInput::default() };
    show(&action.app, &action.visitor, &action.operator, input).await
}

async fn remove(action: &Action) -> Result<Response, ServiceError> {
    let (m, lang) = (CurationMessages::for_lang(action.visitor.lang), action.visitor.lang);
    let number = |name| action.form.text(name).parse::<u64>().unwrap_or_default();
    let (id, version) = (number("id"), number("version"));
    match change(&action.app, move |records| records.remove(id, version)).await? {
        Ok(entry) => {
            action.record("curation.remove", &subject(&entry), &detail(&entry), ActionOutcome::Done).await;
            Ok(action.succeed(PATH, m.did_remove))
        }
        Err(error) => {
            let why = error.to_string();
            action.record("curation.remove", &id.to_string(), "", ActionOutcome::Refused(&why)).await;
            Ok(action.fail(PATH, describe_error(&error, m, lang)))
        }
    }
}

/// Returns the text of an editor with line feeds only.
fn typed_text(action: &Action) -> String {
    let mut text = action.form.text("text").replace("\r\n", "\n");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Separates the words of a set by tabs, as in the file. Comments stay as they are.
fn with_tabs(line: &str) -> String {
    if line.starts_with('#') {
        return format!("{line}\n");
    }
    let words: Vec<&str> = line.split([',', '，', '、', '\t']).map(str::trim).collect();
    format!("{}\n", words.join("\t"))
}

async fn save_text(
    action: &Action,
    name: &'static str,
    text: String,
    file: fn(&std::path::Path) -> CurationFile,
) -> Result<Response, ServiceError> {
    let (m, lang) = (CurationMessages::for_lang(action.visitor.lang), action.visitor.lang);
    let stamp = action.form.text("stamp").to_string();
    let saved = spawn_blocking(&action.app, move |service| {
        let saved = file(&service.data.models()).replace_text(&stamp, &text);
        service.search.processor().reload_curation();
        Ok(saved)
    });
    match saved.await? {
        Ok(()) => {
            action.record(name, "", "", ActionOutcome::Done).await;
            Ok(action.succeed(PATH, m.did_save))
        }
        Err(error) => {
            action.record(name, "", "", ActionOutcome::Refused(&error.to_string())).await;
            let typed = Some(action.form.text("text").to_string());
            let input = if name == "curation.synonyms" {
                PageInput { synonyms: typed, ..PageInput::default() }
            } else {
                PageInput { stop_words: typed, ..PageInput::default() }
            };
            refuse(action, StatusCode::CONFLICT, describe_error(&error, m, lang), input).await
        }
    }
}

/// Returns the texts of the page: name, English, Chinese.
#[cfg(test)]
pub(super) fn labels() -> &'static [(&'static str, &'static str, &'static str)] {
    messages::TABLE
}
