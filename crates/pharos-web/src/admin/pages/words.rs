//! `/admin/words`: the vocabulary of this installation, `models/words.tsv`.

use std::io;
use std::path::Path;

use askama::Template;
use axum::extract::{Path as UrlPath, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_mining::learnt_words::LEARNT;
use pharos_mining::refusals::{Refusal, Refusals};
use pharos_text::dictionary::Dictionary;
use pharos_text::normalise;
use pharos_text::vocabulary::{VocabularyEditor, WordKind};

use super::commands::{record_and_redirect, spawn_blocking};
use super::messages::PageMessages;
use super::params::{self, PAGE_SIZE};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{fill, grouped};
use crate::pages::frame::respond;
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/words";
/// Maximum length of the filter.
const MAX_FILTER_LENGTH: usize = 100;
/// Maximum number of words changed by one form.
const MAX_CHANGES: usize = 10_000;
/// Source noted for words added here.
const SOURCE: &str = "desk";

#[derive(Template)]
#[template(path = "admin/words.html")]
struct WordsPage {
    frame: DeskFrame,
    m: &'static PageMessages,
    contains: String,
    /// Only words learnt from queries are listed.
    is_learnt: bool,
    found: String,
    rows: Vec<WordRow>,
    /// Invalid lines of the file.
    problems: Vec<String>,
    earlier: Option<String>,
    later: Option<String>,
}

struct WordRow {
    word: String,
    kind: &'static str,
    frequency: u32,
    source: String,
}

/// The vocabulary as shown: the rows of one page, the number of all, and problems of the file.
type ShownWords = (Vec<(String, WordKind, u32, String)>, usize, Vec<String>);

/// `GET /admin/words?q=…`.
pub(crate) async fn words(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let m = PageMessages::for_lang(visitor.lang);
    let contains = params::text(&visitor, "q", MAX_FILTER_LENGTH);
    let (page, offset) = params::page(&visitor);
    let filter = normalise(&contains);
    let is_learnt = visitor.param("source") == Some(LEARNT);
    let listed =
        spawn_blocking(&app, move |service| Ok(list(&service.data.words(), &filter, is_learnt, offset)));
    let read = listed.await?;
    let frame = DeskFrame::new(&app, &visitor, &operator);
    let ((rows, total, problems), frame) = match read {
        Ok(shown) => (shown, frame),
        Err(error) => {
            (ShownWords::default(), frame.with_notice(Some(crate::admin::frame::Notice::error(error))))
        }
    };
    let source = if is_learnt { LEARNT } else { "" };
    let to =
        |page: usize| link(PATH, [("q", contains.as_str()), ("source", source), ("page", &page.to_string())]);
    let page = WordsPage {
        frame,
        m,
        found: fill(m.words_found, &[&grouped(total as u64)]),
        earlier: (page > 1).then(|| to(page - 1)),
        later: (offset + rows.len() < total).then(|| to(page + 1)),
        rows: rows.into_iter().map(|row| WordRow::new(row, m)).collect(),
        problems,
        contains: contains.clone(),
        is_learnt,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl WordRow {
    fn new(
        (word, kind, frequency, source): (String, WordKind, u32, String),
        m: &'static PageMessages,
    ) -> Self {
        let kind = match kind {
            WordKind::Base => m.word_base,
            WordKind::Extension => m.word_extension,
        };
        let source = if source == LEARNT { m.word_learnt.to_string() } else { source };
        Self { word, kind, frequency, source }
    }
}

/// Reads the words that contain a text, or those of them that were learnt, one page of them.
fn list(path: &Path, filter: &str, is_learnt: bool, offset: usize) -> Result<ShownWords, String> {
    let editor = open(path)?;
    let is_listed = |source: &str| !is_learnt || source == LEARNT;
    let words = || editor.words().iter().filter(|(_, known)| is_listed(&known.source));
    let matching = || words().filter(|(word, _)| word.contains(filter));
    let rows = matching().skip(offset).take(PAGE_SIZE);
    let rows = rows.map(|(word, known)| (word.into(), known.kind, known.frequency, known.source.to_string()));
    let problems = editor.problems().iter().take(PAGE_SIZE).map(ToString::to_string).collect();
    Ok((rows.collect(), matching().count(), problems))
}

fn open(path: &Path) -> Result<VocabularyEditor, String> {
    VocabularyEditor::open(path, Dictionary::base(), normalise).map_err(|error| file_error(path, &error))
}

fn file_error(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// `POST /admin/words/{add,remove}`.
pub(crate) async fn act(UrlPath(what): UrlPath<String>, action: Action) -> Response {
    let m = PageMessages::for_lang(action.visitor.lang);
    let (name, change): (_, VocabularyChange) = match what.as_str() {
        "add" => ("words.add", add),
        "remove" => ("words.remove", remove),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let words: Vec<String> = match what.as_str() {
        "add" => action.form.text("words").lines().map(|line| line.trim().to_string()).collect(),
        _ => action.form.values("word").map(ToString::to_string).collect(),
    };
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).take(MAX_CHANGES).collect();
    if words.is_empty() {
        return action.fail(PATH, m.nothing_chosen);
    }
    let kind = action.form.text("kind").parse().ok();
    let (first, detail) = (words[0].clone(), words.join(" "));
    let done = spawn_blocking(&action.app, move |service| {
        let path = service.data.words();
        // Two operators who change the file at the same time must not lose each other's words.
        let _one_at_a_time = service.settings.lock();
        Ok(open(&path).and_then(|mut editor| {
            let changed = change(&mut editor, &words, kind);
            if !changed.revoked.is_empty() {
                let revoked = changed.revoked.iter().cloned().map(Refusal::Word);
                Refusals::add(&service.data.models(), revoked).map_err(|error| file_error(&path, &error))?;
            }
            if changed.count > 0 {
                editor.save().map_err(|error| file_error(&path, &error))?;
            }
            Ok(changed)
        }))
    });
    let result = done.await.map_err(|error| error.to_string()).and_then(|changed| changed);
    match result {
        Err(why) => record_and_redirect(&action, name, &first, &detail, Err(why), PATH, "").await,
        Ok(Changed { count, refused, .. }) => {
            let good = fill(m.words_changed, &[&grouped(count as u64)]);
            let done =
                if refused.is_empty() { Ok(()) } else { Err(format!("{good}. {}", refused.join("; "))) };
            record_and_redirect(&action, name, &first, &detail, done, PATH, &good).await
        }
    }
}

/// Changes words of the vocabulary, which get this kind if they are new.
type VocabularyChange = fn(&mut VocabularyEditor, &[String], Option<WordKind>) -> Changed;

/// Outcome of a change of the vocabulary.
#[derive(Debug, Default, PartialEq, Eq)]
struct Changed {
    count: usize,
    /// Words that were not accepted, with the reason, a limited number.
    refused: Vec<String>,
    /// Removed words that a build had learnt; it does not learn them again.
    revoked: Vec<String>,
}

/// Maximum number of refused words that are reported.
const MAX_REFUSED: usize = 5;

fn add(editor: &mut VocabularyEditor, words: &[String], kind: Option<WordKind>) -> Changed {
    let mut changed = Changed::default();
    for word in words {
        match editor.add(word, kind, None, SOURCE) {
            Ok(_) => changed.count += 1,
            Err(why) if changed.refused.len() < MAX_REFUSED => {
                changed.refused.push(format!("`{word}`: {why}"))
            }
            Err(_) => {}
        }
    }
    changed
}

fn remove(editor: &mut VocabularyEditor, words: &[String], _kind: Option<WordKind>) -> Changed {
    let mut changed = Changed::default();
    for word in words {
        let is_learnt = editor.words().get(&normalise(word)).is_some_and(|known| &*known.source == LEARNT);
        if editor.remove(word) {
            changed.count += 1;
            changed.revoked.extend(is_learnt.then(|| normalise(word)));
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_added_listed_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("models/words.tsv");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut editor = open(&path).unwrap();
        let words = ["爱心社", "two words", "爱心社"].map(String::from);
        let changed = add(&mut editor, &words, Some(WordKind::Base));
        assert_eq!(changed.count, 1);
        assert!(changed.refused[0].starts_with("`two words`: whitespace"), "{:?}", changed.refused);
        editor.add("微澜阁", None, Some(12), LEARNT).unwrap();
        editor.save().unwrap();
        let (rows, total, problems) = list(&path, "爱心", false, 0).unwrap();
        assert_eq!((rows[0].0.as_str(), rows[0].1, rows[0].3.as_str()), ("爱心社", WordKind::Base, SOURCE));
        assert_eq!((total, problems.len()), (1, 0));
        assert_eq!(list(&path, "灯塔", false, 0).unwrap().1, 0);
        assert_eq!(list(&path, "", true, 0).unwrap().0[0].0, "微澜阁");
        let mut editor = open(&path).unwrap();
        let words = ["爱心社", "微澜阁", "爱心社"].map(String::from);
        let changed = remove(&mut editor, &words, None);
        assert_eq!((changed.count, changed.revoked), (2, vec!["微澜阁".to_string()]));
    }
}
